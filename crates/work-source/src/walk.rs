//! Going through one folder, directory by directory (spec Q2, Q5).
//!
//! Owns the order and the reasons for which an entry is left out. Reads no source: it names candidates.
//!
//! **Order.** The files of a directory in the order of the bytes of their names, then its directories in the same
//! order, each gone through in the same way before the next.
//!
//! **Reasons**, the first that holds: a link, whatever its name; a name that cannot be used on this platform; a name
//! that begins with a dot; an exclusion; an ignore file; then by kind: neither file nor directory; a directory that
//! lies too deep; a file with another extension; the instance's own file. A directory that turns out to be another
//! mount's, another grant's, the instance's, or closed, counts once and is not gone into.

use crate::crew::{Ground, LeftBehind, Slot};
use crate::facts::{Fault, Kind};
use crate::ignore_files::{self, Ignores};
use crate::platform::Dir;
use crate::read::{Buffers, Caps, stable};
use crate::seam::Moment;
use crate::territory::{Root, Territory, Trail};
use std::ops::ControlFlow;
use std::sync::Arc;
use work_core::folder::{Forbidden, IgnoreFiles, Rules};
use work_core::path::RelPath;
use work_core::plant::{Fault as Planted, is_planted};
use work_core::report::{Reached, ScanCounts, SkipReason};

/// Candidates after which a folder rests until its next turns have used them.
const ENOUGH: usize = 64;

/// Directories after which a folder without a candidate lets the next one have its turn.
const MOST_DIRECTORIES: usize = 16;

/// Entries after which a listing says that it goes on.
const STRIDE: usize = 1024;

/// What a walk may use.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Room {
    /// Entries that may still be visited, over all folders.
    pub(crate) entries: u64,
    /// Directories below the root that are gone down.
    pub(crate) depth: usize,
    /// For ignore files.
    pub(crate) caps: Caps,
}

/// One folder, and what of it is still to be listed.
#[derive(Debug)]
pub(crate) struct Walk {
    root: Arc<Root>,
    ground: Ground,
    pending: Vec<Pending>,
}

/// A directory to be listed.
#[derive(Debug)]
struct Pending {
    /// Its path; nothing for the root.
    path: Option<RelPath>,
    depth: usize,
    ignores: Option<Arc<Ignores>>,
}

/// What one advance brought.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    /// Candidates, in their order.
    pub(crate) files: Vec<RelPath>,
    /// What was visited and left out.
    pub(crate) counts: ScanCounts,
    /// Whether there were more entries than room.
    pub(crate) full: bool,
    /// The root could not be listed.
    pub(crate) shut: Option<Reached>,
}

/// An ignore file as a matcher, or why it could not be read.
type Parsing = Result<ignore_files::Parsed, Fault>;

/// An entry of a directory.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    name: Box<[u8]>,
    inode: u64,
    kind: Told,
}

/// What a listing tells of an entry's kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Told {
    File,
    Own,
    Directory,
    Link,
    Special,
    Unknown,
    Broken(SkipReason),
}

/// What becomes of an entry.
enum Verdict {
    File(RelPath),
    Directory(RelPath),
    Skip(SkipReason),
}

impl Walk {
    /// Begins at a root.
    pub(crate) fn new(root: Root, ground: Ground) -> Self {
        let top = Pending { path: None, depth: 0, ignores: None };
        Self { root: Arc::new(root), ground, pending: vec![top] }
    }

    /// The root.
    pub(crate) const fn root(&self) -> &Arc<Root> {
        &self.root
    }

    /// Whether everything was listed.
    pub(crate) fn is_over(&self) -> bool {
        self.pending.is_empty()
    }

    /// Lists directories until there are candidates enough, or it is another folder's turn.
    pub(crate) fn advance(
        &mut self,
        territory: &Territory,
        room: Room,
        buffers: &mut Buffers,
        slot: &Slot,
    ) -> Result<Batch, LeftBehind> {
        let mut batch = Batch::default();
        for _ in 0..MOST_DIRECTORIES {
            let Some(next) = self.pending.pop() else { break };
            self.list(territory, &next, room, &mut batch, buffers, slot)?;
            if batch.full || batch.files.len() >= ENOUGH {
                break;
            }
        }
        Ok(batch)
    }

