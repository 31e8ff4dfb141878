//! `work dismiss`: the owner says no to a proposal.

use super::{DONE, proposal};
use crate::args::Dismiss;
use crate::call::Call;
use crate::open::Opened;
use crate::output::Answer;
use work_core::id::ProposalId;

pub(super) fn run(dismiss: &Dismiss, call: &Call) -> Answer {
    let opened = call.open()?;
    let id = proposal::find(&opened, &dismiss.proposal)?;
    call.out.detail(|| format!("Proposal: {id}"));
    dismissed(call, &opened, id)
}

/// Ends a proposal and tells it as it is then.
pub(super) fn dismissed(call: &Call, opened: &Opened, id: ProposalId) -> Answer {
    opened.work.dismiss(id).map_err(|error| proposal::refused(opened, id, error))?;
    let mut line = call.looking();
    let document = opened.work.proposal(id, &mut line)?;
    drop(line);
    call.out.document(&document, |document| {
        let (id, result) = proposal::names(opened, document);
        format!("Dismissed proposal {id}; result {result} stays as it is.\n")
    })?;
    Ok(DONE)
}
