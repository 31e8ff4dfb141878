//! Where the instance is.

use crate::fault::{About, Fault};
use std::path::{Path, PathBuf};
use work_core::code::Code;

/// The directory of the instance, absolute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Home {
    /// The directory.
    pub(crate) path: PathBuf,
}

impl Home {
    /// The directory named, else `WORK_HOME`, else `work` in `XDG_DATA_HOME`, else `~/.local/share/work` (spec C2).
    ///
    /// # Errors
    /// [`Fault`] when nothing says where it is.
    pub(crate) fn find(named: Option<&Path>) -> Result<Self, Fault> {
        let variable =
            |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let shared = || variable("XDG_DATA_HOME").filter(|dir| dir.is_absolute());
        let own = || std::env::home_dir().filter(|dir| dir.is_absolute());
        let found = named
            .map(Path::to_path_buf)
            .or_else(|| variable("WORK_HOME"))
            .or_else(|| shared().map(|dir| dir.join("work")))
            .or_else(|| own().map(|dir| dir.join(".local/share/work")));
        let path = found.and_then(|path| std::path::absolute(path).ok()).ok_or_else(|| {
            Fault::new(
                Code::InvalidArgument,
                "it is not known where the instance is: there is no home directory",
            )
            .about(About::Instance)
        })?;
        Ok(Self { path })
    }
}
