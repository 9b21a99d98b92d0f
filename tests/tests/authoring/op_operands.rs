//! Ops called by Rust functions, operands in host memory, resources, and results in the memory of
//! operands.

use std::panic::Location;
use std::sync::{Arc, Mutex};

use tfrt::core::{EagerContext, PlacementRule, TensorHandle};
use tfrt::host::device::{CpuDevice, Device};
use tfrt::prelude::*;
use tfrt::testing;

/// A context with the processor, and with devices of these names, whose type is `npu` if the name
/// says so.
fn eager(others: &[&str]) -> Arc<EagerContext> {
    let host = HostContext::builder()
        .registry(KernelRegistry::from_link().unwrap().into())
        .build();
    let builder = EagerContext::builder(host);
    let with = others.iter().fold(builder, |builder, name| {
        if name.starts_with("NPU") {
            builder.device(Arc::new(Npu))
        } else {
            builder.device(Arc::new(CpuDevice::new(*name)))
        }
    });
    with.build().unwrap()
}

/// A device that is not the processor.
#[derive(Debug)]
struct Npu;

impl Device for Npu {
    fn name(&self) -> &'static str {
        "NPU:0"
    }

    fn device_type(&self) -> &'static str {
        "npu"
    }
}

fn message<T>(outcome: Result<T>) -> String {
    outcome.map_or_else(
        |error| error.message().to_owned(),
        |_| "no error".to_owned(),
    )
}

/// Returns each element times a factor, with an offset for each column.
#[tfrt_op("operands.Scale", metadata = scaled, function = scale)]
fn scale_columns(
    x: &[f32],
    offsets: Option<&[f32]>,
    #[attr] factor: f32,
    #[attr("step")] every: Option<i64>,
    #[out] y: &mut [f32],
) -> Result<()> {
    let step = usize::try_from(every.unwrap_or(1))?;
    y.copy_from_slice(x);
    for (index, y) in y.iter_mut().enumerate().step_by(step) {
        *y = factor * *y + offsets.map_or(0.0, |offsets| offsets[index % offsets.len()]);
    }
    Ok(())
}

fn scaled(
    x: &TensorMetadata,
    _offsets: Option<&TensorMetadata>,
    _factor: f32,
    _step: Option<i64>,
) -> TensorMetadata {
    x.clone()
}

/// Returns the least and the greatest element.
#[tfrt_op("operands.Bounds", function = bounds)]
fn least_and_greatest(x: &[i32]) -> Result<(DenseHostTensor, DenseHostTensor)> {
    let found = x.iter().min().zip(x.iter().max());
    let (least, greatest) = found.ok_or("no element")?;
    Ok((
        DenseHostTensor::vector(&[*least])?,
        DenseHostTensor::vector(&[*greatest])?,
    ))
}

/// Returns each operand as often as the caller asks for results.
#[tfrt_op("operands.Pick", function = pick)]
fn pick_in_order(#[attr] names: &[i64], xs: &[AnyRef]) -> Result<Vec<AnyRef>> {
    let of = |index: &i64| xs.get(usize::try_from(*index).ok()?).cloned();
    let picked: Option<Vec<AnyRef>> = names.iter().map(of).collect();
    Ok(picked.ok_or("there is no such operand")?)
}

/// Notes that it was called.
#[tfrt_op("operands.Note", side_effecting, function = note)]
fn note_text(log: &DenseHostTensor, #[attr] text: &str) {
    NOTES
        .lock()
        .unwrap()
        .push(format!("{text} {}", log.num_elements()));
}

/// How a number is rounded.
#[derive(Clone, Attr)]
enum Rounding {
    Down,
    Up = 7,
}

/// Rounds each element.
#[tfrt_op("operands.Round", metadata = rounded, function = round)]
fn round_elements(x: &[f32], #[attr] mode: Rounding, #[out] y: &mut [f32]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y = match mode {
            Rounding::Down => x.floor(),
            Rounding::Up => x.ceil(),
        };
    }
}

fn rounded(x: &TensorMetadata, _mode: Rounding) -> TensorMetadata {
    x.clone()
}

static NOTES: Mutex<Vec<String>> = Mutex::new(Vec::new());

