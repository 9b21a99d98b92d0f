//! Limits on the resources of programs. Exceeding one is an error.

/// The limits of a host's programs.
///
/// ```
/// use tfrt_host::Limits;
///
/// let limits = Limits { max_call_depth: 50, ..Limits::default() };
/// assert!(limits.max_call_depth < Limits::default().max_call_depth);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The maximum depth of function calls; the next one returns error values with code
    /// `ResourceExhausted`.
    pub max_call_depth: u32,
    /// The maximum number of unfinished invocations of functions.
    pub max_live_invocations: usize,
    /// The maximum number of bytes that one request may hold, unless its builder overrides it: 64
    /// GiB by default. It counts memory allocated from [the request's
    /// allocator](crate::RequestContext::allocator) or charged to it.
    pub max_request_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_call_depth: 100_000,
            max_live_invocations: 10_000_000,
            max_request_bytes: 1_usize.checked_shl(36).unwrap_or(usize::MAX),
        }
    }
}
