//! Datasets that the reference does not have. Their functions are not called at the end of a
//! sequence.
//!
//! The attribute `on_error` is the policy for an error of the stage, or of a stage below it without
//! a policy: `fail` (the default) returns the error in place of its element, `stop` ends the
//! sequence after it, and `skip(N)` drops up to N errors per pass and logs their number.
//!
//! The functions `save` and `restore` declare the state that a function has besides its arguments,
//! so that checkpoints contain it. `save` takes the values that are bound to the function and
//! returns the state as numbers, strings or tensors; `restore` takes these values, then the results
//! of `save`, and its own results are only waited for. Where a stage hands its state from call to
//! call, `save` takes that state, and `restore` makes it of the results of `save`. Calls of a
//! function with a declared state are made in the order of the elements, not for ends. Calls of the
//! three functions never overlap, except in a scan or a generator, where `save` may run while
//! components of an element are still pending. Functions that make datasets, such as that of an
//! interleave, are called again for the datasets that are open at a checkpoint, with the state of
//! their first call: `save` runs before each of their calls.

use tfrt::data::{Cardinality, Dataset, PaddedComponent, UnevenShards, WorkAhead};
use tfrt::prelude::*;

use super::attributes::{shapes, with_policy, with_state};
use super::op_verifiers::verify_dataset;

/// Creates a dataset of the first `count` elements, or of all elements if the count is negative. No
/// further elements are drawn.
#[tfrt_kernel(
    "tfrt_data.take_dataset",
    pure,
    chain = none,
    results(dataset),
    format = "operands attr-dict",
)]
fn take_dataset(input: &Dataset, count: i64) -> Result<Dataset> {
    input.take(count)
}

/// Creates a dataset of the elements before the first one for which a function returns false.
/// `save` and `restore` declare a state of the function, as those of `map_dataset` do.
#[tfrt_kernel(
    "tfrt_data.take_while_dataset",
    pure,
    chain = none,
    results(dataset),
    format = "operands attr-dict",
    verify = verify_dataset
)]
fn take_while_dataset(
    input: &Dataset,
    #[attr] on_error: Option<&str>,
    #[function] function: FunctionRef,
    #[function] restore: Option<FunctionRef>,
    #[function] save: Option<FunctionRef>,
) -> Result<Dataset> {
    with_policy(
        input.take_while_with(with_state(function, save, restore))?,
        on_error,
    )
}

/// Creates a dataset of the elements whose number, counted from 0, has the remainder `index` when
/// divided by `num_shards`. `uneven` determines the treatment of the last elements if they cannot
/// be shared evenly: `keep` (the default), `pad`, which repeats an element for workers without one,
/// or `drop`.
///
/// # Errors
/// `num_shards must be positive, not N`; an index out of range.
#[tfrt_kernel(
    "tfrt_data.shard_dataset",
    pure,
    chain = none,
    results(dataset),
    format = "operands attr-dict",
)]
fn shard_dataset(
    input: &Dataset,
    num_shards: i64,
    index: i64,
    #[attr] uneven: Option<&str>,
) -> Result<Dataset> {
    let uneven: UnevenShards = uneven.map_or(Ok(UnevenShards::Keep), str::parse)?;
    input.shard_evenly(num_shards, index, uneven)
}

/// Creates a dataset of the share of worker `index` of `num_shards`: of its files, if the elements
/// come from files, or of their records, if there are fewer files than workers; and otherwise of
/// the elements, as `shard_dataset` does.
///
/// # Errors
/// Those of `shard_dataset`.
#[tfrt_kernel(
    "tfrt_data.auto_shard_dataset",
    pure,
    chain = none,
    results(dataset),
    format = "operands attr-dict",
)]
fn auto_shard_dataset(input: &Dataset, num_shards: i64, index: i64) -> Result<Dataset> {
    input.auto_shard(num_shards, index)
}

