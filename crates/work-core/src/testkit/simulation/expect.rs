//! What each request is answered, by the model.
//!
//! An undisturbed request is answered as of the one moment that it lasted. One that others acted within may have read,
//! looked and told at different moments: its answer must be right for some of them, in this order.

use super::disk::{Disk, IN, OTHER, OUTER, PLACES, mark, root_of};
use super::law::{Verdict, answer_to_apply, ensure};
use super::model::{self, Content, Proposal, Scene, Stands, State, View, WorkResult};
use super::stage::{self, Play};
use crate::audit::EventKind;
use crate::code::{Code, Coded};
use crate::document::export::ExportDoc;
use crate::document::wire::{
    AppliedDoc, CheckDoc, ComparisonDoc, DoctorDoc, EventDoc, FolderDoc, FoldersDoc, HistoryDoc,
    ProposalDoc, ProposalsDoc, RefreshDoc, ResultDoc, ResultsDoc, StatusDoc, TaskDoc, TasksDoc,
    Verdict as Passed,
};
use crate::id::{GrantId, ProposalId, ResultId, SourceId, TaskId};
use crate::proposal::{Fingerprint, Refusal};
use crate::report::Reached;
use crate::result::ResultState;
use crate::source::Seen;
use crate::workspace::{
    ApplyError, ApproveError, AskError, AskRepairError, CancelError, CheckError, ExportError,
    Failure, FindError, HistoryError, ListError, ProposalError, RepairError, RestoreError,
    RevokeError, RunError, ShowError,
};

/// Moments of a disturbed request that are gone through: with more, only what never may be is looked for.
const MOST: usize = 6;

/// An answer with all that is known of its request.
pub(super) struct Heard<'a> {
    pub(super) play: &'a Play,
    pub(super) scene: &'a stage::Scene,
    /// Since it began; the last one is now.
    pub(super) moments: &'a [State],
    pub(super) text: &'a str,
    pub(super) code: Option<Code>,
}

impl<'a> Heard<'a> {
    /// What holds of every answer: nothing hidden shows, and no failure is told that did not happen.
    pub(super) fn sound(&self) -> Verdict {
        for root in [OUTER, IN, OTHER] {
            let hidden = self.moments.iter().all(|state| hides(state, root));
            ensure(!hidden || !self.text.contains(mark(root)), || {
                format!("what was withdrawn shows: {}", self.text)
            })?;
        }
        let broke = matches!(
            self.code,
            Some(Code::Internal | Code::UnknownOutcome | Code::Busy | Code::DiskFull)
        );
        let busy = self.code == Some(Code::Busy) && self.scene.disturbed;
        ensure(!broke || busy || self.scene.failed, || format!("it broke: {}", self.text))?;
        let unknown = self.code == Some(Code::UnknownOutcome);
        ensure(unknown || !self.play.may_arrive(self.scene), || {
            format!("an outcome that is not known is told as known: {}", self.text)
        })
    }

    /// Whether nobody acted meanwhile and nothing was made to fail.
    fn is_exact(&self) -> bool {
        !self.scene.disturbed && !self.scene.failed && !self.scene.stopped
    }

    /// The moments that an answer may be of.
    fn told(&self) -> &'a [State] {
        if self.scene.disturbed { self.moments } else { &self.moments[..1] }
    }

    fn now(&self) -> &'a State {
        self.moments.last().expect("a moment is now")
    }

    /// What it wrote, but for settling.
    fn acts(&self) -> Vec<EventKind> {
        let acts = self.scene.acts.iter().copied();
        acts.filter(|kind| !matches!(kind, EventKind::Settled { .. })).collect()
    }

    /// What is answered as done has one event, and what is answered as not done has none.
    fn wrote(&self, done: bool, is: impl Fn(&EventKind) -> bool) -> Verdict {
        let acts = self.acts();
        let right = match (done, self.code) {
            (true, _) => acts.len() == 1 && is(&acts[0]),
            (false, Some(Code::UnknownOutcome)) => acts.iter().all(is),
            (false, _) => acts.is_empty(),
        };
        ensure(right, || format!("answered {} and wrote {acts:?}", self.text))
    }

    /// Whether an answer is right in some view, if there are not too many; `roots` says whether roots are looked at.
    fn some(&self, roots: bool, right: impl Fn(&View<'_>) -> bool) -> bool {
        let all = self.told();
        if all.len() > MOST || self.scene.stopped {
            return true;
        }
        let from = |at: usize| all.iter().enumerate().skip(at);
        from(0).any(|(at, began)| {
            from(at).any(|(at, looked)| {
                from(at).any(|(at, rooted)| {
                    let roots = roots.then_some(&rooted.disk);
                    let looked = Some(&looked.disk);
                    from(at).any(|(_, told)| right(&View { began, looked, roots, told }))
                })
            })
        })
    }

    /// Whether it was right at some moment.
    fn once(&self, right: impl Fn(&State) -> bool) -> bool {
        self.told().iter().any(right)
    }

    /// Says that it is right in no view, with what was expected at the first.
    fn must<T: std::fmt::Debug>(&self, right: bool, expected: impl FnOnce() -> T) -> Verdict {
        ensure(right, || format!("answered {} and expected {:?}", self.text, expected()))
    }
}

