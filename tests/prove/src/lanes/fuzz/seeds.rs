//! What each target begins with: the saved corpus, and inputs made of its own grammar.

use crate::seed::Seed;
use serde_json::Value;
use std::path::Path;
use std::sync::Arc;
use work_core::digest::Digest;
use work_core::id::{OwnerId, SiteId, WorkspaceId};
use work_core::memory::{MemoryDoor, MemoryStore};
use work_core::path::HostPath;
use work_core::port::Quiet;
use work_core::retrieve::Query;
use work_core::testkit::fakes::{CountingIds, FakeClock};
use work_core::workspace::{ReportAsk, Workspace};

/// The saved corpus of a target, in the order of its names.
pub(super) fn corpus(target: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target);
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    paths.into_iter().filter_map(|path| std::fs::read(path).ok()).collect()
}

/// Words in many scripts, with marks, signs and joins.
const WORDS: [&str; 24] = [
    "backups",
    "kept",
    "days",
    "Backups",
    "the",
    "is",
    "don't",
    "l\u{2019}eau",
    "naïve",
    "straße",
    "ΣΊΣΥΦΟΣ",
    "İstanbul",
    "e\u{301}te\u{301}",
    "日本語",
    "東京",
    "かな",
    "ไทย",
    "العربية",
    "한국어",
    "👩\u{200d}👩\u{200d}👧",
    "x_1",
    "3.14",
    "\u{feff}",
    "\u{202e}",
];

const BREAKS: [&str; 9] = [" ", "\n", "\n\n", "\r\n", "\r\n\r\n", "\t", "\u{a0}", "\n\n# ", "\n- "];

/// A query: words, phrases, exclusions, now and then one as long as it may be, or longer.
pub(super) fn query(seed: &mut Seed) -> Vec<u8> {
    let mut text = String::new();
    let pieces = if seed.once_in(16) { 300 + seed.below(600) } else { 1 + seed.below(8) };
    for _ in 0..pieces {
        text += *seed.one_of(&["", "", "", "\"", "-", "-\"", "\u{301}"]);
        text += *seed.one_of(&WORDS);
        text += *seed.one_of(&[" ", " ", " ", "\"", "", "\u{3000}"]);
    }
    text.into_bytes()
}

/// A file of words, in some encoding.
fn file(seed: &mut Seed) -> Vec<u8> {
    let mut text = String::new();
    for _ in 0..seed.below(80) {
        text += *seed.one_of(&WORDS);
        text += *seed.one_of(&BREAKS);
    }
    match seed.below(8) {
        0 => {
            [&b"\xff\xfe"[..], &text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<_>>()]
                .concat()
        }
        1 => {
            [&b"\xfe\xff"[..], &text.encode_utf16().flat_map(u16::to_be_bytes).collect::<Vec<_>>()]
                .concat()
        }
        2 => format!("\u{feff}{text}").into_bytes(),
        _ => text.into_bytes(),
    }
}

/// A query and a file.
pub(super) fn retrieve(seed: &mut Seed) -> Vec<u8> {
    [query(seed), file(seed)].join(&0)
}

/// A file, and what became of it.
pub(super) fn finding(seed: &mut Seed) -> Vec<u8> {
    let before: Vec<u8> = file(seed).into_iter().filter(|byte| *byte != 0).collect();
    let text = String::from_utf8_lossy(&before).into_owned();
    let after = match seed.below(6) {
        0 => text.replace('\n', "\r\n"),
        1 => text.replace("\r\n", "\n"),
        2 => format!("{text}{text}"),
        3 => format!("\n{text}"),
        4 => text.replacen("kept", "held", 1),
        _ => text.clone(),
    };
    [before, after.into_bytes()].join(&0)
}

/// A list of fields, of which some hold what stands before another.
pub(super) fn canonical(seed: &mut Seed) -> Vec<u8> {
    let mut input = Vec::new();
    for _ in 0..1 + seed.below(8) {
        let value: Vec<u8> = (0..seed.below(6)).map(|_| *seed.one_of(b"sbnt0#T\0\n ab")).collect();
        let kind = *seed.one_of(&[0, 1, 2, 0, 1, 2, 3, 4, 5]);
        input.extend([kind, u8::try_from(value.len()).expect("a few")]);
        input.extend(value);
    }
    input
}

