//! Lowering: ops become their own kernels.
//!
//! Preconditions: the program is verified, and ops are [placed](mod@crate::place) and
//! [partitioned](mod@crate::partition); an op without a device is one of the device that its
//! handler is for, or stays as it is.
//!
//! ```text
//!  %h = corert.executeop(%cpu) "tf.Relu"(%x)      %t = "corert.operand"(%x)           a tensor of a handle, once
//!                                           ──►   %u = "tf.Relu"(%t)                  the kernel: no handler, no attributes to decode
//!  tfrt.return %h                                 %h = "corert.handle_of_tensor"(%u)  a handle, where one is needed
//! ```
//!
//! An op is lowered if a kernel runs it on its device, the kernel takes and returns tensors in host
//! memory, and the attributes of the call are what the kernel declares. Other ops stay. Their
//! metadata is inferred when they run, as usual; the runtime allocates the results of kernels that
//! declare a metadata function.
//!
//! A tensor that may not be dense is checked, and if necessary converted, before an op that needs a
//! dense one. This check is omitted for results that a kernel declares as dense tensors.
//!
//! An operand that an op needs in host memory is copied there, on whatever device the op runs.
//!
//! Streams: what prepares the operands of ops costs next to nothing, so that no thread is woken for
//! it: all of it together is cheaper than an op.
//!
//! Ordering: the chain of an op with effects is that of its kernel; one without effects passes its
//! chain on. Cost: linear in the number of ops.

use std::collections::HashMap;

use tfrt_async::TypeIndex;
use tfrt_attr::AttrValue;
use tfrt_compiler::attribute_of;
use tfrt_compiler::stream_analysis::COST_THRESHOLD;
use tfrt_core::{OpFlags, OpRegistry, RegisteredOp};
use tfrt_ir::{BlockId, Module, OpId, OpState, TypeId, ValueId};
use tfrt_ods::binding::COST_ATTRIBUTE;
use tfrt_ods::{OpDef, OpTraits, TypeConstraint};
use tfrt_support::Diagnostic;
use tfrt_tensor::DenseHostTensor;

use crate::call::{Call, device_attribute, is_handle};
use crate::names;
use crate::prune::sweep;

/// Replaces the calls of a function by the kernels that they end in.
pub fn lower(module: &mut Module, func: OpId, ops: &OpRegistry) -> Vec<Diagnostic> {
    let Some(block) = module.entry_block(func) else {
        return Vec::new();
    };
    let mut lowering = Lowering {
        block,
        handle_type: names::dialect_type(module, names::HANDLE_TYPE),
        tensor_type: names::dialect_type(module, names::TENSOR_TYPE),
        tensors: HashMap::new(),
        handles: HashMap::new(),
        operands: HashMap::new(),
    };
    let mut is_changed = false;
    for op in module.take_block_ops(block) {
        match Lowered::of(module, op, ops) {
            Some(lowered) => {
                lowering.replace(module, &lowered);
                is_changed = true;
            }
            None => {
                lowering.keep(module, op);
            }
        }
    }
    if is_changed {
        sweep(module, func);
        keep_streams_whole(module, func, block);
    }
    Vec::new()
}

/// Makes an op cost more than all cheap ones together, unless the function, its module or an op
/// states costs.
fn keep_streams_whole(module: &mut Module, func: OpId, block: BlockId) {
    let table = module.nearest_symbol_table(func);
    let mut owners = [Some(func), table].into_iter().flatten();
    if owners.any(|op| module.attr(op, COST_THRESHOLD).is_some()) {
        return;
    }
    let ops = module.block_ops(block);
    if ops
        .iter()
        .any(|&op| module.attr(op, COST_ATTRIBUTE).is_some())
    {
        return;
    }
    let is_cheap = |&&op: &&OpId| {
        let def = module.op_def(op);
        def.is_some_and(|def| def.traits.contains(OpTraits::CHEAP))
    };
    let num_cheap = ops.iter().filter(is_cheap).count();
    let threshold = module.integer_attr(num_cheap as i128 + 1, 64);
    module.set_attr(func, COST_THRESHOLD, threshold);
}

