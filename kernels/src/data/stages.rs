//! Datasets that transform other datasets.
//!
//! The attribute `on_error`, which the reference lacks, is the policy for errors: see
//! [`extensions`](super::extensions). So are `save` and `restore`, which declare the state of a
//! function.

use tfrt::data::{BatchComponent, Dataset, WorkAhead};
use tfrt::prelude::*;

use super::attributes::{with_policy, with_state};
use super::op_verifiers::verify_dataset;

/// Creates a dataset of the results of a function of each element. The function takes the
/// additional operands, then the components of the element.
///
/// It is also called for the end of the sequence, with errors as arguments, unless it declares a
/// state: `save` takes the additional operands and returns the state, and `restore` takes the
/// additional operands and then that state. A checkpoint contains it.
#[tfrt_kernel(
    "tfrt_data.map_dataset",
    pure,
    chain = none,
    results(dataset),
    format = "$input (`,` $values `:` type($values))? attr-dict",
    verify = verify_dataset
)]
fn map_dataset(
    input: &Dataset,
    values: &[AnyRef],
    #[attr] on_error: Option<&str>,
    #[function] function: FunctionRef,
    #[function] restore: Option<FunctionRef>,
    #[function] save: Option<FunctionRef>,
) -> Result<Dataset> {
    with_policy(
        input.map_with(with_state(function, save, restore), values)?,
        on_error,
    )
}

/// Creates a dataset of the elements for which a function returns true. An error of the function
/// takes the place of the element. `save` and `restore` declare a state of the function, as those
/// of `map_dataset` do.
#[tfrt_kernel(
    "tfrt_data.filter_dataset",
    pure,
    chain = none,
    results(dataset),
    format = "operands attr-dict",
    verify = verify_dataset
)]
fn filter_dataset(
    input: &Dataset,
    #[attr] on_error: Option<&str>,
    #[function] function: FunctionRef,
    #[function] restore: Option<FunctionRef>,
    #[function] save: Option<FunctionRef>,
) -> Result<Dataset> {
    with_policy(
        input.filter_with(with_state(function, save, restore))?,
        on_error,
    )
}

/// Creates a dataset of batches: each component is a tensor with one row for each of `batch_size`
/// elements. The last batch may be smaller, unless `drop_remainder`.
///
/// # Errors
/// `batch_size must be positive, not N`.
#[tfrt_kernel(
    "tfrt_data.batch_dataset.{KIND}",
    KIND = [0 as "i32", 1 as "i64", 2 as "tensor", 3 as "tensor_and_i64"],
    pure,
    chain = none,
    results(dataset),
    format = "operands attr-dict",
    verify = verify_dataset
)]
fn batch_dataset<const KIND: usize>(
    input: &Dataset,
    batch_size: i64,
    #[attr] same_input_metadata: bool,
    #[attr] drop_remainder: Option<bool>,
) -> Result<Dataset> {
    let (_, components) = BATCH_KINDS[KIND];
    let drops_remainder = drop_remainder.unwrap_or(false);
    input.batch_with(batch_size, components, same_input_metadata, drops_remainder)
}

const I32: BatchComponent = BatchComponent::Scalar(DType::I32);
const I64: BatchComponent = BatchComponent::Scalar(DType::I64);

/// The names of the kinds of batches, with the components of their elements.
const BATCH_KINDS: [(&str, &[BatchComponent]); 5] = [
    ("i32", &[I32]),
    ("i64", &[I64]),
    ("tensor", &[BatchComponent::Tensor]),
    ("tensor_and_i64", &[BatchComponent::Tensor, I64]),
    ("i64_and_i64", &[I64, I64]),
];

/// Returns the components of the elements of a kind of batches.
pub(super) fn batched_components(kind: &str) -> Option<&'static [BatchComponent]> {
    let (_, components) = BATCH_KINDS.iter().find(|(name, _)| *name == kind)?;
    Some(components)
}

/// Creates a dataset of batches of pairs of numbers: each component is a tensor with one row for
/// each of `batch_size` elements. The last batch may be smaller, unless `drop_remainder`.
///
/// # Errors
/// `batch_size must be positive, not N`.
#[tfrt_kernel(
    "tfrt_data.batch_dataset.i64_and_i64",
    results(dataset),
    verify = verify_dataset
)]
fn batch_dataset_of_pairs(
    input: &Dataset,
    batch_size: i64,
    #[attr] same_input_metadata: bool,
    #[attr] drop_remainder: Option<bool>,
) -> Result<Dataset> {
    let drops_remainder = drop_remainder.unwrap_or(false);
    let (_, components) = BATCH_KINDS[4];
    input.batch_with(batch_size, components, same_input_metadata, drops_remainder)
}

