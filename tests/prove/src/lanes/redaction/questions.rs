//! Every request that a world can be asked, with every filter.

use super::lived::{Lived, Proposed};
use super::script::PLAN;
use super::told::{Told, text};
use work_core::digest::Digest;
use work_core::document::render;
use work_core::document::wire::ResultDoc;
use work_core::id::{IdKind, ProposalId, ResultId};
use work_core::limits::Limits;
use work_core::path::HostPath;
use work_core::port::Quiet;
use work_core::proposal::{Channel, Fingerprint};
use work_core::result::{ResultState, RevisionNo};
use work_core::workspace::{
    CheckAsk, Defect, FailOn, Reading, RepairAsk, Repaired, StateFilter, Workspace,
};

/// Entries of a page, so that a list has several.
const PAGE: u32 = 3;

/// Pages that are followed.
const PAGES: usize = 30;

/// Revisions of a result that are asked for.
const REVISIONS: u64 = 3;

impl Lived {
    /// What is told of results, revisions, tasks and proposals, by what was asked. Nothing of it changes what is told.
    pub(super) fn told(&self) -> Told {
        let mut told = Told::default();
        self.lists(&mut told);
        self.tasks(&mut told);
        for at in 0..self.proposals.len() {
            self.begin(false);
            let id = self.proposals[at].id;
            told.add(format!("proposal {at}"), self.work.proposal(id, &mut Quiet));
        }
        for at in 0..self.results.len() {
            self.result(&mut told, at);
        }
        self.overviews(&mut told);
        told
    }

    /// Looks at everything, as showing it would.
    pub(super) fn look(&self) {
        for made in &self.results {
            for no in [None].into_iter().chain((1..=REVISIONS).map(|no| Some(RevisionNo(no)))) {
                self.begin(false);
                drop(self.work.show(made.id, no, &mut Quiet));
            }
        }
        for proposed in &self.proposals {
            self.begin(false);
            drop(self.work.proposal(proposed.id, &mut Quiet));
        }
        self.begin(false);
        drop(self.work.status(Reading::Again, &mut Quiet));
    }

    /// The same, and what is told of files by their names and of the workspace.
    pub(super) fn told_of_files(&self, files: &[HostPath]) -> Told {
        let mut told = self.told();
        self.lists(&mut told);
        self.checks(&mut told, files);
        self.about(&mut told);
        told
    }

    /// The same, and what comes of asking for more. Of what may be seen that makes proposals.
    pub(super) fn told_and_refused(&mut self, files: &[HostPath]) -> Told {
        let mut told = self.told_of_files(files);
        self.requests(&mut told);
        self.approvals(&mut told);
        self.lists(&mut told);
        self.about(&mut told);
        told
    }

    /// Lists by pages, with every filter.
    fn lists(&self, told: &mut Told) {
        use ResultState::{AccessRemoved, EvidenceUnavailable, SourcesChecked, Stale};
        let narrow = Limits { list: PAGE, ..self.work.limits().clone() };
        for (work, size) in
            [(self.work.clone(), "long"), (self.work.clone().with_limits(narrow), "short")]
        {
            let only = [SourcesChecked, Stale, EvidenceUnavailable, AccessRemoved];
            for filter in [StateFilter::All].into_iter().chain(only.map(StateFilter::Only)) {
                self.begin(false);
                let page = |cursor: Option<&str>| {
                    let page = work.list(filter, cursor);
                    (page.as_ref().ok().and_then(|page| page.next.clone()), text(page))
                };
                told.say(format!("{size} list {filter:?}"), pages(page));
            }
            self.begin(false);
            told.say(
                format!("{size} tasks"),
                pages(|cursor| {
                    let page = work.tasks(cursor);
                    (page.as_ref().ok().and_then(|page| page.next.clone()), text(page))
                }),
            );
            told.say(
                format!("{size} proposals"),
                pages(|cursor| {
                    let page = work.proposals(cursor);
                    (page.as_ref().ok().and_then(|page| page.next.clone()), text(page))
                }),
            );
        }
    }

    fn tasks(&self, told: &mut Told) {
        let tasks = self.work.tasks(None).map(|tasks| tasks.tasks).unwrap_or_default();
        for (at, task) in tasks.iter().enumerate() {
            told.add(format!("task {at}"), self.work.task(task.task_id));
        }
    }

    /// One result in every form.
    fn result(&self, told: &mut Told, at: usize) {
        let (work, id) = (&self.work, self.results[at].id);
        self.begin(false);
        let shown = work.show(id, None, &mut Quiet);
        told.say(format!("page of {at}"), shown.as_ref().map(rendered).unwrap_or_default());
        told.add(format!("show {at}"), shown);
        told.add(format!("export {at}"), headless(work.export(id, None, &mut Quiet)));
        let narrow = Limits { list: 1, ..work.limits().clone() };
        for (work, size) in [(work.clone(), "long"), (work.clone().with_limits(narrow), "short")] {
            told.say(
                format!("{size} history of {at}"),
                pages(|cursor| {
                    let page = work.history(id, cursor, &mut Quiet);
                    (page.as_ref().ok().and_then(|page| page.next.clone()), text(page))
                }),
            );
        }
        for no in (1..=REVISIONS).map(RevisionNo) {
            self.begin(false);
            let of = format!("{} of {at}", no.0);
            told.add(format!("show {of}"), work.show(id, Some(no), &mut Quiet));
            told.add(format!("revision {of}"), work.revision(id, no, &mut Quiet));
            told.add(format!("compare {of}"), work.compare(id, no, &mut Quiet));
            told.add(format!("export {of}"), headless(work.export(id, Some(no), &mut Quiet)));
        }
    }

