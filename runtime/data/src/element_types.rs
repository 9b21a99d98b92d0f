//! The types of elements, as far as they are known before the first draw: the number of components
//! and their types.
//!
//! While a pipeline is built, the types pass from the sources to the last stage. A stage with a
//! function compares them with the parameters of the function. A mismatch is an error that names
//! both stages. Unknown types are not compared.

use std::fmt;
use std::sync::Arc;

use tfrt_async::{AnyRef, ByteString, Chain, Value};
use tfrt_support::Error;
use tfrt_tensor::DenseHostTensor;

use crate::dataset::{Dataset, invalid};
use crate::function::ElementFunction;
use crate::numbers::is_number;
use crate::result::Values;

/// The largest number of components with known types. Nested zips would double it at each level.
const MAX_COMPONENTS: usize = 64;

/// The types of the components of the elements of a dataset, as far as they are known.
///
/// ```
/// use tfrt_data::Dataset;
///
/// let numbered = Dataset::range(0, 9, 1)?.map(|x: i64| x as f32)?.enumerate(0)?;
/// assert_eq!(numbered.element_types().to_string(), "(i64, f32)");
/// assert_eq!(numbered.element_types().num_components(), Some(2));
///
/// let error = numbered.map(|x: i32| x).unwrap_err();
/// assert_eq!(error.message(), "`map` expects elements of type (i32), found (i64, f32) from `enumerate`");
/// # Ok::<(), tfrt_support::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ElementTypes {
    /// `None` if the number of components is unknown, too.
    types: Option<Arc<[ComponentType]>>,
}

/// The MLIR spelling of a type, if it is known.
type ComponentType = Option<Arc<str>>;

impl ElementTypes {
    /// Neither the components nor their number are known.
    pub const UNKNOWN: Self = Self { types: None };

    /// Creates the types of components from their MLIR spellings; `None` is an unknown type.
    ///
    /// ```
    /// use tfrt_data::ElementTypes;
    ///
    /// assert_eq!(ElementTypes::new([Some("i64"), None]).to_string(), "(i64, ?)");
    /// ```
    #[must_use]
    pub fn new<'a>(types: impl IntoIterator<Item = Option<&'a str>>) -> Self {
        let types = types.into_iter().map(|ty| ty.map(Arc::from));
        Self::of_components(types.collect())
    }

    /// Creates the type of one component with payloads of type `T`.
    #[must_use]
    pub fn of<T: Value>() -> Self {
        Self::new([Some(T::MLIR_TYPE)])
    }

    /// Creates the given number of unknown types.
    #[must_use]
    pub fn of_unknown(num_components: usize) -> Self {
        // Checked before the list is made: the number may come from a program.
        match num_components {
            0..=MAX_COMPONENTS => Self::of_components(vec![None; num_components]),
            _ => Self::UNKNOWN,
        }
    }

    fn of_components(types: Vec<ComponentType>) -> Self {
        match types.len() {
            0..=MAX_COMPONENTS => Self {
                types: Some(types.into()),
            },
            _ => Self::UNKNOWN,
        }
    }

    /// Returns the types of existing values.
    pub(crate) fn of_values<'a>(values: impl IntoIterator<Item = &'a AnyRef>) -> Self {
        Self::new(values.into_iter().map(|value| match value.is_error() {
            true => None,
            false => value.mlir_type(),
        }))
    }

    /// Returns the types that all of these elements have in common.
    pub(crate) fn common_of<'a>(elements: impl IntoIterator<Item = &'a Values>) -> Self {
        let mut elements = elements.into_iter();
        let type_of = |value: &'a AnyRef| match value.is_error() {
            true => None,
            false => value.mlir_type(),
        };
        let Some(first) = elements.next() else {
            return Self::UNKNOWN;
        };
        // There may be many elements: nothing is allocated for each.
        let mut types: Vec<Option<&str>> = first.iter().map(type_of).collect();
        for values in elements {
            if values.len() != types.len() {
                return Self::UNKNOWN;
            }
            for (ty, value) in types.iter_mut().zip(values) {
                *ty = ty.filter(|ty| type_of(value) == Some(ty));
            }
        }
        Self::new(types)
    }

    /// Returns the number of components, if it is known.
    #[must_use]
    pub fn num_components(&self) -> Option<usize> {
        self.types.as_ref().map(|types| types.len())
    }

    /// Returns the types in their MLIR spelling; the iterator is empty if the number of components
    /// is unknown.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Option<&str>> {
        let types = self.types.as_deref().unwrap_or_default();
        types.iter().map(Option::as_deref)
    }

    /// Returns the types of these components, followed by those of `others`.
    pub(crate) fn followed_by(&self, others: &Self) -> Self {
        match (&self.types, &others.types) {
            (Some(types), Some(others)) => {
                Self::of_components(types.iter().chain(&**others).cloned().collect())
            }
            _ => Self::UNKNOWN,
        }
    }

    /// Returns the first `num_first` types, or unknown types if there are fewer.
    #[must_use]
    pub fn first(&self, num_first: usize) -> Self {
        match self
            .types
            .as_deref()
            .and_then(|types| types.get(..num_first))
        {
            Some(first) => Self::of_components(first.to_vec()),
            None => Self::UNKNOWN,
        }
    }

    /// Checks that the elements of `input` can have these types, which `stage` expects. Unknown
    /// types are not compared.
    ///
    /// ```
    /// use tfrt_data::{Dataset, ElementTypes};
    ///
    /// let range = Dataset::range(0, 9, 1)?;
    /// ElementTypes::of::<i64>().expect_from("sum", &range)?;
    /// let error = ElementTypes::of::<f32>().expect_from("sum", &range).unwrap_err();
    /// assert_eq!(error.message(), "`sum` expects elements of type (f32), found (i64) from `range`");
    /// # Ok::<(), tfrt_support::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the types, or their numbers, are known to differ.
    pub fn expect_from(&self, stage: &str, input: &Dataset) -> Result<(), Error> {
        let found = input.element_types();
        match self.conflicts_with(&found) {
            true => Err(mismatch(stage, self, &found, input)),
            false => Ok(()),
        }
    }

    /// Returns the types after the first `num_first`, or unknown types if there are fewer.
    #[must_use]
    pub fn behind(&self, num_first: usize) -> Self {
        match self
            .types
            .as_deref()
            .and_then(|types| types.get(num_first..))
        {
            Some(rest) => Self::of_components(rest.to_vec()),
            None => Self::UNKNOWN,
        }
    }

    /// Returns the types that both have in common.
    pub(crate) fn common(&self, other: &Self) -> Self {
        match (&self.types, &other.types) {
            (Some(types), Some(others)) if types.len() == others.len() => {
                let both = types.iter().zip(&**others);
                let common = both.map(|(ty, other)| ty.clone().filter(|_| ty == other));
                Self::of_components(common.collect())
            }
            _ => Self::UNKNOWN,
        }
    }

    /// Returns `true` if an element cannot have both types.
    pub(crate) fn conflicts_with(&self, other: &Self) -> bool {
        let (Some(types), Some(others)) = (&self.types, &other.types) else {
            return false;
        };
        let are_apart = |(ty, other): (&ComponentType, &ComponentType)| match (ty, other) {
            (Some(ty), Some(other)) => are_apart(ty, other),
            _ => false,
        };
        types.len() != others.len() || types.iter().zip(&**others).any(are_apart)
    }
}

