//! Weights in the order in which kernels read them.
//!
//! Ops of the library pack the weights of convolutions and products when a program is loaded. A
//! packed weight replaces the original one, so that memory holds both for one weight of each thread
//! at a time.
//!
//! Weights whose order depends on shapes that are not known yet stay as they are: kernels pack them
//! when they are used again.
//!
//! [`PackedForm`] has the packed weights for a file, from which another process loads them without
//! packing.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, Builder};

use tfrt_core::{EagerContext, TensorHandle};
use tfrt_host::HostContext;
use tfrt_host::device::DeviceRef;
use tfrt_support::{DType, Error};
use tfrt_tensor::DenseHostTensor;

use crate::program::{Attr, Constant, Op, OpKind, Program, Value, Weight};
use crate::rewrite::infer::{self, Known};
use crate::rewrite::known_inputs;
use crate::rewrite::symbols::Symbols;

/// The name of the function of a program in a file that takes packed weights.
pub(crate) const PACKED_FUNCTION: &str = "packed";

/// How the ops that use a weight read it.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Form {
    /// As the filter of a convolution.
    Filter,
    /// As the right factor of products.
    Factor { transposed: bool },
    /// As the filter or right factor of quantised convolutions and products.
    Bytes,
}

impl Form {
    /// Returns a packed weight, or `None` if it is best left as it is.
    fn packed(
        &self,
        tensor: &DenseHostTensor,
        eager: &Arc<EagerContext>,
        device: &DeviceRef,
    ) -> Result<Option<DenseHostTensor>, Error> {
        let op = match self {
            Self::Filter => eager.op("nn.PackFilter")?,
            Self::Bytes => eager.op("nn.PackBytes")?,
            Self::Factor { transposed } => {
                eager.op("nn.PackFactor")?.attr("transposed", *transposed)?
            }
        };
        let packed = op.call(&[&TensorHandle::of_tensor(device.clone(), tensor.clone())])?;
        let packed = eager.wait(&packed)?.try_read::<DenseHostTensor>();
        let packed = packed.map_err(|error| Error::new(error.to_string()))?;
        // The ops return a vector, or the weight.
        Ok((packed.shape().rank() == 1).then(|| packed.clone()))
    }

    /// Packs a weight, unless it is best left as it is or cannot be packed. Returns the extents
    /// that it had.
    fn pack(
        &self,
        weight: &mut Weight,
        eager: &Arc<EagerContext>,
        device: &DeviceRef,
    ) -> Option<Vec<usize>> {
        let original = weight.tensor().ok()?;
        let packed = self.packed(original, eager, device).ok()??;
        let original = std::mem::replace(&mut weight.constant, packed.into());
        original.give_back();
        Some(original.shape().dims().to_vec())
    }

    /// Changes an op that reads a weight of these extents so that it reads the packed weight.
    fn change(&self, op: &mut Op, dims: &[usize]) {
        let OpKind::Call { name, attrs } = &mut op.kind else {
            return;
        };
        let mut dims: Vec<i64> = dims.iter().map(|&extent| extent as i64).collect();
        let attr = match self {
            Self::Filter => {
                "nn.PackedConv".clone_into(name);
                attrs.retain(|(name, _)| !["channels_last", "group"].contains(&name.as_str()));
                "filter"
            }
            Self::Factor { transposed } => {
                if *transposed {
                    dims.reverse();
                }
                attrs.retain(|(name, _)| name != "transpose_b");
                "packed_b"
            }
            Self::Bytes => "packed",
        };
        attrs.push((attr.to_owned(), Attr::Ints(dims)));
    }
}

/// The packed weights of a program, and the function that takes them.
///
/// ```
/// use std::sync::Arc;
///
/// use tfrt_host::HostContext;
/// use tfrt_import::PackedForm;
/// use tfrt_import::program::ProgramBuilder;
///
/// let mut builder = ProgramBuilder::default();
/// let x = builder.input("x");
/// let program = builder.finish(&[("y", x)]);
/// let host = HostContext::builder().build();
/// let form = PackedForm::of(&program, &host, "panels of 32 columns of f32, version 1")?;
/// assert_eq!(form.weights().count(), 0);
/// # Ok::<(), tfrt_support::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct PackedForm {
    layout: String,
    weights: Vec<(usize, DenseHostTensor)>,
    pub(crate) function: String,
}

