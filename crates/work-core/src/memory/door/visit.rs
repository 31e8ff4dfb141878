//! A scan: what each folder of a scope owns, one candidate from each in turn.

use super::files::{Copy, Kind, Names, Node, Trouble};
use super::{MemoryDoor, names_of, reached, rooted_at};
use crate::folder::{Forbidden, Grant};
use crate::path::RelPath;
use crate::port::{Go, Ground, Place, Probe, Scanned, Watch};
use crate::report::{FolderScan, Reached, ScanCounts, ScanLimit, SkipReason};
use crate::task::Progress;
use std::time::Duration;

/// Visits every folder of the scope.
pub(super) fn scan(
    door: &MemoryDoor,
    ground: Ground<'_>,
    probe: &dyn Probe,
    watch: &mut dyn Watch,
) -> Scanned {
    let mut scan = Scan { door, ground, probe, tally: Tally::default() };
    let mut visits: Vec<Visit<'_>> =
        ground.scope.iter().map(|&grant| Visit::new(door, ground, grant)).collect();
    let end = scan.take_turns(&mut visits, watch);
    Scanned {
        folders: visits.into_iter().map(|visit| visit.scan).collect(),
        limit: match end {
            End::Limit(limit) => Some(limit),
            End::Whole | End::Stopped => scan.tally.too_deep.then_some(ScanLimit::Depth),
        },
        elapsed: scan.tally.elapsed,
        stopped: matches!(end, End::Stopped),
    }
}

/// How a scan ended.
enum End {
    Whole,
    Limit(ScanLimit),
    Stopped,
}

/// What a scan has counted over all its folders.
#[derive(Default)]
struct Tally {
    candidates: usize,
    entries: u64,
    files_read: u64,
    elapsed: Duration,
    too_deep: bool,
}

/// One scan.
struct Scan<'a> {
    door: &'a MemoryDoor,
    ground: Ground<'a>,
    probe: &'a dyn Probe,
    tally: Tally,
}

/// How far one folder's visit has come.
struct Visit<'a> {
    grant: Option<&'a Grant>,
    root: Names,
    last: Names,
    closed: Option<Names>,
    scan: FolderScan,
}

/// A file that may be read.
struct Candidate {
    at: Names,
    path: RelPath,
}

impl<'a> Visit<'a> {
    /// At the root of a folder; nowhere, if it cannot be gone into.
    fn new(door: &MemoryDoor, ground: Ground<'a>, id: crate::id::GrantId) -> Self {
        let known = ground.grants.iter().find(|grant| grant.id == id);
        let reached = known.map_or(Reached::Denied, |grant| reached(&door.files(), grant));
        let grant = known.filter(|_| reached == Reached::Yes);
        let root = grant.map(|grant| names_of(&grant.root)).unwrap_or_default();
        let scan = FolderScan { grant: id, reached, counts: ScanCounts::default() };
        Self { grant, last: root.clone(), root, closed: None, scan }
    }

    /// Goes on to the next entry, past folders that are closed.
    fn step(&mut self, door: &MemoryDoor) -> Option<Node> {
        loop {
            let files = door.files();
            let (at, node) = files.next_under(&self.root, &self.last)?;
            self.last.clone_from(at);
            if self.closed.as_ref().is_none_or(|closed| !self.last.starts_with(closed)) {
                return Some(node.clone());
            }
        }
    }

    /// Leaves out the present entry, and what is in it.
    fn skip(&mut self, reason: SkipReason) {
        self.scan.counts.skip(reason);
        self.closed = Some(self.last.clone());
    }
}

