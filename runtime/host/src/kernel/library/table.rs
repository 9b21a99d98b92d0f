//! The exports of a library, and the data that a program passes to it.
//!
//! ```text
//!  tfrt_kernel_library() ─► LibraryHeader (C layout)
//!                             abi_version
//!                             fingerprint, fingerprint_len ── read first; equal? then, and only then:
//!                             exports ─► Exports (Rust layout) { connect, set_panic_hook, flush_output }
//!                                                                   │
//!                                    HostServices ──────────────────┴──► Registrations
//! ```
#![expect(unsafe_code, reason = "shares the statics of a library")]

use std::ffi::c_void;
use std::fmt;
use std::panic::PanicHookInfo;

use tfrt_ods::DialectDef;
use tfrt_ods::OpDef;

use super::extension::LibraryExtension;
use crate::kernel::descriptor::KernelDescriptor;
use crate::kernel::native::NativeFunction;
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

/// The services that a library uses from the program.
#[derive(Debug)]
pub(super) struct HostServices {
    pub(super) state: SharedState,
    pub(super) log_thread_number: fn() -> u64,
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
    pub(super) extensions: Vec<LibraryExtension>,
}

impl fmt::Debug for Exports {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Exports").finish_non_exhaustive()
    }
}
