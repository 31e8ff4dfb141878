//! What ended a command before its end: a refusal or a failure, with what helps to act on it.
//!
//! Owns the way from the errors of use cases to one shape; their codes are the core's. What to do next is
//! [`hint`](crate::hint)'s.

use serde_json::{Map, Value};
use std::io::ErrorKind;
use work_core::code::{Code, Coded};
use work_core::document::export::NotAnExport;
use work_core::document::{render, wire};
use work_core::folder::BadRules;
use work_core::id::{ProposalId, ResultId};
use work_core::port::AdmitRefusal;
use work_core::result::RevisionNo;
use work_core::retrieve::InvalidQuery;
use work_core::workspace::{
    ApplyError, ApproveError, AskError, AskRepairError, BackupRefusal, CancelError, CheckError,
    ExportError, Failure, FindError, HistoryError, ListError, ProposalError, RepairError,
    RestoreError, RevokeError, RunError, ShowError,
};
use work_store::instance::InstanceError;

/// Why a command did not do what it was asked.
#[derive(Clone, Debug)]
pub(crate) struct Fault {
    /// Its code.
    pub(crate) code: Code,
    /// What failed, in words.
    pub(crate) message: String,
    /// What it is about.
    pub(crate) about: About,
    /// The proposal that was refused, if it is known.
    pub(crate) refused: Option<Box<Refused>>,
    /// Ids that help.
    pub(crate) details: Map<String, Value>,
    /// Sentences for people that say more.
    pub(crate) more: Vec<String>,
    /// The exit code, if a signal ended it.
    pub(crate) exit: Option<u8>,
}

/// What a fault is about: it decides which command helps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum About {
    /// The instance.
    Instance,
    /// The command line.
    Arguments,
    /// A folder that is to be approved.
    NewFolder,
    /// A folder that is, holds or lies in the instance's own directory.
    OwnFolder,
    /// One folder more than there may be.
    FolderTooMany,
    /// The access token.
    Token,
    /// A folder.
    Folder,
    /// A result.
    Result,
    /// A task.
    Task,
    /// A proposal.
    Proposal,
    /// An approval that does not say what it approves.
    Approval(ProposalId),
    /// A task that ended because the person stopped it.
    Stopped,
    /// A query that is too long.
    LongQuery,
    /// A repair of this result that proposes nothing.
    Repair(ResultId),
    /// A revision that this result does not have.
    Revision(ResultId),
    /// A result that was made and, because the person stopped it, not shown.
    Unshown(ResultId),
    /// A proposal that was made and, because the person stopped it, not shown.
    UnshownProposal(ProposalId),
    /// The name of a document.
    Schema,
    /// What the output goes to.
    Output,
    /// A file that the command was to write.
    NewFile,
    /// A file that was to be an export.
    ExportFile,
    /// A directory that was to be a folder of an export.
    VerifyFolder,
    /// A file that was to be a backup.
    BackupFile,
}

/// A proposal that was refused, with what a new one would be made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Refused {
    /// It.
    pub(crate) proposal: ProposalId,
    /// Whose next revision.
    pub(crate) result: ResultId,
    /// The revision that it would bring back.
    pub(crate) restores: Option<RevisionNo>,
}

/// How a command ends early.
#[derive(Debug)]
pub(crate) enum Ended {
    /// With a fault to tell.
    Fault(Box<Fault>),
    /// Nobody reads any more.
    PipeClosed,
}

impl Fault {
    /// A fault of the program's own.
    pub(crate) fn new(code: Code, message: impl Into<String>) -> Self {
        let arguments =
            [Code::InvalidArgument, Code::InvalidQuery, Code::InvalidCursor].contains(&code);
        let about = if arguments { About::Arguments } else { About::Instance };
        let (details, more) = (Map::new(), Vec::new());
        Self { code, message: message.into(), about, refused: None, details, more, exit: None }
    }

    /// The same, said of what the person typed.
    pub(crate) fn named(self, typed: &str) -> Self {
        let message = format!("{typed}: {}", self.message);
        Self { message, ..self }
    }

    /// A use case's error, as it says itself.
    fn of(error: &impl Coded) -> Self {
        Self::new(error.code(), error.to_string())
    }

    /// The same of a repair, where that changes what to do next.
    pub(crate) fn of_repair(self, result: ResultId) -> Self {
        let by_sources =
            [Code::NoMatches, Code::NoSources, Code::EvidenceUnavailable, Code::RefreshIncomplete];
        if by_sources.contains(&self.code) { self.about(About::Repair(result)) } else { self }
    }

    /// A signal came before anything was asked for.
    pub(crate) fn stopped_before_asking() -> Self {
        Self::new(Code::Cancelled, "stopped before anything was asked for").about(About::Task)
    }

