//! `work revoke`: ends a folder's approval, by path or by id.

use super::{DONE, approve};
use crate::args::Revoke;
use crate::call::Call;
use crate::fault::{Ended, Fault};
use crate::ids;
use crate::open::{Opened, host_path};
use crate::output::Answer;
use std::path::Path;
use work_core::document::wire::FolderDoc;
use work_core::id::{GrantId, IdKind};
use work_core::workspace::{FolderName, RevokeError};

pub(super) fn run(revoke: &Revoke, call: &Call) -> Answer {
    let opened = call.open()?;
    let document = revoked(&opened, revoke)?;
    call.out.document(&document, |document| approve::sentence(&opened, document))?;
    if document.change == "revoked" {
        call.out.note("What came from it is hidden. Nothing was deleted.");
    }
    Ok(DONE)
}

/// Tries what the name can mean, the likeliest first: where the path leads, the path as typed, an id.
fn revoked(opened: &Opened, revoke: &Revoke) -> Result<FolderDoc, Ended> {
    let path = Path::new(&revoke.folder);
    let leads_to = path.canonicalize();
    let digits =
        revoke.folder.to_str().filter(|digits| digits.parse::<work_core::id::IdPrefix>().is_ok());
    let mut names = Vec::new();
    if let Ok(real) = &leads_to {
        names.push(FolderName::Root(host_path(real)?));
    }
    names.push(FolderName::Root(host_path(path)?));
    for name in names {
        match opened.work.revoke(&name) {
            Err(RevokeError::Unknown) => {}
            revoked => return Ok(revoked?),
        }
    }
    let typed = revoke.folder.to_string_lossy();
    match digits.filter(|_| leads_to.is_err()) {
        Some(digits) => {
            let id = ids::find(&opened.work, IdKind::Grant, digits, GrantId::from_bytes)?;
            Ok(opened.work.revoke(&FolderName::Id(id))?)
        }
        None => Err(Fault::from(RevokeError::Unknown).named(&typed).into()),
    }
}
