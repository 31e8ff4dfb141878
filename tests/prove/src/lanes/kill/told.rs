//! What the program acknowledged, and whether it is there.

use super::child::Ended;
use super::picture::Picture;
use serde_json::Value;
use std::path::PathBuf;
use work_core::proposal::ProposalState;

/// Something that was acknowledged. Ids as they were told, which may be the first digits alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Told {
    /// A task was queued.
    Asked { task: String },
    /// A task ended in this state.
    Came { task: String, state: String },
    /// A report was made; this is its body.
    Reported { result: String, body: Value },
    /// A proposal waits, to be approved by this fingerprint.
    Proposed { proposal: String, fingerprint: String },
    /// A proposal became this revision.
    Applied { proposal: String, result: String, revision: u64, digest: String },
    /// The owner said no.
    Dismissed { proposal: String },
    /// A folder was approved, or is not any more.
    Folder { folder: String, change: String },
    /// A copy was made whose log ends like this.
    Copied { file: PathBuf, events: u64, chain: String },
}

/// What a command acknowledged, by what it said until it ended.
pub(super) fn heard(command: &str, ended: &Ended) -> Vec<Told> {
    match ended.document() {
        Some(document) if document["ok"] == true => of_document(command, &document),
        Some(_) => Vec::new(),
        None => ended.said.iter().filter_map(|line| of_worker(line)).collect(),
    }
}

fn of_document(command: &str, document: &Value) -> Vec<Told> {
    let data = &document["data"];
    let text = |name: &str| data[name].as_str().unwrap_or_default().to_owned();
    let task = || text("task_id");
    let told = match (command, document["schema"].as_str().unwrap_or_default()) {
        ("cancel", "work.task/1") => Told::Came { task: task(), state: "cancelled".to_owned() },
        (_, "work.task/1") => Told::Asked { task: task() },
        ("report", "work.result/1") => {
            Told::Reported { result: text("artifact_id"), body: data["body"].clone() }
        }
        ("dismiss", "work.proposal/1") => Told::Dismissed { proposal: text("proposal_id") },
        (_, "work.proposal/1") => {
            Told::Proposed { proposal: text("proposal_id"), fingerprint: text("fingerprint") }
        }
        (_, "work.applied/1") => Told::Applied {
            proposal: text("proposal_id"),
            result: text("artifact_id"),
            revision: data["revision"].as_u64().unwrap_or_default(),
            digest: text("digest"),
        },
        (_, "work.folder/1") => Told::Folder {
            folder: data["folder"]["folder"].as_str().unwrap_or_default().to_owned(),
            change: text("change"),
        },
        (_, "work.backup/1") => Told::Copied {
            file: text("file").into(),
            events: data["events"].as_u64().unwrap_or_default(),
            chain: text("chain"),
        },
        (_, "work.worked/1") => return worked(&data["tasks"]),
        _ => return Vec::new(),
    };
    vec![told]
}

/// Each task that a worker ended.
fn worked(tasks: &Value) -> Vec<Told> {
    let text = |task: &Value, name| task[name].as_str().unwrap_or_default().to_owned();
    let came = |task| Told::Came { task: text(task, "task_id"), state: text(task, "state") };
    tasks.as_array().into_iter().flatten().map(came).collect()
}

/// A line of a worker: day, minute, task, state.
fn of_worker(line: &str) -> Option<Told> {
    let mut words = line.split_whitespace().skip(2);
    let (task, state) = (words.next()?, words.next()?);
    Some(Told::Came { task: task.to_owned(), state: state.to_owned() })
}

impl Told {
    /// Whether it is so in what is stored.
    pub(super) fn is_in(&self, picture: &Picture) -> bool {
        match self {
            Self::Asked { task } => picture.tasks.keys().any(|id| id.to_string() == *task),
            Self::Came { task, state } => {
                let is = |id: &dyn ToString| id.to_string().starts_with(task);
                picture.tasks.iter().any(|(id, word)| is(id) && word.word() == state)
            }
            Self::Reported { result, .. } => {
                picture.results.keys().any(|id| id.to_string() == *result)
            }
            Self::Proposed { proposal, fingerprint } => picture.proposals.values().any(|kept| {
                kept.id.to_string() == *proposal && kept.fingerprint.to_string() == *fingerprint
            }),
            Self::Applied { proposal, result, revision, digest } => {
                let used = |state| matches!(state, ProposalState::Applied(_));
                let is_revision = picture.revisions.iter().any(|((id, no), body)| {
                    id.to_string() == *result && no == revision && body.to_string() == *digest
                });
                is_revision && standing(picture, proposal).is_some_and(used)
            }
            Self::Dismissed { proposal } => standing(picture, proposal)
                .is_some_and(|state| matches!(state, ProposalState::Dismissed(_))),
            Self::Folder { folder, .. } => {
                picture.folders.keys().any(|id| id.to_string() == *folder)
            }
            Self::Copied { events, chain, .. } => {
                let last = events.checked_sub(1).and_then(|last| usize::try_from(last).ok());
                let last = last.and_then(|last| picture.log.get(last));
                last.is_some_and(|(digest, _)| digest.to_string() == *chain)
            }
        }
    }
}

/// Where a proposal stands.
fn standing(picture: &Picture, proposal: &str) -> Option<ProposalState> {
    let mut all = picture.proposals.values();
    all.find(|kept| kept.id.to_string() == proposal).map(|kept| kept.state)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_a_worker_names_its_task_and_what_came_of_it() {
        let line = "2026-12-01 01:17  1a2b  succeeded  result 3c4d  backups\n";
        let (task, state) = ("1a2b".to_owned(), "succeeded".to_owned());
        assert_eq!(of_worker(line), Some(Told::Came { task, state }));
        assert_eq!(of_worker("\n"), None);
    }

    #[test]
    fn what_is_not_stored_was_acknowledged_for_nothing() {
        let told = Told::Came { task: "1a2b".to_owned(), state: "cancelled".to_owned() };
        assert!(!told.is_in(&Picture::default()));
    }
}
