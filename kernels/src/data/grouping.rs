//! Datasets that group or select elements by their values.

use tfrt::data::{Dataset, ElementFunction, PaddedComponent};
use tfrt::prelude::*;

use super::attributes::with_state;
use super::extensions::optional_weights;
use super::op_verifiers::verify_dataset;

/// Creates a dataset without repeated elements, each at its first occurrence. Numbers, strings and
/// tensors can be compared: they are equal if their types, shapes and bits are.
#[tfrt_kernel(
    "tfrt_data.unique_dataset",
    pure,
    chain = none,
    results(dataset),
    format = "operands attr-dict",
)]
fn unique_dataset(input: &Dataset) -> Result<Dataset> {
    input.unique()
}

/// Creates a dataset that groups elements with equal keys. The function `key` returns a number of
/// type `i64` for each element. The function `reduce` takes a key and a dataset of `window_size`
/// elements with this key, and returns the dataset whose elements take their place. At the end,
/// windows may be smaller; they follow in the order of their keys. `save` and `restore` declare a
/// state that both functions share, as those of `map_dataset` do.
///
/// # Errors
/// `window_size must be positive, not N`.
#[tfrt_kernel(
    "tfrt_data.group_by_window_dataset",
    pure,
    chain = none,
    results(dataset),
    format = "operands attr-dict",
    verify = verify_dataset
)]
fn group_by_window_dataset(
    input: &Dataset,
    window_size: i64,
    #[function] key: FunctionRef,
    #[function] reduce: FunctionRef,
    #[function] restore: Option<FunctionRef>,
    #[function] save: Option<FunctionRef>,
) -> Result<Dataset> {
    let key = with_state(key, save, restore);
    let reduce = ElementFunction::from(reduce).with_state_of(&key);
    input.group_by_window_with(key, reduce, window_size)
}

/// Creates a dataset of batches of elements of similar length, each padded to the longest of the
/// batch. The function returns the length of an element, a number of type `i64`. Lengths below the
/// first of the `boundaries` are in the first bucket, and so on; there is one bucket more. Each
/// bucket has its batch size in `batch_sizes`; at the end, batches may be smaller, unless
/// `drop_remainder`. The `padding` is that of `padded_batch_dataset`. `save` and `restore` declare
/// a state of the function, as those of `map_dataset` do.
///
/// # Errors
/// `expected boundaries that grow, found N behind M`; another number of batch sizes;
/// `batch_size must be positive, not N`.
#[tfrt_kernel(
    "tfrt_data.bucket_by_length_dataset",
    pure,
    chain = none,
    results(dataset),
    format = "$input (`,` $padding `:` type($padding))? attr-dict",
    verify = verify_dataset
)]
#[expect(
    clippy::too_many_arguments,
    reason = "operands, attributes and functions of the kernel"
)]
fn bucket_by_length_dataset(
    input: &Dataset,
    padding: &[AnyRef],
    #[attr] batch_sizes: &[i64],
    #[attr] boundaries: &[i64],
    #[attr] drop_remainder: Option<bool>,
    #[function] function: FunctionRef,
    #[function] restore: Option<FunctionRef>,
    #[function] save: Option<FunctionRef>,
) -> Result<Dataset> {
    let function = with_state(function, save, restore);
    let component = |padding: &AnyRef| PaddedComponent::default().with_padding(padding.clone());
    let components: Vec<PaddedComponent> = padding.iter().map(component).collect();
    let drops_remainder = drop_remainder.unwrap_or(false);
    input.bucket_by_length(
        function,
        boundaries,
        batch_sizes,
        &components,
        drops_remainder,
    )
}

/// Creates a dataset of batches without padding: a component of tensors that differ in their first
/// dimension becomes a tensor of all rows and one of type `i64` with the index of the first row of
/// each element. The last batch may be smaller, unless `drop_remainder`.
///
/// # Errors
/// `batch_size must be positive, not N`.
#[tfrt_kernel(
    "tfrt_data.ragged_batch_dataset",
    pure,
    chain = none,
    results(dataset),
    format = "operands attr-dict",
)]
fn ragged_batch_dataset(
    input: &Dataset,
    batch_size: i64,
    #[attr] drop_remainder: Option<bool>,
) -> Result<Dataset> {
    input.ragged_batch(batch_size, drop_remainder.unwrap_or(false))
}

/// Creates a dataset whose classes have the frequencies of `target`: random elements of frequent
/// classes are dropped. The function returns the class of an element, a number of type `i64`, which
/// becomes the first component. `initial` has the frequencies of the input; without it, they are
/// estimated from the elements. Equal seeds make equal choices. `save` and `restore` declare a
/// state of the function, as those of `map_dataset` do.
///
/// # Errors
/// A frequency that is negative or not finite; another number of classes in `initial`.
#[tfrt_kernel(
    "tfrt_data.rejection_resample_dataset",
    pure,
    chain = none,
    results(dataset),
    format = "operands attr-dict",
    verify = verify_dataset
)]
#[expect(
    clippy::too_many_arguments,
    reason = "operands, attributes and functions of the kernel"
)]
fn rejection_resample_dataset(
    input: &Dataset,
    #[attr] initial: Option<&[f32]>,
    #[attr] seed: i64,
    #[attr] seed2: i64,
    #[attr] target: &[f32],
    #[function] function: FunctionRef,
    #[function] restore: Option<FunctionRef>,
    #[function] save: Option<FunctionRef>,
) -> Result<Dataset> {
    let function = with_state(function, save, restore);
    let target: Vec<f64> = target.iter().map(|&share| share.into()).collect();
    let initial = optional_weights(initial);
    input.rejection_resample(function, &target, initial.as_deref(), seed, seed2)
}

/// Creates a dataset of the elements that functions generate from a state, one after another.
/// `init` takes the given values and returns the state. `next` takes the state, and returns a
/// Boolean, which is true if there is an element, the next state, and the components of the
/// element. `finish` is called with the last state: at the end, or when the iterator is dropped.
///
/// An error of `next` is the last element. A restored iterator continues with the saved state. If a
/// checkpoint cannot contain that state, `save` makes numbers, strings or tensors of it, and
/// `restore` makes the state of these.
#[tfrt_kernel(
    "tfrt_data.generator_dataset",
    pure,
    chain = none,
    results(dataset),
    format = "($arguments `:` type($arguments))? attr-dict",
    verify = verify_dataset
)]
fn generator_dataset(
    arguments: &[AnyRef],
    #[function] finish: FunctionRef,
    #[function] init: FunctionRef,
    #[function] next: FunctionRef,
    #[function] restore: Option<FunctionRef>,
    #[function] save: Option<FunctionRef>,
) -> Result<Dataset> {
    let next = with_state(next, save, restore);
    Dataset::generator_with(init.into(), arguments, next, Some(finish.into()))
}
