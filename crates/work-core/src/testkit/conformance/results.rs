//! Results and revisions: numbered without gaps, never changed, the accepted one the latest.

use super::Make;
use super::desk::{Desk, cited, next, nobody};
use super::picture::result_ids;
use crate::digest::Digest;
use crate::id::{ResultId, SourceId};
use crate::port::{Change, Put, Results, Revisions, Version};
use crate::proposal::ProposalState;
use crate::result::{Cited, Origin, Revision, RevisionNo, WorkResult};
use crate::task::Fence;
use crate::time::Timestamp;

/// A desk with one folder and two sources.
fn desk(make: Make<'_>) -> (Desk, crate::id::GrantId, [SourceId; 2]) {
    let desk = Desk::new(make);
    let grant = desk.approve("/a");
    let sources = ["a.md", "b.md"].map(|path| desk.source(grant, path));
    (desk, grant, sources)
}

/// The ids of the results that a pick finds.
fn results(desk: &Desk, pick: Results<'_>) -> Vec<ResultId> {
    result_ids(&desk.ask(|tx| tx.results(pick)).expect("results"))
}

/// The numbers of the revisions that a pick finds, with whose they are.
fn revisions(desk: &Desk, pick: Revisions<'_>) -> Vec<(ResultId, u64)> {
    let found = desk.ask(|tx| tx.revisions(pick)).expect("revisions");
    found.into_iter().map(|revision| (revision.result, revision.no.0)).collect()
}

/// Changes the revision among some changes.
fn tamper(mut puts: Vec<Put>, how: impl Fn(&mut Revision, &mut Vec<Cited>)) -> Vec<Put> {
    for put in &mut puts {
        if let Put::Revision(revision, cited) = put {
            how(revision, cited);
        }
    }
    puts
}

pub(super) fn a_published_result_reads_back_with_its_revision(make: Make<'_>) {
    let (desk, grant, sources) = desk(make);
    let task = desk.claim(desk.queue(grant));
    let (id, puts) = desk.publishing(&task, &sources);
    desk.keep(puts.clone());
    for put in &puts {
        match put {
            Put::Result(change) => {
                assert_eq!(desk.result(id).value, *change.value());
                assert_eq!(desk.result(id).version, Version(1));
            }
            Put::Revision(revision, _) => {
                assert_eq!(desk.revision(id, RevisionNo::FIRST), *revision);
            }
            Put::Grant(_)
            | Put::Source { .. }
            | Put::Document { .. }
            | Put::Task(_)
            | Put::Run(_)
            | Put::Request(_)
            | Put::ForgetRequests { .. }
            | Put::Proposal(_)
            | Put::Approval(_) => {}
        }
    }
}

pub(super) fn results_answer_to_ids_in_the_order_asked(make: Make<'_>) {
    let (desk, grant, sources) = desk(make);
    let [a, b] = [(); 2].map(|()| desk.report(grant, &sources));
    let unknown = ResultId::from_bytes(nobody());
    assert_eq!(results(&desk, Results::Ids(&[b, unknown, a, b])), [b, a, b]);
    assert!(results(&desk, Results::Ids(&[])).is_empty());
}

pub(super) fn results_come_latest_changed_first_and_highest_id_among_equals(make: Make<'_>) {
    let (desk, grant, sources) = desk(make);
    let latest = |before, most| results(&desk, Results::Latest { before, most });
    assert!(latest(None, 10).is_empty());
    let old = desk.report(grant, &sources);
    desk.pass(10);
    let mut equal = [(); 4].map(|()| desk.report(grant, &sources));
    equal.sort();
    equal.reverse();
    assert_eq!(latest(None, 10), [&equal[..], &[old]].concat());
    assert_eq!(latest(None, 2), equal[..2]);
    let place = |id| Some((desk.result(id).value.updated_at, id));
    assert_eq!(latest(place(equal[1]), 2), equal[2..]);
    assert_eq!(latest(place(equal[3]), 2), [old]);
    assert!(latest(place(old), 2).is_empty());
    let never = Some((Timestamp::from_seconds(2_000_000), ResultId::from_bytes([0; 16])));
    assert_eq!(latest(never, 1), equal[..1], "a place where nothing stands has its order");
    desk.pass(10);
    desk.repair(old, &sources);
    assert_eq!(latest(None, 1), [old], "a new revision makes a result the latest changed");
}

