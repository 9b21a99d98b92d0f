//! Certificates and tokens: who is let in, and that nothing runs for others.

use std::io::Read;
use std::net::TcpStream;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};

use rcgen::{
    BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, SanType, date_time_ymd,
};
use tfrt_distributed::fabric::Reply;
use tfrt_distributed::fabric::{FabricCommunicator, RemoteClient, RequestHandler};
use tfrt_distributed::message::{
    CloseContextRequest, CreateContextRequest, DistributedContextConfiguration, GetDevicesRequest,
    KeepAliveResponse, RemoteExecuteRequest, RemoteExecuteResponse, Request, Response,
    SendDataRequest, SendDataResponse, SendReadyChainsRequest,
};
use tfrt_distributed::name::TaskName;
use tfrt_distributed::{Server, ServerConfig};
use tfrt_grpc::{GrpcNetwork, GrpcOptions, TYPE_NAME, TaskNames, Tls, Token};
use tfrt_host::HostContext;
use tokio_rustls::rustls;
use tokio_rustls::rustls::pki_types::pem::PemObject;

use super::{MINUTE, call, fake, free_address, host, ping, text};

/// What signs certificates.
pub(super) struct Authority {
    pem: String,
    issuer: Issuer<'static, KeyPair>,
}

impl Authority {
    pub(super) fn new(name: &str) -> Self {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(DnType::CommonName, name);
        let pem = params.self_signed(&key).unwrap().pem();
        let issuer = Issuer::new(params, key);
        Self { pem, issuer }
    }

    /// Returns a certificate with these URIs, and its key.
    pub(super) fn issue(&self, uris: &[&str], last_year: i32) -> (String, String) {
        let key = KeyPair::generate().unwrap();
        // The host name is for clients that are not ours.
        let mut params = CertificateParams::new(vec!["task.tfrt".to_owned()]).unwrap();
        for uri in uris {
            let uri = SanType::URI((*uri).try_into().unwrap());
            params.subject_alt_names.push(uri);
        }
        params.not_after = date_time_ymd(last_year, 12, 31);
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        (certificate.pem(), key.serialize_pem())
    }

    /// What a task of the cluster `blue` has that trusts this authority.
    pub(super) fn tls_of(&self, task: u32) -> Tls {
        self.tls_as(&format!("tfrt://blue/job/worker/task/{task}"))
    }

    /// The settings of a client outside the cluster: what it trusts, and the certificate that it
    /// shows with its key.
    pub(super) fn client(&self, shown: Option<&(String, String)>) -> rustls::ClientConfig {
        use rustls::pki_types::{CertificateDer, PrivateKeyDer};

        let mut roots = rustls::RootCertStore::empty();
        let trusted = CertificateDer::from_pem_slice(self.pem.as_bytes());
        roots.add(trusted.unwrap()).unwrap();
        let config = rustls::ClientConfig::builder().with_root_certificates(roots);
        match shown {
            None => config.with_no_client_auth(),
            Some((certificate, key)) => {
                let chain = vec![CertificateDer::from_pem_slice(certificate.as_bytes()).unwrap()];
                let key = PrivateKeyDer::from_pem_slice(key.as_bytes()).unwrap();
                config.with_client_auth_cert(chain, key).unwrap()
            }
        }
    }

    fn tls_as(&self, uri: &str) -> Tls {
        let (certificate, key) = self.issue(&[uri], 4000);
        Tls::from_pem(certificate.as_bytes(), key.as_bytes(), self.pem.as_bytes()).unwrap()
    }
}

pub(super) fn with(tls: Tls) -> GrpcOptions {
    GrpcOptions {
        tls: Some(tls),
        // However busy the machine is.
        connect_timeout: MINUTE,
        ..GrpcOptions::default()
    }
}

/// Answers every request, and notes who sent it.
#[derive(Default)]
struct Noting {
    callers: Mutex<Vec<TaskName>>,
    unnamed: AtomicUsize,
}

impl RequestHandler for Noting {
    fn handle(self: Arc<Self>, request: Request, reply: Reply<Response>) {
        // Relaxed: counts, and orders nothing.
        self.unnamed.fetch_add(1, Ordering::Relaxed);
        reply.send(Ok(match request {
            Request::SendData(_) => SendDataResponse {}.into(),
            Request::RemoteExecute(_) => RemoteExecuteResponse::default().into(),
            _ => KeepAliveResponse {}.into(),
        }));
    }

