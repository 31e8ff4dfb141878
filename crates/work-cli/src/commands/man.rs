//! `work man`: the manual pages, one for the program and one for each command.

use super::DONE;
use crate::args::{Args, Man};
use crate::call::Call;
use crate::fault::{Ended, Fault, file_code};
use crate::open::shown;
use crate::output::Answer;
use clap::CommandFactory as _;
use std::io;
use std::path::Path;
use work_core::code::Code;

pub(super) fn run(man: &Man, call: &Call) -> Answer {
    let pages = pages().map_err(|error| refused(Path::new("the pages"), &error))?;
    match &man.dir {
        None => {
            let all: Vec<u8> = pages.into_iter().flat_map(|(_, page)| page).collect();
            call.out.print(&all)?;
        }
        Some(dir) => {
            if dir.exists() && !dir.is_dir() {
                let message = format!("{} is not a directory", shown(dir));
                return Err(Fault::new(Code::InvalidArgument, message).into());
            }
            std::fs::create_dir_all(dir).map_err(|error| refused(dir, &error))?;
            for (name, page) in pages {
                let path = dir.join(name);
                std::fs::write(&path, page).map_err(|error| refused(&path, &error))?;
                call.out.data(&format!("{}\n", shown(&path)))?;
            }
        }
    }
    Ok(DONE)
}

/// Each page with its file's name.
fn pages() -> io::Result<Vec<(String, Vec<u8>)>> {
    let mut program = Args::command();
    program.build();
    let commands = program.get_subcommands().cloned().collect::<Vec<_>>();
    std::iter::once(program)
        .chain(commands)
        .map(|command| {
            let page = clap_mangen::Man::new(command);
            let mut text = Vec::new();
            page.render(&mut text)?;
            Ok((page.get_filename(), text))
        })
        .collect()
}

fn refused(path: &Path, error: &io::Error) -> Ended {
    Fault::new(file_code(error.kind()), format!("{} cannot be written: {error}", shown(path)))
        .about(crate::fault::About::Output)
        .into()
}
