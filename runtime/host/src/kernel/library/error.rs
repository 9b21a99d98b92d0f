//! The reasons for refusing a library.

use std::fmt;
use std::path::PathBuf;

use super::fingerprint;
use crate::kernel::DuplicateKernels;
use crate::sync::shared::AdoptError;

/// The error for a kernel library that could not be loaded.
///
/// ```
/// use tfrt_host::kernel::KernelRegistry;
///
/// let mut registry = KernelRegistry::new();
/// // SAFETY: there is no such file, so that no code is loaded.
/// let loaded = unsafe { registry.load_library("/nowhere/libmine.so") };
/// assert!(loaded.is_err_and(|error| error.to_string().starts_with("`/nowhere/libmine.so`: ")));
/// ```
#[derive(Debug)]
pub struct LoadLibraryError {
    pub(super) path: PathBuf,
    pub(super) reason: Reason,
}

#[derive(Debug)]
pub(super) enum Reason {
    /// The system's loader rejected it.
    Open(libloading::Error),
    /// It exports no entry point.
    NoEntryPoint,
    /// Its header has another layout.
    AbiVersion { expected: u32, found: u32 },
    /// It was built differently.
    Fingerprint { expected: String, found: String },
    /// It cannot adopt the program's state.
    Connect(AdoptError),
    /// The items of an extension have other types.
    Extension(&'static str),
    /// It registers names that are taken.
    Duplicates(DuplicateKernels),
}

impl fmt::Display for LoadLibraryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`: ", self.path.display())?;
        match &self.reason {
            Reason::Open(error) => write!(f, "{error}"),
            Reason::NoEntryPoint => f.write_str(
                "not a kernel library: expected the symbol `tfrt_kernel_library`, which \
                 `tfrt::export_kernels!()` exports",
            ),
            Reason::AbiVersion { expected, found } => write!(
                f,
                "built for another version of the runtime: expected version {expected} of the \
                 kernel table, found {found}"
            ),
            Reason::Fingerprint { expected, found } => write!(
                f,
                "built differently from this program{}\n  expected: {expected}\n  found:    {found}",
                fingerprint::advice(expected, found).unwrap_or_default()
            ),
            Reason::Connect(error) => write!(f, "{error}"),
            Reason::Extension(name) => write!(
                f,
                "built differently from this program: the types of its {name} have other layouts"
            ),
            Reason::Duplicates(error) => write!(f, "{error}"),
        }
    }
}

impl std::error::Error for LoadLibraryError {}

tfrt_support::convert_errors!(LoadLibraryError);
