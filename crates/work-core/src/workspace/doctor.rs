//! `doctor`: whether the records are what they were when they were written. Repairs nothing, says what to do.

mod proposals;

use super::sheet::Content;
use super::{Failure, Workspace};
use crate::audit::AuditEvent;
use crate::digest::Digest;
use crate::document::stored::{self, Form};
use crate::document::wire::{DoctorDoc, FindingDoc};
use crate::id::{ResultId, TaskId};
use crate::limits::Limits;
use crate::port::{
    Document, Events, Head, Quotations, ReadTx, Results, Revisions, StoreError, Tasks,
};
use crate::redact::{self, Sealed};
use crate::result::{Revision, RevisionNo};
use crate::task::{Task, TaskState};
use std::collections::BTreeMap;

/// What is found wrong, one of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Checkup {
    /// An event is missing, changed, or not chained to the one before.
    Chain,
    /// The log ends elsewhere than the workspace's head says.
    Tail,
    /// A result has no accepted revision, or a number is missing below it.
    Numbering,
    /// A document is gone, or its bytes do not have its digest.
    Documents,
    /// The index of quotations says something else than the dependencies that it is made from.
    Quotations,
    /// A proposal has another fingerprint than its records give.
    Fingerprint,
    /// A proposal and what became of it do not agree.
    Proposals,
    /// The clock says a time before the latest that was acted on.
    Clock,
}

impl Checkup {
    /// The code, the severity, and what to do.
    const fn row(self) -> (&'static str, &'static str, &'static str) {
        const RESTORE: &str = "keep a copy of the instance directory and go back to a backup that this command finds sound";
        match self {
            Self::Chain => ("chain_broken", "damage", RESTORE),
            Self::Tail => ("chain_tail", "damage", RESTORE),
            Self::Numbering => ("numbering_broken", "damage", RESTORE),
            Self::Documents => ("document_damaged", "damage", RESTORE),
            Self::Quotations => ("index_differs", "damage", RESTORE),
            Self::Fingerprint => ("fingerprint_differs", "damage", RESTORE),
            Self::Proposals => ("proposal_differs", "damage", RESTORE),
            Self::Clock => (
                "clock_behind",
                "warning",
                "set the system clock right; if it is right and was wrong before, run `work doctor --accept-clock`, which \
                 ends every pending proposal and lease; until then time goes on from the latest time acted on",
            ),
        }
    }

    fn finding(self, what: String) -> FindingDoc {
        let (code, severity, next) = self.row();
        FindingDoc { code, severity, what, next: next.to_owned() }
    }
}

/// How far the clock may lag before it is told.
const LAG_MS: i64 = 2000;

impl Workspace {
    /// Verifies the chain, the numbering, every document's digest, the index of quotations, and every proposal with its
    /// fingerprint and what became of it, page by page.
    ///
    /// # Errors
    /// [`Failure`] when the store does not answer.
    pub fn doctor(&self) -> Result<DoctorDoc, Failure> {
        let head = self.read(|_, moment| Ok(moment.head.clone()))?;
        let mut findings = self.read(|tx, _| clock(tx))?;
        findings.extend(self.chain(&head)?);
        findings.extend(self.records()?);
        findings.extend(self.check_proposals()?);
        let ok = findings.iter().all(|finding| finding.severity == "note");
        Ok(DoctorDoc { ok, findings, events: Some(head.acts), chain: Some(head.chain) })
    }

