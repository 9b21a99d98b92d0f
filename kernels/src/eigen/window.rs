//! Attributes that describe the movement of a window over an image.

use tfrt::prelude::*;
use tfrt_compute::convolution::{Padding, Window};

/// Returns the padding that a convolution names, in whatever case.
pub(super) fn parse_padding(text: &str) -> Result<Padding> {
    if text.eq_ignore_ascii_case("valid") {
        Ok(Padding::Valid)
    } else if text.eq_ignore_ascii_case("same") {
        Ok(Padding::Same)
    } else if text.eq_ignore_ascii_case("explicit") {
        // No kernel has an attribute for how much that is.
        Err(Error::new(
            "For explicit padding, padding values must be defined",
        ))
    } else {
        Err(Error::new(format!("Unknown padding type {text}")))
    }
}

/// Returns a window without dilation over one dimension.
pub(super) fn window(input: usize, size: usize, stride: i64, padding: Padding) -> Result<Window> {
    let step = usize::try_from(stride).ok().filter(|&step| step > 0);
    let step = step.ok_or_else(|| Error::new(format!("Stride must be > 0, but got {stride}")))?;
    Window::new(input, size, step, 1, padding).map_err(|error| {
        let output = (input as i128 - size as i128 + i128::from(stride)) / i128::from(stride);
        if output < 0 {
            Error::new(format!(
                "Computed output size would be negative: {output} (input_size: {input}, \
                 filter_size: {size}, stride: {stride}, dilation: 1)"
            ))
        } else {
            error.into()
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message<T: std::fmt::Debug>(outcome: Result<T>) -> String {
        outcome.map_or_else(
            |error| error.message().to_owned(),
            |value| format!("{value:?}"),
        )
    }

    #[test]
    fn padding_is_named_in_any_case() {
        for (text, expected) in [
            ("SAME", "Same"),
            ("same", "Same"),
            ("Valid", "Valid"),
            ("full", "Unknown padding type full"),
            (
                "EXPLICIT",
                "For explicit padding, padding values must be defined",
            ),
        ] {
            assert_eq!(message(parse_padding(text)), expected);
        }
    }

    #[test]
    fn windows_larger_than_the_image_are_errors() {
        assert_eq!(
            message(window(3, 7, 2, Padding::Valid)),
            "Computed output size would be negative: -1 (input_size: 3, filter_size: 7, stride: \
             2, dilation: 1)"
        );
        assert_eq!(
            message(window(3, 2, 0, Padding::Valid)),
            "Stride must be > 0, but got 0"
        );
        let same = window(5, 3, 2, Padding::Same).unwrap();
        assert_eq!((same.output, same.before, same.after), (3, 1, 1));
    }
}
