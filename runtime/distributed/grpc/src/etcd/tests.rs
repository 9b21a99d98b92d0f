//! Meetings at a small server that speaks the part of etcd's protocol that is used, and at a real
//! one where there is one.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::net::{SocketAddr, TcpListener};
use std::pin::Pin;
use std::process::{Child, Command, Stdio};
use std::task::{Context, Poll};
use std::thread;

use tfrt_distributed::discovery::{Meeting, MeetingPlace};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::body::Body;
use tonic::server::{StreamingService, UnaryService};
use tonic::transport::server::TcpIncoming;
use tonic::{Request, Response};

use super::message::{CREATE, EQUAL, Event, KeyValue, ResponseHeader, ResponseOp};
use super::*;

const MINUTE: Duration = Duration::from_secs(60);

/// The state of the small server.
#[derive(Default)]
struct Store {
    revision: i64,
    entries: BTreeMap<Vec<u8>, KeyValue>,
    /// The numbers of leases, with how often each was kept alive.
    leases: BTreeMap<i64, u32>,
    next_lease: i64,
    watches: Vec<(WatchCreateRequest, mpsc::Sender<Result<Bytes, Status>>)>,
    /// The number of watches that it has ended.
    num_cancelled: u32,
    /// Whether it takes no entries.
    refuses: bool,
    /// The number of requests to keep a lease alive that it will not answer.
    num_ignored: usize,
    /// The streams of those that it has not answered.
    ignored: Vec<mpsc::Sender<Result<Bytes, Status>>>,
    /// The number of answers to transactions that are lost.
    num_to_lose: u32,
    /// The number of transactions whose conditions were not met.
    num_unmet: u32,
}

impl Store {
    fn change(&mut self, kind: i32, kv: &KeyValue) {
        self.revision += 1;
        let response = WatchResponse {
            events: vec![Event {
                kind,
                kv: Some(kv.clone()),
            }],
            ..WatchResponse::default()
        };
        let response: Bytes = response.encode_to_vec().into();
        self.watches.retain(|(request, sender)| {
            let is_watched = (request.key.clone()..request.range_end.clone()).contains(&kv.key);
            !is_watched || sender.try_send(Ok(response.clone())).is_ok()
        });
    }

    fn end_lease(&mut self, id: i64) {
        self.leases.remove(&id);
        let ended: Vec<_> = self
            .entries
            .extract_if(.., |_, kv| kv.lease == id)
            .collect();
        for (_, kv) in ended {
            self.change(1, &kv);
        }
    }

    /// Ends all watches, as a server does that has forgotten the changes since their start.
    fn cancel_watches(&mut self) {
        let response = WatchResponse {
            canceled: true,
            ..WatchResponse::default()
        };
        for (_, sender) in self.watches.drain(..) {
            let _ = sender.try_send(Ok(response.encode_to_vec().into()));
            self.num_cancelled += 1;
        }
    }

    fn put(&mut self, request: PutRequest) -> Result<PutResponse, Status> {
        if self.refuses {
            let text = "etcdserver: too many requests";
            return Err(Status::resource_exhausted(text));
        }
        if !self.leases.contains_key(&request.lease) {
            let text = "etcdserver: requested lease not found";
            return Err(Status::not_found(text));
        }
        let kv = KeyValue {
            key: request.key.clone(),
            value: request.value,
            lease: request.lease,
        };
        self.entries.insert(request.key, kv.clone());
        self.change(0, &kv);
        Ok(PutResponse {
            header: self.header(),
        })
    }

    /// Knows the only kind of transaction that is sent.
    fn transact(&mut self, request: &TxnRequest) -> Result<TxnResponse, Status> {
        let condition = &request.compare[0];
        let expected = (
            condition.result,
            condition.target,
            condition.create_revision,
        );
        assert_eq!(expected, (EQUAL, CREATE, Some(0)));
        let found = self.entries.get(&condition.key).cloned();
        let mut response = ResponseOp::default();
        match &found {
            None => {
                let put = request.success[0].put.clone();
                response.put = Some(self.put(put.unwrap())?);
            }
            Some(found) => {
                let read = request.failure[0].range.as_ref().unwrap();
                assert_eq!((&read.key, &*read.range_end), (&found.key, &[][..]));
                self.num_unmet += 1;
                response.range = Some(RangeResponse {
                    header: self.header(),
                    kvs: vec![found.clone()],
                });
            }
        }
        if let Some(left) = self.num_to_lose.checked_sub(1) {
            self.num_to_lose = left;
            return Err(Status::unavailable("the answer is lost"));
        }
        Ok(TxnResponse {
            header: self.header(),
            succeeded: found.is_none(),
            responses: vec![response],
        })
    }

