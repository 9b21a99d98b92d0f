//! Ops: each form of `#[tfrt_op]`, called by name through a handler and as a kernel of a graph.

use std::sync::Arc;

use tfrt::core::{
    CoreRuntime, CpuOpHandler, NullOpHandler, OpAttrs, OpFlags, OpHandlerRef, TensorHandle,
};
use tfrt::host::RequestContextBuilder;
use tfrt::prelude::*;
use tfrt::tensor::{I1, Shape};
use tfrt::testing;

/// A runtime, and the ops of its processor.
struct Ops {
    runtime: Arc<CoreRuntime>,
    handler: OpHandlerRef,
    ctx: ExecutionContext,
}

impl Ops {
    fn new() -> Self {
        let host = HostContext::builder()
            .registry(KernelRegistry::from_link().unwrap().into())
            .build();
        let runtime = CoreRuntime::of(&host);
        let fallback = OpHandlerRef::new(NullOpHandler);
        let cpu = CpuOpHandler::new(&runtime, runtime.host_device().clone(), fallback);
        Self {
            runtime,
            handler: OpHandlerRef::new(cpu),
            ctx: ExecutionContext::new(RequestContextBuilder::new(host).build()),
        }
    }

    fn handle(&self, tensor: impl Tensor + Value) -> TensorHandle {
        TensorHandle::of_tensor(self.runtime.host_device().clone(), tensor)
    }

    fn call<const N: usize>(
        &self,
        op: &str,
        attrs: &OpAttrs,
        arguments: [TensorHandle; N],
    ) -> TensorHandle {
        let [result] = self
            .handler
            .make_op(op)
            .unwrap()
            .call(&self.ctx, arguments, attrs, None);
        result
    }

    /// The text of the result, or of the error.
    fn text<const N: usize>(
        &self,
        op: &str,
        attrs: &OpAttrs,
        arguments: [TensorHandle; N],
    ) -> String {
        let result = self.call(op, attrs, arguments);
        match result.error_if_present() {
            Some(error) => error.message().to_owned(),
            None => result.to_string(),
        }
    }

    fn flags(&self, op: &str) -> OpFlags {
        self.runtime.ops().get("cpu", op).unwrap().unwrap().flags()
    }
}

fn vector<T: Element>(elements: &[T]) -> DenseHostTensor {
    DenseHostTensor::vector(elements).unwrap()
}

fn matrix<T: Element>(rows: usize, elements: &[T]) -> DenseHostTensor {
    let shape = Shape::new(&[rows, elements.len() / rows]).unwrap();
    vector(elements).reshaped(shape).unwrap()
}

fn attrs(set: impl FnOnce(&mut OpAttrs) -> Result<bool>) -> OpAttrs {
    let mut attrs = OpAttrs::new();
    set(&mut attrs).unwrap();
    attrs
}

fn same(x: &TensorMetadata) -> TensorMetadata {
    x.clone()
}

/// Returns the larger of each element and a bound.
#[tfrt_op("op.Floor", T = [f32, f64, i32], metadata = floor_metadata)]
fn floor<T: Element + PartialOrd + From<i8>>(
    x: &[T],
    #[attr(default = 0)] bound: i8,
    #[out] y: &mut [T],
) {
    let bound = T::from(bound);
    for (x, y) in x.iter().zip(y) {
        *y = if *x < bound { bound } else { *x };
    }
}

fn floor_metadata(x: &TensorMetadata, _bound: i8) -> TensorMetadata {
    x.clone()
}

