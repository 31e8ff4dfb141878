//! What is wrong with a file, for `doctor`. Repairs nothing.

use super::create::TABLES;
use super::error::failure;
use super::renew;
use rusqlite::Connection;
use work_core::port::StoreError;

/// How closely to look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// Without comparing tables and their indexes.
    Quick,
    /// Everything.
    Full,
}

/// What was found in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Health {
    /// The SQLite that looked, as `major * 1000000 + minor * 1000 + patch`.
    pub sqlite: i32,
    /// What is wrong, the worst first.
    pub faults: Vec<Fault>,
}

/// Something that is wrong with a file. Names tables and rules, never what is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Pages, indexes or rows are not as SQLite writes them, in this many places (100 are counted at most).
    Broken {
        /// The places.
        places: usize,
    },
    /// Rows of a table refer to rows that are not there.
    Dangling {
        /// The table.
        table: String,
        /// Its rows.
        rows: u64,
    },
    /// Revisions of results are not numbered from 1 without gaps.
    Numbering {
        /// The results.
        results: u64,
    },
    /// Results whose quotations are not indexed as citations of their accepted revision.
    Citations {
        /// The results.
        results: u64,
    },
    /// A table, index or trigger that belongs to the schema is not there or not as it should be.
    Schema {
        /// Its name.
        name: String,
    },
    /// A table, index or trigger that does not belong to the schema.
    Stranger {
        /// Its name.
        name: String,
    },
}

/// Looks at a file.
pub(super) fn inspect(connection: &Connection, depth: Depth) -> Result<Health, StoreError> {
    let mut faults = Vec::from_iter(broken(connection, depth)?);
    faults.extend(schema(connection)?);
    faults.extend(dangling(connection)?);
    faults.extend(numbering(connection)?);
    faults.extend(citations(connection)?);
    Ok(Health { sqlite: rusqlite::version_number(), faults })
}

/// SQLite's own check.
fn broken(connection: &Connection, depth: Depth) -> Result<Option<Fault>, StoreError> {
    let check = match depth {
        Depth::Quick => "PRAGMA quick_check(100)",
        Depth::Full => "PRAGMA integrity_check(100)",
    };
    let lines: Vec<String> = column(connection, check)?;
    let fine = lines.len() == 1 && lines[0] == "ok";
    Ok((!fine).then_some(Fault::Broken { places: lines.len() }))
}

/// References that lead nowhere, by table.
fn dangling(connection: &Connection) -> Result<Vec<Fault>, StoreError> {
    let mut faults: Vec<Fault> = Vec::new();
    let mut tables: Vec<String> = column(connection, "PRAGMA foreign_key_check")?;
    tables.sort();
    for group in tables.chunk_by(|one, other| one == other) {
        faults.push(Fault::Dangling { table: group[0].clone(), rows: group.len() as u64 });
    }
    Ok(faults)
}

/// Results whose revisions are not 1, 2, 3 and so on.
fn numbering(connection: &Connection) -> Result<Option<Fault>, StoreError> {
    let gaps = "SELECT count(*) FROM (SELECT 1 FROM revision GROUP BY result \
        HAVING min(no) <> 1 OR max(no) <> count(*))";
    Ok(some(connection, gaps)?.map(|results| Fault::Numbering { results }))
}

/// Results with a quotation that the index of citations does not know.
fn citations(connection: &Connection) -> Result<Option<Fault>, StoreError> {
    let unknown = "SELECT count(DISTINCT q.result) FROM quotation q JOIN result r ON r.id = q.result \
        WHERE NOT EXISTS (SELECT 1 FROM cite c \
        WHERE c.source = q.source AND c.result = q.result AND c.no = r.accepted)";
    Ok(some(connection, unknown)?.map(|results| Fault::Citations { results }))
}

/// Where the schema differs from the one that this version makes.
fn schema(connection: &Connection) -> Result<Vec<Fault>, StoreError> {
    let expected = Connection::open_in_memory().map_err(failure)?;
    expected.execute_batch(TABLES).map_err(failure)?;
    let (expected, found) = (definitions(&expected)?, definitions(connection)?);
    let stricter = (renew::NAME.to_owned(), renew::before());
    let is_there = |wanted: &(String, String)| {
        found.contains(wanted) || (wanted.0 == stricter.0 && found.contains(&stricter))
    };
    let missing = expected
        .iter()
        .filter(|wanted| !is_there(wanted))
        .map(|(name, _)| Fault::Schema { name: name.clone() });
    let strange = found
        .iter()
        .filter(|(name, _)| expected.iter().all(|(wanted, _)| wanted != name))
        .map(|(name, _)| Fault::Stranger { name: name.clone() });
    Ok(missing.chain(strange).collect())
}

/// Every table, index and trigger by name, with the text that made it.
fn definitions(connection: &Connection) -> Result<Vec<(String, String)>, StoreError> {
    let all = "SELECT name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name";
    let mut statement = connection.prepare(all).map_err(failure)?;
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).map_err(failure)?;
    rows.collect::<Result<_, _>>().map_err(failure)
}

/// The first column of every row.
fn column(connection: &Connection, sql: &str) -> Result<Vec<String>, StoreError> {
    let mut statement = connection.prepare(sql).map_err(failure)?;
    let rows = statement.query_map([], |row| row.get(0)).map_err(failure)?;
    rows.collect::<Result<_, _>>().map_err(failure)
}

/// A count, if it is not zero.
fn some(connection: &Connection, sql: &str) -> Result<Option<u64>, StoreError> {
    let count: i64 = connection.query_row(sql, [], |row| row.get(0)).map_err(failure)?;
    Ok(u64::try_from(count).ok().filter(|&count| count > 0))
}
