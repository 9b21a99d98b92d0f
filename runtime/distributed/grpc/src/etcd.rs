//! An etcd server as the place where the tasks of a cluster meet.
//!
//! The entry of task 3 of the job `worker` is the value of the key `PREFIX/worker/3`. It belongs to
//! a lease, which is kept alive as long as the [`Etcd`] exists, so the entries of tasks that have
//! died disappear by themselves. A watch of the prefix says when entries have changed.
//!
//! ```text
//!  publish ── LeaseGrant (once), Put ──►        ┌ LeaseKeepAlive, three times in each lease
//!  entries ── Range ──► etcd ◄──────────────────┤
//!  wait    ◄── events ── Watch                  └ LeaseRevoke at the end
//! ```

mod message;

use std::fmt;
use std::future::Future;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use http::uri::PathAndQuery;
use prost::Message;
use prost::bytes::Bytes;
use tfrt_distributed::discovery::{Board, DiscoveryError};
use tfrt_distributed::name::TaskName;
use tfrt_host::log;
use tokio::sync::Mutex as AsyncMutex;
use tokio::task::AbortHandle;
use tokio_stream::StreamExt;
use tonic::client::Grpc;
use tonic::transport::{Channel, Endpoint};
use tonic::{Code, Status, Streaming};

use crate::runtime::NetworkThreads;
use crate::wire::BytesCodec;

use message::{
    LeaseGrantRequest, LeaseGrantResponse, LeaseKeepAliveRequest, LeaseKeepAliveResponse,
    LeaseRevokeRequest, LeaseRevokeResponse, PutRequest, PutResponse, RangeRequest, RangeResponse,
    TxnRequest, TxnResponse, WatchCreateRequest, WatchRequest, WatchResponse,
};

/// The number of seconds after which the entry of a task that has died disappears.
const LEASE_SECONDS: i64 = 10;

/// The number of times that a lease is kept alive before it would end.
const KEEP_ALIVES: u32 = 3;

/// The time that the server may take to answer.
const TIMEOUT: Duration = Duration::from_secs(10);

/// The time after which the server is asked whether it is still there, if nothing comes from it.
const PING_INTERVAL: Duration = Duration::from_secs(10);

/// The largest entry: by default, the server takes requests of up to 1.5 MiB, with the key.
const MAX_ENTRY_BYTES: usize = (3 << 19) - (1 << 12);

/// The largest response: all entries.
const MAX_RESPONSE_BYTES: usize = 1 << 30;

/// The pause before the server is watched again after the watch has ended.
const PAUSE: Duration = Duration::from_millis(200);

/// The entries of a cluster on an etcd server.
///
/// Its methods block; they must not be called on a thread of the network.
///
/// ```
/// use tfrt_grpc::Etcd;
///
/// // Connects when it is used first.
/// let etcd = Etcd::new("etcd.example:2379/clusters/a")?;
/// let error = Etcd::new("etcd.example").unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "etcd.example: expected an etcd server and a prefix of keys, such as `HOST:2379/PREFIX`"
/// );
/// # drop(etcd);
/// # Ok::<(), tfrt_distributed::discovery::DiscoveryError>(())
/// ```
pub struct Etcd {
    /// The address and the prefix, for errors.
    source: String,
    prefix: String,
    server: Server,
    threads: Arc<NetworkThreads>,
    lease_seconds: i64,
    /// Locked while it changes, also on the server.
    publication: Arc<AsyncMutex<Publication>>,
    keep_alive: Option<AbortHandle>,
    watch: Option<AbortHandle>,
    changes: Arc<Changes>,
    /// The number of changes before the entries were read.
    num_read: u64,
}

/// What a task has published.
#[derive(Debug, Default)]
struct Publication {
    /// The key and the text of its entry.
    entry: Option<(Vec<u8>, Vec<u8>)>,
    /// The lease of the entry: granted for the first one, and again after it has ended.
    lease: Option<Lease>,
    /// Whether the entry is on the server, as far as this task knows.
    is_there: bool,
}

