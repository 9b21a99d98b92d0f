//! Functions, instantiated and ready to be run.
//!
//! An instance is made for the metadata and devices of the arguments and for the devices in scope, and kept with the function.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock, Weak};

use tfrt_async::{AnyRef, run_when_ready};
use tfrt_bef::BefFile;
use tfrt_compiler::passes::canonicalize;
use tfrt_compiler::{EncodeOptions, encode};
use tfrt_core::handle::HandlePromise;
use tfrt_core::{
    CoreRuntime, DevicePart, EagerContext, MetadataPart, OpInvocation, OpRegistry, RunOp,
    TensorHandle,
};
use tfrt_executor::Program;
use tfrt_host::device::DeviceRef;
use tfrt_host::{ExecutionContext, FunctionRef, HostContext};
use tfrt_ir::{AttrId, Attribute, Module, OpId, VerifyOptions, verify};
use tfrt_support::{Diagnostic, Error, ErrorCode, Severity, TensorMetadata};

use crate::infer::inferred;
use crate::program::{FunctionProgram, Signature};
use crate::rewrite::{Rule, rewrite};
use crate::{expand_calls, infer_metadata, lower, metadata, names, partition, place, prune};

/// So many instances of a function are kept; when there are more, all are made anew.
const MAX_INSTANCES: usize = 256;

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
    instances: RwLock<HashMap<Key, Result<Arc<Instance>, Error>>>,
}

/// What an instance is for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Key {
    /// In the order of the arguments.
    arguments: Vec<(String, String)>,
    /// The devices that ops may run on.
    devices: Vec<String>,
}

/// A function that was lowered for one kind of arguments.
struct Instance {
    function: FunctionRef,
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
                instances: RwLock::default(),
            }),
        }
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
}

/// What must be available before it is known which instance is meant.
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
    fn run_later(
        &self,
        devices: Vec<String>,
        awaited: &[AnyRef],
        invocation: &mut OpInvocation<'_>,
    ) {
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

/// An error of its own for one of the callers that share an instance: where it happened is the caller's place.
fn for_one_caller(error: &Error) -> Error {
    Error::new(error.message()).with_code(error.code())
}

impl Shared {
    /// The devices that ops may run on, as scopes of this thread say: the host's is always the first, as control flow is there.
    fn devices(&self) -> Result<Vec<String>, Error> {
        let eager = self.eager.upgrade().ok_or_else(|| {
            Error::new("the context of the function is gone").with_code(ErrorCode::Cancelled)
        })?;
        let devices = match eager.devices_in_scope() {
            Some(devices) => devices,
            None => eager.devices().cloned().collect(),
        };
        Ok(devices
            .iter()
            .map(|device| device.0.name().to_owned())
            .collect())
    }

    fn check_counts(&self, invocation: &OpInvocation<'_>) -> Result<(), Error> {
        let found = (invocation.arguments.len(), invocation.results.len());
        let Signature {
            num_arguments,
            num_results,
            ..
        } = self.signature;
        if found == (num_arguments, num_results) {
            return Ok(());
        }
        let message = format!(
            "the function `{}` takes {num_arguments} and returns {num_results} tensors, but the call has {} and {}",
            self.name, found.0, found.1
        );
        Err(Error::new(message).with_code(ErrorCode::InvalidArgument))
    }

    /// Runs the instance that the arguments ask for. Their metadata and devices are known.
    fn run(&self, devices: &[String], invocation: &mut OpInvocation<'_>) {
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
        // The values have the only references to the handles, so that ops may use their memory again.
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
            *slot = handle_of(&value, metadata.as_ref(), device.as_ref());
        }
    }

    fn instance(
        &self,
        ctx: &ExecutionContext,
        devices: &[String],
        arguments: &[TensorHandle],
    ) -> Result<Arc<Instance>, Error> {
        let mut key = Key {
            arguments: Vec::with_capacity(arguments.len()),
            devices: devices.to_vec(),
        };
        let mut known = Vec::with_capacity(arguments.len());
        for (index, argument) in arguments.iter().enumerate() {
            let (Some(metadata), Some(device)) = (argument.metadata(), argument.device()) else {
                let message = format!("argument {index} of `{}` is not a valid handle", self.name);
                return Err(Error::new(message).with_code(ErrorCode::InvalidArgument));
            };
            let device = device.0.name().to_owned();
            key.arguments.push((metadata.to_string(), device.clone()));
            known.push((metadata, device));
        }
        {
            let instances = self
                .instances
                .read()
                .unwrap_or_else(PoisonError::into_inner);
            if let Some(instance) = instances.get(&key) {
                return instance.as_ref().map(Arc::clone).map_err(for_one_caller);
            }
        }
        let made = self.instantiate(ctx.host(), devices, &known).map(Arc::new);
        let mut instances = self
            .instances
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        if instances.len() >= MAX_INSTANCES {
            instances.clear();
        }
        let kept = instances.entry(key).or_insert(made);
        kept.as_ref().map(Arc::clone).map_err(for_one_caller)
    }

    /// Makes an instance: each step of the crate's drawing.
    fn instantiate(
        &self,
        host: &Arc<HostContext>,
        devices: &[String],
        arguments: &[(TensorMetadata, String)],
    ) -> Result<Instance, Error> {
        let runtime = CoreRuntime::of(host);
        let ops = runtime.ops();
        let mut module = Module::clone(self.program.module());
        let module = &mut module;
        let func = module.lookup_symbol(module.root(), &self.name);
        let func = func.ok_or_else(|| Error::new("the function is gone"))?;
        let known: Vec<_> = arguments
            .iter()
            .map(|(known, _)| Some(known.clone()))
            .collect();
        let known = metadata::to_attribute(module, &known);
        module.set_attr(func, names::ARGUMENTS, known);
        let homes: Vec<String> = arguments.iter().map(|(_, device)| device.clone()).collect();
        let homes = text_list(module, &homes);
        module.set_attr(func, names::ARGUMENT_DEVICES, homes);
        let devices = text_list(module, devices);
        module.set_attr(func, names::DEVICES, devices);

        self.check(simplify(module, func, ops))?;
        self.check(rewrite(module, func, ops, &Rule::all()))?;
        self.check(infer_metadata(module, func, ops))?;
        self.check(place(module, func, ops))?;
        let results = results_of(module, func, host);
        let before: Vec<OpId> = module.functions(module.root()).collect();
        self.check(partition(module, func))?;
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
            .ok_or_else(|| Error::new("the function is gone"))?;
        Ok(Instance { function, results })
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
        let message = format!(
            "the function `{}` cannot be instantiated: {first}",
            self.name
        );
        Error::new(message).with_code(ErrorCode::InvalidArgument)
    }
}

