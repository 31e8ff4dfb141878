//! Every ceiling, once.
//!
//! Owns the numbers that bound reads, queues, lists and loops. [`Limits::standard`] is what the specification says; an
//! embedding program may lower any of them and raise those that guard no boundary, and a raised one is recorded in the
//! result that it shaped ([`Limits::raised`]).

use std::time::Duration;

/// Lines of both bodies together that a difference is looked for in.
pub const DIFFERENCE_LINES: usize = 20_000;

/// Bytes of neighbouring lines, removed and added, whose words are compared.
pub const DIFFERENCE_WORD_BYTES: usize = 64 * 1024;

/// The ceilings of one workspace. Sizes in bytes, texts in characters, the rest are counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Folders that may ever be approved, revoked ones included.
    pub folders: usize,
    /// What one scan visits.
    pub scan: ScanLimits,
    /// Passages in a report.
    pub passages: usize,
    /// Passages of one file in a report.
    pub passages_per_file: usize,
    /// Characters in a passage.
    pub passage_characters: usize,
    /// Characters kept before and after a passage.
    pub context_characters: usize,
    /// Characters in a query.
    pub query_characters: usize,
    /// Tasks that wait in the queue.
    pub queued: usize,
    /// How long a lease lasts from its start or its last renewal.
    pub lease: Duration,
    /// How long after its start a lease may last at most, beyond the time of a scan.
    pub lease_slack: Duration,
    /// How often a worker that makes progress renews.
    pub renewal: Duration,
    /// Leases that may end without a word before a task is given up.
    pub attempts: u32,
    /// How long a client key stands for its first request.
    pub key_life: Duration,
    /// Old client keys forgotten with each new one.
    pub keys_forgotten: u32,
    /// How long looking at sources may take.
    pub refresh: Duration,
    /// How long a worker waits between two looks at everything that is cited.
    pub interval: Duration,
    /// How long a proposal waits for approval.
    pub proposal_life: Duration,
    /// Unexpired restores that wait for approval in one workspace.
    pub pending_restores: usize,
    /// How long the same refusal of the same proposal is logged once.
    pub refusal_quiet: Duration,
    /// Entries in a list.
    pub list: u32,
    /// Candidates told for an id that is not unique.
    pub candidates: u32,
    /// Rows read at once where everything is read page by page.
    pub page: u32,
    /// Bytes of a stored body.
    pub body_bytes: usize,
    /// Bytes of stored dependencies.
    pub dependency_bytes: usize,
    /// Bytes of a stored verification.
    pub verification_bytes: usize,
    /// Bytes of a stored scan record.
    pub scan_bytes: usize,
    /// Bytes of the stored record of what an approval binds.
    pub binding_bytes: usize,
    /// Bytes of an export that is read back.
    pub export_bytes: usize,
    /// Nesting of stored JSON, and of an export.
    pub json_depth: usize,
    /// How long to wait for the write lock.
    pub lock_wait: Duration,
    /// How long one transaction may last.
    pub transaction: Duration,
}

/// What one scan visits at most, and how much of a file is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScanLimits {
    /// Candidate files: regular files that pass the rules.
    pub files: usize,
    /// Directory entries visited.
    pub entries: u64,
    /// Directories below the root that are gone down.
    pub depth: usize,
    /// Time in all.
    pub time: Duration,
    /// Bytes of one file.
    pub file_bytes: usize,
    /// Times that a file which changes while it is read is read.
    pub reads: u32,
    /// Threads that read.
    pub threads: usize,
}

impl Limits {
    /// The ceilings of the specification.
    #[must_use]
    pub const fn standard() -> Self {
        Self {
            folders: 256,
            scan: ScanLimits::standard(),
            passages: 6,
            passages_per_file: 3,
            passage_characters: 1200,
            context_characters: 32,
            query_characters: 4000,
            queued: 20,
            lease: Duration::from_secs(30),
            lease_slack: Duration::from_secs(15),
            renewal: Duration::from_secs(5),
            attempts: 3,
            key_life: Duration::from_secs(24 * 60 * 60),
            keys_forgotten: 64,
            refresh: Duration::from_secs(30),
            interval: Duration::from_secs(60),
            proposal_life: Duration::from_secs(60 * 60),
            pending_restores: 20,
            refusal_quiet: Duration::from_secs(60),
            list: 100,
            candidates: 10,
            page: 5000,
            body_bytes: 256 * 1024,
            dependency_bytes: 16 * 1024,
            verification_bytes: 8 * 1024,
            scan_bytes: 256 * 1024,
            binding_bytes: 32 * 1024,
            export_bytes: 2 * 1024 * 1024,
            json_depth: 64,
            lock_wait: Duration::from_secs(1),
            transaction: Duration::from_secs(3),
        }
    }

    /// The limits above the standard that shape a report, by name with their number.
    #[must_use]
    pub fn raised(&self) -> Vec<(&'static str, u64)> {
        let usual = Self::standard();
        [
            ("files", self.scan.files as u64, usual.scan.files as u64),
            ("entries", self.scan.entries, usual.scan.entries),
            ("depth", self.scan.depth as u64, usual.scan.depth as u64),
            ("seconds", self.scan.time.as_secs(), usual.scan.time.as_secs()),
            ("bytes of a file", self.scan.file_bytes as u64, usual.scan.file_bytes as u64),
            ("passages", self.passages as u64, usual.passages as u64),
            ("passages of a file", self.passages_per_file as u64, usual.passages_per_file as u64),
            (
                "characters of a passage",
                self.passage_characters as u64,
                usual.passage_characters as u64,
            ),
        ]
        .into_iter()
        .filter(|(_, mine, usual)| mine > usual)
        .map(|(name, mine, _)| (name, mine))
        .collect()
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self::standard()
    }
}

impl ScanLimits {
    /// The ceilings of the specification, with two reading threads.
    #[must_use]
    pub const fn standard() -> Self {
        Self {
            files: 2000,
            entries: 200_000,
            depth: 64,
            time: Duration::from_secs(30),
            file_bytes: 256 * 1024,
            reads: 3,
            threads: 2,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // spec: L
    #[test]
    fn only_what_was_raised_is_told() {
        let mut limits = Limits::standard();
        assert_eq!(limits.raised(), []);
        limits.scan.files = 5000;
        limits.passages = 3;
        assert_eq!(limits.raised(), [("files", 5000)]);
    }
}
