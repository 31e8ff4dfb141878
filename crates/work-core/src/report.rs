//! The body of a report, and the record of the scan behind it.
//!
//! Owns what a report says. How it reads as Markdown, text or JSON is [`document`](crate::document)'s; which passages
//! it holds is [`retrieve`](crate::retrieve)'s.

use crate::digest::Digest;
use crate::id::GrantId;
use crate::quote::Quotation;
use std::collections::BTreeMap;

/// What a report says: quotations, best first. Holds no ids, so that the same bytes are the same body anywhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Body {
    /// The quotations; the first has number 1.
    pub quotations: Vec<Quotation>,
}

/// What one scan visited. Stands beside the body, not in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScanRecord {
    /// How long it took.
    pub elapsed_ms: u64,
    /// What ended it before everything was visited.
    pub limit: Option<ScanLimit>,
    /// Each folder of the scope, in the order in which they took turns.
    pub folders: Vec<FolderScan>,
    /// Folders inside these that were approved by then, revoked ones too: outer and inner. What they hold was left out,
    /// so that withdrawing one later takes nothing from the outer one's counts.
    pub left_out: Vec<(GrantId, GrantId)>,
    /// The rules under which these were visited, as digests: under others the counts would tell of files that those
    /// exclude. Of a folder that does not stand here it is not known.
    pub rules: Vec<(GrantId, Digest)>,
}

/// What one scan visited of one folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FolderScan {
    /// The folder.
    pub grant: GrantId,
    /// Whether it could be gone into.
    pub reached: Reached,
    /// What was counted.
    pub counts: ScanCounts,
}

/// Whether a folder's root could be gone into.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Reached {
    /// It is the directory that was approved.
    Yes,
    /// It is not there, or hangs. Nothing follows from that about its files.
    Unreachable,
    /// It is another directory than the approved one, a link, revoked, or closed to this user.
    Denied,
}

/// Counts of one folder's scan.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ScanCounts {
    /// Directory entries visited.
    pub entries: u64,
    /// Candidate files: regular files that pass the rules.
    pub files_seen: u64,
    /// Files read to the end or to the limit of a file.
    pub files_read: u64,
    /// Files of which only the beginning was read.
    pub files_cut: u64,
    /// Bytes read.
    pub bytes_read: u64,
    /// What was left out, by reason; a directory counts once.
    pub skipped: BTreeMap<SkipReason, u64>,
}

impl ScanCounts {
    /// Counts one more left out for `reason`.
    pub fn skip(&mut self, reason: SkipReason) {
        *self.skipped.entry(reason).or_default() += 1;
    }
}

/// Why an entry was left out.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum SkipReason {
    /// An ignore file or an exclusion of the grant names it.
    Ignored,
    /// Its name begins with a dot.
    Hidden,
    /// Its extension is not among those approved.
    Extension,
    /// It is not text.
    NotText,
    /// Permission was refused.
    Denied,
    /// It is a link, whatever its name.
    Link,
    /// It is no regular file: a FIFO, a socket, a device.
    Special,
    /// It is a file of the instance itself.
    OwnFile,
    /// It belongs to another file system.
    OtherMount,
    /// It belongs to another grant.
    OtherGrant,
    /// It lies deeper than a scan goes.
    TooDeep,
    /// It changed at each of three reads.
    Unstable,
    /// It could not be read, or its name cannot be used here.
    Failed,
}

impl SkipReason {
    /// Every reason, in order.
    pub const ALL: [Self; 13] = [
        Self::Ignored,
        Self::Hidden,
        Self::Extension,
        Self::NotText,
        Self::Denied,
        Self::Link,
        Self::Special,
        Self::OwnFile,
        Self::OtherMount,
        Self::OtherGrant,
        Self::TooDeep,
        Self::Unstable,
        Self::Failed,
    ];

    /// The word for it on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ignored => "ignored",
            Self::Hidden => "hidden",
            Self::Extension => "extension",
            Self::NotText => "not_text",
            Self::Denied => "denied",
            Self::Link => "link",
            Self::Special => "special",
            Self::OwnFile => "own_file",
            Self::OtherMount => "other_mount",
            Self::OtherGrant => "other_grant",
            Self::TooDeep => "too_deep",
            Self::Unstable => "unstable",
            Self::Failed => "failed",
        }
    }
}

/// What ended a scan before everything was visited.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ScanLimit {
    /// Candidate files.
    Files,
    /// Directory entries.
    Entries,
    /// Depth: something lay deeper than a scan goes.
    Depth,
    /// Time.
    Time,
}

impl ScanLimit {
    /// The word for it on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Files => "files",
            Self::Entries => "entries",
            Self::Depth => "depth",
            Self::Time => "time",
        }
    }
}
