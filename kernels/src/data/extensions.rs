//! Datasets that the reference lacks. Their functions are not called for ends.

use tfrt::data::{Cardinality, Dataset, PaddedComponent};
use tfrt::prelude::*;

/// Creates a dataset of the first `count` elements; of all of them if the count is negative. No
/// more are drawn.
#[tfrt_kernel("tfrt_data.take_dataset", pure, chain = none, results(dataset), format = "operands attr-dict")]
fn take_dataset(input: &Dataset, count: i64) -> Result<Dataset> {
    input.take(count)
}

/// Creates a dataset of the elements before the first one for which a function returns false.
#[tfrt_kernel("tfrt_data.take_while_dataset", pure, chain = none, results(dataset), format = "operands attr-dict")]
fn take_while_dataset(input: &Dataset, #[function] function: FunctionRef) -> Result<Dataset> {
    input.take_while_with(function.into())
}

/// Creates a dataset of the elements whose number, counted from 0, has the remainder `index` when
/// divided by `num_shards`.
///
/// # Errors
/// `num_shards must be positive, not N`; an index that is not that of a shard.
#[tfrt_kernel("tfrt_data.shard_dataset", pure, chain = none, results(dataset), format = "operands attr-dict")]
fn shard_dataset(input: &Dataset, num_shards: i64, index: i64) -> Result<Dataset> {
    input.shard(num_shards, index)
}

/// Creates a dataset of the results of a function of each element, as `map_dataset` does, with up
/// to `num_parallel` calls under way, each a task of the work queue; -1 finds by trying how many
/// make the pipeline fastest. Unless `deterministic` is true or absent, results are handed out as
/// they come.
///
/// # Errors
/// `num_parallel must be -1 or between 1 and 1048576, not N`.
#[tfrt_kernel(
    "tfrt_data.parallel_map_dataset",
    pure,
    chain = none,
    results(dataset),
    format = "$input `,` $num_parallel (`,` $values `:` type($values))? attr-dict"
)]
fn parallel_map_dataset(
    input: &Dataset,
    num_parallel: i64,
    values: &[AnyRef],
    #[attr] deterministic: Option<bool>,
    #[function] function: FunctionRef,
) -> Result<Dataset> {
    let is_deterministic = deterministic.unwrap_or(true);
    input.parallel_map_with(function.into(), values, num_parallel, is_deterministic)
}

/// Creates a dataset as `interleave_dataset` does, with up to `num_parallel` calls of the function
/// under way, each a task of the work queue; -1 finds by trying how many make the pipeline fastest.
/// Unless `deterministic` is true or absent, inner datasets take their turns as they come.
///
/// # Errors
/// `num_parallel must be -1 or between 1 and 1048576, not N`; those of `interleave_dataset`.
#[tfrt_kernel("tfrt_data.parallel_interleave_dataset", pure, chain = none, results(dataset), format = "operands attr-dict")]
fn parallel_interleave_dataset(
    input: &Dataset,
    cycle_length: i64,
    block_length: i64,
    num_parallel: i64,
    #[attr] arity: i64,
    #[attr] deterministic: Option<bool>,
    #[function] function: FunctionRef,
) -> Result<Dataset> {
    let _ = arity;
    let is_deterministic = deterministic.unwrap_or(true);
    let opened = input.parallel_map_with(function.into(), &[], num_parallel, is_deterministic)?;
    opened.flatten(cycle_length, block_length)
}

/// Creates a dataset of batches of elements with any components: each component is a tensor with
/// one row for each of `batch_size` elements. Numbers, Booleans, strings and tensors can be
/// batched. The last batch may be smaller, unless `drop_remainder`.
///
/// # Errors
/// `batch_size must be positive, not N`.
#[tfrt_kernel("tfrt_data.batch_dataset", pure, chain = none, results(dataset), format = "operands attr-dict")]
fn batch_dataset(
    input: &Dataset,
    batch_size: i64,
    #[attr] drop_remainder: Option<bool>,
) -> Result<Dataset> {
    input.batch_with(batch_size, &[], false, drop_remainder.unwrap_or(false))
}

