//! The ops that there are, by device type and name.

mod agreement;

mod counts;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use tfrt_host::__runtime::CountedKernel;
use tfrt_host::kernel::{KernelDescriptor, KernelRegistry};
use tfrt_ods::Arity;
use tfrt_support::{Error, ErrorCode};

pub(crate) use counts::Counts;

use crate::code::{OF_THIS_COPY, OpCode};
use crate::library;
use crate::op::{
    Implementation, OpFlags, OpFunction, OpMetadataFunction, OpRegistration, OperandSet,
};

/// The ops that a runtime knows: what was linked, with the kernels that run it.
///
/// ```
/// use tfrt_core::{Implementation, OpCall, OpFlags, OpRegistration, OpRegistry};
/// use tfrt_host::kernel::KernelRegistry;
/// use tfrt_support::Error;
///
/// fn nothing(_call: &mut OpCall<'_>) -> Result<(), Error> {
///     Ok(())
/// }
/// let nothing = OpRegistration {
///     implementation: Implementation::Function(nothing),
///     ..OpRegistration::new("my.nothing")
/// };
/// let ops = OpRegistry::new([&nothing], &KernelRegistry::default());
/// assert!(ops.get("cpu", "my.nothing")?.is_some());
/// assert!(ops.get("gpu", "my.nothing")?.is_none());
/// # Ok::<(), Error>(())
/// ```
#[derive(Debug, Default)]
pub struct OpRegistry {
    /// For each type of device, of which there are few, the ops by name.
    devices: Vec<(&'static str, HashMap<&'static str, OpSlot>)>,
}

/// An op, or why it cannot be used.
#[derive(Debug)]
enum OpSlot {
    Op(Arc<RegisteredOp>),
    Faulty(Error),
}

/// A registered op, ready to be run on devices of one type.
#[derive(Debug)]
pub struct RegisteredOp {
    pub(crate) registration: OpRegistration,
    pub(crate) runner: Runner,
    pub(crate) counts: Counts,
    /// The code that calls its functions.
    pub(crate) code: &'static OpCode,
}

/// What runs an op.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Runner {
    Kernel(CountedKernel),
    Function(OpFunction),
    /// Only its metadata function is known.
    Nothing,
}