#[test]
fn family_finds_the_element_type() {
    let ops = Ops::new();
    let none = OpAttrs::new();
    let result = ops.text("op.Floor", &none, [ops.handle(vector(&[-1.5_f32, 2.0]))]);
    assert_eq!(
        result,
        "DenseHostTensor dtype = f32, shape = [2], values = [0.000000e+00, 2.000000e+00]"
    );
    let one = attrs(|attrs| attrs.set("bound", 1_i8));
    let result = ops.text("op.Floor", &one, [ops.handle(vector(&[-1_i32, 2]))]);
    assert_eq!(
        result,
        "DenseHostTensor dtype = i32, shape = [2], values = [1, 2]"
    );
    let refused = ops.text("op.Floor", &none, [ops.handle(vector(&[-1_i8]))]);
    assert_eq!(
        refused,
        "`op.Floor` does not support i8; supported: f32, f64, i32"
    );
    assert_eq!(ops.flags("op.Floor"), OpFlags::NO_SIDE_EFFECTS);
}

/// The product of two matrices.
#[tfrt_op(
    "op.MatMul",
    T = [f32, i32],
    metadata = matmul_metadata,
    unsupported = "no product of {dtype}",
)]
fn matmul<T: Element + std::iter::Sum + std::ops::Mul<Output = T>>(
    a: TensorView<'_, T, 2>,
    b: TensorView<'_, T, 2>,
    #[out] mut c: TensorViewMut<'_, T, 2>,
) -> Result<()> {
    let [rows, depth] = a.dims();
    for i in 0..rows {
        for j in 0..b.dims()[1] {
            c[[i, j]] = (0..depth).map(|k| a[[i, k]] * b[[k, j]]).sum();
        }
    }
    Ok(())
}

fn matmul_metadata(left: &TensorMetadata, right: &TensorMetadata) -> Result<TensorMetadata> {
    match (&*left.extents, &*right.extents) {
        (&[rows, inner], &[also_inner, columns]) if inner == also_inner => {
            Ok(TensorMetadata::new(left.dtype, [rows, columns]))
        }
        (&[_], _) => Ok(right.clone()),
        _ => Err(Error::new(format!("cannot multiply {left} and {right}"))),
    }
}

#[test]
fn views_have_the_rank_that_is_written() {
    let ops = Ops::new();
    let none = OpAttrs::new();
    let (a, b) = (matrix(2, &[1_i32, 2, 3, 4]), matrix(2, &[5_i32, 6]));
    let result = ops.text("op.MatMul", &none, [ops.handle(a.clone()), ops.handle(b)]);
    assert_eq!(
        result,
        "DenseHostTensor dtype = i32, shape = [2, 1], values = [17, 39]"
    );
    let text = |a: &DenseHostTensor, b: &DenseHostTensor| {
        ops.text(
            "op.MatMul",
            &none,
            [ops.handle(a.clone()), ops.handle(b.clone())],
        )
    };
    assert_eq!(
        text(&vector(&[1_i32]), &a),
        "`a` of `op.MatMul`: expected a tensor of rank 2, found rank 1"
    );
    assert_eq!(
        text(&a, &matrix(2, &[1.0_f32, 2.0])),
        "`b` of `op.MatMul`: expected elements of type i32, found f32"
    );
    assert_eq!(
        text(&matrix(1, &[1_i8]), &matrix(1, &[1_i8])),
        "no product of i8"
    );
    assert_eq!(
        text(&a, &matrix(1, &[1_i32])),
        "cannot multiply i32 [2, 2] and i32 [1, 1]"
    );
}

/// Where two tensors agree.
#[tfrt_op("op.Equal", T = [i32, i64], metadata = equal_metadata)]
fn equal<T: Element + PartialEq>(a: &[T], b: &[T], #[out] y: &mut [I1]) {
    for ((a, b), y) in a.iter().zip(b).zip(y) {
        *y = I1::from(a == b);
    }
}

fn equal_metadata(a: &TensorMetadata, _b: &TensorMetadata) -> TensorMetadata {
    TensorMetadata::new(DType::I1, a.extents.clone())
}