pub(super) fn who_cites_a_source_now_and_ever_is_told_by_id(make: Make<'_>) {
    let (desk, grant, [kept, dropped]) = desk(make);
    let mut both = [(); 3].map(|()| desk.report(grant, &[kept, dropped, kept]));
    both.sort();
    desk.repair(both[1], &[kept]);
    let now = |source, most| results(&desk, Results::CitingNow { source, most });
    let ever = |source, most| results(&desk, Results::CitingEver { source, most });
    assert_eq!(now(kept, 10), both);
    assert_eq!(now(dropped, 10), [both[0], both[2]]);
    assert_eq!(ever(dropped, 10), both, "who cited it once is not forgotten");
    assert_eq!((now(kept, 2), ever(dropped, 2)), (both[..2].to_vec(), both[..2].to_vec()));
    let unknown = SourceId::from_bytes(nobody());
    assert!(now(unknown, 10).is_empty() && ever(unknown, 10).is_empty());
}

// spec: H1
pub(super) fn revisions_answer_to_keys_in_the_order_asked(make: Make<'_>) {
    let (desk, grant, sources) = desk(make);
    let [a, b] = [(); 2].map(|()| desk.report(grant, &sources));
    desk.repair(a, &sources);
    let key = |id, no| (id, RevisionNo(no));
    let keys = [key(a, 2), key(b, 2), key(b, 1), key(a, 1), key(a, 0), key(a, 2)];
    assert_eq!(revisions(&desk, Revisions::Keys(&keys)), [(a, 2), (b, 1), (a, 1), (a, 2)]);
}

// spec: H1
pub(super) fn the_latest_revisions_of_each_result_come_highest_first(make: Make<'_>) {
    let (desk, grant, sources) = desk(make);
    let [a, b] = [(); 2].map(|()| desk.report(grant, &sources));
    desk.repair(a, &sources);
    desk.repair(a, &sources);
    let both = [b, a];
    let latest = |before: Option<u64>, each| {
        let before = before.map(RevisionNo);
        revisions(&desk, Revisions::LatestOf { results: &both, before, each })
    };
    assert_eq!(latest(None, 10), [(b, 1), (a, 3), (a, 2), (a, 1)]);
    assert_eq!(latest(None, 2), [(b, 1), (a, 3), (a, 2)]);
    assert_eq!(latest(Some(3), 1), [(b, 1), (a, 2)]);
    assert_eq!(latest(Some(1), 10), []);
}

// spec: P5
pub(super) fn every_origin_of_a_revision_reads_back(make: Make<'_>) {
    let (desk, grant, sources) = desk(make);
    let result = desk.report(grant, &sources);
    let repair = desk.propose_repair(result);
    desk.keep(desk.applying(repair.id, &sources[..1]));
    let restore = desk.propose_restore(result, 1);
    let puts = desk.applying(restore.id, &sources);
    desk.keep(puts.clone());
    let Some(Put::Revision(written, _)) = puts.first() else { panic!("a revision comes first") };
    assert_eq!(desk.revision(result, RevisionNo(3)), *written);
    let origins = [1, 2, 3].map(|no| desk.revision(result, RevisionNo(no)).origin);
    assert_eq!(origins.map(Origin::restored_from), [None, None, Some(RevisionNo(1))]);
    assert_eq!(desk.result(result).version, Version(3));
}

// spec: H1
pub(super) fn a_revision_number_is_given_once_and_without_a_gap(make: Make<'_>) {
    let (desk, grant, sources) = desk(make);
    let result = desk.report(grant, &sources);
    let proposal = desk.propose_repair(result);
    for no in [0, 1, 3, 9] {
        let mut puts = tamper(desk.applying(proposal.id, &sources), |revision, _| {
            revision.no = RevisionNo(no);
        });
        for put in &mut puts {
            if let Put::Result(Change::From(_, result)) = put {
                result.accepted = RevisionNo(no);
            }
        }
        desk.refuse_puts(puts);
    }
    desk.keep(desk.applying(proposal.id, &sources));
}

pub(super) fn the_first_revision_has_number_one(make: Make<'_>) {
    let (desk, grant, sources) = desk(make);
    let task = desk.claim(desk.queue(grant));
    let (_, puts) = desk.publishing(&task, &sources);
    desk.refuse_puts(tamper(puts, |revision, _| revision.no = RevisionNo(2)));
}

// spec: H1
pub(super) fn a_stored_revision_cannot_be_put_again(make: Make<'_>) {
    let (desk, grant, sources) = desk(make);
    let task = desk.claim(desk.queue(grant));
    let (_, puts) = desk.publishing(&task, &sources);
    desk.keep(puts.clone());
    let again: Vec<Put> = puts.into_iter().filter(|put| matches!(put, Put::Revision(..))).collect();
    desk.refuse_puts(tamper(again, |revision, _| revision.body = revision.scan));
}

