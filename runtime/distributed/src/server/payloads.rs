//! Payloads: those that other tasks send to this one, ask it for, or return to it.
//!
//! They wait in the rendezvous of their context. A caller with a name gets at the payloads of the
//! contexts that it takes part in.

use std::sync::Arc;

use tfrt_host::tracing::{Scope, TracingLevel};
use tfrt_support::{Error, ErrorCode};

use super::{Server, callers};
use crate::collective;
use crate::context::DistributedContext;
use crate::error::{Answer, RemoteError};
use crate::fabric::{ArrivedPayload, Reply, WantedPayload};
use crate::last_reference::drop_on_queue;
use crate::message::{Request, SendDataRequest, SendDataResponse};
use crate::name::TaskName;
use crate::payload::Payload;
use crate::rendezvous::PayloadRoom;

/// Traces that a payload is received.
fn receiving(context: &DistributedContext, key: &str) -> Scope {
    Scope::enter(TracingLevel::Debug, || {
        let own_name = context.cluster().own_name();
        format!("receive {key} at {own_name}")
    })
}

/// Notes which task has sent a payload, if it has proved its name. Messages about a group come from
/// its members.
fn of_caller(
    context: &DistributedContext,
    caller: Option<&TaskName>,
    key: &str,
    payload: Payload,
) -> Result<Payload, RemoteError> {
    let Some(caller) = caller else {
        return Ok(payload);
    };
    let sender = context.cluster().find(&caller.to_string())?;
    let group = collective::group_of_own_key(key).and_then(|group| context.group(group).ok());
    if group.is_some_and(|members| !members.contains(&sender)) {
        let why = "the task is not a member of the group";
        return Err(callers::refused("SendData", caller, why));
    }
    Ok(payload.sent_by(sender))
}

/// Refuses what has to be sent again later.
fn check_time(
    context: &DistributedContext,
    key: &str,
    payload: &Payload,
) -> Result<(), RemoteError> {
    match context.uses().is_early_for(key, payload) {
        false => Ok(()),
        true => Err(RemoteError::new(
            ErrorCode::Unavailable,
            "the collective before it has not ended",
        )),
    }
}

impl Server {
    pub(super) fn send_data(
        &self,
        caller: Option<&TaskName>,
        request: SendDataRequest,
    ) -> Answer<SendDataResponse> {
        let payload = Payload::from_bytes(&request.payload, self.host.allocator())
            .map_err(|error| RemoteError::from(&Error::from(error)));
        let room = PayloadRoom::default();
        let key = &request.instance_key;
        self.take(caller, request.context_id, key, payload, room)
    }

    /// Hands a payload to its receiver.
    fn take(
        &self,
        caller: Option<&TaskName>,
        context_id: u64,
        key: &str,
        payload: Result<Payload, RemoteError>,
        room: PayloadRoom,
    ) -> Answer<SendDataResponse> {
        let context = self.context(context_id)?;
        let _scope = receiving(&context, key);
        let payload = of_caller(&context, caller, key, payload?)?;
        check_time(&context, key, &payload)?;
        context.rendezvous().send_arrived(key, payload, room)?;
        Ok(SendDataResponse {})
    }

    /// Reserves room for a payload that is about to arrive outside of a message.
    pub(super) fn expect(
        &self,
        caller: Option<&TaskName>,
        context_id: u64,
        key: &str,
        num_bytes: u64,
    ) -> Answer<PayloadRoom> {
        self.check_sender(caller, context_id)?;
        let context = self.context(context_id)?;
        let room = context.rendezvous().expect(key, num_bytes);
        let queue = Arc::clone(context.host().queue());
        drop_on_queue(&queue, context);
        Ok(room?)
    }

    /// Takes a payload that arrived outside of a message.
    pub(super) fn take_arrived(
        &self,
        caller: Option<&TaskName>,
        arrived: ArrivedPayload,
    ) -> Answer<SendDataResponse> {
        let ArrivedPayload {
            context_id,
            instance_key,
            payload,
            room,
        } = arrived;
        self.check_sender(caller, context_id)?;
        self.take(caller, context_id, &instance_key, Ok(payload), room)
    }

    /// Takes a payload that arrived outside of a message, if that takes little time.
    pub(super) fn take_light(
        &self,
        caller: Option<&TaskName>,
        arrived: ArrivedPayload,
    ) -> Result<Answer<SendDataResponse>, ArrivedPayload> {
        let ArrivedPayload {
            context_id,
            instance_key,
            payload,
            room,
        } = arrived;
        let checked = self.check_sender(caller, context_id);
        let context = match checked.and_then(|()| self.context(context_id)) {
            Ok(context) => context,
            Err(error) => return Ok(Err(error.into())),
        };
        let checked = of_caller(&context, caller, &instance_key, payload);
        let checked = checked.and_then(|payload| {
            check_time(&context, &instance_key, &payload)?;
            Ok(payload)
        });
        let taken = match checked {
            Ok(payload) => {
                let rendezvous = context.rendezvous();
                rendezvous.send_at_once(&instance_key, payload, room)
            }
            Err(error) => Ok(Err(error)),
        };
        if taken.is_ok() {
            // A returned payload is traced when its receiver runs.
            drop(receiving(&context, &instance_key));
        }
        let queue = Arc::clone(context.host().queue());
        drop_on_queue(&queue, context);
        match taken {
            Ok(taken) => Ok(taken.map(|()| SendDataResponse {}).map_err(Into::into)),
            Err((payload, room)) => Err(ArrivedPayload {
                context_id,
                instance_key,
                payload,
                room,
            }),
        }
    }

