//! A loaded program: the tables of its file, and the bodies of its functions, each of which is made
//! when it is first looked up.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use tfrt_async::AnyRef;
use tfrt_bef::{BefFile, FunctionId, FunctionKind, LocationOffset};
use tfrt_host::__runtime::LocationSource;
use tfrt_host::kernel::NativeFunction;
use tfrt_host::{ExecutionContext, HostContext};
use tfrt_support::entity::{EntityId, PrimaryMap};
use tfrt_support::{Error, Place};

use super::body::Body;
use super::frame::Frame;
use super::pace::Watch;
use crate::load::{self, FunctionEntry, Tables, malformed};
use crate::lower;
use crate::lower::code::KernelId;

/// A loaded program.
///
/// Its functions are looked up by name and executed through
/// [`FunctionRef`](tfrt_host::FunctionRef), which keeps the program alive.
///
/// ```
/// use tfrt_bef::BefFile;
/// use tfrt_bef::write::{BefBuilder, WriteOptions};
/// use tfrt_executor::Program;
/// use tfrt_host::HostContext;
///
/// let host = HostContext::builder().build();
/// let empty = BefBuilder::new(WriteOptions::default()).finish()?;
/// let program = Program::load(&host, &BefFile::from_bytes(&empty)).unwrap();
/// assert!(program.function("main").is_none());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Program {
    pub(crate) tables: Tables,
    bodies: PrimaryMap<FunctionId, OnceLock<Result<FunctionBody, Error>>>,
    /// The digests of functions that were asked for, since one may take a walk over the whole file.
    /// Others do not wait for that walk.
    digests: Mutex<HashMap<FunctionId, Arc<OnceLock<Option<u64>>>>>,
    /// Calls a function from place to place. A function pointer, because the code that starts
    /// functions depends on the code that runs them.
    pub(crate) call_in_place: CallInPlace,
}

/// A function in executable form.
#[derive(Debug)]
pub(crate) enum FunctionBody {
    Async(Box<Body>),
    Sync(Box<Body>),
    Native(NativeFunction),
}

/// A kernel that calls a function and does nothing else, and the frame of its operands and results.
#[derive(Clone, Copy)]
pub(crate) struct CallSite<'a> {
    pub(crate) program: &'a Arc<Program>,
    /// The context of the caller.
    pub(crate) ctx: &'a ExecutionContext,
    /// The body of the caller.
    pub(crate) body: &'a Body,
    pub(crate) frame: Frame<'a>,
    pub(crate) kernel: KernelId,
    /// The clock of the run that the call is part of, if that run is on one thread and may be
    /// shared with others.
    pub(crate) watch: Option<&'a Watch>,
}

/// The outcome of a call from place to place. The operands are still in their places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Called {
    /// Nothing was done: the function has to be called with a list of operands.
    Unsuited,
    /// The results are in their places.
    Placed,
    /// The results are in the list. They may be unavailable, or errors.
    Listed,
}

/// Calls a function from place to place.
pub(crate) type CallInPlace = fn(&CallSite<'_>, results: &mut Vec<Option<AnyRef>>) -> Called;

impl Program {
    /// Verifies the tables of `file` and resolves its kernels and native functions among those of
    /// `host`.
    pub(crate) fn new(
        host: &HostContext,
        file: &BefFile,
        call_in_place: CallInPlace,
    ) -> Result<Self, Error> {
        let tables = Tables::load(host, file)?;
        let bodies = tables.function_ids().map(|id| {
            let body = OnceLock::new();
            if let Some(native) = tables.function(id).native {
                let _ = body.set(Ok(FunctionBody::Native(native)));
            }
            body
        });
        Ok(Self {
            bodies: bodies.collect(),
            digests: Mutex::default(),
            tables,
            call_in_place,
        })
    }

    /// Verifies, checks and lowers every function, in index order, so that no look-up fails later.
    ///
    /// # Errors
    /// Returns the error of the first function that has one.
    pub fn verify_all(&self) -> Result<(), Error> {
        self.tables
            .function_ids()
            .try_for_each(|id| self.body(id).map(drop))
    }

    pub(crate) fn entry(&self, id: FunctionId) -> &FunctionEntry {
        self.tables.function(id)
    }

    /// Returns the digest of a function, which `compute` finds out the first time.
    pub(super) fn digest_or_compute(
        &self,
        id: FunctionId,
        compute: impl FnOnce() -> Option<u64>,
    ) -> Option<u64> {
        let mut digests = self.digests.lock().unwrap_or_else(PoisonError::into_inner);
        let digest = Arc::clone(digests.entry(id).or_default());
        drop(digests);
        *digest.get_or_init(compute)
    }

    /// Returns the body of a function, which is made by its first look-up.
    #[inline]
    pub(crate) fn body(&self, id: FunctionId) -> Result<&FunctionBody, Error> {
        self.bodies[id]
            .get_or_init(|| self.make_body(id))
            .as_ref()
            .map_err(Error::clone)
    }

    /// Returns the body of an asynchronous function, if an earlier look-up has made it.
    #[inline]
    pub(crate) fn made_body(&self, id: FunctionId) -> Option<&Body> {
        match self.bodies[id].get() {
            Some(Ok(FunctionBody::Async(body))) => Some(body),
            _ => None,
        }
    }

    #[cold]
    fn make_body(&self, id: FunctionId) -> Result<FunctionBody, Error> {
        let function = self.tables.bef.function(id).map_err(malformed)?;
        let checked = load::check(&self.tables, &function)?;
        let code = lower::lower(&self.tables, &function, &checked)?;
        let body = Box::new(Body::new(code));
        Ok(match function.entry().kind {
            FunctionKind::Sync => FunctionBody::Sync(body),
            _ => FunctionBody::Async(body),
        })
    }

    /// Returns the attribute section of the file.
    #[inline]
    pub(crate) fn attribute_section(&self) -> &[u8] {
        self.tables.bef.attributes()
    }
}

impl LocationSource for Program {
    fn place(&self, token: u32) -> Place {
        let location = LocationOffset::from_index(token as usize);
        self.tables.bef.place(location)
    }

    fn debug_name(&self, token: u32) -> Option<String> {
        let location = LocationOffset::from_index(token as usize);
        self.tables.bef.debug_name(location)
    }
}

impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.tables.function_ids().map(|id| &self.entry(id).name);
        f.debug_struct("Program")
            .field("functions", &names.collect::<Vec<_>>())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::thread;
    use std::time::Duration;

    use tfrt_bef::write::{BefBuilder, WriteOptions};
    use tfrt_host::HostContext;

    use super::*;

    #[test]
    fn a_digest_that_takes_long_holds_up_no_other() {
        let host = HostContext::builder().build();
        let empty = BefBuilder::new(WriteOptions::default()).finish().unwrap();
        let program = Program::load(&host, &BefFile::from_bytes(&empty)).unwrap();
        let [first, second] = [0, 1].map(FunctionId::from_index);
        let digest = program.digest_or_compute(first, || {
            let (tell, told) = mpsc::channel();
            let other = Arc::clone(&program);
            thread::spawn(move || tell.send(other.digest_or_compute(second, || Some(1))));
            told.recv_timeout(Duration::from_secs(60)).ok().flatten()
        });
        assert_eq!(digest, Some(1));
        // Each is computed once.
        for id in [first, second] {
            assert_eq!(program.digest_or_compute(id, || None), Some(1));
        }
    }
}
