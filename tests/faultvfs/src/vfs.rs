//! SQLite's C interface to files, as a thin shell around [`disk`](crate::disk).
//!
//! Owns pointers and result codes, and nothing else. A path of a disk goes to the disk; every other call goes on to the
//! layer that SQLite comes with, with the caller's own arguments. What the layer says of its device is what SQLite's
//! own says on Linux, so that it takes the same care.

use crate::disk::{self, Error, Failed, Inner, Opening};
use crate::locks::{Busy, Holder, Level, MemoryLocks};
use crate::record::FileId;
use rusqlite::ffi;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering, fence};

/// The layer that SQLite comes with.
static BELOW: AtomicPtr<ffi::sqlite3_vfs> = AtomicPtr::new(ptr::null_mut());

/// What SQLite's own layer says of a device that it knows nothing of.
const SECTOR_BYTES: c_int = 4096;

/// An open file as SQLite holds it: it makes room for this much and sees the first field alone.
#[repr(C)]
struct OpenFile {
    base: ffi::sqlite3_file,
    handle: *mut Handle,
}

/// An open file as the disk knows it.
struct Handle {
    disk: Arc<Inner>,
    file: FileId,
    holder: Holder,
    name: String,
    writable: bool,
    goes_at_close: bool,
    /// The file is new and must keep its name when it is synced first, as SQLite's own layer does for journals.
    syncs_name: AtomicBool,
}

static METHODS: ffi::sqlite3_io_methods = ffi::sqlite3_io_methods {
    iVersion: 2,
    xClose: Some(close),
    xRead: Some(read),
    xWrite: Some(write),
    xTruncate: Some(truncate),
    xSync: Some(sync),
    xFileSize: Some(file_size),
    xLock: Some(lock),
    xUnlock: Some(unlock),
    xCheckReservedLock: Some(check_reserved_lock),
    xFileControl: Some(file_control),
    xSectorSize: Some(sector_size),
    xDeviceCharacteristics: Some(device_characteristics),
    xShmMap: Some(shm_map),
    xShmLock: Some(shm_lock),
    xShmBarrier: Some(shm_barrier),
    xShmUnmap: Some(shm_unmap),
    xFetch: None,
    xUnfetch: None,
};

/// Makes this the layer that every connection uses which names none.
pub(crate) fn register() {
    // SAFETY: a null name asks for the present default; SQLite keeps its layers for the whole process.
    let below = unsafe { ffi::sqlite3_vfs_find(ptr::null()) };
    // SAFETY: what was found is a layer, whose fields are only read here and do not change once it is registered.
    let mut vfs = unsafe { ptr::read(below) };
    BELOW.store(below, Ordering::Release);
    let own = c_int::try_from(size_of::<OpenFile>()).expect("small");
    vfs.iVersion = 1;
    vfs.szOsFile = vfs.szOsFile.max(own);
    vfs.pNext = ptr::null_mut();
    vfs.zName = c"recorded".as_ptr();
    vfs.xOpen = Some(open);
    vfs.xDelete = Some(delete);
    vfs.xAccess = Some(access);
    vfs.xFullPathname = Some(full_pathname);
    // SAFETY: the layer lives for ever, and everything that it points to does too. What is copied from the one below
    // (time, sleep, randomness, loading) takes a layer as its first argument and, in SQLite's own layers, looks at
    // nothing in it that is not copied as well.
    let registered = unsafe { ffi::sqlite3_vfs_register(Box::into_raw(Box::new(vfs)), 1) };
    assert_eq!(registered, ffi::SQLITE_OK, "SQLite takes the layer");
}

/// The layer below.
fn below<'a>() -> &'a ffi::sqlite3_vfs {
    // SAFETY: it was set before the layer above was registered, to a layer that lives as long as the process.
    unsafe { &*BELOW.load(Ordering::Acquire) }
}

/// The disk that has a path, and the name there.
///
/// # Safety
/// `path` is null or ends with a zero byte.
unsafe fn found(path: *const c_char) -> Option<(Arc<Inner>, String)> {
    if path.is_null() {
        return None;
    }
    // SAFETY: the caller says that it ends.
    let path = unsafe { CStr::from_ptr(path) }.to_str().ok()?;
    disk::at(path).map(|(disk, name)| (disk, name.to_owned()))
}

/// The file behind what SQLite holds.
///
/// # Safety
/// `file` was opened by [`open`] on a disk and is not closed yet.
unsafe fn handle<'a>(file: *mut ffi::sqlite3_file) -> &'a Handle {
    // SAFETY: only files of a disk have these methods, and their handle is there until they are closed. SQLite aligns
    // what it makes room for to 8 bytes, which is all that an `OpenFile` asks.
    unsafe { &*(*file.cast::<OpenFile>()).handle }
}

