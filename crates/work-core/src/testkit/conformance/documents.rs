//! Documents: bytes once written.

use super::Make;
use super::desk::Desk;
use crate::digest::Digest;
use crate::port::{Document, Put};
use crate::redact::for_checking;

/// The documents under these digests, seals opened.
fn documents(desk: &Desk, digests: &[Digest], each: usize) -> Vec<(Digest, Document)> {
    let found = desk.ask(|tx| tx.documents(digests, each)).expect("documents");
    found.into_iter().map(|(digest, sealed)| (digest, for_checking(sealed))).collect()
}

/// Keeps these bytes under a digest that they need not have.
fn put(digest: Digest, bytes: &[u8]) -> Vec<Put> {
    vec![Put::Document { digest, bytes: bytes.to_vec() }]
}

pub(super) fn documents_answer_in_the_order_asked_with_their_bytes(make: Make<'_>) {
    let desk = Desk::new(make);
    let all: Vec<Vec<u8>> = vec![b"{\"a\":\"\\u0000\"}".to_vec(), vec![0, 255, 10], vec![]];
    let digests: Vec<Digest> = all.iter().map(|bytes| Digest::tagged("test/1", bytes)).collect();
    for (digest, bytes) in digests.iter().zip(&all) {
        desk.keep(put(*digest, bytes));
    }
    let asked = [digests[2], Digest::of(b"unknown"), digests[0], digests[1], digests[0]];
    let expected: Vec<_> =
        [2, 0, 1, 0].map(|n: usize| (digests[n], Document::Bytes(all[n].clone()))).into();
    assert_eq!(documents(&desk, &asked, 100), expected);
}

// spec: D3
pub(super) fn a_document_longer_than_asked_for_is_told_and_not_given(make: Make<'_>) {
    let desk = Desk::new(make);
    let digest = Digest::of(b"d");
    desk.keep(put(digest, &[7; 100]));
    assert_eq!(documents(&desk, &[digest], 99), [(digest, Document::TooLong)]);
    assert_eq!(documents(&desk, &[digest], 100), [(digest, Document::Bytes(vec![7; 100]))]);
    assert_eq!(documents(&desk, &[digest], 0), [(digest, Document::TooLong)]);
}

pub(super) fn the_same_document_again_changes_nothing(make: Make<'_>) {
    let desk = Desk::new(make);
    let digest = Digest::of(b"d");
    desk.keep(put(digest, b"one"));
    desk.keep([put(digest, b"one"), put(digest, b"one")].concat());
    assert_eq!(documents(&desk, &[digest], 9), [(digest, Document::Bytes(b"one".to_vec()))]);
}

pub(super) fn a_document_keeps_its_first_bytes_for_ever(make: Make<'_>) {
    let desk = Desk::new(make);
    let digest = Digest::of(b"d");
    desk.keep(put(digest, b"one"));
    // A store may refuse the whole act or keep what it has; it never writes the other bytes.
    let _ = desk.send(&desk.batch(put(digest, b"two"), vec![]));
    assert_eq!(documents(&desk, &[digest], 9), [(digest, Document::Bytes(b"one".to_vec()))]);
}
