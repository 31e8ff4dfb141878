//! Sources: files that saved records cite, their versions, and what was seen of them.
//!
//! Owns the words for a look's outcome. Refuses to say what may be shown of it: that is
//! [`redact`](crate::redact)'s.

use crate::digest::Digest;
use crate::id::{GrantId, SourceId};
use crate::path::RelPath;
use crate::redact::Sealed;
use crate::time::Timestamp;

/// One file under a grant that a saved record cites.
#[derive(Clone, Debug)]
pub struct Source {
    /// Its id, for Work's own filters.
    pub id: SourceId,
    /// The grant through which it was cited.
    pub grant: GrantId,
    /// Its path under that grant's root.
    pub path: Sealed<RelPath>,
}

/// Which bytes a file held: those read, at most 256 KiB of them.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SourceVersion {
    /// SHA-256 of the bytes read.
    pub digest: Digest,
    /// The file's full size in bytes.
    pub size: u64,
    /// Whether the file is longer than what was read of it.
    pub cut: bool,
}

/// What was seen of a source by a look that reached it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Seen {
    /// Its bytes.
    Bytes(SourceVersion),
    /// The directory that should hold it was opened and has none.
    Missing,
    /// It changed at each of three reads.
    Unstable,
    /// The folder was not mounted, an I/O error, or a read that hangs.
    Unreachable,
    /// The grant is revoked or its root replaced, the rules exclude it, or permission was refused on the way.
    Denied,
}

/// What a file system says of a file besides its bytes, in nanoseconds where it is time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Stamp {
    /// Device number.
    pub device: u64,
    /// Inode.
    pub inode: u64,
    /// Size in bytes.
    pub size: u64,
    /// Modification time.
    pub modified_ns: i64,
    /// Change time.
    pub changed_ns: i64,
}

/// The latest look at a source, as it is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Observation {
    /// The workspace's count of looks when it was saved.
    pub no: u64,
    /// What was seen.
    pub seen: Seen,
    /// The grant that decided: the deepest around the file, by identity.
    pub owner: GrantId,
    /// The file's stamp, if bytes were seen and a later look may trust it.
    pub stamp: Option<Stamp>,
    /// When.
    pub looked_at: Timestamp,
}

/// A door's answer for one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    /// The look reached it, or failed in a way that says something.
    Saw {
        /// What was seen.
        seen: Seen,
        /// The grant that decided.
        owner: GrantId,
        /// The file's stamp, if bytes were seen and a later look may trust it.
        stamp: Option<Stamp>,
    },
    /// Time ended or the caller stopped before its turn.
    NotReached,
}
