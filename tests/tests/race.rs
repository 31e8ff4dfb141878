//! Two processes apply the same proposal at the same moment, a thousand times: exactly one wins each time.
#![expect(clippy::unwrap_used, reason = "what goes wrong in a test fails it")]

use std::io::{BufRead, BufReader, Lines, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use work_core::code::Coded;
use work_core::document::wire::ProposalDoc;
use work_core::port::Quiet;
use work_core::proposal::Channel;
use work_core::result::RevisionNo;
use work_tests::desk::{Desk, open};

/// How often they race.
const ROUNDS: u64 = 1000;

/// One of two processes: for each line it is told, applies that proposal under that fingerprint, and tells what came of
/// it. A busy store is asked again, as a client does.
#[test]
fn the_racer_of_another_test() {
    let Some(home) = std::env::var_os("WORK_TEST_RACER") else { return };
    let work = open(Path::new(&home));
    println!("racer ready");
    for line in std::io::stdin().lines() {
        let line = line.unwrap();
        let (id, fingerprint) = line.split_once(' ').unwrap();
        let (id, fingerprint) = (id.parse().unwrap(), fingerprint.parse().unwrap());
        let told = loop {
            match work.apply(id, fingerprint, Channel::Library, &mut Quiet) {
                Ok(applied) => break format!("applied {}", applied.revision.0),
                Err(why) if why.code().is_retryable() => {}
                Err(why) => break why.code().as_str().to_owned(),
            }
        };
        println!("racer {told}");
    }
}

/// A process that races.
struct Racer {
    child: Child,
    orders: ChildStdin,
    answers: Lines<BufReader<ChildStdout>>,
}

impl Racer {
    fn start(home: &Path) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "the_racer_of_another_test", "--nocapture"]);
        command.env("WORK_TEST_RACER", home).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (orders, answers) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let mut racer = Self { child, orders, answers: BufReader::new(answers).lines() };
        assert_eq!(racer.answer(), "ready");
        racer
    }

    fn order(&mut self, proposal: &ProposalDoc) {
        let fingerprint = proposal.fingerprint.unwrap();
        writeln!(self.orders, "{} {fingerprint}", proposal.proposal_id).unwrap();
    }

    fn answer(&mut self) -> String {
        let lines = self.answers.by_ref().map(Result::unwrap);
        let mut told = lines.filter_map(|line| Some(line.split_once("racer ")?.1.to_owned()));
        told.next().unwrap()
    }

    fn end(mut self) {
        drop(self.orders);
        assert!(self.child.wait().unwrap().success());
    }
}

// spec: P7
#[test]
fn of_two_processes_that_apply_the_same_proposal_exactly_one_wins_a_thousand_times() {
    let desk = Desk::new(&[("a.md", "Backups are kept for 35 days.\n")]);
    let result = desk.report("backups").artifact_id;
    desk.write("a.md", "Backups are kept for 40 days.\n");
    desk.repair_and_apply(result);
    desk.write("a.md", "Backups are kept for 35 days.\n");
    let mut racers = [Racer::start(&desk.home()), Racer::start(&desk.home())];
    for round in 0..ROUNDS {
        let earlier = RevisionNo(1 + round % 2);
        let proposal = desk.work.restore(result, earlier, &mut Quiet).unwrap().proposal;
        racers.iter_mut().for_each(|racer| racer.order(&proposal));
        let mut told = racers.each_mut().map(Racer::answer);
        told.sort();
        assert_eq!(told, ["already_used".to_owned(), format!("applied {}", round + 3)]);
    }
    racers.into_iter().for_each(Racer::end);
    let history = desk.work.history(result, None, &mut Quiet).unwrap();
    assert_eq!(history.total, Some(ROUNDS + 2), "one revision for each win, and none more");
    let checked = desk.work.doctor().unwrap();
    assert!(checked.ok, "{:?}", checked.findings);
}
