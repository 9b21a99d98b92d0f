//! Functions, instantiated and ready to be run.
//!
//! An instance is made for the metadata and devices of the arguments and for the devices in scope,
//! and kept with the function.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock, Weak};

use tfrt_async::{AnyRef, run_when_ready};
use tfrt_bef::BefFile;
use tfrt_compiler::passes::canonicalize;
use tfrt_compiler::{EncodeOptions, encode};
use tfrt_core::HandlePromise;
use tfrt_core::metadata::partial::PartialMetadata;
use tfrt_core::{
    CoreRuntime, DevicePart, EagerContext, MetadataPart, OpInvocation, OpRegistry, RunOp,
    TensorHandle,
};
use tfrt_executor::Program;
use tfrt_host::device::DeviceRef;
use tfrt_host::{ExecutionContext, FunctionRef, HostContext};
use tfrt_ir::{AttrId, Attribute, Module, OpId, VerifyOptions, verify};
use tfrt_support::id_map::IdHasher;
use tfrt_support::{Diagnostic, Error, ErrorCode, Severity, TensorMetadata};

use crate::costs;
use crate::known::Known;
use crate::place::placement_tables;
use crate::program::{FunctionProgram, Signature};
use crate::rewrite::{Rule, rewrite};
use crate::{expand_calls, infer_metadata, lower, metadata, names, partition, place, prune};

/// So many instances of a function are kept; those that were used least recently go first.
const MAX_INSTANCES: usize = 256;

/// So many bytes of programs are kept with a function, but one instance in any case.
const MAX_INSTANCE_BYTES: usize = 256 << 20;

/// A function that is an op. See [`FunctionOps`](crate::FunctionOps).
pub(crate) struct FunctionOp {
    shared: Arc<Shared>,
}

struct Shared {
    /// Not kept alive: the context ends when its user lets it go.
    eager: Weak<EagerContext>,
    program: FunctionProgram,
    name: String,
    signature: Signature,
    settings: Settings,
    instances: RwLock<Instances>,
}

/// What the context says of placement, for all calls.
struct Settings {
    /// The names of the devices, the host's first: control flow is there.
    devices: Vec<String>,
    /// Whether an op may run on others where those in scope do not have it.
    is_soft: bool,
    /// The largest number of elements of an integer tensor that keeps an op on the host.
    max_small_elements: usize,
}

/// What an instance is for.
#[derive(Clone, Debug)]
struct Key {
    /// In the order of the arguments.
    arguments: Vec<(TensorMetadata, DeviceRef)>,
    devices: Devices,
}

/// The arguments of a call: metadata, and device.
type KnownArguments<'a> = [(TensorMetadata, &'a DeviceRef)];

/// What a call finds of the devices that ops may run on.
#[derive(Clone, Debug, Default)]
struct Devices {
    /// What they say of their links and speeds. It may change while a program runs.
    costs: costs::Said,
    /// Those that a scope of the calling thread names.
    in_scope: Option<Vec<DeviceRef>>,
}

/// Returns `true` if two devices have one name, which is what programs know of them.
fn is_same(a: &DeviceRef, b: &DeviceRef) -> bool {
    Arc::ptr_eq(&a.0, &b.0) || a.0.name() == b.0.name()
}

impl Devices {
    fn is_same(&self, other: &Self) -> bool {
        let is_same_scope = match (&self.in_scope, &other.in_scope) {
            (None, None) => true,
            (Some(own), Some(others)) => {
                own.len() == others.len() && own.iter().zip(others).all(|(a, b)| is_same(a, b))
            }
            _ => false,
        };
        is_same_scope && self.costs == other.costs
    }
}

impl Key {
    fn of(arguments: &KnownArguments<'_>, devices: &Devices) -> Self {
        let arguments = arguments.iter();
        let owned = arguments.map(|(metadata, device)| (metadata.clone(), (*device).clone()));
        Self {
            arguments: owned.collect(),
            devices: devices.clone(),
        }
    }

    /// Returns `true` if an instance for this key is one for a call. Nothing is copied, and no text
    /// is made, because a function may have hundreds of weights as arguments.
    fn is_for(&self, arguments: &KnownArguments<'_>, devices: &Devices) -> bool {
        let is_argument = |((metadata, device), (found, on)): (
            &(TensorMetadata, DeviceRef),
            &(TensorMetadata, &DeviceRef),
        )| metadata == found && is_same(device, on);
        self.arguments.len() == arguments.len()
            && self.arguments.iter().zip(arguments).all(is_argument)
            && self.devices.is_same(devices)
    }
}