/// Creates a dataset of the elements of the datasets that a function returns for each element, in
/// turns: `cycle_length` of them are open at a time, and each delivers `block_length` elements per
/// turn. `arity` is the number of components of their elements. `save` and `restore` declare a
/// state of the function, as those of `map_dataset` do.
///
/// # Errors
/// `cycle_length must be positive, not N`, and the same of `block_length`; a negative `arity`.
#[tfrt_kernel(
    "tfrt_data.interleave_dataset",
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
fn interleave_dataset(
    input: &Dataset,
    cycle_length: i64,
    block_length: i64,
    #[attr] arity: i64,
    #[attr] on_error: Option<&str>,
    #[function] function: FunctionRef,
    #[function] restore: Option<FunctionRef>,
    #[function] save: Option<FunctionRef>,
) -> Result<Dataset> {
    let function = with_state(function, save, restore);
    let turns = input.interleave_with(function, cycle_length, block_length)?;
    with_policy(turns.with_num_components(arity)?, on_error)
}

/// Creates a dataset that draws `prefetch_num` elements ahead; -1 stands for the number of threads.
/// Unless `is_deterministic`, available elements overtake others. With `autotune`, the number is
/// between 1 and `prefetch_num`: the one that is fastest by experiment.
///
/// # Errors
/// `prefetch_num must be between -1 and 1048576, not N`.
#[tfrt_kernel(
    "tfrt_data.prefetch_dataset",
    pure,
    chain = none,
    results(dataset),
    format = "operands attr-dict"
)]
fn prefetch_dataset(
    input: &Dataset,
    prefetch_num: i64,
    #[attr] autotune: Option<bool>,
    #[attr] is_deterministic: bool,
) -> Result<Dataset> {
    input.prefetch_with(WorkAhead::new(prefetch_num, autotune), is_deterministic)
}

/// Creates a dataset of `count` passes over another one; a negative count repeats forever, unless a
/// pass is empty.
#[tfrt_kernel(
    "tfrt_data.repeat_dataset",
    pure,
    chain = none,
    results(dataset),
    format = "operands attr-dict"
)]
fn repeat_dataset(input: &Dataset, count: i64) -> Result<Dataset> {
    input.repeat(count)
}

/// Creates a dataset of the elements after the first `count`.
#[tfrt_kernel(
    "tfrt_data.skip_dataset",
    pure,
    chain = none,
    results(dataset),
    format = "operands attr-dict"
)]
fn skip_dataset(input: &Dataset, count: i64) -> Result<Dataset> {
    input.skip(count)
}

/// Creates a dataset of the same elements in random order: each is chosen among the next
/// `buffer_size` elements, or as many as fit into `buffer_bytes`. Equal seeds produce equal orders,
/// for every pass unless `reshuffle_each_iteration`.
///
/// # Errors
/// `buffer_size must be positive, not N`, and the same of `buffer_bytes`.
#[tfrt_kernel(
    "tfrt_data.shuffle_dataset",
    pure,
    chain = none,
    results(dataset),
    format = "operands attr-dict"
)]
fn shuffle_dataset(
    input: &Dataset,
    buffer_size: i64,
    seed: i64,
    seed2: i64,
    #[attr] buffer_bytes: Option<i64>,
    #[attr] reshuffle_each_iteration: Option<bool>,
) -> Result<Dataset> {
    let reshuffles = reshuffle_each_iteration.unwrap_or(false);
    input.shuffle_within(buffer_size, buffer_bytes, seed, seed2, reshuffles)
}

/// Creates a dataset whose iterators keep the elements of the first pass and repeat copies of them
/// forever.
#[tfrt_kernel(
    "tfrt_data.memory_dataset.{T}",
    T = [i64, ByteString as "str"],
    results(dataset)
)]
fn memory_dataset<T: Value + tfrt::async_value::Immutable + Clone>(
    input: &Dataset,
) -> Result<Dataset> {
    input.memory::<T>()
}
