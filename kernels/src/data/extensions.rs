//! Datasets that the reference lacks. Their functions are not called for ends.

use tfrt::data::{Cardinality, Dataset};
use tfrt::prelude::*;

/// Makes a dataset of the first `count` elements; of all of them if the count is negative. No more are drawn.
#[tfrt_kernel("tfrt_data.take_dataset", pure, chain = none, results(dataset), format = "operands attr-dict")]
fn take_dataset(input: &Dataset, count: i64) -> Result<Dataset> {
    input.take(count)
}

/// Makes a dataset of the elements before the first one for which a function returns false.
#[tfrt_kernel("tfrt_data.take_while_dataset", pure, chain = none, results(dataset), format = "operands attr-dict")]
fn take_while_dataset(input: &Dataset, #[function] function: FunctionRef) -> Result<Dataset> {
    input.take_while_with(function.into())
}

/// Makes a dataset of the elements whose number, counted from 0, has the remainder `index` when divided by `num_shards`.
///
/// # Errors
/// `num_shards must be positive, not N`; an index that is not that of a shard.
#[tfrt_kernel("tfrt_data.shard_dataset", pure, chain = none, results(dataset), format = "operands attr-dict")]
fn shard_dataset(input: &Dataset, num_shards: i64, index: i64) -> Result<Dataset> {
    input.shard(num_shards, index)
}

/// Makes a dataset of the results of a function of each element, as `map_dataset` does, with up to `num_parallel` calls under way, each a
/// task of the work queue; -1 finds by trying how many make the pipeline fastest. Unless `deterministic` is true or absent, results are handed
/// out as they come.
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

/// Makes a dataset of the components of all inputs side by side. It ends with the shortest.
#[tfrt_kernel("tfrt_data.zip_dataset", pure, chain = none, results(dataset), format = "operands attr-dict")]
fn zip_dataset(inputs: Operands<'_, Dataset>) -> Result<Dataset> {
    Dataset::zip(&inputs.iter().cloned().collect::<Vec<_>>())
}

/// Makes a dataset of the elements of all inputs, one dataset after the other.
#[tfrt_kernel("tfrt_data.concatenate_dataset", pure, chain = none, results(dataset), format = "operands attr-dict")]
fn concatenate_dataset(inputs: Operands<'_, Dataset>) -> Result<Dataset> {
    Dataset::concatenate(&inputs.iter().cloned().collect::<Vec<_>>())
}

/// Makes a dataset of the elements of the datasets that a function returns for each element, one after the other.
#[tfrt_kernel("tfrt_data.flat_map_dataset", pure, chain = none, results(dataset), format = "operands attr-dict")]
fn flat_map_dataset(
    input: &Dataset,
    #[attr] arity: i64,
    #[function] function: FunctionRef,
) -> Result<Dataset> {
    let _ = arity;
    input.interleave_with(function.into(), 1, 1)
}

/// Makes a dataset of the rows of the tensors that the elements consist of. Rows of a tensor with one dimension are numbers.
#[tfrt_kernel("tfrt_data.unbatch_dataset", pure, chain = none, results(dataset), format = "operands attr-dict")]
fn unbatch_dataset(input: &Dataset) -> Result<Dataset> {
    input.unbatch()
}

/// Makes a dataset of datasets: of `size` elements each, every `stride`-th one, and the next one begins `shift` elements later.
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

/// Makes a dataset of the same elements with their numbers in front, counted from `start`.
#[tfrt_kernel("tfrt_data.enumerate_dataset", pure, chain = none, results(dataset), format = "operands attr-dict")]
fn enumerate_dataset(input: &Dataset, start: i64) -> Result<Dataset> {
    input.enumerate(start)
}

/// Makes a dataset of what a function makes of each element and a state, which begins as the values that are given here. The function takes
/// the state, then the components, and returns the next state, then the components of the result.
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

/// Makes a dataset that keeps its elements in memory after the first whole pass.
#[tfrt_kernel("tfrt_data.cache_dataset", pure, chain = none, results(dataset), format = "operands attr-dict")]
fn cache_dataset(input: &Dataset) -> Result<Dataset> {
    input.cache()
}

/// Returns how many elements a dataset has, from its description alone: -1 if there is no end, and -2 if that is not known.
#[tfrt_kernel("tfrt_data.cardinality", pure, chain = none, format = "operands attr-dict")]
fn cardinality(dataset: &Dataset) -> i64 {
    match dataset.cardinality() {
        Cardinality::Finite(len) => i64::try_from(len).unwrap_or(i64::MAX),
        Cardinality::Infinite => -1,
        Cardinality::Unknown => -2,
    }
}
