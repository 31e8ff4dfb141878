//! `work doctor --accept-clock`: the owner's word that the time acted on was never true.

use super::count;
use crate::args::Doctor;
use crate::call::Call;
use crate::fault::{Ended, Fault};
use crate::open::Opened;
use crate::output;
use crate::question::{Choice, Question};
use crate::wrap::wrapped;
use work_core::code::Code;
use work_core::port::Clock as _;
use work_core::time::Timestamp;
use work_core::workspace::AcceptedClock;
use work_store::clock::HostClock;

/// Whether somebody said that time may be set back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Said {
    /// It was said, or there was nothing to say.
    Yes,
    /// It was not.
    No,
}

/// Lets time go on from the clock, if that is wanted.
pub(super) fn run(doctor: &Doctor, call: &Call) -> Result<Said, Ended> {
    let opened = call.open()?;
    let behind_s = opened.now()?.seconds() - HostClock::new().reading().wall_ms.div_euclid(1000);
    if behind_s > 0 && !doctor.yes {
        if !call.can_ask() {
            let message = "without a terminal, --yes has to say that all that is pending may end";
            return Err(Fault::new(Code::InvalidArgument, message).into());
        }
        let ends = ends(&opened, behind_s)?;
        call.out.note(wrapped(&ends, output::width()).trim_end());
        if Question::CLOCK.ask() != Choice::Apply {
            call.out.note("Not accepted. Nothing has changed.");
            return Ok(Said::No);
        }
    }
    let told = match opened.work.accept_clock()? {
        AcceptedClock::NotBehind => "The clock is not behind. Nothing has changed.".to_owned(),
        AcceptedClock::SetBack { from_ms, to_ms } => {
            let [from, to] =
                [from_ms, to_ms].map(|ms| Timestamp::from_seconds(ms.div_euclid(1000)));
            format!("Time was set back from {from} to {to}. What was pending has ended.")
        }
    };
    call.out.note(&told);
    Ok(Said::Yes)
}

/// What accepting the clock ends.
fn ends(opened: &Opened, behind_s: i64) -> Result<String, Ended> {
    let proposals = opened.work.proposals(None)?.proposals;
    let pending = proposals.iter().filter(|one| one.state == "pending").count() as u64;
    let tasks = opened.work.tasks(None)?.tasks;
    let running = tasks.iter().filter(|task| task.state == "running").count() as u64;
    Ok(format!(
        "The clock is {} behind the latest time acted on. If it is right, time can go on from it. That ends every \
         pending proposal ({pending} now) and every lease ({running} now); a task that loses its lease is begun \
         anew. No result and no revision changes.",
        count(behind_s.unsigned_abs(), "second"),
    ))
}
