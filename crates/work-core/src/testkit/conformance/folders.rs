//! Grants.

use super::Make;
use super::desk::{Desk, later, next};
use super::picture::folder_ids;
use crate::folder::{Grant, GrantState, Hidden, IgnoreFiles, RootIdentity, Rules};
use crate::id::GrantId;
use crate::path::HostPath;
use crate::port::{Change, Kept, Note, Put, Version};

/// A change of the folder with this id.
fn changed(desk: &Desk, id: GrantId, change: impl FnOnce(&mut Grant)) -> Put {
    let Kept { version, mut value } = desk.folder(id);
    change(&mut value);
    Put::Grant(Change::From(version, value))
}

// spec: I4
pub(super) fn every_field_of_a_folder_reads_back(make: Make<'_>) {
    let desk = Desk::new(make);
    let mut grant = desk.a_grant("/a");
    grant.root = HostPath::from_bytes(*b"/home/\xff\n/a");
    grant.label = "caf\u{e9}-2".into();
    grant.rules =
        Rules::new(["md", "rst"], ["drafts", "/a/*.md"], Hidden::Read, IgnoreFiles::Unheeded)
            .expect("sound rules");
    grant.identity = RootIdentity { born_ns: None, inode: i64::MAX as u64, ..grant.identity };
    desk.keep(vec![Put::Grant(Change::New(grant.clone()))]);
    assert_eq!(desk.folder(grant.id), Kept { version: Version(1), value: grant });
}

// spec: I5
pub(super) fn folders_come_in_the_order_of_first_approval_revoked_ones_too(make: Make<'_>) {
    let desk = Desk::new(make);
    let all = ["/c", "/a", "/b", "/d"].map(|root| desk.approve(root));
    desk.keep(vec![changed(&desk, all[1], |grant| grant.state = GrantState::Revoked)]);
    desk.pass(5);
    let at = desk.now().at;
    desk.keep(vec![changed(&desk, all[0], |grant| grant.approved_at = at)]);
    let found = desk.ask(|tx| tx.folders()).expect("folders");
    assert_eq!(folder_ids(&found), all);
    assert_eq!(found[1].value.state, GrantState::Revoked);
}

pub(super) fn a_change_of_a_folder_grows_its_version_by_one(make: Make<'_>) {
    let desk = Desk::new(make);
    let id = desk.approve("/a");
    let before = desk.folder(id);
    let rules = Rules::new(["txt"], [""; 0], Hidden::Skipped, IgnoreFiles::Honoured);
    desk.keep(vec![changed(&desk, id, |grant| grant.rules = rules.expect("sound rules"))]);
    let after = desk.folder(id);
    assert_eq!(after.version, next(before.version));
    assert_eq!(after.value.rules.extensions(), ["txt"]);
}

pub(super) fn a_folder_that_changed_meanwhile_is_not_changed(make: Make<'_>) {
    let desk = Desk::new(make);
    let id = desk.approve("/a");
    let revoke = || changed(&desk, id, |grant| grant.state = GrantState::Revoked);
    let late = revoke();
    desk.keep(vec![revoke()]);
    desk.overtaken(vec![late], vec![]);
    let unknown = Put::Grant(Change::From(Version(1), desk.a_grant("/b")));
    desk.overtaken(vec![unknown], vec![]);
}

// spec: I3
pub(super) fn a_folder_is_approved_for_the_first_time_once(make: Make<'_>) {
    let desk = Desk::new(make);
    let id = desk.approve("/a");
    let again = Grant { label: "other".into(), ..desk.a_grant("/a") };
    desk.overtaken(vec![Put::Grant(Change::New(again))], vec![]);
    let same_id = Grant { id, ..desk.a_grant("/b") };
    desk.overtaken(vec![Put::Grant(Change::New(same_id))], vec![]);
}

// spec: O5
pub(super) fn a_sweep_is_kept_and_leaves_the_version(make: Make<'_>) {
    let desk = Desk::new(make);
    let id = desk.approve("/a");
    let other = desk.approve("/b");
    let before = desk.folder(id);
    desk.pass(60);
    let at = desk.now().at;
    desk.note(vec![Note::Swept(id, at)]);
    let after = desk.folder(id);
    assert_eq!(after, Kept { value: Grant { swept_at: Some(at), ..before.value }, ..before });
    assert_eq!(desk.folder(other).value.swept_at, None);
    desk.pass(60);
    desk.note(vec![Note::Swept(id, later(at, 60))]);
    assert_eq!(desk.folder(id).value.swept_at, Some(later(at, 60)));
}
