//! A program with its weights, ready for repeated runs.

mod bound;

mod started;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tfrt_core::{EagerContext, ReadyOp, TensorHandle};
use tfrt_function_ops::{FunctionOps, FunctionProgram};
use tfrt_host::allocator::{ArenaAllocator, ArenaStatistics};
use tfrt_host::device::DeviceRef;
use tfrt_host::{HostContext, RequestContext, RequestContextBuilder};
use tfrt_support::fnv::Fnv1a;
use tfrt_support::nearest::{did_you_mean, nearest};
use tfrt_support::{Error, ErrorCode};
use tfrt_tensor::{DenseHostTensor, ListHostTensor, TensorRef};

use crate::limits::Limits;
use crate::names::shown;
use crate::program::{FUNCTION, Program, Weight};
use crate::rewrite::{Folding, RewriteRules};
use crate::stored::StoredProgram;
use crate::types::{self, InputType};

pub use bound::BoundRun;
pub use started::StartedRun;

/// An input or output of a program: a tensor, or a list of tensors, which may be absent.
#[derive(Clone, Debug)]
pub enum ModelValue {
    /// A tensor.
    Tensor(DenseHostTensor),
    /// A list of tensors, or the mark that a value is absent.
    List(ListHostTensor),
}

impl From<DenseHostTensor> for ModelValue {
    fn from(tensor: DenseHostTensor) -> Self {
        Self::Tensor(tensor)
    }
}

impl From<ListHostTensor> for ModelValue {
    fn from(list: ListHostTensor) -> Self {
        Self::List(list)
    }
}

impl ModelValue {
    fn handle(&self, device: &DeviceRef) -> TensorHandle {
        match self {
            Self::Tensor(tensor) => TensorHandle::of_tensor(device.clone(), tensor.clone()),
            Self::List(list) => TensorHandle::of_tensor(device.clone(), list.clone()),
        }
    }
}

/// A program on a host. The first run with inputs of given types and shapes prepares the program
/// for them; later runs of the same kind reuse it.
///
/// Runs also reuse the memory of intermediate results: the session has an arena, which keeps as
/// much memory as the runs at one time have needed, and plans for the last eight shapes of inputs.
/// Outputs are in the arena, too; it lives until the last one is dropped.
pub struct Session {
    eager: Arc<EagerContext>,
    function: ReadyOp,
    inputs: Vec<String>,
    input_types: Vec<Option<InputType>>,
    outputs: Vec<String>,
    output_types: Vec<Option<InputType>>,
    weights: Vec<TensorHandle>,
    packed_bytes: usize,
    arena: Arc<ArenaAllocator>,
    num_active_runs: AtomicUsize,
}

/// A run of a session, as long as it is active.
struct Run<'a>(&'a Session);

impl<'a> Run<'a> {
    fn new(session: &'a Session, inputs: &[(&str, ModelValue)]) -> Self {
        // Relaxed: the count only decides when the arena plans, which is correct at any time.
        if session.num_active_runs.fetch_add(1, Ordering::Relaxed) == 0 {
            session.arena.begin(session.kind(inputs));
        }
        Self(session)
    }
}

impl Drop for Run<'_> {
    fn drop(&mut self) {
        // Relaxed: as above.
        if self.0.num_active_runs.fetch_sub(1, Ordering::Relaxed) == 1 {
            self.0.arena.settle();
        }
    }
}

impl Session {
    /// Loads a program, after [rewriting](Program::rewrite_and_fold) it by all rules. Its ops must
    /// be among the kernels of the host.
    ///
    /// # Errors
    /// The errors of the program.
    pub fn load(
        mut program: Program,
        file_name: &str,
        host: &Arc<HostContext>,
    ) -> Result<Self, Error> {
        let folding = Folding::new(host, &Limits::default())?;
        program.rewrite_and_fold(&RewriteRules::default(), folding);
        Self::load_as_is(program, file_name, host)
    }

