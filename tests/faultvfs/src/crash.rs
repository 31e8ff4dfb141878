//! What a machine finds after its power went.
//!
//! Owns what may become of what was not synced. A file's writes since its last sync may be lost, be there, be there
//! without earlier ones, or be there in parts of 512 bytes; its length may have grown without its bytes. Names that were
//! given or taken away since the last sync of the names may be as before. What was synced is there. To read: a [`Crash`]
//! goes through a record operation by operation, and makes images at each place.

use crate::record::{self, FileId, Image, Op};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The part of a write that a disk does at once.
const SECTOR: usize = 512;

/// Something that chooses: a number below the one that it is given.
pub type Choose<'a> = &'a mut dyn FnMut(usize) -> usize;

/// A place in a record: what is certain there, and what is not.
#[derive(Clone, Debug, Default)]
pub struct Crash {
    files: BTreeMap<FileId, File>,
    names: BTreeMap<String, Names>,
}

/// A file's bytes that are certain, and what was done to it since.
#[derive(Clone, Debug, Default)]
struct File {
    certain: Arc<Vec<u8>>,
    since: Vec<Since>,
}

/// One thing that was done to a file.
#[derive(Clone, Debug)]
struct Since {
    what: What,
    /// How sure it is.
    hold: Hold,
}

/// How sure something is to last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Hold {
    /// The next sync makes it last.
    Waiting,
    /// It was synced, but stands after something that is not sure.
    Synced,
    /// A sync of it failed. No later one makes it last.
    Doomed,
}

#[derive(Clone, Debug)]
enum What {
    Write { at: u64, bytes: Arc<[u8]> },
    Resize(u64),
}

/// What a name means for certain, and what it was made to mean since.
#[derive(Clone, Debug, Default)]
struct Names {
    certain: Option<FileId>,
    since: Vec<Option<FileId>>,
}

/// What becomes of a file's writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Lost,
    Kept,
    /// The first so many are kept.
    First,
    /// Each may be lost.
    Some,
    /// Each may be lost or torn.
    Torn,
}

impl Crash {
    /// The place before the first operation on a disk that began with `image`, whose files have these ids in the order
    /// of their names, from 0.
    #[must_use]
    pub fn before(image: &Image) -> Self {
        let mut crash = Self::default();
        for (n, (name, bytes)) in (0..).zip(&image.0) {
            let file = File { certain: Arc::clone(bytes), since: Vec::new() };
            crash.files.insert(FileId(n), file);
            let names = Names { certain: Some(FileId(n)), since: Vec::new() };
            crash.names.insert(name.clone(), names);
        }
        crash
    }

    /// Goes past one operation.
    pub fn pass(&mut self, op: &Op) {
        match op {
            Op::Name { name, file } => self.name(name, Some(*file)),
            Op::Unname { name } => self.name(name, None),
            Op::Write { file, at, bytes } => {
                self.add(*file, What::Write { at: *at, bytes: Arc::clone(bytes) });
            }
            Op::Resize { file, size } => self.add(*file, What::Resize(*size)),
            Op::Sync { file } => self.file(*file).sync(),
            Op::SyncFailed { file } => self.file(*file).doom(),
            Op::SyncNames => self.names.values_mut().for_each(Names::sync),
        }
    }

    /// What is there if nothing is that need not be.
    #[must_use]
    pub fn least(&self) -> Image {
        self.image(&mut |_| 0)
    }

    /// What is there if everything is that was done: what a copy of the files would hold.
    #[must_use]
    pub fn all(&self) -> Image {
        let found = self.names.iter().filter_map(|(name, names)| {
            Some((name.clone(), self.files.get(&names.now()?)?.with(Fate::Kept, &mut |_| 0)))
        });
        Image(found.collect())
    }

    /// What is there after this choice. The least of each choice loses most.
    #[must_use]
    pub fn image(&self, choose: Choose<'_>) -> Image {
        let mut bytes = BTreeMap::new();
        for (id, file) in &self.files {
            let fate = if file.since.is_empty() { Fate::Lost } else { Fate::chosen(choose) };
            bytes.insert(*id, file.with(fate, choose));
        }
        let found = self.names.iter().filter_map(|(name, names)| {
            Some((name.clone(), Arc::clone(bytes.get(&names.chosen(choose)?)?)))
        });
        Image(found.collect())
    }

