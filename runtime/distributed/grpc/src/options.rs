//! Limits, timeouts, windows and credentials.

use std::ops::RangeInclusive;
use std::time::Duration;

use tfrt_support::{Error, ErrorCode};

use crate::tls::Tls;
use crate::token::Token;

/// The options of a transport. Both sides of a connection should have the same limits.
///
/// ```
/// use tfrt_grpc::GrpcOptions;
///
/// let options = GrpcOptions { max_message_bytes: 1 << 20, ..GrpcOptions::default() };
/// assert!(options.inline_limit_bytes <= options.max_message_bytes);
/// ```
#[derive(Clone, Debug)]
pub struct GrpcOptions {
    /// The maximum time to connect, and until an incoming connection has said what it is and who
    /// it is of. Default: 5 s.
    pub connect_timeout: Duration,
    /// The maximum number of incoming connections; further ones wait. Half of the files that the
    /// system lets the process open (`ulimit -n`) is the limit if that is less: the other half is
    /// for connections to others. Each task opens up to four. Default: 8192.
    pub max_connections: usize,
    /// The idle time after which one side of a connection sends a keepalive request to the other.
    /// Default: 5 s.
    pub keepalive_interval: Duration,
    /// The time to wait for an answer to that request before the connection is closed. Default: 10
    /// s.
    pub keepalive_timeout: Duration,
    /// The time limit of administrative requests (all except executions, payloads and the creation
    /// of contexts). Default: 30 s.
    pub control_timeout: Duration,
    /// The maximum number of unread bytes on one request. Default: 4 MiB.
    pub stream_window_bytes: u32,
    /// The maximum number of unread bytes on one connection. Default: 16 MiB.
    pub connection_window_bytes: u32,
    /// The largest frame of HTTP/2, in both directions, from 16384 to 16777215. Small ones are
    /// copied more while they are read; behind large ones, other requests wait longer. Default: 256
    /// KiB.
    pub frame_bytes: u32,
    /// The largest message, in both directions. Requests that are arriving over HTTP/2 have at most
    /// sixteen times as many bytes together. Default: 64 MiB.
    pub max_message_bytes: usize,
    /// The largest payload that is sent as one message; others go in chunks of 1 MiB. Default: 1
    /// MiB.
    pub inline_limit_bytes: usize,
    /// The maximum number of requests without an answer on one connection of HTTP/2, at least 16.
    /// Executions on it may wait for later ones, so it is far beyond what programs have under way.
    /// A few of them are kept for heartbeats, and for requests that cancel others. All tasks of a
    /// cluster should have the same limit. Default: 65536.
    pub max_streams: u32,
    /// The maximum number of payloads and programs in flight to one task; more wait at the sender.
    /// Default: 1024.
    pub max_inflight_requests: u32,
    /// The maximum number of bytes of payloads and programs in flight to one task. Default: 256
    /// MiB.
    pub max_inflight_bytes: u32,
    /// The maximum number of bytes of executions, ops and other requests that wait for their end at
    /// this task, with 1 KiB more for each of them. Further ones are refused. Default: 1 GiB.
    pub max_pending_bytes: u64,
    /// The largest payload that is received in chunks. Default: 4 GiB.
    pub max_payload_bytes: u64,
    /// Whether payloads, and the small requests of ops and executions, go on connections of their
    /// own, if the other task takes those, and otherwise on those of HTTP/2, which copy payloads
    /// more often and take longer for requests. What stands between tasks must then forward
    /// connections of any protocol. Default: on.
    pub data_connections: bool,
    /// The certificate of the task: connections are encrypted, and both ends authenticate. Default:
    /// none.
    pub tls: Option<Tls>,
    /// A secret that every request holds. Default: none.
    pub token: Option<Token>,
    /// Whether to listen without encryption on addresses that other machines can reach. Default:
    /// off.
    pub allow_insecure_network: bool,
    /// Whether other engines exchange tensors with the task over Arrow Flight. Default: off.
    #[cfg(feature = "flight")]
    pub flight: bool,
}

/// The sizes that HTTP/2 allows as the largest frame.
const FRAME_BYTES: RangeInclusive<u32> = 1 << 14..=(1 << 24) - 1;

/// The least number of requests of a connection.
const MIN_STREAMS: u32 = 16;

impl GrpcOptions {
    /// Checks the options whose values HTTP/2 limits: its implementation panics at others, in a
    /// task of the network where nobody sees it.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let message = if !FRAME_BYTES.contains(&self.frame_bytes) {
            format!(
                "expected `frame_bytes` from {} to {}, found {}",
                FRAME_BYTES.start(),
                FRAME_BYTES.end(),
                self.frame_bytes
            )
        } else if self.max_streams < MIN_STREAMS {
            let found = self.max_streams;
            format!("expected `max_streams` of at least {MIN_STREAMS}, found {found}")
        } else {
            return Ok(());
        };
        Err(Error::new(message).with_code(ErrorCode::InvalidArgument))
    }

    /// Returns how many requests of a connection are heartbeats, or cancel others.
    pub(crate) fn num_reserved_streams(&self) -> u32 {
        (self.max_streams / 16).clamp(4, 1024)
    }
}

impl Default for GrpcOptions {
    fn default() -> Self {
        Self {
            connect_timeout: Duration::from_secs(5),
            max_connections: 8192,
            keepalive_interval: Duration::from_secs(5),
            keepalive_timeout: Duration::from_secs(10),
            control_timeout: Duration::from_secs(30),
            stream_window_bytes: 4 << 20,
            connection_window_bytes: 16 << 20,
            frame_bytes: 256 << 10,
            max_message_bytes: 64 << 20,
            inline_limit_bytes: 1 << 20,
            max_streams: 1 << 16,
            max_inflight_requests: 1024,
            max_inflight_bytes: 256 << 20,
            max_pending_bytes: 1 << 30,
            max_payload_bytes: 4 << 30,
            data_connections: true,
            tls: None,
            token: None,
            allow_insecure_network: false,
            #[cfg(feature = "flight")]
            flight: false,
        }
    }
}
