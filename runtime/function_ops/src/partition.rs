//! Partition: one function for each device, and edges between them.
//!
//! Preconditions: the program is verified, and every op is [placed](mod@crate::place).
//!
//! ```text
//!  @f, ops on CPU:0 and CPU:1
//!   ├─ @f.CPU_0 (rendezvous, arguments that it needs) ─► results that it makes
//!   ├─ @f.CPU_1 (rendezvous, arguments that it needs) ─► results that it makes
//!   └─ @f       makes a rendezvous, calls both at once, aborts it when one fails, returns their results
//! ```
//!
//! A function whose ops are on one device stays as it is. Otherwise:
//! - a value that another device needs is sent once to each of these, where it is made, and
//!   received once, at the start of the function there. Handles are copied to the device then,
//!   unless all ops that use them there need them in host memory;
//! - ops without a device, such as control flow, belong to the host, which is the first device.
//!   Constants and handlers are repeated wherever they are needed;
//! - sending does not wait for the value, and a failed value is sent like any other, so that errors
//!   travel along the data.
//!
//! A receiver never waits forever: an unsent value becomes an error as soon as all senders are
//! gone. Ordering: chains are ordinary values, so each effect stays after those that it followed.
//! Cost: linear in the number of ops, times that of the devices.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use tfrt_core::{OpRegistry, no_such_device};
use tfrt_ir::symbols::{FUNC_OP, FUNCTION_TYPE, SYMBOL_NAME, SYMBOL_VISIBILITY};
use tfrt_ir::{AttrId, Attribute, BlockId, Module, OpId, OpState, TypeId, ValueDef, ValueId};
use tfrt_ods::OpTraits;
use tfrt_support::Diagnostic;

use crate::call::{Call, device_attribute, devices, error_at, is_handle, texts};
use crate::names;

/// The attribute of an op that may start before its operands are available.
const NON_STRICT: &str = "bef.nonstrict";

/// Splits a function by the devices of its ops. Returns what cannot be split.
pub fn partition(module: &mut Module, func: OpId, ops: &OpRegistry) -> Vec<Diagnostic> {
    let Some(block) = module.entry_block(func) else {
        return Vec::new();
    };
    let plan = match Plan::new(module, func, block, ops) {
        Ok(Some(plan)) => plan,
        Ok(None) => return Vec::new(),
        Err(finding) => return vec![finding],
    };
    plan.carry_out(module, ops);
    Vec::new()
}

/// The location of an op.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Home {
    /// On the device of this number.
    Device(usize),
    /// Wherever its results are needed.
    Anywhere,
}

/// What is to be done, before anything is.
struct Plan {
    func: OpId,
    block: BlockId,
    devices: Vec<String>,
    homes: HashMap<OpId, Home>,
    last: OpId,
    /// The number of each edge, by value and receiving device.
    edges: BTreeMap<(ValueId, usize), usize>,
    /// What each device needs: values of ops that are made anywhere, and arguments.
    needed: Vec<BTreeSet<ValueId>>,
    /// Which values are used on a device, and not in host memory.
    used_there: BTreeSet<(ValueId, usize)>,
    /// For each device, the values that it makes and the function returns.
    returned: Vec<Vec<ValueId>>,
    argument_devices: HashMap<ValueId, String>,
}

/// A function in the making.
struct Part {
    block: BlockId,
    values: HashMap<ValueId, ValueId>,
    /// Handles before they were copied to the device.
    uncopied: HashMap<ValueId, ValueId>,
    rendezvous: ValueId,
    /// The arguments of the whole function that it takes, in order.
    arguments: Vec<ValueId>,
}