    /// Whether nothing is uncertain here: all images are the same.
    #[must_use]
    pub fn is_certain(&self) -> bool {
        let files = self.files.values().all(|file| file.since.is_empty());
        files && self.names.values().all(|names| names.since.is_empty())
    }

    fn file(&mut self, file: FileId) -> &mut File {
        self.files.entry(file).or_default()
    }

    fn add(&mut self, file: FileId, what: What) {
        self.file(file).since.push(Since { what, hold: Hold::Waiting });
    }

    fn name(&mut self, name: &str, file: Option<FileId>) {
        if let Some(file) = file {
            self.file(file);
        }
        self.names.entry(name.to_owned()).or_default().since.push(file);
    }
}

impl Names {
    fn sync(&mut self) {
        self.certain = self.now();
        self.since.clear();
    }

    fn now(&self) -> Option<FileId> {
        self.since.last().copied().unwrap_or(self.certain)
    }

    fn chosen(&self, choose: Choose<'_>) -> Option<FileId> {
        let upto = if self.since.is_empty() { 0 } else { choose(self.since.len() + 1) };
        upto.checked_sub(1).map_or(self.certain, |last| self.since[last])
    }
}

impl Fate {
    fn chosen(choose: Choose<'_>) -> Self {
        const ALL: [Fate; 5] = [Fate::Lost, Fate::Torn, Fate::Some, Fate::First, Fate::Kept];
        ALL[choose(ALL.len())]
    }
}

impl File {
    /// Makes last what waits, and forgets how it came, up to what is not sure.
    fn sync(&mut self) {
        for since in self.since.iter_mut().filter(|since| since.hold == Hold::Waiting) {
            since.hold = Hold::Synced;
        }
        let sure = self.since.iter().take_while(|since| since.hold == Hold::Synced).count();
        if sure > 0 {
            let bytes = Arc::make_mut(&mut self.certain);
            self.since.drain(..sure).for_each(|since| since.what.apply(bytes));
        }
    }

    /// Makes sure that no later sync makes last what waits.
    fn doom(&mut self) {
        for since in self.since.iter_mut().filter(|since| since.hold == Hold::Waiting) {
            since.hold = Hold::Doomed;
        }
    }

    /// The bytes after such a fate.
    fn with(&self, fate: Fate, choose: Choose<'_>) -> Arc<Vec<u8>> {
        let unsure = |since: &&Since| since.hold != Hold::Synced;
        let first = match fate {
            Fate::First => choose(self.since.iter().filter(unsure).count() + 1),
            Fate::Lost | Fate::Kept | Fate::Some | Fate::Torn => 0,
        };
        let (mut bytes, mut n) = (Arc::clone(&self.certain), 0);
        for since in &self.since {
            let sure = since.hold == Hold::Synced;
            n += usize::from(!sure);
            let kept = match fate {
                _ if sure => true,
                Fate::Lost => false,
                Fate::Kept => true,
                Fate::First => n <= first,
                Fate::Some | Fate::Torn => choose(2) == 1,
            };
            match (kept, fate) {
                (true, Fate::Torn) if !sure => since.what.tear(Arc::make_mut(&mut bytes), choose),
                (true, _) => since.what.apply(Arc::make_mut(&mut bytes)),
                (false, _) => {}
            }
        }
        bytes
    }
}

impl What {
    /// Does it.
    fn apply(&self, into: &mut Vec<u8>) {
        match self {
            Self::Write { at, bytes } => record::write(into, *at, bytes),
            Self::Resize(size) => record::resize(into, *size),
        }
    }

    /// Does a part of it: some sectors of a write, which may grow the file without its bytes.
    fn tear(&self, into: &mut Vec<u8>, choose: Choose<'_>) {
        let Self::Write { at, bytes } = self else { return self.apply(into) };
        let end = at + bytes.len() as u64;
        if choose(2) == 1 && (into.len() as u64) < end {
            record::resize(into, end);
        }
        let mut begin = 0;
        while begin < bytes.len() {
            let place = usize::try_from(*at).expect("files are small here") + begin;
            let until = bytes.len().min(begin + SECTOR - place % SECTOR);
            if choose(2) == 1 {
                record::write(into, place as u64, &bytes[begin..until]);
            }
            begin = until;
        }
    }
}
