//! The binary `work`: parses, runs one command, prints one answer, exits.
//!
//! Owns how maintained work is spoken to on a terminal and by scripts: arguments, output, exit codes, signals. Refuses
//! to decide anything: rules live in `work-core`. To read: `args` is what may be said, `commands` has one file for
//! each command, `output` is how an answer leaves, `fault` and `hint` how a failure does.

mod args;
mod call;
mod commands;
mod fault;
mod hint;
mod home;
mod ids;
mod new_file;
mod open;
mod output;
mod pager;
mod paint;
mod progress;
mod question;
mod signals;
mod table;
mod usage;
mod wrap;

use std::process::ExitCode;

fn main() -> ExitCode {
    #[cfg(feature = "plant")]
    if let Ok(fault) = std::env::var("WORK_PLANT") {
        work_core::plant::plant_by_name(&fault);
    }
    let given: Vec<_> = std::env::args_os().collect();
    output::choose_color(&given);
    match args::parse(&given) {
        Ok(args) => {
            let call = call::Call::new(&args.global, args.command.name());
            let ended = commands::run(&args.command, &call);
            call.out.end(ended)
        }
        Err(error) => usage::end(&error, &given),
    }
}