/// Creates a dataset like `map_dataset`, with up to `num_parallel` concurrent calls, each a task of
/// the work queue; -1 finds the fastest number by experiment, up to the number of threads. If
/// `deterministic` is false, results are delivered in the order in which they become available.
/// `autotune` says whether the number is found by experiment, for any `num_parallel`. With `save`
/// and `restore`, which are those of `map_dataset`, calls never overlap.
///
/// # Errors
/// `num_parallel must be -1 or between 1 and 1048576, not N`.
#[tfrt_kernel(
    "tfrt_data.parallel_map_dataset",
    pure,
    chain = none,
    results(dataset),
    format = "$input `,` $num_parallel (`,` $values `:` type($values))? attr-dict",
    verify = verify_dataset
)]
#[expect(
    clippy::too_many_arguments,
    reason = "operands, attributes and functions of the kernel"
)]
fn parallel_map_dataset(
    input: &Dataset,
    num_parallel: i64,
    values: &[AnyRef],
    #[attr] autotune: Option<bool>,
    #[attr] deterministic: Option<bool>,
    #[attr] on_error: Option<&str>,
    #[function] function: FunctionRef,
    #[function] restore: Option<FunctionRef>,
    #[function] save: Option<FunctionRef>,
) -> Result<Dataset> {
    let is_deterministic = deterministic.unwrap_or(true);
    let num_parallel = WorkAhead::new(num_parallel, autotune);
    let mapped = input.parallel_map_with(
        with_state(function, save, restore),
        values,
        num_parallel,
        is_deterministic,
    )?;
    with_policy(mapped, on_error)
}

/// Creates a dataset like `interleave_dataset`, with up to `num_parallel` concurrent calls of the
/// function, each a task of the work queue; -1 finds the fastest number by experiment, up to the
/// number of threads. If `deterministic` is false, inner datasets take their turns in the order in
/// which they become available. `autotune` says whether the number is found by experiment, for any
/// `num_parallel`.
///
/// # Errors
/// `num_parallel must be -1 or between 1 and 1048576, not N`; those of `interleave_dataset`.
#[tfrt_kernel(
    "tfrt_data.parallel_interleave_dataset",
    pure,
    chain = none,
    results(dataset),
    format = "operands attr-dict",
    verify = verify_dataset
)]
#[expect(
    clippy::too_many_arguments,
    reason = "operands and attributes of the kernel"
)]
fn parallel_interleave_dataset(
    input: &Dataset,
    cycle_length: i64,
    block_length: i64,
    num_parallel: i64,
    #[attr] arity: i64,
    #[attr] autotune: Option<bool>,
    #[attr] deterministic: Option<bool>,
    #[attr] on_error: Option<&str>,
    #[function] function: FunctionRef,
) -> Result<Dataset> {
    let is_deterministic = deterministic.unwrap_or(true);
    let num_parallel = WorkAhead::new(num_parallel, autotune);
    let turns = input.parallel_interleave_with(
        function.into(),
        cycle_length,
        block_length,
        num_parallel,
        is_deterministic,
    )?;
    with_policy(turns.with_num_components(arity)?, on_error)
}

/// Creates a dataset of batches of elements with any components: each component is a tensor with
/// one row for each of `batch_size` elements. Numbers, Booleans, strings and tensors can be
/// batched. The last batch may be smaller, unless `drop_remainder`.
///
/// # Errors
/// `batch_size must be positive, not N`.
#[tfrt_kernel(
    "tfrt_data.batch_dataset",
    pure,
    chain = none,
    results(dataset),
    format = "operands attr-dict",
)]
fn batch_dataset(
    input: &Dataset,
    batch_size: i64,
    #[attr] drop_remainder: Option<bool>,
    #[attr] on_error: Option<&str>,
) -> Result<Dataset> {
    let drops_remainder = drop_remainder.unwrap_or(false);
    let batches = input.batch_with(batch_size, &[], false, drops_remainder)?;
    with_policy(batches, on_error)
}

/// Creates a dataset of batches of the results of a function of each element, as `map_dataset` and
/// `batch_dataset` do together: each result is copied into the tensor of its batch as soon as it is
/// available. With `num_parallel`, each call is a task of the work queue, and at most so many
/// results are under way; -1 stands for the number of threads. `save` and `restore` are those of
/// `map_dataset`.
///
/// # Errors
/// `batch_size must be positive, not N`; `num_parallel must be -1 or between 1 and 1048576, not N`.
#[tfrt_kernel(
    "tfrt_data.map_and_batch_dataset",
    pure,
    chain = none,
    results(dataset),
    format = "$input `,` $batch_size (`,` $values `:` type($values))? attr-dict",
    verify = verify_dataset
)]
#[expect(
    clippy::too_many_arguments,
    reason = "operands, attributes and functions of the kernel"
)]
fn map_and_batch_dataset(
    input: &Dataset,
    batch_size: i64,
    values: &[AnyRef],
    #[attr] drop_remainder: Option<bool>,
    #[attr] num_parallel: Option<i64>,
    #[attr] on_error: Option<&str>,
    #[function] function: FunctionRef,
    #[function] restore: Option<FunctionRef>,
    #[function] save: Option<FunctionRef>,
) -> Result<Dataset> {
    let batches = input.map_and_batch_with(
        with_state(function, save, restore),
        values,
        batch_size,
        num_parallel,
        drop_remainder.unwrap_or(false),
    )?;
    with_policy(batches, on_error)
}

