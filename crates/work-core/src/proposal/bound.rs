//! What an approval binds, and the one digest over it.

use super::{Fingerprint, Proposal, ProposalKind};
use crate::canonical::Canonical;
use crate::digest::Digest;
use crate::document::stored::{Binding, BoundSource};
use crate::id::{OwnerId, ProposalId, ResultId, WorkspaceId};
use crate::plant::{Fault, is_planted};
use crate::result::RevisionNo;
use crate::time::Timestamp;

/// Everything that an approval binds (spec P4). Change any of it, and the fingerprint is another.
///
/// ```
/// # use work_core::{digest::Digest, document::stored::Binding, id::*, proposal::*, result::RevisionNo, time::Timestamp};
/// let nothing = Digest::of(b"");
/// let bound = Bound {
///     proposal: ProposalId::from_bytes([1; 16]),
///     kind: ProposalKind::Restore(RevisionNo(1)),
///     workspace: WorkspaceId::from_bytes([2; 16]),
///     owner: OwnerId::from_bytes([3; 16]),
///     result: ResultId::from_bytes([4; 16]),
///     base: RevisionNo(2),
///     base_body: nothing,
///     body: nothing,
///     dependencies: nothing,
///     verification: nothing,
///     scan: nothing,
///     observed: &Binding(Vec::new()),
///     created_at: Timestamp::from_seconds(0),
///     expires_at: Timestamp::from_seconds(3600),
/// };
/// let later = Bound { expires_at: Timestamp::from_seconds(3601), ..bound };
/// assert_ne!(bound.fingerprint(), later.fingerprint());
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Bound<'a> {
    /// The proposal.
    pub proposal: ProposalId,
    /// What it would do; of a restore, also which revision it brings back.
    pub kind: ProposalKind,
    /// In which workspace.
    pub workspace: WorkspaceId,
    /// Whose.
    pub owner: OwnerId,
    /// Whose next revision.
    pub result: ResultId,
    /// The accepted revision that it was made for.
    pub base: RevisionNo,
    /// That revision's body.
    pub base_body: Digest,
    /// The proposed body.
    pub body: Digest,
    /// The document of its dependencies, which holds the version of each.
    pub dependencies: Digest,
    /// What was checked for it.
    pub verification: Digest,
    /// What was scanned for it.
    pub scan: Digest,
    /// What was seen of every source of both bodies.
    pub observed: &'a Binding,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it expires.
    pub expires_at: Timestamp,
}

impl Bound<'_> {
    /// The digest over the canonical bytes `work.fingerprint/2`, each field in the order in which it stands here. Of a
    /// restore the kind is followed by the revision brought back, of a repair by nothing. The sources are counted, then
    /// each is its id and its version (digest, full size, 1 if it was cut) or nothing if it was missing.
    ///
    /// Version 1 bound neither the accepted body nor the owner, and no source.
    #[must_use]
    pub fn fingerprint(&self) -> Fingerprint {
        let Self {
            proposal,
            kind,
            workspace,
            owner,
            result,
            base,
            base_body,
            body,
            dependencies,
            verification,
            scan,
            observed,
            created_at,
            expires_at,
        } = self;
        let named =
            Canonical::new("work.fingerprint/2").bytes(&proposal.bytes()).text(kind.as_str());
        let fields = match kind.restores() {
            Some(no) => named.number(no.0),
            None => named.nothing(),
        };
        let fields = fields
            .bytes(&workspace.bytes())
            .bytes(&owner.bytes())
            .bytes(&result.bytes())
            .number(base.0)
            .bytes(base_body.bytes())
            .bytes(if is_planted(Fault::BodyBinding) { base_body } else { body }.bytes())
            .bytes(dependencies.bytes())
            .bytes(verification.bytes())
            .bytes(scan.bytes())
            .count(observed.0.len());
        let fields = observed.0.iter().fold(fields, source);
        Fingerprint(fields.at(*created_at).at(*expires_at).digest())
    }
}

impl Proposal {
    /// The fingerprint that version 1 gave a repair: the digest over the canonical bytes `work.fingerprint/1`, which are
    /// id, result, base, digest of the proposed body, when it was made and when it expires. Proposals that ended before
    /// version 2 keep it. It applies nothing.
    #[must_use]
    pub fn fingerprint_1(&self) -> Fingerprint {
        let fields = Canonical::new("work.fingerprint/1")
            .bytes(&self.id.bytes())
            .bytes(&self.result.bytes())
            .number(self.base.0)
            .bytes(self.body.bytes());
        Fingerprint(fields.at(self.created_at).at(self.expires_at).digest())
    }
}