#[test]
fn function_of_an_op_takes_operands_and_attributes_in_order() {
    let eager = eager(&[]);
    let x = eager.tensor([[1.0_f32, 2.0], [3.0, 4.0]]).unwrap();
    let offsets = eager.tensor([10.0_f32, 20.0]).unwrap();
    let of = |y: Result<TensorHandle>| eager.to_vec::<f32>(&y.unwrap()).unwrap();
    assert_eq!(of(scale(&eager, &x, None, 2.0, None)), [2.0, 4.0, 6.0, 8.0]);
    assert_eq!(
        of(scale(&eager, &x, Some(&offsets), 2.0, Some(2))),
        [12.0, 2.0, 16.0, 4.0]
    );
    let ints = eager.tensor([4, -2, 9]).unwrap();
    let [least, greatest] = bounds(&eager, &ints).unwrap();
    assert_eq!(eager.to_scalar::<i32>(&least).unwrap(), -2);
    assert_eq!(eager.to_scalar::<i32>(&greatest).unwrap(), 9);
    let picked = pick(&eager, &[1, 1, 0], &[&x, &ints], 3).unwrap();
    let kinds: Vec<_> = picked.iter().map(|y| y.metadata().unwrap().dtype).collect();
    assert_eq!(kinds, [DType::I32, DType::I32, DType::F32]);
    note(&eager, &ints, "noted").unwrap();
    assert_eq!(*NOTES.lock().unwrap(), ["noted 3"]);
}

#[test]
fn enums_are_attributes_of_calls() {
    let eager = eager(&[]);
    let x = eager.tensor([1.5_f32, -1.5]).unwrap();
    let of = |y: Result<TensorHandle>| eager.to_vec::<f32>(&y.unwrap()).unwrap();
    assert_eq!(of(round(&eager, &x, Rounding::Up)), [2.0, -1.0]);
    assert_eq!(of(round(&eager, &x, Rounding::Down)), [1.0, -2.0]);
    let by_name = |mode| {
        let op = eager.op("operands.Round")?.attr("mode", mode)?;
        op.ready()?.call(&[&x])
    };
    assert_eq!(of(by_name(Rounding::Up)), [2.0, -1.0]);
    assert_eq!(of(by_name(Rounding::Down)), [1.0, -2.0]);
}

#[test]
fn function_of_an_op_tells_errors_where_it_is_called() {
    let eager = eager(&[]);
    let none = eager.tensor([0_i32; 0]).unwrap();
    let line = Location::caller().line() + 1;
    let error = bounds(&eager, &none).unwrap_err();
    assert_eq!(error.message(), "no element");
    let place = error.place().to_string();
    assert!(
        place.contains(&format!("op_operands.rs:{line}:")),
        "{place}"
    );
    assert_eq!(
        message(scale(&eager, &none, None, 1.0, Some(-1))),
        "`x` of `operands.Scale`: expected elements of type f32, found i32"
    );
}

/// Returns the larger of each element and zero.
#[tfrt_op("operands.Relu", T = [f32, i32], metadata = same, forward = x)]
fn relu<T: Element + PartialOrd + Default>(x: Forwarded<'_, T>, #[out] y: &mut [T]) {
    x.map_to(y, |x| if x < T::default() { T::default() } else { x });
}

fn same(x: &TensorMetadata) -> TensorMetadata {
    x.clone()
}

/// Returns the differences, as large as the first operand says.
#[tfrt_op("operands.Sub", metadata = first, forward = [a, b], function = subtract)]
fn sub(#[out] y: &mut [f32], a: Forwarded<'_, f32>, b: Forwarded<'_, f32>) {
    a.zip_to(b, y, |a, b| a - b);
}

fn first(a: &TensorMetadata, _b: &TensorMetadata) -> TensorMetadata {
    a.clone()
}

fn address(handle: &TensorHandle) -> usize {
    let tensor = handle.tensor().unwrap();
    let tensor = tensor.try_read::<DenseHostTensor>().unwrap();
    tensor.buffer().address()
}

#[test]
fn last_reference_to_an_operand_becomes_the_result() {
    let eager = eager(&[]);
    let relu = eager.op("operands.Relu").unwrap().ready().unwrap();
    let x = eager.tensor([-1.0_f32, 2.0]).unwrap();
    let place = address(&x);
    // Seen by the caller: it stays what it is.
    let y = relu.call(&[&x]).unwrap();
    assert_ne!(address(&y), place);
    assert_eq!(eager.to_vec::<f32>(&x).unwrap(), [-1.0, 2.0]);
    assert_eq!(eager.to_vec::<f32>(&y).unwrap(), [0.0, 2.0]);
    // Seen by nobody else: it is used again.
    let y = relu.call_owned([x]).unwrap();
    assert_eq!(address(&y), place);
    assert_eq!(eager.to_vec::<f32>(&y).unwrap(), [0.0, 2.0]);
    // A copy of the handle is somebody else.
    let copy = y.clone();
    let z = relu.call_owned([y]).unwrap();
    assert_ne!(address(&z), address(&copy));
    let ints = relu.call(&[&eager.tensor([-3, 3]).unwrap()]).unwrap();
    assert_eq!(eager.to_vec::<i32>(&ints).unwrap(), [0, 3]);
}

