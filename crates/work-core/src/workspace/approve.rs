//! `approve`: a folder may be read from now on, under these rules.

use super::looks::{self, Looked};
use super::{Decision, Failure, Moment, Workspace};
use crate::audit::EventKind;
use crate::code::{Code, Coded};
use crate::document::wire::{FolderDoc, GrantEntry};
use crate::folder::{Grant, GrantState, Grants, Rules};
use crate::id::GrantId;
use crate::path::{HostPath, RelPath};
use crate::port::{
    AdmitRefusal, Change, Ground, Head, Kept, Observed, Put, ReadTx, Root, Sources, StoreError,
    Watch,
};
use crate::redact;
use crate::source::Look;
use std::sync::Arc;

/// What approving a folder changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Approved {
    /// It is approved for the first time.
    New,
    /// It is approved again: it was revoked, or another directory stands in its place.
    Again,
    /// Its rules are others now.
    Rules,
    /// Nothing: it was approved just so.
    Nothing,
}

/// Why a folder is not approved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ApproveError {
    /// It cannot be approved.
    #[error("the folder is refused: {0}")]
    Refused(#[from] AdmitRefusal),
    /// There are as many folders as there may be, revoked ones included.
    #[error("there are {0} folders already, as many as there may be")]
    TooMany(usize),
    /// Something broke.
    #[error(transparent)]
    Failed(#[from] Failure),
}

impl Coded for ApproveError {
    fn code(&self) -> Code {
        match self {
            Self::Refused(_) | Self::TooMany(_) => Code::FolderRefused,
            Self::Failed(cause) => cause.code(),
        }
    }
}

impl Workspace {
    /// Whether the directory at `path` may be approved. Changes nothing.
    ///
    /// # Errors
    /// [`ApproveError::Refused`] as the specification's I2 says.
    pub fn may_approve(&self, path: &HostPath) -> Result<(), ApproveError> {
        self.door.admit(path)?;
        Ok(())
    }

    /// Approves the directory at `path`; without `rules` it keeps those it has, or gets the standard ones.
    ///
    /// An approved one that changes nothing is answered as it is. A folder approved again keeps its grant, and its
    /// cited sources are looked at, so that they show again; how many were not reached in time is told, and those show
    /// again when somebody opens what quotes them.
    ///
    /// # Errors
    /// [`ApproveError`]: refused as the specification's I2 says, too many folders, or a failure.
    pub fn approve(
        &self,
        path: &HostPath,
        rules: Option<&Rules>,
        watch: &mut dyn Watch,
    ) -> Result<FolderDoc, ApproveError> {
        let root = self.door.admit(path)?;
        let looked = self.look_again(&root, rules, watch)?;
        let id = self.fresh(GrantId::from_bytes);
        self.act(
            |tx, _| Ok((tx.folders()?, looks::stored_in_pages(tx, &looked, self.limits.page)?)),
            |(folders, stored), moment| {
                let folders_in_all = folders.len();
                let change = change(&folders, &root, rules, id, moment);
                if change.is_new() && folders_in_all >= self.limits.folders {
                    return Err(ApproveError::TooMany(self.limits.folders));
                }
                Ok(decide(change, folders, &looked, &stored, moment))
            },
        )?
    }

    /// Looks at what is cited through the folder, and at what others cited that lies in it, as it will be once it is
    /// approved.
    fn look_again(
        &self,
        root: &Root,
        rules: Option<&Rules>,
        watch: &mut dyn Watch,
    ) -> Result<Vec<Looked>, Failure> {
        let found = self.read(|tx, moment| {
            let folders = tx.folders()?;
            let change = change(&folders, root, rules, GrantId::from_bytes([0; 16]), moment);
            let Some(grant) = change.again() else { return Ok(None) };
            let others = folders.iter().map(|kept| kept.value.clone());
            let all = others.map(|other| if other.id == grant.id { grant.clone() } else { other });
            let all = Grants::new(all.collect());
            let cited = cited_in(tx, &grant, &all, self.limits.page)?;
            Ok(Some((all, cited)))
        })?;
        let Some((all, cited)) = found else { return Ok(Vec::new()) };
        let ground = Ground { grants: all.as_slice(), scope: &[], limits: self.looking() };
        Ok(looks::look(self.door.as_ref(), ground, cited, Arc::new(looks::NoProbe), watch))
    }
}

/// Every source that was cited through a grant, or through one around it and lies in it by its path.
fn cited_in(
    tx: &mut dyn ReadTx,
    grant: &Grant,
    all: &Grants,
    page: u32,
) -> Result<Vec<Observed>, StoreError> {
    let mut cited = cited_under(tx, grant.id, None, page)?;
    for outer in all.iter().filter(|outer| all.inside(outer.id).any(|inner| inner.id == grant.id)) {
        let names: Vec<&[u8]> = grant.root.names().skip(outer.root.names().count()).collect();
        let below = RelPath::new(names.join(&b'/')).ok();
        cited.extend(cited_under(tx, outer.id, below.as_ref(), page)?);
    }
    Ok(cited)
}

/// Every source that was cited through a grant, or those of them that lie below a path, page by page.
fn cited_under(
    tx: &mut dyn ReadTx,
    grant: GrantId,
    below: Option<&RelPath>,
    most: u32,
) -> Result<Vec<Observed>, StoreError> {
    let (mut cited, mut after) = (Vec::new(), below.cloned());
    loop {
        let page = tx.sources(Sources::Under { grant, after: after.as_ref(), most })?;
        let Some(last) = page.last().map(|last| redact::to_look_at(&last.source).path) else {
            return Ok(cited);
        };
        let passed = below.is_some_and(|below| !last.is_below(below) && last >= below.sibling());
        cited.extend(page.into_iter().filter(|observed| {
            let path = redact::to_look_at(&observed.source).path;
            below.is_none_or(|below| path.is_below(below))
        }));
        if passed {
            return Ok(cited);
        }
        after = Some(last);
    }
}

/// A grant as it will be, and what of it changes.
struct GrantChange {
    what: Approved,
    grant: Grant,
    from: Option<Kept<Grant>>,
}

impl GrantChange {
    fn is_new(&self) -> bool {
        self.what == Approved::New
    }

    /// The grant, if it is one that was there and changes.
    fn again(self) -> Option<Grant> {
        matches!(self.what, Approved::Again | Approved::Rules).then_some(self.grant)
    }
}

/// What approving `root` makes of the folders.
fn change(
    folders: &[Kept<Grant>],
    root: &Root,
    rules: Option<&Rules>,
    id: GrantId,
    moment: &Moment,
) -> GrantChange {
    let from = folders.iter().find(|kept| kept.value.root == root.path).cloned();
    let (approved_at, since_look) = (moment.now.at, moment.head.looks + 1);
    match &from {
        None => {
            let all = Grants::new(folders.iter().map(|kept| kept.value.clone()).collect());
            let grant = Grant {
                id,
                site: moment.head.site,
                root: root.path.clone(),
                label: all.label_for(&root.path),
                identity: root.identity,
                rules: rules.cloned().unwrap_or_else(Rules::standard),
                state: GrantState::Active,
                approved_at,
                since_look,
                swept_at: None,
            };
            GrantChange { what: Approved::New, grant, from }
        }
        Some(Kept { value: was, .. }) => {
            let rules = rules.cloned().unwrap_or_else(|| was.rules.clone());
            let what = match was.state {
                GrantState::Revoked => Approved::Again,
                GrantState::Active if !was.identity.is_same(&root.identity) => Approved::Again,
                GrantState::Active if was.rules != rules => Approved::Rules,
                GrantState::Active => Approved::Nothing,
            };
            let (state, identity) = (GrantState::Active, root.identity);
            let grant = Grant {
                rules,
                state,
                identity,
                approved_at,
                since_look,
                swept_at: None,
                ..was.clone()
            };
            GrantChange { what, grant, from }
        }
    }
}

/// What is written for a change of a grant, with the looks at what is cited through it.
fn decide(
    change: GrantChange,
    folders: Vec<Kept<Grant>>,
    looked: &[Looked],
    stored: &looks::Stored,
    moment: &Moment,
) -> Decision<FolderDoc> {
    let GrantChange { what, grant, from } = change;
    let (word, kind) = match what {
        Approved::Nothing => {
            let kept = from.map_or(grant, |kept| kept.value);
            let folder = GrantEntry::of(&kept);
            return Decision::nothing(FolderDoc { folder, change: "unchanged", not_looked_at: 0 });
        }
        Approved::New => ("approved", EventKind::FolderApproved { folder: grant.id }),
        Approved::Again => ("approved_again", EventKind::FolderApproved { folder: grant.id }),
        Approved::Rules => ("rules_changed", EventKind::RulesChanged { folder: grant.id }),
    };
    let all = folders
        .into_iter()
        .map(|kept| if kept.value.id == grant.id { grant.clone() } else { kept.value });
    let all = Grants::new(all.collect());
    let looked: Vec<Looked> = looked.iter().map(|one| one.under(grant.id, &all)).collect();
    let after = Moment { head: Head { looks: grant.since_look, ..moment.head.clone() }, ..*moment };
    let noted = looks::notes(&looked, stored, &all, &after);
    let missed = looked.iter().filter(|one| one.fresh.look == Look::NotReached).count() as u64;
    let answer = FolderDoc { folder: GrantEntry::of(&grant), change: word, not_looked_at: missed };
    let put = match from {
        Some(kept) => Change::From(kept.version, grant),
        None => Change::New(grant),
    };
    let decision = Decision::act(answer, kind, vec![Put::Grant(put)]);
    // The approval itself is one more in the count.
    Decision { notes: noted.notes, looks: noted.count + 1, access_moved: true, ..decision }
}