/// Whether what lies in a folder must not show.
fn hides(state: &State, root: &str) -> bool {
    let active = |root| state.granted(root).map(|grant| grant.active);
    !active(root).or_else(|| (root == IN).then(|| active(OUTER)).flatten()).unwrap_or(false)
}

/// Whether a text is an answer to a query of one word.
pub(super) fn asks_for(query: &str, text: &str) -> bool {
    text.to_lowercase().contains(query)
}

/// Whether a file that may be read holds the word, or might be left out because one is slow.
pub(super) fn matches(state: &State, disk: &Disk, query: &str, scope: &[GrantId]) -> bool {
    let mut slow = false;
    let mut holds = |grant: GrantId, place: &str| {
        let (seen, owner, takes) = state.look(grant, place, disk);
        let mine = matches!(seen, Seen::Bytes(_)) && owner == grant;
        slow |= mine && takes;
        let read = disk.files.get(place).map(|file| model::read(&file.bytes));
        mine && asks_for(query, &String::from_utf8_lossy(read.unwrap_or_default()))
    };
    let mut found = false;
    for &id in scope {
        let root = state.grant(id).map(|grant| grant.root);
        let inside = |place: &&&str| {
            let folder = root_of(place);
            Some(folder) == root || root == Some(OUTER) && folder == IN
        };
        for place in PLACES.iter().filter(inside) {
            found |= holds(id, place);
        }
    }
    found && !slow
}

fn sources<'c>(all: impl IntoIterator<Item = &'c Content>) -> Vec<SourceId> {
    all.into_iter().flat_map(|content| content.cited().map(|(source, _)| source)).collect()
}

/// The worse of what is accepted and another revision; of a hidden result, what is accepted alone.
fn worst(accepted: ResultState, other: ResultState) -> ResultState {
    if accepted.hides() { accepted } else { accepted.max(other) }
}

/// What is to be told of a revision.
#[derive(Debug, PartialEq)]
enum Told {
    Missing,
    Hidden(ResultState),
    Shown(ResultState, u64, Vec<String>),
}

fn about<'v>(view: &View<'v>, id: ResultId) -> Option<(&'v WorkResult, &'v WorkResult)> {
    Some((view.began.results.get(&id)?, view.told.results.get(&id)?))
}

fn texts(content: &Content) -> Vec<String> {
    content.quotes.iter().map(|(_, quotation)| quotation.text.clone()).collect()
}

fn revision(view: &View<'_>, id: ResultId, no: Option<u64>) -> Told {
    let Some((began, told)) = about(view, id) else { return Told::Missing };
    let find = |result: &WorkResult| {
        let no = no.unwrap_or(result.accepted_no());
        result
            .revision(no)
            .cloned()
            .map_or((result.accepted().clone(), None), |one| (one, Some(no)))
    };
    let (first, _) = find(began);
    let scene = view.scene(sources([&**began.accepted(), &*first]));
    let (content, found) = find(told);
    let own = view.worth(&content, &scene);
    let state = worst(view.worth(told.accepted(), &scene), own);
    match found {
        _ if state.hides() => Told::Hidden(state),
        None => Told::Missing,
        Some(no) => Told::Shown(own, no, texts(&content)),
    }
}

/// Whether a result is answered as of some moments.
pub(super) fn shown(
    heard: &Heard<'_>,
    (id, no): (ResultId, Option<u64>),
    answer: Result<&ResultDoc, &ShowError>,
) -> Verdict {
    heard.wrote(false, |_| false)?;
    let told = match answer {
        Ok(ResultDoc { state, body: None, .. }) => Told::Hidden(*state),
        Ok(ResultDoc { state, revision, body: Some(body), .. }) => {
            let texts = body.excerpts.iter().map(|one| one.text.clone()).collect();
            Told::Shown(*state, revision.map_or(0, |no| no.0), texts)
        }
        Err(ShowError::Unknown | ShowError::UnknownRevision(_)) => Told::Missing,
        Err(ShowError::Failed(_)) => return Ok(()),
    };
    let right = heard.some(true, |view| revision(view, id, no) == told);
    heard.must(right, || revision(&View::of(&heard.told()[0]), id, no))?;
    match answer {
        Ok(document) if heard.is_exact() => found(&heard.moments[0], id, document),
        Ok(_) | Err(_) => Ok(()),
    }
}

