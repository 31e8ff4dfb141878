//! Ignore files shape a scan and decide nothing else.

use super::support::*;
use work_core::folder::{Grant, Hidden, IgnoreFiles};
use work_core::report::SkipReason as Skip;

/// Scans `m` with rules that read hidden names or not, and heed ignore files or not.
#[track_caller]
fn check(tree: &Tree, hidden: Hidden, heed: IgnoreFiles, names: &[&str], skipped: &[(Skip, u64)]) {
    let grants = [Grant { rules: rules(&[], hidden, heed), ..grant(1, &tree.at("m")) }];
    for door in doors() {
        let (scanned, reads) = scan(&door, &grants);
        assert_eq!(reads.names(), names);
        assert_eq!(skips(&scanned.folders[0].counts), skipped);
    }
}

// spec: I4, Q5
#[test]
fn ignore_files_leave_out_what_they_name_below_them_and_the_nearer_one_decides() {
    let tree = Tree::new();
    for name in ["a.md", "drafts/b.md", "sub/c.md", "sub/d.md", "sub/deep/a.md", "kept.md"] {
        tree.file(format!("m/{name}"), "x");
    }
    tree.file("m/.gitignore", "drafts/\na.md\n*.md\n!kept.md\n!c.md\n!sub/d.md\n");
    tree.file("m/sub/.ignore", "!a.md\n");
    let hidden = (Skip::Hidden, 2);
    let heed = IgnoreFiles::Honoured;
    let read = ["kept.md", "sub/c.md", "sub/d.md", "sub/deep/a.md"];
    check(&tree, Hidden::Skipped, heed, &read, &[(Skip::Ignored, 2), hidden]);
    let all = ["a.md", "kept.md", "drafts/b.md", "sub/c.md", "sub/d.md", "sub/deep/a.md"];
    check(&tree, Hidden::Skipped, IgnoreFiles::Unheeded, &all, &[hidden]);
}

// spec: I4
#[test]
fn in_one_directory_workignore_is_asked_before_ignore_and_that_before_gitignore() {
    let tree = Tree::new();
    for name in ["a.md", "b.md", "c.md"] {
        tree.file(format!("m/{name}"), "x");
    }
    tree.file("m/.gitignore", "*.md");
    tree.file("m/.ignore", "!b.md\n!a.md");
    tree.file("m/.workignore", "b.md");
    let expected = [(Skip::Ignored, 2), (Skip::Hidden, 3)];
    check(&tree, Hidden::Skipped, IgnoreFiles::Honoured, &["a.md"], &expected);
}

// spec: I4
#[test]
fn an_ignore_file_above_the_root_or_behind_a_link_says_nothing() {
    let tree = Tree::new();
    tree.file("m/a.md", "x");
    tree.file(".gitignore", "*.md");
    tree.link("../.gitignore", "m/.gitignore");
    check(&tree, Hidden::Skipped, IgnoreFiles::Honoured, &["a.md"], &[(Skip::Link, 1)]);
}

// spec: I4
#[test]
fn an_ignore_file_that_does_not_count_in_full_is_told_as_failed() {
    let tree = Tree::new();
    tree.file("m/a.md", "x");
    tree.file("m/b.md", "x");
    tree.file("m/.gitignore", b"\xff\nb.md\n");
    let expected = [(Skip::Ignored, 1), (Skip::Failed, 1)];
    check(&tree, Hidden::Skipped, IgnoreFiles::Honoured, &["a.md"], &expected);
}

// spec: I4
#[test]
fn an_ignored_file_that_is_cited_is_looked_at_all_the_same() {
    let tree = Tree::new();
    tree.file("m/a.md", "x");
    tree.file("m/.gitignore", "*.md");
    let grants = [grant(1, &tree.at("m"))];
    assert_eq!(look_at(&door(), &grants, "a.md").0, bytes_of(b"x"));
}

// spec: I4
#[test]
fn an_exclusion_counts_as_ignored_and_closes_a_directory_once() {
    let tree = Tree::new();
    for name in ["a.md", "drafts/b.md", "drafts/c.md", "sub/x.tmp.md"] {
        tree.file(format!("m/{name}"), "x");
    }
    let own = rules(&["drafts", "*.tmp.md"], Hidden::Skipped, IgnoreFiles::Honoured);
    let (scanned, reads) = scan(&door(), &[Grant { rules: own, ..grant(1, &tree.at("m")) }]);
    assert_eq!(reads.names(), ["a.md"]);
    assert_eq!(skips(&scanned.folders[0].counts), [(Skip::Ignored, 2)]);
}
