//! Files of the instance: private, durable, on a disk of this machine.
//!
//! Owns the few ways in which this crate touches the file system besides SQLite. Never opens a database that may be in
//! use: closing any descriptor of it would drop the locks that SQLite holds for this process. Unix only for now.

use std::ffi::OsString;
use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, ErrorKind, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;
use work_core::port::StoreError;

/// Nobody but the owner: files.
pub(crate) const PRIVATE_FILE: u32 = 0o600;
/// Nobody but the owner: directories.
pub(crate) const PRIVATE_DIRECTORY: u32 = 0o700;

/// What a failed operation means to the rules.
#[expect(clippy::needless_pass_by_value, reason = "it stands in map_err")]
pub(crate) fn refused(error: io::Error) -> StoreError {
    let is = |kinds: &[ErrorKind]| kinds.contains(&error.kind());
    if is(&[ErrorKind::StorageFull, ErrorKind::QuotaExceeded]) {
        StoreError::DiskFull
    } else if is(&[ErrorKind::ReadOnlyFilesystem, ErrorKind::PermissionDenied]) {
        StoreError::ReadOnly
    } else if is(&[ErrorKind::NotFound]) {
        StoreError::Io("find")
    } else {
        StoreError::Io("create")
    }
}

/// A path with more at its end.
pub(crate) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    PathBuf::from(name)
}

/// Makes a directory, and those above it that are missing, for the owner alone.
pub(crate) fn new_private_directory(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(PRIVATE_DIRECTORY).create(path)?;
    path.parent().map_or(Ok(()), sync_directory)
}

/// Makes an empty file for the owner alone, whatever the mask of this process says.
pub(crate) fn new_private_file(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new().write(true).create_new(true).mode(PRIVATE_FILE).open(path)?;
    file.set_permissions(Permissions::from_mode(PRIVATE_FILE))?;
    Ok(file)
}

/// Puts `bytes` at `path` in one step, in place of what was there, for the owner alone.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let fresh = with_suffix(path, ".new");
    remove(&fresh)?;
    let mut file = new_private_file(&fresh)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    fs::rename(&fresh, path)?;
    path.parent().map_or(Ok(()), sync_directory)
}

/// Gives `unfinished` its name if nobody has it, durably; says whether it did.
///
/// By a link, which never takes another's place. Where the file system has no links, by the name that the caller found
/// free while it holds the lock of the directory.
pub(crate) fn publish(unfinished: &Path, path: &Path) -> io::Result<bool> {
    let fresh = match fs::hard_link(unfinished, path) {
        Ok(()) => true,
        Err(error) if error.kind() == ErrorKind::AlreadyExists => false,
        Err(error)
            if matches!(error.kind(), ErrorKind::PermissionDenied | ErrorKind::Unsupported) =>
        {
            fs::rename(unfinished, path).map(|()| true)?
        }
        Err(error) => return Err(error),
    };
    remove(unfinished)?;
    path.parent().map_or(Ok(()), sync_directory)?;
    Ok(fresh)
}

/// Removes a file if it is there.
pub(crate) fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Brings a file that nobody has open to the disk.
pub(crate) fn sync_file(path: &Path) -> io::Result<()> {
    OpenOptions::new().write(true).open(path)?.sync_all()
}

/// Brings the names in a directory to the disk.
pub(crate) fn sync_directory(path: &Path) -> io::Result<()> {
    let here = Path::new(".");
    File::open(if path.as_os_str().is_empty() { here } else { path })?.sync_all()
}

/// Waits for this process's turn to make files in a directory; it lasts as long as the file lives.
pub(crate) fn lock(directory: &Path) -> Result<File, StoreError> {
    /// Making an instance takes some milliseconds.
    const TRIES: u32 = 500;
    let file = File::open(directory).map_err(refused)?;
    for _ in 0..TRIES {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(fs::TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(10)),
            Err(fs::TryLockError::Error(error)) => return Err(refused(error)),
        }
    }
    Err(StoreError::Busy)
}

/// Refuses a directory on a file system whose locks and shared memory are not what they seem.
///
/// Told by type, on Linux; elsewhere nothing is refused.
pub(crate) fn refuse_network(directory: &Path) -> Result<(), StoreError> {
    #[cfg(target_os = "linux")]
    if rustix::fs::statfs(directory)
        .is_ok_and(|found| is_network(found.f_type as u64 & 0xffff_ffff))
    {
        return Err(StoreError::NetworkFilesystem);
    }
    Ok(())
}

/// Whether a file system of this type may be shared with other machines.
///
/// FUSE is not told apart: encrypted and foreign local disks come through it as well as remote ones.
#[cfg(target_os = "linux")]
fn is_network(kind: u64) -> bool {
    /// Numbers of `statfs(2)` and of the kernel's `magic.h`.
    const NETWORK: [u64; 15] = [
        0x0000_6969, // NFS
        0x0000_517b, // SMB
        0xff53_4d42, // CIFS
        0xfe53_4d42, // SMB 2
        0x5346_414f, // AFS, OpenAFS
        0x6b41_4653, // AFS, in the kernel
        0x7375_7245, // Coda
        0x0000_564c, // NetWare
        0x00c3_6400, // Ceph
        0x0bd0_0bd0, // Lustre
        0x4750_4653, // GPFS
        0x7461_636f, // OCFS2
        0x0116_1970, // GFS2
        0x0102_1997, // 9P
        0xaad7_aaea, // PanFS
    ];
    NETWORK.contains(&kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    // spec: D1
    #[cfg(target_os = "linux")]
    #[test]
    fn a_network_file_system_is_known_by_its_type() {
        for (kind, network) in [
            (0x6969, true),
            (0xff53_4d42, true),
            (0x0102_1997, true),
            (0xef53, false),
            (0x0102_1994, false),
            (0x9123_683e, false),
            (0x6573_5546, false),
        ] {
            assert_eq!(is_network(kind), network, "{kind:#x}");
        }
    }

    #[test]
    fn a_full_disk_and_one_that_cannot_be_written_are_told_apart() {
        for (kind, expected) in [
            (ErrorKind::StorageFull, StoreError::DiskFull),
            (ErrorKind::ReadOnlyFilesystem, StoreError::ReadOnly),
            (ErrorKind::PermissionDenied, StoreError::ReadOnly),
            (ErrorKind::NotFound, StoreError::Io("find")),
        ] {
            assert_eq!(refused(kind.into()), expected, "{kind}");
        }
    }
}
