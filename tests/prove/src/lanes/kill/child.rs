//! The program as a child that can be killed.

use std::ffi::OsString;
use std::io::{BufRead as _, BufReader};
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};
use work_core::plant::Fault;

/// The longest that anything is waited for. Nothing takes this long unless it hangs.
const PATIENCE: Duration = Duration::from_secs(60);

/// The program `work`, and the fault that is planted in it.
#[derive(Debug)]
pub(super) struct Program {
    path: PathBuf,
    planted: Option<Fault>,
}

/// When a child is killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Moment {
    /// This long after it was started.
    After(Duration),
    /// This long after it has said so many lines.
    Said(usize, Duration),
}

/// What became of a child.
#[derive(Debug)]
pub(super) struct Ended {
    /// What it said: whole lines alone.
    pub(super) said: Vec<String>,
    /// What it said besides.
    pub(super) besides: String,
    /// How it ended.
    pub(super) status: ExitStatus,
    /// How long it lived.
    pub(super) lasted: Duration,
}

impl Ended {
    /// Whether it died of the signal that nothing survives.
    pub(super) fn was_killed(&self) -> bool {
        self.status.signal() == Some(9)
    }

    /// Its one document, if it said one.
    pub(super) fn document(&self) -> Option<serde_json::Value> {
        serde_json::from_str(self.said.first()?).ok()
    }
}

impl Program {
    /// The one that was built beside this program, if it was.
    pub(super) fn beside(planted: Option<Fault>) -> Option<Self> {
        let path = std::env::current_exe().ok()?.with_file_name("work");
        path.is_file().then_some(Self { path, planted })
    }

    /// Runs it in the instance `home`, to its end or until it is killed.
    ///
    /// # Errors
    /// In words, when it cannot be run or hangs.
    pub(super) fn run(
        &self,
        home: &Path,
        words: &[OsString],
        until: Option<Moment>,
    ) -> Result<Ended, String> {
        let wrong = |error: std::io::Error| format!("the program cannot be run: {error}");
        let mut command = Command::new(&self.path);
        command.args(words).env_clear().env("WORK_HOME", home).env("HOME", home);
        if let Some(fault) = self.planted {
            command.env("WORK_PLANT", fault.name());
        }
        let begun = Instant::now();
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(wrong)?;
        let heard = listened(child.stdout.take().expect("piped"));
        let besides = besides(child.stderr.take().expect("piped"));
        let mut said = Vec::new();
        let hangs = wait(&heard, &mut said, until).is_err();
        if until.is_some() || hangs {
            child.kill().map_err(wrong)?;
        }
        let status = child.wait().map_err(wrong)?;
        let lasted = begun.elapsed();
        said.extend(heard.iter());
        let besides = besides.join().expect("it only reads");
        if hangs {
            Err(format!("it hangs: {besides}"))
        } else {
            Ok(Ended { said, besides, status, lasted })
        }
    }
}

/// It hangs.
struct Hangs;

/// Waits until the moment to kill, or the end of what is said.
fn wait(
    heard: &Receiver<String>,
    said: &mut Vec<String>,
    until: Option<Moment>,
) -> Result<(), Hangs> {
    use std::sync::mpsc::RecvTimeoutError::{Disconnected, Timeout};
    match until {
        Some(Moment::After(time)) => {
            std::thread::sleep(time);
            return Ok(());
        }
        Some(Moment::Said(..)) | None => {}
    }
    loop {
        match heard.recv_timeout(PATIENCE) {
            Ok(line) => said.push(line),
            Err(Disconnected) => return Ok(()),
            Err(Timeout) => return Err(Hangs),
        }
        if let Some(Moment::Said(lines, time)) = until
            && said.len() >= lines
        {
            std::thread::sleep(time);
            return Ok(());
        }
    }
}

/// Every whole line, as it comes. A line that was cut is no answer.
fn listened(from: impl std::io::Read + Send + 'static) -> Receiver<String> {
    let (hear, heard) = channel();
    std::thread::spawn(move || {
        let mut from = BufReader::new(from);
        loop {
            let mut line = String::new();
            match from.read_line(&mut line) {
                Ok(_) if line.ends_with('\n') => {
                    if hear.send(line).is_err() {
                        return;
                    }
                }
                Ok(_) | Err(_) => return,
            }
        }
    });
    heard
}

/// All that is said besides, for a finding.
fn besides(mut from: impl std::io::Read + Send + 'static) -> std::thread::JoinHandle<String> {
    std::thread::spawn(move || {
        let mut all = Vec::new();
        // What can be read is enough: it is only told.
        let _ = from.read_to_end(&mut all);
        String::from_utf8_lossy(&all).into_owned()
    })
}