/// Returns a number that calls with equal metadata share, and hardly any others.
fn hash_of(arguments: &KnownArguments<'_>) -> u64 {
    let mut hasher = IdHasher::default();
    for (metadata, _) in arguments {
        metadata.hash(&mut hasher);
    }
    hasher.finish()
}

/// Instances that were made, and errors of those that could not be.
#[derive(Default)]
struct Instances {
    /// They are few. Those that are not meant are passed over by their hashes.
    kept: Vec<Kept>,
    num_bytes: usize,
    /// Counts uses, as a clock.
    time: AtomicU64,
}

struct Kept {
    hash: u64,
    key: Key,
    outcome: Result<Arc<Instance>, Error>,
    num_bytes: usize,
    /// When it was used last.
    used: AtomicU64,
}

impl Instances {
    /// Returns the instance for a call, or the error of its instantiation.
    fn get(
        &self,
        arguments: &KnownArguments<'_>,
        devices: &Devices,
    ) -> Option<&Result<Arc<Instance>, Error>> {
        let hash = hash_of(arguments);
        let is_meant = |kept: &&Kept| kept.hash == hash && kept.key.is_for(arguments, devices);
        let kept = self.kept.iter().find(is_meant)?;
        // Relaxed: which one was used last need not be known exactly.
        let now = self.time.fetch_add(1, Ordering::Relaxed);
        kept.used.store(now, Ordering::Relaxed);
        Some(&kept.outcome)
    }

    /// Keeps an instance, unless another thread was faster, within `max_bytes` if it fits.
    fn insert(
        &mut self,
        arguments: &KnownArguments<'_>,
        devices: &Devices,
        outcome: Result<Arc<Instance>, Error>,
        num_bytes: usize,
        max_bytes: usize,
    ) {
        if self.get(arguments, devices).is_some() {
            return;
        }
        while !self.kept.is_empty()
            && (self.kept.len() >= MAX_INSTANCES
                || self.num_bytes.saturating_add(num_bytes) > max_bytes)
        {
            self.remove_oldest();
        }
        self.kept.push(Kept {
            hash: hash_of(arguments),
            key: Key::of(arguments, devices),
            outcome,
            num_bytes,
            used: AtomicU64::new(self.time.fetch_add(1, Ordering::Relaxed)),
        });
        self.num_bytes += num_bytes;
    }

    fn remove_oldest(&mut self) {
        let kept = self.kept.iter().enumerate();
        let oldest = kept.min_by_key(|(_, kept)| kept.used.load(Ordering::Relaxed));
        if let Some((oldest, _)) = oldest {
            self.num_bytes -= self.kept.swap_remove(oldest).num_bytes;
        }
    }
}

/// A function that was lowered for one kind of arguments.
struct Instance {
    function: FunctionRef,
    /// The size of its program.
    num_bytes: usize,
    /// What is known of each result, and the device that it is on.
    results: Vec<(Option<TensorMetadata>, Option<DeviceRef>)>,
}

impl FunctionOp {
    pub(crate) fn new(
        eager: &Arc<EagerContext>,
        program: FunctionProgram,
        name: &str,
        signature: Signature,
    ) -> Self {
        Self {
            shared: Arc::new(Shared {
                eager: Arc::downgrade(eager),
                program,
                name: name.to_owned(),
                signature,
                settings: Settings {
                    devices: names_of(eager.devices()),
                    is_soft: eager.has_soft_placement(),
                    max_small_elements: eager.max_small_elements(),
                },
                instances: RwLock::default(),
            }),
        }
    }
}

impl FunctionOp {
    /// Returns where the ops would run if the function were called with these arguments, and why.
    pub(crate) fn explain(
        &self,
        eager: &EagerContext,
        arguments: &[&TensorHandle],
    ) -> Result<String, Error> {
        self.shared
            .check_numbers(arguments.len(), self.shared.signature.num_results)?;
        self.shared.explain(eager, arguments)
    }
}

