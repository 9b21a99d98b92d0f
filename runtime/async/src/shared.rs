//! One runtime in several copies.
//!
//! A kernel library that is loaded into a program brings a copy of this crate along: code, statics, thread-locals, and a
//! standard library of its own. Values flow between the copies, so that what the copies must agree on is the program's:
//!
//! | state | in a library |
//! |---|---|
//! | numbers of payload types | asked from the program, and kept |
//! | the ready chain | the program's |
//! | who is told of payloads that panic as they are dropped | the program's, but for what the library runs itself |
//! | the count of live values, and those of scopes | the program's |
//! | levels of nested publication, and what waits behind the last one | its own: every copy bounds and drains its own levels, so that the bound on the stack is multiplied by the number of copies |
//!
//! [`SharedState::of_this_copy`] in the program gives what [`SharedState::adopt`] in the library takes, before any value is made
//! there.
//!
//! # Panics
//!
//! A panic can be caught only by the copy of the standard library that raised it; another copy would end the process. So
//! wherever a value carries code (a waiter, the destruction of a payload), that code catches its own panics, and returns
//! what it panicked with. Whoever called it panics anew, with the same payload.
#![expect(unsafe_code, reason = "takes over the state of another copy")]

use std::fmt;
use std::ptr::NonNull;
use std::sync::atomic::AtomicUsize;

use crate::cell::{self, Header};
use crate::dropping::{self, Report};
use crate::live::{self, scope};
use crate::type_index::{self, TypeTable};

/// What the copies of this crate in one process share.
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
    /// What this copy uses: its own state, or what it has adopted.
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

    /// Makes this copy use the state of another one, for ever. Doing so again changes nothing.
    ///
    /// # Errors
    /// If this copy has state of its own already, or that of a third one; nothing is changed then.
    ///
    /// # Safety
    /// 1. The state came from [`of_this_copy`](Self::of_this_copy) in a copy that was built from the same source, by the same
    ///    compiler, with the same settings.
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

/// A copy of the runtime was used before it was told whose state to share.
///
/// Does so, for instance, a library that makes values as it is loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AdoptError;

impl fmt::Display for AdoptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("its copy of the runtime was in use before it was loaded as a kernel library")
    }
}

impl std::error::Error for AdoptError {}

tfrt_support::convert_errors!(AdoptError);

impl fmt::Debug for SharedState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedState").finish_non_exhaustive()
    }
}
