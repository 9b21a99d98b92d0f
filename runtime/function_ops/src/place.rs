//! Placement: the device of every op.
//!
//! Preconditions: the program is verified, and metadata is [inferred](mod@crate::infer). The
//! devices of a function are its attribute `corert.devices`, the host's first; the default is the
//! host alone.
//!
//! Where a device scope is in force, its devices are the attribute `corert.devices_in_scope`. An op
//! that says nothing runs on one of them; with `corert.soft_placement` on another one, if none of
//! them has the op.
//!
//! By default, the rules of [`EagerContext::explain`](tfrt_core::EagerContext::explain) place an
//! op. An op can select its device by its attribute `corert.device`, which may be a part of a name
//! such as `GPU`, or by `corert.colocate_with`: the `corert.name` of another op, whose device it
//! shares. The named op never moves because of that. Each op that was placed has its attribute
//! `corert.device` afterwards, with a full name. Running the pass twice changes nothing more.
//!
//! The attributes `corert.links` and `corert.device_speeds` of the function state what copies
//! between its devices cost, and how fast the devices are.
//!
//! Every op names a handler. The handler of the host's devices says nothing about the place of an
//! op, because a program that knows of no other device has to name it as well. The handler of
//! another type of devices limits an op to devices of that type. Ops of handlers that are not those
//! of a device stay where their handlers run them, and are not placed.
//!
//! Cost: linear in the number of ops, times that of the devices.

use std::collections::HashMap;

use tfrt_core::{
    DevicePattern, OpRegistry, PlacementRow, PlacementRule, cheapest_device, no_such_device,
    placement_table,
};
use tfrt_ir::{Module, OpId, ValueId};
use tfrt_ods::OpTraits;
use tfrt_support::{DType, Diagnostic, Place, TensorMetadata};

use crate::call::{
    Call, device_attribute, devices, error_at, handle_arguments, is_handle, place as place_of,
    texts, type_of_device,
};
use crate::costs::Costs;
use crate::known::Known;
use crate::names;

/// Integer tensors of at most so many elements, in host memory, keep an op on the host.
const MAX_SMALL_ELEMENTS: usize = 64;

/// The part of a name that every device has.
const ANY_DEVICE: &str = "*";

/// Why an op is on its device.
#[derive(Clone, Debug, PartialEq)]
enum Reason {
    /// Its attribute says so.
    Asked(String),
    /// It follows the op of this name.
    Follows(String),
    /// A rule of placement.
    Rule(PlacementRule),
}

impl Reason {
    /// Returns the reason as text. `counts_op` says whether what the op itself costs was part of a
    /// comparison of costs.
    fn text(&self, counts_op: bool) -> String {
        match self {
            Self::Asked(asked) => format!("requested as `{asked}`"),
            Self::Follows(name) => format!("placed with `{name}`"),
            Self::Rule(rule) => rule.text(counts_op).to_owned(),
        }
    }
}

/// Places every op of a function. Reports the ops that cannot be placed.
pub fn place(module: &mut Module, func: OpId, ops: &OpRegistry) -> Vec<Diagnostic> {
    let mut placer = Placer::new(module, func, ops);
    let findings = placer.run(module);
    for (op, index) in placer.placed {
        let device = module.string_attr(&placer.devices[index]);
        module.set_attr(op, names::DEVICE, device);
    }
    findings
}

/// Reports, for every op of a function, the device that [`place`] would choose, why, and what the
/// choice was between, as remarks.
pub fn explain_placement(module: &mut Module, func: OpId, ops: &OpRegistry) -> Vec<Diagnostic> {
    let mut placer = Placer::explaining(module, func, ops);
    let mut findings = placer.run(module);
    findings.extend(placer.decisions().map(|decision| decision.remark()));
    findings
}

/// The same as texts: a table for each op that would be placed, and what cannot be placed.
pub(crate) fn placement_tables(module: &Module, func: OpId, ops: &OpRegistry) -> Vec<String> {
    let mut placer = Placer::explaining(module, func, ops);
    let findings = placer.run(module);
    let tables = placer.decisions().map(|decision| decision.table());
    tables
        .chain(findings.iter().map(|finding| format!("{finding}\n")))
        .collect()
}

/// The device of an op, and what it was chosen from.
struct Decision {
    place: Place,
    /// Which op runs where, and why.
    message: String,
    candidates: Vec<Candidate>,
}

/// A device that the op could have run on.
struct Candidate {
    device: String,
    has_op: bool,
    /// The cost of moving the operands there.
    cost_microseconds: f64,
    /// The estimate of the op.
    op_microseconds: Option<f64>,
}

