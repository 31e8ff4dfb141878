//! What happens in a run: changes of files and clocks, and every request that a workspace takes.

use super::dice::Dice;
use super::disk::{Change, PLACES, ROOTS, Trouble, WORDS, mark, root_of};
use super::expect::{self, Heard};
use super::law::Verdict;
use super::model::{State, version};
use super::stage::{Beats, Play, Stage};
use crate::code::Coded;
use crate::folder::{Hidden, IgnoreFiles, Rules};
use crate::id::{ProposalId, ResultId, TaskId};
use crate::path::HostPath;
use crate::port::{Clock as _, NoPause};
use crate::proposal::{Channel, Fingerprint};
use crate::result::RevisionNo;
use crate::retrieve::Query;
use crate::workspace::{
    CheckAsk, FolderName, Reading, RepairAsk, ReportAsk, StateFilter, Until, Workspace,
};
use serde::Serialize;
use std::fmt::{Debug, Write as _};
use std::sync::Arc;
use std::time::Duration;

/// One thing that happens.
#[derive(Clone, Debug)]
pub(super) enum Step {
    Disk(Change),
    Clock(Tick),
    Ask(Request),
}

/// What a clock does.
#[derive(Clone, Copy, Debug)]
pub(super) enum Tick {
    Pass(u64),
    SetBack(u64),
    SetAhead(u64),
    Reboot,
}

