//! Answers of a look: their order, their stamps, and what the probe is given.

use super::support::*;
use std::collections::BTreeSet;
use std::os::unix::fs::MetadataExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use work_core::limits::ScanLimits;
use work_core::port::{Go, Ground, Place, Probe, SourceDoor, Want, Watch};
use work_core::source::{Look, Seen};
use work_core::task::Progress;

/// Wants only files of more than `over` bytes.
struct Over(u64, AtomicU64);

impl Probe for Over {
    fn wants(&self, _: &Place, size: u64) -> bool {
        size > self.0
    }

    fn file(&self, _: Place, _: &[u8], _: u64) {
        self.1.fetch_add(1, Ordering::Relaxed);
    }
}

fn wants(names: &[String]) -> Vec<Want> {
    names.iter().map(|name| Want { grant: id(1), path: rel(name), known: None }).collect()
}

// spec: O1
#[test]
fn thousands_of_wants_are_answered_in_their_order() {
    let tree = Tree::new();
    let names: Vec<String> = (0..3000).rev().map(|n| format!("{}/{n}.md", n % 10)).collect();
    for (n, name) in names.iter().enumerate() {
        if n % 7 != 0 {
            tree.file(format!("m/{name}"), name);
        }
    }
    let grants = [grant(1, &tree.at("m"))];
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let looks = look(&door(), &grants, &names);
    for (n, (name, look)) in names.iter().zip(&looks).enumerate() {
        let Look::Saw { seen, owner, .. } = look else { panic!("{name}: {look:?}") };
        let expected = if n % 7 == 0 { Seen::Missing } else { bytes_of(name.as_bytes()) };
        assert_eq!((*seen, *owner), (expected, id(1)), "{name}");
    }
}

// spec: O1
#[test]
fn the_same_file_asked_twice_is_answered_twice_and_an_unknown_folder_is_denied() {
    let tree = Tree::new();
    tree.file("m/a.md", "a");
    let grants = [grant(1, &tree.at("m"))];
    let path = rel("a.md");
    let asked = [id(1), id(9), id(1)].map(|grant| Want { grant, path: path.clone(), known: None });
    let ground = Ground { grants: &grants, scope: &[], limits: ScanLimits::standard() };
    let reads = Arc::new(Reads::default());
    let probe: Arc<dyn Probe> = Arc::<Reads>::clone(&reads);
    let looks = door().look(ground, &asked, probe, &mut On::default());
    let seen: Vec<Seen> = looks
        .iter()
        .map(|look| match look {
            Look::Saw { seen, .. } => *seen,
            Look::NotReached => panic!("not reached"),
        })
        .collect();
    assert_eq!(seen, [bytes_of(b"a"), Seen::Denied, bytes_of(b"a")]);
    let turns: Vec<u64> = reads.0.lock().expect("no panic").keys().map(|(turn, _)| *turn).collect();
    assert_eq!(turns, [0, 2]);
}

// spec: O1
#[test]
fn what_the_probe_does_not_want_is_not_read() {
    let tree = Tree::new();
    tree.file("m/small.md", "a");
    tree.file("m/large.md", "larger");
    let grants = [grant(1, &tree.at("m"))];
    let over = Arc::new(Over(3, AtomicU64::new(0)));
    let ground = Ground { grants: &grants, scope: &[], limits: ScanLimits::standard() };
    let asked = wants(&["small.md".into(), "large.md".into(), "gone.md".into()]);
    let looks = door().look(ground, &asked, Arc::<Over>::clone(&over), &mut On::default());
    assert_eq!(looks[0], Look::NotReached);
    assert!(matches!(looks[1], Look::Saw { seen: Seen::Bytes(_), .. }));
    assert!(matches!(looks[2], Look::Saw { seen: Seen::Missing, .. }));
    assert_eq!(over.1.load(Ordering::Relaxed), 1);
    let ground = Ground { scope: &[id(1)], ..ground };
    let scanned = door().scan(ground, Arc::<Over>::clone(&over), &mut On::default());
    let counts = &scanned.folders[0].counts;
    assert_eq!((counts.files_seen, counts.files_read, counts.skipped.len()), (2, 1, 0));
}

// spec: O1
#[test]
fn a_stamp_tells_what_the_file_system_says() {
    let tree = Tree::new();
    let path = tree.file("m/a.md", "abc");
    let found = std::fs::metadata(&path).expect("a file");
    let grants = [grant(1, &tree.at("m"))];
    let stamp = loop {
        // Until it is no longer young.
        if let Look::Saw { stamp: Some(stamp), .. } = look(&door(), &grants, &["a.md"])[0] {
            break stamp;
        }
    };
    assert_eq!((stamp.device, stamp.inode, stamp.size), (found.dev(), found.ino(), 3));
    assert_eq!(stamp.modified_ns, found.mtime() * 1_000_000_000 + found.mtime_nsec());
    assert_eq!(stamp.changed_ns, found.ctime() * 1_000_000_000 + found.ctime_nsec());
}

/// Says stop at the first beat.
struct Never;

impl Watch for Never {
    fn beat(&mut self, _: &Progress) -> Go {
        Go::Stop
    }
}

// spec: T5, O1
#[test]
fn after_stop_what_was_not_reached_is_said_to_be_so() {
    let tree = Tree::new();
    tree.file("m/a.md", "a");
    let grants = [grant(1, &tree.at("m"))];
    let ground = Ground { grants: &grants, scope: &[id(1)], limits: ScanLimits::standard() };
    let asked = wants(&vec!["gone.md".to_owned(); 1000]);
    let looks = door().look(ground, &asked, Arc::new(Reads::default()), &mut Never);
    let seen: BTreeSet<bool> = looks.iter().map(|look| *look == Look::NotReached).collect();
    assert!(seen.contains(&true), "a thousand looks were made after stop");
    let scanned = door().scan(ground, Arc::new(Reads::default()), &mut Never);
    assert!(scanned.stopped);
}
