//! State shared by several copies of the runtime.
//!
//! A kernel library loaded into a program brings its own copy of this crate: code, statics,
//! thread-locals, and a standard library. Values flow between the copies, so the copies share the
//! program's state where they must agree:
//!
//! | state | in a library |
//! |---|---|
//! | numbers of payload types | requested from the program, and cached |
//! | the ready chain | the program's |
//! | the observer of payloads that panic when they are dropped | the program's, except for code that the library runs itself |
//! | the count of live values, and those of scopes | the program's |
//! | levels of nested publication, and the queue after the last one | its own: every copy bounds and drains its own levels, which multiplies the bound on the stack by the number of copies |
//!
//! The program passes [`SharedState::of_this_copy`] to the library, which calls
//! [`SharedState::adopt`] before it creates any value.
//!
//! # Panics
//!
//! A panic can be caught only by the copy of the standard library that raised it; any other copy
//! would abort the process. So wherever a value carries code (a waiter, the destructor of a
//! payload), that code catches its own panics and returns their payload. The caller then resumes
//! the panic with the same payload.
#![expect(unsafe_code, reason = "takes over the state of another copy")]

use std::fmt;
use std::ptr::NonNull;
use std::sync::atomic::AtomicUsize;

use crate::cell::{self, Header};
use crate::dropping::{self, Report};
use crate::live::{self, scope};
use crate::type_index::{self, TypeTable};

/// The state shared by the copies of this crate in one process.
///
/// ```
/// use tfrt_async::shared::SharedState;
///
/// let state = SharedState::of_this_copy();
/// // A library would call it with what the program gave. A copy that has its own state already stays with that.
/// # let _ = tfrt_async::TypeIndex::of::<i32>();
/// // SAFETY: 1 and 2: the state is that of this very copy.
/// assert!(unsafe { state.adopt() }.is_err());
/// ```
#[derive(Clone, Copy)]
pub struct SharedState {
    types: TypeTable,
    ready_chain: NonNull<Header>,
    report: Report,
    live_values: &'static AtomicUsize,
    live_scopes: &'static scope::Scopes,
}

impl SharedState {
    /// Returns the state that this copy uses: its own, or the one it has adopted.
    #[must_use]
    pub fn of_this_copy() -> Self {
        Self {
            types: type_index::table(),
            ready_chain: cell::ready_chain(),
            report: dropping::report_of_this_copy(),
            live_values: live::place(),
            live_scopes: scope::place(),
        }
    }

    /// Makes this copy use the state of another copy permanently. Adopting the same state again has
    /// no effect.
    ///
    /// # Errors
    /// If this copy already has its own state or that of a third copy; nothing changes then.
    ///
    /// # Safety
    /// 1. The state came from [`of_this_copy`](Self::of_this_copy) in a copy that was built from
    ///    the same source, by the same compiler, with the same settings.
    /// 2. That copy is never unloaded.
    pub unsafe fn adopt(self) -> Result<(), AdoptError> {
        if !type_index::adopt(self.types) {
            return Err(AdoptError);
        }
        dropping::adopt(self.report);
        live::adopt(self.live_values);
        scope::adopt(self.live_scopes);
        // SAFETY: duties 1 and 2.
        unsafe { cell::adopt_ready_chain(self.ready_chain) };
        Ok(())
    }
}

/// The error for a copy of the runtime that was used before it adopted the state of another.
///
/// For instance, a library that creates values while it is being loaded causes this.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AdoptError;

impl fmt::Display for AdoptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "the library's copy of the runtime was used before it was loaded as a kernel library",
        )
    }
}

impl std::error::Error for AdoptError {}

tfrt_support::convert_errors!(AdoptError);

impl fmt::Debug for SharedState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedState").finish_non_exhaustive()
    }
}
