//! Failures on request: the n-th call of a function fails with a status.
//!
//! Every implementation counts the calls of each function of the driver and its libraries, and asks
//! here whether this one is to fail. A call that fails on request does nothing else. Functions have
//! the names of the C libraries without version suffixes: `cuMemAlloc`, `cublasGemmEx`.

use std::collections::HashMap;
use std::sync::Mutex;

use tfrt::prelude::*;

use crate::values::lock;

/// The environment variable that requests failures, as a list:
/// `cuMemAlloc@3=2,cuLaunchKernel@1=719`.
pub const VARIABLE: &str = "TFRT_GPU_FAIL";

/// The name of a function, the number of the call counted from 1, and the status it fails with.
pub type Failure = (String, u64, u32);

/// Returns the failures that the environment requests.
///
/// # Errors
/// If the variable is malformed.
pub fn from_environment() -> Result<Vec<Failure>> {
    parse(&std::env::var(VARIABLE).unwrap_or_default())
}

/// Returns the failures of a list.
///
/// ```
/// use tfrt_gpu::failures;
///
/// let failures = failures::parse("cuMemAlloc@3=2")?;
/// assert_eq!(failures, [("cuMemAlloc".to_owned(), 3, 2)]);
/// let error = failures::parse("cuMemAlloc").unwrap_err();
/// assert_eq!(
///     error.message(),
///     "expected `FUNCTION@COUNT=STATUS` in `TFRT_GPU_FAIL`, found `cuMemAlloc`"
/// );
/// # Ok::<(), tfrt::Error>(())
/// ```
///
/// # Errors
/// If an entry has another form.
pub fn parse(list: &str) -> Result<Vec<Failure>> {
    let one = |text: &str| -> Option<Failure> {
        let (name, rest) = text.split_once('@')?;
        let (count, status) = rest.split_once('=')?;
        Some((name.to_owned(), count.parse().ok()?, status.parse().ok()?))
    };
    let entries = list.split(',').filter(|entry| !entry.is_empty());
    let failures = entries.map(|entry| {
        one(entry).ok_or_else(|| {
            Error::new(format!(
                "expected `FUNCTION@COUNT=STATUS` in `{VARIABLE}`, found `{entry}`"
            ))
            .with_code(ErrorCode::InvalidArgument)
        })
    });
    failures.collect()
}

/// The requested failures, and the number of calls so far.
#[derive(Debug, Default)]
pub(crate) struct Failures {
    requested: Vec<Failure>,
    counts: Mutex<HashMap<&'static str, u64>>,
}

impl Failures {
    pub(crate) fn new(requested: Vec<Failure>) -> Self {
        Self {
            requested,
            counts: Mutex::default(),
        }
    }

    /// Counts a call, and returns the status if it is to fail.
    pub(crate) fn next(&self, function: &'static str) -> Option<u32> {
        if self.requested.is_empty() {
            return None;
        }
        let number = {
            let mut counts = lock(&self.counts);
            let count = counts.entry(function).or_insert(0);
            *count += 1;
            *count
        };
        let mut requested = self.requested.iter();
        let found = requested.find(|(name, call, _)| name == function && *call == number);
        found.map(|(_, _, status)| *status)
    }
}
