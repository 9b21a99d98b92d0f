//! Execution plans: graphs of operations on tensors, which the library's backend API describes.
//!
//! ```text
//!  x, w ─► convolution ─► y                                             a plan
//!
//!  x, w ─► convolution ─► C ─┐                                          a fused plan
//!                         z ─┴─► add ─► A ─┐                            (without the rectifier,
//!                                     bias ┴─► add ─► B ─► rectifier ─► y   B is y)
//! ```
//!
//! The tensors `C`, `A` and `B` are virtual: they have no memory. A plan is made of an engine and
//! its knobs, of a graph, of operations, and of tensors, each of which is a descriptor that refers
//! to others. All of them are kept with the plan.
#![expect(unsafe_code, reason = "calls the library")]

use std::ffi::c_void;
use std::ptr;
use std::sync::Arc;

use cudarc::cudnn::sys::{
    cudnnBackendAttributeName_t as Name, cudnnBackendAttributeType_t as AttributeType,
    cudnnBackendDescriptorType_t as Kind, cudnnConvolutionMode_t, cudnnDataType_t,
    cudnnPointwiseMode_t,
};

use super::LIBRARY;
use super::descriptors::{convolution_mode, element_type};
use crate::api::dnn::{ConvolutionPlan, PlanEpilogue, PlanTensor};
use crate::api::{DevicePtr, GpuError, GpuResult, Status};
use crate::cuda::library::library_call;
use crate::cuda::object::{Owned, report};

/// The alignment of the memory of tensors.
const ALIGNMENT: i64 = 32;

/// The numbers by which a variant pack assigns memory to tensors, in the order of the addresses of
/// a call.
const UNIQUE_IDS: [i64; 5] = [
    b'x' as i64,
    b'y' as i64,
    b'w' as i64,
    b'z' as i64,
    b'b' as i64,
];
/// Those of virtual tensors.
const VIRTUAL_IDS: [i64; 3] = [b'C' as i64, b'A' as i64, b'B' as i64];

/// The number of an activation that is a rectifier.
const RELU: i32 = 1;

/// A value of an attribute.
///
/// # Safety
/// 1. It has the layout of the values of the C type that `TYPE` stands for.
unsafe trait Attribute: Copy {
    const TYPE: AttributeType;
}

/// A descriptor, as the value of an attribute of another one.
#[derive(Clone, Copy)]
#[repr(transparent)]
struct Reference(*mut c_void);

/// The handle of the library.
#[derive(Clone, Copy)]
#[repr(transparent)]
struct Handle(*mut c_void);

/// An address of the device.
#[derive(Clone, Copy)]
#[repr(transparent)]
struct Address(*mut c_void);

/// The kind of a knob. A number, because a library may have knobs that the bindings do not know.
#[derive(Clone, Copy, PartialEq)]
#[repr(transparent)]
struct Knob(u32);

macro_rules! attributes {
    ($($ty:ty => $value:ident;)*) => {$(
        // SAFETY: 1: that of the C type.
        unsafe impl Attribute for $ty {
            const TYPE: AttributeType = AttributeType::$value;
        }
    )*};
}

attributes! {
    i64 => CUDNN_TYPE_INT64;
    f64 => CUDNN_TYPE_DOUBLE;
    f32 => CUDNN_TYPE_FLOAT;
    bool => CUDNN_TYPE_BOOLEAN;
    cudnnDataType_t => CUDNN_TYPE_DATA_TYPE;
    cudnnConvolutionMode_t => CUDNN_TYPE_CONVOLUTION_MODE;
    cudnnPointwiseMode_t => CUDNN_TYPE_POINTWISE_MODE;
    Knob => CUDNN_TYPE_KNOB_TYPE;
    Reference => CUDNN_TYPE_BACKEND_DESCRIPTOR;
    Handle => CUDNN_TYPE_HANDLE;
    Address => CUDNN_TYPE_VOID_PTR;
}

/// A descriptor of the backend API.
#[derive(Debug)]
struct BackendDescriptor {
    kind: Kind,
    number: u64,
}

