//! Proposals and approvals: one of a kind waits for a result, ends are final, a fingerprint is used once.

use super::Make;
use super::desk::{Desk, later, next, nobody};
use super::picture::proposal_ids;
use crate::id::{ProposalId, ResultId, SourceId};
use crate::port::{Change, Kept, Proposals, Put, Version};
use crate::proposal::{Approval, Channel, Fingerprint, Proposal, ProposalKind, ProposalState};
use crate::result::RevisionNo;
use crate::time::{Era, Timestamp};
use std::time::Duration;

/// A desk with one source and so many results that quote it.
fn desk<const N: usize>(make: Make<'_>) -> (Desk, SourceId, [ResultId; N]) {
    let desk = Desk::new(make);
    let grant = desk.approve("/a");
    let source = desk.source(grant, "a.md");
    let results = [(); N].map(|()| desk.report(grant, &[source]));
    (desk, source, results)
}

/// The ids of the proposals that a pick finds.
fn proposals(desk: &Desk, pick: Proposals<'_>) -> Vec<ProposalId> {
    proposal_ids(&desk.ask(|tx| tx.proposals(pick)).expect("proposals"))
}

/// Ends a proposal.
fn end(desk: &Desk, id: ProposalId, state: ProposalState) {
    desk.keep(vec![desk.closing(id, state)]);
    assert_eq!(desk.proposal(id).value.state, state);
}

// spec: P4
pub(super) fn every_field_of_a_proposal_reads_back(make: Make<'_>) {
    let (desk, _, [result]) = desk(make);
    let repair = desk.propose_repair(result);
    let restore = desk.propose_restore(result, 1);
    for written in [repair, restore] {
        assert_eq!(desk.proposal(written.id), Kept { version: Version(1), value: written });
    }
}

// spec: P3
pub(super) fn every_end_of_a_proposal_reads_back(make: Make<'_>) {
    let (desk, source, [result]) = desk(make);
    let first = desk.propose_repair(result);
    desk.pass(5);
    let at = desk.now().at;
    end(&desk, first.id, ProposalState::Dismissed(at));
    let second = desk.propose_repair(result);
    desk.pass(3600);
    let at = desk.now().at;
    end(&desk, second.id, ProposalState::Expired(at));
    let third = desk.propose_repair(result);
    desk.keep(desk.applying(third.id, &[source]));
    assert_eq!(desk.proposal(third.id).value.state, ProposalState::Applied(at));
    assert_eq!(desk.proposal(third.id).version, next(Version(1)));
}

// spec: P8
pub(super) fn a_proposal_takes_the_place_of_the_one_that_waited(make: Make<'_>) {
    let (desk, _, [result]) = desk(make);
    let old = desk.propose_restore(result, 1);
    let (new, mut puts) = desk.a_proposal(result, ProposalKind::Restore(RevisionNo(1)));
    let state = ProposalState::Superseded(desk.now().at, new.id);
    puts.push(desk.closing(old.id, state));
    puts.push(Put::Proposal(Change::New(new)));
    desk.keep(puts);
    assert_eq!(desk.proposal(old.id).value.state, state);
    assert_eq!(proposals(&desk, Proposals::PendingOf(result)), [new.id]);
}

// spec: H5
pub(super) fn one_proposal_of_a_kind_waits_for_a_result(make: Make<'_>) {
    let (desk, _, [result, other]) = desk(make);
    let waiting = desk.propose_restore(result, 1);
    let (second, mut puts) = desk.a_proposal(result, ProposalKind::Restore(RevisionNo(1)));
    puts.push(Put::Proposal(Change::New(second)));
    desk.overtaken(puts.clone(), vec![]);
    desk.propose_restore(other, 1);
    end(&desk, waiting.id, ProposalState::Dismissed(desk.now().at));
    desk.keep(puts);
}