impl fmt::Debug for FunctionOp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FunctionOp")
            .field("name", &self.shared.name)
            .finish_non_exhaustive()
    }
}

impl RunOp for FunctionOp {
    fn run(&self, invocation: &mut OpInvocation<'_>) {
        let shared = &self.shared;
        let devices = match shared.devices() {
            Ok(devices) => devices,
            Err(error) => return invocation.fail(&invocation.ctx.emit_error(error)),
        };
        if let Err(error) = shared.check_counts(invocation) {
            return invocation.fail(&invocation.ctx.emit_error(error));
        }
        if let Some(error) = invocation
            .arguments
            .iter()
            .find_map(TensorHandle::error_if_present)
        {
            let error = error.clone();
            return invocation.fail(&error);
        }
        let awaited: Vec<AnyRef> = invocation.arguments.iter().flat_map(pending).collect();
        if awaited.iter().all(AnyRef::is_available) {
            return shared.run(&devices, invocation);
        }
        self.run_later(devices, &awaited, invocation);
    }

    fn num_bytes(&self) -> usize {
        let instances = self.shared.instances.read();
        let instances = instances.unwrap_or_else(PoisonError::into_inner);
        size_of::<Shared>() + instances.num_bytes
    }
}

/// Returns the values that must be available before the instance can be selected.
fn pending(handle: &TensorHandle) -> Vec<AnyRef> {
    let mut pending = Vec::new();
    if let (None, Some(MetadataPart::Pending(metadata))) =
        (handle.metadata(), handle.metadata_part())
    {
        pending.push(metadata.as_any().clone());
    }
    if let Some(DevicePart::Pending(device)) = handle.device_part() {
        pending.push(device.as_any().clone());
    }
    pending
}

impl FunctionOp {
    /// Goes on when the metadata and the devices of all arguments are known.
    fn run_later(&self, devices: Devices, awaited: &[AnyRef], invocation: &mut OpInvocation<'_>) {
        let mut promises = Vec::with_capacity(invocation.results.len());
        for result in &mut *invocation.results {
            let (promise, handle) = HandlePromise::new();
            *result = handle;
            promises.push(promise);
        }
        let before = invocation.chain.as_deref().cloned();
        let chain_promise = invocation.chain.as_deref_mut().map(|slot| {
            let (promise, chain) = AnyRef::indirect();
            *slot = chain;
            promise
        });
        let mut arguments: Vec<TensorHandle> = invocation
            .arguments
            .iter_mut()
            .map(std::mem::take)
            .collect();
        let shared = Arc::clone(&self.shared);
        let (ctx, attrs) = (invocation.ctx.clone(), invocation.attrs.to_frozen());
        run_when_ready(awaited, move || {
            let mut results = vec![TensorHandle::INVALID; promises.len()];
            let mut chain = before;
            let mut invocation = OpInvocation {
                ctx: &ctx,
                arguments: &mut arguments,
                attrs: &attrs,
                results: &mut results,
                chain: chain.as_mut(),
            };
            let failed = invocation
                .arguments
                .iter()
                .find_map(|handle| handle.error_if_present().or(handle.metadata_failure()))
                .cloned();
            match failed {
                Some(error) => invocation.fail(&error),
                None => shared.run(&devices, &mut invocation),
            }
            for (promise, result) in promises.into_iter().zip(&results) {
                promise.forward_to(result);
            }
            if let (Some(promise), Some(chain)) = (chain_promise, chain) {
                promise.forward_to(chain);
            }
        });
    }
}

/// Returns an error of its own for one of the callers that share an instance: where it happened is
/// the caller's place.
fn for_one_caller(error: &Error) -> Error {
    Error::new(error.message()).with_code(error.code())
}

impl Shared {
    /// Returns the devices that ops may run on, as scopes of this thread say.
    fn devices(&self) -> Result<Devices, Error> {
        let eager = self.eager.upgrade().ok_or_else(|| {
            Error::new("the context of the function was dropped").with_code(ErrorCode::Cancelled)
        })?;
        Ok(Devices {
            costs: costs::Said::by(eager.devices()),
            in_scope: eager.devices_in_scope(),
        })
    }

    fn check_counts(&self, invocation: &OpInvocation<'_>) -> Result<(), Error> {
        self.check_numbers(invocation.arguments.len(), invocation.results.len())
    }