#[derive(Clone, Copy, Debug)]
struct Lease {
    id: i64,
    /// The time between two requests that keep it alive.
    interval: Duration,
}

impl Publication {
    /// Records that a lease has ended, and the entry with it.
    fn end(&mut self, id: i64) {
        if self.lease.take_if(|lease| lease.id == id).is_some() {
            self.is_there = false;
        }
    }
}

/// Counts the changes of the entries.
#[derive(Default)]
struct Changes {
    count: Mutex<u64>,
    has_changed: Condvar,
}

impl Changes {
    fn lock(&self) -> MutexGuard<'_, u64> {
        self.count.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self) {
        *self.lock() += 1;
        self.has_changed.notify_all();
    }
}

impl Etcd {
    /// Returns the entries at `HOST:PORT/PREFIX`. Does not connect yet.
    ///
    /// # Errors
    /// If the address has another form, or the threads of the network cannot be started.
    pub fn new(address: &str) -> Result<Self, DiscoveryError> {
        Self::with_lease(address, LEASE_SECONDS)
    }

    fn with_lease(address: &str, lease_seconds: i64) -> Result<Self, DiscoveryError> {
        let wrong = |problem: String| DiscoveryError::new(address, problem);
        let (authority, prefix) = split(address)?;
        let threads = NetworkThreads::shared()
            .map_err(|error| wrong(format!("cannot start the network threads: {error}")))?;
        let endpoint = Endpoint::from_shared(format!("http://{authority}"));
        let endpoint = endpoint.map_err(|error| wrong(error.to_string()))?;
        let entered = threads.handle().enter();
        let channel = endpoint
            .tcp_nodelay(true)
            .connect_timeout(TIMEOUT)
            .http2_keep_alive_interval(PING_INTERVAL)
            .keep_alive_timeout(TIMEOUT)
            .connect_lazy();
        drop(entered);
        Ok(Self {
            source: address.to_owned(),
            prefix: prefix.to_owned(),
            server: Server { channel },
            threads,
            lease_seconds,
            publication: Arc::default(),
            keep_alive: None,
            watch: None,
            changes: Arc::default(),
            num_read: 0,
        })
    }

    /// Waits for an answer of the server.
    fn wait_for<T>(
        &self,
        answer: impl Future<Output = Result<T, Status>>,
    ) -> Result<T, DiscoveryError> {
        let answer = self.threads.handle().block_on(within(TIMEOUT, answer));
        answer.map_err(|status| {
            DiscoveryError::new(&self.source, format!("etcd: {}", reason(&status)))
        })
    }

    /// Returns the first key of the entries, and the one after the last.
    fn range(&self) -> (Vec<u8>, Vec<u8>) {
        // The character after `/`.
        (
            format!("{}/", self.prefix).into(),
            format!("{}0", self.prefix).into(),
        )
    }

    /// Begins to watch the entries, if that has not begun.
    fn watch(&mut self) {
        if self.watch.is_some() {
            return;
        }
        let (key, range_end) = self.range();
        let (server, changes) = (self.server.clone(), Arc::clone(&self.changes));
        let watch = async move {
            loop {
                let request = WatchCreateRequest {
                    key: key.clone(),
                    range_end: range_end.clone(),
                };
                // Whatever ended the watch, entries may have changed until the next one.
                let _ = server.watch(request, &changes).await;
                changes.add();
                tokio::time::sleep(PAUSE).await;
            }
        };
        let task = self.threads.handle().spawn(watch);
        self.watch = Some(task.abort_handle());
    }

