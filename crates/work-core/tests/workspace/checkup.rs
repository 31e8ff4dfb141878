//! The doctor over proposals of every kind and end.

use crate::world::World;
use std::time::Duration;
use work_core::document::wire::ProposalDoc;
use work_core::id::ResultId;
use work_core::port::Quiet;
use work_core::proposal::Channel;
use work_core::result::RevisionNo;
use work_core::workspace::Repaired;

/// Prepares a repair, after the source has changed.
fn repair(world: &World, result: ResultId, days: u32) -> ProposalDoc {
    let text = format!("# Backups\n\nBackups are kept for {days} days.\n");
    world.door.put("/handbook/it/backups.md", text);
    match world.work.repair(result, &mut Quiet).expect("worked") {
        Repaired::Proposed(proposal) => *proposal,
        Repaired::NoChange(task) => panic!("no change: {task:?}"),
    }
}

fn apply(world: &World, proposal: &ProposalDoc) {
    let fingerprint = proposal.fingerprint.expect("shown");
    world
        .work
        .apply(proposal.proposal_id, fingerprint, Channel::Library, &mut Quiet)
        .expect("applied");
}

// spec: D4
#[test]
fn the_doctor_finds_nothing_wrong_with_proposals_of_every_kind_and_end() {
    let world = World::new();
    let result = world.report("backups").artifact_id;
    let looked = |when: &str| {
        let found = world.work.doctor().expect("looked").findings;
        assert!(found.is_empty(), "{when}: {found:?}");
    };
    let first = repair(&world, result, 60);
    looked("one waits");
    apply(&world, &first);
    looked("one was applied");
    let superseded = repair(&world, result, 70);
    let dismissed = repair(&world, result, 80);
    world.work.dismiss(dismissed.proposal_id).expect("dismissed");
    assert_ne!(superseded.proposal_id, dismissed.proposal_id);
    looked("one was superseded, one dismissed");
    repair(&world, result, 90);
    world.clock.advance(Duration::from_secs(3601));
    repair(&world, result, 95);
    looked("one expired");
    world.work.restore(result, RevisionNo(1), &mut Quiet).expect("prepared");
    looked("a restore waits");
    let waiting = world.work.proposals(None).expect("a list").proposals;
    let restore = waiting.iter().find(|one| one.kind == Some("restore")).expect("it waits");
    let shown = world.work.proposal(restore.proposal_id, &mut Quiet).expect("shown");
    apply(&world, &shown);
    looked("a restore was applied");
    let all = world.work.proposals(None).expect("a list").proposals;
    assert!(all.len() >= 6, "{}", all.len());
}