    fn check_numbers(&self, num_operands: usize, num_returned: usize) -> Result<(), Error> {
        let found = (num_operands, num_returned);
        let Signature {
            num_arguments,
            num_results,
            ..
        } = self.signature;
        if found == (num_arguments, num_results) {
            return Ok(());
        }
        let message = format!(
            "function `{}` takes {num_arguments} and returns {num_results} tensors, but the call \
             has {} and {}",
            self.name, found.0, found.1
        );
        Err(Error::new(message).with_code(ErrorCode::InvalidArgument))
    }

    /// Runs the instance that the arguments ask for. Their metadata and devices are known.
    fn run(&self, devices: &Devices, invocation: &mut OpInvocation<'_>) {
        let ctx = invocation.ctx;
        let instance = match self.instance(ctx, devices, invocation.arguments) {
            Ok(instance) => instance,
            Err(error) => return invocation.fail(&ctx.emit_error(error)),
        };
        let mut arguments = Vec::with_capacity(invocation.arguments.len() + 1);
        if self.signature.has_chain {
            let chain = invocation.chain.as_deref().cloned();
            arguments.push(chain.unwrap_or_else(AnyRef::ready_chain));
        }
        // The values have the only references to the handles, so ops may reuse their memory.
        let handles = invocation.arguments.iter_mut().map(std::mem::take);
        arguments.extend(handles.map(AnyRef::available));
        let mut results = instance.function.execute(ctx, &arguments).into_iter();
        drop(arguments);
        if self.signature.has_chain
            && let (Some(chain), Some(slot)) = (results.next(), &mut invocation.chain)
        {
            **slot = chain;
        }
        let known = instance.results.iter();
        for ((slot, value), (metadata, device)) in
            invocation.results.iter_mut().zip(results).zip(known)
        {
            *slot = match (metadata, device) {
                (Some(metadata), Some(device)) => {
                    TensorHandle::from_value_on(&value, device, metadata)
                }
                _ => TensorHandle::from_value(&value),
            };
        }
    }

    fn instance(
        &self,
        ctx: &ExecutionContext,
        devices: &Devices,
        arguments: &[TensorHandle],
    ) -> Result<Arc<Instance>, Error> {
        let known = self.known_arguments(arguments)?;
        {
            let instances = self
                .instances
                .read()
                .unwrap_or_else(PoisonError::into_inner);
            if let Some(outcome) = instances.get(&known, devices) {
                return outcome.as_ref().map(Arc::clone).map_err(for_one_caller);
            }
        }
        let made = self.instantiate(ctx.host(), devices, &known).map(Arc::new);
        let outcome = made.as_ref().map(Arc::clone).map_err(for_one_caller);
        let mut instances = self
            .instances
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        let num_bytes = made.as_ref().map_or(0, |instance| instance.num_bytes);
        instances.insert(&known, devices, made, num_bytes, MAX_INSTANCE_BYTES);
        outcome
    }

    /// Returns where the ops would run if the function were called with these arguments, and why.
    fn explain(&self, eager: &EagerContext, arguments: &[&TensorHandle]) -> Result<String, Error> {
        let (host, devices) = (eager.host(), self.devices()?);
        let known = self.known_arguments(arguments.iter().copied())?;
        let (module, func) = self.before_placement(host, &devices, &known)?;
        let tables = placement_tables(&module, func, CoreRuntime::of(host).ops());
        Ok(tables.concat())
    }

