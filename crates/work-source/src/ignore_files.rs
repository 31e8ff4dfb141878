//! Ignore files: content of a folder that shapes what a scan visits, and never decides access (spec I4).
//!
//! Owns which names are ignore files, in which order they count, and how their lines become a matcher. They are read
//! through the door like any file. Start at [`Ignores::ignores`].

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use std::ffi::OsStr;
use std::path::Path;
use std::sync::Arc;
use work_core::path::RelPath;

/// The ignore files of a directory; the first that says something about a name decides.
pub(crate) const NAMES: [&[u8]; 3] = [b".workignore", b".ignore", b".gitignore"];

/// Patterns of one ignore file that count. More would only cost memory: a matcher keeps each compiled.
const MOST_PATTERNS: usize = 1000;

/// The ignore files of a directory and of those above it.
#[derive(Debug)]
pub(crate) struct Ignores {
    above: Option<Arc<Ignores>>,
    prefix: usize,
    files: Vec<Gitignore>,
}

/// One ignore file as a matcher, and whether all its lines count.
pub(crate) struct Parsed {
    /// The matcher.
    pub(crate) matcher: Gitignore,
    /// Whether a line was left out: it is no pattern, no text, or one too many.
    pub(crate) whole: bool,
}

impl Ignores {
    /// Those of the directory at `directory` (nothing for the root), in the order in which they count.
    pub(crate) fn below(
        above: Option<Arc<Self>>,
        directory: Option<&RelPath>,
        files: Vec<Gitignore>,
    ) -> Option<Arc<Self>> {
        if files.is_empty() {
            return above;
        }
        let prefix = directory.map_or(0, |directory| directory.bytes().len() + 1);
        Some(Arc::new(Self { above, prefix, files }))
    }

    /// Whether they leave out the entry at `path`. The deepest directory that says something about it decides.
    pub(crate) fn ignores(&self, path: &RelPath, is_directory: bool) -> bool {
        let mut here = Some(self);
        while let Some(ignores) = here {
            if let Some(word) = ignores.word(path, is_directory) {
                return word;
            }
            here = ignores.above.as_deref();
        }
        false
    }

    /// What this directory's files say about `path`, if anything.
    fn word(&self, path: &RelPath, is_directory: bool) -> Option<bool> {
        let below = as_path(&path.bytes()[self.prefix..])?;
        self.files.iter().find_map(|file| match file.matched(below, is_directory) {
            Match::None => None,
            Match::Ignore(_) => Some(true),
            Match::Whitelist(_) => Some(false),
        })
    }
}

/// The matcher of an ignore file with these bytes, of which only the first `MOST_PATTERNS` lines with a pattern count.
pub(crate) fn parse(bytes: &[u8], cut: bool) -> Parsed {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let mut builder = GitignoreBuilder::new("");
    let (mut patterns, mut whole) = (0, !cut);
    for line in whole_lines(bytes, cut) {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.is_empty() || line.starts_with(b"#") {
            continue;
        }
        patterns += 1;
        let text = std::str::from_utf8(line).ok().filter(|_| patterns <= MOST_PATTERNS);
        whole &= text.is_some_and(|text| builder.add_line(None, text).is_ok());
    }
    match builder.build() {
        Ok(matcher) => Parsed { matcher, whole },
        Err(_) => Parsed { matcher: Gitignore::empty(), whole: false },
    }
}

/// The lines, without the last one if it was cut.
fn whole_lines(bytes: &[u8], cut: bool) -> impl Iterator<Item = &[u8]> {
    let end = match cut {
        true => bytes.iter().rposition(|&b| b == b'\n').unwrap_or(0),
        false => bytes.len(),
    };
    bytes[..end].split(|&b| b == b'\n')
}

#[cfg(unix)]
fn as_path(bytes: &[u8]) -> Option<&Path> {
    Some(Path::new(<OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(bytes)))
}

#[cfg(not(unix))]
fn as_path(bytes: &[u8]) -> Option<&Path> {
    std::str::from_utf8(bytes).ok().map(|text| Path::new(OsStr::new(text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> RelPath {
        RelPath::new(text).expect("a path")
    }

    #[track_caller]
    fn check(lines: &str, name: &str, is_directory: bool, expected: bool) {
        let ignores = Ignores::below(None, None, vec![parse(lines.as_bytes(), false).matcher]);
        let ignores = ignores.expect("a file");
        assert_eq!(ignores.ignores(&path(name), is_directory), expected, "{lines:?} {name}");
    }

    // spec: I4
    #[test]
    fn an_ignore_file_reads_like_one_of_git() {
        check("*.md\n!keep.md\n", "a/b.md", false, true);
        check("*.md\n!keep.md\n", "a/keep.md", false, false);
        check("/top.md\r\n", "top.md", false, true);
        check("/top.md\r\n", "a/top.md", false, false);
        check("build/\n", "build", true, true);
        check("build/\n", "build", false, false);
        check("\u{feff}a.md", "a.md", false, true);
        check("# a.md\n\n", "a.md", false, false);
        check("a/**/z.md", "a/b/c/z.md", false, true);
    }

    // spec: I4
    #[test]
    fn the_deeper_ignore_file_decides_and_within_a_directory_the_first_name() {
        let file = |text: &str| parse(text.as_bytes(), false).matcher;
        let top = Ignores::below(None, None, vec![file("*.md")]);
        let sub = Ignores::below(top, Some(&path("sub")), vec![file("!a.md"), file("a.md")])
            .expect("files");
        assert!(!sub.ignores(&path("sub/a.md"), false));
        assert!(sub.ignores(&path("sub/b.md"), false));
        assert_eq!(NAMES, [b".workignore".as_slice(), b".ignore", b".gitignore"]);
    }

    #[test]
    fn lines_that_do_not_count_are_told_and_the_others_do() {
        let parsed = parse(b"a.md\n\xff.md\nb.md\n", false);
        assert!(!parsed.whole);
        assert_eq!(parsed.matcher.len(), 2);
        assert!(!parse(b"a.md\nb.m", true).whole);
        assert_eq!(parse(b"a.md\nb.m", true).matcher.len(), 1);
        assert_eq!(parse("x\n".repeat(MOST_PATTERNS + 1).as_bytes(), false).matcher.len(), 1000);
    }
}