/// What became of each quotation is what the plainest search says (spec O4).
fn found(state: &State, id: ResultId, document: &ResultDoc) -> Verdict {
    let (Some(body), Some(no)) = (&document.body, document.revision) else { return Ok(()) };
    let content = state.results.get(&id).and_then(|result| result.revision(no.0));
    let content = content.ok_or("a revision that is not there")?;
    let reached = View::of(state).scene(sources([&**state.results[&id].accepted(), &**content]));
    for ((source, quotation), excerpt) in content.quotes.iter().zip(&body.excerpts) {
        let cited = state.sources.get(source).ok_or("a source that is not there")?;
        let file = state.disk.files.get(cited.place.as_str());
        let (seen, ..) = state.look(cited.grant, &cited.place, &state.disk);
        let expected = match (seen, file) {
            (Seen::Bytes(seen), _) if seen == quotation.version => None,
            (Seen::Bytes(_), Some(file)) => Some(model::finding(quotation, &file.bytes)),
            (Seen::Missing, _) => Some("gone"),
            _ => None,
        };
        let known = reached.reached.contains(source);
        ensure(!known || excerpt.finding == expected, || {
            format!("{:?} is {expected:?} and told as {:?}", quotation.text, excerpt.finding)
        })?;
        let right = (excerpt.bytes, excerpt.version, excerpt.source_id)
            == ([quotation.bytes.start, quotation.bytes.end], quotation.version, *source);
        ensure(right, || format!("{:?} is told from elsewhere", quotation.text))?;
    }
    Ok(())
}

pub(super) fn exported(
    heard: &Heard<'_>,
    (id, no): (ResultId, Option<u64>),
    answer: Result<&ExportDoc, &ExportError>,
) -> Verdict {
    heard.wrote(false, |_| false)?;
    let right = heard.some(true, |view| match (revision(view, id, no), answer) {
        (Told::Shown(..), Ok(_)) => true,
        (Told::Missing, Err(why)) => why.code() == Code::NotFound,
        (Told::Hidden(state), Err(why)) => withheld(state, why.code()),
        _ => false,
    });
    heard.must(right || broke(heard), || revision(&View::of(&heard.told()[0]), id, no))
}

/// Whether a refusal says why a result is hidden. What was only not reached in time is told as that.
fn withheld(state: ResultState, code: Code) -> bool {
    match state {
        ResultState::AccessRemoved => code == Code::AccessRemoved,
        ResultState::EvidenceUnavailable => {
            matches!(code, Code::EvidenceUnavailable | Code::RefreshIncomplete)
        }
        ResultState::SourcesChecked | ResultState::Stale => false,
    }
}

/// Whether it failed, which says nothing of the records.
fn broke(heard: &Heard<'_>) -> bool {
    let broke = [Code::Internal, Code::UnknownOutcome, Code::Busy, Code::DiskFull];
    heard.code.is_some_and(|code| broke.contains(&code))
}

pub(super) fn listed(heard: &Heard<'_>, answer: Result<&ResultsDoc, &ListError>) -> Verdict {
    let Ok(document) = answer else { return Ok(()) };
    let entries = document.results.iter();
    let told: Vec<_> =
        entries.map(|one| (one.artifact_id, one.state, one.revision.map(|no| no.0))).collect();
    let expected = |state: &State| {
        let view = View::stored(state);
        let mut all: Vec<_> = state.results.iter().collect();
        all.sort_by_key(|(id, result)| std::cmp::Reverse((result.updated_at, **id)));
        let one = |(id, result): (&ResultId, &WorkResult)| {
            let worth = view.worth(result.accepted(), &Scene::default());
            (*id, worth, (!worth.hides()).then_some(result.accepted_no()))
        };
        all.into_iter().map(one).collect::<Vec<_>>()
    };
    heard.must(heard.once(|state| expected(state) == told), || expected(&heard.told()[0]))
}

/// What each result is worth to a survey of one moment.
fn surveyed<'s>(state: &'s State) -> (View<'s>, Scene, Vec<(ResultId, ResultState)>) {
    let view = View::of(state);
    let cited = sources(state.results.values().map(|result| &**result.accepted()));
    let scene = view.scene(cited.into_iter().filter(|id| state.permitted(&state.sources[id])));
    let worth =
        |(id, result): (&ResultId, &WorkResult)| (*id, view.worth(result.accepted(), &scene));
    let all = state.results.iter().map(worth).collect();
    (view, scene, all)
}

/// Whether a survey is answered exactly: it goes through sources in an order of its own, so that none may be slow.
fn surveys(heard: &Heard<'_>) -> bool {
    heard.is_exact() && surveyed(&heard.moments[0]).1.unreached.is_empty()
}

pub(super) fn status(heard: &Heard<'_>, answer: Result<&StatusDoc, &Failure>) -> Verdict {
    heard.wrote(false, |_| false)?;
    let Ok(document) = answer else { return Ok(()) };
    if !surveys(heard) {
        return Ok(());
    }
    let state = &heard.moments[0];
    let (view, scene, all) = surveyed(state);
    let count = |wanted| all.iter().filter(|(_, one)| *one == wanted).count() as u64;
    let counts = &document.counts;
    let told =
        [counts.sources_checked, counts.stale, counts.evidence_unavailable, counts.access_removed];
    let expected = [
        count(ResultState::SourcesChecked),
        count(ResultState::Stale),
        count(ResultState::EvidenceUnavailable),
        count(ResultState::AccessRemoved),
    ];
    heard.must(told == expected, || expected)?;
    let view = View { roots: None, ..view };
    let waits = |id: &&ProposalId| {
        let one = &state.proposals[*id];
        let (accepted, now) = (state.results[&one.result].accepted_no(), state.now());
        let hidden = all.iter().any(|(id, worth)| *id == one.result && worth.hides());
        let waits = one.end.is_none() && one.lasts(now) && one.base == accepted && !hidden;
        waits && visible(&view, one, &scene).is_ok()
    };
    let expected: Vec<ProposalId> = state.prepared.iter().rev().filter(waits).copied().collect();
    let told: Vec<ProposalId> = document.waiting.iter().map(|one| one.proposal_id).collect();
    heard.must(told == expected, || expected)
}

