//! The backend API of `libcudnn`: descriptors that refer to each other, up to an execution plan.
//!
//! A descriptor has attributes, until it is final. Of a final plan, the descriptors that it refers
//! to are read back as what the host device makes a plan of. What `tfrt-gpu` never asks for is
//! refused.

use std::collections::{HashMap, HashSet};
use std::ffi::c_uint;

use tfrt_gpu::api::dnn::{ConvolutionPlan, PlanEpilogue, PlanTensor};
use tfrt_gpu::api::{DnnHandle, GpuError, GpuResult, PlanHandle, Status};

use crate::abi::{In, Out, device, exports, read_host, write_host};
use crate::emulator::lock;

/// The kinds of descriptors, `CUDNN_BACKEND_…_DESCRIPTOR`.
mod kind {
    pub(super) const POINTWISE: u32 = 0;
    pub(super) const CONVOLUTION: u32 = 1;
    pub(super) const ENGINE: u32 = 2;
    pub(super) const ENGINE_CONFIG: u32 = 3;
    pub(super) const EXECUTION_PLAN: u32 = 5;
    pub(super) const KNOB_CHOICE: u32 = 7;
    pub(super) const KNOB_INFO: u32 = 8;
    pub(super) const CONVOLVE: [u32; 3] = [10, 11, 12];
    pub(super) const APPLY: u32 = 13;
    pub(super) const GRAPH: u32 = 15;
    pub(super) const VARIANT_PACK: u32 = 16;
    pub(super) const TENSOR: u32 = 17;
}

/// The types of attributes, `CUDNN_TYPE_…`.
mod ty {
    pub(super) const HANDLE: u32 = 0;
    pub(super) const DATA_TYPE: u32 = 1;
    pub(super) const BOOLEAN: u32 = 2;
    pub(super) const INT64: u32 = 3;
    pub(super) const FLOAT: u32 = 4;
    pub(super) const DOUBLE: u32 = 5;
    pub(super) const VOID_PTR: u32 = 6;
    pub(super) const CONVOLUTION_MODE: u32 = 7;
    pub(super) const KNOB_TYPE: u32 = 9;
    pub(super) const POINTWISE_MODE: u32 = 14;
    pub(super) const DESCRIPTOR: u32 = 15;
}

/// `CUDNN_ATTR_ENGINE_KNOB_INFO`, `CUDNN_ATTR_KNOB_INFO_TYPE` and
/// `CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE`.
const ENGINE_KNOB_INFO: u32 = 1302;
const KNOB_INFO_TYPE: u32 = 1200;
const WORKSPACE_SIZE: u32 = 402;

/// The knobs of every engine.
const KNOBS: [u32; 2] = [0, 2];

/// `CUDNN_DATA_DOUBLE`.
const DATA_DOUBLE: u64 = 1;

/// `CUDNN_POINTWISE_ADD` and `CUDNN_POINTWISE_RELU_FWD`.
const ADD: u64 = 0;
const RELU: u64 = 100;

/// Returns the type of an attribute of a kind of descriptors, if there is such an attribute.
fn type_of(kind: u32, name: u32) -> Option<u32> {
    Some(match (kind, name) {
        (kind::POINTWISE, 0) => ty::POINTWISE_MODE,
        (kind::POINTWISE, 1) | (kind::CONVOLUTION, 100) | (kind::TENSOR, 901) => ty::DATA_TYPE,
        (kind::CONVOLUTION, 101) => ty::CONVOLUTION_MODE,
        (kind::CONVOLUTION, 102..=106) => ty::INT64,
        (kind::ENGINE_CONFIG, 300 | 302) => ty::DESCRIPTOR,
        (kind::EXECUTION_PLAN, 400) | (kind::GRAPH, 800) => ty::HANDLE,
        (kind::EXECUTION_PLAN, 401) => ty::DESCRIPTOR,
        (kind::EXECUTION_PLAN, WORKSPACE_SIZE) => ty::INT64,
        (kind::KNOB_CHOICE, 600) | (kind::KNOB_INFO, KNOB_INFO_TYPE) => ty::KNOB_TYPE,
        (kind::KNOB_CHOICE, 601) => ty::INT64,
        (kind, name) if kind::CONVOLVE.contains(&kind) => {
            match name.checked_sub(first_of(kind))? {
                0 | 1 => ty::DOUBLE,
                2..=5 => ty::DESCRIPTOR,
                _ => return None,
            }
        }
        (kind::APPLY, 750..=753) => ty::DESCRIPTOR,
        (kind::APPLY, 754 | 755) => ty::DOUBLE,
        (kind::GRAPH, 801) => ty::DESCRIPTOR,
        (kind::TENSOR, 907) => ty::BOOLEAN,
        (kind::TENSOR, 900 | 902..=906) | (kind::VARIANT_PACK, 1000) => ty::INT64,
        (kind::VARIANT_PACK, 1001 | 1003) => ty::VOID_PTR,
        (kind::ENGINE, 1300 | ENGINE_KNOB_INFO) => ty::DESCRIPTOR,
        (kind::ENGINE, 1301) => ty::INT64,
        _ => return None,
    })
}

