//! Nodes as importers of other crates see them.

use tfrt_import::ImportError;
use tfrt_import::names::shown;
use tfrt_import::program::{Attr, Value};
use tfrt_support::nearest::{did_you_mean, nearest};
use tfrt_tensor::DenseHostTensor;

use super::call::Call;
use crate::attribute::Attribute;
use crate::graph::Node;

/// A node that a function with [`#[onnx_op]`](macro@crate::onnx_op) imports, and the program that
/// it becomes part of.
///
/// Ops that are emitted have the name of the node as their location, so that errors at run time
/// name it. An error that the function returns is located at the node.
///
/// ```
/// use tfrt_import::ImportError;
/// use tfrt_import::program::{Attr, Value};
/// use tfrt_onnx::{OnnxCall, onnx_op};
///
/// /// `Shift(x, offset?)` is `alpha * x`, plus the offset if there is one.
/// #[onnx_op(domain = "com.example", name = "Shift", since = 1)]
/// fn import_shift(call: &mut OnnxCall<'_>) -> Result<Vec<Value>, ImportError> {
///     call.check_attrs(&["alpha"])?;
///     let alpha = call.attr_or("alpha", 1.0_f32)?;
///     let x = call.operand(0)?;
///     let scaled = call.emit("my.Scale", &[x], &[("factor", Attr::Float(alpha))], 1)[0];
///     match call.optional_operand(1)? {
///         None => Ok(vec![scaled]),
///         Some(offset) => Ok(call.emit("tf.AddV2", &[scaled, offset], &[], 1)),
///     }
/// }
/// ```
pub struct OnnxCall<'a> {
    call: &'a mut dyn NodeCall,
}

/// What [`OnnxCall`] needs of a [`Call`], without its lifetimes.
trait NodeCall {
    fn node(&self) -> &Node;
    fn since(&self) -> i64;
    fn attribute(&self, name: &str) -> Option<&Attribute>;
    fn has(&self, index: usize) -> bool;
    fn constant(&self, index: usize) -> Option<&DenseHostTensor>;
    fn optional(&mut self, index: usize) -> Result<Option<Value>, ImportError>;
    fn weight(&mut self, tensor: DenseHostTensor) -> Value;
    fn emit(
        &mut self,
        op: &str,
        operands: &[Value],
        attrs: &[(&str, Attr)],
        num_results: usize,
    ) -> Vec<Value>;
}

impl NodeCall for Call<'_, '_> {
    fn node(&self) -> &Node {
        self.node
    }

    fn since(&self) -> i64 {
        self.since
    }

    fn attribute(&self, name: &str) -> Option<&Attribute> {
        self.attribute(name)
    }

    fn has(&self, index: usize) -> bool {
        self.has(index)
    }

    fn constant(&self, index: usize) -> Option<&DenseHostTensor> {
        self.constant(index)
    }

    fn optional(&mut self, index: usize) -> Result<Option<Value>, ImportError> {
        self.optional(index)
    }

    fn weight(&mut self, tensor: DenseHostTensor) -> Value {
        self.weight(tensor)
    }

    fn emit(
        &mut self,
        op: &str,
        operands: &[Value],
        attrs: &[(&str, Attr)],
        num_results: usize,
    ) -> Vec<Value> {
        self.emit(op, operands, attrs, num_results)
    }
}

impl<'a> OnnxCall<'a> {
    pub(super) fn new(call: &'a mut Call<'_, '_>) -> Self {
        Self { call }
    }

    /// Returns the node as it is in the file.
    #[must_use]
    pub fn node(&self) -> &Node {
        self.call.node()
    }

    /// Returns the version of the op that the model means: `since` of the registration that was
    /// selected.
    #[must_use]
    pub fn since(&self) -> i64 {
        self.call.since()
    }

    /// Returns the number of operands, with those that are omitted before others.
    #[must_use]
    pub fn num_operands(&self) -> usize {
        self.node().inputs.len()
    }

    /// Returns the number of results that the node lists, with unused ones among them.
    #[must_use]
    pub fn num_results(&self) -> usize {
        self.node().outputs.len()
    }

    /// Returns `true` if an operand is present.
    #[must_use]
    pub fn has_operand(&self, index: usize) -> bool {
        self.call.has(index)
    }

    /// Returns an operand that must be present.
    ///
    /// # Errors
    /// If it is omitted, or has a type that is not supported.
    pub fn operand(&mut self, index: usize) -> Result<Value, ImportError> {
        let found = self.call.optional(index)?;
        found.ok_or_else(|| ImportError::new(format!("operand {index} is missing")))
    }

    /// Returns an operand, if it is present.
    ///
    /// # Errors
    /// If it has a type that is not supported.
    pub fn optional_operand(&mut self, index: usize) -> Result<Option<Value>, ImportError> {
        self.call.optional(index)
    }

    /// Returns all operands; `None` for those that are omitted.
    ///
    /// # Errors
    /// If one has a type that is not supported.
    pub fn operands(&mut self) -> Result<Vec<Option<Value>>, ImportError> {
        let indices = 0..self.num_operands();
        indices.map(|index| self.call.optional(index)).collect()
    }

