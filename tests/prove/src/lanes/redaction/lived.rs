//! One world: a workspace over files, and what was made in it.

use super::ids::{Doorman, StepIds};
use super::script::{APART, Change, Ending, Layout, PLAN, Question, Scope, Step, Withdrawal};
use super::secret::Secret;
use crate::seed::Seed;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use work_core::code::Coded;
use work_core::document::wire::ProposalDoc;
use work_core::folder::{Hidden, IgnoreFiles, Rules};
use work_core::id::{GrantId, OwnerId, ProposalId, ResultId, SiteId, WorkspaceId};
use work_core::limits::Limits;
use work_core::memory::{MemoryDoor, MemoryStore};
use work_core::path::HostPath;
use work_core::port::{Quiet, Store};
use work_core::proposal::{Channel, Fingerprint};
use work_core::result::RevisionNo;
use work_core::retrieve::Query;
use work_core::testkit::fakes::FakeClock;
use work_core::workspace::{FolderName, Reading, Repaired, ReportAsk, RestoreError, Workspace};
use work_store::instance::Instance;

/// What keeps the records of a world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kept {
    /// The memory store.
    InMemory,
    /// SQLite.
    InSqlite,
}

/// One world with all that was made in it.
pub(super) struct Lived {
    pub(super) work: Workspace,
    pub(super) layout: Layout,
    pub(super) results: Vec<Made>,
    /// Proposals with the fingerprints that they were shown with, if they were.
    pub(super) proposals: Vec<Proposed>,
    pub(super) secret: Secret,
    door: Arc<MemoryDoor>,
    clock: Arc<FakeClock>,
    ids: Arc<StepIds>,
    steps: AtomicU64,
    edits: u64,
    /// The directory of a database.
    _home: Option<tempfile::TempDir>,
}

/// A result.
#[derive(Clone, Copy, Debug)]
pub(super) struct Made {
    pub(super) id: ResultId,
    pub(super) asked: Question,
}

/// A proposal.
#[derive(Clone, Copy, Debug)]
pub(super) struct Proposed {
    pub(super) id: ProposalId,
    pub(super) shown: Option<Fingerprint>,
    /// Whether it was made of a search of all folders: then its fingerprint binds counts of all of them.
    pub(super) of_all: bool,
}

/// Seconds since the epoch at the beginning.
const BEGINNING: i64 = 1_000_000;

impl Lived {
    /// A world with its files, and its folders approved.
    pub(super) fn new(world: usize, layout: Layout, seed: Seed, kept: Kept) -> Self {
        let clock = Arc::new(FakeClock::at(BEGINNING));
        let ids = Arc::new(StepIds::default());
        let (store, home) = store(kept, &clock, &ids);
        let door = Arc::new(MemoryDoor::new().folder(APART).folder(layout.root));
        layout.approved.iter().for_each(|root| door.put(&format!("{root}/.keep"), ""));
        let doorman = Doorman { door: door.clone(), ids: ids.clone() };
        let limits = Limits { passages: 40, ..Limits::standard() };
        let work = Workspace::new(store, Arc::new(doorman), ids.clone()).with_limits(limits);
        let secret = Secret::new(world, seed, layout.root, layout.inside);
        let (results, proposals, steps, edits) = (Vec::new(), Vec::new(), AtomicU64::new(0), 0);
        let mut lived = Self {
            work,
            layout,
            results,
            proposals,
            secret,
            door,
            clock,
            ids,
            steps,
            edits,
            _home: home,
        };
        lived.settle();
        lived
    }

    fn settle(&mut self) {
        self.edit_open();
        self.secret.settle(&*self.door);
        for root in [APART].iter().chain(self.layout.approved) {
            self.approve(root, None);
        }
    }

    /// Begins a step: ids are counted from its number, in both worlds alike.
    pub(super) fn begin(&self, publishes: bool) {
        let step = self.steps.fetch_add(1, Ordering::Relaxed) + 1;
        self.ids.begin(step, publishes);
    }

    /// Does one step, and says in a word what came of it.
    pub(super) fn act(&mut self, step: Step) -> String {
        self.clock.advance(Duration::from_secs(2));
        match step {
            Step::Report(question) => self.report(question),
            Step::Queue(question, ending) => self.queue(question, ending),
            Step::Repair(result) => self.repair(result),
            Step::Restore(result, no) => self.restore(result, no),
            Step::Apply(which) => self.apply(which),
            Step::Dismiss(which) => self.dismiss(which),
            Step::Refresh => self.refresh(),
            Step::Files(change) => {
                self.change(change);
                "done".to_owned()
            }
            Step::Pass(seconds) => {
                self.clock.advance(Duration::from_secs(seconds));
                "done".to_owned()
            }
        }
    }

