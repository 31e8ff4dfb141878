//! What a database holds, read without the product: every row of every table.

use rusqlite::config::DbConfig;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags};
use std::collections::BTreeMap;
use std::path::Path;
use work_core::digest::Digest;

/// Everything that a database holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct State {
    /// Over every row of every table, what makes them, and the number of the schema.
    pub(crate) digest: Digest,
    /// Rows by table.
    pub(crate) rows: BTreeMap<String, u64>,
    /// The acts in its log.
    pub(crate) acts: Vec<[u8; 16]>,
}

impl State {
    /// What the database at `path` holds, if it is sound.
    ///
    /// Looking changes nothing but shared memory: a connection that only reads, and puts no log into the database when
    /// it is closed.
    pub(crate) fn of(path: &Path) -> Result<Self, String> {
        let connection = raw(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        let found = read(&connection).map_err(|error| error.to_string())?;
        let check = connection.query_row("PRAGMA integrity_check(1)", [], |row| row.get(0));
        match check.as_ref().map(String::as_str) {
            Ok("ok") => Ok(found),
            Ok(broken) => Err(format!("the file is damaged: {broken}")),
            Err(error) => Err(error.to_string()),
        }
    }

    /// In which tables it has another number of rows, for a person to read.
    pub(crate) fn differs(&self, from: &Self) -> String {
        let all = self.rows.iter().filter(|(table, count)| from.rows.get(*table) != Some(count));
        let named: Vec<String> = all
            .map(|(table, count)| {
                format!("{table} has {count} rows, not {:?}", from.rows.get(table))
            })
            .collect();
        if named.is_empty() { "the same number of rows".to_owned() } else { named.join(", ") }
    }
}

/// A connection that obeys no port.
pub(crate) fn raw(path: &Path, access: OpenFlags) -> Result<Connection, String> {
    let open = || {
        let connection =
            Connection::open_with_flags(path, access | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
        connection.execute_batch("PRAGMA cache_size = -16000")?;
        Ok(connection)
    };
    open().map_err(|error: rusqlite::Error| format!("{} cannot be opened: {error}", path.display()))
}

fn read(connection: &Connection) -> rusqlite::Result<State> {
    connection.execute_batch("BEGIN")?;
    let mut bytes = Vec::new();
    let schema: i64 = connection.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    bytes.extend(schema.to_le_bytes());
    bytes.extend(definitions(connection)?.as_bytes());
    let mut tables = connection.prepare(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name",
    )?;
    let tables: Vec<String> = tables.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    let mut rows = BTreeMap::new();
    for table in tables {
        bytes.extend(table.as_bytes());
        let count = table_bytes(connection, &table, &mut bytes)?;
        rows.insert(table, count);
    }
    let acts = if rows.contains_key("event") { acts(connection)? } else { Vec::new() };
    Ok(State { digest: Digest::of(&bytes), rows, acts })
}

/// What makes each table, index and trigger.
fn definitions(connection: &Connection) -> rusqlite::Result<String> {
    let all = "SELECT coalesce(group_concat(sql, ';' ORDER BY name), '') FROM sqlite_schema";
    connection.query_row(all, [], |row| row.get(0))
}

/// Adds every row of a table; says how many there are.
fn table_bytes(connection: &Connection, table: &str, into: &mut Vec<u8>) -> rusqlite::Result<u64> {
    let mut all = connection.prepare(&format!("SELECT * FROM \"{table}\""))?;
    let columns = all.column_count();
    let (mut rows, mut count) = (all.query([])?, 0);
    while let Some(row) = rows.next()? {
        count += 1;
        for n in 0..columns {
            value_bytes(row.get_ref(n)?, into);
        }
    }
    Ok(count)
}

/// Adds a value, so that no two rows of values have the same bytes.
fn value_bytes(value: ValueRef<'_>, into: &mut Vec<u8>) {
    let (kind, bytes): (u8, &[u8]) = match value {
        ValueRef::Null => (0, &[]),
        ValueRef::Integer(number) => {
            into.push(1);
            return into.extend(number.to_le_bytes());
        }
        ValueRef::Real(number) => {
            into.push(2);
            return into.extend(number.to_le_bytes());
        }
        ValueRef::Text(bytes) => (3, bytes),
        ValueRef::Blob(bytes) => (4, bytes),
    };
    into.push(kind);
    into.extend((bytes.len() as u64).to_le_bytes());
    into.extend(bytes);
}

/// The acts of the log in order.
fn acts(connection: &Connection) -> rusqlite::Result<Vec<[u8; 16]>> {
    let mut all = connection.prepare("SELECT act FROM event ORDER BY seq")?;
    all.query_map([], |row| row.get(0))?.collect()
}
