//! Text that may be longer than a screen, for a person at a terminal.
//!
//! `$PAGER` if it is set, else `less -R` if it is there, else the text as it is. Only for somebody who can be asked:
//! whoever calls makes sure that there is a terminal.

use crate::fault::Ended;
use crate::output::Output;
use crate::signals::INTERRUPTED;
use signal_hook::consts::SIGINT;
use std::io::{self, Write as _};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// What a shell answers for a program that it cannot start.
const NOT_STARTED: [i32; 2] = [126, 127];

/// Shows `text`, page by page where that can be done.
///
/// # Errors
/// [`Ended`] when it cannot be written.
pub(crate) fn show(out: &Output, text: &str) -> Result<(), Ended> {
    let Some(mut pager) = chosen() else { return out.data(text) };
    // Ctrl-C belongs to the pager while it runs: this program must not end before it and leave the terminal to both.
    let alone = Arc::new(AtomicBool::new(false));
    let shutdown = INTERRUPTED.into();
    let _ = signal_hook::flag::register_conditional_shutdown(SIGINT, shutdown, alone.clone());
    let shown = pager.stdin(Stdio::piped()).spawn().and_then(|child| fed(child, text));
    alone.store(true, Ordering::SeqCst);
    match shown {
        Ok(status) if !status.code().is_some_and(|code| NOT_STARTED.contains(&code)) => Ok(()),
        Ok(_) | Err(_) => out.data(text),
    }
}

/// The pager that this person wants. Short text stays on the screen, as `git` has it too.
fn chosen() -> Option<Command> {
    let wanted = std::env::var_os("PAGER").filter(|pager| !pager.is_empty());
    let dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
    let mut pager = match wanted {
        Some(wanted) => {
            let mut shell = Command::new("/bin/sh");
            shell.arg("-c").arg(wanted);
            shell
        }
        None if dumb => return None,
        None => {
            let mut less = Command::new("less");
            less.arg("-R");
            less
        }
    };
    if std::env::var_os("LESS").is_none() {
        pager.env("LESS", "FRX");
    }
    Some(pager)
}

/// Hands the text to the pager and waits for its end. Whoever leaves it early has seen enough.
fn fed(mut child: Child, text: &str) -> io::Result<ExitStatus> {
    if let Some(mut stdin) = child.stdin.take() {
        let colours = anstream::AutoStream::choice(&io::stdout());
        let _ = match colours {
            anstream::ColorChoice::Never => {
                write!(stdin, "{}", anstream::adapter::strip_str(text))
            }
            anstream::ColorChoice::Auto
            | anstream::ColorChoice::AlwaysAnsi
            | anstream::ColorChoice::Always => stdin.write_all(text.as_bytes()),
        };
    }
    child.wait()
}