impl Scan<'_> {
    /// Takes one candidate from each folder in turn until none is left.
    fn take_turns(&mut self, visits: &mut [Visit<'_>], watch: &mut dyn Watch) -> End {
        let mut open: Vec<&mut Visit<'_>> = visits.iter_mut().collect();
        while !open.is_empty() {
            let mut still = Vec::with_capacity(open.len());
            for visit in open {
                let candidate = match self.next_candidate(visit) {
                    Err(limit) => return End::Limit(limit),
                    Ok(None) => continue,
                    Ok(Some(candidate)) => candidate,
                };
                if let Some(end) = self.read(&mut visit.scan, &candidate, watch) {
                    return end;
                }
                still.push(visit);
            }
            open = still;
        }
        End::Whole
    }

    /// The next file of a folder that its rules permit.
    fn next_candidate(&mut self, visit: &mut Visit<'_>) -> Result<Option<Candidate>, ScanLimit> {
        let Some(grant) = visit.grant else { return Ok(None) };
        while let Some(node) = visit.step(self.door) {
            if self.tally.entries == self.ground.limits.entries {
                return Err(ScanLimit::Entries);
            }
            self.tally.entries += 1;
            visit.scan.counts.entries += 1;
            let path = below(&visit.root, &visit.last);
            match self.leave_out(grant, &node, &path) {
                Some(reason) => visit.skip(reason),
                None if matches!(node.kind, Kind::Folder) => {}
                None if self.tally.candidates == self.ground.limits.files => {
                    return Err(ScanLimit::Files);
                }
                None => {
                    self.tally.candidates += 1;
                    visit.scan.counts.files_seen += 1;
                    return Ok(Some(Candidate { at: visit.last.clone(), path }));
                }
            }
        }
        Ok(None)
    }

    /// Why an entry is left out, if it is.
    fn leave_out(&mut self, grant: &Grant, node: &Node, path: &RelPath) -> Option<SkipReason> {
        match node.kind {
            Kind::File { .. } => grant.rules.permit_file(path).err().map(reason),
            Kind::Folder if rooted_at(self.ground.grants, node).is_some() => {
                Some(SkipReason::OtherGrant)
            }
            Kind::Folder if path.names().count() > self.ground.limits.depth => {
                self.tally.too_deep = true;
                Some(SkipReason::TooDeep)
            }
            Kind::Folder => {
                let forbidden = grant.rules.permit_directory(path).err().map(reason);
                forbidden.or_else(|| node.trouble.map(failed))
            }
        }
    }

    /// Reads a candidate and shows it to the probe. Says how the scan ends, if it does.
    fn read(
        &mut self,
        scan: &mut FolderScan,
        candidate: &Candidate,
        watch: &mut dyn Watch,
    ) -> Option<End> {
        let found = self.door.files().get(&candidate.at).cloned();
        let turn = self.tally.candidates as u64 - 1;
        let place = Place { turn, grant: scan.grant, path: candidate.path.clone() };
        match found.as_ref().map(|node| (node.trouble, node.copy(), node.takes)) {
            Some((None, Some(copy), takes)) if self.probe.wants(&place, copy.stamp.size) => {
                self.tally.elapsed += takes;
                if self.tally.elapsed > self.ground.limits.time {
                    self.tally.elapsed = self.ground.limits.time;
                    return Some(End::Limit(ScanLimit::Time));
                }
                self.show(scan, place, &copy);
            }
            Some((None, Some(_), _)) => {}
            Some((Some(trouble), ..)) => scan.counts.skip(failed(trouble)),
            Some((None, None, _)) | None => scan.counts.skip(SkipReason::Failed),
        }
        let progress = Progress {
            files_read: self.tally.files_read,
            of: self.tally.candidates as u64,
            entries: 0,
        };
        (watch.beat(&progress) == Go::Stop).then_some(End::Stopped)
    }

    /// Counts a file that was read and hands its bytes on.
    fn show(&mut self, scan: &mut FolderScan, place: Place, copy: &Copy) {
        let bytes = &copy.bytes[..copy.bytes.len().min(self.ground.limits.file_bytes)];
        self.tally.files_read += 1;
        scan.counts.files_read += 1;
        scan.counts.files_cut += u64::from(bytes.len() < copy.bytes.len());
        scan.counts.bytes_read += bytes.len() as u64;
        self.probe.file(place, bytes, copy.stamp.size);
    }
}

/// The path of an entry under the root of a visit.
fn below(root: &Names, at: &Names) -> RelPath {
    RelPath::new(at[root.len()..].join(&b'/')).expect("names of files are sound")
}

/// The reason to count for what the rules forbid.
fn reason(forbidden: Forbidden) -> SkipReason {
    match forbidden {
        Forbidden::Hidden => SkipReason::Hidden,
        Forbidden::Excluded => SkipReason::Ignored,
        Forbidden::Extension => SkipReason::Extension,
    }
}

/// The reason to count for what went wrong.
fn failed(trouble: Trouble) -> SkipReason {
    match trouble {
        Trouble::Denied => SkipReason::Denied,
        Trouble::Unstable => SkipReason::Unstable,
        Trouble::Unreachable => SkipReason::Failed,
    }
}