    /// Begins to keep the lease of the entry alive, if nothing does.
    fn keep_alive(&mut self) {
        // It ends when another process has taken the place of this one.
        if self
            .keep_alive
            .as_ref()
            .is_some_and(|task| !task.is_finished())
        {
            return;
        }
        let (server, source, seconds) = (self.server.clone(), &self.source, self.lease_seconds);
        let (source, publication) = (source.clone(), Arc::clone(&self.publication));
        let changes = Arc::clone(&self.changes);
        let keep_alive = async move {
            loop {
                let lease = publication.lock().await.lease;
                let interval = lease.map_or(PAUSE, |lease| lease.interval);
                tokio::time::sleep(interval).await;
                if let Some(Lease { id, .. }) = lease {
                    let request = LeaseKeepAliveRequest { id };
                    // A request that is not answered must not take the time of the next ones.
                    match within(interval, server.keep_alive(&request)).await {
                        Ok(kept) if kept.ttl > 0 => {}
                        Ok(_) => publication.lock().await.end(id),
                        // It may come back in time.
                        Err(status) => log::warning!("{source}: etcd: {}", reason(&status)),
                    }
                }
                let mut publication = publication.lock().await;
                if publication.is_there {
                    continue;
                }
                match server.restore(&mut publication, seconds).await {
                    Ok(true) => log::warning!(
                        "{source}: the lease of this task had ended; its entry is published again"
                    ),
                    Ok(false) => {
                        log::warning!("{source}: another process has taken the place of this task");
                        // A task that waits for others says so, too.
                        changes.add();
                        return;
                    }
                    Err(status) => log::warning!("{source}: etcd: {}", reason(&status)),
                }
            }
        };
        let task = self.threads.handle().spawn(keep_alive);
        self.keep_alive = Some(task.abort_handle());
    }
}

/// Splits `HOST:PORT/PREFIX`.
fn split(address: &str) -> Result<(&str, &str), DiscoveryError> {
    let parts = address.split_once('/');
    let parts = parts.filter(|(authority, prefix)| {
        let is_address = authority.rsplit_once(':').is_some_and(|(host, port)| {
            !host.is_empty() && port.parse::<u16>().is_ok_and(|port| port > 0)
        });
        is_address && !prefix.is_empty() && !prefix.ends_with('/')
    });
    parts.ok_or_else(|| {
        let problem = "expected an etcd server and a prefix of keys, such as `HOST:2379/PREFIX`";
        DiscoveryError::new(address, problem)
    })
}

/// Returns the task whose entry has a key.
fn task_of(prefix: &str, key: &[u8]) -> Option<TaskName> {
    let name = std::str::from_utf8(key).ok()?;
    let name = name.strip_prefix(prefix)?.strip_prefix('/')?;
    let (job, number) = name.split_once('/')?;
    let task = TaskName::new(job, number.parse().ok()?);
    let is_name = TaskName::parse(&task.to_string()).is_ok_and(|parsed| parsed == task);
    (is_name && key_of(prefix, &task).as_bytes() == key).then_some(task)
}

fn key_of(prefix: &str, task: &TaskName) -> String {
    format!("{prefix}/{}/{}", task.job, task.task)
}

/// Returns the entries in a response.
fn entries_in(prefix: &str, response: RangeResponse) -> Vec<(TaskName, String)> {
    let entries = response.kvs.into_iter().filter_map(|kv| {
        let task = task_of(prefix, &kv.key)?;
        // Anything but text is malformed, which the caller says.
        Some((task, String::from_utf8_lossy(&kv.value).into_owned()))
    });
    entries.collect()
}

/// Returns an answer, or an error if it does not come in time.
async fn within<T>(
    limit: Duration,
    answer: impl Future<Output = Result<T, Status>>,
) -> Result<T, Status> {
    let limited = tokio::time::timeout(limit, answer).await;
    limited.unwrap_or_else(|_| {
        let message = format!("the server does not answer within {limit:?}");
        Err(Status::deadline_exceeded(message))
    })
}

/// Returns what a status says, with its cause.
fn reason(status: &Status) -> String {
    match std::error::Error::source(status) {
        Some(source) => format!("{}: {source}", status.message()),
        None => status.message().to_owned(),
    }
}

impl Board for Etcd {
    fn publish(&mut self, task: &TaskName, entry: &str) -> Result<(), DiscoveryError> {
        let (key, value) = (key_of(&self.prefix, task).into_bytes(), Vec::from(entry));
        let published = async {
            let mut publication = self.publication.lock().await;
            publication.entry = Some((key, value));
            self.server
                .publish(&mut publication, self.lease_seconds)
                .await
        };
        self.wait_for(published)?;
        self.keep_alive();
        Ok(())
    }