pub(super) fn checked(heard: &Heard<'_>, answer: Result<&CheckDoc, &CheckError>) -> Verdict {
    heard.wrote(false, |_| false)?;
    let Ok(document) = answer else { return Ok(()) };
    if !surveys(heard) {
        return Ok(());
    }
    let state = &heard.moments[0];
    let (_, _, all) = surveyed(state);
    let (mut defects, mut unstable) = (false, false);
    for (id, worth) in all {
        defects |= worth.hides();
        for (source, quotation) in
            state.results[&id].accepted().quotes.iter().filter(|_| !worth.hides())
        {
            let source = &state.sources[source];
            let file = state.disk.files.get(source.place.as_str());
            match (state.look(source.grant, &source.place, &state.disk).0, file) {
                (Seen::Bytes(seen), Some(file)) if seen != quotation.version => {
                    let found = model::finding(quotation, &file.bytes);
                    defects |= ["altered", "ambiguous", "beyond_limit"].contains(&found);
                }
                (Seen::Missing, _) => defects = true,
                (Seen::Unstable, _) => unstable = true,
                _ => {}
            }
        }
    }
    let expected = match (defects, unstable) {
        (true, _) => Passed::Attention,
        (false, true) => Passed::Incomplete,
        (false, false) => Passed::Passed,
    };
    heard.must(document.verdict == expected, || expected)
}

pub(super) fn refreshed(heard: &Heard<'_>, answer: Result<&RefreshDoc, &Failure>) -> Verdict {
    heard.wrote(false, |_| false)?;
    let Ok(document) = answer else { return Ok(()) };
    if !surveys(heard) {
        return Ok(());
    }
    let (_, _, all) = surveyed(&heard.moments[0]);
    let wrong = document.results.iter().find(|one| !all.contains(&(one.artifact_id, one.state)));
    heard.must(wrong.is_none() && document.not_looked_at == 0, || all)
}

pub(super) fn history(
    heard: &Heard<'_>,
    id: ResultId,
    answer: Result<&HistoryDoc, &HistoryError>,
) -> Verdict {
    heard.wrote(false, |_| false)?;
    let Ok(document) = answer else { return heard.must(broke(heard), || "a history") };
    let entries = document.revisions.iter().flatten();
    let told: Vec<_> = entries.map(|one| (one.revision.0, one.state, one.digest)).collect();
    let told = (document.state, document.total, told);
    let expected = |view: &View<'_>| {
        let (began, result) = about(view, id)?;
        let scene = view.scene(sources(began.revisions.iter().map(|one| &**one)));
        let worth = view.worth(result.accepted(), &scene);
        let one = |(no, content): (u64, &std::sync::Arc<Content>)| {
            let worth = view.worth(content, &scene);
            (no, worth, (!worth.hides()).then_some(content.body))
        };
        let all: Vec<_> = (1..).zip(&result.revisions).map(one).rev_all();
        let total = (!worth.hides()).then_some(result.accepted_no());
        Some((worth, total, if worth.hides() { Vec::new() } else { all }))
    };
    let right = heard.some(true, |view| expected(view).as_ref() == Some(&told));
    heard.must(right, || expected(&View::of(&heard.told()[0])))
}

/// Everything, the last first.
trait RevAll: Iterator + Sized {
    fn rev_all(self) -> Vec<Self::Item> {
        let mut all: Vec<_> = self.collect();
        all.reverse();
        all
    }
}

impl<I: Iterator> RevAll for I {}

/// Why a revision cannot be compared or restored now: the worst of the sources of both bodies (spec H2).
fn comparable(view: &View<'_>, all: &[SourceId], scene: &Scene) -> Result<(), ResultState> {
    let one = |seen: Seen| match seen {
        Seen::Bytes(_) => None,
        Seen::Denied => Some(ResultState::AccessRemoved),
        Seen::Missing | Seen::Unstable | Seen::Unreachable => {
            Some(ResultState::EvidenceUnavailable)
        }
    };
    let worst = all.iter().flat_map(|id| view.sights(*id, scene)).filter_map(one).max();
    worst.map_or(Ok(()), Err)
}