impl Decision {
    fn remark(&self) -> Diagnostic {
        let mut remark = Diagnostic::remark(self.place.clone(), self.message.clone());
        for candidate in &self.candidates {
            let name = &candidate.device;
            let has_op = if candidate.has_op {
                "has the op"
            } else {
                "does not have the op"
            };
            let cost = candidate.cost_microseconds;
            let mut note = format!("{name} {has_op}; cost of moving operands: {cost:.1} us");
            if let Some(cost) = candidate.op_microseconds {
                note += &format!("; cost of the op: {cost:.1} us");
            }
            remark = remark.with_note(self.place.clone(), note);
        }
        remark
    }

    fn table(&self) -> String {
        let rows = self.candidates.iter();
        let rows = rows.map(|candidate| PlacementRow {
            device: &candidate.device,
            has_op: candidate.has_op,
            cost_microseconds: candidate.cost_microseconds,
            op_microseconds: candidate.op_microseconds,
        });
        let table = placement_table(&rows.collect::<Vec<_>>());
        format!("{}: {}\n{table}", self.place, self.message)
    }
}

/// Returns the largest number of elements of a small integer tensor.
fn max_small_elements(module: &Module, func: OpId) -> usize {
    let said = module.attr(func, names::MAX_SMALL_ELEMENTS);
    let said = said.and_then(|said| module.attribute_str(said)?.parse().ok());
    said.unwrap_or(MAX_SMALL_ELEMENTS)
}

struct Placer<'a> {
    ops: &'a OpRegistry,
    devices: Vec<String>,
    costs: Costs,
    known: Known,
    /// The device of each handle, by its number.
    homes: HashMap<ValueId, usize>,
    /// The devices that a scope names.
    in_scope: Option<Vec<usize>>,
    is_soft: bool,
    max_small_elements: usize,
    calls: Vec<Call>,
    named: HashMap<String, usize>,
    placed: Vec<(OpId, usize)>,
    /// The decisions, if somebody wants to see them: what an op would cost on each device takes
    /// time to find out.
    decisions: Option<Vec<Decision>>,
    findings: Vec<Diagnostic>,
}

impl<'a> Placer<'a> {
    fn new(module: &Module, func: OpId, ops: &'a OpRegistry) -> Self {
        let devices = devices(module, func);
        let (costs, findings) = Costs::read(module, func, &devices);
        let said = texts(module, func, names::ARGUMENT_DEVICES).into_iter();
        let number = |name: String| devices.iter().position(|device| *device == name);
        let in_scope = module.attr(func, names::DEVICES_IN_SCOPE).map(|_| {
            let names = texts(module, func, names::DEVICES_IN_SCOPE).into_iter();
            names.filter_map(number).collect()
        });
        let said = said.map(|name| number(name).unwrap_or(0));
        let arguments = handle_arguments(module, func).into_iter();
        let homes = arguments.zip(said.chain(std::iter::repeat(0))).collect();
        let block = module.entry_block(func);
        let ops_of_func = block.map_or(&[][..], |block| module.block_ops(block));
        let calls: Vec<Call> = ops_of_func
            .iter()
            .filter_map(|&op| Call::of(module, op))
            .collect();
        let name = |(index, call): (usize, &Call)| {
            let name = module.attribute_str(module.attr(call.op, names::NAME)?)?;
            Some((name.to_owned(), index))
        };
        Self {
            ops,
            devices,
            costs,
            known: Known::inferred(module, func),
            homes,
            in_scope,
            is_soft: module.attr(func, names::SOFT_PLACEMENT).is_some(),
            max_small_elements: max_small_elements(module, func),
            named: calls.iter().enumerate().filter_map(name).collect(),
            calls,
            placed: Vec::new(),
            decisions: None,
            findings,
        }
    }

    /// Creates a placer that records its decisions.
    fn explaining(module: &Module, func: OpId, ops: &'a OpRegistry) -> Self {
        Self {
            decisions: Some(Vec::new()),
            ..Self::new(module, func, ops)
        }
    }

    fn decisions(&self) -> impl Iterator<Item = &Decision> {
        self.decisions.iter().flatten()
    }