#[test]
fn first_operand_that_fits_becomes_the_result() {
    let eager = eager(&[]);
    let sub = eager.op("operands.Sub").unwrap().ready().unwrap();
    let tensor = |elements: &[f32]| eager.tensor(elements).unwrap();
    let check = |a: TensorHandle, b: TensorHandle, keeps_a: bool, expected: usize, y: [f32; 2]| {
        let places = [address(&a), address(&b), 0];
        let kept = keeps_a.then(|| a.clone());
        let result = sub.call_owned([a, b]).unwrap();
        let found = places.iter().position(|&place| place == address(&result));
        assert_eq!(found.unwrap_or(2), expected);
        assert_eq!(eager.to_vec::<f32>(&result).unwrap(), y);
        drop(kept);
    };
    let (a, b) = ([5.0, 7.0], [1.0, 2.0]);
    check(tensor(&a), tensor(&b), false, 0, [4.0, 5.0]);
    check(tensor(&a), tensor(&b), true, 1, [4.0, 5.0]);
    let longer = eager.tensor([1.0_f32, 2.0, 3.0]).unwrap();
    check(tensor(&a), longer, true, 2, [4.0, 5.0]);
    // One tensor twice is seen twice.
    let x = tensor(&a);
    let zero = subtract(&eager, &x, &x).unwrap();
    assert_eq!(eager.to_vec::<f32>(&zero).unwrap(), [0.0, 0.0]);
    assert_eq!(eager.to_vec::<f32>(&x).unwrap(), a);
}

#[test]
fn forwarding_op_is_a_kernel() {
    let program = testing::program(
        r#"func @main(%x: !t.tensor) -> (!t.tensor, !t.tensor) {
             %y = "operands.Relu"(%x) : (!t.tensor) -> !t.tensor
             %z = "operands.Relu"(%y) : (!t.tensor) -> !t.tensor
             tfrt.return %z, %y : !t.tensor, !t.tensor
           }"#,
    );
    let x = testing::value_from(|| DenseHostTensor::vector(&[-1, 2]).unwrap());
    let outcome = program.call("main", (x,));
    for result in [0, 1] {
        outcome.with_value(result, |y: &DenseHostTensor| {
            assert_eq!(*y.elements::<i32>().unwrap(), [0, 2]);
        });
    }
    let x = testing::value_from(|| DenseHostTensor::vector(&[1_u8]).unwrap());
    program
        .call("main", (x,))
        .expect_error("`operands.Relu` does not support u8; supported: f32, i32");
}

/// A number that ops change.
struct Counter(Mutex<i64>);

/// Returns a counter.
#[tfrt_op("operands.NewCounter", device = "cpu", function = new_counter)]
fn make_counter(#[attr] start: i64) -> ResourceTensor {
    ResourceTensor::new(Counter(Mutex::new(start)))
}

/// Adds to a counter, and returns what it was.
#[tfrt_op("operands.Count", effect = "counters", function = count)]
fn count_on(#[resource] counter: &Counter, steps: &[i64]) -> Result<DenseHostTensor> {
    let mut number = counter.0.lock().unwrap();
    let before = *number;
    *number += steps.iter().sum::<i64>();
    Ok(DenseHostTensor::vector(&[before])?)
}

/// Returns the larger of two counters.
#[tfrt_op("operands.MaxCounter", reads = "counters", function = max_counter)]
fn larger_counter(#[resource] a: &Counter, #[resource] b: &Counter) -> Result<DenseHostTensor> {
    let larger = (*a.0.lock().unwrap()).max(*b.0.lock().unwrap());
    Ok(DenseHostTensor::vector(&[larger])?)
}

