//! The instance: one private directory with a database and an access token.
//!
//! Owns which files there are and who may read them. Making an instance again changes nothing; whatever a crash left
//! half done is finished by making it again. Start at [`Instance::open_or_create`].

use crate::filesystem::{self, PRIVATE_DIRECTORY, PRIVATE_FILE};
use crate::sqlite::open::expect_claimed;
use crate::sqlite::{AsIs, Made, SqliteStore};
use crate::token::{AccessToken, TOKEN, TOKEN_HEADER};
use std::ffi::OsStr;
use std::fs::{self, Metadata, Permissions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use work_core::id::{OwnerId, SiteId, WorkspaceId};
use work_core::port::{Clock, Head, Ids, StoreError};

/// The database.
pub const DATABASE: &str = "work.sqlite";
/// What a running server says about itself.
pub const SERVER: &str = "server.json";

/// Every file of an instance, the database's companions included.
const FILES: [&str; 7] = [
    DATABASE,
    "work.sqlite-wal",
    "work.sqlite-shm",
    "work.sqlite-journal",
    TOKEN,
    TOKEN_HEADER,
    SERVER,
];

/// How the name of a database begins while it is being made.
const UNFINISHED: &str = "work.sqlite.new";

/// What SQLite keeps beside a database.
const COMPANIONS: [&str; 3] = ["work.sqlite-wal", "work.sqlite-shm", "work.sqlite-journal"];

/// A directory with a database and a token.
///
/// ```
/// use std::sync::Arc;
/// use work_store::{clock::HostClock, ids::OsIds, instance::Instance};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let home = tempfile::tempdir()?;
/// let instance = Instance::open_or_create(home.path().join("desk"), &OsIds, &HostClock::new())?;
/// let store = instance.store(Arc::new(HostClock::new()))?;
/// assert_eq!(instance.token()?.as_str().len(), 64);
/// # drop(store);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Instance {
    directory: PathBuf,
    made: Made,
    tightened: Vec<PathBuf>,
}

/// Why there is no instance to be had.
#[derive(Debug, thiserror::Error)]
pub enum InstanceError {
    /// Nothing was ever made there.
    #[error("there is no instance at {}", .0.display())]
    Absent(PathBuf),
    /// The directory is a link. An instance stands where its path says.
    #[error("{} is a link", .0.display())]
    Link(PathBuf),
    /// There is something else.
    #[error("{} is not a directory", .0.display())]
    NotADirectory(PathBuf),
    /// The directory holds files of others, and no instance: making one would close them to everybody else.
    #[error("{} holds other files", .0.display())]
    Occupied(PathBuf),
    /// The directory, or a file in it, belongs to another user.
    #[error("{} belongs to another user", .0.display())]
    OtherOwner(PathBuf),
    /// The token's file holds no token; a new one replaces it.
    #[error("there is no access token in {}", .0.display())]
    NoToken(PathBuf),
    /// The file system refused.
    #[error("{} cannot be used", path.display())]
    Io {
        /// What it refused.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// There is an instance, which another one does not replace.
    #[error("there is an instance at {}", .0.display())]
    Exists(PathBuf),
    /// A file is no sound backup.
    #[error("{} is no sound backup", path.display())]
    Backup {
        /// Which.
        path: PathBuf,
        /// Why.
        source: StoreError,
    },
    /// The database cannot be used.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A file or directory that more than its owner may use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exposed {
    /// Which.
    pub path: PathBuf,
    /// Its permission bits.
    pub mode: u32,
    /// What they should be at most.
    pub expected: u32,
}

impl Instance {
    /// Makes an instance in `directory`, or completes the one that is there; a complete one stays as it is.
    ///
    /// The directory and those above it are made if they are missing; one that holds files of others is refused. What
    /// others may read of an instance is closed to them, and told ([`Instance::tightened`]).
    ///
    /// # Errors
    /// [`InstanceError`] says what is in the way.
    pub fn create(
        directory: impl AsRef<Path>,
        ids: &dyn Ids,
        clock: &dyn Clock,
    ) -> Result<Self, InstanceError> {
        let directory = absolute(directory.as_ref())?;
        if let Err(error) = directory.symlink_metadata() {
            ready(&directory, error)?;
        }
        own_directory(&directory)?;
        claimed_or_free(&directory)?;
        let mut tightened = close_directory(&directory)?;
        let made = SqliteStore::create(&directory.join(DATABASE), &new_head(ids, clock))?;
        make_token(&directory)?;
        tightened.extend(close_files(&directory)?);
        Ok(Self { directory, made, tightened })
    }

