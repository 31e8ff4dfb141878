//! `repair`: a task that repeats a result's query and proposes its next revision. What is accepted does not change.

use super::ask::{KeyConflict, Keyed, Queue, QueueFull};
use super::case;
use super::deliver::Roots;
use super::export::ExportError;
use super::looks::{self, Looked, NoProbe, Scene};
use super::prepare::{self, Draft};
use super::proposals::ProposalError;
use super::publish::{self, Answer, CitedSources, Found, NotPublished, Published, Written};
use super::run::{Done, Held, Leased, NeverStop, RunError, held};
use super::sheet::{Content, Sheet};
use super::show::ShowError;
use super::{Decision, Failure, Moment, Workspace};
use crate::audit::EventKind;
use crate::canonical::Canonical;
use crate::code::{Code, Coded};
use crate::digest::Digest;
use crate::document::wire::{ProposalDoc, TaskDoc};
use crate::id::{ProposalId, ResultId, SourceId, TaskId, WorkerId};
use crate::limits::Limits;
use crate::port::{
    Kept, NoPause, Pause, Proposals, ReadTx, Results, Revisions, Sources, StoreError, Watch,
};
use crate::proposal::{self, Proposal, ProposalKind};
use crate::redact::{self, Access, Withheld};
use crate::result::{Revision, RevisionNo, WorkResult};
use crate::task::{Ask, FailureReason, Outcome, ReportRequest, RunEnd, Success, Task, TaskKind};
use std::sync::Arc;

/// What is asked for: which result, and a client's key for the request.
#[derive(Clone, Debug)]
pub struct RepairAsk {
    /// The result.
    pub result: ResultId,
    /// A key under which the same request within 24 hours returns the same task.
    pub key: Option<String>,
}

/// What came of a repair.
#[derive(Clone, Debug, PartialEq)]
pub enum Repaired {
    /// A proposal that waits for approval.
    Proposed(Box<ProposalDoc>),
    /// The sources still say what the result says; the task that found so.
    NoChange(Box<TaskDoc>),
}

