//! Specimens of what may lie in a folder, and what becomes of each.

use super::support::*;
use rustix::fs::{CWD, FileType, Mode, mknodat};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use work_core::report::SkipReason as Skip;
use work_core::source::Seen;

/// A folder with one of everything, beside a directory that is not approved.
fn museum() -> Tree {
    let tree = Tree::new();
    tree.file("outside/secret.md", "outside");
    tree.file("m/a.md", "a");
    tree.file("m/sub/b.txt", "b");
    tree.file("m/c.rs", "c");
    tree.file("m/.hidden.md", "h");
    tree.file("m/.git/d.md", "d");
    tree.link(tree.at("outside/secret.md"), "m/link.md");
    tree.link(tree.at("outside"), "m/link-to-directory");
    tree.link("a.md", "m/link-inside.md");
    tree.link(".", "m/self");
    tree.link("..", "m/sub/parent");
    tree.link("nowhere", "m/dangling.md");
    tree.link("a.md", "m/.hidden-link");
    mknodat(CWD, tree.at("m/fifo.md"), FileType::Fifo, Mode::from_raw_mode(0o644), 0)
        .expect("a FIFO");
    std::os::unix::net::UnixListener::bind(tree.at("m/socket.md")).expect("a socket");
    tree
}

// spec: G2, Q5
#[test]
fn a_scan_reads_regular_files_and_counts_all_else_under_its_reason() {
    let tree = museum();
    for door in doors() {
        let (scanned, reads) = scan(&door, &[grant(1, &tree.at("m"))]);
        assert_eq!(reads.names(), ["a.md", "sub/b.txt"], "{door:?}");
        let counts = &scanned.folders[0].counts;
        let expected =
            [(Skip::Hidden, 2), (Skip::Extension, 1), (Skip::Link, 7), (Skip::Special, 2)];
        let mut expected = expected.to_vec();
        expected.sort();
        assert_eq!(skips(counts), expected, "{door:?}");
        assert_eq!((counts.entries, counts.files_seen, counts.files_read), (15, 2, 2));
        assert_eq!((counts.bytes_read, counts.files_cut), (2, 0));
        assert_eq!((scanned.limit, scanned.stopped), (None, false));
    }
}

// spec: G2, O1
#[test]
fn a_look_denies_what_may_not_be_followed_or_opened() {
    let tree = museum();
    let grants = [grant(1, &tree.at("m"))];
    for door in doors() {
        for name in [
            "link.md",
            "link-inside.md",
            "dangling.md",
            "link-to-directory/secret.md",
            "self/a.md",
            "sub/parent/a.md",
            "fifo.md",
            "socket.md",
            "c.rs",
            ".hidden.md",
            ".git/d.md",
        ] {
            assert_eq!(look_at(&door, &grants, name).0, Seen::Denied, "{name} {door:?}");
        }
        assert_eq!(look_at(&door, &grants, "a.md").0, bytes_of(b"a"));
        assert_eq!(look_at(&door, &grants, "sub/b.txt").0, bytes_of(b"b"));
    }
}

// spec: O1
#[test]
fn missing_is_what_a_directory_that_was_opened_does_not_have() {
    let tree = museum();
    tree.directory("m/now-a-directory.md");
    let grants = [grant(1, &tree.at("m"))];
    for door in doors() {
        for name in ["gone.md", "sub/gone.md", "gone/a.md", "a.md/b.md", "now-a-directory.md"] {
            assert_eq!(look_at(&door, &grants, name).0, Seen::Missing, "{name} {door:?}");
        }
    }
}

// spec: I4
#[test]
fn what_the_rules_exclude_is_denied_also_where_it_is_missing() {
    let tree = museum();
    let grants = [grant(1, &tree.at("m"))];
    for name in [".gone/x.md", ".gone.md", "gone.rs", "gone/x.rs"] {
        assert_eq!(look_at(&door(), &grants, name).0, Seen::Denied, "{name}");
    }
}

// spec: G2
#[test]
fn a_device_is_never_opened() {
    let tree = Tree::new();
    tree.file("m/a.md", "a");
    let zero = rustix::fs::makedev(1, 5);
    let made = mknodat(
        CWD,
        tree.at("m/zero.md"),
        FileType::CharacterDevice,
        Mode::from_raw_mode(0o666),
        zero,
    );
    if let Err(error) = made {
        eprintln!("NOT SHOWN: this user may not make a device ({error})");
        return;
    }
    let grants = [grant(1, &tree.at("m"))];
    for door in doors() {
        let (scanned, reads) = scan(&door, &grants);
        assert_eq!(reads.names(), ["a.md"]);
        assert_eq!(skips(&scanned.folders[0].counts), [(Skip::Special, 1)]);
        assert_eq!(look_at(&door, &grants, "zero.md").0, Seen::Denied);
    }
}

