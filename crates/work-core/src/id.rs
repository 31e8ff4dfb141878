//! Names for things: 128 random bits each, one type for each kind of thing.
//!
//! Owns how an id reads and how a short prefix stands for one. Refuses to know where ids come from
//! ([`Ids`](crate::port::Ids)) and what they name. Start at [`ResultId`] for the shape of all of them.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

/// A text that is no id: anything but 32 lower-case hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not an id: 32 lower-case hexadecimal digits are expected")]
pub struct NotAnId;

macro_rules! id {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        ///
        /// 16 random bytes, written as 32 lower-case hexadecimal digits. Opaque: order and bits mean nothing.
        #[derive(Clone, Copy, PartialEq, Eq, Hash)]
        pub struct $name([u8; 16]);

        impl $name {
            /// Names a thing by these bytes, fresh from [`Ids`](crate::port::Ids) or read back from a store.
            #[must_use]
            pub const fn from_bytes(bytes: [u8; 16]) -> Self {
                Self(bytes)
            }

            /// The bytes as a store keeps them.
            #[must_use]
            pub const fn bytes(self) -> [u8; 16] {
                self.0
            }
        }

        /// The order of the bytes, compared as one number: an answer about thousands of sources finds each of them
        /// several times.
        impl Ord for $name {
            fn cmp(&self, other: &Self) -> Ordering {
                u128::from_be_bytes(self.0).cmp(&u128::from_be_bytes(other.0))
            }
        }

        impl PartialOrd for $name {
            fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
                Some(self.cmp(other))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                crate::digest::write_hex(f, &self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}({self})", stringify!($name))
            }
        }

        impl FromStr for $name {
            type Err = NotAnId;

            fn from_str(text: &str) -> Result<Self, NotAnId> {
                crate::digest::read_hex(text).map(Self).ok_or(NotAnId)
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                to.collect_str(self)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                let text = <std::borrow::Cow<'de, str>>::deserialize(from)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }

        #[cfg(feature = "schema")]
        impl schemars::JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({ "type": "string", "pattern": "^[0-9a-f]{32}$" })
            }
        }
    )*};
}

id! {
    /// Names a workspace: one body of work. Chosen by the service, never by a client.
    WorkspaceId;
    /// Names whose work it is.
    OwnerId;
    /// Names the place that approves folders and reads them; one for each instance today.
    SiteId;
    /// Names a grant: one approved folder.
    GrantId;
    /// Names a source. It opens no file and is no path.
    SourceId;
    /// Names a result.
    ResultId;
    /// Names a task.
    TaskId;
    /// Names a run: one leased attempt at a task.
    RunId;
    /// Names a proposal.
    ProposalId;
    /// Names one act: what a commit in doubt is found again by.
    ActId;
    /// Names one start of one worker.
    WorkerId;
    /// Names one start of the machine.
    BootId;
}

/// Which kind of id a prefix stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdKind {
    /// A grant.
    Grant,
    /// A source.
    Source,
    /// A result.
    Result,
    /// A task.
    Task,
    /// A proposal.
    Proposal,
}

/// The first digits of an id, enough to name it if no other begins with them.
///
/// Four to 32 lower-case hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdPrefix(String);

impl IdPrefix {
    /// The fewest digits that may stand for an id.
    pub const SHORTEST: usize = 4;

    /// The lowest and the highest id that begin with this prefix, both included.
    #[must_use]
    pub fn bounds(&self) -> ([u8; 16], [u8; 16]) {
        let filled = |digit: &str| {
            let text = format!("{}{}", self.0, digit.repeat(32 - self.0.len()));
            crate::digest::read_hex(&text).expect("32 hexadecimal digits")
        };
        (filled("0"), filled("f"))
    }

    /// The digits.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A text that can stand for no id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not the beginning of an id: 4 to 32 lower-case hexadecimal digits are expected")]
pub struct NotAPrefix;

impl FromStr for IdPrefix {
    type Err = NotAPrefix;

    fn from_str(text: &str) -> Result<Self, NotAPrefix> {
        let digits = text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
        let length = (Self::SHORTEST..=32).contains(&text.len());
        if digits && length { Ok(Self(text.to_owned())) } else { Err(NotAPrefix) }
    }
}

/// Two kinds of ids do not mix:
///
/// ```compile_fail
/// use work_core::id::{ResultId, TaskId};
/// let task = TaskId::from_bytes([7; 16]);
/// let _: ResultId = task;
/// ```
#[cfg(doctest)]
struct KindsDoNotMix;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_reads_back_as_it_was_written() {
        let id = ResultId::from_bytes([0xa5; 16]);
        assert_eq!(id.to_string(), "a5".repeat(16));
        assert_eq!(id.to_string().parse(), Ok(id));
    }

    #[test]
    fn ids_come_in_the_order_of_their_bytes_as_a_store_has_them() {
        let with = |at: usize, byte: u8| {
            let mut bytes = [7; 16];
            bytes[at] = byte;
            bytes
        };
        let all = [0, 7, 8, 15].map(|at| [0, 7, 0x80, 0xff].map(|byte| with(at, byte))).concat();
        for (one, next) in all.iter().flat_map(|one| all.iter().map(move |next| (*one, *next))) {
            let ids = [one, next].map(ResultId::from_bytes);
            assert_eq!(ids[0].cmp(&ids[1]), one.cmp(&next), "{one:?} {next:?}");
        }
    }

    #[test]
    fn only_32_lower_case_hexadecimal_digits_are_an_id() {
        for text in
            ["", "a5", &"A5".repeat(16), &"g0".repeat(16), &"a5".repeat(17), &"é5".repeat(10)]
        {
            assert_eq!(text.parse::<TaskId>(), Err(NotAnId), "{text}");
        }
    }

    // spec: C3
    #[test]
    fn a_prefix_bounds_every_id_that_begins_with_it() {
        let prefix: IdPrefix = "a5a5f".parse().expect("five digits");
        let (low, high) = prefix.bounds();
        assert_eq!(ResultId::from_bytes(low).to_string(), format!("a5a5f{}", "0".repeat(27)));
        assert_eq!(ResultId::from_bytes(high).to_string(), format!("a5a5f{}", "f".repeat(27)));
    }

    // spec: C3
    #[test]
    fn three_digits_stand_for_no_id() {
        for text in ["", "abc", "abcg", "ABCD", &"0".repeat(33)] {
            assert_eq!(text.parse::<IdPrefix>(), Err(NotAPrefix), "{text}");
        }
    }
}
