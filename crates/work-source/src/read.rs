//! The bytes of one moment of one file (spec G3, G4).
//!
//! A file is looked at before and after it is read; by its name afterwards, so that another file in its place is
//! noticed too. If anything differs it is read again. A file that changed within the last two ticks of the clock that
//! stamps it could change once more without showing it, so it is read twice and both must agree.
//!
//! This assumes that the file system stamps a change within 20 ms of this host's clock, and that one write call takes
//! no longer: it is stamped when it begins. A file server whose clock is behind, or a write call that is held up and
//! goes on in the middle of a read, is not caught. A file in the middle of being rewritten is in a state of its own,
//! which is read as it is.
//!
//! A stamp is handed on only if no change after the read can bear the same one; then a later look may take the file for
//! unchanged while its stamp is the same. A change time in whole seconds is taken for one of a clock that knows no
//! others, and has to be older.

use crate::crew::Slot;
use crate::facts::{Facts, Fault};
use crate::guard::Guard;
use crate::platform::{Dir, Sight, TELLS_EACH_CHANGE, read_at};
use crate::seam::Moment;
use crate::territory::Trail;
use std::fs::File;
use std::io::ErrorKind;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};
use work_core::plant::{Fault as Planted, is_planted};
use work_core::source::Stamp;

/// How long a change may be unseen: two ticks of a clock with 100 ticks a second.
const YOUNG_NS: i64 = 20_000_000;

/// The same of a clock that ticks every other second, as on a memory card.
const COARSE_YOUNG_NS: i64 = 4 * SECOND_NS;

const SECOND_NS: i64 = 1_000_000_000;

/// Bytes read before whoever waits is told that the read goes on.
const STRIDE: usize = 1 << 20;

/// What a thread keeps from file to file: room for the bytes of one, twice, and the directories on the way to it.
#[derive(Debug, Default)]
pub(crate) struct Buffers {
    first: Vec<u8>,
    second: Vec<u8>,
    /// The way to the last file.
    pub(crate) trail: Trail,
}

impl Buffers {
    /// The bytes of what was read last.
    pub(crate) fn bytes(&self, read: &Read) -> &[u8] {
        &self.first[..read.len]
    }
}

/// How much of a file is read, and how often.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Caps {
    /// Bytes.
    pub(crate) bytes: usize,
    /// Times.
    pub(crate) reads: u32,
}

/// What was read; the bytes are in the buffers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Read {
    len: usize,
    /// The file when it was read.
    pub(crate) facts: Facts,
    /// Its stamp, if a later look may trust it.
    pub(crate) stamp: Option<Stamp>,
}

impl Read {
    /// Bytes that were read.
    pub(crate) const fn len(&self) -> usize {
        self.len
    }

    /// Whether the file is longer than that.
    pub(crate) const fn is_cut(&self) -> bool {
        self.facts.size > self.len as u64
    }
}

/// A file that was come to: its directory, and the file itself as it was seen there.
pub(crate) type Found = (Arc<Dir>, Sight);

/// A name in a directory that is held.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spot<'a> {
    /// The directory.
    pub(crate) dir: &'a Dir,
    /// The name.
    pub(crate) name: &'a [u8],
}

/// Reads the file called `name` that was found, and while it changes what is found `again`: by whoever knows the way from
/// the root, since the directory may have been moved out of the folder meanwhile.
pub(crate) fn stable(
    guard: &Guard,
    name: &[u8],
    found: Found,
    again: impl Fn() -> Result<Found, Fault>,
    caps: Caps,
    (buffers, slot): (&mut Buffers, &Slot),
) -> Result<Read, Fault> {
    let (mut dir, mut held) = found;
    for attempt in 1.. {
        let spot = Spot { dir: &dir, name };
        let settled = attempt_at(guard, spot, &held, caps, buffers, slot)?;
        if let Some(read) = settled {
            return Ok(read);
        }
        if attempt >= caps.reads {
            break;
        }
        (dir, held) = again()?;
    }
    Err(Fault::Unstable)
}

/// Reads once, or twice if the file is young. `None` if it changed meanwhile.
fn attempt_at(
    guard: &Guard,
    spot: Spot<'_>,
    held: &Sight,
    caps: Caps,
    buffers: &mut Buffers,
    slot: &Slot,
) -> Result<Option<Read>, Fault> {
    guard.seam.reach(Moment::Open, spot.name);
    let began_ns = now_ns();
    let young = is_young(held.facts.changed_ns, began_ns);
    let Some(file) = changed_is_none(guard.open(held, spot.dir, spot.name))? else {
        return Ok(None);
    };
    let want = Want { size: held.facts.size, cap: caps.bytes };
    let between = || guard.seam.reach(Moment::Again, spot.name);
    let read = match young {
        true => fill_twice(&file, want, buffers, slot, between)?,
        false => Some(fill(&file, want, &mut buffers.first, slot)?),
    };
    guard.seam.reach(Moment::Read, spot.name);
    let whole = |len: &usize| *len as u64 == want.size.min(want.cap as u64);
    let after = changed_is_none(spot.dir.look_up(spot.name))?;
    let same = after.is_some_and(|after| held.facts.is_same_moment(&after))
        || is_planted(Planted::TornRead);
    let read = read.filter(|len| same && whole(len));
    Ok(read.map(|len| Read { len, facts: held.facts, stamp: lasting(&held.facts, began_ns) }))
}