    /// Lists one directory and decides on each entry.
    fn list(
        &mut self,
        territory: &Territory,
        at: &Pending,
        room: Room,
        batch: &mut Batch,
        buffers: &mut Buffers,
        slot: &Slot,
    ) -> Result<(), LeftBehind> {
        let left = room.entries - batch.counts.entries;
        let opened = slot.away(&self.ground, || {
            let dir = self.open(territory, at)?;
            let entries = entries(territory, &dir, left, slot)?;
            Ok((dir, entries))
        })?;
        let (dir, (mut entries, full)) = match opened {
            Ok(opened) => opened,
            Err(fault) => {
                shut(at, fault, batch);
                return Ok(());
            }
        };
        batch.counts.entries += entries.len() as u64;
        batch.full = full;
        let rules = &territory.grant(self.root.grant).rules;
        let ignores = match rules.ignore_files {
            IgnoreFiles::Unheeded => None,
            IgnoreFiles::Honoured => {
                let mut read = |name: &[u8]| {
                    self.read_ignore_file(territory, &dir, name, room.caps, buffers, slot)
                };
                ignores(at, &mut entries, &mut read)?
            }
        };
        self.sort_out(at, room, rules, ignores, entries, batch);
        Ok(())
    }

    /// Opens a directory of this walk, going down from the root anew.
    fn open(&self, territory: &Territory, at: &Pending) -> Result<Arc<Dir>, Fault> {
        let names = at.path.iter().flat_map(RelPath::names);
        let reach = territory
            .descend(&self.root, names, &mut Trail::default())
            .map_err(|halt| halt.fault)?;
        let name = at.path.as_ref().map_or(b"".as_slice(), RelPath::last_name);
        territory.guard.seam.reach(Moment::List, name);
        if reach.owner == self.root.grant { Ok(reach.dir) } else { Err(Fault::OtherGrant) }
    }

    /// Reads an ignore file through the door.
    fn read_ignore_file(
        &self,
        territory: &Territory,
        dir: &Arc<Dir>,
        name: &[u8],
        caps: Caps,
        buffers: &mut Buffers,
        slot: &Slot,
    ) -> Result<Parsing, LeftBehind> {
        let read = slot.away(&self.ground, || {
            let guard = &territory.guard;
            let find = || Ok((Arc::clone(dir), guard.see(dir, name)?));
            stable(guard, name, find()?, find, caps, (buffers, slot))
        })?;
        Ok(read.map(|read| {
            let bytes = buffers.bytes(&read);
            ignore_files::parse(bytes, read.is_cut())
        }))
    }

    /// Puts candidates into the batch and directories before all that is pending.
    fn sort_out(
        &mut self,
        at: &Pending,
        room: Room,
        rules: &Rules,
        ignores: Option<Arc<Ignores>>,
        entries: Vec<Entry>,
        batch: &mut Batch,
    ) {
        let ignores = ignores.or_else(|| at.ignores.clone());
        let below = self.pending.len();
        for entry in entries {
            match verdict(at, &entry, rules, ignores.as_deref(), room.depth) {
                Verdict::File(path) => batch.files.push(path),
                Verdict::Skip(reason) => batch.counts.skip(reason),
                Verdict::Directory(path) => self.pending.push(Pending {
                    path: Some(path),
                    depth: at.depth + 1,
                    ignores: ignores.clone(),
                }),
            }
        }
        self.pending[below..].reverse();
    }
}

/// Counts a directory that could not be listed; a root tells what that means for its folder.
fn shut(at: &Pending, fault: Fault, batch: &mut Batch) {
    match (at.path.is_some(), fault) {
        (true, _) => batch.counts.skip(fault.skipped()),
        (false, Fault::Denied) => batch.shut = Some(Reached::Denied),
        (false, _) => batch.shut = Some(Reached::Unreachable),
    }
}

/// The entries with the `most` smallest names, in order, and whether there were more.
///
/// More names than twice that are never held, however many the directory has.
fn entries(
    territory: &Territory,
    dir: &Dir,
    most: u64,
    slot: &Slot,
) -> Result<(Vec<Entry>, bool), Fault> {
    let most = usize::try_from(most).unwrap_or(usize::MAX - 1);
    let (mut found, mut seen) = (Vec::new(), 0_usize);
    dir.list(&mut |name, kind, inode| {
        let name = match is_planted(Planted::LossyName) {
            true => String::from_utf8_lossy(name).as_bytes().into(),
            false => name.into(),
        };
        found.push(Entry { name, inode, kind: told(kind) });
        seen += 1;
        if found.len() > most.saturating_mul(2).max(STRIDE) {
            keep_smallest(&mut found, most);
        }
        match seen.is_multiple_of(STRIDE) && !slot.touch() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    })?;
    keep_smallest(&mut found, most);
    for entry in &mut found {
        look_closer(territory, dir, entry);
    }
    Ok((found, seen > most))
}

