//! Grants: approved folders, their rules, and who owns a file.
//!
//! Owns what an approval says ([`Rules`]), what a root's identity is, and the deepest grant around a path. Refuses to
//! open anything: a door tells what a root really is. Start at [`Grant`].

use crate::canonical::Canonical;
use crate::digest::Digest;
use crate::id::{BootId, GrantId, SiteId};
use crate::path::{HostPath, RelPath};
use crate::plant::{Fault, is_planted};
use crate::time::Timestamp;
use globset::{Candidate, GlobBuilder, GlobSet, GlobSetBuilder};
use std::collections::BTreeMap;

/// One approved folder: where, what it was when it was approved, and what of it may be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grant {
    /// Its id.
    pub id: GrantId,
    /// The site that approved it.
    pub site: SiteId,
    /// The root's path.
    pub root: HostPath,
    /// The root's last name, numbered where another grant has it.
    pub label: String,
    /// What the root was when it was approved.
    pub identity: RootIdentity,
    /// What of it may be read.
    pub rules: Rules,
    /// Whether it is approved now.
    pub state: GrantState,
    /// When it was last approved.
    pub approved_at: Timestamp,
    /// The number of that approval in the workspace's count of looks, which no other look or approval has: an
    /// observation with no higher number does not count.
    pub since_look: u64,
    /// The last look that covered every cited source of it and found nothing new.
    pub swept_at: Option<Timestamp>,
}

/// Whether a grant is in force.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GrantState {
    /// Files under it may be read as its rules say.
    Active,
    /// Nothing under it is read or shown.
    Revoked,
}

/// Which approval of a grant: looks that were made under another one do not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Approval(u64);

/// What makes a root the same directory as before (spec I6).
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct RootIdentity {
    /// The inode, or what the platform has for it.
    pub inode: u64,
    /// When it was made, in nanoseconds since the epoch, where the file system tells.
    pub born_ns: Option<i64>,
    /// The file system's id.
    pub filesystem: u64,
    /// The device number, which holds within one boot.
    pub device: u64,
    /// The boot in which it was read.
    pub boot: BootId,
}

impl RootIdentity {
    /// Whether both are the same directory.
    ///
    /// Inode and file-system id must agree, the birth time where both have one, and the device within one boot.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        let born = self.born_ns.zip(other.born_ns).is_none_or(|(mine, theirs)| mine == theirs);
        let device = self.boot != other.boot || self.device == other.device;
        self.inode == other.inode && self.filesystem == other.filesystem && born && device
    }
}

/// What of a folder may be read. The owner's word: it decides access, also of what was cited before it was given.
#[derive(Clone, Debug)]
pub struct Rules {
    extensions: Vec<String>,
    exclude: Vec<String>,
    /// Whether names that begin with a dot are read.
    pub hidden: Hidden,
    /// Whether ignore files in the folder shape a scan. They never decide access.
    pub ignore_files: IgnoreFiles,
    excluded: GlobSet,
}

/// What happens to names that begin with a dot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Hidden {
    /// They are not read.
    Skipped,
    /// They are read like others.
    Read,
}

/// What becomes of `.gitignore`, `.ignore` and `.workignore`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum IgnoreFiles {
    /// A scan leaves out what they name.
    Honoured,
    /// They are files like others.
    Unheeded,
}

/// Why rules cannot be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadRules {
    /// An extension is empty or holds a dot, a slash or a control character.
    #[error("'{0}' is no extension: letters and digits are expected, without the dot")]
    Extension(String),
    /// A glob does not parse.
    #[error("'{0}' is no glob pattern")]
    Glob(String),
    /// More patterns or extensions than one grant may have.
    #[error("a folder has at most {0} extensions and as many patterns")]
    TooMany(usize),
}

/// Why a name may not be read under some rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Forbidden {
    /// A name on the way begins with a dot.
    Hidden,
    /// An exclusion names it.
    Excluded,
    /// Its extension is not among those approved.
    Extension,
}

