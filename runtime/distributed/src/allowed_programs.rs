//! The programs that other tasks may send to a task.

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

use prost::bytes::Bytes;
use tfrt_support::ErrorCode;

use crate::error::RemoteError;
use crate::message::RegisterFunctionRequest;

/// The programs that a task accepts from others. To send a program is to run code.
///
/// A program is known by its text or the bytes of its file, all of them: there is no shorter
/// fingerprint that another program could have, too.
///
/// ```
/// use tfrt_distributed::{AllowedPrograms, ServerConfig};
///
/// let text = "func @f() {\n  tfrt.return\n}\n";
/// let config = ServerConfig {
///     programs: AllowedPrograms::these([text.as_bytes().to_vec()]),
///     ..ServerConfig::new("in_process", "in-process:0")
/// };
/// assert!(config.programs.contains(text.as_bytes()));
/// assert!(!config.programs.contains(b"func @g()"));
/// assert!(!AllowedPrograms::none().contains(text.as_bytes()));
/// ```
#[derive(Clone, Default)]
pub struct AllowedPrograms(Option<Arc<HashSet<Bytes>>>);

impl AllowedPrograms {
    /// Accepts any program.
    #[must_use]
    pub fn any() -> Self {
        Self(None)
    }

    /// Accepts no program.
    #[must_use]
    pub fn none() -> Self {
        Self::these([])
    }

    /// Accepts programs with these texts, or of files with these bytes.
    #[must_use]
    pub fn these(programs: impl IntoIterator<Item = Vec<u8>>) -> Self {
        let programs = programs.into_iter().map(Bytes::from);
        Self(Some(Arc::new(programs.collect())))
    }

    /// Returns `true` if the program is accepted.
    #[must_use]
    pub fn contains(&self, program: &[u8]) -> bool {
        self.0
            .as_ref()
            .is_none_or(|programs| programs.contains(program))
    }

    /// Refuses a program that is not accepted, before anything of it is read.
    pub(crate) fn check(&self, request: &RegisterFunctionRequest) -> Result<(), RemoteError> {
        if self.contains(&request.program) {
            return Ok(());
        }
        let name = &request.program_name;
        let message = format!("expected a program that this task allows, found `{name}`");
        Err(RemoteError::new(ErrorCode::FailedPrecondition, message))
    }
}

impl fmt::Debug for AllowedPrograms {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Not the texts.
        match &self.0 {
            None => f.write_str("AllowedPrograms::any()"),
            Some(programs) => write!(f, "AllowedPrograms::these({})", programs.len()),
        }
    }
}
