//! A room for each specimen, each a folder of its own, so that the verdict on each is seen.
#![expect(clippy::unwrap_used, reason = "what goes wrong while a proof is set up ends it")]

use crate::ground::{self, Reads};
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{
    AtFlags, CWD, FileType, Mode, OFlags, mkdirat, mknodat, openat, renameat, unlinkat,
};
use rustix::thread::{CapabilitySet, capabilities, set_capabilities};
use std::ffi::OsStr;
use std::fs::{
    OpenOptions, Permissions, create_dir, create_dir_all, hard_link, set_permissions, write,
};
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use work_core::folder::{Grant, Rules};
use work_core::limits::ScanLimits;
use work_core::report::{ScanLimit, SkipReason};
use work_core::source::{Look, Seen};
use work_source::FolderDoor;

/// How long a call of the file system may take: long enough for a slow machine, and what a planted hang costs.
const PATIENCE: Duration = Duration::from_secs(3);

/// What becomes of a specimen.
enum Verdict {
    /// These files are read, in this order.
    Read(&'static [&'static [u8]]),
    /// It is left out, for this reason.
    Left(SkipReason),
}

use Verdict::{Left, Read};

/// One specimen: its name, how it is made in its room, and what becomes of it.
type Specimen = (&'static str, fn(&Path, &Path), Verdict);

const SPECIMENS: [Specimen; 19] = [
    (
        "a link to a file outside",
        |room, top| symlink(top.join("outside/s.md"), room.join("l.md")).unwrap(),
        Left(SkipReason::Link),
    ),
    (
        "a link to a directory outside",
        |room, top| symlink(top.join("outside"), room.join("l")).unwrap(),
        Left(SkipReason::Link),
    ),
    (
        "a link to itself",
        |room, _| symlink("l.md", room.join("l.md")).unwrap(),
        Left(SkipReason::Link),
    ),
    (
        "a link to the directory above",
        |room, _| symlink("..", room.join(".l")).unwrap(),
        Left(SkipReason::Link),
    ),
    ("a FIFO", |room, _| node(room, FileType::Fifo), Left(SkipReason::Special)),
    ("a socket", |room, _| node(room, FileType::Socket), Left(SkipReason::Special)),
    (
        "a hard link to the database",
        |room, top| hard_link(top.join("instance/work.sqlite"), room.join("a.md")).unwrap(),
        Left(SkipReason::OwnFile),
    ),
    ("a hidden file", |room, _| file(room, b".a.md"), Left(SkipReason::Hidden)),
    ("a hidden directory", |room, _| hidden(room), Left(SkipReason::Hidden)),
    ("a foreign extension", |room, _| file(room, b"a.rs"), Left(SkipReason::Extension)),
    ("a directory named like a file", |room, _| create_dir(room.join("d.md")).unwrap(), Read(&[])),
    ("a file with two names", |room, _| twins(room), Read(&[b"a.md", b"b.md"])),
    ("names in two cases", |room, _| files(room, &[b"a.md", b"A.md"]), Read(&[b"A.md", b"a.md"])),
    ("names in two Unicode forms", |room, _| files(room, FORMS), Read(FORMS)),
    ("names that are not UTF-8", |room, _| files(room, BYTES), Read(BYTES)),
    ("names that move a terminal", |room, _| files(room, TERMINAL), Read(TERMINAL)),
    ("a sparse file of 1 TiB", |room, _| sparse(room), Read(&[b"huge.md"])),
    ("a directory deeper than a scan goes", |room, _| deep(room), Left(SkipReason::TooDeep)),
    ("a directory 3,000 deep", |room, _| abyss(room), Left(SkipReason::TooDeep)),
];

/// Directories one in the other, so many that a path of them would be longer than the system takes.
const ABYSS: usize = 3_000;

const FORMS: &[&[u8]] = &[b"cafe\xcc\x81.md", b"caf\xc3\xa9.md"];
const BYTES: &[&[u8]] = &[b"bad\xfe.md", b"bad\xff.md"];
const TERMINAL: &[&[u8]] = &[b"a\nb.md", b"a\x1b[2J.md"];

/// Goes through the museum in each way; answers how many specimens were seen and what this machine cannot show, or what
/// is wrong.
pub(super) fn visit() -> Result<(u64, Option<String>), String> {
    let top = tempfile::tempdir().unwrap();
    for name in ["outside", "instance"] {
        create_dir(top.path().join(name)).unwrap();
    }
    file(&top.path().join("outside"), b"s.md");
    file(&top.path().join("instance"), b"work.sqlite");
    let grants: Vec<Grant> =
        (1..).zip(&SPECIMENS).map(|(n, one)| room(n, one, top.path())).collect();
    let doors = ground::doors(&top.path().join("instance"), PATIENCE);
    for door in &doors {
        rooms(door, &grants)?;
        swapped_fifo(door, top.path())?;
        crowd(door, top.path())?;
        growing(door, top.path())?;
    }
    // Doors of their own, since a door keeps the threads that it has.
    obeying_permissions(|| {
        let doors = ground::doors(&top.path().join("instance"), PATIENCE);
        doors.iter().try_for_each(|door| shut(door, top.path()))
    })?;
    let lacks = device(&doors, top.path())?;
    climb(&top.path().join(format!("room-{}", SPECIMENS.len())));
    let shown = SPECIMENS.len() as u64 + 4 + u64::from(lacks.is_none());
    Ok((shown * doors.len() as u64, lacks))
}

fn room(n: u8, (_, make, _): &Specimen, top: &Path) -> Grant {
    let room = top.join(format!("room-{n}"));
    create_dir(&room).unwrap();
    make(&room, top);
    ground::grant(n, &room, Rules::standard())
}

fn rooms(door: &FolderDoor, grants: &[Grant]) -> Result<(), String> {
    let scope: Vec<_> = grants.iter().map(|grant| grant.id).collect();
    let reads = Arc::new(Reads::default());
    let (scanned, given) = ground::scan(door, grants, &scope, ScanLimits::standard(), &reads);
    for ((name, _, verdict), folder) in SPECIMENS.iter().zip(&scanned.folders) {
        let mine = given.iter().filter(|given| given.place.grant == folder.grant);
        let read: Vec<&[u8]> = mine.map(|given| given.place.path.bytes()).collect();
        let left: Vec<_> = folder.counts.skipped.iter().map(|(&why, &many)| (why, many)).collect();
        let sound = match verdict {
            Read(files) => read == *files && left.is_empty(),
            Left(why) => read.is_empty() && left == [(*why, 1)],
        };
        if !sound {
            return Err(format!("{name}: {read:?} was read, {left:?} left out: {door:?}"));
        }
    }
    match scanned.limit {
        Some(ScanLimit::Depth) => Ok(()),
        other => Err(format!("the scan ended by {other:?}, and one room is too deep")),
    }
}

/// A FIFO that is put in a file's place after the look hangs nothing, and is denied.
fn swapped_fifo(door: &FolderDoor, top: &Path) -> Result<(), String> {
    let room = tempfile::tempdir_in(top).unwrap();
    file(room.path(), b"a.md");
    let grants = [ground::grant(1, room.path(), Rules::standard())];
    let at = room.path().to_owned();
    let reads = Arc::new(Reads::with_step(move |_| {
        std::fs::remove_file(at.join("a.md")).unwrap();
        node(&at, FileType::Fifo);
    }));
    let limits = ScanLimits::standard();
    let (looks, _) = ground::look(door, &grants, &[ground::rel("a.md")], limits, &reads);
    // Lets a thread go that waits for somebody to write.
    let flags = rustix::fs::OFlags::WRONLY | rustix::fs::OFlags::NONBLOCK;
    drop(rustix::fs::open(room.path().join("a.md"), flags, Mode::empty()));
    match looks[..] {
        [Look::Saw { seen: Seen::Denied, .. }] => Ok(()),
        _ => Err(format!("a FIFO swapped in after the look: {looks:?}: {door:?}")),
    }
}

/// Twenty directories of ten entries hold 220 with themselves: a scan that may visit 180 visits 180, and says so.
fn crowd(door: &FolderDoor, top: &Path) -> Result<(), String> {
    let room = tempfile::tempdir_in(top).unwrap();
    for below in (0..20).map(|no| room.path().join(format!("{no:02}"))) {
        create_dir(&below).unwrap();
        (0..10).for_each(|no| file(&below, format!("{no}.rs").as_bytes()));
    }
    let grants = [ground::grant(1, room.path(), Rules::standard())];
    let limits = ScanLimits { entries: 180, ..ScanLimits::standard() };
    let reads = Arc::new(Reads::default());
    let (scanned, _) = ground::scan(door, &grants, &[ground::id(1)], limits, &reads);
    match (scanned.folders[0].counts.entries, scanned.limit) {
        (180, Some(ScanLimit::Entries)) => Ok(()),
        other => Err(format!("of 180 entries at most, {other:?}: {door:?}")),
    }
}

/// A file that grows all the while is given as it was at one moment, or told to be unstable.
fn growing(door: &FolderDoor, top: &Path) -> Result<(), String> {
    let room = tempfile::tempdir_in(top).unwrap();
    file(room.path(), b"a.md");
    let grants = [ground::grant(1, room.path(), Rules::standard())];
    let end = OpenOptions::new().append(true).open(room.path().join("a.md")).unwrap();
    let grown = Arc::new(Reads::with_step(move |_| (&end).write_all(b"more").unwrap()));
    for _ in 0..50 {
        let (scanned, given) =
            ground::scan(door, &grants, &[ground::id(1)], ScanLimits::standard(), &grown);
        let unstable = scanned.folders[0].counts.skipped.get(&SkipReason::Unstable);
        let is_whole = |one: &ground::Given| {
            one.bytes.len() as u64 == one.size && one.bytes.starts_with(b"a.mdmore")
        };
        match (&given[..], unstable) {
            ([one], None) if is_whole(one) => {}
            ([], Some(1)) => {}
            other => return Err(format!("a file that grows: {other:?}: {door:?}")),
        }
    }
    Ok(())
}

/// A file of mode 000 is denied to whoever obeys permissions, and the file beside it is read.
fn shut(door: &FolderDoor, top: &Path) -> Result<(), String> {
    let room = tempfile::tempdir_in(top).unwrap();
    files(room.path(), &[b"a.md", b"b.md"]);
    set_permissions(room.path().join("a.md"), Permissions::from_mode(0o0)).unwrap();
    let grants = [ground::grant(1, room.path(), Rules::standard())];
    let (limits, reads) = (ScanLimits::standard(), Arc::new(Reads::default()));
    let (scanned, given) = ground::scan(door, &grants, &[ground::id(1)], limits, &reads);
    let skipped = &scanned.folders[0].counts.skipped;
    match &given[..] {
        [one] if one.bytes == b"b.md" && *skipped == [(SkipReason::Denied, 1)].into() => Ok(()),
        _ => Err(format!("a file of mode 000: {skipped:?} left out, {given:?} given: {door:?}")),
    }
}

/// Does this on a thread without root's way around permissions; so are the threads that it starts.
fn obeying_permissions<T: Send>(act: impl FnOnce() -> T + Send) -> T {
    let obey = || {
        let mut sets = capabilities(None).unwrap();
        sets.effective -= CapabilitySet::DAC_OVERRIDE | CapabilitySet::DAC_READ_SEARCH;
        set_capabilities(None, sets).unwrap();
        act()
    };
    std::thread::scope(|scope| scope.spawn(obey).join().unwrap())
}

/// A device is left out as a special file. Answers what hinders, where none can be made.
fn device(doors: &[FolderDoor], top: &Path) -> Result<Option<String>, String> {
    let room = tempfile::tempdir_in(top).unwrap();
    let zero = rustix::fs::makedev(1, 5);
    let mode = Mode::from_raw_mode(0o644);
    let made = mknodat(CWD, room.path().join("a.md"), FileType::CharacterDevice, mode, zero);
    if let Err(why) = made {
        return Ok(Some(format!("a device, which could not be made: {why}")));
    }
    let grants = [ground::grant(1, room.path(), Rules::standard())];
    for door in doors {
        let reads = Arc::new(Reads::default());
        let limits = ScanLimits::standard();
        let (scanned, given) = ground::scan(door, &grants, &[ground::id(1)], limits, &reads);
        let skipped = &scanned.folders[0].counts.skipped;
        if !given.is_empty() || *skipped != [(SkipReason::Special, 1)].into() {
            return Err(format!("a device: {skipped:?} left out, {given:?} given: {door:?}"));
        }
    }
    Ok(None)
}

fn file(room: &Path, name: &[u8]) {
    write(room.join(OsStr::from_bytes(name)), name).unwrap();
}

fn files(room: &Path, names: &[&[u8]]) {
    names.iter().for_each(|name| file(room, name));
}

fn node(room: &Path, kind: FileType) {
    mknodat(CWD, room.join("a.md"), kind, Mode::from_raw_mode(0o644), 0).unwrap();
}

fn hidden(room: &Path) {
    create_dir(room.join(".d")).unwrap();
    file(&room.join(".d"), b"a.md");
}

fn twins(room: &Path) {
    file(room, b"a.md");
    hard_link(room.join("a.md"), room.join("b.md")).unwrap();
}

fn sparse(room: &Path) {
    std::fs::File::create(room.join("huge.md")).unwrap().set_len(1 << 40).unwrap();
}

/// One directory deeper than 64, and a file in it.
fn deep(room: &Path) {
    let below = room.join("d/".repeat(65));
    create_dir_all(&below).unwrap();
    file(&below, b"a.md");
}

/// Goes down by handles, since no path is long enough.
fn abyss(room: &Path) {
    let mut at = directory(CWD, room);
    for _ in 0..ABYSS {
        mkdirat(&at, "d", Mode::from_raw_mode(0o755)).unwrap();
        at = directory(&at, Path::new("d"));
    }
}

/// Takes an abyss away: what is below the uppermost directory is moved up beside it, and so on.
fn climb(room: &Path) {
    let room = directory(CWD, room);
    for _ in 0..ABYSS {
        let top = directory(&room, Path::new("d"));
        let has_more = renameat(&top, "d", &room, "next").is_ok();
        unlinkat(&room, "d", AtFlags::REMOVEDIR).unwrap();
        if has_more {
            renameat(&room, "next", &room, "d").unwrap();
        }
    }
}

fn directory(above: impl AsFd, name: &Path) -> OwnedFd {
    openat(above, name, OFlags::DIRECTORY | OFlags::RDONLY, Mode::empty()).unwrap()
}