impl Rules {
    /// Extensions that are read where nothing else was said.
    pub const EXTENSIONS: [&'static str; 8] =
        ["md", "markdown", "mdx", "txt", "text", "rst", "adoc", "org"];
    /// Extensions, and patterns, that one grant may have.
    pub const MOST: usize = 64;

    /// Text and Markdown, nothing hidden, ignore files honoured.
    #[must_use]
    pub fn standard() -> Self {
        Self::new(Self::EXTENSIONS, [""; 0], Hidden::Skipped, IgnoreFiles::Honoured)
            .expect("these rules are sound")
    }

    /// Rules of these extensions (in any case, without the dot) and exclusion globs.
    ///
    /// A glob without a slash names files and directories at any depth; one with a slash counts from the root. `*`
    /// does not cross a slash, `**` does. Excluding a directory excludes what is in it.
    ///
    /// # Errors
    /// [`BadRules`] when an extension or a glob is none, or there are more than [`Rules::MOST`] of either.
    pub fn new<E: AsRef<str>, G: AsRef<str>>(
        extensions: impl IntoIterator<Item = E>,
        exclude: impl IntoIterator<Item = G>,
        hidden: Hidden,
        ignore_files: IgnoreFiles,
    ) -> Result<Self, BadRules> {
        let mut extensions = extensions
            .into_iter()
            .map(|extension| sound_extension(extension.as_ref()))
            .collect::<Result<Vec<_>, _>>()?;
        extensions.sort();
        extensions.dedup();
        let mut exclude: Vec<String> =
            exclude.into_iter().map(|glob| glob.as_ref().to_owned()).collect();
        exclude.sort();
        exclude.dedup();
        if extensions.len().max(exclude.len()) > Self::MOST {
            return Err(BadRules::TooMany(Self::MOST));
        }
        let excluded = glob_set(&exclude)?;
        Ok(Self { extensions, exclude, hidden, ignore_files, excluded })
    }

    /// The extensions, in lower case and in order.
    #[must_use]
    pub fn extensions(&self) -> &[String] {
        &self.extensions
    }

    /// These rules as one digest, over the canonical bytes `work.rules/1`: extensions, exclusion globs, whether hidden
    /// entries are read and ignore files heeded.
    #[must_use]
    pub fn digest(&self) -> Digest {
        let Self { extensions, exclude, hidden, ignore_files, excluded: _ } = self;
        let texts = |fields: Canonical, all: &[String]| {
            all.iter().fold(fields.count(all.len()), |fields, one| fields.text(one))
        };
        let fields = texts(texts(Canonical::new("work.rules/1"), extensions), exclude);
        let hidden = match hidden {
            Hidden::Skipped => "skipped",
            Hidden::Read => "read",
        };
        let ignore_files = match ignore_files {
            IgnoreFiles::Honoured => "honoured",
            IgnoreFiles::Unheeded => "unheeded",
        };
        fields.text(hidden).text(ignore_files).digest()
    }

    /// The exclusion globs, in order.
    #[must_use]
    pub fn exclude(&self) -> &[String] {
        &self.exclude
    }

    /// Whether the file at `path`, counted from the grant's root, may be read.
    ///
    /// # Errors
    /// [`Forbidden`] says which rule forbids it, the first that does in the order of its variants.
    pub fn permit_file(&self, path: &RelPath) -> Result<(), Forbidden> {
        self.permit_directory(path)?;
        let known = path.extension().is_some_and(|extension| self.reads(extension));
        if known { Ok(()) } else { Err(Forbidden::Extension) }
    }

    /// Whether files with this extension, in any case, are read.
    fn reads(&self, extension: &str) -> bool {
        let is_listed =
            |lower: &str| self.extensions.binary_search_by(|one| one.as_str().cmp(lower)).is_ok();
        // Most are in lower case as they stand.
        is_listed(extension) || is_listed(&extension.to_lowercase())
    }

    /// Whether the directory at `path` may be gone into.
    ///
    /// # Errors
    /// [`Forbidden`] as for a file, but for the extension.
    pub fn permit_directory(&self, path: &RelPath) -> Result<(), Forbidden> {
        if self.hidden == Hidden::Skipped && path.is_hidden() {
            Err(Forbidden::Hidden)
        } else if self.excludes(path) {
            Err(Forbidden::Excluded)
        } else {
            Ok(())
        }
    }

    /// Whether an exclusion names `path` or a directory above it.
    fn excludes(&self, path: &RelPath) -> bool {
        if self.excluded.is_empty() {
            return false;
        }
        let ends = path.bytes().iter().enumerate().filter(|&(_, &b)| b == b'/').map(|(at, _)| at);
        ends.chain([path.bytes().len()]).any(|end| {
            self.excluded.is_match_candidate(&Candidate::from_bytes(&path.bytes()[..end]))
        })
    }
}

impl PartialEq for Rules {
    fn eq(&self, other: &Self) -> bool {
        let Self { extensions, exclude, hidden, ignore_files, excluded: _ } = self;
        (extensions, exclude, hidden, ignore_files)
            == (&other.extensions, &other.exclude, &other.hidden, &other.ignore_files)
    }
}

impl Eq for Rules {}

/// An extension in lower case.
fn sound_extension(extension: &str) -> Result<String, BadRules> {
    let sound = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '+');
    if extension.is_empty() || extension.len() > 32 || !extension.chars().all(sound) {
        return Err(BadRules::Extension(extension.to_owned()));
    }
    Ok(extension.to_lowercase())
}