    /// Returns the metadata of arguments and their devices.
    fn known_arguments<'a>(
        &self,
        arguments: impl IntoIterator<Item = &'a TensorHandle>,
    ) -> Result<Vec<(TensorMetadata, &'a DeviceRef)>, Error> {
        let known = |(index, argument): (usize, &'a TensorHandle)| {
            if let (Some(metadata), Some(device)) = (argument.metadata(), argument.device()) {
                return Ok((metadata, device));
            }
            let message = format!("argument {index} of `{}` is not a valid handle", self.name);
            Err(Error::new(message).with_code(ErrorCode::InvalidArgument))
        };
        arguments.into_iter().enumerate().map(known).collect()
    }

    /// Makes an instance: each step of the crate's drawing.
    fn instantiate(
        &self,
        host: &Arc<HostContext>,
        devices: &Devices,
        arguments: &KnownArguments<'_>,
    ) -> Result<Instance, Error> {
        let runtime = CoreRuntime::of(host);
        let ops = runtime.ops();
        let (mut module, func) = self.before_placement(host, devices, arguments)?;
        let module = &mut module;
        self.check(place(module, func, ops))?;
        let results = results_of(module, func, host);
        let before: Vec<OpId> = module.functions(module.root()).collect();
        self.check(partition(module, func, ops))?;
        let after = module.functions(module.root());
        let parts: Vec<OpId> = after.filter(|part| !before.contains(part)).collect();
        for part in std::iter::once(func).chain(parts) {
            self.check(lower(module, part, ops))?;
        }
        debug_assert!(
            verify(module, &VerifyOptions::default()).is_empty(),
            "the instance is well formed"
        );
        let options = EncodeOptions {
            notes: false,
            ..EncodeOptions::default()
        };
        let bytes = encode(module, &options).map_err(|found| self.failed(&found.into_vec()))?;
        let program = Program::load(host, &BefFile::from_bytes(&bytes))?;
        let function = program
            .function(&self.name)
            .ok_or_else(|| Error::new("the function was dropped"))?;
        Ok(Instance {
            function,
            num_bytes: bytes.len(),
            results,
        })
    }

    /// Returns the function as it is before its ops are placed, with all that their places depend
    /// on.
    fn before_placement(
        &self,
        host: &Arc<HostContext>,
        devices: &Devices,
        arguments: &KnownArguments<'_>,
    ) -> Result<(Module, OpId), Error> {
        let runtime = CoreRuntime::of(host);
        let ops = runtime.ops();
        let mut owned = Module::clone(self.program.shared_module());
        let module = &mut owned;
        let func = module.lookup_symbol(module.root(), &self.name);
        let func = func.ok_or_else(|| Error::new("the function was dropped"))?;
        let known: Vec<_> = arguments
            .iter()
            .map(|(known, _)| PartialMetadata::from(known.clone()))
            .collect();
        let known = metadata::to_attribute(module, &known);
        module.set_attr(func, names::ARGUMENTS, known);
        let settings = &self.settings;
        let homes = names_of(arguments.iter().map(|(_, device)| *device));
        let homes = text_list(module, &homes);
        module.set_attr(func, names::ARGUMENT_DEVICES, homes);
        let all = text_list(module, &settings.devices);
        module.set_attr(func, names::DEVICES, all);
        devices.costs.write(module, func, &settings.devices);
        if let Some(in_scope) = &devices.in_scope {
            let in_scope = text_list(module, &names_of(in_scope));
            module.set_attr(func, names::DEVICES_IN_SCOPE, in_scope);
        }
        if settings.is_soft {
            let unit = module.intern_attribute(Attribute::Unit);
            module.set_attr(func, names::SOFT_PLACEMENT, unit);
        }

        let max_small_elements = module.string_attr(settings.max_small_elements.to_string());
        module.set_attr(func, names::MAX_SMALL_ELEMENTS, max_small_elements);

        keep_reached(module, func);
        self.check(expand_calls(module, func, ops))?;
        self.check(infer_metadata(module, func, ops))?;
        forget_metadata(module, func);
        self.check(simplify(module, func, ops))?;
        self.check(rewrite(module, func, ops, &Rule::all()))?;
        self.check(infer_metadata(module, func, ops))?;
        Ok((owned, func))
    }

    fn check(&self, findings: Vec<Diagnostic>) -> Result<(), Error> {
        let is_error = |found: &Diagnostic| found.severity == Severity::Error;
        if findings.iter().any(is_error) {
            return Err(self.failed(&findings));
        }
        Ok(())
    }

    #[cold]
    fn failed(&self, findings: &[Diagnostic]) -> Error {
        let first = findings
            .iter()
            .find(|found| found.severity == Severity::Error);
        let first = first.map(ToString::to_string).unwrap_or_default();
        let message = format!("cannot instantiate function `{}`: {first}", self.name);
        Error::new(message).with_code(ErrorCode::InvalidArgument)
    }
}

