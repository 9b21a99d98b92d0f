//! Changes of what a program declares of its inputs and outputs, before it is rewritten.

use std::collections::BTreeSet;

use tfrt_support::nearest::{did_you_mean, nearest};

use super::Program;
use crate::error::ImportError;
use crate::names::shown;
use crate::types::{InputDim, InputType};

/// Returns the name of a dimension that a model does not name.
pub(crate) fn name_of_place(input: &str, axis: usize) -> String {
    format!("{input}.{axis}")
}

impl Program {
    /// Returns the names of the symbolic dimensions of the inputs.
    #[must_use]
    pub fn symbols(&self) -> BTreeSet<&str> {
        let dims = self.input_types.iter().flatten().filter_map(dims_of);
        dims.flatten().filter_map(symbol_of).collect()
    }

    /// Returns the names that expressions have for the dimensions of the inputs of which a model
    /// declares neither a name nor a number: those of their places, such as `x.0`.
    ///
    /// ```
    /// use tfrt_import::program::ProgramBuilder;
    /// use tfrt_import::{InputDim, InputType};
    ///
    /// let mut builder = ProgramBuilder::default();
    /// let dims = Some(vec![InputDim::Fixed(3), InputDim::Unknown]);
    /// let x = builder.declared_input("x", InputType { dtype: None, dims });
    /// let program = builder.finish(&[("y", x)]);
    /// assert_eq!(program.unnamed_dims(), ["x.1"]);
    /// assert_eq!(program.inferred_outputs()[0].to_string(), "tensor [3, x.1]");
    /// ```
    #[must_use]
    pub fn unnamed_dims(&self) -> Vec<String> {
        let names = self.symbols();
        let inputs = self.inputs.iter().zip(&self.input_types);
        let dims = inputs.flat_map(|(input, declared)| {
            let dims = declared.iter().filter_map(dims_of).flatten().enumerate();
            dims.filter_map(move |(axis, dim)| match dim {
                InputDim::Unknown => Some(name_of_place(input, axis)),
                InputDim::Fixed(_) | InputDim::Symbol(_) => None,
            })
        });
        // A place with the name of a symbol has none.
        dims.filter(|name| !names.contains(&**name)).collect()
    }

    /// Replaces a symbolic dimension of the inputs by a number, also in the types of the outputs.
    /// Rewrites rely on it, and sessions refuse other inputs.
    ///
    /// ```
    /// use tfrt_import::program::ProgramBuilder;
    /// use tfrt_import::{InputDim, InputType};
    ///
    /// let mut builder = ProgramBuilder::default();
    /// let dims = Some(vec![InputDim::Symbol("batch".into()), InputDim::Fixed(3)]);
    /// let x = builder.declared_input("x", InputType { dtype: None, dims });
    /// let mut program = builder.finish(&[("y", x)]);
    /// program.bind_symbol("batch", 8)?;
    /// assert_eq!(program.input_types[0].as_ref().unwrap().to_string(), "tensor [8, 3]");
    /// let error = program.bind_symbol("batch", 4).unwrap_err();
    /// assert_eq!(error.to_string(), "no input has a dimension `batch`");
    /// # Ok::<(), tfrt_import::ImportError>(())
    /// ```
    ///
    /// # Errors
    /// If no dimension of an input has this name.
    pub fn bind_symbol(&mut self, name: &str, extent: usize) -> Result<(), ImportError> {
        let known = self.symbols();
        if !known.contains(name) {
            let hint = did_you_mean(&nearest(name, known));
            let message = format!("no input has a dimension `{}`{hint}", shown(name));
            return Err(ImportError::new(message));
        }
        let types = self.input_types.iter_mut().chain(&mut self.output_types);
        let dims = types.flatten().filter_map(|ty| ty.dims.as_mut());
        for dim in dims.flatten() {
            if matches!(dim, InputDim::Symbol(symbol) if symbol == name) {
                *dim = InputDim::Fixed(extent);
            }
        }
        Ok(())
    }

    /// Replaces the declared shape of an input. What is declared of the outputs' shapes may follow
    /// from the former one, and is dropped.
    ///
    /// # Errors
    /// If there is no such input.
    pub fn declare_shape(&mut self, input: &str, dims: Vec<InputDim>) -> Result<(), ImportError> {
        let place = self.inputs.iter().position(|name| name == input);
        let Some(ty) = place.and_then(|place| self.input_types.get_mut(place)) else {
            let known = self.inputs.iter().map(String::as_str);
            let hint = did_you_mean(&nearest(input, known));
            let message = format!("unknown input `{}`{hint}", shown(input));
            return Err(ImportError::new(message));
        };
        let dtype = ty.as_ref().and_then(|ty| ty.dtype);
        *ty = Some(InputType {
            dtype,
            dims: Some(dims),
        });
        for ty in self.output_types.iter_mut().flatten() {
            ty.dims = None;
        }
        Ok(())
    }
}

fn dims_of(ty: &InputType) -> Option<&Vec<InputDim>> {
    ty.dims.as_ref()
}

fn symbol_of(dim: &InputDim) -> Option<&str> {
    match dim {
        InputDim::Symbol(name) => Some(name),
        InputDim::Fixed(_) | InputDim::Unknown => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::ProgramBuilder;
    use super::*;

    #[test]
    fn the_shape_of_an_input_is_replaced() {
        let mut builder = ProgramBuilder::default();
        let x = builder.input("pixels");
        let mut program = builder.finish(&[("y", x)]);
        let dims = vec![InputDim::Fixed(2), InputDim::Unknown];
        program.declare_shape("pixels", dims).unwrap();
        let ty = program.input_types[0].as_ref().unwrap();
        assert_eq!(ty.to_string(), "tensor [2, ?]");
        let error = program.declare_shape("pixel", Vec::new()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "unknown input `pixel`; did you mean `pixels`?"
        );
    }
}
