//! One proposal for people: its difference, what an approval binds, and what comes next.

use super::{NOTHING_CHANGED, hidden};
use crate::call::Call;
use crate::fault::{Fault, Refused};
use crate::ids::{self, Digits};
use crate::open::Opened;
use crate::paint::painted;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use work_core::code::{Code, Coded as _};
use work_core::digest::Digest;
use work_core::document::wire::{ContentDoc, ExcerptDoc, ProposalDoc};
use work_core::id::{IdKind, ProposalId, ResultId};
use work_core::port::Quiet;
use work_core::proposal::Refusal;
use work_core::result::{ResultState, RevisionNo};
use work_core::time::Timestamp;
use work_core::workspace::ApplyError;

/// Digits of a version that people see.
const VERSION: usize = 12;

/// A proposal with all that an approval would bind.
pub(super) fn text(opened: &Opened, proposal: &ProposalDoc) -> String {
    let mut text = headline(opened, proposal);
    let Some(difference) = &proposal.difference else {
        text.push_str(hidden(proposal.state));
        return text;
    };
    text.push('\n');
    text.push_str(&painted(difference));
    if difference.limit.is_some() {
        text.push_str(TOO_LONG);
    }
    text.push('\n');
    text.push_str(&bound(opened, proposal));
    for (n, sentence) in about(proposal).into_iter().enumerate() {
        text.push_str(if n == 0 { "\n" } else { "" });
        text.push_str(&sentence);
        text.push('\n');
    }
    text
}

/// What is said of a difference that was not looked for line by line.
pub(super) const TOO_LONG: &str = "\
The bodies have more lines than are compared: all of one is removed, and all of
the other added.\n";

/// The digits that name a proposal and its result.
pub(super) fn names(opened: &Opened, proposal: &ProposalDoc) -> (String, String) {
    let id = ids::short(opened, IdKind::Proposal, proposal.proposal_id.bytes());
    (id, ids::short(opened, IdKind::Result, proposal.artifact_id.bytes()))
}

/// What a proposal would do, as far as that may be seen.
pub(super) fn kind(kind: Option<&'static str>, restores: Option<RevisionNo>) -> String {
    match (kind, restores) {
        (_, Some(RevisionNo(no))) => format!("restore {no}"),
        (kind, None) => kind.unwrap_or("next revision").to_owned(),
    }
}

/// Which proposal it is, where it stands, and what it would do.
fn headline(opened: &Opened, proposal: &ProposalDoc) -> String {
    let (id, result) = names(opened, proposal);
    let ProposalDoc { state, base_revision, restore_revision, .. } = proposal;
    let what = match (base_revision, restore_revision) {
        (Some(RevisionNo(base)), Some(RevisionNo(from))) => {
            format!("restore of revision {from} over revision {base} of result {result}")
        }
        (Some(RevisionNo(base)), None) => format!("repair of revision {base} of result {result}"),
        (None, _) => format!("a next revision of result {result}"),
    };
    format!("Proposal {id} ({state}): {what}\n")
}

/// What an approval binds.
fn bound(opened: &Opened, proposal: &ProposalDoc) -> String {
    let binds = if proposal.state == "pending" { "It binds:" } else { "It bound:" };
    let mut text = format!("{binds}\n");
    let mut line = |what: &str, value: String| {
        writeln!(text, "  {what:<11}  {value}").expect("a string takes everything");
    };
    if let Some(RevisionNo(base)) = proposal.base_revision {
        line("accepted", format!("revision {base}"));
    }
    let (quoted, left) = sources(proposal);
    for (place, version) in quoted {
        line("quotes", format!("{}  {place}", digits(opened, version)));
    }
    for place in left {
        line("leaves out", place);
    }
    if let Some(at) = proposal.expires_at {
        line("expires", expiry(opened, proposal.state, at));
    }
    if let Some(fingerprint) = proposal.fingerprint {
        line("fingerprint", fingerprint.to_string());
    }
    text
}

/// The files that the proposed body quotes, each with the version, and those that only the accepted one does.
fn sources(proposal: &ProposalDoc) -> (BTreeMap<String, Digest>, Vec<String>) {
    let quoted: BTreeMap<String, Digest> =
        excerpts(&proposal.proposed).map(|one| (place(one), one.version.digest)).collect();
    let mut left: Vec<String> = excerpts(&proposal.accepted).map(place).collect();
    left.retain(|place| !quoted.contains_key(place));
    left.sort();
    left.dedup();
    (quoted, left)
}

fn excerpts(content: &Option<ContentDoc>) -> impl Iterator<Item = &ExcerptDoc> {
    content.iter().flat_map(|content| &content.body.excerpts)
}

fn place(excerpt: &ExcerptDoc) -> String {
    format!("{}/{}", excerpt.label, excerpt.path.path)
}

