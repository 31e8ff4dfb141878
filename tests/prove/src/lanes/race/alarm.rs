//! Whether a file was opened, as the kernel tells: by inode, so under whatever name, and even if nothing was read.

use rustix::fd::OwnedFd;
use rustix::fs::inotify::{self, CreateFlags, ReadFlags, WatchFlags};
use std::collections::BTreeMap;
use std::mem::MaybeUninit;
use std::path::Path;

/// A watch on files that nobody may open.
pub(super) struct Alarm {
    watch: OwnedFd,
    guarded: BTreeMap<i32, Guarded>,
}

/// What is watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Guarded {
    /// Files outside the folder, or of a revoked one: never opened.
    Outside,
    /// An own file of the instance: never read or closed, and opened only where it was put in a file's place after the
    /// look and there is no way to open what was looked at.
    Own,
}

/// What was done to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Did {
    /// It was opened.
    Open,
    /// It was read, or listed.
    Read,
    /// A handle to it was closed.
    Close,
}

/// What rang.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rang {
    /// Where.
    pub(super) at: Guarded,
    /// Whether it was a directory.
    pub(super) is_directory: bool,
    /// What was done.
    pub(super) did: Did,
}

impl Alarm {
    /// An alarm on each of these files, and on each file in these directories.
    ///
    /// # Errors
    /// When the system gives no watches.
    pub(super) fn on(paths: &[(&Path, Guarded)]) -> rustix::io::Result<Self> {
        let watch = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?;
        let flags = WatchFlags::OPEN | WatchFlags::ACCESS | WatchFlags::CLOSE;
        let mut guarded = BTreeMap::new();
        for &(path, what) in paths {
            guarded.insert(inotify::add_watch(&watch, path, flags)?, what);
        }
        Ok(Self { watch, guarded })
    }

    /// What rang since it was last asked.
    pub(super) fn rang(&self) -> Vec<Rang> {
        let mut room = [MaybeUninit::<u8>::uninit(); 8192];
        let mut events = inotify::Reader::new(&self.watch, &mut room);
        let mut rang = Vec::new();
        while let Ok(event) = events.next() {
            // What is no event of a watched file (a queue that ran over) would hide one.
            let at = self.guarded.get(&event.wd()).copied().unwrap_or(Guarded::Outside);
            let is_directory = event.events().contains(ReadFlags::ISDIR);
            rang.push(Rang { at, is_directory, did: did(event.events()) });
        }
        rang
    }
}

fn did(events: ReadFlags) -> Did {
    if events.contains(ReadFlags::OPEN) {
        Did::Open
    } else if events.intersects(ReadFlags::CLOSE_WRITE | ReadFlags::CLOSE_NOWRITE) {
        Did::Close
    } else {
        Did::Read
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_open_rings_under_any_name_and_a_handle_that_cannot_read_does_not() {
        let tree = tempfile::tempdir().expect("a directory");
        let [own, name] = ["own", "other"].map(|name| tree.path().join(name));
        std::fs::write(&own, "x").expect("a file");
        std::fs::hard_link(&own, &name).expect("a hard link");
        let alarm = Alarm::on(&[(&own, Guarded::Own)]).expect("an alarm");
        let flags = rustix::fs::OFlags::PATH;
        drop(rustix::fs::open(&name, flags, rustix::fs::Mode::empty()).expect("a handle"));
        assert_eq!(alarm.rang(), []);
        let file = std::fs::File::open(&name).expect("the file");
        let rang = |did| [Rang { at: Guarded::Own, is_directory: false, did }];
        assert_eq!(alarm.rang(), rang(Did::Open));
        drop(file);
        assert_eq!(alarm.rang(), rang(Did::Close));
    }
}
