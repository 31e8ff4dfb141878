//! Where a test steps into a read, to change the file at that moment or to hang there. Nothing outside tests.

use std::fmt;
#[cfg(test)]
use std::sync::Arc;

/// A moment of a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Moment {
    /// A grant's root is about to be opened.
    Root,
    /// A directory is about to be listed.
    List,
    /// A file was looked at and is about to be opened.
    Open,
    /// It is young: its bytes were read once, and are about to be read again.
    Again,
    /// Its bytes were read, and it is about to be looked at again.
    Read,
}

#[cfg(test)]
type Step = Arc<dyn Fn(Moment, &[u8]) + Send + Sync>;

/// Where a test steps in.
#[derive(Clone, Default)]
pub(crate) struct Seam {
    #[cfg(test)]
    pub(crate) step: Option<Step>,
}

impl Seam {
    /// Says that `moment` of the entry `name` has come.
    #[cfg_attr(not(test), expect(clippy::unused_self, reason = "only a test steps in"))]
    pub(crate) fn reach(&self, moment: Moment, name: &[u8]) {
        #[cfg(test)]
        if let Some(step) = &self.step {
            step(moment, name);
        }
        #[cfg(not(test))]
        let _ = (moment, name);
    }
}

impl fmt::Debug for Seam {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Seam")
    }
}
