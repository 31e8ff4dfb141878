//! One store with its scene: does a step, and compares what is stored with the state that follows.

use super::plan::{Plan, acts};
use crate::digest::Digest;
use crate::id::{ActId, GrantId, ProposalId, ResultId, RunId, SourceId, TaskId, WorkerId};
use crate::memory::MemoryDoor;
use crate::port::{Act, Batch, Change, CommitError, Events, Head, Ids, Put, Revisions};
use crate::proposal::{Fingerprint, ProposalKind};
use crate::result::{Origin, ResultKind, Revision, RevisionNo, WorkResult};
use crate::retrieve::Query;
use crate::task::{Ask, Outcome, RunEnd, Success, Task, TaskKind};
use crate::testkit::conformance::Make;
use crate::testkit::conformance::desk::{Desk, cited};
use crate::testkit::fakes::CountingIds;
use crate::testkit::world::{
    BACK, Happened, Lens, Place, ProposalCell, Setting, Step, TaskCell, WORKERS, Work, World,
    index_of,
};
use crate::time::{Era, Timestamp};
use crate::workspace::{AcceptedClock, ApplyError, CancelError, ReportAsk, Workspace};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// A tick, in the time of a desk.
const TICK: Duration = Duration::from_secs(1);

/// The proposal by which each scene came to its second revision.
const FIRST: u8 = 100;

/// A store with what is known of its scene.
pub(super) struct Stage {
    pub(super) desk: Desk,
    work: Workspace,
    ids: Arc<NextIs>,
    pub(super) setting: Setting,
    no: u8,
    lens: Lens,
    pub(super) grant: GrantId,
    pub(super) source: SourceId,
    lives: [u8; WORKERS],
}

/// Ids in an order, but for the next one, if it is told.
struct NextIs {
    next: Mutex<Option<[u8; 16]>>,
    then: CountingIds,
}

impl Ids for NextIs {
    fn fresh(&self) -> [u8; 16] {
        let told = self.next.lock().unwrap_or_else(PoisonError::into_inner).take();
        told.unwrap_or_else(|| self.then.fresh())
    }
}

impl Stage {
    /// A fresh store with a folder.
    pub(super) fn new(make: Make<'_>) -> Self {
        let desk = Desk::new(make);
        let then = CountingIds::from(1 << 32);
        let ids = Arc::new(NextIs { next: Mutex::new(None), then });
        let setting = super::setting();
        let mut limits = setting.limits.clone();
        limits.queued = usize::MAX;
        let door = Arc::new(MemoryDoor::new());
        let work = Workspace::new(Arc::clone(&desk.store), door, ids.clone()).with_limits(limits);
        let grant = desk.approve("/first");
        let source = desk.source(grant, "a.md");
        let lens = Lens { since: Timestamp::from_seconds(0), era: Era(0) };
        Self { desk, work, ids, setting, no: 0, lens, grant, source, lives: [0; WORKERS] }
    }

    /// The bytes of a name of this scene; the last of them is the number.
    pub(super) fn name<const N: usize>(&self, what: &str, n: u8) -> [u8; N] {
        let digest = Digest::of(format!("{what} of scene {}", self.no).as_bytes());
        let mut bytes = [0; N];
        bytes.copy_from_slice(&digest.bytes()[..N]);
        bytes[N - 1] = n.wrapping_add(1);
        bytes
    }

    pub(super) fn task_id(&self, n: u8) -> TaskId {
        TaskId::from_bytes(self.name("task", n))
    }

    pub(super) fn result_id(&self) -> ResultId {
        ResultId::from_bytes(self.name("result", 0))
    }

    pub(super) fn proposal_id(&self, n: u8) -> ProposalId {
        ProposalId::from_bytes(self.name("proposal", n))
    }

    pub(super) fn run_id(&self, n: u8, fence: u64) -> RunId {
        RunId::from_bytes(self.name(&format!("run {fence}"), n))
    }

