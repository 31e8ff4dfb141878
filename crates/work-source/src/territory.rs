//! Whose a directory is (spec I3, I6).
//!
//! Owns the grants of one call and finds the deepest one around a file, going down by handles and comparing what each
//! directory is with what was approved, never names. Start at [`Territory::enter`] and [`Territory::descend`].

use crate::crew::Ground;
use crate::facts::Fault;
use crate::guard::Guard;
use crate::platform::{Dir, HELD_MAY_MOVE, native};
use crate::seam::Moment;
use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::Arc;
use work_core::folder::{Grant, GrantState, RootIdentity};
use work_core::id::{BootId, GrantId};
use work_core::path::RelPath;
use work_core::report::Reached;

/// All grants, and the guard that every open passes.
#[derive(Debug)]
pub(crate) struct Territory {
    grants: Vec<Grant>,
    grounds: Vec<Ground>,
    by_id: HashMap<GrantId, usize>,
    by_inode: HashMap<u64, Vec<usize>>,
    boot: BootId,
    /// The guard.
    pub(crate) guard: Guard,
}

/// A grant's root, opened and found to be what was approved.
#[derive(Debug)]
pub(crate) struct Root {
    /// The grant, by its number.
    pub(crate) grant: usize,
    /// The directory.
    dir: Arc<Dir>,
}

/// Directories that a thread keeps at most, so that deep paths do not use up the handles of this process.
const KEPT: usize = 16;

/// The directories by which a thread went down last, held so that those which still stand there need not be opened
/// again.
///
/// Nothing is taken on trust: each is looked up by its name in the one above it at each descent, and opened anew unless
/// it is the same. Looking costs a third of opening.
#[derive(Debug, Default)]
pub(crate) struct Trail {
    /// The grant at whose root it begins, by its number.
    from: Option<usize>,
    steps: Vec<Step>,
}

/// One directory of a trail.
#[derive(Debug)]
struct Step {
    name: Box<[u8]>,
    dir: Arc<Dir>,
    /// The grant whose root it is.
    owner: Option<usize>,
}

impl Trail {
    /// Forgets what does not begin at this grant's root.
    fn begin(&mut self, grant: usize) {
        if self.from != Some(grant) {
            *self = Self { from: Some(grant), steps: Vec::new() };
        }
    }

    /// The directory number `no` below the root, if it is the one that stands as `name` in `above` now.
    fn follow(&self, no: usize, above: &Dir, name: &[u8]) -> Option<(Option<usize>, Arc<Dir>)> {
        let step = self.steps.get(no).filter(|step| *step.name == *name)?;
        let now = above.look_up(name).ok()?;
        now.is_same_directory(step.dir.facts()).then(|| (step.owner, Arc::clone(&step.dir)))
    }

    /// Keeps the directory number `no` in place of what was kept from there on.
    fn keep(&mut self, no: usize, name: &[u8], owner: Option<usize>, dir: &Arc<Dir>) {
        self.steps.truncate(no);
        if HELD_MAY_MOVE && self.steps.len() == no && no < KEPT {
            self.steps.push(Step { name: name.into(), dir: Arc::clone(dir), owner });
        }
    }
}

/// How far a descent came.
#[derive(Clone, Debug)]
pub(crate) struct Reach {
    /// The last directory that was opened.
    pub(crate) dir: Arc<Dir>,
    /// The grant that decides there.
    pub(crate) owner: usize,
    /// Names between the grant one came from and the root of the one that decides.
    pub(crate) above: usize,
}

/// Where and why a descent ended early.
#[derive(Clone, Debug)]
pub(crate) struct Halt {
    /// Why.
    pub(crate) fault: Fault,
    /// Where.
    pub(crate) reach: Reach,
}

impl Territory {
    /// These grants.
    pub(crate) fn new(grants: &[Grant], boot: BootId, guard: Guard) -> Self {
        let mut by_inode: HashMap<u64, Vec<usize>> = HashMap::new();
        for (no, grant) in grants.iter().enumerate() {
            by_inode.entry(grant.identity.inode).or_default().push(no);
        }
        let grounds = grants.iter().map(|grant| Ground::new(grant.root.clone())).collect();
        let by_id = grants.iter().enumerate().rev().map(|(no, grant)| (grant.id, no)).collect();
        Self { grants: grants.to_vec(), grounds, by_id, by_inode, boot, guard }
    }

    /// The number of a grant.
    pub(crate) fn number(&self, id: GrantId) -> Option<usize> {
        self.by_id.get(&id).copied()
    }

    /// The grant with a number.
    pub(crate) fn grant(&self, no: usize) -> &Grant {
        &self.grants[no]
    }

    /// Where reads under a grant hang together.
    pub(crate) fn ground(&self, no: usize) -> Ground {
        Ground::clone(&self.grounds[no])
    }

