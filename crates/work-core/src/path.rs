//! Names of files, as bytes.
//!
//! Owns what a path under a grant may look like ([`RelPath`]) and how a name is shown to people without lying about
//! what cannot be shown. Refuses to look anything up: containment is the door's business, by handles, and comparing
//! strings of paths is nobody's.

use std::fmt;
use std::sync::Arc;

/// An absolute path on this host, as the bytes of its name. Opaque: only a door makes something of it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HostPath(Vec<u8>);

impl HostPath {
    /// Keeps these bytes.
    #[must_use]
    pub fn from_bytes(bytes: impl Into<Vec<u8>>) -> Self {
        Self(bytes.into())
    }

    /// The bytes as given.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// The last name of the path, empty for the root of a file system.
    #[must_use]
    pub fn last_name(&self) -> &[u8] {
        self.names().last().unwrap_or_default()
    }

    /// The directories above it, the nearest first, without the root of the file system.
    pub fn above(&self) -> impl Iterator<Item = Self> {
        let is_end = |b: u8| b == b'/' || (cfg!(windows) && b == b'\\');
        let ends = (1..self.0.len())
            .rev()
            .filter(move |&at| is_end(self.0[at]) && !is_end(self.0[at - 1]));
        ends.map(|end| Self(self.0[..end].to_vec()))
    }

    /// The names of the path from the top, without empty ones.
    pub fn names(&self) -> impl Iterator<Item = &[u8]> {
        self.0
            .split(|&b| b == b'/' || (cfg!(windows) && b == b'\\'))
            .filter(|name| !name.is_empty())
    }
}

impl fmt::Display for HostPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&show(&self.0))
    }
}

impl fmt::Debug for HostPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HostPath({:?})", show(&self.0))
    }
}

/// A path under a grant's root: one or more names joined by `/`, none of them empty, `.` or `..`, without NUL.
///
/// Names are bytes. Two names that differ in case, Unicode form or invalid UTF-8 are two names. A clone shares them: a
/// look hands thousands of paths on.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RelPath(Arc<[u8]>);

/// Why bytes are no path under a root.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotARelPath {
    /// There is no name at all.
    #[error("the path is empty")]
    Empty,
    /// It begins at the root of the file system, or a name in it is empty, `.` or `..`.
    #[error("a path under a folder has no empty, '.' or '..' part and does not begin with '/'")]
    Part,
    /// A name holds a NUL byte.
    #[error("a path holds no NUL byte")]
    Nul,
}

impl RelPath {
    /// Accepts `bytes` as a path under a root.
    ///
    /// # Errors
    /// [`NotARelPath`] when it is empty, has an empty, `.` or `..` part, begins with `/`, or holds a NUL byte.
    pub fn new(bytes: impl Into<Vec<u8>>) -> Result<Self, NotARelPath> {
        let bytes = bytes.into();
        if bytes.is_empty() {
            Err(NotARelPath::Empty)
        } else if bytes.contains(&0) {
            Err(NotARelPath::Nul)
        } else if bytes.split(|&b| b == b'/').any(|name| matches!(name, b"" | b"." | b"..")) {
            Err(NotARelPath::Part)
        } else {
            Ok(Self(bytes.into()))
        }
    }

    /// The path of `name` in the directory at `self`.
    ///
    /// # Errors
    /// [`NotARelPath`] when `name` is no single name.
    pub fn join(&self, name: &[u8]) -> Result<Self, NotARelPath> {
        if name.contains(&b'/') {
            return Err(NotARelPath::Part);
        }
        Self::new([&self.0, b"/".as_slice(), name].concat())
    }

    /// The bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// The names, from the top.
    pub fn names(&self) -> impl Iterator<Item = &[u8]> {
        self.0.split(|&b| b == b'/')
    }

    /// The file's own name.
    #[must_use]
    pub fn last_name(&self) -> &[u8] {
        self.names().last().unwrap_or_default()
    }

    /// Whether one of its names begins with a dot.
    #[must_use]
    pub fn is_hidden(&self) -> bool {
        self.0.first() == Some(&b'.') || self.0.windows(2).any(|two| two == b"/.")
    }

    /// What stands behind the last dot of the file's name, if there is a dot and it is text.
    #[must_use]
    pub fn extension(&self) -> Option<&str> {
        let name = self.last_name();
        let behind = name.rsplit(|&b| b == b'.').next().filter(|behind| behind.len() < name.len());
        behind.and_then(|extension| std::str::from_utf8(extension).ok())
    }

    /// What remains below the first `names` names; nothing when there is no more.
    #[must_use]
    pub fn below(&self, names: usize) -> Option<Self> {
        let rest: Vec<&[u8]> = self.names().skip(names).collect();
        Self::new(rest.join(&b'/')).ok()
    }

    /// Whether it lies below the directory at `above`.
    #[must_use]
    pub fn is_below(&self, above: &Self) -> bool {
        self.0.strip_prefix(&*above.0).is_some_and(|rest| rest.first() == Some(&b'/'))
    }

