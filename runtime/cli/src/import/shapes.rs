//! What the command line says of the inputs' shapes.

use clap::Args;
use tfrt_import::InputDim;
use tfrt_import::program::Program;
use tfrt_support::escape::escaped;

use crate::failure::Failure;

/// Numbers for dimensions, and other shapes of inputs.
#[derive(Args, Debug)]
pub(super) struct ShapeArguments {
    /// The number that a symbolic dimension of the inputs stands for. May be repeated
    #[arg(long = "dim", value_name = "NAME=VALUE")]
    dims: Vec<String>,

    /// The shape of an input, instead of the declared one: numbers, and `?` for what is not known,
    /// with `x` between them. May be repeated
    #[arg(long = "shape", value_name = "INPUT=2x3x?")]
    shapes: Vec<String>,
}

impl ShapeArguments {
    /// Returns an option that is given.
    pub(super) fn given(&self) -> Option<&'static str> {
        let dim = (!self.dims.is_empty()).then_some("--dim");
        dim.or((!self.shapes.is_empty()).then_some("--shape"))
    }

    /// Changes what a program declares of its inputs.
    pub(super) fn apply(&self, program: &mut Program) -> Result<(), Failure> {
        // A name may contain `=`.
        for given in &self.shapes {
            let split = split_at_last(given, "--shape INPUT=2x3x?")?;
            let (input, shape) = split;
            let dims = shape_of(shape).ok_or_else(|| {
                let message = "expected numbers and `?` with `x` between them, such as `2x3x?`";
                wrong(given, message)
            })?;
            let declared = program.declare_shape(input, dims);
            declared.map_err(|error| wrong(given, &error.to_string()))?;
        }
        for given in &self.dims {
            let (name, value) = split_at_last(given, "--dim NAME=VALUE")?;
            let extent = value.parse();
            let extent = extent.map_err(|_| {
                wrong(
                    given,
                    &format!("expected a number, found `{}`", escaped(value)),
                )
            })?;
            let bound = program.bind_symbol(name, extent);
            bound.map_err(|error| wrong(given, &error.to_string()))?;
        }
        Ok(())
    }
}

/// Returns the two sides of the last `=`.
pub(crate) fn split_at_last<'a>(given: &'a str, form: &str) -> Result<(&'a str, &'a str), Failure> {
    given
        .rsplit_once('=')
        .ok_or_else(|| wrong(given, &format!("expected `{form}`")))
}

/// Reads `2x3x?`; an empty text is the shape of a scalar.
fn shape_of(text: &str) -> Option<Vec<InputDim>> {
    if text.is_empty() {
        return Some(Vec::new());
    }
    let dims = text.split('x').map(|dim| match dim {
        "?" => Some(InputDim::Unknown),
        number => number.parse().ok().map(InputDim::Fixed),
    });
    dims.collect()
}

fn wrong(given: &str, message: &str) -> Failure {
    Failure::Usage(format!("error: `{}`: {message}", escaped(given)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_are_numbers_and_question_marks() {
        use InputDim::{Fixed, Unknown};

        assert_eq!(shape_of(""), Some(Vec::new()));
        assert_eq!(shape_of("2x3x?"), Some(vec![Fixed(2), Fixed(3), Unknown]));
        for text in ["x", "2x", "2xn", "-1", "2 x 3", "2×3"] {
            assert_eq!(shape_of(text), None, "{text}");
        }
    }
}
