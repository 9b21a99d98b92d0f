//! Variables and random generators: resources that ops change, op by op.

use std::sync::Arc;

use tfrt::core::{EagerContext, TensorHandle};
use tfrt::host::device::CpuDevice;
use tfrt::prelude::*;
use tfrt::queue::create_queue;
use tfrt_kernels::ops::random::{new_generator, random_normal, random_uniform};
use tfrt_kernels::ops::variables::{assign, assign_add, assign_sub, new_variable, read_variable};
use tfrt_tensor::DenseHostTensor;

tfrt::link!(tfrt_kernels);

fn eager(queue: &str) -> Arc<EagerContext> {
    let registry = KernelRegistry::from_link().expect("names are unique");
    let host = HostContext::builder()
        .registry(Arc::new(registry))
        .queue(create_queue(queue).expect("a known queue"))
        .build();
    EagerContext::builder(host)
        .device(Arc::new(CpuDevice::new("CPU:1")))
        .build()
        .expect("two devices")
}

fn message<T>(outcome: Result<T>) -> String {
    outcome.map_or_else(
        |error| error.message().to_owned(),
        |_| "no error".to_owned(),
    )
}

/// Returns the same tensor, later.
#[tfrt_op("variables_test.Later", function = later)]
async fn at_another_time(x: AnyRef, ctx: ExecutionContext) -> Result<AnyRef> {
    let (promise, turn) = AsyncValueRef::unconstructed();
    ctx.enqueue(move || promise.emplace(Chain));
    turn.await?;
    Ok(x)
}

#[test]
fn value_that_was_read_stays_what_it_is() {
    let eager = eager("s");
    let [one, two] = [[1.0_f32, -1.0], [2.0, 3.0]].map(|x| eager.tensor(x).unwrap());
    let variable = new_variable(&eager, &one).unwrap();
    let before = read_variable(&eager, &variable).unwrap();
    assign_add(&eager, &variable, &two).unwrap();
    assign_add(&eager, &variable, &two).unwrap();
    assign_sub(&eager, &variable, &one).unwrap();
    let read = || read_variable(&eager, &variable).unwrap();
    assert_eq!(eager.to_vec::<f32>(&read()).unwrap(), [4.0, 6.0]);
    assert_eq!(eager.to_vec::<f32>(&before).unwrap(), [1.0, -1.0]);
    assert_eq!(eager.to_vec::<f32>(&one).unwrap(), [1.0, -1.0]);
    // A variable is added to itself.
    assign_add(&eager, &variable, &read()).unwrap();
    assert_eq!(eager.to_vec::<f32>(&read()).unwrap(), [8.0, 12.0]);
    assign(&eager, &variable, &two).unwrap();
    assert_eq!(eager.to_vec::<f32>(&read()).unwrap(), [2.0, 3.0]);
}

#[test]
fn sum_that_nobody_else_sees_stays_in_its_memory() {
    let eager = eager("s");
    let variable = new_variable(&eager, &eager.tensor([0.0_f32; 4]).unwrap()).unwrap();
    let step = eager.tensor([1.0_f32; 4]).unwrap();
    let address = || {
        let value = read_variable(&eager, &variable).unwrap();
        let value = value
            .tensor()
            .unwrap()
            .try_read::<DenseHostTensor>()
            .unwrap();
        value.buffer().address()
    };
    assign_add(&eager, &variable, &step).unwrap();
    let place = address();
    assign_add(&eager, &variable, &step).unwrap();
    assert_eq!(address(), place);
}

#[test]
fn variable_keeps_element_type_and_shape() {
    let eager = eager("s");
    let value = eager.tensor([1.0_f32, 2.0]).unwrap();
    let variable = new_variable(&eager, &value).unwrap();
    let wide = eager.tensor([[1.0_f32, 2.0]]).unwrap();
    assert_eq!(
        message(assign(&eager, &variable, &wide)),
        "`tf.AssignVariableOp`: expected a value f32 [2], like the variable, found f32 [1, 2]"
    );
    let ints = eager.tensor([1_i32, 2]).unwrap();
    assert_eq!(
        message(assign_sub(&eager, &variable, &ints)),
        "`tf.AssignSubVariableOp`: expected a value f32 [2], like the variable, found i32 [2]"
    );
    // What fails changes nothing.
    let _ = message(pollster(eager.synchronize()));
    let flags = new_variable(&eager, &eager.tensor(&[true][..]).unwrap()).unwrap();
    let more = eager.tensor(&[true][..]).unwrap();
    assert_eq!(
        message(assign_add(&eager, &flags, &more)),
        "Unsupported input dtype: i1"
    );
    let _ = message(pollster(eager.synchronize()));
    assert_eq!(
        read_variable(&eager, &flags).unwrap().to_string(),
        eager.tensor(&[true][..]).unwrap().to_string()
    );
    assert_eq!(
        message(read_variable(&eager, &value)),
        "operand 0 of `tf.ReadVariableOp`: expected a resource, found a tensor f32 [2]"
    );
}