// spec: G2
#[test]
fn names_are_bytes_and_twins_are_two_files() {
    let tree = Tree::new();
    let names: [&[u8]; 9] = [
        b"A.md",
        b"a.md",
        b"caf\xc3\xa9.md",
        b"cafe\xcc\x81.md",
        b"a\nb.md",
        b"a\x1b[2Jb.md",
        b"bad\xff.md",
        b"bad\xfe.md",
        b"a b\\c.md",
    ];
    for name in names {
        tree.file(std::path::Path::new("m").join(OsStr::from_bytes(name)), name);
    }
    let grants = [grant(1, &tree.at("m"))];
    for door in doors() {
        let (_, reads) = scan(&door, &grants);
        let reads = reads.0.lock().expect("no panic");
        let mut expected: Vec<&[u8]> = names.to_vec();
        expected.sort_unstable();
        let found: Vec<&[u8]> = reads.keys().map(|(_, path)| path.bytes()).collect();
        assert_eq!(found, expected);
        assert!(reads.iter().all(|((_, path), (bytes, _))| path.bytes() == *bytes));
    }
}

// spec: G3
#[test]
fn of_a_huge_sparse_file_only_the_beginning_is_read() {
    let tree = Tree::new();
    let path = tree.file("m/huge.md", "begin");
    std::fs::OpenOptions::new()
        .write(true)
        .open(&path)
        .and_then(|file| file.set_len(1 << 40))
        .expect("a sparse file");
    let (scanned, reads) = scan(&door(), &[grant(1, &tree.at("m"))]);
    let counts = &scanned.folders[0].counts;
    assert_eq!((counts.files_cut, counts.bytes_read), (1, 256 * 1024));
    let reads = reads.0.lock().expect("no panic");
    let (bytes, size) = &reads[&(0, rel("huge.md"))];
    assert_eq!((bytes.len(), *size), (256 * 1024, 1 << 40));
}

// spec: G3
#[test]
fn a_file_is_cut_when_it_is_longer_than_the_limit_and_not_when_it_is_as_long() {
    let tree = Tree::new();
    let cap = work_core::limits::ScanLimits::standard().file_bytes;
    tree.file("m/empty.md", "");
    tree.file("m/exact.md", vec![b'x'; cap]);
    tree.file("m/over.md", vec![b'x'; cap + 1]);
    let (scanned, reads) = scan(&door(), &[grant(1, &tree.at("m"))]);
    assert_eq!(scanned.folders[0].counts.files_cut, 1);
    for (name, len) in [("empty.md", 0), ("exact.md", cap), ("over.md", cap)] {
        assert_eq!(reads.bytes(name).len(), len, "{name}");
    }
    let [exact, over] = ["exact.md", "over.md"].map(|name| {
        match look_at(&door(), &[grant(1, &tree.at("m"))], name).0 {
            Seen::Bytes(version) => (version.cut, version.size),
            other @ (Seen::Missing | Seen::Unstable | Seen::Unreachable | Seen::Denied) => {
                panic!("{other:?}")
            }
        }
    });
    assert_eq!((exact, over), ((false, cap as u64), (true, cap as u64 + 1)));
}

// spec: G2
#[test]
fn a_deep_path_longer_than_the_system_takes_at_once_is_gone_down() {
    let tree = Tree::new();
    tree.directory("m");
    let name = "d".repeat(200);
    let means = crate::platform::Means::of_this_host();
    let mut dir = crate::platform::Dir::root(&tree.at("m")).expect("the root");
    let mut at = std::fs::File::open(tree.at("m")).expect("the root");
    for _ in 0..40 {
        rustix::fs::mkdirat(&at, &*name, Mode::from_raw_mode(0o755)).expect("a directory");
        let flags = rustix::fs::OFlags::RDONLY | rustix::fs::OFlags::DIRECTORY;
        at = rustix::fs::openat(&at, &*name, flags, Mode::empty()).expect("a directory").into();
        dir = dir.step(name.as_bytes(), means).expect("a directory");
    }
    let flags = rustix::fs::OFlags::WRONLY | rustix::fs::OFlags::CREATE;
    rustix::fs::openat(&at, "deep.md", flags, Mode::from_raw_mode(0o644)).expect("a file");
    let (_, reads) = scan(&door(), &[grant(1, &tree.at("m"))]);
    assert_eq!(reads.names().len(), 1);
}