/// Adds a bias to each row, if one is given.
#[tfrt_op("op.Bias", metadata = bias_metadata)]
fn bias(x: TensorView<'_, f32, 2>, bias: Option<&[f32]>, #[out] mut y: TensorViewMut<'_, f32, 2>) {
    for row in 0..x.dims()[0] {
        for (column, (x, y)) in x.row(row).iter().zip(y.row_mut(row)).enumerate() {
            *y = x + bias.map_or(0.0, |bias| bias[column]);
        }
    }
}

fn bias_metadata(x: &TensorMetadata, bias: Option<&TensorMetadata>) -> Result<TensorMetadata> {
    if let Some(bias) = bias
        && bias.extents.last() != x.extents.last()
    {
        return Err(Error::new(format!("a bias of {bias} for {x}")));
    }
    Ok(x.clone())
}

#[test]
fn elements_need_no_family() {
    let ops = Ops::new();
    let none = OpAttrs::new();
    let pair = [
        ops.handle(vector(&[1_i64, 2])),
        ops.handle(vector(&[1_i64, 3])),
    ];
    assert_eq!(
        ops.text("op.Equal", &none, pair),
        "DenseHostTensor dtype = i1, shape = [2], values = [1, 0]"
    );
    let x = || ops.handle(matrix(1, &[1.0_f32, 2.0]));
    let shown = "DenseHostTensor dtype = f32, shape = [1, 2], values = ";
    let plain = ops.text("op.Bias", &none, [x()]);
    assert_eq!(plain, format!("{shown}[1.000000e+00, 2.000000e+00]"));
    let biased = ops.text("op.Bias", &none, [x(), ops.handle(vector(&[1.0_f32, 1.0]))]);
    assert_eq!(biased, format!("{shown}[2.000000e+00, 3.000000e+00]"));
    let refused = ops.text("op.Bias", &none, [x(), ops.handle(vector(&[1.0_f32]))]);
    assert_eq!(refused, "a bias of f32 [1] for f32 [1, 2]");
}

/// Concatenates vectors.
#[tfrt_op("op.Concat", metadata = concat_metadata)]
fn concat(ctx: &ExecutionContext, parts: Operands<'_, DenseHostTensor>) -> Result<DenseHostTensor> {
    let mut elements = Vec::new();
    for part in parts.iter() {
        elements.extend_from_slice(&part.elements::<i32>()?);
    }
    let shape = Shape::new(&[elements.len()])?;
    Ok(DenseHostTensor::from_elements(
        ctx.allocator(),
        shape,
        &elements,
    )?)
}

fn concat_metadata(parts: &[TensorMetadata]) -> Result<TensorMetadata, String> {
    let len = parts
        .iter()
        .filter_map(TensorMetadata::num_elements)
        .sum::<usize>();
    let dtype = parts.first().ok_or("nothing to concatenate")?.dtype;
    Ok(TensorMetadata::new(dtype, [len]))
}

/// How many operands there are, and the first again.
#[tfrt_op("op.Count", metadata = count_metadata, accepts(scalar))]
fn count(values: &[AnyRef]) -> (ScalarHostTensor, AnyRef) {
    let count = ScalarHostTensor::new(
        Shape::scalar(),
        i64::try_from(values.len()).unwrap_or(i64::MAX),
    );
    (count, values[0].clone())
}

fn count_metadata(values: &[TensorMetadata]) -> (TensorMetadata, Option<TensorMetadata>) {
    (TensorMetadata::new(DType::I64, []), values.first().cloned())
}