/// Creates a dataset of batches of the results of a function of each element: `map_dataset`, then
/// `batch_dataset`.
///
/// # Errors
/// `batch_size must be positive, not N`.
#[tfrt_kernel(
    "tfrt_data.map_and_batch_dataset",
    pure,
    chain = none,
    results(dataset),
    format = "$input `,` $batch_size (`,` $values `:` type($values))? attr-dict"
)]
fn map_and_batch_dataset(
    input: &Dataset,
    batch_size: i64,
    values: &[AnyRef],
    #[attr] drop_remainder: Option<bool>,
    #[function] function: FunctionRef,
) -> Result<Dataset> {
    let mapped = input.map_with(function.into(), values)?;
    mapped.batch_with(batch_size, &[], false, drop_remainder.unwrap_or(false))
}

/// Creates a dataset of batches of numbers and tensors of different shapes: each row has room for
/// the largest of the batch. The `padding` is the number that stands where an element has none, one
/// for each component; it is zero if none is given. The last batch may be smaller, unless
/// `drop_remainder`.
///
/// # Errors
/// `batch_size must be positive, not N`.
#[tfrt_kernel(
    "tfrt_data.padded_batch_dataset",
    pure,
    chain = none,
    results(dataset),
    format = "$input `,` $batch_size (`,` $padding `:` type($padding))? attr-dict"
)]
fn padded_batch_dataset(
    input: &Dataset,
    batch_size: i64,
    padding: &[AnyRef],
    #[attr] drop_remainder: Option<bool>,
) -> Result<Dataset> {
    let component = |padding: &AnyRef| PaddedComponent::default().with_padding(padding.clone());
    let components: Vec<PaddedComponent> = padding.iter().map(component).collect();
    input.padded_batch_with(batch_size, &components, drop_remainder.unwrap_or(false))
}

/// Creates a dataset of the rows of batches in batches of another size. The last batch may be
/// smaller, unless `drop_remainder`.
///
/// # Errors
/// `batch_size must be positive, not N`.
#[tfrt_kernel("tfrt_data.rebatch_dataset", pure, chain = none, results(dataset), format = "operands attr-dict")]
fn rebatch_dataset(
    input: &Dataset,
    batch_size: i64,
    #[attr] drop_remainder: Option<bool>,
) -> Result<Dataset> {
    let rows = input.unbatch()?;
    rows.batch_with(batch_size, &[], false, drop_remainder.unwrap_or(false))
}

/// Creates a dataset of the elements that are not errors. If `log` is true, a warning at the end of
/// a pass tells how many were omitted.
#[tfrt_kernel("tfrt_data.ignore_errors_dataset", pure, chain = none, results(dataset), format = "operands attr-dict")]
fn ignore_errors_dataset(input: &Dataset, #[attr] log: Option<bool>) -> Result<Dataset> {
    input.ignore_errors(log.unwrap_or(false))
}

/// Creates a dataset of the same elements, of which there must be as many as is stated: a draw
/// fails if there are fewer or more.
///
/// # Errors
/// `cardinality must not be negative, not N`.
#[tfrt_kernel("tfrt_data.assert_cardinality_dataset", pure, chain = none, results(dataset), format = "operands attr-dict")]
fn assert_cardinality_dataset(input: &Dataset, cardinality: i64) -> Result<Dataset> {
    input.assert_cardinality(cardinality)
}

/// Creates a dataset of elements of several datasets: each time of the one whose number, of type
/// `i64`, the next element of the first dataset is. The numbers of datasets that have ended are
/// passed over.
#[tfrt_kernel("tfrt_data.choose_from_datasets", pure, chain = none, results(dataset), format = "operands attr-dict")]
fn choose_from_datasets(numbers: &Dataset, inputs: Operands<'_, Dataset>) -> Result<Dataset> {
    Dataset::choose_from(numbers, &inputs.iter().cloned().collect::<Vec<_>>())
}

/// Creates a dataset of the elements of several datasets, each time of one that is chosen at
/// random, with a chance in proportion to its weight; without `weights`, all chances are equal.
/// Equal seeds make equal choices.
///
/// # Errors
/// `expected a weight for each of N datasets, found M`; a weight that is negative or not finite.
#[tfrt_kernel("tfrt_data.sample_from_datasets", pure, chain = none, results(dataset), format = "operands attr-dict")]
fn sample_from_datasets(
    inputs: Operands<'_, Dataset>,
    #[attr] seed: i64,
    #[attr] seed2: i64,
    #[attr] weights: Option<&[f32]>,
) -> Result<Dataset> {
    let weights: Option<Vec<f64>> =
        weights.map(|weights| weights.iter().map(|&weight| weight.into()).collect());
    let inputs: Vec<Dataset> = inputs.iter().cloned().collect();
    Dataset::sample_from(&inputs, weights.as_deref(), seed, seed2)
}

