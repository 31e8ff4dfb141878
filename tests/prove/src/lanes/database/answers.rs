//! Everything that a workspace is asked, and what it answers.

use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Display;
use work_core::code::Coded;
use work_core::document::wire::Named;
use work_core::id::{ProposalId, ResultId, TaskId};
use work_core::port::Quiet;
use work_core::result::RevisionNo;
use work_core::workspace::{StateFilter, Workspace};

/// An answer: a document, or the code of a refusal.
pub(super) type Answer = Result<Value, &'static str>;

/// Answers by what was asked.
pub(super) type Answers = BTreeMap<String, Answer>;

/// What there is to ask for.
pub(super) struct Questions {
    revisions: Vec<(ResultId, u64)>,
    tasks: Vec<TaskId>,
    proposals: Vec<ProposalId>,
}

impl Questions {
    /// About everything that a workspace lists.
    pub(super) fn about(work: &Workspace) -> Self {
        let results = work.list(StateFilter::All, None).expect("listed").results;
        let last = |id| work.show(id, None, &mut Quiet).expect("shown").revision;
        let revisions = results.into_iter().map(|entry| entry.artifact_id);
        let revisions = revisions.map(|id| (id, last(id).map_or(0, |no| no.0))).collect();
        let tasks = work.tasks(None).expect("listed").tasks;
        let proposals = work.proposals(None).expect("listed").proposals;
        Self {
            revisions,
            tasks: tasks.into_iter().map(|task| task.task_id).collect(),
            proposals: proposals.into_iter().map(|proposal| proposal.proposal_id).collect(),
        }
    }

    /// All of them.
    pub(super) fn ask(&self, work: &Workspace) -> Answers {
        let mut answers = Answers::new();
        let mut put = |what: String, answer| drop(answers.insert(what, answer));
        put("folders".to_owned(), said(work.folders()));
        put("log".to_owned(), said(work.log(0)));
        put("list".to_owned(), said(work.list(StateFilter::All, None)));
        put("tasks".to_owned(), said(work.tasks(None)));
        put("proposals".to_owned(), said(work.proposals(None)));
        for &(id, last) in &self.revisions {
            put(of("show", id), said(work.show(id, None, &mut Quiet)));
            put(of("history", id), said(work.history(id, None, &mut Quiet)));
            for no in 1..=last {
                let revision = work.revision(id, RevisionNo(no), &mut Quiet);
                put(of(&format!("revision {no}"), id), said(revision));
            }
        }
        for &id in &self.tasks {
            put(of("task", id), said(work.task(id)));
        }
        for &id in &self.proposals {
            put(of("proposal", id), said(work.proposal(id, &mut Quiet)));
        }
        answers
    }
}

fn of(what: &str, id: impl Display) -> String {
    format!("{what} of {id}")
}

fn said<D: Named, E: Coded>(answer: Result<D, E>) -> Answer {
    match answer {
        Ok(document) => Ok(serde_json::to_value(&document).expect("JSON")),
        Err(error) => Err(error.code().as_str()),
    }
}

/// What an answer shows of stored documents, which are hashed: each body with its digest where that is told, and each
/// scan and verification; by whose it is.
pub(super) fn content(answer: &Value) -> BTreeMap<String, Value> {
    let mut all = BTreeMap::new();
    collect(answer, &whose(answer), &mut all);
    all
}

/// What a document is about.
fn whose(answer: &Value) -> String {
    let name = |name: &str| answer[name].to_string();
    format!("{} {} {}", name("artifact_id"), name("revision"), name("proposal_id"))
}

fn collect(value: &Value, place: &str, all: &mut BTreeMap<String, Value>) {
    let Some(fields) = value.as_object() else { return };
    for (name, field) in fields {
        match name.as_str() {
            // A scan without its sum is one from which the folders that may not show were left out.
            "scan" if field["elapsed_ms"].is_null() => {}
            "body" | "scan" | "verification" | "digest" if !field.is_null() => {
                all.insert(format!("{place} {name}"), hashed(field));
            }
            "accepted" | "proposed" => collect(field, &format!("{place} {name}"), all),
            _ => {}
        }
    }
}

/// The same without what stands beside the document: the place of a source, the label of a folder, the latest finding.
fn hashed(value: &Value) -> Value {
    const BESIDE: [&str; 4] = ["path", "path_bytes", "label", "finding"];
    match value {
        Value::Object(fields) => {
            let kept = fields.iter().filter(|(name, _)| !BESIDE.contains(&name.as_str()));
            kept.map(|(name, value)| (name.clone(), hashed(value))).collect()
        }
        Value::Array(all) => all.iter().map(hashed).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}
