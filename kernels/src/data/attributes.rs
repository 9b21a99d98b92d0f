//! Attributes of datasets that several ops have.

use tfrt::data::{Dataset, ElementFunction, OnError};
use tfrt::prelude::*;

/// Returns a function with the functions that save and restore its state, if it declares one: all
/// of an op's optional functions are there, or none is.
pub(super) fn with_state(
    function: FunctionRef,
    save: Option<FunctionRef>,
    restore: Option<FunctionRef>,
) -> ElementFunction {
    let function = ElementFunction::from(function);
    match (save, restore) {
        (Some(save), Some(restore)) => function.with_state(save, restore),
        _ => function,
    }
}

/// Adds a policy for errors to a dataset, if there is one.
pub(super) fn with_policy(dataset: Dataset, on_error: Option<&str>) -> Result<Dataset> {
    match on_error {
        Some(policy) => dataset.on_error(policy.parse::<OnError>()?),
        None => Ok(dataset),
    }
}

/// Parses the shapes of components, such as `[?, 3], []`: sizes, and `?` where the largest element
/// determines the size.
pub(super) fn shapes(text: &str) -> Result<Vec<Vec<Option<usize>>>> {
    let wrong = |what: &str| {
        let message = format!("expected shapes such as `[?, 3], []`, found `{text}`: {what}");
        Error::new(message).with_code(ErrorCode::InvalidArgument)
    };
    let mut shapes = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let shape = rest.strip_prefix('[').and_then(|rest| rest.split_once(']'));
        let Some((extents, behind)) = shape else {
            return Err(wrong("a shape is in brackets"));
        };
        shapes.push(match extents.trim() {
            "" => Vec::new(),
            extents => extents
                .split(',')
                .map(|extent| match extent.trim() {
                    "?" => Ok(None),
                    size => match size.parse() {
                        Ok(size) => Ok(Some(size)),
                        Err(_) => Err(wrong("a size is a number or `?`")),
                    },
                })
                .collect::<Result<_>>()?,
        });
        let behind = behind.trim_start();
        rest = match (behind.strip_prefix(','), behind) {
            (Some(rest), _) => rest.trim_start(),
            (None, "") => "",
            (None, _) => return Err(wrong("shapes are separated by commas")),
        };
    }
    Ok(shapes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_are_lists_of_sizes() {
        assert_eq!(shapes("").unwrap(), [[]; 0]);
        assert_eq!(shapes("[]").unwrap(), [[]]);
        assert_eq!(
            shapes(" [ ?, 3 ],[], [7]").unwrap(),
            [vec![None, Some(3)], vec![], vec![Some(7)]]
        );
        for wrong in ["3", "[3", "[3] [4]", "[x]", "[-1]", "[3,]"] {
            let error = shapes(wrong).unwrap_err();
            assert_eq!(error.code(), ErrorCode::InvalidArgument, "{wrong}");
        }
    }
}