pub(super) fn a_result_names_a_revision_that_is_there(make: Make<'_>) {
    let (desk, grant, sources) = desk(make);
    let result = desk.report(grant, &sources);
    let old = desk.result(result);
    let next = WorkResult { accepted: RevisionNo(2), ..old.value };
    desk.refuse_puts(vec![Put::Result(Change::From(old.version, next))]);
    let task = desk.claim(desk.queue(grant));
    let (_, puts) = desk.publishing(&task, &sources);
    let without = puts.into_iter().filter(|put| !matches!(put, Put::Revision(..))).collect();
    desk.refuse_puts(without);
}

pub(super) fn a_revision_names_documents_that_are_there(make: Make<'_>) {
    let (desk, grant, sources) = desk(make);
    let task = desk.claim(desk.queue(grant));
    let unknown = Digest::of(b"unknown");
    for forget in [
        (|revision, unknown| revision.body = unknown) as fn(&mut Revision, Digest),
        |revision, unknown| revision.dependencies = unknown,
        |revision, unknown| revision.verification = unknown,
        |revision, unknown| revision.scan = unknown,
    ] {
        let (_, puts) = desk.publishing(&task, &sources);
        desk.refuse_puts(tamper(puts, |revision, _| forget(revision, unknown)));
    }
}

pub(super) fn a_revision_names_a_run_that_is_there(make: Make<'_>) {
    let (desk, grant, sources) = desk(make);
    let task = desk.claim(desk.queue(grant));
    let (_, puts) = desk.publishing(&task, &sources);
    desk.refuse_puts(tamper(puts, |revision, _| {
        let fence = Fence(7);
        let task = crate::id::TaskId::from_bytes(nobody());
        revision.origin = Origin::Published { task, fence };
    }));
}

pub(super) fn a_quotation_names_a_source_that_is_there(make: Make<'_>) {
    let (desk, grant, [known, _]) = desk(make);
    let task = desk.claim(desk.queue(grant));
    let (_, puts) = desk.publishing(&task, &[known, SourceId::from_bytes(nobody())]);
    desk.refuse_puts(puts);
}

// spec: P5
pub(super) fn one_proposal_never_becomes_two_revisions(make: Make<'_>) {
    let (desk, grant, sources) = desk(make);
    let result = desk.report(grant, &sources);
    let first = desk.propose_repair(result);
    desk.keep(desk.applying(first.id, &sources));
    let second = desk.propose_repair(result);
    let origin = desk.revision(result, RevisionNo(2)).origin;
    let puts = desk.applying(second.id, &sources);
    desk.refuse_puts(tamper(puts, |revision, _| revision.origin = origin));
}

// spec: P7
pub(super) fn of_two_applies_the_second_is_overtaken(make: Make<'_>) {
    let (desk, grant, sources) = desk(make);
    let result = desk.report(grant, &sources);
    let repair = desk.propose_repair(result);
    let late = desk.applying(repair.id, &sources);
    desk.keep(late.clone());
    desk.overtaken(late, vec![]);
    assert!(matches!(desk.proposal(repair.id).value.state, ProposalState::Applied(_)));
}

pub(super) fn a_result_that_changed_meanwhile_is_not_changed(make: Make<'_>) {
    let (desk, grant, sources) = desk(make);
    let result = desk.report(grant, &sources);
    let repair = desk.propose_repair(result);
    let restore = desk.propose_restore(result, 1);
    let late = desk.applying(restore.id, &sources);
    let before = desk.result(result).version;
    desk.keep(desk.applying(repair.id, &sources));
    assert_eq!(desk.result(result).version, next(before));
    desk.refuse_puts(late);
}

pub(super) fn a_result_id_is_given_once(make: Make<'_>) {
    let (desk, grant, sources) = desk(make);
    let known = desk.result(desk.report(grant, &sources)).value;
    desk.overtaken(vec![Put::Result(Change::New(known))], vec![]);
}

pub(super) fn quotations_keep_their_versions(make: Make<'_>) {
    let (desk, grant, sources) = desk(make);
    let result = desk.report(grant, &sources);
    let found = desk.ask(|tx| tx.quotations(crate::port::Quotations::Of(&[result])));
    let found: Vec<Cited> = found.expect("quotations").iter().map(|quoted| quoted.cited).collect();
    assert_eq!(found, cited(&sources));
}
