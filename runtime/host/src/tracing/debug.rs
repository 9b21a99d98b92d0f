//! The sink that prints immediately.

use std::fmt;
use std::io::Write;
use std::sync::{Mutex, PoisonError};

use super::sink::{Activity, TracingSink};

/// Prints `Scope:NAME`, `End Scope` and `Event:NAME`, one line each, as they happen.
///
/// ```
/// use std::sync::Arc;
/// use tfrt_host::tracing::{self, DebugSink, Scope, TracingLevel};
///
/// tracing::set_sink(Some(Arc::new(DebugSink::default())));
/// tracing::enable(TracingLevel::Default);
/// let scope = Scope::enter(TracingLevel::Default, || "warm up"); // Prints `Scope:warm up`.
/// drop(scope); // Prints `End Scope`.
/// ```
pub struct DebugSink {
    out: Mutex<Box<dyn Write + Send>>,
}

impl DebugSink {
    /// Creates a sink that prints to `out`.
    #[must_use]
    pub fn new(out: impl Write + Send + 'static) -> Self {
        Self {
            out: Mutex::new(Box::new(out)),
        }
    }

    fn print(&self, line: fmt::Arguments<'_>) {
        let mut out = self.out.lock().unwrap_or_else(PoisonError::into_inner);
        // A line that cannot be written is lost.
        let _ = writeln!(out, "{line}").and_then(|()| out.flush());
    }
}

impl Default for DebugSink {
    /// Creates a sink that prints to standard output.
    fn default() -> Self {
        Self::new(std::io::stdout())
    }
}

impl TracingSink for DebugSink {
    fn begin(&self, activity: Activity<'_>) {
        self.print(format_args!("Scope:{}", activity.name));
    }

    fn end(&self) {
        self.print(format_args!("End Scope"));
    }

    fn event(&self, name: &str) {
        self.print(format_args!("Event:{name}"));
    }
}

impl fmt::Debug for DebugSink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DebugSink").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::Arc;

    use super::*;

    #[derive(Clone, Default)]
    struct Paper(Arc<Mutex<Vec<u8>>>);

    impl Write for Paper {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn activities_are_printed_as_they_happen() {
        let paper = Paper::default();
        let sink = DebugSink::new(paper.clone());
        let scope = |name| Activity {
            name: String::from(name).into(),
            kernel: None,
        };
        sink.begin(scope("outer"));
        sink.begin(scope("inner"));
        sink.event("half way");
        sink.counter("pending tasks", 7);
        sink.end();
        sink.end();
        let printed = paper.0.lock().unwrap_or_else(PoisonError::into_inner);
        assert_eq!(
            String::from_utf8_lossy(&printed),
            "Scope:outer\nScope:inner\nEvent:half way\nEnd Scope\nEnd Scope\n"
        );
    }
}
