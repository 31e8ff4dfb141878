//! The order of the visit, against a naive reference.

use super::support::*;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::path::Path;
use work_core::folder::{Grant, Rules};
use work_core::limits::ScanLimits;
use work_core::path::RelPath;

// spec: Q2
#[test]
fn files_come_before_directories_and_both_in_the_order_of_their_bytes() {
    let tree = Tree::new();
    for name in ["b.md", "a.md", "Z.md", "a/z.md", "a/b/x.md", "a-b/y.md", "B/x.md", "é.md"] {
        tree.file(Path::new("m").join(name), "x");
    }
    let (_, reads) = scan(&door(), &[grant(1, &tree.at("m"))]);
    let expected = ["Z.md", "a.md", "b.md", "é.md", "B/x.md", "a/z.md", "a/b/x.md", "a-b/y.md"];
    assert_eq!(reads.names(), expected);
}

// spec: Q2
#[test]
fn folders_give_one_file_each_in_turn() {
    let tree = Tree::new();
    for name in ["a/1.md", "a/2.md", "a/3.md", "b/1.md", "c/x.rs", "d/1.md", "d/s/2.md"] {
        tree.file(name, "x");
    }
    let folders = ["a", "b", "c", "d"];
    let grants: Vec<Grant> =
        folders.iter().zip(1..).map(|(name, n)| grant(n, &tree.at(name))).collect();
    let (_, reads) = scan(&door(), &grants);
    assert_eq!(reads.names(), ["1.md", "1.md", "1.md", "2.md", "s/2.md", "3.md"]);
    let limits = ScanLimits { files: 4, ..ScanLimits::standard() };
    let (_, reads) = scan_within(&door(), &grants, limits);
    assert_eq!(reads.names(), ["1.md", "1.md", "1.md", "2.md"]);
}

// spec: Q2
#[test]
fn a_folder_with_much_to_go_through_does_not_keep_the_next_one_from_its_turn() {
    let tree = Tree::new();
    for n in 0..40 {
        tree.file(format!("a/{n:02}/x.rs"), "x");
    }
    for name in ["a/z/last.md", "b/1.md", "b/2.md", "b/3.md", "b/4.md"] {
        tree.file(name, "x");
    }
    let grants = [grant(1, &tree.at("a")), grant(2, &tree.at("b"))];
    let (_, reads) = scan(&door(), &grants);
    assert_eq!(reads.names(), ["1.md", "2.md", "z/last.md", "3.md", "4.md"]);
}

// spec: Q2
#[test]
fn more_threads_change_nothing() {
    let tree = Tree::new();
    for n in 0..300 {
        tree.file(format!("m/{}/{}/{n}.md", n % 7, n % 3), n.to_string());
    }
    let grants = [grant(1, &tree.at("m")), grant(2, &tree.at("m/3"))];
    let turns = |threads, files| {
        let limits = ScanLimits { threads, files, ..ScanLimits::standard() };
        let (scanned, reads) = scan_within(&door(), &grants, limits);
        let reads = reads.0.lock().expect("no panic").clone();
        (scanned.folders, scanned.limit, reads)
    };
    let one = turns(1, 2000);
    assert_eq!(one.2.len(), 300);
    assert_eq!(one, turns(4, 2000));
    assert_eq!(one, turns(4, 2000));
    assert_eq!(turns(1, 101), turns(4, 101));
}

/// A random tree: names of a few kinds, a few levels deep.
fn trees() -> impl Strategy<Value = BTreeMap<String, Vec<u8>>> {
    let name = prop::sample::select(vec!["a", "b", ".c", "D", "e e"]);
    let last = prop::sample::select(vec!["x.md", "y.txt", "z.rs", ".h.md", "MD", "w.MD"]);
    let path = (prop::collection::vec(name, 0..4), last)
        .prop_map(|(names, last)| names.into_iter().chain([last]).collect::<Vec<_>>().join("/"));
    prop::collection::btree_map(path, prop::collection::vec(any::<u8>(), 0..20), 0..40)
}

/// The files of a tree that standard rules allow, in the order that is promised, found without the door. Answers how
/// many directories were gone into.
fn reference(root: &Path, above: &str, found: &mut Vec<String>) -> u64 {
    let mut gone_into = 0;
    let mut entries: Vec<_> = std::fs::read_dir(root)
        .expect("a directory")
        .map(|entry| entry.expect("an entry"))
        .collect();
    entries.sort_by_key(std::fs::DirEntry::file_name);
    for directories in [false, true] {
        for entry in &entries {
            let path = format!("{above}{}", entry.file_name().to_str().expect("a plain name"));
            if entry.file_type().expect("a type").is_dir() != directories {
                continue;
            }
            match RelPath::new(path.as_str()).map(|path| Rules::standard().permit_file(&path)) {
                _ if directories && !entry.file_name().as_encoded_bytes().starts_with(b".") => {
                    gone_into += 1 + reference(&entry.path(), &format!("{path}/"), found);
                }
                Ok(Ok(())) if !directories => found.push(path),
                _ => {}
            }
        }
    }
    gone_into
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    // spec: Q2, Q5
    #[test]
    fn random_trees_are_visited_as_the_reference_says(files in trees()) {
        let tree = Tree::new();
        tree.directory("m");
        for (name, bytes) in &files {
            tree.file(Path::new("m").join(name), bytes);
        }
        let mut expected = Vec::new();
        let gone_into = reference(&tree.at("m"), "", &mut expected);
        let (scanned, reads) = scan(&door(), &[grant(1, &tree.at("m"))]);
        prop_assert_eq!(reads.names(), expected);
        let counts = &scanned.folders[0].counts;
        for ((_, path), (bytes, _)) in reads.0.lock().expect("no panic").iter() {
            prop_assert_eq!(bytes, &files[&path.to_string()]);
        }
        let total: u64 = counts.skipped.values().sum();
        prop_assert_eq!(counts.files_seen + total + gone_into, counts.entries);
        prop_assert_eq!(counts.files_seen, counts.files_read);
    }
}
