//! Lists: bounded, in order, with cursors that name their list.

use crate::world::World;
use std::sync::Arc;
use work_core::id::{IdKind, ResultId, TaskId};
use work_core::limits::Limits;
use work_core::port::Ids;
use work_core::result::ResultState;
use work_core::testkit::fakes::CountingIds;
use work_core::workspace::{FindError, ListError, StateFilter, Workspace};

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

// spec: A7
// spec: R2
#[test]
fn a_cursor_names_its_list_and_the_last_result_and_no_time() {
    let world = few_at_a_time();
    let made = [(); 4].map(|()| {
        world.pass(1);
        world.report("backups").artifact_id
    });
    let page = |cursor: &str| {
        let page = world.work.list(StateFilter::All, Some(cursor)).expect("a page");
        (page.results.into_iter().map(|one| one.artifact_id).collect::<Vec<_>>(), page.next)
    };
    let next = world.work.list(StateFilter::All, None).expect("a page").next.expect("more");
    assert_eq!(next, format!("results.all.{}", made[2]));
    assert_eq!(page(&next), (vec![made[1], made[0]], None));
    assert_eq!(page(&format!("results.all.{}", made[1])), (vec![made[0]], None));
    assert_eq!(page(&format!("results.all.{}", made[0])), (vec![], None));
}

// spec: A7
#[test]
fn a_cursor_goes_on_after_its_result_wherever_that_stands_by_then() {
    let world = few_at_a_time();
    let [old, middle, new] = [(); 3].map(|()| {
        world.pass(1);
        world.report("backups").artifact_id
    });
    let next = world.work.list(StateFilter::All, None).expect("a page").next.expect("more");
    assert_eq!(next, format!("results.all.{middle}"));
    world.pass(1);
    world.edit("90");
    world.mend(middle);
    let page = world.work.list(StateFilter::All, Some(&next)).expect("a page");
    let listed: Vec<_> = page.results.into_iter().map(|one| one.artifact_id).collect();
    assert_eq!(listed, [new, old]);
}

// spec: A7
#[test]
fn a_cursor_of_no_result_or_with_more_than_its_id_is_refused() {
    let world = few_at_a_time();
    let id = world.report("backups").artifact_id;
    let unknown = ResultId::from_bytes([9; 16]);
    for cursor in [
        format!("results.all.{unknown}"),
        format!("results.all.1000000.{id}"),
        format!("results.stale.{id}"),
        format!("results.{id}"),
        "results.all.".to_owned(),
        String::new(),
    ] {
        let refused = world.work.list(StateFilter::All, Some(&cursor));
        assert_eq!(refused, Err(ListError::InvalidCursor), "{cursor}");
    }
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

/// Ids that all begin with the same six digits.
struct Alike(CountingIds);

impl Ids for Alike {
    fn fresh(&self) -> [u8; 16] {
        let mut id = self.0.fresh();
        id[..3].copy_from_slice(&[0xab, 0xcd, 0xef]);
        id
    }
}

// spec: C3
#[test]
fn a_prefix_that_two_ids_share_is_lengthened_until_it_names_one() {
    let World { store, door, .. } = World::new();
    let work = Workspace::new(store, door, Arc::new(Alike(CountingIds::from(1_000_000))));
    let ask = |_| work.ask(&crate::world::ask("backups")).expect("queued").task_id;
    let ids: Vec<TaskId> = (0..2).map(ask).collect();
    let bytes: Vec<_> = ids.iter().map(|id| id.bytes()).collect();
    let short = work.shortest(IdKind::Task, &bytes).expect("digits");
    for (short, id) in short.iter().zip(&ids) {
        assert!(short.len() > 6, "six digits are shared: {short}");
        assert_eq!(work.find(IdKind::Task, short, TaskId::from_bytes), Ok(*id));
        let shorter = work.find(IdKind::Task, &short[..short.len() - 1], TaskId::from_bytes);
        assert!(matches!(shorter, Err(FindError::Ambiguous(_))), "fewer would do: {short}");
    }
    let alone = work.folders().expect("folders").folders[0].folder;
    let digits = work.shortest(IdKind::Grant, &[alone.bytes()]);
    assert_eq!(digits, Ok(vec![alone.to_string()[..4].to_owned()]));
    let nothing = ResultId::from_bytes([7; 16]);
    let whole = work.shortest(IdKind::Result, &[nothing.bytes()]);
    assert_eq!(whole, Ok(vec![nothing.to_string()]), "it names nothing");
}
