//! Grid kernels on host tensors and on the host device: the same bits, and the results of plain
//! loops.

use tfrt::device::grid::{Grid, OutView, Shared, View};
use tfrt::device::kernel::{KernelForm, linked};
use tfrt::device::ptx::{self, GpuTarget, LaunchForm};
use tfrt::prelude::*;
use tfrt_gpu::host_device::{HostDevice, Options};
use tfrt_gpu::platform::Gpu;
use tfrt_ptx::Module;

use super::{Device, kernel, on_host, ramp, same, tensor};

/// Returns the transposed matrix. The tile has a column more than it needs, so that the threads of
/// a warp use different banks.
#[tfrt_kernel(
    "test.transpose",
    grid(
        block = [16, 16],
        blocks = [(input.extent(1) + 15) / 16, (input.extent(0) + 15) / 16],
        shape = [input.extent(1), input.extent(0)],
    )
)]
fn transpose(
    grid: &Grid,
    input: &View<f32, 2>,
    tile: &mut Shared<f32, { 16 * 17 }>,
    output: &mut OutView<f32, 2>,
) {
    let x = grid.index(0);
    let y = grid.index(1);
    if y < input.extent(0) && x < input.extent(1) {
        tile[grid.thread(1) * 17 + grid.thread(0)] = input[[y, x]];
    }
    grid.barrier();
    let row = grid.block(0) * 16 + grid.thread(1);
    let column = grid.block(1) * 16 + grid.thread(0);
    if row < output.extent(0) && column < output.extent(1) {
        output[[row, column]] = tile[grid.thread(0) * 17 + grid.thread(1)];
    }
}

/// Returns the mean of each element and its neighbours, up to `RADIUS` away. Beyond the ends are
/// zeros.
#[tfrt_kernel("test.smooth", grid(block = [64]))]
fn smooth(
    grid: &Grid,
    input: &View<f64, 1>,
    scale: f64,
    row: &mut Shared<f64, { 64 + 2 * RADIUS as usize }>,
    output: &mut OutView<f64, 1>,
) {
    let first = grid.block(0) * grid.threads(0);
    for part in 0..2 {
        let slot = part * 64 + grid.thread(0);
        // The halo is on both sides; before the start, the difference wraps around.
        let at = (first + slot).wrapping_sub(RADIUS);
        if slot < row.extent(0) && at < input.extent(0) {
            row[slot] = input[at];
        }
    }
    grid.barrier();
    let at = grid.index(0);
    if at >= output.extent(0) {
        // No barrier follows.
    } else {
        let mut sum = 0.0;
        for slot in grid.thread(0)..=grid.thread(0) + 2 * RADIUS {
            sum += row[slot];
        }
        output[at] = sum * scale;
    }
}

const RADIUS: u32 = 3;

/// Counts the numbers of each bin.
#[tfrt_kernel("test.histogram", grid(block = [128], blocks = [4], shape = [32], initial = 0))]
fn histogram(
    grid: &Grid,
    input: &View<i32, 1>,
    counts: &mut Shared<u32, 32>,
    output: &mut OutView<u32, 1>,
) {
    let step = grid.blocks(0) * grid.threads(0);
    let rounds = (input.extent(0) + step - 1) / step;
    for round in 0..rounds {
        let at = round * step + grid.index(0);
        if at < input.extent(0) {
            counts.atomic_add((input[at] & 31) as u32, 1);
        }
    }
    grid.barrier();
    if grid.thread(0) < 32 {
        output.atomic_add(grid.thread(0), counts[grid.thread(0)]);
    }
}

/// Returns the sums of the numbers up to each one, for each block of 128.
#[tfrt_kernel("test.scan", grid(block = [128]))]
fn scan(
    grid: &Grid,
    input: &View<f32, 1>,
    sums: &mut Shared<f32, 256>,
    output: &mut OutView<f32, 1>,
) {
    let lane = grid.thread(0);
    let at = grid.index(0);
    let mut sum = 0.0;
    if at < input.extent(0) {
        sum = input[at];
    }
    sums[lane] = sum;
    grid.barrier();
    for step in 0..7u32 {
        // Two halves take turns, so that one barrier is enough.
        let from = (step % 2) * 128;
        let to = 128 - from;
        let distance = 1 << step;
        if lane >= distance {
            sum += sums[from + lane - distance];
        }
        sums[to + lane] = sum;
        grid.barrier();
    }
    if at < output.extent(0) {
        output[at] = sum;
    }
}

