//! What a scan keeps of the files that it reads, and quoting the ones that won.

use crate::id::GrantId;
use crate::path::RelPath;
use crate::port::{Place, Probe, version_of};
use crate::quote::{NotInSource, Quotation};
use crate::retrieve::{Examined, Format, PassageKey, Pick, Searcher};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

/// Examines each file of a scan on the door's threads, and keeps what was found by its turn.
pub(super) struct SearchProbe {
    searcher: Arc<Searcher>,
    file_bytes: usize,
    found: Mutex<BTreeMap<u64, (Visited, Examined)>>,
}

/// A file that was read, and whether only its beginning was.
pub(super) struct Visited {
    pub(super) place: Place,
    pub(super) cut: bool,
}

impl SearchProbe {
    pub(super) fn new(searcher: Arc<Searcher>, file_bytes: usize) -> Self {
        Self { searcher, file_bytes, found: Mutex::default() }
    }

    /// What was found, in the order of the visit.
    pub(super) fn take(&self) -> Vec<(Visited, Examined)> {
        std::mem::take(&mut *lock(&self.found)).into_values().collect()
    }
}

impl Probe for SearchProbe {
    fn wants(&self, _: &Place, _: u64) -> bool {
        true
    }

    fn file(&self, place: Place, bytes: &[u8], full_size: u64) {
        let cut = full_size > self.file_bytes as u64;
        let examined = self.searcher.examine(bytes, cut, Format::of_name(place.path.last_name()));
        lock(&self.found).insert(place.turn, (Visited { place, cut }, examined));
    }
}

/// A file that gave passages, and which.
pub(super) struct Chosen {
    pub(super) grant: GrantId,
    pub(super) path: RelPath,
    /// Each passage with its rank in the report, from 0.
    pub(super) keys: Vec<(usize, PassageKey)>,
}

/// The files of the picks, in the order of their best, each with its passages.
pub(super) fn by_file(picks: Vec<Pick>, places: &[Visited]) -> Vec<Chosen> {
    let mut chosen: Vec<(usize, Chosen)> = Vec::new();
    for (rank, pick) in picks.into_iter().enumerate() {
        match chosen.iter_mut().find(|(file, _)| *file == pick.file) {
            Some((_, one)) => one.keys.push((rank, pick.key)),
            None => {
                let Place { grant, path, .. } = places[pick.file].place.clone();
                chosen.push((pick.file, Chosen { grant, path, keys: vec![(rank, pick.key)] }));
            }
        }
    }
    chosen.into_iter().map(|(_, one)| one).collect()
}

/// Quotes the chosen passages from the bytes of one more read of their files, on the door's threads.
pub(super) struct QuoteProbe {
    searcher: Arc<Searcher>,
    chosen: Vec<Chosen>,
    quoted: Mutex<BTreeMap<u64, Quoted>>,
}

/// The quotations of one file, each with its rank.
pub(super) type Quoted = Result<Vec<(usize, Quotation)>, NotInSource>;

impl QuoteProbe {
    pub(super) fn new(searcher: Arc<Searcher>, chosen: Vec<Chosen>) -> Self {
        Self { searcher, chosen, quoted: Mutex::default() }
    }

    pub(super) fn chosen(&self) -> &[Chosen] {
        &self.chosen
    }

    /// What was quoted, by the number of the file among the chosen.
    pub(super) fn take(&self) -> BTreeMap<u64, Quoted> {
        std::mem::take(&mut *lock(&self.quoted))
    }

    fn quote(&self, chosen: &Chosen, place: &Place, bytes: &[u8], full_size: u64) -> Quoted {
        let version = version_of(bytes, full_size);
        let keys: Vec<PassageKey> = chosen.keys.iter().map(|(_, key)| key.clone()).collect();
        let passages =
            self.searcher.quote(bytes, version.cut, Format::of_name(place.path.last_name()), &keys);
        let ranks = chosen.keys.iter().map(|(rank, _)| *rank);
        let quote = |passage| Quotation::from_bytes(place.path.clone(), version, bytes, passage);
        ranks.zip(passages).map(|(rank, passage)| Ok((rank, quote(passage)?))).collect()
    }
}

impl Probe for QuoteProbe {
    fn wants(&self, _: &Place, _: u64) -> bool {
        true
    }

    fn file(&self, place: Place, bytes: &[u8], full_size: u64) {
        let chosen = usize::try_from(place.turn).ok().and_then(|turn| self.chosen.get(turn));
        if let Some(chosen) = chosen {
            let quoted = self.quote(chosen, &place, bytes, full_size);
            lock(&self.quoted).insert(place.turn, quoted);
        }
    }
}

/// The lock, also after a thread that held it panicked: what it guards is replaced whole, never half.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
