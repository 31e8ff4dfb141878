//! One instance: commands that are killed, one after the other, and what must hold after each.

use super::child::{Ended, Moment, Program};
use super::picture::{Picture, TaskWord};
use super::told::{Told, heard};
use crate::seed::Seed;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;
use work_core::plant::Fault;
use work_store::clock::HostClock;
use work_store::instance::{Instance, InstanceError};

/// What reports ask for; every file has something about it.
const QUERIES: [&str; 3] = ["backups", "keys rotated", "how long are backups kept"];

/// Files of the folder.
const FILES: usize = 6;

/// How long a command lasts until it is known better.
const FIRST_GUESS: Duration = Duration::from_millis(80);

/// Codes of an error that no command may end with here.
const BROKEN: [&str; 5] =
    ["internal", "unknown_outcome", "store_damaged", "store_newer", "store_foreign"];

/// An instance, the folder beside it, and what was told about them.
pub(super) struct World<'p> {
    seed: Seed,
    program: &'p Program,
    hunted: Option<Fault>,
    directory: TempDir,
    /// How long each command lasted when it was not killed.
    lasts: BTreeMap<&'static str, Duration>,
    /// What was acknowledged.
    told: Vec<Told>,
    /// What was stored when it was looked at last.
    picture: Picture,
    copies: u32,
}

/// A command with its arguments.
#[derive(Clone, Debug)]
struct Said {
    name: &'static str,
    words: Vec<OsString>,
}

impl Said {
    fn new<W: Into<OsString>>(name: &'static str, words: impl IntoIterator<Item = W>) -> Self {
        Self { name, words: words.into_iter().map(Into::into).collect() }
    }

    /// With one word.
    fn of(name: &'static str, word: impl ToString) -> Self {
        Self::new(name, [word.to_string()])
    }
}

