//! A run as the only client of a cluster, whose other tasks serve its requests.

use std::sync::{Arc, Mutex, PoisonError};

use tfrt::distributed::{DistContext, Server};
use tfrt::prelude::AsyncValueRef;
use tfrt_host::HostContext;
use tfrt_support::Error;

use crate::cluster_arguments::FoundCluster;
use crate::failure::Failure;
use crate::shut_down::shut_down;

/// The client of a cluster.
pub(super) struct Client {
    server: Arc<Server>,
    context: DistContext,
    /// Keeps the entry of this task where the tasks have met.
    _found: FoundCluster,
}

/// The context that a client waits for. Whoever comes first decides what becomes of the wait: the
/// tasks of the cluster, or somebody who knows that they do not come.
#[derive(Clone)]
pub(super) struct Joining(Arc<Mutex<Option<Resolve>>>);

type Resolve = Box<dyn FnOnce(Result<DistContext, Error>) + Send>;

impl Joining {
    /// Starts to wait.
    pub(super) fn new() -> (Self, AsyncValueRef<DistContext>) {
        let (promise, joined) = AsyncValueRef::unconstructed();
        let resolve = move |outcome| match outcome {
            Ok(context) => promise.emplace(context),
            Err(error) => promise.set_error(error),
        };
        (Self(Arc::new(Mutex::new(Some(Box::new(resolve))))), joined)
    }

    /// Ends the wait, unless it is over.
    pub(super) fn resolve(&self, outcome: Result<DistContext, Error>) {
        let resolve = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(resolve) = resolve {
            resolve(outcome);
        }
    }
}

impl Client {
    /// Creates a context on all tasks: waits until they are there.
    pub(super) fn join(
        program: &str,
        server: Arc<Server>,
        found: FoundCluster,
        host: &Arc<HostContext>,
    ) -> Result<Self, Failure> {
        let (joining, joined) = Joining::new();
        Self::join_with(program, server, found, host, (&joining, joined))
    }

    /// As [`join`](Self::join), with a wait that others may end.
    pub(super) fn join_with(
        program: &str,
        server: Arc<Server>,
        found: FoundCluster,
        host: &Arc<HostContext>,
        (joining, joined): (&Joining, AsyncValueRef<DistContext>),
    ) -> Result<Self, Failure> {
        let (joining, own_server) = (joining.clone(), Arc::downgrade(&server));
        server.initialize_single_client(None, &found.config, move |outcome| {
            let Some(server) = own_server.upgrade() else {
                return;
            };
            joining.resolve(match outcome {
                Err(errors) => Err(errors.to_value(server.host())),
                Ok(context) => Ok(DistContext::with_server(context, server)),
            });
        });
        let waited = host.await_values(&[joined.clone().into()]);
        let joined = waited.and_then(|()| joined.as_result().cloned());
        match joined {
            Ok(context) => Ok(Self {
                server,
                context,
                _found: found,
            }),
            Err(error) => {
                shut_down(&server, host);
                let message = format!("{program}: cannot reach the workers");
                Err(Failure::caused(message, error))
            }
        }
    }

    /// Returns the context that programs find in their request.
    pub(super) fn context(&self) -> DistContext {
        self.context.clone()
    }

    /// Closes the context on all tasks.
    pub(super) fn leave(self, host: &Arc<HostContext>) {
        let (promise, closed) = AsyncValueRef::<i32>::unconstructed();
        let context = Arc::clone(self.context.context());
        // A worker that is lost has closed it, too.
        context.close_remote_contexts(move |_| promise.emplace(0));
        let _ = host.await_available(&[closed.into()]);
        drop(context);
        shut_down(&self.server, host);
    }
}
