//! What is done to a file.

use crate::seed::Seed;

/// Bytes of a page.
pub(super) const PAGE: usize = 4096;

/// A change of one byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Damage {
    /// Which byte.
    pub(super) at: usize,
    /// What it becomes.
    pub(super) to: u8,
}

impl Damage {
    /// The file with it.
    pub(super) fn done_to(self, file: &[u8]) -> Vec<u8> {
        let mut file = file.to_vec();
        file[self.at] = self.to;
        file
    }
}

/// The damage of a case: in turn the header of a page, one after the other, that of the file, and twice a bit anywhere.
pub(super) fn of(case: u64, seed: &mut Seed, file: &[u8]) -> Damage {
    let turn = usize::try_from(case / 4).expect("few");
    match case % 4 {
        0 => header(turn % (file.len() / PAGE), seed, file),
        1 => changed(seed.below(100), seed, file),
        _ => bit(seed, file),
    }
}

/// A letter of a text that is stored in a document, and shown: one place after the other.
pub(super) fn of_text(case: u64, file: &[u8]) -> Damage {
    const TEXT: &[u8] = b"Backups are kept";
    let places: Vec<usize> = file
        .windows(TEXT.len())
        .enumerate()
        .filter(|(_, found)| *found == TEXT)
        .map(|(at, _)| at)
        .collect();
    let at = places[usize::try_from(case).expect("few") % places.len()];
    Damage { at, to: file[at] ^ 1 }
}

/// A byte of the header of a page. The first page has that of the file before it.
fn header(page: usize, seed: &mut Seed, file: &[u8]) -> Damage {
    let begin = page * PAGE + if page == 0 { 100 } else { 0 };
    changed(begin + seed.below(12), seed, file)
}

/// A byte that becomes another one.
fn changed(at: usize, seed: &mut Seed, file: &[u8]) -> Damage {
    let was = file[at];
    let to = match seed.below(5) {
        0 => 0,
        1 => u8::MAX,
        2 => was.wrapping_add(1),
        3 => was ^ (1 << seed.below(8)),
        _ => u8::try_from(seed.below(256)).expect("a byte"),
    };
    Damage { at, to: if to == was { was ^ 1 } else { to } }
}

/// A bit: most often of a byte that is not nothing, since much of a file is empty.
fn bit(seed: &mut Seed, file: &[u8]) -> Damage {
    let mut at = seed.below(file.len());
    if !seed.once_in(4) {
        while file[at] == 0 {
            at = (at + 1) % file.len();
        }
    }
    Damage { at, to: file[at] ^ (1 << seed.below(8)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_changes_one_byte() {
        let file = vec![7; 3 * PAGE];
        for case in 0..1000 {
            let damaged = of(case, &mut Seed::new(case), &file).done_to(&file);
            let changed = file.iter().zip(&damaged).filter(|(was, is)| was != is).count();
            assert_eq!(changed, 1, "case {case}");
        }
    }
}