pub(super) fn compared(
    heard: &Heard<'_>,
    (id, no): (ResultId, u64),
    answer: Result<&ComparisonDoc, &ShowError>,
) -> Verdict {
    heard.wrote(false, |_| false)?;
    let told = match answer {
        Ok(document) => {
            let both = (&document.accepted, &document.selected);
            let digests = match both {
                (Some(accepted), Some(selected)) => Some([accepted.digest, selected.digest]),
                _ => None,
            };
            Some((document.state, document.can_restore, digests))
        }
        Err(ShowError::Unknown | ShowError::UnknownRevision(_)) => None,
        Err(ShowError::Failed(_)) => return Ok(()),
    };
    let expected = |view: &View<'_>| {
        let (began, result) = about(view, id)?;
        let first = began.revision(no).unwrap_or(began.accepted());
        let scene = view.scene(sources([&**began.accepted(), &**first]));
        let selected = result.revision(no).unwrap_or(result.accepted());
        let [accepted, own] = [result.accepted(), selected].map(|one| view.worth(one, &scene));
        let worst = worst(accepted, own);
        if result.revision(no).is_none() && !worst.hides() {
            return None;
        }
        let both = sources([&**result.accepted(), &**selected]);
        let telling = if accepted.hides() { sources([&**result.accepted()]) } else { both };
        let shows = comparable(view, &telling, &scene).is_ok();
        let digests = shows.then_some([result.accepted().body, selected.body]);
        let state = if worst.hides() { worst } else { own };
        Some((state, shows && no != result.accepted_no(), digests))
    };
    let right = heard.some(true, |view| expected(view) == told);
    heard.must(right, || expected(&View::of(&heard.told()[0])))
}

/// What a proposal is worth, if everything that it rests on may be seen.
fn visible(view: &View<'_>, one: &Proposal, scene: &Scene) -> Result<ResultState, ResultState> {
    let result = &view.told.results[&one.result];
    let base = result.revision(one.base).unwrap_or(result.accepted());
    let [accepted, based, proposed] =
        [result.accepted(), base, &one.content].map(|content| view.worth(content, scene));
    let worst = accepted.max(based).max(proposed);
    let both = sources([&**base, &*one.content]);
    let beyond = one.restores.is_some() && comparable(view, &both, scene).is_err();
    if worst.hides() || beyond {
        Err(worst.max(ResultState::EvidenceUnavailable))
    } else {
        Ok(proposed)
    }
}

/// The sources of a proposal and of what is accepted.
fn rests_on(state: &State, one: &Proposal) -> Vec<SourceId> {
    let accepted = state.results[&one.result].accepted();
    one.bound.keys().copied().chain(sources([&**accepted])).collect()
}

pub(super) fn reviewed(
    heard: &Heard<'_>,
    id: ProposalId,
    answer: Result<&ProposalDoc, &ProposalError>,
) -> Verdict {
    heard.wrote(false, |_| false)?;
    let Ok(document) = answer else { return heard.must(broke(heard), || "a proposal") };
    let told = (document.state, document.can_apply, document.rejection_reason);
    let expected = |view: &View<'_>| {
        let first = view.began.proposals.get(&id)?;
        let scene = view.scene(rests_on(view.began, first));
        let one = view.told.proposals.get(&id)?;
        Some(match visible(view, one, &scene) {
            Err(state) => (state.as_str(), None, None),
            Ok(_) => {
                let refusal = answer_to_apply(view, one, Some(one.fingerprint), &scene).err();
                let why = refusal.map(|why| why.code().as_str());
                (one.word(view.told.now()), Some(refusal.is_none()), why)
            }
        })
    };
    let right = heard.some(true, |view| expected(view) == Some(told));
    heard.must(right, || expected(&View::of(&heard.told()[0])))?;
    let Some(proposed) = &document.proposed else { return Ok(()) };
    let kept = heard.now().proposals.get(&id).ok_or("an unknown proposal")?;
    let says: Vec<String> = proposed.body.excerpts.iter().map(|one| one.text.clone()).collect();
    let same = proposed.digest == kept.content.body && says == texts(&kept.content);
    heard.must(same && document.fingerprint == Some(kept.fingerprint), || "what was proposed")
}

pub(super) fn proposals(heard: &Heard<'_>, answer: Result<&ProposalsDoc, &ListError>) -> Verdict {
    let Ok(document) = answer else { return Ok(()) };
    let told: Vec<_> = document.proposals.iter().map(|one| (one.proposal_id, one.state)).collect();
    let expected = |state: &State| {
        let (view, now) = (View::stored(state), state.now());
        let one = |id: &ProposalId| {
            let one = &state.proposals[id];
            visible(&view, one, &Scene::default()).ok().map(|_| (*id, one.word(now)))
        };
        state.prepared.iter().rev().take(100).filter_map(one).collect::<Vec<_>>()
    };
    heard.must(heard.once(|state| expected(state) == told), || expected(&heard.told()[0]))
}

