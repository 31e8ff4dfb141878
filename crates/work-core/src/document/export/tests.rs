//! Exports of real reports: what reads back, and what is refused.

use super::sample::Sample;
use super::{ExportDoc, Exported, NOTICE, NotAnExport, read};
use crate::digest::Digest;
use crate::document::stored::Form;
use crate::document::wire::Named;
use crate::limits::Limits;
use serde_json::{Value, json};

fn read_json(document: &Value) -> Result<Exported, NotAnExport> {
    read(document.to_string().as_bytes(), &Limits::standard())
}

/// The document with one value changed.
fn with(document: &Value, pointer: &str, value: Value) -> Value {
    let mut changed = document.clone();
    *changed.pointer_mut(pointer).unwrap_or_else(|| panic!("{pointer} is there")) = value;
    changed
}

// spec: X1
#[test]
fn an_export_of_a_report_reads_back_bare_and_wrapped() {
    let sample = Sample::of_two();
    let bare = sample.json();
    let exported = read_json(&bare).expect("an export");
    let wrapped = json!({ "schema": "work.export/1", "ok": true, "data": bare });
    assert_eq!(read_json(&wrapped), Ok(exported.clone()));
    assert_eq!(exported.artifact_id(), sample.doc.artifact_id);
    assert_eq!((exported.revision().0, exported.query()), (1, "backups kept"));
    let shown: Vec<_> = exported
        .quotations()
        .iter()
        .map(|one| (one.n, one.label.as_str(), one.quotation.text.as_str()))
        .collect();
    assert_eq!(shown, [(1, "docs", "Backups are kept for 35 days."), (2, "more", "Old backups")]);
}

// spec: X1
#[test]
fn an_export_says_what_it_is_not_and_what_a_stranger_needs() {
    let doc = Sample::of_two().doc;
    assert_eq!((doc.schema, doc.notice.as_str()), ("work.export/1", NOTICE));
    for word in ["unsigned", "no authenticity", "no verification on another system"] {
        assert!(NOTICE.contains(word), "{word}");
    }
    let stored = &doc.stored;
    let optional = [&stored.verification, &stored.scan].map(|one| one.as_ref().expect("kept"));
    for (digest, one) in [
        (doc.revision.body, &stored.body),
        (doc.revision.dependencies, &stored.dependencies),
        (doc.revision.verification, optional[0]),
        (doc.revision.scan.expect("whole"), optional[1]),
    ] {
        assert_eq!(Digest::of(format!("{}\n{}", one.tag, one.text).as_bytes()), digest);
    }
    assert!(doc.log.events > 0);
    let [first, second] = &*doc.sources else { panic!("two sources") };
    assert_eq!((first.label.as_str(), first.encoding.as_str()), ("docs", "utf-8"));
    assert_eq!((second.label.as_str(), second.encoding.as_str()), ("more", "utf-16le"));
    assert_eq!((first.path_bytes.is_some(), second.path_bytes.is_some()), (false, true));
}

/// What nothing in an export binds: who says it, and how it was called.
const UNBOUND: [&str; 12] = [
    "/notice",
    "/artifact_id",
    "/kind",
    "/query",
    "/state",
    "/observed_at",
    "/revision/no",
    "/revision/created_at",
    "/revision/restored_from",
    "/log/",
    "/scan/folders/0/label",
    "/scan/folders/1/label",
];

/// Every value that holds no other, with its pointer.
fn leaves(at: &str, value: &Value, found: &mut Vec<(String, Value)>) {
    match value {
        Value::Object(fields) => {
            fields.iter().for_each(|(name, value)| leaves(&format!("{at}/{name}"), value, found));
        }
        Value::Array(items) if !items.is_empty() => {
            items
                .iter()
                .enumerate()
                .for_each(|(n, item)| leaves(&format!("{at}/{n}"), item, found));
        }
        Value::Array(_) | Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            found.push((at.to_owned(), value.clone()));
        }
    }
}

