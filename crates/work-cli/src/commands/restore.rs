//! `work restore`: prepares to bring an earlier revision back. What is accepted stays until that is applied.

use super::{DONE, proposal};
use crate::args::Restore;
use crate::call::Call;
use crate::fault::{About, Fault};
use crate::output::Answer;
use work_core::id::ResultId;
use work_core::result::RevisionNo;
use work_core::workspace::{Prepared, RestoreError};

pub(super) fn run(restore: &Restore, call: &Call) -> Answer {
    let opened = call.open()?;
    let id = proposal::find_result(&opened, &restore.result)?;
    let mut line = call.looking();
    let restore = opened
        .work
        .restore(id, RevisionNo(restore.revision), &mut line)
        .map_err(|error| refused(error, id))?;
    drop(line);
    let document = &restore.proposal;
    call.out.detail(|| format!("Proposal: {}", document.proposal_id));
    call.out.document(document, |document| {
        let waited = match restore.prepared {
            Prepared::Now => "",
            Prepared::Before => "The same restore waited already; it keeps its expiry.\n\n",
        };
        format!("{waited}{}", proposal::text(&opened, document))
    })?;
    proposal::say_what_follows(call, &opened, document);
    Ok(DONE)
}

fn refused(error: RestoreError, id: ResultId) -> Fault {
    let fault = Fault::from(error);
    match error {
        RestoreError::UnknownRevision(_) | RestoreError::AlreadyAccepted(_) => {
            fault.about(About::Revision(id))
        }
        RestoreError::Unknown
        | RestoreError::Withheld(_)
        | RestoreError::RefreshIncomplete
        | RestoreError::TooManyPending(_)
        | RestoreError::TooLarge(_)
        | RestoreError::Show(_)
        | RestoreError::Failed(_) => fault,
    }
}
