//! `work completions`: what a shell needs to complete a command line.

use super::DONE;
use crate::args::{Args, Completions};
use crate::call::Call;
use crate::output::Answer;
use clap::CommandFactory as _;

pub(super) fn run(completions: &Completions, call: &Call) -> Answer {
    let mut script = Vec::new();
    clap_complete::generate(completions.shell, &mut Args::command(), "work", &mut script);
    call.out.print(&script)?;
    Ok(DONE)
}
