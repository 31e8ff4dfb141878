//! A directory of files in memory, with a record of what was done to them and faults that a test sets.
//!
//! Owns names, bytes, locks and shared memory, as a local file system and its kernel have them. The record and the
//! faults are about what a power loss could undo: reading, locks and shared memory are in neither.

use crate::locks::{Busy, FileLocks, Holder, Level, MemoryLocks};
use crate::memory::Region;
use crate::record::{self, FileId, Image, Op};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Disks by their directories.
static DISKS: Mutex<BTreeMap<String, Arc<Inner>>> = Mutex::new(BTreeMap::new());

/// A directory of files in memory. It is there until it is dropped; drop what has its files open before.
#[derive(Debug)]
pub struct Disk {
    directory: String,
    inner: Arc<Inner>,
}

/// Why an operation fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// No room: `ENOSPC`. Half of what was to be written may be there.
    Full,
    /// The device failed: `EIO`.
    Device,
}

/// Whether an operation fails once or for ever.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lasts {
    /// The next one succeeds.
    Once,
    /// All that follow fail too, until the fault is taken out.
    ForEver,
}

/// An operation that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Failed(pub(crate) Error);

/// What a file is opened for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Opening {
    pub(crate) create: bool,
    pub(crate) exclusive: bool,
}

/// A disk behind its lock.
#[derive(Debug, Default)]
pub(crate) struct Inner(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    began_as: Image,
    names: BTreeMap<String, FileId>,
    files: BTreeMap<FileId, File>,
    memory: BTreeMap<FileId, Memory>,
    record: Vec<Op>,
    next_file: u64,
    next_holder: u64,
    open: BTreeSet<Holder>,
    /// Operations that may still be done before the fault.
    fault: Option<(u64, Error, Lasts)>,
    /// Operations that a fault could have hit.
    done: u64,
    failed: u64,
}

#[derive(Debug, Default)]
struct File {
    bytes: Arc<Vec<u8>>,
    locks: FileLocks,
}

/// The shared memory of a file, as long as anybody uses it.
#[derive(Debug, Default)]
struct Memory {
    regions: Vec<Region>,
    locks: MemoryLocks,
    users: BTreeSet<Holder>,
}

impl Disk {
    /// A disk that takes the place of `directory`, with these files.
    ///
    /// # Panics
    /// When a disk has that place already.
    #[must_use]
    pub fn new(directory: &str, image: Image) -> Self {
        crate::install();
        let inner = Arc::new(Inner(Mutex::new(State::beginning_as(image))));
        let before = lock(&DISKS).insert(directory.to_owned(), Arc::clone(&inner));
        assert!(before.is_none(), "{directory} is a disk already");
        Self { directory: directory.to_owned(), inner }
    }

    /// Its directory.
    #[must_use]
    pub fn directory(&self) -> &str {
        &self.directory
    }

    /// What was done to it so far.
    #[must_use]
    pub fn record(&self) -> Vec<Op> {
        self.inner.state().record.clone()
    }

    /// How many operations were recorded so far.
    #[must_use]
    pub fn recorded(&self) -> usize {
        self.inner.state().record.len()
    }

    /// What it began with.
    #[must_use]
    pub fn began_as(&self) -> Image {
        self.inner.state().began_as.clone()
    }

    /// Its files as they are, whether they would survive or not.
    #[must_use]
    pub fn now(&self) -> Image {
        let state = self.inner.state();
        let bytes =
            |(name, file): (&String, &FileId)| (name.clone(), Arc::clone(&state.files[file].bytes));
        Image(state.names.iter().map(bytes).collect())
    }

    /// Lets the write, sync or resize after the next `after` ones fail.
    pub fn fail(&self, after: u64, error: Error, lasts: Lasts) {
        self.inner.state().fault = Some((after, error, lasts));
    }

    /// Takes the fault out.
    pub fn heal(&self) {
        self.inner.state().fault = None;
    }

    /// How many operations could have failed so far, and how many did.
    #[must_use]
    pub fn tried(&self) -> (u64, u64) {
        let state = self.inner.state();
        (state.done, state.failed)
    }

    /// How many files are open.
    #[must_use]
    pub fn open_files(&self) -> usize {
        self.inner.state().open.len()
    }

    /// Makes an empty file with this name, if nothing has it; says whether it did.
    pub fn make(&self, name: &str) -> bool {
        self.inner.make(name)
    }

