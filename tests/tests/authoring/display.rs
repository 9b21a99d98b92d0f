//! How values are shown and passed.

use std::fmt;

use tfrt::async_value::is_copied;
use tfrt::prelude::*;

/// A complex number.
#[derive(Clone, Copy, Value)]
#[value("!display.complex", display, copied)]
struct Complex {
    re: f32,
    im: f32,
}

impl fmt::Display for Complex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}+{}i", self.re, self.im)
    }
}

#[derive(Value)]
#[value("!display.opaque")]
struct Opaque;

/// A value whose code panics.
#[derive(Value)]
#[value("!display.bomb", display)]
struct Bomb;

impl fmt::Display for Bomb {
    fn fmt(&self, _f: &mut fmt::Formatter<'_>) -> fmt::Result {
        panic!("cannot be shown")
    }
}

#[test]
fn a_type_with_display_shows_its_values() {
    let value = AnyRef::available(Complex { re: 1.5, im: 2.0 });
    assert_eq!(value.displayed().unwrap().to_string(), "1.5+2i");
    assert!(AnyRef::available(Opaque).displayed().is_none());
    assert!(AnyRef::error(Error::new("no")).displayed().is_none());
}

#[test]
fn a_panic_while_showing_is_an_error() {
    use fmt::Write;

    let value = AnyRef::available(Bomb);
    let mut text = String::new();
    assert!(write!(text, "{}", value.displayed().unwrap()).is_err());
}

#[test]
fn copying_is_said_in_the_derive() {
    assert!(is_copied::<Complex>() && !is_copied::<Opaque>());
}
