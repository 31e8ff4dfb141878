//! Client keys.

use super::Make;
use super::desk::{Desk, nobody};
use super::picture::key;
use crate::digest::Digest;
use crate::id::TaskId;
use crate::port::{Put, Request};

/// A request under a key, made now.
fn request(desk: &Desk, n: u8, asks: &[u8], task: TaskId) -> Request {
    Request { key: key(n), asks: Digest::of(asks), task, created_at: desk.now().at }
}

/// What a key asked for.
fn found(desk: &Desk, n: u8) -> Option<Request> {
    desk.ask(|tx| tx.request(&key(n))).expect("a request")
}

/// The keys that are remembered, of the first six.
fn remembered(desk: &Desk) -> Vec<u8> {
    (0..6).filter(|&n| found(desk, n).is_some()).collect()
}

// spec: T7
pub(super) fn a_client_key_reads_back_and_an_unknown_one_is_none(make: Make<'_>) {
    let desk = Desk::new(make);
    let task = desk.queue(desk.approve("/a"));
    let one = request(&desk, 1, b"report", task);
    desk.keep(vec![Put::Request(one)]);
    assert_eq!(found(&desk, 1), Some(one));
    assert_eq!(found(&desk, 2), None);
}

// spec: T7
pub(super) fn a_later_request_takes_the_place_of_an_older_one_under_its_key(make: Make<'_>) {
    let desk = Desk::new(make);
    let grant = desk.approve("/a");
    let [one, two] = [desk.queue(grant), desk.queue(grant)];
    desk.keep(vec![Put::Request(request(&desk, 1, b"report", one))]);
    desk.pass(25 * 60 * 60);
    let later = request(&desk, 1, b"repair", two);
    desk.keep(vec![Put::Request(later)]);
    assert_eq!(found(&desk, 1), Some(later));
}

pub(super) fn a_client_key_without_its_task_is_refused(make: Make<'_>) {
    let desk = Desk::new(make);
    let request = request(&desk, 1, b"report", TaskId::from_bytes(nobody()));
    desk.refuse_puts(vec![Put::Request(request)]);
}

// spec: T7
pub(super) fn old_client_keys_are_forgotten_oldest_first_at_most_as_many(make: Make<'_>) {
    let desk = Desk::new(make);
    let task = desk.queue(desk.approve("/a"));
    for n in [3, 0, 4, 1, 2] {
        desk.pass(10);
        desk.keep(vec![Put::Request(request(&desk, n, b"report", task))]);
    }
    let before = found(&desk, 2).expect("the latest").created_at;
    desk.keep(vec![Put::ForgetRequests { before, most: 2 }]);
    assert_eq!(remembered(&desk), [1, 2, 4]);
    desk.keep(vec![Put::ForgetRequests { before, most: 0 }]);
    assert_eq!(remembered(&desk), [1, 2, 4]);
    desk.keep(vec![Put::ForgetRequests { before, most: 9 }]);
    assert_eq!(remembered(&desk), [2], "one made at the moment itself is kept");
}

pub(super) fn forgetting_and_remembering_happen_in_their_order(make: Make<'_>) {
    let desk = Desk::new(make);
    let task = desk.queue(desk.approve("/a"));
    desk.keep(vec![Put::Request(request(&desk, 1, b"report", task))]);
    desk.pass(10);
    let renewed = request(&desk, 1, b"report", task);
    let before = renewed.created_at;
    desk.keep(vec![Put::ForgetRequests { before, most: 1 }, Put::Request(renewed)]);
    assert_eq!(found(&desk, 1), Some(renewed));
}