// spec: P8
pub(super) fn a_repair_and_a_restore_wait_side_by_side_the_repair_first(make: Make<'_>) {
    let (desk, _, [result, other]) = desk(make);
    let pending = |result| proposals(&desk, Proposals::PendingOf(result));
    assert!(pending(result).is_empty());
    let restore = desk.propose_restore(result, 1);
    let repair = desk.propose_repair(result);
    assert_eq!(pending(result), [repair.id, restore.id]);
    assert!(pending(other).is_empty());
    end(&desk, repair.id, ProposalState::Dismissed(desk.now().at));
    assert_eq!(pending(result), [restore.id]);
}

pub(super) fn proposals_answer_to_ids_in_the_order_asked(make: Make<'_>) {
    let (desk, _, results) = desk::<2>(make);
    let [a, b] = results.map(|result| desk.propose_restore(result, 1).id);
    let unknown = ProposalId::from_bytes(nobody());
    assert_eq!(proposals(&desk, Proposals::Ids(&[b, unknown, a, b])), [b, a, b]);
}

pub(super) fn proposals_come_latest_made_first_before_one_and_bounded(make: Make<'_>) {
    let (desk, _, results) = desk::<3>(make);
    let [a, b, c] = results.map(|result| desk.propose_restore(result, 1).id);
    end(&desk, a, ProposalState::Dismissed(desk.now().at));
    let latest = |before, most| proposals(&desk, Proposals::Latest { before, most });
    assert_eq!(latest(None, 10), [c, b, a]);
    assert_eq!(latest(None, 2), [c, b]);
    assert_eq!(latest(Some(c), 1), [b]);
    assert!(latest(Some(a), 10).is_empty());
    assert!(latest(Some(ProposalId::from_bytes(nobody())), 10).is_empty());
}

pub(super) fn the_latest_proposals_of_each_result_come_latest_first(make: Make<'_>) {
    let (desk, _, results) = desk::<2>(make);
    let [a, b] = results.map(|result| desk.propose_restore(result, 1).id);
    let c = desk.propose_repair(results[0]).id;
    let asked = [results[1], ResultId::from_bytes(nobody()), results[0]];
    let of = |each| proposals(&desk, Proposals::LatestOf { results: &asked, each });
    assert_eq!(of(10), [b, c, a]);
    assert_eq!(of(1), [b, c]);
}

// spec: H5
pub(super) fn waiting_restores_come_first_to_end_first(make: Make<'_>) {
    let (desk, _, results) = desk::<5>(make);
    let [long, short, middle, ended, _] = results;
    let propose = |result, seconds| {
        let (proposal, mut puts) = desk.a_proposal(result, ProposalKind::Restore(RevisionNo(1)));
        let expires_at = later(proposal.created_at, seconds);
        puts.push(Put::Proposal(Change::New(Proposal { expires_at, ..proposal })));
        desk.keep(puts);
        proposal.id
    };
    let [a, b, c, d] =
        [(long, 900), (short, 100), (middle, 500), (ended, 300)].map(|(r, s)| propose(r, s));
    desk.propose_repair(results[4]);
    end(&desk, d, ProposalState::Dismissed(desk.now().at));
    let start = desk.now().at;
    let waiting = |ending_after: Timestamp, most| {
        proposals(&desk, Proposals::PendingRestores { era: Era(0), ending_after, most })
    };
    assert_eq!(waiting(start, 10), [b, c, a]);
    assert_eq!(waiting(start, 2), [b, c]);
    assert_eq!(waiting(later(start, 99), 1), [b]);
    assert_eq!(waiting(later(start, 100), 1), [c], "one that ends at the moment does not wait");
    let (era, most) = (Era(1), 10);
    assert!(
        proposals(&desk, Proposals::PendingRestores { era, ending_after: start, most }).is_empty()
    );
}

