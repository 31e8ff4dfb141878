//! Going through several folders at once, one file from each in turn (spec Q2).
//!
//! The caller's thread takes the turns, so their order depends on nothing but the folders; it touches no file. The crew
//! lists and reads. Start at [`scan`].

use crate::crew::{Crew, Ground, News};
use crate::facts::Fault;
use crate::read::{Buffers, Caps};
use crate::territory::{Reach, Root, Territory};
use crate::visit::{Party, Visit, Visited};
use crate::walk::{Batch, Room, Walk};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};
use work_core::id::GrantId;
use work_core::limits::ScanLimits;
use work_core::path::RelPath;
use work_core::plant::{Fault as Planted, is_planted};
use work_core::port::{Go, Place, Scanned, Watch};
use work_core::report::{FolderScan, Reached, ScanCounts, ScanLimit, SkipReason};
use work_core::task::Progress;

/// Files on their way at once.
const UNDER_WAY: usize = 128;

/// How often the watch is asked.
pub(crate) const BEAT: Duration = Duration::from_millis(100);

/// What the crew tells.
pub(crate) enum Event {
    /// A root was opened, or not.
    Entered(usize, Result<Root, Reached>),
    /// A folder was gone through for a bit.
    Listed(usize, Walk, Batch),
    /// A file was visited.
    Visited(usize, Visited),
}

/// A folder in the scan.
struct Folder {
    grant: GrantId,
    ground: Ground,
    stage: Stage,
    files: VecDeque<RelPath>,
    root: Option<Arc<Root>>,
    reached: Reached,
    counts: ScanCounts,
}

/// What a folder is doing.
enum Stage {
    /// The crew has it.
    Busy,
    /// It can be gone through further.
    Ready(Walk),
    /// It has been gone through.
    Over,
}

/// A scan under way.
struct Scan {
    party: Party,
    crew: Crew<Buffers, Event>,
    folders: Vec<Folder>,
    limits: ScanLimits,
    /// Whose turn it is.
    next: usize,
    /// Candidates so far.
    turn: u64,
    /// Entries that may still be visited.
    entries: u64,
    /// Whether there were more entries than that: no more directories are listed.
    full: bool,
    limit: Option<ScanLimit>,
    begun: Instant,
}

/// Scans the grants of `scope`, given by their numbers.
pub(crate) fn scan(
    party: Party,
    crew: Crew<Buffers, Event>,
    scope: &[GrantId],
    limits: ScanLimits,
    watch: &mut dyn Watch,
) -> Scanned {
    let folders = scope.iter().map(|&grant| Folder::new(grant, &party.territory)).collect();
    let mut scan = Scan {
        party,
        crew,
        folders,
        limits,
        next: 0,
        turn: 0,
        entries: limits.entries,
        full: false,
        limit: None,
        begun: Instant::now(),
    };
    scan.enter_all();
    let stopped = scan.run(watch) == Go::Stop;
    scan.close(stopped)
}

impl Folder {
    fn new(grant: GrantId, territory: &Territory) -> Self {
        let ground = match territory.number(grant) {
            Some(no) => territory.ground(no),
            None => Ground::new(work_core::path::HostPath::from_bytes([])),
        };
        Self {
            grant,
            ground,
            stage: Stage::Busy,
            files: VecDeque::new(),
            root: None,
            reached: Reached::Yes,
            counts: ScanCounts::default(),
        }
    }

    /// Ends it: nothing more comes from it.
    fn end(&mut self, reached: Reached) {
        self.reached = reached;
        self.stage = Stage::Over;
        self.files.clear();
    }

    fn is_over(&self) -> bool {
        self.files.is_empty() && matches!(self.stage, Stage::Over)
    }
}

impl Scan {
    /// Has every root opened.
    fn enter_all(&mut self) {
        for (at, folder) in self.folders.iter_mut().enumerate() {
            let Some(no) = self.party.territory.number(folder.grant) else {
                folder.end(Reached::Denied);
                continue;
            };
            let (territory, ground) =
                (Arc::clone(&self.party.territory), Ground::clone(&folder.ground));
            self.crew.send(&folder.ground, move |_, slot| {
                Ok(Event::Entered(at, slot.away(&ground, || territory.enter(no))?))
            });
        }
    }