/// Exports of a report over two folders, one file of which is UTF-16 and has a name that is no text.
pub(super) fn exports() -> Vec<Vec<u8>> {
    let door = MemoryDoor::new()
        .file("/docs/it/a.md", "# Backups\n\nBackups are kept for 35 days.\r\n\nAsk first.\n")
        .file("/more/\u{202e}b.txt", &b"\xff\xfeO\0l\0d\0 \0b\0a\0c\0k\0u\0p\0s\0"[..]);
    let (workspace, owner) = (WorkspaceId::from_bytes([1; 16]), OwnerId::from_bytes([2; 16]));
    let clock = Arc::new(FakeClock::at(1_000));
    let store = MemoryStore::new(workspace, owner, SiteId::from_bytes([3; 16]), clock);
    let work = Workspace::new(Arc::new(store), Arc::new(door), Arc::new(CountingIds::new()));
    for folder in ["/docs", "/more"] {
        work.approve(&HostPath::from_bytes(folder), None, &mut Quiet).expect("approved");
    }
    let query = Query::parse("backups kept").expect("a query");
    let report = work.report(&ReportAsk::everywhere(query), &mut Quiet).expect("a report");
    let export = work.export(report.artifact_id, None, &mut Quiet).expect("an export");
    let bare = serde_json::to_value(&export).expect("JSON");
    let wrapped = serde_json::json!({"schema": "work.export/1", "ok": true, "data": bare});
    [bare, wrapped].map(|json| json.to_string().into_bytes()).to_vec()
}

/// The stored documents of an export, one by one.
pub(super) fn documents() -> Vec<Vec<u8>> {
    let export: Value = serde_json::from_slice(&exports()[0]).expect("JSON");
    let text =
        |form: &str| export["stored"][form]["text"].as_str().map(|it| it.as_bytes().to_vec());
    ["body", "dependencies", "verification", "scan"].into_iter().filter_map(text).collect()
}

/// An export in which something was changed, and every digest computed anew: what a forger would do, and the way past
/// the first gate.
pub(super) fn export(seed: &mut Seed, exports: &[Vec<u8>]) -> Vec<u8> {
    let mut export: Value = serde_json::from_slice(&exports[0]).expect("JSON");
    for _ in 0..=seed.below(3) {
        let form = *seed.one_of(&["body", "dependencies", "verification", "scan"]);
        let text = export["stored"][form]["text"].as_str().unwrap_or_default().as_bytes();
        let changed = super::mutate::near(seed, &[text.to_vec()]);
        let changed = String::from_utf8_lossy(&changed).into_owned();
        let changed = if seed.once_in(2) { other_number(seed, text) } else { changed };
        let tag = export["stored"][form]["tag"].as_str().unwrap_or_default();
        let digest = Digest::tagged(tag, changed.as_bytes()).to_string();
        export["revision"][form] = digest.into();
        export["stored"][form]["text"] = changed.into();
        show_as_stored(seed, &mut export);
    }
    export.to_string().into_bytes()
}

/// The text with one of its numbers replaced.
fn other_number(seed: &mut Seed, text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text).into_owned();
    let digits: Vec<usize> =
        text.char_indices().filter(|(_, c)| c.is_ascii_digit()).map(|(at, _)| at).collect();
    if digits.is_empty() {
        return text;
    }
    let at = *seed.one_of(&digits);
    let number = *seed.one_of(&["0", "1", "4294967295", "18446744073709551615", "-1", "00"]);
    format!("{}{number}{}", &text[..at], &text[at + 1..])
}

/// Now and then lets the shown quotations follow the stored ones, as far as both have a field.
fn show_as_stored(seed: &mut Seed, export: &mut Value) {
    if seed.once_in(3) {
        return;
    }
    let body = export["stored"]["body"]["text"].as_str().unwrap_or_default();
    let Ok(body) = serde_json::from_str::<Value>(body) else { return };
    let stored = body["excerpts"].as_array().cloned().unwrap_or_default();
    let Some(shown) = export["quotations"].as_array_mut() else { return };
    for (shown, stored) in shown.iter_mut().zip(stored) {
        let (Some(shown), Some(stored)) = (shown.as_object_mut(), stored.as_object()) else {
            return;
        };
        for (field, value) in shown.iter_mut() {
            if let Some(kept) = stored.get(field) {
                *value = kept.clone();
            }
        }
    }
}