/// Returns `true` if a value cannot have both types. This holds only for spellings of exactly one
/// type: an author may give another spelling to several types.
fn are_apart(ty: &str, other: &str) -> bool {
    ty != other && is_exact(ty) && is_exact(other)
}

fn is_exact(spelling: &str) -> bool {
    is_number(spelling)
        || [
            ByteString::MLIR_TYPE,
            Dataset::MLIR_TYPE,
            Chain::MLIR_TYPE,
            // All tensors have this spelling, and no other values do.
            DenseHostTensor::MLIR_TYPE,
        ]
        .contains(&spelling)
}

impl fmt::Display for ElementTypes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.types.is_none() {
            return f.write_str("unknown");
        }
        f.write_str("(")?;
        for (index, ty) in self.iter().enumerate() {
            let before = if index == 0 { "" } else { ", " };
            write!(f, "{before}{}", ty.unwrap_or("?"))?;
        }
        f.write_str(")")
    }
}

/// Checks that a function takes the bound values and the components of the elements of `input`.
pub(crate) fn check_parameters(
    stage: &str,
    function: &ElementFunction,
    bound: &[AnyRef],
    input: &Dataset,
) -> Result<(), Error> {
    let parameters = function.parameter_types();
    let num_bound = bound.len();
    if function.num_parameters() < num_bound {
        return Err(invalid(format!(
            "`{stage}` expects a function of {num_bound} bound values and the components, found one of {parameters}"
        )));
    }
    let bound = ElementTypes::of_values(bound);
    let first = ElementTypes::new(parameters.iter().take(num_bound));
    if bound.conflicts_with(&first) {
        return Err(invalid(format!(
            "`{stage}` expects bound values of type {first}, found {bound}"
        )));
    }
    parameters.behind(num_bound).expect_from(stage, input)
}

