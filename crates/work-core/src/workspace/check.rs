//! `check`: the gate. Something is as it must not be, or not everything could be looked at, or it passes.

use super::ledger::Scope;
use super::overview::{Concern, Overview};
use super::survey::{Missing, Reading, Sweep};
use super::{Failure, Workspace};
use crate::code::{Code, Coded};
use crate::document::wire::{CheckDoc, FailedDoc, Verdict};
use crate::id::SourceId;
use crate::limits::Limits;
use crate::path::HostPath;
use crate::port::{ReadTx, StoreError, Watch};
use crate::quote::Finding;
use std::collections::BTreeSet;
use std::str::FromStr;

/// What is checked, and what must not be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckAsk {
    /// What fails the check.
    pub fail_on: FailOn,
    /// Only results that quote one of these files now, by their absolute paths; without it all results. A file under no
    /// folder is quoted by nothing, and so is, for whoever asks, one in a folder that was withdrawn.
    pub paths: Option<Vec<HostPath>>,
}

/// What can fail a check: a finding, or that a result is hidden.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Defect {
    /// A quotation is not found any more.
    Altered,
    /// The file of a quotation is missing.
    Gone,
    /// A quotation is found more than once elsewhere.
    Ambiguous,
    /// A quotation is not in the part that is read of a longer file.
    BeyondLimit,
    /// A result is hidden, whatever hides it.
    Unavailable,
    /// A quotation is found elsewhere in its file.
    Moved,
    /// A quotation differs in line ends or marks.
    Cosmetic,
    /// A quotation stands where it stood, in a file that changed.
    Intact,
}

/// The defects that fail a check: from a list of words with commas between.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailOn(BTreeSet<Defect>);

/// A text that names no defect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "no list of findings: altered, gone, ambiguous, beyond_limit, unavailable, moved, cosmetic or intact are expected, \
     with commas between"
)]
pub struct NoSuchDefect;

/// Why nothing was checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CheckError {
    /// Something broke.
    #[error(transparent)]
    Failed(#[from] Failure),
}

impl Coded for CheckError {
    fn code(&self) -> Code {
        match self {
            Self::Failed(cause) => cause.code(),
        }
    }
}

impl Defect {
    /// Each of them; the first five fail a check that says nothing else.
    pub const ALL: [Self; 8] = [
        Self::Altered,
        Self::Gone,
        Self::Ambiguous,
        Self::BeyondLimit,
        Self::Unavailable,
        Self::Moved,
        Self::Cosmetic,
        Self::Intact,
    ];

    /// The word for it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Altered => "altered",
            Self::Gone => "gone",
            Self::Ambiguous => "ambiguous",
            Self::BeyondLimit => "beyond_limit",
            Self::Unavailable => "unavailable",
            Self::Moved => "moved",
            Self::Cosmetic => "cosmetic",
            Self::Intact => "intact",
        }
    }

    /// The defect that a finding is.
    const fn of(finding: Finding) -> Self {
        match finding {
            Finding::Intact => Self::Intact,
            Finding::Moved(_) => Self::Moved,
            Finding::Ambiguous => Self::Ambiguous,
            Finding::Cosmetic => Self::Cosmetic,
            Finding::Altered => Self::Altered,
            Finding::BeyondLimit => Self::BeyondLimit,
            Finding::Gone => Self::Gone,
        }
    }
}

impl FailOn {
    /// Whether a defect is among them.
    #[must_use]
    pub fn has(&self, defect: Defect) -> bool {
        self.0.contains(&defect)
    }
}

impl Default for FailOn {
    fn default() -> Self {
        Self(Defect::ALL[..5].iter().copied().collect())
    }
}

impl FromIterator<Defect> for FailOn {
    fn from_iter<I: IntoIterator<Item = Defect>>(defects: I) -> Self {
        Self(defects.into_iter().collect())
    }
}

impl FromStr for FailOn {
    type Err = NoSuchDefect;