impl PackedForm {
    /// Packs the weights of a program, whose ops must be among the kernels of the host. `layout`
    /// names the layout in which these kernels pack.
    ///
    /// # Errors
    /// If no request can be started.
    pub fn of(program: &Program, host: &Arc<HostContext>, layout: &str) -> Result<Self, Error> {
        let eager = EagerContext::builder(Arc::clone(host)).build()?;
        let device = crate::session::device_of(&eager)?;
        let mut program = program.clone();
        let packed = program.pack_weights(&eager, &device);
        let weights = packed.into_iter().filter_map(|index| {
            let tensor = program.weights[index].constant.ready()?;
            Some((index, tensor.clone()))
        });
        Ok(Self {
            layout: layout.to_owned(),
            weights: weights.collect(),
            function: program.function_text(PACKED_FUNCTION),
        })
    }

    /// Returns the name of the layout.
    #[must_use]
    pub fn layout(&self) -> &str {
        &self.layout
    }

    /// Returns the packed weights, with their numbers among the weights of the program.
    pub fn weights(&self) -> impl ExactSizeIterator<Item = (usize, &DenseHostTensor)> {
        self.weights.iter().map(|(index, tensor)| (*index, tensor))
    }
}

/// Returns what a lock holds, also after a panic of another thread.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Program {
    /// Packs the weights that convolutions and products alone use, on as many threads as the work
    /// queue of the host has. Returns the numbers of the packed weights, in order.
    ///
    /// Ops refuse weights that they cannot read. Such weights stay as they are: the error occurs
    /// when the program runs. So do filters that cannot be changed, which is an error of loading.
    pub(crate) fn pack_weights(
        &mut self,
        eager: &Arc<EagerContext>,
        device: &DeviceRef,
    ) -> Vec<usize> {
        let forms = self.forms();
        let weights = self.body.weights.iter().zip(&mut self.weights).enumerate();
        let weights = weights.filter_map(|(index, (value, weight))| {
            let form = forms.get(value)?.as_ref()?;
            Some((index, *value, form, weight))
        });
        // Largest first, so that no thread has much left when the others are done.
        let mut weights: Vec<_> = weights.collect();
        weights.sort_by_key(|(_, _, _, weight)| weight.len_bytes());
        let weights = Mutex::new(weights);
        let packed = Mutex::new(Vec::new());
        let work = || {
            while let Some((index, value, form, weight)) = locked(&weights).pop() {
                if let Some(dims) = form.pack(weight, eager, device) {
                    locked(&packed).push((index, value, form.clone(), dims));
                }
            }
        };
        let num_threads = eager.host().queue().parallelism_level();
        thread::scope(|scope| {
            let num_weights = locked(&weights).len();
            for _ in 1..num_threads.min(num_weights) {
                // Without another thread, this one does its part, too.
                let _ = Builder::new().spawn_scoped(scope, work);
            }
            work();
        });
        let packed = packed.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut indices: Vec<usize> = packed.iter().map(|(index, ..)| *index).collect();
        indices.sort_unstable();
        let packed = packed.into_iter();
        let packed: HashMap<Value, (Form, Vec<usize>)> = packed
            .map(|(_, value, form, dims)| (value, (form, dims)))
            .collect();
        for op in &mut self.body.ops {
            // An op has at most one of them: they have no other uses.
            let weight = op.operands.iter().find_map(|value| packed.get(value));
            if let Some((form, dims)) = weight {
                form.change(op, dims);
            }
        }
        if !packed.is_empty() {
            self.refresh();
        }
        indices
    }

    /// Returns how each weight is read, by value; `None` for those that ops read in several ways.
    fn forms(&self) -> HashMap<Value, Option<Form>> {
        let mut symbols = Symbols::default();
        let mut known = known_inputs(self, &mut symbols);
        let weights = self.body.weights.iter().zip(&self.weights);
        let weights: HashMap<Value, &Constant> = weights
            .map(|(&value, weight)| (value, &weight.constant))
            .collect();
        let mut forms: HashMap<Value, Option<Form>> = HashMap::new();
        for result in &self.body.results {
            forms.insert(*result, None);
        }
        for op in &self.body.ops {
            let operands: Vec<Known> = op
                .operands
                .iter()
                .map(|value| match weights.get(value) {
                    Some(constant) => Known::of_constant(constant),
                    None => known.get(value).cloned().unwrap_or_default(),
                })
                .collect();
            let constants: Vec<Option<&DenseHostTensor>> = op
                .operands
                .iter()
                .map(|value| weights.get(value)?.ready())
                .collect();
            let read = form_of(op, &operands, &constants);
            for (index, value) in op.operands.iter().enumerate() {
                if !weights.contains_key(value) {
                    continue;
                }
                let form = read.clone().filter(|(place, _)| *place == index);
                let form = form.map(|(_, form)| form);
                let joined = match forms.remove(value) {
                    None => form,
                    Some(before) => before.filter(|before| Some(before) == form.as_ref()),
                };
                forms.insert(*value, joined);
            }
            if let OpKind::Call { name, attrs } = &op.kind {
                let results = infer::results(name, attrs, &operands, &constants, &mut symbols.last);
                known.extend(op.results.iter().copied().zip(results));
            }
        }
        forms
    }
}