    fn header(&self) -> Option<ResponseHeader> {
        Some(ResponseHeader {
            revision: self.revision,
        })
    }

    fn answer(&mut self, method: &str, request: Bytes) -> Result<Bytes, Status> {
        Ok(match method {
            "KV/Put" => self.put(decode(request)?)?.encode_to_vec(),
            "KV/Txn" => self.transact(&decode(request)?)?.encode_to_vec(),
            "KV/Range" => {
                let request: RangeRequest = decode(request)?;
                let found = self.entries.range(request.key..request.range_end);
                let response = RangeResponse {
                    header: self.header(),
                    kvs: found.map(|(_, kv)| kv.clone()).collect(),
                };
                response.encode_to_vec()
            }
            "Lease/LeaseGrant" => {
                let request: LeaseGrantRequest = decode(request)?;
                self.next_lease += 1;
                self.leases.insert(self.next_lease, 0);
                let response = LeaseGrantResponse {
                    id: self.next_lease,
                    ttl: request.ttl,
                    error: String::new(),
                };
                response.encode_to_vec()
            }
            "Lease/LeaseRevoke" => {
                let request: LeaseRevokeRequest = decode(request)?;
                self.end_lease(request.id);
                LeaseRevokeResponse {}.encode_to_vec()
            }
            "Lease/LeaseKeepAlive" => {
                let request: LeaseKeepAliveRequest = decode(request)?;
                let lease = self.leases.get_mut(&request.id);
                let response = LeaseKeepAliveResponse {
                    id: request.id,
                    ttl: lease.map_or(0, |count| {
                        *count += 1;
                        1
                    }),
                };
                response.encode_to_vec()
            }
            other => return Err(Status::unimplemented(other.to_owned())),
        }
        .into())
    }
}

/// The small server.
#[derive(Clone, Default)]
struct Small(Arc<Mutex<Store>>);

type BoxFuture<T> = Pin<Box<dyn Future<Output = T> + Send>>;

impl tower_service::Service<http::Request<Body>> for Small {
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = BoxFuture<Result<http::Response<Body>, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        let this = self.clone();
        Box::pin(async move {
            let mut grpc = tonic::server::Grpc::new(BytesCodec);
            let path = request.uri().path().to_owned();
            let method = path.trim_start_matches("/etcdserverpb.").to_owned();
            Ok(match &*method {
                "Watch/Watch" => grpc.streaming(Watching(this), request).await,
                "Lease/LeaseKeepAlive" => grpc.streaming(Keeping(this), request).await,
                _ => grpc.unary(Answering(this, method), request).await,
            })
        })
    }
}

struct Answering(Small, String);

impl UnaryService<Bytes> for Answering {
    type Response = Bytes;
    type Future = BoxFuture<Result<Response<Bytes>, Status>>;

    fn call(&mut self, request: Request<Bytes>) -> Self::Future {
        let mut store = self.0.0.lock().unwrap();
        let answer = store.answer(&self.1, request.into_inner());
        Box::pin(async { answer.map(Response::new) })
    }
}

type Responses = ReceiverStream<Result<Bytes, Status>>;

struct Keeping(Small);

impl StreamingService<Bytes> for Keeping {
    type Response = Bytes;
    type ResponseStream = Responses;
    type Future = BoxFuture<Result<Response<Responses>, Status>>;