/// Checks the functions that save and restore the state of a function with these bound values, if
/// it declares one.
pub(crate) fn check_outer_state(
    stage: &str,
    function: &ElementFunction,
    bound: &[AnyRef],
) -> Result<(), Error> {
    match function.state() {
        Some(state) => state.check(stage, &ElementTypes::of_values(bound), false),
        None => Ok(()),
    }
}

/// Checks that a function does not declare a state, which the stage could not save.
pub(crate) fn check_no_outer_state(stage: &str, function: &ElementFunction) -> Result<(), Error> {
    match function.state() {
        Some(_) => Err(invalid(format!(
            "`{stage}` does not take a function with a declared state, found {}",
            function.description()
        ))),
        None => Ok(()),
    }
}

/// Checks that the results of a function have these types.
pub(crate) fn check_results(
    stage: &str,
    function: &ElementFunction,
    expected: &ElementTypes,
) -> Result<(), Error> {
    let found = function.result_types();
    if expected.conflicts_with(&found) {
        return Err(invalid(format!(
            "`{stage}` expects a function with results of type {expected}, found {found}"
        )));
    }
    Ok(())
}

/// Checks that a function returns a state before its other results.
pub(crate) fn check_state(
    stage: &str,
    function: &ElementFunction,
    expected: &ElementTypes,
) -> Result<(), Error> {
    let results = function.result_types();
    let found = ElementTypes::new(results.iter().take(expected.iter().len()));
    if results.num_components().is_some() && expected.conflicts_with(&found) {
        return Err(invalid(format!(
            "`{stage}` expects a function that returns a state of type {expected} first, found {results}"
        )));
    }
    Ok(())
}

/// Checks the functions that save and restore the state of these types, which a stage hands from
/// call to call of a function, if it declares them.
pub(crate) fn check_saved_state(
    stage: &str,
    function: &ElementFunction,
    state: &ElementTypes,
) -> Result<(), Error> {
    match function.state() {
        Some(declared) => declared.check(stage, state, true),
        None => Ok(()),
    }
}

/// Checks that a function takes the elements of `input` and returns a Boolean.
pub(crate) fn check_predicate(
    stage: &str,
    predicate: &ElementFunction,
    input: &Dataset,
) -> Result<(), Error> {
    check_parameters(stage, predicate, &[], input)?;
    check_outer_state(stage, predicate, &[])?;
    check_results(stage, predicate, &ElementTypes::of::<bool>())
}

/// Checks that the elements of all inputs of a stage have the same types.
pub(crate) fn check_alike(stage: &str, inputs: &[Dataset]) -> Result<(), Error> {
    let mut inputs = inputs.iter();
    let Some(first) = inputs.next() else {
        return Ok(());
    };
    let expected = first.element_types();
    match inputs.find(|input| expected.conflicts_with(&input.element_types())) {
        Some(other) => Err(invalid(format!(
            "`{stage}` expects inputs alike, found elements of type {expected} from `{}` and {} from `{}`",
            first.name(),
            other.element_types(),
            other.name()
        ))),
        None => Ok(()),
    }
}

/// Returns the types that the elements of all inputs have in common.
pub(crate) fn common_types(inputs: &[Dataset]) -> ElementTypes {
    let types = inputs.iter().map(Dataset::element_types);
    let common = types.reduce(|common, types| common.common(&types));
    common.unwrap_or_default()
}

#[cold]
fn mismatch(stage: &str, expected: &ElementTypes, found: &ElementTypes, input: &Dataset) -> Error {
    invalid(format!(
        "`{stage}` expects elements of type {expected}, found {found} from `{}`",
        input.name()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_types_that_are_known_to_differ_conflict() {
        let types = |types: &[Option<&'static str>]| ElementTypes::new(types.iter().copied());
        let conflict = |one: &[_], other: &[_]| types(one).conflicts_with(&types(other));
        assert!(conflict(&[Some("i64")], &[Some("i32")]));
        assert!(conflict(&[Some("i64")], &[Some("!t.tensor")]));
        assert!(conflict(&[None], &[None, None]));
        assert!(!conflict(&[Some("i64"), None], &[None, Some("f32")]));
        // A user's type may be an alias.
        assert!(!conflict(&[Some("i64")], &[Some("!my.number")]));
        assert!(!ElementTypes::UNKNOWN.conflicts_with(&types(&[])));
    }

    #[test]
    fn many_components_are_not_described() {
        assert_eq!(ElementTypes::of_unknown(1 << 60), ElementTypes::UNKNOWN);
        let half = ElementTypes::of_unknown(40);
        assert_eq!(half.followed_by(&half), ElementTypes::UNKNOWN);
    }
}
