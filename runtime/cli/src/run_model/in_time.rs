//! Runs of models that have to end in time.
//!
//! ```text
//!   command ── starts ──► thread of the run ── results ──────────────► prints them
//!      └── waits until the time is over ── names the node, cancels ──► fails
//! ```
//!
//! A cancelled run stops before its next kernel, and kernels with several blocks before their next
//! block. A kernel that does neither is left behind: the command ends without it, and the thread of
//! the run, which has the session, keeps the host until then.

use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use tfrt_import::program::FUNCTION;
use tfrt_import::{ModelValue, Session};
use tfrt_support::{Error, ErrorCode};

use crate::run::LimitArguments;

/// How long a cancelled run may take to end before it is left behind.
const PATIENCE: Duration = Duration::from_millis(250);

/// The stack of the thread of a run: as large as that of the main thread usually is.
const STACK_BYTES: usize = 8 << 20;

/// Runs a model as a request of its own. If its time is over before it ends, the request is
/// cancelled, and the error has the place of the node that ran.
pub(super) fn run(
    limits: LimitArguments,
    session: Session,
    inputs: Vec<(String, ModelValue)>,
) -> Result<Vec<ModelValue>, Error> {
    let Some((time, what)) = time_of(limits) else {
        let request = session.request().build();
        return session.run_values_in_request(&request, &named(&inputs));
    };
    let request = session.request().watch_kernels().build();
    let (sender, results) = mpsc::channel();
    let of_run = Arc::clone(&request);
    let work = move || {
        let outcome = session.run_values_in_request(&of_run, &named(&inputs));
        // Nobody receives what comes too late.
        let _ = sender.send(outcome);
    };
    let thread = std::thread::Builder::new().name("model".to_owned());
    let thread = thread.stack_size(STACK_BYTES).spawn(work);
    let thread = thread.map_err(|error| Error::other(format!("cannot start a thread: {error}")))?;
    match results.recv_timeout(time) {
        Ok(outcome) => outcome,
        Err(RecvTimeoutError::Timeout) => {
            let too_late = Error::new(what).with_code(ErrorCode::DeadlineExceeded);
            too_late.set_place_if_unset(request.running_place());
            request.cancel_with(too_late.clone());
            // Whatever comes of it now is too late.
            let _ = results.recv_timeout(PATIENCE);
            Err(too_late)
        }
        // The thread panicked.
        Err(RecvTimeoutError::Disconnected) => match thread.join() {
            Err(payload) => std::panic::resume_unwind(payload),
            Ok(()) => Err(Error::new("the run ended without results")),
        },
    }
}

/// Returns the time that a run has, and what is told if it takes longer.
fn time_of(limits: LimitArguments) -> Option<(Duration, String)> {
    let deadline = limits.deadline().map(|time| {
        let what = format!("'{FUNCTION}' was cancelled here: it did not end within {time:?}");
        (time, what)
    });
    let timeout = limits.timeout();
    let timeout = timeout.map(|time| (time, format!("gave up here after {time:?}")));
    let both = deadline.into_iter().chain(timeout);
    both.min_by_key(|(time, _)| *time)
}

fn named(inputs: &[(String, ModelValue)]) -> Vec<(&str, ModelValue)> {
    let inputs = inputs.iter();
    inputs
        .map(|(name, value)| (name.as_str(), value.clone()))
        .collect()
}