    /// Checks that a task with a name may send payloads to a context.
    fn check_sender(&self, caller: Option<&TaskName>, context_id: u64) -> Result<(), RemoteError> {
        let Some(caller) = caller else {
            return Ok(());
        };
        // What is allowed does not depend on the bytes.
        let request = SendDataRequest {
            context_id,
            ..SendDataRequest::default()
        };
        self.check_caller(caller, &Request::SendData(request))
    }

    /// Answers with a payload, now or once it arrives.
    pub(super) fn give_wanted(
        &self,
        caller: Option<&TaskName>,
        wanted: WantedPayload,
        reply: Reply<Payload>,
    ) {
        match self.context_for(caller, wanted.context_id) {
            Ok(context) => give(&context, wanted, reply),
            Err(error) => reply.send(Err(error.into())),
        }
    }

    /// Takes a payload back that its caller could not use.
    pub(super) fn put_back(
        &self,
        caller: Option<&TaskName>,
        returned: ArrivedPayload,
    ) -> Answer<()> {
        let ArrivedPayload {
            context_id,
            instance_key,
            payload,
            ..
        } = returned;
        let context = self.context_for(caller, context_id)?;
        // It had room before it was given away.
        Ok(context.rendezvous().put_back(&instance_key, payload)?)
    }

    /// Returns the payload that waits under a key, which stays there.
    pub(super) fn find_waiting(
        &self,
        caller: Option<&TaskName>,
        context_id: u64,
        key: &str,
    ) -> Answer<Option<Payload>> {
        let context = self.context_for(caller, context_id)?;
        Ok(context.rendezvous().payload(key))
    }

    /// Returns the payloads that wait, in one context or all of them.
    pub(super) fn all_waiting(
        &self,
        caller: Option<&TaskName>,
        context_id: Option<u64>,
    ) -> Answer<Vec<ArrivedPayload>> {
        let contexts = match context_id {
            Some(id) => vec![self.context_for(caller, id)?],
            None => self.contexts_of(caller),
        };
        let waiting = contexts.iter().flat_map(|context| {
            let payloads = context.rendezvous().payloads().into_iter();
            payloads.map(|(instance_key, payload)| ArrivedPayload {
                context_id: context.id(),
                instance_key,
                payload,
                room: PayloadRoom::default(),
            })
        });
        Ok(waiting.collect())
    }

    /// Returns the contexts that a task takes part in, or all, by their ids.
    fn contexts_of(&self, caller: Option<&TaskName>) -> Vec<Arc<DistributedContext>> {
        let contexts = self.lock_contexts();
        let all = contexts.by_id.values().map(|kept| &kept.context);
        let is_theirs = |context: &&Arc<DistributedContext>| {
            caller.is_none_or(|caller| context.config().has_task(caller))
        };
        let mut theirs: Vec<_> = all.filter(is_theirs).cloned().collect();
        theirs.sort_by_key(|context| context.id());
        theirs
    }

    /// Returns the context for a request for payloads. Counts as an access.
    fn context_for(
        &self,
        caller: Option<&TaskName>,
        id: u64,
    ) -> Result<Arc<DistributedContext>, RemoteError> {
        if let Some(caller) = caller {
            let contexts = self.lock_contexts();
            contexts.of_task(id, caller, "the request for payloads")?;
        }
        self.context(id)
    }
}

/// Sends the payload of a key as the answer, now or once it arrives.
fn give(context: &Arc<DistributedContext>, wanted: WantedPayload, reply: Reply<Payload>) {
    let (key, own) = (wanted.instance_key, Arc::downgrade(context));
    let receiver = move |payload: Result<Payload, Error>| {
        let of_wait = |error: Error| {
            let end = own.upgrade().and_then(|context| context.end_if_closed());
            end.unwrap_or_else(|| RemoteError::from(&error)).into()
        };
        reply.send(payload.map_err(of_wait));
    };
    let rendezvous = context.rendezvous();
    if let Some(number) = rendezvous.receive_numbered(&key, Box::new(receiver)) {
        let context = Arc::downgrade(context);
        wanted.cancel.install(move || {
            if let Some(context) = context.upgrade() {
                context.rendezvous().withdraw(&key, number);
                let queue = Arc::clone(context.host().queue());
                drop_on_queue(&queue, context);
            }
        });
    }
}
