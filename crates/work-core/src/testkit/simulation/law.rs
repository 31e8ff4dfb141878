//! The law: which commits may happen, and what they make of a state.
//!
//! Every commit of a run is read as the transition that its event names, and checked against the specification at the
//! records of that very moment: who may lease, publish, cancel, approve; that each quotation is in the bytes that it
//! names; that an approval binds what was seen; that a look that is kept was true while the request lasted.

use super::disk::ROOTS;
use super::model::{
    self, Content, End, Grant, KeptLook, Now, Proposal, Scene, Source, Stands, State, Task, View,
    WorkResult,
};
use crate::audit::{AuditEvent, EventKind};
use crate::digest::Digest;
use crate::document::stored;
use crate::folder::GrantState;
use crate::id::{ActId, OwnerId, ProposalId, ResultId, SourceId, TaskId, WorkspaceId};
use crate::limits::Limits;
use crate::port::{Act, Batch, Change, Document, Note, Put};
use crate::proposal::{self, Bound, Evidence, Fingerprint, ProposalKind, Refusal};
use crate::result::{Revision, RevisionNo};
use crate::source::{Observation, Seen, SourceVersion};
use crate::task::{self, TaskKind, TaskState};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// What is wrong, in words.
pub(super) type Verdict<T = ()> = Result<T, String>;

/// What is said of a batch that must not be written since somebody was faster: the store has to say the same.
pub(super) const OVERTAKEN: &str = "a finding of a revision that is not accepted any more";

/// Says what is wrong unless it holds.
pub(super) fn ensure(holds: bool, what: impl FnOnce() -> String) -> Verdict {
    if holds { Ok(()) } else { Err(what()) }
}

/// What a run remembers beside its state: it only grows.
#[derive(Debug, Default)]
pub(super) struct Books {
    pub(super) documents: BTreeMap<Digest, Vec<u8>>,
    /// What each version of a file held.
    pub(super) files: BTreeMap<SourceVersion, Arc<[u8]>>,
    pub(super) acts: BTreeSet<ActId>,
    pub(super) chain: Vec<AuditEvent>,
    pub(super) used: BTreeSet<Fingerprint>,
}

/// A commit in front of the law.
pub(super) struct Case<'a> {
    /// The moments since the request began; the last one is now.
    pub(super) moments: &'a [&'a State],
    pub(super) books: &'a mut Books,
    pub(super) limits: &'a Limits,
    /// Whether others acted meanwhile: a scan may then have seen each file at a moment of its own.
    pub(super) disturbed: bool,
    /// The fingerprint that was presented, if the request approves.
    pub(super) presented: Option<Fingerprint>,
    pub(super) whose: (WorkspaceId, OwnerId),
}

