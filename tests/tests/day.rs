//! A day with it: one folder, a dozen reports, and everything that can become of them, over the real door and the real
//! store, with a clock that the test turns.
#![expect(clippy::unwrap_used, reason = "what goes wrong in a test fails it")]

use rustix::thread::{CapabilitySet, capabilities, set_capabilities};
use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt as _;
use std::sync::Arc;
use std::time::Duration;
use work_core::code::{Code, Coded as _};
use work_core::document::export;
use work_core::document::wire::{ProposalDoc, StatusDoc};
use work_core::folder::{Hidden, IgnoreFiles, Rules};
use work_core::id::ResultId;
use work_core::limits::Limits;
use work_core::port::{Clock, Go, Pause, Quiet, SourceDoor as _};
use work_core::proposal::Channel;
use work_core::result::{ResultState, RevisionNo};
use work_core::testkit::fakes::FakeClock;
use work_core::verify;
use work_core::workspace::{FolderName, Prepared, Reading, Repaired, StateFilter, Until};
use work_store::instance::Instance;
use work_tests::desk::{Desk, host, open_at};

/// Each file with a word that it alone has.
const FILES: [(&str, &str, &str); 11] = [
    ("edited.md", "# Keys\n\nKeys are changed each quarter.\n", "keys"),
    ("moved.md", "# Doors\n\nDoors are shut at eight.\n\nWindows too.\n", "doors"),
    ("unquoted.md", "# Post\n\nPost is fetched at noon.\n\nBy anyone.\n", "post"),
    ("windows.md", "# Lamps\n\nLamps are put out.\nEach night.\n", "lamps"),
    ("renamed.md", "# Plants\n\nPlants are watered on Monday.\n", "plants"),
    ("deleted.md", "# Coffee\n\nCoffee is made by turns.\n", "coffee"),
    ("closed.md", "# Wages\n\nWages are paid on the last day.\n", "wages"),
    ("grown.md", "# Minutes\n\nMinutes are kept for ten years.\n", "minutes"),
    ("kept.md", "# Backups\n\nBackups are kept for 35 days.\n", "backups"),
    ("lent.md", "# Books\n\nBooks are lent for 35 days.\n", "books"),
    ("sent.md", "# Parcels\n\nParcels are sent within 35 days.\n", "parcels"),
];

/// A desk with a report of each file.
struct Day {
    desk: Desk,
    clock: Arc<FakeClock>,
    results: BTreeMap<&'static str, ResultId>,
}

impl Day {
    fn begin() -> Self {
        let clock = Arc::new(FakeClock::at(1_796_000_000));
        let files = FILES.map(|(name, text, _)| (name, text));
        let desk = Desk::at(&files, clock.clone());
        let report =
            |(name, _, query): (&'static str, _, &str)| (name, desk.report(query).artifact_id);
        let results = FILES.into_iter().map(report).collect();
        Self { desk, clock, results }
    }

    /// The status of somebody whose door has threads of its own: those of the desk keep the rights that they began with.
    fn status_of_another_process(&self) -> StatusDoc {
        let work = open_at(&self.desk.home(), self.clock.clone());
        work.status(Reading::Again, &mut Quiet).unwrap()
    }

    fn status(&self) -> StatusDoc {
        self.desk.work.status(Reading::Again, &mut Quiet).unwrap()
    }

    /// The code with which an apply of what was shown is refused.
    fn refused(&self, shown: &ProposalDoc) -> Code {
        let (id, fingerprint) = (shown.proposal_id, shown.fingerprint.unwrap());
        self.desk.work.apply(id, fingerprint, Channel::Library, &mut Quiet).unwrap_err().code()
    }

    fn apply(&self, shown: &ProposalDoc) -> RevisionNo {
        let (id, fingerprint) = (shown.proposal_id, shown.fingerprint.unwrap());
        self.desk.work.apply(id, fingerprint, Channel::Library, &mut Quiet).unwrap().revision
    }

    fn restore(&self, name: &str, no: u64) -> work_core::workspace::Restore {
        self.desk.work.restore(self.results[name], RevisionNo(no), &mut Quiet).unwrap()
    }
}

/// Runs `test` on a thread, and on those that it starts, which obey permissions even if this user is root.
fn obeying_permissions<T: Send>(test: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            let mut sets = capabilities(None).unwrap();
            sets.effective -= CapabilitySet::DAC_OVERRIDE | CapabilitySet::DAC_READ_SEARCH;
            set_capabilities(None, sets).unwrap();
            test()
        });
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

