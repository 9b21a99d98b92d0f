//! Numbers in sentences that programs print.

use std::fmt::{self, Write as _};
use std::io::{self, Write as _};

use tfrt::prelude::*;

use crate::error::invalid;

/// Prints a line of text with numbers.
///
/// Each `{}` of the text stands for the next value, of type i32, i64, f32, f64 or `!tfrt.string`.
/// `{.3}` is a number with three digits after the point, and `{.1%}` a fraction as a percentage.
///
/// # Errors
/// If the numbers of placeholders and values differ, or a placeholder is malformed.
#[tfrt_kernel(
    "models.report",
    results(out_chain),
    effect = "io",
    format = "$in_chain $text `(` typed-operands($values) `)` attr-dict"
)]
fn report(in_chain: Chain, values: &[AnyRef], #[attr] text: &str) -> Result<Chain> {
    let values = values
        .iter()
        .map(Reported::read)
        .collect::<Result<Vec<_>>>()?;
    let line =
        sentence(text, &values).map_err(|error| invalid(format!("the text {text:?} {error}")))?;
    let mut output = io::stdout().lock();
    writeln!(output, "{line}")?;
    output.flush()?;
    Ok(in_chain)
}

/// A value that has a place in a sentence.
#[derive(Debug, PartialEq)]
enum Reported {
    Whole(i64),
    Real(f64),
    Text(String),
}

impl Reported {
    fn read(value: &AnyRef) -> Result<Self> {
        let whole = value.get::<i64>().copied();
        let whole = whole.or_else(|| value.get::<i32>().map(|&number| number.into()));
        let real = value.get::<f64>().copied();
        let real = real.or_else(|| value.get::<f32>().map(|&number| number.into()));
        let text = || value.get::<ByteString>().map(ToString::to_string);
        whole
            .map(Self::Whole)
            .or(real.map(Self::Real))
            .or_else(|| text().map(Self::Text))
            .ok_or_else(|| invalid("only numbers and strings can be formatted"))
    }

    /// Returns the value as a number, for placeholders that specify digits.
    fn as_real(&self) -> Option<f64> {
        match self {
            Self::Whole(number) => Some(*number as f64),
            Self::Real(number) => Some(*number),
            Self::Text(_) => None,
        }
    }
}

/// The reasons why values cannot be put into a text. The message continues a sentence about the
/// text.
#[derive(Debug)]
enum TextError {
    OpenBrace,
    /// The number of values is too small for the placeholders.
    TooFewValues(usize),
    /// This number of values have no placeholder.
    TooManyValues(usize),
    /// The value does not fit this placeholder.
    Unfit(String),
}

impl fmt::Display for TextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OpenBrace => f.write_str("has a brace that is not closed"),
            Self::TooFewValues(found) => {
                write!(f, "has more placeholders than values ({found})")
            }
            Self::TooManyValues(left) => write!(f, "has values without a placeholder ({left})"),
            Self::Unfit(place) => write!(
                f,
                "expects {{}}, {{.N}} or {{.N%}} for a number, or {{}} for a string, found \
                 {{{place}}}"
            ),
        }
    }
}

impl std::error::Error for TextError {}

/// Replaces each placeholder of the text with a value.
fn sentence(text: &str, values: &[Reported]) -> Result<String, TextError> {
    let mut line = String::new();
    let mut values_left = values.iter();
    let mut rest = text;
    while let Some((before, place)) = rest.split_once('{') {
        let (place, after) = place.split_once('}').ok_or(TextError::OpenBrace)?;
        let value = values_left
            .next()
            .ok_or(TextError::TooFewValues(values.len()))?;
        line.push_str(before);
        push(place, value, &mut line)?;
        rest = after;
    }
    match values_left.len() {
        0 => Ok(line + rest),
        left => Err(TextError::TooManyValues(left)),
    }
}

/// Appends a value in the format of the placeholder.
fn push(place: &str, value: &Reported, line: &mut String) -> Result<(), TextError> {
    let unfit = || TextError::Unfit(place.to_owned());
    let (digits, factor) = match place.strip_suffix('%') {
        Some(digits) => (digits, 100.0),
        None => (place, 1.0),
    };
    // Writing to a string cannot fail.
    let _ = match (place, value) {
        ("", Reported::Whole(number)) => write!(line, "{number}"),
        ("", Reported::Real(number)) => write!(line, "{number}"),
        ("", Reported::Text(text)) => write!(line, "{text}"),
        _ => {
            let digits = digits.strip_prefix('.').ok_or_else(unfit)?;
            let digits: u8 = digits.parse().map_err(|_| unfit())?;
            let number = value.as_real().ok_or_else(unfit)? * factor;
            let unit = if factor == 1.0 { "" } else { " %" };
            write!(line, "{number:.*}{unit}", usize::from(digits))
        }
    };
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, values: &[Reported], expected: Result<&str, &str>) {
        let line = sentence(text, values);
        let line = line.map_err(|error| error.to_string());
        assert_eq!(line.as_deref().map_err(String::as_str), expected);
    }

    #[test]
    fn values_stand_in_their_places() {
        let values = [
            Reported::Whole(3),
            Reported::Real(0.123_46),
            Reported::Real(0.9754),
            Reported::Text("seeds".to_owned()),
        ];
        check(
            "epoch {}: loss {.3}, {.1%} of {}!",
            &values,
            Ok("epoch 3: loss 0.123, 97.5 % of seeds!"),
        );
        check("nothing", &[], Ok("nothing"));
        check(
            "{}{.0}",
            &[Reported::Real(0.5), Reported::Whole(-7)],
            Ok("0.5-7"),
        );
    }

    #[test]
    fn texts_that_make_no_sense_are_refused() {
        let one = [Reported::Text("x".to_owned())];
        check("{", &one, Err("has a brace that is not closed"));
        check("{} {}", &one, Err("has more placeholders than values (1)"));
        check("", &one, Err("has values without a placeholder (1)"));
        for place in [".1", ".1%", "%", ".x", "x", ".256"] {
            let text = format!("{{{place}}}");
            assert!(sentence(&text, &one).is_err(), "{text}");
        }
    }
}
