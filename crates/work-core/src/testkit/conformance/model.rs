//! A store beside the one in memory: the same random work, and every question answered alike.

use super::desk::{Desk, PATIENCE};
use super::picture::{Picture, key};
use super::{Make, Opening};
use crate::digest::Digest;
use crate::folder::{Grant, GrantState};
use crate::id::{GrantId, ResultId, SourceId, TaskId, WorkerId};
use crate::limits::Limits;
use crate::memory::MemoryStore;
use crate::port::{
    Batch, Change, CommitError, Note, Proposals, Put, Quotations, Request, Results, Sources, Store,
    Tasks,
};
use crate::proposal::{ProposalKind, ProposalState};
use crate::quote::Finding;
use crate::result::RevisionNo;
use crate::source::Seen;
use crate::task::{Ask, Failure, FailureReason, Outcome, Progress, RunEnd, TaskKind, decide};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::time::Duration;

/// One thing that somebody does, to the record with a number, with a detail.
#[derive(Clone, Copy, Debug)]
struct Step {
    deed: Deed,
    which: u8,
    detail: u8,
}

/// What is done.
#[derive(Clone, Copy, Debug)]
enum Deed {
    Approve,
    Revoke,
    Name,
    Queue,
    Claim,
    Renew,
    GiveBack,
    Fail,
    Cancel,
    Publish,
    Look,
    Find,
    Sweep,
    AskRepair,
    Restore,
    Apply,
    Dismiss,
    Supersede,
    Remember,
    Forget,
    Pass,
    SetBack,
    Reboot,
    Report,
    Repair,
    Hold,
}

/// Every deed; those that build a world stand more often.
const DEEDS: [Deed; 40] = [
    Deed::Approve,
    Deed::Revoke,
    Deed::Name,
    Deed::Name,
    Deed::Queue,
    Deed::Queue,
    Deed::Queue,
    Deed::Claim,
    Deed::Claim,
    Deed::Claim,
    Deed::Renew,
    Deed::GiveBack,
    Deed::Fail,
    Deed::Cancel,
    Deed::Publish,
    Deed::Publish,
    Deed::Publish,
    Deed::Look,
    Deed::Look,
    Deed::Find,
    Deed::Sweep,
    Deed::AskRepair,
    Deed::Restore,
    Deed::Apply,
    Deed::Apply,
    Deed::Dismiss,
    Deed::Supersede,
    Deed::Remember,
    Deed::Forget,
    Deed::Pass,
    Deed::SetBack,
    Deed::Reboot,
    Deed::Report,
    Deed::Report,
    Deed::Report,
    Deed::Report,
    Deed::Repair,
    Deed::Repair,
    Deed::Apply,
    Deed::Apply,
];

/// Some deeds in a row, now and then with a batch that is held back and sent later.
fn work() -> impl Strategy<Value = Vec<Step>> {
    let deed = prop_oneof![
        12 => proptest::sample::select(DEEDS.as_slice()),
        1 => Just(Deed::Hold),
    ];
    let step = (deed, any::<u8>(), any::<u8>());
    let step = step.prop_map(|(deed, which, detail)| Step { deed, which, detail });
    proptest::collection::vec(step, 1..60)
}

pub(super) fn random_work_leaves_what_it_leaves_in_memory(make: Make<'_>) {
    let config = Config { failure_persistence: None, ..Config::default() };
    let config = Config { cases: config.cases / 8, ..config };
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut runner = TestRunner::new_with_rng(config, rng);
    let compare = |steps: Vec<Step>| {
        let mut pair = [Side::new(make), Side::new(&in_memory)];
        for step in &steps {
            let [mine, model] = pair.each_mut().map(|side| side.take(*step));
            prop_assert_eq!(mine, model, "{:?}", step);
        }
        let [mine, model] = pair.each_ref().map(Side::everything);
        prop_assert_eq!(mine, model);
        Ok(())
    };
    if let Err(failure) = runner.run(&work(), compare) {
        panic!("{failure}");
    }
}

