//! Values for property tests, each as wild as its type allows.

use crate::digest::Digest;
use crate::folder::{Hidden, IgnoreFiles, Rules};
use crate::id::{GrantId, ResultId, TaskId, WorkerId};
use crate::path::RelPath;
use crate::quote::Quotation;
use crate::report::Body;
use crate::result::RevisionNo;
use crate::source::{Seen, SourceVersion};
use crate::task::{
    Failure, FailureReason, Fence, Lease, ReportRequest, Success, Task, TaskKind, TaskState,
};
use crate::text::Encoding;
use crate::time::{Era, Timestamp};
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// Ids of a kind.
///
/// ```
/// use proptest::prelude::*;
/// use work_core::id::TaskId;
/// use work_core::testkit::strategies::id;
///
/// proptest!(|(task in id(TaskId::from_bytes))| {
///     prop_assert_eq!(task.to_string().parse(), Ok(task));
/// });
/// ```
pub fn id<T: std::fmt::Debug>(named: fn([u8; 16]) -> T) -> impl Strategy<Value = T> {
    any::<[u8; 16]>().prop_map(named)
}

/// Digests.
pub fn digest() -> impl Strategy<Value = Digest> {
    any::<[u8; 32]>().prop_map(Digest::from_bytes)
}

/// One name: plain, hidden, of bytes that are no text, or one that means something elsewhere.
pub fn name() -> impl Strategy<Value = Vec<u8>> {
    let plain = "[a-c]{1,3}(\\.md|\\.txt|\\.rs)?".prop_map(String::into_bytes);
    let odd =
        proptest::sample::select(vec!["é.md", "a b.md", ".git", "A.MD", "a\\b", "a\n.md", "..."]);
    let wild = vec(any::<u8>(), 1..6);
    let wild = wild.prop_filter("a single name", |name| RelPath::new(name.clone()).is_ok());
    let wild = wild.prop_filter("no slash", |name| !name.contains(&b'/'));
    prop_oneof![6 => plain, 2 => odd.prop_map(|name| name.as_bytes().to_vec()), 1 => wild]
}

/// Paths under a root, at most five names long.
pub fn rel_path() -> impl Strategy<Value = RelPath> {
    vec(name(), 1..6).prop_map(|names| {
        RelPath::new(names.join(&b'/')).expect("sound names joined are a path under a root")
    })
}

/// Versions of files, whole and cut.
pub fn source_version() -> impl Strategy<Value = SourceVersion> {
    let size = 0..=u64::MAX >> 1;
    (digest(), size, any::<bool>()).prop_map(|(digest, size, cut)| SourceVersion {
        digest,
        size,
        cut,
    })
}

/// Text as a source may hold it: lines, hidden characters, and escapes that somebody wrote out.
pub fn passage_text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => "[a-c]{1,3} ?",
        2 => proptest::sample::select(vec!["\n", "\r\n", "\r", "\t", " ", "\\", "|", "\u{202e}", "\u{200b}"])
            .prop_map(str::to_owned),
        1 => proptest::sample::select(vec!["\\u{202e}", "\\u{9}", "\nbytes 1-2\n", "\n\nquotation 2\n"])
            .prop_map(str::to_owned),
        1 => "\\PC{1,3}",
    ];
    vec(piece, 0..6).prop_map(|pieces| pieces.concat())
}

/// Quotations, also such as no file holds.
pub fn quotation() -> impl Strategy<Value = Quotation> {
    let place = (rel_path(), source_version(), 0..99_u64, 0..9_u64, (1..9_u32, 1..9_u32));
    let says = (vec(passage_text(), 0..3), passage_text(), passage_text(), passage_text());
    let digests = (digest(), digest(), proptest::sample::select(Encoding::ALL.to_vec()));
    (place, says, digests).prop_map(|(place, says, (digest, normalised, encoding))| {
        let (path, version, start, length, lines) = place;
        let (heading, text, before, after) = says;
        let bytes = start..start + length;
        Quotation {
            path,
            version,
            encoding,
            bytes,
            lines,
            heading,
            text,
            digest,
            normalised,
            before,
            after,
        }
    })
}

/// Bodies of a few quotations, also such as no search finds.
pub fn body() -> impl Strategy<Value = Body> {
    vec(quotation(), 0..4).prop_map(|quotations| Body { quotations })
}

/// What a look may see.
pub fn seen() -> impl Strategy<Value = Seen> {
    prop_oneof![
        3 => source_version().prop_map(Seen::Bytes),
        1 => Just(Seen::Missing),
        1 => Just(Seen::Unstable),
        1 => Just(Seen::Unreachable),
        1 => Just(Seen::Denied),
    ]
}

