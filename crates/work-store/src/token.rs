//! The access token: who holds it may talk to a server of this instance.
//!
//! Owns its form and its two files. Never shown by accident: its debug form is empty.

use crate::filesystem;
use crate::ids::random;
use std::fmt;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

/// The file with the token, 64 digits and a line feed.
pub const TOKEN: &str = "token";
/// The file with the token as a header line, ready for `curl -H @FILE`.
pub const TOKEN_HEADER: &str = "token.header";

/// 256 random bits, as 64 lower-case hexadecimal digits.
#[derive(Clone, PartialEq, Eq)]
pub struct AccessToken(String);

impl AccessToken {
    /// The digits, to compare in constant time or to hand to the owner.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// A token that never was.
    pub(crate) fn fresh() -> Self {
        let mut digits = String::with_capacity(64);
        for byte in random::<32>() {
            write!(digits, "{byte:02x}").expect("a string takes everything");
        }
        Self(digits)
    }

    /// The token of an instance; `None` if the file holds none.
    pub(crate) fn read(directory: &Path) -> io::Result<Option<Self>> {
        let mut text = String::new();
        let file = File::open(directory.join(TOKEN))?;
        // One byte more than a token has, so that a longer text is none.
        match file.take(66).read_to_string(&mut text) {
            Err(error) if error.kind() == io::ErrorKind::InvalidData => return Ok(None),
            Err(error) => return Err(error),
            Ok(_) => {}
        }
        Ok(text.strip_suffix('\n').filter(|digits| is_token(digits)).map(|t| Self(t.to_owned())))
    }

    /// Makes both files say this token. Each is replaced in one step, the token first: it is the one that counts.
    pub(crate) fn keep(&self, directory: &Path) -> io::Result<()> {
        filesystem::replace(&directory.join(TOKEN), format!("{}\n", self.0).as_bytes())?;
        self.keep_header(directory)
    }

    /// Makes the header say this token, if it does not.
    pub(crate) fn keep_header(&self, directory: &Path) -> io::Result<()> {
        let path = directory.join(TOKEN_HEADER);
        let line = format!("Authorization: Bearer {}\n", self.0);
        match std::fs::read(&path) {
            Ok(said) if said == line.as_bytes() => Ok(()),
            Ok(_) | Err(_) => filesystem::replace(&path, line.as_bytes()),
        }
    }
}

/// Whether a text has the form of a token.
fn is_token(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
}

impl fmt::Debug for AccessToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AccessToken(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // spec: I1
    #[test]
    fn a_token_is_64_digits_that_no_debug_output_shows() {
        let token = AccessToken::fresh();
        assert!(is_token(token.as_str()));
        assert_ne!(token, AccessToken::fresh());
        assert_eq!(format!("{token:?}"), "AccessToken(..)");
    }

    // spec: I1
    #[test]
    fn a_file_that_holds_anything_else_holds_no_token() {
        let directory = tempfile::tempdir().expect("a directory");
        let digits = "0a".repeat(32);
        for (text, sound) in [
            (format!("{digits}\n").into_bytes(), true),
            (digits.clone().into_bytes(), false),
            (format!("{digits}\n\n").into_bytes(), false),
            (format!("{}\n", "0A".repeat(32)).into_bytes(), false),
            (b"\n".to_vec(), false),
            (vec![0xff; 65], false),
        ] {
            std::fs::write(directory.path().join(TOKEN), &text).expect("written");
            let read = AccessToken::read(directory.path()).expect("readable");
            assert_eq!(read.is_some(), sound, "{text:?}");
        }
    }
}