fn digits(opened: &Opened, version: Digest) -> String {
    let most = match opened.digits {
        Digits::Fewest => VERSION,
        Digits::All => usize::MAX,
    };
    version.to_string().chars().take(most).collect()
}

/// When it expires, and in how long if it waits.
fn expiry(opened: &Opened, state: &str, at: Timestamp) -> String {
    match opened.now() {
        Ok(now) if state == "pending" => format!("{at}, {}", within(now, at)),
        Ok(_) | Err(_) => at.to_string(),
    }
}

/// In how long a moment comes, at least.
pub(super) fn within(now: Timestamp, at: Timestamp) -> String {
    let seconds = at.seconds().saturating_sub(now.seconds()).max(0);
    if seconds < 60 { format!("in {seconds} s") } else { format!("in {} min", seconds / 60) }
}

/// What there is to know before it is approved.
fn about(proposal: &ProposalDoc) -> Vec<String> {
    let mut said = Vec::new();
    if let (Some(RevisionNo(no)), Some(ResultState::Stale)) =
        (proposal.restore_revision, proposal.result_state)
    {
        said.push(format!(
            "It would bring back a stale body: a source is no longer as revision {no} quotes it."
        ));
    }
    if proposal.state == "pending" {
        if let Some(why) = proposal.rejection_reason {
            said.push(format!("It cannot be applied now: {}.", in_words(why)));
        }
        said.push(NOTHING_CHANGED.to_owned());
    }
    said
}

/// A reason to refuse, in words.
fn in_words(reason: &str) -> String {
    let refusal = Refusal::ALL.iter().find(|refusal| refusal.code().as_str() == reason);
    refusal.map_or_else(|| reason.to_owned(), ToString::to_string)
}

/// Says how to go on with a proposal that waits, or what to do about one that is hidden.
pub(super) fn say_what_follows(call: &Call, opened: &Opened, proposal: &ProposalDoc) {
    let work = &call.out.program;
    let (id, result) = names(opened, proposal);
    let unwanted = (format!("{work} dismiss {id}"), "if it is not wanted");
    let applies = proposal.can_apply == Some(true);
    match (proposal.state, proposal.fingerprint) {
        (_, None) => {
            call.out.next(&[(format!("{work} folders"), "see which folders are approved")]);
        }
        ("pending", Some(_)) if applies && call.can_ask() => {
            call.out.next(&[
                (format!("{work} apply {id}"), "see the difference again and apply it"),
                unwanted,
            ]);
        }
        ("pending", Some(_)) if applies => {
            call.out.next(&[
                (format!("{work} apply {id} --fingerprint FINGERPRINT"), "apply what is shown"),
                unwanted,
            ]);
        }
        ("pending", Some(_)) => call.out.next(&[unwanted]),
        ("applied", Some(_)) => {
            call.out.next(&[(format!("{work} show {result}"), "see what is accepted")]);
        }
        (_, Some(_)) => {}
    }
}

/// A refusal with what is known of the proposal.
pub(super) fn refused(opened: &Opened, id: ProposalId, error: ApplyError) -> Fault {
    let fault = Fault::from(error);
    match error {
        ApplyError::Refused(_) => match opened.work.proposal(id, &mut Quiet) {
            Ok(proposal) => fault.refused(what_of(&proposal)),
            Err(_) => fault,
        },
        ApplyError::Unknown | ApplyError::Failed(_) => fault,
    }
}

/// The refusal of a proposal of which nothing may be seen, so that nothing of it can be approved.
pub(super) fn withheld(proposal: &ProposalDoc) -> Fault {
    let why = if proposal.state == Code::AccessRemoved.as_str() {
        Refusal::AccessRemoved
    } else {
        Refusal::EvidenceUnavailable
    };
    Fault::from(ApplyError::Refused(why)).refused(what_of(proposal))
}

const fn what_of(proposal: &ProposalDoc) -> Refused {
    let ProposalDoc { proposal_id, artifact_id, restore_revision, .. } = *proposal;
    Refused { proposal: proposal_id, result: artifact_id, restores: restore_revision }
}

/// The proposal that these digits stand for.
pub(super) fn find(opened: &Opened, digits: &str) -> Result<ProposalId, crate::fault::Ended> {
    ids::find(&opened.work, IdKind::Proposal, digits, ProposalId::from_bytes)
}

/// The result that these digits stand for.
pub(super) fn find_result(opened: &Opened, digits: &str) -> Result<ResultId, crate::fault::Ended> {
    ids::find(&opened.work, IdKind::Result, digits, ResultId::from_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_proposal_is_told_to_last_longer_than_it_does() {
        let at = Timestamp::from_seconds;
        for (seconds, told) in [
            (3600, "in 60 min"),
            (3599, "in 59 min"),
            (60, "in 1 min"),
            (59, "in 59 s"),
            (-5, "in 0 s"),
        ] {
            assert_eq!(within(at(1_000), at(1_000 + seconds)), told, "{seconds}");
        }
    }
}
