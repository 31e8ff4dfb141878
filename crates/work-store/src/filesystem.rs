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

/// Gives `unfinished` its name if nobody has it, durably; says whether it did. Never takes another's place, also where
/// the file system has no links.
pub(crate) fn publish_new(unfinished: &Path, path: &Path) -> io::Result<bool> {
    let named = match fs::hard_link(unfinished, path) {
        Err(error)
            if matches!(error.kind(), ErrorKind::PermissionDenied | ErrorKind::Unsupported) =>
        {
            rename_new(unfinished, path)
        }
        linked => linked,
    };
    match named {
        Ok(()) => {
            remove(unfinished)?;
            path.parent().map_or(Ok(()), sync_directory)?;
            Ok(true)
        }
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(error),
    }
}

/// Another name for a file, which nobody has.
#[cfg(any(target_os = "linux", target_vendor = "apple"))]
fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    Ok(renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE)?)
}

/// Another name for a file, which nobody has: not to be had here.
#[cfg(not(any(target_os = "linux", target_vendor = "apple")))]
fn rename_new(_: &Path, _: &Path) -> io::Result<()> {
    Err(ErrorKind::Unsupported.into())
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
    if network::is_under(directory) {
        return Err(StoreError::NetworkFilesystem);
    }
    let _ = directory;
    Ok(())
}

/// Which file systems other machines may share.
#[cfg(target_os = "linux")]
mod network {
    use std::os::unix::fs::MetadataExt as _;
    use std::path::Path;

    /// Numbers of `statfs(2)` and of the kernel's `magic.h`.
    const KINDS: [u64; 15] = [
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
    /// Local disks come through FUSE as well as remote ones; the list of mounts tells them apart by a second name.
    const FUSE: u64 = 0x6573_5546;
    /// Second names of those that reach other machines.
    const REMOTE: [&str; 10] = [
        "sshfs",
        "rclone",
        "s3fs",
        "gcsfuse",
        "goofys",
        "glusterfs",
        "ceph-fuse",
        "curlftpfs",
        "davfs",
        "moosefs",
    ];

    /// Whether other machines may share the file system of a directory.
    pub(super) fn is_under(directory: &Path) -> bool {
        match rustix::fs::statfs(directory).map(|found| found.f_type as u64 & 0xffff_ffff) {
            Ok(FUSE) => is_remote_mount(directory),
            Ok(kind) => KINDS.contains(&kind),
            Err(_) => false,
        }
    }

    /// Whether a directory that comes through FUSE comes from another machine.
    fn is_remote_mount(directory: &Path) -> bool {
        let device = directory.metadata().map(|found| found.dev());
        let mounts = std::fs::read_to_string("/proc/self/mountinfo");
        matches!((device, mounts), (Ok(device), Ok(mounts)) if is_remote(&mounts, device))
    }

    /// Whether the list of mounts names a remote kind for a device (see `proc_pid_mountinfo(5)`).
    fn is_remote(mounts: &str, device: u64) -> bool {
        let number = format!("{}:{}", rustix::fs::major(device), rustix::fs::minor(device));
        mounts.lines().filter(|line| line.split(' ').nth(2) == Some(&number)).any(|line| {
            let kind = line.split_once(" - ").and_then(|(_, rest)| rest.split(' ').next());
            let second = kind.and_then(|kind| kind.strip_prefix("fuse."));
            second.is_some_and(|second| REMOTE.contains(&second))
        })
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        // spec: D1
        #[test]
        fn a_network_file_system_is_known_by_its_type() {
            let [ext4, tmpfs, btrfs] = [0xef53, 0x0102_1994, 0x9123_683e];
            assert!([0x6969, 0xff53_4d42, 0x0102_1997].iter().all(|kind| KINDS.contains(kind)));
            assert!([ext4, tmpfs, btrfs, FUSE].iter().all(|kind| !KINDS.contains(kind)));
        }

        // spec: D1
        #[test]
        fn what_comes_through_fuse_is_told_apart_by_its_mount() {
            let mounts = "\
                36 35 0:52 / /home/ann/remote rw,relatime shared:1 - fuse.sshfs ann@far:/ rw\n\
                37 35 0:53 / /home/ann/vault rw - fuse.gocryptfs /home/ann/.vault rw\n\
                38 35 8:1 / / rw - ext4 /dev/sda1 rw\n";
            let device = |minor| rustix::fs::makedev(0, minor);
            assert!(is_remote(mounts, device(52)));
            assert!(!is_remote(mounts, device(53)));
            assert!(!is_remote(mounts, device(99)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