    fn handle_from(self: Arc<Self>, caller: &TaskName, request: Request, reply: Reply<Response>) {
        self.callers.lock().unwrap().push(caller.clone());
        reply.send(Ok(match request {
            Request::SendData(_) => SendDataResponse {}.into(),
            Request::RemoteExecute(_) => RemoteExecuteResponse::default().into(),
            _ => KeepAliveResponse {}.into(),
        }));
    }
}

impl Noting {
    fn num_requests(&self) -> usize {
        // Relaxed: the answers were received, which happens after.
        self.callers.lock().unwrap().len() + self.unnamed.load(Ordering::Relaxed)
    }
}

struct Task {
    handler: Arc<Noting>,
    communicator: Arc<dyn FabricCommunicator>,
}

fn listen(host: &Arc<HostContext>, options: GrpcOptions) -> Task {
    let handler = Arc::new(Noting::default());
    let weak = Arc::downgrade(&handler);
    let communicator = GrpcNetwork::new(options).listen(host, "127.0.0.1:0", weak);
    Task {
        handler,
        communicator: communicator.unwrap(),
    }
}

impl Task {
    fn address(&self) -> &str {
        self.communicator.address()
    }

    fn client_of(&self, other: &Task) -> Arc<dyn RemoteClient> {
        self.communicator.client(other.address())
    }
}

#[test]
fn tasks_with_certificates_reach_each_other() {
    let (host, authority) = (host(), Authority::new("a"));
    for data_connections in [true, false] {
        let options = |task| GrpcOptions {
            data_connections,
            ..with(authority.tls_of(task))
        };
        let [server, client] = [1, 0].map(|task| listen(&host, options(task)));
        let named = TaskName::new("worker", 1);
        let to_server = client.communicator.client_of(&named, server.address());
        call(&*to_server, ping()).unwrap();
        // In one message or frame, and in several.
        for size in [1, 3 << 20] {
            let request = SendDataRequest {
                payload: vec![vec![7; size].into()],
                ..SendDataRequest::default()
            };
            call(&*to_server, request).unwrap();
        }
        // The first one opens its connection, if it has one of its own.
        for _ in 0..2 {
            call(&*to_server, RemoteExecuteRequest::default()).unwrap();
        }
        let callers = server.handler.callers.lock().unwrap();
        assert_eq!(*callers, vec![TaskName::new("worker", 0); 5]);
        assert_eq!(server.handler.unnamed.load(Ordering::Relaxed), 0);
    }
}

#[test]
fn a_file_says_which_tasks_certificates_of_others_are() {
    let (host, authority) = (host(), Authority::new("a"));
    let spiffe = |node: u32| format!("spiffe://example.org/node{node}");
    let text = format!(
        "{} tfrt://blue/job/worker/task/0\n{} tfrt://blue/job/worker/task/1\n{} \
         tfrt://green/job/worker/task/2\n",
        spiffe(0),
        spiffe(1),
        spiffe(2)
    );
    let names = TaskNames::parse(&text).unwrap();
    let tls_of = |node: u32| {
        let (certificate, key) = authority.issue(&[&spiffe(node)], 4000);
        let names = names.clone();
        let pem = (certificate.as_bytes(), key.as_bytes());
        Tls::from_named_pem(pem.0, pem.1, authority.pem.as_bytes(), names)
    };
    let server = listen(&host, with(tls_of(1).unwrap()));
    let client = listen(&host, with(tls_of(0).unwrap()));
    let named = TaskName::new("worker", 1);
    call(
        &*client.communicator.client_of(&named, server.address()),
        ping(),
    )
    .unwrap();
    let callers = server.handler.callers.lock().unwrap().clone();
    assert_eq!(callers, [TaskName::new("worker", 0)]);
    // A node that the file does not name is not a task, and one that it puts into another cluster
    // is not a task of this one.
    let unnamed = tls_of(3).unwrap_err();
    assert!(unnamed.message().contains("found none"), "{unnamed}");
    check_refusal(
        with(tls_of(1).unwrap()),
        with(tls_of(2).unwrap()),
        "invalid peer certificate: expected a task of the cluster `green`, found \
         `tfrt://blue/job/worker/task/1`",
    );
}