/// Uses what the others do not: three axes, `return`, an `if` around a barrier, Booleans, and all
/// atomic operations.
#[tfrt_kernel(
    "test.medley",
    grid(block = [4, 2, 2], blocks = [1, 1, 2], shape = [6], initial = -1)
)]
fn medley(
    grid: &Grid,
    input: &View<i64, 3>,
    is_twice: bool,
    flags: &mut Shared<bool, 16>,
    output: &mut OutView<i64, 1>,
) {
    let lane = (grid.thread(2) * 2 + grid.thread(1)) * 4 + grid.thread(0);
    let mut x = input[[grid.index(2), grid.thread(1), grid.thread(0)]];
    flags[lane] = x > 0;
    if is_twice {
        grid.barrier();
        if flags[15 - lane] {
            x *= 2;
        }
    } else if grid.blocks(2) == 2 {
        x -= 1;
        grid.barrier();
    }
    output.atomic_add(0, x);
    output.atomic_min(1, x);
    output.atomic_max(2, x);
    output.atomic_and(3, x);
    output.atomic_or(4, x);
    output.atomic_xor(5, x);
}

/// Writes every second element.
#[tfrt_kernel("test.every_second", grid(block = [32], initial = 7.5))]
fn every_second(grid: &Grid, input: &View<f32, 1>, output: &mut OutView<f32, 1>) {
    let at = grid.index(0);
    if at >= input.extent(0) || at % 2 == 1 {
        return;
    }
    output[at] = input[at];
}

/// Reads one element too far.
#[tfrt_kernel("test.shifted", grid(block = [4]))]
fn shifted(grid: &Grid, input: &View<f32, 1>, output: &mut OutView<f32, 1>) {
    output[grid.index(0)] = input[grid.index(0) + 1];
}

/// Reads what another thread writes, without a barrier.
#[tfrt_kernel("test.racy", grid(block = [4]))]
fn racy(grid: &Grid, x: &View<f32, 1>, row: &mut Shared<f32, 4>, output: &mut OutView<f32, 1>) {
    row[grid.thread(0)] = x[grid.index(0)];
    output[grid.index(0)] = row[grid.thread(0) ^ 1];
}

/// Returns all but the two ends.
#[tfrt_kernel(
    "test.inner",
    grid(block = [32], blocks = [input.extent(0)], shape = [input.extent(0) - 2])
)]
fn inner(grid: &Grid, input: &View<f32, 1>, output: &mut OutView<f32, 1>) {
    if grid.thread(0) == 0 && grid.block(0) < output.extent(0) {
        output[grid.block(0)] = input[grid.block(0) + 1];
    }
}

#[test]
fn a_transpose_has_the_same_bits_on_both_devices() {
    let device = Device::open(Options::default());
    for [height, width] in [[1, 1], [16, 16], [5, 37], [33, 16], [0, 4]] {
        let input = tensor(&[height, width], ramp);
        let output = same(&device, "test.transpose", &[input]);
        assert_eq!(output.shape().dims(), [width, height]);
        for (index, element) in output.elements::<f32>().unwrap().iter().enumerate() {
            let (row, column) = (index / height, index % height);
            assert_eq!(*element, ramp(column * width + row), "{row}, {column}");
        }
    }
}

#[test]
fn a_stencil_has_the_same_bits_on_both_devices() {
    let device = Device::open(Options::default());
    let number = |index: usize| f64::from(ramp(index));
    for count in [1, 63, 64, 65, 200] {
        let input = tensor(&[count], number);
        let scale = tensor(&[], |_| 1.0 / 7.0);
        let output = same(&device, "test.smooth", &[input, scale]);
        for (at, element) in output.elements::<f64>().unwrap().iter().enumerate() {
            let mut sum = 0.0;
            for slot in 0..7 {
                let neighbour = (at + slot).checked_sub(3).filter(|place| *place < count);
                sum += neighbour.map_or(0.0, number);
            }
            assert_eq!(*element, sum * (1.0 / 7.0), "{at} of {count}");
        }
    }
}

