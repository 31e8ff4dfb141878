//! What a run leaves behind: `target/evidence/LANE.json`, from which the README quotes.

use serde::Serialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The evidence of one lane.
#[derive(Clone, Debug, Serialize)]
pub struct Evidence {
    /// The lane.
    pub lane: &'static str,
    /// What it did, by name.
    pub counts: BTreeMap<&'static str, u64>,
    /// Where its randomness began.
    pub seeds: Vec<u64>,
    /// How long all of it took.
    pub seconds: u64,
    /// Each planted fault.
    pub planted: Vec<Planted>,
    /// What could not run on this machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skipped: Option<String>,
}

/// What became of a planted fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Planted {
    /// The fault.
    pub name: &'static str,
    /// Whether the lane saw it.
    pub caught: bool,
    /// Cases up to and with the one that showed it.
    pub tries: u64,
}

impl Evidence {
    /// Where the evidence of a lane lies under `target`.
    #[must_use]
    pub fn path(target: &Path, lane: &str) -> PathBuf {
        target.join("evidence").join(format!("{lane}.json"))
    }

    /// Writes it under `target`; answers where.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(&self, target: &Path) -> std::io::Result<PathBuf> {
        let path = Self::path(target, self.lane);
        std::fs::create_dir_all(target.join("evidence"))?;
        let mut text = serde_json::to_string_pretty(self)?;
        text.push('\n');
        std::fs::write(&path, text)?;
        Ok(path)
    }
}