/// Returns `true` if an attribute is a scale of a function, which single precision may state, too.
fn is_scale(kind: u32, name: u32) -> bool {
    kind == kind::APPLY && matches!(name, 754 | 755)
}

/// Returns the first attribute of an operation that convolves: alpha. Beta, the convolution, w, x
/// and y follow it.
fn first_of(kind: u32) -> u32 {
    match kind {
        10 => 700,
        12 => 706,
        _ => 712,
    }
}

/// Returns the attributes without which a descriptor cannot be final.
fn required(kind: u32) -> Vec<u32> {
    match kind {
        kind::POINTWISE => vec![0, 1],
        kind::CONVOLUTION => (100..=106).collect(),
        kind::ENGINE => vec![1300, 1301],
        kind::ENGINE_CONFIG => vec![300],
        kind::EXECUTION_PLAN => vec![400, 401],
        kind::KNOB_CHOICE => vec![600, 601],
        kind::APPLY => vec![750, 751, 753],
        kind::GRAPH => vec![800, 801],
        kind::VARIANT_PACK => vec![1000, 1001, 1003],
        kind::TENSOR => vec![900, 901, 902, 903, 906],
        kind if kind::CONVOLVE.contains(&kind) => {
            let first = first_of(kind);
            (first..=first + 5).collect()
        }
        _ => Vec::new(),
    }
}

fn size_of_type(ty: u32) -> usize {
    match ty {
        ty::BOOLEAN => 1,
        ty::DATA_TYPE | ty::FLOAT | ty::CONVOLUTION_MODE | ty::KNOB_TYPE | ty::POINTWISE_MODE => 4,
        _ => 8,
    }
}

/// A descriptor.
#[derive(Debug)]
struct BackendDescriptor {
    kind: u32,
    is_final: bool,
    /// The values by the names of attributes, as their bits; scales in double precision.
    attributes: HashMap<u32, Vec<u64>>,
    /// The scales that were stated in single precision.
    narrow_scales: HashSet<u32>,
    plan: Option<Plan>,
}

/// What the host device made of a plan.
#[derive(Debug)]
struct Plan {
    handle: PlanHandle,
    workspace_size: usize,
    /// The numbers of the plan's tensors, in the order in which the host device takes their
    /// addresses.
    ids: Vec<i64>,
}

/// The descriptors, by their numbers.
#[derive(Debug, Default)]
pub(crate) struct BackendDescriptors {
    by_number: HashMap<u64, BackendDescriptor>,
    num_created: u64,
}

#[cold]
fn bad(call: &'static str, details: impl Into<String>) -> GpuError {
    GpuError::new(call, Status::DNN_BAD_PARAM).with_details(details.into())
}

impl BackendDescriptors {
    /// Returns the number of descriptors.
    pub(crate) fn len(&self) -> usize {
        self.by_number.len()
    }

    fn get(&mut self, call: &'static str, number: u64) -> GpuResult<&mut BackendDescriptor> {
        let found = self.by_number.get_mut(&number);
        found.ok_or_else(|| GpuError::new(call, Status::INVALID_HANDLE))
    }

