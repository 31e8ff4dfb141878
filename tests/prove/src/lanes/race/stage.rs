//! Where the race takes place: a folder, what lies outside it, and things to put in the place of what is read.
#![expect(clippy::unwrap_used, reason = "what goes wrong while a proof is set up ends it")]

use super::alarm::{Alarm, Guarded};
use crate::ground;
use rustix::fd::OwnedFd;
use rustix::fs::{CWD, FileType, Mode, OFlags, RenameFlags, mknodat, openat, renameat_with};
use std::path::{Path, PathBuf};
use work_core::folder::{Grant, Rules};

/// Bytes of every file here, so that no size tells one from another.
const LEN: usize = 48;

/// How what may be given begins. Nothing else may be.
const INSIDE: &str = "INSIDE";

/// Files of the folder that are asked for.
pub(super) const FILES: [&str; 8] = [
    "a.md",
    "b.md",
    "sub/a.md",
    "sub/b.md",
    "sub/deep/a.md",
    "sub/deep/b.md",
    "open/deep/a.md",
    "shut/deep/a.md",
];

/// A name in a directory that is held, wherever that directory may be by now.
pub(super) struct Spot {
    dir: OwnedFd,
    name: &'static str,
    /// Its path in the folder when nothing was exchanged.
    pub(super) path: &'static str,
}

/// What can be put in a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Thing {
    /// A link to the directory outside, by its whole path.
    LinkToDirectory,
    /// The same by a path that goes up.
    LinkUp,
    /// A link to a file outside.
    LinkToFile,
    /// A link to a file of the folder.
    LinkInside,
    /// A FIFO.
    Fifo,
    /// A socket.
    Socket,
    /// Another file, which may be read.
    File,
    /// Another directory, which may be read.
    Directory,
    /// A hard link to SQLite's shared memory.
    OwnMemory,
    /// A hard link to the database.
    OwnDatabase,
    /// The directory of the instance.
    Instance,
    /// The revoked folder that lies in this one.
    Shut,
}

use Thing::*;

impl Thing {
    /// All, the instance's own last.
    pub(super) const ALL: [Self; 12] = [
        LinkToDirectory,
        LinkUp,
        LinkToFile,
        LinkInside,
        Fifo,
        Socket,
        File,
        Directory,
        Shut,
        Instance,
        OwnMemory,
        OwnDatabase,
    ];

    /// Whether it is a file of the instance. Where files are opened by their names, each open of one stays for good.
    pub(super) const fn is_own_file(self) -> bool {
        matches!(self, OwnMemory | OwnDatabase)
    }

    /// Where it stands.
    const fn home(self) -> &'static str {
        match self {
            LinkToDirectory => "spare/link-to-directory",
            LinkUp => "spare/link-up",
            LinkToFile => "spare/link-to-file",
            LinkInside => "spare/link-inside",
            Fifo => "spare/fifo",
            Socket => "spare/socket",
            File => "spare/file",
            Directory => "spare/directory",
            OwnMemory => "spare/own-memory",
            OwnDatabase => "spare/own-database",
            Instance => "instance",
            Shut => "m/shut",
        }
    }

    /// Makes it under `top`, where it is not made already.
    fn make(self, top: &Path) {
        use std::os::unix::fs::symlink;
        let at = top.join(self.home());
        let node = |kind| mknodat(CWD, &at, kind, Mode::from_raw_mode(0o644), 0).unwrap();
        match self {
            LinkToDirectory => symlink(top.join("outside"), at).unwrap(),
            LinkUp => symlink("../outside", at).unwrap(),
            LinkToFile => symlink(top.join("outside/a.md"), at).unwrap(),
            LinkInside => symlink("b.md", at).unwrap(),
            Fifo => node(FileType::Fifo),
            Socket => node(FileType::Socket),
            File => write(&at, INSIDE),
            Directory => tree(&at, INSIDE),
            OwnMemory => std::fs::hard_link(top.join("instance/work.sqlite-shm"), at).unwrap(),
            OwnDatabase => std::fs::hard_link(top.join("instance/work.sqlite"), at).unwrap(),
            Instance | Shut => {}
        }
    }
}