impl Plan {
    fn new(
        module: &Module,
        func: OpId,
        block: BlockId,
        registry: &OpRegistry,
    ) -> Result<Option<Self>, Diagnostic> {
        let devices = devices(module, func);
        let all = module.block_ops(block).to_vec();
        let Some((&last, ops)) = all.split_last() else {
            return Ok(None);
        };
        let mut homes = HashMap::new();
        let mut used = BTreeSet::new();
        for &op in ops {
            let home = home_of(module, op, &devices)?;
            if let Home::Device(device) = home {
                used.insert(device);
            }
            homes.insert(op, home);
        }
        if used.iter().all(|&device| device == 0) {
            return Ok(None);
        }
        let handles = crate::call::handle_arguments(module, func);
        let said = texts(module, func, names::ARGUMENT_DEVICES);
        let mut plan = Self {
            func,
            block,
            needed: vec![BTreeSet::new(); devices.len()],
            used_there: BTreeSet::new(),
            returned: vec![Vec::new(); devices.len()],
            devices,
            homes,
            last,
            edges: BTreeMap::new(),
            argument_devices: handles.into_iter().zip(said).collect(),
        };
        for &op in ops {
            if let Home::Device(device) = plan.homes[&op] {
                if let Some(finding) = refused(module, op) {
                    return Err(finding);
                }
                for (index, &operand) in module.operands(op).iter().enumerate() {
                    plan.need(module, operand, device);
                    if !is_in_host_memory(module, op, index, registry) {
                        plan.used_there.insert((operand, device));
                    }
                }
            }
        }
        for &value in module.operands(last) {
            let home = match module.defining_op(value) {
                Some(op) => plan.homes.get(&op).copied().unwrap_or(Home::Anywhere),
                None => continue,
            };
            let device = match home {
                Home::Device(device) => device,
                Home::Anywhere => 0,
            };
            plan.need(module, value, device);
            plan.used_there.insert((value, device));
            if !plan.returned[device].contains(&value) {
                plan.returned[device].push(value);
            }
        }
        Ok(Some(plan))
    }

    /// Says that a device needs a value.
    fn need(&mut self, module: &Module, value: ValueId, device: usize) {
        let mut pending = vec![value];
        while let Some(value) = pending.pop() {
            let home = match module.value_def(value) {
                ValueDef::Argument { .. } => {
                    self.needed[device].insert(value);
                    continue;
                }
                ValueDef::Result { op, .. } => self.homes[&op],
            };
            match home {
                Home::Device(home) if home == device => {}
                Home::Device(_) => {
                    let number = self.edges.len();
                    self.edges.entry((value, device)).or_insert(number);
                }
                Home::Anywhere => {
                    if self.needed[device].insert(value)
                        && let Some(op) = module.defining_op(value)
                    {
                        pending.extend(module.operands(op));
                    }
                }
            }
        }
    }

