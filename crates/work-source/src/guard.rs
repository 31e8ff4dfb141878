//! The one place where something under a grant is opened.
//!
//! Owns the order of checks: take hold of a name without opening it, look at what it is, refuse what is no candidate,
//! and only then open that same object. Start at [`Guard::see`].

use crate::facts::{Facts, Fault, Kind};
use crate::own::{OwnFiles, OwnSet};
use crate::platform::{Dir, Means, Sight, Tools};
use crate::seam::Seam;
use std::fs::File;
use std::sync::Arc;
use work_core::plant::{Fault as Planted, is_planted};

/// What every open under a grant passes.
#[derive(Debug)]
pub(crate) struct Guard {
    tools: Tools,
    own: Option<Arc<OwnFiles>>,
    at_start: OwnSet,
    /// Where a test steps in.
    pub(crate) seam: Seam,
}

impl Guard {
    /// A guard that knows the own files as they are now.
    pub(crate) fn new(means: Means, own: Option<Arc<OwnFiles>>, seam: Seam) -> Self {
        let at_start = own.as_ref().map_or_else(OwnSet::none, |own| own.now());
        Self { tools: Tools::new(means), own, at_start, seam }
    }

    /// Opens the directory `name` under `dir`. The instance's directory is none.
    pub(crate) fn step(&self, dir: &Dir, name: &[u8]) -> Result<Dir, Fault> {
        let child = dir.step(name, self.tools.means)?;
        if self.is_instance(&child) { Err(Fault::OwnFile) } else { Ok(child) }
    }

    /// Whether `dir` is the instance's directory.
    pub(crate) fn is_instance(&self, dir: &Dir) -> bool {
        self.own.as_ref().is_some_and(|own| own.directory().facts().id == dir.facts().id)
    }

    /// Takes hold of the file `name` under `dir`, which may be read, without opening it for reading.
    pub(crate) fn see(&self, dir: &Dir, name: &[u8]) -> Result<Sight, Fault> {
        let sight = dir.see(name)?;
        match sight.facts.kind {
            Kind::Link => Err(Fault::Link),
            Kind::Directory => Err(Fault::NotAFile),
            Kind::Special => Err(Fault::Special),
            Kind::File if sight.facts.mount != dir.facts().mount => Err(Fault::OtherMount),
            Kind::File if self.is_own(&sight.facts) => Err(Fault::OwnFile),
            Kind::File => Ok(sight),
        }
    }

    /// Opens for reading what was seen as `name` under `dir`.
    pub(crate) fn open(&self, sight: &Sight, dir: &Dir, name: &[u8]) -> Result<File, Fault> {
        sight.open(dir, name, &self.tools, &|facts| self.is_own(facts))
    }

    /// Whether a file is the instance's own. A file with several names is compared with what the instance has now: it
    /// may have come since the start.
    fn is_own(&self, facts: &Facts) -> bool {
        let now = || self.own.as_ref().is_some_and(|own| own.now().holds(facts));
        !is_planted(Planted::OwnFile) && (self.at_start.holds(facts) || (facts.links > 1 && now()))
    }

    /// Whether an entry of a listing is the instance's own. A look is needed only where the inode is one of theirs.
    pub(crate) fn lists_own(&self, dir: &Dir, name: &[u8], inode: u64) -> bool {
        self.at_start.may_hold(inode) && dir.look_up(name).is_ok_and(|facts| self.is_own(&facts))
    }
}
