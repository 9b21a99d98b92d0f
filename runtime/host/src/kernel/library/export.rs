//! The library's side: the table that a library exports.
//!
//! ```text
//!  tfrt_kernel_library() ─► LibraryHeader (C layout)
//!                             abi_version
//!                             fingerprint, fingerprint_len ── read first; equal? then, and only then:
//!                             exports ─► Exports (Rust layout) { connect, set_panic_hook, flush_output }
//!                                                                   │
//!                                    HostServices ──────────────────┴──► Registrations
//! ```
#![expect(unsafe_code, reason = "adopts the state of the program")]

use std::ffi::c_void;
use std::fmt;
use std::io::Write;
use std::panic::PanicHookInfo;
use std::sync::{LazyLock, OnceLock};

use tfrt_ods::OpDef;
use tfrt_ods::dialect::DialectDef;

use super::fingerprint::fingerprint;
use crate::kernel::KernelDescriptor;
use crate::kernel::registry::{
    DeclaredOps, DialectRegistration, KernelRegistration, NativeFunction,
};
use crate::log;
use crate::sync::shared::{AdoptError, SharedState};

/// The version of [`LibraryHeader`] itself.
pub(super) const ABI_VERSION: u32 = 1;

/// The start of every library of any build. Nothing else may be read before the fingerprints have
/// been compared.
#[derive(Debug)]
#[repr(C)]
pub struct LibraryHeader {
    pub(super) abi_version: u32,
    /// UTF-8.
    pub(super) fingerprint: *const u8,
    pub(super) fingerprint_len: usize,
    /// Points to an [`Exports`].
    pub(super) exports: *const c_void,
}

// SAFETY: the pointers refer to statics that are never written.
unsafe impl Send for LibraryHeader {}

// SAFETY: as for `Send`.
unsafe impl Sync for LibraryHeader {}

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

/// The functions that a program calls in a library of the same build. None of them panics.
pub(super) struct Exports {
    /// Makes the library use the program's state and returns its registrations. Duties: those of
    /// [`SharedState::adopt`].
    pub(super) connect: unsafe fn(&HostServices) -> Result<&'static Registrations, AdoptError>,
    /// Sets the hook that is called when code of the library panics.
    pub(super) set_panic_hook: fn(fn(&PanicHookInfo<'_>)),
    /// Flushes what code of the library has printed so far.
    pub(super) flush_output: fn(),
}

static EXPORTS: Exports = Exports {
    connect,
    set_panic_hook: |hook| std::panic::set_hook(Box::new(hook)),
    flush_output: || {
        // The next write reports a closed pipe.
        let _ = std::io::stdout().flush();
    },
};

/// The services that a library uses from the program.
#[derive(Debug)]
pub(super) struct HostServices {
    state: SharedState,
    log_thread_number: fn() -> u64,
}

impl HostServices {
    /// Returns those of this copy of the runtime.
    pub(super) fn of_this_copy() -> Self {
        Self {
            state: SharedState::of_this_copy(),
            log_thread_number: log::thread_number,
        }
    }
}

/// The items that a library registers.
#[derive(Debug)]
pub(super) struct Registrations {
    pub(super) kernels: Vec<KernelDescriptor>,
    pub(super) ops: Vec<&'static OpDef>,
    pub(super) natives: Vec<NativeFunction>,
    pub(super) dialects: Vec<DialectDef>,
}

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
        }
    }
}

impl fmt::Debug for Exports {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Exports").finish_non_exhaustive()
    }
}