impl BackendDescriptor {
    fn create(kind: Kind) -> GpuResult<Self> {
        let mut descriptor: *mut c_void = ptr::null_mut();
        library_call!(
            LIBRARY,
            Status::Dnn,
            "cudnnBackendCreateDescriptor(type, &descriptor)",
            cudnnBackendCreateDescriptor(kind, &mut descriptor)
        )
        .map_err(|error| of_descriptor(error, kind))?;
        Ok(Self {
            kind,
            number: descriptor as u64,
        })
    }

    fn raw(&self) -> *mut c_void {
        self.number as *mut c_void
    }

    fn reference(&self) -> Reference {
        Reference(self.raw())
    }

    fn set<A: Attribute>(&self, name: Name, values: &[A]) -> GpuResult<()> {
        library_call!(
            LIBRARY,
            Status::Dnn,
            "cudnnBackendSetAttribute(descriptor, name, type, count, values)",
            cudnnBackendSetAttribute(
                self.raw(),
                name,
                A::TYPE,
                values.len() as i64,
                values.as_ptr().cast(),
            )
        )
        .map_err(|error| of_descriptor(error, self.kind))
    }

    fn finalize(&self) -> GpuResult<()> {
        library_call!(
            LIBRARY,
            Status::Dnn,
            "cudnnBackendFinalize(descriptor)",
            cudnnBackendFinalize(self.raw())
        )
        .map_err(|error| of_descriptor(error, self.kind))
    }

    /// Reads at most as many values as there is room for, and returns the number of those that
    /// there are.
    fn get<A: Attribute>(&self, name: Name, values: &mut [A]) -> GpuResult<usize> {
        let mut count = 0;
        let place = match values.is_empty() {
            true => ptr::null_mut(),
            false => values.as_mut_ptr().cast(),
        };
        library_call!(
            LIBRARY,
            Status::Dnn,
            "cudnnBackendGetAttribute(descriptor, name, type, room, &count, values)",
            cudnnBackendGetAttribute(
                self.raw(),
                name,
                A::TYPE,
                values.len() as i64,
                &mut count,
                place,
            )
        )
        .map_err(|error| of_descriptor(error, self.kind))?;
        Ok(usize::try_from(count).unwrap_or(0))
    }
}

impl Drop for BackendDescriptor {
    fn drop(&mut self) {
        report(library_call!(
            LIBRARY,
            Status::Dnn,
            "cudnnBackendDestroyDescriptor(descriptor)",
            cudnnBackendDestroyDescriptor(self.raw())
        ));
    }
}

/// Names the descriptor that a call failed for.
#[cold]
fn of_descriptor(error: GpuError, kind: Kind) -> GpuError {
    match error.details.is_empty() {
        true => error.with_details(format!("{kind:?}")),
        false => error,
    }
}

/// An execution plan.
#[derive(Debug)]
pub(super) struct OwnedPlan {
    plan: BackendDescriptor,
    is_fused: bool,
    /// What the plan refers to, directly or not. Each descriptor comes after those that refer to
    /// it, and they are dropped in this order.
    _parts: Vec<BackendDescriptor>,
    /// The handle that the plan was made for.
    handle: Arc<Owned>,
}

impl OwnedPlan {
    /// Builds a plan.
    pub(super) fn new(handle: Arc<Owned>, content: &ConvolutionPlan) -> GpuResult<Self> {
        let mut builder = Builder {
            compute_type: element_type(content.compute_type)?,
            parts: Vec::new(),
        };
        let library = Handle(handle.number as *mut c_void);
        let outcome = builder.plan(library, content);
        builder.parts.reverse();
        let plan = outcome?;
        Ok(Self {
            plan,
            is_fused: content.fused.is_some(),
            _parts: builder.parts,
            handle,
        })
    }

    /// Returns the number that identifies the plan.
    pub(super) fn number(&self) -> u64 {
        self.plan.number
    }

