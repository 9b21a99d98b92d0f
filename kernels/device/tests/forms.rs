//! The forms of launches: every one is PTX, for functions of every type.

mod common;

use common::{device, elementwise, write_for_assembler};
use tfrt_device::axes::ReducedAxes;
use tfrt_device::kernel::{FunctionKernel, KernelForm};
use tfrt_device::ptx::{self, GpuTarget, LaunchForm, OperandLayout};
use tfrt_device::tree::{
    BinaryOp, CodeBlock, DeviceFunction, Expr, Function, NumberMethod, Parameter, Scalar,
    Statement, ToValue, Value,
};
use tfrt_macros::tfrt_device;
use tfrt_ptx::Module;

macro_rules! functions {
    ($($name:ident $ty:ident $identity:expr;)+) => {
        $(
            #[tfrt_device(crate = crate)]
            fn $name(a: $ty, b: $ty) -> $ty {
                if a < b { a } else { b }
            }
        )+
        const FUNCTIONS: &[(&Function, fn() -> Value)] = &[
            $((<$name as DeviceFunction>::FUNCTION, || ToValue::to_value($identity)),)+
        ];
    };
}

functions! {
    least_bool bool true;
    least_i32 i32 i32::MAX;
    least_u32 u32 u32::MAX;
    least_i64 i64 i64::MAX;
    least_u64 u64 u64::MAX;
    least_f32 f32 f32::INFINITY;
    least_f64 f64 f64::INFINITY;
}