/// Creates a dataset of batches of numbers and tensors of different shapes: rows are padded to the
/// largest element of the batch, or to `shapes`, such as `[?, 3], []` for two components, where the
/// largest element determines `?`. `padding` has one number for each component; the default is
/// zero. The last batch may be smaller, unless `drop_remainder`.
///
/// # Errors
/// `batch_size must be positive, not N`; shapes that are wrong, or of another number of components.
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
    #[attr] on_error: Option<&str>,
    #[attr("shapes")] shapes_text: Option<&str>,
) -> Result<Dataset> {
    let shapes = shapes_text.map(shapes).transpose()?;
    let mut components: Vec<PaddedComponent> = padding
        .iter()
        .map(|padding| PaddedComponent::default().with_padding(padding.clone()))
        .collect();
    if let Some(shapes) = shapes {
        if components.is_empty() {
            components = vec![PaddedComponent::default(); shapes.len()];
        }
        if components.len() != shapes.len() {
            let (num_shapes, num_values) = (shapes.len(), components.len());
            let message =
                format!("expected a shape for each of {num_values} values, found {num_shapes}");
            return Err(Error::new(message).with_code(ErrorCode::InvalidArgument));
        }
        let both = components.into_iter().zip(&shapes);
        components = both
            .map(|(component, extents)| component.with_extents(extents))
            .collect();
    }
    let drops_remainder = drop_remainder.unwrap_or(false);
    let batches = input.padded_batch_with(batch_size, &components, drops_remainder)?;
    with_policy(batches, on_error)
}

/// Creates a dataset of the rows of batches in batches of another size. The last batch may be
/// smaller, unless `drop_remainder`.
///
/// # Errors
/// `batch_size must be positive, not N`.
#[tfrt_kernel(
    "tfrt_data.rebatch_dataset",
    pure,
    chain = none,
    results(dataset),
    format = "operands attr-dict",
)]
fn rebatch_dataset(
    input: &Dataset,
    batch_size: i64,
    #[attr] drop_remainder: Option<bool>,
) -> Result<Dataset> {
    let rows = input.unbatch()?;
    rows.batch_with(batch_size, &[], false, drop_remainder.unwrap_or(false))
}

/// Creates a dataset of the elements that are not errors. If `log` is true, a warning at the end of
/// a pass reports the number of skipped elements.
#[tfrt_kernel(
    "tfrt_data.ignore_errors_dataset",
    pure,
    chain = none,
    results(dataset),
    format = "operands attr-dict",
)]
fn ignore_errors_dataset(input: &Dataset, #[attr] log: Option<bool>) -> Result<Dataset> {
    input.ignore_errors(log.unwrap_or(false))
}

/// Creates a dataset of the same elements with a policy for errors: those of the input, and of the
/// stages below it without a policy of their own. `policy` is `fail`, `stop` or `skip(N)`.
///
/// # Errors
/// ``expected `fail`, `skip(N)` or `stop`, found `TEXT` ``.
#[tfrt_kernel(
    "tfrt_data.on_error_dataset",
    pure,
    chain = none,
    results(dataset),
    format = "operands attr-dict",
)]
fn on_error_dataset(input: &Dataset, #[attr] policy: &str) -> Result<Dataset> {
    with_policy(input.clone(), Some(policy))
}

/// Creates a dataset of the same elements with options for all of its stages. If `deterministic` is
/// false, results that are available may overtake others that are not, in every stage that has
/// several under way; `max_skew` is the largest number of elements that overtake another one, 1000
/// by default. `read_ahead` is the number of elements that stages read ahead from files; -1
/// finds the fastest number by experiment, up to 1024. `autotune` says whether the number is found
/// by experiment, for any `read_ahead`. If several of these stages set an option, the outermost one
/// decides.
///
/// # Errors
/// `read_ahead must be -1 or between 1 and 1048576, not N`; `max_skew must be positive, not N`.
#[tfrt_kernel(
    "tfrt_data.options_dataset",
    pure,
    chain = none,
    results(dataset),
    format = "operands attr-dict",
)]
fn options_dataset(
    input: &Dataset,
    #[attr] autotune: Option<bool>,
    #[attr] deterministic: Option<bool>,
    #[attr] max_skew: Option<i64>,
    #[attr] read_ahead: Option<i64>,
) -> Result<Dataset> {
    let mut dataset = input.clone();
    if let Some(max_skew) = max_skew {
        dataset = dataset.with_max_skew(max_skew)?;
    }
    if deterministic == Some(false) {
        dataset = dataset.in_any_order()?;
    }
    let read_ahead = read_ahead.or((autotune == Some(true)).then_some(-1));
    match read_ahead {
        Some(number) => dataset.with_read_ahead(WorkAhead::new(number, autotune)),
        None => Ok(dataset),
    }
}

