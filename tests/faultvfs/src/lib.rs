//! A file layer of SQLite that records what is written and fails what it is told to.
