//! One idea per example: run one with `cargo run -p work-examples --example embed`.
//!
//! - `embed`: a durable report over a folder, in twenty lines.
//! - `own_sources`: ask questions of records that your program holds itself.
//! - `own_store`: keep the records elsewhere, and show with our suite that your store is correct.
//! - `prove_store`: run whole workspaces over your store under faults, beside a model.
//!
//! `handbook/` holds sample documents of an invented company, to try things on.
