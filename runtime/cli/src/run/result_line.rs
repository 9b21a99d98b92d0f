//! The line with the results of a function.
//!
//! `'NAME' returned V1,V2,…`, without blanks. A number prints as a number, by its declared type;
//! any other value prints in the display format of its type, or as the name of its type. In the
//! style [for people](Style::Shown), tensors are printed with their elements, and each long result
//! has a separate line.

use std::fmt::{self, Display, Write as _};

use tfrt_async::AnyRef;
use tfrt_async::display::Displayed;
use tfrt_support::escape::{escaped, escaped_lines};
use tfrt_support::float_text::Scientific;

use super::shown;

/// Whom results are printed for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    /// For scripts: the original's lines.
    Recorded,
    /// For people.
    Shown,
}

/// The beginning of an error.
const ERROR: &str = "<<error: ";

/// Returns the line for a function that returned `values`; several lines if there are several and
/// some are long.
pub(super) fn result_line(
    name: &str,
    values: impl Iterator<Item = impl Display>,
    style: Style,
) -> String {
    let values: Vec<String> = values.map(|value| value.to_string()).collect();
    // Tensors, which are long, begin with their type and shape in brackets. The text of an error
    // may have brackets, too.
    let is_long = |value: &String| value.contains("]: ") && !value.starts_with(ERROR);
    if style == Style::Shown && values.len() > 1 && values.iter().any(is_long) {
        format!("'{}' returned\n  {}", escaped(name), values.join("\n  "))
    } else {
        format!("'{}' returned {}", escaped(name), values.join(","))
    }
}

/// An available result of a function.
pub(super) struct FunctionResult<'a> {
    pub(super) value: &'a AnyRef,
    pub(super) ty: &'a str,
    /// Whether errors print with their codes.
    pub(super) with_codes: bool,
    pub(super) style: Style,
}

impl Display for FunctionResult<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.value.error_if_present() {
            Some(error) if self.with_codes => {
                let message = escaped_lines(error.message());
                write!(f, "{ERROR}{message}, code: {}>>", error.code())
            }
            Some(error) => write!(f, "{ERROR}{}>>", escaped_lines(error.message())),
            None => fmt_value(f, self.ty, self.style, self.value),
        }
    }
}

fn fmt_value(f: &mut fmt::Formatter<'_>, ty: &str, style: Style, value: &AnyRef) -> fmt::Result {
    let text = match ty {
        "i1" => value.get::<bool>().map(|&bit| u8::from(bit).to_string()),
        "i32" => value.get::<i32>().map(i32::to_string),
        "i64" => value.get::<i64>().map(i64::to_string),
        "f32" => value
            .get::<f32>()
            .map(|&number| Scientific(f64::from(number)).to_string()),
        "f64" => value
            .get::<f64>()
            .map(|&number| Scientific(number).to_string()),
        _ => value.displayed().and_then(displayed_text).or_else(|| {
            let is_shown = style == Style::Shown;
            is_shown.then(|| shown::text(value)).flatten()
        }),
    };
    match text {
        Some(text) => f.write_str(&text),
        None => write!(f, "{ty} value"),
    }
}

/// Returns the text of a value, or `None` if its type fails to write it.
fn displayed_text(value: Displayed<'_>) -> Option<String> {
    let mut text = String::new();
    write!(text, "{value}").ok().map(|()| text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tfrt_async::{Immutable, Value};
    use tfrt_support::{Error, ErrorCode};

    fn check(value: AnyRef, ty: &str, expected: &str) {
        let printed = FunctionResult {
            value: &value,
            ty,
            with_codes: false,
            style: Style::Recorded,
        }
        .to_string();
        assert_eq!(printed, expected);
    }

    #[test]
    fn numbers_print_by_their_type() {
        check(AnyRef::available(true), "i1", "1");
        check(AnyRef::available(-3_i32), "i32", "-3");
        check(AnyRef::available(i64::MIN), "i64", "-9223372036854775808");
        check(AnyRef::available(1.5_f32), "f32", "1.500000e+00");
        check(AnyRef::available(7_u32), "ui32", "ui32 value");
        check(AnyRef::ready_chain(), "!tfrt.chain", "!tfrt.chain value");
    }

    struct Point;

    impl Value for Point {
        const MLIR_TYPE: &'static str = "!test.point";
        const DISPLAY: Option<tfrt_async::DisplayFn<Self>> = Some(|_, f| f.write_str("(3, 4)"));
    }

    impl Immutable for Point {}

    #[test]
    fn a_type_with_display_shows_its_values() {
        check(AnyRef::available(Point), "!test.point", "(3, 4)");
    }

    #[test]
    fn a_value_of_another_type_prints_as_the_declared_one() {
        check(AnyRef::available(7_u32), "i32", "i32 value");
    }

    #[test]
    fn errors_print_with_their_code_if_asked() {
        let value = AnyRef::error(Error::new("m").with_code(ErrorCode::NotFound));
        let print = |with_codes| {
            FunctionResult {
                value: &value,
                ty: "i32",
                with_codes,
                style: Style::Recorded,
            }
            .to_string()
        };
        assert_eq!(
            [print(false), print(true)],
            ["<<error: m>>", "<<error: m, code: NotFound>>"]
        );
    }

    #[test]
    fn values_are_separated_by_commas_alone() {
        assert_eq!(
            result_line("f", ["1", "2"].iter(), Style::Shown),
            "'f' returned 1,2"
        );
        assert_eq!(
            result_line("f", ["i32 [1]: [1]", "2"].iter(), Style::Shown),
            "'f' returned\n  i32 [1]: [1]\n  2"
        );
    }

    #[test]
    fn errors_with_brackets_stay_on_the_line() {
        let error = AnyRef::error(Error::new("In[0]: f32"));
        let result = FunctionResult {
            value: &error,
            ty: "!corert.tensorhandle",
            with_codes: false,
            style: Style::Shown,
        };
        assert_eq!(
            result_line("f", [&result, &result].iter(), Style::Shown),
            "'f' returned <<error: In[0]: f32>>,<<error: In[0]: f32>>"
        );
    }
}
