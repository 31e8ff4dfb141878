//! Checking an export against files as they are now, without a store (spec X3).
//!
//! Owns the verdict on each quotation. An export can be written by anybody, digests and all, so no digest in it stands
//! in for a look: each quotation is compared with the bytes at its place. Refuses to know how folders were opened: the
//! caller names them by the labels that the export uses, and a door reads them.

use crate::document::export::{Exported, ExportedQuotation};
use crate::document::wire::{PathDoc, VerdictDoc, VerifyDoc};
use crate::folder::{Grant, GrantState, Hidden, IgnoreFiles, Rules};
use crate::id::{GrantId, SiteId};
use crate::limits::Limits;
use crate::moved::{self, Lost};
use crate::path::RelPath;
use crate::port::{Ground, Place, Probe, Root, SourceDoor, Want, Watch, version_of};
use crate::quote::{Finding, Quotation};
use crate::source::{Look, Seen};
use crate::time::Timestamp;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

#[cfg(test)]
mod tests;

/// The verdict where a file could not be looked at.
const UNREADABLE: &str = "unreadable";

/// The folder at `root` for one check of `exported`: nothing may be read of it but what has the extension of a file that
/// the export quotes. Names that begin with a dot are files like others, since the export may quote such.
///
/// Of no workspace and never stored; `n` tells it from the others of the same check.
#[must_use]
pub fn grant(n: u64, root: Root, exported: &Exported) -> Grant {
    let Root { path, identity } = root;
    Grant {
        id: GrantId::from_bytes(u128::from(n).to_be_bytes()),
        site: SiteId::from_bytes([0; 16]),
        label: crate::path::show(path.last_name()),
        root: path,
        identity,
        rules: rules(exported),
        state: GrantState::Active,
        approved_at: Timestamp::from_seconds(0),
        since_look: 0,
        swept_at: None,
    }
}

/// Rules that allow the extensions that are quoted. What no folder's rules can allow was never read under any, and
/// stays unread.
fn rules(exported: &Exported) -> Rules {
    let rules =
        |extensions: &[&str]| Rules::new(extensions, [""; 0], Hidden::Read, IgnoreFiles::Unheeded);
    let quoted: BTreeSet<&str> = exported
        .quotations()
        .iter()
        .filter_map(|one| one.quotation.path.extension())
        .filter(|extension| rules(&[extension]).is_ok())
        .collect();
    let quoted: Vec<&str> = quoted.into_iter().take(Rules::MOST).collect();
    rules(&quoted).expect("each of them is sound, and they are not too many")
}

/// Compares each quotation of `exported` with its file, looking once at each, under the folders that have its label.
///
/// Of two folders under one label the first counts. A label without a folder, and a file that could not be read or
/// would not hold still, is `unreadable`. Headings are not checked.
pub fn verify(
    door: &dyn SourceDoor,
    grants: &[(String, Grant)],
    exported: &Exported,
    limits: &Limits,
    watch: &mut dyn Watch,
) -> VerifyDoc {
    let all: Vec<Grant> = grants.iter().map(|(_, grant)| grant.clone()).collect();
    let wants: Vec<Option<Want>> =
        exported.quotations().iter().map(|one| want(grants, one)).collect();
    let seen = look(door, &all, exported, &wants, limits, watch);
    let lost = wants.iter().zip(exported.quotations()).zip(&seen).filter_map(lost).collect();
    let moved = moved::find(door, &all, &lost, limits.scan, watch);
    let quotations: Vec<VerdictDoc> = (exported.quotations().iter().zip(&wants).zip(seen))
        .map(|((one, want), verdict)| document(one, want.as_ref(), verdict, &moved))
        .collect();
    let passed = quotations.iter().all(|one| one.verdict == Finding::Intact.as_str());
    VerifyDoc { passed, quotations }
}

/// The file of a quotation, if a folder has its label.
fn want(grants: &[(String, Grant)], one: &ExportedQuotation) -> Option<Want> {
    let (_, grant) = grants.iter().find(|(label, _)| *label == one.label)?;
    Some(Want { grant: grant.id, path: one.quotation.path.clone(), known: None })
}

