//! Synchronous kernels, and asynchronous ones that call synchronous functions.

use tfrt::prelude::*;

/// Returns the sum of the operands, which it reads one by one.
#[tfrt_kernel(
    "tfrt_test.sync_sum",
    raw,
    sync,
    operands(first: i32, rest: variadic i32),
    results(sum: i32),
)]
fn sync_sum(frame: &mut KernelFrame<'_>) -> Result<()> {
    let mut sum = 0_i32;
    for index in 0..frame.num_arguments() {
        sum = sum.wrapping_add(*frame.value::<i32>(index)?);
    }
    frame.set_result(0, AnyRef::available(sum));
    Ok(())
}

/// Returns the sum of the operands.
#[tfrt_kernel("tfrt_test.sync_sum2", sync)]
fn sync_sum2(first: i32, rest: Operands<'_, i32>) -> i32 {
    rest.iter()
        .fold(first, |sum, number| sum.wrapping_add(*number))
}

/// Returns the sum of its attributes, of any number and with any names.
#[tfrt_kernel("tfrt_test.sync_sum_attributes", raw, sync, results(sum: i32), attribute_names = any)]
fn sync_sum_attributes(frame: &mut KernelFrame<'_>) -> Result<()> {
    let mut sum = 0_i32;
    for index in 0..frame.num_attributes() {
        sum = sum.wrapping_add(frame.attribute::<i32>(index)?);
    }
    frame.set_result(0, AnyRef::available(sum));
    Ok(())
}

/// Calls a synchronous function of two numbers that returns one. The attribute that names it may
/// have any name.
#[tfrt_kernel(
    "tfrt_test.invoke_sync_function.i32_i32.i32",
    "tfrt_test.sync_function_runner.i32_i32.i32",
    raw,
    operands(a: i32, b: i32),
    symbols(callee),
    results(result: i32),
    attribute_names = free
)]
fn invoke_for_one(frame: &mut KernelFrame<'_>) -> Result<()> {
    invoke_named::<1>(frame)
}

/// Calls a synchronous function of two numbers that returns two. The attribute that names it may
/// have any name.
#[tfrt_kernel(
    "tfrt_test.invoke_sync_function.i32_i32.i32_i32",
    "tfrt_test.sync_function_runner.i32_i32.i32_i32",
    raw,
    operands(a: i32, b: i32),
    symbols(callee),
    results(first: i32, second: i32),
    attribute_names = free
)]
fn invoke_for_two(frame: &mut KernelFrame<'_>) -> Result<()> {
    invoke_named::<2>(frame)
}

fn invoke_named<const NUM_RESULTS: usize>(frame: &mut KernelFrame<'_>) -> Result<()> {
    let (function, a, b) = (frame.function(0)?, *frame.value(0)?, *frame.value(1)?);
    let results: [i32; NUM_RESULTS] = invoke(&function, frame.exec_ctx(), a, b)?;
    for (index, result) in results.into_iter().enumerate() {
        frame.set_result(index, AnyRef::available(result));
    }
    Ok(())
}

fn invoke<const NUM_RESULTS: usize>(
    function: &FunctionRef,
    ctx: &ExecutionContext,
    a: i32,
    b: i32,
) -> Result<[i32; NUM_RESULTS]> {
    let arguments = [a, b].map(AnyRef::available);
    let mut results = [const { None }; NUM_RESULTS];
    function.execute_sync(ctx, &arguments, &mut results)?;
    let mut numbers = [0; NUM_RESULTS];
    for (number, result) in numbers.iter_mut().zip(&results) {
        let payload = result.as_ref().and_then(AnyRef::get::<i32>);
        *number = *payload.ok_or_else(|| not_a_number(function, result.as_ref()))?;
    }
    Ok(numbers)
}

#[cold]
fn not_a_number(function: &FunctionRef, result: Option<&AnyRef>) -> Error {
    let found = result.and_then(AnyRef::mlir_type).unwrap_or("nothing");
    Error::new(format!(
        "function `{}` gives `{found}`, where `i32` is expected",
        function.name()
    ))
    .with_code(ErrorCode::InvalidArgument)
}