/// The store in memory.
fn in_memory(o: Opening) -> Box<dyn Store> {
    Box::new(MemoryStore::new(o.workspace, o.owner, o.site, o.clock))
}

/// One of the two stores, with what was held back.
struct Side {
    desk: Desk,
    held: Option<Batch>,
    cites: RefCell<BTreeMap<(ResultId, RevisionNo), Vec<SourceId>>>,
}

/// What came of a step: nothing to do, written, or refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Came {
    Nothing,
    Written,
    Refused,
}

impl Side {
    /// A fresh one, with a folder and two sources.
    fn new(make: Make<'_>) -> Self {
        let desk = Desk::new(make);
        let grant = desk.approve("/first");
        desk.source(grant, "a.md");
        desk.source(grant, "b.md");
        Self { desk, held: None, cites: RefCell::default() }
    }

    /// All that is kept, and every list page by page.
    fn everything(&self) -> (Picture, Picture) {
        let mut tx = self.desk.store.read(PATIENCE).expect("a snapshot");
        (Picture::of(&mut *tx), Picture::pages(&mut *tx))
    }

    /// Takes one step. What is sound on present knowledge must be written.
    fn take(&mut self, step: Step) -> Came {
        if let Some(batch) = self.held.take() {
            return match self.desk.send(&batch) {
                Ok(()) => self.written(&batch),
                Err(CommitError::NotDone(_) | CommitError::Overtaken) => Came::Refused,
                Err(CommitError::Unknown(why)) => panic!("a commit in doubt: {why}"),
            };
        }
        if matches!(step.deed, Deed::Hold) {
            let deed = DEEDS[usize::from(step.detail) % DEEDS.len()];
            let held = self.prepare(Step { deed, ..step });
            self.desk.pass(u64::from(step.which % 2));
            let between = self.prepare(Step { deed: Deed::Claim, ..step });
            self.held = held;
            return self.write(between);
        }
        let batch = self.prepare(step);
        self.write(batch)
    }

    /// Writes what is sound.
    fn write(&self, batch: Option<Batch>) -> Came {
        batch.map_or(Came::Nothing, |batch| {
            self.desk.send(&batch).expect("what is sound is written");
            self.written(&batch)
        })
    }

    /// Remembers what a revision cites, as its dependencies would tell.
    fn written(&self, batch: &Batch) -> Came {
        batch.act.iter().for_each(|act| self.remember(&act.puts));
        Came::Written
    }

    /// Remembers what each revision among some changes cites.
    fn remember(&self, puts: &[Put]) {
        for put in puts {
            if let Put::Revision(revision, cited) = put {
                let sources = cited.iter().map(|cited| cited.source).collect();
                self.cites.borrow_mut().insert((revision.result, revision.no), sources);
            }
        }
    }

    /// The batch of a step, if there is anything to do.
    fn prepare(&self, step: Step) -> Option<Batch> {
        let puts = match step.deed {
            Deed::Look | Deed::Find | Deed::Sweep | Deed::Renew => {
                return Some(self.desk.batch(vec![], self.notes(step)?));
            }
            Deed::Report | Deed::Repair => {
                self.whole(step)?;
                return Some(self.desk.batch(vec![], vec![]));
            }
            Deed::Pass | Deed::SetBack | Deed::Reboot | Deed::Hold => {
                self.time(step);
                return Some(self.desk.batch(vec![], vec![]));
            }
            Deed::Approve | Deed::Revoke | Deed::Name => self.ground(step)?,
            Deed::Queue | Deed::AskRepair | Deed::Remember | Deed::Forget => self.asking(step)?,
            Deed::Claim | Deed::GiveBack | Deed::Fail | Deed::Cancel => self.working(step)?,
            Deed::Publish => self.publishing(step)?,
            Deed::Restore | Deed::Apply | Deed::Dismiss | Deed::Supersede => self.deciding(step)?,
        };
        Some(self.desk.batch(puts, vec![]))
    }

