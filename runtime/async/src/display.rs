//! Formatting values for people.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::any_ref::AnyRef;
use crate::value::Value;

/// Writes the payload of a value.
pub(crate) type DisplayPayload = fn(&AnyRef, &mut fmt::Formatter<'_>) -> fmt::Result;

/// Returns how payloads of type `T` are formatted, if the type defines it.
pub(crate) const fn display_payload<T: Value>() -> Option<DisplayPayload> {
    match T::DISPLAY {
        Some(_) => Some(write_payload::<T>),
        None => None,
    }
}

/// The code of `T` may be in a kernel library, out of which no panic may propagate.
fn write_payload<T: Value>(value: &AnyRef, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let (Some(display), Ok(payload)) = (T::DISPLAY, value.try_read::<T>()) else {
        return f.write_str("a value that is being written");
    };
    let written = catch_unwind(AssertUnwindSafe(|| display(&payload, f)));
    written.unwrap_or(Err(fmt::Error))
}

/// A payload formatted as its type [defines](Value::DISPLAY). Created by [`AnyRef::displayed`].
///
/// ```
/// use tfrt_async::{AnyRef, Value};
///
/// struct Coordinate { x: i32, y: i32 }
///
/// impl Value for Coordinate {
///     const MLIR_TYPE: &'static str = "!my.coordinate";
///     const DISPLAY: Option<tfrt_async::DisplayFn<Self>> = Some(|point, f| write!(f, "({}, {})", point.x, point.y));
/// }
///
/// let value = AnyRef::available(Coordinate { x: 3, y: 4 });
/// assert_eq!(value.displayed().map(|shown| shown.to_string()).as_deref(), Some("(3, 4)"));
/// assert!(AnyRef::available(7_i32).displayed().is_none());
/// ```
#[derive(Clone, Copy)]
pub struct Displayed<'a> {
    value: &'a AnyRef,
    display: DisplayPayload,
}

impl AnyRef {
    /// Returns the payload in displayable form, or `None` if there is no payload or its type does
    /// not define one.
    #[must_use]
    pub fn displayed(&self) -> Option<Displayed<'_>> {
        if !self.is_concrete() {
            return None;
        }
        let display = self.type_id().info()?.display?;
        Some(Displayed {
            value: self,
            display,
        })
    }
}

impl fmt::Display for Displayed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (self.display)(self.value, f)
    }
}

impl fmt::Debug for Displayed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Displayed({self})")
    }
}