    fn call(&mut self, request: Request<Streaming<Bytes>>) -> Self::Future {
        let this = self.0.clone();
        Box::pin(async move {
            let (sender, responses) = mpsc::channel(16);
            let mut requests = request.into_inner();
            tokio::spawn(async move {
                while let Ok(Some(request)) = requests.message().await {
                    let answer = {
                        let mut store = this.0.lock().unwrap();
                        if store.ignored.len() < store.num_ignored {
                            store.ignored.push(sender.clone());
                            continue;
                        }
                        store.answer("Lease/LeaseKeepAlive", request)
                    };
                    let _ = sender.send(answer).await;
                }
            });
            Ok(Response::new(ReceiverStream::new(responses)))
        })
    }
}

struct Watching(Small);

impl StreamingService<Bytes> for Watching {
    type Response = Bytes;
    type ResponseStream = Responses;
    type Future = BoxFuture<Result<Response<Responses>, Status>>;

    fn call(&mut self, request: Request<Streaming<Bytes>>) -> Self::Future {
        let this = self.0.clone();
        Box::pin(async move {
            let (sender, responses) = mpsc::channel(1024);
            let first = request.into_inner().message().await?;
            let request: WatchRequest = decode(first.unwrap_or_default())?;
            let created = WatchResponse {
                created: true,
                ..WatchResponse::default()
            };
            let _ = sender.send(Ok(created.encode_to_vec().into())).await;
            let request = request.create_request.unwrap_or_default();
            this.0.lock().unwrap().watches.push((request, sender));
            Ok(Response::new(ReceiverStream::new(responses)))
        })
    }
}

/// Serves until the process ends. Returns the address.
fn serve(server: Small) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    listener.set_nonblocking(true).unwrap();
    thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = { runtime }.enable_all().build().unwrap();
        runtime.block_on(async {
            let listener = tokio::net::TcpListener::from_std(listener).unwrap();
            let incoming = TcpIncoming::from(listener);
            let served = tonic::transport::Server::builder()
                .serve_with_incoming(server, incoming)
                .await;
            served.unwrap();
        });
    });
    address
}

/// Lets three tasks meet, each on a thread. Returns the addresses that each has found.
fn meet(address: &str, run: u64) -> Vec<Vec<String>> {
    let tasks = (0..3_i32).map(|task| {
        let address = address.to_owned();
        thread::spawn(move || {
            let meeting = Meeting {
                place: MeetingPlace::Etcd(address.clone()),
                sizes: vec![("worker".to_owned(), 3)],
                task: TaskName::new("worker", task),
                listen: String::new(),
                any_order: false,
            };
            let mut etcd = Etcd::new(&address).unwrap();
            let number = 10 * run + u64::try_from(task).unwrap();
            let own = format!("host{run}:{}", task + 1);
            let deadline = Instant::now() + MINUTE;
            let config = meeting.meet(&mut etcd, (&own, number), deadline, &mut |_, _| ());
            let config = config.unwrap();
            // The lease of a task that is done must not end before the others are.
            (etcd, config.jobs()[0].tasks.values().cloned().collect())
        })
    });
    let tasks: Vec<_> = tasks.collect();
    let found = tasks.into_iter().map(|task| task.join().unwrap());
    let (etcds, found): (Vec<Etcd>, _) = found.unzip();
    drop(etcds);
    found
}

fn tasks_meet_at(server: SocketAddr) {
    let address = format!("{server}/clusters/a");
    for run in 1..=3 {
        let expected: Vec<String> = (1..=3).map(|port| format!("host{run}:{port}")).collect();
        for found in meet(&address, run) {
            assert_eq!(found, expected);
        }
    }
    // The entries end with their tasks.
    let mut observer = Etcd::new(&address).unwrap();
    let end = Instant::now() + MINUTE;
    while !observer.entries(&|_| true).unwrap().is_empty() {
        assert!(Instant::now() < end, "an entry stays");
        observer.wait(Duration::from_secs(1));
    }
}

#[test]
fn tasks_meet_at_a_server_that_speaks_the_protocol() {
    tasks_meet_at(serve(Small::default()));
}

