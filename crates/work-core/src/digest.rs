//! SHA-256, and how a digest reads.
//!
//! Owns the two ways in which bytes are hashed: plainly, for files and quotations, which a stranger can repeat with
//! `sha256sum`; and under a tag, for stored documents and canonical bytes, so that two kinds of things never share a
//! digest. Refuses to know what is hashed.

use sha2::{Digest as _, Sha256};
use std::fmt;
use std::str::FromStr;

/// A SHA-256 digest: 32 bytes, written as 64 lower-case hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest([u8; 32]);

impl Digest {
    /// The digest of exactly these bytes.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// The digest of `bytes` under `tag`: SHA-256 over the tag, one line feed, and the bytes.
    ///
    /// A tag names a form and its version (`work.body/1`) and holds no line feed.
    #[must_use]
    pub fn tagged(tag: &str, bytes: &[u8]) -> Self {
        debug_assert!(!tag.contains('\n'), "a tag is one line");
        let hash = Sha256::new().chain_update(tag).chain_update(b"\n").chain_update(bytes);
        Self(hash.finalize().into())
    }

    /// A digest that was kept as bytes.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The bytes as a store keeps them.
    #[must_use]
    pub const fn bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_hex(f, &self.0)
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Digest({self})")
    }
}

/// A text that is no digest: anything but 64 lower-case hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a digest: 64 lower-case hexadecimal digits are expected")]
pub struct NotADigest;

impl FromStr for Digest {
    type Err = NotADigest;

    fn from_str(text: &str) -> Result<Self, NotADigest> {
        read_hex(text).map(Self).ok_or(NotADigest)
    }
}

impl serde::Serialize for Digest {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> serde::Deserialize<'de> for Digest {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(from)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Digest {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Digest".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string", "pattern": "^[0-9a-f]{64}$" })
    }
}

/// Writes bytes as lower-case hexadecimal digits.
pub(crate) fn write_hex(f: &mut fmt::Formatter<'_>, bytes: &[u8]) -> fmt::Result {
    bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
}

/// Reads exactly `N` bytes from lower-case hexadecimal digits.
pub(crate) fn read_hex<const N: usize>(text: &str) -> Option<[u8; N]> {
    let digit = |b: u8| match b {
        b'0'..=b'9' => Some(b - b'0'),
        b'a'..=b'f' => Some(b - b'a' + 10),
        _ => None,
    };
    let text = text.as_bytes();
    if text.len() != 2 * N {
        return None;
    }
    let mut bytes = [0; N];
    for (byte, pair) in bytes.iter_mut().zip(text.chunks_exact(2)) {
        *byte = digit(pair[0])? << 4 | digit(pair[1])?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_digest_is_what_sha256sum_prints() {
        // FIPS 180-2, appendix B.1.
        let digest = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(Digest::of(b"abc").to_string(), digest);
        assert_eq!(digest.parse(), Ok(Digest::of(b"abc")));
    }

    #[test]
    fn the_same_bytes_under_two_tags_have_two_digests() {
        assert_ne!(Digest::tagged("work.body/1", b"{}"), Digest::tagged("work.scan/1", b"{}"));
        assert_eq!(Digest::tagged("work.body/1", b"{}"), Digest::of(b"work.body/1\n{}"));
    }

    #[test]
    fn upper_case_or_another_length_is_no_digest() {
        for text in ["", "ba78", &"BA".repeat(32), &"0".repeat(65)] {
            assert_eq!(text.parse::<Digest>(), Err(NotADigest), "{text}");
        }
    }
}