/// A call between tasks of these options fails at once with a text that starts with `expected`, and
/// nothing runs.
fn check_refusal(server: GrpcOptions, client: GrpcOptions, expected: &str) {
    let host = host();
    let (server, client) = (listen(&host, server), listen(&host, client));
    // Retries would take longer than the test may.
    let options = super::CallOptions {
        max_retries: 1000,
        ..Default::default()
    };
    let to_server = client.client_of(&server);
    let answer = super::begin(&*to_server, options, ping());
    let message = text(answer.recv_timeout(MINUTE).unwrap());
    let address = server.address();
    assert!(
        message.starts_with(&format!("RpcUnknown: KeepAlive to {address}: {expected}")),
        "{message}"
    );
    assert_eq!(server.handler.num_requests(), 0, "{expected}");
}

#[test]
fn clients_that_prove_nothing_are_refused() {
    let (ours, other) = (Authority::new("ours"), Authority::new("other"));
    let server = || with(ours.tls_of(1));
    let refused = |issued: (String, String), expected| {
        let (certificate, key) = issued;
        let tls = Tls::from_pem(certificate.as_bytes(), key.as_bytes(), ours.pem.as_bytes());
        check_refusal(server(), with(tls.unwrap()), expected);
    };
    let uri = "tfrt://blue/job/worker/task/0";
    refused(other.issue(&[uri], 4000), "received fatal alert: UnknownCA");
    refused(
        ours.issue(&[uri], 1999),
        "received fatal alert: CertificateExpired",
    );
}

#[test]
fn servers_that_prove_nothing_are_refused() {
    let (ours, other) = (Authority::new("ours"), Authority::new("other"));
    let client = || with(ours.tls_of(0));
    let refused = |issued: (String, String), expected| {
        let (certificate, key) = issued;
        let tls = Tls::from_pem(certificate.as_bytes(), key.as_bytes(), ours.pem.as_bytes());
        check_refusal(with(tls.unwrap()), client(), expected);
    };
    let uri = "tfrt://blue/job/worker/task/1";
    refused(
        other.issue(&[uri], 4000),
        "invalid peer certificate: UnknownIssuer",
    );
    refused(
        ours.issue(&[uri], 1999),
        "invalid peer certificate: certificate expired: ",
    );
    refused(
        ours.issue(&["tfrt://red/job/worker/task/1"], 4000),
        "invalid peer certificate: expected a task of the cluster `blue`, found \
         `tfrt://red/job/worker/task/1`",
    );
    // Without TLS.
    check_refusal(
        GrpcOptions::default(),
        client(),
        "received corrupt message of type InvalidContentType",
    );
}

#[test]
fn a_task_in_the_place_of_another_gets_no_requests() {
    let (host, authority) = (host(), Authority::new("a"));
    let server = listen(&host, with(authority.tls_of(1)));
    let client = listen(&host, with(authority.tls_of(0)));
    let named = TaskName::new("worker", 2);
    let to_server = client.communicator.client_of(&named, server.address());
    let message = text(call(&*to_server, ping()));
    assert!(
        message.ends_with(
            "expected the task `/job:worker/task:2`, found `tfrt://blue/job/worker/task/1`"
        ),
        "{message}"
    );
    assert_eq!(server.handler.num_requests(), 0);
}

/// What a client that trusts everyone of an authority is told that shows this certificate with its
/// key, or none.
fn foreign_client(server: &Task, authority: &Authority, shown: Option<(String, String)>) -> String {
    let config = authority.client(shown.as_ref());
    let name = "task.tfrt".try_into().unwrap();
    let connection = rustls::ClientConnection::new(Arc::new(config), name).unwrap();
    let stream = TcpStream::connect(server.address()).unwrap();
    stream.set_read_timeout(Some(MINUTE)).unwrap();
    let mut stream = rustls::StreamOwned::new(connection, stream);
    stream.read(&mut [0; 16]).unwrap_err().to_string()
}