    /// Every event up to the head that was read first.
    fn chain(&self, head: &Head) -> Result<Vec<FindingDoc>, Failure> {
        let (mut seq, mut last) = (0, AuditEvent::GENESIS);
        while seq < head.acts {
            let page =
                self.read(|tx, _| tx.events(Events::After { seq, most: self.limits.page }))?;
            let upto =
                page.into_iter().take_while(|event| event.seq <= head.acts).collect::<Vec<_>>();
            if upto.is_empty() {
                break;
            }
            for event in upto {
                if !event.follows(seq, &last) || event.kind().is_none() {
                    let what =
                        format!("event {} is not what was written after event {seq}", event.seq);
                    return Ok(vec![Checkup::Chain.finding(what)]);
                }
                (seq, last) = (event.seq, event.digest);
            }
        }
        let whole = (seq, last) == (head.acts, head.chain);
        let what = || format!("the log ends at event {seq}, the workspace knows of {}", head.acts);
        Ok(if whole { Vec::new() } else { vec![Checkup::Tail.finding(what())] })
    }

    /// Every result with every revision of it, and the scan record of every task that failed: a list's worth at a time,
    /// and each result in a snapshot of its own.
    fn records(&self) -> Result<Vec<FindingDoc>, Failure> {
        let (mut found, mut before) = (Vec::new(), None);
        loop {
            let page =
                self.read(|tx, _| tx.results(Results::Latest { before, most: self.limits.list }))?;
            for kept in &page {
                let id = kept.value.id;
                found.extend(self.read(|tx, _| check_result(tx, id, &self.limits))?);
            }
            match page.last() {
                Some(last) => before = Some((last.value.updated_at, last.value.id)),
                None => break,
            }
        }
        found.extend(self.failed_tasks()?);
        Ok(found)
    }

    /// Whether the scan record of each task that failed is as written.
    fn failed_tasks(&self) -> Result<Vec<FindingDoc>, Failure> {
        let (mut found, mut before) = (Vec::new(), None);
        loop {
            let page = self.read(|tx, _| {
                let page = tx.tasks(Tasks::Latest { before, most: self.limits.list })?;
                let scans: Vec<_> =
                    page.iter().filter_map(|asked| scan_of(&asked.task.value)).collect();
                let digests: Vec<Digest> = scans.iter().map(|(_, digest)| *digest).collect();
                let kept: BTreeMap<_, _> =
                    tx.documents(&digests, self.limits.scan_bytes)?.into_iter().collect();
                let damaged = |(_, digest): &(TaskId, Digest)| {
                    !is_sound(Form::Scan, *digest, kept.get(digest))
                };
                let damaged: Vec<TaskId> =
                    scans.into_iter().filter(damaged).map(|(task, _)| task).collect();
                Ok((page.last().map(|last| last.task.value.id), damaged))
            })?;
            let what = |task| format!("the scan record of task {task} is not as written");
            found.extend(page.1.into_iter().map(|task| Checkup::Documents.finding(what(task))));
            match page.0 {
                Some(last) => before = Some(last),
                None => return Ok(found),
            }
        }
    }
}

/// The scan record that a failed task has.
fn scan_of(task: &Task) -> Option<(TaskId, Digest)> {
    match task.state {
        TaskState::Failed(failure) => Some((task.id, failure.scan?)),
        TaskState::Queued
        | TaskState::Running(_)
        | TaskState::Succeeded(_)
        | TaskState::Cancelled => None,
    }
}

/// Whether the wall clock is behind the latest time acted on.
fn clock(tx: &mut dyn ReadTx) -> Result<Vec<FindingDoc>, StoreError> {
    let (head, reading) = tx.head()?;
    let behind = head.anchor.advance(reading).latest_ms - reading.wall_ms;
    let what =
        || format!("the system clock is {} seconds behind the latest time acted on", behind / 1000);
    Ok(if behind > LAG_MS { vec![Checkup::Clock.finding(what())] } else { Vec::new() })
}