    /// Returns a final descriptor.
    fn finished(&self, call: &'static str, number: u64) -> GpuResult<&BackendDescriptor> {
        let found = self.by_number.get(&number);
        let found = found.ok_or_else(|| GpuError::new(call, Status::INVALID_HANDLE))?;
        match found.is_final {
            true => Ok(found),
            false => Err(bad(call, "a descriptor is not final")),
        }
    }

    /// Returns the final descriptor that an attribute is, of one of these kinds.
    fn referred(
        &self,
        call: &'static str,
        descriptor: &BackendDescriptor,
        name: u32,
        kinds: &[u32],
    ) -> GpuResult<&BackendDescriptor> {
        let number = descriptor.one(call, name)?;
        let found = self.finished(call, number)?;
        match kinds.contains(&found.kind) {
            true => Ok(found),
            false => Err(bad(
                call,
                format!("attribute {name} is of kind {}", found.kind),
            )),
        }
    }

    fn tensor(
        &self,
        call: &'static str,
        operation: &BackendDescriptor,
        name: u32,
    ) -> GpuResult<Tensor> {
        let found = self.referred(call, operation, name, &[kind::TENSOR])?;
        if found.one(call, 900)? != 32 {
            return Err(bad(call, "expected tensors that are aligned to 32 bytes"));
        }
        let vector_len = found.attributes.get(&904).map_or(1, |values| values[0]);
        if vector_len != 1 && (vector_len, found.one(call, 905)?) != (4, 1) {
            return Err(bad(call, "expected vectors of four channels"));
        }
        let is_virtual = found.attributes.get(&907);
        let is_virtual = is_virtual.is_some_and(|values| values[0] != 0);
        let data_type = match (found.one(call, 901)?, vector_len) {
            (3, 4) => 5,
            (6, 4) => 7,
            // Sums of such numbers may be of any type until they are stored.
            (_, 4) if !is_virtual => return Err(bad(call, "expected vectors of bytes")),
            (other, _) => other,
        };
        let numbers = |name| -> Vec<i64> {
            let values = found.attributes.get(&name);
            values.map_or(Vec::new(), |values| {
                values.iter().map(|value| *value as i64).collect()
            })
        };
        Ok(Tensor {
            number: operation.one(call, name)?,
            id: found.one(call, 906)? as i64,
            is_virtual,
            vector_len,
            content: PlanTensor {
                data_type: data_type as i32,
                dims: numbers(902),
                strides: numbers(903),
            },
        })
    }