/// One source and what was seen of it.
fn source(fields: Canonical, bound: &BoundSource) -> Canonical {
    let BoundSource { source_id, version } = bound;
    let fields = fields.bytes(&source_id.bytes());
    match version {
        Some(seen) => {
            fields.bytes(seen.digest.bytes()).number(seen.size).number(u64::from(seen.cut))
        }
        None => fields.nothing(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::{SourceId, TaskId};
    use crate::proposal::ProposalState;
    use crate::source::SourceVersion;
    use crate::task::Fence;
    use crate::time::Era;
    use std::collections::BTreeSet;

    const REPAIR: ProposalKind =
        ProposalKind::Repair { task: TaskId::from_bytes([9; 16]), fence: Fence(1) };

    const fn digest(byte: u8) -> Digest {
        Digest::from_bytes([byte; 32])
    }

    const fn seen(n: u8) -> BoundSource {
        let version = SourceVersion { digest: digest(n), size: 10, cut: false };
        BoundSource { source_id: SourceId::from_bytes([n; 16]), version: Some(version) }
    }

    fn binding() -> Binding {
        Binding(vec![seen(20), BoundSource { version: None, ..seen(21) }])
    }

    fn bound(observed: &Binding) -> Bound<'_> {
        Bound {
            proposal: ProposalId::from_bytes([1; 16]),
            kind: REPAIR,
            workspace: WorkspaceId::from_bytes([2; 16]),
            owner: OwnerId::from_bytes([3; 16]),
            result: ResultId::from_bytes([4; 16]),
            base: RevisionNo(5),
            base_body: digest(6),
            body: digest(7),
            dependencies: digest(8),
            verification: digest(9),
            scan: digest(10),
            observed,
            created_at: Timestamp::from_seconds(11),
            expires_at: Timestamp::from_seconds(3611),
        }
    }

    // spec: P4
    // Computed by another program from the description of the canonical bytes.
    #[test]
    fn the_fingerprint_of_version_2_never_changes() {
        let observed = binding();
        let golden = [
            (REPAIR, "ec4989286aa677b5d5ff75653f260eb13dc98b4615005babf02b1ee04bca8d83"),
            (
                ProposalKind::Restore(RevisionNo(3)),
                "cc8b97d7e7618a7a4d1e6eb12437b806d6951304d99bad79acbb2d6a94fb94a6",
            ),
        ];
        for (kind, digest) in golden {
            let bound = Bound { kind, ..bound(&observed) };
            assert_eq!(bound.fingerprint().to_string(), digest, "{kind:?}");
        }
    }

    // spec: D2 P4
    // Computed by another program from the description of the canonical bytes.
    #[test]
    fn the_fingerprint_of_version_1_never_changes() {
        let proposal = Proposal {
            id: ProposalId::from_bytes([1; 16]),
            result: ResultId::from_bytes([4; 16]),
            kind: REPAIR,
            state: ProposalState::Pending,
            base: RevisionNo(5),
            body: digest(7),
            dependencies: digest(8),
            verification: digest(9),
            scan: digest(10),
            binding: digest(11),
            fingerprint: Fingerprint(digest(12)),
            created_at: Timestamp::from_seconds(11),
            expires_at: Timestamp::from_seconds(3611),
            era: Era(0),
        };
        let golden = "f6fd167f020226d6707ec05eb9591eb4de3b5de96fd74a3dc17775922da0ec7a";
        assert_eq!(proposal.fingerprint_1().to_string(), golden);
    }

    // spec: P4
    #[test]
    fn a_change_of_any_one_field_gives_another_fingerprint() {
        let observed = binding();
        let was = bound(&observed);
        let version = |change: fn(SourceVersion) -> SourceVersion| {
            let first = BoundSource { version: seen(20).version.map(change), ..seen(20) };
            Binding(vec![first, binding().0[1]])
        };
        let others = [
            version(|version| SourceVersion { digest: digest(22), ..version }),
            version(|version| SourceVersion { size: 11, ..version }),
            version(|version| SourceVersion { cut: true, ..version }),
            Binding(vec![BoundSource { version: None, ..seen(20) }, binding().0[1]]),
            Binding(vec![seen(20), seen(21)]),
            Binding(vec![seen(20)]),
            Binding(vec![binding().0[1], seen(20)]),
            Binding(vec![
                BoundSource { source_id: SourceId::from_bytes([23; 16]), ..seen(20) },
                binding().0[1],
            ]),
            Binding(Vec::new()),
        ];
        let fields = [
            was,
            Bound { proposal: ProposalId::from_bytes([99; 16]), ..was },
            Bound { kind: ProposalKind::Restore(RevisionNo(1)), ..was },
            Bound { kind: ProposalKind::Restore(RevisionNo(2)), ..was },
            Bound { workspace: WorkspaceId::from_bytes([99; 16]), ..was },
            Bound { owner: OwnerId::from_bytes([99; 16]), ..was },
            Bound { result: ResultId::from_bytes([99; 16]), ..was },
            Bound { base: RevisionNo(99), ..was },
            Bound { base_body: digest(99), ..was },
            Bound { body: digest(99), ..was },
            Bound { dependencies: digest(99), ..was },
            Bound { verification: digest(99), ..was },
            Bound { scan: digest(99), ..was },
            Bound { created_at: Timestamp::from_seconds(99), ..was },
            Bound { expires_at: Timestamp::from_seconds(99), ..was },
        ];
        let observed = others.iter().map(|observed| Bound { observed, ..was });
        let all: Vec<Fingerprint> =
            fields.into_iter().chain(observed).map(|bound| bound.fingerprint()).collect();
        let distinct: BTreeSet<Fingerprint> = all.iter().copied().collect();
        assert_eq!(distinct.len(), all.len());
    }

    // spec: P4
    #[test]
    fn fields_that_trade_places_give_another_fingerprint() {
        let observed = binding();
        let was = bound(&observed);
        let swapped = Bound { base_body: was.body, body: was.base_body, ..was };
        assert_ne!(swapped.fingerprint(), was.fingerprint());
    }

    // The run that made a repair is how it came to be, and nothing that was shown.
    #[test]
    fn the_run_behind_a_repair_is_not_bound() {
        let observed = binding();
        let other = ProposalKind::Repair { task: TaskId::from_bytes([8; 16]), fence: Fence(7) };
        let was = bound(&observed);
        assert_eq!(Bound { kind: other, ..was }.fingerprint(), was.fingerprint());
    }
}
