//! Lists: bounded, in order, with cursors that name their list.

use crate::world::World;
use work_core::id::{IdKind, ResultId};
use work_core::limits::Limits;
use work_core::result::ResultState;
use work_core::workspace::{FindError, ListError, StateFilter};

fn few_at_a_time() -> World {
    World::new().limited(Limits { list: 2, ..Limits::standard() })
}

// spec: A7
#[test]
fn a_list_goes_on_where_the_one_before_ended() {
    let world = few_at_a_time();
    let made: Vec<_> = (0..5)
        .map(|_| {
            world.pass(1);
            world.report("backups").artifact_id
        })
        .collect();
    let (mut listed, mut cursor) = (Vec::new(), None);
    loop {
        let page = world.work.list(StateFilter::All, cursor.as_deref()).expect("a page");
        assert!(page.results.len() <= 2);
        listed.extend(page.results.into_iter().map(|one| one.artifact_id));
        cursor = page.next;
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!(listed, made.into_iter().rev().collect::<Vec<_>>());
}

// spec: A7
#[test]
fn a_filtered_list_finds_what_lies_behind_results_of_other_states() {
    let world = few_at_a_time();
    let stale = world.report("leave").artifact_id;
    (0..5).for_each(|_| {
        world.pass(1);
        world.report("backups");
    });
    world.door.put("/handbook/people/leave.md", "other\n");
    world.show(stale);
    let page = world.work.list(StateFilter::Only(ResultState::Stale), None).expect("a page");
    assert_eq!(page.results.iter().map(|one| one.artifact_id).collect::<Vec<_>>(), [stale]);
    assert_eq!(page.next, None);
}

// spec: A7
#[test]
fn a_cursor_is_refused_by_another_list() {
    let world = few_at_a_time();
    (0..3).for_each(|_| drop(world.report("backups")));
    let results = world.work.list(StateFilter::All, None).expect("a page").next.expect("more");
    let tasks = world.work.tasks(None).expect("a page").next.expect("more");
    assert_eq!(world.work.list(StateFilter::All, Some(&tasks)), Err(ListError::InvalidCursor));
    assert_eq!(world.work.tasks(Some(&results)), Err(ListError::InvalidCursor));
    let stale = StateFilter::Only(ResultState::Stale);
    assert_eq!(world.work.list(stale, Some(&results)), Err(ListError::InvalidCursor));
}

// spec: C3
#[test]
fn an_id_is_found_by_a_prefix_that_no_other_has() {
    let world = World::new();
    let id = world.report("backups").artifact_id;
    let find = |prefix: &str| world.work.find(IdKind::Result, prefix, ResultId::from_bytes);
    assert_eq!(find(&id.to_string()[..4]), Ok(id));
    assert_eq!(find(&id.to_string()), Ok(id));
    assert_eq!(find("00000000"), Err(FindError::Unknown));
    assert!(matches!(find("abc"), Err(FindError::NotAPrefix(_))));
}