impl Case<'_> {
    fn now(&self) -> &State {
        self.moments.last().expect("a moment is now")
    }

    /// What the batch makes of the present state.
    pub(super) fn after(&mut self, batch: &Batch) -> Verdict<State> {
        let mut next = self.now().clone();
        let time = next.time.at(next.clock);
        next.time = time;
        if let Some(act) = &batch.act {
            self.keep_documents(act);
            let kind = act.event.kind().ok_or("an event that cannot be read")?;
            let last = self.books.chain.last();
            let (seq, digest) =
                last.map_or((0, AuditEvent::GENESIS), |last| (last.seq, last.digest));
            ensure(act.event.follows(seq, &digest), || "an event that breaks the chain".into())?;
            self.event(&mut next, kind, act)?;
            ensure(act.event.at.seconds() == next.time.now().at || is_clock(kind), || {
                format!("an event of {} at {}", act.event.at.seconds(), next.time.now().at)
            })?;
        }
        for note in &batch.notes {
            self.note(&mut next, note)?;
        }
        let anchor = batch.head.anchor;
        let told = (anchor.latest_ms, anchor.era.0, batch.head.looks);
        let expected = (next.time.latest_ms, next.time.era, next.looks);
        ensure(told == expected, || {
            format!("time, era and looks become {told:?}, and must become {expected:?}")
        })?;
        Ok(next)
    }

    fn keep_documents(&mut self, act: &Act) {
        for put in &act.puts {
            if let Put::Document { digest, bytes } = put {
                self.books.documents.insert(*digest, bytes.clone());
            }
        }
    }

    fn event(&self, next: &mut State, kind: EventKind, act: &Act) -> Verdict {
        let now = next.time.now();
        match kind {
            EventKind::FolderApproved { .. } | EventKind::RulesChanged { .. } => {
                self.approved(next, act)
            }
            EventKind::FolderRevoked { folder } => {
                let grants = Arc::make_mut(&mut next.grants);
                let found = grants.iter_mut().find(|grant| grant.id == folder && grant.active);
                found.ok_or("a folder is revoked that was not approved")?.active = false;
                Ok(())
            }
            EventKind::TaskQueued { task } => self.queued(next, task, act),
            EventKind::TaskLeased { task, fence } => {
                let limits = self.limits;
                change(next, task, |task| {
                    let free = !task.stands.is_held(now) && task.stands.is_open();
                    let tried = task.stands == Stands::Queued || task.attempts < limits.attempts;
                    ensure(free && tried && fence == task.fence + 1, || {
                        format!("a lease {fence} of {task:?}")
                    })?;
                    (task.fence, task.attempts) = (fence, task.attempts + 1);
                    let ends = now.at + seconds(limits.lease);
                    task.stands = Stands::Running { began: now.at, ends, era: now.era };
                    Ok(())
                })
            }
            EventKind::TaskGivenBack { task, fence } => {
                held(next, task, fence, now, Stands::Queued)?;
                change(next, task, |task| {
                    task.attempts = task.attempts.saturating_sub(1);
                    Ok(())
                })
            }
            EventKind::TaskFailed { task, fence } => {
                self.failed(next, task, act)?;
                held(next, task, fence, now, Stands::Failed)
            }
            EventKind::TaskCancelled { task } => change(next, task, |task| {
                ensure(task.stands.is_open(), || "a task is cancelled that has ended".into())?;
                task.stands = Stands::Cancelled;
                Ok(())
            }),
            EventKind::TaskAbandoned { task } => change(next, task, |task| {
                let silent = matches!(task.stands, Stands::Running { .. });
                let given_up = silent && !task.stands.is_held(now) && task.attempts >= 3;
                ensure(given_up, || format!("a task is given up: {task:?}"))?;
                task.stands = Stands::Failed;
                Ok(())
            }),
            EventKind::ResultPublished { result, revision, task, fence } => {
                ensure(revision == RevisionNo::FIRST, || "a result begins at one".into())?;
                held(next, task, fence, now, Stands::Succeeded)?;
                self.published(next, result, task, act)
            }
            EventKind::RepairNotNeeded { result, task, fence } => {
                held(next, task, fence, now, Stands::Succeeded)?;
                self.not_needed(result)
            }
            EventKind::ProposalPrepared { proposal, result } => {
                self.prepared(next, proposal, result, act)
            }
            EventKind::ProposalApplied { proposal, result, revision } => {
                self.applied(next, proposal, (result, revision), act)
            }
            EventKind::ProposalRefused { proposal, reason } => {
                let possible = self.answers_to_apply(proposal, self.presented);
                ensure(possible.contains(&Err(reason)), || {
                    format!("refused as {reason:?}, and must be {possible:?}")
                })
            }
            EventKind::ProposalDismissed { proposal } => end(next, proposal, |waits| {
                ensure(waits.end.is_none() && waits.lasts(now), || {
                    format!("dismissed what does not wait: {waits:?}")
                })?;
                waits.end = Some(End::Dismissed);
                Ok(())
            }),
            EventKind::ClockAccepted { from_ms, to_ms } => {
                let (time, wall) = (next.time, next.clock.wall_ms);
                let behind = from_ms == time.latest_ms && to_ms == wall && wall < from_ms;
                ensure(behind, || format!("time is set back from {from_ms} to {to_ms}"))?;
                next.time.latest_ms = wall;
                next.time.era = self.now().time.era + 1;
                Ok(())
            }
            EventKind::Settled { act, done } => {
                let happened = self.books.acts.contains(&act);
                ensure(done == happened, || {
                    format!("act {act} is settled as {done}, and it is {happened}")
                })
            }
        }
    }

    /// A folder is approved (spec I2, I3, I4).
    fn approved(&self, next: &mut State, act: &Act) -> Verdict {
        let [Put::Grant(put)] = act.puts.as_slice() else {
            return Err("an approval changes one grant".into());
        };
        let put = put.value();
        let root = ROOTS.into_iter().find(|root| put.root.bytes() == root.as_bytes());
        let root = root.ok_or("approved what nobody named")?;
        let stood = |state: &&State| {
            state.disk.folders.get(root).is_some_and(|there| there.identity == put.identity)
        };
        ensure(self.moments.iter().any(stood), || format!("{root} was another directory"))?;
        next.looks += 1;
        let grant = Grant {
            id: put.id,
            root,
            identity: put.identity,
            active: put.state == GrantState::Active,
            excludes: put
                .rules
                .exclude()
                .first()
                .map(|glob| glob.trim_start_matches('*').to_owned()),
            approval: next.looks,
        };
        ensure(grant.active && put.since_look == next.looks, || {
            "an approval of another time".into()
        })?;
        let grants = Arc::make_mut(&mut next.grants);
        match grants.iter_mut().find(|known| known.root == root) {
            Some(known) => {
                ensure(known.id == grant.id, || format!("{root} gets another grant"))?;
                *known = grant;
            }
            None => grants.push(grant),
        }
        Ok(())
    }

    /// A task is asked for, or a key joins one that is open (spec T1, T7).
    fn queued(&self, next: &mut State, id: TaskId, act: &Act) -> Verdict {
        let new = act
            .puts
            .iter()
            .find_map(|put| if let Put::Task(Change::New(task)) = put { Some(task) } else { None });
        let Some(task) = new else {
            return ensure(next.tasks.contains_key(&id), || "a key stands for no task".into());
        };
        let waiting = next.tasks.values().filter(|task| task.stands == Stands::Queued).count();
        ensure(waiting < self.limits.queued, || "the queue is longer than it may be".into())?;
        let repairs = match task.kind {
            TaskKind::Report => None,
            TaskKind::Repair(result) => Some(result),
        };
        let twice = next.tasks.values().any(|one| one.repairs == repairs && one.stands.is_open());
        ensure(repairs.is_none() || !twice, || "a result is repaired twice at once".into())?;
        let (query, scope) = (task.request.query.clone(), task.request.scope.clone());
        let stands = Stands::Queued;
        let new = Task { repairs, query, scope, stands, fence: 0, attempts: 0 };
        Arc::make_mut(&mut next.tasks).insert(id, new);
        Arc::make_mut(&mut next.asked).push(id);
        Ok(())
    }

    /// A task ends without a result: nothing could be read, if that is said (spec Q6).
    fn failed(&self, next: &State, id: TaskId, act: &Act) -> Verdict {
        let ended = act.puts.iter().find_map(|put| {
            if let Put::Task(change) = put { Some(change.value().state) } else { None }
        });
        let why =
            if let Some(TaskState::Failed(failure)) = ended { Some(failure.why) } else { None };
        let why = why.ok_or("a task fails without a reason")?;
        ensure(why != task::FailureReason::Internal, || "a worker met a fault of its own".into())?;
        let Some(task) = next.tasks.get(&id) else { return Err("an unknown task fails".into()) };
        let unread = |began: &State, looked: &State| {
            task.scope
                .iter()
                .all(|&grant| began.root(grant, &looked.disk) != crate::report::Reached::Yes)
        };
        let no_sources = why == task::FailureReason::NoSources;
        let possible = self.pairs().any(|(began, looked)| unread(began, looked));
        ensure(!no_sources || possible, || "no folder is said to be readable, and one was".into())?;
        let unmatched = |began: &State, looked: &State| {
            !super::expect::matches(began, &looked.disk, &task.query, &task.scope)
        };
        let possible = self.disturbed || self.moments.iter().any(|state| unmatched(state, state));
        let no_matches = why == task::FailureReason::NoMatches;
        ensure(!no_matches || possible, || format!("nothing is said to match {:?}", task.query))
    }

    /// A report is published (spec Q4, T3).
    fn published(&self, next: &mut State, result: ResultId, task: TaskId, act: &Act) -> Verdict {
        self.new_sources(next, act)?;
        let now = next.time.now().at;
        let task = next.tasks.get(&task).ok_or("published for no task")?.clone();
        let revision = revision(act).ok_or("a result without its revision")?;
        let content = self.content(
            next,
            [revision.body, revision.dependencies, revision.verification, revision.scan],
        )?;
        self.quoted_rightly(next, &content, &task)?;
        let known = next.results.contains_key(&result);
        ensure(!known && task.repairs.is_none(), || "published over a result".into())?;
        let (query, revisions) = (task.query, vec![Arc::new(content)]);
        let new = WorkResult { query, revisions, updated_at: now };
        Arc::make_mut(&mut next.results).insert(result, new);
        Ok(())
    }

    /// A repair found the accepted revision again (spec P1).
    fn not_needed(&self, result: ResultId) -> Verdict {
        let result = self.now().results.get(&result).ok_or("an unknown result is repaired")?;
        let as_cited = |(id, cited): (SourceId, SourceVersion)| {
            self.saw(self.now(), id, |seen| seen == Seen::Bytes(cited))
        };
        ensure(result.accepted().cited().all(as_cited), || {
            "no repair is said to be needed, and a source was never as cited".into()
        })
    }

    /// A repair or a restore waits for approval (spec P1, P4, P8, H3, H5).
    fn prepared(&self, next: &mut State, id: ProposalId, result: ResultId, act: &Act) -> Verdict {
        self.new_sources(next, act)?;
        let now = next.time.now();
        let new = act.puts.iter().find_map(|put| {
            if let Put::Proposal(Change::New(new)) = put { Some(*new) } else { None }
        });
        let new = new.filter(|new| new.id == id && new.result == result);
        let new = new.ok_or("no proposal is prepared")?;
        let about = next.results.get(&result).ok_or("a proposal for no result")?.clone();
        let content =
            self.content(next, [new.body, new.dependencies, new.verification, new.scan])?;
        let restores = match new.kind {
            ProposalKind::Repair { task, fence } => {
                let worked = next.tasks.get(&task).ok_or("a repair without a task")?.clone();
                ensure(worked.repairs == Some(result), || "a repair of another result".into())?;
                held(next, task, fence.0, now, Stands::Succeeded)?;
                self.quoted_rightly(next, &content, &worked)?;
                let same = (content.body, content.dependencies)
                    == (about.accepted().body, about.accepted().dependencies);
                ensure(!same, || "a repair that changes nothing".into())?;
                None
            }
            ProposalKind::Restore(no) => {
                let earlier = about.revision(no.0).ok_or("a restore of no revision")?;
                ensure(**earlier == content && no.0 < about.accepted_no(), || {
                    "a restore of something else than the revision".into()
                })?;
                Some(no.0)
            }
        };
        let bound = self.binding(next, &new, about.accepted(), &content)?;
        let expires_at = now.at + seconds(self.limits.proposal_life);
        let sound = new.base.0 == about.accepted_no() && new.expires_at.seconds() == expires_at;
        ensure(sound, || "a proposal for another revision or another hour".into())?;
        let alike = |one: &Proposal| {
            one.result == result
                && one.restores.is_some() == restores.is_some()
                && one.end.is_none()
        };
        let same = |one: &Proposal| {
            one.lasts(now)
                && (one.restores, one.base) == (restores, new.base.0)
                && one.bound == bound
        };
        let proposals = Arc::make_mut(&mut next.proposals);
        for one in proposals.values_mut().filter(|one| alike(one)) {
            ensure(restores.is_none() || !same(one), || "the same restore waits already".into())?;
            one.end = Some(if one.lasts(now) { End::Superseded } else { End::Expired });
        }
        let proposal = Proposal {
            result,
            restores,
            base: new.base.0,
            content: Arc::new(content),
            bound,
            fingerprint: new.fingerprint,
            expires_at,
            era: now.era,
            end: None,
        };
        proposals.insert(id, proposal);
        Arc::make_mut(&mut next.prepared).push(id);
        Ok(())
    }

    /// What an approval would bind: what was seen of every source of both bodies, and everything else, each of which
    /// makes another fingerprint (spec P4).
    fn binding(
        &self,
        next: &State,
        new: &proposal::Proposal,
        base: &Content,
        content: &Content,
    ) -> Verdict<Arc<BTreeMap<SourceId, Option<SourceVersion>>>> {
        let document = Document::Bytes(self.document(new.binding)?.clone());
        let binding = stored::read_binding((new.binding, &document), self.limits)
            .ok_or("a binding that cannot be read")?;
        let sources: BTreeSet<SourceId> =
            base.cited().chain(content.cited()).map(|(source, _)| source).collect();
        ensure(binding.0.iter().map(|one| one.source_id).eq(sources.iter().copied()), || {
            "a proposal binds other sources than those of both bodies".into()
        })?;
        for one in &binding.0 {
            let seen = |seen: Seen| match (seen, one.version) {
                (Seen::Bytes(seen), Some(bound)) => seen == bound,
                (Seen::Missing, None) => true,
                _ => false,
            };
            ensure(self.saw(next, one.source_id, seen), || "bound what nobody saw".into())?;
        }
        let bound = bound(new, base.body, self.whose, &binding);
        ensure(bound.fingerprint() == new.fingerprint, || "another fingerprint".into())?;
        binds_everything(&bound)?;
        Ok(Arc::new(binding.0.iter().map(|one| (one.source_id, one.version)).collect()))
    }

    /// A proposal becomes a revision: once, as shown, over the revision that it was made for (spec P5, H4).
    fn applied(
        &self,
        next: &mut State,
        id: ProposalId,
        (result, revision): (ResultId, RevisionNo),
        act: &Act,
    ) -> Verdict {
        let possible = self.answers_to_apply(id, self.presented);
        ensure(possible.contains(&Ok(())), || format!("applied, and must be {possible:?}"))?;
        let now = next.time.now();
        let about =
            Arc::make_mut(&mut next.results).get_mut(&result).ok_or("applied to nothing")?;
        let mut content = None;
        end_of(&mut next.proposals, id, |waits| {
            waits.end = Some(End::Applied);
            content =
                Some((waits.content.clone(), waits.restores, waits.fingerprint, waits.result));
            Ok(())
        })?;
        let (content, restores, fingerprint, of) = content.ok_or("applied nothing")?;
        let made = self::revision(act).ok_or("applied without a revision")?;
        let documents = [made.body, made.dependencies, made.verification, made.scan];
        let shown = [content.body, content.dependencies, content.verification, content.scan];
        ensure(documents == shown, || "applied something else than what was shown".into())?;
        let numbered = revision.0 == about.accepted_no() + 1 && made.no == revision && of == result;
        let from = made.origin.restored_from().map(|no| no.0);
        ensure(numbered && from == restores, || "a revision of another number".into())?;
        ensure(!self.books.used.contains(&fingerprint), || "an approval is used twice".into())?;
        about.revisions.push(content);
        about.updated_at = now.at;
        Ok(())
    }

    /// What may be answered to an approval now, by what could be seen since it was asked (spec P6).
    pub(super) fn answers_to_apply(
        &self,
        id: ProposalId,
        presented: Option<Fingerprint>,
    ) -> Vec<Result<(), Refusal>> {
        let Some(proposal) = self.now().proposals.get(&id) else { return Vec::new() };
        let answers = self.pairs().map(|(began, looked)| {
            let view = View { began, looked: Some(&looked.disk), roots: None, told: self.now() };
            let first = began.proposals.get(&id).unwrap_or(proposal);
            let scene = view.scene(first.bound.keys().copied());
            answer_to_apply(&view, proposal, presented, &scene)
        });
        answers.collect()
    }

    /// Sources that are cited for the first time.
    fn new_sources(&self, next: &mut State, act: &Act) -> Verdict {
        for put in &act.puts {
            if let Put::Source { id, grant, path } = put {
                let root = next.grant(*grant).ok_or("a source under no folder")?.root;
                let place = format!("{root}/{}", String::from_utf8_lossy(path.bytes()));
                let same = |one: &Source| one.grant == *grant && one.place == place;
                ensure(!next.sources.values().any(same), || "a source is named twice".into())?;
                let source = Source { grant: *grant, place, kept: None };
                Arc::make_mut(&mut next.sources).insert(*id, source);
            }
        }
        Ok(())
    }

    fn document(&self, digest: Digest) -> Verdict<&Vec<u8>> {
        self.books.documents.get(&digest).ok_or_else(|| "a document was never kept".into())
    }

    /// Reads what a revision or a proposal holds.
    fn content(&self, next: &State, documents: [Digest; 4]) -> Verdict<Content> {
        let [body, dependencies, verification, scan] = documents;
        for digest in documents {
            self.document(digest)?;
        }
        let read = |digest| Ok::<_, String>(Document::Bytes(self.document(digest)?.clone()));
        let rests_on = stored::read_dependencies((dependencies, &read(dependencies)?), self.limits)
            .ok_or("dependencies that cannot be read")?;
        let said = stored::read_body((body, &read(body)?), &rests_on, self.limits)
            .ok_or("a body that cannot be read")?;
        let sources = rests_on.0.iter().map(|one| one.source_id);
        let quotes: Vec<_> = sources.zip(said.quotations).collect();
        ensure(quotes.iter().all(|(source, _)| next.sources.contains_key(source)), || {
            "a quotation of an unknown source".into()
        })?;
        Ok(Content { body, dependencies, verification, scan, quotes })
    }

    /// Each quotation is in the bytes that it names, which were there, may be read, and match the query (spec Q4).
    fn quoted_rightly(&self, next: &State, content: &Content, task: &Task) -> Verdict {
        for (id, quotation) in &content.quotes {
            let source = &next.sources[id];
            let file = self.books.files.get(&quotation.version).ok_or("quoted from no file")?;
            let range = [quotation.bytes.start, quotation.bytes.end];
            let [from, to] = range.map(|at| usize::try_from(at).unwrap_or(usize::MAX));
            let says = model::read(file).get(from..to);
            let right = says == Some(quotation.text.as_bytes())
                && says.is_some_and(|says| Digest::of(says) == quotation.digest)
                && source.place.as_bytes().ends_with(quotation.path.bytes());
            ensure(right, || format!("{:?} is not in its bytes", quotation.text))?;
            let asked = super::expect::asks_for(&task.query, &quotation.text);
            ensure(asked && task.scope.contains(&source.grant), || {
                format!("{:?} is no answer to {:?}", quotation.text, task.query)
            })?;
            let seen = |seen| seen == Seen::Bytes(quotation.version);
            ensure(next.is_active(source.grant) && self.saw(next, *id, seen), || {
                format!("quoted what may not be read: {}", source.place)
            })?;
        }
        Ok(())
    }

    /// Whether a look at a source could see this, at any time since the request began.
    fn saw(&self, next: &State, id: SourceId, what: impl Fn(Seen) -> bool) -> bool {
        let Some(source) = next.sources.get(&id) else { return false };
        self.pairs()
            .any(|(began, looked)| what(began.look(source.grant, &source.place, &looked.disk).0))
    }

    /// When grants were read, and when the disk was looked at.
    fn pairs(&self) -> impl Iterator<Item = (&State, &State)> {
        let all = self.moments;
        all.iter()
            .enumerate()
            .flat_map(move |(at, began)| all[at..].iter().map(move |looked| (*began, *looked)))
    }

    fn note(&self, next: &mut State, note: &Note) -> Verdict {
        match note {
            Note::Look(source, change) => self.look(next, *source, change),
            Note::Finding { result, revision, n, against, finding } => {
                let about = next.results.get(result).ok_or("a finding about nothing")?;
                ensure(about.accepted_no() == revision.0, || OVERTAKEN.into())?;
                let at = usize::try_from(*n - 1).expect("a small number");
                let (_, quotation) = about.accepted().quotes.get(at).ok_or("no such quotation")?;
                let mut files =
                    self.books.files.iter().filter(|(version, _)| version.digest == *against);
                let right =
                    files.any(|(_, file)| model::finding(quotation, file) == finding.as_str());
                ensure(right, || format!("{:?} is said to be {finding:?}", quotation.text))
            }
            Note::Swept(..) => Ok(()),
            Note::Renewal(_, task, _) => {
                let (now, limits) = (next.time.now(), self.limits);
                let TaskState::Running(lease) = task.state else { return Err("renewed".into()) };
                change(next, task.id, |task| {
                    let Stands::Running { began, era, .. } = task.stands else {
                        return Err("renewed what does not run".into());
                    };
                    ensure(task.stands.is_held(now), || "a lease comes back to life".into())?;
                    let last = began + seconds(limits.scan.time + limits.lease_slack);
                    let ends = (now.at + seconds(limits.lease)).min(last);
                    ensure(lease.ends.seconds() == ends, || "a lease lasts too long".into())?;
                    task.stands = Stands::Running { began, ends, era };
                    Ok(())
                })
            }
        }
    }

    /// A look is kept: it was true, and follows the one that it takes the place of (spec O1, O5).
    fn look(&self, next: &mut State, id: SourceId, change: &Change<Observation>) -> Verdict {
        let source = next.sources.get(&id).ok_or("a look at no source")?.clone();
        let new = *change.value();
        let follows = match change {
            Change::New(_) => source.kept.is_none(),
            Change::From(version, _) => source.kept.is_some_and(|kept| kept.version == version.0),
        };
        ensure(follows, || "a look over another one".into())?;
        let sees = |began: &State, disk| {
            let (seen, owner, _) = began.look(source.grant, &source.place, disk);
            (seen, owner) == (new.seen, new.owner)
        };
        // An approval looks at what is cited as it will be.
        let true_once = self.pairs().any(|(began, looked)| sees(began, &looked.disk))
            || self.moments.iter().any(|looked| sees(next, &looked.disk));
        ensure(true_once, || format!("{:?} was never seen of {}", new.seen, source.place))?;
        let same_number =
            source.kept.is_some_and(|kept| kept.no == new.no && kept.seen == new.seen);
        if !same_number {
            next.looks += 1;
            ensure(new.no == next.looks, || "a look of another number".into())?;
        }
        let version = source.kept.map_or(0, |kept| kept.version) + 1;
        let kept = KeptLook { no: new.no, owner: new.owner, seen: new.seen, version };
        let sources = Arc::make_mut(&mut next.sources);
        sources.insert(id, Source { kept: Some(kept), ..source });
        Ok(())
    }
}

