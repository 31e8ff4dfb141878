//! A whole `work report` beside `rg -i -c` over the same files and words.
//!
//! Corpora are made in a temporary folder from a fixed seed: 2,000 files of 256 KiB and of 2 KiB, in which every file
//! matches. Needs `rg` and the release binary of `work` (`cargo build --release -p work-cli`); says so and skips where
//! one is missing.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use work_benches::ratio;

const FILES: usize = 2000;
const RUNS: usize = 7;
const QUERY: &str = "backup retention policy archive";

fn main() {
    let Some(work) = binary() else {
        return say("skipped: build the binary first, with cargo build --release -p work-cli");
    };
    if Command::new("rg").arg("--version").stdout(Stdio::null()).status().is_err() {
        return say("skipped: rg is not installed");
    }
    let home = tempfile::tempdir().expect("a temporary folder");
    for (name, bytes, promised) in [("256 KiB", 256 * 1024, 1.5), ("2 KiB", 2 * 1024, 4.0)] {
        let corpus = home.path().join(format!("files-{bytes}"));
        write_corpus(&corpus, bytes);
        measure(&work, &home.path().join(format!("home-{bytes}")), &corpus, name, promised);
    }
}

/// Prints the median of both, their ratio, and the peak memory of ours.
fn measure(work: &Path, home: &Path, corpus: &Path, name: &str, promised: f64) {
    let words = QUERY.replace(' ', "|");
    let peer = || {
        Command::new("rg")
            .args(["-i", "-c", "-j2", &words])
            .arg(corpus)
            .stdout(Stdio::null())
            .spawn()
            .expect("rg")
    };
    let mine = || {
        let mut command = Command::new(work);
        command
            .arg("--home")
            .arg(home)
            .args(["--progress", "none", "report", "--folder"])
            .arg(corpus)
            .arg(QUERY);
        command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("work")
    };
    let (mut peers, mut ours, mut peak) = (Vec::new(), Vec::new(), 0);
    for run in 0..=RUNS {
        let (theirs, _) = timed(peer());
        let (time, memory) = timed(mine());
        if run > 0 {
            peers.push(theirs);
            ours.push(time);
            peak = peak.max(memory);
        }
    }
    let (ours, peers) = (median(ours), median(peers));
    say(&format!(
        "{FILES} files of {name}: work {ours:.0?}, rg {peers:.0?}, ratio {:.2} (promised: {promised}), peak {} MiB (promised: 64)",
        ratio(ours, peers),
        peak / 1024,
    ));
}

/// How long a child took, and the most memory it was seen to hold, in KiB.
fn timed(mut child: std::process::Child) -> (Duration, u64) {
    let begun = Instant::now();
    let status = PathBuf::from(format!("/proc/{}/status", child.id()));
    let mut peak = 0;
    loop {
        if let Some(ended) = child.try_wait().expect("a child of ours") {
            assert!(ended.success(), "{ended}");
            return (begun.elapsed(), peak);
        }
        peak = peak.max(resident(&status));
        std::thread::sleep(Duration::from_micros(500));
    }
}

/// The peak that the kernel tells of a process.
fn resident(status: &Path) -> u64 {
    let text = fs::read_to_string(status).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(0)
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

fn binary() -> Option<PathBuf> {
    let target =
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| PathBuf::from("target"), PathBuf::from);
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent()?;
    Some(root.join(target).join("release/work")).filter(|path| path.exists())
}

/// Files of words in lines and paragraphs, with a few of the query's words in each.
fn write_corpus(folder: &Path, bytes: usize) {
    fs::create_dir_all(folder).expect("a folder");
    let mut random = Random(0x2545_f491_4f6c_dd1d);
    for n in 0..FILES {
        fs::write(folder.join(format!("{n:04}.md")), text(&mut random, bytes)).expect("a file");
    }
}

fn text(random: &mut Random, bytes: usize) -> String {
    let asked: Vec<&str> = QUERY.split(' ').collect();
    let mut text = format!("# Notes on {}\n\n", asked[random.below(asked.len())]);
    while text.len() < bytes {
        for _ in 0..=random.below(5) {
            for _ in 0..12 {
                let rare = random.below(4000) == 0;
                let word = if rare {
                    asked[random.below(asked.len())].to_owned()
                } else {
                    syllables(random)
                };
                write!(text, "{word} ").expect("a string takes everything");
            }
            text.push('\n');
        }
        text.push('\n');
    }
    text.truncate(bytes);
    text
}

fn syllables(random: &mut Random) -> String {
    const PARTS: [&str; 16] = [
        "ra", "lo", "mi", "ten", "sor", "va", "ke", "du", "pra", "ni", "gol", "ti", "bes", "hu",
        "cor", "el",
    ];
    (0..=random.below(3)).map(|_| PARTS[random.below(PARTS.len())]).collect()
}

/// Marsaglia's xorshift64 star.
struct Random(u64);

impl Random {
    fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let high = self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33;
        usize::try_from(high).expect("31 bits") % most
    }
}

#[expect(clippy::print_stdout, reason = "a measure's output")]
fn say(text: &str) {
    println!("{text}");
}
