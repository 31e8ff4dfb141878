//! `work cancel`: a task is not wanted any more.

use super::DONE;
use crate::args::Cancel;
use crate::call::Call;
use crate::fault::Fault;
use crate::ids;
use crate::output::Answer;
use work_core::id::{IdKind, TaskId};
use work_core::plant::{Fault as Planted, is_planted};

pub(super) fn run(cancel: &Cancel, call: &Call) -> Answer {
    let opened = call.open()?;
    let id = ids::find(&opened.work, IdKind::Task, &cancel.task, TaskId::from_bytes)?;
    if is_planted(Planted::AcknowledgedEarly) {
        call.out.document(&opened.work.task(id)?, |_| String::new())?;
    }
    let document =
        opened.work.cancel(id).map_err(|error| Fault::from(error).named(&cancel.task))?;
    call.out.document(&document, |task| {
        let short = ids::short(&opened, IdKind::Task, task.task_id.bytes());
        format!("Cancelled task {short}: {}\n", work_core::show::line(&task.query))
    })?;
    Ok(DONE)
}