/// What became of each quotation; nothing where its file could not be looked at.
fn look(
    door: &dyn SourceDoor,
    grants: &[Grant],
    exported: &Exported,
    wants: &[Option<Want>],
    limits: &Limits,
    watch: &mut dyn Watch,
) -> Vec<Option<Finding>> {
    let distinct: BTreeSet<&Want> = wants.iter().flatten().collect();
    let files: Vec<Want> = distinct.into_iter().cloned().collect();
    let turn = |want: &Want| files.binary_search(want).ok();
    let quoted = exported.quotations().iter().map(|one| one.quotation.clone()).collect();
    let turns: Vec<Option<usize>> = wants.iter().map(|want| want.as_ref().and_then(turn)).collect();
    let probe = Arc::new(VerifyProbe::new(quoted, &turns, files.len(), limits));
    let ground = Ground { grants, scope: &[], limits: limits.scan };
    let looks = door.look(ground, &files, probe.clone(), watch);
    let found = probe.found();
    let one = |(n, turn): (usize, &Option<usize>)| match turn.and_then(|turn| looks.get(turn))? {
        Look::Saw { seen: Seen::Bytes(_), .. } => found.get(&n).copied(),
        Look::Saw { seen: Seen::Missing, .. } => Some(Finding::Gone),
        Look::Saw { seen: Seen::Unstable | Seen::Unreachable | Seen::Denied, .. }
        | Look::NotReached => None,
    };
    turns.iter().enumerate().map(one).collect()
}

/// What to look for elsewhere: the versions of missing files.
fn lost(
    ((want, one), finding): ((&Option<Want>, &ExportedQuotation), &Option<Finding>),
) -> Option<Lost> {
    let missing = *finding == Some(Finding::Gone);
    want.as_ref().filter(|_| missing).map(|want| (want.grant, one.quotation.version))
}

fn document(
    one: &ExportedQuotation,
    want: Option<&Want>,
    finding: Option<Finding>,
    moved: &BTreeMap<Lost, RelPath>,
) -> VerdictDoc {
    let ExportedQuotation { n, label, quotation } = one;
    let elsewhere = || moved.get(&(want?.grant, quotation.version)).map(PathDoc::of);
    let elsewhere = elsewhere().filter(|_| finding == Some(Finding::Gone));
    VerdictDoc {
        n: *n,
        label: label.clone(),
        path: PathDoc::of(&quotation.path),
        verdict: finding.map_or(UNREADABLE, Finding::as_str),
        moved_to: elsewhere.as_ref().map(|place| place.path.clone()),
        moved_to_bytes: elsewhere.and_then(|place| place.path_bytes),
    }
}

/// Judges the quotations of each file by its bytes, on the door's threads.
struct VerifyProbe {
    /// By the number of the want: the quotations of that file, each with its place in the export.
    quoted: Vec<Vec<(usize, Quotation)>>,
    file_bytes: usize,
    found: Mutex<BTreeMap<usize, Finding>>,
}

impl VerifyProbe {
    fn new(quoted: Vec<Quotation>, turns: &[Option<usize>], files: usize, limits: &Limits) -> Self {
        let mut by_file = vec![Vec::new(); files];
        for ((n, quotation), turn) in quoted.into_iter().enumerate().zip(turns) {
            if let Some(file) = turn.and_then(|turn| by_file.get_mut(turn)) {
                file.push((n, quotation));
            }
        }
        Self { quoted: by_file, file_bytes: limits.scan.file_bytes, found: Mutex::default() }
    }

    /// The findings so far, also after a panic elsewhere.
    fn found(&self) -> MutexGuard<'_, BTreeMap<usize, Finding>> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Probe for VerifyProbe {
    fn wants(&self, _: &Place, _: u64) -> bool {
        true
    }

    fn file(&self, place: Place, bytes: &[u8], full_size: u64) {
        let quoted = usize::try_from(place.turn).ok().and_then(|turn| self.quoted.get(turn));
        let cut = full_size > self.file_bytes as u64;
        let same = |quotation: &Quotation| quotation.version == version_of(bytes, full_size);
        let judged: Vec<_> = quoted
            .into_iter()
            .flatten()
            .map(|(n, quotation)| (*n, judge(quotation, bytes, cut, same(quotation))))
            .collect();
        self.found().extend(judged);
    }
}

/// What became of a quotation in bytes, which are the `same` as it was taken from or others.
///
/// Of the same bytes all that it says must be true: a passage that never stood there was made up.
fn judge(quotation: &Quotation, bytes: &[u8], cut: bool, same: bool) -> Finding {
    let finding = Finding::of(quotation, bytes, cut);
    let made_up = same && finding == Finding::Intact && !quotation.is_of(bytes);
    if made_up { Finding::Altered } else { finding }
}
