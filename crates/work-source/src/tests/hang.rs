//! Reads that hang. A test holds one up for as long as it likes.

use super::support::*;
use crate::seam::Moment;
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};
use work_core::folder::Grant;
use work_core::limits::ScanLimits;
use work_core::port::{AdmitRefusal, Go, Ground, Probe, SourceDoor, Want, Watch};
use work_core::report::{Reached, ScanLimit};
use work_core::source::{Look, Seen};
use work_core::task::Progress;

/// How long a read may take in these tests.
const PATIENCE: Duration = Duration::from_secs(1);

/// Where threads wait until they are let go.
#[derive(Default)]
struct Gate {
    open: Mutex<bool>,
    opened: Condvar,
    came: Mutex<u32>,
}

impl Gate {
    fn wait(&self) {
        *self.came.lock().expect("no panic") += 1;
        let open = self.open.lock().expect("no panic");
        drop(self.opened.wait_while(open, |open| !*open).expect("no panic"));
    }

    fn open(&self) {
        *self.open.lock().expect("no panic") = true;
        self.opened.notify_all();
    }

    fn came(&self) -> u32 {
        *self.came.lock().expect("no panic")
    }
}

/// Two folders, the first of which hangs at `moment` of `name`.
fn stuck(moment: Moment, name: &'static [u8]) -> (Tree, [Grant; 2], Arc<Gate>, crate::FolderDoor) {
    let tree = Tree::new();
    for name in ["one/a.md", "one/b.md", "one/dir/c.md", "two/x.md", "two/y.md"] {
        tree.file(name, name);
    }
    let grants = [grant(1, &tree.at("one")), grant(2, &tree.at("two"))];
    let gate = Arc::new(Gate::default());
    let held = Arc::clone(&gate);
    let door = door_with(move |at, entry| {
        if at == moment && entry == name {
            held.wait();
        }
    });
    (tree, grants, gate, door.with_patience(PATIENCE))
}

// spec: G6
#[test]
fn a_read_that_hangs_holds_up_no_other_folder_and_makes_its_own_unreachable() {
    for (moment, name) in [
        (Moment::Root, b"one".as_slice()),
        (Moment::List, b"dir"),
        (Moment::Open, b"a.md"),
        (Moment::Read, b"b.md"),
    ] {
        let (_tree, grants, gate, door) = stuck(moment, name);
        let (scanned, reads) = scan(&door, &grants);
        let reached: Vec<_> = scanned.folders.iter().map(|folder| folder.reached).collect();
        assert_eq!(reached, [Reached::Unreachable, Reached::Yes], "{moment:?}");
        let set = reads.set();
        assert!(set.contains("x.md") && set.contains("y.md"), "{moment:?} {set:?}");
        assert_eq!((scanned.limit, gate.came()), (None, 1), "{moment:?}");
        gate.open();
    }
}

// spec: G6
#[test]
fn while_a_read_hangs_its_folder_is_unreachable_and_gets_no_second_one() {
    let (_tree, grants, gate, door) = stuck(Moment::Open, b"a.md");
    scan(&door, &grants);
    assert_eq!(gate.came(), 1);
    assert_eq!(door.roots(&grants), [Reached::Unreachable, Reached::Yes]);
    assert_eq!(look_at(&door, &grants, "a.md"), (Seen::Unreachable, id(1)));
    assert_eq!(look_at(&door, &grants, "gone.md"), (Seen::Unreachable, id(1)));
    let (scanned, _) = scan(&door, &grants);
    assert_eq!(scanned.folders[0].reached, Reached::Unreachable);
    assert_eq!(gate.came(), 1, "a second read was begun");
    gate.open();
    while door.roots(&grants) != [Reached::Yes; 2] {
        std::thread::yield_now();
    }
    assert_eq!(look_at(&door, &grants, "a.md").0, bytes_of(b"one/a.md"));
}

// spec: G6, O1
#[test]
fn a_look_that_hangs_leaves_the_other_answers_as_they_are() {
    let (_tree, grants, gate, door) = stuck(Moment::Open, b"a.md");
    let wants: Vec<Want> = [(1, "a.md"), (2, "x.md"), (2, "gone.md"), (1, "dir/c.md")]
        .map(|(grant, name)| Want { grant: id(grant), path: rel(name), known: None })
        .into();
    let limits = ScanLimits { threads: 1, ..ScanLimits::standard() };
    let ground = Ground { grants: &grants, scope: &[], limits };
    let looks = door.look(ground, &wants, Arc::new(Reads::default()), &mut On::default());
    let seen: Vec<Seen> = looks
        .iter()
        .map(|look| match look {
            Look::Saw { seen, .. } => *seen,
            Look::NotReached => panic!("{looks:?}"),
        })
        .collect();
    let expected = [Seen::Unreachable, bytes_of(b"two/x.md"), Seen::Missing, Seen::Unreachable];
    assert_eq!(seen, expected);
    gate.open();
}

// spec: G6, O1
#[test]
fn what_is_slow_for_the_time_that_is_left_but_no_hang_is_not_reached_and_not_told_as_unreachable() {
    let (_tree, grants, gate, door) = stuck(Moment::Open, b"a.md");
    let door = door.with_patience(Duration::from_secs(600));
    let wants: Vec<Want> = [(1, "a.md"), (1, "b.md"), (2, "x.md")]
        .map(|(grant, name)| Want { grant: id(grant), path: rel(name), known: None })
        .into();
    let limits =
        ScanLimits { threads: 1, time: Duration::from_millis(400), ..ScanLimits::standard() };
    let ground = Ground { grants: &grants, scope: &[], limits };
    let looks = door.look(ground, &wants, Arc::new(Reads::default()), &mut On::default());
    assert_eq!(looks[..2], [Look::NotReached, Look::NotReached]);
    assert!(matches!(looks[2], Look::Saw { seen: Seen::Bytes(_), .. }), "{looks:?}");
    gate.open();
}