fn reduction(function: &'static Function, identity: fn() -> Value) -> &'static FunctionKernel {
    Box::leak(Box::new(FunctionKernel {
        name: "1st.kernel-of the test",
        form: KernelForm::Reduce {
            identity,
            combine: function,
        },
        function,
    }))
}

fn along(function: &'static Function, identity: fn() -> Value) -> &'static FunctionKernel {
    Box::leak(Box::new(FunctionKernel {
        name: "test.along",
        form: KernelForm::ReduceAlong {
            identity,
            combine: function,
            axes: &ReducedAxes {
                axes: &[0],
                keep_dims: false,
            },
        },
        function,
    }))
}

#[test]
fn every_form_is_ptx() {
    let target = GpuTarget::for_capability(7, 0).unwrap();
    let mixed = LaunchForm::Elementwise(vec![OperandLayout::Single, OperandLayout::Linear]);
    let broadcasts = [1, 2, 5]
        .map(|rank| [true, false].map(|is_narrow| LaunchForm::Broadcast { rank, is_narrow }));
    let broadcasts = broadcasts.into_iter().flatten();
    let forms: Vec<LaunchForm> = std::iter::once(mixed).chain(broadcasts).collect();
    for (function, identity) in FUNCTIONS {
        let of_elements = forms.iter().map(|form| (elementwise(function), form));
        let of_reductions = [&LaunchForm::Partial, &LaunchForm::Final]
            .map(|form| (reduction(function, *identity), form));
        let groups = [(0, 0), (1, 1), (2, 3)];
        let groups = groups.map(|(kept, reduced)| {
            [false, true].map(|is_shared| LaunchForm::Along {
                kept,
                reduced,
                is_shared,
            })
        });
        let groups = groups.as_flattened();
        let of_axes = groups.iter().map(|form| (along(function, *identity), form));
        for (kernel, form) in of_elements.chain(of_reductions).chain(of_axes) {
            let text = ptx::emit(kernel, form, target).unwrap();
            let module = Module::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
            assert!(module.kernel(&ptx::entry_name(kernel)).is_some());
            write_for_assembler(kernel, function.name, form);
        }
    }
}

#[test]
fn a_form_that_is_not_one_of_the_kernel_is_an_error() {
    let target = GpuTarget::for_capability(7, 0).unwrap();
    let (function, identity) = FUNCTIONS[1];
    let cases = [
        (
            elementwise(function),
            LaunchForm::Final,
            "does not match the kernel",
        ),
        (
            elementwise(function),
            LaunchForm::Elementwise(vec![]),
            "does not fit 2 operands",
        ),
        (
            elementwise(function),
            LaunchForm::Broadcast {
                rank: 17,
                is_narrow: true,
            },
            "does not fit 2 operands",
        ),
        (
            reduction(function, identity),
            LaunchForm::Broadcast {
                rank: 1,
                is_narrow: true,
            },
            "does not match the kernel",
        ),
        (
            reduction(function, || 1.0_f32.to_value()),
            LaunchForm::Partial,
            "must be of the type of the function, `i32`",
        ),
    ];
    for (kernel, form, message) in cases {
        let error = ptx::emit(kernel, &form, target).unwrap_err();
        assert!(error.message().contains(message), "{error}");
    }
}

/// A function whose tree no macro wrote.
fn by_hand(body: Expr, num_locals: u32) -> &'static FunctionKernel {
    let [parameter] = <least_i32 as DeviceFunction>::FUNCTION.parameters[..1] else {
        unreachable!();
    };
    elementwise(Box::leak(Box::new(Function {
        name: "by_hand",
        parameters: Box::leak(Box::new([parameter])),
        result: Scalar::I32,
        num_locals,
        body: CodeBlock {
            statements: &[],
            value: Some(Box::leak(Box::new(body))),
        },
    })))
}

#[test]
fn trees_that_no_macro_writes_are_errors() {
    let target = GpuTarget::for_capability(7, 0).unwrap();
    let form = LaunchForm::Elementwise(vec![OperandLayout::Linear]);
    let bodies = [
        (Expr::Local(5), 1),
        (Expr::Float("1.0", None), 1),
        (Expr::Method(NumberMethod::Sin, &[Expr::Local(0)]), 1),
        (Expr::Method(NumberMethod::Sin, &[]), 1),
        (
            Expr::Call(<least_i32 as DeviceFunction>::FUNCTION, &[Expr::Local(0)]),
            1,
        ),
        (
            Expr::If(
                &Expr::Local(0),
                CodeBlock {
                    statements: &[],
                    value: None,
                },
                None,
            ),
            1,
        ),
        (
            Expr::Block(CodeBlock {
                statements: &[Statement::Break],
                value: Some(&Expr::Local(0)),
            }),
            1,
        ),
    ];
    for (body, num_locals) in bodies {
        let shown = format!("{body:?}");
        let error = ptx::emit(by_hand(body, num_locals), &form, target).expect_err(&shown);
        assert!(
            error.message().starts_with("device function `by_hand`: "),
            "{error}"
        );
    }
}

/// Returns a function that calls another one twice.
fn twice(callee: &'static Function) -> &'static Function {
    let call = || Expr::Call(callee, &[Expr::Local(0), Expr::Local(1)]);
    let (one, other): (&Expr, &Expr) = (Box::leak(Box::new(call())), Box::leak(Box::new(call())));
    Box::leak(Box::new(Function {
        name: "twice",
        parameters: callee.parameters,
        result: callee.result,
        num_locals: 2,
        body: CodeBlock {
            statements: &[],
            value: Some(Box::leak(Box::new(Expr::Binary(BinaryOp::Add, one, other)))),
        },
    }))
}

#[test]
fn code_that_grows_without_bound_is_refused() {
    let target = GpuTarget::for_capability(7, 0).unwrap();
    let form = LaunchForm::Elementwise(vec![OperandLayout::Linear; 2]);
    let mut function = <least_i32 as DeviceFunction>::FUNCTION;
    for _ in 0..3 {
        function = twice(function);
    }
    assert!(ptx::emit(elementwise(function), &form, target).is_ok());
    for _ in 0..60 {
        function = twice(function);
    }
    let error = ptx::emit(elementwise(function), &form, target).unwrap_err();
    assert!(
        error.message().contains("has more than 131072 lines"),
        "{error}"
    );
}

/// The macro cannot write it: functions that call each other do not compile.
static CIRCLE: Function = Function {
    name: "circle",
    parameters: &[Parameter {
        name: "x",
        ty: Scalar::I32,
    }],
    result: Scalar::I32,
    num_locals: 1,
    body: CodeBlock {
        statements: &[],
        value: Some(&Expr::Call(&CIRCLE, &[Expr::Local(0)])),
    },
};

#[test]
fn functions_that_call_each_other_in_a_circle_are_refused() {
    let target = GpuTarget::for_capability(7, 0).unwrap();
    let form = LaunchForm::Elementwise(vec![OperandLayout::Linear]);
    let error = ptx::emit(elementwise(&CIRCLE), &form, target).unwrap_err();
    assert!(
        error
            .message()
            .ends_with("functions cannot call each other in a circle"),
        "{error}"
    );
}