#[test]
fn a_histogram_has_the_same_bits_on_both_devices() {
    let device = Device::open(Options::default());
    for count in [0, 1, 700] {
        let number = |index: usize| (index * index) as i32 - 50;
        let output = same(&device, "test.histogram", &[tensor(&[count], number)]);
        let mut expected = [0_u32; 32];
        for index in 0..count {
            expected[(number(index) & 31) as usize] += 1;
        }
        assert_eq!(*output.elements::<u32>().unwrap(), expected);
    }
}

#[test]
fn a_scan_has_the_same_bits_on_both_devices() {
    let device = Device::open(Options::default());
    // Sums of small integers are exact in any order.
    let number = |index: usize| ((index * 7) % 13) as f32 - 4.0;
    for count in [1, 128, 300] {
        let output = same(&device, "test.scan", &[tensor(&[count], number)]);
        let mut sum = 0.0;
        for (index, element) in output.elements::<f32>().unwrap().iter().enumerate() {
            sum = if index % 128 == 0 {
                number(index)
            } else {
                sum + number(index)
            };
            assert_eq!(*element, sum, "{index}");
        }
        same(&device, "test.scan", &[tensor(&[count], ramp)]);
    }
}

#[test]
fn collective_conditions_and_atomic_operations_have_the_same_bits_on_both_devices() {
    let device = Device::open(Options::default());
    let number = |index: usize| (index as i64 - 9) * 0x1_0000_0001;
    for is_twice in [true, false] {
        let truth = tensor(&[1], |_| tfrt_tensor::I1::from(is_twice));
        let output = same(&device, "test.medley", &[tensor(&[4, 2, 4], number), truth]);
        let mut expected = [-1_i64; 6];
        for index in 0..32 {
            let opposite = index / 16 * 16 + 15 - index % 16;
            let x = match is_twice {
                true if number(opposite) > 0 => number(index) * 2,
                true => number(index),
                false => number(index) - 1,
            };
            expected[0] += x;
            expected[1] = expected[1].min(x);
            expected[2] = expected[2].max(x);
            expected[3] &= x;
            expected[4] |= x;
            expected[5] ^= x;
        }
        assert_eq!(*output.elements::<i64>().unwrap(), expected);
    }
}

#[test]
fn elements_that_no_thread_writes_have_the_initial_value() {
    let device = Device::open(Options::default());
    let output = same(&device, "test.every_second", &[tensor(&[5], ramp)]);
    let expected = [ramp(0), 7.5, ramp(2), 7.5, ramp(4)];
    assert_eq!(*output.elements::<f32>().unwrap(), expected);
}

#[test]
fn an_index_out_of_bounds_is_an_error_on_both_devices() {
    let input = tensor(&[6], ramp);
    on_host("test.shifted", std::slice::from_ref(&input)).expect_error(
        "`test.shifted`: index 6 of axis 0 of `input` is out of bounds: the extent is 6; block \
         (1, 0, 0), thread (1, 0, 0)",
    );
    let device = Device::open(Options::default());
    let result = TensorMetadata::new(DType::F32, [6]);
    let error = device.fault(kernel("test.shifted"), &input, &result);
    assert!(
        error.message().contains("in kernel `test_shifted`") && error.message().contains("trap"),
        "{error}"
    );
}

#[test]
fn the_host_device_reports_a_missing_barrier() {
    let device = Device::open(Options::default());
    let result = TensorMetadata::new(DType::F32, [4]);
    let error = device.fault(kernel("test.racy"), &tensor(&[4], ramp), &result);
    assert!(
        error.message().contains("data race in kernel `test_racy`"),
        "{error}"
    );
}

/// For `ptxas.sh`, the texts are written into the folder `TFRT_PTX_FOLDER`.
#[test]
fn grid_kernels_are_ptx_of_every_architecture() {
    let folder = std::env::var_os("TFRT_PTX_FOLDER");
    let mut num_kernels = 0;
    for kernel in linked() {
        let KernelForm::Grid(rules) = kernel.form else {
            continue;
        };
        num_kernels += 1;
        for (form, name) in [(LaunchForm::Grid, "grid"), (LaunchForm::Initial, "initial")] {
            for (major, minor) in [(7, 0), (7, 5), (8, 0), (8, 6), (9, 0), (10, 0)] {
                let target = GpuTarget::for_capability(major, minor).unwrap();
                let text = match ptx::emit(kernel, &form, target) {
                    Ok(text) => text,
                    Err(error) => {
                        assert!(form == LaunchForm::Initial && rules.initial.is_none());
                        assert!(error.message().ends_with("has no initial value"), "{error}");
                        continue;
                    }
                };
                let module = Module::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
                assert!(module.kernel(&ptx::entry_name(kernel)).is_some());
                if let Some(folder) = &folder {
                    let file = format!("{}-{name}.sm_{major}{minor}.ptx", kernel.name);
                    std::fs::write(std::path::Path::new(folder).join(file), text).unwrap();
                }
            }
        }
    }
    assert!(num_kernels >= 9, "{num_kernels}");
    let error = ptx::emit(
        kernel("test.gelu"),
        &LaunchForm::Grid,
        GpuTarget::for_capability(7, 0).unwrap(),
    );
    assert!(
        error
            .unwrap_err()
            .message()
            .contains("does not match the kernel")
    );
}