    /// Gives a file another name, if nothing has it; says whether it did, or nothing if the file is not there.
    #[must_use]
    pub fn link(&self, from: &str, to: &str) -> Option<bool> {
        self.inner.link(from, to)
    }

    /// Takes a name away; says whether anything had it.
    pub fn unname(&self, name: &str) -> bool {
        self.inner.unname(name)
    }

    /// The size of a file, if it is there.
    #[must_use]
    pub fn size_of(&self, name: &str) -> Option<u64> {
        self.inner.size_of(name)
    }

    /// Makes last what was written to a file; says whether it did, or nothing if the file is not there.
    #[must_use]
    pub fn sync_file(&self, name: &str) -> Option<Result<(), Error>> {
        let file = *self.inner.state().names.get(name)?;
        Some(self.inner.sync(file).map_err(|Failed(why)| why))
    }

    /// Makes the names last; says whether it did.
    ///
    /// # Errors
    /// The fault that was set.
    pub fn sync_names(&self) -> Result<(), Error> {
        self.inner.sync_names().map_err(|Failed(why)| why)
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        lock(&DISKS).remove(&self.directory);
    }
}

/// The disk that has a path, and the name on it.
pub(crate) fn at(path: &str) -> Option<(Arc<Inner>, &str)> {
    let (directory, name) = path.rsplit_once('/')?;
    Some((Arc::clone(lock(&DISKS).get(directory)?), name))
}

impl State {
    fn beginning_as(image: Image) -> Self {
        let mut state = Self { began_as: image.clone(), ..Self::default() };
        for (name, bytes) in image.0 {
            let id = state.fresh_file();
            state.files.insert(id, File { bytes, locks: FileLocks::default() });
            state.names.insert(name, id);
        }
        state
    }

    fn fresh_file(&mut self) -> FileId {
        self.next_file += 1;
        FileId(self.next_file - 1)
    }

    fn file(&mut self, id: FileId) -> &mut File {
        self.files.entry(id).or_default()
    }

    /// Gives a new, empty file this name.
    fn make(&mut self, name: &str) -> FileId {
        let id = self.fresh_file();
        self.files.insert(id, File::default());
        self.names.insert(name.to_owned(), id);
        self.record.push(Op::Name { name: name.to_owned(), file: id });
        id
    }

    /// Whether the next operation fails.
    fn strikes(&mut self) -> Result<(), Failed> {
        self.done += 1;
        match &mut self.fault {
            None => return Ok(()),
            Some((after, _, _)) if *after > 0 => {
                *after -= 1;
                return Ok(());
            }
            Some(_) => {}
        }
        self.failed += 1;
        let fault = self.fault.filter(|(_, _, lasts)| *lasts == Lasts::ForEver);
        let struck = std::mem::replace(&mut self.fault, fault);
        struck.map_or(Ok(()), |(_, why, _)| Err(Failed(why)))
    }

    fn write(&mut self, file: FileId, at: u64, bytes: &[u8]) {
        record::write(Arc::make_mut(&mut self.file(file).bytes), at, bytes);
        self.record.push(Op::Write { file, at, bytes: bytes.into() });
    }
}

