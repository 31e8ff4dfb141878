//! Answers of a store out of which single documents are gone.

use std::collections::BTreeSet;
use work_core::audit::AuditEvent;
use work_core::digest::Digest;
use work_core::folder::Grant;
use work_core::id::{IdKind, IdPrefix, TaskId};
use work_core::port::{
    Asked, Document, Events, Head, Kept, Observed, Proposals, Quotations, Quoted, ReadTx, Request,
    RequestKey, Results, Revisions, Sources, StoreError, Tasks,
};
use work_core::proposal::Proposal;
use work_core::redact::Sealed;
use work_core::result::{Revision, WorkResult};
use work_core::task::{Fence, Run};
use work_core::time::Reading;

/// A snapshot in which these documents are absent.
pub(crate) struct Holes<'a> {
    pub(crate) inner: Box<dyn ReadTx + 'a>,
    pub(crate) lost: BTreeSet<Digest>,
}

impl ReadTx for Holes<'_> {
    fn documents(
        &mut self,
        digests: &[Digest],
        each: usize,
    ) -> Result<Vec<(Digest, Sealed<Document>)>, StoreError> {
        let mut found = self.inner.documents(digests, each)?;
        for (_, document) in found.iter_mut().filter(|(digest, _)| self.lost.contains(digest)) {
            *document = Sealed::new(Document::Absent);
        }
        Ok(found)
    }

    fn head(&mut self) -> Result<(Head, Reading), StoreError> {
        self.inner.head()
    }

    fn folders(&mut self) -> Result<Vec<Kept<Grant>>, StoreError> {
        self.inner.folders()
    }

    fn sources(&mut self, pick: Sources<'_>) -> Result<Vec<Observed>, StoreError> {
        self.inner.sources(pick)
    }

    fn results(&mut self, pick: Results<'_>) -> Result<Vec<Kept<WorkResult>>, StoreError> {
        self.inner.results(pick)
    }

    fn quotations(&mut self, pick: Quotations<'_>) -> Result<Vec<Quoted>, StoreError> {
        self.inner.quotations(pick)
    }

    fn revisions(&mut self, pick: Revisions<'_>) -> Result<Vec<Revision>, StoreError> {
        self.inner.revisions(pick)
    }

    fn tasks(&mut self, pick: Tasks<'_>) -> Result<Vec<Asked>, StoreError> {
        self.inner.tasks(pick)
    }

    fn runs(&mut self, keys: &[(TaskId, Fence)]) -> Result<Vec<Kept<Run>>, StoreError> {
        self.inner.runs(keys)
    }

    fn request(&mut self, key: &RequestKey) -> Result<Option<Request>, StoreError> {
        self.inner.request(key)
    }

    fn proposals(&mut self, pick: Proposals<'_>) -> Result<Vec<Kept<Proposal>>, StoreError> {
        self.inner.proposals(pick)
    }

    fn events(&mut self, pick: Events) -> Result<Vec<AuditEvent>, StoreError> {
        self.inner.events(pick)
    }

    fn ids(
        &mut self,
        of: IdKind,
        prefix: &IdPrefix,
        most: u32,
    ) -> Result<Vec<[u8; 16]>, StoreError> {
        self.inner.ids(of, prefix, most)
    }
}
