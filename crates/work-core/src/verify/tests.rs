//! Verdicts on exports of real reports, after something happened to their files.

use super::*;
use crate::digest::Digest;
use crate::document::export::{read, sample::Sample};
use crate::document::stored::Form;
use crate::memory::MemoryDoor;
use crate::port::Quiet;
use serde_json::{Value, json};

const PASSAGE: &str = "Backups are kept for 35 days.";
const FILE: &str = "# Backups\n\nBackups are kept for 35 days.\n\nAsk first.\n";

fn exported(document: &Value) -> Exported {
    read(document.to_string().as_bytes(), &Limits::standard()).expect("an export")
}

fn verified(sample: &Sample, document: &Value) -> VerifyDoc {
    let limits = Limits::standard();
    verify(&*sample.door, &sample.grants, &exported(document), &limits, &mut Quiet)
}

/// The verdict on one passage after something happened to its file.
fn after(happens: impl FnOnce(&MemoryDoor)) -> (bool, &'static str, Option<String>) {
    let sample = Sample::of(&[("/docs/a.md", FILE.as_bytes())]);
    happens(&sample.door);
    let VerifyDoc { passed, quotations } = verified(&sample, &sample.json());
    let [one] = &*quotations else { panic!("one quotation") };
    assert_eq!((one.n, one.label.as_str(), one.path.path.as_str()), (1, "docs", "a.md"));
    (passed, one.verdict, one.moved_to.clone())
}

#[track_caller]
fn check(verdict: &str, happens: impl FnOnce(&MemoryDoor)) {
    assert_eq!(after(happens), (verdict == "intact", verdict, None));
}

// spec: X3
#[test]
fn every_verdict_is_reached() {
    let put = |text: String| move |door: &MemoryDoor| door.put("/docs/a.md", text);
    check("intact", |_| {});
    check("intact", put(format!("{FILE}More.\n")));
    check("moved", put(format!("New.\n{FILE}")));
    check("ambiguous", put(format!("New.\n{FILE}{FILE}")));
    check("altered", put(FILE.replace("35", "36")));
    check("beyond_limit", put("x\n".repeat(Limits::standard().scan.file_bytes)));
    check("gone", |door| door.remove("/docs/a.md"));
    check("unreadable", |door| door.make_unreachable("/docs"));
    check("unreadable", |door| door.make_unreachable("/docs/a.md"));
    check("unreadable", |door| door.make_unstable("/docs/a.md"));
    check("unreadable", |door| door.deny("/docs/a.md"));
    check("unreadable", |door| door.replace_folder("/docs"));
}

// spec: X3
#[test]
fn line_ends_alone_are_cosmetic() {
    let text = "Backups are kept\nfor 35 days.\n";
    let sample = Sample::of(&[("/docs/a.md", text.as_bytes())]);
    sample.door.put("/docs/a.md", text.replace('\n', "\r\n"));
    assert_eq!(verified(&sample, &sample.json()).quotations[0].verdict, "cosmetic");
}

// spec: X3
#[test]
fn a_missing_file_is_named_where_it_is_now() {
    let found = after(|door| door.rename("/docs/a.md", "/docs/old/b.md"));
    assert_eq!(found, (false, "gone", Some("old/b.md".into())));
    check("gone", |door| door.rename("/docs/a.md", "/more/a.md"));
    check("gone", |door| {
        door.remove("/docs/a.md");
        door.put("/docs/b.md", FILE.to_uppercase());
    });
}

// spec: X3
#[test]
fn each_quotation_has_its_verdict_and_one_that_is_not_intact_fails_all() {
    let sample = Sample::of_two();
    let all = verified(&sample, &sample.json());
    let verdicts =
        |doc: &VerifyDoc| doc.quotations.iter().map(|one| (one.n, one.verdict)).collect::<Vec<_>>();
    assert_eq!((all.passed, verdicts(&all)), (true, vec![(1, "intact"), (2, "intact")]));
    assert!(all.quotations[1].path.path_bytes.is_some());
    sample.door.put("/docs/it/a.md", "other");
    let some = verified(&sample, &sample.json());
    assert_eq!((some.passed, verdicts(&some)), (false, vec![(1, "altered"), (2, "intact")]));
}

// spec: X3
#[test]
fn a_label_without_a_folder_is_unreadable_and_the_label_decides_where_to_look() {
    let mut sample = Sample::of(&[("/docs/a.md", FILE.as_bytes())]);
    let document = sample.json();
    sample.grants.remove(0);
    let none = verified(&sample, &document);
    assert_eq!((none.passed, none.quotations[0].verdict), (false, "unreadable"));
    sample.door.put("/more/a.md", FILE);
    assert_eq!(verified(&sample, &document).quotations[0].verdict, "unreadable");
    sample.grants[0].0 = "docs".into();
    assert!(verified(&sample, &document).passed);
}

// spec: X3
#[test]
fn what_was_quoted_in_any_encoding_and_from_a_file_that_is_cut_is_intact() {
    let text = "# Keeping\r\n\r\nB\u{e4}ckups kept\r\nand backups kept \u{1f600}.\r\n\r\nEnd.\r\n";
    let units = |mark: u16, to_bytes: fn(u16) -> [u8; 2]| {
        std::iter::once(mark).chain(text.encode_utf16()).flat_map(to_bytes).collect::<Vec<u8>>()
    };
    let long = format!("{text}{}", "x\r\n".repeat(Limits::standard().scan.file_bytes));
    for file in [
        text.as_bytes().to_vec(),
        format!("\u{feff}{text}").into_bytes(),
        units(0xfeff, u16::to_le_bytes),
        units(0xfeff, u16::to_be_bytes),
        long.into_bytes(),
    ] {
        let sample = Sample::of(&[("/docs/a.md", &file)]);
        let found = verified(&sample, &sample.json());
        assert!(found.passed, "{found:?} of {:?}", &file[..8]);
        assert_eq!(sample.doc.quotations[0].lines, [3, 4]);
    }
}