    /// Makes an instance in `directory` of a backup, with a new token. A backup of the schema before is brought up to
    /// date on the way; the backup stays as it is.
    ///
    /// Time begins an era, so that nothing which waited for approval or was leased in the backup can be used once more.
    ///
    /// # Errors
    /// [`InstanceError`]: `Exists` where an instance is, `Backup` for what is no sound backup, else what is in the way.
    /// Nothing of an instance is there then.
    pub fn create_from(
        backup: impl AsRef<Path>,
        directory: impl AsRef<Path>,
        clock: &Arc<dyn Clock>,
    ) -> Result<Self, InstanceError> {
        let backup = backup.as_ref();
        let from = fs::canonicalize(backup).map_err(at(backup))?;
        let directory = absolute(directory.as_ref())?;
        if let Err(error) = directory.symlink_metadata() {
            ready(&directory, error)?;
        }
        own_directory(&directory)?;
        expect_none(&directory)?;
        let mut tightened = close_directory(&directory)?;
        let token = || AccessToken::fresh().keep(&directory).map_err(filesystem::refused);
        let made = SqliteStore::create_from(&from, &directory.join(DATABASE), clock, token);
        match made.map_err(of_backup(backup))? {
            Made::New => {}
            Made::Before => return Err(InstanceError::Exists(directory)),
        }
        tightened.extend(close_files(&directory)?);
        Ok(Self { directory, made: Made::New, tightened })
    }

    /// Opens the instance in `directory`.
    ///
    /// # Errors
    /// [`InstanceError`]: `Absent` where no database is, else what is in the way.
    pub fn open(directory: impl AsRef<Path>) -> Result<Self, InstanceError> {
        let directory = absolute(directory.as_ref())?;
        own_directory(&directory)?;
        if !directory.join(DATABASE).is_file() {
            return Err(InstanceError::Absent(directory));
        }
        expect_claimed(&directory.join(DATABASE))?;
        let mut tightened = close_directory(&directory)?;
        tightened.extend(close_files(&directory)?);
        Ok(Self { directory, made: Made::Before, tightened })
    }

    /// Opens the instance in `directory` and changes nothing: what others may read stays so, for
    /// [`Instance::exposed`] to tell.
    ///
    /// # Errors
    /// [`InstanceError`] as for [`Instance::open`].
    pub fn open_as_is(directory: impl AsRef<Path>) -> Result<Self, InstanceError> {
        let directory = absolute(directory.as_ref())?;
        own_directory(&directory)?;
        if !directory.join(DATABASE).is_file() {
            return Err(InstanceError::Absent(directory));
        }
        own_files_there(&directory).try_for_each(|file| file.map(drop))?;
        Ok(Self { directory, made: Made::Before, tightened: Vec::new() })
    }

    /// Opens the instance in `directory`, made if there is none.
    ///
    /// # Errors
    /// [`InstanceError`] as for both.
    pub fn open_or_create(
        directory: impl AsRef<Path>,
        ids: &dyn Ids,
        clock: &dyn Clock,
    ) -> Result<Self, InstanceError> {
        match Self::open(&directory) {
            Err(InstanceError::Absent(_)) => Self::create(directory, ids, clock),
            opened => opened,
        }
    }

    /// Its directory, absolute.
    #[must_use]
    pub fn dir(&self) -> &Path {
        &self.directory
    }

    /// Whether its database was made just now.
    #[must_use]
    pub const fn made(&self) -> Made {
        self.made
    }

    /// What others could read until just now.
    #[must_use]
    pub fn tightened(&self) -> &[PathBuf] {
        &self.tightened
    }

    /// Opens its records.
    ///
    /// # Errors
    /// [`StoreError`] as for [`SqliteStore::open`].
    pub fn store(&self, clock: Arc<dyn Clock>) -> Result<SqliteStore, StoreError> {
        SqliteStore::open(&self.directory.join(DATABASE), clock)
    }