/// Creates a dataset of the same elements and asserts their number: a draw fails if there are fewer
/// or more.
///
/// # Errors
/// `cardinality must not be negative, not N`.
#[tfrt_kernel(
    "tfrt_data.assert_cardinality_dataset",
    pure,
    chain = none,
    results(dataset),
    format = "operands attr-dict",
)]
fn assert_cardinality_dataset(input: &Dataset, cardinality: i64) -> Result<Dataset> {
    input.assert_cardinality(cardinality)
}

/// Creates a dataset that draws from several datasets. Each element of the first dataset, of type
/// `i64`, is the number of the dataset to draw from. Numbers of datasets that have ended are
/// skipped.
#[tfrt_kernel(
    "tfrt_data.choose_from_datasets",
    pure,
    chain = none,
    results(dataset),
    format = "operands attr-dict",
    verify = verify_dataset
)]
fn choose_from_datasets(numbers: &Dataset, inputs: Operands<'_, Dataset>) -> Result<Dataset> {
    Dataset::choose_from(numbers, &inputs.iter().cloned().collect::<Vec<_>>())
}

/// Creates a dataset that draws each element from a randomly chosen dataset, with probabilities
/// proportional to `weights`, or equal ones without `weights`. Equal seeds lead to equal choices.
///
/// # Errors
/// `expected a weight for each of N datasets, found M`; a weight that is negative or not finite.
#[tfrt_kernel(
    "tfrt_data.sample_from_datasets",
    pure,
    chain = none,
    results(dataset),
    format = "operands attr-dict",
    verify = verify_dataset
)]
fn sample_from_datasets(
    inputs: Operands<'_, Dataset>,
    #[attr] seed: i64,
    #[attr] seed2: i64,
    #[attr] weights: Option<&[f32]>,
) -> Result<Dataset> {
    let weights = optional_weights(weights);
    let inputs: Vec<Dataset> = inputs.iter().cloned().collect();
    Dataset::sample_from(&inputs, weights.as_deref(), seed, seed2)
}

/// Returns the same numbers in double precision.
pub(super) fn optional_weights(weights: Option<&[f32]>) -> Option<Vec<f64>> {
    weights.map(|weights| weights.iter().map(|&weight| weight.into()).collect())
}

/// Creates a dataset whose elements combine the components of all inputs. It ends with the shortest
/// input.
#[tfrt_kernel(
    "tfrt_data.zip_dataset",
    pure,
    chain = none,
    results(dataset),
    format = "operands attr-dict",
)]
fn zip_dataset(inputs: Operands<'_, Dataset>) -> Result<Dataset> {
    Dataset::zip(&inputs.iter().cloned().collect::<Vec<_>>())
}

/// Creates a dataset of the elements of all inputs, one input after another.
#[tfrt_kernel(
    "tfrt_data.concatenate_dataset",
    pure,
    chain = none,
    results(dataset),
    format = "operands attr-dict",
    verify = verify_dataset
)]
fn concatenate_dataset(inputs: Operands<'_, Dataset>) -> Result<Dataset> {
    Dataset::concatenate(&inputs.iter().cloned().collect::<Vec<_>>())
}

/// Creates a dataset of the elements of the datasets that a function returns for each element, one
/// after another. `arity` is the number of components of their elements. `save` and `restore`
/// declare a state of the function, as those of `map_dataset` do.
#[tfrt_kernel(
    "tfrt_data.flat_map_dataset",
    pure,
    chain = none,
    results(dataset),
    format = "operands attr-dict",
    verify = verify_dataset
)]
fn flat_map_dataset(
    input: &Dataset,
    #[attr] arity: i64,
    #[attr] on_error: Option<&str>,
    #[function] function: FunctionRef,
    #[function] restore: Option<FunctionRef>,
    #[function] save: Option<FunctionRef>,
) -> Result<Dataset> {
    let turns = input.interleave_with(with_state(function, save, restore), 1, 1)?;
    with_policy(turns.with_num_components(arity)?, on_error)
}

