//! Tensors that one member sends to another.
//!
//! ```text
//!   send k ──► lost ──► abandonment, until it has arrived ──► recv k: the error of the send
//!   send k ──► tensor, of the next use ─────────────────────► recv k
//! ```
//!
//! A send that fails tells its receiver, as the members of other operations
//! [tell each other](super::super::abandonment): the receive is an error, too, now or when it
//! starts.
//!
//! P1. Both members count the same [uses](super::super::uses). A send ends one unless the receiver
//! has refused it, because an earlier tensor waits there. A receive ends one when it takes a tensor
//! or an abandonment, or finds that its own message is lost.

use std::sync::{Arc, Weak};

use prost::bytes::Bytes;
use tfrt_async::{AsyncValueRef, Chain};
use tfrt_queue::Task;
use tfrt_support::{Error, ErrorCode};
use tfrt_tensor::DenseHostTensor;

use super::super::abandonment::Abandonment;
use super::super::epoch;
use super::super::sent::{SendKey, Sent, abandonment_buffers, use_buffer};
use super::super::uses::Belongs;
use super::{Operation, RingMember};
use crate::cluster::TaskHandle;
use crate::context::DistributedContext;
use crate::error::Answer;
use crate::payload::Payload;

/// Gets a tensor, or the reason why there is none.
type OnTensor = Box<dyn FnOnce(Result<DenseHostTensor, Error>) + Send>;

/// Gets the outcome of a send.
type OnSent = Box<dyn FnOnce(Result<Chain, Error>) + Send>;

impl RingMember {
    pub(super) fn send_tensor(
        &self,
        key: &str,
        to: usize,
        tensor: &DenseHostTensor,
    ) -> AsyncValueRef<Chain> {
        let member = match self.member(to) {
            Ok(member) => member,
            Err(error) => return AsyncValueRef::error(error),
        };
        // Ends by itself: with the answer, or the loss of the member.
        self.start(Operation::Collectives(Vec::new()), |done: OnSent| {
            let send_key = SendKey::new(&self.scope, key, self.index, to);
            if !self.lock().sending.insert(send_key.payload.clone()) {
                let message = format!("send key {key} of group {} is in use", self.group);
                return done(Err(Error::new(message).with_code(ErrorCode::AlreadyExists)));
            }
            self.send_under(send_key, member, tensor, done);
        })
    }

    fn send_under(&self, key: SendKey, to: TaskHandle, tensor: &DenseHostTensor, done: OnSent) {
        let own_use = self.context.uses().current(&key.pair, &key.payload);
        let (this, context) = (self.this.clone(), Arc::clone(&self.context));
        let payload_key = key.payload.clone();
        let finish = move |failed: Option<Failure>| {
            let uses = context.uses();
            match &failed {
                None => uses.end(&key.pair, &key.payload),
                Some(Failure::Refused(_)) => {}
                Some(Failure::Lost(_)) => uses.end_failed(&key.pair, &key.payload),
            }
            // Before the receiver is told, and whoever waits here: the key may be used again.
            if let Some(this) = this.upgrade() {
                this.lock().sending.remove(&key.payload);
            }
            let error = match failed {
                None => return done(Ok(Chain)),
                Some(Failure::Refused(error)) => error,
                Some(Failure::Lost(error)) => {
                    let abandonment = Abandonment {
                        error: error.clone(),
                        key_use: own_use.key_use(),
                    };
                    let buffers = abandonment_buffers(&abandonment);
                    let payload = buffers.into_iter().map(Bytes::from).collect();
                    context.deliver(to, key.payload, payload, ());
                    error
                }
            };
            done(Err(error));
        };
        let mut bytes = match Payload::of_tensor(tensor).to_bytes() {
            Ok(bytes) => bytes,
            Err(error) => return finish(Some(Failure::Lost(error.into()))),
        };
        if own_use.follows_failure() {
            bytes.push(use_buffer(own_use.key_use()).into());
        }
        let host = Arc::clone(self.context.host());
        self.context
            .send_data(to, payload_key, bytes, move |answer: Answer<()>| {
                let failed = answer.err().map(|errors| {
                    let error = errors.to_value(&host);
                    match errors.code() {
                        ErrorCode::AlreadyExists => Failure::Refused(error),
                        _ => Failure::Lost(error),
                    }
                });
                finish(failed);
            });
    }