    /// Opens the root of an active grant, if it is still the directory that was approved.
    pub(crate) fn enter(&self, no: usize) -> Result<Root, Reached> {
        let grant = &self.grants[no];
        if grant.state == GrantState::Revoked {
            return Err(Reached::Denied);
        }
        self.guard.seam.reach(Moment::Root, grant.root.last_name());
        let dir = Dir::root(&native(&grant.root)).map_err(|fault| reached(fault, grant))?;
        let identity = identity(&dir, self.boot).map_err(|_| Reached::Unreachable)?;
        if !grant.identity.is_same(&identity) {
            return Err(in_its_place(&dir, grant, &identity));
        }
        if self.guard.is_instance(&dir) {
            return Err(Reached::Denied);
        }
        Ok(Root { grant: no, dir: Arc::new(dir) })
    }

    /// Goes down from `root` by these names.
    pub(crate) fn descend<'n>(
        &self,
        root: &Root,
        names: impl Iterator<Item = &'n [u8]>,
        trail: &mut Trail,
    ) -> Result<Reach, Halt> {
        trail.begin(root.grant);
        let mut reach = Reach { dir: Arc::clone(&root.dir), owner: root.grant, above: 0 };
        for (no, name) in names.enumerate() {
            match self.step(&reach.dir, name, no, trail) {
                Ok((None, dir)) => reach.dir = dir,
                Ok((Some(owner), dir)) => reach = Reach { dir, owner, above: no + 1 },
                Err(fault) => return Err(Halt { fault, reach }),
            }
        }
        Ok(reach)
    }

    /// Goes down by one name, the one number `no`, and tells the grant whose root that is.
    fn step(
        &self,
        above: &Dir,
        name: &[u8],
        no: usize,
        trail: &mut Trail,
    ) -> Result<(Option<usize>, Arc<Dir>), Fault> {
        if let Some(found) = trail.follow(no, above, name) {
            return Ok(found);
        }
        let dir = Arc::new(self.guard.step(above, name)?);
        let owner = self.owner(&dir)?;
        trail.keep(no, name, owner, &dir);
        Ok((owner, dir))
    }

    /// The grant whose root a directory is, revoked ones too.
    ///
    /// If two were approved as the same directory, which was moved in between, the later approval is the owner's word.
    fn owner(&self, dir: &Dir) -> Result<Option<usize>, Fault> {
        let Some(numbers) = self.by_inode.get(&dir.facts().id.inode) else { return Ok(None) };
        let identity = identity(dir, self.boot)?;
        Ok(numbers
            .iter()
            .copied()
            .filter(|&no| self.grants[no].identity.is_same(&identity))
            .max_by_key(|&no| (self.grants[no].approved_at, no)))
    }
}

/// What a directory is, for an approval to remember.
pub(crate) fn identity(dir: &Dir, boot: BootId) -> Result<RootIdentity, Fault> {
    Ok(RootIdentity {
        inode: dir.facts().id.inode,
        born_ns: dir.facts().born_ns,
        filesystem: dir.filesystem()?,
        device: dir.facts().id.device,
        boot,
    })
}

/// The directories on the way to `path`.
pub(crate) fn parents(path: &RelPath) -> impl Iterator<Item = &[u8]> {
    path.names().take(path.names().count() - 1)
}

/// What it means that a root could not be opened.
fn reached(fault: Fault, grant: &Grant) -> Reached {
    match fault {
        Fault::NotADirectory if is_absent(grant) => Reached::Unreachable,
        Fault::Link | Fault::NotADirectory | Fault::Denied => Reached::Denied,
        Fault::Missing
        | Fault::NotAFile
        | Fault::Special
        | Fault::OwnFile
        | Fault::OtherMount
        | Fault::OtherGrant
        | Fault::Unstable
        | Fault::Failed => Reached::Unreachable,
    }
}

/// Whether a directory above the root is none any more, so that nothing stands in the root's own place.
fn is_absent(grant: &Grant) -> bool {
    std::fs::symlink_metadata(native(&grant.root)).is_err()
}

/// What it means that another directory stands in a root's place: an empty one of another file system is a mount point
/// without its mount.
fn in_its_place(dir: &Dir, grant: &Grant, found: &RootIdentity) -> Reached {
    if found.filesystem != grant.identity.filesystem && is_empty(dir) {
        Reached::Unreachable
    } else {
        Reached::Denied
    }
}

/// Whether a directory can be listed and holds nothing.
fn is_empty(dir: &Dir) -> bool {
    let mut empty = true;
    let listed = dir.list(&mut |_, _, _| {
        empty = false;
        ControlFlow::Break(())
    });
    listed.is_ok() && empty
}