/// What a fault is called.
fn code(done: Result<(), Failed>, device: c_int, full: c_int) -> c_int {
    match done {
        Ok(()) => ffi::SQLITE_OK,
        Err(Failed(Error::Device)) => device,
        Err(Failed(Error::Full)) => full,
    }
}

fn busy(done: Result<(), Busy>) -> c_int {
    done.map_or(ffi::SQLITE_BUSY, |()| ffi::SQLITE_OK)
}

fn level(level: c_int) -> Level {
    match level {
        ffi::SQLITE_LOCK_SHARED => Level::Shared,
        ffi::SQLITE_LOCK_RESERVED => Level::Reserved,
        ffi::SQLITE_LOCK_PENDING => Level::Pending,
        ffi::SQLITE_LOCK_EXCLUSIVE => Level::Exclusive,
        _ => Level::None,
    }
}

unsafe extern "C" fn open(
    _: *mut ffi::sqlite3_vfs,
    path: ffi::sqlite3_filename,
    file: *mut ffi::sqlite3_file,
    flags: c_int,
    out: *mut c_int,
) -> c_int {
    // SAFETY: SQLite gives a path that ends, or none for a file that has no name.
    let Some((disk, name)) = (unsafe { found(path) }) else {
        let vfs = BELOW.load(Ordering::Acquire);
        let open = below().xOpen.expect("a layer opens files");
        // SAFETY: these are SQLite's own arguments, and the room at `file` is at least what the layer below asks for.
        return unsafe { open(vfs, path, file, flags, out) };
    };
    let has = |flag| flags & flag != 0;
    let how = Opening {
        create: has(ffi::SQLITE_OPEN_CREATE),
        exclusive: has(ffi::SQLITE_OPEN_EXCLUSIVE),
    };
    let opened = disk.open(&name, how);
    let open_file = file.cast::<OpenFile>();
    let Some((id, holder, _)) = opened else {
        // SAFETY: the room at `file` is SQLite's for an `OpenFile`; without methods it will not be closed.
        unsafe { (*open_file).base.pMethods = ptr::null() };
        return ffi::SQLITE_CANTOPEN;
    };
    let journal =
        ffi::SQLITE_OPEN_MAIN_JOURNAL | ffi::SQLITE_OPEN_SUPER_JOURNAL | ffi::SQLITE_OPEN_WAL;
    let handle = Box::new(Handle {
        disk,
        file: id,
        holder,
        name,
        writable: has(ffi::SQLITE_OPEN_READWRITE),
        goes_at_close: has(ffi::SQLITE_OPEN_DELETEONCLOSE),
        syncs_name: AtomicBool::new(how.create && has(journal)),
    });
    // SAFETY: the room at `file` is SQLite's for an `OpenFile`, aligned to 8 bytes; `out` is null or a place for flags.
    unsafe {
        (*open_file).handle = Box::into_raw(handle);
        (*open_file).base.pMethods = &raw const METHODS;
        if !out.is_null() {
            *out = flags;
        }
    }
    ffi::SQLITE_OK
}

unsafe extern "C" fn delete(
    _: *mut ffi::sqlite3_vfs,
    path: *const c_char,
    sync_names: c_int,
) -> c_int {
    // SAFETY: SQLite gives a path that ends.
    let Some((disk, name)) = (unsafe { found(path) }) else {
        let delete = below().xDelete.expect("a layer deletes files");
        // SAFETY: these are SQLite's own arguments.
        return unsafe { delete(BELOW.load(Ordering::Acquire), path, sync_names) };
    };
    if !disk.unname(&name) {
        return ffi::SQLITE_IOERR_DELETE_NOENT;
    }
    let synced = if sync_names == 0 { Ok(()) } else { disk.sync_names() };
    code(synced, ffi::SQLITE_IOERR_DIR_FSYNC, ffi::SQLITE_IOERR_DIR_FSYNC)
}

unsafe extern "C" fn access(
    _: *mut ffi::sqlite3_vfs,
    path: *const c_char,
    what: c_int,
    out: *mut c_int,
) -> c_int {
    // SAFETY: SQLite gives a path that ends.
    let Some((disk, name)) = (unsafe { found(path) }) else {
        let access = below().xAccess.expect("a layer looks for files");
        // SAFETY: these are SQLite's own arguments.
        return unsafe { access(BELOW.load(Ordering::Acquire), path, what, out) };
    };
    // An empty file is none, as in SQLite's own layer.
    let least = u64::from(what == ffi::SQLITE_ACCESS_EXISTS);
    let is_there = disk.size_of(&name).is_some_and(|size| size >= least);
    // SAFETY: SQLite gives a place for the answer.
    unsafe { *out = c_int::from(is_there) };
    ffi::SQLITE_OK
}

