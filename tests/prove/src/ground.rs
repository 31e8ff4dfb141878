//! Folders that a lane lets the door at: grants for them, the door in each of its ways, and a probe that remembers.
#![expect(clippy::unwrap_used, reason = "what goes wrong while a proof is set up ends it")]

use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use work_core::folder::{Grant, GrantState, Rules};
use work_core::id::{BootId, GrantId, SiteId};
use work_core::limits::ScanLimits;
use work_core::path::{HostPath, RelPath};
use work_core::port::{self, Place, Probe, Quiet, Scanned, SourceDoor, Want};
use work_core::source::Look;
use work_core::time::Timestamp;
use work_source::{FolderDoor, OwnFiles};

/// The boot in which all happens.
const BOOT: BootId = BootId::from_bytes([7; 16]);

/// Doors that guard the instance at `own`, one for each way in which this platform can go down and open.
pub(crate) fn doors(own: &Path, patience: Duration) -> Vec<FolderDoor> {
    let make = || {
        let own = OwnFiles::in_directory(own).unwrap();
        FolderDoor::guarding(own, BOOT).with_patience(patience)
    };
    FolderDoor::in_each_way(make).collect()
}

/// Whether a door opens a file by its name again. It may then open what was put in its place, and must look.
pub(crate) fn opens_by_name(door: &FolderDoor) -> bool {
    format!("{door:?}").contains("reopen: Name")
}

/// The id of the grant with a number.
pub(crate) fn id(n: u8) -> GrantId {
    GrantId::from_bytes([n; 16])
}

/// A path under a root.
pub(crate) fn rel(name: impl AsRef<[u8]>) -> RelPath {
    RelPath::new(name.as_ref()).unwrap()
}

/// An active grant of the directory at `root`.
pub(crate) fn grant(n: u8, root: &Path, rules: Rules) -> Grant {
    let named = HostPath::from_bytes(root.as_os_str().as_bytes());
    let root = FolderDoor::without_instance(BOOT).admit(&named).unwrap();
    Grant {
        id: id(n),
        site: SiteId::from_bytes([0; 16]),
        label: String::new(),
        identity: root.identity,
        root: root.path,
        rules,
        state: GrantState::Active,
        approved_at: Timestamp::from_seconds(i64::from(n)),
        since_look: 0,
        swept_at: None,
    }
}

/// The same, revoked.
pub(crate) fn revoked(grant: Grant) -> Grant {
    Grant { state: GrantState::Revoked, ..grant }
}

/// One file as the door gave it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Given {
    /// Where.
    pub(crate) place: Place,
    /// Its bytes.
    pub(crate) bytes: Vec<u8>,
    /// Its full size.
    pub(crate) size: u64,
}

/// What happens when the door has looked at a file and is about to open it.
type Step = Box<dyn Fn(&Place) + Send + Sync>;

/// A probe that keeps what it is given, and may act in the moment between look and open.
#[derive(Default)]
pub(crate) struct Reads {
    given: Mutex<Vec<Given>>,
    step: Option<Step>,
}

impl Reads {
    /// One that does `step` between each look and open.
    pub(crate) fn with_step(step: impl Fn(&Place) + Send + Sync + 'static) -> Self {
        Self { step: Some(Box::new(step)), ..Self::default() }
    }

    /// What it was given, in the order of the visit.
    pub(crate) fn take(&self) -> Vec<Given> {
        let mut given = std::mem::take(&mut *self.given.lock().unwrap());
        given.sort();
        given
    }
}

impl Probe for Reads {
    fn wants(&self, place: &Place, _: u64) -> bool {
        if let Some(step) = &self.step {
            step(place);
        }
        true
    }

    fn file(&self, place: Place, bytes: &[u8], size: u64) {
        self.given.lock().unwrap().push(Given { place, bytes: bytes.to_vec(), size });
    }
}

/// Scans the grants of `scope`.
pub(crate) fn scan(
    door: &FolderDoor,
    grants: &[Grant],
    scope: &[GrantId],
    limits: ScanLimits,
    reads: &Arc<Reads>,
) -> (Scanned, Vec<Given>) {
    let probe: Arc<dyn Probe> = Arc::<Reads>::clone(reads);
    let scanned = door.scan(port::Ground { grants, scope, limits }, probe, &mut Quiet);
    (scanned, reads.take())
}

/// Looks at files through the first of the grants.
pub(crate) fn look(
    door: &FolderDoor,
    grants: &[Grant],
    paths: &[RelPath],
    limits: ScanLimits,
    reads: &Arc<Reads>,
) -> (Vec<Look>, Vec<Given>) {
    let want = |path: &RelPath| Want { grant: grants[0].id, path: path.clone(), known: None };
    let wants: Vec<Want> = paths.iter().map(want).collect();
    let probe: Arc<dyn Probe> = Arc::<Reads>::clone(reads);
    let looks = door.look(port::Ground { grants, scope: &[], limits }, &wants, probe, &mut Quiet);
    (looks, reads.take())
}
