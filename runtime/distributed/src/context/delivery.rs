//! Payloads that are sent again until they have arrived: their receivers would wait forever.

use std::sync::{Arc, Weak};
use std::time::Duration;

use prost::bytes::Bytes;
use tfrt_queue::Task;
use tfrt_support::ErrorCode;

use super::DistributedContext;
use crate::cluster::TaskHandle;
use crate::error::{Answer, RemoteErrors};
use crate::fabric::CallOptions;
use crate::message::{SendDataRequest, SendDataResponse};

/// The first wait before a payload is sent again; each further one is twice as long.
const FIRST_PAUSE: Duration = Duration::from_millis(if cfg!(test) { 5 } else { 50 });

/// The longest such wait.
const MAX_PAUSE: Duration = Duration::from_secs(2);

impl DistributedContext {
    /// Sends a payload to the receiver of a key on a task until it has arrived, or nothing arrives
    /// there any more, or nobody uses this context any more. It may arrive twice. `tried` is
    /// dropped once the first attempt has ended.
    pub(crate) fn deliver(
        self: &Arc<Self>,
        to: TaskHandle,
        key: String,
        payload: Vec<Bytes>,
        tried: impl Send + 'static,
    ) {
        let delivery = Delivery {
            context: Arc::downgrade(self),
            to,
            request: SendDataRequest {
                context_id: self.id,
                instance_key: key,
                payload,
            },
            pause: FIRST_PAUSE,
        };
        delivery.attempt(self, tried);
    }
}

struct Delivery {
    context: Weak<DistributedContext>,
    to: TaskHandle,
    request: SendDataRequest,
    /// The wait before the next attempt.
    pause: Duration,
}

impl Delivery {
    fn attempt(self, context: &Arc<DistributedContext>, tried: impl Send + 'static) {
        let (to, request) = (self.to, self.request.clone());
        context.call(to, CallOptions::default(), request, move |answer| {
            if let Some(context) = self.context.upgrade()
                && !self.is_over(&context, &answer)
            {
                self.attempt_later(&context);
            }
            drop(tried);
        });
    }

    /// Returns `true` if the payload has arrived, or never will.
    fn is_over(&self, context: &DistributedContext, answer: &Answer<SendDataResponse>) -> bool {
        let ends = |errors: &RemoteErrors| {
            let mut codes = errors.as_slice().iter().map(|error| error.code);
            codes.all(|code| match code {
                // One that says the same waits there already, or the context was closed there.
                ErrorCode::AlreadyExists
                | ErrorCode::Cancelled
                | ErrorCode::InvalidDistributedContextId => true,
                _ => context.health().peer_end(self.to).is_some(),
            })
        };
        answer.as_ref().err().is_none_or(ends)
    }

    fn attempt_later(mut self, context: &DistributedContext) {
        let pause = self.pause;
        self.pause = MAX_PAUSE.min(pause * 2);
        let queue = Arc::clone(context.host().queue());
        context.host().timers().schedule_after(pause, move || {
            queue.add_task(Task::new(move || {
                if let Some(context) = self.context.upgrade() {
                    self.attempt(&context, ());
                }
            }));
        });
    }
}
