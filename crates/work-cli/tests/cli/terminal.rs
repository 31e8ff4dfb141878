//! A terminal for the program, with somebody at it.

use crate::desk::Desk;
use rustix::fs::{Mode, OFlags, open};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::OwnedFd;

/// What was on the screen when the program had ended.
pub(crate) struct Session {
    pub(crate) code: i32,
    pub(crate) screen: String,
}

/// Runs the program at a terminal, with `pager` to read long text, and types `answer` when it asks.
pub(crate) fn session(desk: &Desk, args: &[&str], pager: &str, answer: &str) -> Session {
    let (mut near, far) = terminal();
    let end = || far.try_clone().expect("a terminal");
    let mut command = desk.command(args);
    command.env("PAGER", pager).stdin(end()).stdout(end()).stderr(end());
    let mut child = command.spawn().expect("it starts");
    // The reader learns of the end only when nobody else holds the far side.
    drop((command, far));
    let screen = talk(&mut near, answer);
    let code = child.wait().expect("it ends").code().expect("an exit code");
    Session { code, screen }
}

/// Both sides of a new terminal.
fn terminal() -> (File, OwnedFd) {
    let near = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
    grantpt(&near).expect("it is ours");
    unlockpt(&near).expect("it is ours");
    let name = ptsname(&near, Vec::new()).expect("it has a name");
    let far = open(name.as_c_str(), OFlags::RDWR | OFlags::NOCTTY, Mode::empty());
    (near.into(), far.expect("the other side"))
}

/// Reads all there is to see, and answers the first question.
fn talk(near: &mut File, answer: &str) -> String {
    let (mut seen, mut answer) = (Vec::new(), Some(answer));
    let mut bytes = [0; 4096];
    // When the last program has left the terminal, reading from it is an error.
    while let Ok(count @ 1..) = near.read(&mut bytes) {
        seen.extend_from_slice(&bytes[..count]);
        if seen.ends_with(b"] ")
            && let Some(answer) = answer.take()
        {
            near.write_all(answer.as_bytes()).expect("it is typed");
        }
    }
    String::from_utf8(seen).expect("UTF-8").replace("\r\n", "\n")
}