    /// Reads a plan back: its handle, its content, and the numbers of its tensors.
    fn content(
        &self,
        call: &'static str,
        plan: &BackendDescriptor,
    ) -> GpuResult<(u64, ConvolutionPlan, Vec<i64>)> {
        let config = self.referred(call, plan, 401, &[kind::ENGINE_CONFIG])?;
        let engine = self.referred(call, config, 300, &[kind::ENGINE])?;
        let graph = self.referred(call, engine, 1300, &[kind::GRAPH])?;
        let handle = graph.one(call, 800)?;
        if plan.one(call, 400)? != handle {
            return Err(bad(call, "a plan has another handle than its graph"));
        }
        let mut knobs = Vec::new();
        for &choice in config.attributes.get(&302).into_iter().flatten() {
            let choice = self.finished(call, choice)?;
            let knob = choice.one(call, 600)?;
            if !KNOBS.iter().any(|known| u64::from(*known) == knob) {
                return Err(bad(
                    call,
                    format!("the engine does not have the knob {knob}"),
                ));
            }
            knobs.push((knob as i64, choice.one(call, 601)? as i64));
        }
        let operations = graph.attributes[&801].iter();
        let operations: Vec<&BackendDescriptor> = operations
            .map(|number| self.finished(call, *number))
            .collect::<GpuResult<_>>()?;
        let [convolve, rest @ ..] = &operations[..] else {
            return Err(bad(call, "a graph without operations"));
        };
        if !kind::CONVOLVE.contains(&convolve.kind) {
            return Err(bad(call, "expected a graph that begins with a convolution"));
        }
        let first = first_of(convolve.kind);
        let scalar = |name| Ok::<_, GpuError>(f64::from_bits(convolve.one(call, name)?));
        if (scalar(first)?, scalar(first + 1)?) != (1.0, 0.0) {
            return Err(bad(call, "expected the scalars 1 and 0"));
        }
        let [w, x, sums] = [3, 4, 5].map(|offset| self.tensor(call, convolve, first + offset));
        let (w, x, sums) = (w?, x?, sums?);
        let mut ids = vec![x.id, sums.id, w.id];
        let (y, fused) = match rest {
            [] => (sums, None),
            rest => {
                let (y, z, bias, epilogue) = self.epilogue(call, sums, rest)?;
                ids = vec![x.id, y.id, w.id, z, bias];
                (y, Some(epilogue))
            }
        };
        if x.is_virtual || y.is_virtual || w.is_virtual {
            return Err(bad(call, "an operand or the result has no memory"));
        }
        let descriptor = self.referred(call, convolve, first + 2, &[kind::CONVOLUTION])?;
        let numbers = |name: u32| -> Vec<i64> {
            let values = descriptor.attributes[&name].iter();
            values.map(|value| *value as i64).collect()
        };
        if numbers(104) != numbers(105) {
            return Err(bad(call, "expected the same padding before and after"));
        }
        let content = ConvolutionPlan {
            x: x.content,
            y: y.content,
            w: w.content,
            compute_type: descriptor.one(call, 100)? as i32,
            mode: descriptor.one(call, 101)? as i32,
            dimensions: descriptor.one(call, 106)? as i32,
            dilations: numbers(102),
            padding: numbers(104),
            strides: numbers(103),
            backend_type: convolve.kind as i32,
            engine: engine.one(call, 1301)? as i64,
            knobs,
            fused,
        };
        Ok((handle, content, ids))
    }

    /// Reads the operations after a convolution. Returns the output, the numbers of the side input
    /// and of the bias, and the rest.
    fn epilogue(
        &self,
        call: &'static str,
        sums: Tensor,
        operations: &[&BackendDescriptor],
    ) -> GpuResult<(Tensor, i64, i64, PlanEpilogue)> {
        let mode = |operation: &BackendDescriptor| -> GpuResult<u64> {
            if operation.kind != kind::APPLY {
                return Err(bad(call, "expected a function of elements"));
            }
            let function = self.referred(call, operation, 750, &[kind::POINTWISE])?;
            function.one(call, 0)
        };
        let (add_z, add_bias, relu) = match operations {
            [add_z, add_bias] => (add_z, add_bias, None),
            [add_z, add_bias, relu] => (add_z, add_bias, Some(relu)),
            _ => return Err(bad(call, "unexpected operations")),
        };
        if (mode(add_z)?, mode(add_bias)?) != (ADD, ADD) {
            return Err(bad(call, "expected two sums"));
        }
        let scale = |operation: &BackendDescriptor, name| {
            Ok::<_, GpuError>(f64::from_bits(operation.one(call, name)?))
        };
        if (scale(add_bias, 754)?, scale(add_bias, 755)?) != (1.0, 1.0) {
            return Err(bad(call, "expected a bias that is not scaled"));
        }
        let z = self.tensor(call, add_z, 752)?;
        let bias = self.tensor(call, add_bias, 752)?;
        let shape = |tensor: &Tensor| (tensor.content.dims.clone(), tensor.vector_len);
        let mut shapes = vec![shape(&sums)];
        let mut last = sums;
        let mut steps = vec![*add_z, *add_bias];
        steps.extend(relu);
        for step in steps {
            if self.tensor(call, step, 751)?.number != last.number || !last.is_virtual {
                return Err(bad(call, "expected a chain of virtual tensors"));
            }
            last = self.tensor(call, step, 753)?;
            shapes.push(shape(&last));
        }
        if shapes.iter().any(|between| *between != shape(&last)) {
            return Err(bad(
                call,
                "expected virtual tensors of the shape of the output",
            ));
        }
        if let Some(relu) = relu
            && mode(relu)? != RELU
        {
            return Err(bad(call, "expected a rectifier"));
        }
        if z.is_virtual || bias.is_virtual || z.content != last.content {
            return Err(bad(call, "expected a side input like the output"));
        }
        let epilogue = PlanEpilogue {
            alpha: scale(add_z, 754)?,
            alpha2: scale(add_z, 755)?,
            bias: bias.content,
            activation: if relu.is_some() { 1 } else { 5 },
        };
        Ok((last, z.id, bias.id, epilogue))
    }
}