/// What is answered to an approval (spec P6): the first reason that holds.
pub(super) fn answer_to_apply(
    view: &View<'_>,
    proposal: &Proposal,
    presented: Option<Fingerprint>,
    scene: &Scene,
) -> Result<(), Refusal> {
    let accepted = view.told.results.get(&proposal.result).map(WorkResult::accepted_no);
    match proposal.end {
        _ if presented != Some(proposal.fingerprint) => Err(Refusal::FingerprintMismatch),
        Some(End::Applied) => Err(Refusal::AlreadyUsed),
        Some(End::Superseded) => Err(Refusal::Superseded),
        Some(End::Dismissed) => Err(Refusal::Dismissed),
        Some(End::Expired) => Err(Refusal::Expired),
        None if !proposal.lasts(view.told.now()) => Err(Refusal::Expired),
        None => match evidence(view, proposal, scene) {
            Evidence::Denied => Err(Refusal::AccessRemoved),
            Evidence::NotReached => Err(Refusal::RefreshIncomplete),
            Evidence::Unavailable => Err(Refusal::EvidenceUnavailable),
            _ if accepted != Some(proposal.base) => Err(Refusal::RevisionChanged),
            Evidence::Moved => Err(Refusal::SourcesChanged),
            Evidence::AsBound => Ok(()),
        },
    }
}