    /// Work from its beginning to its end, so that there are results and proposals to go on with.
    fn whole(&self, step: Step) -> Option<()> {
        if matches!(step.deed, Deed::Repair) {
            let result = self.result(step.which)?;
            let pending = self.desk.ask(|tx| tx.proposals(Proposals::PendingOf(result)));
            let repairs = |kind| matches!(kind, ProposalKind::Repair { .. });
            if !pending.expect("pending").iter().any(|old| repairs(old.value.kind)) {
                self.desk.propose_repair(result);
            }
            return Some(());
        }
        let grant = pick(&self.desk.ask(|tx| tx.folders()).expect("folders"), step.which)?.value.id;
        let sources = self.sources(step.detail);
        let task = self.desk.claim(self.desk.queue(grant));
        let (_, puts) = self.desk.publishing(&task, &sources);
        self.remember(&puts);
        self.desk.keep(puts);
        Some(())
    }

    /// Lets the clock do something.
    fn time(&self, step: Step) {
        if matches!(step.deed, Deed::SetBack) {
            self.desk.clock.set_back(Duration::from_secs(step.detail.into()));
        } else if matches!(step.deed, Deed::Reboot) {
            self.desk.clock.reboot();
        } else {
            self.desk.pass(u64::from(step.detail) * u64::from(step.which % 20));
        }
    }

    /// Folders and sources.
    fn ground(&self, step: Step) -> Option<Vec<Put>> {
        let grant = pick(&self.desk.ask(|tx| tx.folders()).expect("folders"), step.which)?;
        let put = if matches!(step.deed, Deed::Approve) {
            let id = self.desk.id(GrantId::from_bytes);
            Put::Grant(Change::New(self.desk.a_grant(&format!("/{id}"))))
        } else if matches!(step.deed, Deed::Revoke) {
            let state = match grant.value.state {
                GrantState::Active => GrantState::Revoked,
                GrantState::Revoked => GrantState::Active,
            };
            Put::Grant(Change::From(grant.version, Grant { state, ..grant.value }))
        } else {
            let id = self.desk.id(SourceId::from_bytes);
            let path = super::desk::path_of(&format!("{}/{id}", step.detail));
            Put::Source { id, grant: grant.value.id, path }
        };
        Some(vec![put])
    }

    /// Requests.
    fn asking(&self, step: Step) -> Option<Vec<Put>> {
        let grant = pick(&self.desk.ask(|tx| tx.folders()).expect("folders"), step.which)?.value.id;
        let at = self.desk.now().at;
        let queue = |kind| Put::Task(Change::New(self.desk.a_task(vec![grant], kind)));
        let put = if matches!(step.deed, Deed::Queue) {
            queue(TaskKind::Report)
        } else if matches!(step.deed, Deed::AskRepair) {
            queue(TaskKind::Repair(self.result(step.which)?))
        } else if matches!(step.deed, Deed::Remember) {
            let (key, asks) = (key(step.detail % 6), Digest::of(&[step.which]));
            let task = self.tasks(step.which)?;
            Put::Request(Request { key, asks, task, created_at: at })
        } else {
            let before = at.minus(Duration::from_secs(step.which.into()));
            Put::ForgetRequests { before, most: u32::MAX }
        };
        Some(vec![put])
    }

