//! All that a store answers, written out, so that two moments or two stores can be compared.

use crate::digest::Digest;
use crate::id::{GrantId, IdKind, IdPrefix, ProposalId, ResultId, SourceId, TaskId};
use crate::port::{
    Asked, Events, Observed, Proposals, Quotations, Quoted, ReadTx, RequestKey, Results, Revisions,
    Sources, Tasks,
};
use crate::redact::for_checking;
use crate::task::Fence;
use crate::time::Timestamp;
use std::fmt::Debug;

/// Rows that one question of a picture asks for.
const MOST: u32 = 1000;

/// Answers, written out, each under its question.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Picture(Vec<String>);

impl Debug for Picture {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.iter().try_for_each(|line| writeln!(f, "{line}"))
    }
}

impl Picture {
    /// Asks everything there is to ask.
    pub(super) fn of(tx: &mut dyn ReadTx) -> Self {
        let mut picture = Self(Vec::new());
        picture.line("head", &tx.head().expect("head").0);
        picture.folders(tx);
        let results = picture.results(tx);
        picture.tasks(tx);
        picture.proposals(tx, &results);
        picture.keys(tx);
        picture.line("events", &tx.events(Events::After { seq: 0, most: MOST }).expect("events"));
        picture
    }

    /// Asks for every list in short pages, from each place where one may go on.
    pub(super) fn pages(tx: &mut dyn ReadTx) -> Self {
        let mut picture = Self(Vec::new());
        picture.task_pages(tx);
        picture.proposal_pages(tx);
        picture.result_pages(tx);
        picture.source_pages(tx);
        let (head, _) = tx.head().expect("head");
        for seq in 0..head.acts {
            let events = tx.events(Events::After { seq, most: 2 }).expect("events");
            let subject = events[0].subject.unwrap_or_default();
            let latest = tx.events(Events::LatestOf { subject, most: 3 }).expect("latest events");
            let act = tx.events(Events::Act(events[0].act)).expect("an event");
            picture.line("events", &(events, latest, act));
        }
        picture
    }

    /// Ids that share the first four digits with one.
    fn prefix_page(&mut self, tx: &mut dyn ReadTx, of: IdKind, id: &dyn std::fmt::Display) {
        let prefix: IdPrefix = id.to_string()[..4].parse().expect("four digits");
        self.line("ids", &tx.ids(of, &prefix, 2).expect("ids"));
    }

    /// Pages of tasks.
    fn task_pages(&mut self, tx: &mut dyn ReadTx) {
        let latest = tx.tasks(Tasks::Latest { before: None, most: MOST }).expect("tasks");
        for id in task_ids(&latest) {
            let page = tx.tasks(Tasks::Latest { before: Some(id), most: 2 }).expect("tasks");
            self.line("tasks", &asked(&page));
            self.prefix_page(tx, IdKind::Task, &id);
        }
        self.line("open", &asked(&tx.tasks(Tasks::Open { most: 2 }).expect("open tasks")));
    }

    /// Pages of proposals.
    fn proposal_pages(&mut self, tx: &mut dyn ReadTx) {
        let latest = tx.proposals(Proposals::Latest { before: None, most: MOST }).expect("latest");
        for kept in latest {
            let before = Some(kept.value.id);
            let page = tx.proposals(Proposals::Latest { before, most: 2 }).expect("proposals");
            let (era, ending_after) = (kept.value.era, kept.value.expires_at);
            let restores = Proposals::PendingRestores { era, ending_after, most: 2 };
            self.line("proposals", &(page, tx.proposals(restores).expect("restores")));
            self.prefix_page(tx, IdKind::Proposal, &kept.value.id);
        }
    }