/// Why nothing was queued.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AskRepairError {
    /// The result cannot be shown.
    #[error(transparent)]
    Show(#[from] ShowError),
    /// The result must not be seen, so it cannot be repaired.
    #[error(transparent)]
    Withheld(Withheld),
    /// Not every source could be looked at in time.
    #[error("not every source could be looked at in time")]
    RefreshIncomplete,
    /// As many tasks wait as may.
    #[error("{0} tasks wait already, as many as may")]
    QueueFull(usize),
    /// The key stands for another request.
    #[error("this key was used for another request within the last day")]
    KeyConflict,
    /// Something broke.
    #[error(transparent)]
    Failed(#[from] Failure),
}

/// Why a result was not repaired.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum RepairError {
    /// It could not be asked for.
    #[error(transparent)]
    Ask(#[from] AskRepairError),
    /// The task ended without a proposal.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The proposal is there and cannot be shown.
    #[error(transparent)]
    Show(#[from] ProposalError),
}

impl Coded for AskRepairError {
    fn code(&self) -> Code {
        match self {
            Self::Show(cause) => cause.code(),
            Self::Withheld(Withheld::AccessRemoved) => Code::AccessRemoved,
            Self::Withheld(Withheld::EvidenceUnavailable) => Code::EvidenceUnavailable,
            Self::RefreshIncomplete => Code::RefreshIncomplete,
            Self::QueueFull(_) => Code::QueueFull,
            Self::KeyConflict => Code::KeyConflict,
            Self::Failed(cause) => cause.code(),
        }
    }
}

impl Coded for RepairError {
    fn code(&self) -> Code {
        match self {
            Self::Ask(cause) => cause.code(),
            Self::Run(cause) => cause.code(),
            Self::Show(cause) => cause.code(),
        }
    }
}

impl RepairAsk {
    /// What is asked, as a digest over the canonical bytes `work.request/1`: kind and result.
    fn digest(&self) -> Digest {
        Canonical::new("work.request/1").text("repair").bytes(&self.result.bytes()).digest()
    }

    fn keyed(&self) -> Option<Keyed> {
        Keyed::new(self.key.as_deref(), self.digest())
    }
}

impl Workspace {
    /// Repairs a result: asks, works the task, and shows the proposal, or tells that nothing changed. Waits for nobody,
    /// as [`Workspace::report`] does.
    ///
    /// # Errors
    /// [`RepairError`]: refused, ended without a proposal, stopped by the watch, or a failure.
    pub fn repair(&self, result: ResultId, watch: &mut dyn Watch) -> Result<Repaired, RepairError> {
        let task = self.ask_repair(&RepairAsk { result, key: None }, watch)?;
        self.finish_repair(task.task_id, self.new_worker(), &NoPause, watch)
    }

    /// Queues a repair and answers its task; while one of this result is queued or running, that one. The sources of the
    /// accepted revision are looked at first: a result that must not be seen is not repaired.
    ///
    /// # Errors
    /// [`AskRepairError`]: no such result, hidden, a full queue, a key of another request, or a failure.
    pub fn ask_repair(
        &self,
        ask: &RepairAsk,
        watch: &mut dyn Watch,
    ) -> Result<TaskDoc, AskRepairError> {
        self.expect_visible(ask.result, watch)?;
        let id = self.fresh(TaskId::from_bytes);
        self.act(
            |tx, _| {
                let result = tx.results(Results::Ids(&[ask.result]))?.pop();
                Ok((result, self.queue(tx, ask.keyed())?))
            },
            |(result, queue), moment| queued(ask, result, queue, id, moment, &self.limits),
        )?
    }

    /// Works a repair to its end in the foreground, or waits for the worker that has it, and shows what came of it.
    ///
    /// # Errors
    /// [`RepairError`] as for [`Workspace::repair`].
    pub fn finish_repair(
        &self,
        task: TaskId,
        worker: WorkerId,
        pause: &dyn Pause,
        watch: &mut dyn Watch,
    ) -> Result<Repaired, RepairError> {
        let Done { success, .. } = self.work_to_end(task, worker, pause, watch)?;
        match success {
            Success::Proposed(proposal) => {
                let proposal = self.proposal(proposal, &mut NeverStop(watch))?;
                Ok(Repaired::Proposed(Box::new(proposal)))
            }
            Success::NoChange | Success::Published(..) => {
                let task = self.task(task).map_err(RunError::from)?;
                Ok(Repaired::NoChange(Box::new(task)))
            }
        }
    }
}

/// Which task repairs the result, and what is written for it.
fn queued(
    ask: &RepairAsk,
    result: Option<Kept<WorkResult>>,
    mut queue: Queue,
    id: TaskId,
    moment: &Moment,
    limits: &Limits,
) -> Result<Decision<TaskDoc>, AskRepairError> {
    let WorkResult { query, scope, .. } = result.ok_or(ShowError::Unknown)?.value;
    if let Some(first) = queue.before(ask.keyed(), moment, limits)? {
        return Ok(Decision::nothing(first));
    }
    let kind = TaskKind::Repair(ask.result);
    if let Some(same) = queue.open.iter().find(|asked| asked.task.value.kind == kind).cloned() {
        return Ok(queue.joined(same, ask.keyed(), moment, limits));
    }
    queue.room(limits)?;
    let task = Task::queued(id, kind, ReportRequest { query, scope }, moment.now.at);
    Ok(queue.queued(task, ask.keyed(), moment, limits))
}

impl From<ExportError> for AskRepairError {
    fn from(why: ExportError) -> Self {
        match why {
            ExportError::Show(cause) => Self::Show(cause),
            ExportError::Withheld(why) => Self::Withheld(why),
            ExportError::RefreshIncomplete => Self::RefreshIncomplete,
            ExportError::Failed(cause) => Self::Failed(cause),
        }
    }
}

impl From<KeyConflict> for AskRepairError {
    fn from(_: KeyConflict) -> Self {
        Self::KeyConflict
    }
}

impl From<QueueFull> for AskRepairError {
    fn from(QueueFull(most): QueueFull) -> Self {
        Self::QueueFull(most)
    }
}

/// Quotations for the next revision of a result, with a look at what the accepted one rests on.
pub(super) struct Repair {
    answer: Answer,
    result: ResultId,
    /// The accepted revision when it was looked at.
    base: RevisionNo,
    /// Looks at its sources that the answer does not quote.
    others: Vec<Looked>,
}

/// The accepted revision of a result.
struct Accepted {
    revision: Revision,
    sheet: Sheet,
}

impl Accepted {
    fn load(tx: &mut dyn ReadTx, id: ResultId, limits: &Limits) -> Result<Self, StoreError> {
        let result = tx.results(Results::Ids(&[id]))?.pop().ok_or(StoreError::Damaged)?;
        let keys = [(id, result.value.accepted)];
        let revision = tx.revisions(Revisions::Keys(&keys))?.pop().ok_or(StoreError::Damaged)?;
        let sheet = Sheet::load(tx, Content::from(&revision), limits)?;
        Ok(Self { revision, sheet })
    }
}

/// Looks at the sources of the accepted revision that an answer does not quote: a proposal binds those of both bodies.
pub(super) fn look(
    work: &Workspace,
    result: ResultId,
    answer: Answer,
    watch: &mut dyn Watch,
) -> Result<Found, Failure> {
    let (accepted, scene) = work.read(|tx, _| {
        let accepted = Accepted::load(tx, result, &work.limits)?;
        let scene = Scene::load(tx, case::of(&accepted.sheet))?;
        Ok((accepted, scene))
    })?;
    if accepted.sheet.dependencies.is_none() {
        let scan = Some(answer.scan);
        return Ok(Found::Nothing(FailureReason::EvidenceUnavailable, scan));
    }
    let quoted = |one: &crate::port::Observed| {
        let want = redact::to_look_at(&one.source);
        answer.looks.contains_key(&(want.grant, want.path))
    };
    let sources = scene.sources.into_iter().filter(|one| !quoted(one)).collect();
    let scene = Scene { sources, ..scene };
    let others = scene.look(work, Arc::new(NoProbe), watch);
    let base = accepted.revision.no;
    Ok(Found::Repair(Box::new(Repair { answer, result, base, others })))
}

/// What is known when a repair is published: the records under the lock.
struct Known {
    held: Held,
    accepted: Accepted,
    /// The sources of both bodies that are known, with what is stored of them.
    cited: CitedSources,
    stored: looks::Stored,
    scene: Scene,
    waiting: Vec<Kept<Proposal>>,
}

/// Saves the proposal, or that nothing changed, if the lease still holds.
pub(super) fn publish(
    work: &Workspace,
    leased: &Leased,
    repair: &Repair,
) -> Result<Published, Failure> {
    let places = repair.answer.places();
    let new: Vec<SourceId> = places.iter().map(|_| work.fresh(SourceId::from_bytes)).collect();
    let id = work.fresh(ProposalId::from_bytes);
    let published = work.act(
        |tx, _| {
            let known = tx.sources(Sources::At(&places))?;
            let cited = CitedSources::new(&places, &new, known);
            let accepted = Accepted::load(tx, repair.result, &work.limits)?;
            let sources: Vec<SourceId> =
                cited.observed.keys().copied().chain(case::of(&accepted.sheet)).collect();
            Ok(Known {
                held: held(tx, leased.task.id, leased.fence)?,
                accepted,
                cited,
                stored: looks::stored(tx, &repair.others)?,
                scene: Scene::load(tx, sources)?,
                waiting: tx.proposals(Proposals::PendingOf(repair.result))?,
            })
        },
        |known, moment| decide(known, leased, repair, id, moment, &work.limits),
    )?;
    publish::ended(work, leased, published, &repair.answer.scan)
}

/// What a repair comes to: a proposal, no change, or that it has to be done again.
fn decide(
    known: Known,
    leased: &Leased,
    repair: &Repair,
    id: ProposalId,
    moment: &Moment,
    limits: &Limits,
) -> Result<Decision<()>, NotPublished> {
    let Known { held, accepted, cited, mut stored, scene, waiting } = known;
    if accepted.revision.no != repair.base {
        return Err(NotPublished::Moved);
    }
    let mut looked = cited.looked(&repair.answer.looks);
    looked.extend(repair.others.iter().cloned());
    if !looked.iter().all(|one| one.fresh.holds(&one.source, &scene.grants)) {
        return Err(NotPublished::Moved);
    }
    stored.extend(cited.observed.clone());
    let written = repair.answer.write(&cited, moment, limits)?;
    let noted = looks::notes(&looked, &stored, &scene.grants, moment);
    let decision = if is_same(&accepted, &written, limits) {
        let end = Success::NoChange;
        let puts = held.moved(finish(leased, end), RunEnd::Finished, moment, limits)?;
        let kind = EventKind::RepairNotNeeded {
            result: repair.result,
            task: leased.task.id,
            fence: leased.fence.0,
        };
        Decision::act((), kind, puts)
    } else {
        let access = access(&scene, &looked, &stored);
        let sources = looked.iter().map(|one| one.source.id).collect();
        let reached = looked.iter().all(|one| one.reached(&scene.grants));
        let binding = match prepare::binding(sources, &access) {
            Ok(binding) => binding,
            Err(_) if !reached => return Err(NotPublished::NotReached),
            Err(_) => return Err(NotPublished::Unavailable),
        };
        if !as_quoted(&written, &binding) {
            return Err(NotPublished::Moved);
        }
        let kind = ProposalKind::Repair { task: leased.task.id, fence: leased.fence };
        let base = &accepted.revision;
        let draft = Draft { id, kind, base, content: written.content, binding: &binding };
        let (proposal, bound) = draft.propose(moment, limits)?;
        let pending: Vec<Proposal> = waiting.iter().map(|kept| kept.value).collect();
        let preparation = proposal::prepare(&proposal, &pending, 0, moment.now, limits)
            .map_err(|_| NotPublished::Unavailable)?;
        let end = Success::Proposed(id);
        let mut puts = cited.puts;
        puts.extend(written.documents.into_iter().map(publish::put));
        puts.extend(prepare::puts(bound, proposal, &waiting, preparation, moment));
        puts.extend(held.moved(finish(leased, end), RunEnd::Finished, moment, limits)?);
        let kind = EventKind::ProposalPrepared { proposal: id, result: repair.result };
        Decision::act((), kind, puts)
    };
    Ok(decision.with_looks(noted))
}

/// The holder's outcome.
const fn finish(leased: &Leased, end: Success) -> Ask {
    Ask::Finish(leased.fence, Outcome::Success(end))
}

/// Access with these looks, also to sources that no record knows yet.
fn access(scene: &Scene, looked: &[Looked], stored: &looks::Stored) -> Access {
    let mut access = scene.access(looked, &Roots::new());
    for one in looked {
        let kept = stored.get(&one.source.id).and_then(Option::as_ref);
        access.learn(&one.source, kept, Some(&one.fresh));
    }
    access
}

/// Whether what was found says the same and rests on the same versions of the same sources.
fn is_same(accepted: &Accepted, written: &Written, limits: &Limits) -> bool {
    let body = accepted.sheet.body_to_compare(limits);
    let rests_on = accepted.sheet.dependencies.as_ref();
    body.as_ref() == Some(&written.body)
        && rests_on.is_some_and(|before| before.cited() == written.dependencies.cited())
}

/// Whether what is seen of each source that is proposed is the version that was quoted.
fn as_quoted(written: &Written, binding: &crate::document::stored::Binding) -> bool {
    written.dependencies.rests_on().all(|(source, version)| {
        binding.0.iter().any(|bound| bound.source_id == source && bound.version == Some(version))
    })
}
