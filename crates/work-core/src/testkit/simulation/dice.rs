//! Everything random in a run comes from its seed.

/// SplitMix64, as published by Steele, Lea and Flood (OOPSLA 2014): the same numbers on every machine.
#[derive(Clone, Debug)]
pub(super) struct Dice(u64);

impl Dice {
    /// Begins at a seed.
    pub(super) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `bound`, which is not zero.
    pub(super) fn below(&mut self, bound: usize) -> usize {
        let drawn = self.next() % u64::try_from(bound).expect("a size fits");
        usize::try_from(drawn).expect("below a size")
    }

    /// Whether something that happens once in `times` happens now.
    pub(super) fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    /// One of these, if there are any.
    pub(super) fn one_of<T: Copy>(&mut self, all: &[T]) -> Option<T> {
        let drawn = self.next();
        let count = u64::try_from(all.len()).ok().filter(|&count| count > 0)?;
        usize::try_from(drawn % count).ok().and_then(|at| all.get(at).copied())
    }
}
