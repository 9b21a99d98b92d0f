//! Opening and accepting connections.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use hyper_util::rt::TokioIo;
use tfrt_distributed::name::TaskName;
use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::rustls::ClientConfig;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::{TlsAcceptor, TlsConnector, client, server};

use super::Tls;
use crate::accepting::Incoming;
use crate::data;
use crate::forward::forward_writes;

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

/// Lets the other side of a connection prove its task.
pub(crate) async fn accept(tls: Tls, stream: TcpStream) -> io::Result<Accepted> {
    let stream = TlsAcceptor::from(tls.server()).accept(stream).await?;
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
