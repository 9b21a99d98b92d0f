//! Unix sockets: addresses `unix:/PATH`, for tasks of one user on one machine.
//!
//! Only the user whose process listens may connect, so these addresses need no certificates.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use hyper_util::rt::TokioIo;
use rustix::net::sockopt;
use tokio::net::{UnixListener, UnixSocket};

/// Returns the path in an address of a Unix socket.
pub(crate) fn path(address: &str) -> Option<&Path> {
    address.strip_prefix("unix:").map(Path::new)
}

/// The number of connections that wait to be accepted, unless the system allows fewer.
const BACKLOG: u32 = 1024;

/// A socket in the file system, which is removed when this is dropped.
#[derive(Debug)]
pub(crate) struct SocketFile(PathBuf);

impl SocketFile {
    /// Listens at a path. A socket that a process has left there, and at which nobody listens any
    /// more, is replaced. Called within the runtime.
    pub(crate) fn bind(path: &Path) -> io::Result<(UnixListener, Self)> {
        let socket = UnixSocket::new_stream()?;
        match socket.bind(path) {
            Err(error) if error.kind() == io::ErrorKind::AddrInUse && is_left_over(path) => {
                fs::remove_file(path)?;
                socket.bind(path)?;
            }
            outcome => outcome?,
        }
        let file = Self(path.to_owned());
        // Nobody can connect before it listens: so nobody else ever can.
        fs::set_permissions(path, fs::Permissions::from_mode(0o600))?;
        Ok((socket.listen(BACKLOG)?, file))
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

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::runtime::NetworkThreads;

    const NUM_SOCKETS: usize = 2000;

    #[test]
    fn nobody_else_can_connect_even_at_first() {
        let threads = NetworkThreads::shared().unwrap();
        let _entered = threads.handle().enter();
        let folder = std::env::temp_dir().join(format!("tfrt-new-sockets-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let path = |number: usize| folder.join(number.to_string());
        let next = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                loop {
                    let number = next.load(Ordering::Relaxed);
                    if number == NUM_SOCKETS {
                        return;
                    }
                    // It may be gone after the connection.
                    if UnixStream::connect(path(number)).is_ok()
                        && let Ok(metadata) = fs::metadata(path(number))
                    {
                        let mode = metadata.permissions().mode() & 0o777;
                        assert_eq!(mode, 0o600, "others could connect");
                    }
                }
            });
            for number in 0..NUM_SOCKETS {
                next.store(number, Ordering::Relaxed);
                let (_listener, _file) = SocketFile::bind(&path(number)).unwrap();
                assert!(UnixStream::connect(path(number)).is_ok());
            }
            next.store(NUM_SOCKETS, Ordering::Relaxed);
        });
        fs::remove_dir_all(folder).unwrap();
    }
}
