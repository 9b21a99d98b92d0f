//! A library that was loaded.

use std::fmt;
use std::panic::PanicHookInfo;
use std::path::{Path, PathBuf};

use tfrt_async::AnyRef;
use tfrt_ods::DialectDef;

use super::table::{Exports, Registrations};

/// A kernel library that is permanently part of the process.
///
/// ```no_run
/// use tfrt_host::kernel::KernelRegistry;
///
/// let mut registry = KernelRegistry::from_link()?;
/// // SAFETY: 1 to 3: it is a crate of our own, built beside this program.
/// let library = unsafe { registry.load_library("target/debug/libmy_kernels.so") }?;
/// println!("{} is loaded", library.path().display());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct LoadedLibrary {
    pub(super) path: PathBuf,
    pub(super) exports: &'static Exports,
    pub(super) registrations: &'static Registrations,
}

impl LoadedLibrary {
    /// Returns the path that it was loaded from.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the properties of dialects that it declares.
    pub fn dialects(&self) -> impl Iterator<Item = DialectDef> {
        self.registrations.dialects.iter().copied()
    }

    /// Returns the items that the library has under the name of an
    /// [extension](super::LibraryExtension).
    #[must_use]
    pub fn extension(&self, name: &str) -> Option<AnyRef> {
        let mut extensions = self.registrations.extensions.iter();
        let extension = extensions.find(|extension| extension.name == name)?;
        Some((extension.items)())
    }

    /// Sets the hook that is called when code of the library panics, before the panic becomes an
    /// error. The program's own hook belongs to its own copy of the standard library.
    #[doc(hidden)]
    pub fn set_panic_hook(&self, hook: fn(&PanicHookInfo<'_>)) {
        (self.exports.set_panic_hook)(hook);
    }

    /// Flushes output of the library's kernels that does not end in a newline yet.
    #[doc(hidden)]
    pub fn flush_output(&self) {
        (self.exports.flush_output)();
    }
}

impl fmt::Debug for LoadedLibrary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LoadedLibrary")
            .field("path", &self.path)
            .field("num_kernels", &self.registrations.kernels.len())
            .finish_non_exhaustive()
    }
}
