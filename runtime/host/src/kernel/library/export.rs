//! The library's side: the header that it exports, and how it connects to the program.
#![expect(unsafe_code, reason = "adopts the state of the program")]

use std::io::Write;
use std::sync::{LazyLock, OnceLock};

use super::extension::LibraryExtension;
use super::fingerprint::fingerprint;
use super::table::{ABI_VERSION, Exports, HostServices, LibraryHeader, Registrations};
use crate::kernel::native::NativeFunction;
use crate::kernel::registration::{DeclaredOps, DialectRegistration, KernelRegistration};
use crate::log;
use crate::sync::shared::AdoptError;

/// Returns the header of the library that contains this code.
#[must_use]
pub fn library_header() -> *const LibraryHeader {
    static FINGERPRINT: LazyLock<String> = LazyLock::new(fingerprint);
    static HEADER: LazyLock<LibraryHeader> = LazyLock::new(|| LibraryHeader {
        abi_version: ABI_VERSION,
        fingerprint: FINGERPRINT.as_ptr(),
        fingerprint_len: FINGERPRINT.len(),
        exports: (&raw const EXPORTS).cast(),
    });
    &raw const *HEADER
}

static EXPORTS: Exports = Exports {
    connect,
    set_panic_hook: |hook| std::panic::set_hook(Box::new(hook)),
    flush_output: || {
        // The next write reports a closed pipe.
        let _ = std::io::stdout().flush();
    },
};

/// See [`Exports::connect`].
///
/// # Safety
/// The duties of [`SharedState::adopt`].
unsafe fn connect(services: &HostServices) -> Result<&'static Registrations, AdoptError> {
    static REGISTRATIONS: OnceLock<Registrations> = OnceLock::new();
    // SAFETY: the caller fulfils the duties.
    unsafe { services.state.adopt() }?;
    log::adopt_thread_numbers(services.log_thread_number);
    Ok(REGISTRATIONS.get_or_init(Registrations::linked))
}

impl Registrations {
    /// Returns everything that is linked into this library.
    fn linked() -> Self {
        let kernels = inventory::iter::<KernelRegistration>.into_iter();
        let ops = inventory::iter::<DeclaredOps>.into_iter();
        Self {
            kernels: kernels
                .flat_map(|registration| registration.kernels())
                .map(|kernel| kernel.for_export())
                .collect(),
            ops: ops
                .flat_map(|registration| registration.0)
                .copied()
                .collect(),
            natives: inventory::iter::<NativeFunction>
                .into_iter()
                .copied()
                .collect(),
            dialects: DialectRegistration::linked().collect(),
            extensions: LibraryExtension::all_linked().collect(),
        }
    }
}
