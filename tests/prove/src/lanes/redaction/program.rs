//! The same through the program: two desks, one script of commands, every command after the withdrawal in each form.
//!
//! Its ids and its clock are not ours to choose. So ids are called by their turn in the log, times are all one, and what
//! an order of ids or a width of columns would tell is evened out; beside that, no word and no digest of what was
//! withdrawn may be printed at all.

use super::secret::{Secret, Shelf};
use super::told::Told;
use crate::seed::Seed;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use work_core::plant::Fault;

/// Where the program lies: beside this one.
pub(super) fn program() -> Option<PathBuf> {
    let here = std::env::current_exe().ok()?;
    Some(here.parent()?.join("work")).filter(|path| path.is_file())
}

/// One desk on a disk.
struct Desk<'a> {
    program: &'a Path,
    planted: Option<Fault>,
    directory: tempfile::TempDir,
    secret: Secret,
    results: Vec<String>,
    proposals: Vec<String>,
    /// Digests that stood in what is withdrawn later.
    digests: BTreeSet<String>,
}

struct OnDisk<'a>(&'a Path);

impl Shelf for OnDisk<'_> {
    fn put(&self, path: &str, text: String) {
        let path = self.0.join(path.trim_start_matches('/'));
        fs::create_dir_all(path.parent().expect("a folder")).expect("folders");
        fs::write(path, text).expect("written");
    }

    fn remove(&self, path: &str) {
        fs::remove_file(self.0.join(path.trim_start_matches('/'))).expect("removed");
    }

    fn rename(&self, from: &str, to: &str) {
        let [from, to] = [from, to].map(|path| self.0.join(path.trim_start_matches('/')));
        fs::create_dir_all(to.parent().expect("a folder")).expect("folders");
        fs::rename(from, to).expect("renamed");
    }
}

/// Where the secret lies, and the folders that are approved.
const PLACES: [(&str, [&str; 2]); 2] =
    [("/shut", ["open", "shut"]), ("/open/inner", ["open", "open/inner"])];

/// What every command prints in two worlds after one of their folders was revoked; how many runs, or what differs.
pub(super) fn compare(program: &Path, seed: u64, planted: Option<Fault>) -> Result<u64, String> {
    let mut random = Seed::new(seed);
    let (root, folders) = *random.one_of(&PLACES);
    let seeds = [random.next_u64(), random.next_u64()];
    let told = |world: usize| {
        let secret = || Secret::new(world, Seed::new(seeds[world]), root, &[""]);
        lived(|| Desk::new(program, planted, secret()), folders)
    };
    let (one, other) = (told(0)?, told(1)?);
    match one.first_difference(&other) {
        Some(what) => Err(format!("the program: {what}")),
        None => Ok((one.len() + other.len()) as u64),
    }
}

/// What a desk tells. If two of its ids begin alike, their short forms cannot be told apart, and it is lived again.
fn lived<'a>(desk: impl Fn() -> Desk<'a>, folders: [&str; 2]) -> Result<Told, String> {
    loop {
        let mut desk = desk();
        desk.live(folders);
        desk.run(&["revoke", folders[1]]);
        if let Some(told) = desk.told()? {
            return Ok(told);
        }
    }
}

impl<'a> Desk<'a> {
    fn new(program: &'a Path, planted: Option<Fault>, secret: Secret) -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let (results, proposals) = (Vec::new(), Vec::new());
        let digests = BTreeSet::new();
        Self { program, planted, directory, secret, results, proposals, digests }
    }

    /// Runs the program: its exit code, and all that it prints.
    fn run(&self, args: &[&str]) -> (Option<i32>, String) {
        let mut command = Command::new(self.program);
        command.args(args).env_clear().stdin(Stdio::null()).current_dir(self.directory.path());
        command.env("WORK_HOME", self.directory.path().join("home"));
        command.env("HOME", self.directory.path());
        if let Some(fault) = self.planted {
            command.env("WORK_PLANT", fault.name());
        }
        let ran = command.output().expect("the program runs");
        let [out, err] =
            [ran.stdout, ran.stderr].map(|it| String::from_utf8_lossy(&it).into_owned());
        (ran.status.code(), out + &err)
    }

    /// The document that a command prints.
    fn json(&self, args: &[&str]) -> Value {
        let (_, printed) = self.run(&[args, &["--json"]].concat());
        let line = printed.lines().next().unwrap_or_default();
        serde_json::from_str::<Value>(line).map(|mut it| it["data"].take()).unwrap_or_default()
    }

