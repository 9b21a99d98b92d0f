//! The bytes of requests that are arriving over HTTP/2.
//!
//! A request is handled once the whole of it is there, so halves of many would take memory without
//! end. What arrives beyond the first [`FREE_BYTES`] of each request counts, until the request is
//! there; at the limit, the request that goes on is refused. Heartbeats and other small requests
//! always arrive.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use http_body::Frame;
use prost::bytes::Bytes;
use tonic::Status;
use tonic::body::Body;

use crate::budget::{Budget, Taken};

/// The bytes of each request that do not count.
const FREE_BYTES: u64 = 64 << 10;

/// The limit, as a number of messages of the largest size.
const MAX_MESSAGES: u64 = 16;

/// The bytes that are arriving at a task.
#[derive(Debug)]
pub(crate) struct ArrivingBytes(Arc<Budget>);

impl ArrivingBytes {
    /// Creates the count of a task that takes messages of at most so many bytes.
    pub(crate) fn new(max_message_bytes: usize) -> Self {
        let max_bytes = (max_message_bytes as u64).saturating_mul(MAX_MESSAGES);
        Self(Budget::new(max_bytes))
    }

    /// Returns a body whose bytes count.
    pub(crate) fn count(&self, body: Body) -> Body {
        Body::new(Counted {
            body,
            num_arrived: 0,
            counted: self.0.begin(),
        })
    }
}

/// The body of a request that arrives.
struct Counted {
    body: Body,
    num_arrived: u64,
    counted: Taken,
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
            self.num_arrived += bytes.len() as u64;
            let num_counted = self.num_arrived.saturating_sub(FREE_BYTES);
            let num_more = num_counted - self.counted.num_bytes();
            if !self.counted.take(num_more) {
                let refused = Status::unavailable("too many bytes of requests are arriving");
                return Poll::Ready(Some(Err(refused)));
            }
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
        const FREE: usize = FREE_BYTES as usize;
        let body = |sizes: &[usize]| all.count(Body::new(Frames(sizes.to_vec())));
        let mut large = body(&[FREE, 16_000]);
        assert_eq!(next(&mut large), Some(Ok(16_000)));
        assert_eq!(next(&mut large), Some(Ok(FREE)));
        assert_eq!(all.0.num_bytes(), 16_000);
        let mut small = body(&[FREE]);
        assert_eq!(next(&mut small), Some(Ok(FREE)));
        assert_eq!(next(&mut small), None);
        let refused = "too many bytes of requests are arriving".to_owned();
        let mut further = body(&[FREE, 1]);
        assert_eq!(next(&mut further), Some(Ok(1)));
        assert_eq!(next(&mut further), Some(Err(refused)));
        // What is there, or refused, does not count any more.
        drop((large, further));
        assert_eq!(all.0.num_bytes(), 0);
        let mut again = all.0.begin();
        assert!(again.take(16_000) && !again.take(1));
    }
}
