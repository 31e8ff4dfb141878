//! Looking at sources and keeping what was seen.
//!
//! A look says what was seen and from which observation it started. One whose observation has moved since is not
//! kept; one that says nothing new is not written (spec O5).

use super::deliver::Roots;
use super::{Decision, Failure, Moment, Reading, Workspace, grants};
use crate::folder::{Grant, GrantState, Grants};
use crate::id::{GrantId, SourceId};
use crate::limits::ScanLimits;
use crate::plant::{Fault, is_planted};
use crate::port::{
    Change, Ground, Kept, Note, Observed, Place, Probe, ReadTx, SourceDoor, Sources, StoreError,
    Version, Watch,
};
use crate::redact::{self, Access, FreshLook};
use crate::source::{Look, Observation, Seen, Source};
use crate::time::Timestamp;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A source that was looked at.
#[derive(Clone, Debug)]
pub(crate) struct Looked {
    pub(crate) source: Source,
    pub(crate) fresh: FreshLook,
}

impl Looked {
    /// Whether it reached its source, under the approvals that these grants have.
    pub(crate) fn reached(&self, grants: &Grants) -> bool {
        matches!(self.fresh.look, Look::Saw { .. }) && self.fresh.holds(&self.source, grants)
    }

    /// The same look as one under the approval of `grant` in these grants: for whoever makes the approval that it was
    /// made for. The approvals of other grants stay those that it was made under.
    pub(crate) fn under(&self, grant: GrantId, grants: &Grants) -> Self {
        let FreshLook { from, look, under } = self.fresh;
        let now = FreshLook::new(from, look, self.source.grant, grants);
        let mine = now.concerns(self.source.grant).map(|concerned| concerned == grant);
        let under = std::array::from_fn(|n| if mine[n] { now.under[n] } else { under[n] });
        Self { source: self.source.clone(), fresh: FreshLook { from, look, under } }
    }
}

/// Observations as they are stored now, by source.
pub(crate) type Stored = BTreeMap<SourceId, Option<Kept<Observation>>>;

/// Notes of looks that say something new.
pub(crate) struct Noted {
    pub(crate) notes: Vec<Note>,
    pub(crate) count: u64,
    /// Whether one of them hides or shows something.
    pub(crate) access_moved: bool,
}

/// Wants every file and does nothing with its bytes.
pub(crate) struct NoProbe;

impl Probe for NoProbe {
    fn wants(&self, _: &Place, _: u64) -> bool {
        true
    }

    fn file(&self, _: Place, _: &[u8], _: u64) {}
}

impl Workspace {
    /// The ceilings of a look.
    pub(crate) fn looking(&self) -> ScanLimits {
        ScanLimits { time: self.limits.refresh, ..self.limits.scan }
    }

    /// Keeps what a look said new, with these notes. If it cannot be kept, the answer stands all the same: a look that
    /// is not kept is looked again.
    pub(crate) fn keep(&self, looked: &[Looked], more: Vec<Note>) {
        let _: Result<Result<(), std::convert::Infallible>, Failure> = self.act(
            |tx, _| Ok((stored(tx, looked)?, grants(tx)?)),
            |(stored, grants), moment| {
                let Noted { mut notes, count, access_moved } =
                    notes(looked, &stored, &grants, moment);
                notes.extend(more);
                let nothing = Decision::nothing(());
                Ok(Decision { notes, looks: count, access_moved, ..nothing })
            },
        );
    }
}

/// The sources that content at hand rests on, with their observations and all grants, as read in one snapshot.
#[derive(Clone, Debug)]
pub(crate) struct Scene {
    pub(crate) grants: Grants,
    pub(crate) sources: Vec<Observed>,
}

impl Scene {
    /// Reads these sources, in the order of their ids.
    pub(crate) fn load(
        tx: &mut dyn ReadTx,
        sources: impl IntoIterator<Item = SourceId>,
    ) -> Result<Self, StoreError> {
        let ids: Vec<SourceId> =
            sources.into_iter().collect::<BTreeSet<SourceId>>().into_iter().collect();
        Ok(Self { grants: grants(tx)?, sources: tx.sources(Sources::Ids(&ids))? })
    }

    /// Looks at each of them, reading its bytes again.
    pub(crate) fn look(
        &self,
        work: &Workspace,
        probe: Arc<dyn Probe>,
        watch: &mut dyn Watch,
    ) -> Vec<Looked> {
        let ground = Ground { grants: self.grants.as_slice(), scope: &[], limits: work.looking() };
        look(work.door.as_ref(), ground, self.sources.clone(), probe, watch)
    }

    /// The grants in force that decide about them: those through which they were cited, and those inside.
    pub(crate) fn concerned(&self) -> Vec<Grant> {
        let cited = self.sources.iter().map(|observed| observed.source.grant);
        concerned(&self.grants, &cited.collect())
    }