/// The whole scenery.
pub(super) struct Stage {
    top: tempfile::TempDir,
    /// The folder, and the revoked one in it.
    pub(super) grants: [Grant; 2],
    /// Rings when something is opened that must not be, if this system tells.
    pub(super) alarm: Option<Alarm>,
}

impl Stage {
    /// Builds it.
    pub(super) fn build() -> Self {
        let top = tempfile::tempdir().unwrap();
        let at = |name: &str| top.path().join(name);
        for name in ["m", "m/sub", "m/open"] {
            tree(&at(name), INSIDE);
        }
        tree(&at("m/shut"), "REVOKED");
        tree(&at("outside"), "OUTSIDE");
        tree(&at("outside/sub"), "OUTSIDE");
        tree(&at("instance"), "THE INSTANCE");
        for name in ["instance/work.sqlite", "instance/work.sqlite-shm"] {
            write(&at(name), "THE INSTANCE");
        }
        std::fs::create_dir(at("spare")).unwrap();
        Thing::ALL.iter().for_each(|thing| thing.make(top.path()));
        let grants = [
            ground::grant(1, &at("m"), Rules::standard()),
            ground::revoked(ground::grant(2, &at("m/shut"), Rules::standard())),
        ];
        let alarm = alarm(&at);
        Self { top, grants, alarm }
    }

    /// A path in it.
    pub(super) fn at(&self, name: &str) -> PathBuf {
        self.top.path().join(name)
    }

    /// The directory of the instance.
    pub(super) fn instance(&self) -> PathBuf {
        self.at("instance")
    }

    /// Holds a name of the folder. Nothing may be exchanged just now.
    pub(super) fn spot(&self, path: &'static str) -> Spot {
        held(self.top.path(), "m", path)
    }

    /// Holds the place of a thing. Nothing may be exchanged just now.
    pub(super) fn place_of(&self, thing: Thing) -> Spot {
        held(self.top.path(), "", thing.home())
    }
}

impl Spot {
    /// Exchanges what stands in both places. A directory is not put into itself.
    ///
    /// # Errors
    /// When the system will not.
    pub(super) fn exchange(&self, other: &Self) -> rustix::io::Result<()> {
        renameat_with(&self.dir, self.name, &other.dir, other.name, RenameFlags::EXCHANGE)
    }
}

fn held(top: &Path, above: &str, path: &'static str) -> Spot {
    let (directories, name) = path.rsplit_once('/').unwrap_or(("", path));
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let at = top.join(above).join(directories);
    Spot { dir: openat(CWD, &at, flags, Mode::empty()).unwrap(), name, path }
}

/// A directory with a few files, some of them deeper.
fn tree(at: &Path, mark: &str) {
    std::fs::create_dir_all(at.join("deep")).unwrap();
    for name in ["a.md", "b.md", "deep/a.md", "deep/b.md"] {
        write(&at.join(name), mark);
    }
}

/// A file that says where it belongs.
fn write(at: &Path, mark: &str) {
    std::fs::write(at, format!("{mark:-<width$}\n", width = LEN - 1)).unwrap();
}

/// An alarm on all that must not be opened.
fn alarm(at: &dyn Fn(&str) -> PathBuf) -> Option<Alarm> {
    let outside = ["outside", "outside/deep", "outside/sub", "m/shut", "m/shut/deep"].map(at);
    let own = ["instance/work.sqlite", "instance/work.sqlite-shm"].map(at);
    let outside = outside.iter().map(|path| (&**path, Guarded::Outside));
    let own = own.iter().map(|path| (&**path, Guarded::Own));
    Alarm::on(&outside.chain(own).collect::<Vec<_>>()).ok()
}

/// Whether these are the bytes of a file that may be read here.
pub(super) fn is_inside(bytes: &[u8]) -> bool {
    bytes.len() == LEN && bytes.starts_with(INSIDE.as_bytes())
}