#[test]
fn a_change_ends_a_wait_even_after_the_watch_was_cancelled() {
    let small = Small::default();
    let address = format!("{}/p", serve(small.clone()));
    let (mut watching, mut writing) = (Etcd::new(&address).unwrap(), Etcd::new(&address).unwrap());
    assert_eq!(watching.entries(&|_| true).unwrap(), []);
    let task = TaskName::new("worker", 0);
    for round in 0..3 {
        let end = Instant::now() + MINUTE;
        while small.0.lock().unwrap().watches.is_empty() {
            assert!(Instant::now() < end, "nobody watches");
            watching.wait(Duration::from_millis(1));
            watching.entries(&|_| true).unwrap();
        }
        let text = format!("entry {round}");
        writing.publish(&task, &text).unwrap();
        while watching.entries(&|_| true).unwrap() != [(task.clone(), text.clone())] {
            assert!(Instant::now() < end, "the entry does not come");
            watching.wait(MINUTE);
        }
        small.0.lock().unwrap().cancel_watches();
    }
    assert!(small.0.lock().unwrap().num_cancelled >= 3);
}

#[test]
fn a_lease_is_kept_alive_and_revoked() {
    let small = Small::default();
    // A request that is not answered does not delay the next ones.
    small.0.lock().unwrap().num_ignored = 2;
    let address = format!("{}/p", serve(small.clone()));
    let mut etcd = Etcd::with_lease(&address, 1).unwrap();
    let task = TaskName::new("worker", 0);
    etcd.publish(&task, "x").unwrap();
    let wait_until = |is_so: &dyn Fn(&Store) -> bool| {
        let end = Instant::now() + MINUTE;
        while !is_so(&small.0.lock().unwrap()) {
            assert!(Instant::now() < end, "it does not happen");
            thread::yield_now();
        }
    };
    wait_until(&|store| store.leases.values().any(|kept| *kept >= 2));
    // One lease for all entries of a task.
    etcd.publish(&task, "y").unwrap();
    assert_eq!(small.0.lock().unwrap().leases.len(), 1);
    drop(etcd);
    wait_until(&|store| store.leases.is_empty() && store.entries.is_empty());
}

#[test]
fn a_server_that_is_missing_or_refuses_is_an_error() {
    // A privileged port: no test listens there.
    let mut nobody = Etcd::new("127.0.0.1:1/p").unwrap();
    let error = nobody.entries(&|_| true).unwrap_err().to_string();
    assert!(error.starts_with("127.0.0.1:1/p: etcd: "), "{error}");
    let small = Small::default();
    let address = format!("{}/p", serve(small.clone()));
    let mut etcd = Etcd::new(&address).unwrap();
    let task = TaskName::new("worker", 0);
    etcd.publish(&task, "x").unwrap();
    let expected = format!("{address}: etcd: etcdserver: too many requests");
    small.0.lock().unwrap().refuses = true;
    assert_eq!(etcd.publish(&task, "y").unwrap_err().to_string(), expected);
}

#[test]
fn an_entry_whose_lease_has_ended_gets_another_one() {
    let small = Small::default();
    let address = format!("{}/p", serve(small.clone()));
    let task = TaskName::new("worker", 0);
    let end_lease = || {
        let mut store = small.0.lock().unwrap();
        let id = *store.leases.first_key_value().unwrap().0;
        store.end_lease(id);
    };
    let mut etcd = Etcd::new(&address).unwrap();
    etcd.publish(&task, "x").unwrap();
    end_lease();
    etcd.publish(&task, "y").unwrap();
    let expected = [(task.clone(), "y".to_owned())];
    assert_eq!(etcd.entries(&|_| true).unwrap(), expected);
    assert_eq!(small.0.lock().unwrap().leases.len(), 1);
}