    /// The lowest path that comes after everything below the directory at `self`, in the order of bytes.
    #[must_use]
    pub fn sibling(&self) -> Self {
        Self([&*self.0, b"0"].concat().into())
    }

    /// Whether [`show`] had to escape something, so that the bytes are needed beside it.
    #[must_use]
    pub fn is_escaped(&self) -> bool {
        show(&self.0).as_bytes() != &*self.0
    }
}

impl fmt::Display for RelPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&show(&self.0))
    }
}

impl fmt::Debug for RelPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RelPath({:?})", show(&self.0))
    }
}

/// A name as people may see it: what is not printable is written out, and a backslash is doubled.
///
/// Invalid UTF-8 becomes `\xNN`; control, bidirectional and invisible characters become `\u{N}`. So no name moves the
/// cursor, reads backwards, or passes for another, and different names never look the same.
#[must_use]
pub fn show(name: &[u8]) -> String {
    use std::fmt::Write as _;
    let mut shown = String::with_capacity(name.len());
    for chunk in name.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '\\' => shown.push_str("\\\\"),
                c if crate::show::is_hidden(c) => shown.extend(c.escape_unicode()),
                c => shown.push(c),
            }
        }
        for byte in chunk.invalid() {
            write!(shown, "\\x{byte:02x}").expect("a string takes everything");
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    // spec: D5
    #[test]
    fn what_is_above_a_path_is_told_from_the_nearest_on() {
        let above = |path: &str| {
            HostPath::from_bytes(path).above().map(|one| one.to_string()).collect::<Vec<_>>()
        };
        assert_eq!(above("/a/b/c.md"), ["/a/b", "/a"]);
        assert_eq!(above("/a//b/"), ["/a//b", "/a"]);
        assert!(above("/a").is_empty() && above("/").is_empty() && above("").is_empty());
    }

    // spec: I4
    #[test]
    fn a_path_is_hidden_if_any_of_its_names_begins_with_a_dot() {
        for (path, hidden) in [
            (".a", true),
            (".a/b", true),
            ("a/.b", true),
            ("a/.b/c.md", true),
            ("a", false),
            ("a.md", false),
            ("a./b", false),
            ("a/b.", false),
        ] {
            assert_eq!(RelPath::new(path).expect("a path").is_hidden(), hidden, "{path}");
        }
    }

    // spec: G2
    #[test]
    fn a_path_that_could_leave_its_root_is_none() {
        for (bytes, why) in [
            (b"".as_slice(), NotARelPath::Empty),
            (b"/etc/passwd", NotARelPath::Part),
            (b"a/../b", NotARelPath::Part),
            (b"..", NotARelPath::Part),
            (b"./a", NotARelPath::Part),
            (b"a//b", NotARelPath::Part),
            (b"a/", NotARelPath::Part),
            (b"a\0b", NotARelPath::Nul),
        ] {
            assert_eq!(RelPath::new(bytes), Err(why), "{}", show(bytes));
        }
    }

    // spec: G2
    #[test]
    fn names_are_bytes() {
        let [plain, twin] =
            [b"caf\xc3\xa9".as_slice(), b"cafe\xcc\x81"].map(|n| RelPath::new(n).expect("a name"));
        assert_ne!(plain, twin);
        let [one, other] =
            [b"a\xff".as_slice(), b"a\xfe"].map(|n| RelPath::new(n).expect("a name"));
        assert_ne!(one.to_string(), other.to_string());
    }

    // spec: Q9
    #[test]
    fn a_shown_name_hides_nothing_and_moves_nothing() {
        for (name, shown) in [
            (b"a b.md".as_slice(), "a b.md"),
            (b"a\nb", "a\\u{a}b"),
            (b"\x1b[2J", "\\u{1b}[2J"),
            (b"a\xff", "a\\xff"),
            (b"a\\xff", "a\\\\xff"),
            ("a\u{202e}dm.b".as_bytes(), "a\\u{202e}dm.b"),
        ] {
            assert_eq!(show(name), shown);
        }
    }

    #[test]
    fn what_lies_below_a_directory_comes_before_its_sibling() {
        let path = |text: &str| RelPath::new(text).expect("a path");
        let docs = path("docs");
        for (text, is_below) in
            [("docs/a", true), ("docs/z/z", true), ("docs", false), ("docs-old/a", false)]
        {
            assert_eq!(path(text).is_below(&docs), is_below, "{text}");
            assert!(!is_below || (docs < path(text) && path(text) < docs.sibling()), "{text}");
        }
    }

    #[test]
    fn what_is_below_a_number_of_names_is_a_path_again() {
        let path = RelPath::new("a/b/c.md").expect("a path");
        assert_eq!(path.below(1), RelPath::new("b/c.md").ok());
        assert_eq!(path.below(3), None);
    }
}
