//! `work repair`: repeats a result's query in the foreground and shows what it proposes. What is accepted stays.

use super::foreground::{self, UntilSignal};
use super::{DONE, proposal};
use crate::args::Repair;
use crate::call::Call;
use crate::fault::{Ended, Fault};
use crate::open::Opened;
use crate::output::Answer;
use crate::signals::{INTERRUPTED, Signal, Signals};
use work_core::document::wire::{ProposalDoc, TaskDoc};
use work_core::id::ResultId;
use work_core::workspace::{RepairAsk, RepairError, Repaired, RunError};

pub(super) fn run(repair: &Repair, call: &Call) -> Answer {
    let opened = call.open()?;
    let id = proposal::find_result(&opened, &repair.result)?;
    let signals = Signals::take();
    let ask = RepairAsk { result: id, key: repair.key.clone() };
    let task = asked(call, &opened, &signals, &ask)?;
    call.out.detail(|| format!("Task: {}", task.task_id));
    if repair.detach {
        return foreground::detached(call, &opened, &task);
    }
    let finished =
        foreground::work(call, &opened, &signals, task.task_id, |worker, pause, watch| {
            opened.work.finish_repair(task.task_id, worker, pause, watch)
        });
    let ended = ending(finished, signals.arrived());
    match ended.map_err(|fault| fault.of_repair(id))? {
        Repaired::Proposed(document) => proposed(call, &opened, &document),
        Repaired::NoChange(document) => unchanged(call, &opened, id, &document),
    }
}

/// The task of the repair. A signal that ends the look before it is told as one.
fn asked(
    call: &Call,
    opened: &Opened,
    signals: &Signals,
    ask: &RepairAsk,
) -> Result<TaskDoc, Ended> {
    let mut watch = UntilSignal { signals, line: call.looking() };
    let asked = opened.work.ask_repair(ask, &mut watch);
    drop(watch);
    match (asked, signals.arrived()) {
        (Err(_), Some(_)) => Err(Fault::stopped_before_asking().exit(INTERRUPTED).into()),
        (asked, _) => Ok(asked.map_err(|error| Fault::from(error).of_repair(ask.result))?),
    }
}

/// What a repair in the foreground comes to. A signal that comes when the proposal is already made may come before it
/// was looked at in full: the person is told where it is.
fn ending(
    finished: Result<Repaired, RepairError>,
    signal: Option<Signal>,
) -> Result<Repaired, Fault> {
    match (finished, signal) {
        (Ok(Repaired::Proposed(proposal)), Some(_)) => {
            Err(Fault::stopped_before_reviewing(proposal.proposal_id).exit(INTERRUPTED))
        }
        (
            Err(RepairError::Run(error @ (RunError::Cancelled(_) | RunError::Stopped(_)))),
            Some(_),
        ) => Err(Fault::from(error).exit(INTERRUPTED)),
        (finished, _) => Ok(finished?),
    }
}

fn proposed(call: &Call, opened: &Opened, document: &ProposalDoc) -> Answer {
    call.out.detail(|| format!("Proposal: {}", document.proposal_id));
    call.out.document(document, |document| proposal::text(opened, document))?;
    proposal::say_what_follows(call, opened, document);
    Ok(DONE)
}

fn unchanged(call: &Call, opened: &Opened, id: ResultId, document: &TaskDoc) -> Answer {
    let short = crate::ids::short(opened, work_core::id::IdKind::Result, id.bytes());
    call.out.document(document, |_| {
        format!("No change: the sources still say what result {short} says.\n")
    })?;
    Ok(DONE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hint::{Program, hint};
    use work_core::code::Code;
    use work_core::id::{ProposalId, TaskId};

    // spec: C9
    #[test]
    fn a_signal_after_the_proposal_was_made_says_where_it_waits() {
        let (id, result) = (ProposalId::from_bytes([0xab; 16]), ResultId::from_bytes([1; 16]));
        let stub = || ProposalDoc::hidden(id, result, "evidence_unavailable");
        let made = || Ok(Repaired::Proposed(Box::new(stub())));
        for signal in [Signal::Interrupt, Signal::Terminate] {
            let fault = ending(made(), Some(signal)).expect_err("it was stopped");
            assert_eq!((fault.code, fault.exit), (Code::Cancelled, Some(130)), "{signal:?}");
            let told = hint(&fault, &Program::default(), "home");
            assert_eq!(told, format!("see the proposal: work review {id}"));
        }
        assert_eq!(ending(made(), None).expect("an answer"), made().expect("the same"));
    }

    // spec: C9
    #[test]
    fn a_repair_that_a_signal_ended_exits_with_its_code() {
        let stopped = || Err(RepairError::Run(RunError::Stopped(TaskId::from_bytes([2; 16]))));
        let fault = ending(stopped(), Some(Signal::Terminate)).expect_err("it was stopped");
        assert_eq!((fault.code, fault.exit), (Code::LeaseLost, Some(130)));
        let fault = ending(stopped(), None).expect_err("it was stopped by no signal");
        assert_eq!(fault.exit, None);
    }
}