impl OpRegistry {
    /// Returns the registered ops, each with its kernel, which must be one of `kernels`.
    #[must_use]
    pub fn new<'a>(
        registrations: impl IntoIterator<Item = &'a OpRegistration>,
        kernels: &KernelRegistry,
    ) -> Self {
        let registrations = registrations.into_iter();
        Self::of_copies(registrations.map(|op| (*op, &OF_THIS_COPY)), kernels)
    }

    /// Returns the ops that are linked, and those of the libraries of `kernels`.
    pub(crate) fn of_kernels(kernels: &KernelRegistry) -> Self {
        let linked = OpRegistration::linked().map(|op| (*op, &OF_THIS_COPY));
        let brought = kernels.libraries().iter().flat_map(library::ops_of);
        Self::of_copies(linked.chain(brought), kernels)
    }

    /// Returns the ops, each with the code that calls its functions.
    fn of_copies(
        registrations: impl Iterator<Item = (OpRegistration, &'static OpCode)>,
        kernels: &KernelRegistry,
    ) -> Self {
        let mut registry = Self::default();
        for (registration, code) in registrations {
            registry.add(registration, code, kernels);
        }
        registry.refuse_disagreeing();
        registry.share_metadata();
        registry
    }

    /// Lets an op without a metadata function use that of the same op for another type of devices:
    /// the metadata of results does not depend on the device.
    fn share_metadata(&mut self) {
        // A function is called by the code of its own copy of this crate.
        type Key = (&'static str, *const OpCode);
        fn key(op: &RegisteredOp) -> Key {
            (op.name(), op.code)
        }
        let mut declared: HashMap<Key, OpRegistration> = HashMap::new();
        let ops = self.devices.iter().flat_map(|(_, ops)| ops.values());
        for entry in ops {
            if let OpSlot::Op(op) = entry
                && op.registration.metadata.is_some()
            {
                let registration = op.registration;
                let known = declared.entry(key(op)).or_insert(registration);
                // The same one each time, in whatever order devices were linked.
                if registration.device_type < known.device_type {
                    *known = registration;
                }
            }
        }
        let ops = self
            .devices
            .iter_mut()
            .flat_map(|(_, ops)| ops.values_mut());
        for entry in ops {
            if let OpSlot::Op(op) = entry
                && matches!(op.runner, Runner::Function(_))
                && op.registration.metadata.is_none()
                && let Some(known) = declared.get(&key(op))
                && let Some(op) = Arc::get_mut(op)
            {
                op.registration.metadata = known.metadata;
                op.registration.partial = known.partial;
            }
        }
    }

    /// Makes ops unusable if their declarations for several types of devices differ, because calls
    /// would be ambiguous.
    fn refuse_disagreeing(&mut self) {
        let mut declared: BTreeMap<(&str, &str), &RegisteredOp> = BTreeMap::new();
        for &(device_type, ref ops) in &self.devices {
            for (name, entry) in ops {
                if let OpSlot::Op(op) = entry {
                    declared.insert((name, device_type), op);
                }
            }
        }
        let mut faulty = Vec::new();
        let mut first: Option<&RegisteredOp> = None;
        for ((name, _), op) in declared {
            match first.filter(|first| first.name() == name) {
                // An op without a kernel declares nothing.
                _ if !matches!(op.runner, Runner::Kernel(_)) => {}
                None => first = Some(op),
                Some(first) => faulty
                    .extend(agreement::disagreement(first, op).map(|error| (op.name(), error))),
            }
        }
        for (name, error) in faulty {
            let devices = self.devices.iter_mut();
            for entry in devices.filter_map(|(_, ops)| ops.get_mut(name)) {
                if matches!(entry, OpSlot::Op(_)) {
                    *entry = OpSlot::Faulty(error.clone());
                }
            }
        }
    }

    fn add(
        &mut self,
        registration: OpRegistration,
        code: &'static OpCode,
        kernels: &KernelRegistry,
    ) {
        let device_type = registration.device_type;
        let known = self
            .devices
            .iter()
            .position(|&(known, _)| known == device_type);
        let index = known.unwrap_or_else(|| {
            self.devices.push((device_type, HashMap::new()));
            self.devices.len() - 1
        });
        let ops = &mut self.devices[index].1;
        let added = resolve(registration, code, kernels);
        let entry = match (ops.remove(registration.name), added) {
            (Some(OpSlot::Faulty(error)), _) | (_, Err(error)) => OpSlot::Faulty(error),
            (None, Ok(op)) => OpSlot::Op(Arc::new(op)),
            (Some(OpSlot::Op(known)), Ok(op)) => match merge(&known, &op) {
                Ok(op) => OpSlot::Op(Arc::new(op)),
                Err(error) => OpSlot::Faulty(error),
            },
        };
        ops.insert(registration.name, entry);
    }

    /// Returns the op of this name for devices of a type.
    ///
    /// # Errors
    /// If it is registered in a way that does not allow its use: twice, for a kernel that was not
    /// linked, or with declarations for several types of devices that differ.
    pub fn get(&self, device_type: &str, name: &str) -> Result<Option<&Arc<RegisteredOp>>, Error> {
        match self.ops_of(device_type).and_then(|ops| ops.get(name)) {
            None => Ok(None),
            Some(OpSlot::Op(op)) => Ok(Some(op)),
            // An error of its own for each caller: where it happened is the caller's place.
            Some(OpSlot::Faulty(error)) => Err(Error::new(error.message()).with_code(error.code())),
        }
    }

    /// Returns the ops that can be run on devices of a type, in no order.
    pub fn names(&self, device_type: &str) -> impl Iterator<Item = &'static str> {
        let ops = self.ops_of(device_type).into_iter().flatten();
        ops.filter_map(|(name, entry)| match entry {
            OpSlot::Op(op) if !matches!(op.runner, Runner::Nothing) => Some(*name),
            _ => None,
        })
    }

    /// Returns the types of devices that have ops, in no order.
    pub fn device_types(&self) -> impl Iterator<Item = &'static str> {
        self.devices.iter().map(|&(device_type, _)| device_type)
    }

    /// Returns `true` if an op declares to write to its operands.
    pub(crate) fn has_writers(&self) -> bool {
        let mut ops = self.devices.iter().flat_map(|(_, ops)| ops.values());
        ops.any(|entry| match entry {
            OpSlot::Op(op) => op.writes_to_operands(),
            OpSlot::Faulty(_) => false,
        })
    }

    fn ops_of(&self, device_type: &str) -> Option<&HashMap<&'static str, OpSlot>> {
        let (_, ops) = self
            .devices
            .iter()
            .find(|&&(known, _)| known == device_type)?;
        Some(ops)
    }
}

