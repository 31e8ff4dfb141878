//! `work schema`: what a document looks like, for programs.

use super::DONE;
use crate::args::Schema;
use crate::call::Call;
use crate::fault::{About, Fault};
use crate::output::Answer;
use work_core::code::Code;
use work_core::document::wire;

pub(super) fn run(schema: &Schema, call: &Call) -> Answer {
    let text = match &schema.name {
        None => names(),
        Some(name) => {
            let unknown = || {
                Fault::new(Code::NotFound, "there is no document of this name")
                    .named(name)
                    .about(About::Schema)
            };
            format!("{:#}\n", wire::schema(name).ok_or_else(unknown)?)
        }
    };
    call.out.print(text.as_bytes())?;
    Ok(DONE)
}

fn names() -> String {
    wire::NAMES.iter().map(|name| format!("{name}\n")).collect()
}