#[test]
fn resource_is_shared_by_the_ops_that_take_it() {
    let eager = eager(&[]);
    let counter = new_counter(&eager, 5).unwrap();
    assert_eq!(counter.to_string(), "ResourceTensor type = Counter");
    let steps = eager.tensor([1_i64, 2]).unwrap();
    let before = |handle: Result<TensorHandle>| eager.to_scalar::<i64>(&handle.unwrap()).unwrap();
    assert_eq!(before(count(&eager, &counter, &steps)), 5);
    assert_eq!(before(count(&eager, &counter.clone(), &steps)), 8);
    let other = new_counter(&eager, 9).unwrap();
    assert_eq!(before(max_counter(&eager, &counter, &other)), 11);
}

#[test]
fn resource_is_an_object_of_the_right_type() {
    let eager = eager(&[]);
    let counter = new_counter(&eager, 5).unwrap();
    let text = TensorHandle::of_tensor(
        eager.devices().next().unwrap().clone(),
        ResourceTensor::new(String::new()),
    );
    let steps = eager.tensor([1_i64]).unwrap();
    assert_eq!(
        message(count(&eager, &text, &steps)),
        "`counter` of `operands.Count`: expected a resource of type `Counter`, found one of type \
         `String`"
    );
    assert_eq!(
        message(count(&eager, &steps, &steps)),
        "operand 0 of `operands.Count`: expected a resource, found a tensor i64 [1]"
    );
    assert_eq!(
        message(bounds(&eager, &counter)),
        "Cannot implictly convert ResourceHost to DenseHost"
    );
}

#[test]
fn op_runs_where_its_resource_lives() {
    let eager = eager(&["CPU:1"]);
    let on = |name: &str| {
        let _here = eager.device(name).unwrap();
        new_counter(&eager, 1).unwrap()
    };
    let (here, there) = (on("CPU:0"), on("CPU:1"));
    let steps = eager.tensor([1_i64]).unwrap();
    let _scope = eager.device("CPU:0").unwrap();
    let placement = eager.explain("operands.Count", &[&there, &steps]).unwrap();
    assert_eq!(placement.rule, PlacementRule::Resource);
    assert_eq!(placement.device.0.name(), "CPU:1");
    let before = count(&eager, &there, &steps).unwrap();
    assert_eq!(before.device().unwrap().0.name(), "CPU:1");
    assert_eq!(
        message(max_counter(&eager, &here, &there)),
        "`operands.MaxCounter`: expected all resources on the same device, found operand 0 on \
         CPU:0 and operand 1 on CPU:1"
    );
}

/// Returns the elements at these indices: on the processor.
#[tfrt_op("operands.Take", function = take)]
fn take_on_cpu(x: &[f32], #[host] indices: &[i64]) -> Result<DenseHostTensor> {
    taken(x, indices)
}

/// The addresses of the indices that the op of another device was called with.
static INDICES: Mutex<Vec<usize>> = Mutex::new(Vec::new());

/// The same, on another device.
#[tfrt_op("operands.Take", device = "npu")]
fn take_on_npu(x: &[f32], #[host] indices: &[i64]) -> Result<DenseHostTensor> {
    INDICES.lock().unwrap().push(indices.as_ptr().addr());
    taken(x, indices)
}

fn taken(x: &[f32], indices: &[i64]) -> Result<DenseHostTensor> {
    let of = |index: &i64| x.get(usize::try_from(*index).ok()?).copied();
    let taken: Option<Vec<f32>> = indices.iter().map(of).collect();
    Ok(DenseHostTensor::vector(&taken.ok_or("no such element")?)?)
}

#[test]
fn operand_in_host_memory_is_not_moved() {
    let eager = eager(&["NPU:0"]);
    let x = eager.tensor([1.0_f32, 2.0, 3.0]).unwrap();
    let indices = eager.tensor([2_i64, 0]).unwrap();
    let y = {
        let _there = eager.device("NPU:0").unwrap();
        take(&eager, &x, &indices).unwrap()
    };
    assert_eq!(y.device().unwrap().0.name(), "NPU:0");
    assert_eq!(*INDICES.lock().unwrap(), [address(&indices)]);
    assert_eq!(eager.to_vec::<f32>(&y).unwrap(), [3.0, 1.0]);
    // What another device computed is brought to host memory.
    let moved = eager.copy_to(&indices, "NPU:0").unwrap();
    let _there = eager.device("NPU:0").unwrap();
    let z = take(&eager, &y, &moved);
    assert_eq!(message(z), "no such element");
    assert_eq!(INDICES.lock().unwrap().len(), 2);
}
