//! Canonical bytes: what binds digests and numbers into one digest.
//!
//! Owns the one way in which fields become bytes: a tag with a version, then each field in the order that its user
//! documents, each with its kind and its length before it, so that two different lists of fields never give the same
//! bytes. A writer without a reader: nothing is ever read back from here.

use crate::digest::Digest;
use crate::plant::{Fault, is_planted};

/// Collects fields under a tag.
///
/// ```
/// use work_core::canonical::Canonical;
/// let one = Canonical::new("example/1").text("ab").text("c").digest();
/// let other = Canonical::new("example/1").text("a").text("bc").digest();
/// assert_ne!(one, other);
/// ```
#[derive(Clone, Debug)]
pub struct Canonical(Vec<u8>);

impl Canonical {
    /// Begins with `tag`, which names the scheme and its version.
    #[must_use]
    pub fn new(tag: &str) -> Self {
        Self(Vec::with_capacity(256)).field(b'T', tag.as_bytes())
    }

    /// Adds bytes.
    #[must_use]
    pub fn bytes(self, value: &[u8]) -> Self {
        self.field(b'b', value)
    }

    /// Adds text, as UTF-8.
    #[must_use]
    pub fn text(self, value: &str) -> Self {
        self.field(b's', value.as_bytes())
    }

    /// Adds a number, as eight bytes, the highest first.
    #[must_use]
    pub fn number(self, value: u64) -> Self {
        self.field(b'n', &value.to_be_bytes())
    }

    /// Adds a moment, as its seconds in eight bytes of two's complement, the highest first.
    #[must_use]
    pub fn at(self, value: crate::time::Timestamp) -> Self {
        self.field(b't', &value.seconds().to_be_bytes())
    }

    /// Adds the absence of a field, which differs from every value of it.
    #[must_use]
    pub fn nothing(self) -> Self {
        self.field(b'0', &[])
    }

    /// Adds how many items follow.
    #[must_use]
    pub fn count(self, items: usize) -> Self {
        self.field(b'#', &(items as u64).to_be_bytes())
    }

    /// The digest over all of it.
    #[must_use]
    pub fn digest(&self) -> Digest {
        Digest::of(&self.0)
    }

    /// One field: its kind, its length in eight bytes, and its value.
    fn field(mut self, kind: u8, value: &[u8]) -> Self {
        self.0.push(kind);
        if !is_planted(Fault::CanonicalSeparators) {
            self.0.extend_from_slice(&(value.len() as u64).to_be_bytes());
        }
        self.0.extend_from_slice(value);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Timestamp;

    #[test]
    fn the_bytes_of_version_1_never_change() {
        let all = Canonical::new("golden/1")
            .bytes(&[1, 2])
            .text("é")
            .number(7)
            .at(Timestamp::from_seconds(-1))
            .nothing()
            .count(2);
        assert_eq!(
            all.digest().to_string(),
            "29add1b3c4b2db35bee2bfd985d1ee14012e49b355907a28f7adea7b159264d0"
        );
    }

    #[test]
    fn a_kind_is_part_of_a_field() {
        let digests = [
            Canonical::new("t").bytes(b"a").digest(),
            Canonical::new("t").text("a").digest(),
            Canonical::new("t").nothing().digest(),
            Canonical::new("t").text("").digest(),
            Canonical::new("t").number(0).digest(),
            Canonical::new("t").count(0).digest(),
            Canonical::new("t").at(Timestamp::from_seconds(0)).digest(),
        ];
        let distinct: std::collections::BTreeSet<_> = digests.iter().collect();
        assert_eq!(distinct.len(), digests.len());
    }
}