/// All patterns as one matcher.
fn glob_set(patterns: &[String]) -> Result<GlobSet, BadRules> {
    let mut set = GlobSetBuilder::new();
    for pattern in patterns {
        let bad = || BadRules::Glob(pattern.clone());
        let trimmed = pattern.trim_end_matches('/');
        let anchored = match trimmed.strip_prefix('/') {
            Some(rest) => rest.to_owned(),
            None if trimmed.contains('/') => trimmed.to_owned(),
            None => format!("**/{trimmed}"),
        };
        if trimmed.is_empty() || pattern.len() > 1024 {
            return Err(bad());
        }
        set.add(GlobBuilder::new(&anchored).literal_separator(true).build().map_err(|_| bad())?);
    }
    set.build().map_err(|_| BadRules::Glob(patterns.join(" ")))
}

/// All grants of a workspace, to ask whose a path is without a look.
///
/// Asked once for each source of an answer, so it finds a grant by its id and by its root without going through all.
#[derive(Clone, Debug, Default)]
pub struct Grants {
    all: Vec<Grant>,
    /// Where each stands, by its id.
    by_id: BTreeMap<GrantId, usize>,
    /// The names of the root of each, a slash before each name.
    roots: Vec<Vec<u8>>,
    /// Where each stands, by that.
    by_root: BTreeMap<Vec<u8>, usize>,
    /// Whether another root lies below that of each.
    holds_others: Vec<bool>,
}

impl Grants {
    /// These grants, revoked ones too.
    #[must_use]
    pub fn new(all: Vec<Grant>) -> Self {
        let by_id = all.iter().enumerate().map(|(at, grant)| (grant.id, at)).collect();
        let roots: Vec<Vec<u8>> = all.iter().map(|grant| key(&grant.root)).collect();
        let by_root: BTreeMap<Vec<u8>, usize> =
            roots.iter().enumerate().map(|(at, root)| (root.clone(), at)).collect();
        let holds_others =
            roots.iter().map(|root| below(&by_root, root).next().is_some()).collect();
        Self { all, by_id, roots, by_root, holds_others }
    }

    /// Each of them, in the order of approval.
    pub fn iter(&self) -> impl Iterator<Item = &Grant> {
        self.all.iter()
    }

    /// As a slice, for a door.
    #[must_use]
    pub fn as_slice(&self) -> &[Grant] {
        &self.all
    }

    /// The grant with this id.
    #[must_use]
    pub fn get(&self, id: GrantId) -> Option<&Grant> {
        self.by_id.get(&id).map(|&at| &self.all[at])
    }

    /// Whether anything was ever approved.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// What a search without named folders visits: those in force, or all of them where none is, so that the search
    /// ends by saying that it found no sources.
    #[must_use]
    pub fn searched(&self) -> Vec<GrantId> {
        let ids =
            |all: &mut dyn Iterator<Item = &Grant>| all.map(|grant| grant.id).collect::<Vec<_>>();
        let active = ids(&mut self.all.iter().filter(|grant| grant.state == GrantState::Active));
        if active.is_empty() { ids(&mut self.all.iter()) } else { active }
    }

