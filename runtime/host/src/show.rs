//! Output that programs show to the user on request.
//!
//! A program may say what there is to see, an image or a curve, at no cost to those who do not look: a kernel that shows things
//! asks the request for its [`Show`], and does nothing if there is none. `tfrt run --show` provides one that writes to standard
//! output; a program that embeds the runtime provides its own.

use std::fmt;
use std::io::{self, Write};
use std::sync::{Mutex, PoisonError};

use crate::request::RequestContext;

/// Where a request shows things: a [datum of it](RequestContext::context_data).
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
    /// Shows things by writing them to `sink`.
    pub fn new(sink: impl Write + Send + 'static) -> Self {
        Self {
            sink: Mutex::new(Box::new(sink)),
        }
    }

    /// Where `request` shows things, if it does.
    #[must_use]
    pub fn of(request: &RequestContext) -> Option<&Self> {
        request.context_data()
    }

    /// Writes a thing, at once and in one piece, whatever other threads show.
    ///
    /// # Errors
    /// What writing fails with.
    pub fn show(&self, thing: &dyn fmt::Display) -> io::Result<()> {
        // A sink that panicked has perhaps shown a part: what comes next is no worse for it.
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
