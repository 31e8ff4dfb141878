//! Sources and the latest look at each.

use super::Make;
use super::desk::{Desk, nobody, path_of};
use super::picture::source_ids;
use crate::digest::Digest;
use crate::id::{GrantId, SourceId};
use crate::path::RelPath;
use crate::port::{Change, Kept, Note, Observed, Put, Sources, Version};
use crate::redact::Sealed;
use crate::source::{Observation, Seen, SourceVersion, Stamp};

/// The sources that a pick finds.
fn sources(desk: &Desk, pick: Sources<'_>) -> Vec<Observed> {
    desk.ask(|tx| tx.sources(pick)).expect("sources")
}

/// The latest look at a source.
fn observation(desk: &Desk, source: SourceId) -> Option<Kept<Observation>> {
    let found = sources(desk, Sources::Ids(&[source]));
    found.into_iter().next().expect("a known source").observation
}

// spec: G2
pub(super) fn a_source_reads_back_with_the_bytes_of_its_path(make: Make<'_>) {
    let desk = Desk::new(make);
    let grant = desk.approve("/a");
    let id = desk.id(SourceId::from_bytes);
    let path = RelPath::new(*b"caf\xe9/\xff\xfe\n.md").expect("a path");
    desk.keep(vec![Put::Source { id, grant, path: path.clone() }]);
    let found = sources(&desk, Sources::Ids(&[id]));
    assert_eq!((found[0].source.id, found[0].source.grant), (id, grant));
    assert_eq!(found[0].source.path, Sealed::new(path));
    assert_eq!(found[0].observation, None);
}

pub(super) fn sources_answer_to_ids_in_the_order_asked(make: Make<'_>) {
    let desk = Desk::new(make);
    let grant = desk.approve("/a");
    let [a, b, c] = ["a.md", "b.md", "c.md"].map(|path| desk.source(grant, path));
    let unknown = SourceId::from_bytes(nobody());
    let found = sources(&desk, Sources::Ids(&[c, unknown, a, c, b]));
    assert_eq!(source_ids(&found), [c, a, c, b]);
    assert!(sources(&desk, Sources::Ids(&[])).is_empty());
}

pub(super) fn sources_answer_to_places_in_the_order_asked(make: Make<'_>) {
    let desk = Desk::new(make);
    let [one, two] = ["/a", "/b"].map(|root| desk.approve(root));
    let [a, b, c] = [(one, "x.md"), (two, "x.md"), (one, "y.md")].map(|(g, p)| desk.source(g, p));
    let places = [
        (two, path_of("x.md")),
        (two, path_of("y.md")),
        (one, path_of("y.md")),
        (GrantId::from_bytes(nobody()), path_of("x.md")),
        (one, path_of("x.md")),
        (one, path_of("X.md")),
        (two, path_of("x.md")),
    ];
    assert_eq!(source_ids(&sources(&desk, Sources::At(&places))), [b, c, a, b]);
}

pub(super) fn sources_under_a_folder_come_by_the_bytes_of_their_paths(make: Make<'_>) {
    let desk = Desk::new(make);
    let [one, two] = ["/a", "/b"].map(|root| desk.approve(root));
    let last = desk.id(SourceId::from_bytes);
    let path = RelPath::new(*b"\xff.md").expect("a path");
    desk.keep(vec![Put::Source { id: last, grant: one, path }]);
    let [e, b, d, c, a] =
        ["é.md", "a/b.md", "b.md", "a/c.md", "a-b.md"].map(|path| desk.source(one, path));
    desk.source(two, "a.md");
    let under = |after: Option<&RelPath>, most| {
        source_ids(&sources(&desk, Sources::Under { grant: one, after, most }))
    };
    assert_eq!(under(None, 10), [a, b, c, d, e, last]);
    assert_eq!(under(None, 2), [a, b]);
    assert_eq!(under(Some(&path_of("a/b.md")), 2), [c, d]);
    assert_eq!(under(Some(&path_of("a/b")), 1), [b], "a path that is not there has its place");
    assert!(under(None, 0).is_empty());
    let nowhere = GrantId::from_bytes(nobody());
    assert!(sources(&desk, Sources::Under { grant: nowhere, after: None, most: 9 }).is_empty());
}