pub(super) fn applied(
    heard: &Heard<'_>,
    (id, presented): (ProposalId, Fingerprint),
    answer: Result<&AppliedDoc, &ApplyError>,
) -> Verdict {
    match answer {
        Ok(document) => heard.wrote(true, |kind| {
            let AppliedDoc { artifact_id, revision, .. } = document;
            let (proposal, result, revision) = (id, *artifact_id, *revision);
            *kind == EventKind::ProposalApplied { proposal, result, revision }
        }),
        Err(ApplyError::Refused(why)) => {
            let told = EventKind::ProposalRefused { proposal: id, reason: *why };
            let acts = heard.acts();
            heard.must(acts.iter().all(|kind| *kind == told), || &acts)?;
            let expected = |view: &View<'_>| {
                let (first, one) = (view.began.proposals.get(&id)?, view.told.proposals.get(&id)?);
                let scene = view.scene(first.bound.keys().copied());
                answer_to_apply(view, one, Some(presented), &scene).err()
            };
            let right = heard.some(false, |view| expected(view) == Some(*why));
            heard.must(right, || expected(&View { roots: None, ..View::of(&heard.told()[0]) }))
        }
        Err(ApplyError::Unknown) => heard.must(false, || "a proposal"),
        Err(ApplyError::Failed(_)) => heard.wrote(false, |kind| {
            matches!(kind, EventKind::ProposalApplied { .. } | EventKind::ProposalRefused { .. })
        }),
    }
}

pub(super) fn dismissed(
    heard: &Heard<'_>,
    id: ProposalId,
    answer: Result<&(), &ApplyError>,
) -> Verdict {
    heard.wrote(answer.is_ok(), |kind| *kind == EventKind::ProposalDismissed { proposal: id })?;
    let Err(ApplyError::Refused(why)) = answer else { return Ok(()) };
    let ends = [
        (Refusal::AlreadyUsed, "applied"),
        (Refusal::Superseded, "superseded"),
        (Refusal::Dismissed, "dismissed"),
    ];
    let word = ends.iter().find(|(reason, _)| reason == why).map_or("expired", |(_, word)| *word);
    heard.must(heard.once(|state| state.proposals[&id].word(state.now()) == word), || "another end")
}

/// Why a restore is not prepared (spec H3, H5), if it is not.
fn restore(view: &View<'_>, id: ResultId, no: u64, limits: usize) -> Option<Code> {
    let Some((began, result)) = about(view, id) else { return Some(Code::NotFound) };
    let first = began.revision(no).unwrap_or(began.accepted());
    let scene = view.scene(sources([&**began.accepted(), &**first]));
    let selected = result.revision(no).unwrap_or(result.accepted());
    let [accepted, own] = [result.accepted(), selected].map(|one| view.worth(one, &scene));
    if result.revision(no).is_none() && !worst(accepted, own).hides() {
        return Some(Code::NotFound);
    }
    let both = sources([&**result.accepted(), &**selected]);
    let telling = if accepted.hides() { sources([&**result.accepted()]) } else { both };
    let reached = telling.iter().all(|source| view.reaches(*source, &scene));
    let stored = View::stored(view.told);
    let waits = |one: &&Proposal| {
        let lasts = one.end.is_none() && one.lasts(view.told.now()) && one.restores.is_some();
        let based = one.base == view.told.results[&one.result].accepted_no();
        lasts && based && visible(&stored, one, &Scene::default()).is_ok()
    };
    let mine = |one: &Proposal| one.result == id && one.restores.is_some() && one.end.is_none();
    let now = view.told.now();
    let own_lasts = view.told.proposals.values().any(|one| mine(one) && one.lasts(now));
    let waiting = view.told.proposals.values().filter(waits).count();
    match comparable(view, &telling, &scene) {
        Err(ResultState::AccessRemoved) => Some(Code::AccessRemoved),
        Ok(()) | Err(_) if !reached => Some(Code::RefreshIncomplete),
        Err(_) => Some(Code::EvidenceUnavailable),
        Ok(()) if no == result.accepted_no() => Some(Code::InvalidArgument),
        Ok(()) if waiting.saturating_sub(usize::from(own_lasts)) >= limits => {
            Some(Code::TooManyPending)
        }
        Ok(()) => None,
    }
}

pub(super) fn restored(
    heard: &Heard<'_>,
    (id, no): (ResultId, u64),
    answer: Result<&ProposalDoc, &RestoreError>,
) -> Verdict {
    let limit = heard.play.limits.pending_restores;
    let is = |kind: &EventKind| matches!(kind, EventKind::ProposalPrepared { result, .. } if *result == id);
    let right = match answer {
        Ok(_) | Err(RestoreError::Show(_)) => {
            heard.must(heard.acts().iter().all(is), || "one proposal")?;
            heard.some(false, |view| restore(view, id, no, limit).is_none())
        }
        Err(RestoreError::Failed(_)) => return heard.wrote(false, is),
        // The same restore waits already, as many as may.
        Err(why) => {
            heard.wrote(false, is)?;
            heard.some(false, |view| restore(view, id, no, limit) == Some(why.code()))
        }
    };
    let view = View { roots: None, ..View::of(&heard.told()[0]) };
    heard.must(right, || restore(&view, id, no, limit))
}