/// Another value of the same kind.
fn another(value: &Value) -> Value {
    match value {
        Value::String(text) if text.len() >= 32 && text.bytes().all(|b| b.is_ascii_hexdigit()) => {
            let last = if text.ends_with('0') { "1" } else { "0" };
            Value::String(format!("{}{last}", &text[..text.len() - 1]))
        }
        Value::String(text) => match text.as_str() {
            "utf-8" => json!("utf-16le"),
            "utf-16le" => json!("utf-8"),
            "yes" => json!("denied"),
            "sources_checked" => json!("stale"),
            _ => json!(format!("{text}x")),
        },
        Value::Number(number) => json!(number.as_u64().expect("a natural number") + 1),
        Value::Bool(yes) => json!(!yes),
        Value::Null => json!(1),
        Value::Array(_) => json!(["x"]),
        Value::Object(_) => panic!("no leaf"),
    }
}

// spec: X1
#[test]
fn a_change_of_any_field_that_something_binds_is_refused() {
    let document = Sample::of_two().json();
    let mut found = Vec::new();
    leaves("", &document, &mut found);
    assert!(found.len() > 80, "{} leaves", found.len());
    for (pointer, value) in found {
        let read = read_json(&with(&document, &pointer, another(&value)));
        let bound = !UNBOUND.iter().any(|free| pointer.starts_with(free));
        assert_eq!(read.is_err(), bound, "{pointer}: {read:?}");
        if bound && pointer.starts_with("/quotations/") {
            let n = if pointer.starts_with("/quotations/0") { 1 } else { 2 };
            assert_eq!(read, Err(NotAnExport::OtherQuotation(n)), "{pointer}");
        }
    }
}

#[track_caller]
fn check(document: &Value, pointer: &str, value: Value, expected: NotAnExport) {
    assert_eq!(read_json(&with(document, pointer, value)), Err(expected), "{pointer}");
}

// spec: X1
#[test]
fn each_refusal_says_what_does_not_hold() {
    use NotAnExport::{OtherDigest, OtherQuotation, OtherSources, ShownOtherwise, UnknownTag};
    let document = Sample::of_two().json();
    let other = json!(Digest::of(b"other"));
    for (name, form) in [
        ("body", Form::Body),
        ("dependencies", Form::Dependencies),
        ("verification", Form::Verification),
        ("scan", Form::Scan),
    ] {
        check(&document, &format!("/revision/{name}"), other.clone(), OtherDigest(form));
        check(&document, &format!("/stored/{name}/text"), json!("{}"), OtherDigest(form));
        let tag = format!("work.{name}/2");
        let unknown = UnknownTag { form, tag: tag.clone() };
        check(&document, &format!("/stored/{name}/tag"), json!(tag), unknown);
    }
    let verification = ShownOtherwise(Form::Verification);
    check(&document, "/verification", Value::Null, verification.clone());
    check(&document, "/stored/verification", Value::Null, verification);
    check(&document, "/scan", Value::Null, ShownOtherwise(Form::Scan));
    check(&document, "/scan/limit", json!("files"), ShownOtherwise(Form::Scan));
    check(&document, "/sources", json!([]), OtherSources);
    check(&document, "/quotations", json!([]), ShownOtherwise(Form::Body));
    check(&document, "/sources/0/path", json!("b.md"), OtherSources);
    check(&document, "/sources/0/label", json!("more"), OtherQuotation(1));
}

// spec: X1
#[test]
fn a_document_that_was_hashed_anew_must_still_be_of_its_form() {
    let document = Sample::of_two().json();
    for (name, form) in [
        ("body", Form::Body),
        ("dependencies", Form::Dependencies),
        ("verification", Form::Verification),
        ("scan", Form::Scan),
    ] {
        let text = json!({ "unknown": name }).to_string();
        let digest = json!(Digest::tagged(form.tag(), text.as_bytes()));
        let hashed = with(&document, &format!("/revision/{name}"), digest);
        check(&hashed, &format!("/stored/{name}/text"), json!(text), NotAnExport::Unreadable(form));
    }
}

