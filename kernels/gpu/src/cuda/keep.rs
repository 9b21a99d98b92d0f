//! Objects that live until a stream has reached a point, mainly host memory of copies.
//!
//! A thread polls the events after which objects may be dropped. It polls less and less often, and
//! sleeps while there are no objects to keep. A callback of the driver would avoid polling, but is
//! not called once a stream has failed.
#![expect(unsafe_code, reason = "calls the driver")]

use std::any::Any;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::time::Duration;

use cudarc::driver::sys::CUevent;

use super::call;
use super::object::Object;
use crate::api::Status;

/// An object, and the event behind which it may go.
struct Kept {
    event: Object,
    _object: Box<dyn Any + Send>,
}

/// The thread that drops the objects that it receives.
#[derive(Debug)]
pub(super) struct Keeper {
    sender: Sender<Kept>,
}

const SOON: Duration = Duration::from_micros(20);
const LATER: Duration = Duration::from_millis(2);

impl Keeper {
    /// Starts the thread. It ends when the keeper is dropped and nothing is left.
    pub(super) fn start() -> std::io::Result<Self> {
        let (sender, receiver) = mpsc::channel::<Kept>();
        std::thread::Builder::new()
            .name("gpu keeper".to_owned())
            .spawn(move || {
                let mut kept: Vec<Kept> = Vec::new();
                let mut pause = SOON;
                loop {
                    let received = match kept.is_empty() {
                        true => receiver.recv().map_err(|_| RecvTimeoutError::Disconnected),
                        false => receiver.recv_timeout(pause),
                    };
                    match received {
                        Ok(new) => {
                            kept.push(new);
                            pause = SOON;
                        }
                        Err(RecvTimeoutError::Timeout) => pause = (pause * 2).min(LATER),
                        Err(RecvTimeoutError::Disconnected) if kept.is_empty() => return,
                        Err(RecvTimeoutError::Disconnected) => std::thread::sleep(pause),
                    }
                    kept.retain(|kept| !has_passed(&kept.event));
                }
            })?;
        Ok(Self { sender })
    }

    pub(super) fn keep(&self, event: Object, object: Box<dyn Any + Send>) {
        // Without the thread, which does not end before this, the object would be dropped here.
        let _ = self.sender.send(Kept {
            event,
            _object: object,
        });
    }
}

/// Returns `true` if the work before an event is done, or will never be.
fn has_passed(event: &Object) -> bool {
    let functions = &event.context.functions;
    let result = call!(
        functions,
        "cuEventQuery(event)",
        cuEventQuery(event.number as CUevent)
    );
    !matches!(result, Err(error) if error.status == Status::NOT_READY)
}