    /// Returns the bytes of workspace that the plan uses.
    pub(super) fn workspace_size(&self) -> GpuResult<usize> {
        const NAME: Name = Name::CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE;
        let mut sizes = [0_i64];
        let count = self.plan.get(NAME, &mut sizes)?;
        let [size] = sizes;
        // Without an answer, memory of any size could be too small.
        usize::try_from(size)
            .ok()
            .filter(|_| count == 1)
            .ok_or_else(|| {
                let details = format!("{count} sizes of the workspace of a plan, the first {size}");
                GpuError::new(
                    "cudnnBackendGetAttribute(descriptor, name, type, room, &count, values)",
                    Status::DNN_BAD_PARAM,
                )
                .with_details(details)
            })
    }

    /// Returns `true` if the plan was made for this handle.
    pub(super) fn is_of(&self, handle: &Owned) -> bool {
        self.handle.number == handle.number
    }

    /// Enqueues the plan on the stream of its handle.
    pub(super) fn execute(&self, tensors: &[DevicePtr], workspace: DevicePtr) -> GpuResult<()> {
        const CALL: &str = "cudnnBackendExecute(handle, plan, variants)";
        let expected = if self.is_fused { 5 } else { 3 };
        if tensors.len() != expected {
            let details = format!("expected {expected} tensors, found {}", tensors.len());
            return Err(GpuError::new(CALL, Status::DNN_BAD_PARAM).with_details(details));
        }
        let address = |pointer: &DevicePtr| Address(pointer.address() as *mut c_void);
        let addresses: Vec<Address> = tensors.iter().map(address).collect();
        let variants = BackendDescriptor::create(Kind::CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR)?;
        variants.set(
            Name::CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS,
            &UNIQUE_IDS[..expected],
        )?;
        variants.set(Name::CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, &addresses)?;
        variants.set(
            Name::CUDNN_ATTR_VARIANT_PACK_WORKSPACE,
            &[address(&workspace)],
        )?;
        variants.finalize()?;
        library_call!(
            LIBRARY,
            Status::Dnn,
            "cudnnBackendExecute(handle, plan, variants)",
            cudnnBackendExecute(
                self.handle.number as *mut _,
                self.plan.raw(),
                variants.raw(),
            )
        )
    }
}

/// Collects the descriptors of a plan, each after those that it refers to.
struct Builder {
    compute_type: cudnnDataType_t,
    parts: Vec<BackendDescriptor>,
}

/// The attributes of an operation that convolves.
struct Convolving {
    alpha: Name,
    beta: Name,
    descriptor: Name,
    /// Those of x, y and w.
    tensors: [Name; 3],
}

impl Builder {
    /// Finalizes a descriptor and keeps it. Returns the reference to it.
    fn keep(&mut self, descriptor: BackendDescriptor) -> GpuResult<Reference> {
        descriptor.finalize()?;
        let reference = descriptor.reference();
        self.parts.push(descriptor);
        Ok(reference)
    }

    fn plan(&mut self, handle: Handle, content: &ConvolutionPlan) -> GpuResult<BackendDescriptor> {
        let operations = self.operations(content)?;
        let graph = BackendDescriptor::create(Kind::CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR)?;
        graph.set(Name::CUDNN_ATTR_OPERATIONGRAPH_OPS, &operations)?;
        graph.set(Name::CUDNN_ATTR_OPERATIONGRAPH_HANDLE, &[handle])?;
        let graph = self.keep(graph)?;

        let engine = BackendDescriptor::create(Kind::CUDNN_BACKEND_ENGINE_DESCRIPTOR)?;
        engine.set(Name::CUDNN_ATTR_ENGINE_OPERATION_GRAPH, &[graph])?;
        engine.set(Name::CUDNN_ATTR_ENGINE_GLOBAL_INDEX, &[content.engine])?;
        engine.finalize()?;
        let knobs = self.knobs(&engine, &content.knobs)?;
        let engine_reference = engine.reference();
        self.parts.push(engine);

        let config = BackendDescriptor::create(Kind::CUDNN_BACKEND_ENGINECFG_DESCRIPTOR)?;
        config.set(Name::CUDNN_ATTR_ENGINECFG_ENGINE, &[engine_reference])?;
        if !knobs.is_empty() {
            config.set(Name::CUDNN_ATTR_ENGINECFG_KNOB_CHOICES, &knobs)?;
        }
        let config = self.keep(config)?;

        let plan = BackendDescriptor::create(Kind::CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR)?;
        plan.set(Name::CUDNN_ATTR_EXECUTION_PLAN_HANDLE, &[handle])?;
        plan.set(Name::CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, &[config])?;
        plan.finalize()?;
        Ok(plan)
    }