    fn entries(
        &mut self,
        is_wanted: &dyn Fn(&TaskName) -> bool,
    ) -> Result<Vec<(TaskName, String)>, DiscoveryError> {
        self.watch();
        // Before the entries are read: a change since then ends the next wait.
        self.num_read = *self.changes.lock();
        let (key, range_end) = self.range();
        let request = RangeRequest { key, range_end };
        let response = self.wait_for(self.server.range(&request))?;
        let mut entries = entries_in(&self.prefix, response);
        entries.retain(|(task, _)| is_wanted(task));
        Ok(entries)
    }

    fn max_entry_bytes(&self) -> usize {
        MAX_ENTRY_BYTES
    }

    fn wait(&mut self, limit: Duration) {
        let end = Instant::now() + limit;
        let mut count = self.changes.lock();
        while *count == self.num_read {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            let waited = self.changes.has_changed.wait_timeout(count, left);
            count = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

impl Drop for Etcd {
    fn drop(&mut self) {
        for task in [&self.keep_alive, &self.watch].into_iter().flatten() {
            task.abort();
        }
        let (server, threads) = (self.server.clone(), Arc::clone(&self.threads));
        let publication = Arc::clone(&self.publication);
        self.threads.handle().spawn(async move {
            let lease = publication.lock().await.lease.take();
            if let Some(Lease { id, .. }) = lease {
                // A lease that is not revoked ends by itself.
                let request = LeaseRevokeRequest { id };
                let revoked = server.revoke(&request);
                let _ = within(TIMEOUT, revoked).await;
            }
            drop(threads);
        });
    }
}

impl fmt::Debug for Etcd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Etcd")
            .field("source", &self.source)
            .finish_non_exhaustive()
    }
}

/// Sends the requests.
#[derive(Clone)]
struct Server {
    channel: Channel,
}

impl Server {
    async fn grant(&self, request: &LeaseGrantRequest) -> Result<LeaseGrantResponse, Status> {
        let granted: LeaseGrantResponse = self.call("Lease/LeaseGrant", request).await?;
        match granted.error.is_empty() {
            true => Ok(granted),
            false => Err(Status::unknown(granted.error)),
        }
    }

    /// Returns the lease of a publication, which may be a new one.
    async fn lease(&self, publication: &mut Publication, seconds: i64) -> Result<i64, Status> {
        if let Some(lease) = publication.lease {
            return Ok(lease.id);
        }
        let request = LeaseGrantRequest { ttl: seconds };
        let granted = within(TIMEOUT, self.grant(&request)).await?;
        // The server may grant more than it was asked for.
        let seconds = u64::try_from(granted.ttl.max(1)).unwrap_or(1);
        publication.lease = Some(Lease {
            id: granted.id,
            interval: Duration::from_secs(seconds) / KEEP_ALIVES,
        });
        Ok(granted.id)
    }

    /// Publishes an entry, whatever is in its place.
    async fn publish(&self, publication: &mut Publication, seconds: i64) -> Result<(), Status> {
        let Some((key, value)) = publication.entry.clone() else {
            return Ok(());
        };
        let lease = self.lease(publication, seconds).await?;
        let mut request = PutRequest { key, value, lease };
        let mut put = within(TIMEOUT, self.put(&request)).await;
        // The lease has ended, such as after a long interruption of the network.
        if put
            .as_ref()
            .is_err_and(|status| status.code() == Code::NotFound)
        {
            publication.end(lease);
            request.lease = self.lease(publication, seconds).await?;
            put = within(TIMEOUT, self.put(&request)).await;
        }
        publication.is_there = put.is_ok();
        put.map(drop)
    }

