//! `list`: the latest results with the state of their last looks. Lists do not look.

use super::rows::{self, Rows};
use super::{Failure, Workspace};
use crate::code::{Code, Coded};
use crate::document::wire::{ResultEntry, ResultsDoc};
use crate::id::{ResultId, TaskId};
use crate::port::{Kept, ReadTx, Results, StoreError};
use crate::result::{ResultState, WorkResult};
use crate::time::Timestamp;
use std::str::FromStr;

/// Which states a list shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StateFilter {
    /// Any.
    All,
    /// This one.
    Only(ResultState),
}

/// A text that names no state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "no such state: sources_checked, stale, evidence_unavailable or access_removed is expected"
)]
pub struct NoSuchState;

impl FromStr for StateFilter {
    type Err = NoSuchState;

    fn from_str(text: &str) -> Result<Self, NoSuchState> {
        use ResultState::{AccessRemoved, EvidenceUnavailable, SourcesChecked, Stale};
        let all = [SourcesChecked, Stale, EvidenceUnavailable, AccessRemoved];
        all.into_iter().find(|state| state.as_str() == text).map(Self::Only).ok_or(NoSuchState)
    }
}

impl StateFilter {
    fn passes(self, state: ResultState) -> bool {
        match self {
            Self::All => true,
            Self::Only(wanted) => wanted == state,
        }
    }

    const fn as_str(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Only(state) => state.as_str(),
        }
    }
}

/// Why there is no list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ListError {
    /// The cursor is of another list, or none.
    #[error("this cursor does not belong to this list")]
    InvalidCursor,
    /// Something broke.
    #[error(transparent)]
    Failed(#[from] Failure),
}

impl Coded for ListError {
    fn code(&self) -> Code {
        match self {
            Self::InvalidCursor => Code::InvalidCursor,
            Self::Failed(cause) => cause.code(),
        }
    }
}

/// Lists' worth of results that one page of a filtered list passes over at most.
const PAGES: u32 = 20;

/// Where a list of results goes on.
type After = (Timestamp, ResultId);

impl Workspace {
    /// Results, the latest changed first, 100 at a time; `cursor` is the `next` of the list before, with the same
    /// filter.
    ///
    /// # Errors
    /// [`ListError`]: a cursor of another list, or a failure.
    pub fn list(&self, filter: StateFilter, cursor: Option<&str>) -> Result<ResultsDoc, ListError> {
        let last = cursor.map(|cursor| read_cursor(filter, cursor)).transpose()?;
        self.deliver(|tx, _| {
            let before = match last {
                Some(id) => match tx.results(Results::Ids(&[id]))?.pop() {
                    Some(kept) => Some(after(&kept.value)),
                    None => return Ok(Err(ListError::InvalidCursor)),
                },
                None => None,
            };
            Ok(Ok(self.page(tx, filter, before)?))
        })?
    }

    /// One page: goes on past results of other states until the page is full, none are left, or as many were passed
    /// over as one look at the records takes. Then the page is short, and its cursor goes on from there.
    fn page(
        &self,
        tx: &mut dyn ReadTx,
        filter: StateFilter,
        mut before: Option<After>,
    ) -> Result<ResultsDoc, StoreError> {
        let most = self.limits.list as usize;
        let mut results: Vec<(After, ResultEntry)> = Vec::new();
        for _ in 0..PAGES {
            let found = tx.results(Results::Latest { before, most: self.limits.list + 1 })?;
            let ended = found.len() <= most;
            before = found.last().map(|kept| after(&kept.value)).or(before);
            results.extend(
                self.entries(tx, found)?.into_iter().filter(|(_, one)| filter.passes(one.state)),
            );
            if results.len() > most || ended {
                before = before.filter(|_| !ended);
                break;
            }
        }
        let more = results.len() > most;
        results.truncate(most);
        let last = if more { results.last().map(|&(last, _)| last) } else { before };
        let next = last.map(|last| write_cursor(filter, last));
        Ok(ResultsDoc { results: results.into_iter().map(|(_, entry)| entry).collect(), next })
    }

    /// Results as a list shows them, each with its place in the order.
    fn entries(
        &self,
        tx: &mut dyn ReadTx,
        found: Vec<Kept<WorkResult>>,
    ) -> Result<Vec<(After, ResultEntry)>, StoreError> {
        let rows = Rows::load(tx, found, &self.limits)?;
        let (access, news) = (rows.access(), rows.news());
        Ok(rows
            .results
            .iter()
            .map(|one| (after(one), rows::entry(&rows, one, &access, (0, &news), &self.limits)))
            .collect())
    }
}

fn after(result: &WorkResult) -> After {
    (result.updated_at, result.id)
}

/// A cursor that names its list and the last result had: `results.FILTER.ID`. It goes on after that result, wherever it
/// stands by then, and holds no time, which of a hidden result would tell when it was repaired.
fn write_cursor(filter: StateFilter, (_, id): After) -> String {
    format!("results.{}.{id}", filter.as_str())
}

fn read_cursor(filter: StateFilter, cursor: &str) -> Result<ResultId, ListError> {
    let id = cursor.strip_prefix(&format!("results.{}.", filter.as_str()));
    id.and_then(|id| id.parse().ok()).ok_or(ListError::InvalidCursor)
}

/// The cursor of the list of tasks: `tasks.ID`.
pub(super) struct TaskCursor;

impl TaskCursor {
    pub(super) fn write(id: TaskId) -> String {
        format!("tasks.{id}")
    }

    pub(super) fn parse(cursor: &str) -> Result<TaskId, ListError> {
        let id = cursor.strip_prefix("tasks.").and_then(|id| id.parse().ok());
        id.ok_or(ListError::InvalidCursor)
    }
}