/// What is seen of the sources of both bodies beside what is bound: the worst of them (spec P5).
fn evidence(view: &View<'_>, proposal: &Proposal, scene: &Scene) -> Evidence {
    let worst = proposal.bound.iter().map(|(&id, bound)| beside(view, proposal, id, *bound, scene));
    worst.max().unwrap_or(Evidence::Unavailable)
}

fn beside(
    view: &View<'_>,
    proposal: &Proposal,
    id: SourceId,
    bound: Option<SourceVersion>,
    scene: &Scene,
) -> Evidence {
    let proposed = proposal.content.cited().any(|(source, _)| source == id);
    let must_read = proposed || proposal.restores.is_some();
    let one = |seen: &Seen| match (*seen, bound) {
        (Seen::Denied, _) => Evidence::Denied,
        (Seen::Unreachable, _) => Evidence::Unavailable,
        (Seen::Missing | Seen::Unstable, _) if must_read => Evidence::Unavailable,
        (Seen::Missing, None) => Evidence::AsBound,
        (Seen::Bytes(seen), Some(bound)) if seen == bound => Evidence::AsBound,
        _ => Evidence::Moved,
    };
    let seen = view.sights(id, scene).iter().map(one).max().unwrap_or(Evidence::Unavailable);
    if view.reaches(id, scene) { seen } else { seen.max(Evidence::NotReached) }
}