    /// Returns the values of those knobs that the engine has.
    fn knobs(
        &mut self,
        engine: &BackendDescriptor,
        choices: &[(i64, i64)],
    ) -> GpuResult<Vec<Reference>> {
        if choices.is_empty() {
            return Ok(Vec::new());
        }
        const NAME: Name = Name::CUDNN_ATTR_ENGINE_KNOB_INFO;
        let count = engine.get::<Reference>(NAME, &mut [])?;
        let create = || BackendDescriptor::create(Kind::CUDNN_BACKEND_KNOB_INFO_DESCRIPTOR);
        let infos: Vec<BackendDescriptor> =
            (0..count).map(|_| create()).collect::<GpuResult<_>>()?;
        let mut references: Vec<Reference> =
            infos.iter().map(BackendDescriptor::reference).collect();
        engine.get(NAME, &mut references)?;
        let mut set = Vec::new();
        for info in &infos {
            let mut known = [Knob(0)];
            info.get(Name::CUDNN_ATTR_KNOB_INFO_TYPE, &mut known)?;
            let [knob] = known;
            let chosen = choices.iter().find(|(id, _)| *id == i64::from(knob.0));
            let Some(&(_, value)) = chosen else {
                continue;
            };
            let choice = BackendDescriptor::create(Kind::CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR)?;
            choice.set(Name::CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, &[knob])?;
            choice.set(Name::CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE, &[value])?;
            set.push(self.keep(choice)?);
        }
        Ok(set)
    }

    fn operations(&mut self, content: &ConvolutionPlan) -> GpuResult<Vec<Reference>> {
        let [x, y, w] = [&content.x, &content.y, &content.w];
        let tensors = [(x, UNIQUE_IDS[0]), (y, UNIQUE_IDS[1]), (w, UNIQUE_IDS[2])];
        let mut described = [Reference(ptr::null_mut()); 3];
        for ((tensor, id), place) in tensors.into_iter().zip(&mut described) {
            *place = self.tensor(tensor, id)?;
        }
        let [x, y, w] = described;
        let Some(fused) = &content.fused else {
            return Ok(vec![self.convolution(content, [x, y, w])?]);
        };
        let sums = self.virtual_tensor(&content.y, VIRTUAL_IDS[0], self.compute_type)?;
        let convolution = self.convolution(content, [x, sums, w])?;
        let mut operations = vec![convolution];
        self.epilogue(fused, &content.y, [sums, y], &mut operations)?;
        Ok(operations)
    }

    /// Describes the operations after a convolution, from its sums to the output.
    fn epilogue(
        &mut self,
        fused: &PlanEpilogue,
        y: &PlanTensor,
        [sums, output]: [Reference; 2],
        operations: &mut Vec<Reference>,
    ) -> GpuResult<()> {
        let precision = match self.compute_type {
            cudnnDataType_t::CUDNN_DATA_INT32 => cudnnDataType_t::CUDNN_DATA_FLOAT,
            other => other,
        };
        let z = self.tensor(y, UNIQUE_IDS[3])?;
        let bias = self.tensor(&fused.bias, UNIQUE_IDS[4])?;
        let add = self.pointwise(cudnnPointwiseMode_t::CUDNN_POINTWISE_ADD, precision)?;
        let with_z = self.virtual_tensor(y, VIRTUAL_IDS[1], precision)?;
        let scales = [fused.alpha, fused.alpha2];
        operations.push(self.apply(add, precision, [sums, z, with_z], scales)?);
        if fused.activation != RELU {
            operations.push(self.apply(add, precision, [with_z, bias, output], [1.0, 1.0])?);
            return Ok(());
        }
        let with_bias = self.virtual_tensor(y, VIRTUAL_IDS[2], precision)?;
        operations.push(self.apply(add, precision, [with_z, bias, with_bias], [1.0, 1.0])?);
        let relu = self.pointwise(cudnnPointwiseMode_t::CUDNN_POINTWISE_RELU_FWD, precision)?;
        let kind = Kind::CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR;
        let operation = BackendDescriptor::create(kind)?;
        operation.set(Name::CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, &[relu])?;
        operation.set(Name::CUDNN_ATTR_OPERATION_POINTWISE_XDESC, &[with_bias])?;
        operation.set(Name::CUDNN_ATTR_OPERATION_POINTWISE_YDESC, &[output])?;
        operations.push(self.keep(operation)?);
        Ok(())
    }

