//! `work review`: shows a proposal and, at a terminal, asks what is to become of it.

use super::{DONE, apply, dismiss, proposal};
use crate::args::Review;
use crate::call::Call;
use crate::open::Opened;
use crate::output::Answer;
use crate::pager;
use crate::question::{Choice, Question};
use work_core::document::wire::ProposalDoc;

pub(super) fn run(review: &Review, call: &Call) -> Answer {
    let opened = call.open()?;
    let id = proposal::find(&opened, &review.proposal)?;
    let mut line = call.looking();
    let document = opened.work.proposal(id, &mut line)?;
    drop(line);
    call.out.detail(|| format!("Proposal: {id}"));
    match question(&document).filter(|_| call.can_ask()) {
        Some(question) => asked(call, &opened, &document, question),
        None => {
            call.out.document(&document, |document| proposal::text(&opened, document))?;
            proposal::say_what_follows(call, &opened, &document);
            Ok(DONE)
        }
    }
}

/// What can be asked about it, if anything.
fn question(document: &ProposalDoc) -> Option<Question> {
    let applies = document.can_apply == Some(true);
    let waits = document.fingerprint.is_some() && document.state == "pending";
    waits.then_some(if applies { Question::REVIEW } else { Question::KEEP })
}

/// Does with it what the person says. What is applied is what was shown: its fingerprint.
fn asked(call: &Call, opened: &Opened, document: &ProposalDoc, question: Question) -> Answer {
    pager::show(&call.out, &proposal::text(opened, document))?;
    match (question.ask(), document.fingerprint) {
        (Choice::Apply, Some(fingerprint)) => {
            apply::applied(call, opened, document.proposal_id, fingerprint)
        }
        (Choice::Dismiss, _) => dismiss::dismissed(call, opened, document.proposal_id),
        (Choice::Apply | Choice::Leave, _) => {
            call.out.note("Left as it is.");
            Ok(DONE)
        }
    }
}