    /// The name of a worker in its present life.
    pub(super) fn worker_id(&self, n: u8) -> WorkerId {
        WorkerId::from_bytes(self.name(&format!("worker {}", self.lives[usize::from(n)]), n))
    }

    pub(super) fn fingerprint(&self, n: u8) -> Fingerprint {
        Fingerprint(Digest::from_bytes(self.name("fingerprint", n)))
    }

    /// A document of this scene, told apart by a number.
    pub(super) fn document(&self, what: &str, n: u8) -> (Digest, Put) {
        let digest = Digest::from_bytes(self.name(what, n));
        let bytes = format!("{{\"{what}\":{n},\"scene\":{}}}", self.no).into_bytes();
        (digest, Put::Document { digest, bytes })
    }

    /// The four documents of a body that quotes a version of the source.
    pub(super) fn documents(&self, version: u8) -> ([Digest; 4], Vec<Put>) {
        let all = ["body", "dependencies", "verification", "scan"];
        let all = all.map(|what| self.document(what, version));
        let digests = all.each_ref().map(|(digest, _)| *digest);
        (digests, all.map(|(_, put)| put).to_vec())
    }

    /// The changes that publish a first revision of a new result under a lease.
    pub(super) fn publishing(&self, id: ResultId, task: &Task, version: u8) -> Vec<Put> {
        let at = self.desk.now().at;
        let ([body, dependencies, verification, scan], mut puts) = self.documents(version);
        puts.push(Put::Result(Change::New(WorkResult {
            id,
            kind: ResultKind::ExcerptReport,
            query: task.request.query.clone(),
            scope: task.request.scope.clone(),
            accepted: RevisionNo::FIRST,
            created_at: at,
            updated_at: at,
        })));
        let origin = Origin::Published { task: task.id, fence: task.fence };
        let (result, no, created_at) = (id, RevisionNo::FIRST, at);
        let revision =
            Revision { result, no, body, dependencies, verification, scan, origin, created_at };
        puts.push(Put::Revision(revision, cited(&[self.source])));
        puts
    }

    /// Sets a scene: a result at its second revision, at a moment at which the clocks agree with the stored time.
    pub(super) fn begin(&mut self, no: u8) {
        (self.no, self.lives) = (no, [0; WORKERS]);
        let (head, reading) = self.desk.ask(|tx| tx.head()).expect("a head");
        let behind = head.at(reading).0.anchor.latest_ms - reading.wall_ms;
        let behind = Duration::from_millis(u64::try_from(behind).unwrap_or(0));
        self.desk.clock.set_ahead(behind);
        let task = self.desk.claim(self.desk.queue(self.grant));
        let mut puts = self.publishing(self.result_id(), &task, 0);
        let success = Success::Published(self.result_id(), RevisionNo::FIRST);
        let finish = Ask::Finish(task.fence, Outcome::Success(success));
        puts.extend(self.desk.ending(task.id, finish, RunEnd::Finished));
        self.desk.keep(puts);
        self.repair_once();
        let now = self.desk.now();
        self.lens = Lens { since: now.at, era: now.era };
    }

    /// Brings the result to its second revision.
    fn repair_once(&self) {
        let task = self.desk.a_task(vec![self.grant], TaskKind::Repair(self.result_id()));
        self.desk.keep(vec![Put::Task(Change::New(task.clone()))]);
        let task = self.desk.claim(task.id);
        let kind = ProposalKind::Repair { task: task.id, fence: task.fence };
        let (proposal, mut puts) = self.new_proposal(FIRST, kind, (1, 1));
        puts.push(Put::Proposal(Change::New(proposal)));
        let success = Success::Proposed(proposal.id);
        let finish = Ask::Finish(task.fence, Outcome::Success(success));
        puts.extend(self.desk.ending(task.id, finish, RunEnd::Finished));
        self.desk.keep(puts);
        let kept = self.desk.proposal(proposal.id);
        self.desk.keep(self.applying(&kept, crate::proposal::Transition::Applied));
    }