    /// Describes a tensor in memory.
    fn tensor(&mut self, tensor: &PlanTensor, id: i64) -> GpuResult<Reference> {
        let (data_type, _) = elements(tensor);
        let descriptor = described_tensor(tensor, id, element_type(data_type)?)?;
        self.keep(descriptor)
    }

    /// Describes a tensor of the shape of another one, vectors included, but without memory.
    fn virtual_tensor(
        &mut self,
        like: &PlanTensor,
        id: i64,
        data_type: cudnnDataType_t,
    ) -> GpuResult<Reference> {
        let descriptor = described_tensor(like, id, data_type)?;
        descriptor.set(Name::CUDNN_ATTR_TENSOR_IS_VIRTUAL, &[true])?;
        self.keep(descriptor)
    }

    /// Describes the operation that convolves, or computes a gradient, of x, y and w.
    fn convolution(
        &mut self,
        content: &ConvolutionPlan,
        tensors: [Reference; 3],
    ) -> GpuResult<Reference> {
        let descriptor = BackendDescriptor::create(Kind::CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR)?;
        let dimensions = i64::from(content.dimensions);
        let mode = convolution_mode(content.mode)?;
        descriptor.set(Name::CUDNN_ATTR_CONVOLUTION_COMP_TYPE, &[self.compute_type])?;
        descriptor.set(Name::CUDNN_ATTR_CONVOLUTION_CONV_MODE, &[mode])?;
        descriptor.set(Name::CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, &[dimensions])?;
        let lists = [
            (Name::CUDNN_ATTR_CONVOLUTION_DILATIONS, &content.dilations),
            (
                Name::CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES,
                &content.strides,
            ),
            (Name::CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, &content.padding),
            (Name::CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, &content.padding),
        ];
        for (name, values) in lists {
            descriptor.set(name, values)?;
        }
        let descriptor = self.keep(descriptor)?;

        let (kind, names) = convolving(content.backend_type)?;
        let operation = BackendDescriptor::create(kind)?;
        operation.set(names.descriptor, &[descriptor])?;
        for (name, tensor) in names.tensors.into_iter().zip(tensors) {
            operation.set(name, &[tensor])?;
        }
        operation.set(names.alpha, &[1.0_f64])?;
        operation.set(names.beta, &[0.0_f64])?;
        self.keep(operation)
    }

    fn pointwise(
        &mut self,
        mode: cudnnPointwiseMode_t,
        precision: cudnnDataType_t,
    ) -> GpuResult<Reference> {
        let descriptor = BackendDescriptor::create(Kind::CUDNN_BACKEND_POINTWISE_DESCRIPTOR)?;
        descriptor.set(Name::CUDNN_ATTR_POINTWISE_MODE, &[mode])?;
        descriptor.set(Name::CUDNN_ATTR_POINTWISE_MATH_PREC, &[precision])?;
        self.keep(descriptor)
    }