    /// Pages of results, revisions and quotations.
    fn result_pages(&mut self, tx: &mut dyn ReadTx) {
        let latest = tx.results(Results::Latest { before: None, most: MOST }).expect("results");
        let all = result_ids(&latest);
        for kept in latest {
            let id = kept.value.id;
            let before = Some((kept.value.updated_at, id));
            let page = tx.results(Results::Latest { before, most: 2 }).expect("results");
            let below = Some(kept.value.accepted);
            let pick = Revisions::LatestOf { results: &all, before: below, each: 1 };
            let revisions = tx.revisions(pick).expect("revisions");
            let of = tx.proposals(Proposals::LatestOf { results: &all, each: 1 });
            self.line("results", &(page, revisions, of.expect("proposals")));
            let quotations = Quotations::All { after: Some(id), most: 3 };
            self.line("quotations", &quoted(&tx.quotations(quotations).expect("quotations")));
            self.prefix_page(tx, IdKind::Result, &id);
        }
    }

    /// Pages of sources.
    fn source_pages(&mut self, tx: &mut dyn ReadTx) {
        for kept in tx.folders().expect("folders") {
            let grant = kept.value.id;
            let all = tx.sources(Sources::Under { grant, after: None, most: MOST }).expect("all");
            for one in all {
                let (id, path) = (one.source.id, for_checking(one.source.path));
                let under = Sources::Under { grant, after: Some(&path), most: 2 };
                let cited = Sources::CitedNow { after: Some(id), most: 2 };
                let [under, cited, at] = [under, cited, Sources::At(&[(grant, path.clone())])]
                    .map(|pick| observed(&tx.sources(pick).expect("sources")));
                let now = tx.results(Results::CitingNow { source: id, most: 1 }).expect("now");
                let ever = tx.results(Results::CitingEver { source: id, most: 1 }).expect("ever");
                self.line("sources", &(under, cited, at, now, ever));
                self.prefix_page(tx, IdKind::Source, &id);
            }
            self.prefix_page(tx, IdKind::Grant, &grant);
        }
    }

    /// Writes one answer.
    fn line(&mut self, question: &str, answer: &dyn Debug) {
        self.0.push(format!("{question}: {answer:?}"));
    }

    /// Folders and the sources under them.
    fn folders(&mut self, tx: &mut dyn ReadTx) {
        let folders = tx.folders().expect("folders");
        for kept in &folders {
            let under = Sources::Under { grant: kept.value.id, after: None, most: MOST };
            let sources = tx.sources(under).expect("sources under a folder");
            self.line("under", &observed(&sources));
            for source in &sources {
                self.citing(tx, source.source.id);
            }
        }
        self.line("folders", &folders);
        let cited = tx.sources(Sources::CitedNow { after: None, most: MOST });
        self.line("cited now", &observed(&cited.expect("cited sources")));
    }

    /// Who cites a source.
    fn citing(&mut self, tx: &mut dyn ReadTx, source: SourceId) {
        let now = tx.results(Results::CitingNow { source, most: MOST }).expect("citing now");
        let ever = tx.results(Results::CitingEver { source, most: MOST }).expect("citing ever");
        self.line("citing", &(now, ever));
    }

    /// Results with their revisions, documents and quotations.
    fn results(&mut self, tx: &mut dyn ReadTx) -> Vec<ResultId> {
        let latest = tx.results(Results::Latest { before: None, most: MOST }).expect("results");
        let ids: Vec<ResultId> = latest.iter().map(|kept| kept.value.id).collect();
        self.line("results", &latest);
        let pick = Revisions::LatestOf { results: &ids, before: None, each: MOST };
        let revisions = tx.revisions(pick).expect("revisions");
        let digests: Vec<Digest> = revisions
            .iter()
            .flat_map(|r| [r.body, r.dependencies, r.verification, r.scan])
            .collect();
        self.line("revisions", &revisions);
        self.documents(tx, &digests);
        let all = tx.quotations(Quotations::All { after: None, most: MOST }).expect("quotations");
        self.line("quotations", &quoted(&all));
        let of = tx.quotations(Quotations::Of(&ids)).expect("quotations of results");
        self.line("quotations of", &quoted(&of));
        ids
    }

    /// Documents with their bytes.
    fn documents(&mut self, tx: &mut dyn ReadTx, digests: &[Digest]) {
        let found = tx.documents(digests, 1 << 20).expect("documents");
        let opened = found.into_iter().map(|(digest, sealed)| (digest, for_checking(sealed)));
        self.line("documents", &opened.collect::<Vec<_>>());
    }

