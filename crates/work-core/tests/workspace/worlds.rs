//! Two worlds: workspaces that differ only in what was withdrawn from them answer everything alike, to the byte.

use crate::world::{World, ask};
use serde::Serialize;
use std::fmt::Debug;
use std::sync::Arc;
use work_core::code::Coded;
use work_core::id::{GrantId, ProposalId, ResultId};
use work_core::memory::MemoryDoor;
use work_core::path::HostPath;
use work_core::port::Quiet;
use work_core::proposal::{Channel, Fingerprint};
use work_core::result::{ResultState, RevisionNo};
use work_core::workspace::{CheckAsk, Reading, RepairAsk, Repaired, ReportAsk, StateFilter};

/// What one world holds where the other holds something else: a file that is quoted, as it is at first and then, and
/// others that are not. Ids are drawn for each file that is quoted, so both quote one.
struct Secret {
    name: &'static str,
    texts: [&'static str; 3],
    others: &'static [(&'static str, &'static str)],
}

const ONE: Secret = Secret {
    name: "a.md",
    texts: ["A secret word.\n", "A secret word, and another.\n", "Secret.\n"],
    others: &[],
};

const OTHER: Secret = Secret {
    name: "deep/er/b.txt",
    texts: [
        "Quite another and longer secret, with the number forty-two.\n",
        "The secret number is forty-three.\n",
        "# Numbers\n\nA secret no more: it is forty-four.\n\nNobody asked for it.\n",
    ],
    others: &[("x.md", "x\n"), ("deep/y.md", "Nothing to see, at some length.\n"), ("z.png", "z")],
};

/// Where the secret lies, and how it is withdrawn and shown again.
struct Case {
    root: &'static str,
    approved: &'static [&'static str],
    withdraw: fn(&World),
    show: fn(&World),
}

/// A folder of its own.
const FOLDER: Case = Case {
    root: "/shut",
    approved: &["/open", "/shut"],
    withdraw: |world| drop(world.revoke("/shut")),
    show: |world| drop(world.approve("/shut")),
};

/// A folder inside another, approved on its own from the beginning.
const INNER: Case = Case {
    root: "/open/inner",
    approved: &["/open", "/open/inner"],
    withdraw: |world| drop(world.revoke("/open/inner")),
    show: |world| drop(world.approve("/open/inner")),
};

/// A folder inside another that was read through the outer one, and is approved only to be withdrawn.
const HOLE: Case = Case {
    root: "/open/inner",
    approved: &["/open"],
    withdraw: |world| {
        world.approve("/open/inner");
        world.revoke("/open/inner");
    },
    show: |world| drop(world.approve("/open/inner")),
};

/// Files that later rules exclude.
const EXCLUDED: Case = Case {
    root: "/open/drafts",
    approved: &["/open"],
    withdraw: |world| drop(world.change_rules("/open", &["drafts"])),
    show: |world| drop(world.change_rules("/open", &[])),
};

/// One world with all that was made in it.
struct Lived {
    world: World,
    /// Where the secret lies.
    root: &'static str,
    /// Results that rest on nothing withdrawn. The last searched it in vain, and is not repaired: a fingerprint covers
    /// the whole scan record, so that of a proposal made before differs.
    open: Vec<ResultId>,
    /// Results that rest on what is withdrawn, alone or beside other files.
    shut: Vec<ResultId>,
    /// Proposals with the fingerprints that they were shown with.
    proposals: Vec<(ProposalId, Fingerprint)>,
}

/// A file in a folder of its own, which is never withdrawn.
const PLAN: &str = "/apart/plan.md";

impl Lived {
    fn new(case: &Case, secret: &Secret) -> Self {
        let door = MemoryDoor::new().file(PLAN, "The plan is open.\n").folder(case.root);
        let world = World::over(Arc::new(door.file("/open/readme.md", "Read me.\n")));
        world.approve("/apart");
        case.approved.iter().for_each(|root| drop(world.approve(root)));
        let lived = Self {
            world,
            root: case.root,
            open: Vec::new(),
            shut: Vec::new(),
            proposals: Vec::new(),
        };
        lived.live(case, secret)
    }

    /// The script: reports, repairs, restores, refusals, failures.
    fn live(mut self, case: &Case, secret: &Secret) -> Self {
        for (name, text) in secret.others {
            self.world.door.put(&format!("{}/{name}", case.root), *text);
        }
        let tell = |world: &World, turn: usize| {
            world.door.put(PLAN, format!("The plan is open, says version {turn}.\n"));
            world.door.put(&format!("{}/{}", case.root, secret.name), secret.texts[turn]);
        };
        tell(&self.world, 0);
        let apart = Some(vec![self.world.grant("/apart")]);
        self.open = vec![
            self.report("plan", apart.clone()),
            self.report("open plan", apart),
            self.report("plan version", None),
        ];
        self.shut = ["secret", "plan secret", "secret number"]
            .map(|query| self.report(query, None))
            .to_vec();
        let [alone, mixed, third] = *self.shut else { panic!("three") };
        let kept = self.world.work.repair(third, &mut Quiet).expect("repaired");
        assert!(matches!(kept, Repaired::NoChange(_)));
        tell(&self.world, 1);
        [self.open[0], alone, mixed].into_iter().for_each(|result| self.mend(result));
        tell(&self.world, 2);
        for result in [self.open[1], alone, alone, mixed] {
            self.repair(result);
        }
        self.dismiss_last();
        for result in [self.open[0], alone, mixed] {
            self.restore(result);
        }
        self.repair(third);
        self.world.pass(10);
        let zeppelin = self.world.work.report(&ask("zeppelin"), &mut Quiet);
        assert_eq!(zeppelin.expect_err("no match").code().as_str(), "no_matches");
        self
    }