    /// What a worker or the owner asks of a task.
    fn working(&self, step: Step) -> Option<Vec<Put>> {
        let id = self.tasks(step.which)?;
        let task = self.desk.task(id).value;
        let why = FailureReason::NoMatches;
        let failure = Outcome::Failure(Failure { why, scan: None });
        let (ask, how) = if matches!(step.deed, Deed::GiveBack) {
            (Ask::GiveBack(task.fence), RunEnd::GaveBack)
        } else if matches!(step.deed, Deed::Fail) {
            (Ask::Finish(task.fence, failure), RunEnd::Failed)
        } else if matches!(step.deed, Deed::Cancel) {
            (Ask::Cancel, RunEnd::Cancelled)
        } else {
            (Ask::Claim(WorkerId::from_bytes([1; 16])), RunEnd::Silent)
        };
        let decided = decide(&task, ask, self.desk.now(), &Limits::standard()).ok()?;
        if matches!(decided, crate::task::Transition::Leased { .. }) {
            return Some(self.desk.leasing(id).1);
        }
        Some(self.desk.ending(id, ask, how))
    }

    /// What a worker brings.
    fn publishing(&self, step: Step) -> Option<Vec<Put>> {
        let id = self.tasks(step.which)?;
        let task = self.desk.task(id).value;
        let sources = self.sources(step.detail);
        let none = Ask::Finish(task.fence, Outcome::Success(crate::task::Success::NoChange));
        decide(&task, none, self.desk.now(), &Limits::standard()).ok()?;
        let TaskKind::Repair(result) = task.kind else {
            return Some(self.desk.publishing(&task, &sources).1);
        };
        let kind = ProposalKind::Repair { task: id, fence: task.fence };
        let mut puts = self.proposing(result, kind);
        let Some(Put::Proposal(Change::New(proposal))) = puts.last() else { return None };
        let proposal = proposal.id;
        let success = crate::task::Success::Proposed(proposal);
        let ask = Ask::Finish(task.fence, Outcome::Success(success));
        puts.extend(self.desk.ending(id, ask, RunEnd::Finished));
        Some(puts)
    }

    /// A proposal, in place of the one of its kind that waits.
    fn proposing(&self, result: ResultId, kind: ProposalKind) -> Vec<Put> {
        let (proposal, mut puts) = self.desk.a_proposal(result, kind);
        let pending = self.desk.ask(|tx| tx.proposals(Proposals::PendingOf(result)));
        let alike = |old: &ProposalKind| {
            matches!(old, ProposalKind::Restore(_)) == matches!(kind, ProposalKind::Restore(_))
        };
        let state = ProposalState::Superseded(self.desk.now().at, proposal.id);
        let old = pending.expect("pending").into_iter().filter(|old| alike(&old.value.kind));
        puts.extend(old.map(|old| self.desk.closing(old.value.id, state)));
        puts.push(Put::Proposal(Change::New(proposal)));
        puts
    }

    /// What the owner says to proposals.
    fn deciding(&self, step: Step) -> Option<Vec<Put>> {
        let now = self.desk.now();
        if matches!(step.deed, Deed::Restore | Deed::Supersede) {
            let result = self.result(step.which)?;
            let accepted = self.desk.result(result).value.accepted.0;
            let no = RevisionNo(1 + u64::from(step.detail) % accepted);
            return Some(self.proposing(result, ProposalKind::Restore(no)));
        }
        let latest = Proposals::Latest { before: None, most: 50 };
        let all = self.desk.ask(|tx| tx.proposals(latest)).expect("proposals");
        let pending = |state| state == ProposalState::Pending;
        let all: Vec<_> = all.into_iter().filter(|kept| pending(kept.value.state)).collect();
        let proposal = pick(&all, step.which)?.value;
        let lasts = proposal.era == now.era && now.at < proposal.expires_at;
        let based = self.desk.result(proposal.result).value.accepted == proposal.base;
        Some(if matches!(step.deed, Deed::Apply) && lasts && based {
            self.desk.applying(proposal.id, &self.quoted(&proposal, step.detail))
        } else if lasts {
            vec![self.desk.closing(proposal.id, ProposalState::Dismissed(now.at))]
        } else {
            vec![self.desk.closing(proposal.id, ProposalState::Expired(now.at))]
        })
    }