    /// Publishes an entry that is gone. Returns `false` if that of another process is in its place.
    async fn restore(&self, publication: &mut Publication, seconds: i64) -> Result<bool, Status> {
        let Some((key, value)) = publication.entry.clone() else {
            return Ok(true);
        };
        let lease = self.lease(publication, seconds).await?;
        let put = PutRequest { key, value, lease };
        let request = TxnRequest::put_if_absent(put.clone());
        let response: TxnResponse = within(TIMEOUT, self.call("KV/Txn", &request)).await?;
        if !response.succeeded {
            // The answer to an earlier attempt may have been lost.
            let mut found = response.found();
            match found.find(|kv| kv.value == put.value) {
                None => return Ok(false),
                Some(kv) if kv.lease == lease => {}
                Some(_) => return Err(Status::aborted("the entry still has an earlier lease")),
            }
        }
        publication.is_there = true;
        Ok(true)
    }

    async fn revoke(&self, request: &LeaseRevokeRequest) -> Result<LeaseRevokeResponse, Status> {
        self.call("Lease/LeaseRevoke", request).await
    }

    async fn put(&self, request: &PutRequest) -> Result<PutResponse, Status> {
        self.call("KV/Put", request).await
    }

    async fn range(&self, request: &RangeRequest) -> Result<RangeResponse, Status> {
        self.call("KV/Range", request).await
    }

    async fn keep_alive(
        &self,
        request: &LeaseKeepAliveRequest,
    ) -> Result<LeaseKeepAliveResponse, Status> {
        let requests = tokio_stream::once(request.encode_to_vec().into());
        let mut answers = self.stream("Lease/LeaseKeepAlive", requests).await?;
        let answer = answers.message().await?;
        decode(answer.ok_or_else(|| Status::unavailable("the lease was not kept alive"))?)
    }

    /// Counts changes until the watch ends.
    async fn watch(&self, request: WatchCreateRequest, changes: &Changes) -> Result<(), Status> {
        let request = WatchRequest {
            create_request: Some(request),
        };
        // The watch ends with the stream of requests.
        let requests = tokio_stream::once(request.encode_to_vec().into());
        let requests = requests.chain(tokio_stream::pending());
        let mut responses = self.stream("Watch/Watch", requests).await?;
        while let Some(response) = responses.message().await? {
            let response: WatchResponse = decode(response)?;
            if response.canceled {
                return Ok(());
            }
            // An entry may have changed before the watch was created.
            if response.created || !response.events.is_empty() {
                changes.add();
            }
        }
        Ok(())
    }

    async fn ready(&self) -> Result<Grpc<Channel>, Status> {
        let grpc = Grpc::new(self.channel.clone());
        let mut grpc = grpc.max_decoding_message_size(MAX_RESPONSE_BYTES);
        let ready = grpc.ready().await;
        ready.map_err(|error| Status::from_error(error.into()))?;
        Ok(grpc)
    }

    async fn call<R: Message + Default>(
        &self,
        method: &'static str,
        request: &impl Message,
    ) -> Result<R, Status> {
        let request: Bytes = request.encode_to_vec().into();
        let mut grpc = self.ready().await?;
        let request = tonic::Request::new(request);
        let response = grpc.unary(request, path(method)?, BytesCodec).await?;
        decode(response.into_inner())
    }

    async fn stream(
        &self,
        method: &'static str,
        requests: impl tokio_stream::Stream<Item = Bytes> + Send + 'static,
    ) -> Result<Streaming<Bytes>, Status> {
        let mut grpc = self.ready().await?;
        let requests = tonic::Request::new(requests);
        let responses = grpc.streaming(requests, path(method)?, BytesCodec).await?;
        Ok(responses.into_inner())
    }
}

fn path(method: &'static str) -> Result<PathAndQuery, Status> {
    let path = PathAndQuery::try_from(format!("/etcdserverpb.{method}"));
    path.map_err(|error| Status::internal(error.to_string()))
}

fn decode<R: Message + Default>(bytes: Bytes) -> Result<R, Status> {
    R::decode(bytes).map_err(|error| Status::unknown(format!("malformed response: {error}")))
}

#[cfg(test)]
mod tests;