/// Creates a dataset of the components of all inputs side by side. It ends with the shortest.
#[tfrt_kernel("tfrt_data.zip_dataset", pure, chain = none, results(dataset), format = "operands attr-dict")]
fn zip_dataset(inputs: Operands<'_, Dataset>) -> Result<Dataset> {
    Dataset::zip(&inputs.iter().cloned().collect::<Vec<_>>())
}

/// Creates a dataset of the elements of all inputs, one dataset after the other.
#[tfrt_kernel("tfrt_data.concatenate_dataset", pure, chain = none, results(dataset), format = "operands attr-dict")]
fn concatenate_dataset(inputs: Operands<'_, Dataset>) -> Result<Dataset> {
    Dataset::concatenate(&inputs.iter().cloned().collect::<Vec<_>>())
}

/// Creates a dataset of the elements of the datasets that a function returns for each element, one
/// after another.
#[tfrt_kernel("tfrt_data.flat_map_dataset", pure, chain = none, results(dataset), format = "operands attr-dict")]
fn flat_map_dataset(
    input: &Dataset,
    #[attr] arity: i64,
    #[function] function: FunctionRef,
) -> Result<Dataset> {
    let _ = arity;
    input.interleave_with(function.into(), 1, 1)
}

/// Creates a dataset of the rows of the tensors that the elements consist of. Rows of a tensor with
/// one dimension are numbers.
#[tfrt_kernel("tfrt_data.unbatch_dataset", pure, chain = none, results(dataset), format = "operands attr-dict")]
fn unbatch_dataset(input: &Dataset) -> Result<Dataset> {
    input.unbatch()
}

/// Creates a dataset of datasets: of `size` elements each, every `stride`-th one, and the next one
/// begins `shift` elements later.
///
/// # Errors
/// `size must be positive, not N`, and the same of the others.
#[tfrt_kernel("tfrt_data.window_dataset", pure, chain = none, results(dataset), format = "operands attr-dict")]
fn window_dataset(
    input: &Dataset,
    size: i64,
    shift: i64,
    stride: i64,
    #[attr] drop_remainder: bool,
) -> Result<Dataset> {
    input.window(size, shift, stride, drop_remainder)
}

/// Creates a dataset of the same elements with their numbers in front, counted from `start`.
#[tfrt_kernel("tfrt_data.enumerate_dataset", pure, chain = none, results(dataset), format = "operands attr-dict")]
fn enumerate_dataset(input: &Dataset, start: i64) -> Result<Dataset> {
    input.enumerate(start)
}

/// Creates a dataset of what a function makes of each element and a state, which begins as the
/// values that are given here. The function takes the state, then the components, and returns the
/// next state, then the components of the result.
#[tfrt_kernel(
    "tfrt_data.scan_dataset",
    pure,
    chain = none,
    results(dataset),
    format = "$input (`,` $state `:` type($state))? attr-dict"
)]
fn scan_dataset(
    input: &Dataset,
    state: &[AnyRef],
    #[function] function: FunctionRef,
) -> Result<Dataset> {
    input.scan_with(state, function.into())
}

/// Creates a dataset that keeps its elements in memory after the first whole pass.
#[tfrt_kernel("tfrt_data.cache_dataset", pure, chain = none, results(dataset), format = "operands attr-dict")]
fn cache_dataset(input: &Dataset) -> Result<Dataset> {
    input.cache()
}

/// Returns how many elements a dataset has, from its description alone: -1 if there is no end, and
/// -2 if that is not known.
#[tfrt_kernel("tfrt_data.cardinality", pure, chain = none, format = "operands attr-dict")]
fn cardinality(dataset: &Dataset) -> i64 {
    match dataset.cardinality() {
        Cardinality::Finite(len) => i64::try_from(len).unwrap_or(i64::MAX),
        Cardinality::Infinite => -1,
        Cardinality::Unknown => -2,
    }
}