    /// The deepest grant around `path` under the root of `grant`, with the path below its root.
    ///
    /// Counts by the names of paths alone, as lists do, which do not look. `None` for an unknown grant.
    #[must_use]
    pub fn deepest_around(&self, grant: GrantId, path: &RelPath) -> Option<(&Grant, RelPath)> {
        let (deepest, names) = self.deepest(grant, path)?;
        Some((deepest, if names == 0 { path.clone() } else { path.below(names)? }))
    }

    /// The deepest grant around a path under the root of `grant`, with how many names of the path lead to its root.
    fn deepest(&self, grant: GrantId, path: &RelPath) -> Option<(&Grant, usize)> {
        let at = *self.by_id.get(&grant)?;
        // Most folders hold no other, and then no path needs to be taken apart.
        if !self.holds_others[at] || is_planted(Fault::NestedGrant) {
            return Some((&self.all[at], 0));
        }
        let above = self.roots[at].clone();
        let directories = path.names().count().saturating_sub(1);
        self.rooted_on_the_way(above, path.names().take(directories)).last()
    }

    /// Each grant around the file at an absolute path, by the names of paths, with the path below its root.
    pub fn around(&self, file: &HostPath) -> impl Iterator<Item = (&Grant, RelPath)> {
        let below = |names| {
            let rest: Vec<&[u8]> = file.names().skip(names).collect();
            RelPath::new(rest.join(&b'/')).ok()
        };
        let rooted = self.rooted_on_the_way(Vec::new(), file.names());
        rooted.filter_map(move |(grant, names)| Some((grant, below(names)?)))
    }

    /// The grants whose roots are met going down from the root at `above` by `names` to a file, the root itself first,
    /// each with how many of the names lead to it.
    fn rooted_on_the_way<'n>(
        &self,
        mut above: Vec<u8>,
        names: impl Iterator<Item = &'n [u8]>,
    ) -> impl Iterator<Item = (&Grant, usize)> {
        let steps = std::iter::once(None).chain(names.map(Some)).enumerate();
        steps.filter_map(move |(count, name)| {
            if let Some(name) = name {
                above.push(b'/');
                above.extend_from_slice(name);
            }
            self.by_root.get(&above).map(|&at| (&self.all[at], count))
        })
    }

    /// The grants whose roots lie below the root of `grant`, by the names of paths, revoked ones too.
    pub fn inside(&self, grant: GrantId) -> impl Iterator<Item = &Grant> {
        let outer = self.by_id.get(&grant).map(|&at| &self.roots[at]);
        outer.into_iter().flat_map(|root| below(&self.by_root, root)).map(|at| &self.all[at])
    }

    /// The deepest grant around `path` under the root of `grant`, by the names of paths, if both are in force and its
    /// rules permit the file.
    #[must_use]
    pub fn permitting(&self, grant: GrantId, path: &RelPath) -> Option<&Grant> {
        let is_active = |grant: &&Grant| grant.state == GrantState::Active;
        self.get(grant).filter(is_active)?;
        let (deepest, names) = self.deepest(grant, path)?;
        let permits = |grant: &&Grant| match names {
            0 => grant.rules.permit_file(path).is_ok(),
            _ => path.below(names).is_some_and(|below| grant.rules.permit_file(&below).is_ok()),
        };
        Some(deepest).filter(is_active).filter(permits)
    }

    /// Whether both hold the same grants, approved at the same times: what was read under one may be used under the
    /// other.
    #[must_use]
    pub fn are_as(&self, other: &Self) -> bool {
        let approval = |grant: &Grant| (grant.id, grant.state, grant.since_look);
        self.all.iter().map(approval).eq(other.all.iter().map(approval))
    }

    /// The approval that a grant is under: another one after each change of it, and none once it is revoked.
    #[must_use]
    pub fn approval(&self, grant: GrantId) -> Option<Approval> {
        let active = self.get(grant).filter(|grant| grant.state == GrantState::Active)?;
        Some(Approval(active.since_look))
    }

    /// A label for a new grant at `root`: its last name, numbered where another grant has it (spec I2).
    #[must_use]
    pub fn label_for(&self, root: &HostPath) -> String {
        let name = crate::path::show(root.last_name());
        let free = |label: &String| self.all.iter().all(|grant| grant.label != *label);
        let numbered = (2..).map(|n| format!("{name}-{n}"));
        std::iter::once(name.clone())
            .chain(numbered)
            .find(free)
            .expect("one of endless labels is free")
    }
}