    /// Places every call. An op that follows a later op is placed after it, by the devices of
    /// operands that are known then.
    fn run(&mut self, module: &Module) -> Vec<Diagnostic> {
        let mut findings = std::mem::take(&mut self.findings);
        let mut homes: Vec<Option<usize>> = vec![None; self.calls.len()];
        // For each call the one from which it was reached last.
        let mut reached_from: Vec<Option<usize>> = vec![None; self.calls.len()];
        for index in 0..self.calls.len() {
            if homes[index].is_some() {
                continue;
            }
            // The op, the one that it follows, the one that follows, and so on.
            let mut chain = vec![index];
            reached_from[index] = Some(index);
            let mut next = index;
            let outcome = loop {
                let call = self.calls[next].clone();
                let followed = module.attr(call.op, names::COLOCATE_WITH);
                let Some(name) = followed.and_then(|name| module.attribute_str(name)) else {
                    break Ok(());
                };
                let Some(&named) = self.named.get(name) else {
                    let message = format!("no op has the `{}` `{name}`", names::NAME);
                    break Err(error_at(module, call.op, message));
                };
                if homes[named].is_some() {
                    break Ok(());
                }
                if reached_from[named] == Some(index) {
                    let message = format!("`{name}` follows itself");
                    break Err(error_at(module, call.op, message));
                }
                chain.push(named);
                reached_from[named] = Some(index);
                next = named;
            };
            if let Err(finding) = outcome {
                findings.push(finding);
                continue;
            }
            for index in chain.into_iter().rev() {
                match self.place_call(module, index, &homes) {
                    Ok(home) => homes[index] = home,
                    Err(finding) => findings.push(finding),
                }
            }
        }
        findings
    }

    /// Returns the device of a call; `None` if it is its handler that decides.
    fn place_call(
        &mut self,
        module: &Module,
        index: usize,
        homes: &[Option<usize>],
    ) -> Result<Option<usize>, Diagnostic> {
        let call = self.calls[index].clone();
        // A function that is called as an op is placed when its body is in the place of the call.
        let device_type = call.device_type(module, self.ops);
        let is_function = call.called_function(module).is_some();
        let Some(device_type) = device_type.filter(|_| !is_function) else {
            return Ok(None);
        };
        let having: Vec<usize> = (0..self.devices.len())
            .filter(|&device| self.has_op(&call, device))
            .collect();
        let followed = module.attr(call.op, names::COLOCATE_WITH);
        let followed = followed.and_then(|name| module.attribute_str(name));
        let followed = followed.and_then(|name| Some((name, homes[*self.named.get(name)?]?)));
        let (home, reason, choices) = if let Some((name, home)) = followed {
            if !having.contains(&home) {
                return Err(self.not_on(module, &call, &[home], &having));
            }
            (home, Reason::Follows(name.to_owned()), vec![home])
        } else {
            let asked = device_attribute(module, call.op);
            let wanted = match asked {
                Some(asked) => asked,
                None if device_type == type_of_device(&self.devices[0]) => ANY_DEVICE,
                None => &device_type,
            };
            let matching = self.matching(wanted);
            if matching.is_empty() {
                let message = no_such_device(wanted, self.devices.iter().map(String::as_str));
                return Err(error_at(module, call.op, message));
            }
            // What an op says itself is an inner scope.
            let in_scope = self.in_scope.as_deref().filter(|_| asked.is_none());
            let usable = |device: &usize| having.contains(device);
            let is_named = |device: &usize| in_scope.is_none_or(|named| named.contains(device));
            let mut candidates: Vec<usize> = matching.iter().copied().filter(usable).collect();
            let named: Vec<usize> = candidates.iter().copied().filter(is_named).collect();
            let is_moved = named.is_empty() && self.is_soft;
            if !is_moved {
                candidates = named;
            }
            if candidates.is_empty() {
                let wanted = in_scope.unwrap_or(&matching);
                return Err(self.not_on(module, &call, wanted, &having));
            }
            let is_small = asked.is_none()
                && in_scope.is_none()
                && candidates.contains(&0)
                && self.is_small(module, &call);
            let home = if is_small {
                0
            } else {
                let moving_cost = |device| self.moving_cost(module, &call, device);
                let op_cost = |device| self.op_cost(module, &call, device);
                // There are candidates: see above.
                cheapest_device(&candidates, moving_cost, op_cost).unwrap_or(0)
            };
            let reason = match asked {
                Some(asked) => Reason::Asked(asked.to_owned()),
                None if self.devices.len() == 1 => Reason::Rule(PlacementRule::OnlyDevice),
                None if is_moved => Reason::Rule(PlacementRule::SoftPlacement),
                None if in_scope.is_some() => Reason::Rule(PlacementRule::DeviceScope),
                None if is_small => Reason::Rule(PlacementRule::SmallIntegers),
                None => Reason::Rule(PlacementRule::LeastCost),
            };
            (home, reason, candidates)
        };
        for &result in call.results(module) {
            self.homes.insert(result, home);
        }
        self.note(module, &call, home, &reason, &choices);
        self.placed.push((call.op, home));
        Ok(Some(home))
    }

    fn has_op(&self, call: &Call, device: usize) -> bool {
        let device_type = type_of_device(&self.devices[device]);
        let registered = call.registered(self.ops, &device_type);
        registered.is_some_and(|op| op.can_run())
    }

    /// Returns the devices that a name, or a part of one, stands for.
    fn matching(&self, wanted: &str) -> Vec<usize> {
        DevicePattern::new(wanted).matching(self.devices.iter().map(String::as_str))
    }

