//! Files that are no database of this program, or of a later one.

use super::original::{Original, clock, install};
use super::verdict::{Bench, Verdict};
use super::{Wrong, damage};
use crate::{Ask, Counts};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use work_core::port::StoreError;
use work_store::ids::OsIds;
use work_store::instance::{Instance, InstanceError};

/// Where the header of a file names its schema, and the program that it belongs to.
const SCHEMA: usize = 60;
const APPLICATION: usize = 68;

/// A file that is refused, and why.
struct Refused {
    what: &'static str,
    file: Vec<u8>,
    why: StoreError,
}

/// Opens every one of them, then the original cut short at every half page.
pub(super) fn run(ask: &Ask, counts: &mut Counts) -> Result<(), Wrong> {
    let original = Original::new();
    let home = tempfile::tempdir().expect("a directory");
    for (case, refused) in (0..).zip(all(&original.file)) {
        *counts.entry("foreign and newer files").or_default() += 1;
        is_refused(&home.path().join("desk"), &refused).map_err(|what| (case, what))?;
    }
    if ask.hunted().is_some() {
        return Ok(());
    }
    let mut bench = Bench::new(&original);
    for halves in 1..original.file.len() / damage::PAGE * 2 {
        *counts.entry("truncated files").or_default() += 1;
        let file = &original.file[..halves * damage::PAGE / 2];
        let what = |why: &str| (halves as u64, format!("cut to {} bytes: {why}", file.len()));
        match bench.judge_file(file).map_err(|why| what(&why))? {
            Verdict::Refused | Verdict::Told => {}
            verdict @ (Verdict::True | Verdict::Bare) => return Err(what(verdict.name())),
        }
    }
    Ok(())
}

fn all(sound: &[u8]) -> Vec<Refused> {
    let with = |at: usize, number: i32| {
        let mut file = sound.to_vec();
        file[at..at + 4].copy_from_slice(&number.to_be_bytes());
        file
    };
    let newer = [3, 4, 99, i32::MAX]
        .map(|schema| ("a newer schema", with(SCHEMA, schema), StoreError::Newer));
    let none =
        [0, -1, i32::MIN].map(|schema| ("no schema", with(SCHEMA, schema), StoreError::Foreign));
    let others = [0, 1, -1, 0x0f05_5112]
        .map(|program| ("another application", with(APPLICATION, program), StoreError::Foreign));
    let strange = [
        ("an empty file", Vec::new(), StoreError::Foreign),
        ("a text", b"Backups are kept for 35 days.\n".to_vec(), StoreError::Damaged),
        ("a long text", b"Backups are kept.\n".repeat(4000), StoreError::Damaged),
        ("another program's database", other_program("DELETE"), StoreError::Foreign),
        ("another program's database with a log", other_program("WAL"), StoreError::Foreign),
    ];
    let all = newer.into_iter().chain(none).chain(others).chain(strange);
    all.map(|(what, file, why)| Refused { what, file, why }).collect()
}

/// A way to come to a file, and what it is called.
type Way<'a> = (&'a str, &'a dyn Fn() -> Result<(), InstanceError>);

/// A database that somebody else made.
fn other_program(journal: &str) -> Vec<u8> {
    let home = tempfile::tempdir().expect("a directory");
    let path = home.path().join("other.sqlite");
    let other = rusqlite::Connection::open(&path).expect("opens");
    other.query_row(&format!("PRAGMA journal_mode = {journal}"), [], |_| Ok(())).expect("set");
    other
        .execute_batch("CREATE TABLE recipe (name TEXT); INSERT INTO recipe VALUES ('soup');")
        .expect("made");
    other.close().expect("closed");
    std::fs::read(path).expect("read")
}

/// Whether every way of opening a file is refused for the right reason and leaves all as it was.
fn is_refused(home: &Path, refused: &Refused) -> Result<(), String> {
    let Refused { what, file, why } = refused;
    install(home, file);
    let before = every_file(home);
    let opening =
        || Instance::open(home).and_then(|instance| Ok(instance.store(clock())?)).map(drop);
    let looking =
        || Instance::open_as_is(home).and_then(|instance| Ok(instance.look(clock())?)).map(drop);
    let making = || {
        let made = Instance::open_or_create(home, &OsIds, clock().as_ref())?;
        made.store(clock()).map(drop).map_err(InstanceError::from)
    };
    let ways: [Way<'_>; 3] = [("opened", &opening), ("looked at", &looking), ("made", &making)];
    for (way, open) in ways {
        match open() {
            Err(InstanceError::Store(cause)) if cause == *why => {}
            other => return Err(format!("{what} is {way}: {other:?} instead of {why:?}")),
        }
        if every_file(home) != before {
            return Err(format!("{what} is refused when {way}, and not as it was"));
        }
    }
    Ok(())
}

/// Every file of a directory but the names of locks, with its bytes.
fn every_file(home: &Path) -> BTreeMap<OsString, Vec<u8>> {
    let files = std::fs::read_dir(home).expect("there").map(|entry| entry.expect("there"));
    files.map(|file| (file.file_name(), std::fs::read(file.path()).expect("read"))).collect()
}