    pub(super) fn recv_tensor(&self, key: &str, from: usize) -> AsyncValueRef<DenseHostTensor> {
        let member = match self.member(from) {
            Ok(member) => member,
            Err(error) => return AsyncValueRef::error(error),
        };
        let receiving = Receiving {
            member: self.this.clone(),
            context: Arc::downgrade(&self.context),
            from: member,
            position: from,
            name: key.to_owned(),
            key: SendKey::new(&self.scope, key, from, self.index),
        };
        let operation = Operation::Receive(receiving.key.payload.clone());
        self.start(operation, |done| receiving.wait(&self.context, done))
    }
}

/// Why a send has failed.
enum Failure {
    /// A tensor waits for the same receiver.
    Refused(Error),
    /// The receiver may know nothing of the tensor.
    Lost(Error),
}

/// A receive in progress. The group is not kept open by it.
struct Receiving {
    member: Weak<RingMember>,
    context: Weak<DistributedContext>,
    from: TaskHandle,
    position: usize,
    /// The key, as its user has it.
    name: String,
    key: SendKey,
}

impl Receiving {
    fn wait(self, context: &Arc<DistributedContext>, done: OnTensor) {
        let (member, from) = (self.member.clone(), self.from);
        let key = self.key.payload.clone();
        let queue = Arc::clone(context.host().queue());
        let receiver = move |payload: Result<Payload, Error>| {
            // Waiters run on the work queue.
            queue.add_task(Task::new(move || match payload {
                Ok(payload) => self.take(payload, done),
                Err(error) => done(Err(error)),
            }));
        };
        context.receive(from, &key, Box::new(receiver));
        // The group may have been aborted, or a member lost, before this waited.
        if let Some(error) = member.upgrade().and_then(|member| member.failure()) {
            context.rendezvous().give_up(&key, &error);
        }
    }

    /// Takes what has arrived.
    fn take(self, payload: Payload, done: OnTensor) {
        let Some(context) = self.context.upgrade() else {
            let error = Error::new("the context is closed");
            return done(Err(error.with_code(ErrorCode::Cancelled)));
        };
        if !payload.may_be_of(self.from) {
            // The expected member may still send.
            return self.wait(&context, done);
        }
        let (uses, SendKey { payload: key, pair }) = (context.uses(), &self.key);
        let sent = Sent::of_payload(payload.clone());
        let belongs = uses.current(pair, key).compare(sent.key_use());
        if belongs == Belongs::Past {
            return self.wait(&context, done);
        }
        uses.end(pair, key);
        // An abandonment of this use may have come since: the tensor has arrived all the same.
        context.rendezvous().sweep_key(key);
        if belongs == Belongs::Future {
            // Whatever has taken its place is as late.
            let _ = context.rendezvous().put_back(key, payload);
            return done(Err(self.is_lost()));
        }
        done(match sent {
            Sent::Tensor(_, tensor) => tensor.to_tensor(context.host().allocator()),
            Sent::Abandonment(abandonment) => Err(abandonment.error),
        });
    }

    #[cold]
    fn is_lost(&self) -> Error {
        let (name, from) = (&self.name, self.position);
        let scope = self.key.pair.split(':').next().unwrap_or_default();
        let group = epoch::group_of(scope);
        let message =
            format!("receive key {name} of group {group}: the send of member {from} failed");
        Error::new(message).with_code(ErrorCode::Unavailable)
    }
}
