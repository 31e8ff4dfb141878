//! Quotations of accepted revisions, and what became of them.

use super::Make;
use super::desk::{Desk, nobody};
use super::picture::quoted;
use crate::digest::Digest;
use crate::id::{GrantId, ResultId, SourceId};
use crate::port::{Change, CommitError, Note, Quotations, Quoted};
use crate::quote::Finding;
use crate::redact::for_checking;
use crate::result::RevisionNo;
use crate::source::Seen;

/// A desk with one folder and three sources.
fn desk(make: Make<'_>) -> (Desk, GrantId, [SourceId; 3]) {
    let desk = Desk::new(make);
    let grant = desk.approve("/a");
    let sources = ["a.md", "b.md", "c.md"].map(|path| desk.source(grant, path));
    (desk, grant, sources)
}

/// The quotations that a pick finds.
fn quotations(desk: &Desk, pick: Quotations<'_>) -> Vec<Quoted> {
    desk.ask(|tx| tx.quotations(pick)).expect("quotations")
}

/// Whose they are, their numbers and their sources.
fn places(all: &[Quoted]) -> Vec<(ResultId, u32, SourceId)> {
    all.iter().map(|one| (one.result, one.cited.n, one.cited.source)).collect()
}

/// A finding about quotation `n` of the first revision, against some bytes.
fn finding(result: ResultId, n: u32, against: &[u8], finding: Finding) -> Note {
    let revision = RevisionNo::FIRST;
    Note::Finding { result, revision, n, against: Digest::of(against), finding }
}

/// The latest finding about each quotation of a result.
fn findings(desk: &Desk, result: ResultId) -> Vec<Option<(Digest, Finding)>> {
    let found = quotations(desk, Quotations::Of(&[result])).into_iter();
    found.map(|one| one.finding.map(|(digest, sealed)| (digest, for_checking(sealed)))).collect()
}

pub(super) fn quotations_come_by_result_as_asked_then_by_number(make: Make<'_>) {
    let (desk, grant, [a, b, c]) = desk(make);
    let one = desk.report(grant, &[c, a]);
    let two = desk.report(grant, &[b]);
    let unknown = ResultId::from_bytes(nobody());
    let found = quotations(&desk, Quotations::Of(&[two, unknown, one, two]));
    assert_eq!(places(&found), [(two, 1, b), (one, 1, c), (one, 2, a), (two, 1, b)]);
}

pub(super) fn all_quotations_come_by_result_id_and_most_counts_quotations(make: Make<'_>) {
    let (desk, grant, [a, b, c]) = desk(make);
    let mut ids = [(); 3].map(|()| desk.report(grant, &[c, a, b]));
    ids.sort();
    let all = |after, most| places(&quotations(&desk, Quotations::All { after, most }));
    let rows = |id| [(id, 1, c), (id, 2, a), (id, 3, b)];
    assert_eq!(all(None, 100), ids.map(rows).concat());
    assert_eq!(all(None, 4), [&rows(ids[0])[..], &rows(ids[1])[..1]].concat());
    assert_eq!(all(Some(ids[0]), 4), [&rows(ids[1])[..], &rows(ids[2])[..1]].concat());
    assert!(all(Some(ids[2]), 4).is_empty());
}

pub(super) fn a_quotation_comes_with_its_source_and_the_latest_look(make: Make<'_>) {
    let (desk, grant, [a, b, _]) = desk(make);
    let result = desk.report(grant, &[a, b]);
    desk.note(vec![Note::Look(b, Change::New(desk.a_look(grant, Seen::Unstable)))]);
    let found = quotations(&desk, Quotations::Of(&[result]));
    let direct = desk.ask(|tx| tx.sources(crate::port::Sources::Ids(&[a, b]))).expect("sources");
    let joined: Vec<_> = found.iter().map(|one| one.observed.clone()).collect();
    assert_eq!(super::picture::observed(&joined), super::picture::observed(&direct));
    assert!(joined[1].observation.is_some());
}

// spec: O4
pub(super) fn every_finding_reads_back_with_the_bytes_it_was_found_against(make: Make<'_>) {
    let (desk, grant, [a, b, _]) = desk(make);
    let result = desk.report(grant, &[a, b]);
    assert_eq!(findings(&desk, result), [None, None]);
    for (found, n) in [
        Finding::Intact,
        Finding::Moved(0),
        Finding::Moved(200_000),
        Finding::Ambiguous,
        Finding::Cosmetic,
        Finding::Altered,
        Finding::BeyondLimit,
    ]
    .into_iter()
    .zip(0_u8..)
    {
        desk.note(vec![finding(result, 2, &[n], found)]);
        assert_eq!(findings(&desk, result), [None, Some((Digest::of(&[n]), found))]);
    }
}

// spec: P5
pub(super) fn the_next_accepted_revision_takes_the_place_of_the_quotations(make: Make<'_>) {
    let (desk, grant, [a, b, c]) = desk(make);
    let [result, other] = [desk.report(grant, &[a, b]), desk.report(grant, &[a])];
    let note = |result| finding(result, 1, b"new", Finding::Altered);
    desk.note(vec![note(result), note(other)]);
    desk.repair(result, &[c]);
    assert_eq!(places(&quotations(&desk, Quotations::Of(&[result]))), [(result, 1, c)]);
    assert_eq!(findings(&desk, result), [None], "a finding is about a quotation, not its number");
    let kept = Some((Digest::of(b"new"), Finding::Altered));
    assert_eq!(findings(&desk, other), [kept]);
}

pub(super) fn a_finding_about_an_earlier_revision_is_overtaken(make: Make<'_>) {
    let (desk, grant, [a, b, _]) = desk(make);
    let result = desk.report(grant, &[a]);
    desk.repair(result, &[b]);
    desk.overtaken(vec![], vec![finding(result, 1, b"new", Finding::Intact)]);
}

pub(super) fn a_finding_about_no_quotation_is_refused(make: Make<'_>) {
    let (desk, grant, [a, ..]) = desk(make);
    let result = desk.report(grant, &[a]);
    for note in [
        finding(result, 2, b"new", Finding::Intact),
        finding(result, 0, b"new", Finding::Intact),
        finding(ResultId::from_bytes(nobody()), 1, b"new", Finding::Intact),
    ] {
        let refusal = desk.refuse(&desk.batch(vec![], vec![note]));
        assert!(!matches!(refusal, CommitError::Unknown(_)));
    }
}

pub(super) fn a_finding_is_written_with_the_look_that_made_it(make: Make<'_>) {
    let (desk, grant, [a, ..]) = desk(make);
    let result = desk.report(grant, &[a]);
    let seen = Seen::Bytes(super::desk::version(b"new"));
    let look = Note::Look(a, Change::New(desk.a_look(grant, seen)));
    desk.note(vec![look, finding(result, 1, b"new", Finding::Moved(3))]);
    let found = quotations(&desk, Quotations::Of(&[result]));
    let observation = found[0].observed.observation.as_ref().expect("a look");
    assert_eq!(observation.value.seen, seen);
    assert!(quoted(&found)[0].ends_with("Moved(3)))"), "{}", quoted(&found)[0]);
}