// spec: G6, O1
#[test]
fn what_was_seen_before_another_file_of_the_folder_hung_counts() {
    let tree = Tree::new();
    let names: Vec<String> = (0..64).map(|n| format!("one/f{n:03}.md")).collect();
    names.iter().for_each(|name| drop(tree.file(name, name)));
    let grants = [grant(1, &tree.at("one"))];
    let gate = Arc::new(Gate::default());
    let held = Arc::clone(&gate);
    let door = door_with(move |at, entry| {
        if at == Moment::Open && entry == b"f040.md" {
            held.wait();
        }
    });
    let wants: Vec<Want> = names
        .iter()
        .map(|name| Want { grant: id(1), path: rel(&name[4..]), known: None })
        .collect();
    let limits = ScanLimits { threads: 1, ..ScanLimits::standard() };
    let ground = Ground { grants: &grants, scope: &[], limits };
    let reads = Arc::new(Reads::default());
    let looks = door.with_patience(PATIENCE).look(
        ground,
        &wants,
        Arc::clone(&reads) as _,
        &mut On::default(),
    );
    let told = reads.set();
    for (want, look) in wants.iter().zip(&looks) {
        let name = String::from_utf8_lossy(want.path.bytes()).into_owned();
        let saw = matches!(look, Look::Saw { seen: Seen::Bytes(_), .. });
        assert_eq!(saw, told.contains(&name), "{name}: {look:?}");
    }
    assert_eq!(told.len(), 40);
    gate.open();
}

/// Says stop once `when` holds, and remembers the longest time between beats.
struct StopWhen<F> {
    when: F,
    last: Instant,
    longest: Duration,
    beats: u32,
}

impl<F: FnMut(u32) -> bool> Watch for StopWhen<F> {
    fn beat(&mut self, _: &Progress) -> Go {
        self.longest = self.longest.max(self.last.elapsed());
        self.last = Instant::now();
        self.beats += 1;
        if (self.when)(self.beats) { Go::Stop } else { Go::On }
    }
}

// spec: T5, G6
#[test]
fn the_watch_is_asked_while_a_read_hangs_and_stop_is_obeyed_at_once() {
    let (_tree, grants, gate, door) = stuck(Moment::Open, b"a.md");
    let door = door.with_patience(Duration::from_secs(600));
    let limits = ScanLimits { time: Duration::from_secs(1200), ..ScanLimits::standard() };
    let ground = Ground { grants: &grants, scope: &[id(1), id(2)], limits };
    let mut watch = StopWhen {
        when: |beats| beats == 8,
        last: Instant::now(),
        longest: Duration::ZERO,
        beats: 0,
    };
    let reads = Arc::new(Reads::default());
    let probe: Arc<dyn Probe> = Arc::<Reads>::clone(&reads);
    let scanned = door.scan(ground, probe, &mut watch);
    assert!(scanned.stopped);
    assert!(watch.last.elapsed() < Duration::from_millis(500), "{:?}", watch.last.elapsed());
    assert!(watch.longest < Duration::from_millis(250), "{:?}", watch.longest);
    let before = reads.names();
    gate.open();
    while Arc::strong_count(&reads) > 1 {
        std::thread::yield_now();
    }
    assert_eq!(reads.names(), before, "the probe was called after the door had returned");
    assert!(!before.contains(&"a.md".to_owned()));
}

// spec: G6, L
#[test]
fn time_ends_a_scan_also_while_a_read_hangs() {
    let (_tree, grants, gate, door) = stuck(Moment::Open, b"a.md");
    let door = door.with_patience(Duration::from_secs(600));
    let limits = ScanLimits { time: Duration::from_millis(400), ..ScanLimits::standard() };
    let begun = Instant::now();
    let (scanned, _) = scan_within(&door, &grants, limits);
    assert!(begun.elapsed() < Duration::from_secs(5));
    let hangs = scanned.folders[0].reached == Reached::Unreachable;
    assert!(hangs || scanned.limit == Some(ScanLimit::Time), "{scanned:?}");
    gate.open();
}

// spec: G6, I2
#[test]
fn approving_a_directory_that_hangs_is_refused_in_time_and_not_tried_twice() {
    let (tree, _, gate, door) = stuck(Moment::Root, b"one");
    let named = host(&tree.at("one"));
    assert_eq!(door.admit(&named), Err(AdmitRefusal::Unreachable));
    assert_eq!(door.admit(&named), Err(AdmitRefusal::Unreachable));
    assert_eq!(gate.came(), 1, "a second try was begun");
    assert!(door.admit(&host(&tree.at("two"))).is_ok());
    gate.open();
    while door.admit(&named).is_err() {
        std::thread::yield_now();
    }
}

/// Fails at each file.
struct Broken;

impl Probe for Broken {
    fn wants(&self, _: &work_core::port::Place, _: u64) -> bool {
        true
    }

    fn file(&self, _: work_core::port::Place, _: &[u8], _: u64) {
        panic!("a fault of the rules");
    }
}

#[test]
#[should_panic(expected = "a fault of the rules")]
fn a_panic_of_the_probe_reaches_whoever_asked() {
    let (_tree, grants, _gate, door) = stuck(Moment::Open, b"none");
    let ground = Ground { grants: &grants, scope: &[id(1)], limits: ScanLimits::standard() };
    door.scan(ground, Arc::new(Broken), &mut On::default());
}