/// What is wrong with one result: numbering, documents, index.
fn check_result(
    tx: &mut dyn ReadTx,
    id: ResultId,
    limits: &Limits,
) -> Result<Vec<FindingDoc>, StoreError> {
    let Some(accepted) = tx.results(Results::Ids(&[id]))?.pop().map(|kept| kept.value.accepted)
    else {
        return Ok(Vec::new());
    };
    let (mut found, mut before, mut expected) = (Vec::new(), None, None);
    loop {
        let page =
            tx.revisions(Revisions::LatestOf { results: &[id], before, each: limits.list })?;
        for revision in &page {
            if expected.is_some_and(|no| no != revision.no) {
                found.push(
                    Checkup::Numbering.finding(format!("revisions of result {id} have a gap")),
                );
            }
            if revision.no == accepted {
                found.extend(check_index(tx, revision, limits)?);
            }
            found.extend(check_documents(tx, &written(revision), limits)?);
            found.extend(proposals::check_origin(tx, revision)?);
            expected = Some(RevisionNo(revision.no.0.saturating_sub(1)));
        }
        match page.last() {
            Some(last) => before = Some(last.no),
            None => break,
        }
    }
    if expected != Some(RevisionNo(0)) {
        found.push(
            Checkup::Numbering.finding(format!("result {id} does not begin with revision 1")),
        );
    }
    Ok(found)
}

/// The documents of a revision or a proposal.
struct Written {
    /// Of what, as findings name it.
    whose: String,
    content: Content,
    /// One that only proposals have.
    beside: Option<(Form, Digest)>,
}

/// The documents of a revision.
fn written(revision: &Revision) -> Written {
    Written {
        whose: format!("revision {} of result {}", revision.no.0, revision.result),
        content: Content::from(revision),
        beside: None,
    }
}

/// Whether each document is there with its digest, and the verification is that of the dependencies beside it.
fn check_documents(
    tx: &mut dyn ReadTx,
    Written { whose, content, beside }: &Written,
    limits: &Limits,
) -> Result<Vec<FindingDoc>, StoreError> {
    let forms = [
        (Form::Body, content.body),
        (Form::Dependencies, content.dependencies),
        (Form::Verification, content.verification),
        (Form::Scan, content.scan),
    ];
    let mut damaged = Vec::new();
    for (form, digest) in forms.into_iter().chain(*beside) {
        let kept = tx.documents(&[digest], form.most(limits))?.pop().map(|(_, kept)| kept);
        let right = form != Form::Verification || is_of(content, kept.as_ref(), limits);
        if !right || !is_sound(form, digest, kept.as_ref()) {
            let what = format!("{} of {whose} is not as written", form.tag());
            damaged.push(Checkup::Documents.finding(what));
        }
    }
    Ok(damaged)
}

/// Whether a verification is that of the dependencies beside it.
fn is_of(content: &Content, kept: Option<&Sealed<Document>>, limits: &Limits) -> bool {
    let document = kept.cloned().map(redact::for_checking);
    let check = document
        .and_then(|document| stored::read_verification((content.verification, &document), limits));
    check.is_some_and(|check| check.dependencies == content.dependencies)
}

fn is_sound(form: Form, digest: Digest, kept: Option<&Sealed<Document>>) -> bool {
    match kept.cloned().map(redact::for_checking) {
        Some(Document::Bytes(bytes)) => Digest::tagged(form.tag(), &bytes) == digest,
        Some(Document::TooLong | Document::Absent) | None => false,
    }
}

/// Whether the index of quotations is what the accepted revision's dependencies say.
fn check_index(
    tx: &mut dyn ReadTx,
    revision: &Revision,
    limits: &Limits,
) -> Result<Vec<FindingDoc>, StoreError> {
    let kept = tx.documents(&[revision.dependencies], limits.dependency_bytes)?.pop();
    let said = kept.and_then(|(digest, sealed)| {
        stored::read_dependencies((digest, &redact::for_checking(sealed)), limits)
    });
    let index: Vec<_> = tx
        .quotations(Quotations::Of(&[revision.result]))?
        .into_iter()
        .map(|one| one.cited)
        .collect();
    let same = said.is_some_and(|said| said.cited() == index);
    let what = || {
        format!("the quotations of result {} are indexed otherwise than written", revision.result)
    };
    Ok(if same { Vec::new() } else { vec![Checkup::Quotations.finding(what())] })
}
