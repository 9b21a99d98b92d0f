//! What a task may ask for that has proved its name to the transport.
//!
//! | request | is refused unless |
//! |---|---|
//! | CreateContext | the caller is the owner, or the lead task, and part of the cluster |
//! | all others about a context | the caller is part of its cluster |
//! | SendReadyChains | the caller is the lead task |
//! | CloseContext | the caller is the single client that owns the context, or else the lead task |
//! | Heartbeat | the caller names itself as the sender |
//! | CancelExecution | the caller has started the execution: it is ignored otherwise |
//! | DeleteRemoteObjects | all ids were created by the caller |
//! | RemoteExecuteOp | the ids of the results, and of the chain after the op, were |
//! | SendData | a message about a group comes from a member |
//!
//! Members of a collective drop elements that do not come from the member that they expect.
//!
//! Ids carry the number of their creator, which every task draws for itself. So a task learns the
//! numbers of others from those that may tell them: from ready chains, and from the owner of the
//! context; of a task that neither tells, the first number that it uses counts. See
//! [`Creators`](crate::creators::Creators).
//!
//! Not refused, because others do so rightly: a task makes objects of another one's ids by
//! RemoteExecute and PutObject if that one has handed the ids on, and it takes objects of all ids
//! as arguments. A second object of one id is refused in any case.

use tfrt_support::ErrorCode;

use super::Server;
use crate::context::DistributedContext;
use crate::error::RemoteError;
use crate::message::{RemoteObjectIdProto, Request};
use crate::name::TaskName;
use crate::object::RemoteObjectId;

impl Server {
    /// Checks that a request is one that this task may send.
    pub(super) fn check_caller(
        &self,
        caller: &TaskName,
        request: &Request,
    ) -> Result<(), RemoteError> {
        let refused = |why: &str| Err(refused(request.method().name(), caller, why));
        if let Request::CreateContext(request) = request {
            let config = request.dist_config.clone().unwrap_or_default();
            let name = caller.to_string();
            let expected = match request.is_multi_client {
                true => config.lead_task_name(),
                false => &request.owner,
            };
            let is_caller = TaskName::parse(expected).is_ok_and(|expected| expected == *caller);
            return match is_caller && config.has_task(caller) {
                true => Ok(()),
                false => refused(&format!(
                    "the context belongs to `{expected}`, not to `{name}`"
                )),
            };
        }
        let Some(id) = request.context_id() else {
            return Ok(());
        };
        let contexts = self.lock_contexts();
        // Refused here: the context could be made before the request looks for it again.
        let context = contexts.of_task(id, caller, request.method().name())?;
        let config = context.config();
        let leads = || TaskName::parse(config.lead_task_name()).is_ok_and(|lead| lead == *caller);
        match request {
            Request::SendReadyChains(_) if !leads() => refused("only the lead task may send it"),
            Request::CloseContext(_) => match context.closer() {
                Some(closer) if closer != *caller => {
                    refused(&format!("the context belongs to `{closer}`"))
                }
                _ => Ok(()),
            },
            Request::Heartbeat(request) if request.sender != caller.to_string() => {
                refused(&format!("it names `{}` as its sender", request.sender))
            }
            Request::DeleteRemoteObjects(delete) => {
                check_creator(context, caller, request, &delete.input)
            }
            Request::RemoteExecuteOp(op) => {
                let outputs = op.output.iter().filter_map(|output| output.id.as_ref());
                check_creator(context, caller, request, outputs.chain(&op.out_chain))
            }
            _ => Ok(()),
        }
    }
}

/// Checks that a task has created ids.
fn check_creator<'a>(
    context: &DistributedContext,
    caller: &TaskName,
    request: &Request,
    ids: impl IntoIterator<Item = &'a RemoteObjectIdProto>,
) -> Result<(), RemoteError> {
    let task = context.cluster().find(&caller.to_string())?;
    for id in ids {
        if !context.creators().claim(id.prefix_id, task) {
            let id = RemoteObjectId::from(id);
            let why = format!("another task has created {id}");
            return Err(refused(request.method().name(), caller, &why));
        }
    }
    Ok(())
}

#[cold]
pub(super) fn refused(method: &str, caller: &TaskName, why: &str) -> RemoteError {
    let message = format!("{method} of {caller} is refused: {why}");
    RemoteError::new(ErrorCode::FailedPrecondition, message)
}
