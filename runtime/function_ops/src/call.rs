//! One op of a function that runs an op of the Core Runtime, and the values of functions by their
//! types.

use tfrt_attr::AttrValue;
use tfrt_compiler::attribute_value;
use tfrt_core::metadata::partial::PartialMetadata;
use tfrt_core::{OpAttrs, OpRegistry, RegisteredOp};
use tfrt_ir::{AttrId, Attribute, Module, OpId, ValueId};
use tfrt_support::{Diagnostic, Place};

use crate::names;

/// The call of an op by its name: `corert.executeop` or `corert.executeop.seq`.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    /// The op in the program.
    pub(crate) op: OpId,
    /// The name of the op that it runs.
    pub(crate) name: String,
    /// Whether it takes and returns a chain.
    pub(crate) is_ordered: bool,
}

impl Call {
    /// Returns the call that an op is, if it is one.
    pub(crate) fn of(module: &Module, op: OpId) -> Option<Self> {
        let is_ordered = match module.op_name(op) {
            names::EXECUTE => false,
            names::EXECUTE_IN_ORDER => true,
            _ => return None,
        };
        let name = module.attribute_str(module.attr(op, "op_name")?)?;
        Some(Self {
            op,
            name: name.to_owned(),
            is_ordered,
        })
    }

    fn num_before(&self) -> usize {
        1 + usize::from(self.is_ordered)
    }

    pub(crate) fn handler(&self, module: &Module) -> Option<ValueId> {
        module.operands(self.op).first().copied()
    }

    /// Returns the chain that it follows.
    pub(crate) fn chain(&self, module: &Module) -> Option<ValueId> {
        let chain = module.operands(self.op).get(1).copied();
        chain.filter(|_| self.is_ordered)
    }

    /// Returns the chain that follows it.
    pub(crate) fn chain_result(&self, module: &Module) -> Option<ValueId> {
        let chain = module.results(self.op).first().copied();
        chain.filter(|_| self.is_ordered)
    }

    /// Returns the handles that it takes.
    pub(crate) fn arguments<'a>(&self, module: &'a Module) -> &'a [ValueId] {
        let operands = module.operands(self.op);
        operands.get(self.num_before()..).unwrap_or_default()
    }

    /// Returns the handles that it returns.
    pub(crate) fn results<'a>(&self, module: &'a Module) -> &'a [ValueId] {
        let results = module.results(self.op);
        results
            .get(usize::from(self.is_ordered)..)
            .unwrap_or_default()
    }

    /// Returns the attributes of the op, in order.
    pub(crate) fn attributes(&self, module: &Module) -> Vec<(String, AttrId)> {
        pairs(module, self.op, "op_attrs")
    }

    /// Returns the attributes of the op, as it takes them; `None` if files could not hold one.
    pub(crate) fn attrs(&self, module: &Module) -> Option<OpAttrs> {
        let mut attrs = OpAttrs::new();
        for (name, value) in self.attributes(module) {
            attrs.set(name, &attribute_value(module, value)?).ok()?;
        }
        for (name, value) in pairs(module, self.op, "op_func_attrs") {
            let function = module.attribute_str(value)?.to_owned();
            attrs.set(name, &AttrValue::Func(function)).ok()?;
        }
        Some(attrs)
    }

    /// Returns the name of the function of the program that it calls, if it calls one.
    pub(crate) fn called_function(&self, module: &Module) -> Option<String> {
        if !names::FUNCTION_CALLS.contains(&self.name.as_str()) {
            return None;
        }
        let functions = pairs(module, self.op, "op_func_attrs");
        let (_, function) = functions
            .into_iter()
            .find(|(name, _)| name == names::CALLED_FUNCTION)?;
        module.attribute_str(function).map(str::to_owned)
    }

    /// Returns the registration of the op for devices of a type; `None` if it is faulty there,
    /// which is reported to callers.
    pub(crate) fn registered<'a>(
        &self,
        ops: &'a OpRegistry,
        device_type: &str,
    ) -> Option<&'a RegisteredOp> {
        let op = ops.get(device_type, &self.name).ok().flatten()?;
        Some(op)
    }

    /// Returns the type of the devices that its handler or its device is for; `None` if that is not
    /// known.
    pub(crate) fn device_type(&self, module: &Module, ops: &OpRegistry) -> Option<String> {
        if let Some(device) = device_attribute(module, self.op) {
            return Some(type_of_device(device));
        }
        let handler = module.defining_op(self.handler(module)?)?;
        let name = match module.op_name(handler) {
            names::GET_HANDLER => module.attr(handler, "op_handler_name")?,
            names::HANDLER_OF_DEVICE => module.attr(handler, "device")?,
            _ => return None,
        };
        let device_type = type_of_device(module.attribute_str(name)?);
        ops.device_types()
            .any(|known| known == device_type)
            .then_some(device_type)
    }
}