unsafe extern "C" fn full_pathname(
    _: *mut ffi::sqlite3_vfs,
    path: *const c_char,
    room: c_int,
    out: *mut c_char,
) -> c_int {
    // SAFETY: SQLite gives a path that ends.
    if unsafe { found(path) }.is_none() {
        let full = below().xFullPathname.expect("a layer tells paths");
        // SAFETY: these are SQLite's own arguments.
        return unsafe { full(BELOW.load(Ordering::Acquire), path, room, out) };
    }
    // SAFETY: as above.
    let bytes = unsafe { CStr::from_ptr(path) }.to_bytes_with_nul();
    if usize::try_from(room).is_ok_and(|room| bytes.len() <= room) {
        // SAFETY: there is room for all of them, and SQLite's buffer is not the path itself.
        unsafe { ptr::copy_nonoverlapping(bytes.as_ptr().cast(), out, bytes.len()) };
        ffi::SQLITE_OK
    } else {
        ffi::SQLITE_CANTOPEN
    }
}

unsafe extern "C" fn close(file: *mut ffi::sqlite3_file) -> c_int {
    // SAFETY: the handle came out of a box in `open`; SQLite closes a file once and does not use it after.
    let handle = unsafe { Box::from_raw((*file.cast::<OpenFile>()).handle) };
    handle.disk.close(handle.file, handle.holder);
    if handle.goes_at_close {
        handle.disk.unname(&handle.name);
    }
    ffi::SQLITE_OK
}

unsafe extern "C" fn read(
    file: *mut ffi::sqlite3_file,
    into: *mut c_void,
    amount: c_int,
    at: ffi::sqlite3_int64,
) -> c_int {
    // SAFETY: SQLite gives a file that is open.
    let handle = unsafe { handle(file) };
    let (Ok(amount), Ok(at)) = (usize::try_from(amount), u64::try_from(at)) else {
        return ffi::SQLITE_IOERR_READ;
    };
    // SAFETY: SQLite gives room for so many bytes, which it made before.
    unsafe { ptr::write_bytes(into.cast::<u8>(), 0, amount) };
    // SAFETY: the same room, which was just filled.
    let into = unsafe { std::slice::from_raw_parts_mut(into.cast::<u8>(), amount) };
    if handle.disk.read(handle.file, at, into) == amount {
        ffi::SQLITE_OK
    } else {
        ffi::SQLITE_IOERR_SHORT_READ
    }
}

unsafe extern "C" fn write(
    file: *mut ffi::sqlite3_file,
    bytes: *const c_void,
    amount: c_int,
    at: ffi::sqlite3_int64,
) -> c_int {
    // SAFETY: SQLite gives a file that is open.
    let handle = unsafe { handle(file) };
    let (true, Ok(amount), Ok(at)) = (handle.writable, usize::try_from(amount), u64::try_from(at))
    else {
        return ffi::SQLITE_IOERR_WRITE;
    };
    // SAFETY: SQLite gives so many bytes.
    let bytes = unsafe { std::slice::from_raw_parts(bytes.cast::<u8>(), amount) };
    let done = handle.disk.write(handle.file, at, bytes);
    code(done, ffi::SQLITE_IOERR_WRITE, ffi::SQLITE_FULL)
}

unsafe extern "C" fn truncate(file: *mut ffi::sqlite3_file, size: ffi::sqlite3_int64) -> c_int {
    // SAFETY: SQLite gives a file that is open.
    let handle = unsafe { handle(file) };
    let (true, Ok(size)) = (handle.writable, u64::try_from(size)) else {
        return ffi::SQLITE_IOERR_TRUNCATE;
    };
    let done = handle.disk.resize(handle.file, size);
    code(done, ffi::SQLITE_IOERR_TRUNCATE, ffi::SQLITE_IOERR_TRUNCATE)
}

unsafe extern "C" fn sync(file: *mut ffi::sqlite3_file, _: c_int) -> c_int {
    // SAFETY: SQLite gives a file that is open.
    let handle = unsafe { handle(file) };
    let done = handle.disk.sync(handle.file);
    if done.is_ok() && handle.syncs_name.swap(false, Ordering::Relaxed) {
        // SQLite's own layer does not look whether this succeeds, so no fault is put in its way: nobody could tell it.
        handle.disk.keep_names();
    }
    code(done, ffi::SQLITE_IOERR_FSYNC, ffi::SQLITE_IOERR_FSYNC)
}

