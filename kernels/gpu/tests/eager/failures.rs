//! Calls of the driver and of libraries that fail within ops.

use tfrt::prelude::*;
use tfrt_gpu::host_device::Options;

use crate::arrays::{Array, Random};
use crate::common::{assert_nothing_is_left, eager_with, failing};

/// An op, its operands, and how many of them there are.
fn run(options: Options, op: &str) -> Result<Array> {
    let eager = eager_with(options);
    let outcome = run_in(&eager, op);
    eager.give_up_copies();
    assert_nothing_is_left(&eager);
    outcome
}

fn run_in(eager: &std::sync::Arc<tfrt::core::EagerContext>, op: &str) -> Result<Array> {
    let mut random = Random::new(11);
    let x = random.array(&[2, 3, 3, 4]).tensor(eager, DType::F32);
    let matrix = random.array(&[4, 4]).tensor(eager, DType::F32);
    let filter = random.array(&[2, 2, 4, 3]).tensor(eager, DType::F32);
    let bias = random.array(&[4]).tensor(eager, DType::F32);
    let _scope = eager.device("GPU:0")?;
    let called = eager.op(op)?;
    let result = match op {
        "tf.MatMul" => {
            let called = called
                .attr("transpose_a", false)?
                .attr("transpose_b", false)?;
            called.ready()?.call(&[&matrix, &matrix])?
        }
        "tf.BiasAdd" => called.ready()?.call(&[&x, &bias])?,
        "tf.Conv2D" => {
            let called = called
                .attr("padding", "SAME")?
                .attr("strides", [1_i64, 1, 1, 1])?;
            called.ready()?.call(&[&x, &filter])?
        }
        _ => called.ready()?.call(&[&x])?,
    };
    Array::read(eager, &result)
}

#[test]
fn every_failed_call_of_an_op_is_the_error_of_its_result() {
    let ops: &[(&str, &[&str])] = &[
        (
            "tf.Relu",
            &[
                "cuModuleLoadDataEx",
                "cuModuleGetFunction",
                "cuLaunchKernel",
            ],
        ),
        (
            "tf.BiasAdd",
            &[
                "cuModuleLoadDataEx",
                "cuModuleGetFunction",
                "cuLaunchKernel",
            ],
        ),
        (
            "tf.Softmax",
            &[
                "cuModuleLoadDataEx",
                "cuModuleGetFunction",
                "cuLaunchKernel",
            ],
        ),
        (
            "tf.MatMul",
            &["cublasCreate", "cublasSetStream", "cublasGemmEx"],
        ),
        (
            "tf.Conv2D",
            &[
                "cuModuleLoadDataEx",
                "cuLaunchKernel",
                "cudnnCreate",
                "cudnnSetStream",
                "cudnnSetTensorNdDescriptor",
                "cudnnSetFilterNdDescriptor",
                "cudnnSetConvolutionNdDescriptor",
                "cudnnConvolutionForward",
            ],
        ),
    ];
    for &(op, calls) in ops {
        let expected = run(Options::default(), op).expect(op);
        let both = [
            "cuMemAlloc",
            "cuMemcpyAsync",
            "cuEventCreate",
            "cuEventRecord",
        ];
        let both = both.iter().chain(&["cuEventSynchronize"]);
        for function in calls.iter().chain(both) {
            let what = format!("{function} in {op}");
            // 1 is a status of every library that says what is wrong with it.
            let mut num_failed = 0;
            for count in 1..=6 {
                match run(failing(&[(function, count, 1)]), op) {
                    Ok(found) => assert_eq!(found, expected, "{what}, call {count}"),
                    Err(error) => {
                        num_failed += 1;
                        let message = error.message();
                        let (library, _) = function.split_at(function.len().min(8));
                        assert!(message.contains(library), "{what}, call {count}: {message}");
                    }
                }
            }
            assert!(num_failed > 0, "{what}: no call failed");
        }
    }
}

#[test]
fn a_lost_context_is_the_error_of_every_later_op() {
    let eager = eager_with(failing(&[]));
    let x = Array::new(&[2], vec![1.0, 2.0]).tensor(&eager, DType::F32);
    let _scope = eager.device("GPU:0").unwrap();
    let faulty = eager.op("gpu_test.OutOfBounds").unwrap().ready().unwrap();
    let y = faulty.call(&[&x]).unwrap();
    let error = eager.to_vec::<f32>(&y).unwrap_err();
    assert!(
        error.message().contains("CUDA_ERROR_ILLEGAL_ADDRESS"),
        "{error}"
    );
    let relu = eager.op("tf.Relu").unwrap().ready().unwrap();
    let later = relu.call(&[&x]).and_then(|y| eager.to_vec::<f32>(&y));
    let error = later.unwrap_err();
    assert!(
        error.message().contains("CUDA_ERROR_ILLEGAL_ADDRESS"),
        "{error}"
    );
    // The other device goes on.
    drop(_scope);
    let _scope = eager.device("GPU:1").unwrap();
    assert_eq!(
        eager.to_vec::<f32>(&relu.call(&[&x]).unwrap()).unwrap(),
        [1.0, 2.0]
    );
}

/// Writes far behind its result.
#[tfrt_op("gpu_test.OutOfBounds", raw, device = "gpu")]
fn out_of_bounds(call: &mut OpCall<'_>) -> Result<()> {
    use tfrt_gpu::eager::{DeviceKernel, GpuCall};

    const KERNEL: DeviceKernel = DeviceKernel {
        name: "out_of_bounds",
        image: |_gpu| Ok(OUT_OF_BOUNDS.to_owned()),
    };
    let mut call = GpuCall::new(call)?;
    let x = call.tensor(0)?;
    let y = call.allocate(x.dtype(), x.shape().clone())?;
    call.launch(KERNEL, 1, &[(&y).into()])?;
    call.set_result(0, y);
    Ok(())
}

const OUT_OF_BOUNDS: &str = "
    .version 7.0
    .target sm_70
    .address_size 64
    .visible .entry out_of_bounds(.param .u64 n, .param .u64 y) {
        .reg .b64 %rd<2>;
        ld.param.u64 %rd1, [y];
        st.global.u32 [%rd1+1048576], 0;
        ret;
    }";
