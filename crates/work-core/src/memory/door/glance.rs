//! A look at named files: who owns each, and what is seen of it.

use super::files::{Age, Files, Kind, Names, Node, Trouble};
use super::{MemoryDoor, names_of, reached, rooted_at};
use crate::folder::{Grant, GrantState};
use crate::id::GrantId;
use crate::path::RelPath;
use crate::port::{Go, Ground, Known, Place, Probe, Want, Watch, version_of};
use crate::report::Reached;
use crate::source::{Look, Seen};
use crate::task::Progress;
use std::time::Duration;

/// Looks at each want in turn, until time ends or the watch says stop.
pub(super) fn look(
    door: &MemoryDoor,
    ground: Ground<'_>,
    wants: &[Want],
    probe: &dyn Probe,
    watch: &mut dyn Watch,
) -> Vec<Look> {
    let mut looks = Vec::with_capacity(wants.len());
    let mut elapsed = Duration::ZERO;
    for (want, turn) in wants.iter().zip(0..) {
        let found = find(&door.files(), ground, want);
        elapsed += found.as_ref().map_or(Duration::ZERO, Found::takes);
        if elapsed > ground.limits.time {
            break;
        }
        let place = Place { turn, grant: want.grant, path: want.path.clone() };
        looks.push(found.map_or_else(|look| look, |found| see(found, place, ground, probe)));
        let progress =
            Progress { files_read: looks.len() as u64, of: wants.len() as u64, entries: 0 };
        if watch.beat(&progress) == Go::Stop {
            break;
        }
    }
    looks.resize(wants.len(), Look::NotReached);
    looks
}

/// A file that may be read, and the grant that decided it.
struct Found {
    node: Node,
    owner: GrantId,
    /// What is known of it, if that stands.
    known: Option<Known>,
}

impl Found {
    /// How long it takes to be seen: no time if it is not read.
    fn takes(&self) -> Duration {
        self.known.map_or(self.node.takes, |_| Duration::ZERO)
    }

    /// The same, with what of `known` stands.
    fn trusting(self, known: Option<Known>, file_bytes: usize) -> Self {
        let stamp = self.node.copy().map(|copy| copy.stamp);
        let stands =
            |known: &Known| stamp.is_some_and(|stamp| known.stands(stamp, self.owner, file_bytes));
        Self { known: known.filter(stands), ..self }
    }
}

/// Goes down to a file; what stops on the way is the answer.
fn find(files: &Files, ground: Ground<'_>, want: &Want) -> Result<Found, Look> {
    let grants = ground.grants;
    let cited = grants.iter().find(|grant| grant.id == want.grant);
    let cited = cited.ok_or(saw(Seen::Denied, want.grant))?;
    match reached(files, cited) {
        Reached::Yes => {}
        Reached::Unreachable => return Err(saw(Seen::Unreachable, cited.id)),
        Reached::Denied => return Err(saw(Seen::Denied, cited.id)),
    }
    let root = names_of(&cited.root);
    let file: Names = root.iter().cloned().chain(want.path.names().map(<[u8]>::to_vec)).collect();
    let (mut owner, mut below) = (cited, root.len());
    for depth in root.len() + 1..=file.len() {
        let Some(node) = files.get(&file[..depth]) else { break };
        if let Some(inner) = rooted_at(grants, node) {
            (owner, below) = (inner, depth);
        }
        if owner.state == GrantState::Revoked {
            return Err(saw(Seen::Denied, owner.id));
        }
        if let (Kind::Folder, Some(trouble)) = (&node.kind, node.trouble) {
            return Err(saw(seen(trouble), owner.id));
        }
    }
    permitted(owner, &file[below..])?;
    let found = open(files, &file, owner.id)?;
    Ok(found.trusting(want.known, ground.limits.file_bytes))
}

/// Whether the grant that decides permits the name.
fn permitted(owner: &Grant, below: &[Vec<u8>]) -> Result<(), Look> {
    let path = RelPath::new(below.join(&b'/')).ok();
    let allowed = path.is_some_and(|path| owner.rules.permit_file(&path).is_ok());
    if allowed { Ok(()) } else { Err(saw(Seen::Denied, owner.id)) }
}

/// Opens a file that may be read.
fn open(files: &Files, at: &[Vec<u8>], owner: GrantId) -> Result<Found, Look> {
    match files.get(at) {
        Some(node) if matches!(node.kind, Kind::Folder) => Err(saw(Seen::Missing, owner)),
        Some(Node { trouble: Some(trouble), .. }) => Err(saw(seen(*trouble), owner)),
        Some(node) => Ok(Found { node: node.clone(), owner, known: None }),
        None => Err(saw(Seen::Missing, owner)),
    }
}

/// Reads a file for the probe, if it wants it. What is known is not read.
fn see(found: Found, place: Place, ground: Ground<'_>, probe: &dyn Probe) -> Look {
    let Some(copy) = found.node.copy() else { return saw(Seen::Missing, found.owner) };
    if !probe.wants(&place, copy.stamp.size) {
        return Look::NotReached;
    }
    if let Some(Known { stamp, version, .. }) = found.known {
        let seen = Seen::Bytes(version);
        return Look::Saw { seen, owner: found.owner, stamp: Some(stamp) };
    }
    let bytes = &copy.bytes[..copy.bytes.len().min(ground.limits.file_bytes)];
    let seen = Seen::Bytes(version_of(bytes, copy.stamp.size));
    probe.file(place, bytes, copy.stamp.size);
    let stamp = match found.node.age {
        Age::Settled => Some(copy.stamp),
        Age::Young => None,
    };
    Look::Saw { seen, owner: found.owner, stamp }
}

/// A look that saw something other than bytes.
fn saw(seen: Seen, owner: GrantId) -> Look {
    Look::Saw { seen, owner, stamp: None }
}

/// What is seen of a file or folder in trouble.
fn seen(trouble: Trouble) -> Seen {
    match trouble {
        Trouble::Denied => Seen::Denied,
        Trouble::Unstable => Seen::Unstable,
        Trouble::Unreachable => Seen::Unreachable,
    }
}