/// Forgets what a program says of the results of ops: only what ops tell of themselves is certain.
fn forget_metadata(module: &mut Module, func: OpId) {
    let block = module.entry_block(func);
    for op in block.map_or(Vec::new(), |block| module.block_ops(block).to_vec()) {
        module.remove_attr(op, names::RESULTS);
    }
}

/// Removes the functions that a function does not reach, so that an instance does not keep them. A
/// text that is the name of a function counts as a reference to it.
fn keep_reached(module: &mut Module, func: OpId) {
    let all: Vec<OpId> = module.functions(module.root()).collect();
    let named = |&op: &OpId| Some((module.symbol_name(op)?.to_owned(), op));
    let by_name: HashMap<String, OpId> = all.iter().filter_map(named).collect();
    let (mut reached, mut pending) = (HashSet::from([func]), vec![func]);
    while let Some(func) = pending.pop() {
        for op in module.walk(func) {
            let attributes = module.attributes(op).iter().map(|(_, value)| *value);
            let mut attributes: Vec<AttrId> = attributes.collect();
            while let Some(attribute) = attributes.pop() {
                let name = match module.attribute(attribute) {
                    Attribute::Array(elements) => {
                        attributes.extend(elements.iter());
                        continue;
                    }
                    Attribute::Dictionary(entries) => {
                        attributes.extend(entries.iter().map(|(_, value)| value));
                        continue;
                    }
                    Attribute::SymbolRef { root, .. } => by_name.get(&**root),
                    Attribute::String(text) => {
                        let text = std::str::from_utf8(text).ok();
                        text.and_then(|text| by_name.get(text))
                    }
                    _ => None,
                };
                if let Some(&named) = name
                    && reached.insert(named)
                {
                    pending.push(named);
                }
            }
        }
    }
    let Some(block) = module.entry_block(module.root()) else {
        return;
    };
    let is_removed = |op: &OpId| !reached.contains(op);
    let removed: HashSet<OpId> = all.into_iter().filter(is_removed).collect();
    if !removed.is_empty() {
        module.erase_ops(block, |op| removed.contains(&op));
    }
}

/// Returns the steps that do not depend on devices. Returns what is wrong with the function.
pub(crate) fn simplify(module: &mut Module, func: OpId, ops: &OpRegistry) -> Vec<Diagnostic> {
    let findings = expand_calls(module, func, ops);
    if !findings.is_empty() {
        return findings;
    }
    canonicalize(module, func);
    let findings = infer_metadata(module, func, ops);
    if findings.is_empty() {
        prune(module, func, ops);
    }
    findings
}

fn names_of<'a>(devices: impl IntoIterator<Item = &'a DeviceRef>) -> Vec<String> {
    let devices = devices.into_iter();
    devices.map(|device| device.0.name().to_owned()).collect()
}

fn text_list(module: &mut Module, texts: &[String]) -> AttrId {
    let texts = texts.iter().map(|text| module.string_attr(text));
    let texts: Vec<AttrId> = texts.collect();
    module.intern_attribute(Attribute::Array(texts.into()))
}