unsafe extern "C" fn file_size(
    file: *mut ffi::sqlite3_file,
    out: *mut ffi::sqlite3_int64,
) -> c_int {
    // SAFETY: SQLite gives a file that is open.
    let handle = unsafe { handle(file) };
    let size = i64::try_from(handle.disk.size(handle.file)).expect("files are small here");
    // SAFETY: SQLite gives a place for the answer.
    unsafe { *out = size };
    ffi::SQLITE_OK
}

unsafe extern "C" fn lock(file: *mut ffi::sqlite3_file, to: c_int) -> c_int {
    // SAFETY: SQLite gives a file that is open.
    let handle = unsafe { handle(file) };
    busy(handle.disk.raise(handle.file, handle.holder, level(to)))
}

unsafe extern "C" fn unlock(file: *mut ffi::sqlite3_file, to: c_int) -> c_int {
    // SAFETY: SQLite gives a file that is open.
    let handle = unsafe { handle(file) };
    handle.disk.lower(handle.file, handle.holder, level(to));
    ffi::SQLITE_OK
}

unsafe extern "C" fn check_reserved_lock(file: *mut ffi::sqlite3_file, out: *mut c_int) -> c_int {
    // SAFETY: SQLite gives a file that is open.
    let handle = unsafe { handle(file) };
    // SAFETY: SQLite gives a place for the answer.
    unsafe { *out = c_int::from(handle.disk.is_reserved(handle.file)) };
    ffi::SQLITE_OK
}

unsafe extern "C" fn file_control(_: *mut ffi::sqlite3_file, _: c_int, _: *mut c_void) -> c_int {
    ffi::SQLITE_NOTFOUND
}

unsafe extern "C" fn sector_size(_: *mut ffi::sqlite3_file) -> c_int {
    SECTOR_BYTES
}

unsafe extern "C" fn device_characteristics(_: *mut ffi::sqlite3_file) -> c_int {
    ffi::SQLITE_IOCAP_POWERSAFE_OVERWRITE | ffi::SQLITE_IOCAP_SUBPAGE_READ
}

unsafe extern "C" fn shm_map(
    file: *mut ffi::sqlite3_file,
    n: c_int,
    bytes: c_int,
    extend: c_int,
    out: *mut *mut c_void,
) -> c_int {
    // SAFETY: SQLite gives a file that is open.
    let handle = unsafe { handle(file) };
    let (Ok(n), Ok(bytes)) = (usize::try_from(n), usize::try_from(bytes)) else {
        return ffi::SQLITE_IOERR_SHMMAP;
    };
    let of = (handle.file, handle.holder);
    let address = handle.disk.region(of, (n, bytes), extend != 0).unwrap_or(ptr::null_mut());
    // SAFETY: SQLite gives a place for the answer.
    unsafe { *out = address.cast() };
    ffi::SQLITE_OK
}

unsafe extern "C" fn shm_lock(
    file: *mut ffi::sqlite3_file,
    from: c_int,
    n: c_int,
    flags: c_int,
) -> c_int {
    // SAFETY: SQLite gives a file that is open.
    let handle = unsafe { handle(file) };
    let (Ok(from), Ok(n)) = (usize::try_from(from), usize::try_from(n)) else {
        return ffi::SQLITE_IOERR_SHMLOCK;
    };
    let what: fn(&mut MemoryLocks, Holder, std::ops::Range<usize>) -> Result<(), Busy> =
        if flags & ffi::SQLITE_SHM_UNLOCK != 0 {
            |locks, holder, slots| {
                locks.free(holder, slots);
                Ok(())
            }
        } else if flags & ffi::SQLITE_SHM_SHARED != 0 {
            MemoryLocks::share
        } else {
            MemoryLocks::exclude
        };
    busy(handle.disk.memory_locks((handle.file, handle.holder), from..from + n, what))
}

unsafe extern "C" fn shm_barrier(_: *mut ffi::sqlite3_file) {
    fence(Ordering::SeqCst);
}

unsafe extern "C" fn shm_unmap(file: *mut ffi::sqlite3_file, _: c_int) -> c_int {
    // SAFETY: SQLite gives a file that is open.
    let handle = unsafe { handle(file) };
    handle.disk.unmap(handle.file, handle.holder);
    ffi::SQLITE_OK
}