pub(super) fn sources_cited_now_come_once_by_id(make: Make<'_>) {
    let desk = Desk::new(make);
    let grant = desk.approve("/a");
    let mut ids = ["a.md", "b.md", "c.md"].map(|path| desk.source(grant, path));
    let first = desk.report(grant, &[ids[0], ids[1], ids[0]]);
    desk.report(grant, &[ids[2], ids[1]]);
    ids.sort();
    let cited = |after, most| source_ids(&sources(&desk, Sources::CitedNow { after, most }));
    assert_eq!(cited(None, 10), ids);
    assert_eq!(cited(None, 2), ids[..2]);
    assert_eq!(cited(Some(ids[0]), 1), ids[1..2]);
    let other = desk.source(grant, "d.md");
    desk.repair(first, &[other]);
    assert!(cited(None, 10).contains(&other));
    assert_eq!(cited(None, 10).len(), 3, "what no accepted revision quotes is not cited now");
}

pub(super) fn a_source_is_named_once(make: Make<'_>) {
    let desk = Desk::new(make);
    let grant = desk.approve("/a");
    let id = desk.source(grant, "a.md");
    let put = |id, path: &str| vec![Put::Source { id, grant, path: path_of(path) }];
    desk.overtaken(put(id, "b.md"), vec![]);
    desk.overtaken(put(desk.id(SourceId::from_bytes), "a.md"), vec![]);
    desk.keep(put(desk.id(SourceId::from_bytes), "A.md"));
}

pub(super) fn a_source_without_its_folder_is_refused(make: Make<'_>) {
    let desk = Desk::new(make);
    let grant = GrantId::from_bytes(nobody());
    let id = desk.id(SourceId::from_bytes);
    desk.refuse_puts(vec![Put::Source { id, grant, path: path_of("a.md") }]);
}

// spec: O1
pub(super) fn every_kind_of_look_reads_back(make: Make<'_>) {
    let desk = Desk::new(make);
    let [grant, inner] = ["/a", "/a/b"].map(|root| desk.approve(root));
    let source = desk.source(grant, "b/c.md");
    let cut = SourceVersion { digest: Digest::of(b"x"), size: 1 << 40, cut: true };
    let whole = SourceVersion { digest: Digest::of(b""), size: 0, cut: false };
    let kinds = [
        Seen::Bytes(cut),
        Seen::Missing,
        Seen::Unstable,
        Seen::Unreachable,
        Seen::Denied,
        Seen::Bytes(whole),
    ];
    for (seen, n) in kinds.into_iter().zip(1..) {
        desk.pass(1);
        let modified_ns = -5;
        let stamp = Stamp { device: 1, inode: 2, size: 3, modified_ns, changed_ns: 9 };
        let stamp = matches!(seen, Seen::Bytes(_)).then_some(stamp);
        let look = Observation { stamp, ..desk.a_look(inner, seen) };
        let old = observation(&desk, source);
        let change = old.map_or(Change::New(look), |old| Change::From(old.version, look));
        desk.note(vec![Note::Look(source, change)]);
        let kept = Kept { version: Version(n), value: look };
        assert_eq!(observation(&desk, source), Some(kept));
    }
}

pub(super) fn a_look_at_what_has_been_looked_at_since_is_not_kept(make: Make<'_>) {
    let desk = Desk::new(make);
    let grant = desk.approve("/a");
    let source = desk.source(grant, "a.md");
    let look = |change| vec![Note::Look(source, change)];
    desk.note(look(Change::New(desk.a_look(grant, Seen::Missing))));
    desk.overtaken(vec![], look(Change::New(desk.a_look(grant, Seen::Denied))));
    desk.note(look(Change::From(Version(1), desk.a_look(grant, Seen::Denied))));
    desk.overtaken(vec![], look(Change::From(Version(1), desk.a_look(grant, Seen::Unstable))));
    desk.overtaken(vec![], look(Change::From(Version(3), desk.a_look(grant, Seen::Unstable))));
}

pub(super) fn a_look_at_an_unknown_source_is_not_kept(make: Make<'_>) {
    let desk = Desk::new(make);
    let grant = desk.approve("/a");
    let look = desk.a_look(grant, Seen::Missing);
    let note = Note::Look(SourceId::from_bytes(nobody()), Change::New(look));
    desk.refuse(&desk.batch(vec![], vec![note]));
}
