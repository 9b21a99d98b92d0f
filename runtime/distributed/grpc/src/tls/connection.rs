//! Opening and accepting connections.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use hyper_util::rt::TokioIo;
use tfrt_distributed::name::TaskName;
use tfrt_host::log;
use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::Instant;
use tokio_rustls::rustls::ClientConfig;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::{TlsAcceptor, TlsConnector, client, server};
use tonic::transport::server::Connected;

use super::Tls;
use crate::data::{self, Incoming};
use crate::forward::forward_writes;

/// The maximum number of concurrent handshakes. A further connection ends the oldest one after its
/// [`GRACE`], so that connections that say nothing do not keep others from theirs.
const MAX_HANDSHAKES: usize = 64;

/// How long a handshake may take whatever else happens: many tasks may connect at the same time.
const GRACE: Duration = Duration::from_millis(500);

/// The pause after an error of the listener, such as too many open files.
const PAUSE: Duration = Duration::from_millis(50);

/// The server name that clients send. Certificates name tasks, not hosts, so all send the same
/// name.
const SERVER_NAME: &str = "task.tfrt";

type BoxFuture<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// Opens connections to one task.
#[derive(Clone)]
pub(crate) struct Connector {
    address: Arc<str>,
    config: Arc<ClientConfig>,
}

impl Connector {
    /// Connects to the task of this name, for a protocol; to any of the cluster without a name.
    pub(crate) fn new(
        tls: &Tls,
        address: &str,
        task: Option<TaskName>,
        protocol: &[u8],
    ) -> io::Result<Self> {
        Ok(Self {
            address: address.into(),
            config: tls.client(task, protocol).map_err(io::Error::other)?,
        })
    }

    /// Opens an encrypted connection.
    pub(crate) async fn open(&self) -> io::Result<client::TlsStream<TcpStream>> {
        let stream = TcpStream::connect(&*self.address).await?;
        stream.set_nodelay(true)?;
        let name = ServerName::try_from(SERVER_NAME).map_err(io::Error::other)?;
        let connector = TlsConnector::from(Arc::clone(&self.config));
        connector.connect(name, stream).await
    }

    async fn connect(self) -> io::Result<BufReader<client::TlsStream<TcpStream>>> {
        let stream = self.open().await?;
        // The server speaks first in HTTP/2. Until then, it may refuse the certificate of this
        // side: that is an error of connecting, not one of the first request.
        let mut stream = BufReader::new(stream);
        match stream.fill_buf().await?.is_empty() {
            true => Err(io::ErrorKind::UnexpectedEof.into()),
            false => Ok(stream),
        }
    }
}

impl tower_service::Service<http::Uri> for Connector {
    type Response = TokioIo<BufReader<client::TlsStream<TcpStream>>>;
    type Error = io::Error;
    type Future = BoxFuture<io::Result<Self::Response>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: http::Uri) -> Self::Future {
        let this = self.clone();
        Box::pin(async { this.connect().await.map(TokioIo::new) })
    }
}

/// The task at the other end of a connection.
#[derive(Clone, Debug)]
pub(crate) struct Caller(pub(crate) Arc<TaskName>);

/// A connection that was accepted.
#[derive(Debug)]
pub(crate) struct Accepted {
    stream: server::TlsStream<TcpStream>,
    caller: Caller,
}

impl Incoming for Accepted {
    fn negotiated(&self) -> Option<bool> {
        Some(self.stream.get_ref().1.alpn_protocol() == Some(data::PROTOCOL))
    }

    fn caller(&self) -> Option<Caller> {
        Some(self.caller.clone())
    }
}

impl Connected for Accepted {
    type ConnectInfo = Caller;

    fn connect_info(&self) -> Caller {
        self.caller.clone()
    }
}

impl AsyncRead for Accepted {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

forward_writes!([] Accepted, stream);

/// Accepts connections until the receiver is dropped, and hands those on that prove their task in
/// time.
pub(crate) async fn accept(
    listener: TcpListener,
    tls: Tls,
    timeout: Duration,
    accepted: mpsc::Sender<Result<Accepted, Infallible>>,
) {
    let mut handshakes: VecDeque<(Instant, JoinHandle<()>)> = VecDeque::new();
    loop {
        let stream = tokio::select! {
            biased;
            () = accepted.closed() => return,
            stream = listener.accept() => stream,
        };
        let stream = match stream {
            Ok((stream, _)) => stream,
            Err(error) => {
                log::warning!("cannot accept a connection: {error}");
                tokio::time::sleep(PAUSE).await;
                continue;
            }
        };
        let (acceptor, accepted) = (TlsAcceptor::from(tls.server()), accepted.clone());
        let tls = tls.clone();
        handshakes.retain(|(_, handshake)| !handshake.is_finished());
        if handshakes.len() == MAX_HANDSHAKES
            && let Some((begun, mut oldest)) = handshakes.pop_front()
            && tokio::time::timeout_at(begun + GRACE, &mut oldest)
                .await
                .is_err()
        {
            oldest.abort();
        }
        let handshake = async move {
            // A connection that fails is the other side's to report.
            let opened = open(&tls, acceptor, stream);
            if let Ok(Ok(connection)) = tokio::time::timeout(timeout, opened).await {
                // The service may have ended.
                let _ = accepted.send(Ok(connection)).await;
            }
        };
        handshakes.push_back((Instant::now(), tokio::spawn(handshake)));
    }
}

async fn open(tls: &Tls, acceptor: TlsAcceptor, stream: TcpStream) -> io::Result<Accepted> {
    stream.set_nodelay(true)?;
    let stream = acceptor.accept(stream).await?;
    let certificates = stream.get_ref().1.peer_certificates();
    let certificate = certificates
        .and_then(<[_]>::first)
        .ok_or(io::ErrorKind::PermissionDenied)?;
    let task = tls.0.own.of(certificate).map_err(io::Error::other)?.task;
    Ok(Accepted {
        stream,
        caller: Caller(Arc::new(task)),
    })
}