    fn report(&self, query: &str, folders: Option<Vec<GrantId>>) -> ResultId {
        self.world.pass(1);
        let asked = ReportAsk { folders, ..ask(query) };
        self.world.work.report(&asked, &mut Quiet).expect("a report").artifact_id
    }

    fn mend(&mut self, result: ResultId) {
        self.repair(result);
        let &(id, shown) = self.proposals.last().expect("one");
        self.world.work.apply(id, shown, Channel::Cli, &mut Quiet).expect("applied");
    }

    fn repair(&mut self, result: ResultId) {
        self.world.pass(1);
        let proposal = self.world.repair(result);
        self.proposals.push((proposal.proposal_id, proposal.fingerprint.expect("visible")));
    }

    fn dismiss_last(&self) {
        let &(id, _) = self.proposals.last().expect("one");
        self.world.work.dismiss(id).expect("dismissed");
    }

    fn restore(&mut self, result: ResultId) {
        self.world.pass(1);
        let proposal = self.world.restore(result, 1).expect("prepared").proposal;
        self.proposals.push((proposal.proposal_id, proposal.fingerprint.expect("visible")));
    }

    fn results(&self) -> impl Iterator<Item = ResultId> {
        self.open.iter().chain(&self.shut).copied()
    }

    /// What is told of results, revisions, tasks and proposals, by what was asked.
    fn told(&self) -> Vec<(String, String)> {
        let work = &self.world.work;
        let mut told = vec![
            ("list".into(), json(work.list(StateFilter::All, None))),
            ("hidden".into(), json(work.list(StateFilter::Only(ResultState::AccessRemoved), None))),
            ("tasks".into(), json(work.tasks(None))),
            ("proposals".into(), json(work.proposals(None))),
        ];
        for task in work.tasks(None).expect("tasks").tasks {
            told.push((format!("task {}", task.task_id), json(work.task(task.task_id))));
        }
        for &(id, _) in &self.proposals {
            told.push((format!("proposal {id}"), json(work.proposal(id, &mut Quiet))));
        }
        for result in self.results() {
            told.push((format!("show {result}"), json(work.show(result, None, &mut Quiet))));
            told.push((format!("history {result}"), json(work.history(result, None, &mut Quiet))));
            for no in (1..=3).map(RevisionNo) {
                let of = format!("{} of {result}", no.0);
                told.push((format!("show {of}"), json(work.show(result, Some(no), &mut Quiet))));
                told.push((format!("revision {of}"), json(work.revision(result, no, &mut Quiet))));
                told.push((format!("compare {of}"), json(work.compare(result, no, &mut Quiet))));
            }
        }
        told.push(("lists, once more".into(), json(work.list(StateFilter::All, None))));
        told.push(("proposals, once more".into(), json(work.proposals(None))));
        told.push(("tasks, once more".into(), json(work.tasks(None))));
        told
    }

    /// What is told of everything at once, and of files by their names.
    fn told_of_all(&self) -> Vec<(String, String)> {
        let work = &self.world.work;
        let check =
            |paths| json(work.check(&CheckAsk { paths, ..CheckAsk::default() }, &mut Quiet));
        let mut told = vec![
            ("status".into(), json(work.status(Reading::Again, &mut Quiet))),
            ("check".into(), check(None)),
        ];
        let names = [ONE, OTHER].map(|secret| secret.name);
        let inside =
            names.iter().chain(&["nothing.md"]).map(|name| format!("{}/{name}", self.root));
        for file in inside.chain([PLAN.to_owned(), "/open/readme.md".to_owned()]) {
            let paths = Some(vec![HostPath::from_bytes(&*file)]);
            told.push((format!("check {file}"), check(paths)));
        }
        told.push(("refresh".into(), json(work.refresh(&mut Quiet))));
        told
    }