    /// Returns the tensor of an operand that is a constant of the model.
    #[must_use]
    pub fn constant(&self, index: usize) -> Option<&DenseHostTensor> {
        self.call.constant(index)
    }

    /// Returns an attribute, if it is given.
    ///
    /// # Errors
    /// If it has another type.
    pub fn attr<T: OnnxAttr>(&self, name: &str) -> Result<Option<T>, ImportError> {
        let Some(attribute) = self.call.attribute(name) else {
            return Ok(None);
        };
        T::read(attribute).map(Some).map_err(|found| {
            let name = shown(name);
            ImportError::new(format!(
                "attribute `{name}`: expected {}, found {found}",
                T::KIND
            ))
        })
    }

    /// Returns an attribute, or `missing` if it is not given.
    ///
    /// # Errors
    /// If it has another type.
    pub fn attr_or<T: OnnxAttr>(&self, name: &str, missing: T) -> Result<T, ImportError> {
        Ok(self.attr(name)?.unwrap_or(missing))
    }

    /// Returns an attribute that must be given.
    ///
    /// # Errors
    /// If it is missing, or has another type.
    pub fn required_attr<T: OnnxAttr>(&self, name: &str) -> Result<T, ImportError> {
        self.attr(name)?.ok_or_else(|| {
            ImportError::new(format!(
                "the attribute `{}` is missing: expected {}",
                shown(name),
                T::KIND
            ))
        })
    }

    /// Checks that all attributes are among the known ones.
    ///
    /// # Errors
    /// The first one that is not.
    pub fn check_attrs(&self, known: &[&str]) -> Result<(), ImportError> {
        let mut names = self.node().attributes.keys();
        let Some(name) = names.find(|name| !known.contains(&name.as_str())) else {
            return Ok(());
        };
        let hint = did_you_mean(&nearest(name, known.iter().copied()));
        let message = format!("unknown attribute `{}`{hint}", shown(name));
        Err(ImportError::new(message))
    }

    /// Adds a constant.
    pub fn weight(&mut self, tensor: DenseHostTensor) -> Value {
        self.call.weight(tensor)
    }

    /// Adds a call of an op, and returns its results. The names of the op and of its attributes
    /// become part of the program as they are, so they must not come from the file.
    pub fn emit(
        &mut self,
        op: &str,
        operands: &[Value],
        attrs: &[(&str, Attr)],
        num_results: usize,
    ) -> Vec<Value> {
        self.call.emit(op, operands, attrs, num_results)
    }
}

impl std::fmt::Debug for OnnxCall<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("OnnxCall")
            .field(&self.node().label())
            .finish()
    }
}

/// The types of attributes that [`OnnxCall`] returns.
///
/// ```
/// use tfrt_onnx::OnnxAttr;
///
/// assert_eq!(<Vec<i64>>::KIND, "a list of integers");
/// ```
pub trait OnnxAttr: sealed::Sealed + Sized {
    /// What it is called in messages.
    const KIND: &'static str;

    #[doc(hidden)]
    fn read(attribute: &Attribute) -> Result<Self, &'static str>;
}

mod sealed {
    pub trait Sealed {}
}

/// Implements the trait for types, each with its name and the attributes that are one.
macro_rules! attributes {
    ($($ty:ty, $kind:literal, $pattern:pat => $value:expr;)*) => {
        $(
            impl sealed::Sealed for $ty {}

            impl OnnxAttr for $ty {
                const KIND: &'static str = $kind;

                fn read(attribute: &Attribute) -> Result<Self, &'static str> {
                    match attribute {
                        $pattern => $value,
                        other => Err(other.description()),
                    }
                }
            }
        )*
    };
}

attributes! {
    i64, "an integer", Attribute::Int(value) => Ok(*value);
    f32, "a number", Attribute::Float(value) => Ok(*value);
    String, "a text", Attribute::Text(value) => text(value);
    Vec<i64>, "a list of integers", Attribute::Ints(values) => Ok(values.clone());
    Vec<f32>, "a list of numbers", Attribute::Floats(values) => Ok(values.clone());
    Vec<String>, "a list of strings", Attribute::Texts(values) => {
        values.iter().map(|value| text(value)).collect()
    };
    DenseHostTensor, "a tensor", Attribute::Tensor(tensor) => {
        tensor.dense().cloned().ok_or("a tensor whose elements are not supported")
    };
}

fn text(bytes: &[u8]) -> Result<String, &'static str> {
    let text = std::str::from_utf8(bytes).map_err(|_| "a text that is not UTF-8")?;
    Ok(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_attribute_of_another_type_says_what_it_is() {
        assert_eq!(i64::read(&Attribute::Int(3)), Ok(3));
        assert_eq!(i64::read(&Attribute::Float(3.0)), Err("a number"));
        assert_eq!(
            <Vec<f32>>::read(&Attribute::Ints(vec![3])),
            Err("a list of integers")
        );
        let text = |bytes: &'static [u8]| String::read(&Attribute::Text(bytes.into()));
        assert_eq!(text(b"sum"), Ok("sum".to_owned()));
        assert_eq!(text(b"\xff"), Err("a text that is not UTF-8"));
    }
}
