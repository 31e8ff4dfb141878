//! Files that change while they are read. A test steps in at the exact moment, so nothing depends on time.

use super::support::*;
use crate::seam::Moment;
use std::io::Write;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use work_core::report::SkipReason as Skip;
use work_core::source::Seen;

/// A door in which `change` happens to `name` at `moment`, the first `times` times.
fn changing(
    moment: Moment,
    times: u32,
    change: impl Fn() + Send + Sync + 'static,
) -> crate::FolderDoor {
    let done = AtomicU32::new(0);
    door_with(move |at, name| {
        if at == moment && name == b"a.md" && done.fetch_add(1, Ordering::SeqCst) < times {
            change();
        }
    })
}

fn append(path: PathBuf) -> impl Fn() + Send + Sync + 'static {
    move || {
        let mut file = std::fs::OpenOptions::new().append(true).open(&path).expect("the file");
        file.write_all(b"+").expect("a write");
    }
}

// spec: G4
#[test]
fn a_file_that_changes_twice_while_it_is_read_is_read_a_third_time() {
    for moment in [Moment::Open, Moment::Read] {
        let tree = Tree::new();
        let path = tree.file("m/a.md", "a");
        let grants = [grant(1, &tree.at("m"))];
        let door = changing(moment, 2, append(path));
        assert_eq!(look_at(&door, &grants, "a.md").0, bytes_of(b"a++"), "{moment:?}");
    }
}

// spec: G4
#[test]
fn a_file_that_changes_at_each_of_three_reads_is_unstable() {
    for moment in [Moment::Open, Moment::Read] {
        let tree = Tree::new();
        let path = tree.file("m/a.md", "a");
        let grants = [grant(1, &tree.at("m"))];
        let door = changing(moment, 3, append(path.clone()));
        assert_eq!(look_at(&door, &grants, "a.md").0, Seen::Unstable, "{moment:?}");
        assert_eq!(std::fs::read(&path).expect("the file"), b"a+++", "not read more than thrice");
        let door = changing(moment, 3, append(path));
        let (scanned, reads) = scan(&door, &grants);
        assert_eq!(reads.names(), [""; 0]);
        assert_eq!(skips(&scanned.folders[0].counts), [(Skip::Unstable, 1)]);
    }
}

// spec: G4
#[test]
fn a_file_is_read_twice_while_it_is_young_and_once_when_it_is_not() {
    let tree = Tree::new();
    let path = tree.file("m/a.md", "a");
    let grants = [grant(1, &tree.at("m"))];
    let twice = std::sync::Arc::new(AtomicU32::new(0));
    let counter = std::sync::Arc::clone(&twice);
    let door = door_with(move |at, _| {
        if at == Moment::Again {
            counter.fetch_add(1, Ordering::SeqCst);
        }
    });
    let was_young = || {
        let before = twice.load(Ordering::SeqCst);
        scan(&door, &grants);
        twice.load(Ordering::SeqCst) > before
    };
    // A slow machine may come too late to find it young, so it has some tries.
    assert!((0..200).any(|_| {
        std::fs::write(&path, "again").expect("a write");
        was_young()
    }));
    while was_young() {}
}

// spec: G4
#[test]
fn a_file_put_in_the_place_of_the_one_being_read_is_read_instead() {
    let tree = Tree::new();
    let path = tree.file("m/a.md", "old");
    let new = tree.file("m/new.tmp", "new");
    let grants = [grant(1, &tree.at("m"))];
    let door = changing(Moment::Read, 1, move || std::fs::rename(&new, &path).expect("a rename"));
    assert_eq!(look_at(&door, &grants, "a.md").0, bytes_of(b"new"));
}

// spec: G4, O1
#[test]
fn a_file_removed_while_it_is_read_is_missing() {
    let tree = Tree::new();
    let path = tree.file("m/a.md", "a");
    let grants = [grant(1, &tree.at("m"))];
    let door = changing(Moment::Read, 1, move || std::fs::remove_file(&path).expect("a removal"));
    assert_eq!(look_at(&door, &grants, "a.md").0, Seen::Missing);
}

// spec: G2, G4
#[test]
fn a_link_put_in_the_place_of_the_file_being_read_is_not_followed() {
    for (means, moment) in
        ALL_MEANS.into_iter().flat_map(|means| [(means, Moment::Open), (means, Moment::Read)])
    {
        let tree = Tree::new();
        let path = tree.file("m/a.md", "a");
        let secret = tree.file("secret.md", "secret");
        let grants = [grant(1, &tree.at("m"))];
        let door = changing(moment, 1, move || {
            std::fs::remove_file(&path).expect("a removal");
            std::os::unix::fs::symlink(&secret, &path).expect("a link");
        });
        let door = door.with_means(means);
        assert_eq!(look_at(&door, &grants, "a.md").0, Seen::Denied, "{means:?} {moment:?}");
    }
}