/// A call that is lowered, and what to.
struct Lowered<'a> {
    call: Call,
    registered: &'a RegisteredOp,
    def: &'static OpDef,
    device: String,
    /// Of each result, whether the kernel returns it as a dense tensor by its type.
    is_dense: Vec<bool>,
    /// The attributes that the call omits.
    defaults: Vec<(&'static str, AttrValue)>,
}

impl<'a> Lowered<'a> {
    fn of(module: &Module, op: OpId, ops: &'a OpRegistry) -> Option<Self> {
        let call = Call::of(module, op)?;
        let device_type = call.device_type(module, ops)?;
        let device = match device_attribute(module, op) {
            Some(device) if device.contains(':') => device.to_owned(),
            _ if device_type == "cpu" => names::HOST_DEVICE.to_owned(),
            _ => return None,
        };
        let registered = call.registered(ops, &device_type)?;
        let kernel = registered.kernel()?;
        let def = kernel.op();
        let (num_operands, num_results) =
            (call.arguments(module).len(), call.results(module).len());
        registered.check_counts(num_operands, num_results).ok()?;
        // Without an order, an op with effects is an error of its call.
        if registered.has_side_effects() != def.chain_result().is_some()
            || (registered.has_side_effects() && !call.is_ordered)
        {
            return None;
        }
        let attrs = call.attrs(module)?;
        attrs.check(def).ok()?;
        // Attributes that a program omits have the kernel's defaults; attributes that the kernel
        // does not declare are ignored.
        let defaults = attrs.missing_defaults(def);
        let takes_tensors = def.operands.iter().all(|operand| is_tensor(operand.ty));
        let returns_tensors = def.results.iter().all(|result| is_tensor(result.ty));
        if !takes_tensors || !returns_tensors || !def.functions.is_empty() {
            return None;
        }
        // A kernel of this name must be the one that programs mean.
        let declared = module.registry().op(def.name)?;
        if !std::ptr::eq(declared.def(), def) {
            return None;
        }
        let types = kernel.types();
        let is_dense = |index| {
            let ty = types.results.get(index, num_results);
            def.metadata.is_some() || ty == Some(TypeIndex::of::<DenseHostTensor>())
        };
        Some(Self {
            is_dense: (0..num_results).map(is_dense).collect(),
            defaults,
            call,
            registered,
            def,
            device,
        })
    }
}

/// Returns `true` if tensors in host memory may be there, or a chain.
fn is_tensor(ty: TypeConstraint) -> bool {
    match ty {
        TypeConstraint::Exact(spelling) => {
            spelling == names::TENSOR_TYPE || spelling == names::CHAIN_TYPE
        }
        TypeConstraint::OneOf(spellings) => spellings.contains(&names::TENSOR_TYPE),
        TypeConstraint::Any | TypeConstraint::SameAs(_) => true,
    }
}

/// The tensor behind a handle.
struct TensorOf {
    value: ValueId,
    device: String,
    is_dense: bool,
}

struct Lowering {
    block: BlockId,
    handle_type: TypeId,
    tensor_type: TypeId,
    /// What kernels returned, by the handle that it was before.
    tensors: HashMap<ValueId, TensorOf>,
    /// Handles that were made of what kernels returned, by the handle that it was before.
    handles: HashMap<ValueId, ValueId>,
    /// Tensors as ops take them, by handle, device, and what is taken as it is.
    operands: HashMap<(ValueId, String, i32), ValueId>,
}