    /// Returns `true` if operands and results are small integer tensors, and the operands in host
    /// memory.
    fn is_small(&self, module: &Module, call: &Call) -> bool {
        let is_small = |value: &ValueId| {
            let metadata = self.known.full(*value);
            metadata.is_some_and(|metadata| {
                is_integer(metadata.dtype)
                    && metadata
                        .num_elements()
                        .is_some_and(|count| count <= self.max_small_elements)
            })
        };
        let arguments = call.arguments(module);
        !arguments.is_empty()
            && arguments
                .iter()
                .all(|value| self.home(value) == 0 && is_small(value))
            && call.results(module).iter().all(is_small)
    }

    fn home(&self, value: &ValueId) -> usize {
        self.homes.get(value).copied().unwrap_or(0)
    }

    /// Returns the time in microseconds that the op is assumed to take on a device: its own
    /// estimate, or else that of the device. Returns `None` if there is neither, or the metadata of
    /// its operands is unknown.
    fn op_cost(&self, module: &Module, call: &Call, device: usize) -> Option<f64> {
        let device_type = type_of_device(&self.devices[device]);
        let registered = call.registered(self.ops, &device_type)?;
        let speed = self.costs.speed(device);
        if !registered.has_cost() && speed.is_none() {
            return None;
        }
        let arguments = call.arguments(module).iter();
        let known = arguments.map(|&value| self.known.full(value).cloned());
        let known: Vec<TensorMetadata> = known.collect::<Option<_>>()?;
        registered.cost_on(speed, &known, &call.attrs(module)?)
    }

    /// Returns the assumed time in microseconds to move the operands of an op from other devices to
    /// where it needs them if it runs on a device: there, or in host memory.
    fn moving_cost(&self, module: &Module, call: &Call, device: usize) -> f64 {
        let device_type = type_of_device(&self.devices[device]);
        let registered = call.registered(self.ops, &device_type);
        let operands = call.arguments(module).iter().enumerate();
        let cost = operands.filter_map(|(index, value)| {
            let is_on_host = registered.is_some_and(|op| op.takes_in_host_memory(index));
            let needed = if is_on_host { 0 } else { device };
            let is_moved = is_handle(module, *value)
                && self.home(value) != needed
                && !is_anywhere(module, *value);
            let metadata = self.known.full(*value);
            let num_bytes = metadata.and_then(TensorMetadata::size_bytes).unwrap_or(0);
            let link = self.costs.link(self.home(value), needed);
            is_moved.then(|| link.microseconds(num_bytes))
        });
        cost.fold(0.0, |total, cost| total + cost)
    }

    fn not_on(
        &self,
        module: &Module,
        call: &Call,
        wanted: &[usize],
        having: &[usize],
    ) -> Diagnostic {
        let list = |devices: &[usize]| {
            let names = devices.iter().map(|&device| self.devices[device].as_str());
            names.collect::<Vec<_>>().join(", ")
        };
        let (name, wanted) = (&call.name, list(wanted));
        let message = match having {
            [] => format!(
                "op `{name}` is not available for {}",
                self.devices.join(", ")
            ),
            _ => format!(
                "op `{name}` is not available for {wanted}; available for: {}",
                list(having)
            ),
        };
        error_at(module, call.op, message)
    }

    /// Records a decision between some of the devices, if somebody wants to see it.
    fn note(
        &mut self,
        module: &Module,
        call: &Call,
        home: usize,
        reason: &Reason,
        choices: &[usize],
    ) {
        if self.decisions.is_none() {
            return;
        }
        let candidates = (0..self.devices.len()).map(|device| Candidate {
            device: self.devices[device].clone(),
            has_op: self.has_op(call, device),
            cost_microseconds: self.moving_cost(module, call, device),
            op_microseconds: self.op_cost(module, call, device),
        });
        let candidates: Vec<Candidate> = candidates.collect();
        let has_estimate = |&device: &usize| candidates[device].op_microseconds.is_some();
        let reason = reason.text(choices.iter().all(has_estimate));
        let decision = Decision {
            place: place_of(module, call.op),
            message: format!("`{}` runs on {}: {reason}", call.name, self.devices[home]),
            candidates,
        };
        self.decisions.get_or_insert_default().push(decision);
    }
}

/// Returns `true` if a value is a constant, which is made wherever it is needed.
fn is_anywhere(module: &Module, value: ValueId) -> bool {
    let op = module.defining_op(value).and_then(|op| module.op_def(op));
    op.is_some_and(|def| def.traits.contains(OpTraits::CONSTANT | OpTraits::PURE))
}

fn is_integer(dtype: DType) -> bool {
    matches!(
        dtype,
        DType::Ui8
            | DType::Ui16
            | DType::Ui32
            | DType::Ui64
            | DType::I8
            | DType::I16
            | DType::I32
            | DType::I64
    )
}