    fn from_str(text: &str) -> Result<Self, NoSuchDefect> {
        let named = |word: &str| Defect::ALL.into_iter().find(|one| one.as_str() == word.trim());
        text.split(',').map(|word| named(word).ok_or(NoSuchDefect)).collect()
    }
}

impl Workspace {
    /// Whether what is quoted is as it must be: looks at the sources in question, reading each byte again, and keeps what
    /// is new. If it cannot be kept, the answer stands all the same.
    ///
    /// # Errors
    /// [`CheckError`] when the store does not answer.
    pub fn check(&self, ask: &CheckAsk, watch: &mut dyn Watch) -> Result<CheckDoc, CheckError> {
        let scope = ask.paths.as_deref().map_or(Scope::Everything, Scope::Quoting);
        let survey = self.survey(scope, Reading::Again, Missing::Searched, watch)?;
        let told =
            self.tell((&survey, scope), |tx, overview| document(tx, overview, ask, &self.limits))?;
        let _: Result<(), Failure> = self.keep_survey(&survey, Sweep::Unkept);
        Ok(told)
    }
}

fn document(
    tx: &mut dyn ReadTx,
    overview: &Overview<'_>,
    ask: &CheckAsk,
    limits: &Limits,
) -> Result<CheckDoc, StoreError> {
    let mut concerns = overview.concerns(tx, limits)?;
    concerns.retain(|one| ask.concerns(one));
    let (elsewhere, tally) = match ask.paths {
        Some(_) => {
            let elsewhere = overview.ledger.hidden_against_the_owners_will(&overview.access);
            (elsewhere, overview.tally_of_visible())
        }
        None => (0, overview.tally()),
    };
    let failing: Vec<&Concern> =
        concerns.iter().filter(|one| fails(overview, one, &ask.fail_on)).collect();
    let untold: BTreeSet<SourceId> = concerns.iter().flat_map(|one| overview.untold(one)).collect();
    let hidden = elsewhere + concerns.iter().filter(|one| one.state.hides()).count() as u64;
    let not_looked_at = tally.not_looked_at + untold.len() as u64;
    let is_open = elsewhere > 0 || hidden > 0 && !ask.fail_on.has(Defect::Unavailable);
    let verdict = match failing.is_empty() {
        false => Verdict::Attention,
        true if not_looked_at > 0 || tally.unstable > 0 || is_open => Verdict::Incomplete,
        true => Verdict::Passed,
    };
    let failed: Vec<FailedDoc> =
        failing.iter().take(limits.list as usize).map(|one| entry(overview, one)).collect();
    Ok(CheckDoc {
        passed: verdict == Verdict::Passed,
        verdict,
        left_out: (failing.len() - failed.len()) as u64,
        failed,
        unstable: tally.unstable,
        hidden,
        not_looked_at,
        observed_at: tally.observed_at,
    })
}

impl CheckAsk {
    /// Whether a result is in question. Asked for files, a hidden one is not: that it quotes one of them is part of what
    /// does not show (spec R2). Those that something else hides than the owner's own word leave such a check open,
    /// whichever files they quote.
    fn concerns(&self, concern: &Concern) -> bool {
        self.paths.is_none() || !concern.state.hides()
    }
}

/// Whether something of a result is as it must not be. That sources of it were not looked at in time is no defect of it:
/// the check is incomplete then.
fn fails(overview: &Overview<'_>, concern: &Concern, fail_on: &FailOn) -> bool {
    let is_hidden = concern.state.hides() && !overview.is_unreached(concern.result.id);
    let defects = concern.found.values().map(|finding| Defect::of(*finding));
    defects.chain(is_hidden.then_some(Defect::Unavailable)).any(|defect| fail_on.has(defect))
}

fn entry(overview: &Overview<'_>, concern: &Concern) -> FailedDoc {
    FailedDoc {
        artifact_id: concern.result.id,
        query: concern.result.query.clone(),
        state: concern.state,
        causes: overview.causes(concern),
    }
}
