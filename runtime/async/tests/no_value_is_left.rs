//! Counts the values of a whole process, which is why it has a process of its own.
#![cfg(not(loom))]

use tfrt_async::{AnyRef, AsyncValueRef, ByteString, Chain, live_values, run_when_ready};
use tfrt_support::Error;

#[test]
fn no_value_is_left() {
    let chain = AnyRef::available(Chain);
    assert_eq!(live_values(), 0, "the ready chain is not counted");

    let (promise, value) = AsyncValueRef::<ByteString>::unconstructed();
    let (indirect, link) = AnyRef::indirect();
    indirect.forward_to(value.clone().into_any());
    let checked = link.clone().downcast::<i32>();
    run_when_ready(&[link.clone(), value.clone().into_any()], move || {
        drop(chain)
    });
    let future = std::future::IntoFuture::into_future(value.clone());
    promise.emplace("x".into());
    assert!(checked.is_ok_and(|wrong| wrong.is_error()));
    drop((link, value, future));

    let (broken, value) = AsyncValueRef::constructed(1_i32);
    drop(broken);
    drop((value, AnyRef::error(Error::new("x"))));

    assert_eq!(live_values(), 0);
}
