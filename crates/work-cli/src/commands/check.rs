//! `work check`: the gate. Something is as it must not be, or not everything could be told, or it passes.

use super::attention::{self, Block};
use super::{ATTENTION, DONE, IN_PART, count};
use crate::args::Check;
use crate::call::Call;
use crate::fault::Ended;
use crate::open::{Opened, host_path};
use crate::output::{self, Answer};
use crate::wrap::wrapped;
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};
use work_core::document::wire::{CauseDoc, CheckDoc, FailedDoc, Verdict};
use work_core::path::HostPath;
use work_core::workspace::{CheckAsk, Defect, FailOn};

pub(super) fn run(check: &Check, call: &Call) -> Answer {
    let ask = CheckAsk { fail_on: check.fail_on.clone().unwrap_or_default(), paths: paths(check)? };
    let opened = call.open()?;
    let mut line = call.looking();
    let document = opened.work.check(&ask, &mut line)?;
    drop(line);
    let program = call.out.program.to_string();
    call.out.document(&document, |document| people(&opened, &program, document, &ask.fail_on))?;
    if !call.out.json {
        call.out.note(wrapped(&sum(&document, &ask), output::width()).trim_end());
    }
    if document.verdict == Verdict::Attention {
        call.out.next(&[(format!("{program} status"), "see what to do about each")]);
    }
    Ok(match document.verdict {
        Verdict::Passed => DONE,
        Verdict::Attention => ATTENTION,
        Verdict::Incomplete => IN_PART,
    })
}

/// The files named, if any were asked for.
fn paths(check: &Check) -> Result<Option<Vec<HostPath>>, Ended> {
    let Some(paths) = &check.paths else { return Ok(None) };
    let named = paths.iter().chain(&check.more);
    named.map(|path| host_path(&placed(path))).collect::<Result<_, _>>().map(Some)
}

/// Where a file stands that need not be there any more: below the deepest directory above it that is, by that one's
/// path without links. The file itself is not followed.
fn placed(path: &Path) -> PathBuf {
    let Ok(absolute) = std::path::absolute(path) else { return path.to_owned() };
    let mut above = absolute.as_path();
    let mut below: Vec<OsString> = Vec::new();
    while let (Some(parent), Some(last)) = (above.parent(), above.components().next_back()) {
        below.push(last.as_os_str().to_owned());
        above = parent;
        if let Ok(real) = above.canonicalize() {
            return lexically(real, below.iter().rev());
        }
    }
    absolute
}

/// A directory with names below it, of which one may lead up.
fn lexically<'a>(mut at: PathBuf, below: impl Iterator<Item = &'a OsString>) -> PathBuf {
    for name in below {
        match Path::new(name).components().next() {
            Some(Component::ParentDir) => drop(at.pop()),
            Some(Component::CurDir) | None => {}
            Some(Component::Prefix(_) | Component::RootDir | Component::Normal(_)) => at.push(name),
        }
    }
    at
}

fn people(opened: &Opened, program: &str, document: &CheckDoc, fail_on: &FailOn) -> String {
    let blocks: Vec<Block<'_>> = document.failed.iter().map(|one| block(one, fail_on)).collect();
    attention::text(opened, program, &blocks)
}

/// A result that failed: the quotations that fail it, no others.
fn block<'a>(one: &'a FailedDoc, fail_on: &FailOn) -> Block<'a> {
    let FailedDoc { artifact_id, query, state, causes } = one;
    let fails = |cause: &&CauseDoc| {
        let found = Defect::ALL.into_iter().find(|one| Some(one.as_str()) == cause.finding);
        found.is_some_and(|defect| fail_on.has(defect))
    };
    let causes = causes.as_ref().map(|causes| causes.iter().filter(fails).collect());
    Block { id: *artifact_id, state: *state, query, causes, next: None }
}

/// What it comes to, in one sentence, and what could not be told.
fn sum(document: &CheckDoc, ask: &CheckAsk) -> String {
    let failed = document.failed.len() as u64 + document.left_out;
    let mut said = match document.verdict {
        Verdict::Passed if ask.paths.as_ref().is_some_and(Vec::is_empty) => {
            "Passed: no file was named.".to_owned()
        }
        Verdict::Passed => "Passed.".to_owned(),
        Verdict::Attention => format!("Failed: {}.", count(failed, "result")),
        Verdict::Incomplete => "Not everything could be told.".to_owned(),
    };
    if document.left_out > 0 {
        said.push_str(&format!(" {} of them are not shown.", document.left_out));
    }
    for (n, what) in [
        (document.not_looked_at, "was not looked at in time"),
        (document.unstable, "would not hold still"),
    ] {
        if n > 0 {
            said.push_str(&format!(" {} {what}.", count(n, "source")));
        }
    }
    if document.hidden > 0 {
        said.push_str(&format!(" Hidden: {}.", count(document.hidden, "result")));
    }
    said
}