#[test]
fn clients_without_a_certificate_of_the_cluster_are_refused() {
    let (host, authority) = (host(), Authority::new("a"));
    let server = listen(&host, with(authority.tls_of(1)));
    let refused = |shown: Option<&str>| {
        let shown = shown.map(|uri| authority.issue(&[uri], 4000));
        foreign_client(&server, &authority, shown)
    };
    assert_eq!(refused(None), "received fatal alert: CertificateRequired");
    let unknown = "received fatal alert: CertificateUnknown";
    assert_eq!(refused(Some("tfrt://red/job/worker/task/0")), unknown);
    assert_eq!(refused(Some("https://example.org")), unknown);

    // Without TLS.
    let plain = listen(&host, GrpcOptions::default());
    let message = text(call(&*plain.client_of(&server), ping()));
    assert!(message.starts_with("Rpc"), "{message}");
    assert_eq!(server.handler.num_requests(), 0);
}

#[test]
fn certificates_and_keys_that_cannot_be_used_are_errors() {
    let (authority, other) = (Authority::new("a"), Authority::new("b"));
    let uri = "tfrt://blue/job/worker/task/0";
    let (good, key) = authority.issue(&[uri], 4000);
    let (_, key_of_other) = other.issue(&[uri], 4000);
    let (unnamed, key_of_unnamed) = authority.issue(&["https://example.org"], 4000);
    let (twice, key_of_twice) = authority.issue(&[uri, "tfrt://blue/job/ps/task/0"], 4000);
    let check = |certificate: &str, key: &str, authorities: &str, expected: &str| {
        let tls = Tls::from_pem(
            certificate.as_bytes(),
            key.as_bytes(),
            authorities.as_bytes(),
        );
        let message = tls.unwrap_err().message().to_owned();
        assert!(message.starts_with(expected), "{message}");
    };
    let ca = &*authority.pem;
    let none = "expected a certificate in the PEM format, found none";
    check("", &key, ca, &format!("certificate: {none}"));
    check(&good, &key, "hello", &format!("authorities: {none}"));
    check(&good, "hello", ca, "private key: ");
    // A key that lost its line breaks is not quoted.
    let flat = key.replace('\n', "");
    let refused = Tls::from_pem(good.as_bytes(), flat.as_bytes(), ca.as_bytes()).unwrap_err();
    let expected = "private key: expected a private key in the PEM format";
    assert_eq!(refused.message(), expected);
    check(&good, &key_of_other, ca, "certificate and key: ");
    check(
        &unnamed,
        &key_of_unnamed,
        ca,
        "certificate: expected a certificate with a URI `tfrt://CLUSTER/job/JOB/task/N`, found none",
    );
    check(
        &twice,
        &key_of_twice,
        ca,
        "certificate: expected a certificate of a single task, found 2 tasks",
    );
    let tls = authority.tls_of(3);
    assert_eq!(tls.task().to_string(), "/job:worker/task:3");
    let shown = format!("{tls:?}");
    assert!(
        shown.contains("worker") && !shown.contains("key"),
        "{shown}"
    );
}

#[test]
fn requests_without_the_token_do_not_run() {
    let host = host();
    let secret = "a secret of many letters".replace(' ', "-");
    let options = |token: Option<&str>| GrpcOptions {
        token: token.map(|token| Token::new(token).unwrap()),
        ..GrpcOptions::default()
    };
    let server = listen(&host, options(Some(&secret)));
    let address = server.address().to_owned();
    let wrong = secret.replace('s', "z");
    for (token, expected) in [
        (None, "the request has no token"),
        (Some(&*wrong), "the token of the request is wrong"),
    ] {
        let client = listen(&host, options(token));
        let message = text(call(&*client.client_of(&server), ping()));
        assert_eq!(
            message,
            format!("RpcUnknown: KeepAlive to {address}: {expected}")
        );
        let stream = SendDataRequest {
            payload: vec![vec![7; 3 << 20].into()],
            ..SendDataRequest::default()
        };
        assert!(call(&*client.client_of(&server), stream).is_err());
    }
    assert_eq!(server.handler.num_requests(), 0);
    let client = listen(&host, options(Some(&secret)));
    call(&*client.client_of(&server), ping()).unwrap();
    assert_eq!(server.handler.num_requests(), 1);
}