    fn change(&mut self, change: Change) {
        match change {
            Change::EditOpen => self.edit_open(),
            Change::Edit => self.secret.edit(&*self.door),
            Change::Rename => self.secret.rename(&*self.door),
            Change::Hush(topic) => self.secret.hush(topic, &*self.door),
        }
    }

    fn report(&mut self, asked: Question) -> String {
        self.begin(true);
        let made = self.work.report(&self.ask(asked), &mut Quiet);
        if let Ok(made) = &made {
            self.results.push(Made { id: made.artifact_id, asked });
        }
        word(&made)
    }

    fn queue(&mut self, asked: Question, ending: Ending) -> String {
        self.begin(true);
        let task = match self.work.ask(&self.ask(asked)) {
            Ok(task) => task,
            Err(why) => return why.code().as_str().to_owned(),
        };
        match ending {
            Ending::Left => "left".to_owned(),
            Ending::Cancelled => word(&self.work.cancel(task.task_id)),
            Ending::Worked => self.work_off(asked),
        }
    }

    /// Works the oldest task, which need not be the one asked for last.
    fn work_off(&mut self, asked: Question) -> String {
        self.begin(true);
        let before = self.work.list(work_core::workspace::StateFilter::All, None);
        let worked = self.work.work_once(self.work.new_worker(), &mut Quiet);
        let after = self.work.list(work_core::workspace::StateFilter::All, None);
        let known = before.map(|list| list.results).unwrap_or_default();
        let made = after.map(|list| list.results).unwrap_or_default();
        let new = made.iter().find(|one| known.iter().all(|it| it.artifact_id != one.artifact_id));
        if let Some(new) = new {
            self.results.push(Made { id: new.artifact_id, asked });
        }
        format!("{} {}", word(&worked), new.is_some())
    }

    /// The report to ask for.
    pub(super) fn ask(&self, asked: Question) -> ReportAsk {
        let apart = || vec![self.grant(APART)];
        let folders = match asked.scope {
            Scope::Apart => Some(apart()),
            Scope::Everywhere => None,
        };
        let query = Query::parse(asked.query).expect("a query");
        ReportAsk { query, folders, key: None }
    }

    fn grant(&self, root: &str) -> GrantId {
        let folders = self.work.folders().expect("folders").folders;
        folders.iter().find(|folder| folder.path == root).expect("approved").folder
    }

    /// What is open, in words that no other version of it has.
    fn edit_open(&mut self) {
        self.edits += 1;
        let edits = self.edits;
        self.door.put(PLAN, format!("The plan is open, says version {edits}.\n"));
        self.door.put(self.layout.open, format!("Read me, edition {edits}.\n"));
    }

    fn repair(&mut self, result: usize) -> String {
        let Some(made) = pick(&self.results, result) else { return "nobody".to_owned() };
        // First a look, so that the repair finds nothing new to keep, in either world.
        self.begin(false);
        let shown = word(&self.work.show(made.id, None, &mut Quiet));
        self.begin(true);
        let repaired = self.work.repair(made.id, &mut Quiet);
        let came = match &repaired {
            Ok(Repaired::Proposed(proposal)) => {
                let of_all = made.asked.scope == Scope::Everywhere;
                let (id, shown) = (proposal.proposal_id, proposal.fingerprint);
                self.proposals.push(Proposed { id, shown, of_all });
                "proposed"
            }
            Ok(Repaired::NoChange(_)) => "no change",
            Err(why) => why.code().as_str(),
        };
        format!("{shown} {came}")
    }

    fn restore(&mut self, result: usize, no: u64) -> String {
        let made = pick(&self.results, result);
        made.map_or("nobody".to_owned(), |made| word(&self.restore_of(made, no)))
    }

