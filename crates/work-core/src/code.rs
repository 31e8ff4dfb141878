//! The one table of codes: what a refusal or a failure is called, with its HTTP status, its exit code, and whether
//! trying again can help.
//!
//! Owns the words that programs rely on. Every error of a use case is [`Coded`]; front ends map nothing else.

/// A code that programs may rely on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Code {
    /// The query cannot be searched for.
    InvalidQuery,
    /// An argument is not what is expected.
    InvalidArgument,
    /// A prefix stands for more than one id.
    AmbiguousId,
    /// A cursor is of another list, or none.
    InvalidCursor,
    /// A directory cannot be approved.
    FolderRefused,
    /// There is nothing of this name.
    NotFound,
    /// The same client key was used for another request.
    KeyConflict,
    /// The task has ended.
    NotRunning,
    /// Another worker has the task, or the lease ended.
    LeaseLost,
    /// What was presented is not what was shown.
    FingerprintMismatch,
    /// An approval is used once.
    AlreadyUsed,
    /// A newer proposal took its place.
    Superseded,
    /// The owner said no to it.
    Dismissed,
    /// Its time is past.
    Expired,
    /// Access to a source was withdrawn.
    AccessRemoved,
    /// A source could not be looked at.
    EvidenceUnavailable,
    /// Another revision was accepted since.
    RevisionChanged,
    /// A source changed since.
    SourcesChanged,
    /// As many restores wait for approval as may.
    TooManyPending,
    /// A record does not fit its limit.
    TooLarge,
    /// Nothing in the sources matches.
    NoMatches,
    /// No folder of the scope is active and readable.
    NoSources,
    /// A task's leases ended without a word too often.
    Abandoned,
    /// The task was cancelled.
    Cancelled,
    /// Something broke.
    Internal,
    /// A write may have happened, and it cannot be told.
    UnknownOutcome,
    /// Somebody else is writing, or access kept changing.
    Busy,
    /// The queue has no room.
    QueueFull,
    /// Not every source that is needed could be looked at in time.
    RefreshIncomplete,
    /// Nothing was approved yet.
    SetupIncomplete,
    /// There is no room for a write.
    DiskFull,
    /// The database cannot be written.
    ReadOnly,
    /// The database lies on a network file system.
    NetworkFilesystem,
    /// The database is damaged.
    StoreDamaged,
    /// The database is newer than this program.
    StoreNewer,
    /// The database belongs to another program.
    StoreForeign,
}

impl Code {
    /// Every code, in the order of the table.
    pub const ALL: [Self; 36] = [
        Self::InvalidQuery,
        Self::InvalidArgument,
        Self::AmbiguousId,
        Self::InvalidCursor,
        Self::FolderRefused,
        Self::NotFound,
        Self::KeyConflict,
        Self::NotRunning,
        Self::LeaseLost,
        Self::FingerprintMismatch,
        Self::AlreadyUsed,
        Self::Superseded,
        Self::Dismissed,
        Self::Expired,
        Self::AccessRemoved,
        Self::EvidenceUnavailable,
        Self::RevisionChanged,
        Self::SourcesChanged,
        Self::TooManyPending,
        Self::TooLarge,
        Self::NoMatches,
        Self::NoSources,
        Self::Abandoned,
        Self::Cancelled,
        Self::Internal,
        Self::UnknownOutcome,
        Self::Busy,
        Self::QueueFull,
        Self::RefreshIncomplete,
        Self::SetupIncomplete,
        Self::DiskFull,
        Self::ReadOnly,
        Self::NetworkFilesystem,
        Self::StoreDamaged,
        Self::StoreNewer,
        Self::StoreForeign,
    ];