    /// The same with exports, what is refused, and what the workspace tells of itself.
    fn told_and_refused(&self) -> Vec<(String, String)> {
        let work = &self.world.work;
        let mut told = self.told_of_all();
        told.extend(self.told());
        for result in self.results() {
            for no in [None, Some(1), Some(3)] {
                let exported = work.export(result, no.map(RevisionNo), &mut Quiet);
                told.push((format!("export {no:?} of {result}"), json(exported)));
            }
        }
        for &result in &self.shut {
            let ask = RepairAsk { result, key: Some("k".into()) };
            told.push((format!("ask {result}"), json(work.ask_repair(&ask, &mut Quiet))));
            told.push((
                format!("repair {result}"),
                json(work.repair(result, &mut Quiet).map(|_| ())),
            ));
            for no in 1..=3 {
                let restored = self.world.restore(result, no).map(|_| ());
                told.push((format!("restore {no} of {result}"), json(restored)));
            }
        }
        for &(id, shown) in &self.proposals {
            let hidden = work.proposal(id, &mut Quiet).expect("there").fingerprint.is_none();
            let other = Fingerprint(work_core::digest::Digest::of(b"other"));
            let presented = if hidden { [shown, other] } else { [other; 2] };
            for presented in presented {
                let applied = work.apply(id, presented, Channel::Http, &mut Quiet);
                told.push((format!("apply {id}"), json(applied)));
            }
        }
        told.push(("log".into(), json(work.log(0))));
        told.push(("doctor".into(), json(work.doctor())));
        told.push(("folders".into(), json(work.folders())));
        told
    }

    /// What comes of asking again for the same.
    fn asked_again(&mut self) -> Vec<(String, String)> {
        let work = self.world.work.clone();
        let mut told = Vec::new();
        for query in ["secret", "plan secret", "plan"] {
            told.push((format!("report {query}"), json(work.report(&ask(query), &mut Quiet))));
        }
        self.world.door.put(PLAN, "The plan is another one.\n");
        for result in self.open.clone() {
            let repaired = work.repair(result, &mut Quiet).map(|repaired| match repaired {
                Repaired::Proposed(proposal) => *proposal,
                Repaired::NoChange(task) => panic!("nothing changed: {task:?}"),
            });
            told.push((format!("repair {result}"), json(repaired)));
        }
        told.extend(self.told_and_refused());
        told
    }
}

/// An answer as its document, or as all that its error says.
fn json<T: Serialize, E: Coded + Debug>(answer: Result<T, E>) -> String {
    match answer {
        Ok(document) => serde_json::to_string_pretty(&document).expect("JSON"),
        Err(why) => format!("{} {why:?}", why.code().as_str()),
    }
}

#[track_caller]
fn check_alike(one: &[(String, String)], other: &[(String, String)]) {
    for ((asked, one), (also, other)) in one.iter().zip(other) {
        assert_eq!(asked, also);
        let differ = || one.lines().zip(other.lines()).find(|(one, other)| one != other);
        assert_eq!(one, other, "{asked} tells {:?}", differ());
    }
    assert_eq!(one.len(), other.len());
}

/// Answers without the time of the latest look, which showing something again takes.
fn untimed(told: &[(String, String)]) -> Vec<(String, String)> {
    let lines = |answer: &str| {
        let kept: Vec<_> = answer.lines().filter(|line| !line.contains("observed_at")).collect();
        kept.join("\n")
    };
    told.iter().map(|(asked, answer)| (asked.clone(), lines(answer))).collect()
}

/// How many answers differ.
fn differences(one: &[(String, String)], other: &[(String, String)]) -> usize {
    one.iter().zip(other).filter(|(one, other)| one.1 != other.1).count()
}

#[track_caller]
fn check(case: &Case) {
    let mut worlds = [&ONE, &OTHER].map(|secret| Lived::new(case, secret));
    // Once before, so that lists know what showing finds out.
    worlds.iter().for_each(|lived| drop(lived.told()));
    let before = worlds.each_ref().map(Lived::told);
    assert!(differences(&before[0], &before[1]) > 10, "they differ before");
    worlds.iter().for_each(|lived| (case.withdraw)(&lived.world));
    for lived in &worlds {
        let stubs = lived.world.work.list(StateFilter::Only(ResultState::AccessRemoved), None);
        assert_eq!(stubs.expect("a list").results.len(), lived.shut.len());
    }
    let [one, other] = worlds.each_ref().map(Lived::told_and_refused);
    check_alike(&one, &other);
    worlds.iter().for_each(|lived| (case.show)(&lived.world));
    let again = worlds.each_ref().map(Lived::told);
    for (before, again) in before.iter().zip(&again) {
        check_alike(&untimed(before), &untimed(again));
    }
    worlds.iter().for_each(|lived| (case.withdraw)(&lived.world));
    let [one, other] = worlds.each_mut().map(Lived::asked_again);
    check_alike(&one, &other);
}

// spec: R3
#[test]
fn a_withdrawn_folder_tells_nothing_of_what_it_held() {
    check(&FOLDER);
}

// spec: R3
#[test]
fn a_withdrawn_folder_inside_another_tells_nothing_of_what_it_held() {
    check(&INNER);
}

// spec: R3
#[test]
fn a_hole_in_a_folder_tells_nothing_of_what_was_read_there_before() {
    check(&HOLE);
}

// spec: R3
#[test]
fn what_later_rules_exclude_tells_nothing() {
    check(&EXCLUDED);
}