    /// Prepares a restore and remembers the proposal.
    pub(super) fn restore_of(&mut self, made: Made, no: u64) -> Result<ProposalDoc, RestoreError> {
        self.begin(false);
        let restored = self.work.restore(made.id, RevisionNo(no), &mut Quiet)?;
        let ProposalDoc { proposal_id: id, fingerprint: shown, .. } = restored.proposal;
        let of_all = made.asked.scope == Scope::Everywhere;
        if self.proposals.iter().all(|known| known.id != id) {
            self.proposals.push(Proposed { id, shown, of_all });
        }
        Ok(restored.proposal)
    }

    fn apply(&mut self, which: Option<usize>) -> String {
        let which = which.unwrap_or(self.proposals.len().saturating_sub(1));
        let Some(proposed) = pick(&self.proposals, which) else { return "nobody".to_owned() };
        let Some(shown) = proposed.shown else { return "not shown".to_owned() };
        self.begin(false);
        word(&self.work.apply(proposed.id, shown, Channel::Cli, &mut Quiet))
    }

    fn dismiss(&mut self, which: usize) -> String {
        let Some(proposed) = pick(&self.proposals, which) else { return "nobody".to_owned() };
        self.begin(false);
        word(&self.work.dismiss(proposed.id))
    }

    pub(super) fn refresh(&self) -> String {
        self.begin(false);
        word(&self.work.status(Reading::Trusting, &mut Quiet))
    }

    fn approve(&self, root: &str, rules: Option<&Rules>) {
        self.begin(false);
        self.work.approve(&HostPath::from_bytes(root), rules, &mut Quiet).expect("approved");
    }

    /// Ends access to the secret.
    pub(super) fn withdraw(&self) {
        match self.layout.withdrawal {
            Withdrawal::Revoked(roots) => roots.iter().for_each(|root| self.revoke(root)),
            Withdrawal::Hole => {
                self.approve(self.layout.root, None);
                self.revoke(self.layout.root);
            }
            Withdrawal::Excluded(root, name) => self.approve(root, Some(&rules(&[name]))),
        }
    }

    fn revoke(&self, root: &str) {
        self.begin(false);
        let root = FolderName::Root(HostPath::from_bytes(root));
        self.work.revoke(&root).expect("revoked");
    }

    /// Gives it back.
    pub(super) fn give_back(&self) {
        match self.layout.withdrawal {
            Withdrawal::Revoked(roots) => roots.iter().for_each(|root| self.approve(root, None)),
            Withdrawal::Hole => self.approve(self.layout.root, None),
            Withdrawal::Excluded(root, _) => self.approve(root, Some(&rules(&[]))),
        }
    }

    /// Fingerprints that bind counts of the folders that are withdrawn, beside what may be seen. They are digests over
    /// ids that nobody can guess, so nothing can be read off them; but they differ.
    pub(super) fn blind_fingerprints(&self) -> Vec<String> {
        let of_all = self.proposals.iter().filter(|one| one.of_all);
        of_all.filter_map(|one| one.shown).map(|shown| shown.to_string()).collect()
    }
}

/// The standard rules without these names.
fn rules(exclude: &[&str]) -> Rules {
    let standard = Rules::standard();
    Rules::new(standard.extensions(), exclude, Hidden::Skipped, IgnoreFiles::Honoured)
        .expect("these rules are sound")
}

/// A store, and the directory that it is in.
fn store(
    kept: Kept,
    clock: &Arc<FakeClock>,
    ids: &Arc<StepIds>,
) -> (Arc<dyn Store>, Option<tempfile::TempDir>) {
    match kept {
        Kept::InMemory => {
            let (workspace, owner) =
                (WorkspaceId::from_bytes([1; 16]), OwnerId::from_bytes([2; 16]));
            let site = SiteId::from_bytes([3; 16]);
            (Arc::new(MemoryStore::new(workspace, owner, site, clock.clone())), None)
        }
        Kept::InSqlite => {
            let home = tempfile::tempdir().expect("a directory");
            let instance =
                Instance::open_or_create(home.path().join("desk"), ids.as_ref(), clock.as_ref());
            let store = instance.expect("an instance").store(clock.clone()).expect("a store");
            (Arc::new(store), Some(home))
        }
    }
}

/// One of these, counted round.
fn pick<T: Copy>(all: &[T], which: usize) -> Option<T> {
    (!all.is_empty()).then(|| all[which % all.len()])
}

/// What came of a request, in a word that is the same in both worlds.
fn word<T, E: Coded>(answer: &Result<T, E>) -> String {
    answer.as_ref().map_or_else(|why| why.code().as_str(), |_| "done").to_owned()
}