/// Returns which operand of an op has a packed form, and how the op reads it.
fn form_of(
    op: &Op,
    operands: &[Known],
    constants: &[Option<&DenseHostTensor>],
) -> Option<(usize, Form)> {
    let OpKind::Call { name, attrs } = &op.kind else {
        return None;
    };
    let attr = |wanted: &str| {
        let mut all = attrs.iter();
        all.find_map(|(name, attr)| (name == wanted).then_some(attr))
    };
    let flag = |name: &str| attr(name) == Some(&Attr::Bool(true));
    let has_one_group = || attr("group").is_none_or(|group| *group == Attr::Int(1));
    // The first operands are always present, so that `slots` does not move the weights.
    if let [x, _, _, weights, _, zero, ..] = operands
        && name.starts_with("nn.Quantized")
    {
        let is_one = |place: usize| constants[place].is_some_and(|one| one.num_elements() == 1);
        let zeros = constants[5]?.elements::<i8>().ok()?;
        // A wrong number of them is an error of the op.
        let filters = constants[3]?.shape().dims();
        let num_filters = if filters.len() == 4 {
            filters.first()
        } else {
            filters.last()
        };
        let is_centred = zeros.iter().all(|&zero| zero == 0)
            && zero.rank() <= Some(1)
            && (zeros.len() == 1 || Some(&zeros.len()) == num_filters);
        let fits = match name.as_str() {
            "nn.QuantizedConv" => {
                weights.rank() == Some(4) && has_one_group() && flag("channels_last")
            }
            "nn.QuantizedMatMul" => {
                weights.rank() == Some(2) && x.rank() >= Some(1) && is_one(1) && is_one(2)
            }
            _ => false,
        };
        let is_free = attr("packed").is_none() && weights.dtype == Some(DType::I8);
        return (fits && is_free && is_centred).then_some((3, Form::Bytes));
    }
    let [x, weights, ..] = operands else {
        return None;
    };
    let rank = weights.rank()?;
    if weights.dtype != Some(DType::F32) || x.dtype.is_some_and(|dtype| dtype != DType::F32) {
        return None;
    }
    let form = match name.as_str() {
        "nn.Conv" => {
            let fits = rank == 4 && has_one_group() && flag("channels_last");
            fits.then_some(Form::Filter)
        }
        "nn.MatMul" | "nn.Gemm" => {
            let is_free = attr("packed_b").is_none() && !flag("transpose_a");
            // The product of a vector has no rows to pack for.
            let fits = rank == 2 && is_free && x.rank()? >= 2;
            fits.then(|| Form::Factor {
                transposed: flag("transpose_b"),
            })
        }
        _ => None,
    };
    Some((1, form?))
}
