//! Rules about the repository itself: arrows between crates, one dictionary, nothing forgotten. They ratchet.
#![expect(clippy::unwrap_used, reason = "what goes wrong in a test fails it")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// The crates of ours that a manifest names under `[dependencies]`.
fn arrows(name: &str) -> BTreeSet<String> {
    let manifest =
        std::fs::read_to_string(root().join("crates").join(name).join("Cargo.toml")).unwrap();
    let lines = manifest.lines().skip_while(|line| *line != "[dependencies]").skip(1);
    let mine =
        lines.take_while(|line| !line.starts_with('[')).filter(|line| line.starts_with("work-"));
    mine.map(|line| line.split(['.', ' ', '=']).next().unwrap().to_owned()).collect()
}

#[test]
fn there_is_no_arrow_between_crates_that_the_design_does_not_have() {
    let allowed: BTreeMap<&str, &[&str]> = BTreeMap::from([
        ("work-core", &[] as &[&str]),
        ("work-source", &["work-core"]),
        ("work-store", &["work-core"]),
        ("work-cli", &["work-core", "work-source", "work-store"]),
    ]);
    let crates: BTreeSet<String> = std::fs::read_dir(root().join("crates"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(
        crates,
        allowed.keys().map(ToString::to_string).collect(),
        "a new crate is a decision"
    );
    for (name, to) in allowed {
        assert_eq!(arrows(name), to.iter().map(ToString::to_string).collect(), "{name}");
    }
}

#[test]
fn the_core_needs_nothing_that_touches_the_world() {
    let manifest = std::fs::read_to_string(root().join("crates/work-core/Cargo.toml")).unwrap();
    for foreign in ["rusqlite", "rustix", "tokio", "getrandom", "walkdir", "libc", "time", "rand"] {
        assert!(!manifest.lines().any(|line| line.starts_with(foreign)), "{foreign}");
    }
    let lints = std::fs::read_to_string(root().join("crates/work-core/clippy.toml")).unwrap();
    for door in
        ["std::fs::File", "std::time::SystemTime", "std::thread::spawn", "std::process::Command"]
    {
        assert!(lints.contains(door), "{door}");
    }
}

/// Our own sources, by path under the root.
fn sources() -> Vec<(PathBuf, String)> {
    let folders =
        ["crates", "examples", "benches", "tests", "fuzz"].map(|folder| root().join(folder));
    let files =
        folders.iter().flat_map(|folder| walkdir::WalkDir::new(folder).into_iter().flatten());
    files
        .filter(|file| file.path().extension().is_some_and(|extension| extension == "rs"))
        .filter(|file| !file.path().components().any(|part| part.as_os_str() == "target"))
        .map(|file| (file.path().to_owned(), std::fs::read_to_string(file.path()).unwrap()))
        .collect()
}

#[test]
fn every_module_says_what_it_owns() {
    for (path, text) in sources() {
        let bare = path.components().any(|part| part.as_os_str() == "fuzz_targets");
        assert!(
            bare || text.starts_with("//!"),
            "{} does not begin with a word about itself",
            path.display()
        );
    }
}

#[test]
fn nothing_is_left_for_later_in_the_code() {
    let marks = [
        "to".to_owned() + "do!(",
        "unim".to_owned() + "plemented!(",
        "FIX".to_owned() + "ME",
        "TO".to_owned() + "DO",
    ];
    for (path, text) in sources() {
        for mark in &marks {
            assert!(!text.contains(mark), "{mark} in {}", path.display());
        }
    }
}

#[test]
fn a_test_is_switched_off_only_to_be_run_by_another() {
    let (off, with_a_reason) = ("#[ig".to_owned() + "nore", "#[ig".to_owned() + "nore = \"");
    for (path, text) in sources() {
        for (at, _) in text.match_indices(&off) {
            let reason =
                text[at..].strip_prefix(&with_a_reason).and_then(|rest| rest.split('"').next());
            let run_elsewhere = reason.is_some_and(|reason| {
                reason == "a part of another test" || reason.starts_with("started by ")
            });
            assert!(run_elsewhere, "{}", path.display());
        }
    }
}

#[test]
fn each_decision_is_in_the_index() {
    let folder = root().join("docs/decisions");
    let index = std::fs::read_to_string(folder.join("README.md")).unwrap();
    for entry in std::fs::read_dir(&folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(name == "README.md" || index.contains(&name), "{name}");
    }
}
