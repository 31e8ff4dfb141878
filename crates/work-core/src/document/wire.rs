//! Wire documents: what the library, the command line and other front ends hand on, the same everywhere.
//!
//! Owns their fields. Within a version fields are only added. An unknown or hidden scalar is `null`, a hidden list is
//! `null`, an empty list `[]`. A `path` is for people; where something in it had to be escaped, `path_bytes` (base64)
//! stands beside it. Nothing here is hashed. Sizes are bytes, moments are seconds since the Unix epoch.

use crate::digest::Digest;
use crate::document::export::ExportDoc;
use crate::document::stored::Verification;
use crate::folder::{Grant, GrantState, Hidden, IgnoreFiles};
use crate::id::{GrantId, ResultId, SourceId, TaskId};
use crate::path::RelPath;
use crate::report::{Reached, ScanCounts, ScanLimit};
use crate::result::{ResultState, RevisionNo};
use crate::source::SourceVersion;
use crate::task::Progress;
use crate::time::Timestamp;
use base64::Engine as _;
use serde::Serialize;

/// A document with a name and a version.
pub trait Named: Serialize {
    /// `work.NAME/VERSION`.
    const SCHEMA: &'static str;
}

macro_rules! named {
    ($($name:ident: $schema:literal),* $(,)?) => {$(
        impl Named for $name {
            const SCHEMA: &'static str = $schema;
        }
    )*

        /// The names of all documents, in order, without `work.` and version.
        pub const NAMES: &[&str] = &[$($schema),*];

        /// The JSON Schema of the document named `name`, as `work.NAME/VERSION` or `NAME`.
        #[cfg(feature = "schema")]
        #[must_use]
        pub fn schema(name: &str) -> Option<serde_json::Value> {
            let is = |schema: &str| schema == name || schema.strip_prefix("work.").is_some_and(|rest| {
                rest.split('/').next() == Some(name)
            });
            $(if is($schema) {
                let mut schema = schemars::schema_for!($name).to_value();
                schema["$id"] = $schema.into();
                return Some(schema);
            })*
            None
        }
    };
}

named! {
    AppliedDoc: "work.applied/1",
    BackupDoc: "work.backup/1",
    CheckDoc: "work.check/1",
    CheckedInstance: "work.instance/1",
    ComparisonDoc: "work.comparison/1",
    ErrorDoc: "work.error/1",
    DoctorDoc: "work.doctor/1",
    ExportDoc: "work.export/1",
    FolderDoc: "work.folder/1",
    FoldersDoc: "work.folders/1",
    HistoryDoc: "work.history/1",
    LogDoc: "work.log/1",
    ProposalDoc: "work.proposal/1",
    ProposalsDoc: "work.proposals/1",
    RefreshDoc: "work.refresh/1",
    ResultDoc: "work.result/1",
    ResultsDoc: "work.results/1",
    RevisionDoc: "work.revision/1",
    StatusDoc: "work.status/1",
    TaskDoc: "work.task/1",
    TasksDoc: "work.tasks/1",
    VerifyDoc: "work.verify/1",
    WorkedDoc: "work.worked/1",
}