    /// Opens its records only to look at them, for `doctor`: those of the schema before stay as they are.
    ///
    /// # Errors
    /// [`StoreError`] as for [`SqliteStore::open_as_is`].
    pub fn look(&self, clock: Arc<dyn Clock>) -> Result<AsIs, StoreError> {
        SqliteStore::look(&self.directory.join(DATABASE), clock)
    }

    /// Its access token.
    ///
    /// # Errors
    /// [`InstanceError::NoToken`] when there is none, [`InstanceError::Io`] when its file cannot be read.
    pub fn token(&self) -> Result<AccessToken, InstanceError> {
        let path = self.directory.join(TOKEN);
        match AccessToken::read(&self.directory) {
            Ok(Some(token)) => Ok(token),
            Ok(None) => Err(InstanceError::NoToken(path)),
            Err(error) if error.kind() == ErrorKind::NotFound => Err(InstanceError::NoToken(path)),
            Err(source) => Err(InstanceError::Io { path, source }),
        }
    }

    /// Replaces the access token; the old one opens nothing any more once a server has read the new one.
    ///
    /// # Errors
    /// [`InstanceError`] when the files cannot be written.
    pub fn new_token(&self) -> Result<AccessToken, InstanceError> {
        let _turn = filesystem::lock(&self.directory)?;
        let token = AccessToken::fresh();
        token.keep(&self.directory).map_err(at(&self.directory))?;
        Ok(token)
    }

    /// What more than the owner may use, for `doctor`. Changes nothing.
    ///
    /// # Errors
    /// [`InstanceError`] when it cannot be told.
    pub fn exposed(&self) -> Result<Vec<Exposed>, InstanceError> {
        let directory = look(&self.directory)?.map(|found| (self.directory.clone(), found));
        let files = FILES.iter().map(|name| self.directory.join(name));
        let found: Vec<(PathBuf, Metadata)> = files
            .filter_map(|path| look(&path).map(|found| Some((path, found?))).transpose())
            .collect::<Result<_, _>>()?;
        Ok(directory
            .into_iter()
            .chain(found)
            .filter_map(|(path, found)| exposed(path, &found))
            .collect())
    }
}

/// The paths of every file of an instance, whether or not it is there now: what a door must not open.
///
/// Touches nothing.
#[must_use]
pub fn own_files(directory: &Path) -> Vec<PathBuf> {
    FILES.iter().map(|name| directory.join(name)).collect()
}

/// The head of a workspace that nobody used yet.
fn new_head(ids: &dyn Ids, clock: &dyn Clock) -> Head {
    Head::new(
        WorkspaceId::from_bytes(ids.fresh()),
        OwnerId::from_bytes(ids.fresh()),
        SiteId::from_bytes(ids.fresh()),
        clock.reading(),
    )
}

/// Refuses a directory in which another application's database, or any file but an instance's, is. What is left of a
/// database that is gone counts as such: its log would be taken for that of the new one.
fn claimed_or_free(directory: &Path) -> Result<(), InstanceError> {
    if directory.join(DATABASE).is_file() {
        return Ok(expect_claimed(&directory.join(DATABASE))?);
    }
    let mine = |name: &OsStr| {
        let unfinished = name.as_encoded_bytes().starts_with(UNFINISHED.as_bytes());
        let is = |files: &[&str], name: &[u8]| files.iter().any(|file| name == file.as_bytes());
        let name = name.as_encoded_bytes().strip_suffix(b".new").unwrap_or(name.as_encoded_bytes());
        unfinished || (is(&FILES, name) && !is(&COMPANIONS, name))
    };
    for entry in fs::read_dir(directory).map_err(at(directory))? {
        if !mine(&entry.map_err(at(directory))?.file_name()) {
            return Err(InstanceError::Occupied(directory.to_owned()));
        }
    }
    Ok(())
}

/// Refuses a directory in which an instance is, or files of others.
fn expect_none(directory: &Path) -> Result<(), InstanceError> {
    if directory.join(DATABASE).symlink_metadata().is_ok() {
        Err(InstanceError::Exists(directory.to_owned()))
    } else {
        claimed_or_free(directory)
    }
}

/// What a failure says about a backup, or else about the new database.
fn of_backup(path: &Path) -> impl FnOnce(StoreError) -> InstanceError + use<> {
    let path = path.to_owned();
    move |source| {
        let of_backup =
            matches!(source, StoreError::Damaged | StoreError::Foreign | StoreError::Newer);
        if of_backup {
            InstanceError::Backup { path, source }
        } else {
            InstanceError::Store(source)
        }
    }
}

/// Makes the directory if that is all that is missing.
fn ready(directory: &Path, error: io::Error) -> Result<(), InstanceError> {
    if error.kind() != ErrorKind::NotFound {
        return Err(at(directory)(error));
    }
    filesystem::new_private_directory(directory).map_err(at(directory))
}

/// Makes a token if there is none, and its header say it.
fn make_token(directory: &Path) -> Result<(), InstanceError> {
    let _turn = filesystem::lock(directory)?;
    match AccessToken::read(directory) {
        Ok(Some(token)) => token.keep_header(directory).map_err(at(directory)),
        Ok(None) => Err(InstanceError::NoToken(directory.join(TOKEN))),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            AccessToken::fresh().keep(directory).map_err(at(directory))
        }
        Err(error) => Err(at(directory)(error)),
    }
}

