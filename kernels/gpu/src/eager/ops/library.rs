//! Ops of the standard kernel library, by device functions.
//!
//! Each op has a kernel for each element type that it takes. Exact functions have the same bits as
//! on the processor.

use tfrt::core::{Implementation, OpFlags, OpRegistration};
use tfrt::device::axes::{AxesPlan, ReducedAxes};
use tfrt::device::kernel::{FunctionKernel, KernelForm};
use tfrt::device::tree::{DeviceFunction, ToValue};
use tfrt::ods::SourcePlace;
use tfrt::prelude::*;
use tfrt_tensor::Shape;

use super::{integers, invalid, with_host_operand};
use crate::device_functions::{launch_along, launch_op};
use crate::eager::call::GpuCall;
use crate::values::DenseGpuTensor;

/// Declares the functions of numbers of a type. Integers wrap around.
macro_rules! number_functions {
    ($module:ident: $T:ident) => {
        #[expect(dead_code, reason = "the functions run on GPUs only")]
        mod $module {
            use tfrt::prelude::*;

            #[tfrt_device]
            pub(super) fn itself(x: $T) -> $T {
                x
            }

            #[tfrt_device]
            pub(super) fn neg(x: $T) -> $T {
                -x
            }

            #[tfrt_device]
            pub(super) fn square(x: $T) -> $T {
                x * x
            }

            #[tfrt_device]
            pub(super) fn add(a: $T, b: $T) -> $T {
                a + b
            }

            #[tfrt_device]
            pub(super) fn sub(a: $T, b: $T) -> $T {
                a - b
            }

            #[tfrt_device]
            pub(super) fn mul(a: $T, b: $T) -> $T {
                a * b
            }

            #[tfrt_device]
            pub(super) fn maximum(a: $T, b: $T) -> $T {
                if b > a { b } else { a }
            }

            #[tfrt_device]
            pub(super) fn minimum(a: $T, b: $T) -> $T {
                if b < a { b } else { a }
            }

            #[tfrt_device]
            pub(super) fn less(a: $T, b: $T) -> bool {
                a < b
            }

            #[tfrt_device]
            pub(super) fn less_equal(a: $T, b: $T) -> bool {
                a <= b
            }

            #[tfrt_device]
            pub(super) fn greater(a: $T, b: $T) -> bool {
                a > b
            }

            #[tfrt_device]
            pub(super) fn greater_equal(a: $T, b: $T) -> bool {
                a >= b
            }

            #[tfrt_device]
            pub(super) fn equal(a: $T, b: $T) -> bool {
                a == b
            }

            #[tfrt_device]
            pub(super) fn not_equal(a: $T, b: $T) -> bool {
                a != b
            }

            #[tfrt_device]
            pub(super) fn select(condition: bool, a: $T, b: $T) -> $T {
                if condition { a } else { b }
            }
        }
    };
}

number_functions! { f32_number: f32 }
number_functions! { f64_number: f64 }
number_functions! { i32_number: i32 }
number_functions! { i64_number: i64 }

/// Declares the functions of real numbers of a type.
macro_rules! real_functions {
    ($module:ident: $T:ident) => {
        #[expect(dead_code, reason = "the functions run on GPUs only")]
        mod $module {
            use tfrt::prelude::*;

            #[tfrt_device]
            pub(super) fn log(x: $T) -> $T {
                x.ln()
            }

            #[tfrt_device]
            pub(super) fn log1p(x: $T) -> $T {
                x.ln_1p()
            }

            #[tfrt_device]
            pub(super) fn exp(x: $T) -> $T {
                x.exp()
            }

            #[tfrt_device]
            pub(super) fn sqrt(x: $T) -> $T {
                x.sqrt()
            }

            #[tfrt_device]
            pub(super) fn rsqrt(x: $T) -> $T {
                1.0 / x.sqrt()
            }

            #[tfrt_device]
            pub(super) fn sigmoid(x: $T) -> $T {
                1.0 / (1.0 + (-x).exp())
            }

            #[tfrt_device]
            pub(super) fn tanh(x: $T) -> $T {
                x.tanh()
            }

            #[tfrt_device]
            pub(super) fn abs(x: $T) -> $T {
                x.abs()
            }

            #[tfrt_device]
            pub(super) fn relu6(x: $T) -> $T {
                if x < 0.0 {
                    0.0
                } else if x > 6.0 {
                    6.0
                } else {
                    x
                }
            }

            #[tfrt_device]
            pub(super) fn elu(x: $T) -> $T {
                if x < 0.0 { x.exp_m1() } else { x }
            }

            #[tfrt_device]
            pub(super) fn div(a: $T, b: $T) -> $T {
                a / b
            }

            // A product, as a NaN or an infinity in the gradient of a dead unit is to be seen.
            #[tfrt_device]
            pub(super) fn relu_grad(gradient: $T, x: $T) -> $T {
                gradient * if x > 0.0 { 1.0 } else { 0.0 }
            }
        }
    };
}