impl Lowering {
    /// Appends a kernel in the place of a call, which is dropped.
    fn replace(&mut self, module: &mut Module, lowered: &Lowered<'_>) {
        let Lowered {
            call,
            registered,
            def,
            device,
            is_dense,
            defaults,
        } = lowered;
        let location = module.op_location(call.op);
        let accepts = accepted(registered.flags());
        let mut operands = Vec::new();
        for (index, handle) in call.arguments(module).to_vec().into_iter().enumerate() {
            let needed = match registered.takes_in_host_memory(index) {
                true => names::HOST_DEVICE,
                false => device,
            };
            operands.push(self.operand(module, handle, needed, accepts, call.op));
        }
        let chain = call.chain(module);
        let has_effects = registered.has_side_effects();
        operands.extend(chain.filter(|_| has_effects));
        let mut state = OpState::new(def.name, location);
        state.operands = operands;
        let declared = |name: &str| def.attributes.iter().any(|declared| declared.name == name);
        state.attributes = call.attributes(module);
        state.attributes.retain(|(name, _)| declared(name));
        for (name, value) in defaults {
            let value = attribute_of(module, value);
            state.attributes.push(((*name).to_owned(), value));
        }
        let handles = call.results(module).to_vec();
        state.result_types = vec![self.tensor_type; handles.len()];
        if has_effects {
            state
                .result_types
                .push(names::dialect_type(module, names::CHAIN_TYPE));
        }
        let kernel = module.create_op(state);
        module.append_op(self.block, kernel);
        let results = module.results(kernel).to_vec();
        for (index, handle) in handles.into_iter().enumerate() {
            let tensor = TensorOf {
                value: results[index],
                device: device.clone(),
                is_dense: is_dense[index],
            };
            self.tensors.insert(handle, tensor);
        }
        if let (Some(after), Some(before)) = (call.chain_result(module), chain) {
            let after_kernel = results.last().copied().filter(|_| has_effects);
            module.replace_all_uses(after, after_kernel.unwrap_or(before));
        }
        module.set_operands(call.op, Vec::new());
        // Its handles are used by later ops, which receive replacements when they are lowered.
    }

    /// Appends an op as it is, but for its operands. The inferred metadata of its results is
    /// dropped: it is not needed later, and files cannot hold it.
    fn keep(&mut self, module: &mut Module, op: OpId) {
        module.remove_attr(op, names::RESULTS);
        for index in 0..module.operands(op).len() {
            let operand = module.operands(op)[index];
            if self.tensors.contains_key(&operand) {
                let handle = self.handle(module, operand, op);
                module.set_operand(op, index, handle);
            }
        }
        module.append_op(self.block, op);
    }

    /// Returns a tensor as an op on a device takes it.
    fn operand(
        &mut self,
        module: &mut Module,
        handle: ValueId,
        device: &str,
        accepts: i32,
        user: OpId,
    ) -> ValueId {
        if let Some(tensor) = self.tensors.get(&handle)
            && tensor.is_dense
            && tensor.device == device
        {
            return tensor.value;
        }
        let key = (handle, device.to_owned(), accepts);
        if let Some(&operand) = self.operands.get(&key) {
            return operand;
        }
        let (name, whole) = match self.tensors.get(&handle) {
            Some(tensor) if tensor.device == device => (names::OPERAND_OF_TENSOR, tensor.value),
            _ => (names::OPERAND, self.handle(module, handle, user)),
        };
        let mut state = OpState::new(name, module.op_location(user));
        state.operands = vec![whole];
        state.attributes = vec![
            ("accepts".into(), module.integer_attr(accepts.into(), 32)),
            ("device".into(), module.string_attr(device)),
        ];
        state.result_types = vec![self.tensor_type];
        let op = module.create_op(state);
        module.append_op(self.block, op);
        let operand = module.results(op)[0];
        self.operands.insert(key, operand);
        operand
    }

    /// Returns a handle of what a kernel returned, or the handle that there is.
    fn handle(&mut self, module: &mut Module, handle: ValueId, user: OpId) -> ValueId {
        debug_assert!(is_handle(module, handle), "only handles are looked for");
        let Some(tensor) = self.tensors.get(&handle) else {
            return handle;
        };
        if let Some(&made) = self.handles.get(&handle) {
            return made;
        }
        let mut state = OpState::new(names::HANDLE_OF_TENSOR, module.op_location(user));
        state.operands = vec![tensor.value];
        state.attributes = vec![("device".into(), module.string_attr(&tensor.device))];
        state.result_types = vec![self.handle_type];
        let op = module.create_op(state);
        module.append_op(self.block, op);
        let made = module.results(op)[0];
        self.handles.insert(handle, made);
        made
    }
}

/// Returns the kinds of tensors that an op takes as they are, as `corert.operand` is told of them.
fn accepted(flags: OpFlags) -> i32 {
    let each = [
        (OpFlags::ACCEPTS_SCALAR, 2),
        (OpFlags::ACCEPTS_STRING, 4),
        (OpFlags::ACCEPTS_SPARSE, 8),
    ];
    let accepted = each.iter().filter(|(flag, _)| flags.contains(*flag));
    accepted.map(|(_, bit)| bit).sum()
}