#[test]
fn operands_that_do_not_fit_a_grid_are_errors() {
    let device = Device::open(Options::default());
    let floats = |dims: &[usize]| tensor(dims, ramp);
    let cases: Vec<(&str, Vec<DenseHostTensor>, &str)> = vec![
        (
            "test.transpose",
            vec![floats(&[2])],
            "`test.transpose`: expected 2 dimensions of `input`, found 1",
        ),
        (
            "test.smooth",
            vec![tensor(&[2], |_| 1.0_f64), tensor(&[2], |_| 1.0_f64)],
            "`test.smooth`: expected one number for `scale`, found [2]",
        ),
        (
            "test.scan",
            vec![tensor(&[2], |_| 1_i32)],
            "`test.scan`: expected f32 for `input`, found i32",
        ),
        (
            "test.inner",
            vec![floats(&[1])],
            "`test.inner`: expected extents of the result from 0 to 2^32 - 1, found -1",
        ),
    ];
    for (name, operands, message) in cases {
        on_host(name, &operands).expect_error(message);
        let result = TensorMetadata::new(DType::F32, [2]);
        let error = device.run(kernel(name), &operands, &result).unwrap_err();
        assert_eq!(error.message(), message);
    }
    let output = same(&device, "test.inner", &[floats(&[5])]);
    assert_eq!(*output.elements::<f32>().unwrap(), [1, 2, 3].map(ramp));
}

#[test]
fn a_grid_kernel_is_a_function_of_host_tensors() {
    let input = tensor(&[3], ramp);
    let mut output = tensor(&[3], |_| 0.0_f32);
    every_second(&input, &mut output).unwrap();
    assert_eq!(*output.elements::<f32>().unwrap(), [ramp(0), 7.5, ramp(2)]);
}

/// Returns the elements in the opposite order.
#[tfrt_op("test.Reversed", grid(block = [64]))]
fn reversed(grid: &Grid, input: &View<f32, 1>, output: &mut OutView<f32, 1>) {
    let at = grid.index(0);
    if at < output.extent(0) {
        output[at] = input[output.extent(0) - 1 - at];
    }
}

#[test]
fn ops_of_grid_kernels_run_on_both_devices() {
    let host = HostContext::builder()
        .registry(KernelRegistry::from_link().unwrap().into())
        .build();
    Gpu::install(&host, HostDevice::open(Options::default()));
    let gpu = host.device("GPU:0").unwrap().0;
    let eager = tfrt::core::EagerContext::builder(host)
        .device(gpu)
        .build()
        .unwrap();
    let numbers: Vec<f32> = (0..1000).map(ramp).collect();
    let expected: Vec<f32> = numbers.iter().rev().copied().collect();
    let x = eager.tensor(&numbers[..]).unwrap();
    for device in ["CPU:0", "GPU:0"] {
        let x = eager.copy_to(&x, device).unwrap();
        let found = eager.op("test.Reversed").unwrap().call(&[&x]).unwrap();
        assert_eq!(found.device().unwrap().0.name(), device);
        assert_eq!(eager.to_vec::<f32>(&found).unwrap(), expected, "{device}");
    }
    let matrix = eager.tensor([[1.0_f32, 2.0]]).unwrap();
    for device in ["CPU:0", "GPU:0"] {
        let matrix = eager.copy_to(&matrix, device).unwrap();
        let error = eager
            .op("test.Reversed")
            .unwrap()
            .call(&[&matrix])
            .unwrap_err();
        assert!(
            error.message().contains("`test.Reversed`: expected"),
            "{error}"
        );
    }
}