    fn carry_out(self, module: &mut Module, registry: &OpRegistry) {
        let location = module.op_location(self.func);
        let name = module.symbol_name(self.func).unwrap_or_default().to_owned();
        let table = module
            .nearest_symbol_table(self.func)
            .unwrap_or(module.root());
        let num_devices = self.devices.len();
        let is_used = |device: &usize| {
            self.homes
                .values()
                .any(|home| *home == Home::Device(*device))
                || !self.returned[*device].is_empty()
        };
        let used: Vec<usize> = (0..num_devices).filter(is_used).collect();
        let mut parts: BTreeMap<usize, Part> = BTreeMap::new();
        for &device in &used {
            parts.insert(device, self.open_part(module, device));
        }
        for op in module.take_block_ops(self.block) {
            if op == self.last {
                module.append_op(self.block, op);
                continue;
            }
            match self.homes[&op] {
                Home::Device(device) => {
                    if let Some(part) = parts.get_mut(&device) {
                        self.move_op(module, op, part, registry);
                    }
                }
                Home::Anywhere => {
                    for (&device, part) in &mut parts {
                        self.copy_op(module, op, device, part);
                    }
                    for inner in module.walk(op) {
                        module.set_operands(inner, Vec::new());
                    }
                }
            }
        }
        // The whole function: a rendezvous, and a call of each part.
        let rendezvous_type = names::dialect_type(module, names::RENDEZVOUS_TYPE);
        let num_edges = self.edges.len() as i128;
        let mut state = OpState::new(names::RENDEZVOUS, location);
        state.attributes = vec![("edges".into(), module.integer_attr(num_edges, 32))];
        state.result_types = vec![rendezvous_type];
        let rendezvous = insert_before(module, self.block, self.last, state);
        let rendezvous = module.results(rendezvous)[0];
        let unit = module.intern_attribute(Attribute::Unit);
        let mut results: HashMap<ValueId, ValueId> = HashMap::new();
        let mut watched = vec![rendezvous];
        for (device, part) in parts {
            let returned = &self.returned[device];
            let of_part = returned.iter().map(|value| part.values[value]);
            let of_part: Vec<ValueId> = of_part.collect();
            let types: Vec<TypeId> = of_part
                .iter()
                .map(|value| module.value_type(*value))
                .collect();
            let mut state = OpState::new(names::RETURN, location);
            state.operands = of_part;
            let last = module.create_op(state);
            module.append_op(part.block, last);
            let part_name = self.part_name(module, table, &name, device);
            self.close_part(module, &part, &part_name, device, &types);
            let mut state = OpState::new(names::CALL, location);
            state.operands = std::iter::once(rendezvous).chain(part.arguments).collect();
            state.result_types = types;
            state.attributes = vec![
                ("callee".into(), module.flat_symbol_attr(&part_name)),
                (NON_STRICT.into(), unit),
            ];
            let call = insert_before(module, self.block, self.last, state);
            let made = module.results(call).to_vec();
            watched.extend(&made);
            results.extend(returned.iter().copied().zip(made));
        }
        if watched.len() > 1 {
            let mut state = OpState::new(names::ABORT_IF_ERROR, location);
            state.operands = watched;
            state.attributes = vec![(NON_STRICT.into(), unit)];
            insert_before(module, self.block, self.last, state);
        }
        let last = module.operands(self.last).iter();
        let last = last.map(|value| results.get(value).copied().unwrap_or(*value));
        let last = last.collect();
        module.set_operands(self.last, last);
    }

    /// Begins the function of a device: with what it is called with, and what it receives.
    fn open_part(&self, module: &mut Module, device: usize) -> Part {
        let location = module.op_location(self.func);
        let region = module.create_region();
        let rendezvous_type = names::dialect_type(module, names::RENDEZVOUS_TYPE);
        let block = module.create_block(region, &[rendezvous_type]);
        let rendezvous = module.block_arguments(block)[0];
        let mut part = Part {
            block,
            values: HashMap::new(),
            uncopied: HashMap::new(),
            rendezvous,
            arguments: Vec::new(),
        };
        for argument in module.block_arguments(self.block).to_vec() {
            if !self.needed[device].contains(&argument) {
                continue;
            }
            let ty = module.value_type(argument);
            let own = module.add_block_argument(block, ty);
            part.arguments.push(argument);
            part.values.insert(argument, own);
        }
        for argument in part.arguments.clone() {
            let home = self.argument_devices.get(&argument).map(String::as_str);
            let is_here = home.unwrap_or(&self.devices[0]) == self.devices[device];
            if !is_here {
                let own = part.values[&argument];
                self.add_handle(module, argument, own, device, &mut part);
            }
        }
        let mut received: Vec<(usize, ValueId)> = self
            .edges
            .iter()
            .filter(|((_, destination), _)| *destination == device)
            .map(|(&(value, _), &number)| (number, value))
            .collect();
        received.sort_unstable();
        for (number, value) in received {
            let mut state = OpState::new(names::RECEIVE, location);
            state.operands = vec![rendezvous];
            state.attributes = vec![("edge".into(), module.integer_attr(number as i128, 32))];
            state.result_types = vec![module.value_type(value)];
            let receive = module.create_op(state);
            module.append_op(block, receive);
            let own = module.results(receive)[0];
            self.add_handle(module, value, own, device, &mut part);
        }
        part
    }

    /// Adds a value that came from another device. A handle is copied if ops use it on this one.
    fn add_handle(
        &self,
        module: &mut Module,
        value: ValueId,
        own: ValueId,
        device: usize,
        part: &mut Part,
    ) {
        let mut there = own;
        if is_handle(module, value) && self.used_there.contains(&(value, device)) {
            there = self.copied(module, own, device, part.block);
            part.uncopied.insert(value, own);
        }
        part.values.insert(value, there);
    }

