use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, ReadBuf};

use super::*;

const MINUTE: Duration = Duration::from_secs(60);

fn block_on<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async { tokio::time::timeout(MINUTE, future).await.unwrap() })
}

/// A connection within the process.
#[derive(Debug)]
struct Io {
    stream: DuplexStream,
    caller: Option<Caller>,
}

impl Incoming for Io {
    fn caller(&self) -> Option<Caller> {
        self.caller.clone()
    }
}

impl tokio::io::AsyncRead for Io {
    fn poll_read(
        mut self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> std::task::Poll<io::Result<()>> {
        std::pin::Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

crate::forward::forward_writes!([] Io, stream);

/// A listener that fails a few times, and then accepts one connection.
struct Failing {
    num_calls: Arc<AtomicUsize>,
    num_failures: usize,
    accepted: std::sync::Mutex<Option<Io>>,
}

impl Listener for Failing {
    type Stream = Io;

    async fn accept(&self) -> io::Result<Io> {
        if self.num_calls.fetch_add(1, Ordering::Relaxed) < self.num_failures {
            // Too many open files, for example.
            return Err(io::ErrorKind::Other.into());
        }
        let accepted = self.accepted.lock().unwrap().take();
        match accepted {
            Some(io) => Ok(io),
            None => std::future::pending().await,
        }
    }
}

#[test]
fn a_listener_that_fails_is_asked_again_after_a_pause() {
    block_on(async {
        let (here, mut there) = tokio::io::duplex(1 << 10);
        there.write_all(b"PRI").await.unwrap();
        let num_calls = Arc::new(AtomicUsize::new(0));
        let listener = Failing {
            num_calls: Arc::clone(&num_calls),
            num_failures: 4,
            accepted: std::sync::Mutex::new(Some(Io {
                stream: here,
                caller: None,
            })),
        };
        let begin = Instant::now();
        let open = |io| async { Ok(io) };
        let serve = |_: Sorted<Io>, _, _| async {};
        let mut others = accept(listener, &GrpcOptions::default(), open, serve);
        let mut io = others.recv().await.unwrap().unwrap();
        assert!(begin.elapsed() >= 4 * PAUSE, "{:?}", begin.elapsed());
        let mut said = [0; 3];
        io.read_exact(&mut said).await.unwrap();
        assert_eq!(&said, b"PRI");
        assert!(num_calls.load(Ordering::Relaxed) <= 6);
    });
}

#[test]
fn the_oldest_opening_ends_after_its_grace() {
    block_on(async {
        let mut openings = Openings::new(60 * MINUTE, Duration::from_millis(20));
        let begin = Instant::now();
        let (first, second) = (openings.begin(), openings.begin());
        drop(openings.begin());
        assert_eq!(openings.num_left(), 2);
        // The connection ends with its opening.
        let first = tokio::spawn(first);
        openings.end_oldest().await;
        assert!(begin.elapsed() >= Duration::from_millis(20));
        first.await.unwrap();
        assert_eq!(openings.num_left(), 1);
        // One that opens in time goes on.
        drop(second);
        openings.end_oldest().await;
        assert_eq!(openings.num_left(), 0);
        let none = tokio::time::timeout(Duration::from_millis(20), openings.end_oldest());
        assert!(none.await.is_err());
    });
}

#[test]
fn an_opening_ends_when_its_time_is_up() {
    block_on(async {
        let mut openings = Openings::new(Duration::from_millis(20), MINUTE);
        openings.begin().await;
        assert_eq!(openings.num_left(), 0);
    });
}

#[test]
fn a_connection_is_open_once_it_has_said_who_it_is_of() {
    let preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
    let name = tfrt_distributed::name::TaskName::new("worker", 1);
    let known = Some(Caller(Arc::new(name)));
    // How much it says, who has proved to be at its other end, and whether a request is accepted.
    for (num_said, caller, is_accepted, is_open) in [
        (preface.len() - 1, known.clone(), false, false),
        (preface.len(), known, false, true),
        (preface.len(), None, false, false),
        (preface.len(), None, true, true),
    ] {
        block_on(async {
            let (here, mut there) = tokio::io::duplex(1 << 10);
            there.write_all(&preface[..num_said]).await.unwrap();
            let mut places = Places::new(1, Duration::from_millis(50));
            let (place, opening) = places.next().await;
            let io = Io {
                stream: here,
                caller,
            };
            let sorted = sorted::sort(async { Ok(io) }, place, opening).await;
            let Some(sorted::Kind::Http(mut io)) = sorted else {
                panic!("it is HTTP/2");
            };
            let mut said = vec![0; num_said];
            io.read_exact(&mut said).await.unwrap();
            assert_eq!(said, preface[..num_said]);
            if is_accepted {
                tonic::transport::server::Connected::connect_info(&io).accept();
            }
            let more = tokio::time::timeout(Duration::from_millis(200), io.read_u8()).await;
            if is_open {
                assert!(more.is_err(), "it waits");
            } else {
                let ended = more.unwrap().unwrap_err();
                assert_eq!(ended.kind(), io::ErrorKind::TimedOut);
                assert!(io.read_u8().await.is_err());
            }
            // It counts as one that opens as long as that lasts.
            assert_eq!(places.openings.num_left(), 0);
        });
    }
}

#[test]
fn a_place_is_free_again_when_its_connection_ends() {
    block_on(async {
        let mut places = Places::new(1, MINUTE);
        let (first, opening) = places.next().await;
        // It is open, so nothing ends it.
        drop(opening);
        let second = tokio::time::timeout(Duration::from_millis(20), places.next()).await;
        assert!(second.is_err());
        drop(first);
        places.next().await;
    });
}

#[test]
fn trouble_is_not_told_all_the_time() {
    let mut complaint = Complaint::default();
    complaint.say(&"once");
    let told = complaint.last;
    complaint.say(&"twice");
    assert!(told.is_some() && complaint.last == told);
}

#[test]
fn files_are_left_for_connections_to_others() {
    let with = |max_connections| {
        super::max_connections(&GrpcOptions {
            max_connections,
            ..GrpcOptions::default()
        })
    };
    let files = max_open_files().unwrap_or(usize::MAX);
    assert_eq!(with(usize::MAX), (files / 2).min(Semaphore::MAX_PERMITS));
    assert_eq!(with(0), 1);
    assert_eq!(with(3), 3);
}