// spec: C5, D5, H4, H5, H6, I5, J9, O1, O3, O4, P2, P5, P6, P8, R2, X1, X3
#[test]
fn a_day_with_it() {
    let day = Day::begin();
    status_tells_each_change_apart_and_names_the_next_command(&day);
    an_approval_applies_what_was_shown_once_and_nothing_else(&day);
    an_earlier_revision_comes_back_with_its_own_check(&day);
    an_export_is_verified_on_another_directory_without_a_database(&day);
    a_withdrawn_folder_leaves_no_trace_and_comes_back_whole(&day);
    a_backup_that_is_taken_while_a_worker_runs_is_sound(&day);
    assert_eq!(day.desk.work.doctor().unwrap().findings, []);
}

fn status_tells_each_change_apart_and_names_the_next_command(day: &Day) {
    let (desk, docs) = (&day.desk, day.desk.docs());
    assert_eq!(day.status().counts.sources_checked, 11);
    desk.write("edited.md", "# Keys\n\nKeys are changed each month.\n");
    desk.write("moved.md", "# Doors\n\nWindows too.\n\nDoors are shut at eight.\n");
    desk.write("unquoted.md", "# Post\n\nPost is fetched at noon.\n\nBy nobody.\n");
    desk.write("windows.md", "# Lamps\r\n\r\nLamps are put out.\r\nEach night.\r\n");
    std::fs::rename(docs.join("renamed.md"), docs.join("elsewhere.md")).unwrap();
    std::fs::remove_file(docs.join("deleted.md")).unwrap();
    let closed = std::fs::Permissions::from_mode(0o0);
    std::fs::set_permissions(docs.join("closed.md"), closed).unwrap();
    desk.write("grown.md", &format!("# Minutes\n\n{}", "More.\n\n".repeat(50_000)));
    let status = obeying_permissions(|| day.status_of_another_process());
    let counts = &status.counts;
    assert_eq!((counts.sources_checked, counts.stale, counts.access_removed), (3, 7, 1));
    let of = |name: &str| {
        let found = status.attention.iter().find(|one| one.artifact_id == day.results[name]);
        let one = found.unwrap();
        let cause = one.causes.as_ref().map(|causes| &causes[0]);
        let told = cause.map(|cause| (cause.observed, cause.finding.unwrap()));
        let repair = format!("work repair {}", one.artifact_id);
        let moved_to = cause.and_then(|cause| cause.moved_to.clone());
        (told, moved_to, one.next.starts_with(&repair[..16]))
    };
    let changed = |finding| (Some(("changed", finding)), None, true);
    assert_eq!(of("edited.md"), changed("altered"));
    assert_eq!(of("moved.md"), changed("moved"));
    assert_eq!(of("unquoted.md"), changed("intact"));
    assert_eq!(of("windows.md"), changed("cosmetic"));
    assert_eq!(of("grown.md"), changed("beyond_limit"));
    assert_eq!(of("deleted.md"), (Some(("missing", "gone")), None, true));
    let elsewhere = Some("elsewhere.md".to_owned());
    assert_eq!(of("renamed.md"), (Some(("missing", "gone")), elsewhere, true));
    let (told, _, repairs) = of("closed.md");
    assert_eq!((told, repairs), (None, false), "a hidden result tells no cause");
}