/// What is asked of the workspace.
#[derive(Clone, Debug)]
pub(super) enum Request {
    Approve(&'static str, Option<&'static str>),
    Revoke(&'static str),
    Queue(&'static str, Option<&'static str>),
    Report(&'static str),
    AskRepair(ResultId),
    Repair(ResultId),
    Work(usize),
    WorkAll(usize),
    Refresh,
    Status(Reading),
    Check,
    Show(ResultId, Option<u64>),
    List,
    Tasks,
    Task(TaskId),
    Cancel(TaskId),
    Proposals,
    Review(ProposalId),
    Apply(ProposalId, Fingerprint),
    Dismiss(ProposalId),
    Restore(ResultId, u64),
    History(ResultId),
    Compare(ResultId, u64),
    Export(ResultId, Option<u64>),
    Log,
    Folders,
    AcceptClock,
    Doctor,
}

/// Something happens.
pub(super) fn take(stage: &Arc<Stage>) {
    let step = {
        let mut play = stage.play();
        if play.left == 0 || play.wrong.is_some() {
            return;
        }
        let Some(step) = draw(&mut play) else { return };
        play.left -= 1;
        play.told.steps += 1;
        play.scenes.iter_mut().for_each(|scene| scene.disturbed = true);
        step
    };
    happen(stage, step);
}

/// Lets one step happen.
pub(super) fn happen(stage: &Arc<Stage>, step: Step) {
    let depth = {
        let mut play = stage.play();
        let depth = "  ".repeat(play.scenes.len());
        let _ = writeln!(play.trace, "{depth}{step:?}");
        depth
    };
    match step {
        Step::Disk(change) => make(stage, change),
        Step::Clock(what) => tick(stage, what),
        Step::Ask(request) => ask(stage, &depth, request),
    }
}

fn make(stage: &Stage, change: Change) {
    let mut play = stage.play();
    if let Change::Write(_, text) = &change {
        let bytes: Arc<[u8]> = text.as_bytes().into();
        play.books.files.insert(version(&bytes), bytes);
    }
    play.change(|state| state.disk.make(change, &stage.door));
}

fn tick(stage: &Stage, what: Tick) {
    let (clock, seconds) = (&stage.clock, Duration::from_secs);
    match what {
        Tick::Pass(by) => clock.advance(seconds(by)),
        Tick::SetBack(by) => clock.set_back(seconds(by)),
        Tick::SetAhead(by) => clock.set_ahead(seconds(by)),
        Tick::Reboot => clock.reboot(),
    }
    let reading = clock.reading();
    stage.play().change(|state| state.clock = reading);
}

/// Draws what happens next, if it can.
fn draw(play: &mut Play) -> Option<Step> {
    let looking = play.is_looking();
    let Play { dice, state, books, .. } = play;
    match dice.below(100) {
        0..30 => {
            let change = draw_change(dice, state, books.chain.len())?;
            (!looking && state.disk.allows(&change)).then_some(Step::Disk(change))
        }
        30..38 => Some(Step::Clock(draw_tick(dice))),
        38..70 => draw_request(dice, state).map(Step::Ask),
        70..84 => draw_about_result(dice, state).map(Step::Ask),
        _ => draw_about_proposal(dice, state).map(Step::Ask),
    }
}

fn draw_tick(dice: &mut Dice) -> Tick {
    match dice.below(11) {
        0..6 => Tick::Pass([1, 7, 20, 31, 61, 1900][dice.below(6)]),
        6..8 => Tick::SetBack([5, 4000][dice.below(2)]),
        8..10 => Tick::SetAhead([40, 3700][dice.below(2)]),
        _ => Tick::Reboot,
    }
}

fn draw_request(dice: &mut Dice, state: &State) -> Option<Request> {
    let root = ROOTS[dice.below(3)];
    let word = WORDS[dice.below(4)];
    Some(match dice.below(72) {
        0..8 => {
            let excludes = ["*-1.md", "*-0.md"][dice.below(2)];
            Request::Approve(root, Some(excludes).filter(|_| dice.once_in(4)))
        }
        8..14 => Request::Revoke(root),
        14..22 => Request::Queue(word, Some(root).filter(|_| dice.once_in(3))),
        22..35 => Request::Report(word),
        35..44 => Request::Work(dice.below(2)),
        44..46 => Request::WorkAll(dice.below(2)),
        46..48 => Request::List,
        48..50 => Request::Tasks,
        50..52 => Request::Proposals,
        52..54 => Request::Folders,
        54..57 => Request::Refresh,
        57..60 => Request::Status(Reading::Again),
        60 => Request::Status(Reading::Trusting),
        61..64 => Request::Check,
        64 => Request::Log,
        65 => Request::Doctor,
        66 => Request::AcceptClock,
        67..70 => Request::Cancel(draw_late(dice, &state.asked)?),
        _ => Request::Task(draw_late(dice, &state.asked)?),
    })
}

/// One of these, the latest most often.
fn draw_late<T: Copy>(dice: &mut Dice, all: &[T]) -> Option<T> {
    let from = if dice.once_in(3) { 0 } else { all.len().saturating_sub(2) };
    dice.one_of(&all[from..])
}

fn draw_about_result(dice: &mut Dice, state: &State) -> Option<Request> {
    let all: Vec<ResultId> = state.results.keys().copied().collect();
    let result = dice.one_of(&all)?;
    let accepted = usize::try_from(state.results[&result].accepted_no()).ok()?;
    let beyond = usize::from(dice.once_in(8));
    let no = 1 + dice.below(accepted + beyond) as u64;
    let maybe = Some(no).filter(|_| dice.once_in(2));
    Some(match dice.below(16) {
        0..4 => Request::Show(result, maybe),
        4..8 => Request::Repair(result),
        8 => Request::AskRepair(result),
        9..12 => Request::Restore(result, no),
        12 => Request::History(result),
        13 => Request::Compare(result, no),
        _ => Request::Export(result, maybe),
    })
}

fn draw_about_proposal(dice: &mut Dice, state: &State) -> Option<Request> {
    let id = draw_late(dice, &state.prepared)?;
    let right = state.proposals[&id].fingerprint;
    let wrong = Fingerprint(crate::digest::Digest::of(b"nothing that was shown"));
    Some(match dice.below(12) {
        0..7 => Request::Apply(id, right),
        7 => Request::Apply(id, wrong),
        8 => Request::Dismiss(id),
        _ => Request::Review(id),
    })
}

fn draw_change(dice: &mut Dice, state: &State, salt: usize) -> Option<Change> {
    let place = PLACES[dice.below(PLACES.len())];
    let root = ROOTS[dice.below(3)];
    let at = if dice.once_in(3) { root } else { place };
    Some(match dice.below(24) {
        0..9 => Change::Write(place, draw_text(dice, state, place, salt)),
        9 => Change::Remove(place),
        10..12 => {
            let to = PLACES[dice.below(PLACES.len())];
            Change::Rename(place, to)
        }
        12 => Change::Trouble(at, Trouble::Unreachable),
        13 => Change::Trouble(at, Trouble::Denied),
        14 => Change::Trouble(place, Trouble::Unstable),
        15..19 => Change::Heal(draw_troubled(dice, state)?),
        19 => Change::Slow(place),
        20 => Change::TakeAway(root),
        21 => Change::Replace(root),
        _ => Change::BringBack(root),
    })
}

/// Something that is in trouble.
fn draw_troubled(dice: &mut Dice, state: &State) -> Option<&'static str> {
    let files = state.disk.files.iter();
    let files = files.filter(|(_, file)| file.trouble.is_some() || file.slow).map(|(at, _)| *at);
    let folders = state.disk.folders.iter().filter(|(_, folder)| folder.trouble.is_some());
    let all: Vec<&'static str> = folders.map(|(at, _)| *at).chain(files).collect();
    dice.one_of(&all)
}

/// What is written: paragraphs with the mark of their folder, or what was there before, somewhat changed.
fn draw_text(dice: &mut Dice, state: &State, place: &str, salt: usize) -> String {
    let before = state.disk.files.get(place).filter(|file| file.bytes.len() < 2000);
    let before = before.map(|file| String::from_utf8_lossy(&file.bytes).into_owned());
    let mark = mark(root_of(place));
    let one = |dice: &mut Dice| {
        let (word, number) = (WORDS[dice.below(4)], 10 + (salt + dice.below(40)) % 90);
        format!("Some {word} is kept in {mark}{number}.\n\n")
    };
    let paragraphs = |dice: &mut Dice, count| (0..count).map(|_| one(dice)).collect::<String>();
    match (before, dice.below(9)) {
        (Some(before), 0) => format!("# Head\n\n{before}"),
        (Some(before), 1) => format!("{before}{}", one(dice)),
        (Some(before), 2) => format!("# Twice\n\n{before}\n{before}"),
        (Some(before), 3) => before.replace("\r\n", "\n").replace('\n', "\r\n"),
        (Some(before), 4) => before.replace('1', "7"),
        (Some(before), 5) => before.replace("Some ", "AwesomeSome "),
        (Some(before), 6) => {
            before.replace("\r\n", "\n").replace("# Head\n\n", "").replace("# Twice\n\n", "")
        }
        (_, 7) => {
            let count = 14;
            paragraphs(dice, count)
        }
        _ => {
            let count = 1 + dice.below(4);
            paragraphs(dice, count)
        }
    }
}

/// A request: made, answered, and the answer judged.
fn ask(stage: &Arc<Stage>, depth: &str, request: Request) {
    let presents =
        if let Request::Apply(id, fingerprint) = request { Some((id, fingerprint)) } else { None };
    let (work, until, workers) = {
        let mut play = stage.play();
        play.begin(presents);
        let until = if play.dice.once_in(12) { Some(play.dice.below(4) as u32) } else { None };
        (play.workspace.clone().expect("it is open"), until, play.workers.clone())
    };
    let mut watch = Beats { stage: Arc::clone(stage), until };
    let watch = &mut watch;
    let heard = Hearing { stage, depth };
    match request {
        Request::Approve(root, excludes) => {
            let excludes = excludes.map(|name| {
                let all = Rules::EXTENSIONS;
                Rules::new(all, [name], Hidden::Skipped, IgnoreFiles::Honoured)
                    .expect("sound rules")
            });
            let answer = work.approve(&HostPath::from_bytes(root), excludes.as_ref(), watch);
            heard.judge(answer, |heard, answer| expect::approved(heard, root, answer));
        }
        Request::Revoke(root) => {
            let answer = work.revoke(&FolderName::Root(HostPath::from_bytes(root)));
            heard.judge(answer, |heard, answer| expect::revoked(heard, root, answer));
        }
        Request::Queue(word, scope) => {
            let folders = scope.and_then(|root| {
                let play = stage.play();
                play.state.granted(root).map(|grant| vec![grant.id])
            });
            let ask = ReportAsk { folders, ..everywhere(word) };
            let answer = work.ask(&ask);
            heard.judge(answer, |heard, answer| expect::asked(heard, word, answer));
        }
        Request::Report(word) => {
            let answer = work.report(&everywhere(word), watch);
            heard.judge(answer, |heard, answer| expect::reported(heard, word, answer));
        }
        Request::AskRepair(result) => {
            let answer = work.ask_repair(&RepairAsk { result, key: None }, watch);
            heard.judge(answer, |heard, answer| {
                expect::asked_repair(heard, result, answer.map(Some))
            });
        }
        Request::Repair(result) => {
            let task = work.ask_repair(&RepairAsk { result, key: None }, watch);
            let task = match task {
                Ok(task) => task.task_id,
                Err(error) => {
                    return heard.judge(Err::<(), _>(error), |heard, answer| {
                        expect::asked_repair(heard, result, answer.map(|()| None))
                    });
                }
            };
            let answer = work.finish_repair(task, work.new_worker(), &NoPause, watch);
            let answer = answer.map(|repaired| match repaired {
                crate::workspace::Repaired::Proposed(doc) => (Some(*doc), None),
                crate::workspace::Repaired::NoChange(doc) => (None, Some(*doc)),
            });
            heard.judge(answer, |heard, answer| expect::repaired(heard, result, answer));
        }
        Request::Work(worker) => {
            let answer = work.work_once(workers[worker], watch);
            let answer = answer.map(|ending| ending.map(|ending| format!("{ending:?}")));
            heard.judge(answer, expect::worked);
        }
        Request::WorkAll(worker) => {
            let answer = work.work(workers[worker], Until::Idle, &OnAndOn, watch, &mut |_| {});
            heard.judge(answer, |heard, answer| expect::failed(heard, answer.err()));
        }
        Request::Refresh => heard.judge(work.refresh(watch), expect::refreshed),
        Request::Status(reading) => heard.judge(work.status(reading, watch), expect::status),
        Request::Check => heard.judge(work.check(&CheckAsk::default(), watch), expect::checked),
        Request::Show(result, no) => {
            let answer = work.show(result, no.map(RevisionNo), watch);
            heard.judge(answer, |heard, answer| expect::shown(heard, (result, no), answer));
        }
        Request::List => heard.judge(work.list(StateFilter::All, None), expect::listed),
        Request::Tasks => heard.judge(work.tasks(None), expect::tasks),
        Request::Task(task) => {
            heard.judge(work.task(task), expect::task);
        }
        Request::Cancel(task) => {
            let answer = work.cancel(task);
            heard.judge(answer, |heard, answer| expect::cancelled(heard, task, answer));
        }
        Request::Proposals => heard.judge(work.proposals(None), expect::proposals),
        Request::Review(id) => {
            let answer = work.proposal(id, watch);
            heard.judge(answer, |heard, answer| expect::reviewed(heard, id, answer));
        }
        Request::Apply(id, fingerprint) => {
            let answer = work.apply(id, fingerprint, Channel::Library, watch);
            heard.judge(answer, |heard, answer| expect::applied(heard, (id, fingerprint), answer));
        }
        Request::Dismiss(id) => {
            let answer = work.dismiss(id);
            heard.judge(answer, |heard, answer| expect::dismissed(heard, id, answer));
        }
        Request::Restore(result, no) => {
            let answer = work.restore(result, RevisionNo(no), watch);
            let answer = answer.map(|restore| restore.proposal);
            heard.judge(answer, |heard, answer| expect::restored(heard, (result, no), answer));
        }
        Request::History(result) => {
            let answer = work.history(result, None, watch);
            heard.judge(answer, |heard, answer| expect::history(heard, result, answer));
        }
        Request::Compare(result, no) => {
            let answer = work.compare(result, RevisionNo(no), watch);
            heard.judge(answer, |heard, answer| expect::compared(heard, (result, no), answer));
        }
        Request::Export(result, no) => {
            let answer = work.export(result, no.map(RevisionNo), watch);
            heard.judge(answer, |heard, answer| expect::exported(heard, (result, no), answer));
        }
        Request::Log => heard.judge(whole_log(&work), expect::log),
        Request::Folders => heard.judge(work.folders(), expect::folders),
        Request::AcceptClock => {
            let answer = work.accept_clock().map(|accepted| format!("{accepted:?}"));
            heard.judge(answer, |heard, answer| expect::failed(heard, answer.err()));
        }
        Request::Doctor => heard.judge(work.doctor(), expect::doctor),
    }
}

/// Never waits and never ends: a worker that goes on until nothing waits.
struct OnAndOn;

impl crate::port::Pause for OnAndOn {
    fn pause(&self, _: Duration) -> crate::port::Go {
        crate::port::Go::On
    }
}

fn everywhere(word: &str) -> ReportAsk {
    ReportAsk::everywhere(Query::parse(word).expect("a query"))
}

/// Every page of the log.
fn whole_log(
    work: &Workspace,
) -> Result<Vec<crate::document::wire::EventDoc>, crate::workspace::Failure> {
    let (mut all, mut after) = (Vec::new(), Some(0));
    while let Some(from) = after {
        let page = work.log(from)?;
        all.extend(page.events);
        after = page.next;
    }
    Ok(all)
}

/// Hears the answer to a request.
struct Hearing<'a> {
    stage: &'a Arc<Stage>,
    depth: &'a str,
}

impl Hearing<'_> {
    /// Ends the request, and says what is wrong with its answer.
    fn judge<T: Serialize, E: Coded + Debug>(
        &self,
        answer: Result<T, E>,
        check: impl FnOnce(&Heard<'_>, Result<&T, &E>) -> Verdict,
    ) {
        let text = match &answer {
            Ok(document) => serde_json::to_string(document).expect("documents are JSON"),
            Err(error) => format!("{:?}: {error:?}", error.code()),
        };
        let mut play = self.stage.play();
        let (scene, moments) = play.end();
        let sum = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |sum, byte| {
            (sum ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
        });
        let short: String = text.chars().take(60).collect();
        let gone = if scene.crashed { "nobody hears " } else { "" };
        let _ = writeln!(play.trace, "{}-> {gone}{sum:016x} {short}", self.depth);
        if scene.crashed {
            return;
        }
        let code = answer.as_ref().err().map(Coded::code);
        let heard = Heard { play: &play, scene: &scene, moments: &moments, text: &text, code };
        let verdict = heard.sound().and_then(|()| check(&heard, answer.as_ref()));
        play.found(verdict);
    }
}