    /// Takes one step as a use case does; how many writes that came too late were refused.
    pub(super) fn take(
        &mut self,
        (world, next): (&World, &World),
        (step, rival): (Step, Step),
        happened: &Happened,
    ) -> Result<u64, String> {
        let before = self.head();
        let (planned, plan) = self.plan(world, step);
        let rival = self.plan(world, rival).1;
        let place = self.commit(step, planned, plan.as_ref())?;
        if place != happened.place {
            return Err(format!("{place:?}, but the world says {:?}", happened.place));
        }
        self.compare(next, before.acts, acts(step, place))?;
        let stale = plan.iter().chain(rival.iter().filter(|rival| {
            plan.as_ref().is_some_and(|plan| happened.next.is_some() && plan.meets(rival))
        }));
        let stale: Vec<&Plan> = stale.filter(|plan| !plan.is_empty()).collect();
        stale.iter().try_for_each(|plan| self.refuse(plan, next))?;
        Ok(stale.len() as u64)
    }

    /// Does what a step comes to, and tells what the rules said.
    fn commit(
        &mut self,
        step: Step,
        planned: Option<Place>,
        plan: Option<&Plan>,
    ) -> Result<Option<Place>, String> {
        match step {
            Step::Tick => self.desk.clock.advance(TICK),
            Step::SetBack => {
                self.desk.clock.set_back(TICK * u32::from(BACK.unsigned_abs()));
            }
            Step::Reboot => {
                let era = self.desk.now().era;
                self.desk.clock.reboot();
                return Ok((self.desk.now().era > era).then_some(Place::NewEra));
            }
            Step::AcceptClock => {
                let done = self.work.accept_clock().map_err(|why| why.to_string())?;
                return Ok((done != AcceptedClock::NotBehind).then_some(Place::ClockAccepted));
            }
            Step::Crash(n) => self.lives[usize::from(n)] += 1,
            Step::Queue(n) if self.setting.tasks[usize::from(n)] == Work::Report => {
                self.queue(n)?;
            }
            Step::Cancel(n) => return self.cancel(n),
            Step::Dismiss(n) => return self.dismiss(n),
            Step::Source(_) | Step::Look(_) => {}
            Step::Queue(_)
            | Step::Claim(..)
            | Step::Renew(_)
            | Step::Publish(_)
            | Step::Fail(_)
            | Step::GiveBack(_)
            | Step::Restore(_)
            | Step::Apply(..) => {
                let sent = plan.map_or(Ok(()), |plan| self.send(plan));
                sent.map_err(|why| format!("a sound write is refused: {why:?}"))?;
            }
        }
        Ok(planned)
    }

    /// Asks for a report, and once more with the same key: that is the first task, and writes nothing.
    fn queue(&self, n: u8) -> Result<(), String> {
        let query = Query::parse("how long are backups kept").expect("a query");
        let key = Some(format!("{n} of scene {}", self.no));
        let ask = ReportAsk { key, ..ReportAsk::everywhere(query) };
        *self.ids.next.lock().unwrap_or_else(PoisonError::into_inner) =
            Some(self.task_id(n).bytes());
        let first = self.work.ask(&ask).map_err(|why| why.to_string())?;
        let before = self.head();
        let again = self.work.ask(&ask).map_err(|why| why.to_string())?;
        if again.task_id == first.task_id && self.head() == before {
            Ok(())
        } else {
            Err("a request that is repeated with its key makes a second task".into())
        }
    }

    fn cancel(&self, n: u8) -> Result<Option<Place>, String> {
        match self.work.cancel(self.task_id(n)) {
            Ok(_) => Ok(Some(Place::Cancelled)),
            Err(CancelError::Refused(why)) => Ok(Some(Place::of_task(&Err(why)))),
            Err(why @ (CancelError::Unknown | CancelError::Failed(_))) => Err(why.to_string()),
        }
    }

    fn dismiss(&self, n: u8) -> Result<Option<Place>, String> {
        match self.work.dismiss(self.proposal_id(n)) {
            Ok(()) => Ok(Some(Place::Dismissed)),
            Err(ApplyError::Refused(why)) => Ok(Some(Place::of_proposal(&Err(why)))),
            Err(why @ (ApplyError::Unknown | ApplyError::Failed(_))) => Err(why.to_string()),
        }
    }