    /// What is told of everything at once.
    fn overviews(&self, told: &mut Told) {
        for reading in [Reading::Again, Reading::Trusting] {
            self.begin(false);
            told.add(format!("status {reading:?}"), self.work.status(reading, &mut Quiet));
        }
        self.begin(false);
        told.add("refresh", self.work.refresh(&mut Quiet));
        for fail_on in [FailOn::default(), Defect::ALL.into_iter().collect(), FailOn::from_iter([])]
        {
            self.begin(false);
            let asked = format!("check {fail_on:?}");
            told.add(asked, self.work.check(&CheckAsk { fail_on, paths: None }, &mut Quiet));
        }
    }

    /// What is told of files by their names: those of either world, some that no world has, and open ones.
    fn checks(&self, told: &mut Told, files: &[HostPath]) {
        let nothing = format!("{}/nothing.md", self.layout.root);
        let known = [&nothing, PLAN, self.layout.open].map(HostPath::from_bytes);
        for path in files.iter().chain(&known) {
            self.begin(false);
            let ask = CheckAsk { paths: Some(vec![path.clone()]), ..CheckAsk::default() };
            told.add(format!("check {path}"), self.work.check(&ask, &mut Quiet));
        }
    }

    /// What comes of asking for more of what is hidden.
    fn requests(&mut self, told: &mut Told) {
        let work = self.work.clone();
        for (at, made) in self.results.clone().into_iter().enumerate() {
            self.begin(false);
            let hidden = work.show(made.id, None, &mut Quiet).is_ok_and(|it| it.body.is_none());
            for no in 1..=REVISIONS {
                told.add(format!("restore {no} of {at}"), self.restore_of(made, no));
            }
            if hidden {
                self.begin(false);
                let ask = RepairAsk { result: made.id, key: Some(format!("key {at}")) };
                told.add(format!("ask for a repair of {at}"), work.ask_repair(&ask, &mut Quiet));
                self.begin(true);
                told.add(format!("repair {at}"), repaired(&work, made.id));
            }
        }
    }

    /// What comes of approving: first as somebody who presents another fingerprint, then, of hidden ones, the right one.
    fn approvals(&self, told: &mut Told) {
        let other = Fingerprint(Digest::of(b"another"));
        for (at, &Proposed { id, shown, .. }) in self.proposals.iter().enumerate() {
            self.begin(false);
            let hidden =
                self.work.proposal(id, &mut Quiet).is_ok_and(|it| it.fingerprint.is_none());
            let presented = [Some(other), shown.filter(|_| hidden)];
            for presented in presented.into_iter().flatten() {
                self.begin(false);
                let applied = self.work.apply(id, presented, Channel::Http, &mut Quiet);
                told.add(format!("apply {at}"), applied);
            }
        }
        let unknown = ProposalId::from_bytes([9; 16]);
        told.add("proposal of nobody", self.work.proposal(unknown, &mut Quiet));
    }

    /// What the workspace tells of itself.
    fn about(&self, told: &mut Told) {
        let work = &self.work;
        self.begin(false);
        told.say(
            "log",
            pages(|cursor| {
                let page = work.log(cursor.and_then(|after| after.parse().ok()).unwrap_or(0));
                (
                    page.as_ref().ok().and_then(|page| page.next.map(|next| next.to_string())),
                    text(page),
                )
            }),
        );
        told.add("doctor", work.doctor());
        told.add("folders", work.folders());
        let results: Vec<[u8; 16]> = self.results.iter().map(|made| made.id.bytes()).collect();
        told.add("prefixes", work.shortest(IdKind::Result, &results));
        for (kind, what) in [(IdKind::Result, "result"), (IdKind::Proposal, "proposal")] {
            let found = |prefix| work.find(kind, prefix, ResultId::from_bytes);
            told.add(format!("{what} of 0000"), found("0000"));
        }
    }
}

/// All pages of a list, each as text.
fn pages(page: impl Fn(Option<&str>) -> (Option<String>, String)) -> String {
    let (mut next, mut all) = page(None);
    for _ in 1..PAGES {
        let Some(cursor) = next else { break };
        let (after, text) = page(Some(&cursor));
        all.push_str(&text);
        next = after;
    }
    all
}

/// An export without the head of the log, which the log itself is asked for.
fn headless<E>(
    exported: Result<work_core::document::export::ExportDoc, E>,
) -> Result<serde_json::Value, E> {
    exported.map(|exported| {
        let mut exported = serde_json::to_value(exported).expect("a document is JSON");
        exported["log"].take();
        exported
    })
}

/// A result as people read it.
fn rendered(shown: &ResultDoc) -> String {
    render::markdown(shown) + &render::text(shown)
}

fn repaired(
    work: &Workspace,
    id: ResultId,
) -> Result<serde_json::Value, work_core::workspace::RepairError> {
    work.repair(id, &mut Quiet).map(|repaired| match repaired {
        Repaired::Proposed(proposal) => serde_json::to_value(proposal).expect("JSON"),
        Repaired::NoChange(task) => serde_json::to_value(task).expect("JSON"),
    })
}