#[test]
fn variadic_operands_have_metadata() {
    let ops = Ops::new();
    let none = OpAttrs::new();
    let parts = [ops.handle(vector(&[1, 2])), ops.handle(vector(&[3]))];
    assert_eq!(
        ops.text("op.Concat", &none, parts),
        "DenseHostTensor dtype = i32, shape = [3], values = [1, 2, 3]"
    );
    assert_eq!(ops.text("op.Concat", &none, []), "nothing to concatenate");

    let scalar = ops.handle(ScalarHostTensor::new(Shape::new(&[2]).unwrap(), 5_i32));
    let arguments = [scalar, ops.handle(vector(&[1]))];
    let count = ops.handler.make_op("op.Count").unwrap();
    let [count, first]: [_; 2] = count.call(&ops.ctx, arguments, &none, None);
    assert_eq!(
        count.to_string(),
        "ScalarHostTensor dtype = i64, shape = [], value = 2"
    );
    assert_eq!(
        first.to_string(),
        "ScalarHostTensor dtype = i32, shape = [2], value = 5"
    );
    assert_eq!(
        ops.flags("op.Count"),
        OpFlags::NO_SIDE_EFFECTS.with(OpFlags::ACCEPTS_SCALAR)
    );
}

/// The sum of a tensor of whatever kind, and where it is taken as a reference.
#[tfrt_op("op.Kinds", metadata = kinds_metadata, accepts(sparse, string))]
fn kinds(
    any: &dyn Tensor,
    value: &AnyRef,
    scalar: &ScalarHostTensor,
    text: &StringHostTensor,
    #[out] y: &mut DenseHostTensor,
) -> Result<()> {
    let rank = any.shape().rank() + text.shape().rank() + scalar.shape().rank();
    let value = value.try_read::<DenseHostTensor>().map_err(Error::other)?;
    y.elements_mut::<i64>()?[0] = i64::try_from(rank + value.num_elements()).unwrap_or(i64::MAX);
    Ok(())
}

fn kinds_metadata(
    any: &TensorMetadata,
    value: &TensorMetadata,
    scalar: &TensorMetadata,
    text: &TensorMetadata,
) -> Result<TensorMetadata> {
    match (any.dtype, value.dtype, scalar.dtype, text.dtype) {
        (DType::F32, DType::I32, DType::I64, DType::String) => {
            Ok(TensorMetadata::new(DType::I64, [1]))
        }
        found => Err(Error::new(format!("{found:?}"))),
    }
}

#[test]
fn metadata_is_told_of_operands_of_every_kind() {
    let ops = Ops::new();
    let call = |any: TensorHandle| {
        let rest = [
            ops.handle(vector(&[1, 2, 3])),
            ops.handle(ScalarHostTensor::new(Shape::new(&[4]).unwrap(), 7_i64)),
            ops.handle(StringHostTensor::new(Shape::scalar(), vec!["a".into()]).unwrap()),
        ];
        let [value, scalar, text] = rest;
        ops.text("op.Kinds", &OpAttrs::new(), [any, value, scalar, text])
    };
    assert_eq!(
        call(ops.handle(matrix(1, &[1.0_f32]))),
        "DenseHostTensor dtype = i64, shape = [1], values = [6]"
    );
    assert_eq!(
        call(ops.handle(vector(&[1_i32]))),
        "(I32, I32, I64, String)"
    );
    let all = OpFlags::ACCEPTS_SPARSE
        .with(OpFlags::ACCEPTS_SCALAR)
        .with(OpFlags::ACCEPTS_STRING);
    assert!(ops.flags("op.Kinds").contains(all));
}

#[derive(Attr, Clone)]
enum Mode {
    Keep,
    Negate,
}

/// Returns an operand, changed as attributes say, in its own memory if that is possible.
#[tfrt_op("op.Attributes", metadata = attributes_metadata)]
fn attributes(
    x: &AnyRef,
    host: &HostContext,
    #[attr] mode: Mode,
    #[attr(default = 1)] factor: i32,
    #[attr] axes: Option<&[i64]>,
    #[attr("label")] _label: &str,
) -> Result<DenseHostTensor> {
    let mut y = DenseHostTensor::make_exclusive(x, host.allocator())?;
    let sign = match mode {
        Mode::Keep => 1,
        Mode::Negate => -1,
    };
    let extra = axes.map_or(0, |axes| i32::try_from(axes.len()).unwrap_or(i32::MAX));
    for y in y.elements_mut::<i32>()?.iter_mut() {
        *y = *y * sign * factor + extra;
    }
    Ok(y)
}

