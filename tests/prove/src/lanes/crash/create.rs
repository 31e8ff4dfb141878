//! Making a database: when it is answered as made, all of it is on the disk.
//!
//! Owns what SQLite writes on the way, under the name that nobody opens. The names and the syncs that the product makes
//! besides SQLite are those of a directory of this machine and not recorded: what SQLite wrote must last without them.
#![expect(clippy::unwrap_used, reason = "what goes wrong in a proof is a finding")]

use super::cases::{head, surroundings};
use super::expect_sound;
use super::stage::{DATABASE, Sees, Stage};
use crate::seed::Seed;
use work_faultvfs::crash::Crash;
use work_faultvfs::disk::Disk;
use work_faultvfs::record::Image;
use work_store::sqlite::SqliteStore;

/// What a database is called while it is made.
const UNFINISHED: &str = "work.sqlite.new";

/// Makes a database, loses the power by this draw, and looks at what is left under its name.
pub(super) fn check(draw: u32) -> Result<(), String> {
    let crash = after_making();
    let whole = Stage::new(named(&crash.all()), &surroundings()).state()?;
    let mut seed = Seed::new(u64::from(draw));
    let left = match draw {
        0 => crash.least(),
        _ => crash.image(&mut |below| seed.below(below)),
    };
    let stage = Stage::new(named(&left), &surroundings());
    if stage.state().is_ok_and(|found| found == whole) {
        let opened = stage.open(0, Sees::Commits).map_err(|error| error.to_string())?;
        expect_sound(&opened)?;
        drop(opened);
        stage.expect_closed();
        return Ok(());
    }
    Err("a database that was answered as made is not there in full".to_owned())
}

/// The place right after a database is answered as made.
fn after_making() -> Crash {
    let home = tempfile::tempdir().unwrap();
    let directory = home.path().canonicalize().unwrap();
    let disk = Disk::new(directory.to_str().unwrap(), Image::default().with(UNFINISHED, []));
    SqliteStore::create(&directory.join(DATABASE), &head(&surroundings())).unwrap();
    let mut crash = Crash::before(&disk.began_as());
    disk.record().iter().for_each(|op| crash.pass(op));
    crash
}

/// The files under the name that the product links them to.
fn named(left: &Image) -> Image {
    Image::default().with(DATABASE, left.bytes(UNFINISHED).unwrap_or_default())
}