#[test]
fn an_entry_whose_lease_has_ended_comes_back_by_itself() {
    let small = Small::default();
    let address = format!("{}/p", serve(small.clone()));
    let task = TaskName::new("worker", 0);
    let mut etcd = Etcd::with_lease(&address, 1).unwrap();
    etcd.publish(&task, "x").unwrap();
    let wait_until = |is_so: &dyn Fn(&Store) -> bool| {
        let end = Instant::now() + MINUTE;
        while !is_so(&small.0.lock().unwrap()) {
            assert!(Instant::now() < end, "it does not happen");
            thread::yield_now();
        }
    };
    let is_there = |store: &Store, text: &str| {
        let mut values = store.entries.values();
        values.any(|kv| kv.value == text.as_bytes() && store.leases.contains_key(&kv.lease))
    };
    // Nobody uses the board: its task has met the others.
    let mut store = small.0.lock().unwrap();
    let ended = *store.leases.first_key_value().unwrap().0;
    store.end_lease(ended);
    drop(store);
    wait_until(&|store| is_there(store, "x"));
    // Again, and the answer is lost: the entry is found to be this one.
    let mut store = small.0.lock().unwrap();
    store.num_to_lose = 1;
    let ended = *store.leases.first_key_value().unwrap().0;
    store.end_lease(ended);
    drop(store);
    wait_until(&|store| store.num_unmet == 1 && is_there(store, "x"));
    // Another process has taken the place of the task.
    let mut store = small.0.lock().unwrap();
    let ended = *store.leases.first_key_value().unwrap().0;
    store.end_lease(ended);
    store.leases.insert(-1, 0);
    let put = PutRequest {
        key: b"p/worker/0".to_vec(),
        value: b"other".to_vec(),
        lease: -1,
    };
    store.put(put).unwrap();
    drop(store);
    wait_until(&|store| store.num_unmet == 2);
    drop(etcd);
    // The lease that was granted in vain is revoked, and the entry of the other process stays.
    wait_until(&|store| store.leases.keys().eq(&[-1]));
    assert!(is_there(&small.0.lock().unwrap(), "other"));
}

#[test]
fn an_entry_that_takes_its_place_back_is_kept_alive() {
    let small = Small::default();
    let address = format!("{}/p", serve(small.clone()));
    let task = TaskName::new("worker", 0);
    let mut etcd = Etcd::with_lease(&address, 1).unwrap();
    etcd.publish(&task, "x").unwrap();
    let mut store = small.0.lock().unwrap();
    let ended = *store.leases.first_key_value().unwrap().0;
    store.end_lease(ended);
    store.leases.insert(-1, 0);
    let put = PutRequest {
        key: b"p/worker/0".to_vec(),
        value: b"other".to_vec(),
        lease: -1,
    };
    store.put(put).unwrap();
    drop(store);
    let end = Instant::now() + MINUTE;
    // The task gives its place up.
    while !etcd.keep_alive.as_ref().unwrap().is_finished() {
        assert!(Instant::now() < end, "the place is not given up");
        thread::yield_now();
    }
    etcd.publish(&task, "y").unwrap();
    loop {
        let store = small.0.lock().unwrap();
        let mut leases = store.leases.iter();
        if leases.any(|(id, kept)| *id > ended && *kept >= 2) {
            break;
        }
        drop(store);
        assert!(Instant::now() < end, "the lease is not kept alive");
        thread::yield_now();
    }
}

#[test]
fn entries_together_may_be_larger_than_one() {
    let small = Small::default();
    let address = format!("{}/p", serve(small.clone()));
    let mut etcd = Etcd::new(&address).unwrap();
    let text = "x".repeat(MAX_ENTRY_BYTES);
    for task in 0..4 {
        etcd.publish(&TaskName::new("worker", task), &text).unwrap();
    }
    assert_eq!(etcd.entries(&|_| true).unwrap().len(), 4);
    let first = etcd.entries(&|task| task.task == 0).unwrap();
    assert_eq!(first, [(TaskName::new("worker", 0), text)]);
    assert_eq!(etcd.max_entry_bytes(), MAX_ENTRY_BYTES);
}

#[test]
fn addresses_have_a_port_and_a_prefix() {
    let parts = split("etcd.example:2379/clusters/a").unwrap();
    assert_eq!(parts, ("etcd.example:2379", "clusters/a"));
    for wrong in [
        "etcd:2379",
        "etcd:2379/",
        "etcd/p",
        ":1/p",
        "etcd:0/p",
        "etcd:2379/p/",
    ] {
        assert_eq!(
            split(wrong).unwrap_err().to_string(),
            format!(
                "{wrong}: expected an etcd server and a prefix of keys, such as \
                 `HOST:2379/PREFIX`"
            )
        );
    }
}