    /// Returns a handle on a device, behind the ops of a block.
    fn copied(
        &self,
        module: &mut Module,
        handle: ValueId,
        device: usize,
        block: BlockId,
    ) -> ValueId {
        let mut state = OpState::new(names::COPY_TO_DEVICE, module.op_location(self.func));
        state.operands = vec![handle];
        state.attributes = vec![("device".into(), module.string_attr(&self.devices[device]))];
        state.result_types = vec![module.value_type(handle)];
        let copy = module.create_op(state);
        module.append_op(block, copy);
        module.results(copy)[0]
    }

    /// Moves an op to the function of its device, and sends its results to those that need them.
    fn move_op(&self, module: &mut Module, op: OpId, part: &mut Part, registry: &OpRegistry) {
        let operands = module.operands(op).iter().enumerate();
        let operands = operands.map(|(index, value)| match part.uncopied.get(value) {
            Some(&uncopied) if is_in_host_memory(module, op, index, registry) => uncopied,
            _ => part.values[value],
        });
        let operands = operands.collect();
        module.set_operands(op, operands);
        module.append_op(part.block, op);
        for result in module.results(op).to_vec() {
            part.values.insert(result, result);
            let destinations = self.edges.range((result, 0)..=(result, usize::MAX));
            for (_, &number) in destinations {
                let mut state = OpState::new(names::SEND, module.op_location(op));
                state.operands = vec![part.rendezvous, result];
                let unit = module.intern_attribute(Attribute::Unit);
                state.attributes = vec![
                    ("edge".into(), module.integer_attr(number as i128, 32)),
                    (NON_STRICT.into(), unit),
                ];
                let send = module.create_op(state);
                module.append_op(part.block, send);
            }
        }
    }

    /// Makes what an op makes in the function of a device, if it is needed there.
    fn copy_op(&self, module: &mut Module, op: OpId, device: usize, part: &mut Part) {
        let results = module.results(op).to_vec();
        if !results
            .iter()
            .any(|result| self.needed[device].contains(result))
        {
            return;
        }
        let location = module.op_location(op);
        let is_handler = results.iter().any(|&result| is_handler(module, result));
        // A handler is that of the device.
        let mut state = if is_handler && device != 0 {
            let mut state = OpState::new(names::HANDLER_OF_DEVICE, location);
            state.attributes = vec![("device".into(), module.string_attr(&self.devices[device]))];
            state
        } else {
            let mut state = OpState::new(module.op_name(op), location);
            let operands = module.operands(op).iter();
            state.operands = operands.map(|value| part.values[value]).collect();
            let attributes = module.attributes(op).iter();
            state.attributes = attributes
                .map(|(name, value)| (module.name(*name).to_owned(), *value))
                .collect();
            state
        };
        state.result_types = results
            .iter()
            .map(|result| module.value_type(*result))
            .collect();
        let copy = module.create_op(state);
        module.append_op(part.block, copy);
        for (index, result) in results.into_iter().enumerate() {
            let own = module.results(copy)[index];
            match device {
                0 => _ = part.values.insert(result, own),
                _ => self.add_handle(module, result, own, device, part),
            }
        }
    }