// spec: G2, G4
#[test]
fn a_fifo_put_in_the_place_of_a_file_that_was_looked_at_hangs_nothing() {
    for means in ALL_MEANS {
        let tree = Tree::new();
        let path = tree.file("m/a.md", "a");
        let grants = [grant(1, &tree.at("m"))];
        let door = changing(Moment::Open, 1, move || {
            std::fs::remove_file(&path).expect("a removal");
            let mode = rustix::fs::Mode::from_raw_mode(0o644);
            rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, mode, 0)
                .expect("a FIFO");
        });
        let door = door.with_means(means);
        assert_eq!(look_at(&door, &grants, "a.md").0, Seen::Denied, "{means:?}");
    }
}

// spec: G2, O1
#[test]
fn a_socket_put_in_the_place_of_a_file_that_was_looked_at_is_no_failure_of_the_folder() {
    for means in ALL_MEANS {
        let tree = Tree::new();
        let path = tree.file("m/a.md", "a");
        let grants = [grant(1, &tree.at("m"))];
        let door = changing(Moment::Open, 1, move || {
            std::fs::remove_file(&path).expect("a removal");
            std::os::unix::net::UnixListener::bind(&path).expect("a socket");
        });
        let door = door.with_means(means);
        assert_eq!(look_at(&door, &grants, "a.md").0, Seen::Denied, "{means:?}");
    }
}

// spec: G1, G4
#[test]
fn what_came_into_a_directory_after_it_was_moved_out_of_the_folder_is_not_read() {
    for means in ALL_MEANS {
        let tree = Tree::new();
        tree.file("m/inner/a.md", "inside");
        let grants = [grant(1, &tree.at("m"))];
        let (inner, outside) = (tree.at("m/inner"), tree.at("outside"));
        let door = changing(Moment::Open, 1, move || {
            std::fs::rename(&inner, &outside).expect("moved out");
            std::fs::write(outside.join("new"), "never in the folder").expect("a file");
            std::fs::rename(outside.join("new"), outside.join("a.md")).expect("put in its place");
        });
        let door = door.with_means(means);
        assert_eq!(look_at(&door, &grants, "inner/a.md").0, Seen::Missing, "{means:?}");
    }
}

// spec: G4
#[test]
fn a_file_that_shrinks_while_it_is_read_gives_no_mix() {
    let tree = Tree::new();
    let path = tree.file("m/a.md", "a long text");
    let grants = [grant(1, &tree.at("m"))];
    let door = changing(Moment::Open, 1, move || std::fs::write(&path, "short").expect("a write"));
    assert_eq!(look_at(&door, &grants, "a.md").0, bytes_of(b"short"));
}

/// Whether bytes are a state in which a file was that is rewritten from its beginning with the next digit, over and
/// over: all one digit, or the next one as far as the writer had come.
fn is_a_state(bytes: &[u8]) -> bool {
    let mut runs = bytes.to_vec();
    runs.dedup();
    match runs[..] {
        [_] => true,
        [new, old] => new == b'0' + (old - b'0' + 1) % 10,
        _ => false,
    }
}

// spec: G4
#[test]
fn a_file_that_is_rewritten_all_the_time_gives_the_bytes_of_one_moment_or_none() {
    let tree = Tree::new();
    let path = tree.file("m/a.md", vec![b'0'; 200_000]);
    let grants = [grant(1, &tree.at("m"))];
    let stop = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let stopped = std::sync::Arc::clone(&stop);
    let writer = std::thread::spawn(move || {
        let file = std::fs::OpenOptions::new().write(true).open(&path).expect("the file");
        for n in (1_u8..10).chain([0]).cycle() {
            if stopped.load(Ordering::Relaxed) {
                return;
            }
            let bytes = vec![b'0' + n; 200_000];
            std::os::unix::fs::FileExt::write_all_at(&file, &bytes, 0).expect("a write");
        }
    });
    for _ in 0..200 {
        let (_, reads) = scan(&door(), &grants);
        for (bytes, _) in reads.0.lock().expect("no panic").values() {
            assert_eq!(bytes.len(), 200_000);
            assert!(is_a_state(bytes), "a mix of several moments");
        }
    }
    stop.store(true, Ordering::Relaxed);
    writer.join().expect("no panic");
}

// spec: G4
#[test]
fn a_growing_file_gives_a_whole_beginning_and_its_size() {
    let tree = Tree::new();
    let path = tree.file("m/a.md", "");
    let grants = [grant(1, &tree.at("m"))];
    let stop = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let stopped = std::sync::Arc::clone(&stop);
    let writer = std::thread::spawn(move || {
        let mut file = std::fs::OpenOptions::new().append(true).open(&path).expect("the file");
        for n in 0_u32..20_000 {
            if stopped.load(Ordering::Relaxed) {
                return;
            }
            file.write_all(&n.to_be_bytes()).expect("a write");
        }
    });
    for _ in 0..200 {
        let (_, reads) = scan(&door(), &grants);
        for (bytes, size) in reads.0.lock().expect("no panic").values() {
            assert_eq!(bytes.len() as u64, *size);
            let numbers = bytes.chunks(4).zip(0_u32..);
            assert!(numbers.into_iter().all(|(chunk, n)| chunk == n.to_be_bytes()));
        }
    }
    stop.store(true, Ordering::Relaxed);
    writer.join().expect("no panic");
}