    /// The head as it is stored.
    fn head(&self) -> Head {
        self.desk.ask(|tx| tx.head()).expect("a head").0
    }

    /// Writes a plan on the head of now.
    fn send(&self, plan: &Plan) -> Result<(), CommitError> {
        let head = self.desk.head();
        let notes = plan.notes.clone();
        let batch = match &plan.kind {
            None => Batch { head, act: None, notes },
            Some(kind) => {
                let (head, event) = head.record(self.desk.id(ActId::from_bytes), kind);
                Batch { head, act: Some(Act { event, puts: plan.puts.clone() }), notes }
            }
        };
        self.desk.send(&batch)
    }

    /// Writes what was decided on a state that has gone by: nothing of it is written.
    fn refuse(&self, plan: &Plan, world: &World) -> Result<(), String> {
        let before = self.head();
        match self.send(plan) {
            Err(CommitError::NotDone(_) | CommitError::Overtaken) => {}
            done @ (Ok(()) | Err(CommitError::Unknown(_))) => {
                return Err(format!("a write over a newer version: {done:?}, {plan:?}"));
            }
        }
        if self.head() != before {
            return Err(format!("a refused write moved the head: {plan:?}"));
        }
        self.compare(world, before.acts, 0)
    }

    /// Compares what is stored with a state, and the log with what happened.
    fn compare(&self, world: &World, acts_before: u64, acts: u64) -> Result<(), String> {
        let head = self.head();
        let most = 3;
        let pick = Events::After { seq: acts_before, most };
        let events = self.desk.ask(|tx| tx.events(pick)).expect("events");
        let logged = events.len() as u64 == acts && head.acts == acts_before + acts;
        let chained = events.last().is_none_or(|last| last.digest == head.chain);
        if !logged || !chained {
            return Err(format!("{acts} events were to be logged, but {events:?}"));
        }
        let now = head.anchor.now();
        let stored = (now.at.seconds() - self.lens.since.seconds(), now.era.0 - self.lens.era.0);
        let (tick, era) = world.stored_time();
        if stored != (i64::from(tick), u64::from(era)) {
            return Err(format!("the time {stored:?} is stored, not {:?}", (tick, era)));
        }
        self.compare_tasks(world)?;
        self.compare_proposals(world)?;
        self.compare_result(world)
    }

    fn compare_tasks(&self, world: &World) -> Result<(), String> {
        for (n, cell) in (0..).zip(&world.tasks) {
            let Some(cell) = cell else { continue };
            let task = self.desk.task(self.task_id(n)).value;
            let seen = TaskCell::of(&task, self.lens);
            if !cell.is_seen_as(seen) {
                return Err(format!("task {n} is {seen:?}, not {cell:?}"));
            }
        }
        Ok(())
    }

    fn compare_proposals(&self, world: &World) -> Result<(), String> {
        for (n, cell) in (0..).zip(&world.proposals) {
            let Some(cell) = cell else { continue };
            let seen = ProposalCell::of(&self.desk.proposal(self.proposal_id(n)).value, self.lens);
            if !cell.is_seen_as(seen) {
                return Err(format!("proposal {n} is {seen:?}, not {cell:?}"));
            }
        }
        Ok(())
    }

    fn compare_result(&self, world: &World) -> Result<(), String> {
        let result = self.desk.result(self.result_id()).value;
        let pick = Revisions::LatestOf { results: &[result.id], before: None, each: 1 };
        let latest = self.desk.ask(|tx| tx.revisions(pick)).expect("revisions");
        let stored = (result.accepted.0, latest[0].no.0, index_of(latest[0].body.bytes()));
        let accepted = u64::from(world.accepted);
        if stored == (accepted, accepted, world.rests_on) {
            Ok(())
        } else {
            Err(format!("revision {stored:?} is accepted, not {accepted}, {}", world.rests_on))
        }
    }
}