fn an_approval_applies_what_was_shown_once_and_nothing_else(day: &Day) {
    let (desk, result) = (&day.desk, day.results["kept.md"]);
    desk.write("kept.md", "# Backups\n\nBackups are kept for 40 days.\n");
    let shown = desk.repair(result);
    let difference = &shown.difference.as_ref().unwrap().unified;
    assert!(difference.contains("35 days") && difference.contains("40 days"), "{difference}");
    assert_eq!(desk.show(result).revision, Some(RevisionNo(1)), "nothing changed yet");
    assert_eq!(day.apply(&shown), RevisionNo(2));
    assert_eq!(desk.show(result).state, ResultState::SourcesChecked);
    assert_eq!(day.refused(&shown), Code::AlreadyUsed);

    desk.write("kept.md", "# Backups\n\nBackups are kept for 50 days.\n");
    let older = desk.repair(result);
    desk.write("kept.md", "# Backups\n\nBackups are kept for 60 days.\n");
    let newer = desk.repair(result);
    assert_eq!(day.refused(&older), Code::Superseded);

    desk.write("kept.md", "# Backups\n\nBackups are kept for 70 days.\n");
    assert_eq!(day.refused(&newer), Code::SourcesChanged);

    let late = desk.repair(result);
    day.clock.advance(Duration::from_secs(3600));
    assert_eq!(day.refused(&late), Code::Expired);
    day.clock.set_back(Duration::from_secs(7200));
    assert_eq!(day.refused(&late), Code::Expired);
    let again = open_at(&desk.home(), day.clock.clone());
    assert_eq!(again.proposal(late.proposal_id, &mut Quiet).unwrap().state, "expired");
    day.clock.set_ahead(Duration::from_secs(7200));
    assert!(matches!(desk.work.repair(result, &mut Quiet).unwrap(), Repaired::Proposed(_)));
}

fn an_earlier_revision_comes_back_with_its_own_check(day: &Day) {
    let (desk, result) = (&day.desk, day.results["lent.md"]);
    let first = desk.show(result);
    day.clock.advance(Duration::from_secs(60));
    desk.write("lent.md", "# Books\n\nBooks are lent for 40 days.\n");
    desk.repair_and_apply(result);
    let shown = day.restore("lent.md", 1);
    day.clock.advance(Duration::from_secs(600));
    let same = day.restore("lent.md", 1);
    assert_eq!(same.prepared, Prepared::Before);
    let told = |restore: &work_core::workspace::Restore| {
        (restore.proposal.proposal_id, restore.proposal.expires_at)
    };
    assert_eq!(told(&same), told(&shown));
    assert_eq!(shown.proposal.result_state, Some(ResultState::Stale), "it says so");
    assert_eq!(day.apply(&shown.proposal), RevisionNo(3));
    let restored = desk.show(result);
    assert_eq!(restored.restored_from, Some(RevisionNo(1)));
    let checked = |doc: &work_core::document::wire::ResultDoc| {
        doc.verification.as_ref().map(|check| check.checked_at)
    };
    assert_eq!(checked(&restored), checked(&first), "a restore checks nothing");
    assert_eq!(restored.state, ResultState::Stale);
    let history = desk.work.history(result, None, &mut Quiet).unwrap();
    let numbers: Vec<_> = history.revisions.unwrap().iter().map(|one| one.revision.0).collect();
    assert_eq!(numbers, [3, 2, 1]);
}

