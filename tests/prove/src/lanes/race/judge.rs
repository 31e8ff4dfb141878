//! What may come of a look in a race, and what may not.

use super::alarm::{Alarm, Did, Guarded, Rang};
use super::stage::{Stage, is_inside};
use crate::ground::Given;
use work_core::port::version_of;
use work_core::report::{ScanCounts, SkipReason};
use work_core::source::{Look, Seen};

/// What was done, and what came of it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tally {
    /// Files asked for, each of which is at least one open by handle while something is exchanged or written.
    pub(super) opens: u64,
    /// Exchanges and rewrites in the meantime.
    pub(super) attacks: u64,
    /// Answers with bytes.
    pub(super) given: u64,
    /// Answers that something may not be read.
    pub(super) denied: u64,
    /// Answers that nothing is there.
    pub(super) missing: u64,
    /// Answers that it changed too often.
    pub(super) unstable: u64,
    /// Mixtures under a write that the system held up: not counted against the door, which says that it cannot tell.
    pub(super) held_up: u64,
}

impl Tally {
    /// Counts what a scan visited.
    pub(super) fn count_scan(&mut self, counts: &ScanCounts) {
        self.opens += counts.files_seen;
        self.given += counts.files_read;
        self.unstable += counts.skipped.get(&SkipReason::Unstable).copied().unwrap_or(0);
    }

    /// Counts answers.
    pub(super) fn count(&mut self, looks: &[Look]) {
        self.opens += looks.len() as u64;
        for look in looks {
            match look {
                Look::Saw { seen: Seen::Bytes(_), .. } => self.given += 1,
                Look::Saw { seen: Seen::Denied, .. } => self.denied += 1,
                Look::Saw { seen: Seen::Missing, .. } => self.missing += 1,
                Look::Saw { seen: Seen::Unstable, .. } => self.unstable += 1,
                Look::Saw { seen: Seen::Unreachable, .. } | Look::NotReached => {}
            }
        }
    }
}

/// Whether each file that was given is one of the folder.
pub(super) fn inside(given: &[Given]) -> Result<(), String> {
    match given.iter().find(|given| !is_inside(&given.bytes)) {
        None => Ok(()),
        Some(given) => {
            let said = String::from_utf8_lossy(&given.bytes[..given.bytes.len().min(16)]);
            Err(format!("{} was read and holds {said:?}", given.place.path))
        }
    }
}

/// Whether each answer tells the version of the bytes that were given, and none that the folder hangs or failed.
pub(super) fn answers(looks: &[Look], given: &[Given]) -> Result<(), String> {
    for (turn, look) in (0..).zip(looks) {
        let bytes = given.iter().find(|given| given.place.turn == turn);
        let version = bytes.map(|given| version_of(&given.bytes, given.size));
        match (look, version) {
            (Look::Saw { seen: Seen::Bytes(told), .. }, Some(version)) if *told == version => {}
            (Look::Saw { seen: Seen::Denied | Seen::Missing | Seen::Unstable, .. }, None) => {}
            _ => return Err(format!("{look:?} was answered, and the bytes have {version:?}")),
        }
    }
    Ok(())
}

/// Whether nothing was opened that must not be.
pub(super) fn unopened(stage: &Stage, by_name: bool) -> Result<(), String> {
    let rang = stage.alarm.as_ref().map(Alarm::rang).unwrap_or_default();
    match rang.into_iter().find(|rang| !is_allowed(*rang, by_name)) {
        None => Ok(()),
        Some(Rang { at, did, .. }) => Err(format!("{at:?} was not to be opened: {did:?}")),
    }
}

/// Whether a door may do that. One that opens by names can find that something else was put in the place of what it
/// looked at: then it neither reads it nor, if that would do harm, closes it.
const fn is_allowed(Rang { at, is_directory, did }: Rang, by_name: bool) -> bool {
    match (at, did) {
        (Guarded::Own, Did::Open) => by_name,
        (Guarded::Own, Did::Read | Did::Close) | (Guarded::Outside, Did::Read) => false,
        (Guarded::Outside, Did::Open | Did::Close) => by_name && is_directory,
    }
}