/// A response of etcd 3.4 with three keys, as it was sent: `c/worker/0` and `c/ps/12` with their
/// leases, and `c/worker/x`, which is none of ours.
const RECORDED: &[u8] = b"\x0a\x19\x08\xe0\xe7\xce\xf4\xaa\x9b\xae\xa8\xdc\x01\x10\xc8\xa5\xa0\xdc\xd7\x82\xa0\xbcf\x18\x04 \x02\
    \x12\x19\x0a\x07c/ps/12\x10\x03\x18\x03 \x01*\x06second0\x07\
    \x12\x1b\x0a\x0ac/worker/0\x10\x02\x18\x02 \x01*\x05first0\x07\
    \x12\x1a\x0a\x0ac/worker/x\x10\x04\x18\x04 \x01*\x04none0\x07 \x03";

#[test]
fn recorded_entries_are_read() {
    let response: RangeResponse = decode(RECORDED.into()).unwrap();
    let entries = entries_in("c", response);
    let expected = [
        (TaskName::new("ps", 12), "second".to_owned()),
        (TaskName::new("worker", 0), "first".to_owned()),
    ];
    assert_eq!(entries, expected);
    for key in [
        "c/worker/00",
        "c/worker/-1",
        "c/1/1",
        "c/worker",
        "d/worker/1",
        "c/a/b/1",
    ] {
        assert_eq!(task_of("c", key.as_bytes()), None, "{key}");
    }
}

/// A server that ends with the test.
struct Process(Child, std::path::PathBuf);

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
        let _ = std::fs::remove_dir_all(&self.1);
    }
}

#[test]
fn tasks_meet_at_etcd() {
    let folder = std::env::temp_dir().join(format!("tfrt-etcd-{}", std::process::id()));
    let free = || {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.local_addr().unwrap()
    };
    let (clients, peers) = (free(), free());
    let started = Command::new("etcd")
        .arg("--data-dir")
        .arg(&folder)
        .arg(format!("--listen-client-urls=http://{clients}"))
        .arg(format!("--advertise-client-urls=http://{clients}"))
        .arg(format!("--listen-peer-urls=http://{peers}"))
        .arg(format!("--initial-advertise-peer-urls=http://{peers}"))
        .arg(format!("--initial-cluster=default=http://{peers}"))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let Ok(child) = started else {
        println!("skipped: no etcd");
        return;
    };
    let mut process = Process(child, folder);
    let mut etcd = Etcd::new(&format!("{clients}/ready")).unwrap();
    let end = Instant::now() + MINUTE;
    while let Err(error) = etcd.entries(&|_| true) {
        let has_ended = process.0.try_wait().unwrap().is_some();
        assert!(!has_ended && Instant::now() < end, "{error}");
        thread::yield_now();
    }
    tasks_meet_at(clients);
    a_lease_ends_at(clients);
}

/// Ends the lease of an entry at a real server: it comes back.
fn a_lease_ends_at(server: SocketAddr) {
    let address = format!("{server}/leases");
    let task = TaskName::new("worker", 0);
    let mut etcd = Etcd::with_lease(&address, 1).unwrap();
    etcd.publish(&task, "x").unwrap();
    let lease = async { etcd.publication.lock().await.lease };
    let lease = etcd.threads.handle().block_on(lease).unwrap();
    let request = LeaseRevokeRequest { id: lease.id };
    etcd.wait_for(etcd.server.revoke(&request)).unwrap();
    let end = Instant::now() + MINUTE;
    while etcd.entries(&|_| true).unwrap() != [(task.clone(), "x".to_owned())] {
        assert!(Instant::now() < end, "the entry does not come back");
        etcd.wait(Duration::from_secs(1));
    }
    // Another process replaces it, and the lease ends with which it was published.
    let mut other = Etcd::new(&address).unwrap();
    other.publish(&task, "other").unwrap();
    let lost = async {
        let mut publication = etcd.publication.lock().await;
        let ended = publication.lease.unwrap().id;
        publication.end(ended);
        etcd.server.restore(&mut publication, 1).await
    };
    assert!(!etcd.threads.handle().block_on(lost).unwrap());
    let expected = [(task, "other".to_owned())];
    assert_eq!(etcd.entries(&|_| true).unwrap(), expected);
}