/// A tensor of a graph.
struct Tensor {
    number: u64,
    id: i64,
    is_virtual: bool,
    vector_len: u64,
    content: PlanTensor,
}

impl BackendDescriptor {
    /// Returns the only value of an attribute.
    fn one(&self, call: &'static str, name: u32) -> GpuResult<u64> {
        match self.attributes.get(&name).map(Vec::as_slice) {
            Some([value]) => Ok(*value),
            _ => Err(bad(call, format!("expected one value of attribute {name}"))),
        }
    }
}

exports! { Dnn:
    fn cudnnBackendCreateDescriptor(kind: c_uint, descriptor: Out<u64>) |emulator, CALL| {
        if required(kind).is_empty() && kind != kind::KNOB_INFO {
            return Err(GpuError::new(CALL, Status::DNN_NOT_SUPPORTED));
        }
        let mut backend = lock(&emulator.backend);
        backend.num_created += 1;
        let number = 0x0e00_0000_0000 + 16 * backend.num_created;
        descriptor.set(CALL, number)?;
        let created = BackendDescriptor {
            kind,
            is_final: false,
            attributes: HashMap::new(),
            narrow_scales: HashSet::new(),
            plan: None,
        };
        backend.by_number.insert(number, created);
        Ok(())
    }

    fn cudnnBackendDestroyDescriptor(descriptor: u64) |emulator, CALL| {
        let removed = lock(&emulator.backend).by_number.remove(&descriptor);
        let removed = removed.ok_or_else(|| GpuError::new(CALL, Status::INVALID_HANDLE))?;
        removed.plan.map_or(Ok(()), |plan| emulator.gpu.dnn.destroy_plan(plan.handle))
    }

    fn cudnnBackendSetAttribute(
        descriptor: u64, name: c_uint, ty: c_uint, count: i64, values: In<u8>,
    ) |emulator, CALL| {
        let mut backend = lock(&emulator.backend);
        let descriptor = backend.get(CALL, descriptor)?;
        let is_narrow_scale = ty == ty::FLOAT && is_scale(descriptor.kind, name);
        let is_known = is_narrow_scale || type_of(descriptor.kind, name) == Some(ty);
        if descriptor.is_final || !is_known || name == WORKSPACE_SIZE {
            let text = format!("attribute {name} of type {ty}, of a descriptor of kind {}", descriptor.kind);
            return Err(bad(CALL, text));
        }
        let count = usize::try_from(count).ok().filter(|count| (1..=64).contains(count));
        let count = count.ok_or_else(|| bad(CALL, "an unexpected number of values"))?;
        let values = (0..count).map(|index| {
            Ok(match size_of_type(ty) {
                _ if is_narrow_scale => f64::from(values.cast::<f32>().get(CALL, index)?).to_bits(),
                1 => values.get(CALL, index)?.into(),
                4 => u64::from(values.cast::<u32>().get(CALL, index)?),
                _ => values.cast().get(CALL, index)?,
            })
        });
        let values = values.collect::<GpuResult<Vec<u64>>>()?;
        descriptor.attributes.insert(name, values);
        match is_narrow_scale {
            true => descriptor.narrow_scales.insert(name),
            false => descriptor.narrow_scales.remove(&name),
        };
        Ok(())
    }

    fn cudnnBackendGetAttribute(
        descriptor: u64, name: c_uint, ty: c_uint, room: i64, count: Out<i64>, values: u64,
    ) |emulator, CALL| {
        let mut backend = lock(&emulator.backend);
        let known = backend.finished(CALL, descriptor)?;
        if type_of(known.kind, name) != Some(ty) {
            return Err(bad(CALL, format!("attribute {name} of type {ty}")));
        }
        let room = usize::try_from(room).unwrap_or(0);
        match (name, known) {
            (ENGINE_KNOB_INFO, _) => {
                count.set(CALL, KNOBS.len() as i64)?;
                let room = if values == 0 { 0 } else { room.min(KNOBS.len()) };
                let places = read_host(values, 8 * room);
                for (place, knob) in places.as_chunks().0.iter().zip(KNOBS) {
                    let info = backend.get(CALL, u64::from_ne_bytes(*place))?;
                    if info.kind != kind::KNOB_INFO {
                        return Err(bad(CALL, "expected descriptors of knobs"));
                    }
                    info.attributes.insert(KNOB_INFO_TYPE, vec![knob.into()]);
                    info.is_final = true;
                }
                Ok(())
            }
            (KNOB_INFO_TYPE, info) if room == 1 => {
                write_host(values, &(info.one(CALL, name)? as u32).to_ne_bytes());
                count.set(CALL, 1)
            }
            (WORKSPACE_SIZE, BackendDescriptor { plan: Some(plan), .. }) if room == 1 => {
                write_host(values, &(plan.workspace_size as i64).to_ne_bytes());
                count.set(CALL, 1)
            }
            _ => Err(GpuError::new(CALL, Status::DNN_NOT_SUPPORTED)),
        }
    }

    fn cudnnBackendFinalize(descriptor: u64) |emulator, CALL| {
        let mut backend = lock(&emulator.backend);
        let known = backend.get(CALL, descriptor)?;
        let missing = required(known.kind).into_iter().find(|name| !known.attributes.contains_key(name));
        if let Some(missing) = missing {
            return Err(bad(CALL, format!("attribute {missing} is missing")));
        }
        if known.is_final {
            return Err(bad(CALL, "the descriptor is final"));
        }
        if known.kind == kind::APPLY && !known.narrow_scales.is_empty() {
            let known = &backend.by_number[&descriptor];
            let function = backend.referred(CALL, known, 750, &[kind::POINTWISE])?;
            if function.one(CALL, 1)? == DATA_DOUBLE {
                return Err(bad(CALL, "a scale is in single precision, the function in double"));
            }
        }
        let known = backend.get(CALL, descriptor)?;
        if known.kind == kind::EXECUTION_PLAN {
            let known = &backend.by_number[&descriptor];
            let (handle, content, ids) = backend.content(CALL, known)?;
            let current = emulator.current(CALL)?;
            let (handle, workspace_size) = emulator.gpu.dnn.plan(&current, DnnHandle(handle), &content)?;
            backend.get(CALL, descriptor)?.plan = Some(Plan { handle, workspace_size, ids });
        }
        backend.get(CALL, descriptor)?.is_final = true;
        Ok(())
    }

    fn cudnnBackendExecute(handle: u64, plan: u64, variants: u64) |emulator, CALL| {
        let backend = lock(&emulator.backend);
        let (plan, variants) = (backend.finished(CALL, plan)?, backend.finished(CALL, variants)?);
        if variants.kind != kind::VARIANT_PACK || plan.one(CALL, 400)? != handle {
            return Err(bad(CALL, "expected the plan of the handle, and a variant pack"));
        }
        let Some(Plan { handle: plan, ids, .. }) = &plan.plan else {
            return Err(bad(CALL, "expected a plan"));
        };
        let (given, addresses) = (&variants.attributes[&1000], &variants.attributes[&1001]);
        if given.len() != addresses.len() {
            return Err(bad(CALL, "expected as many addresses as numbers"));
        }
        let address = |id: &i64| {
            let position = given.iter().position(|given| *given as i64 == *id);
            let position = position.ok_or_else(|| bad(CALL, format!("no address of tensor {id}")))?;
            Ok(device(addresses[position]))
        };
        let tensors = ids.iter().map(address).collect::<GpuResult<Vec<_>>>()?;
        let workspace = device(variants.one(CALL, 1003)?);
        let (plan, current) = (*plan, emulator.current(CALL)?);
        drop(backend);
        emulator.gpu.dnn.execute_plan(&current, DnnHandle(handle), plan, &tensors, workspace)
    }
}