/// Whether every field makes another fingerprint.
fn binds_everything(bound: &Bound<'_>) -> Verdict {
    let other = Digest::of(b"another");
    let all = [
        ("proposal", Bound { proposal: ProposalId::from_bytes([9; 16]), ..*bound }),
        ("workspace", Bound { workspace: WorkspaceId::from_bytes([9; 16]), ..*bound }),
        ("owner", Bound { owner: OwnerId::from_bytes([9; 16]), ..*bound }),
        ("result", Bound { result: ResultId::from_bytes([9; 16]), ..*bound }),
        ("revision", Bound { base: RevisionNo(bound.base.0 + 1), ..*bound }),
        ("accepted body", Bound { base_body: other, ..*bound }),
        ("proposed body", Bound { body: other, ..*bound }),
        ("dependencies", Bound { dependencies: other, ..*bound }),
        ("verification", Bound { verification: other, ..*bound }),
        ("scan", Bound { scan: other, ..*bound }),
        ("observations", Bound { observed: &stored::Binding(Vec::new()), ..*bound }),
    ];
    let print = bound.fingerprint();
    let loose = all.iter().find(|(_, changed)| changed.fingerprint() == print);
    ensure(loose.is_none(), || {
        format!("the fingerprint does not bind the {}", loose.map_or("", |(what, _)| what))
    })
}