/// Resolves the implementation of an op from its registration.
fn resolve(
    registration: OpRegistration,
    code: &'static OpCode,
    kernels: &KernelRegistry,
) -> Result<RegisteredOp, Error> {
    let runner = match registration.implementation {
        Implementation::None => Runner::Nothing,
        Implementation::Function(function) => Runner::Function(function),
        Implementation::Kernel(name) => match kernels.get(name) {
            Some(kernel) => Runner::Kernel(CountedKernel::new(*kernel)),
            None => {
                return Err(Error::new(format!(
                    "op `{}` needs the kernel `{name}`, which is not registered",
                    registration.name
                ))
                .with_code(ErrorCode::NotFound));
            }
        },
    };
    Ok(RegisteredOp {
        registration,
        runner,
        counts: Counts::of(&runner),
        code,
    })
}

/// Merges two registrations of one op, of which one has nothing to run.
fn merge(a: &RegisteredOp, b: &RegisteredOp) -> Result<RegisteredOp, Error> {
    let (run, told) = match (a.runner, b.runner) {
        (_, Runner::Nothing) => (a, b),
        (Runner::Nothing, _) => (b, a),
        _ => return Err(registered_twice(a, b)),
    };
    if !std::ptr::eq(a.code, b.code) {
        // Functions of another copy of this crate cannot be called along with those of the op.
        return Ok(RegisteredOp {
            registration: run.registration,
            ..*run
        });
    }
    let registration = OpRegistration {
        metadata: run.registration.metadata.or(told.registration.metadata),
        partial: run.registration.partial.or(told.registration.partial),
        cost: run.registration.cost.or(told.registration.cost),
        ..run.registration
    };
    Ok(RegisteredOp {
        registration,
        ..*run
    })
}

#[cold]
fn registered_twice(a: &RegisteredOp, b: &RegisteredOp) -> Error {
    let (a, b) = (&a.registration, &b.registration);
    // The order of registrations differs from one linking to the next.
    let mut places = [a.place, b.place].map(|place| format!("{}:{}", place.file, place.line));
    places.sort();
    Error::new(format!(
        "op `{}` is registered twice for devices of type `{}`: at {} and at {}",
        a.name, a.device_type, places[0], places[1]
    ))
    .with_code(ErrorCode::AlreadyExists)
}