    /// Loads a program without rewriting it. Weights are packed for the processor, which does not
    /// change any result.
    ///
    /// # Errors
    /// The errors of the program.
    pub fn load_as_is(
        mut program: Program,
        file_name: &str,
        host: &Arc<HostContext>,
    ) -> Result<Self, Error> {
        let invalid = |error: String| Error::new(error).with_code(ErrorCode::InvalidArgument);
        // In a context of its own: the requests of runs are not charged for the weights.
        let packing = EagerContext::builder(Arc::clone(host)).build()?;
        let device = device_of(&packing)?;
        let packed = program.pack_weights(&packing, &device).into_iter();
        let packed_bytes = packed.map(|index| program.weights[index].len_bytes()).sum();
        let functions = FunctionProgram::from_text(&program.text, file_name, host.registry())
            .map_err(|error| invalid(error.to_string()))?;
        let loaded = StoredProgram {
            functions,
            inputs: program.inputs,
            input_types: program.input_types,
            outputs: program.outputs,
            output_types: program.output_types,
            lists: program.lists.into_iter().collect(),
            weights: detached(program.weights)?,
            packed_bytes,
            function: FUNCTION,
        };
        Self::of_stored(loaded, host)
    }

    /// Loads a program that was read from a file. If the file does not have its weights packed for
    /// this processor, kernels pack them when they use them again.
    ///
    /// # Errors
    /// The errors of the program.
    pub fn of_stored(program: StoredProgram, host: &Arc<HostContext>) -> Result<Self, Error> {
        let arena = Arc::new(ArenaAllocator::new(Arc::clone(host.allocator())));
        let request =
            RequestContextBuilder::new(Arc::clone(host)).allocator(Arc::clone(&arena) as _);
        let eager = EagerContext::builder(Arc::clone(host));
        let eager = eager.request(request.build()).build()?;
        let device = device_of(&eager)?;
        let function = eager.function_op(&program.functions, program.function)?;
        let weights = program.weights.into_iter();
        let weights = weights.map(|tensor| TensorHandle::of_tensor(device.clone(), tensor));
        Ok(Self {
            weights: weights.collect(),
            inputs: program.inputs,
            input_types: program.input_types,
            outputs: program.outputs,
            output_types: program.output_types,
            function,
            eager,
            packed_bytes: program.packed_bytes,
            arena,
            num_active_runs: AtomicUsize::new(0),
        })
    }

    /// Returns the size in bytes of the weights that are packed since the program was loaded.
    #[must_use]
    pub fn packed_bytes(&self) -> usize {
        self.packed_bytes
    }

    /// Begins a request for runs with a deadline or limits of their own, whose memory is that of
    /// the session.
    #[must_use]
    pub fn request(&self) -> RequestContextBuilder {
        let request = RequestContextBuilder::new(Arc::clone(self.eager.host()));
        request.allocator(Arc::clone(&self.arena) as _)
    }

    /// Returns what the memory of intermediate results was used for.
    #[must_use]
    pub fn memory(&self) -> ArenaStatistics {
        self.arena.statistics()
    }

    /// Returns the names of the inputs.
    #[must_use]
    pub fn inputs(&self) -> &[String] {
        &self.inputs
    }

    /// Returns the names of the outputs.
    #[must_use]
    pub fn outputs(&self) -> &[String] {
        &self.outputs
    }

    /// Runs the program with tensors for its inputs, by name, and blocks the calling thread until
    /// the outputs are available. Returns them in the order of [`outputs`](Self::outputs).
    ///
    /// # Errors
    /// Missing or unknown inputs; inputs or outputs of other types than declared; failures while
    /// the program runs; an output that is a list.
    pub fn run(&self, inputs: &[(&str, DenseHostTensor)]) -> Result<Vec<DenseHostTensor>, Error> {
        let inputs: Vec<(&str, ModelValue)> = inputs
            .iter()
            .map(|(name, tensor)| (*name, tensor.clone().into()))
            .collect();
        tensors_of(self.run_values(&inputs)?, &self.outputs)
    }