pub(super) fn approved(
    heard: &Heard<'_>,
    root: &str,
    answer: Result<&FolderDoc, &ApproveError>,
) -> Verdict {
    let unchanged = answer.is_ok_and(|document| document.change == "unchanged");
    let folder = answer.ok().map(|document| document.folder.folder);
    heard.wrote(answer.is_ok() && !unchanged, |kind| {
        let (EventKind::FolderApproved { folder: one } | EventKind::RulesChanged { folder: one }) =
            kind
        else {
            return false;
        };
        folder.is_none_or(|folder| folder == *one)
    })?;
    let stands = |state: &State| {
        let there = state.disk.folders.get(root);
        let grant = state.granted(root);
        let open = state.disk.trouble_down_to(root).is_none() && there.is_some();
        let same = there.zip(grant).is_some_and(|(there, one)| there.identity == one.identity);
        (open, same && grant.is_some_and(|grant| grant.active))
    };
    let right = match answer {
        Ok(_) if unchanged => heard.once(|state| stands(state).1),
        Ok(_) => heard.once(|state| stands(state).0),
        Err(ApproveError::Refused(_)) => heard.once(|state| !stands(state).0),
        Err(ApproveError::TooMany(_)) => false,
        Err(ApproveError::Failed(_)) => true,
    };
    heard.must(right, || "what stands there")
}

pub(super) fn revoked(
    heard: &Heard<'_>,
    root: &str,
    answer: Result<&FolderDoc, &RevokeError>,
) -> Verdict {
    let changed = answer.is_ok_and(|document| document.change == "revoked");
    heard.wrote(changed, |kind| matches!(kind, EventKind::FolderRevoked { .. }))?;
    let active = |state: &State| state.granted(root).map(|grant| grant.active);
    let right = match answer {
        Ok(_) => heard.once(|state| active(state) == Some(changed)),
        Err(RevokeError::Unknown) => heard.once(|state| active(state).is_none()),
        Err(RevokeError::Failed(_)) => true,
    };
    heard.must(right, || "what was approved")
}

/// Whether a report is asked for as it may be (spec I7, T1).
fn ask(heard: &Heard<'_>, why: &AskError) -> bool {
    let full = |state: &State| {
        let waiting = state.tasks.values().filter(|task| task.stands == Stands::Queued).count();
        waiting >= heard.play.limits.queued
    };
    match why {
        AskError::SetupIncomplete => heard.once(|state| state.grants.is_empty()),
        AskError::QueueFull(_) => heard.once(full),
        AskError::QueryTooLong { .. } | AskError::UnknownFolder(_) | AskError::KeyConflict => false,
        AskError::Failed(_) => true,
    }
}

pub(super) fn asked(heard: &Heard<'_>, word: &str, answer: Result<&TaskDoc, &AskError>) -> Verdict {
    let task = answer.ok().map(|document| document.task_id);
    heard.wrote(answer.is_ok(), |kind| {
        matches!(kind, EventKind::TaskQueued { task: one } if task.is_none_or(|task| task == *one))
    })?;
    match answer {
        Ok(document) => heard.must(document.query == word && document.state == "queued", || word),
        Err(why) => heard.must(ask(heard, why), || "a task"),
    }
}

pub(super) fn reported(
    heard: &Heard<'_>,
    word: &str,
    answer: Result<&ResultDoc, &RunError>,
) -> Verdict {
    match answer {
        Err(RunError::Ask(why)) => asked(heard, word, Err(why)),
        Err(_) => Ok(()),
        Ok(document) => {
            let made = heard.now().results.get(&document.artifact_id);
            heard.must(made.is_some_and(|made| made.query == word), || word)?;
            if !heard.is_exact() {
                return Ok(());
            }
            let view = View::of(heard.now());
            let told = Told::Shown(
                document.state,
                document.revision.map_or(0, |no| no.0),
                document
                    .body
                    .iter()
                    .flat_map(|body| &body.excerpts)
                    .map(|one| one.text.clone())
                    .collect(),
            );
            let expected = revision(&view, document.artifact_id, None);
            let slow = matches!(expected, Told::Hidden(state) if state == document.state);
            heard.must(expected == told || slow, || expected)
        }
    }
}

pub(super) fn asked_repair(
    heard: &Heard<'_>,
    id: ResultId,
    answer: Result<Option<&TaskDoc>, &AskRepairError>,
) -> Verdict {
    let acts = heard.acts();
    let queued = acts.iter().all(|kind| matches!(kind, EventKind::TaskQueued { .. }));
    match answer {
        Ok(_) => heard.must(queued && acts.len() <= 1, || &acts),
        Err(why) => {
            heard.wrote(false, |kind| matches!(kind, EventKind::TaskQueued { .. }))?;
            let right = match why {
                AskRepairError::Withheld(_) | AskRepairError::RefreshIncomplete => {
                    heard.some(true, |view| match revision(view, id, None) {
                        Told::Hidden(state) => withheld(state, why.code()),
                        Told::Missing | Told::Shown(..) => false,
                    })
                }
                AskRepairError::QueueFull(_) => ask(heard, &AskError::QueueFull(0)),
                AskRepairError::Show(_) => broke(heard),
                AskRepairError::KeyConflict => false,
                AskRepairError::Failed(_) => true,
            };
            heard.must(right, || revision(&View::of(&heard.told()[0]), id, None))
        }
    }
}

/// What came of a repair: a proposal, or the task that found nothing new.
pub(super) type Repair = (Option<ProposalDoc>, Option<TaskDoc>);