fn a_withdrawn_folder_leaves_no_trace_and_comes_back_whole(day: &Day) {
    let (desk, result) = (&day.desk, day.results["sent.md"]);
    desk.write("sent.md", "# Parcels\n\nParcels are sent within 40 days.\n");
    desk.repair_and_apply(result);
    let waiting = day.restore("sent.md", 1).proposal;
    let before = desk.show(result);
    desk.work.revoke(&FolderName::Root(host(&desk.docs()))).unwrap();
    let work = &desk.work;
    let quiet = &mut Quiet;
    let answers = [
        json(&work.list(StateFilter::All, None).unwrap()),
        json(&work.show(result, None, quiet).unwrap()),
        json(&work.status(Reading::Again, quiet).unwrap()),
        json(&work.refresh(quiet).unwrap()),
        json(&work.history(result, None, quiet).unwrap()),
        json(&work.compare(result, RevisionNo(1), quiet).unwrap()),
        json(&work.proposals(None).unwrap()),
        json(&work.proposal(waiting.proposal_id, quiet).unwrap()),
        json(&work.tasks(None).unwrap()),
        json(&work.log(0).unwrap()),
        json(&work.doctor().unwrap()),
        work.export(result, None, quiet).unwrap_err().to_string(),
        work.restore(result, RevisionNo(1), quiet).unwrap_err().to_string(),
        work.repair(result, quiet).unwrap_err().to_string(),
    ];
    let body = before.body.as_ref().unwrap();
    let secrets = [
        "within 40 days".to_owned(),
        "sent.md".to_owned(),
        body.excerpts[0].source_id.to_string(),
        body.excerpts[0].version.digest.to_string(),
        body.excerpts[0].digest.to_string(),
        waiting.fingerprint.unwrap().to_string(),
    ];
    for (n, answer) in answers.iter().enumerate() {
        for secret in &secrets {
            assert!(!answer.contains(secret), "answer {n} tells {secret}: {answer}");
        }
    }
    assert_eq!(day.refused(&waiting), Code::AccessRemoved);
    desk.work.approve(&host(&desk.docs()), None, &mut Quiet).unwrap();
    let after = desk.show(result);
    assert_eq!((after.body, after.state), (before.body, before.state));
    assert_eq!(day.apply(&waiting), RevisionNo(3), "what was approved is as it was bound");
}

fn an_export_is_verified_on_another_directory_without_a_database(day: &Day) {
    let exported = day.desk.work.export(day.results["sent.md"], None, &mut Quiet).unwrap();
    let exported = serde_json::to_vec(&exported).unwrap();
    let read = export::read(&exported, &Limits::standard()).unwrap();
    let copy = Desk::new(&[("sent.md", "# Parcels\n\nParcels are sent within 35 days.\n")]);
    let rules = Rules::new(["md"], [""; 0], Hidden::Skipped, IgnoreFiles::Unheeded).unwrap();
    let verify = |docs: &std::path::Path| {
        let boot = work_core::id::BootId::from_bytes([0; 16]);
        let door = work_source::FolderDoor::without_instance(boot);
        let root = door.admit(&host(docs)).unwrap();
        let folder = work_tests::desk::folder(root, rules.clone());
        verify::verify(
            &door,
            &[("docs".to_owned(), folder)],
            &read,
            &Limits::standard(),
            &mut Quiet,
        )
    };
    assert!(verify(&copy.docs()).passed);
    copy.write("sent.md", "# Parcels\n\nParcels are sent within 36 days.\n");
    let verdict = verify(&copy.docs());
    assert_eq!((verdict.passed, verdict.quotations[0].verdict), (false, "altered"));
}

fn a_backup_that_is_taken_while_a_worker_runs_is_sound(day: &Day) {
    let (desk, work) = (&day.desk, &day.desk.work);
    let tasks: Vec<_> = (0..8).map(|_| desk.ask("backups").task_id).collect();
    let backup = desk.home().with_file_name("backup.sqlite");
    std::thread::scope(|scope| {
        let worker = scope
            .spawn(|| work.work(work.new_worker(), Until::Idle, &NoWait, &mut Quiet, &mut |_| {}));
        let store = Instance::open(desk.home()).unwrap().store(day.clock.clone()).unwrap();
        store.backup(&backup).unwrap();
        store.backup(&backup).expect_err("never over a file");
        worker.join().unwrap().unwrap();
    });
    for task in tasks {
        assert_eq!(work.task(task).unwrap().state, "succeeded");
    }
    let home = desk.home().with_file_name("other");
    let clock: Arc<dyn Clock> = day.clock.clone();
    drop(Instance::create_from(&backup, &home, &clock).unwrap());
    let other = open_at(&home, clock);
    assert_eq!(other.doctor().unwrap().findings, []);
    let history = other.history(day.results["lent.md"], None, &mut Quiet).unwrap();
    assert_eq!(history.total, Some(3), "no revision is lost");
}

/// Goes on at once, as often as it is asked.
struct NoWait;

impl Pause for NoWait {
    fn pause(&self, _: Duration) -> Go {
        Go::On
    }
}

fn json(document: &impl serde::Serialize) -> String {
    serde_json::to_string(document).unwrap()
}