// spec: T6
pub(super) fn a_proposal_keeps_its_era(make: Make<'_>) {
    let (desk, _, [result, other]) = desk(make);
    let old = desk.propose_restore(result, 1);
    desk.clock.reboot();
    desk.clock.set_back(Duration::from_secs(600));
    let new = desk.propose_restore(other, 1);
    let ending_after = Timestamp::from_seconds(0);
    let of = |era| proposals(&desk, Proposals::PendingRestores { era, ending_after, most: 9 });
    assert_eq!(of(Era(0)), [old.id]);
    assert_eq!(of(Era(1)), [new.id]);
}

// spec: P3
pub(super) fn the_end_of_a_proposal_is_final(make: Make<'_>) {
    let (desk, source, [result, other]) = desk(make);
    let pending = desk.propose_restore(result, 1);
    end(&desk, pending.id, ProposalState::Dismissed(desk.now().at));
    let at = desk.now().at;
    desk.refuse_puts(vec![desk.closing(pending.id, ProposalState::Pending)]);
    desk.refuse_puts(vec![desk.closing(pending.id, ProposalState::Expired(at))]);
    desk.refuse_puts(desk.applying(pending.id, &[source]));
    let applied = desk.propose_restore(other, 1);
    desk.keep(desk.applying(applied.id, &[source]));
    desk.refuse_puts(vec![desk.closing(applied.id, ProposalState::Dismissed(at))]);
}

pub(super) fn a_proposal_that_changed_meanwhile_is_not_changed(make: Make<'_>) {
    let (desk, _, [result]) = desk(make);
    let pending = desk.propose_restore(result, 1);
    let at = desk.now().at;
    let late = desk.closing(pending.id, ProposalState::Dismissed(at));
    end(&desk, pending.id, ProposalState::Dismissed(at));
    desk.overtaken(vec![late], vec![]);
    desk.overtaken(vec![Put::Proposal(Change::New(pending))], vec![]);
}

// spec: H6
pub(super) fn a_fingerprint_is_proposed_once(make: Make<'_>) {
    let (desk, _, [result, other]) = desk(make);
    let first = desk.propose_restore(result, 1);
    let (second, mut puts) = desk.a_proposal(other, ProposalKind::Restore(RevisionNo(1)));
    puts.push(Put::Proposal(Change::New(Proposal { fingerprint: first.fingerprint, ..second })));
    desk.refuse_puts(puts);
}

// spec: H6
pub(super) fn a_fingerprint_is_used_once(make: Make<'_>) {
    let (desk, source, [result, other]) = desk(make);
    let first = desk.propose_restore(result, 1);
    desk.keep(desk.applying(first.id, &[source]));
    let used = Approval {
        fingerprint: first.fingerprint,
        proposal: first.id,
        channel: Channel::Http,
        at: desk.now().at,
    };
    desk.overtaken(vec![Put::Approval(used)], vec![]);
    let second = desk.propose_restore(other, 1);
    let mut puts = desk.applying(second.id, &[source]);
    puts.push(Put::Approval(used));
    desk.refuse_puts(puts);
}

// spec: P5
pub(super) fn an_approval_names_a_proposal_that_is_there(make: Make<'_>) {
    let (desk, ..) = desk::<1>(make);
    desk.refuse_puts(vec![Put::Approval(Approval {
        fingerprint: Fingerprint(crate::digest::Digest::of(b"f")),
        proposal: ProposalId::from_bytes(nobody()),
        channel: Channel::Library,
        at: desk.now().at,
    })]);
}

pub(super) fn a_proposal_names_documents_and_a_result_that_are_there(make: Make<'_>) {
    let (desk, _, [result]) = desk(make);
    let kind = ProposalKind::Restore(RevisionNo(1));
    let (proposal, _) = desk.a_proposal(result, kind);
    desk.refuse_puts(vec![Put::Proposal(Change::New(proposal))]);
    let (proposal, mut puts) = desk.a_proposal(result, kind);
    let lost = Proposal { result: ResultId::from_bytes(nobody()), ..proposal };
    puts.push(Put::Proposal(Change::New(lost)));
    desk.refuse_puts(puts);
}