impl RegisteredOp {
    /// Returns the name.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.registration.name
    }

    /// What it promises.
    #[must_use]
    pub fn flags(&self) -> OpFlags {
        self.registration.flags
    }

    /// Returns `true` if the op takes part in the order of effects.
    #[must_use]
    pub fn has_side_effects(&self) -> bool {
        !self.flags().contains(OpFlags::NO_SIDE_EFFECTS)
    }

    /// Returns `true` if there is something to run.
    #[must_use]
    pub fn can_run(&self) -> bool {
        !matches!(self.runner, Runner::Nothing)
    }

    /// Returns the kernel that runs it, if one does.
    #[must_use]
    pub fn kernel(&self) -> Option<&KernelDescriptor> {
        match &self.runner {
            Runner::Kernel(kernel) => Some(kernel.descriptor()),
            Runner::Function(_) | Runner::Nothing => None,
        }
    }

    /// Returns `true` if the kernel of the op declares to write to an operand.
    #[must_use]
    pub fn writes_to_operands(&self) -> bool {
        !self.written_operands().is_empty()
    }

    /// Returns `true` if the op needs the operand at `index` in host memory, on whatever device it
    /// runs.
    #[must_use]
    pub fn takes_in_host_memory(&self, index: usize) -> bool {
        self.registration.host_operands.contains(index)
    }

    /// Returns the operands that the kernel of the op declares to write to.
    pub(crate) fn written_operands(&self) -> OperandSet {
        let mut written = OperandSet::NONE;
        let Some(kernel) = self.kernel() else {
            return written;
        };
        // What follows an operand that may occur any number of times may be at any position.
        let mut first_shifted = None;
        for (index, operand) in kernel.op().operands.iter().enumerate() {
            if operand.arity != Arity::One {
                first_shifted = first_shifted.or(Some(index));
            }
            if operand.is_mutated {
                written = match first_shifted {
                    None => written.with(index),
                    Some(first) => written.with_all_from(first),
                };
            }
        }
        written
    }

    pub(crate) fn metadata_function(&self) -> Option<OpMetadataFunction> {
        self.registration.metadata
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::op::OpCall;
    use tfrt_host::kernel::KernelFrame;
    use tfrt_ods::{AttrDef, AttrKind, OpDef, OperandDef, ResultDef, SourcePlace, TypeConstraint};

    fn run(_call: &mut OpCall<'_>) -> Result<(), Error> {
        Ok(())
    }

    fn at(line: u32) -> OpRegistration {
        OpRegistration {
            implementation: Implementation::Function(run),
            place: SourcePlace {
                file: "ops.rs",
                line,
            },
            ..OpRegistration::new("my.op")
        }
    }

    #[test]
    fn an_op_is_registered_once_for_each_type_of_device() {
        let kernels = KernelRegistry::default();
        let elsewhere = OpRegistration {
            device_type: "gpu",
            ..at(9)
        };
        let registry = OpRegistry::new([&at(2), &elsewhere], &kernels);
        assert!(registry.get("cpu", "my.op").unwrap().is_some());
        assert!(registry.get("gpu", "my.op").unwrap().is_some());
        let twice = OpRegistry::new([&at(2), &at(1), &at(3)], &kernels);
        let error = twice.get("cpu", "my.op").unwrap_err();
        assert_eq!(
            error.message(),
            "op `my.op` is registered twice for devices of type `cpu`: at ops.rs:1 and at ops.rs:2"
        );
    }

    #[test]
    fn metadata_may_be_registered_by_itself() {
        let kernels = KernelRegistry::default();
        let metadata = OpRegistration {
            implementation: Implementation::None,
            metadata: Some(|_| Ok(crate::op::ResultMetadata::new())),
            ..at(5)
        };
        for order in [[&at(1), &metadata], [&metadata, &at(1)]] {
            let registry = OpRegistry::new(order, &kernels);
            let op = registry.get("cpu", "my.op").unwrap().unwrap();
            assert!(op.can_run() && op.metadata_function().is_some());
        }
        let alone = OpRegistry::new([&metadata], &kernels);
        assert!(!alone.get("cpu", "my.op").unwrap().unwrap().can_run());
        assert_eq!(alone.names("cpu").count(), 0);
    }

    #[test]
    fn metadata_is_shared_with_functions_of_other_devices() {
        let kernels = KernelRegistry::default();
        let told = OpRegistration {
            implementation: Implementation::None,
            metadata: Some(|_| Ok(crate::op::ResultMetadata::new())),
            ..at(5)
        };
        let gpu = OpRegistration {
            device_type: "gpu",
            ..at(9)
        };
        let registry = OpRegistry::new([&gpu, &told], &kernels);
        let op = registry.get("gpu", "my.op").unwrap().unwrap();
        assert!(op.can_run() && op.metadata_function().is_some());
        let alone = OpRegistry::new([&gpu], &kernels);
        let op = alone.get("gpu", "my.op").unwrap().unwrap();
        assert!(op.metadata_function().is_none());
    }

    #[test]
    fn functions_of_two_copies_do_not_mix() {
        static OTHER: OpCode = OpCode {
            run: |_, _| Err(Error::new("of the other copy")),
            ..OF_THIS_COPY
        };
        let kernels = KernelRegistry::default();
        let told = OpRegistration {
            implementation: Implementation::None,
            metadata: Some(|_| Ok(crate::op::ResultMetadata::new())),
            ..at(5)
        };
        let registry = |device_type, code| {
            let told = OpRegistration {
                device_type,
                ..told
            };
            let ops = [(told, &OF_THIS_COPY), (at(1), code)];
            let registry = OpRegistry::of_copies(ops.into_iter(), &kernels);
            let op = registry.get("cpu", "my.op").unwrap().unwrap();
            (
                op.metadata_function().is_some(),
                std::ptr::eq(op.code, code),
            )
        };
        for device_type in ["cpu", "gpu"] {
            assert_eq!(registry(device_type, &OF_THIS_COPY), (true, true));
            assert_eq!(registry(device_type, &OTHER), (false, true));
        }
    }

    #[test]
    fn a_kernel_that_is_not_linked_is_told_of() {
        let op = OpRegistration {
            implementation: Implementation::Kernel("my.kernel"),
            ..at(1)
        };
        let registry = OpRegistry::new([&op], &KernelRegistry::default());
        let error = registry.get("cpu", "my.op").unwrap_err();
        assert_eq!(
            error.message(),
            "op `my.op` needs the kernel `my.kernel`, which is not registered"
        );
    }

    #[test]
    fn declarations_for_several_devices_agree() {
        fn nothing(_frame: &mut KernelFrame<'_>) {}
        const TENSOR: TypeConstraint = TypeConstraint::Exact("!t.tensor");
        const AXIS: AttrDef = AttrDef::new("axis", AttrKind::I32);
        static CPU: OpDef = OpDef {
            operands: &[OperandDef::new("x", TENSOR)],
            attributes: &[AXIS],
            results: &[ResultDef::new("y", TENSOR)],
            ..OpDef::new("my.kernel")
        };
        // Names of operands and results are the author's, and a reference is a tensor, too.
        static GPU: OpDef = OpDef {
            operands: &[OperandDef::new("input", TypeConstraint::Any)],
            results: &[ResultDef::new("output", TENSOR)],
            ..CPU_LIKE
        };
        const CPU_LIKE: OpDef = OpDef {
            attributes: &[AXIS],
            ..OpDef::new("my.kernel.gpu")
        };
        static TWO_OPERANDS: OpDef = OpDef {
            operands: &[OperandDef::new("x", TENSOR), OperandDef::new("y", TENSOR)],
            results: &[ResultDef::new("z", TENSOR)],
            ..CPU_LIKE
        };
        static NO_RESULT: OpDef = OpDef {
            operands: &[OperandDef::new("x", TENSOR)],
            ..CPU_LIKE
        };
        static WIDE: OpDef = OpDef {
            operands: &[OperandDef::new("x", TENSOR)],
            attributes: &[AttrDef::new("axis", AttrKind::I64)],
            results: &[ResultDef::new("y", TENSOR)],
            ..OpDef::new("my.kernel.gpu")
        };
        let ask = |gpu: &'static OpDef, flags| {
            let mut kernels = KernelRegistry::default();
            kernels.add(KernelDescriptor::raw(&CPU, nothing)).unwrap();
            kernels.add(KernelDescriptor::raw(gpu, nothing)).unwrap();
            let cpu = OpRegistration {
                implementation: Implementation::Kernel("my.kernel"),
                ..at(1)
            };
            let gpu = OpRegistration {
                device_type: "gpu",
                implementation: Implementation::Kernel("my.kernel.gpu"),
                flags,
                ..at(2)
            };
            let registry = OpRegistry::new([&gpu, &cpu], &kernels);
            let found = ["cpu", "gpu"].map(|device| {
                let found = registry.get(device, "my.op").map(|op| op.is_some());
                found.map_err(|error| error.message().to_owned())
            });
            assert_eq!(found[0], found[1]);
            found[0].clone()
        };
        assert_eq!(ask(&GPU, OpFlags::NONE), Ok(true));
        let refused = |differs: &str| {
            Err(format!(
                "op `my.op` is declared differently for devices of type `cpu` and `gpu`: {differs}"
            ))
        };
        assert_eq!(
            ask(&TWO_OPERANDS, OpFlags::NONE),
            refused("1 operand at ops.rs:1, 2 operands at ops.rs:2")
        );
        assert_eq!(
            ask(&NO_RESULT, OpFlags::NONE),
            refused("1 result at ops.rs:1, 0 results at ops.rs:2")
        );
        assert_eq!(
            ask(&WIDE, OpFlags::NONE),
            refused("attribute `axis` (i32) at ops.rs:1, attribute `axis` (i64) at ops.rs:2")
        );
        assert_eq!(
            ask(&GPU, OpFlags::NO_SIDE_EFFECTS),
            refused("side effects at ops.rs:1, no side effects at ops.rs:2")
        );
    }
}