    /// Access to what rests on them, with what a look saw and what the roots are now.
    pub(crate) fn access(&self, looked: &[Looked], roots: &Roots) -> Access {
        let looked = by_source(looked);
        let mut access = Access::new(self.grants.clone()).at_roots(roots.clone());
        for Observed { source, observation } in &self.sources {
            let fresh = looked.get(&source.id).map(|one| &one.fresh);
            access.learn(source, observation.as_ref(), fresh);
        }
        access
    }

    /// Whether a look reached all of them, under the approvals read here.
    pub(crate) fn was_reached(&self, looked: &[Looked]) -> bool {
        self.were_reached(&self.sources.iter().map(|one| one.source.id).collect(), looked)
    }

    /// Whether a look reached all of these, under the approvals read here.
    pub(crate) fn were_reached(&self, sources: &BTreeSet<SourceId>, looked: &[Looked]) -> bool {
        let looked = by_source(looked);
        let reached = |source| looked.get(source).is_some_and(|one| one.reached(&self.grants));
        sources.iter().all(reached)
    }

    /// What is stored of the sources that were looked at: mostly these, which were read already.
    pub(crate) fn stored(
        &self,
        tx: &mut dyn ReadTx,
        looked: &[Looked],
    ) -> Result<Stored, StoreError> {
        let mine = |one: &Looked| {
            let observed = self.observed(one.source.id)?;
            Some((one.source.id, observed.observation.clone()))
        };
        looked.iter().map(mine).collect::<Option<Stored>>().map_or_else(|| stored(tx, looked), Ok)
    }

    /// A source with its observation.
    pub(crate) fn observed(&self, source: SourceId) -> Option<&Observed> {
        let found = self.sources.binary_search_by_key(&source, |observed| observed.source.id);
        found.ok().map(|at| &self.sources[at])
    }
}

/// The grants in force that decide about what was cited through `cited`: these, and those inside.
pub(crate) fn concerned(grants: &Grants, cited: &BTreeSet<GrantId>) -> Vec<Grant> {
    let inside = cited.iter().flat_map(|&outer| grants.inside(outer)).map(|inner| inner.id);
    let all: BTreeSet<GrantId> = cited.iter().copied().chain(inside).collect();
    let concerned = grants.iter().filter(|grant| all.contains(&grant.id));
    concerned.filter(|grant| grant.state == GrantState::Active).cloned().collect()
}

/// Looks by the source that was looked at.
pub(crate) fn by_source(looked: &[Looked]) -> BTreeMap<SourceId, &Looked> {
    looked.iter().map(|one| (one.source.id, one)).collect()
}

/// When each source was reached, of those that this look at `now` reached.
pub(crate) fn reached(looked: &[Looked], now: Timestamp) -> BTreeMap<SourceId, Timestamp> {
    let saw = |one: &&Looked| matches!(one.fresh.look, Look::Saw { .. });
    looked.iter().filter(saw).map(|one| (one.source.id, now)).collect()
}

/// Looks at `sources`, each once, in their order, and reads them again.
pub(crate) fn look(
    door: &dyn SourceDoor,
    ground: Ground<'_>,
    sources: Vec<Observed>,
    probe: Arc<dyn Probe>,
    watch: &mut dyn Watch,
) -> Vec<Looked> {
    look_as(door, ground, (sources, Reading::Again), probe, watch)
}

/// Looks at `sources`, each once, in their order, and reads them as said.
pub(crate) fn look_as(
    door: &dyn SourceDoor,
    ground: Ground<'_>,
    (sources, reading): (Vec<Observed>, Reading),
    probe: Arc<dyn Probe>,
    watch: &mut dyn Watch,
) -> Vec<Looked> {
    let want = |observed: &Observed| match reading {
        Reading::Again => redact::to_look_at(&observed.source),
        Reading::Trusting => redact::to_glance_at(observed),
    };
    let wants: Vec<_> = sources.iter().map(want).collect();
    let looks = door.look(ground, &wants, probe, watch);
    let grants = Grants::new(ground.grants.to_vec());
    let from = |observed: &Observed| observed.observation.as_ref().map(|kept| kept.version);
    let pairs = sources.into_iter().zip(looks);
    pairs
        .map(|(observed, look)| {
            let look = match look {
                Look::Saw { seen: Seen::Unreachable, owner, stamp }
                    if is_planted(Fault::FailedIsMissing) =>
                {
                    Look::Saw { seen: Seen::Missing, owner, stamp }
                }
                Look::Saw { .. } | Look::NotReached => look,
            };
            let fresh = FreshLook::new(from(&observed), look, observed.source.grant, &grants);
            Looked { fresh, source: observed.source }
        })
        .collect()
}