fn attributes_metadata(
    x: &TensorMetadata,
    _mode: Mode,
    factor: i32,
    axes: Option<&[i64]>,
    label: &str,
) -> Result<TensorMetadata> {
    if label.is_empty() {
        return Err(Error::new(format!("no label; {factor}, {axes:?}")));
    }
    Ok(x.clone())
}

#[test]
fn metadata_is_told_attributes_and_their_defaults() {
    let ops = Ops::new();
    let mut attrs = OpAttrs::new();
    attrs.set("mode", 1_i32).unwrap();
    attrs.set("label", "").unwrap();
    let x = || ops.handle(vector(&[1, 2]));
    assert_eq!(
        ops.text("op.Attributes", &attrs, [x()]),
        "no label; 1, None"
    );
    let mut attrs = OpAttrs::new();
    attrs.set("mode", 1_i32).unwrap();
    attrs.set("label", "y").unwrap();
    attrs.set("factor", 3_i32).unwrap();
    attrs.set("axes", &[1_i64, 2][..]).unwrap();
    let shown = "DenseHostTensor dtype = i32, shape = [2], values = ";
    assert_eq!(
        ops.text("op.Attributes", &attrs, [x()]),
        format!("{shown}[-1, -4]")
    );
    let unnamed = ops.text("op.Attributes", &OpAttrs::new(), [x()]);
    assert_eq!(unnamed, "`op.Attributes`: the attribute `label` is missing");
}

/// Adds to a tensor where it is.
#[tfrt_op("op.AddTo")]
fn add_to(x: &mut DenseHostTensor, y: &DenseHostTensor) -> Result<()> {
    let y = y.elements::<i32>()?;
    for (x, y) in x.elements_mut::<i32>()?.iter_mut().zip(&*y) {
        *x += y;
    }
    Ok(())
}

/// Returns a tensor, in the order of effects.
#[tfrt_op("op.Ordered", effect = "order")]
fn ordered(x: &AnyRef) -> AnyRef {
    x.clone()
}

#[test]
fn ops_with_effects_follow_a_chain() {
    let ops = Ops::new();
    for name in ["op.AddTo", "op.Ordered", "op.RawEffect"] {
        assert_eq!(ops.flags(name), OpFlags::NONE, "{name}");
    }
    let none = OpAttrs::new();
    let refused = ops.text("op.Ordered", &none, [ops.handle(vector(&[1]))]);
    assert!(refused.contains("needs a chain"), "{refused}");

    let x = ops.handle(vector(&[1, 2]));
    let mut chain = AnyRef::ready_chain();
    let add_to = ops.handler.make_op("op.AddTo").unwrap();
    let arguments = [x.clone(), ops.handle(vector(&[3, 4]))];
    let []: [TensorHandle; 0] = add_to.call(&ops.ctx, arguments, &none, Some(&mut chain));
    assert!(chain.is_available());
    assert_eq!(
        x.to_string(),
        "DenseHostTensor dtype = i32, shape = [2], values = [4, 6]"
    );
}

/// Doubles, later.
#[tfrt_op("op.Later")]
async fn later(x: AsyncValueRef<DenseHostTensor>) -> Result<DenseHostTensor> {
    let x = x.await?;
    let x = x.get().ok_or_else(|| Error::new("nothing"))?;
    let doubled: Vec<i32> = x.elements::<i32>()?.iter().map(|x| 2 * x).collect();
    Ok(DenseHostTensor::vector(&doubled)?)
}

/// The same for each type of elements, later.
#[tfrt_op("op.LaterFamily", T = [i32, f32], metadata = same)]
async fn later_family<T: Element + std::ops::Add<Output = T>>(x: &[T], #[out] y: &mut [T]) {
    for (x, y) in x.iter().zip(y) {
        *y = *x + *x;
    }
}

