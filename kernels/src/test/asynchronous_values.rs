//! The values that kernels about asynchronous values inspect.

use std::fmt::Write;

use tfrt::prelude::*;

/// One view of a payload.
trait BaseOne {
    fn first_name(&self) -> &'static str;
}

/// Another view of it.
trait BaseTwo {
    fn second_name(&self) -> &'static str;
}

/// The inspected class.
#[derive(Value)]
#[value("!tfrt_test.final_class")]
struct FinalClass {
    number: i32,
}

impl BaseOne for FinalClass {
    fn first_name(&self) -> &'static str {
        "base1"
    }
}

impl BaseTwo for FinalClass {
    fn second_name(&self) -> &'static str {
        "base2"
    }
}

/// Returns a payload, seen as one thing, as another, and as itself.
pub(super) fn views() -> String {
    let value = AsyncValueRef::available(FinalClass { number: 3 });
    value.get().map_or_else(String::new, |payload| {
        let (first, second): (&dyn BaseOne, &dyn BaseTwo) = (payload, payload);
        format!(
            "{}:{}:final_class:{}",
            first.first_name(),
            second.second_name(),
            payload.number
        )
    })
}

/// Values on their way: one that is available from the start, one that is constructed before it is
/// published, and one that gets its payload when it is published.
pub(super) fn life() -> String {
    let mut text = String::new();
    tell(&mut text, &AsyncValueRef::available(2));

    let (mut promise, value) = AsyncValueRef::constructed(3);
    text.push(';');
    tell(&mut text, &value);
    // Writing into a string cannot fail.
    let _ = write!(text, ";({});", promise.payload_mut());
    promise.set_concrete();
    tell(&mut text, &value);

    let (promise, value) = AsyncValueRef::unconstructed();
    text.push(';');
    tell(&mut text, &value);
    promise.emplace(4);
    text.push(';');
    tell(&mut text, &value);
    text
}

fn tell(text: &mut String, value: &AsyncValueRef<i32>) {
    let _ = match value.get() {
        Some(payload) => write!(text, "available:{payload}"),
        None => write!(text, "unavailable"),
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_what_they_become() {
        assert_eq!(views(), "base1:base2:final_class:3");
        assert_eq!(
            life(),
            "available:2;unavailable;(3);available:3;unavailable;available:4"
        );
    }
}