    /// The word, the HTTP status, the exit code, and whether trying again can help: the table of the specification.
    const fn row(self) -> (&'static str, u16, u8, bool) {
        match self {
            Self::InvalidQuery => ("invalid_query", 400, 2, false),
            Self::InvalidArgument => ("invalid_argument", 400, 2, false),
            Self::AmbiguousId => ("ambiguous_id", 400, 2, false),
            Self::InvalidCursor => ("invalid_cursor", 400, 2, false),
            Self::FolderRefused => ("folder_refused", 403, 13, false),
            Self::NotFound => ("not_found", 404, 12, false),
            Self::KeyConflict => ("key_conflict", 409, 11, false),
            Self::NotRunning => ("not_running", 409, 11, false),
            Self::LeaseLost => ("lease_lost", 409, 11, false),
            Self::FingerprintMismatch => ("fingerprint_mismatch", 409, 11, false),
            Self::AlreadyUsed => ("already_used", 409, 11, false),
            Self::Superseded => ("superseded", 409, 11, false),
            Self::Dismissed => ("dismissed", 409, 11, false),
            Self::Expired => ("expired", 409, 11, false),
            Self::AccessRemoved => ("access_removed", 409, 11, false),
            Self::EvidenceUnavailable => ("evidence_unavailable", 409, 11, false),
            Self::RevisionChanged => ("revision_changed", 409, 11, false),
            Self::SourcesChanged => ("sources_changed", 409, 11, false),
            Self::TooManyPending => ("too_many_pending", 409, 11, false),
            Self::TooLarge => ("too_large", 413, 1, false),
            Self::NoMatches => ("no_matches", 200, 1, false),
            Self::NoSources => ("no_sources", 200, 1, false),
            Self::Abandoned => ("abandoned", 200, 1, false),
            Self::Cancelled => ("cancelled", 200, 1, false),
            Self::Internal => ("internal", 500, 1, false),
            Self::UnknownOutcome => ("unknown_outcome", 500, 1, false),
            Self::Busy => ("busy", 503, 14, true),
            Self::QueueFull => ("queue_full", 503, 14, true),
            Self::RefreshIncomplete => ("refresh_incomplete", 503, 14, true),
            Self::SetupIncomplete => ("setup_incomplete", 503, 1, false),
            Self::DiskFull => ("disk_full", 503, 1, false),
            Self::ReadOnly => ("read_only", 503, 1, false),
            Self::NetworkFilesystem => ("network_filesystem", 503, 1, false),
            Self::StoreDamaged => ("store_damaged", 503, 15, false),
            Self::StoreNewer => ("store_newer", 503, 15, false),
            Self::StoreForeign => ("store_foreign", 503, 15, false),
        }
    }

    /// The word for it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        self.row().0
    }

    /// Its HTTP status.
    #[must_use]
    pub const fn status(self) -> u16 {
        self.row().1
    }

    /// The exit code of a command that ends with it.
    #[must_use]
    pub const fn exit(self) -> u8 {
        self.row().2
    }

    /// Whether doing the same again can help.
    #[must_use]
    pub const fn is_retryable(self) -> bool {
        self.row().3
    }
}

/// An error with a code.
pub trait Coded: std::error::Error {
    /// Its code.
    fn code(&self) -> Code;
}

#[cfg(test)]
mod tests {
    use super::*;

    // spec: E
    #[test]
    fn every_code_has_its_own_word() {
        let words: std::collections::BTreeSet<_> =
            Code::ALL.iter().map(|code| code.as_str()).collect();
        assert_eq!(words.len(), Code::ALL.len());
    }

    // spec: E
    #[test]
    fn only_what_waiting_can_mend_is_worth_another_try() {
        let retryable: Vec<_> = Code::ALL.iter().filter(|code| code.is_retryable()).collect();
        assert_eq!(retryable, [&Code::Busy, &Code::QueueFull, &Code::RefreshIncomplete]);
    }

    // spec: C7
    #[test]
    fn an_exit_code_follows_from_the_status() {
        for code in Code::ALL {
            let expected: &[u8] = match code.status() {
                400 => &[2],
                403 => &[13],
                404 => &[12],
                409 => &[11],
                200 | 413 | 500 => &[1],
                503 => &[1, 14, 15],
                other => panic!("{other} is in no row"),
            };
            assert!(expected.contains(&code.exit()), "{code:?}");
        }
    }
}
