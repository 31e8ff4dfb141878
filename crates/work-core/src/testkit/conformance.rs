//! The suite that defines a correct store.
//!
//! Each check is a sentence, opens a fresh store and asks one promise of it. Where a database cannot be as strict as
//! the store in memory, a check takes any refusal, but never a write. To read: `desk` does what use cases do, the
//! other modules are the promises, `model` compares a store with the one in memory over random work, [`transitions`] does
//! every step of a small world on a store.

mod desk;
mod documents;
mod events;
mod folders;
mod head;
mod model;
mod picture;
mod proposals;
mod questions;
mod quotations;
mod requests;
mod results;
mod sources;
#[cfg(test)]
mod strict;
mod tasks;
mod transactions;
pub mod transitions;

use crate::id::{OwnerId, SiteId, WorkspaceId};
use crate::port::{Clock, Store};
use std::sync::Arc;

/// What a fresh store is opened with.
pub struct Opening {
    /// The workspace.
    pub workspace: WorkspaceId,
    /// Its owner.
    pub owner: OwnerId,
    /// The site.
    pub site: SiteId,
    /// The clock that counts.
    pub clock: Arc<dyn Clock>,
}

/// Opens a fresh, empty store. It keeps what it needs, such as a directory, for as long as it lives.
pub type Make<'a> = &'a dyn Fn(Opening) -> Box<dyn Store>;

/// One promise.
type Check = fn(Make<'_>);

/// Every check with its name, in the order of the areas.
const CHECKS: &[(&str, Check)] = crate::conformance_suite!(@areas list []);

/// The names of all checks.
pub fn names() -> impl Iterator<Item = &'static str> {
    CHECKS.iter().map(|(name, _)| *name)
}

/// Runs the check with this name.
///
/// # Panics
/// When the store breaks the promise, or there is no such check.
pub fn check(name: &str, make: Make<'_>) {
    let found = CHECKS.iter().find(|(known, _)| *known == name);
    found.expect("a check of the suite").1(make);
}

/// Runs every check.
///
/// # Panics
/// At the first promise that the store breaks.
pub fn run(make: Make<'_>) {
    CHECKS.iter().for_each(|(_, check)| check(make));
}