#[test]
fn only_certificates_open_other_addresses_than_loopback() {
    let (host, authority) = (host(), Authority::new("a"));
    let listen = |options: GrpcOptions| {
        let nobody: std::sync::Weak<Noting> = std::sync::Weak::new();
        GrpcNetwork::new(options).listen(&host, "0.0.0.0:0", nobody)
    };
    let token = Token::new("0123456789abcdef").unwrap();
    let options = GrpcOptions {
        token: Some(token),
        ..GrpcOptions::default()
    };
    for refused in [GrpcOptions::default(), options] {
        assert_eq!(
            listen(refused).unwrap_err().message(),
            "refused to listen on 0.0.0.0:0: unencrypted connections are allowed only on loopback \
             addresses; use TLS, or allow an insecure network"
        );
    }
    assert!(listen(with(authority.tls_of(0))).is_ok());
}

#[test]
fn a_cluster_with_certificates_works_and_obeys_only_its_own_tasks() {
    let (host, authority) = (host(), Authority::new("a"));
    let addresses: Vec<String> = (0..2).map(|_| free_address()).collect();
    let configs = DistributedContextConfiguration::local_cluster(&addresses);
    let servers: Vec<Arc<Server>> = (0_u32..)
        .zip(&addresses)
        .map(|(task, address)| {
            let network = GrpcNetwork::new(with(authority.tls_of(task)));
            let config = ServerConfig::new(TYPE_NAME, address);
            let listen = |handler| network.listen(&host, address, handler);
            Server::on_network(&host, config, listen).unwrap()
        })
        .collect();
    let (sender, done) = channel();
    servers[0].initialize_single_client(Some(7), &configs[0], move |outcome| {
        sender.send(outcome).unwrap();
    });
    done.recv_timeout(MINUTE).unwrap().unwrap();

    // A task of another job, which has a certificate of the same authority.
    let stranger = listen(&host, with(authority.tls_as("tfrt://blue/job/ps/task/0")));
    let to_worker = stranger.communicator.client(&addresses[1]);
    assert!(call(&*to_worker, GetDevicesRequest {}).is_ok());
    let expected = "FailedPrecondition: CloseContext of /job:ps/task:0 is refused: the task is \
                    not part of the cluster of the context";
    let close = CloseContextRequest { context_id: 7 };
    assert_eq!(text(call(&*to_worker, close)), expected);
    let create = |is_multi_client, owner: &str| CreateContextRequest {
        context_id: 8,
        dist_config: Some(configs[1].clone()),
        is_multi_client,
        owner: owner.to_owned(),
        ..CreateContextRequest::default()
    };
    for (is_multi_client, owner) in [
        (false, "/job:ps/task:0"),
        (false, "/job:worker/task:0"),
        (true, ""),
    ] {
        let message = text(call(&*to_worker, create(is_multi_client, owner)));
        assert!(
            message.starts_with("FailedPrecondition: CreateContext of /job:ps/task:0 is refused: "),
            "{message}"
        );
    }
    // A task of the cluster that does not lead it.
    let member = listen(&host, with(authority.tls_of(1)));
    let chains = SendReadyChainsRequest {
        context_id: 7,
        ..SendReadyChainsRequest::default()
    };
    assert_eq!(
        text(call(&*member.communicator.client(&addresses[0]), chains)),
        "FailedPrecondition: SendReadyChains of /job:worker/task:1 is refused: only the lead task \
         may send it"
    );
    assert!(servers[1].context(7).is_ok() && servers[1].context(8).is_err());
}

#[test]
fn connections_that_say_nothing_keep_nobody_out() {
    let (host, authority) = (host(), Authority::new("a"));
    let server = listen(&host, with(authority.tls_of(1)));
    // More than may authenticate at a time.
    let silent: Vec<TcpStream> = (0..100)
        .map(|_| TcpStream::connect(server.address()).unwrap())
        .collect();
    let client = listen(&host, with(authority.tls_of(0)));
    call(&*client.client_of(&server), ping()).unwrap();
    drop(silent);
    // A fake without certificates still works next to those that have them.
    let plain = fake(&host, &GrpcOptions::default(), |_, reply| {
        reply.send(Ok(KeepAliveResponse {}.into()));
    });
    call(&*plain.own_client(), ping()).unwrap();
}