    /// Returns a name for the function of a device that no other function has.
    fn part_name(&self, module: &Module, table: OpId, name: &str, device: usize) -> String {
        let device: String = self.devices[device]
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() { c } else { '_' })
            .collect();
        let mut name = format!("{name}.{device}");
        while module.lookup_symbol(table, &name).is_some() {
            name.push('_');
        }
        name
    }

    /// Makes a function of the body of a part, behind the whole one.
    fn close_part(
        &self,
        module: &mut Module,
        part: &Part,
        name: &str,
        device: usize,
        results: &[TypeId],
    ) {
        let arguments = module.block_arguments(part.block).iter();
        let arguments: Vec<TypeId> = arguments.map(|value| module.value_type(*value)).collect();
        let ty = module.function_type(&arguments, results);
        let mut state = OpState::new(FUNC_OP, module.op_location(self.func));
        state.regions = vec![module.block_region(part.block)];
        state.attributes = vec![
            (SYMBOL_NAME.into(), module.string_attr(name)),
            (SYMBOL_VISIBILITY.into(), module.string_attr("private")),
            (
                FUNCTION_TYPE.into(),
                module.intern_attribute(Attribute::Type(ty)),
            ),
            (names::DEVICES.into(), self.device_list(module, device)),
            (
                names::ARGUMENT_DEVICES.into(),
                self.devices_of_arguments(module, part),
            ),
        ];
        let func = module.create_op(state);
        if let (Some(block), Some(index)) = (module.op_block(self.func), module.op_index(self.func))
        {
            module.insert_op(block, index + 1, func);
        }
    }

    fn device_list(&self, module: &mut Module, device: usize) -> AttrId {
        let name = module.string_attr(&self.devices[device]);
        module.intern_attribute(Attribute::Array([name].into()))
    }

    fn devices_of_arguments(&self, module: &mut Module, part: &Part) -> AttrId {
        let handles: Vec<ValueId> = part
            .arguments
            .iter()
            .copied()
            .filter(|&value| is_handle(module, value))
            .collect();
        let names = handles.iter().map(|value| {
            let home = self.argument_devices.get(value);
            module.string_attr(home.unwrap_or(&self.devices[0]))
        });
        let names: Vec<AttrId> = names.collect();
        module.intern_attribute(Attribute::Array(names.into()))
    }
}

/// Returns the device of an op.
fn home_of(module: &Module, op: OpId, devices: &[String]) -> Result<Home, Diagnostic> {
    if Call::of(module, op).is_some() {
        let Some(name) = device_attribute(module, op) else {
            return Ok(Home::Device(0));
        };
        return match devices.iter().position(|device| device == name) {
            Some(device) => Ok(Home::Device(device)),
            None => {
                let message = no_such_device(name, devices.iter().map(String::as_str));
                Err(error_at(module, op, message))
            }
        };
    }
    let results = module.results(op);
    let makes_handlers =
        !results.is_empty() && results.iter().all(|&value| is_handler(module, value));
    let is_constant = module
        .op_def(op)
        .is_some_and(|def| def.traits.contains(OpTraits::CONSTANT | OpTraits::PURE));
    if (makes_handlers && crate::call::is_removable(module, op)) || is_constant {
        return Ok(Home::Anywhere);
    }
    Ok(Home::Device(0))
}

/// Returns `true` if an op needs an operand in host memory, on whatever device it runs.
fn is_in_host_memory(module: &Module, op: OpId, index: usize, ops: &OpRegistry) -> bool {
    let Some(call) = Call::of(module, op) else {
        return false;
    };
    let num_before = module.operands(op).len() - call.arguments(module).len();
    let argument = index.checked_sub(num_before);
    let registered = call.device_type(module, ops);
    let registered = registered.and_then(|ty| call.registered(ops, &ty));
    registered
        .zip(argument)
        .is_some_and(|(op, index)| op.takes_in_host_memory(index))
}

fn is_handler(module: &Module, value: ValueId) -> bool {
    module.type_spelling(module.value_type(value)) == names::HANDLER_TYPE
}

/// Returns the reason why an op cannot be moved to another function.
fn refused(module: &Module, op: OpId) -> Option<Diagnostic> {
    let sees_outside = !module.regions(op).is_empty() && !module.is_isolated(op);
    sees_outside.then(|| {
        let name = module.op_name(op);
        let message = format!(
            "a function cannot be split by devices if the regions of `{name}` use values of the \
             function"
        );
        error_at(module, op, message)
    })
}

fn insert_before(module: &mut Module, block: BlockId, before: OpId, state: OpState) -> OpId {
    let op = module.create_op(state);
    let index = module
        .op_index(before)
        .unwrap_or(module.block_ops(block).len());
    module.insert_op(block, index, op);
    op
}