real_functions! { f32_real: f32 }
real_functions! { f64_real: f64 }

/// Declares the functions of integers of a type. A quotient is zero for a divisor of zero.
macro_rules! integer_functions {
    ($module:ident: $T:ident) => {
        #[expect(dead_code, reason = "the functions run on GPUs only")]
        mod $module {
            use tfrt::prelude::*;

            #[tfrt_device]
            pub(super) fn div(a: $T, b: $T) -> $T {
                if b == 0 {
                    0
                } else if b == -1 {
                    // The quotient of the least number wraps around.
                    -a
                } else {
                    a / b
                }
            }

            #[tfrt_device]
            pub(super) fn relu_grad(gradient: $T, x: $T) -> $T {
                if x > 0 { gradient } else { 0 }
            }
        }
    };
}

integer_functions! { i32_integer: i32 }
integer_functions! { i64_integer: i64 }

mod logic {
    use tfrt::prelude::*;

    #[tfrt_device]
    pub(super) fn and(a: bool, b: bool) -> bool {
        a && b
    }

    #[tfrt_device]
    pub(super) fn or(a: bool, b: bool) -> bool {
        a || b
    }

    #[tfrt_device]
    pub(super) fn not(a: bool) -> bool {
        !a
    }
}

/// Runs the kernel for the element type of the operand at `typed_by`.
pub(super) fn run(
    call: &mut OpCall<'_>,
    kernels: &'static [FunctionKernel],
    typed_by: usize,
) -> Result<()> {
    let operand = call.argument(typed_by)?.get::<DenseGpuTensor>();
    let dtype = operand.map(DenseGpuTensor::dtype);
    let kernel = kernel_for(call.name(), kernels, typed_by, dtype)?;
    launch_op(kernel, call)
}

/// Returns the kernel for an element type, or any kernel if there is none.
fn kernel_for(
    op: &str,
    kernels: &'static [FunctionKernel],
    typed_by: usize,
    dtype: Option<DType>,
) -> Result<&'static FunctionKernel> {
    let taken = |kernel: &FunctionKernel| kernel.function.parameters[typed_by].ty.dtype();
    let mut found = kernels
        .iter()
        .filter(|kernel| dtype.is_none_or(|dtype| taken(kernel) == dtype));
    found.next().ok_or_else(|| {
        let supported: Vec<String> = kernels.iter().map(|it| taken(it).to_string()).collect();
        let found = dtype.map_or_else(String::new, |dtype| dtype.to_string());
        let supported = supported.join(" or ");
        invalid(format!(
            "`{op}` on a GPU: expected {supported}, found {found}"
        ))
    })
}

const fn registration(
    name: &'static str,
    function: tfrt::core::OpFunction,
    line: u32,
) -> OpRegistration {
    OpRegistration {
        device_type: "gpu",
        flags: OpFlags::NO_SIDE_EFFECTS,
        implementation: Implementation::Function(function),
        place: SourcePlace {
            file: file!(),
            line,
        },
        ..OpRegistration::new(name)
    }
}

