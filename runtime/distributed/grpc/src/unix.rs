//! Unix sockets: addresses `unix:/PATH`, for tasks of one user on one machine.
//!
//! Only the user whose process listens may connect, so these addresses need no certificates.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use hyper_util::rt::TokioIo;
use rustix::net::sockopt;

/// Returns the path in an address of a Unix socket.
pub(crate) fn path(address: &str) -> Option<&Path> {
    address.strip_prefix("unix:").map(Path::new)
}

/// A socket in the file system, which is removed when this is dropped.
#[derive(Debug)]
pub(crate) struct SocketFile(PathBuf);

impl SocketFile {
    /// Listens at a path. A socket that a process has left there, and at which nobody listens any
    /// more, is replaced.
    pub(crate) fn bind(path: &Path) -> io::Result<(UnixListener, Self)> {
        let listener = match UnixListener::bind(path) {
            Err(error) if error.kind() == io::ErrorKind::AddrInUse && is_left_over(path) => {
                fs::remove_file(path)?;
                UnixListener::bind(path)?
            }
            outcome => outcome?,
        };
        let file = Self(path.to_owned());
        fs::set_permissions(path, fs::Permissions::from_mode(0o600))?;
        Ok((listener, file))
    }
}

/// Returns `true` if nobody listens at a socket.
fn is_left_over(path: &Path) -> bool {
    let refused = UnixStream::connect(path).map(drop);
    refused.is_err_and(|error| error.kind() == io::ErrorKind::ConnectionRefused)
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        // It may be gone.
        let _ = fs::remove_file(&self.0);
    }
}

/// The bytes that may be under way on a connection for much data. The system does not adapt them,
/// as it does for TCP, and its default is less than a frame.
const SEND_BYTES: usize = 1 << 20;

/// Opens connections to one task.
#[derive(Clone, Debug)]
pub(crate) struct Connector(Arc<Path>);

impl Connector {
    pub(crate) fn new(path: &Path) -> Self {
        Self(path.into())
    }

    /// Opens a connection.
    async fn open(&self) -> io::Result<tokio::net::UnixStream> {
        tokio::net::UnixStream::connect(&*self.0).await
    }

    /// Opens a connection for much data.
    pub(crate) async fn open_wide(&self) -> io::Result<tokio::net::UnixStream> {
        let stream = self.open().await?;
        // If the system allows less, there are more changes between the two tasks.
        let _ = sockopt::set_socket_send_buffer_size(&stream, SEND_BYTES);
        Ok(stream)
    }
}

impl tower_service::Service<http::Uri> for Connector {
    type Response = TokioIo<tokio::net::UnixStream>;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Self::Response>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: http::Uri) -> Self::Future {
        let this = self.clone();
        Box::pin(async move { this.open().await.map(TokioIo::new) })
    }
}
