//! Memory that several connections share, as SQLite asks for it: in regions that never move.

/// One region. SQLite reads and writes it through its address, from any thread, by its own rules; nothing here looks
/// into it.
#[derive(Debug)]
pub(crate) struct Region(*mut [u64]);

// SAFETY: the address is only handed on. What is behind it is used by SQLite alone, which orders its own accesses by
// the locks and barriers of this layer, and it stays valid until the region is dropped.
unsafe impl Send for Region {}

impl Region {
    /// A region of zeros.
    pub(crate) fn new(bytes: usize) -> Self {
        Self(Box::into_raw(vec![0_u64; bytes.div_ceil(8)].into_boxed_slice()))
    }

    /// Where it is.
    pub(crate) fn address(&self) -> *mut u8 {
        self.0.cast()
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        // SAFETY: the address came out of a box in `new`, is dropped here alone, and nobody uses the region any more:
        // it is dropped when its last connection has let go of it.
        drop(unsafe { Box::from_raw(self.0) });
    }
}
