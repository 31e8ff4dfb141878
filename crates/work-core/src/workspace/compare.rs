//! `compare`: an earlier revision beside the accepted one, both as they are in one snapshot.

use super::case;
use super::looks::{NoProbe, Scene};
use super::sheet::{Content, Sheet};
use super::show::ShowError;
use super::{Workspace, answer};
use crate::difference;
use crate::document::wire::ComparisonDoc;
use crate::id::{ResultId, SourceId};
use crate::limits::Limits;
use crate::port::{Kept, Quotations, ReadTx, Results, Revisions, StoreError, Watch};
use crate::redact::{Access, Withheld};
use crate::result::{Cited, ResultState, Revision, RevisionNo, WorkResult};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Two revisions of one result with all that they rest on, read in one snapshot.
pub(super) struct Pair {
    pub(super) result: Kept<WorkResult>,
    /// What the index says that the accepted revision rests on.
    indexed: Vec<Cited>,
    pub(super) accepted: Revision,
    pub(super) accepted_sheet: Sheet,
    /// The revision asked for, or the accepted one in place of one that is missing.
    pub(super) selected: Revision,
    pub(super) selected_sheet: Sheet,
    /// The number asked for.
    asked: RevisionNo,
    pub(super) scene: Scene,
}

impl Pair {
    pub(super) fn load(
        tx: &mut dyn ReadTx,
        id: ResultId,
        no: RevisionNo,
        limits: &Limits,
    ) -> Result<Option<Self>, StoreError> {
        let Some(result) = tx.results(Results::Ids(&[id]))?.pop() else { return Ok(None) };
        let accepted = result.value.accepted;
        let found = tx.revisions(Revisions::Keys(&[(id, no), (id, accepted)]))?;
        let (Some(&selected), Some(&accepted)) = (found.first(), found.last()) else {
            return Err(StoreError::Damaged);
        };
        let accepted_sheet = Sheet::load(tx, Content::from(&accepted), limits)?;
        let selected_sheet = Sheet::load(tx, Content::from(&selected), limits)?;
        let quoted = tx.quotations(Quotations::Of(&[id]))?;
        let indexed: Vec<Cited> = quoted.iter().map(|one| one.cited).collect();
        let sources: Vec<_> = indexed
            .iter()
            .map(|one| one.source)
            .chain(case::of(&accepted_sheet))
            .chain(case::of(&selected_sheet))
            .collect();
        let scene = Scene::load(tx, sources)?;
        let asked = no;
        Ok(Some(Self {
            result,
            indexed,
            accepted,
            accepted_sheet,
            selected,
            selected_sheet,
            asked,
            scene,
        }))
    }

    /// The number asked for, if there is no such revision. Whether there is must not show of a hidden result.
    pub(super) fn missing(&self) -> Option<RevisionNo> {
        Some(self.asked).filter(|&asked| self.selected.no != asked)
    }

    /// Whether both bodies can be read.
    pub(super) fn is_readable(&self, limits: &Limits) -> bool {
        let sheets = [&self.accepted_sheet, &self.selected_sheet];
        sheets.iter().all(|sheet| sheet.body_to_compare(limits).is_some())
    }

    /// Whether something that either rests on must not be seen.
    pub(super) fn hides(&self, access: &Access) -> bool {
        self.states(access).1.hides()
    }

    /// What the accepted revision is worth.
    fn accepted_state(&self, access: &Access) -> ResultState {
        let both = [&self.indexed, &self.accepted_sheet.cited()];
        let [indexed, accepted] = both.map(|cited| access.state(answer::pairs(cited)));
        indexed.max(accepted)
    }

    /// What the selected revision is worth, and the worst of both; of a hidden result, what the accepted one is worth.
    fn states(&self, access: &Access) -> (ResultState, ResultState) {
        let own = access.state(answer::pairs(&self.selected_sheet.cited()));
        (own, answer::worst(self.accepted_state(access), own))
    }

    /// The sources of the accepted body, and of what the index says of it.
    fn accepted_sources(&self) -> impl Iterator<Item = SourceId> {
        let indexed = self.indexed.iter().map(|one| one.source);
        indexed.chain(case::of(&self.accepted_sheet))
    }

    /// The sources of both bodies.
    pub(super) fn sources(&self) -> BTreeSet<SourceId> {
        self.accepted_sources().chain(case::of(&self.selected_sheet)).collect()
    }

    /// The sources by which an answer may tell why it shows nothing: of a hidden result not those of the other
    /// revision, of which it must not show whether it is there.
    pub(super) fn telling(&self, access: &Access) -> BTreeSet<SourceId> {
        if self.accepted_state(access).hides() {
            self.accepted_sources().collect()
        } else {
            self.sources()
        }
    }
}

impl Workspace {
    /// Revision `no` of a result beside the accepted one, with their exact difference, and whether a restore of it can
    /// be prepared. The sources of both are looked at first, read again to the byte. Where one cannot be read now, the
    /// answer says so and shows nothing of either.
    ///
    /// # Errors
    /// [`ShowError`]: no such result or revision, or a failure.
    pub fn compare(
        &self,
        id: ResultId,
        no: RevisionNo,
        watch: &mut dyn Watch,
    ) -> Result<ComparisonDoc, ShowError> {
        let pair = self.read(|tx, _| Pair::load(tx, id, no, &self.limits))?;
        let pair = pair.ok_or(ShowError::Unknown)?;
        let looked = pair.scene.look(self, Arc::new(NoProbe), watch);
        let shown = self.deliver_at_roots(&pair.scene.concerned(), |tx, _, roots| {
            let Some(pair) = Pair::load(tx, id, no, &self.limits)? else {
                return Ok(Err(ShowError::Unknown));
            };
            let access = pair.scene.access(&looked, roots);
            Ok(document(&pair, &access, &self.limits))
        })??;
        self.keep(&looked, Vec::new());
        Ok(shown)
    }
}

/// The comparison; of what cannot be read now, that alone.
fn document(pair: &Pair, access: &Access, limits: &Limits) -> Result<ComparisonDoc, ShowError> {
    let (own, worst) = pair.states(access);
    let comparable = access.comparable(pair.telling(access));
    if let Some(missing) = pair.missing().filter(|_| !worst.hides()) {
        return Err(ShowError::UnknownRevision(missing));
    }
    let withheld = ComparisonDoc {
        artifact_id: pair.result.value.id,
        accepted_revision: None,
        selected_revision: pair.asked,
        state: if worst.hides() { worst } else { own },
        can_restore: false,
        rejection_reason: None,
        accepted: None,
        selected: None,
        difference: None,
    };
    let open = |sheet: &Sheet| sheet.open(access, limits).ok_or(Withheld::EvidenceUnavailable);
    let opened =
        comparable.and_then(|()| Ok((open(&pair.accepted_sheet)?, open(&pair.selected_sheet)?)));
    let (accepted, selected) = match opened {
        Ok(both) => both,
        Err(why) => return Ok(ComparisonDoc { rejection_reason: Some(why.as_str()), ..withheld }),
    };
    let is_accepted = pair.selected.no == pair.accepted.no;
    let difference = difference::between(&accepted.body, &selected.body);
    let (now, then) = (pair.accepted, pair.selected);
    Ok(ComparisonDoc {
        accepted_revision: Some(now.no),
        can_restore: !is_accepted,
        rejection_reason: is_accepted.then_some("already_accepted"),
        accepted: Some(accepted.side(Some(now.no), now.body, access)),
        selected: Some(selected.side(Some(then.no), then.body, access)),
        difference: Some(difference),
        ..withheld
    })
}
