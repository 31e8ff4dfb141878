//! Rows of a file as SQLite alone reads them, and which of their values nothing but their form is known of.

use rusqlite::types::Value;
use rusqlite::{Connection, OpenFlags};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Each table's rows by their place, each row's values by column.
pub(super) type Rows = BTreeMap<String, BTreeMap<usize, BTreeMap<String, String>>>;

/// The values that no digest, key, reference or rule of another record says anything about. Damage to one of them is
/// told only where it is not of its form.
const BARE: [(&str, &[&str]); 13] = [
    (
        "head",
        &[
            "latest_ms",
            "boot",
            "since_boot_ms",
            "era",
            "access",
            "looks",
            "refresher",
            "refreshes_until",
        ],
    ),
    (
        "folder",
        &[
            "label",
            "identity",
            "rules",
            "active",
            "approved_at",
            "since_look",
            "swept_at",
            "version",
        ],
    ),
    ("source", &["path"]),
    (
        "observation",
        &["no", "seen", "owner", "digest", "size", "cut", "stamp", "looked_at", "version"],
    ),
    ("document", &["size"]),
    ("result", &["query", "scope", "created_at", "version"]),
    ("revision", &["created_at"]),
    ("quotation", &["against", "finding", "at_byte"]),
    (
        "task",
        &[
            "query",
            "scope",
            "state",
            "fence",
            "attempts",
            "outcome",
            "holder",
            "lease_began",
            "lease_ends",
            "lease_era",
            "files_read",
            "files",
            "created_at",
            "updated_at",
            "version",
        ],
    ),
    ("run", &["worker", "started_at", "ended_at", "ended", "version"]),
    ("request", &["asks", "created_at"]),
    ("proposal", &["ended_at", "version"]),
    ("approval", &["channel", "at"]),
];

/// Reads every row.
///
/// # Errors
/// SQLite's, for a file that is too damaged for it.
pub(super) fn of(path: &Path) -> rusqlite::Result<Rows> {
    let raw = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    let mut names = raw.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'")?;
    let names: Vec<String> = names.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    names.into_iter().map(|name| Ok((name.clone(), table(&raw, &name)?))).collect()
}

fn table(
    raw: &Connection,
    name: &str,
) -> rusqlite::Result<BTreeMap<usize, BTreeMap<String, String>>> {
    let mut all = raw.prepare(&format!("SELECT * FROM \"{name}\" NOT INDEXED"))?;
    let mut columns = raw.prepare("SELECT name FROM pragma_table_info(?1)")?;
    let columns: Vec<String> =
        columns.query_map([name], |row| row.get(0))?.collect::<Result<_, _>>()?;
    let mut rows = all.query([])?;
    let mut found = BTreeMap::new();
    while let Some(row) = rows.next()? {
        let value = |n| row.get::<_, Value>(n).map(|value| format!("{value:?}"));
        let values = columns.iter().enumerate().map(|(n, name)| Ok((name.clone(), value(n)?)));
        found.insert(found.len(), values.collect::<rusqlite::Result<_>>()?);
    }
    Ok(found)
}

/// Every `table.column` in which two files differ.
pub(super) fn difference(one: &Rows, other: &Rows) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for name in one.keys().chain(other.keys()) {
        let (Some(one), Some(other)) = (one.get(name), other.get(name)) else {
            found.insert(name.clone());
            continue;
        };
        if one.len() != other.len() {
            found.insert(format!("{name}: number of rows"));
        }
        for (row, column, value) in one
            .iter()
            .flat_map(|(n, row)| row.iter().map(move |(column, value)| (n, column, value)))
        {
            if other.get(row).and_then(|row| row.get(column)) != Some(value) {
                found.insert(format!("{name}.{column}"));
            }
        }
    }
    found
}

/// Whether nothing but the form of this value is known.
pub(super) fn is_bare(place: &str) -> bool {
    BARE.iter().any(|(table, columns)| {
        let column = place.strip_prefix(table).and_then(|rest| rest.strip_prefix('.'));
        column.is_some_and(|column| columns.contains(&column))
    })
}