    /// Like [`run`](Self::run), as a part of a request, which may have a deadline, limits of its
    /// own, and be cancelled. It uses the memory of the session if it was made by
    /// [`request`](Self::request).
    ///
    /// # Errors
    /// Those of `run`; the error with which the request was cancelled; an error if the request
    /// belongs to another host.
    pub fn run_in_request(
        &self,
        request: &Arc<RequestContext>,
        inputs: &[(&str, DenseHostTensor)],
    ) -> Result<Vec<DenseHostTensor>, Error> {
        let _scope = self.eager.with_request(Arc::clone(request))?;
        self.run(inputs)
    }

    /// Like [`run_values`](Self::run_values), as a part of a request.
    ///
    /// # Errors
    /// Those of `run_values` and of [`run_in_request`](Self::run_in_request).
    pub fn run_values_in_request(
        &self,
        request: &Arc<RequestContext>,
        inputs: &[(&str, ModelValue)],
    ) -> Result<Vec<ModelValue>, Error> {
        let _scope = self.eager.with_request(Arc::clone(request))?;
        self.run_values(inputs)
    }

    /// Like [`run`](Self::run), for inputs and outputs of every kind.
    ///
    /// # Errors
    /// Those of `run`, except for lists.
    pub fn run_values(&self, inputs: &[(&str, ModelValue)]) -> Result<Vec<ModelValue>, Error> {
        self.start(inputs)?.wait()
    }

    /// Returns the handles of inputs, in the order of the arguments.
    fn handles(&self, inputs: &[(&str, ModelValue)]) -> Vec<TensorHandle> {
        let device = self.eager.devices().next();
        let device = device.expect("a session has a device");
        let given = self.inputs.iter().filter_map(|name| {
            let (_, value) = inputs.iter().find(|(found, _)| found == name)?;
            Some(value.handle(device))
        });
        given.collect()
    }

    /// Returns a number for the shapes of the inputs, on which it depends how much memory a run
    /// needs.
    fn kind(&self, inputs: &[(&str, ModelValue)]) -> u64 {
        let mut kind = Fnv1a::new();
        for name in &self.inputs {
            let input = inputs.iter().find(|(found, _)| found == name);
            if let Some((_, ModelValue::Tensor(tensor))) = input {
                let dims = tensor.shape().dims();
                for extent in [dims.len()].iter().chain(dims) {
                    kind.add(&extent.to_le_bytes());
                }
            }
        }
        kind.finish()
    }

    fn check_outputs(&self, outputs: &[ModelValue]) -> Result<(), Error> {
        let names = self.outputs.iter().zip(&self.output_types);
        for ((name, declared), value) in names.zip(outputs) {
            if let (Some(declared), ModelValue::Tensor(tensor)) = (declared, value) {
                types::check_output(name, declared, tensor).map_err(|error| {
                    Error::new(error.to_string()).with_code(ErrorCode::InvalidArgument)
                })?;
            }
        }
        Ok(())
    }

    fn check_names(&self, inputs: &[(&str, ModelValue)]) -> Result<(), Error> {
        let invalid =
            |message: String| Err(Error::new(message).with_code(ErrorCode::InvalidArgument));
        if let Some((name, _)) = inputs
            .iter()
            .find(|(name, _)| !self.inputs.iter().any(|known| known == name))
        {
            let hint = did_you_mean(&nearest(name, self.inputs.iter().map(String::as_str)));
            return invalid(format!("unknown input `{}`{hint}", shown(name)));
        }
        let missing = self
            .inputs
            .iter()
            .filter(|name| !inputs.iter().any(|(found, _)| found == name));
        let missing: Vec<String> = missing.map(|name| format!("`{}`", shown(name))).collect();
        match missing.is_empty() {
            true => Ok(()),
            false => invalid(format!("missing inputs: {}", missing.join(", "))),
        }
    }

