//! Opening a directory that a person named, to approve it (spec I2).
//!
//! The path that the person typed may lead through links; what is approved is where it leads. Whether that is the
//! instance's directory, inside it or around it is decided by going up from each and comparing what is met, never by
//! comparing names.

use crate::facts::{Fault, FileId};
use crate::own::OwnFiles;
use crate::platform::{Dir, host_path, native};
use crate::territory::identity;
use std::io::ErrorKind;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use work_core::id::BootId;
use work_core::path::HostPath;
use work_core::port::{AdmitRefusal, Root};

/// Names above a directory that are gone up at most.
const MOST_ABOVE: usize = 4096;

/// Opens the directory at `path` and tells what it really is.
pub(crate) fn admit(
    path: &HostPath,
    own: Option<&OwnFiles>,
    boot: BootId,
) -> Result<Root, AdmitRefusal> {
    let real = std::fs::canonicalize(native(path)).map_err(|error| not_found(&error))?;
    let dir = Dir::root(&real).map_err(refused)?;
    dir.list(&mut |_, _, _| ControlFlow::Break(())).map_err(refused)?;
    refuse_top(&dir, &real)?;
    if let Some(own) = own {
        refuse_instance(&dir, own.directory())?;
    }
    let identity = identity(&dir, boot).map_err(refused)?;
    let path = host_path(real).ok_or(AdmitRefusal::NotReadable)?;
    Ok(Root { path, identity })
}

/// Refuses the root of the file system, also where it is mounted once more.
fn refuse_top(dir: &Dir, real: &Path) -> Result<(), AdmitRefusal> {
    let top: PathBuf = real.ancestors().last().unwrap_or(real).to_owned();
    let is_top = Dir::root(&top).is_ok_and(|top| top.facts().id == dir.facts().id);
    if is_top || top == real { Err(AdmitRefusal::FilesystemRoot) } else { Ok(()) }
}

/// Refuses the instance's directory, one inside it and one around it.
fn refuse_instance(dir: &Dir, instance: &Dir) -> Result<(), AdmitRefusal> {
    if dir.facts().id == instance.facts().id {
        Err(AdmitRefusal::Instance)
    } else if lies_inside(dir, instance.facts().id)? {
        Err(AdmitRefusal::InsideInstance)
    } else if lies_inside(instance, dir.facts().id)? {
        Err(AdmitRefusal::AroundInstance)
    } else {
        Ok(())
    }
}

/// Whether going up from `dir` meets `outer`.
fn lies_inside(dir: &Dir, outer: FileId) -> Result<bool, AdmitRefusal> {
    let mut above = dir.parent().map_err(refused)?;
    for _ in 0..MOST_ABOVE {
        if above.facts().id == outer {
            return Ok(true);
        }
        let next = above.parent().map_err(refused)?;
        if next.facts().id == above.facts().id && next.facts().mount == above.facts().mount {
            return Ok(false);
        }
        above = next;
    }
    Err(AdmitRefusal::Unreachable)
}

fn not_found(error: &std::io::Error) -> AdmitRefusal {
    let kind = error.kind();
    if kind == ErrorKind::NotFound {
        AdmitRefusal::Absent
    } else if kind == ErrorKind::NotADirectory {
        AdmitRefusal::NotADirectory
    } else if kind == ErrorKind::PermissionDenied {
        AdmitRefusal::NotReadable
    } else {
        AdmitRefusal::Unreachable
    }
}

fn refused(fault: Fault) -> AdmitRefusal {
    match fault {
        Fault::Missing => AdmitRefusal::Absent,
        Fault::NotADirectory | Fault::NotAFile | Fault::Link | Fault::Special => {
            AdmitRefusal::NotADirectory
        }
        Fault::Denied | Fault::OwnFile => AdmitRefusal::NotReadable,
        Fault::OtherMount | Fault::OtherGrant | Fault::Unstable | Fault::Failed => {
            AdmitRefusal::Unreachable
        }
    }
}