/// Creates a dataset of the rows of the tensors in each element. Rows of a one-dimensional tensor
/// are numbers.
#[tfrt_kernel(
    "tfrt_data.unbatch_dataset",
    pure,
    chain = none,
    results(dataset),
    format = "operands attr-dict",
)]
fn unbatch_dataset(input: &Dataset, #[attr] on_error: Option<&str>) -> Result<Dataset> {
    with_policy(input.unbatch()?, on_error)
}

/// Creates a dataset of datasets. Each contains `size` elements, every `stride`-th one of the
/// input, and starts `shift` elements after the previous one.
///
/// # Errors
/// `size must be positive, not N`, and the same of the others.
#[tfrt_kernel(
    "tfrt_data.window_dataset",
    pure,
    chain = none,
    results(dataset),
    format = "operands attr-dict",
)]
fn window_dataset(
    input: &Dataset,
    size: i64,
    shift: i64,
    stride: i64,
    #[attr] drop_remainder: bool,
) -> Result<Dataset> {
    input.window(size, shift, stride, drop_remainder)
}

/// Creates a dataset of the same elements, each preceded by its number, counted from `start`.
#[tfrt_kernel(
    "tfrt_data.enumerate_dataset",
    pure,
    chain = none,
    results(dataset),
    format = "operands attr-dict",
)]
fn enumerate_dataset(input: &Dataset, start: i64) -> Result<Dataset> {
    input.enumerate(start)
}

/// Creates a dataset of the results of a function of a state and each element. The operands are the
/// initial state. The function takes the state, then the components, and returns the next state,
/// then the components of the result. A state that a checkpoint cannot contain needs `save`, which
/// makes numbers, strings or tensors of it, and `restore`, which makes the state of these.
#[tfrt_kernel(
    "tfrt_data.scan_dataset",
    pure,
    chain = none,
    results(dataset),
    format = "$input (`,` $state `:` type($state))? attr-dict",
    verify = verify_dataset
)]
fn scan_dataset(
    input: &Dataset,
    state: &[AnyRef],
    #[attr] on_error: Option<&str>,
    #[function] function: FunctionRef,
    #[function] restore: Option<FunctionRef>,
    #[function] save: Option<FunctionRef>,
) -> Result<Dataset> {
    with_policy(
        input.scan_with(state, with_state(function, save, restore))?,
        on_error,
    )
}

/// Creates a dataset that keeps its elements after the first complete pass: in memory, or in the
/// file named by the second operand. The file belongs to the pipeline: a pipeline with other stages
/// or parameters replaces it.
///
/// # Errors
/// More than one file. Draws fail with `failed to write file P due to error: E`.
#[tfrt_kernel(
    "tfrt_data.cache_dataset",
    pure,
    chain = none,
    results(dataset),
    format = "operands attr-dict",
)]
fn cache_dataset(input: &Dataset, path: Operands<'_, ByteString>) -> Result<Dataset> {
    let mut paths = path.iter();
    match (paths.next(), paths.next()) {
        (None, _) => input.cache(),
        (Some(path), None) => {
            let path = std::str::from_utf8(path.as_bytes()).map_err(Error::other)?;
            tfrt_readers::cache::cache_in_file(input, path)
        }
        (Some(_), Some(_)) => {
            let message = format!("expected one file for the elements, found {}", path.len());
            Err(Error::new(message).with_code(ErrorCode::InvalidArgument))
        }
    }
}

/// Creates a dataset that keeps its elements in a file of a folder after the first complete pass.
/// The file is named after the pipeline, so that several pipelines can share the folder.
///
/// # Errors
/// Draws fail with `failed to write file P due to error: E`.
#[tfrt_kernel(
    "tfrt_data.snapshot_dataset",
    pure,
    chain = none,
    results(dataset),
    format = "operands attr-dict",
)]
fn snapshot_dataset(input: &Dataset, path: &str) -> Result<Dataset> {
    tfrt_readers::cache::snapshot(input, path)
}

/// Returns the number of elements of a dataset, derived from its description alone: -1 if it is
/// infinite, and -2 if it is unknown.
#[tfrt_kernel("tfrt_data.cardinality", pure, chain = none, format = "operands attr-dict")]
fn cardinality(dataset: &Dataset) -> i64 {
    match dataset.cardinality() {
        Cardinality::Finite(len) => i64::try_from(len).unwrap_or(i64::MAX),
        Cardinality::Infinite => -1,
        Cardinality::Unknown => -2,
    }
}