/// The steps that do not depend on devices. Returns what is wrong with the function.
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

fn text_list(module: &mut Module, texts: &[String]) -> AttrId {
    let texts = texts.iter().map(|text| module.string_attr(text));
    let texts: Vec<AttrId> = texts.collect();
    module.intern_attribute(Attribute::Array(texts.into()))
}

/// What is known of the results of a function, and the devices that they are on.
fn results_of(
    module: &Module,
    func: OpId,
    host: &HostContext,
) -> Vec<(Option<TensorMetadata>, Option<DeviceRef>)> {
    let known = inferred(module, func);
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
            (known.get(value).cloned(), device)
        })
        .collect()
}

/// The handle that a value is, or becomes. What is known of it is known at once.
fn handle_of(
    value: &AnyRef,
    metadata: Option<&TensorMetadata>,
    device: Option<&DeviceRef>,
) -> TensorHandle {
    if let Some(error) = value.error_if_present() {
        return TensorHandle::error(error.clone());
    }
    if value.is_available() {
        return match value.try_read::<TensorHandle>() {
            Ok(handle) => handle.clone(),
            Err(error) => TensorHandle::error(Error::new(error.to_string())),
        };
    }
    let (Some(metadata), Some(device)) = (metadata, device) else {
        let (promise, handle) = HandlePromise::new();
        value.and_then(move |value| promise.forward_to(&handle_of(value, None, None)));
        return handle;
    };
    let (promise, tensor) = AnyRef::indirect();
    value.and_then(move |value| {
        let handle = handle_of(value, None, None);
        match handle.tensor() {
            Some(tensor) => promise.forward_to(tensor.clone()),
            None => promise.set_error(Error::new(
                "the handle that a function returned is not valid",
            )),
        }
    });
    TensorHandle::new(device.clone(), metadata.clone(), tensor)
}