/// Declares ops that apply functions to elements, with broadcasting. The function is the one for
/// the element type of the operand at an index.
macro_rules! elementwise {
    ($($name:literal by $typed_by:literal: $($module:ident::$function:ident)|+;)*) => {$(
        inventory::submit! {
            registration(
                $name,
                |call| {
                    static KERNELS: &[FunctionKernel] = &[$(FunctionKernel {
                        name: $name,
                        form: KernelForm::Elementwise,
                        function: <$module::$function as DeviceFunction>::FUNCTION,
                    }),+];
                    run(call, KERNELS, $typed_by)
                },
                line!(),
            )
        }
    )*};
}

elementwise! {
    "tf.Log" by 0: f32_real::log | f64_real::log;
    "tf.Log1p" by 0: f32_real::log1p | f64_real::log1p;
    "tf.Exp" by 0: f32_real::exp | f64_real::exp;
    "tf.Sqrt" by 0: f32_real::sqrt | f64_real::sqrt;
    "tf.Rsqrt" by 0: f32_real::rsqrt | f64_real::rsqrt;
    "tf.Sigmoid" by 0: f32_real::sigmoid | f64_real::sigmoid;
    "tfrt.Tanh" by 0: f32_real::tanh | f64_real::tanh;
    "tf.Abs" by 0: f32_real::abs | f64_real::abs;
    "tf.Relu6" by 0: f32_real::relu6 | f64_real::relu6;
    "tf.Elu" by 0: f32_real::elu | f64_real::elu;
    "tf.Neg" by 0: f32_number::neg | f64_number::neg | i32_number::neg | i64_number::neg;
    "tf.Square" by 0:
        f32_number::square | f64_number::square | i32_number::square | i64_number::square;
    "tf.Sub" by 0: f32_number::sub | f64_number::sub | i32_number::sub | i64_number::sub;
    "tf.Mul" by 0: f32_number::mul | f64_number::mul | i32_number::mul | i64_number::mul;
    "tf.RealDiv" by 0: f32_real::div | f64_real::div | i32_integer::div | i64_integer::div;
    "tf.Maximum" by 0:
        f32_number::maximum | f64_number::maximum | i32_number::maximum | i64_number::maximum;
    "tf.Minimum" by 0:
        f32_number::minimum | f64_number::minimum | i32_number::minimum | i64_number::minimum;
    "tf.Less" by 0: f32_number::less | f64_number::less | i32_number::less | i64_number::less;
    "tf.LessEqual" by 0:
        f32_number::less_equal | f64_number::less_equal | i32_number::less_equal
        | i64_number::less_equal;
    "tf.Greater" by 0:
        f32_number::greater | f64_number::greater | i32_number::greater | i64_number::greater;
    "tf.GreaterEqual" by 0:
        f32_number::greater_equal | f64_number::greater_equal | i32_number::greater_equal
        | i64_number::greater_equal;
    "tf.Equal" by 0:
        f32_number::equal | f64_number::equal | i32_number::equal | i64_number::equal;
    "tf.NotEqual" by 0:
        f32_number::not_equal | f64_number::not_equal | i32_number::not_equal
        | i64_number::not_equal;
    "tf.ReluGrad" by 0:
        f32_real::relu_grad | f64_real::relu_grad | i32_integer::relu_grad
        | i64_integer::relu_grad;
    "tf.SelectV2" by 1:
        f32_number::select | f64_number::select | i32_number::select | i64_number::select;
    "tf.LogicalAnd" by 0: logic::and;
    "tf.LogicalOr" by 0: logic::or;
    "tf.LogicalNot" by 0: logic::not;
}

/// Adds integers. The reference's op, which takes other types, is in `element_wise`.
pub(super) fn add_integers(call: &mut OpCall<'_>) -> Result<()> {
    static KERNELS: &[FunctionKernel] = &[
        FunctionKernel {
            name: "tf.AddV2",
            form: KernelForm::Elementwise,
            function: <i32_number::add as DeviceFunction>::FUNCTION,
        },
        FunctionKernel {
            name: "tf.AddV2",
            form: KernelForm::Elementwise,
            function: <i64_number::add as DeviceFunction>::FUNCTION,
        },
    ];
    run(call, KERNELS, 0)
}