fn bound<'a>(
    new: &proposal::Proposal,
    base_body: Digest,
    (workspace, owner): (WorkspaceId, OwnerId),
    observed: &'a stored::Binding,
) -> Bound<'a> {
    Bound {
        proposal: new.id,
        kind: new.kind,
        workspace,
        owner,
        result: new.result,
        base: new.base,
        base_body,
        body: new.body,
        dependencies: new.dependencies,
        verification: new.verification,
        scan: new.scan,
        observed,
        created_at: new.created_at,
        expires_at: new.expires_at,
    }
}

/// The holder of a lease that lasts ends it (spec T3).
fn held(next: &mut State, id: TaskId, fence: u64, now: Now, then: Stands) -> Verdict {
    change(next, id, |task| {
        ensure(task.stands.is_held(now) && task.fence == fence, || {
            format!("lease {fence} is over, and wrote: {task:?}")
        })?;
        task.stands = then;
        Ok(())
    })
}

fn change(next: &mut State, id: TaskId, how: impl FnOnce(&mut Task) -> Verdict) -> Verdict {
    how(Arc::make_mut(&mut next.tasks).get_mut(&id).ok_or("an unknown task")?)
}

fn end(next: &mut State, id: ProposalId, how: impl FnOnce(&mut Proposal) -> Verdict) -> Verdict {
    end_of(&mut next.proposals, id, how)
}

fn end_of(
    all: &mut Arc<BTreeMap<ProposalId, Proposal>>,
    id: ProposalId,
    how: impl FnOnce(&mut Proposal) -> Verdict,
) -> Verdict {
    how(Arc::make_mut(all).get_mut(&id).ok_or("an unknown proposal")?)
}

fn revision(act: &Act) -> Option<Revision> {
    act.puts
        .iter()
        .find_map(|put| if let Put::Revision(revision, _) = put { Some(*revision) } else { None })
}

const fn is_clock(kind: EventKind) -> bool {
    matches!(kind, EventKind::ClockAccepted { .. })
}

fn seconds(time: std::time::Duration) -> i64 {
    i64::try_from(time.as_secs()).unwrap_or(i64::MAX)
}
