//! What a disk writes down: each operation that a power loss could undo, or that makes such operations last.

use std::collections::BTreeMap;
use std::sync::Arc;

/// Files by their names: what a machine finds when it starts, and what a disk begins with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Image(pub BTreeMap<String, Arc<Vec<u8>>>);

impl Image {
    /// The bytes of a file, if it is there.
    #[must_use]
    pub fn bytes(&self, name: &str) -> Option<&[u8]> {
        self.0.get(name).map(|bytes| bytes.as_slice())
    }

    /// With this file, in place of what had its name.
    #[must_use]
    pub fn with(mut self, name: &str, bytes: impl Into<Vec<u8>>) -> Self {
        self.0.insert(name.to_owned(), Arc::new(bytes.into()));
        self
    }
}

/// A file, whatever its names are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId(pub u64);

/// One operation, in the order in which they were done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Op {
    /// A file got a name: it was made, or linked.
    Name {
        /// The name.
        name: String,
        /// The file.
        file: FileId,
    },
    /// A name is gone.
    Unname {
        /// The name.
        name: String,
    },
    /// Bytes were written.
    Write {
        /// Where to.
        file: FileId,
        /// The place in it.
        at: u64,
        /// The bytes.
        bytes: Arc<[u8]>,
    },
    /// A file was cut or grew.
    Resize {
        /// Which.
        file: FileId,
        /// Its new size.
        size: u64,
    },
    /// What was written to a file before this lasts.
    Sync {
        /// Which.
        file: FileId,
    },
    /// A sync failed: what was written to the file before this may be lost, whatever later syncs say. (Linux counts
    /// such pages as written.)
    SyncFailed {
        /// Which.
        file: FileId,
    },
    /// The names last as they are.
    SyncNames,
}

/// Bytes with `bytes` written at `at`, over what was there or past its end.
pub(crate) fn write(into: &mut Vec<u8>, at: u64, bytes: &[u8]) {
    let at = usize::try_from(at).expect("files are small here");
    let end = at + bytes.len();
    if into.len() < end {
        into.resize(end, 0);
    }
    into[at..end].copy_from_slice(bytes);
}

/// Bytes cut or filled to `size`.
pub(crate) fn resize(bytes: &mut Vec<u8>, size: u64) {
    bytes.resize(usize::try_from(size).expect("files are small here"), 0);
}