    /// Takes turns until everything was visited, a limit ends it, or the watch says stop.
    fn run(&mut self, watch: &mut dyn Watch) -> Go {
        let end = self.begun.checked_add(self.limits.time);
        loop {
            if watch.beat(&self.progress()) == Go::Stop {
                return Go::Stop;
            }
            let beat = Instant::now() + BEAT;
            let until = end.map_or(beat, |end| end.min(beat));
            while Instant::now() < until {
                let all = self.take_turns();
                if all && self.crew.open() == 0 {
                    return Go::On;
                }
                let news = self.crew.wait(until);
                news.into_iter().for_each(|news| self.hear(news));
            }
            if end.is_some_and(|end| Instant::now() >= end) {
                self.limit.get_or_insert(ScanLimit::Time);
                return Go::On;
            }
        }
    }

    fn progress(&self) -> Progress {
        let read = self.folders.iter().map(|folder| folder.counts.files_read).sum();
        let entries = self.limits.entries - self.entries;
        Progress { files_read: read, of: self.turn, entries }
    }

    /// Gives turns as far as they can be given now. Whether there will be no more.
    fn take_turns(&mut self) -> bool {
        while self.crew.open() < UNDER_WAY {
            if self.is_out_of_turns() {
                return true;
            }
            let folder = &mut self.folders[self.next];
            if let Some(path) = folder.files.pop_front() {
                self.read(path);
                self.pass();
            } else if folder.is_over() {
                self.pass();
            } else if let Stage::Ready(walk) = std::mem::replace(&mut folder.stage, Stage::Busy) {
                self.list(walk);
            } else {
                return false;
            }
        }
        false
    }

    /// Whether no folder has anything more, or there are files enough.
    fn is_out_of_turns(&mut self) -> bool {
        if self.folders.iter().all(Folder::is_over) {
            return true;
        }
        let enough = self.turn >= self.limits.files as u64;
        if enough && self.folders.iter().any(|folder| !folder.files.is_empty()) {
            self.limit.get_or_insert(ScanLimit::Files);
            return true;
        }
        false
    }

    /// The next folder has its turn.
    fn pass(&mut self) {
        self.next = (self.next + 1) % self.folders.len();
    }

    /// Has the folder whose turn it is gone through further.
    fn list(&mut self, mut walk: Walk) {
        let at = self.next;
        if self.full {
            self.folders[at].stage = Stage::Over;
            return;
        }
        let territory = Arc::clone(&self.party.territory);
        let room = Room { entries: self.entries, depth: self.limits.depth, caps: self.party.caps };
        self.crew.send_first(&self.folders[at].ground, move |buffers, slot| {
            let batch = walk.advance(&territory, room, buffers, slot)?;
            Ok(Event::Listed(at, walk, batch))
        });
    }

    /// Has a candidate of the folder whose turn it is read.
    fn read(&mut self, path: RelPath) {
        let at = self.next;
        let folder = &mut self.folders[at];
        folder.counts.files_seen += 1;
        let place = Place { turn: self.turn, grant: folder.grant, path };
        self.turn += 1;
        let Some(root) = folder.root.clone() else { return };
        let own = root.grant;
        let (party, ground) = (self.party.clone(), Ground::clone(&folder.ground));
        self.crew.send(&folder.ground, move |buffers, slot| {
            let mine = |_: &Territory, reach: &Reach, _: &RelPath| match reach.owner == own {
                true => Ok(()),
                false => Err(Fault::OtherGrant),
            };
            let visit = Visit { root: &root, ground: &ground, place, known: None };
            let (_, visited) = party.visit(visit, buffers, slot, mine)?;
            Ok(Event::Visited(at, visited))
        });
    }

