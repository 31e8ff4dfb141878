//! The plan of every statement, on an empty and on an analysed, filled database.
//!
//! `plans.txt` is what SQLite is expected to do. After a change on purpose, write it anew and look at the difference:
//! `WORK_PLANS=write cargo test --workspace plan`.

use super::create::TABLES;
use super::pool::{STATEMENTS, harden};
use super::sql::ALL;
use rusqlite::Connection;
use rusqlite::config::DbConfig;
use std::fmt::Write as _;

/// Loops over what a statement was given, or over what is never more than a few rows.
const BOUNDED: [&str; 5] = [
    "SCAN citing",
    "SCAN CONSTANT ROW",
    "SCAN folder",
    "SCAN head",
    "SCAN t USING INDEX task_open",
];

/// An empty database.
fn empty() -> Connection {
    let connection = Connection::open_in_memory().expect("memory");
    connection.execute_batch(TABLES).expect("tables");
    explaining(connection)
}

/// Plans with those of triggers. Not with those of foreign keys: steps for a key that is open are shown whether or not
/// they will be taken, so what keys cost is counted in `costs`.
fn explaining(connection: Connection) -> Connection {
    harden(&connection).expect("settings");
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRIGGER_EQP, true).expect("setting");
    connection.execute_batch("PRAGMA foreign_keys = OFF").expect("setting");
    connection
}

/// A database with many rows of everything, analysed. The rules are away while it is filled.
fn filled() -> Connection {
    let connection = Connection::open_in_memory().expect("memory");
    let (tables, triggers) =
        TABLES.split_at(TABLES.find("CREATE TRIGGER").expect("triggers come last"));
    connection.execute_batch(tables).expect("tables");
    connection.execute_batch(FILL).expect("rows");
    connection.execute_batch(triggers).expect("triggers");
    connection.execute_batch("ANALYZE").expect("statistics");
    explaining(connection)
}

/// 20 folders, 4,000 sources, results and tasks; 12,000 revisions; everything else to match.
const FILL: &str = "
PRAGMA foreign_keys = OFF;
CREATE TEMP TABLE n AS WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 4000) SELECT i FROM n;
CREATE TEMP TABLE id AS SELECT i, CAST(printf('%016d', i) AS BLOB) AS id, CAST(printf('%032d', i) AS BLOB) AS digest FROM n;
INSERT INTO head SELECT 1, id, id, id, 0, id, 0, 0, 0, zeroblob(32), 0, 0, NULL, NULL FROM id WHERE i = 1;
INSERT INTO folder SELECT i, id, id, id, id, id, id, 1, 0, 0, NULL, 1 FROM id WHERE i <= 20;
INSERT INTO source SELECT i, id, CAST(printf('%016d', 1 + i % 20) AS BLOB), id FROM id;
INSERT INTO observation SELECT i, i, 0, id, digest, 1, 0, NULL, 0, 1 FROM id;
INSERT INTO document SELECT i, digest, 0, 9, zeroblob(9) FROM id;
INSERT INTO result SELECT i, id, 0, id, id, 3, i / 4, i / 4, 1 FROM id;
INSERT INTO revision SELECT i * 3 + no, id, no, digest, digest, digest, digest, id, 1, NULL, NULL, 0
  FROM id, (SELECT 1 AS no UNION SELECT 2 UNION SELECT 3);
INSERT INTO quotation SELECT id, n, 1 + (i + n) % 4000, digest, 1, 0, NULL, NULL, NULL
  FROM id, (SELECT 1 AS n UNION SELECT 2 UNION SELECT 3 UNION SELECT 4);
INSERT INTO cite SELECT source, result, no FROM quotation, (SELECT 1 AS no UNION SELECT 2 UNION SELECT 3);
INSERT INTO task SELECT i, id, 0, NULL, id, id, CASE WHEN i < 3990 THEN 4 ELSE 0 END, 1, 1, NULL, NULL, NULL, NULL,
  NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, 0, 1 FROM id;
INSERT INTO run SELECT id, 1, id, id, 0, NULL, NULL, 1 FROM id;
INSERT INTO request SELECT digest, digest, id, i FROM id;
INSERT INTO proposal SELECT i, id, CAST(printf('%016d', 1 + i / 4) AS BLOB), 1, CASE WHEN i < 3990 THEN 1 ELSE 0 END,
  1, NULL, NULL, 1, digest, digest, digest, digest, digest, digest, 0, i, 0,
  CASE WHEN i < 3990 THEN 1 END, NULL, 1 FROM id WHERE i < 3990 OR i % 4 = 0;
INSERT INTO approval SELECT digest, id, 0, 0 FROM id WHERE i < 3990;
INSERT INTO event SELECT i, id, i, CAST(printf('%016d', i / 4) AS BLOB), id, digest, digest FROM id;
";

/// The plan of a statement, one step a line.
fn plan(connection: &Connection, sql: &str) -> Vec<String> {
    let mut explain = connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).expect(sql);
    // Without parameters, as when it is prepared.
    let mut rows = explain.raw_query();
    let mut steps = Vec::new();
    while let Some(row) = rows.next().expect("steps") {
        steps.push(row.get(3).expect("text"));
    }
    steps
}

/// The plans of all statements.
fn plans(connection: &Connection) -> String {
    let mut text = String::new();
    for (name, sql) in ALL {
        writeln!(text, "{name}").expect("text");
        for step in plan(connection, sql) {
            writeln!(text, "    {step}").expect("text");
        }
    }
    text
}

#[track_caller]
fn check_costs(connection: &Connection) {
    for (name, sql) in ALL {
        for step in plan(connection, sql) {
            let scans = step.starts_with("SCAN") && !BOUNDED.contains(&step.as_str());
            let sorts = step.contains("TEMP B-TREE") || step.contains("AUTOMATIC");
            assert!(!scans && !sorts, "{name}: {step}");
        }
    }
}

#[test]
fn no_plan_scans_what_grows_or_sorts_on_an_empty_database() {
    check_costs(&empty());
}

#[test]
fn no_plan_scans_what_grows_or_sorts_on_an_analysed_database() {
    check_costs(&filled());
}

#[test]
fn every_plan_is_as_expected_however_much_is_stored() {
    let found = plans(&empty());
    if std::env::var_os("WORK_PLANS").is_some() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/src/sqlite/plans.txt");
        std::fs::write(path, &found).expect("written");
    }
    assert_eq!(found, plans(&filled()), "plans depend on what is stored");
    assert_eq!(found, include_str!("plans.txt"), "plans have changed");
}

#[test]
fn every_statement_stays_prepared() {
    assert!(ALL.len() + 2 <= STATEMENTS, "beside these, two that begin a transaction");
}

#[test]
fn a_plan_that_scans_is_noticed() {
    let scanning = plan(&filled(), "SELECT * FROM result WHERE query = x''");
    assert_eq!(scanning, ["SCAN result"]);
    let sorting = plan(&filled(), "SELECT * FROM folder ORDER BY label");
    assert_eq!(sorting, ["SCAN folder", "USE TEMP B-TREE FOR ORDER BY"]);
}