/// Runs what does not wait.
fn pollster<T>(future: impl Future<Output = T>) -> T {
    let mut future = std::pin::pin!(future);
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    match future.as_mut().poll(&mut context) {
        std::task::Poll::Ready(done) => done,
        std::task::Poll::Pending => panic!("it is ready"),
    }
}

#[test]
fn reads_and_writes_happen_in_the_order_of_the_program() {
    for queue in ["s", "mstd:2"] {
        let eager = eager(queue);
        let variable = new_variable(&eager, &eager.tensor([0_i64]).unwrap()).unwrap();
        let reads: Vec<TensorHandle> = (0..50_i64)
            .map(|step| {
                let step = later(&eager, &eager.tensor([step]).unwrap()).unwrap();
                assign_add(&eager, &variable, &step).unwrap();
                read_variable(&eager, &variable).unwrap()
            })
            .collect();
        let sums: Vec<i64> = reads
            .iter()
            .map(|read| eager.to_scalar(read).unwrap())
            .collect();
        let expected: Vec<i64> = (0..50).map(|step| step * (step + 1) / 2).collect();
        assert_eq!(sums, expected, "{queue}");
    }
}

#[test]
fn variable_stays_on_its_device() {
    let eager = eager("s");
    let variable = {
        let _there = eager.device("CPU:1").unwrap();
        new_variable(&eager, &eager.tensor([1_i32]).unwrap()).unwrap()
    };
    let value = read_variable(&eager, &variable).unwrap();
    assert_eq!(value.device().unwrap().0.name(), "CPU:1");
}

#[test]
fn equal_seeds_give_equal_numbers() {
    let eager = eager("s");
    let six = eager.tensor([6_i32]).unwrap();
    let [two, four] = [[1_i64, 2], [2, 2]].map(|shape| eager.tensor(shape).unwrap());
    let generator = || new_generator(&eager, 100, 200).unwrap();
    let draw = |from: &TensorHandle, shape: &TensorHandle| {
        let numbers = random_uniform(&eager, from, shape, None).unwrap();
        // Numbers are those of the generator, not of a cache.
        eager.clear_cache();
        eager.to_vec::<f32>(&numbers).unwrap()
    };
    let all = draw(&generator(), &six);
    // The first two numbers of these seeds, as the mantissas of numbers from one to two.
    let expected = [3_747_298_259_u32, 3_724_722_508]
        .map(|bits| f32::from_bits(1.0_f32.to_bits() | bits & 0x7f_ffff) - 1.0);
    assert_eq!(all[..2], expected);
    let from = generator();
    assert_eq!(draw(&from, &two), all[..2]);
    assert_eq!(draw(&from, &four), all[2..]);
    let wide = random_uniform(&eager, &generator(), &two, Some(DType::F64)).unwrap();
    let wide = eager.to_vec::<f64>(&wide).unwrap();
    assert!(wide.iter().all(|number| (0.0..1.0).contains(number)) && wide[0] != wide[1]);
}

#[test]
fn normal_numbers_have_mean_0_and_variance_1() {
    let eager = eager("s");
    let generator = new_generator(&eager, 7, 0).unwrap();
    let shape = eager.tensor([101_i32, 99]).unwrap();
    let numbers = random_normal(&eager, &generator, &shape, None).unwrap();
    assert_eq!(numbers.metadata().unwrap().to_string(), "f32 [101, 99]");
    let numbers = eager.to_vec::<f32>(&numbers).unwrap();
    let count = numbers.len() as f32;
    let mean = numbers.iter().sum::<f32>() / count;
    let variance = numbers.iter().map(|x| (x - mean).powi(2)).sum::<f32>() / count;
    // Three standard deviations of the estimates.
    assert!(
        mean.abs() < 0.03 && (variance - 1.0).abs() < 0.045,
        "{mean} {variance}"
    );
    let within = numbers.iter().filter(|x| x.abs() < 1.0).count() as f32 / count;
    assert!((within - 0.6827).abs() < 0.015, "{within}");
}

#[test]
fn impossible_random_tensors_are_refused() {
    let eager = eager("s");
    let generator = new_generator(&eager, 7, 0).unwrap();
    let negative = eager.tensor([2_i32, -3]).unwrap();
    assert_eq!(
        message(random_uniform(&eager, &generator, &negative, None)),
        "dimension 1 is negative: -3"
    );
    let shape = eager.tensor([2_i32]).unwrap();
    let _ = message(pollster(eager.synchronize()));
    assert_eq!(
        message(random_normal(&eager, &generator, &shape, Some(DType::I32))),
        "`tfrt.RandomNormal`: expected a result type f32 or f64, found i32"
    );
    let _ = message(pollster(eager.synchronize()));
    let huge = eager.tensor([i64::MAX, 2]).unwrap();
    assert_ne!(
        message(random_uniform(&eager, &generator, &huge, None)),
        "no error"
    );
}
