//! `work apply`: makes a proposal the accepted revision, for whoever has seen what it would change.

use super::{DONE, proposal};
use crate::args::Apply;
use crate::call::Call;
use crate::fault::{About, Fault};
use crate::ids;
use crate::open::Opened;
use crate::output::Answer;
use crate::pager;
use crate::question::{Choice, Question};
use work_core::code::Code;
use work_core::document::wire::{AppliedDoc, ProposalDoc};
use work_core::id::{IdKind, ProposalId};
use work_core::proposal::{Channel, Fingerprint};
use work_core::result::RevisionNo;

pub(super) fn run(apply: &Apply, call: &Call) -> Answer {
    let opened = call.open()?;
    let id = proposal::find(&opened, &apply.proposal)?;
    call.out.detail(|| format!("Proposal: {id}"));
    match apply.fingerprint {
        Some(fingerprint) => applied(call, &opened, id, fingerprint),
        None if call.can_ask() => asked(call, &opened, id),
        None => Err(unsaid(id).into()),
    }
}

/// Nobody can be asked, and nothing says what is approved.
fn unsaid(id: ProposalId) -> Fault {
    let message = "without a terminal, --fingerprint has to say what is approved";
    Fault::new(Code::InvalidArgument, message).about(About::Approval(id))
}

/// Shows it and asks. One that cannot be applied anyhow is refused by the rules, without a question.
fn asked(call: &Call, opened: &Opened, id: ProposalId) -> Answer {
    let mut line = call.looking();
    let document = opened.work.proposal(id, &mut line)?;
    drop(line);
    let ProposalDoc { fingerprint: Some(fingerprint), can_apply, .. } = document else {
        return Err(proposal::withheld(&document).into());
    };
    if can_apply == Some(true) {
        pager::show(&call.out, &proposal::text(opened, &document))?;
        if Question::APPLY.ask() != Choice::Apply {
            call.out.note("Not applied. Nothing has changed.");
            return Ok(DONE);
        }
    }
    applied(call, opened, id, fingerprint)
}

/// Applies what was shown under this fingerprint.
pub(super) fn applied(call: &Call, opened: &Opened, id: ProposalId, shown: Fingerprint) -> Answer {
    let mut line = call.looking();
    let applied = opened.work.apply(id, shown, Channel::Cli, &mut line);
    drop(line);
    let document = applied.map_err(|error| proposal::refused(opened, id, error))?;
    let result = ids::short(opened, IdKind::Result, document.artifact_id.bytes());
    call.out.document(&document, |document| sentence(&result, document))?;
    let work = &call.out.program;
    call.out.next(&[
        (format!("{work} show {result}"), "see it"),
        (format!("{work} history {result}"), "see its revisions; none is ever lost"),
    ]);
    Ok(DONE)
}

fn sentence(result: &str, applied: &AppliedDoc) -> String {
    let RevisionNo(no) = applied.revision;
    match applied.restored_from {
        Some(RevisionNo(from)) => {
            format!("Applied: result {result} is at revision {no}, which brings back {from}.\n")
        }
        None => format!("Applied: result {result} is at revision {no}.\n"),
    }
}
