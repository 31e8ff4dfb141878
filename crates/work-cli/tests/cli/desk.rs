//! A directory of its own for each test: an instance, a folder, and the program that works on both.

use crate::clock::Ahead;
use assert_cmd::cargo::cargo_bin_cmd;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;
use work_core::document::wire::TaskDoc;
use work_core::port::{Clock as _, Ids};
use work_core::workspace::Workspace;
use work_source::{FolderDoor, OwnFiles};
use work_store::clock::HostClock;
use work_store::ids::OsIds;
use work_store::instance::Instance;
use work_store::sqlite::SqliteStore;

/// How often a condition is asked for before a test gives up, and how far apart: half a minute in all.
const TRIES: u32 = 6_000;
const APART: Duration = Duration::from_millis(5);

/// Asks until it holds.
#[track_caller]
pub(crate) fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    for _ in 0..TRIES {
        if holds() {
            return;
        }
        std::thread::park_timeout(APART);
    }
    panic!("never: {what}");
}

pub(crate) struct Desk {
    dir: TempDir,
}

/// What a run of the program left.
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code().expect("an exit code"),
            out: String::from_utf8(output.stdout).expect("UTF-8"),
            err: String::from_utf8(output.stderr).expect("UTF-8"),
        }
    }
}

impl Ran {
    /// The one document that was printed.
    #[track_caller]
    pub(crate) fn document(&self) -> Value {
        assert_eq!(self.out.lines().count(), 1, "one line is printed: {}", self.out);
        serde_json::from_str(&self.out).expect("JSON")
    }

    /// What a success carries.
    #[track_caller]
    pub(crate) fn data(&self) -> Value {
        let document = self.document();
        assert_eq!(document["ok"], true, "{document}");
        document["data"].clone()
    }

    #[track_caller]
    pub(crate) fn succeeded(self) -> Self {
        assert_eq!(self.code, 0, "{}{}", self.out, self.err);
        self
    }
}

impl Desk {
    pub(crate) fn new() -> Self {
        Self { dir: tempfile::tempdir().expect("a directory") }
    }

    /// With one approved folder of these files.
    pub(crate) fn with_files(files: &[(&str, &str)]) -> Self {
        let desk = Self::new();
        for (name, text) in files {
            desk.file(name, text);
        }
        desk.run(&["approve", &desk.folder()]).succeeded();
        desk
    }

    /// With an approved folder so large that nobody reads it in the time of a test: one file under many names.
    pub(crate) fn with_much_to_read() -> Self {
        let desk = Self::new();
        let text = "A line about backups, and another about the quick brown fox.\n\n".repeat(4_000);
        desk.file("0.md", &text);
        let first = desk.path("docs/0.md");
        for n in 1..2_000 {
            fs::hard_link(&first, desk.path(&format!("docs/{n}.md"))).expect("a link");
        }
        desk.run(&["approve", &desk.folder()]).succeeded();
        desk
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.path("home")
    }

    pub(crate) fn folder(&self) -> String {
        self.path("docs").to_str().expect("UTF-8").to_owned()
    }

    pub(crate) fn file(&self, name: &str, text: &str) {
        let path = self.path("docs").join(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
        fs::write(path, text).expect("a file");
    }

    /// The program with this instance and no other surroundings.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(program());
        command
            .args(args)
            .env_clear()
            .env("WORK_HOME", self.home())
            .env("HOME", self.dir.path())
            .env("COLUMNS", "80")
            .current_dir(self.dir.path())
            .stdin(Stdio::null());
        command
    }

    pub(crate) fn run(&self, args: &[&str]) -> Ran {
        self.command(args).output().expect("it runs").into()
    }

    /// Runs with `--json` before the arguments.
    pub(crate) fn json(&self, args: &[&str]) -> Ran {
        self.run(&[&["--json"], args].concat())
    }

    pub(crate) fn spawn(&self, args: &[&str]) -> Child {
        self.command(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts")
    }

    /// The same instance through the library.
    pub(crate) fn library(&self) -> Workspace {
        self.library_at(0, Arc::new(OsIds))
    }

    pub(crate) fn library_at(&self, ahead_seconds: i64, ids: Arc<dyn Ids>) -> Workspace {
        let boot = HostClock::new().reading().boot;
        let own = OwnFiles::in_directory(self.home()).expect("an instance");
        let door = Arc::new(FolderDoor::guarding(own, boot));
        Workspace::new(Arc::new(self.store(ahead_seconds)), door, ids)
    }

    pub(crate) fn store(&self, ahead_seconds: i64) -> SqliteStore {
        let instance = Instance::open(self.home()).expect("an instance");
        instance.store(Arc::new(Ahead::seconds(ahead_seconds))).expect("a store")
    }

    /// The latest task.
    pub(crate) fn task(&self) -> Option<TaskDoc> {
        self.library().tasks(None).expect("tasks").tasks.into_iter().next()
    }

    /// Waits until the latest task is being worked.
    #[track_caller]
    pub(crate) fn wait_until_running(&self) {
        let library = self.library();
        eventually("a task is running", || {
            library
                .tasks(None)
                .expect("tasks")
                .tasks
                .first()
                .is_some_and(|task| task.state == "running")
        });
    }

    /// The kinds of all events.
    pub(crate) fn events(&self) -> Vec<String> {
        let log = self.library().log(0).expect("a log");
        log.events.into_iter().filter_map(|event| event.kind).collect()
    }
}

pub(crate) fn program() -> PathBuf {
    Path::new(cargo_bin_cmd!("work").get_program()).to_owned()
}