/// Opens what `sight` holds and reads nothing; answers whether it could be opened.
pub(crate) fn can_be_read(guard: &Guard, spot: Spot<'_>, sight: &Sight) -> bool {
    guard.seam.reach(Moment::Open, spot.name);
    guard.open(sight, spot.dir, spot.name).is_ok()
}

/// `None` for what only says that the name stands for something else by now.
fn changed_is_none<T>(answer: Result<T, Fault>) -> Result<Option<T>, Fault> {
    match answer {
        Ok(found) => Ok(Some(found)),
        Err(
            Fault::Missing
            | Fault::Link
            | Fault::NotADirectory
            | Fault::NotAFile
            | Fault::Special
            | Fault::Unstable,
        ) => Ok(None),
        Err(
            fault @ (Fault::OwnFile
            | Fault::OtherMount
            | Fault::OtherGrant
            | Fault::Denied
            | Fault::Failed),
        ) => Err(fault),
    }
}

/// How large a file is said to be, and how much of it is read.
#[derive(Clone, Copy)]
struct Want {
    size: u64,
    cap: usize,
}

/// Reads twice, with `between` in between. `None` if both differ.
fn fill_twice(
    file: &File,
    want: Want,
    buffers: &mut Buffers,
    slot: &Slot,
    between: impl FnOnce(),
) -> Result<Option<usize>, Fault> {
    let len = fill(file, want, &mut buffers.first, slot)?;
    between();
    let again = fill(file, want, &mut buffers.second, slot)?;
    Ok((buffers.first[..len] == buffers.second[..again]).then_some(len))
}

/// Reads from the beginning, up to `cap` bytes and one more than `size`, which would show that it grew.
fn fill(file: &File, want: Want, into: &mut Vec<u8>, slot: &Slot) -> Result<usize, Fault> {
    let Want { size, cap } = want;
    let want = usize::try_from(size).map_or(cap, |size| size.saturating_add(1).min(cap));
    if into.len() < want {
        into.resize(want, 0);
    }
    let mut len = 0;
    while len < want {
        let end = want.min(len + STRIDE);
        match read_at(file, &mut into[len..end], len as u64) {
            Ok(0) => break,
            Ok(more) => len += more,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) if error.kind() == ErrorKind::PermissionDenied => return Err(Fault::Denied),
            Err(_) => return Err(Fault::Failed),
        }
        if len as u64 == size || !slot.touch() {
            break;
        }
    }
    Ok(len)
}

/// Whether a change at `changed_ns` is so fresh at `now_ns` that another could bear the same time.
///
/// A time to come counts as fresh: nobody knows when it was.
const fn is_young(changed_ns: i64, now_ns: i64) -> bool {
    changed_ns > now_ns.saturating_sub(YOUNG_NS)
}

/// The stamp, if no change after `began_ns` can bear the same one.
fn lasting(facts: &Facts, began_ns: i64) -> Option<Stamp> {
    let settled = TELLS_EACH_CHANGE && !may_come_again(facts.changed_ns, began_ns);
    settled.then(|| facts.stamp())
}

/// Whether a change after `began_ns` could bear the time `changed_ns`.
const fn may_come_again(changed_ns: i64, began_ns: i64) -> bool {
    let young_ns = if changed_ns % SECOND_NS == 0 { COARSE_YOUNG_NS } else { YOUNG_NS };
    changed_ns > began_ns.saturating_sub(young_ns)
}

/// The wall clock, in nanoseconds since the epoch.
fn now_ns() -> i64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| i64::try_from(since.as_nanos()).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    // spec: G4
    #[test]
    fn two_reads_that_differ_by_a_byte_agree_on_nothing() {
        let tree = tempfile::tempdir().expect("a directory");
        let path = tree.path().join("a");
        std::fs::write(&path, "abc").expect("a file");
        let file = File::open(&path).expect("the file");
        let (mut buffers, slot) = (Buffers::default(), Slot::idle());
        let want = Want { size: 3, cap: 100 };
        let same = fill_twice(&file, want, &mut buffers, &slot, || ());
        assert_eq!(same, Ok(Some(3)));
        let change = || std::fs::write(&path, "abd").expect("a file");
        assert_eq!(fill_twice(&file, want, &mut buffers, &slot, change), Ok(None));
        let shrink = || std::fs::write(&path, "ab").expect("a file");
        assert_eq!(fill_twice(&file, want, &mut buffers, &slot, shrink), Ok(None));
    }

    // spec: G4
    #[test]
    fn a_change_within_two_ticks_or_to_come_is_young() {
        let now = 1_000_000_000;
        for (changed, young) in [
            (now, true),
            (now - YOUNG_NS + 1, true),
            (now - YOUNG_NS, false),
            (0, false),
            (now + 1, true),
            (i64::MAX, true),
            (i64::MIN, false),
        ] {
            assert_eq!(is_young(changed, now), young, "{changed}");
        }
    }

    // spec: G4
    #[test]
    fn a_change_may_come_again_for_two_ticks_and_in_whole_seconds_for_four() {
        let now = 10 * SECOND_NS + 500;
        for (changed, may) in [
            (now - YOUNG_NS + 1, true),
            (now - YOUNG_NS, false),
            (10 * SECOND_NS, true),
            (7 * SECOND_NS, true),
            (7 * SECOND_NS + 1, false),
            (6 * SECOND_NS, false),
            (i64::MAX, true),
        ] {
            assert_eq!(may_come_again(changed, now), may, "{changed}");
        }
    }
}
