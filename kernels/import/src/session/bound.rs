//! Runs on inputs that stay the same tensors.

use std::fmt;

use tfrt_core::TensorHandle;
use tfrt_support::Error;
use tfrt_tensor::DenseHostTensor;

use super::{ModelValue, Session, tensors_of};

/// Inputs that a session runs on repeatedly, and the outputs of the last run.
///
/// The inputs are checked once, and a run allocates no memory for tensors: its outputs take the
/// memory of the ones before, which are dropped first, unless the caller has kept a copy of a
/// tensor. Between two runs, the caller writes new elements to an input through a copy of the
/// tensor: copies share elements.
///
/// ```no_run
/// # use tfrt_import::Session;
/// # use tfrt_tensor::DenseHostTensor;
/// # fn example(session: &Session) -> Result<(), Box<dyn std::error::Error>> {
/// let mut x = DenseHostTensor::vector(&[1.0_f32, 2.0])?;
/// let mut bound = session.bind(&[("x", x.clone())])?;
/// for step in 0..10 {
///     x.elements_mut::<f32>()?[0] = step as f32;
///     let outputs = bound.run()?;
/// }
/// # Ok(())
/// # }
/// ```
pub struct BoundRun<'s> {
    session: &'s Session,
    inputs: Vec<(String, ModelValue)>,
    handles: Vec<TensorHandle>,
    outputs: Vec<DenseHostTensor>,
}

impl fmt::Debug for BoundRun<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BoundRun")
            .field("inputs", &self.inputs)
            .field("outputs", &self.outputs)
            .finish_non_exhaustive()
    }
}

impl Session {
    /// Binds tensors to the inputs, by name, for repeated runs.
    ///
    /// # Errors
    /// Missing or unknown inputs; inputs of other types than declared.
    pub fn bind(&self, inputs: &[(&str, DenseHostTensor)]) -> Result<BoundRun<'_>, Error> {
        let inputs = inputs.iter();
        let inputs: Vec<(&str, ModelValue)> = inputs
            .map(|(name, tensor)| (*name, tensor.clone().into()))
            .collect();
        self.check_names(&inputs)?;
        self.check_types(&inputs)?;
        let handles = self.handles(&inputs);
        let inputs = inputs.into_iter();
        Ok(BoundRun {
            session: self,
            inputs: inputs
                .map(|(name, value)| (name.to_owned(), value))
                .collect(),
            handles,
            outputs: Vec::new(),
        })
    }
}

impl BoundRun<'_> {
    /// Runs the program on what the inputs contain now, and blocks the calling thread until the
    /// outputs are available. Returns them in the order of [`Session::outputs`]. The outputs of the
    /// run before are dropped first.
    ///
    /// # Errors
    /// Failures while the program runs; outputs of other types than declared, and lists.
    pub fn run(&mut self) -> Result<&[DenseHostTensor], Error> {
        self.outputs.clear();
        let inputs = self.inputs.iter();
        let inputs: Vec<(&str, ModelValue)> = inputs
            .map(|(name, value)| (name.as_str(), value.clone()))
            .collect();
        let outputs = self.session.start_checked(&inputs, &self.handles)?.wait()?;
        self.outputs = tensors_of(outputs, &self.session.outputs)?;
        Ok(&self.outputs)
    }
}