macro_rules! document {
    ($($(#[$doc:meta])* $name:ident { $($(#[$field_doc:meta])* $field:ident: $type:ty,)* })*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, Serialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        pub struct $name {
            $($(#[$field_doc])* pub $field: $type,)*
        }
    )*};
}

// After the macro, which they use.
mod attention;
mod proposal;

pub use attention::{
    AttentionDoc, CheckDoc, CountsDoc, FailedDoc, QuotationsDoc, RefreshDoc, SourcesDoc, StatusDoc,
    TurnedDoc, Verdict, WaitingDoc,
};
pub use proposal::{
    AppliedDoc, ComparisonDoc, HistoryDoc, ProposalDoc, ProposalEntry, ProposalsDoc, RevisionDoc,
    RevisionEntry,
};

document! {
    /// `work.result/1`: a durable answer and what became of its sources.
    ResultDoc {
        /// Its id.
        artifact_id: ResultId,
        /// What kind of answer: `excerpt_report`.
        kind: &'static str,
        /// The query that it answers.
        query: String,
        /// The folders that were searched; withdrawn ones are left out.
        folders: Option<Vec<GrantId>>,
        /// What it is worth now.
        state: ResultState,
        /// One for each quotation of a source that is not as cited.
        causes: Option<Vec<CauseDoc>>,
        /// The oldest look that the state rests on.
        observed_at: Option<Timestamp>,
        /// The revision shown.
        revision: Option<RevisionNo>,
        /// The revision that this one brought back.
        restored_from: Option<RevisionNo>,
        /// When the result was first published.
        created_at: Option<Timestamp>,
        /// When its accepted revision last changed.
        updated_at: Option<Timestamp>,
        /// What it says.
        body: Option<BodyDoc>,
        /// What was scanned for it.
        scan: Option<ScanDoc>,
        /// What was checked when it was published.
        verification: Option<VerificationDoc>,
    }

    /// A result in a list: as [`ResultDoc`], without body and scan.
    ResultEntry {
        /// Its id.
        artifact_id: ResultId,
        /// What kind of answer: `excerpt_report`.
        kind: &'static str,
        /// The query that it answers.
        query: String,
        /// The folders that were searched; withdrawn ones are left out.
        folders: Option<Vec<GrantId>>,
        /// What it was worth when its sources were last looked at.
        state: ResultState,
        /// One for each quotation of a source that is not as cited.
        causes: Option<Vec<CauseDoc>>,
        /// The oldest look that the state rests on.
        observed_at: Option<Timestamp>,
        /// The accepted revision.
        revision: Option<RevisionNo>,
        /// The revision that this one brought back.
        restored_from: Option<RevisionNo>,
        /// When the result was first published.
        created_at: Option<Timestamp>,
        /// When its accepted revision last changed.
        updated_at: Option<Timestamp>,
        /// What was checked when it was published.
        verification: Option<VerificationDoc>,
    }

    /// `work.results/1`: results, the latest changed first.
    ResultsDoc {
        /// At most 100.
        results: Vec<ResultEntry>,
        /// The cursor of what follows, if anything does.
        next: Option<String>,
    }

    /// One side of a difference: what a revision or a proposal says and rests on.
    ContentDoc {
        /// The revision; `null` for what is proposed.
        revision: Option<RevisionNo>,
        /// The digest of its stored body.
        digest: Digest,
        /// What it says.
        body: BodyDoc,
        /// What was scanned for it.
        scan: Option<ScanDoc>,
        /// What was checked when it was published.
        verification: Option<VerificationDoc>,
    }

    /// The body of a report.
    BodyDoc {
        /// Its quotations, best first.
        excerpts: Vec<ExcerptDoc>,
    }

    /// One exact quotation.
    ExcerptDoc {
        /// Its number, from 1.
        n: u32,
        /// Its source.
        source_id: SourceId,
        /// The folder through which it was found.
        folder: GrantId,
        /// That folder's label.
        label: String,
        /// The file under that folder.
        #[serde(flatten)]
        path: PathDoc,
        /// The version quoted.
        version: SourceVersion,
        /// How the file's text is encoded.
        encoding: &'static str,
        /// The first byte of the passage and the one after its last.
        bytes: [u64; 2],
        /// The first and the last line of the passage, from 1.
        lines: [u32; 2],
        /// The headings above it, the outermost first.
        heading: Vec<String>,
        /// What the bytes say.
        text: String,
        /// SHA-256 of the passage's bytes.
        digest: Digest,
        /// What became of it, if its source is not as cited.
        finding: Option<&'static str>,
    }

    /// A path for people, with its bytes where something had to be escaped.
    PathDoc {
        /// The path, what is not printable written out.
        path: String,
        /// Its bytes in base64.
        #[serde(skip_serializing_if = "Option::is_none")]
        path_bytes: Option<String>,
    }

    /// Why a quotation's source is not as cited.
    CauseDoc {
        /// The source.
        source_id: SourceId,
        /// The file.
        #[serde(flatten)]
        path: PathDoc,
        /// What was seen: `changed`, `missing` or `unstable`.
        observed: &'static str,
        /// The quotation's number.
        excerpt: u32,
        /// What became of the quotation, if it is known.
        finding: Option<&'static str>,
        /// Where the same version stands now under the same folder, if its file is missing and was found again.
        moved_to: Option<String>,
        /// That path's bytes in base64, where something had to be escaped.
        #[serde(skip_serializing_if = "Option::is_none")]
        moved_to_bytes: Option<String>,
    }

    /// What a scan visited.
    ScanDoc {
        /// How long it took; `null` when a folder of it was withdrawn.
        elapsed_ms: Option<u64>,
        /// What ended it early; `null` too when a folder of it was withdrawn.
        limit: Option<ScanLimit>,
        /// Each folder; withdrawn ones are left out.
        folders: Vec<FolderScanDoc>,
    }

    /// What a scan visited of one folder.
    FolderScanDoc {
        /// The folder.
        folder: GrantId,
        /// Its label.
        label: String,
        /// Whether it could be gone into.
        reached: Reached,
        /// What was counted.
        #[serde(flatten)]
        counts: ScanCounts,
    }

    /// A saved record of a source check. It says that versions matched when checked, never that a claim is true.
    VerificationDoc {
        /// How it was checked.
        method: String,
        /// When.
        checked_at: Timestamp,
        /// What the check does not say.
        limits: Vec<String>,
        /// The digest of what was checked.
        dependencies: Digest,
    }

    /// `work.task/1`: a durable request for work.
    TaskDoc {
        /// Its id.
        task_id: TaskId,
        /// `report` or `repair`.
        kind: &'static str,
        /// What is asked.
        query: String,
        /// `queued`, `running`, `succeeded`, `failed` or `cancelled`.
        state: &'static str,
        /// Which attempt this is; 0 before the first.
        attempt: u32,
        /// How far it has come.
        progress: Option<Progress>,
        /// When it was asked for.
        created_at: Timestamp,
        /// When it last changed.
        updated_at: Timestamp,
        /// The result that came of it, or that it repairs.
        artifact_id: Option<ResultId>,
        /// The proposal that came of it.
        proposal_id: Option<crate::id::ProposalId>,
        /// `published` or `no_change`.
        outcome: Option<&'static str>,
        /// Why it failed.
        error: Option<TaskErrorDoc>,
        /// What was scanned before it failed.
        scan: Option<ScanDoc>,
    }

    /// Why a task failed.
    TaskErrorDoc {
        /// The code.
        code: &'static str,
        /// In words.
        message: String,
    }

    /// `work.tasks/1`: tasks, the latest asked first.
    TasksDoc {
        /// At most 100.
        tasks: Vec<TaskDoc>,
        /// The cursor of what follows, if anything does.
        next: Option<String>,
    }

    /// `work.worked/1`: what one run of a worker ended.
    WorkedDoc {
        /// The tasks that it ended, in order; the latest 100.
        tasks: Vec<TaskDoc>,
        /// How many it ended.
        ended: u64,
        /// How many looks at everything that is quoted found a result worth something else than before.
        refreshed: u64,
    }

    /// `work.folder/1`: a folder that was approved or revoked, and what changed.
    FolderDoc {
        /// The folder.
        folder: GrantEntry,
        /// `approved`, `approved_again`, `rules_changed`, `revoked` or `unchanged`.
        change: &'static str,
        /// Cited sources that were not looked at again in time: they show when what quotes them is opened.
        not_looked_at: u64,
    }

    /// `work.folders/1`: all folders, in the order of their first approval.
    FoldersDoc {
        /// Revoked ones too.
        folders: Vec<GrantEntry>,
    }

    /// One folder.
    GrantEntry {
        /// Its id.
        folder: GrantId,
        /// Its root, for people: with the directory in `work.instance/1` the only absolute path that a document shows.
        /// An error may repeat one that the person typed.
        path: String,
        /// Its root's bytes in base64, where something had to be escaped.
        #[serde(skip_serializing_if = "Option::is_none")]
        path_bytes: Option<String>,
        /// Its label.
        label: String,
        /// `active` or `revoked`.
        state: &'static str,
        /// What of it may be read.
        rules: RulesDoc,
        /// When it was last approved.
        approved_at: Timestamp,
        /// What its root is now, where that was looked at: `yes` if it is the directory that was approved.
        reached: Option<Reached>,
    }

    /// What of a folder may be read.
    RulesDoc {
        /// Extensions, in lower case.
        extensions: Vec<String>,
        /// Exclusion globs.
        exclude: Vec<String>,
        /// What happens to names that begin with a dot.
        hidden: Hidden,
        /// What becomes of ignore files.
        ignore_files: IgnoreFiles,
    }

    /// `work.log/1`: audit events, the oldest first.
    LogDoc {
        /// At most 100.
        events: Vec<EventDoc>,
        /// The number to go on after, if more follow.
        next: Option<u64>,
    }

    /// One audit event.
    EventDoc {
        /// Its number.
        seq: u64,
        /// The act that it is the record of: what an unknown outcome is found again by.
        act: crate::id::ActId,
        /// When.
        at: Timestamp,
        /// What happened; `null` for one that this version does not know.
        kind: Option<String>,
        /// The ids and numbers that it is about.
        ids: serde_json::Map<String, serde_json::Value>,
        /// Its digest.
        digest: Digest,
        /// The digest of the one before.
        previous: Digest,
    }

    /// `work.doctor/1`: what was checked and found.
    DoctorDoc {
        /// Whether nothing worse than a note was found.
        ok: bool,
        /// What was found.
        findings: Vec<FindingDoc>,
        /// Events in the log, and the digest of the last: what to keep elsewhere, to notice later that its end was cut.
        events: Option<u64>,
        /// That digest.
        chain: Option<Digest>,
    }

    /// One finding of the doctor.
    FindingDoc {
        /// Which.
        code: &'static str,
        /// `note`, `warning` or `damage`.
        severity: &'static str,
        /// In words.
        what: String,
        /// What to do.
        next: String,
    }

    /// `work.instance/1`: an instance that was created or was there.
    CheckedInstance {
        /// Its directory, absolute.
        home: String,
        /// `created`, `unchanged` or `new_token`.
        change: &'static str,
        /// The schema of its database.
        schema: u32,
    }

    /// `work.backup/1`: a copy of all records. It is private and in clear text.
    BackupDoc {
        /// The file, as it was named.
        file: String,
        /// Its size in bytes.
        size: u64,
        /// Events in its log.
        events: u64,
        /// The digest of the last: what to keep elsewhere.
        chain: Digest,
    }

    /// `work.verify/1`: an export against files as they are now.
    VerifyDoc {
        /// Whether every quotation is intact.
        passed: bool,
        /// One for each quotation of the export.
        quotations: Vec<VerdictDoc>,
    }

    /// What became of one quotation of an export.
    VerdictDoc {
        /// Its number, from 1.
        n: u32,
        /// The label of the folder it is said to be from.
        label: String,
        /// The file under that folder.
        #[serde(flatten)]
        path: PathDoc,
        /// `intact`, `moved`, `ambiguous`, `cosmetic`, `altered`, `beyond_limit` or `gone`; or `unreadable`, where its
        /// file could not be looked at.
        verdict: &'static str,
        /// Where the same version of a missing file was seen instead.
        moved_to: Option<String>,
        /// That path's bytes in base64, where something had to be escaped.
        #[serde(skip_serializing_if = "Option::is_none")]
        moved_to_bytes: Option<String>,
    }

    /// `work.error/1`: what failed.
    ErrorDoc {
        /// The code.
        code: &'static str,
        /// In words.
        message: String,
        /// What to do next.
        hint: String,
        /// Whether doing the same again can help.
        retryable: bool,
        /// Ids that help: candidates of an ambiguous prefix, the act of an unknown outcome.
        details: serde_json::Map<String, serde_json::Value>,
    }
}

impl PathDoc {
    /// A path as documents show it.
    #[must_use]
    pub fn of(path: &RelPath) -> Self {
        let encoded = || base64::engine::general_purpose::STANDARD.encode(path.bytes());
        Self { path: path.to_string(), path_bytes: path.is_escaped().then(encoded) }
    }
}

impl VerificationDoc {
    /// A verification as documents show it.
    #[must_use]
    pub fn of(check: Verification) -> Self {
        let Verification { method, checked_at, limits, dependencies } = check;
        Self { method, checked_at, limits, dependencies }
    }
}

impl GrantEntry {
    /// A grant as documents show it.
    #[must_use]
    pub fn of(grant: &Grant) -> Self {
        let path = grant.root.to_string();
        let escaped = path.as_bytes() != grant.root.bytes();
        let encoded = || base64::engine::general_purpose::STANDARD.encode(grant.root.bytes());
        Self {
            folder: grant.id,
            path,
            path_bytes: escaped.then(encoded),
            label: grant.label.clone(),
            state: match grant.state {
                GrantState::Active => "active",
                GrantState::Revoked => "revoked",
            },
            rules: RulesDoc {
                extensions: grant.rules.extensions().to_vec(),
                exclude: grant.rules.exclude().to_vec(),
                hidden: grant.rules.hidden,
                ignore_files: grant.rules.ignore_files,
            },
            approved_at: grant.approved_at,
            reached: None,
        }
    }
}

impl ResultDoc {
    /// The result as a list shows it.
    #[must_use]
    pub fn into_entry(self) -> ResultEntry {
        let Self {
            artifact_id,
            kind,
            query,
            folders,
            state,
            causes,
            observed_at,
            revision,
            restored_from,
            created_at,
            updated_at,
            body: _,
            scan: _,
            verification,
        } = self;
        ResultEntry {
            artifact_id,
            kind,
            query,
            folders,
            state,
            causes,
            observed_at,
            revision,
            restored_from,
            created_at,
            updated_at,
            verification,
        }
    }
}
