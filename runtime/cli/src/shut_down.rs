//! The end of the task that this process is.

use tfrt::distributed::Server;
use tfrt::prelude::{AsyncValueRef, Chain};
use tfrt_host::HostContext;

/// Shuts a server down, and waits until nothing is under way any more, or the rest was cut: answers
/// that are not sent when the process ends are lost.
pub(crate) fn shut_down(server: &Server, host: &HostContext) {
    let (promise, drained) = AsyncValueRef::<Chain>::unconstructed();
    server.shut_down_then(move |_| promise.emplace(Chain));
    // What was cut is logged.
    let _ = host.await_available(&[drained.into()]);
}
