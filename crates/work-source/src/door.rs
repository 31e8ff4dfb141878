//! The door itself: a call's threads, territory and limits put together.

use crate::admit;
use crate::crew::{Crew, Ground, News, Yard};
use crate::guard::Guard;
use crate::look;
use crate::own::OwnFiles;
use crate::platform::Means;
use crate::scan;
use crate::seam::{Moment, Seam};
use crate::territory::Territory;
use crate::visit::Party;
use std::sync::Arc;
use std::time::{Duration, Instant};
use work_core::folder::Grant;
use work_core::id::BootId;
use work_core::limits::ScanLimits;
use work_core::path::HostPath;
use work_core::port::{self, AdmitRefusal, Probe, Root, Scanned, SourceDoor, Want, Watch};
use work_core::report::Reached;
use work_core::source::Look;

/// How long one call of the file system may take before its folder counts as hanging.
const PATIENCE: Duration = Duration::from_secs(5);

/// Threads that look at roots, so that a few that hang do not keep the others from an answer.
const ROOT_THREADS: usize = 4;

/// The one way to files under approved folders of this host.
///
/// ```
/// use work_core::id::BootId;
/// use work_core::path::HostPath;
/// use work_core::port::SourceDoor;
/// use work_source::FolderDoor;
///
/// let folder = tempfile::tempdir()?;
/// let door = FolderDoor::without_instance(BootId::from_bytes([0; 16]));
/// let named = HostPath::from_bytes(folder.path().as_os_str().as_encoded_bytes());
/// let root = door.admit(&named).expect("a directory that may be approved");
/// assert_eq!(root.path.last_name(), named.last_name());
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct FolderDoor {
    own: Option<Arc<OwnFiles>>,
    boot: BootId,
    means: Means,
    patience: Duration,
    yard: Arc<Yard>,
    pub(crate) seam: Seam,
}

impl FolderDoor {
    /// A door that never opens the instance's own files, in this boot of the host.
    ///
    /// `boot` is what the host's clock says it is; roots approved in another boot are recognised without their device
    /// number.
    #[must_use]
    pub fn guarding(own: OwnFiles, boot: BootId) -> Self {
        Self::new(Some(Arc::new(own)), boot)
    }

    /// A door for a program that keeps no instance on this host. It would read an instance's files like others.
    #[must_use]
    pub fn without_instance(boot: BootId) -> Self {
        Self::new(None, boot)
    }

    /// This door with another time after which a call of the file system counts as hanging: five seconds if nothing
    /// else is said.
    #[must_use]
    pub fn with_patience(self, patience: Duration) -> Self {
        Self { patience, ..self }
    }

    /// This door with other means than the best ones of this host.
    #[cfg(test)]
    pub(crate) fn with_means(self, means: Means) -> Self {
        Self { means, ..self }
    }

    /// Doors that this makes, one for each way in which this platform can go down and open, with its means.
    ///
    /// For tests: a door takes the best means by itself.
    #[cfg(any(test, feature = "testkit"))]
    pub fn in_each_way(make: impl Fn() -> Self) -> impl Iterator<Item = Self> {
        Means::ALL.into_iter().map(move |means| Self { means, ..make() })
    }

    fn new(own: Option<Arc<OwnFiles>>, boot: BootId) -> Self {
        Self {
            own,
            boot,
            means: Means::of_this_host(),
            patience: PATIENCE,
            yard: Arc::default(),
            seam: Seam::default(),
        }
    }

    /// The grants of one call, with the own files as they are now.
    fn territory(&self, grants: &[Grant]) -> Arc<Territory> {
        let guard = Guard::new(self.means, self.own.clone(), self.seam.clone());
        Arc::new(Territory::new(grants, self.boot, guard))
    }

    fn party(&self, ground: port::Ground<'_>, probe: Arc<dyn Probe>) -> Party {
        let territory = self.territory(ground.grants);
        Party { territory, probe, caps: scan::caps(&ground.limits) }
    }

    /// Threads for one call. Half of its time at most is waited for one that hangs, so that the others can go on.
    fn crew<D: Default + 'static, E: Send + 'static>(&self, limits: &ScanLimits) -> Crew<D, E> {
        Crew::new(limits.threads, self.patience.min(limits.time / 2), &self.yard)
    }
}

impl SourceDoor for FolderDoor {
    fn admit(&self, path: &HostPath) -> Result<Root, AdmitRefusal> {
        let ground = Ground::new(path.clone());
        let (at, own, boot) = (Ground::clone(&ground), self.own.clone(), self.boot);
        let seam = self.seam.clone();
        let mut crew = Crew::<(), _>::new(1, self.patience, &self.yard);
        crew.send(&ground, move |(), slot| {
            slot.away(&at, || {
                seam.reach(Moment::Root, at.last_name());
                admit::admit(&at, own.as_deref(), boot)
            })
        });
        match crew.wait(Instant::now() + self.patience * 2).pop() {
            Some(News::Done(answer)) => answer,
            Some(News::Hangs(..)) | None => Err(AdmitRefusal::Unreachable),
        }
    }

    fn roots(&self, grants: &[Grant]) -> Vec<Reached> {
        let crew = Crew::new(grants.len().min(ROOT_THREADS), self.patience, &self.yard);
        look::roots(&self.territory(grants), crew, grants.len(), self.patience * 2)
    }

    fn scan(
        &self,
        ground: port::Ground<'_>,
        probe: Arc<dyn Probe>,
        watch: &mut dyn Watch,
    ) -> Scanned {
        let crew = self.crew(&ground.limits);
        let party = self.party(ground, probe);
        scan::scan(party, crew, ground.scope, ground.limits, watch)
    }

    fn look(
        &self,
        ground: port::Ground<'_>,
        wants: &[Want],
        probe: Arc<dyn Probe>,
        watch: &mut dyn Watch,
    ) -> Vec<Look> {
        let crew = self.crew(&ground.limits);
        let party = self.party(ground, probe);
        look::look(party, crew, wants, (ground.limits.time, self.patience), watch)
    }
}