    /// Reports of the secret, of it and what is open, and of that alone; one repaired, each with a repair that waits.
    fn live(&mut self, folders: [&str; 2]) {
        let directory = self.directory.path().to_owned();
        let shelf = OnDisk(&directory);
        shelf.put("/open/plan.md", "The plan is open.\n".to_owned());
        self.secret.settle(&shelf);
        for folder in folders {
            self.run(&["approve", folder]);
        }
        for query in ["secret", "plan secret", "plan"] {
            let made = self.json(&["report", query]);
            self.results.push(text(&made["artifact_id"]));
            digests(&made.to_string(), &mut self.digests);
        }
        self.secret.edit(&shelf);
        self.repair(0);
        let (proposal, fingerprint) =
            self.proposals.last().cloned().zip(self.shown()).expect("one");
        self.run(&["apply", &proposal, "--fingerprint", &fingerprint]);
        self.secret.edit(&shelf);
        shelf.put("/open/plan.md", "The plan is open, and another one.\n".to_owned());
        for result in 0..3 {
            self.repair(result);
        }
        self.run(&["report", "--detach", "plan secret"]);
        let open = self.json(&["show", &self.results[2]]).to_string();
        let mut visible = BTreeSet::new();
        digests(&open, &mut visible);
        digests(&self.json(&["review", &self.proposals[3]]).to_string(), &mut visible);
        self.digests.retain(|digest| !visible.contains(digest));
    }

    fn repair(&mut self, result: usize) {
        let made = self.json(&["repair", &self.results[result].clone()]);
        self.proposals.push(text(&made["proposal_id"]));
        digests(&made.to_string(), &mut self.digests);
    }

    /// The fingerprint of the latest proposal.
    fn shown(&self) -> Option<String> {
        let proposal = self.json(&["review", self.proposals.last()?]);
        Some(text(&proposal["fingerprint"]))
    }

    /// What every command prints, in each form, evened out, unless two ids begin alike; or a trace of what was withdrawn.
    fn told(&self) -> Result<Option<Told>, String> {
        let mut raw = Vec::new();
        for args in self.commands() {
            for form in [&[][..], &["--json"], &["-v"]] {
                let args: Vec<&str> =
                    args.iter().map(String::as_str).chain(form.iter().copied()).collect();
                let (code, printed) = self.run(&args);
                self.hunt(&args, &printed)?;
                raw.push((args.join(" "), code, printed));
            }
        }
        // Only now, since some commands made something.
        let ids = hex(&self.json(&["log"]).to_string(), 32);
        if begin_alike(&ids) {
            return Ok(None);
        }
        let even = |text: &str| even(text, &ids, self.directory.path());
        let mut told = Told::default();
        for (asked, code, printed) in raw {
            told.say(even(&asked), format!("exit {code:?}\n{}", even(&printed)));
        }
        Ok(Some(told))
    }

    fn hunt(&self, args: &[&str], printed: &str) -> Result<(), String> {
        let words = self.secret.words().iter().copied();
        let mut traces = words.chain(self.digests.iter().map(String::as_str));
        match traces.find(|trace| printed.contains(trace)) {
            Some(trace) => Err(format!("the program: {args:?} prints {trace:?}")),
            None => Ok(()),
        }
    }