impl<'p> World<'p> {
    /// With a folder and no instance yet: making one is killed too.
    pub(super) fn new(seed: Seed, program: &'p Program, hunted: Option<Fault>) -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let mut world = Self {
            seed,
            program,
            hunted,
            directory,
            lasts: BTreeMap::new(),
            told: Vec::new(),
            picture: Picture::default(),
            copies: 0,
        };
        std::fs::create_dir(world.docs()).expect("made");
        (0..FILES).for_each(|n| world.write(n));
        world
    }

    /// Kills one command, and looks at what is left. Says whether it was killed, and not too fast for that.
    ///
    /// # Errors
    /// What is wrong, in words.
    pub(super) fn round(&mut self) -> Result<bool, String> {
        let (said, moment) = match self.hunted {
            Some(_) => self.where_it_hurts()?,
            None => self.any()?,
        };
        if said.name == "repair" {
            let file = self.seed.below(FILES);
            self.write(file);
        }
        let what = format!("{} {:?}, killed {moment:?}", said.name, said.words);
        let ended = self.run(&said, Some(moment)).map_err(|why| format!("{what}: {why}"))?;
        self.told.extend(heard(said.name, &ended));
        self.is_sound().map_err(|why| format!("after {what}: {why}"))?;
        self.goes_on().map_err(|why| format!("after {what}: {why}"))?;
        Ok(ended.was_killed())
    }

    /// What may be said now, and when it is killed.
    fn any(&mut self) -> Result<(Said, Moment), String> {
        let all = self.sayable();
        let said = self.seed.one_of(&all).clone();
        let moment = self.moment(said.name);
        Ok((said, moment))
    }

    /// A cancellation that is killed as soon as it is acknowledged.
    fn where_it_hurts(&mut self) -> Result<(Said, Moment), String> {
        let docs = self.docs();
        let detached = Said::new("report", [OsString::from("--detach"), QUERIES[0].into()]);
        self.expect_done(&Said::new("approve", [docs]))?;
        self.expect_done(&detached)?;
        let picture = self.look()?.unwrap_or_default();
        let task = picture.tasks_that_are(TaskWord::Queued).pop().ok_or("nothing is queued")?;
        Ok((Said::of("cancel", task), Moment::Said(1, Duration::ZERO)))
    }

    /// Every command that can do something now, the more telling ones more than once.
    fn sayable(&mut self) -> Vec<Said> {
        let docs = self.docs().into_os_string();
        let picture = &self.picture;
        let mut all = Vec::new();
        if !picture.folders.values().any(|active| *active) {
            let first = Said::new("report", ["--folder".into(), docs.clone(), QUERIES[0].into()]);
            return vec![first, Said::new("approve", [docs]), Said::new("init", [""; 0])];
        }
        for query in QUERIES {
            all.push(Said::of("report", query));
        }
        if picture.tasks_that_are(TaskWord::Queued).len() < 10 {
            all.push(Said::new("report", ["--detach", QUERIES[0]]));
            all.push(Said::new("report", ["--detach", QUERIES[1]]));
        }
        for task in picture.tasks_that_are(TaskWord::Queued) {
            all.push(Said::of("cancel", task));
            all.push(Said::new("worker", [""; 0]));
            all.push(Said::new("worker", ["--once"]));
        }
        for (result, accepted) in &picture.results {
            all.push(Said::of("repair", result));
            all.push(Said::of("repair", result));
            if *accepted > 1 {
                let result = result.to_string();
                all.push(Said::new("restore", [result, (accepted - 1).to_string()]));
            }
        }
        for waiting in picture.waiting() {
            let approved = ["--fingerprint".to_owned(), waiting.fingerprint.to_string()];
            let apply = [[waiting.id.to_string()].as_slice(), approved.as_slice()].concat();
            all.extend(std::iter::repeat_n(Said::new("apply", apply), 8));
            all.push(Said::of("dismiss", waiting.id));
        }
        all.push(Said::new("approve", [docs.clone(), "--exclude".into(), "drafts".into()]));
        all.push(Said::new("revoke", [docs]));
        all.push(Said::new("refresh", [""; 0]));
        all.push(Said::new("init", ["--new-token"]));
        self.copies += 1;
        let copy = self.directory.path().join(format!("copy-{}", self.copies));
        all.push(Said::new("backup", [copy]));
        all
    }

    /// When this command is killed: somewhere in its life, or when it has answered.
    fn moment(&mut self, name: &'static str) -> Moment {
        let lasts = self.lasts.get(name).copied().unwrap_or(FIRST_GUESS);
        let micros = usize::try_from(lasts.as_micros()).unwrap_or(usize::MAX).max(1);
        let queued = self.picture.tasks_that_are(TaskWord::Queued).len();
        match self.seed.below(4) {
            0 => Moment::Said(
                if name == "worker" { 1 + self.seed.below(queued) } else { 1 },
                Duration::ZERO,
            ),
            1 if name != "worker" => {
                Moment::Said(1, Duration::from_micros(self.seed.below(2000) as u64))
            }
            _ => Moment::After(Duration::from_micros(self.seed.below(micros) as u64)),
        }
    }

    /// Says something, and learns how long it lasts.
    fn run(&mut self, said: &Said, until: Option<Moment>) -> Result<Ended, String> {
        let is_listened_to = said.name == "worker" && said.words.is_empty();
        let how = if is_listened_to { "--progress=none" } else { "--json" };
        let words: Vec<OsString> =
            [how.into(), said.name.into()].into_iter().chain(said.words.iter().cloned()).collect();
        let ended = self.program.run(&self.home(), &words, until)?;
        if !ended.was_killed() {
            self.lasts.insert(said.name, ended.lasted);
            expect_in_order(&ended)?;
        }
        Ok(ended)
    }

    /// Says something that must succeed.
    fn expect_done(&mut self, said: &Said) -> Result<(), String> {
        let ended = self.run(said, None)?;
        if !ended.status.success() {
            return Err(format!("{} {:?} does not work: {ended:?}", said.name, said.words));
        }
        self.told.extend(heard(said.name, &ended));
        Ok(())
    }

    /// Whether everything that was acknowledged is there, and nothing by halves.
    fn is_sound(&mut self) -> Result<(), String> {
        let Some(picture) = self.look()? else {
            return if self.told.is_empty() {
                Ok(())
            } else {
                Err("the instance is gone".to_owned())
            };
        };
        if !picture.goes_on_from(&self.picture) {
            return Err("events that were there are gone".to_owned());
        }
        picture.is_whole()?;
        if let Some(lost) = self.told.iter().find(|told| !told.is_in(&picture)) {
            return Err(format!("acknowledged and not there: {lost:?}"));
        }
        self.picture = picture;
        Ok(())
    }

    /// What is stored, if there is an instance.
    fn look(&self) -> Result<Option<Picture>, String> {
        let instance = match Instance::open(self.home()) {
            Ok(instance) => instance,
            Err(InstanceError::Absent(_)) => return Ok(None),
            Err(InstanceError::Io { .. }) if !self.home().exists() => return Ok(None),
            Err(error) => return Err(format!("the instance does not open: {error:?}")),
        };
        let store = instance.store(Arc::new(HostClock::new()));
        let picture = store.and_then(|store| Picture::take(&store));
        picture.map(Some).map_err(|error| format!("the records cannot be read: {error}"))
    }

    /// Whether the doctor is content and the next commands work: tasks that were left are cancelled, and everything is
    /// looked at.
    fn goes_on(&mut self) -> Result<(), String> {
        if self.look()?.is_none() {
            return Ok(());
        }
        self.expect_done(&Said::new("doctor", [""; 0]))?;
        for task in self.picture.tasks_that_are(TaskWord::Running) {
            self.expect_done(&Said::of("cancel", task))?;
        }
        self.expect_done(&Said::new("status", [""; 0]))?;
        self.is_sound()
    }

    fn home(&self) -> PathBuf {
        self.directory.path().join("desk")
    }

    fn docs(&self) -> PathBuf {
        self.directory.path().join("docs")
    }

    /// Writes a file anew, with other numbers.
    fn write(&mut self, n: usize) {
        let (days, weeks) = (self.seed.below(90), self.seed.below(52));
        let text = format!(
            "# Rules {n}\n\nBackups are kept for {days} days.\n\nKeys are rotated every {weeks} weeks.\n"
        );
        std::fs::write(self.docs().join(format!("{n}.md")), text).expect("written");
    }
}

/// Refuses a panic, and an error that nothing here may cause.
fn expect_in_order(ended: &Ended) -> Result<(), String> {
    let code = ended.document().map(|document| document["error"]["code"].clone());
    let is_broken =
        code.as_ref().and_then(|code| code.as_str()).is_some_and(|code| BROKEN.contains(&code));
    if is_broken || ended.besides.contains("panicked") || ended.status.code().is_none() {
        return Err(format!("it ends with {ended:?}"));
    }
    Ok(())
}
