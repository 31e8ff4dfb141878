//! Rules that hold for every value.

use proptest::prelude::*;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use work_core::folder::{Grant, GrantState, Rules};
use work_core::id::{GrantId, SiteId, WorkerId};
use work_core::limits::{Limits, ScanLimits};
use work_core::memory::MemoryDoor;
use work_core::path::{HostPath, RelPath};
use work_core::port::{Ground, Place, Probe, Quiet, SourceDoor, Want, version_of};
use work_core::source::{Look, Seen};
use work_core::task::{Ask, Outcome, Success, TaskState, decide};
use work_core::testkit::strategies::{rel_path, rules, task, tree};
use work_core::time::{Era, Now, Timestamp};

/// What was shown, in order.
#[derive(Default)]
struct Shown(Mutex<Vec<(RelPath, Vec<u8>)>>);

impl Probe for Shown {
    fn wants(&self, _: &Place, _: u64) -> bool {
        true
    }

    fn file(&self, place: Place, bytes: &[u8], _: u64) {
        self.0.lock().expect("a lock").push((place.path, bytes.to_vec()));
    }
}

/// A door over a tree, and a grant of it.
fn world(tree: &BTreeMap<RelPath, String>, rules: Rules) -> (MemoryDoor, Grant) {
    let door = MemoryDoor::new().folder("/root");
    for (path, text) in tree {
        let path = [b"/root/", path.bytes()].concat();
        door.put_at(&HostPath::from_bytes(path), text.as_bytes());
    }
    let root = door.admit(&HostPath::from_bytes("/root")).expect("a folder");
    let grant = Grant {
        id: GrantId::from_bytes([1; 16]),
        site: SiteId::from_bytes([2; 16]),
        root: root.path,
        label: "root".into(),
        identity: root.identity,
        rules,
        state: GrantState::Active,
        approved_at: Timestamp::from_seconds(0),
        since_look: 0,
        swept_at: None,
    };
    (door, grant)
}

/// Files that rules permit, in the order of a visit: name by name.
fn permitted(tree: &BTreeMap<RelPath, String>, rules: &Rules) -> Vec<(RelPath, Vec<u8>)> {
    let mut files: Vec<_> = tree
        .iter()
        .filter(|(path, _)| rules.permit_file(path).is_ok())
        .map(|(path, text)| (path.clone(), text.clone().into_bytes()))
        .collect();
    files.sort_by(|(one, _), (other, _)| one.names().cmp(other.names()));
    files
}

/// A quarter of the usual cases: most of the time goes into building matchers.
fn fewer() -> ProptestConfig {
    let usual = ProptestConfig::default();
    ProptestConfig { cases: usual.cases / 4, failure_persistence: None, ..usual }
}

proptest! {
    #![proptest_config(fewer())]

    // spec: I4 Q2
    #[test]
    fn a_scan_shows_every_file_that_the_rules_permit_and_no_other(tree in tree(), rules in rules()) {
        let (door, grant) = world(&tree, rules);
        let shown = Arc::new(Shown::default());
        let (grants, limits) = ([grant], ScanLimits::standard());
        let ground = Ground { grants: &grants, scope: &[grants[0].id], limits };
        let scanned = door.scan(ground, Arc::clone(&shown) as Arc<dyn Probe>, &mut Quiet);
        let expected = permitted(&tree, &grants[0].rules);
        prop_assert_eq!(scanned.folders[0].counts.files_read, expected.len() as u64);
        prop_assert_eq!(&*shown.0.lock().expect("a lock"), &expected);
    }

    // spec: I4 O1
    #[test]
    fn a_look_sees_what_the_rules_permit(tree in tree(), other in rel_path(), rules in rules()) {
        let (door, grant) = world(&tree, rules);
        let paths: Vec<RelPath> = tree.keys().cloned().chain([other]).collect();
        let wants: Vec<Want> =
            paths.iter().map(|path| Want { grant: grant.id, path: path.clone(), known: None }).collect();
        let grants = [grant];
        let ground = Ground { grants: &grants, scope: &[], limits: ScanLimits::standard() };
        let looks = door.look(ground, &wants, Arc::new(Shown::default()), &mut Quiet);
        for (path, look) in paths.iter().zip(looks) {
            let Look::Saw { seen, .. } = look else { panic!("every want is reached") };
            let expected = match (grants[0].rules.permit_file(path), tree.get(path)) {
                (Err(_), _) => Seen::Denied,
                (Ok(()), None) => Seen::Missing,
                (Ok(()), Some(text)) => Seen::Bytes(version_of(text.as_bytes(), text.len() as u64)),
            };
            prop_assert_eq!(seen, expected, "{}", path);
        }
    }

    // spec: T2 T3 T5
    #[test]
    fn no_ask_moves_a_fencing_number_back_or_an_end(task in task(), now in 0..400_i64, era in 0..3_u64) {
        let now = Now { at: Timestamp::from_seconds(now), era: Era(era) };
        let done = Outcome::Success(Success::NoChange);
        let fence = task.fence;
        let worker = WorkerId::from_bytes([9; 16]);
        for ask in [Ask::Claim(worker), Ask::Renew(fence), Ask::Finish(fence, done), Ask::GiveBack(fence), Ask::Cancel] {
            let Ok(decided) = decide(&task, ask, now, &Limits::standard()) else { continue };
            prop_assert!(task.is_open());
            let after = task.clone().after(decided, now);
            prop_assert!(after.fence >= task.fence);
            let lasted = matches!(task.state, TaskState::Running(lease) if lease.lasts(now));
            let takes_over = matches!(ask, Ask::Claim(_)) && matches!(task.state, TaskState::Running(_));
            prop_assert!(!(takes_over && lasted));
        }
    }
}