    /// A signal came when the result was kept and before it was shown.
    pub(crate) fn stopped_before_showing(result: ResultId) -> Self {
        let message = "stopped before the result was shown; it is kept";
        let mut fault = Self::new(Code::Cancelled, message).about(About::Unshown(result));
        fault.details.insert("artifact_id".into(), result.to_string().into());
        fault
    }

    /// A signal came when the proposal was made and before it was shown.
    pub(crate) fn stopped_before_reviewing(proposal: ProposalId) -> Self {
        let message = "stopped before the proposal was shown; it waits, and nothing has changed";
        let mut fault = Self::new(Code::Cancelled, message).about(About::UnshownProposal(proposal));
        fault.details.insert("proposal_id".into(), proposal.to_string().into());
        fault
    }

    /// The same about a proposal that was refused.
    pub(crate) fn refused(mut self, refused: Refused) -> Self {
        self.details.insert("proposal_id".into(), refused.proposal.to_string().into());
        self.details.insert("artifact_id".into(), refused.result.to_string().into());
        self.refused = Some(Box::new(refused));
        self
    }

    /// The same about something.
    pub(crate) fn about(self, about: About) -> Self {
        Self { about, ..self }
    }

    /// The same with another exit code.
    pub(crate) fn exit(self, exit: u8) -> Self {
        Self { exit: Some(exit), ..self }
    }

    /// The same with the task that it left behind.
    fn task(mut self, task: &wire::TaskDoc) -> Self {
        self.details.insert("task_id".into(), task.task_id.to_string().into());
        if let Some(scan) = &task.scan {
            self.more = render::scanned(scan);
            self.details.insert("scan".into(), serde_json::to_value(scan).unwrap_or_default());
        }
        self
    }
}

impl From<Fault> for Ended {
    fn from(fault: Fault) -> Self {
        Self::Fault(Box::new(fault))
    }
}

impl From<Failure> for Fault {
    fn from(failure: Failure) -> Self {
        let mut fault = Self::of(&failure);
        if let Failure::UnknownOutcome { act, cause } = failure {
            fault.details.insert("act".into(), act.to_string().into());
            fault.details.insert("cause".into(), cause.code().as_str().into());
        }
        fault
    }
}

impl From<FindError> for Fault {
    fn from(error: FindError) -> Self {
        match error {
            FindError::Failed(cause) => cause.into(),
            FindError::Ambiguous(ref candidates) => {
                let mut fault = Self::of(&error);
                fault.more = candidates.iter().map(|id| format!("could be {id}")).collect();
                fault.details.insert("candidates".into(), candidates.clone().into());
                fault
            }
            refused @ (FindError::Unknown | FindError::NotAPrefix(_)) => Self::of(&refused),
        }
    }
}

impl From<RunError> for Fault {
    fn from(error: RunError) -> Self {
        match error {
            RunError::Ask(cause) => cause.into(),
            RunError::Show(cause) => Self::from(cause).about(About::Result),
            RunError::Find(cause) => Self::from(cause).about(About::Task),
            RunError::Failed(cause) => Self::from(cause),
            RunError::Unanswered(ref task, _) => Self::of(&error).task(task).about(About::Task),
            RunError::Cancelled(ref task) => Self::of(&error).task(task).about(About::Task),
            RunError::Stopped(task) => {
                let mut fault = Self::of(&error).about(About::Stopped);
                fault.details.insert("task_id".into(), task.to_string().into());
                fault
            }
            RunError::Lost(_) => Self::of(&error).about(About::Task),
        }
    }
}

impl From<AskRepairError> for Fault {
    fn from(error: AskRepairError) -> Self {
        match error {
            AskRepairError::Show(cause) => cause.into(),
            AskRepairError::Failed(cause) => cause.into(),
            refused @ (AskRepairError::Withheld(_)
            | AskRepairError::RefreshIncomplete
            | AskRepairError::QueueFull(_)
            | AskRepairError::KeyConflict) => Self::of(&refused).about(About::Result),
        }
    }
}

impl From<RepairError> for Fault {
    fn from(error: RepairError) -> Self {
        match error {
            RepairError::Ask(cause) => cause.into(),
            RepairError::Run(cause) => cause.into(),
            RepairError::Show(cause) => cause.into(),
        }
    }
}

impl From<RestoreError> for Fault {
    fn from(error: RestoreError) -> Self {
        match error {
            RestoreError::Show(cause) => cause.into(),
            RestoreError::Failed(cause) => cause.into(),
            refused @ (RestoreError::Unknown
            | RestoreError::UnknownRevision(_)
            | RestoreError::AlreadyAccepted(_)
            | RestoreError::Withheld(_)
            | RestoreError::RefreshIncomplete
            | RestoreError::TooManyPending(_)
            | RestoreError::TooLarge(_)) => Self::of(&refused).about(About::Result),
        }
    }
}

