//! Contexts and tasks.

use tfrt::distributed::{DistContext, TaskHandle};
use tfrt::prelude::*;

use crate::failed;

/// Returns the context that the request was given.
///
/// # Errors
/// `no distributed context in this request`
#[tfrt_kernel(
    "tfrt_dist.get_distributed_context",
    chain = none,
    results(dist_context),
    format = "attr-dict"
)]
fn get_distributed_context(request: &RequestContext) -> Result<DistContext> {
    let context = request.context_data::<DistContext>().cloned();
    context.ok_or_else(|| {
        Error::new("no distributed context in this request")
            .with_code(ErrorCode::FailedPrecondition)
    })
}

/// Returns the task of this name.
///
/// # Errors
/// That it is not a name, or that the job or the task does not exist.
#[tfrt_kernel(
    "tfrt_dist.get_task_handle",
    chain = none,
    results(task_handle),
    format = "operands attr-dict"
)]
fn get_task_handle(
    dist_context: &DistContext,
    #[attr] task_name: &str,
    host: &HostContext,
) -> AsyncValueRef<TaskHandle> {
    match dist_context.context().cluster().find(task_name) {
        Ok(task) => AsyncValueRef::available(task),
        Err(error) => failed(error, host),
    }
}
