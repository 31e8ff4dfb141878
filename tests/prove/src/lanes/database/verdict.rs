//! Whether what the product makes of a damaged file is in order.

use super::answers::{Answers, content};
use super::damage::Damage;
use super::original::{Original, clock, install};
use super::rows;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use work_core::workspace::Workspace;
use work_source::{FolderDoor, OwnFiles};
use work_store::ids::OsIds;
use work_store::instance::{Instance, InstanceError};
use work_store::sqlite::{Depth, Fault};

/// What became of a damaged file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It does not open, and is as it was to the byte.
    Refused,
    /// It opens, and the doctor says that it is damaged.
    Told,
    /// It opens, and every answer is the truth.
    True,
    /// Something is not as it was of which nothing but its form is known.
    Bare,
}

impl Verdict {
    /// As it is counted.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Refused => "refused and untouched",
            Self::Told => "told by the doctor",
            Self::True => "answered as before",
            Self::Bare => "changed in what nothing vouches for",
        }
    }
}

/// What the product says of a file that it opens.
pub(super) struct Opened {
    answers: Answers,
    /// What is damaged, in words.
    damage: Vec<String>,
}

/// A place where damaged files are opened, one after the other.
pub(super) struct Bench<'o> {
    original: &'o Original,
    home: PathBuf,
    _directory: tempfile::TempDir,
}

impl<'o> Bench<'o> {
    pub(super) fn new(original: &'o Original) -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let home = directory.path().join("desk");
        Self { original, home, _directory: directory }
    }

    /// Opens a file with this damage and judges.
    ///
    /// # Errors
    /// What is wrong, in words.
    pub(super) fn judge(&mut self, damage: &Damage) -> Result<Verdict, String> {
        let file = damage.done_to(&self.original.file);
        let what = |why| format!("byte {} becomes {}: {why}", damage.at, damage.to);
        self.judge_file(&file).map_err(what)
    }

    /// Opens a file and judges.
    ///
    /// # Errors
    /// What is wrong, in words.
    pub(super) fn judge_file(&mut self, file: &[u8]) -> Result<Verdict, String> {
        install(&self.home, file);
        let path = self.home.join("work.sqlite");
        let stored = rows::of(&path).ok();
        install(&self.home, file);
        match catch_unwind(AssertUnwindSafe(|| opened(&self.home, self.original))) {
            Err(_) => Err("a panic".to_owned()),
            Ok(Ok(opened)) => self.expect_truth(&opened, stored.as_ref()),
            Ok(Err(_)) => {
                let same = std::fs::read(&path).is_ok_and(|after| after == file);
                if same {
                    Ok(Verdict::Refused)
                } else {
                    Err("refused, and not as it was".to_owned())
                }
            }
        }
    }

    /// Judges what an opened file answers.
    fn expect_truth(
        &self,
        opened: &Opened,
        stored: Option<&rows::Rows>,
    ) -> Result<Verdict, String> {
        self.expect_true_content(opened)?;
        if !opened.damage.is_empty() {
            return Ok(Verdict::Told);
        }
        let changed = stored.map(|stored| rows::difference(&self.original.rows, stored));
        let changed = changed.ok_or("SQLite cannot read it, and nobody is told")?;
        if let Some(place) = changed.iter().find(|place| !rows::is_bare(place)) {
            return Err(format!("{place} is not as it was, and nobody is told"));
        }
        let differs = self
            .original
            .truth
            .iter()
            .find(|(what, truth)| opened.answers.get(*what) != Some(truth));
        match differs {
            None => Ok(Verdict::True),
            Some(_) if !changed.is_empty() => Ok(Verdict::Bare),
            Some((what, truth)) => {
                Err(format!("{what} is {truth:?}, answered is {:?}", opened.answers.get(what)))
            }
        }
    }

    /// Refuses content that is not as stored, whatever the doctor says.
    fn expect_true_content(&self, opened: &Opened) -> Result<(), String> {
        for (what, answer) in &opened.answers {
            let (Ok(answer), Some(Ok(truth))) = (answer, self.original.truth.get(what)) else {
                continue;
            };
            let truth = content(truth);
            for (part, shown) in content(answer) {
                if truth.get(&part).is_some_and(|truth| *truth != shown) {
                    return Err(format!("{what} shows another {part}: {shown}"));
                }
            }
        }
        Ok(())
    }
}

/// Opens an instance and asks everything.
fn opened(home: &Path, original: &Original) -> Result<Opened, InstanceError> {
    let instance = Instance::open(home)?;
    let store = Arc::new(instance.store(clock())?);
    let health = store.inspect(Depth::Full);
    let own = OwnFiles::in_directory(home).expect("an instance");
    let door = Arc::new(FolderDoor::guarding(own, clock().reading().boot));
    let work = Workspace::new(store, door, Arc::new(OsIds));
    let mut damage: Vec<String> = match health {
        Ok(health) => health.faults.iter().map(named).collect(),
        Err(error) => vec![error.to_string()],
    };
    match work.doctor() {
        Ok(document) => {
            let findings = document.findings.iter().filter(|one| one.severity == "damage");
            damage.extend(findings.map(|one| one.code.to_owned()));
        }
        Err(error) => damage.push(error.to_string()),
    }
    Ok(Opened { answers: original.questions.ask(&work), damage })
}

fn named(fault: &Fault) -> String {
    format!("{fault:?}")
}
