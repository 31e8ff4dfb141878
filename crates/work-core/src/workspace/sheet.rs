//! A sheet: the documents that a revision or a proposal holds by their digests, as read in one snapshot.

use super::answer;
use crate::digest::Digest;
use crate::document::stored::{self, Dependencies, Verification};
use crate::document::wire::{BodyDoc, ContentDoc, ScanDoc, VerificationDoc};
use crate::limits::Limits;
use crate::port::{Document, ReadTx, StoreError};
use crate::proposal::Proposal;
use crate::quote::{Finding, Quotation};
use crate::redact::{self, Access, Sealed};
use crate::report::{Body, ScanRecord};
use crate::result::{Cited, Revision, RevisionNo};
use std::collections::BTreeMap;

/// Which documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Content {
    pub(super) body: Digest,
    pub(super) dependencies: Digest,
    pub(super) verification: Digest,
    pub(super) scan: Digest,
}

impl From<&Revision> for Content {
    fn from(revision: &Revision) -> Self {
        let Revision { body, dependencies, verification, scan, .. } = *revision;
        Self { body, dependencies, verification, scan }
    }
}

impl From<&Proposal> for Content {
    fn from(proposal: &Proposal) -> Self {
        let Proposal { body, dependencies, verification, scan, .. } = *proposal;
        Self { body, dependencies, verification, scan }
    }
}

/// The documents, sealed but for what they rest on.
pub(super) struct Sheet {
    pub(super) content: Content,
    /// What they rest on; `None` if the record of it cannot be read.
    pub(super) dependencies: Option<Dependencies>,
    documents: BTreeMap<Digest, Sealed<Document>>,
}

/// The documents opened and read, for somebody who may see them.
pub(super) struct Opened {
    pub(super) body: Body,
    pub(super) dependencies: Dependencies,
    pub(super) verification: Option<Verification>,
    pub(super) scan: Option<ScanRecord>,
}

impl Sheet {
    /// Reads the documents, none longer than its form may be.
    pub(super) fn load(
        tx: &mut dyn ReadTx,
        content: Content,
        limits: &Limits,
    ) -> Result<Self, StoreError> {
        let mut documents = BTreeMap::new();
        for (digest, most) in [
            (content.body, limits.body_bytes),
            (content.dependencies, limits.dependency_bytes),
            (content.verification, limits.verification_bytes),
            (content.scan, limits.scan_bytes),
        ] {
            documents.extend(tx.documents(&[digest], most)?);
        }
        let rests_on = documents.get(&content.dependencies).cloned().map(redact::for_checking);
        let dependencies = rests_on.and_then(|document| {
            stored::read_dependencies((content.dependencies, &document), limits)
        });
        Ok(Self { content, dependencies, documents })
    }

    /// What it rests on; nothing if the record of it cannot be read, and then it stays shut.
    pub(super) fn cited(&self) -> Vec<Cited> {
        self.dependencies.as_ref().map(Dependencies::cited).unwrap_or_default()
    }

    /// The body, to compare its quotations with bytes or with another body. Shows nothing to anybody.
    pub(super) fn body_to_compare(&self, limits: &Limits) -> Option<Body> {
        let document = redact::for_checking(self.documents.get(&self.content.body).cloned()?);
        stored::read_body((self.content.body, &document), self.dependencies.as_ref()?, limits)
    }

    /// Its quotations, each with what it cites, to look for them in bytes.
    pub(super) fn quotations(&self, limits: &Limits) -> Vec<(Cited, Quotation)> {
        let body = self.body_to_compare(limits).map(|body| body.quotations).unwrap_or_default();
        self.cited().into_iter().zip(body).collect()
    }

    /// The documents, if nothing that they rest on is hidden; `None` too if the body cannot be read.
    pub(super) fn open(&self, access: &Access, limits: &Limits) -> Option<Opened> {
        let dependencies = self.dependencies.clone()?;
        let rests_on = self.cited();
        let open = |digest| {
            answer::opened(access, self.documents.get(&digest).cloned()?, &rests_on)
                .map(|document| (digest, document))
        };
        let (digest, body) = open(self.content.body)?;
        let body = stored::read_body((digest, &body), &dependencies, limits)?;
        let scan = open(self.content.scan)
            .and_then(|(digest, document)| stored::read_scan((digest, &document), limits));
        let check = open(self.content.verification)
            .and_then(|(digest, document)| stored::read_verification((digest, &document), limits))
            .filter(|check| check.dependencies == self.content.dependencies);
        Some(Opened { body, dependencies, verification: check, scan })
    }

    /// The stored text of each document, for somebody who may see them: body, dependencies, verification, scan.
    pub(super) fn texts(&self, access: &Access) -> [Option<String>; 4] {
        let rests_on = self.cited();
        let Content { body, dependencies, verification, scan } = self.content;
        [body, dependencies, verification, scan].map(|digest| {
            let document = self.documents.get(&digest).cloned()?;
            match answer::opened(access, document, &rests_on)? {
                Document::Bytes(bytes) => String::from_utf8(bytes).ok(),
                Document::TooLong | Document::Absent => None,
            }
        })
    }
}

impl Opened {
    /// The body as documents show it, each quotation with what became of it.
    pub(super) fn body(&self, access: &Access, found: &BTreeMap<u32, Finding>) -> BodyDoc {
        answer::body(self.body.clone(), &self.dependencies, access.grants(), found)
    }

    /// The scan record as far as it may be told.
    pub(super) fn scan(&self, access: &Access) -> Option<ScanDoc> {
        self.scan.clone().map(|scan| access.scan(scan))
    }

    /// All of it as documents show one side of a difference.
    pub(super) fn side(
        self,
        revision: Option<RevisionNo>,
        digest: Digest,
        access: &Access,
    ) -> ContentDoc {
        let found = BTreeMap::new();
        ContentDoc {
            revision,
            digest,
            body: self.body(access, &found),
            scan: self.scan(access),
            verification: self.verification.map(VerificationDoc::of),
        }
    }
}
