//! Handing answers out: built from one snapshot, and only while what may be seen stays as it was.

use super::{Failure, Moment, Workspace};
use crate::folder::Grant;
use crate::id::GrantId;
use crate::port::{ReadTx, StoreError};
use crate::report::Reached;
use std::collections::BTreeMap;

/// What the roots of folders are at one moment.
pub(crate) type Roots = BTreeMap<GrantId, Reached>;

impl Workspace {
    /// Builds an answer from one snapshot and hands it out only if access did not move meanwhile (spec R4): it is
    /// built once more if it did, and refused as busy if it did again.
    pub(super) fn deliver<T, R>(
        &self,
        mut build: impl FnMut(&mut dyn ReadTx, &Moment) -> Result<Result<T, R>, StoreError>,
    ) -> Result<Result<T, R>, Failure> {
        for _ in 0..2 {
            let (access, answer) =
                self.read(|tx, moment| Ok((moment.head.access, build(tx, moment)?)))?;
            if self.read(|_, moment| Ok(moment.head.access))? == access {
                return Ok(answer);
            }
        }
        Err(Failure::Store(StoreError::Busy))
    }

    /// As `deliver`, and looks again at the roots of the folders concerned.
    pub(super) fn deliver_at_roots<T, R>(
        &self,
        concerned: &[Grant],
        mut build: impl FnMut(&mut dyn ReadTx, &Moment, &Roots) -> Result<Result<T, R>, StoreError>,
    ) -> Result<Result<T, R>, Failure> {
        let look = || {
            concerned
                .iter()
                .map(|grant| grant.id)
                .zip(self.door.roots(concerned))
                .collect::<Roots>()
        };
        let mut roots = look();
        for _ in 0..2 {
            let answer = self.deliver(|tx, moment| build(tx, moment, &roots))?;
            let again = look();
            if again == roots {
                return Ok(answer);
            }
            roots = again;
        }
        Err(Failure::Store(StoreError::Busy))
    }
}
