//! Output that programs show to the user on request.
//!
//! A program may offer output such as an image or a curve, at no cost when it is not requested: a
//! kernel that shows things looks up the [`Show`] of its request, and does nothing if there is
//! none. `tfrt run --show` provides one that writes to standard output; a program that embeds the
//! runtime provides its own.

use std::fmt;
use std::io::{self, Write};
use std::sync::{Mutex, PoisonError};

use crate::services::request::RequestContext;

/// The output of a request: a [datum of it](RequestContext::context_data).
///
/// ```
/// use tfrt_host::{HostContext, RequestContextBuilder, Show};
///
/// /// What a kernel does that has something to show.
/// fn show_progress(request: &tfrt_host::RequestContext) -> std::io::Result<()> {
///     Show::of(request).map_or(Ok(()), |show| show.show(&"half done\n"))
/// }
///
/// let host = HostContext::builder().build();
/// let silent = RequestContextBuilder::new(host.clone()).build();
/// show_progress(&silent)?;
/// let shown = RequestContextBuilder::new(host).context_data(Show::new(std::io::stderr())).build();
/// show_progress(&shown)?;
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct Show {
    sink: Mutex<Box<dyn Write + Send>>,
}

impl Show {
    /// Creates an output that writes to `sink`.
    pub fn new(sink: impl Write + Send + 'static) -> Self {
        Self {
            sink: Mutex::new(Box::new(sink)),
        }
    }

    /// Returns the output of `request`, if it has one.
    #[must_use]
    pub fn of(request: &RequestContext) -> Option<&Self> {
        request.context_data()
    }

    /// Writes and flushes a thing as a unit, not interleaved with the output of other threads.
    ///
    /// # Errors
    /// The error of the write.
    pub fn show(&self, thing: &dyn fmt::Display) -> io::Result<()> {
        // A sink that panicked may have written a part: that does not affect what follows.
        let mut sink = self.sink.lock().unwrap_or_else(PoisonError::into_inner);
        write!(sink, "{thing}")?;
        sink.flush()
    }
}

impl fmt::Debug for Show {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Show").finish_non_exhaustive()
    }
}