/// Returns the name and the value of each pair in an attribute.
fn pairs(module: &Module, op: OpId, attribute: &str) -> Vec<(String, AttrId)> {
    let Some(Attribute::Array(pairs)) = module
        .attr(op, attribute)
        .map(|pairs| module.attribute(pairs))
    else {
        return Vec::new();
    };
    let pair = |&pair: &AttrId| match module.attribute(pair) {
        Attribute::Array(pair) => match pair[..] {
            [name, value] => Some((module.attribute_str(name)?.to_owned(), value)),
            _ => None,
        },
        _ => None,
    };
    pairs.iter().filter_map(pair).collect()
}

/// Returns the device that an op is said to run on.
pub(crate) fn device_attribute(module: &Module, op: OpId) -> Option<&str> {
    module.attribute_str(module.attr(op, names::DEVICE)?)
}

/// Returns the type of a device, from its name: `cpu` for `CPU:0` and for
/// `/job:worker/task:0/device:CPU:0`.
pub(crate) fn type_of_device(name: &str) -> String {
    let local = name
        .rsplit_once("/device:")
        .map_or(name, |(_, local)| local);
    let device_type = local.split_once(':').map_or(local, |(ty, _)| ty);
    device_type.to_ascii_lowercase()
}

/// Returns the texts in an attribute that is a list of them.
pub(crate) fn texts(module: &Module, op: OpId, attribute: &str) -> Vec<String> {
    let Some(Attribute::Array(texts)) = module
        .attr(op, attribute)
        .map(|texts| module.attribute(texts))
    else {
        return Vec::new();
    };
    let texts = texts.iter().filter_map(|&text| module.attribute_str(text));
    texts.map(str::to_owned).collect()
}

/// Returns the devices that a function may use, the host's first.
pub(crate) fn devices(module: &Module, func: OpId) -> Vec<String> {
    match texts(module, func, names::DEVICES) {
        devices if devices.is_empty() => vec![names::HOST_DEVICE.to_owned()],
        devices => devices,
    }
}

pub(crate) fn is_handle(module: &Module, value: ValueId) -> bool {
    module.type_spelling(module.value_type(value)) == names::HANDLE_TYPE
}

pub(crate) fn is_chain(module: &Module, value: ValueId) -> bool {
    module.type_spelling(module.value_type(value)) == names::CHAIN_TYPE
}

/// Returns the handles that a function takes, in order.
pub(crate) fn handle_arguments(module: &Module, func: OpId) -> Vec<ValueId> {
    let arguments = module
        .entry_block(func)
        .map_or(&[][..], |block| module.block_arguments(block));
    let handles = arguments.iter().copied();
    handles.filter(|&value| is_handle(module, value)).collect()
}

/// Returns the known metadata of the results of an op.
pub(crate) fn known_results(module: &Module, op: OpId) -> Vec<PartialMetadata> {
    match module.attr(op, names::RESULTS) {
        Some(results) => crate::metadata::from_attribute(module, results),
        None => Vec::new(),
    }
}

/// Returns `true` if an op only makes its results, so that it may be removed if they are unused,
/// and may be repeated in another place.
pub(crate) fn is_removable(module: &Module, op: OpId) -> bool {
    match module.op_name(op) {
        // To find a handler has no effect; what registers one is ordered by the chain.
        names::GET_HANDLER => true,
        _ => module.op_def(op).is_some_and(|def| def.is_removable()),
    }
}

pub(crate) fn place(module: &Module, op: OpId) -> Place {
    module.place(module.op_location(op))
}

pub(crate) fn error_at(module: &Module, op: OpId, message: impl Into<String>) -> Diagnostic {
    Diagnostic::error(place(module, op), message)
}