pub(super) fn repaired(
    heard: &Heard<'_>,
    id: ResultId,
    answer: Result<&Repair, &RepairError>,
) -> Verdict {
    match answer {
        Ok((Some(document), _)) => {
            let made = heard.now().proposals.get(&document.proposal_id);
            let mine = made.is_some_and(|made| made.result == id && made.restores.is_none());
            heard.must(mine, || "a repair of this result")
        }
        Ok((None, document)) => {
            // Withheld, if a folder that was searched is withdrawn.
            let outcome = document.as_ref().and_then(|document| document.outcome);
            heard.must(matches!(outcome, Some("no_change") | None), || "no change")
        }
        Err(_) => Ok(()),
    }
}

pub(super) fn worked(heard: &Heard<'_>, answer: Result<&Option<String>, &RunError>) -> Verdict {
    let waits = |state: &State| {
        state.tasks.values().any(|task| task.stands.is_open() && !task.stands.is_held(state.now()))
    };
    match answer {
        Ok(None) => heard.must(heard.once(|state| !waits(state)), || "a task to work"),
        Ok(Some(_)) => heard.must(heard.once(waits) && !heard.acts().is_empty(), || "nothing"),
        Err(_) => heard.must(broke(heard), || "work"),
    }
}

pub(super) fn failed<E: Coded>(heard: &Heard<'_>, failed: Option<&E>) -> Verdict {
    heard.must(failed.is_none() || broke(heard), || "no failure")
}

fn words(state: &State, id: TaskId) -> Option<(TaskId, &'static str, u32)> {
    let task = state.tasks.get(&id)?;
    Some((id, task.stands.word(), task.attempts))
}

pub(super) fn tasks(heard: &Heard<'_>, answer: Result<&TasksDoc, &ListError>) -> Verdict {
    let Ok(document) = answer else { return Ok(()) };
    let told: Vec<_> =
        document.tasks.iter().map(|one| (one.task_id, one.state, one.attempt)).collect();
    let expected = |state: &State| {
        state.asked.iter().rev().take(100).filter_map(|id| words(state, *id)).collect::<Vec<_>>()
    };
    heard.must(heard.once(|state| expected(state) == told), || expected(&heard.told()[0]))
}

pub(super) fn task(heard: &Heard<'_>, answer: Result<&TaskDoc, &FindError>) -> Verdict {
    let Ok(document) = answer else { return heard.must(broke(heard), || "a task") };
    let told = (document.task_id, document.state, document.attempt);
    let right = heard.once(|state| words(state, told.0) == Some(told));
    heard.must(right, || words(&heard.told()[0], told.0))
}

pub(super) fn cancelled(
    heard: &Heard<'_>,
    id: TaskId,
    answer: Result<&TaskDoc, &CancelError>,
) -> Verdict {
    heard.wrote(answer.is_ok(), |kind| *kind == EventKind::TaskCancelled { task: id })?;
    let open = |state: &State| state.tasks.get(&id).is_some_and(|task| task.stands.is_open());
    let right = match answer {
        Ok(document) => document.state == "cancelled",
        Err(CancelError::Unknown) => false,
        Err(CancelError::Refused(_)) => heard.once(|state| !open(state)),
        Err(CancelError::Failed(_)) => true,
    };
    heard.must(right, || "a task that is open")
}

pub(super) fn log(heard: &Heard<'_>, answer: Result<&Vec<EventDoc>, &Failure>) -> Verdict {
    let Ok(events) = answer else { return Ok(()) };
    let chain = &heard.play.books.chain;
    let same = events
        .iter()
        .zip(chain)
        .all(|(told, kept)| (told.seq, told.act, told.digest) == (kept.seq, kept.act, kept.digest));
    let whole = events.len() == chain.len() || heard.scene.disturbed && events.len() < chain.len();
    heard.must(same && whole, || chain.len())
}

pub(super) fn folders(heard: &Heard<'_>, answer: Result<&FoldersDoc, &Failure>) -> Verdict {
    let Ok(document) = answer else { return Ok(()) };
    let told: Vec<_> =
        document.folders.iter().map(|one| (one.folder, one.state, one.reached)).collect();
    let expected = |state: &State| {
        let one = |grant: &model::Grant| {
            let word = if grant.active { "active" } else { "revoked" };
            (grant.id, word, None::<Reached>)
        };
        state.grants.iter().map(one).collect::<Vec<_>>()
    };
    let plain = |all: &[(GrantId, &'static str, Option<Reached>)]| {
        all.iter().map(|one| (one.0, one.1)).collect::<Vec<_>>()
    };
    let right = heard.once(|state| plain(&expected(state)) == plain(&told));
    heard.must(right, || expected(&heard.told()[0]))
}

pub(super) fn doctor(heard: &Heard<'_>, answer: Result<&DoctorDoc, &Failure>) -> Verdict {
    let Ok(document) = answer else { return Ok(()) };
    let wrong = document.findings.iter().find(|one| one.code != "clock_behind");
    heard.must(wrong.is_none(), || "nothing")
}
