//! How results that need somebody are told, one block each: a row, then each quotation that is concerned.

use super::list::style;
use super::worker::turn;
use crate::ids;
use crate::open::Opened;
use crate::output;
use crate::table::Table;
use crate::wrap::hanging;
use work_core::document::render;
use work_core::document::wire::CauseDoc;
use work_core::id::{IdKind, ResultId};
use work_core::result::ResultState;
use work_core::show;

/// What stands below a row begins here.
const INDENT: &str = "        ";

/// A result with what is said of it.
pub(super) struct Block<'a> {
    pub(super) id: ResultId,
    pub(super) state: ResultState,
    pub(super) query: &'a str,
    /// The quotations that are concerned; `None` of a hidden result.
    pub(super) causes: Option<Vec<&'a CauseDoc>>,
    /// The next command, with the result's whole id where it names it.
    pub(super) next: Option<&'a str>,
}

/// The blocks under one heading; nothing if there are none.
pub(super) fn text(opened: &Opened, program: &str, blocks: &[Block<'_>]) -> String {
    if blocks.is_empty() {
        return String::new();
    }
    let whole: Vec<[u8; 16]> = blocks.iter().map(|block| block.id.bytes()).collect();
    let ids = ids::shortest(opened, IdKind::Result, &whole);
    let mut table = Table::new(["RESULT", "STATE", "QUERY"]);
    for (block, id) in blocks.iter().zip(&ids) {
        let state = block.state.as_str().to_owned();
        table.row([id.clone(), state, show::line(block.query)], style(block.state));
    }
    let rows = table.text(output::width());
    let mut lines = rows.split_inclusive('\n');
    let mut text = lines.next().unwrap_or_default().to_owned();
    for ((line, block), id) in lines.zip(blocks).zip(&ids) {
        text.push_str(line);
        text.push_str(&below(block, program, id));
    }
    text
}

/// What stands below a row.
fn below(block: &Block<'_>, program: &str, id: &str) -> String {
    let width = output::width();
    let mut text = match &block.causes {
        None => hanging(INDENT, &format!("hidden: {}", turn(block.state)), width),
        Some(causes) => causes
            .iter()
            .map(|cause| {
                let n = format!("{INDENT}{}  ", cause.excerpt);
                hanging(&n, &render::cause(cause), width)
            })
            .collect(),
    };
    if let Some(next) = block.next {
        let next = next.replacen("work", program, 1).replace(&block.id.to_string(), id);
        text.push_str(&format!("{INDENT}next: {next}\n"));
    }
    text
}