/// Makes one test of each check of the suite, for the store that a function opens.
///
/// ```no_run
/// use work_core::memory::MemoryStore;
/// use work_core::port::Store;
/// use work_core::testkit::conformance::Opening;
///
/// fn fresh(o: Opening) -> Box<dyn Store> {
///     Box::new(MemoryStore::new(o.workspace, o.owner, o.site, o.clock))
/// }
///
/// work_core::conformance_suite!(fresh);
/// ```
#[macro_export]
macro_rules! conformance_suite {
    ($make:path) => {
        $crate::conformance_suite! { @areas tests [$make] }
    };
    (@tests [$make:path] $($area:ident { $($check:ident)* })*) => {
        $($(
            #[test]
            fn $check() {
                $crate::testkit::conformance::check(stringify!($check), &$make);
            }
        )*)*
    };
    (@list [] $($area:ident { $($check:ident)* })*) => {
        &[$($((stringify!($check), $area::$check as Check),)*)*]
    };
    (@areas $what:ident [$($make:tt)*]) => {
        $crate::conformance_suite! { @$what [$($make)*]
            head {
                a_new_workspace_is_empty_and_knows_whose_it_is
                a_head_comes_with_the_clock_read_now
                a_head_can_be_written_alone_and_reads_back
                neither_time_nor_era_goes_back
                time_goes_back_exactly_where_an_era_begins
                no_counter_goes_back
                the_log_does_not_grow_without_an_event
                a_batch_of_another_workspace_is_refused
            }
            events {
                events_read_back_as_a_chain_from_the_first
                events_after_a_number_come_oldest_first_and_bounded
                events_about_a_subject_come_newest_first_and_bounded
                an_event_is_found_by_its_act
                a_batch_decided_on_an_older_head_is_overtaken
                an_act_cannot_happen_twice
                an_event_that_does_not_follow_the_last_one_is_refused
            }
            transactions {
                a_snapshot_stays_of_one_moment_while_others_write
                a_snapshot_is_of_the_moment_at_which_it_was_opened
                a_reader_is_not_kept_waiting_by_a_writer
                the_writer_sees_the_latest_and_nobody_changes_it
                the_write_lock_is_one_and_the_next_is_told_busy
                the_lock_is_free_again_after_a_commit_and_after_a_refusal
                dropping_a_lock_changes_nothing
                a_batch_whose_last_change_is_refused_leaves_nothing_behind
                a_batch_whose_last_note_is_refused_leaves_nothing_behind
            }
            folders {
                every_field_of_a_folder_reads_back
                folders_come_in_the_order_of_first_approval_revoked_ones_too
                a_change_of_a_folder_grows_its_version_by_one
                a_folder_that_changed_meanwhile_is_not_changed
                a_folder_is_approved_for_the_first_time_once
                a_sweep_is_kept_and_leaves_the_version
            }
            sources {
                a_source_reads_back_with_the_bytes_of_its_path
                sources_answer_to_ids_in_the_order_asked
                sources_answer_to_places_in_the_order_asked
                sources_under_a_folder_come_by_the_bytes_of_their_paths
                sources_cited_now_come_once_by_id
                a_source_is_named_once
                a_source_without_its_folder_is_refused
                every_kind_of_look_reads_back
                a_look_at_what_has_been_looked_at_since_is_not_kept
                a_look_at_an_unknown_source_is_not_kept
            }
            documents {
                documents_answer_in_the_order_asked_with_their_bytes
                a_document_longer_than_asked_for_is_told_and_not_given
                the_same_document_again_changes_nothing
                a_document_keeps_its_first_bytes_for_ever
            }
            requests {
                a_client_key_reads_back_and_an_unknown_one_is_none
                a_later_request_takes_the_place_of_an_older_one_under_its_key
                a_client_key_without_its_task_is_refused
                old_client_keys_are_forgotten_oldest_first_at_most_as_many
                forgetting_and_remembering_happen_in_their_order
            }
            tasks {
                a_task_reads_back_as_it_was_asked
                a_lease_and_its_run_read_back
                every_end_of_a_task_reads_back
                an_abandoned_task_reads_back
                a_repair_task_reads_back_with_what_came_of_it
                tasks_answer_to_ids_in_the_order_asked
                tasks_come_latest_asked_first_before_one_and_bounded
                open_tasks_come_oldest_first_queued_and_running_alike
                of_two_claims_the_second_is_overtaken
                a_publication_after_another_took_over_is_refused_whole
                what_has_ended_stays_ended
                a_fencing_number_never_goes_down
                a_task_id_is_given_once_and_an_unknown_one_is_not_changed
                a_renewal_keeps_progress_and_is_no_change_of_the_task
                a_renewal_of_what_changed_meanwhile_is_overtaken
                a_renewal_of_what_does_not_run_is_refused
                progress_is_erased_with_the_lease
                runs_answer_to_keys_in_the_order_asked
                every_end_of_a_run_reads_back
                a_run_ends_once
                a_run_names_a_task_that_is_there
                a_repair_names_a_result_that_is_there
                a_failure_keeps_the_digest_of_its_scan
            }
            results {
                a_published_result_reads_back_with_its_revision
                results_answer_to_ids_in_the_order_asked
                results_come_latest_changed_first_and_highest_id_among_equals
                who_cites_a_source_now_and_ever_is_told_by_id
                revisions_answer_to_keys_in_the_order_asked
                the_latest_revisions_of_each_result_come_highest_first
                every_origin_of_a_revision_reads_back
                a_revision_number_is_given_once_and_without_a_gap
                the_first_revision_has_number_one
                a_stored_revision_cannot_be_put_again
                a_result_names_a_revision_that_is_there
                a_revision_names_documents_that_are_there
                a_revision_names_a_run_that_is_there
                a_quotation_names_a_source_that_is_there
                one_proposal_never_becomes_two_revisions
                of_two_applies_the_second_is_overtaken
                a_result_that_changed_meanwhile_is_not_changed
                a_result_id_is_given_once
                quotations_keep_their_versions
            }
            quotations {
                quotations_come_by_result_as_asked_then_by_number
                all_quotations_come_by_result_id_and_most_counts_quotations
                a_quotation_comes_with_its_source_and_the_latest_look
                every_finding_reads_back_with_the_bytes_it_was_found_against
                the_next_accepted_revision_takes_the_place_of_the_quotations
                a_finding_about_an_earlier_revision_is_overtaken
                a_finding_about_no_quotation_is_refused
                a_finding_is_written_with_the_look_that_made_it
            }
            proposals {
                every_field_of_a_proposal_reads_back
                every_end_of_a_proposal_reads_back
                a_proposal_takes_the_place_of_the_one_that_waited
                one_proposal_of_a_kind_waits_for_a_result
                a_repair_and_a_restore_wait_side_by_side_the_repair_first
                proposals_answer_to_ids_in_the_order_asked
                proposals_come_latest_made_first_before_one_and_bounded
                the_latest_proposals_of_each_result_come_latest_first
                waiting_restores_come_first_to_end_first
                a_proposal_keeps_its_era
                the_end_of_a_proposal_is_final
                a_proposal_that_changed_meanwhile_is_not_changed
                a_fingerprint_is_proposed_once
                a_fingerprint_is_used_once
                an_approval_names_a_proposal_that_is_there
                a_proposal_names_documents_and_a_result_that_are_there
            }
            questions {
                a_prefix_finds_the_ids_of_its_kind_in_order_and_bounded
                every_kind_of_id_is_found_by_its_prefix
                a_page_and_one_more_may_be_asked_for_and_no_more
            }
            model {
                random_work_leaves_what_it_leaves_in_memory
            }
        }
    };
}

#[cfg(test)]
mod tests {
    /// The checks that a module defines.
    fn defined(module: &str) -> impl Iterator<Item = &str> {
        let heads = module.lines().filter_map(|line| line.strip_prefix("pub(super) fn "));
        heads.filter_map(|head| head.split_once('(')).map(|(name, _)| name)
    }

    #[test]
    fn no_check_is_forgotten() {
        let modules = [
            include_str!("conformance/documents.rs"),
            include_str!("conformance/events.rs"),
            include_str!("conformance/folders.rs"),
            include_str!("conformance/head.rs"),
            include_str!("conformance/model.rs"),
            include_str!("conformance/proposals.rs"),
            include_str!("conformance/questions.rs"),
            include_str!("conformance/quotations.rs"),
            include_str!("conformance/requests.rs"),
            include_str!("conformance/results.rs"),
            include_str!("conformance/sources.rs"),
            include_str!("conformance/tasks.rs"),
            include_str!("conformance/transactions.rs"),
        ];
        let mut written: Vec<&str> = modules.into_iter().flat_map(defined).collect();
        let mut listed: Vec<&str> = super::names().collect();
        written.sort_unstable();
        listed.sort_unstable();
        assert_eq!(written, listed);
    }
}
