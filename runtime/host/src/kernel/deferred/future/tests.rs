use std::future::{pending, poll_fn, ready};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use tfrt_ods::{ResultDef, TypeConstraint};

use super::*;
use crate::kernel::KernelDescriptor;
use crate::kernel::inputs::{AttributeList, FunctionList};
use crate::kernel::param::Arguments;
use crate::kernel::result::Payload;
use crate::services::host::HostContext;
use crate::services::request::{RequestContext, RequestContextBuilder};

const OP: OpDef = OpDef {
    results: &[ResultDef::new("later", TypeConstraint::Exact("i32"))],
    ..OpDef::new("test.later")
};

/// Defines a kernel without operands, whose function returns this future.
macro_rules! kernel {
    ($name:ident, $future:expr) => {
        struct $name;

        impl AsyncKernel for $name {
            type Params = ();
            type Results = Payload<i32>;
            const OP: &'static OpDef = &OP;

            fn call<'h, 'f: 'h>((): Arguments<'h, 'f, ()>) -> impl Future<Output = i32> + Send {
                $future
            }
        }
    };
}

fn request() -> Arc<RequestContext> {
    RequestContextBuilder::new(HostContext::builder().build()).build()
}

fn start<K: AsyncKernel>(request: &Arc<RequestContext>) -> AnyRef {
    let ctx = ExecutionContext::new(Arc::clone(request));
    let mut results = [None];
    KernelDescriptor::future::<K>().invoke_checked(&mut KernelFrame::new(
        &ctx,
        K::OP,
        &[],
        AttributeList::EMPTY,
        FunctionList::default(),
        &mut results,
    ));
    let [result] = results;
    result.expect("the slot is filled")
}

fn message(value: &AnyRef) -> Option<String> {
    value.error_if_present().map(ToString::to_string)
}

/// Runs the tasks on the queue of a request.
fn run_tasks(request: &RequestContext) {
    request
        .host()
        .queue()
        .quiesce()
        .expect("this thread is not a worker");
}

#[test]
fn a_future_that_is_ready_gives_its_result_at_once() {
    kernel!(Ready, ready(7));
    let result = start::<Ready>(&request());
    // The only reference: neither a promise nor a task was created.
    assert!(result.is_unique());
    assert_eq!(result.get::<i32>(), Some(&7));
}

#[test]
fn a_future_is_polled_again_whenever_it_is_woken() {
    kernel!(Countdown, {
        let mut left = 3;
        poll_fn(move |cx| {
            left -= 1;
            cx.waker().wake_by_ref();
            // Another wake makes no difference.
            let waker = cx.waker().clone();
            waker.wake();
            match left {
                0 => Poll::Ready(7),
                _ => Poll::Pending,
            }
        })
    });
    let request = request();
    let result = start::<Countdown>(&request);
    assert!(!result.is_available());
    run_tasks(&request);
    assert_eq!(result.get::<i32>(), Some(&7));
}

#[test]
fn a_waker_of_a_future_that_is_done_does_nothing() {
    static WAKERS: Mutex<Vec<Waker>> = Mutex::new(Vec::new());
    kernel!(Leaky, {
        let mut is_first = true;
        poll_fn(move |cx| {
            WAKERS.lock().unwrap().push(cx.waker().clone());
            cx.waker().wake_by_ref();
            match std::mem::take(&mut is_first) {
                true => Poll::Pending,
                false => Poll::Ready(7),
            }
        })
    });
    let request = request();
    let result = start::<Leaky>(&request);
    run_tasks(&request);
    assert_eq!(result.get::<i32>(), Some(&7));
    WAKERS.lock().unwrap().drain(..).for_each(Waker::wake);
    request.cancel();
    assert_eq!(request.host().queue().num_pending_tasks(), Some(0));
    assert_eq!(result.get::<i32>(), Some(&7));
}

#[test]
fn a_future_that_nobody_can_wake_breaks_its_promise() {
    kernel!(Forgotten, pending::<i32>());
    let result = start::<Forgotten>(&request());
    assert_eq!(
        message(&result).as_deref(),
        Some("promise dropped before a value was set")
    );
}

static NUM_DROPPED: AtomicUsize = AtomicUsize::new(0);
static WAKERS: Mutex<Vec<Waker>> = Mutex::new(Vec::new());

struct CountDrop;

impl Drop for CountDrop {
    fn drop(&mut self) {
        NUM_DROPPED.fetch_add(1, Ordering::Relaxed);
    }
}

// Waits forever, and is kept alive by a waker that is never called.
kernel!(Forever, {
    let count = CountDrop;
    poll_fn(move |cx| {
        let _ = &count;
        WAKERS.lock().unwrap().push(cx.waker().clone());
        Poll::Pending
    })
});

#[test]
fn cancelling_drops_a_future_that_nobody_wakes() {
    let request = request();
    let before = NUM_DROPPED.load(Ordering::Relaxed);
    let waiting = start::<Forever>(&request);
    assert!(!waiting.is_available());
    request.cancel();
    assert_eq!(message(&waiting).as_deref(), Some("Cancelled"));
    assert_eq!(
        message(&start::<Forever>(&request)).as_deref(),
        Some("Cancelled")
    );
    assert!(NUM_DROPPED.load(Ordering::Relaxed) > before);

    let late = RequestContextBuilder::new(HostContext::builder().build())
        .deadline(SystemTime::now() + Duration::from_millis(5))
        .build();
    let waiting = start::<Forever>(&late);
    while !waiting.is_available() {
        std::thread::yield_now();
    }
    assert_eq!(message(&waiting).as_deref(), Some("Cancelled"));
}
