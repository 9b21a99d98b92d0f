//! CUDA: the libraries of the system, through the bindings of `cudarc`.
//!
//! Nothing is linked. A library is opened when it is first needed; without it, or without one of
//! its functions, each call fails like the library itself would, with a message that names the
//! missing part. No call panics.
//!
//! - `library`: functions by name.
//! - `live`: the existing handles and memory.
//! - `object`: contexts and their objects.
//! - `driver`: the driver.
//! - `graphs`: captures of streams, and their graphs.
//! - `keep`: objects that must live until a stream has reached a point.
//! - `blas`, `solver`, `fft`, `ccl`, `dnn`: the other libraries.
//!
//! - `report`: the libraries of the machine, for people.

mod library;

mod live;

mod object;

mod keep;

mod driver;

mod graphs;

mod blas;

mod solver;

mod fft;

mod ccl;

mod dnn;

mod report;

pub use blas::CudaBlas;
pub use ccl::CudaCcl;
pub use dnn::CudaDnn;
pub use driver::CudaDriver;
pub use fft::CudaFft;
pub use report::{LibraryReport, libraries};
pub use solver::CudaSolver;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{PoisonError, RwLock};

use crate::api::{GpuError, GpuResult, Status};
use crate::failures::{Failure, Failures};

/// The calls that fail on request. A process has one driver, and so one list.
static FAILURES: RwLock<Option<Failures>> = RwLock::new(None);

/// Whether there are such calls. The calls of a program that requests none do not take the lock.
static HAS_FAILURES: AtomicBool = AtomicBool::new(false);

/// Requests failures of calls, counted from now on, in place of those requested before.
pub fn request_failures(requested: Vec<Failure>) {
    let is_any = !requested.is_empty();
    let mut failures = FAILURES.write().unwrap_or_else(PoisonError::into_inner);
    *failures = Some(Failures::new(requested));
    // ordering: a call that runs meanwhile may count or not.
    HAS_FAILURES.store(is_any, Ordering::Relaxed);
}

/// Counts a call of a function, by the name of its symbol, and returns the status if it is to fail.
#[inline]
fn requested_failure(symbol: &'static str) -> Option<u32> {
    // ordering: as for the store.
    match HAS_FAILURES.load(Ordering::Relaxed) {
        true => counted_failure(symbol),
        false => None,
    }
}

#[cold]
fn counted_failure(symbol: &'static str) -> Option<u32> {
    let failures = FAILURES.read().unwrap_or_else(PoisonError::into_inner);
    failures.as_ref()?.next(symbol.trim_end_matches("_v2"))
}

/// Returns the result of a function of the driver.
fn status(call: &'static str, code: u32) -> GpuResult<()> {
    match code {
        0 => Ok(()),
        code => Err(GpuError::new(call, Status::Driver(code))),
    }
}

/// Returns a function that the installed driver does not have.
#[cold]
fn missing(call: &'static str) -> GpuError {
    GpuError::new(call, Status::SHARED_OBJECT_SYMBOL_NOT_FOUND)
        .with_details("the installed driver is too old for this function")
}

/// Returns a handle that names nothing.
#[cold]
fn unknown(call: &'static str) -> GpuError {
    GpuError::new(call, Status::INVALID_HANDLE)
}

/// Calls a function of the driver, which fails if that is requested.
///
/// Its duties are those of `real_call`.
macro_rules! call {
    ($functions:expr, $text:literal, $function:ident($($argument:expr),* $(,)?)) => {{
        let is_there = $functions.$function.is_some();
        match is_there.then(|| $crate::cuda::requested_failure(stringify!($function))) {
            Some(Some(code)) => $crate::cuda::status($text, code),
            _ => $crate::cuda::real_call!($functions, $text, $function($($argument),*)),
        }
    }};
}

/// Calls a function of the driver, which never fails on request, and is not counted.
///
/// It is for calls that host memory relies on: the device may use that memory until such a call
/// says otherwise, and the answer must be the driver's. It is also for calls whose number depends
/// on time, so that the n-th call of a function is the same one in each run.
///
/// Every use keeps these duties:
/// - C1: handles among the arguments come from objects that the caller holds while the call runs.
/// - C2: pointers to results point to variables of the caller, with room for what the function
///   writes.
/// - C3: other memory is that of a block which the caller has found to be large enough, or is kept
///   until the device has passed the call.
macro_rules! real_call {
    ($functions:expr, $text:literal, $function:ident($($argument:expr),* $(,)?)) => {
        match $functions.$function {
            Some(function) => {
                // SAFETY: L1 for the signature; C1, C2 and C3 for the arguments.
                let code = unsafe { function($($argument),*) };
                $crate::cuda::status($text, code)
            }
            None => Err($crate::cuda::missing($text)),
        }
    };
}

use {call, real_call};