// spec: X1
#[test]
fn a_quotation_whose_parts_disagree_is_refused_though_its_body_was_hashed_anew() {
    let document = Sample::of_two().json();
    let body = document["stored"]["body"]["text"].as_str().expect("a text");
    for (pointer, value) in [
        ("text", json!("Backups are kept for 36 days.")),
        ("bytes", json!([0, 29])),
        ("bytes", json!([u64::MAX - 1, u64::MAX])),
        ("digest", json!(Digest::of(b"other"))),
        ("normalised", json!(Digest::of(b"other"))),
        ("lines", json!([0, 0])),
        ("lines", json!([3, 4])),
        ("lines", json!([4, 3])),
    ] {
        let mut forged: Value = serde_json::from_str(body).expect("JSON");
        forged["excerpts"][0][pointer] = value.clone();
        // A range of the right length agrees with the text; whether it stands there, only the file can say.
        let bytes = pointer == "bytes" && value == json!([0, 29]);
        let text = forged.to_string();
        let digest = json!(Digest::tagged(Form::Body.tag(), text.as_bytes()));
        let document = with(&document, "/revision/body", digest);
        let document = with(&document, "/stored/body/text", json!(text));
        let document = with(&document, &format!("/quotations/0/{pointer}"), value.clone());
        let expected = if bytes { None } else { Some(NotAnExport::Disagrees(1)) };
        assert_eq!(read_json(&document).err(), expected, "{pointer} {value}");
    }
}

// spec: X1
#[test]
fn another_document_is_refused_by_its_name() {
    let document = Sample::of_two().json();
    for (name, expected) in [
        ("work.export/2", NotAnExport::Newer("work.export/2".into())),
        ("work.export/0", NotAnExport::Other("work.export/0".into())),
        ("work.export/x", NotAnExport::Other("work.export/x".into())),
        ("work.result/1", NotAnExport::Other("work.result/1".into())),
    ] {
        check(&document, "/schema", json!(name), expected.clone());
        let wrapped = json!({ "schema": name, "ok": true, "data": document.clone() });
        assert_eq!(read_json(&wrapped), Err(expected));
    }
    // A newer form is told by its name, whatever it has become.
    let newer = json!({ "schema": "work.export/3", "pages": [], "data": [3] });
    assert_eq!(read_json(&newer), Err(NotAnExport::Newer("work.export/3".into())));
    assert_eq!(read_json(&json!({ "ok": true })), Err(NotAnExport::Nameless));
    let inner = json!({ "schema": ExportDoc::SCHEMA, "ok": true, "data": {} });
    assert_eq!(read_json(&inner), Err(NotAnExport::Nameless));
}

// spec: X1
#[test]
fn what_is_too_long_too_deep_or_no_json_is_refused() {
    let limits = Limits::standard();
    let most = limits.export_bytes;
    assert_eq!(most, 2 * 1024 * 1024);
    let long = vec![b' '; most + 1];
    assert_eq!(read(&long, &limits), Err(NotAnExport::TooLong { bytes: most + 1, most }));
    let deep = "[".repeat(65);
    assert_eq!(read(deep.as_bytes(), &limits), Err(NotAnExport::TooDeep(64)));
    for bytes in [b"".as_slice(), b"\xff", b"3", b"{\"schema\":\"work.export/1\"}", &long[..most]] {
        assert!(matches!(read(bytes, &limits), Err(NotAnExport::Malformed(_))));
    }
    let twice = br#"{"schema":"work.export/1","schema":"work.export/1"}"#;
    assert!(matches!(read(twice, &limits), Err(NotAnExport::Malformed(_))));
}

// spec: X1
#[test]
fn a_field_that_a_later_version_adds_is_passed_over() {
    let mut document = Sample::of_two().json();
    document["later"] = json!(1);
    document["quotations"][0]["later"] = json!([1]);
    document["verification"]["later"] = json!({});
    assert!(read_json(&document).is_ok());
}

// spec: X1
#[test]
fn a_scan_that_is_not_whole_stands_without_its_stored_record_and_its_digest() {
    let whole = Sample::of_two().json();
    let document = with(&whole, "/stored/scan", Value::Null);
    let document = with(&document, "/scan/elapsed_ms", Value::Null);
    let document = with(&document, "/scan/folders", json!([]));
    assert!(read_json(&document).is_ok());
    assert!(read_json(&with(&document, "/revision/scan", Value::Null)).is_ok());
    check(&whole, "/revision/scan", Value::Null, NotAnExport::OtherDigest(Form::Scan));
}