/// Reduces the first operand along the axes that the second one lists, which is in host memory.
fn reduce(call: &mut OpCall<'_>, kernels: &'static [FunctionKernel]) -> Result<()> {
    let keep_dims = call.attrs().get::<bool>("keep_dims").unwrap_or(false);
    let op = call.name();
    let mut call = GpuCall::new(call)?;
    let indices = call.host_tensor(1)?.ok_or_else(|| {
        invalid(format!(
            "`{op}`: expected the reduction indices in host memory"
        ))
    })?;
    let axes = integers(indices)?;
    let axes = ReducedAxes {
        axes: &axes,
        keep_dims,
    };
    reduce_along(&mut call, kernels, &axes)
}

fn reduce_along(
    call: &mut GpuCall<'_, '_>,
    kernels: &'static [FunctionKernel],
    axes: &ReducedAxes<'_>,
) -> Result<()> {
    let op = call.op_call().name();
    let x = call.tensor(0)?;
    let kernel = kernel_for(op, kernels, 0, Some(x.dtype()))?;
    let plan = AxesPlan::new(op, axes, x.shape().dims())?;
    let y = call.allocate(x.dtype(), Shape::new(&plan.extents)?)?;
    launch_along(kernel, call.gpu().stream(), &plan, x, &y)?;
    call.set_result(0, y);
    Ok(())
}

/// The kernels that combine elements along axes, each starting with a number.
macro_rules! reduction_kernels {
    ($name:expr, $($module:ident::$combine:ident from $identity:expr),+) => {{
        static KERNELS: &[FunctionKernel] = &[$(FunctionKernel {
            name: $name,
            form: KernelForm::ReduceAlong {
                identity: || ToValue::to_value($identity),
                combine: <$module::$combine as DeviceFunction>::FUNCTION,
                // The axes are those of the call.
                axes: &ReducedAxes { axes: &[], keep_dims: false },
            },
            function: <$module::itself as DeviceFunction>::FUNCTION,
        }),+];
        KERNELS
    }};
}

/// Declares ops that combine elements along axes, each starting with a number.
macro_rules! reductions {
    ($($name:literal: $($module:ident::$combine:ident from $identity:expr),+;)*) => {$(
        inventory::submit! {
            with_host_operand($name, |call| {
                reduce(call, reduction_kernels!($name, $($module::$combine from $identity),+))
            })
        }
    )*};
}

reductions! {
    "tf.Sum": f32_number::add from 0.0_f32, f64_number::add from 0.0_f64,
        i32_number::add from 0_i32, i64_number::add from 0_i64;
    "tf.Prod": f32_number::mul from 1.0_f32, f64_number::mul from 1.0_f64,
        i32_number::mul from 1_i32, i64_number::mul from 1_i64;
    "tf.Max": f32_number::maximum from f32::NEG_INFINITY, f64_number::maximum from f64::NEG_INFINITY,
        i32_number::maximum from i32::MIN, i64_number::maximum from i64::MIN;
    "tf.Min": f32_number::minimum from f32::INFINITY, f64_number::minimum from f64::INFINITY,
        i32_number::minimum from i32::MAX, i64_number::minimum from i64::MAX;
}

/// Sums gradients over all dimensions but the last.
///
/// # Errors
/// If the tensor is a scalar.
#[tfrt_op("tf.BiasAddGrad", raw, device = "gpu")]
fn bias_add_grad(call: &mut OpCall<'_>) -> Result<()> {
    let kernels = reduction_kernels!(
        "tf.BiasAddGrad",
        f32_number::add from 0.0_f32,
        f64_number::add from 0.0_f64,
        i32_number::add from 0_i32,
        i64_number::add from 0_i64
    );
    let mut call = GpuCall::new(call)?;
    let shape = call.tensor(0)?.shape();
    let Some(num_axes) = shape.rank().checked_sub(1) else {
        return Err(invalid(format!(
            "`tf.BiasAddGrad`: expected rows of gradients, found {shape}"
        )));
    };
    let axes: Vec<i64> = (0..num_axes as i64).collect();
    let axes = ReducedAxes {
        axes: &axes,
        keep_dims: false,
    };
    reduce_along(&mut call, kernels, &axes)
}
