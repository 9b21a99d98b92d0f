//! Elements for asynchronous code.

use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Waker};

use tfrt_async::{AnyRef, IndirectPromise};
use tfrt_data::{Dataset, ElementFunction};
use tfrt_host::{ExecutionContext, HostContext, RequestContextBuilder};
use tfrt_support::ErrorCode;

fn context() -> ExecutionContext {
    ExecutionContext::new(RequestContextBuilder::new(HostContext::builder().build()).build())
}

/// Numbers that come when the promises are kept.
fn later(stop: i64) -> (Dataset, Arc<Mutex<Vec<IndirectPromise>>>) {
    let promises: Arc<Mutex<Vec<IndirectPromise>>> = Arc::default();
    let kept = Arc::clone(&promises);
    let function = ElementFunction::from_closure(1, 1, move |_, _| {
        let (promise, value) = AnyRef::indirect();
        kept.lock().unwrap().push(promise);
        Ok([value].into_iter().collect())
    });
    let numbers = Dataset::range(0, stop, 1).unwrap();
    (numbers.map_with(function, &[]).unwrap(), promises)
}

#[test]
fn an_element_that_was_awaited_in_vain_comes_next() {
    let ctx = context();
    let (dataset, promises) = later(2);
    let mut elements = dataset.elements::<i64, _>(&ctx);
    let mut context = Context::from_waker(Waker::noop());
    assert!(pin!(elements.next_async()).poll(&mut context).is_pending());
    let error = elements.save().unwrap_err();
    assert_eq!(error.code(), ErrorCode::FailedPrecondition);
    let promise = promises.lock().unwrap().pop().unwrap();
    promise.forward_to(AnyRef::available(5_i64));
    assert_eq!(elements.next().unwrap().unwrap(), 5);
    assert!(elements.save().is_ok());
}

#[cfg(feature = "stream")]
#[test]
fn elements_are_a_stream() {
    use futures_core::{FusedStream, Stream};
    use std::task::Poll;

    let ctx = context();
    let (dataset, promises) = later(2);
    let mut elements = pin!(dataset.elements::<i64, _>(&ctx));
    let mut context = Context::from_waker(Waker::noop());
    for number in [10_i64, 20] {
        assert!(elements.as_mut().poll_next(&mut context).is_pending());
        let promise = promises.lock().unwrap().pop().unwrap();
        promise.forward_to(AnyRef::available(number));
        let Poll::Ready(Some(Ok(found))) = elements.as_mut().poll_next(&mut context) else {
            panic!("it is there");
        };
        assert_eq!(found, number);
        assert!(!elements.is_terminated());
    }
    let end = elements.as_mut().poll_next(&mut context);
    assert!(matches!(end, Poll::Ready(None)));
    assert!(elements.is_terminated());
}
