//! Exports of real reports, for tests.

use super::{ExportDoc, ExportParts, StoredTexts};
use crate::digest::Digest;
use crate::document::stored::{self, Dependencies};
use crate::folder::{Grant, Grants};
use crate::id::{GrantId, OwnerId, ResultId, SiteId, WorkspaceId};
use crate::limits::Limits;
use crate::memory::{MemoryDoor, MemoryStore};
use crate::path::HostPath;
use crate::port::{Document, Patience, Quiet, ReadTx, Results, Revisions, Store};
use crate::redact::{self, Access};
use crate::result::{ResultState, RevisionNo};
use crate::retrieve::Query;
use crate::testkit::fakes::{CountingIds, FakeClock};
use crate::workspace::{ReportAsk, Workspace};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// A report of some files, exported, and the door that it was made through.
pub(crate) struct Sample {
    pub(crate) door: Arc<MemoryDoor>,
    pub(crate) grants: Vec<(String, Grant)>,
    pub(crate) doc: ExportDoc,
}

impl Sample {
    /// A report on "backups kept" over these files in `/docs` and `/more`.
    pub(crate) fn of(files: &[(&str, &[u8])]) -> Self {
        let door = Arc::new(MemoryDoor::new().folder("/docs").folder("/more"));
        files.iter().for_each(|(path, bytes)| door.put(path, *bytes));
        let store = Arc::new(MemoryStore::new(
            WorkspaceId::from_bytes([1; 16]),
            OwnerId::from_bytes([2; 16]),
            SiteId::from_bytes([3; 16]),
            Arc::new(FakeClock::at(1_000)),
        ));
        let work = Workspace::new(store.clone(), door.clone(), Arc::new(CountingIds::new()));
        for folder in ["/docs", "/more"] {
            work.approve(&HostPath::from_bytes(folder), None, &mut Quiet).expect("approved");
        }
        let ask = ReportAsk::everywhere(Query::parse("backups kept").expect("a query"));
        let report = work.report(&ask, &mut Quiet).expect("a report");
        let patience = Patience { lock: Duration::ZERO, whole: Duration::from_secs(3) };
        let mut tx = store.read(patience).expect("a snapshot");
        let folders = tx.folders().expect("folders").into_iter().map(|kept| kept.value);
        let grants: Vec<Grant> = folders.collect();
        let doc = export(tx.as_mut(), report.artifact_id, &grants);
        let grants = grants.into_iter().map(|grant| (grant.label.clone(), grant)).collect();
        Self { door, grants, doc }
    }

    /// A report of two files in two folders, one of them with a name that is no text.
    pub(crate) fn of_two() -> Self {
        Self::of(&[
            ("/docs/it/a.md", b"# Backups\n\nBackups are kept for 35 days.\n\nAsk first.\n"),
            ("/more/\u{202e}b.txt", b"\xff\xfeO\0l\0d\0 \0b\0a\0c\0k\0u\0p\0s\0"),
        ])
    }

    /// The document as JSON.
    pub(crate) fn json(&self) -> Value {
        serde_json::to_value(&self.doc).expect("JSON")
    }
}

/// The export of the accepted revision of a result.
fn export(tx: &mut dyn ReadTx, id: ResultId, grants: &[Grant]) -> ExportDoc {
    let limits = Limits::standard();
    let result = tx.results(Results::Ids(&[id])).expect("results").remove(0).value;
    let keys = [(id, RevisionNo::FIRST)];
    let revision = tx.revisions(Revisions::Keys(&keys)).expect("revisions").remove(0);
    let mut text = |digest: Digest| {
        let (_, sealed) = tx.documents(&[digest], limits.scan_bytes).expect("documents").remove(0);
        match redact::for_checking(sealed) {
            Document::Bytes(bytes) => String::from_utf8(bytes).expect("JSON is text"),
            other @ (Document::TooLong | Document::Absent) => panic!("{other:?}"),
        }
    };
    let texts = StoredTexts {
        body: text(revision.body),
        dependencies: text(revision.dependencies),
        verification: Some(text(revision.verification)),
        scan: Some(text(revision.scan)),
    };
    let document = |text: &str| Document::Bytes(text.as_bytes().to_vec());
    let dependencies: Dependencies =
        stored::read_dependencies((revision.dependencies, &document(&texts.dependencies)), &limits)
            .expect("dependencies");
    let body = (revision.body, &document(&texts.body));
    let body = stored::read_body(body, &dependencies, &limits).expect("a body");
    let check = document(texts.verification.as_ref().expect("a text"));
    let scan = document(texts.scan.as_ref().expect("a text"));
    let scan = stored::read_scan((revision.scan, &scan), &limits).expect("a scan");
    let labels: BTreeMap<GrantId, String> =
        grants.iter().map(|grant| (grant.id, grant.label.clone())).collect();
    let (head, _) = tx.head().expect("a head");
    ExportDoc::new(ExportParts {
        result: &result,
        revision: &revision,
        state: ResultState::SourcesChecked,
        observed_at: Some(revision.created_at),
        body: &body,
        dependencies: &dependencies,
        verification: stored::read_verification((revision.verification, &check), &limits),
        scan: Some(Access::new(Grants::new(grants.to_vec())).scan(scan)),
        texts,
        labels: &labels,
        events: head.acts,
        chain: head.chain,
    })
}