/// Sorts by name and keeps the first `most`.
fn keep_smallest(entries: &mut Vec<Entry>, most: usize) {
    entries.sort_unstable();
    entries.truncate(most);
}

/// Looks at an entry whose kind was not told, or which may be the instance's.
fn look_closer(territory: &Territory, dir: &Dir, entry: &mut Entry) {
    if entry.kind == Told::Unknown {
        entry.kind = match dir.look_up(&entry.name) {
            Ok(facts) => told(Some(facts.kind)),
            Err(fault) => Told::Broken(fault.skipped()),
        };
    }
    if entry.kind == Told::File && territory.guard.lists_own(dir, &entry.name, entry.inode) {
        entry.kind = Told::Own;
    }
}

const fn told(kind: Option<Kind>) -> Told {
    match kind {
        Some(Kind::File) => Told::File,
        Some(Kind::Directory) => Told::Directory,
        Some(Kind::Link) => Told::Link,
        Some(Kind::Special) => Told::Special,
        None => Told::Unknown,
    }
}

/// What the ignore files among the entries say. One that cannot count in full is marked, so that it is told.
fn ignores(
    at: &Pending,
    entries: &mut [Entry],
    read: &mut dyn FnMut(&[u8]) -> Result<Parsing, LeftBehind>,
) -> Result<Option<Arc<Ignores>>, LeftBehind> {
    let mut files = Vec::new();
    for name in ignore_files::NAMES {
        let Ok(no) = entries.binary_search_by(|entry| (*entry.name).cmp(name)) else { continue };
        if entries[no].kind != Told::File {
            continue;
        }
        match read(name)? {
            Ok(parsed) => {
                files.push(parsed.matcher);
                if !parsed.whole {
                    entries[no].kind = Told::Broken(SkipReason::Failed);
                }
            }
            Err(fault) => entries[no].kind = Told::Broken(fault.skipped()),
        }
    }
    Ok(Ignores::below(at.ignores.clone(), at.path.as_ref(), files))
}

/// What becomes of an entry, by the first reason that holds.
fn verdict(
    at: &Pending,
    entry: &Entry,
    rules: &Rules,
    ignores: Option<&Ignores>,
    depth: usize,
) -> Verdict {
    if entry.kind == Told::Link {
        return Verdict::Skip(SkipReason::Link);
    }
    let path = match &at.path {
        Some(above) => above.join(&entry.name),
        None => RelPath::new(&*entry.name),
    };
    let Ok(path) = path else { return Verdict::Skip(SkipReason::Failed) };
    let is_directory = entry.kind == Told::Directory;
    if let Told::Broken(reason) = entry.kind {
        return Verdict::Skip(reason);
    }
    if let Err(why) = rules.permit_directory(&path) {
        return Verdict::Skip(forbidden(why));
    }
    if ignores.is_some_and(|ignores| ignores.ignores(&path, is_directory)) {
        return Verdict::Skip(SkipReason::Ignored);
    }
    by_kind(at, entry, path, rules, depth)
}

/// What becomes of an entry whose name is allowed.
fn by_kind(at: &Pending, entry: &Entry, path: RelPath, rules: &Rules, depth: usize) -> Verdict {
    match entry.kind {
        Told::Link => Verdict::Skip(SkipReason::Link),
        Told::Special => Verdict::Skip(SkipReason::Special),
        Told::Broken(reason) => Verdict::Skip(reason),
        Told::Unknown => Verdict::Skip(SkipReason::Failed),
        Told::Directory if at.depth >= depth => Verdict::Skip(SkipReason::TooDeep),
        Told::Directory => Verdict::Directory(path),
        Told::File | Told::Own => match rules.permit_file(&path) {
            Err(why) => Verdict::Skip(forbidden(why)),
            Ok(()) if entry.kind == Told::Own => Verdict::Skip(SkipReason::OwnFile),
            Ok(()) => Verdict::File(path),
        },
    }
}

/// As a scan counts it.
const fn forbidden(why: Forbidden) -> SkipReason {
    match why {
        Forbidden::Hidden => SkipReason::Hidden,
        Forbidden::Excluded => SkipReason::Ignored,
        Forbidden::Extension => SkipReason::Extension,
    }
}