    fn check_types(&self, inputs: &[(&str, ModelValue)]) -> Result<(), Error> {
        let declared = self.inputs.iter().zip(&self.input_types);
        let tensors = declared.filter_map(|(name, declared)| {
            let (_, value) = inputs.iter().find(|(found, _)| found == name)?;
            match value {
                ModelValue::Tensor(tensor) => Some((name.as_str(), declared.as_ref()?, tensor)),
                ModelValue::List(_) => None,
            }
        });
        types::check(tensors)
            .map_err(|error| Error::new(error.to_string()).with_code(ErrorCode::InvalidArgument))
    }

    fn output(&self, handle: &TensorHandle) -> Result<ModelValue, Error> {
        let tensor = self.eager.wait(handle)?;
        if let Ok(dense) = tensor.try_read::<DenseHostTensor>() {
            return Ok(dense.clone().into());
        }
        match TensorRef::read(tensor) {
            Ok(TensorRef::Scalar(scalar)) => Ok(scalar.to_dense(&crate::malloc())?.into()),
            Ok(TensorRef::List(list)) => Ok((*list).clone().into()),
            Ok(other) => Err(Error::new(format!(
                "an output is a {}",
                other.tensor_type().name()
            ))),
            Err(error) => Err(Error::new(error.to_string())),
        }
    }
}

/// Returns outputs that are all tensors.
fn tensors_of(outputs: Vec<ModelValue>, names: &[String]) -> Result<Vec<DenseHostTensor>, Error> {
    let outputs = outputs.into_iter().zip(names);
    let tensors = outputs.map(|(output, name)| match output {
        ModelValue::Tensor(tensor) => Ok(tensor),
        ModelValue::List(_) => Err(Error::new(format!(
            "the output `{}` is a list of tensors",
            shown(name)
        ))),
    });
    tensors.collect()
}

/// Returns the device that a session runs on.
pub(crate) fn device_of(eager: &EagerContext) -> Result<DeviceRef, Error> {
    let device = eager.devices().next().cloned();
    device.ok_or_else(|| Error::new("the host has no device").with_code(ErrorCode::InvalidArgument))
}

/// Returns the tensors of weights. If only a few of them still lie in the file of the model, they
/// are copied, so that the others do not keep the file in memory.
fn detached(weights: Vec<Weight>) -> Result<Vec<DenseHostTensor>, Error> {
    let tensors = weights.into_iter().map(|weight| {
        let tensor = weight.constant.into_tensor();
        tensor.map_err(|error| Error::new(format!("weight `{}`: {error}", shown(&weight.name))))
    });
    let mut tensors = tensors.collect::<Result<Vec<_>, Error>>()?;
    // Memory of their own is what rules and the reader have made. Copies change who shares, so that
    // all are asked first.
    let is_shared = |tensor: &DenseHostTensor| !tensor.buffer().is_exclusive();
    let are_shared: Vec<bool> = tensors.iter().map(is_shared).collect();
    let len_bytes = |tensor: &DenseHostTensor| tensor.buffer().len_bytes();
    let all_bytes: usize = tensors.iter().map(len_bytes).sum();
    let shared = tensors
        .iter()
        .zip(&are_shared)
        .filter(|(_, shared)| **shared);
    let shared_bytes: usize = shared.map(|(tensor, _)| len_bytes(tensor)).sum();
    if shared_bytes > all_bytes / 2 {
        return Ok(tensors);
    }
    let shared = tensors
        .iter_mut()
        .zip(are_shared)
        .filter(|(_, shared)| *shared);
    for (tensor, _) in shared {
        // Without memory for it, the file stays.
        let copied = tensor.buffer().read().ok().and_then(|bytes| {
            let mut copy =
                DenseHostTensor::zeroed(&crate::malloc(), tensor.dtype(), tensor.shape().clone());
            if let Ok(copy) = &mut copy {
                copy.buffer_mut().write().ok()?.copy_from_slice(&bytes);
            }
            copy.ok()
        });
        if let Some(copied) = copied {
            *tensor = copied;
        }
    }
    Ok(tensors)
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session")
            .field("inputs", &self.inputs)
            .field("outputs", &self.outputs)
            .finish_non_exhaustive()
    }
}