    /// Tasks with their runs.
    fn tasks(&mut self, tx: &mut dyn ReadTx) {
        let latest = tx.tasks(Tasks::Latest { before: None, most: MOST }).expect("tasks");
        let leases = latest.iter().flat_map(|asked| {
            let task = &asked.task.value;
            (1..=task.fence.0).map(|fence| (task.id, Fence(fence)))
        });
        let leases: Vec<_> = leases.collect();
        self.line("runs", &tx.runs(&leases).expect("runs"));
        self.line("tasks", &asked(&latest));
        let open = tx.tasks(Tasks::Open { most: MOST }).expect("open tasks");
        self.line("open", &asked(&open));
    }

    /// Proposals, as each pick has them.
    fn proposals(&mut self, tx: &mut dyn ReadTx, results: &[ResultId]) {
        let latest = tx.proposals(Proposals::Latest { before: None, most: MOST }).expect("latest");
        let bindings: Vec<Digest> = latest.iter().map(|kept| kept.value.binding).collect();
        self.documents(tx, &bindings);
        let era = tx.head().expect("head").0.anchor.era;
        let ending_after = Timestamp::from_seconds(0);
        let restores = Proposals::PendingRestores { era, ending_after, most: MOST };
        self.line("restores", &tx.proposals(restores).expect("pending restores"));
        let of = tx.proposals(Proposals::LatestOf { results, each: MOST }).expect("latest of");
        self.line("proposals of", &of);
        for &result in results {
            let pending = tx.proposals(Proposals::PendingOf(result)).expect("pending of a result");
            self.line("pending", &pending);
        }
        self.line("proposals", &latest);
    }

    /// Client keys.
    fn keys(&mut self, tx: &mut dyn ReadTx) {
        for n in 0..6 {
            self.line("request", &tx.request(&key(n)).expect("a request"));
        }
    }
}

/// A client key of the suite.
pub(super) fn key(n: u8) -> RequestKey {
    RequestKey(Digest::of(&[n]))
}

/// Sources as they are, seals opened.
pub(super) fn observed(all: &[Observed]) -> Vec<String> {
    let plain = |one: &Observed| {
        let path = for_checking(one.source.path.clone());
        format!("{:?} {:?} {path:?} {:?}", one.source.id, one.source.grant, one.observation)
    };
    all.iter().map(plain).collect()
}

/// Quotations as they are, seals opened.
pub(super) fn quoted(all: &[Quoted]) -> Vec<String> {
    let plain = |one: &Quoted| {
        let finding = one.finding.clone().map(|(digest, sealed)| (digest, for_checking(sealed)));
        let source = observed(std::slice::from_ref(&one.observed));
        format!("{:?} {:?} {source:?} {finding:?}", one.result, one.cited)
    };
    all.iter().map(plain).collect()
}

/// Tasks as they are, seals opened.
pub(super) fn asked(all: &[Asked]) -> Vec<String> {
    let plain =
        |one: &Asked| format!("{:?} {:?}", one.task, one.progress.clone().map(for_checking));
    all.iter().map(plain).collect()
}

/// The ids of sources, in their order.
pub(super) fn source_ids(all: &[Observed]) -> Vec<SourceId> {
    all.iter().map(|one| one.source.id).collect()
}

/// The ids of tasks, in their order.
pub(super) fn task_ids(all: &[Asked]) -> Vec<TaskId> {
    all.iter().map(|one| one.task.value.id).collect()
}

/// The ids of results, in their order.
pub(super) fn result_ids(all: &[crate::port::Kept<crate::result::WorkResult>]) -> Vec<ResultId> {
    all.iter().map(|kept| kept.value.id).collect()
}

/// The ids of proposals, in their order.
pub(super) fn proposal_ids(
    all: &[crate::port::Kept<crate::proposal::Proposal>],
) -> Vec<ProposalId> {
    all.iter().map(|kept| kept.value.id).collect()
}

/// The ids of folders, in their order.
pub(super) fn folder_ids(all: &[crate::port::Kept<crate::folder::Grant>]) -> Vec<GrantId> {
    all.iter().map(|kept| kept.value.id).collect()
}