impl Inner {
    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.0)
    }

    fn make(&self, name: &str) -> bool {
        let mut state = self.state();
        let free = !state.names.contains_key(name);
        if free {
            state.make(name);
        }
        free
    }

    fn link(&self, from: &str, to: &str) -> Option<bool> {
        let mut state = self.state();
        let file = *state.names.get(from)?;
        if state.names.contains_key(to) {
            return Some(false);
        }
        state.names.insert(to.to_owned(), file);
        state.record.push(Op::Name { name: to.to_owned(), file });
        Some(true)
    }

    /// Opens a file; says who holds it from now on, and whether it was made.
    pub(crate) fn open(&self, name: &str, how: Opening) -> Option<(FileId, Holder, bool)> {
        let mut state = self.state();
        let found = state.names.get(name).copied();
        let (file, made) = match found {
            Some(_) if how.exclusive => return None,
            Some(file) => (file, false),
            None if how.create => (state.make(name), true),
            None => return None,
        };
        state.next_holder += 1;
        let holder = Holder(state.next_holder);
        state.open.insert(holder);
        Some((file, holder, made))
    }

    pub(crate) fn close(&self, file: FileId, holder: Holder) {
        let mut state = self.state();
        state.file(file).locks.lower(holder, Level::None);
        state.open.remove(&holder);
    }

    /// Fills `into` from a place in a file; says how many bytes were there.
    pub(crate) fn read(&self, file: FileId, at: u64, into: &mut [u8]) -> usize {
        let mut state = self.state();
        let bytes = &state.file(file).bytes;
        let from = usize::try_from(at).unwrap_or(usize::MAX).min(bytes.len());
        let found = (bytes.len() - from).min(into.len());
        into[..found].copy_from_slice(&bytes[from..from + found]);
        found
    }

    pub(crate) fn write(&self, file: FileId, at: u64, bytes: &[u8]) -> Result<(), Failed> {
        let mut state = self.state();
        let struck = state.strikes();
        let room = if struck == Err(Failed(Error::Full)) { bytes.len() / 2 } else { 0 };
        let written = if struck.is_ok() { bytes.len() } else { room };
        if written > 0 {
            state.write(file, at, &bytes[..written]);
        }
        struck
    }

    pub(crate) fn resize(&self, file: FileId, size: u64) -> Result<(), Failed> {
        let mut state = self.state();
        state.strikes()?;
        record::resize(Arc::make_mut(&mut state.file(file).bytes), size);
        state.record.push(Op::Resize { file, size });
        Ok(())
    }

    pub(crate) fn sync(&self, file: FileId) -> Result<(), Failed> {
        let mut state = self.state();
        let struck = state.strikes();
        let done = if struck.is_ok() { Op::Sync { file } } else { Op::SyncFailed { file } };
        state.record.push(done);
        struck
    }

    pub(crate) fn sync_names(&self) -> Result<(), Failed> {
        let mut state = self.state();
        state.strikes()?;
        state.record.push(Op::SyncNames);
        Ok(())
    }

    /// Makes the names last, whatever fault is set.
    pub(crate) fn keep_names(&self) {
        self.state().record.push(Op::SyncNames);
    }

    pub(crate) fn size(&self, file: FileId) -> u64 {
        self.state().file(file).bytes.len() as u64
    }

    pub(crate) fn size_of(&self, name: &str) -> Option<u64> {
        let state = self.state();
        let file = state.names.get(name)?;
        Some(state.files[file].bytes.len() as u64)
    }

    pub(crate) fn unname(&self, name: &str) -> bool {
        let mut state = self.state();
        let was = state.names.remove(name).is_some();
        if was {
            state.record.push(Op::Unname { name: name.to_owned() });
        }
        was
    }

    pub(crate) fn raise(&self, file: FileId, holder: Holder, to: Level) -> Result<(), Busy> {
        self.state().file(file).locks.raise(holder, to)
    }

    pub(crate) fn lower(&self, file: FileId, holder: Holder, to: Level) {
        self.state().file(file).locks.lower(holder, to);
    }

    pub(crate) fn is_reserved(&self, file: FileId) -> bool {
        self.state().file(file).locks.is_reserved()
    }

    /// The address of a region of a file's shared memory, made if `extend` says so.
    pub(crate) fn region(
        &self,
        (file, holder): (FileId, Holder),
        (n, bytes): (usize, usize),
        extend: bool,
    ) -> Option<*mut u8> {
        let mut state = self.state();
        let memory = state.memory.entry(file).or_default();
        memory.users.insert(holder);
        while extend && memory.regions.len() <= n {
            memory.regions.push(Region::new(bytes));
        }
        memory.regions.get(n).map(Region::address)
    }

    /// Does something with the locks of a file's shared memory.
    pub(crate) fn memory_locks(
        &self,
        (file, holder): (FileId, Holder),
        slots: Range<usize>,
        what: fn(&mut MemoryLocks, Holder, Range<usize>) -> Result<(), Busy>,
    ) -> Result<(), Busy> {
        what(&mut self.state().memory.entry(file).or_default().locks, holder, slots)
    }

    /// Lets go of a file's shared memory, which is gone when nobody has it any more.
    pub(crate) fn unmap(&self, file: FileId, holder: Holder) {
        let mut state = self.state();
        let Some(memory) = state.memory.get_mut(&file) else { return };
        memory.users.remove(&holder);
        memory.locks.free(holder, 0..8);
        if memory.users.is_empty() {
            state.memory.remove(&file);
        }
    }
}

/// What is behind a lock, also after a panic elsewhere.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
