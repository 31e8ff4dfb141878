//! Ceilings, at the limit and one beyond.

use super::support::*;
use std::time::Duration;
use work_core::limits::ScanLimits;
use work_core::report::{ScanLimit, SkipReason as Skip};

fn within(change: impl FnOnce(&mut ScanLimits)) -> ScanLimits {
    let mut limits = ScanLimits::standard();
    change(&mut limits);
    limits
}

fn ten() -> Tree {
    let tree = Tree::new();
    for n in 0..5 {
        tree.file(format!("m/{n}.md"), "x");
        tree.file(format!("m/sub/{n}.md"), "x");
    }
    tree
}

#[track_caller]
fn check(limits: ScanLimits, files: usize, entries: u64, limit: Option<ScanLimit>) {
    let tree = ten();
    let (scanned, reads) = scan_within(&door(), &[grant(1, &tree.at("m"))], limits);
    let found = (reads.names().len(), scanned.folders[0].counts.entries, scanned.limit);
    assert_eq!(found, (files, entries, limit));
}

// spec: L
#[test]
fn the_scan_ends_at_the_limit_of_files_and_says_so_only_if_there_are_more() {
    check(within(|limits| limits.files = 10), 10, 11, None);
    check(within(|limits| limits.files = 9), 9, 11, Some(ScanLimit::Files));
    check(within(|limits| limits.files = 0), 0, 11, Some(ScanLimit::Files));
}

// spec: L
#[test]
fn the_scan_ends_at_the_limit_of_entries_and_keeps_the_first_names() {
    check(within(|limits| limits.entries = 11), 10, 11, None);
    check(within(|limits| limits.entries = 10), 9, 10, Some(ScanLimit::Entries));
    check(within(|limits| limits.entries = 6), 5, 6, Some(ScanLimit::Entries));
    check(within(|limits| limits.entries = 3), 3, 3, Some(ScanLimit::Entries));
    check(within(|limits| limits.entries = 0), 0, 0, Some(ScanLimit::Entries));
}

// spec: L
#[test]
fn an_empty_directory_needs_no_room() {
    let tree = Tree::new();
    tree.directory("m/empty");
    let limits = within(|limits| limits.entries = 1);
    let (scanned, _) = scan_within(&door(), &[grant(1, &tree.at("m"))], limits);
    assert_eq!(scanned.limit, None);
}

// spec: L
#[test]
fn what_lies_deeper_is_counted_and_told() {
    let tree = Tree::new();
    tree.file("m/1/2/3/a.md", "a");
    tree.file("m/1/2/b.md", "b");
    let grants = [grant(1, &tree.at("m"))];
    for (depth, names, limit, deep) in [
        (3, vec!["1/2/b.md", "1/2/3/a.md"], None, 0),
        (2, vec!["1/2/b.md"], Some(ScanLimit::Depth), 1),
        (0, vec![], Some(ScanLimit::Depth), 1),
    ] {
        let limits = within(|limits| limits.depth = depth);
        let (scanned, reads) = scan_within(&door(), &grants, limits);
        assert_eq!(
            (reads.names(), scanned.limit),
            (names.iter().map(ToString::to_string).collect(), limit)
        );
        let counted = scanned.folders[0].counts.skipped.get(&Skip::TooDeep).copied();
        assert_eq!(counted.unwrap_or(0), deep);
    }
}

// spec: L
#[test]
fn depth_is_told_only_if_nothing_else_ended_the_scan() {
    let tree = Tree::new();
    tree.file("m/1/2/a.md", "a");
    tree.file("m/b.md", "b");
    let limits = within(|limits| (limits.depth, limits.files) = (1, 0));
    let (scanned, _) = scan_within(&door(), &[grant(1, &tree.at("m"))], limits);
    assert_eq!(scanned.limit, Some(ScanLimit::Files));
}

// spec: L, O1
#[test]
fn without_time_nothing_is_reached_and_nothing_is_missing() {
    let tree = ten();
    let grants = [grant(1, &tree.at("m"))];
    let limits = within(|limits| limits.time = Duration::ZERO);
    let (scanned, reads) = scan_within(&door(), &grants, limits);
    assert_eq!((scanned.limit, reads.names().len()), (Some(ScanLimit::Time), 0));
    assert_eq!(scanned.folders[0].reached, work_core::report::Reached::Unreachable);
}

// spec: L
#[test]
fn a_directory_of_a_hundred_thousand_files_is_listed_in_order_and_in_time() {
    let tree = Tree::new();
    let root = tree.directory("m");
    for n in 0..100_000 {
        std::fs::File::create(root.join(format!("{n:06}.md"))).expect("a file");
    }
    let begun = std::time::Instant::now();
    let limits = within(|limits| limits.files = 100);
    let (scanned, reads) = scan_within(&door(), &[grant(1, &root)], limits);
    assert_eq!(scanned.folders[0].counts.entries, 100_000);
    assert_eq!(scanned.limit, Some(ScanLimit::Files));
    let expected: Vec<String> = (0..100).map(|n| format!("{n:06}.md")).collect();
    assert_eq!(reads.names(), expected);
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    let limits = within(|limits| (limits.files, limits.entries) = (100, 1000));
    let (scanned, reads) = scan_within(&door(), &[grant(1, &root)], limits);
    assert_eq!((scanned.folders[0].counts.entries, reads.names()), (1000, expected));
}
