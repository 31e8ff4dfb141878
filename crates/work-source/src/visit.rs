//! One file: gone down to, looked at, read, handed to the probe.
//!
//! Shared by scan and look. Owns the order of these steps and nothing else.

use crate::crew::{Ground, LeftBehind, Slot};
use crate::facts::Fault;
use crate::platform::Sight;
use crate::read::{Buffers, Caps, Read, Spot, can_be_read, stable};
use crate::territory::{Halt, Reach, Root, Territory, Trail, parents};
use std::sync::Arc;
use work_core::path::RelPath;
use work_core::port::{Known, Place, Probe};

/// What every visit of one call shares.
#[derive(Clone)]
pub(crate) struct Party {
    /// Whose is what.
    pub(crate) territory: Arc<Territory>,
    /// Who wants the bytes.
    pub(crate) probe: Arc<dyn Probe>,
    /// How much of a file is read.
    pub(crate) caps: Caps,
}

/// A file to visit.
pub(crate) struct Visit<'a> {
    /// The root to go down from.
    pub(crate) root: &'a Root,
    /// What hangs together with it.
    pub(crate) ground: &'a Ground,
    /// Which file.
    pub(crate) place: Place,
    /// What may be trusted of it.
    pub(crate) known: Option<Known>,
}

/// What a visit came to, and the grant that decided.
pub(crate) enum Visited {
    /// The probe had its bytes.
    Read(Read),
    /// It could be opened, and is what is known of it.
    Known(Known),
    /// The probe did not want them.
    Unwanted,
    /// It was not read.
    Not(Fault),
}

impl Party {
    /// Visits a file; `permit` says whether what was reached may be read, or may be told to be missing.
    pub(crate) fn visit(
        &self,
        visit: Visit<'_>,
        buffers: &mut Buffers,
        slot: &Slot,
        permit: impl Fn(&Territory, &Reach, &RelPath) -> Result<(), Fault>,
    ) -> Result<(usize, Visited), LeftBehind> {
        let Visit { root, ground, place, known } = visit;
        let see = |trail: &mut Trail| self.see(root, &place.path, trail, &permit);
        let seen = slot.away(ground, || see(&mut buffers.trail))?;
        let (reach, sight) = match seen {
            Ok(seen) => seen,
            Err(Halt { fault, reach }) => return Ok((reach.owner, Visited::Not(fault))),
        };
        if !self.probe.wants(&place, sight.facts.size) {
            return Ok((reach.owner, Visited::Unwanted));
        }
        let spot = Spot { dir: &reach.dir, name: place.path.last_name() };
        let guard = &self.territory.guard;
        if let Some(known) = known.filter(|known| self.stands(known, &reach, &sight))
            && slot.away(ground, || can_be_read(guard, spot, &sight))?
        {
            return Ok((reach.owner, Visited::Known(known)));
        }
        let found = (Arc::clone(&reach.dir), sight);
        let again = || match see(&mut Trail::default()) {
            Ok((at, sight)) if at.owner == reach.owner => Ok((at.dir, sight)),
            Err(Halt { fault, reach: at }) if at.owner == reach.owner => Err(fault),
            // Another grant decides there by now.
            Ok(_) | Err(_) => Err(Fault::Unstable),
        };
        let room = (&mut *buffers, slot);
        let name = place.path.last_name();
        let read = slot.away(ground, || stable(guard, name, found, again, self.caps, room))?;
        let visited = match read {
            Ok(read) => {
                self.probe.file(place, buffers.bytes(&read), read.facts.size);
                Visited::Read(read)
            }
            Err(fault) => Visited::Not(fault),
        };
        Ok((reach.owner, visited))
    }

    /// Whether what is known of a file is known of the one that was seen. On a yes it is still to be opened, because
    /// permission may be refused; if it cannot be, reading it tells why.
    fn stands(&self, known: &Known, reach: &Reach, sight: &Sight) -> bool {
        let owner = self.territory.grant(reach.owner).id;
        known.stands(sight.facts.stamp(), owner, self.caps.bytes)
    }

    /// Goes down to a file from the root and takes hold of it.
    ///
    /// From the root each time: a directory handle kept from file to file would still lead to a directory that was
    /// moved out of the folder meanwhile. What is kept is looked up again on the way.
    fn see(
        &self,
        root: &Root,
        path: &RelPath,
        trail: &mut Trail,
        permit: &impl Fn(&Territory, &Reach, &RelPath) -> Result<(), Fault>,
    ) -> Result<(Reach, Sight), Halt> {
        let territory = &*self.territory;
        let reach = match territory.descend(root, parents(path), trail) {
            Ok(reach) => reach,
            Err(halt) => return Err(forbidden_first(territory, halt, path, permit)),
        };
        let halt = |fault| Halt { fault, reach: reach.clone() };
        permit(territory, &reach, path).map_err(halt)?;
        let sight = territory.guard.see(&reach.dir, path.last_name()).map_err(halt)?;
        Ok((reach, sight))
    }
}

/// What may not be read is not told to be missing either.
fn forbidden_first(
    territory: &Territory,
    halt: Halt,
    path: &RelPath,
    permit: &impl Fn(&Territory, &Reach, &RelPath) -> Result<(), Fault>,
) -> Halt {
    match permit(territory, &halt.reach, path) {
        Ok(()) => halt,
        Err(fault) => Halt { fault, ..halt },
    }
}