/// Queries as people and programs may write them.
pub fn query() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        4 => "[a-z]{1,8}",
        1 => "\"[a-z]{1,5} [a-z]{1,5}\"?",
        1 => "-[a-z]{1,5}",
        1 => "\\PC{1,8}",
        1 => Just("東京".to_owned()),
    ];
    vec(word, 1..6)
        .prop_map(|words| words.join(" "))
        .prop_filter("no words", |query| !query.trim().is_empty())
}

/// Rules of a folder.
pub fn rules() -> impl Strategy<Value = Rules> {
    let extensions = proptest::sample::subsequence(Rules::EXTENSIONS.to_vec(), 0..=8);
    let globs = vec!["drafts", "/a", "*.txt", "a/**", "**/b/*.md", "[ab].md", "é*"];
    let globs = proptest::sample::subsequence(globs, 0..=7);
    let hidden = prop_oneof![Just(Hidden::Skipped), Just(Hidden::Read)];
    let ignore = prop_oneof![Just(IgnoreFiles::Honoured), Just(IgnoreFiles::Unheeded)];
    (extensions, globs, hidden, ignore).prop_map(|(extensions, globs, hidden, ignore)| {
        Rules::new(extensions, globs, hidden, ignore).expect("these rules are sound")
    })
}

/// Small trees of files: texts by their paths. No path stands in the way of another.
pub fn tree() -> impl Strategy<Value = BTreeMap<RelPath, String>> {
    let text = "([a-z]{1,8}[ \n]){0,20}";
    btree_map(rel_path(), text, 0..12).prop_map(|files| {
        let mut tree: BTreeMap<RelPath, String> = BTreeMap::new();
        for (path, text) in files {
            let above = |file: &RelPath| path.bytes().starts_with(&[file.bytes(), b"/"].concat());
            if !tree.keys().any(above) {
                tree.insert(path, text);
            }
        }
        tree
    })
}

/// Moments within a few minutes.
pub fn moment() -> impl Strategy<Value = Timestamp> {
    (0..300_i64).prop_map(Timestamp::from_seconds)
}

/// Leases, lasting and ended, of three eras.
pub fn lease() -> impl Strategy<Value = Lease> {
    let holder = (0..3_u8).prop_map(|n| WorkerId::from_bytes([n; 16]));
    (holder, moment(), 1..75_i64, 0..3_u64).prop_map(|(holder, began, lasts, era)| {
        let ends = Timestamp::from_seconds(began.seconds() + lasts);
        Lease { holder, began, ends, era: Era(era) }
    })
}

/// Where a task may stand.
pub fn task_state() -> impl Strategy<Value = TaskState> {
    let why = proptest::sample::select(vec![
        FailureReason::NoMatches,
        FailureReason::NoSources,
        FailureReason::Abandoned,
        FailureReason::EvidenceUnavailable,
        FailureReason::RefreshIncomplete,
        FailureReason::TooLarge,
        FailureReason::Internal,
    ]);
    let failure = (why, proptest::option::of(digest()));
    let published = (id(ResultId::from_bytes), 1..9_u64);
    prop_oneof![
        2 => Just(TaskState::Queued),
        4 => lease().prop_map(TaskState::Running),
        1 => Just(TaskState::Succeeded(Success::NoChange)),
        1 => published.prop_map(|(id, no)| {
            TaskState::Succeeded(Success::Published(id, RevisionNo(no)))
        }),
        1 => failure.prop_map(|(why, scan)| TaskState::Failed(Failure { why, scan })),
        1 => Just(TaskState::Cancelled),
    ]
}

/// Tasks in any state, also such as no rule leads to.
pub fn task() -> impl Strategy<Value = Task> {
    let kind =
        prop_oneof![Just(TaskKind::Report), id(ResultId::from_bytes).prop_map(TaskKind::Repair),];
    let request = (query(), vec(id(GrantId::from_bytes), 1..4));
    let request = request.prop_map(|(query, scope)| ReportRequest { query, scope });
    let numbers = (0..6_u64, 0..5_u32, moment(), moment());
    (id(TaskId::from_bytes), kind, request, task_state(), numbers).prop_map(
        |(id, kind, request, state, (fence, attempts, one, other))| Task {
            id,
            kind,
            request,
            state,
            fence: Fence(fence),
            attempts,
            created_at: one.min(other),
            updated_at: one.max(other),
        },
    )
}