    /// Takes in what the crew tells.
    fn hear(&mut self, news: News<Event>) {
        match news {
            News::Done(Event::Entered(at, Ok(root))) => self.begin(at, root),
            News::Done(Event::Entered(at, Err(reached))) => self.folders[at].end(reached),
            News::Done(Event::Listed(at, walk, batch)) => self.take_batch(at, walk, batch),
            News::Done(Event::Visited(at, visited)) => self.folders[at].count(&visited),
            News::Hangs(ground, _) => {
                let there = self.folders.iter_mut().filter(|folder| folder.ground == ground);
                there.for_each(|folder| folder.end(Reached::Unreachable));
            }
        }
    }

    fn begin(&mut self, at: usize, root: Root) {
        let folder = &mut self.folders[at];
        if folder.reached != Reached::Yes {
            return;
        }
        let walk = Walk::new(root, Ground::clone(&folder.ground));
        folder.root = Some(Arc::clone(walk.root()));
        folder.stage = Stage::Ready(walk);
    }

    /// Takes in what going through a folder brought. One without a candidate lets the next have its turn.
    fn take_batch(&mut self, at: usize, walk: Walk, batch: Batch) {
        let folder = &mut self.folders[at];
        if folder.reached != Reached::Yes {
            return;
        }
        if !is_planted(Planted::EntryLimit) {
            self.entries -= batch.counts.entries;
        }
        add(&mut folder.counts, &batch.counts);
        folder.files.extend(batch.files);
        folder.stage = if walk.is_over() { Stage::Over } else { Stage::Ready(walk) };
        if let Some(reached) = batch.shut {
            folder.end(reached);
        }
        if batch.full {
            self.full = true;
            self.limit.get_or_insert(ScanLimit::Entries);
        }
        if self.folders[at].files.is_empty() {
            self.pass();
        }
    }

    /// Ends the crew and makes the record.
    fn close(self, stopped: bool) -> Scanned {
        let Self { crew, mut folders, limit, begun, .. } = self;
        for event in crew.close() {
            match event {
                Event::Visited(at, visited) => folders[at].count(&visited),
                Event::Listed(at, _, batch) => add(&mut folders[at].counts, &batch.counts),
                Event::Entered(..) => {}
            }
        }
        let deep = |folder: &Folder| folder.counts.skipped.contains_key(&SkipReason::TooDeep);
        let depth = folders.iter().any(deep).then_some(ScanLimit::Depth);
        Scanned {
            limit: limit.or(depth),
            elapsed: begun.elapsed(),
            stopped,
            folders: folders.into_iter().map(Folder::record).collect(),
        }
    }
}

/// Adds counts up.
fn add(counts: &mut ScanCounts, more: &ScanCounts) {
    counts.entries += more.entries;
    counts.files_seen += more.files_seen;
    counts.files_read += more.files_read;
    counts.files_cut += more.files_cut;
    counts.bytes_read += more.bytes_read;
    for (reason, count) in &more.skipped {
        *counts.skipped.entry(*reason).or_default() += count;
    }
}

impl Folder {
    /// Counts what became of a candidate.
    fn count(&mut self, visited: &Visited) {
        match visited {
            Visited::Read(read) => {
                self.counts.files_read += 1;
                self.counts.files_cut += u64::from(read.is_cut());
                self.counts.bytes_read += read.len() as u64;
            }
            Visited::Unwanted | Visited::Known(_) => {}
            Visited::Not(fault) => self.counts.skip(fault.skipped()),
        }
    }

    /// Its record. A root that was not opened in time was not reached.
    fn record(self) -> FolderScan {
        let reached = match self.reached {
            Reached::Yes if self.root.is_none() => Reached::Unreachable,
            Reached::Yes | Reached::Unreachable | Reached::Denied => self.reached,
        };
        FolderScan { grant: self.grant, reached, counts: self.counts }
    }
}

/// How much of a file a call reads.
pub(crate) fn caps(limits: &ScanLimits) -> Caps {
    Caps { bytes: limits.file_bytes, reads: limits.reads }
}