    fn commands(&self) -> Vec<Vec<String>> {
        let plain = [
            "folders",
            "list",
            "list --state stale",
            "list --state access_removed",
            "list --state sources_checked",
            "status",
            "check",
            "check --fail-on altered,gone,moved,cosmetic,intact,ambiguous",
            "check --paths shut/nothing.md open/plan.md",
            "refresh",
            "proposals",
            "tasks",
            "log",
            "doctor",
            "worker --once",
            "report secret",
            "report zeppelin",
            "tasks",
            "list",
        ];
        let mut all: Vec<String> = plain.map(str::to_owned).to_vec();
        for id in &self.results {
            let of = [
                "show",
                "show --format text",
                "show --revision 1",
                "history",
                "compare 1",
                "restore 1",
                "export",
                "export --revision 1",
                "repair",
            ];
            all.extend(of.map(|command| match command.split_once(' ') {
                Some((name, rest)) => format!("{name} {id} {rest}"),
                None => format!("{command} {id}"),
            }));
        }
        for id in &self.proposals {
            all.extend(["review", "apply", "dismiss"].map(|command| format!("{command} {id}")));
        }
        all.iter().map(|line| line.split(' ').map(str::to_owned).collect()).collect()
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// Runs of hexadecimal digits of this length, in order, each once.
fn hex(text: &str, length: usize) -> Vec<String> {
    let runs = text.split(|c: char| !matches!(c, '0'..='9' | 'a'..='f'));
    let mut all: Vec<String> = Vec::new();
    for run in runs.filter(|run| run.len() == length) {
        if !all.iter().any(|known| known == run) {
            all.push(run.to_owned());
        }
    }
    all
}

/// Digits of an id that a page shows.
const SHORT: usize = 4;

/// Whether two ids have one short form.
fn begin_alike(ids: &[String]) -> bool {
    let short: BTreeSet<&str> = ids.iter().map(|id| &id[..SHORT]).collect();
    short.len() < ids.len()
}

fn digests(text: &str, into: &mut BTreeSet<String>) {
    into.extend(hex(text, 64));
}

/// The text with ids by their turn, digests and times all one, and its lines in order: ids are random, and so is an
/// order by them.
fn even(text: &str, ids: &[String], directory: &Path) -> String {
    let text = text.replace(&*directory.to_string_lossy(), "DESK");
    if let Ok(json) = serde_json::from_str::<Value>(text.trim()) {
        return serde_json::to_string_pretty(&sorted(json, ids)).expect("JSON");
    }
    let mut lines: Vec<String> = text.lines().map(|line| even_line(line, ids)).collect();
    lines.sort();
    lines.join("\n")
}

/// A document with its lists in the order of what they hold.
fn sorted(json: Value, ids: &[String]) -> Value {
    match json {
        Value::Array(items) => {
            let mut items: Vec<Value> = items.into_iter().map(|item| sorted(item, ids)).collect();
            items.sort_by_key(Value::to_string);
            Value::Array(items)
        }
        Value::Object(fields) => {
            let fields = fields.into_iter().map(|(name, value)| match name.as_str() {
                "elapsed_ms" if value.is_number() => (name, "TIME".into()),
                _ => (name, sorted(value, ids)),
            });
            Value::Object(fields.collect())
        }
        Value::String(text) => even_line(&text, ids).into(),
        Value::Number(number) => match even_line(&number.to_string(), ids).as_str() {
            "TIME" => "TIME".into(),
            _ => Value::Number(number),
        },
        Value::Null | Value::Bool(_) => json,
    }
}

/// One line with single spaces.
fn even_line(line: &str, ids: &[String]) -> String {
    let words = line.split_whitespace().map(|word| {
        let pieces = word.split_inclusive(|c: char| !c.is_alphanumeric());
        pieces.map(|piece| even_piece(piece, ids)).collect::<String>()
    });
    words.collect::<Vec<_>>().join(" ")
}

fn even_piece(piece: &str, ids: &[String]) -> String {
    let bare = piece.trim_end_matches(|c: char| !c.is_alphanumeric());
    let after = &piece[bare.len()..];
    let is_hex = bare.chars().all(|c| matches!(c, '0'..='9' | 'a'..='f'));
    let id = ids.iter().position(|id| is_hex && bare.len() >= SHORT && id.starts_with(bare));
    let is_number = bare.bytes().all(|b| b.is_ascii_digit());
    let named = match (bare.len(), id) {
        // A year, also where an id begins with its digits.
        (4, _) if is_number && after == "-" => "TIME".to_owned(),
        (64, _) if is_hex => "DIGEST".to_owned(),
        (_, Some(turn)) => format!("ID-{turn}"),
        (32, None) if is_hex => "ID".to_owned(),
        (4.., None) if is_number => "TIME".to_owned(),
        (2, None) if is_number => "TIME".to_owned(),
        _ => bare.to_owned(),
    };
    named + after
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_that_a_page_shows_alike_are_known() {
        let ids = |all: &[&str]| all.iter().map(|id| id.repeat(8)).collect::<Vec<_>>();
        assert!(!begin_alike(&ids(&["12d6", "12d7"])));
        assert!(begin_alike(&["12d6".repeat(8), "12d6ffff".repeat(4)]));
    }

    #[test]
    fn ids_and_times_are_evened_out_and_counts_are_not() {
        let ids = ["12d6".repeat(8), "4cf5".repeat(8)].to_vec();
        let even = |text: &str| even(text, &ids, Path::new("/tmp/desk"));
        assert_eq!(
            even("4cf5   2 results\n12d6 at 2026-12-01 01:59"),
            "ID-0 at TIME-TIME-TIME TIME:TIME\nID-1 2 results"
        );
        assert_ne!(even("1 result"), even("2 results"));
        let year = ["2026".repeat(8)].to_vec();
        assert_eq!(super::even("2026-12-01", &year, Path::new("/tmp/desk")), "TIME-TIME-TIME");
        assert_eq!(even(r#"{"n":[2,1],"at":1764554340}"#), even(r#"{"at":1764554399,"n":[1,2]}"#));
    }
}