/// What stands in `roots` below a root.
fn below<'r>(
    roots: &'r BTreeMap<Vec<u8>, usize>,
    root: &[u8],
) -> impl Iterator<Item = usize> + use<'r> {
    let above = [root, b"/"].concat();
    let rest = roots.range(above.clone()..);
    rest.take_while(move |(root, _)| root.starts_with(&above)).map(|(_, &at)| at)
}

/// The names of a root, a slash before each: what lies below it begins with this and a slash.
fn key(root: &HostPath) -> Vec<u8> {
    root.names().fold(Vec::new(), |mut key, name| {
        key.push(b'/');
        key.extend_from_slice(name);
        key
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> RelPath {
        RelPath::new(text).expect("a path")
    }

    fn grant(n: u8, root: &str, state: GrantState) -> Grant {
        Grant {
            id: GrantId::from_bytes([n; 16]),
            site: SiteId::from_bytes([0; 16]),
            root: HostPath::from_bytes(root),
            label: root.to_owned(),
            identity: IDENTITY,
            rules: Rules::standard(),
            state,
            approved_at: Timestamp::from_seconds(0),
            since_look: 0,
            swept_at: None,
        }
    }

    const IDENTITY: RootIdentity = RootIdentity {
        inode: 7,
        born_ns: Some(1),
        filesystem: 9,
        device: 2,
        boot: BootId::from_bytes([1; 16]),
    };

    #[track_caller]
    fn check_file(rules: &Rules, name: &str, expected: Result<(), Forbidden>) {
        assert_eq!(rules.permit_file(&path(name)), expected, "{name}");
    }

    // spec: I4
    #[test]
    fn standard_rules_read_text_and_markdown_in_any_case_and_nothing_hidden() {
        let rules = Rules::standard();
        check_file(&rules, "a/b.md", Ok(()));
        check_file(&rules, "B.TXT", Ok(()));
        check_file(&rules, "b.rs", Err(Forbidden::Extension));
        check_file(&rules, "md", Err(Forbidden::Extension));
        check_file(&rules, ".md", Err(Forbidden::Hidden));
        check_file(&rules, ".git/a.md", Err(Forbidden::Hidden));
        check_file(&rules, "a/.b.md", Err(Forbidden::Hidden));
    }

    // spec: I4
    #[test]
    fn an_exclusion_closes_a_directory_with_all_that_is_in_it() {
        let rules = Rules::new(
            ["md"],
            ["drafts", "/top.md", "a/*/c.md", "*.tmp.md"],
            Hidden::Read,
            IgnoreFiles::Honoured,
        )
        .expect("sound rules");
        for name in ["drafts/x.md", "a/drafts/b/x.md", "top.md", "a/b/c.md", "q/x.tmp.md"] {
            check_file(&rules, name, Err(Forbidden::Excluded));
        }
        for name in ["drafts.md", "a/top.md", "a/b/b/c.md", ".hidden/x.md"] {
            check_file(&rules, name, Ok(()));
        }
    }

    // spec: I4
    #[test]
    fn rules_that_mean_nothing_are_refused() {
        let rules = |extension, glob| {
            Rules::new([extension], [glob], Hidden::Skipped, IgnoreFiles::Honoured)
        };
        assert_eq!(rules(".md", "a"), Err(BadRules::Extension(".md".into())));
        assert_eq!(rules("", "a"), Err(BadRules::Extension(String::new())));
        assert_eq!(rules("md", "[a"), Err(BadRules::Glob("[a".into())));
        assert_eq!(rules("md", "/"), Err(BadRules::Glob("/".into())));
    }

    // spec: I6
    #[test]
    fn a_root_is_the_same_while_its_inode_birth_and_file_system_are() {
        let next_boot = RootIdentity { boot: BootId::from_bytes([2; 16]), device: 5, ..IDENTITY };
        assert!(IDENTITY.is_same(&IDENTITY));
        assert!(IDENTITY.is_same(&next_boot), "a device number holds within one boot only");
        assert!(IDENTITY.is_same(&RootIdentity { born_ns: None, ..IDENTITY }));
        for other in [
            RootIdentity { inode: 8, ..IDENTITY },
            RootIdentity { born_ns: Some(2), ..IDENTITY },
            RootIdentity { filesystem: 8, ..IDENTITY },
            RootIdentity { device: 3, ..IDENTITY },
        ] {
            assert!(!IDENTITY.is_same(&other), "{other:?}");
        }
    }

    // spec: I3
    #[test]
    fn a_file_belongs_to_the_deepest_grant_around_it_revoked_ones_too() {
        let grants = Grants::new(vec![
            grant(1, "/home/notes", GrantState::Active),
            grant(2, "/home/notes/team", GrantState::Revoked),
            grant(3, "/home/notes-old", GrantState::Active),
        ]);
        let around = |file: &str| {
            let (grant, below) =
                grants.deepest_around(GrantId::from_bytes([1; 16]), &path(file)).expect("known");
            (grant.id.bytes()[0], below.to_string())
        };
        assert_eq!(around("a.md"), (1, "a.md".into()));
        assert_eq!(around("team/b/c.md"), (2, "b/c.md".into()));
        assert_eq!(around("team"), (1, "team".into()));
        assert_eq!(around("teams/x.md"), (1, "teams/x.md".into()));
    }

    // spec: C5
    #[test]
    fn every_grant_around_a_file_is_found_by_the_names_of_its_path() {
        let grants = Grants::new(vec![
            grant(1, "/home/notes", GrantState::Active),
            grant(2, "/home/notes/team", GrantState::Revoked),
            grant(3, "/home/notes-old", GrantState::Active),
        ]);
        let around = |file: &str| {
            let file = HostPath::from_bytes(file);
            let all = grants.around(&file).map(|(grant, below)| (grant.id.bytes()[0], below));
            all.map(|(id, below)| format!("{id} {below}")).collect::<Vec<_>>()
        };
        assert_eq!(around("/home/notes/team/a/b.md"), ["1 team/a/b.md", "2 a/b.md"]);
        assert_eq!(around("/home/notes//a.md"), ["1 a.md"]);
        assert_eq!(around("/home/notes-old/a.md"), ["3 a.md"]);
        for nowhere in ["/home/notes", "/home/a.md", "/home/notes/../a.md", "/", ""] {
            assert_eq!(around(nowhere), [""; 0], "{nowhere}");
        }
    }

    // spec: I3
    #[test]
    fn the_grants_inside_are_those_below_the_root_and_no_neighbours() {
        let grants = Grants::new(vec![
            grant(1, "/n", GrantState::Active),
            grant(2, "/n/a", GrantState::Revoked),
            grant(3, "/n/a/b", GrantState::Active),
            grant(4, "/n-old", GrantState::Active),
        ]);
        let inside = |n| {
            let inner = grants.inside(GrantId::from_bytes([n; 16]));
            inner.map(|grant| grant.id.bytes()[0]).collect::<Vec<_>>()
        };
        assert_eq!([1, 2, 3, 4, 9].map(inside), [vec![2, 3], vec![3], vec![], vec![], vec![]]);
    }

    // spec: I2
    #[test]
    fn a_label_is_the_last_name_numbered_where_taken() {
        let mut taken = grant(1, "/a/docs", GrantState::Active);
        taken.label = "docs".into();
        let grants = Grants::new(vec![taken]);
        assert_eq!(grants.label_for(&HostPath::from_bytes("/b/docs")), "docs-2");
        assert_eq!(grants.label_for(&HostPath::from_bytes("/b/notes")), "notes");
    }
}