/// What is stored now of the few sources that were looked at for one answer.
pub(crate) fn stored(tx: &mut dyn ReadTx, looked: &[Looked]) -> Result<Stored, StoreError> {
    let ids: Vec<SourceId> = looked.iter().map(|one| one.source.id).collect();
    let found = tx.sources(Sources::Ids(&ids))?;
    Ok(found.into_iter().map(|observed| (observed.source.id, observed.observation)).collect())
}

/// What is stored now of any number of sources that were looked at, read in pages.
pub(crate) fn stored_in_pages(
    tx: &mut dyn ReadTx,
    looked: &[Looked],
    page: u32,
) -> Result<Stored, StoreError> {
    let mut all = Stored::new();
    for some in looked.chunks(page as usize) {
        all.extend(stored(tx, some)?);
    }
    Ok(all)
}

/// What of these looks is to be written.
pub(crate) fn notes(looked: &[Looked], stored: &Stored, grants: &Grants, moment: &Moment) -> Noted {
    let mut noted = Noted { notes: Vec::new(), count: 0, access_moved: false };
    for one in looked {
        let kept = stored.get(&one.source.id).and_then(Option::as_ref);
        if let Some(observation) = news(one, kept, grants, moment, noted.count + 1) {
            let was_hidden = kept.is_none_or(|kept| {
                hides(kept.value.seen) || !counts(&one.source, &kept.value, grants)
            });
            noted.access_moved |= was_hidden != hides(observation.seen);
            noted.count += 1;
            noted.notes.push(Note::Look(one.source.id, change(kept, observation)));
        }
    }
    noted
}

/// The observation that a look comes to, if it was made under these approvals, started from what is stored, and says
/// something else.
fn news(
    one: &Looked,
    kept: Option<&Kept<Observation>>,
    grants: &Grants,
    moment: &Moment,
    nth: u64,
) -> Option<Observation> {
    let Look::Saw { seen, owner, stamp } = one.fresh.look else { return None };
    let observation =
        Observation { no: moment.head.looks + nth, seen, owner, stamp, looked_at: moment.now.at };
    says_new(one, kept, grants).then_some(observation)
}

/// Whether a look was made under these approvals, started from what is stored, and says something else.
pub(crate) fn says_new(one: &Looked, kept: Option<&Kept<Observation>>, grants: &Grants) -> bool {
    follows(one, kept, grants) && !kept.is_some_and(|kept| repeats(one, kept, grants))
}

/// Whether a look was made under these approvals, started from what is stored, and says the same.
pub(crate) fn says_same(one: &Looked, kept: Option<&Kept<Observation>>, grants: &Grants) -> bool {
    follows(one, kept, grants) && kept.is_some_and(|kept| repeats(one, kept, grants))
}

/// Whether a look reached its source, under these approvals, and started from what is stored.
fn follows(one: &Looked, kept: Option<&Kept<Observation>>, grants: &Grants) -> bool {
    let reached = matches!(one.fresh.look, Look::Saw { .. });
    let from_here = one.fresh.from == kept.map(|kept| kept.version);
    reached && from_here && one.fresh.holds(&one.source, grants)
}

/// Whether a look saw what is stored, and that counts.
fn repeats(one: &Looked, kept: &Kept<Observation>, grants: &Grants) -> bool {
    let Look::Saw { seen, owner, .. } = one.fresh.look else { return false };
    kept.value.seen == seen && kept.value.owner == owner && counts(&one.source, &kept.value, grants)
}

/// The row of a look that says the same as what is stored, with its time and its stamp: no news, and not counted.
pub(crate) fn restamp(
    one: &Looked,
    kept: Option<&Kept<Observation>>,
    grants: &Grants,
    moment: &Moment,
) -> Option<Note> {
    let Look::Saw { stamp, .. } = one.fresh.look else { return None };
    let was = kept.filter(|_| says_same(one, kept, grants))?;
    let observation = Observation { stamp, looked_at: moment.now.at, ..was.value };
    Some(Note::Look(one.source.id, Change::From(was.version, observation)))
}

/// Whether a stored observation is younger than the approvals that it was made under.
pub(crate) fn counts(source: &Source, kept: &Observation, grants: &Grants) -> bool {
    let approvals = [source.grant, kept.owner].map(|grant| grants.get(grant));
    approvals.iter().flatten().all(|grant| kept.no > grant.since_look)
}

/// The change of an observation's row.
fn change(kept: Option<&Kept<Observation>>, observation: Observation) -> Change<Observation> {
    match kept.map(|kept| kept.version) {
        Some(version @ Version(_)) => Change::From(version, observation),
        None => Change::New(observation),
    }
}

/// Whether content that rests on it would not show.
fn hides(seen: Seen) -> bool {
    match seen {
        Seen::Bytes(_) | Seen::Missing | Seen::Unstable => false,
        Seen::Unreachable | Seen::Denied => true,
    }
}
