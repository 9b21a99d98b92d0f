//! The ops that there are, by device type and name.

use std::collections::HashMap;
use std::sync::Arc;

use tfrt_host::kernel::{KernelDescriptor, KernelRegistry};
use tfrt_support::{Error, ErrorCode};

use crate::op::{Implementation, OpFlags, OpFunction, OpMetadataFunction, OpRegistration};

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
    devices: HashMap<&'static str, HashMap<&'static str, Entry>>,
}

/// An op, or why it cannot be used.
#[derive(Debug)]
enum Entry {
    Op(Arc<RegisteredOp>),
    Faulty(Error),
}

/// A registered op, ready to be run on devices of one type.
#[derive(Debug)]
pub struct RegisteredOp {
    pub(crate) registration: OpRegistration,
    pub(crate) runner: Runner,
}

/// What runs an op.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Runner {
    Kernel(KernelDescriptor),
    Function(OpFunction),
    /// Only its metadata function is known.
    Nothing,
}

impl OpRegistry {
    /// The registered ops, each with its kernel, which must be one of `kernels`.
    #[must_use]
    pub fn new<'a>(
        registrations: impl IntoIterator<Item = &'a OpRegistration>,
        kernels: &KernelRegistry,
    ) -> Self {
        let mut registry = Self::default();
        for registration in registrations {
            registry.add(*registration, kernels);
        }
        registry
    }

    fn add(&mut self, registration: OpRegistration, kernels: &KernelRegistry) {
        let ops = self.devices.entry(registration.device_type).or_default();
        let added = resolve(registration, kernels);
        let entry = match (ops.remove(registration.name), added) {
            (Some(Entry::Faulty(error)), _) | (_, Err(error)) => Entry::Faulty(error),
            (None, Ok(op)) => Entry::Op(Arc::new(op)),
            (Some(Entry::Op(known)), Ok(op)) => match merge(&known, &op) {
                Ok(op) => Entry::Op(Arc::new(op)),
                Err(error) => Entry::Faulty(error),
            },
        };
        ops.insert(registration.name, entry);
    }

    /// The op of this name for devices of a type.
    ///
    /// # Errors
    /// If it is registered in a way that does not allow its use: twice, or for a kernel that was not linked.
    pub fn get(&self, device_type: &str, name: &str) -> Result<Option<&Arc<RegisteredOp>>, Error> {
        match self.devices.get(device_type).and_then(|ops| ops.get(name)) {
            None => Ok(None),
            Some(Entry::Op(op)) => Ok(Some(op)),
            Some(Entry::Faulty(error)) => Err(error.clone()),
        }
    }

    /// The ops that can be run on devices of a type, in no order.
    pub fn names(&self, device_type: &str) -> impl Iterator<Item = &'static str> {
        let ops = self.devices.get(device_type).into_iter().flatten();
        ops.filter_map(|(name, entry)| match entry {
            Entry::Op(op) if !matches!(op.runner, Runner::Nothing) => Some(*name),
            _ => None,
        })
    }

    /// The types of devices that there are ops for, in no order.
    pub fn device_types(&self) -> impl Iterator<Item = &'static str> {
        self.devices.keys().copied()
    }
}

/// What runs an op, from what is registered.
fn resolve(registration: OpRegistration, kernels: &KernelRegistry) -> Result<RegisteredOp, Error> {
    let runner = match registration.implementation {
        Implementation::None => Runner::Nothing,
        Implementation::Function(function) => Runner::Function(function),
        Implementation::Kernel(name) => match kernels.get(name) {
            Some(kernel) => Runner::Kernel(*kernel),
            None => {
                return Err(Error::new(format!(
                    "op `{}` is run by the kernel `{name}`, which is not registered",
                    registration.name
                ))
                .with_code(ErrorCode::NotFound));
            }
        },
    };
    Ok(RegisteredOp {
        registration,
        runner,
    })
}

/// One op of two registrations, of which one has nothing to run.
fn merge(a: &RegisteredOp, b: &RegisteredOp) -> Result<RegisteredOp, Error> {
    let (run, told) = match (a.runner, b.runner) {
        (_, Runner::Nothing) => (a, b),
        (Runner::Nothing, _) => (b, a),
        _ => return Err(registered_twice(a, b)),
    };
    let registration = OpRegistration {
        metadata: run.registration.metadata.or(told.registration.metadata),
        ..run.registration
    };
    Ok(RegisteredOp {
        registration,
        runner: run.runner,
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
    /// The name.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.registration.name
    }

    /// What it promises.
    #[must_use]
    pub fn flags(&self) -> OpFlags {
        self.registration.flags
    }

    /// Whether the op takes part in the order of effects.
    #[must_use]
    pub fn has_side_effects(&self) -> bool {
        !self.flags().contains(OpFlags::NO_SIDE_EFFECTS)
    }

    /// Whether there is something to run.
    #[must_use]
    pub fn can_run(&self) -> bool {
        !matches!(self.runner, Runner::Nothing)
    }

    pub(crate) fn metadata_function(&self) -> Option<OpMetadataFunction> {
        self.registration.metadata
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::op::OpCall;
    use tfrt_ods::SourcePlace;

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
    fn a_kernel_that_is_not_linked_is_told_of() {
        let op = OpRegistration {
            implementation: Implementation::Kernel("my.kernel"),
            ..at(1)
        };
        let registry = OpRegistry::new([&op], &KernelRegistry::default());
        let error = registry.get("cpu", "my.op").unwrap_err();
        assert_eq!(
            error.message(),
            "op `my.op` is run by the kernel `my.kernel`, which is not registered"
        );
    }
}