impl From<ApproveError> for Fault {
    fn from(error: ApproveError) -> Self {
        match error {
            ApproveError::Failed(cause) => cause.into(),
            ApproveError::TooMany(_) => Self::of(&error).about(About::FolderTooMany),
            ApproveError::Refused(why) => why.into(),
        }
    }
}

impl From<AdmitRefusal> for Fault {
    fn from(why: AdmitRefusal) -> Self {
        let about = match why {
            AdmitRefusal::Instance
            | AdmitRefusal::InsideInstance
            | AdmitRefusal::AroundInstance => About::OwnFolder,
            AdmitRefusal::Absent
            | AdmitRefusal::NotADirectory
            | AdmitRefusal::NotReadable
            | AdmitRefusal::FilesystemRoot
            | AdmitRefusal::Unreachable => About::NewFolder,
        };
        Self::of(&ApproveError::Refused(why)).about(about)
    }
}

/// Errors that are refusals but for one variant.
macro_rules! refusals {
    ($($error:ident about $about:ident),* $(,)?) => {$(
        impl From<$error> for Fault {
            fn from(error: $error) -> Self {
                match error {
                    $error::Failed(cause) => cause.into(),
                    refused => Self::of(&refused).about(About::$about),
                }
            }
        }
    )*};
}

refusals! {
    ApplyError about Proposal,
    AskError about Folder,
    CancelError about Task,
    HistoryError about Result,
    ListError about Arguments,
    ProposalError about Proposal,
    RevokeError about Folder,
    ShowError about Result,
}

impl From<BackupRefusal> for Fault {
    fn from(refusal: BackupRefusal) -> Self {
        match refusal {
            BackupRefusal::Failed(cause) => cause.into(),
            refused @ (BackupRefusal::InFolder | BackupRefusal::InInstance) => {
                Self::of(&refused).about(About::NewFile)
            }
        }
    }
}

impl From<CheckError> for Fault {
    fn from(CheckError::Failed(cause): CheckError) -> Self {
        cause.into()
    }
}

impl From<ExportError> for Fault {
    fn from(error: ExportError) -> Self {
        match error {
            ExportError::Show(cause) => cause.into(),
            ExportError::Failed(cause) => cause.into(),
            refused @ (ExportError::Withheld(_) | ExportError::RefreshIncomplete) => {
                Self::of(&refused).about(About::Result)
            }
        }
    }
}

impl From<NotAnExport> for Fault {
    fn from(error: NotAnExport) -> Self {
        Self::of(&error).about(About::ExportFile)
    }
}

impl From<InvalidQuery> for Fault {
    fn from(error: InvalidQuery) -> Self {
        let fault = Self::new(Code::InvalidQuery, error.to_string());
        match error {
            InvalidQuery::TooLong { .. } => fault.about(About::LongQuery),
            InvalidQuery::Empty | InvalidQuery::NothingToSearch(_) => fault,
        }
    }
}

impl From<BadRules> for Fault {
    fn from(error: BadRules) -> Self {
        Self::new(Code::InvalidArgument, error.to_string())
    }
}

impl From<InstanceError> for Fault {
    fn from(error: InstanceError) -> Self {
        match error {
            InstanceError::Absent(_) => Self::new(Code::SetupIncomplete, error.to_string()),
            InstanceError::Link(_)
            | InstanceError::NotADirectory(_)
            | InstanceError::Occupied(_)
            | InstanceError::Exists(_) => {
                Self::new(Code::InvalidArgument, error.to_string()).about(About::Instance)
            }
            InstanceError::OtherOwner(_) => Self::new(Code::ReadOnly, error.to_string()),
            InstanceError::NoToken(_) => {
                Self::new(Code::SetupIncomplete, error.to_string()).about(About::Token)
            }
            InstanceError::Io { ref source, .. } => {
                Self::new(file_code(source.kind()), format!("{error}: {source}"))
            }
            InstanceError::Backup { source, .. } => {
                Self::new(Failure::Store(source).code(), format!("{error}: {source}"))
                    .about(About::BackupFile)
            }
            InstanceError::Store(cause) => Failure::Store(cause).into(),
        }
    }
}

/// What a refusal of the file system is called.
pub(crate) fn file_code(kind: ErrorKind) -> Code {
    if matches!(kind, ErrorKind::StorageFull | ErrorKind::QuotaExceeded) {
        Code::DiskFull
    } else if matches!(kind, ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem) {
        Code::ReadOnly
    } else {
        Code::Internal
    }
}

/// What a use case refuses ends the command.
macro_rules! end {
    ($($error:ident),* $(,)?) => {$(
        impl From<$error> for Ended {
            fn from(error: $error) -> Self {
                Fault::from(error).into()
            }
        }
    )*};
}

end! {
    ApproveError, AskError, AskRepairError, BackupRefusal, BadRules, CancelError, CheckError, Failure, FindError,
    HistoryError, InstanceError, InvalidQuery, ListError, ProposalError, RevokeError, RunError, ShowError,
}