/// The same, on the blocking pool.
#[tfrt_op("op.Blocking", blocking)]
fn blocking(x: &DenseHostTensor) -> AnyRef {
    AnyRef::available(x.clone())
}

#[test]
fn results_may_come_later() {
    let ops = Ops::new();
    let host = Arc::clone(ops.ctx.host());
    for (name, expected) in [
        ("op.Later", "[2, 4]"),
        ("op.LaterFamily", "[2, 4]"),
        ("op.Blocking", "[1, 2]"),
    ] {
        let result = ops.call(name, &OpAttrs::new(), [ops.handle(vector(&[1, 2]))]);
        host.await_available(&[result.tensor().unwrap().clone()])
            .unwrap();
        let shown = result.to_string();
        assert!(shown.ends_with(expected), "{name}: {shown}");
    }
}

/// Returns an attribute of any type as text.
#[tfrt_op("op.Raw", raw, metadata = raw_metadata, accepts(string))]
fn raw(call: &mut OpCall<'_>) -> Result<()> {
    let metadata = call.result_metadata(0)?;
    assert_eq!(metadata.dtype, DType::I64);
    let number = call
        .attrs()
        .get::<i64>("number")
        .unwrap_or(i64::try_from(call.arguments().len()).unwrap_or(i64::MAX));
    call.set_result(0, AnyRef::available(DenseHostTensor::vector(&[number])?));
    Ok(())
}

fn raw_metadata(query: &OpQuery<'_>) -> Result<TensorMetadata> {
    if query.operands.len() > 1 {
        return Err(Error::new(format!("`{}` takes one operand", query.op)));
    }
    Ok(TensorMetadata::new(DType::I64, [1]))
}

