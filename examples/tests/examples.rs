//! The examples run and show what they say.

#[path = "../embed.rs"]
mod embed;
#[path = "../keep_it_true.rs"]
mod keep_it_true;
#[path = "../own_sources.rs"]
mod own_sources;
#[path = "../own_store.rs"]
mod own_store;
#[path = "../prove_store.rs"]
mod prove_store;

#[test]
fn embedding_quotes_the_handbook() {
    let home = tempfile::tempdir().unwrap();
    let lines = embed::ask(&home.path().join("desk"), "how long are backups kept").unwrap();
    assert!(lines.iter().any(|line| line.starts_with("it/backups.md:")), "{lines:?}");
    embed::main().unwrap();
}

#[test]
fn a_repair_is_applied_only_if_somebody_agrees_to_what_is_shown() {
    let [agreed, refused] = [true, false].map(|agrees| {
        let home = tempfile::tempdir().unwrap();
        keep_it_true::day(home.path(), |difference| {
            assert!(difference.contains("35 days") && difference.contains("40 days"));
            agrees
        })
        .unwrap()
    });
    assert_eq!((agreed, refused), (2, 1));
    keep_it_true::main().unwrap();
}

#[test]
fn records_of_a_program_are_quoted_and_their_change_is_noticed() {
    let (report, later) = own_sources::ask("where are old backups kept").unwrap();
    let texts: Vec<_> = report.body.unwrap().excerpts.into_iter().map(|one| one.text).collect();
    assert!(
        texts.contains(&"March backups are kept in the year-end archive.".to_owned()),
        "{texts:?}"
    );
    assert_eq!(later.state.as_str(), "stale");
    own_sources::main().unwrap();
}

#[test]
fn a_store_of_another_author_passes_the_suite() {
    let (promises, commits) = own_store::prove();
    assert!(promises > 50 && commits > 0, "{promises} promises, {commits} commits");
    own_store::main().unwrap();
}

#[test]
fn a_store_of_another_author_keeps_its_promises_under_faults() {
    let (tally, commits) = prove_store::prove(3).unwrap();
    assert!(tally.faults > 0 && commits > tally.commits, "{tally:?}, {commits} commits");
    prove_store::main().unwrap();
}