/// Returns the known metadata of the results of a function, and their devices.
fn results_of(
    module: &Module,
    func: OpId,
    host: &HostContext,
) -> Vec<(Option<TensorMetadata>, Option<DeviceRef>)> {
    let known = Known::inferred(module, func);
    let last = module
        .entry_block(func)
        .and_then(|block| module.last_op(block));
    let returned = last.map_or(&[][..], |last| module.operands(last)).iter();
    let handles = returned.filter(|&&value| crate::call::is_handle(module, value));
    handles
        .map(|value| {
            let op = module.defining_op(*value);
            let device = op.and_then(|op| crate::call::device_attribute(module, op));
            let device = device.and_then(|name| host.devices().get(name));
            (known.full(*value).cloned(), device)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use tfrt_host::device::CpuDevice;
    use tfrt_host::kernel::KernelRegistry;
    use tfrt_support::DType;

    use super::*;

    fn device(name: &str) -> DeviceRef {
        DeviceRef(Arc::new(CpuDevice::new(name)))
    }

    fn vector(extent: usize) -> TensorMetadata {
        TensorMetadata::new(DType::F32, [extent])
    }

    fn failed() -> Result<Arc<Instance>, Error> {
        Err(Error::new("not an instance"))
    }

    #[test]
    fn instances_that_were_used_least_recently_go_first() {
        let mut instances = Instances::default();
        let (cpu, devices) = (device("CPU:0"), Devices::default());
        let argument = |extent| [(vector(extent), &cpu)];
        let insert = |instances: &mut Instances, extent, num_bytes| {
            instances.insert(&argument(extent), &devices, failed(), num_bytes, 100);
        };
        let keeps = |instances: &Instances| -> Vec<usize> {
            let is_for = |extent: &usize| {
                let mut kept = instances.kept.iter();
                kept.any(|kept| kept.key.is_for(&argument(*extent), &devices))
            };
            (1..=4).filter(is_for).collect()
        };
        insert(&mut instances, 1, 40);
        insert(&mut instances, 2, 40);
        assert!(instances.get(&argument(1), &devices).is_some());
        insert(&mut instances, 3, 40);
        assert_eq!(keeps(&instances), [1, 3]);
        assert_eq!(instances.num_bytes, 80);
        // One that another thread has made meanwhile stays.
        insert(&mut instances, 3, 40);
        assert_eq!((keeps(&instances), instances.num_bytes), (vec![1, 3], 80));
        // One is kept in any case.
        insert(&mut instances, 4, 1000);
        assert_eq!(keeps(&instances), [4]);
        for extent in 10..10 + 2 * MAX_INSTANCES {
            insert(&mut instances, extent, 0);
        }
        assert_eq!(instances.kept.len(), MAX_INSTANCES);
    }

    #[test]
    fn an_instance_is_for_equal_metadata_devices_and_scopes() {
        let (first, second) = (device("CPU:0"), device("CPU:1"));
        // Another object of the same name, which is what programs know.
        let again = device("CPU:0");
        let devices = Devices::default();
        let mut instances = Instances::default();
        let arguments = [(vector(2), &first), (vector(3), &second)];
        instances.insert(&arguments, &devices, failed(), 0, 100);
        let is_found = |arguments: &KnownArguments<'_>, devices: &Devices| {
            instances.get(arguments, devices).is_some()
        };
        assert!(is_found(
            &[(vector(2), &again), (vector(3), &second)],
            &devices
        ));
        let whole = TensorMetadata::new(DType::I32, [2]);
        for others in [
            &[(vector(2), &first), (vector(3), &first)][..],
            &[(vector(2), &first), (vector(4), &second)],
            &[(whole, &first), (vector(3), &second)],
            &[(vector(3), &first), (vector(2), &second)],
            &[(vector(2), &first)],
            &[],
        ] {
            assert!(!is_found(others, &devices), "{others:?}");
        }
        let scoped = |names: &[&DeviceRef]| Devices {
            in_scope: Some(names.iter().map(|&device| device.clone()).collect()),
            ..Devices::default()
        };
        assert!(!is_found(&arguments, &scoped(&[])));
        let mut instances = Instances::default();
        instances.insert(&arguments, &scoped(&[&first]), failed(), 0, 100);
        let is_found = |scope: &Devices| instances.get(&arguments, scope).is_some();
        assert!(is_found(&scoped(&[&again])));
        assert!(!is_found(&devices) && !is_found(&scoped(&[&second])));
        assert!(!is_found(&scoped(&[])) && !is_found(&scoped(&[&first, &second])));
    }

    #[test]
    fn instance_keeps_the_functions_that_it_reaches() {
        let source = r#"
            func @f() { "a.call"() {callee = @g} : () -> ()
              "tfrt.return"() : () -> () }
            func @g() { "a.execute"() {functions = [["f", "h"]]} : () -> ()
              "tfrt.return"() : () -> () }
            func @h() { "tfrt.return"() : () -> () }
            func @lost() { "a.call"() {callee = @h} : () -> ()
              "tfrt.return"() : () -> () }"#;
        let kernels = KernelRegistry::default();
        let program = FunctionProgram::from_text(source, "f.mlir", &kernels);
        let program = program.unwrap_or_else(|found| panic!("{found}"));
        let mut module = Module::clone(program.shared_module());
        let func = module.lookup_symbol(module.root(), "f").unwrap();
        keep_reached(&mut module, func);
        let left = module.functions(module.root());
        let left: Vec<&str> = left.filter_map(|func| module.symbol_name(func)).collect();
        assert_eq!(left, ["f", "g", "h"]);
    }
}