/// Does nothing, in order.
#[tfrt_op("op.RawEffect", raw, side_effecting)]
fn raw_effect(_call: &mut OpCall<'_>) {}

#[test]
fn raw_op_takes_its_call() {
    let ops = Ops::new();
    let attrs = attrs(|attrs| attrs.set("number", 7_i64));
    let shown = "DenseHostTensor dtype = i64, shape = [1], values = ";
    assert_eq!(ops.text("op.Raw", &attrs, []), format!("{shown}[7]"));
    let x = || ops.handle(vector(&[1]));
    assert_eq!(
        ops.text("op.Raw", &OpAttrs::new(), [x()]),
        format!("{shown}[1]")
    );
    assert_eq!(
        ops.text("op.Raw", &attrs, [x(), x()]),
        "`op.Raw` takes one operand"
    );
    assert!(ops.ctx.host().registry().get("op.Raw").is_none());
}

/// The metadata of an op that another crate runs.
#[tfrt_op("op.Told", metadata_only)]
fn told(
    x: &TensorMetadata,
    others: &[TensorMetadata],
    #[attr(default = 2)] times: i64,
) -> Result<TensorMetadata> {
    let extent = usize::try_from(times).map_err(Error::other)? * (1 + others.len());
    Ok(TensorMetadata::new(x.dtype, [extent]))
}

#[tfrt_op("op.Told", raw)]
fn run_told(call: &mut OpCall<'_>) -> Result<()> {
    let extent = call.result_metadata(0)?.extents[0];
    let ones = DenseHostTensor::vector(&vec![1_i32; extent])?;
    call.set_result(0, AnyRef::available(ones));
    Ok(())
}

/// The metadata of an op that nobody runs.
#[tfrt_op("op.Untold", raw, metadata_only)]
fn untold(query: &OpQuery<'_>) -> Result<ResultMetadata> {
    Ok(query.operands.iter().cloned().map(Some).collect())
}

#[test]
fn metadata_may_be_told_by_itself() {
    let ops = Ops::new();
    let x = || ops.handle(vector(&[1]));
    assert_eq!(
        ops.text("op.Told", &OpAttrs::new(), [x()]),
        "DenseHostTensor dtype = i32, shape = [2], values = [1, 1]"
    );
    let three = attrs(|attrs| attrs.set("times", 3_i64));
    assert_eq!(
        ops.text("op.Told", &three, [x(), x()]),
        "DenseHostTensor dtype = i32, shape = [6], values = [1, 1, 1, 1, 1, 1]"
    );
    assert!(
        !ops.runtime
            .ops()
            .get("cpu", "op.Untold")
            .unwrap()
            .unwrap()
            .can_run()
    );
    assert!(ops.handler.make_op("op.Untold").is_err());
}

/// One function under several names, on a device of its own and by the name of its type.
#[tfrt_op("op.Same", "op.Alike", device = "gpu")]
fn alike(x: &DenseHostTensor) -> DenseHostTensor {
    x.clone()
}

/// A kernel for each type, which its name tells.
#[tfrt_op("op.Neg.{T}", T = [i32, f32 as "float"], metadata = same)]
fn neg<T: Element + std::ops::Neg<Output = T>>(x: &[T], #[out] y: &mut [T]) {
    for (x, y) in x.iter().zip(y) {
        *y = -*x;
    }
}

#[test]
fn names_are_those_of_ops_and_kernels() {
    let ops = Ops::new();
    let registry = ops.ctx.host().registry();
    for name in ["op.Same", "op.Alike"] {
        assert!(ops.runtime.ops().get("cpu", name).unwrap().is_none());
        assert!(
            ops.runtime
                .ops()
                .get("gpu", name)
                .unwrap()
                .unwrap()
                .can_run()
        );
        assert!(registry.get(name).is_none());
        assert!(registry.get(&format!("{name}.gpu")).is_some());
    }
    let x = || ops.handle(vector(&[1.0_f32]));
    let shown = ops.text("op.Neg.float", &OpAttrs::new(), [x()]);
    assert!(shown.ends_with("[-1.000000e+00]"), "{shown}");
    let refused = ops.call("op.Neg.i32", &OpAttrs::new(), [x()]);
    let error = refused.error_if_present().unwrap();
    assert_eq!(
        error.message(),
        "`x`: expected elements of type i32, found f32"
    );
    assert_eq!(error.kernel(), Some("op.Neg.i32"));
}

/// How often ops ran.
#[derive(Default, Resource)]
#[resource(host)]
struct Runs(std::sync::atomic::AtomicI64);

/// Counts its runs, and returns all operands.
#[tfrt_op("op.Resource", side_effecting)]
fn resource(runs: Res<Runs>, values: Operands<'_, DenseHostTensor>) -> Vec<AnyRef> {
    runs.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    values
        .iter()
        .map(|value| AnyRef::available(value.clone()))
        .collect()
}

#[test]
fn op_is_a_kernel_of_graphs() {
    let x = || testing::value_from(|| vector(&[1, 2]));
    let outcome = testing::kernel("op.LaterFamily").operands((x(),)).run();
    outcome.with_value(0, |y: &DenseHostTensor| {
        assert_eq!(*y.elements::<i32>().unwrap(), [2, 4]);
    });
    let scalar = testing::value_from(|| ScalarHostTensor::new(Shape::scalar(), 1_i32));
    let outcome = testing::kernel("op.Floor").operands((scalar,)).run();
    outcome.expect_error(
        "operand 0 of `op.Floor`: expected `!t.tensor`, found another type of this name, \
         `ScalarHostTensor`",
    );
    let outcome = testing::kernel("op.Concat").operands((x(), x())).run();
    outcome.with_value(0, |y: &DenseHostTensor| {
        assert_eq!(*y.elements::<i32>().unwrap(), [1, 2, 1, 2]);
    });
    let registry = KernelRegistry::from_link().unwrap();
    let declared = registry.op("op.Resource").unwrap();
    assert_eq!((declared.operands.len(), declared.results.len()), (2, 2));
    assert_eq!(
        registry.op("op.MatMul").unwrap().summary,
        "The product of two matrices."
    );
}
