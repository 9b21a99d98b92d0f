//! String tensors: byte strings in host memory.

use std::sync::Arc;

use tfrt_async::Value;
use tfrt_async::identity::TypeIdentity;
use tfrt_support::DType;

use crate::error::TensorError;
use crate::identity;
use crate::shape::Shape;
use crate::tensor::{self, Tensor};
use crate::tensor_type::TensorType;

/// A tensor whose elements are byte strings, row-major. Clones share them until one of the clones
/// is written.
///
/// ```
/// use tfrt_tensor::{Shape, StringHostTensor};
///
/// let mut tensor = StringHostTensor::new(Shape::new(&[2])?, vec!["a".into(), "b".into()])?;
/// tensor.strings_mut()[1] = b"c".to_vec();
/// assert_eq!(tensor.to_string(), r#"StringHostTensor shape = [2], values = ["a", "c"]"#);
/// # Ok::<(), tfrt_tensor::TensorError>(())
/// ```
// The strings are drawn from the global allocator, not from that of a host, like those of values of
// type `!tfrt.string`.
#[derive(Clone)]
pub struct StringHostTensor {
    shape: Shape,
    /// The strings, as many as the shape has elements.
    strings: Arc<[Vec<u8>]>,
}

impl StringHostTensor {
    /// Creates a tensor of these strings.
    ///
    /// # Errors
    /// [`TensorError::WrongNumElements`].
    pub fn new(shape: Shape, strings: Vec<Vec<u8>>) -> Result<Self, TensorError> {
        if strings.len() != shape.num_elements() {
            return Err(TensorError::WrongNumElements {
                expected: shape.num_elements(),
                found: strings.len(),
            });
        }
        Ok(Self {
            shape,
            strings: strings.into(),
        })
    }

    /// Creates a tensor of empty strings.
    ///
    /// # Errors
    /// [`TensorError::OutOfMemory`].
    pub fn empty_strings(shape: Shape) -> Result<Self, TensorError> {
        let num_strings = shape.num_elements();
        let mut strings = Vec::new();
        strings
            .try_reserve_exact(num_strings)
            .map_err(|_| TensorError::OutOfMemory {
                size_bytes: num_strings.saturating_mul(size_of::<Vec<u8>>()),
            })?;
        strings.resize_with(num_strings, Vec::new);
        Self::new(shape, strings)
    }

    /// Returns the sizes of the dimensions.
    #[must_use]
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Returns the strings, in row-major order.
    #[must_use]
    pub fn strings(&self) -> &[Vec<u8>] {
        &self.strings
    }

    /// Returns the strings for writing, in row-major order.
    #[must_use]
    pub fn strings_mut(&mut self) -> &mut [Vec<u8>] {
        Arc::make_mut(&mut self.strings)
    }
}

/// So many strings are printed.
const MAX_PRINTED: usize = 16;
/// If there are more, the output states that some are omitted.
const MAX_UNMARKED: usize = 32;

impl Tensor for StringHostTensor {
    fn dtype(&self) -> DType {
        DType::String
    }

    fn shape(&self) -> &Shape {
        &self.shape
    }

    fn tensor_type(&self) -> TensorType {
        TensorType::STRING_HOST
    }

    /// Returns the strings as text; bytes that are not UTF-8 are shown as U+FFFD.
    fn to_text(&self) -> Result<String, TensorError> {
        Ok(String::from_utf8_lossy(&self.to_bytes()?).into_owned())
    }

    fn to_bytes(&self) -> Result<Vec<u8>, TensorError> {
        let mut text =
            format!("StringHostTensor shape = {}, values = [", self.shape()).into_bytes();
        for (position, string) in self.strings.iter().take(MAX_PRINTED).enumerate() {
            let start: &[u8] = if position == 0 { b"\"" } else { b", \"" };
            text.extend_from_slice(start);
            text.extend_from_slice(string);
            text.push(b'"');
        }
        let end: &[u8] = if self.strings.len() > MAX_UNMARKED {
            b", ... ]"
        } else {
            b"]"
        };
        text.extend_from_slice(end);
        Ok(text)
    }
}

tensor::impl_text!(StringHostTensor);

impl Value for StringHostTensor {
    const MLIR_TYPE: &'static str = tensor::TENSOR_MLIR_TYPE;
    const IDENTITY: TypeIdentity<Self> = identity::of_this_crate();
    const IS_MUTABLE: bool = true;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writing_a_clone_leaves_the_original() {
        let original = StringHostTensor::empty_strings(Shape::new(&[2]).unwrap()).unwrap();
        let mut clone = original.clone();
        clone.strings_mut()[0].push(b'x');
        assert_eq!(original.strings(), [b"", b""]);
        assert_eq!(clone.strings(), [&b"x"[..], b""]);
    }

    #[test]
    fn strings_print_as_their_bytes() {
        let strings = vec![b"a\xff".to_vec(), b"\"".to_vec()];
        let tensor = StringHostTensor::new(Shape::new(&[2]).unwrap(), strings).unwrap();
        let expected = b"StringHostTensor shape = [2], values = [\"a\xff\", \"\"\"]";
        assert_eq!(tensor.to_bytes().unwrap(), expected);
        assert_eq!(tensor.to_text().unwrap(), String::from_utf8_lossy(expected));
    }

    #[test]
    fn the_end_of_a_list_is_marked_late() {
        let text = |len| {
            StringHostTensor::empty_strings(Shape::new(&[len]).unwrap())
                .unwrap()
                .to_string()
        };
        assert_eq!(text(17).matches("\"\"").count(), 16);
        assert!(text(32).ends_with("\"\"]"));
        assert!(text(33).ends_with("\"\", ... ]"));
    }

    #[test]
    fn counts_and_sizes_are_checked() {
        let shape = Shape::new(&[3]).unwrap();
        assert_eq!(
            StringHostTensor::new(shape, vec![]).unwrap_err(),
            TensorError::WrongNumElements {
                expected: 3,
                found: 0
            }
        );
        let huge = Shape::new(&[crate::shape::MAX_ELEMENTS]).unwrap();
        assert!(matches!(
            StringHostTensor::empty_strings(huge),
            Err(TensorError::OutOfMemory { .. })
        ));
    }
}
