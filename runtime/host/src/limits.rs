//! Limits: what a program may use before it gets an error instead.

/// What one host allows its programs.
///
/// ```
/// use tfrt_host::Limits;
///
/// let limits = Limits { max_call_depth: 50, ..Limits::default() };
/// assert!(limits.max_call_depth < Limits::default().max_call_depth);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// How deep calls of functions may nest; the next one returns error values of code `ResourceExhausted`.
    pub max_call_depth: u32,
    /// How many invocations of functions may be unfinished at once.
    pub max_live_invocations: usize,
    /// How many bytes of memory one request may hold, unless its builder says otherwise: 64 GiB by default. Counted is what is
    /// drawn from [the request's allocator](crate::RequestContext::allocator) or charged to it.
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
