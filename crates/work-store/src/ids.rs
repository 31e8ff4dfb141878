//! Random bits from the operating system.

use work_core::port::Ids;

/// Ids from the operating system's source of random bits.
#[derive(Clone, Copy, Debug, Default)]
pub struct OsIds;

impl Ids for OsIds {
    fn fresh(&self) -> [u8; 16] {
        random()
    }
}

/// Bytes that nobody can foresee.
pub(crate) fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes)
        .expect("a system without random bits can name nothing and guard nothing");
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_ids_are_the_same() {
        let ids: std::collections::BTreeSet<_> = (0..1000).map(|_| OsIds.fresh()).collect();
        assert_eq!(ids.len(), 1000);
    }
}