    /// What an applied proposal quotes: a restore the same as before.
    fn quoted(&self, proposal: &crate::proposal::Proposal, detail: u8) -> Vec<SourceId> {
        match proposal.kind {
            ProposalKind::Repair { .. } => self.sources(detail),
            ProposalKind::Restore(no) => self.cites.borrow()[&(proposal.result, no)].clone(),
        }
    }

    /// Notes.
    fn notes(&self, step: Step) -> Option<Vec<Note>> {
        let sources = self.all_sources();
        let source = pick(&sources, step.which)?;
        let owner = pick(&self.desk.ask(|tx| tx.folders()).expect("folders"), step.which)?.value.id;
        let note = if matches!(step.deed, Deed::Look) {
            let look = self.desk.a_look(owner, seen(step.detail));
            let old = source.observation.map(|old| old.version);
            let change = old.map_or(Change::New(look), |old| Change::From(old, look));
            Note::Look(source.source.id, change)
        } else if matches!(step.deed, Deed::Find) {
            self.finding(step)?
        } else if matches!(step.deed, Deed::Sweep) {
            Note::Swept(owner, self.desk.now().at)
        } else {
            let old = self.desk.task(self.tasks(step.which)?);
            let ask = Ask::Renew(old.value.fence);
            decide(&old.value, ask, self.desk.now(), &Limits::standard()).ok()?;
            let progress = Progress { files_read: step.detail.into(), of: 255, entries: 0 };
            Note::Renewal(old.version, self.desk.moved(&old.value, ask), progress)
        };
        Some(vec![note])
    }

    /// A finding about some accepted quotation.
    fn finding(&self, step: Step) -> Option<Note> {
        let all = Quotations::All { after: None, most: 100 };
        let all = self.desk.ask(|tx| tx.quotations(all)).expect("quotations");
        let quoted = pick(&all, step.which)?;
        let found = [Finding::Intact, Finding::Moved(step.which.into()), Finding::Altered];
        Some(Note::Finding {
            result: quoted.result,
            revision: self.desk.result(quoted.result).value.accepted,
            n: quoted.cited.n,
            against: Digest::of(&[step.detail]),
            finding: found[usize::from(step.detail) % found.len()],
        })
    }

    /// Some task, the latest few.
    fn tasks(&self, which: u8) -> Option<TaskId> {
        let latest = Tasks::Latest { before: None, most: 4 };
        Some(pick(&self.desk.ask(|tx| tx.tasks(latest)).expect("tasks"), which)?.task.value.id)
    }

    /// Some result, the latest few.
    fn result(&self, which: u8) -> Option<ResultId> {
        let latest = Results::Latest { before: None, most: 4 };
        Some(pick(&self.desk.ask(|tx| tx.results(latest)).expect("results"), which)?.value.id)
    }

    /// All sources of the first folder.
    fn all_sources(&self) -> Vec<crate::port::Observed> {
        let folders = self.desk.ask(|tx| tx.folders()).expect("folders");
        let under = Sources::Under { grant: folders[0].value.id, after: None, most: 50 };
        self.desk.ask(|tx| tx.sources(under)).expect("sources")
    }

    /// One to three sources.
    fn sources(&self, detail: u8) -> Vec<SourceId> {
        let all = self.all_sources();
        let picked = (0..=detail % 3).filter_map(|n| pick(&all, detail.wrapping_add(n)));
        picked.map(|observed| observed.source.id).collect()
    }
}

/// One of some values.
fn pick<T: Clone>(all: &[T], which: u8) -> Option<T> {
    all.get(usize::from(which).checked_rem(all.len())?).cloned()
}

/// Something that a look may see.
fn seen(detail: u8) -> Seen {
    match detail % 5 {
        0 => Seen::Missing,
        1 => Seen::Unstable,
        2 => Seen::Unreachable,
        3 => Seen::Denied,
        _ => Seen::Bytes(super::desk::version(&[detail])),
    }
}