/// Closes the directory to everybody but its owner, who must be this user.
fn close_directory(directory: &Path) -> Result<Vec<PathBuf>, InstanceError> {
    let found = own_directory(directory)?;
    close(directory.to_owned(), &found).map(|closed| closed.into_iter().collect())
}

/// Closes every file of the instance to everybody but its owner, who must be this user.
fn close_files(directory: &Path) -> Result<Vec<PathBuf>, InstanceError> {
    let mut tightened = Vec::new();
    for file in own_files_there(directory) {
        let (path, found) = file?;
        tightened.extend(close(path, &found)?);
    }
    Ok(tightened)
}

/// Closes one of them; says whether that was needed.
fn close(path: PathBuf, found: &Metadata) -> Result<Option<PathBuf>, InstanceError> {
    let Some(Exposed { path, mode, expected }) = exposed(path, found) else { return Ok(None) };
    fs::set_permissions(&path, Permissions::from_mode(mode & expected)).map_err(at(&path))?;
    Ok(Some(path))
}

/// The directory, which must be one and this user's.
fn own_directory(directory: &Path) -> Result<Metadata, InstanceError> {
    let found = look(directory)?.ok_or_else(|| InstanceError::Absent(directory.to_owned()))?;
    if found.is_dir() || found.is_symlink() {
        own(directory, found)
    } else {
        Err(InstanceError::NotADirectory(directory.to_owned()))
    }
}

/// The files of the instance that are there, which must be this user's.
fn own_files_there(
    directory: &Path,
) -> impl Iterator<Item = Result<(PathBuf, Metadata), InstanceError>> {
    own_files(directory).into_iter().filter_map(|path| {
        let own = |found| own(&path, found).map(|found| (path.clone(), found));
        look(&path).transpose().map(|found| found.and_then(own))
    })
}

/// What was found, if it is no link and this user's.
fn own(path: &Path, found: Metadata) -> Result<Metadata, InstanceError> {
    if found.is_symlink() {
        Err(InstanceError::Link(path.to_owned()))
    } else if found.uid() != rustix::process::geteuid().as_raw() {
        Err(InstanceError::OtherOwner(path.to_owned()))
    } else {
        Ok(found)
    }
}

/// Whether more than the owner may use it.
fn exposed(path: PathBuf, found: &Metadata) -> Option<Exposed> {
    let expected = if found.is_dir() { PRIVATE_DIRECTORY } else { PRIVATE_FILE };
    let mode = found.mode() & 0o7777;
    (mode & !expected != 0).then_some(Exposed { path, mode, expected })
}

/// What is at a path itself, if anything is.
fn look(path: &Path) -> Result<Option<Metadata>, InstanceError> {
    match path.symlink_metadata() {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(at(path)(error)),
    }
}

/// A path that means the same wherever this process goes.
fn absolute(path: &Path) -> Result<PathBuf, InstanceError> {
    std::path::absolute(path).map_err(at(path))
}

/// An error of the file system with what it touched.
fn at(path: &Path) -> impl FnOnce(io::Error) -> InstanceError + use<> {
    let path = path.to_owned();
    move |source| InstanceError::Io { path, source }
}