    /// Describes `y = f(alpha1 · x, alpha2 · b)`, for the tensors x, b and y. The scales are in
    /// double precision if `f` is, and in single precision otherwise.
    fn apply(
        &mut self,
        function: Reference,
        precision: cudnnDataType_t,
        [x, b, y]: [Reference; 3],
        scales: [f64; 2],
    ) -> GpuResult<Reference> {
        let kind = Kind::CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR;
        let operation = BackendDescriptor::create(kind)?;
        operation.set(
            Name::CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR,
            &[function],
        )?;
        operation.set(Name::CUDNN_ATTR_OPERATION_POINTWISE_XDESC, &[x])?;
        operation.set(Name::CUDNN_ATTR_OPERATION_POINTWISE_BDESC, &[b])?;
        operation.set(Name::CUDNN_ATTR_OPERATION_POINTWISE_YDESC, &[y])?;
        let names = [
            Name::CUDNN_ATTR_OPERATION_POINTWISE_ALPHA1,
            Name::CUDNN_ATTR_OPERATION_POINTWISE_ALPHA2,
        ];
        for (name, scale) in names.into_iter().zip(scales) {
            match precision {
                cudnnDataType_t::CUDNN_DATA_DOUBLE => operation.set(name, &[scale])?,
                _ => operation.set(name, &[scale as f32])?,
            }
        }
        self.keep(operation)
    }
}

/// Returns the type of a tensor's elements and how many of them are a vector. The sizes and strides
/// of tensors count vectors.
fn elements(tensor: &PlanTensor) -> (i32, i64) {
    match tensor.data_type {
        5 => (3, 4),
        7 => (6, 4),
        other => (other, 1),
    }
}

/// Returns a descriptor of a tensor that is not final yet. If it is one of vectors, they are along
/// its second dimension.
fn described_tensor(
    tensor: &PlanTensor,
    id: i64,
    data_type: cudnnDataType_t,
) -> GpuResult<BackendDescriptor> {
    let descriptor = BackendDescriptor::create(Kind::CUDNN_BACKEND_TENSOR_DESCRIPTOR)?;
    descriptor.set(Name::CUDNN_ATTR_TENSOR_DATA_TYPE, &[data_type])?;
    descriptor.set(Name::CUDNN_ATTR_TENSOR_DIMENSIONS, &tensor.dims)?;
    descriptor.set(Name::CUDNN_ATTR_TENSOR_STRIDES, &tensor.strides)?;
    descriptor.set(Name::CUDNN_ATTR_TENSOR_UNIQUE_ID, &[id])?;
    descriptor.set(Name::CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, &[ALIGNMENT])?;
    let (_, vector_len) = elements(tensor);
    descriptor.set(Name::CUDNN_ATTR_TENSOR_VECTOR_COUNT, &[vector_len])?;
    if vector_len > 1 {
        descriptor.set(Name::CUDNN_ATTR_TENSOR_VECTORIZED_DIMENSION, &[1_i64])?;
    }
    Ok(descriptor)
}

/// Returns the operation of a number, and its attributes.
fn convolving(backend_type: i32) -> GpuResult<(Kind, Convolving)> {
    Ok(match backend_type {
        10 => (
            Kind::CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
            Convolving {
                alpha: Name::CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
                beta: Name::CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA,
                descriptor: Name::CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
                tensors: [
                    Name::CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
                    Name::CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y,
                    Name::CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
                ],
            },
        ),
        11 => (
            Kind::CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
            Convolving {
                alpha: Name::CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA,
                beta: Name::CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA,
                descriptor: Name::CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC,
                tensors: [
                    Name::CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X,
                    Name::CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY,
                    Name::CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW,
                ],
            },
        ),
        12 => (
            Kind::CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
            Convolving {
                alpha: Name::CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA,
                beta: Name::CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA,
                descriptor: Name::CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC,
                tensors: [
                    Name::CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX,
                    Name::CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY,
                    Name::CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
                ],
            },
        ),
        other => {
            return Err(GpuError::new(
                "cudnnBackendCreateDescriptor(type, &descriptor)",
                Status::DNN_BAD_PARAM,
            )
            .with_details(format!("{other} is not a kind of convolutions")));
        }
    })
}
