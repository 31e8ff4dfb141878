//! Planted faults: mistakes that the proofs must catch, because a suite that never fails proves nothing.
//!
//! Each is one line where the mistake would be made, asks [`is_planted`], and is chosen at run time by name. Without
//! the feature `plant` the answer is a constant `false`, so that no build in use contains any of them. The list with
//! what each would do to a user, and which lane catches it, stands on that lane's page (`tests/README.md`).

#[cfg(feature = "plant")]
use std::sync::atomic::{AtomicUsize, Ordering};

macro_rules! faults {
    ($($(#[doc = $doc:literal])+ $fault:ident = $name:literal,)+) => {
        /// A mistake.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Fault {$(
            $(#[doc = $doc])+
            $fault,
        )+}

        impl Fault {
            /// Every one of them.
            pub const ALL: &'static [Self] = &[$(Self::$fault),+];

            /// Its name, as it is chosen.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {$(Self::$fault => $name,)+}
            }
        }
    };
}

faults! {
    /// A quotation one byte longer than the passage that was found.
    QuotationExact = "quotation-exact",
    /// A quotation counts as intact if it stands anywhere in the file, also within another word.
    FindingLoose = "finding-loose",
    /// An approval is not marked as used.
    SingleUse = "single-use",
    /// A write is not refused when its task has a newer fencing number.
    FencingNumber = "fencing-number",
    /// A worker may write after its lease has ended.
    LeaseEnd = "lease-end",
    /// A cancelled task may still succeed.
    Cancellation = "cancellation",
    /// A proposal can be applied after its hour.
    Expiry = "expiry",
    /// Time that was set back brings an expired proposal back.
    TimeBack = "time-back",
    /// A proposal can be applied over another revision than the one it was made for.
    BaseRevision = "base-revision",
    /// The proposed body is not part of the fingerprint.
    BodyBinding = "body-binding",
    /// What is seen of the sources is not compared with what the approval binds.
    ObservationBinding = "observation-binding",
    /// The fingerprint that is presented is not compared.
    Presented = "presented",
    /// A new repair leaves the older one pending.
    Supersede = "supersede",
    /// The event of an act is left out of its transaction.
    AuditTogether = "audit-together",
    /// An answer is given before its commit.
    AcknowledgedEarly = "acknowledged-early",
    /// A commit that reported an error is taken for one that did not happen.
    DoubtIsNo = "doubt-is-no",
    /// A commit that reported an error is settled by a look instead of an event under the lock.
    PlainLook = "plain-look",
    /// A change of a row is written over whatever version is stored.
    RowVersion = "row-version",
    /// A failed look at a folder is taken for an empty folder.
    FailedIsMissing = "failed-is-missing",
    /// Changed bytes are told as checked, if the size is the same.
    ChangedIsChecked = "changed-is-checked",
    /// A source that was not reached counts as checked.
    UnreachedIsChecked = "unreached-is-checked",
    /// Counts of `status` hold results that access was withdrawn from.
    RedactionCount = "redaction-count",
    /// A list tells of a hidden result what it tells of others.
    RedactionList = "redaction-list",
    /// History shows earlier revisions whose sources were withdrawn.
    RedactionHistory = "redaction-history",
    /// A grant that lies inside another does not end it.
    NestedGrant = "nested-grant",
    /// A link in a path is followed.
    Containment = "containment",
    /// What was opened is not compared with what was looked at.
    SwappedFile = "swapped-file",
    /// The instance's own files are read like others.
    OwnFile = "own-file",
    /// A file that changed while it was read is taken as it is.
    TornRead = "torn-read",
    /// A name that is not UTF-8 is read as its replacement.
    LossyName = "lossy-name",
    /// A file is opened without the flag that keeps a FIFO from blocking.
    BlockingOpen = "blocking-open",
    /// The limit of a scan's entries is not heeded.
    EntryLimit = "entry-limit",
    /// One step of the migration is left out.
    MigrationStep = "migration-step",
    /// The migration commits half-way.
    MigrationHalfway = "migration-halfway",
    /// A newer database is opened.
    NewerDatabase = "newer-database",
    /// A new database is not synced before it is used.
    CreationUnsynced = "creation-unsynced",
    /// Commits are not synced.
    Unsynced = "unsynced",
    /// Fields of a digest are joined without their lengths.
    CanonicalSeparators = "canonical-separators",
    /// A stored document is not compared with its digest.
    StoredDigest = "stored-digest",
    /// An error of a commit is swallowed.
    SwallowedError = "swallowed-error",
    /// A revision that is no longer accepted is deleted.
    LostRevision = "lost-revision",
    /// A request that is repeated with its key makes a second task.
    RepeatedRequest = "repeated-request",
    /// A long query is cut by bytes, also in the middle of a character.
    QueryPanic = "query-panic",
}

/// Which fault is planted: its place in the list, counted from one.
#[cfg(feature = "plant")]
static PLANTED: AtomicUsize = AtomicUsize::new(0);

/// Whether this fault is planted in this process.
#[cfg(feature = "plant")]
#[must_use]
pub fn is_planted(fault: Fault) -> bool {
    PLANTED.load(Ordering::Relaxed) == fault as usize + 1
}

/// Whether this fault is planted: in this build, none is.
#[cfg(not(feature = "plant"))]
#[must_use]
#[inline(always)]
pub const fn is_planted(_: Fault) -> bool {
    false
}

/// Plants one fault in this process, or takes the planted one out.
#[cfg(feature = "plant")]
pub fn plant(fault: Option<Fault>) {
    PLANTED.store(fault.map_or(0, |fault| fault as usize + 1), Ordering::Relaxed);
}

/// Plants the fault of this name, for a program that is told by its environment.
///
/// # Panics
/// When there is no fault of this name: a proof that plants nothing would prove nothing.
#[cfg(feature = "plant")]
pub fn plant_by_name(name: &str) {
    let found = Fault::ALL.iter().copied().find(|fault| fault.name() == name);
    plant(Some(found.unwrap_or_else(|| panic!("no fault is called {name}"))));
}

#[cfg(all(test, feature = "plant"))]
mod tests {
    use super::*;

    #[test]
    fn one_fault_is_planted_at_a_time_and_taken_out_again() {
        let planted =
            || Fault::ALL.iter().copied().filter(|fault| is_planted(*fault)).collect::<Vec<_>>();
        for &fault in Fault::ALL {
            plant_by_name(fault.name());
            assert_eq!(planted(), [fault]);
        }
        plant(None);
        assert_eq!(planted(), []);
    }
}
