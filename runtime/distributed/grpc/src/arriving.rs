//! The bytes of requests that are arriving over HTTP/2.
//!
//! A request is handled once the whole of it is there, so halves of many would take memory without
//! end. What arrives beyond the first [`FREE_BYTES`] of each request counts, until the request is
//! there; at the limit, the request that goes on is refused. Heartbeats and other small requests
//! always arrive.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, ready};

use http_body::Frame;
use prost::bytes::Bytes;
use tonic::Status;
use tonic::body::Body;

/// The bytes of each request that do not count.
const FREE_BYTES: usize = 64 << 10;

/// The limit, as a number of messages of the largest size.
const MAX_MESSAGES: usize = 16;

/// The number of bytes that are arriving at a task.
#[derive(Debug)]
pub(crate) struct ArrivingBytes {
    num_bytes: AtomicUsize,
    max_bytes: usize,
}

impl ArrivingBytes {
    /// Creates the count of a task that takes messages of at most so many bytes.
    pub(crate) fn new(max_message_bytes: usize) -> Arc<Self> {
        Arc::new(Self {
            num_bytes: AtomicUsize::new(0),
            max_bytes: max_message_bytes.saturating_mul(MAX_MESSAGES),
        })
    }

    /// Returns a body whose bytes count.
    pub(crate) fn count(self: &Arc<Self>, body: Body) -> Body {
        Body::new(Counted {
            body,
            num_arrived: 0,
            num_counted: 0,
            all: Arc::clone(self),
        })
    }

    /// Counts further bytes, unless there are too many.
    fn take(&self, num_bytes: usize) -> Result<(), Status> {
        let with_these = |all: usize| {
            let all = all.saturating_add(num_bytes);
            (all <= self.max_bytes).then_some(all)
        };
        // Relaxed: nothing else is read or written by this number.
        let order = Ordering::Relaxed;
        let taken = self.num_bytes.fetch_update(order, order, with_these);
        taken
            .map(drop)
            .map_err(|_| Status::unavailable("too many bytes of requests are arriving"))
    }

    fn give_back(&self, num_bytes: usize) {
        self.num_bytes.fetch_sub(num_bytes, Ordering::Relaxed);
    }
}

/// The body of a request that arrives.
struct Counted {
    body: Body,
    num_arrived: usize,
    /// The number of bytes that count.
    num_counted: usize,
    all: Arc<ArrivingBytes>,
}

impl http_body::Body for Counted {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(context));
        if let Some(Ok(frame)) = &frame
            && let Some(bytes) = frame.data_ref()
        {
            self.num_arrived += bytes.len();
            let num_counted = self.num_arrived.saturating_sub(FREE_BYTES);
            if let Err(refused) = self.all.take(num_counted - self.num_counted) {
                return Poll::Ready(Some(Err(refused)));
            }
            self.num_counted = num_counted;
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> http_body::SizeHint {
        self.body.size_hint()
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.all.give_back(self.num_counted);
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::task::Waker;

    use http_body::Body as _;

    use super::*;

    /// Frames of a few bytes each.
    struct Frames(Vec<usize>);

    impl http_body::Body for Frames {
        type Data = Bytes;
        type Error = std::convert::Infallible;

        fn poll_frame(
            mut self: Pin<&mut Self>,
            _: &mut Context<'_>,
        ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
            let next = self.0.pop().map(|len| Ok(Frame::data(vec![7; len].into())));
            Poll::Ready(next)
        }
    }

    /// Returns the length of the next frame, or the error.
    fn next(body: &mut Body) -> Option<Result<usize, String>> {
        let mut next = std::pin::pin!(poll_fn(|context| Pin::new(&mut *body).poll_frame(context)));
        let Poll::Ready(frame) = next.as_mut().poll(&mut Context::from_waker(Waker::noop())) else {
            panic!("the frames are there");
        };
        frame.map(|frame| match frame {
            Ok(frame) => Ok(frame.into_data().unwrap().len()),
            Err(status) => Err(status.message().to_owned()),
        })
    }

    #[test]
    fn what_arrives_has_a_limit_but_small_requests_always_arrive() {
        let all = ArrivingBytes::new(1000);
        let body = |sizes: &[usize]| all.count(Body::new(Frames(sizes.to_vec())));
        let mut large = body(&[FREE_BYTES, 16_000]);
        assert_eq!(next(&mut large), Some(Ok(16_000)));
        assert_eq!(next(&mut large), Some(Ok(FREE_BYTES)));
        assert_eq!(all.num_bytes.load(Ordering::Relaxed), 16_000);
        let mut small = body(&[FREE_BYTES]);
        assert_eq!(next(&mut small), Some(Ok(FREE_BYTES)));
        assert_eq!(next(&mut small), None);
        let refused = "too many bytes of requests are arriving".to_owned();
        let mut further = body(&[FREE_BYTES, 1]);
        assert_eq!(next(&mut further), Some(Ok(1)));
        assert_eq!(next(&mut further), Some(Err(refused)));
        // What is there, or refused, does not count any more.
        drop((large, further));
        assert_eq!(all.num_bytes.load(Ordering::Relaxed), 0);
        assert!(all.take(16_000).is_ok() && all.take(1).is_err());
    }
}
