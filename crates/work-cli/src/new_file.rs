//! A file that a person named to be written: new, whole, and for its owner alone.

use crate::fault::{About, Fault, file_code};
use crate::open::shown;
use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use work_core::code::Code;

/// Refuses a place that is taken.
///
/// # Errors
/// [`Fault`] if anything is there, be it a link to nothing.
pub(crate) fn is_free(path: &Path) -> Result<(), Fault> {
    match path.symlink_metadata() {
        Ok(_) => Err(taken(path)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) => Err(refused(path, &error)),
    }
}

/// Writes `bytes` to a new file. It is built under a name of its own beside its place and gets its own name when it is
/// whole, so that nobody finds a part of it, and nothing that is there is written over.
///
/// # Errors
/// [`Fault`] if something is there already, or the file system refuses.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> Result<(), Fault> {
    is_free(path)?;
    let unfinished = beside(path)?;
    // Left by a run that died and had the same number.
    let _ = fs::remove_file(&unfinished);
    let written = fill(&unfinished, bytes).and_then(|()| name(&unfinished, path));
    // Whatever happened, its other name is of no use any more.
    let _ = fs::remove_file(&unfinished);
    match written {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Err(taken(path)),
        Err(error) => Err(refused(path, &error)),
    }
}

fn fill(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

/// Gives a file its name, which nobody has. A link takes nobody's place; where the file system has no links, the place
/// is taken first and the file put over what was just made there.
fn name(unfinished: &Path, path: &Path) -> io::Result<()> {
    match fs::hard_link(unfinished, path) {
        Err(error)
            if [ErrorKind::PermissionDenied, ErrorKind::Unsupported].contains(&error.kind()) =>
        {
            OpenOptions::new().write(true).create_new(true).open(path)?;
            fs::rename(unfinished, path)
        }
        linked => linked,
    }
}

/// A name in the same directory that no other run of this program takes, short enough for every file system.
fn beside(path: &Path) -> Result<PathBuf, Fault> {
    if path.file_name().is_none() {
        let message = format!("{} names no file", shown(path));
        return Err(Fault::new(Code::InvalidArgument, message).about(About::NewFile));
    }
    Ok(path.with_file_name(format!(".work.{}.new", std::process::id())))
}

/// Something is there already.
pub(crate) fn taken(path: &Path) -> Fault {
    let message = format!("{} is there already; nothing was written", shown(path));
    Fault::new(Code::InvalidArgument, message).about(About::NewFile)
}

/// The file system refused.
pub(crate) fn refused(path: &Path, error: &io::Error) -> Fault {
    let code = file_code(error.kind());
    // What else can be wrong is wrong with the name: no such directory, a name too long.
    let code = if code == Code::Internal { Code::InvalidArgument } else { code };
    Fault::new(code, format!("{} cannot be written: {error}", shown(path))).about(About::NewFile)
}

#[cfg(test)]
mod tests {
    use super::*;

    // spec: D6
    #[test]
    fn a_file_that_comes_up_meanwhile_keeps_its_place() {
        let dir = tempfile::tempdir().expect("a directory");
        let [unfinished, path] = ["x.new", "x"].map(|name| dir.path().join(name));
        fs::write(&unfinished, "ours").expect("a file");
        fs::write(&path, "theirs").expect("a file");
        let refused = name(&unfinished, &path).expect_err("it is taken");
        assert_eq!(refused.kind(), ErrorKind::AlreadyExists);
        assert_eq!(fs::read_to_string(&path).expect("a file"), "theirs");
        fs::remove_file(&path).expect("it is there");
        name(&unfinished, &path).expect("it is free");
        assert_eq!(fs::read_to_string(&path).expect("a file"), "ours");
    }

    // spec: D6
    #[test]
    fn what_a_run_that_died_left_is_in_nobodys_way() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("x".repeat(255));
        fs::write(beside(&path).expect("a name"), "half").expect("a file");
        write(&path, b"whole").expect("written");
        assert_eq!(fs::read_to_string(&path).expect("a file"), "whole");
        assert_eq!(fs::read_dir(dir.path()).expect("a directory").count(), 1);
    }
}
