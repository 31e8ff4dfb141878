//! Wires the parts together: instance, records, door, clock and names become a workspace.

use crate::call::Call;
use crate::fault::{Ended, Fault};
use crate::ids::Digits;
use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use work_core::code::Code;
use work_core::path::HostPath;
use work_core::port::{Clock as _, Patience, SourceDoor as _, Store as _};
use work_core::time::Timestamp;
use work_core::workspace::{Failure, Workspace};
use work_source::{FolderDoor, OwnFiles};
use work_store::clock::HostClock;
use work_store::ids::OsIds;
use work_store::instance::{DATABASE, Instance, InstanceError};
use work_store::sqlite::{Made, SqliteStore};

/// An instance that is in use.
#[derive(Debug)]
pub(crate) struct Opened {
    /// What the use cases are asked of.
    pub(crate) work: Workspace,
    /// Its directory.
    pub(crate) instance: Instance,
    /// Its records, for what no use case answers.
    pub(crate) store: Arc<SqliteStore>,
    /// How much of its ids people see.
    pub(crate) digits: Digits,
}

impl Opened {
    /// The time that counts for these records.
    ///
    /// # Errors
    /// [`Failure`] when the records do not answer.
    pub(crate) fn now(&self) -> Result<Timestamp, Failure> {
        let limits = self.work.limits();
        let patience = Patience { lock: limits.lock_wait, whole: limits.transaction };
        let (head, reading) = self.store.read(patience)?.head()?;
        Ok(head.at(reading).1.at)
    }
}

impl Call {
    /// Opens the instance, which must be there.
    ///
    /// # Errors
    /// [`Ended`]: `setup_incomplete` where nothing was ever made, else what is in the way.
    pub(crate) fn open(&self) -> Result<Opened, Ended> {
        let instance = readable(Instance::open(&self.home()?.path))?;
        self.wire(instance)
    }

    /// Opens the instance, made if there is none; then says where. Nothing is made for a folder that cannot be
    /// approved anyhow.
    ///
    /// # Errors
    /// [`Ended`] when a folder is refused, or what is in the way.
    pub(crate) fn open_or_create(&self, folders: &[PathBuf]) -> Result<Opened, Ended> {
        let home = &self.home()?.path;
        match readable(Instance::open(home)) {
            Ok(instance) => self.wire(instance),
            Err(InstanceError::Absent(_)) => {
                admissible(folders)?;
                let instance = Instance::create(home, &OsIds, &HostClock::new())?;
                if instance.made() == Made::New {
                    self.out.note(&format!("Created the instance {}", shown(instance.dir())));
                }
                self.wire(instance)
            }
            Err(other) => Err(other.into()),
        }
    }

    /// Opens the records of an instance and wires the parts together.
    ///
    /// # Errors
    /// [`Ended`] when the records cannot be opened.
    pub(crate) fn wire(&self, instance: Instance) -> Result<Opened, Ended> {
        for path in instance.tightened() {
            self.out.note(&format!("Closed to other users: {}", shown(path)));
        }
        self.out.detail(|| format!("Instance: {}", shown(instance.dir())));
        if let Some((path, source)) = locked(instance.dir()) {
            return Err(InstanceError::Io { path, source }.into());
        }
        let clock = HostClock::new();
        let boot = clock.reading().boot;
        let store = Arc::new(instance.store(Arc::new(clock)).map_err(Failure::from)?);
        let own = OwnFiles::in_directory(instance.dir())
            .map_err(|error| Fault::new(Code::Internal, error.to_string()))?;
        let door = Arc::new(FolderDoor::guarding(own, boot));
        let work = Workspace::new(store.clone(), door, Arc::new(OsIds));
        Ok(Opened { work, instance, store, digits: self.out.digits() })
    }
}

/// The same, unless nothing is seen there only because this user may not look.
///
/// # Errors
/// [`InstanceError`]: as it was, or `Io` for a directory that cannot be searched.
pub(crate) fn readable(opened: Result<Instance, InstanceError>) -> Result<Instance, InstanceError> {
    let Err(InstanceError::Absent(dir)) = opened else { return opened };
    match std::fs::symlink_metadata(dir.join(DATABASE)) {
        Err(source) if source.kind() == ErrorKind::PermissionDenied => {
            Err(InstanceError::Io { path: dir, source })
        }
        Ok(_) | Err(_) => Err(InstanceError::Absent(dir)),
    }
}

/// The file of the records that this user may not read, if there is one.
///
/// Asked before the records are opened, never after: to close a file of a database ends the locks that this process
/// has on it.
pub(crate) fn locked(dir: &Path) -> Option<(PathBuf, io::Error)> {
    let files = [DATABASE, "work.sqlite-wal", "work.sqlite-shm"].map(|name| dir.join(name));
    files.into_iter().find_map(|path| match File::open(&path) {
        Err(error) if error.kind() == ErrorKind::PermissionDenied => Some((path, error)),
        Ok(_) | Err(_) => None,
    })
}

/// Whether each folder could be approved, as far as that can be told without an instance.
fn admissible(folders: &[PathBuf]) -> Result<(), Ended> {
    let door = FolderDoor::without_instance(HostClock::new().reading().boot);
    for folder in folders {
        door.admit(&host_path(folder)?)
            .map_err(|why| Fault::from(why).named(&folder.to_string_lossy()))?;
    }
    Ok(())
}

/// A path that a person typed, absolute.
///
/// # Errors
/// [`Ended`] for an empty path, or when the current directory is gone.
pub(crate) fn host_path(typed: &Path) -> Result<HostPath, Ended> {
    let path = std::path::absolute(typed).map_err(|error| {
        Fault::new(Code::InvalidArgument, format!("{}: no path: {error}", typed.to_string_lossy()))
    })?;
    Ok(HostPath::from_bytes(path.into_os_string().into_encoded_bytes()))
}

/// A path as people may see it.
pub(crate) fn shown(path: &Path) -> String {
    work_core::path::show(path.as_os_str().as_encoded_bytes())
}