/// An export whose first quotation says something else, with every digest computed anew.
fn forged(sample: &Sample, fields: &[(&str, Value)]) -> Value {
    let mut document = sample.json();
    let stored = document["stored"]["body"]["text"].as_str().expect("a text");
    let mut body: Value = serde_json::from_str(stored).expect("JSON");
    for (name, value) in fields {
        body["excerpts"][0][name] = value.clone();
        document["quotations"][0][name] = value.clone();
    }
    let text = body.to_string();
    document["revision"]["body"] = json!(Digest::tagged(Form::Body.tag(), text.as_bytes()));
    document["stored"]["body"]["text"] = json!(text);
    document
}

/// A text with its digests.
fn saying(text: &str) -> Vec<(&'static str, Value)> {
    let digest = json!(Digest::of(text.as_bytes()));
    vec![("text", json!(text)), ("digest", digest.clone()), ("normalised", digest)]
}

// spec: X3
#[test]
fn a_forgery_with_sound_digests_is_found_out_by_the_file() {
    let sample = Sample::of(&[("/docs/a.md", FILE.as_bytes())]);
    let as_it_was = forged(&sample, &saying(PASSAGE));
    assert!(verified(&sample, &as_it_was).passed);
    for fields in [
        saying("Backups are kept for 36 days."),
        vec![("lines", json!([2, 2]))],
        vec![("before", json!("No "))],
        vec![("after", json!(" Or so."))],
        vec![("bytes", json!([0, PASSAGE.len()]))],
    ] {
        let found = verified(&sample, &forged(&sample, &fields));
        assert!(!found.passed, "{fields:?}");
    }
}

// spec: X3
#[test]
fn bytes_read_in_another_encoding_are_no_quotation_of_the_file() {
    let sample = Sample::of(&[("/docs/a.md", b"Backups are kept 9 days")]);
    let one = &exported(&sample.json()).quotations()[0].quotation.clone();
    let quotation = |encoding, text: &str| Quotation {
        encoding,
        text: text.into(),
        bytes: 0..2,
        digest: Digest::of(b"Ba"),
        before: String::new(),
        after: String::new(),
        ..one.clone()
    };
    let file = b"Backups are kept 9 days";
    let utf8 = quotation(crate::text::Encoding::Utf8, "Ba");
    let utf16 = quotation(crate::text::Encoding::Utf16Le, "\u{6142}");
    assert_eq!(judge(&utf8, file, false, true), Finding::Intact);
    assert_eq!(judge(&utf16, file, false, true), Finding::Altered);
}

/// Counts looks, by path.
struct Counting<'a>(&'a MemoryDoor, Mutex<Vec<Want>>);

impl SourceDoor for Counting<'_> {
    fn admit(
        &self,
        path: &crate::path::HostPath,
    ) -> Result<crate::port::Root, crate::port::AdmitRefusal> {
        self.0.admit(path)
    }

    fn roots(&self, grants: &[Grant]) -> Vec<crate::report::Reached> {
        self.0.roots(grants)
    }

    fn scan(
        &self,
        ground: Ground<'_>,
        probe: Arc<dyn Probe>,
        watch: &mut dyn Watch,
    ) -> crate::port::Scanned {
        self.0.scan(ground, probe, watch)
    }

    fn look(
        &self,
        ground: Ground<'_>,
        wants: &[Want],
        probe: Arc<dyn Probe>,
        watch: &mut dyn Watch,
    ) -> Vec<Look> {
        self.1.lock().expect("a lock").extend(wants.iter().cloned());
        self.0.look(ground, wants, probe, watch)
    }
}

// spec: X3
#[test]
fn a_file_that_is_quoted_twice_is_looked_at_once() {
    let far = "Nothing of it.\n\n".repeat(200);
    let text = format!("Backups are kept here.\n\n{far}Backups are kept there too.\n");
    let sample = Sample::of(&[("/docs/a.md", text.as_bytes())]);
    let door = Counting(&sample.door, Mutex::default());
    let exported = exported(&sample.json());
    assert_eq!(exported.quotations().len(), 2);
    let limits = Limits::standard();
    let found = verify(&door, &sample.grants, &exported, &limits, &mut Quiet);
    assert!(found.passed && found.quotations.len() == 2);
    assert_eq!(door.1.lock().expect("a lock").len(), 1);
}

// spec: X3, G2
#[test]
fn a_folder_of_a_check_allows_what_the_export_quotes_and_no_more() {
    let sample = Sample::of(&[
        ("/docs/a.md", b"Backups are kept."),
        ("/more/b.TXT", b"Backups are kept too."),
    ]);
    let root = sample.door.admit(&crate::path::HostPath::from_bytes("/more")).expect("admitted");
    let grant = grant(7, root, &exported(&sample.json()));
    let permits = |path: &str| grant.rules.permit_file(&RelPath::new(path).expect("a path"));
    for read in ["x.md", "x.txt", ".x/.y.md"] {
        assert_eq!(permits(read), Ok(()), "{read}");
    }
    for unread in ["x.rst", "md", ".md.key"] {
        assert!(permits(unread).is_err(), "{unread}");
    }
    assert_eq!(grant.rules.ignore_files, IgnoreFiles::Unheeded);
}
