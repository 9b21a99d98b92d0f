//! Kinds of tensors.

use std::fmt;

use tfrt_async::identity::TypeIdentity;
use tfrt_async::{Immutable, Value};

use crate::identity;

/// A kind of tensor: the storage and the location of its elements. Identified by its name.
///
/// ```
/// use tfrt_tensor::TensorType;
///
/// assert_eq!(TensorType::DENSE_HOST.to_string(), "TensorType<name=DenseHost>");
/// assert_eq!(TensorType::from_name("CooHost"), Some(TensorType::COO_HOST));
/// assert_eq!(TensorType::from_name("Imaginary"), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TensorType {
    name: &'static str,
}

impl TensorType {
    /// An unspecified kind.
    pub const UNKNOWN: Self = Self::new("Unknown");
    /// All elements, row-major, in host memory.
    pub const DENSE_HOST: Self = Self::new("DenseHost");
    /// One value for all elements.
    pub const SCALAR_HOST: Self = Self::new("ScalarHost");
    /// The elements that are not zero, each with its coordinates.
    pub const COO_HOST: Self = Self::new("CooHost");
    /// Byte strings in host memory.
    pub const STRING_HOST: Self = Self::new("StringHost");
    /// A list of dense tensors in host memory, or the mark that there is none.
    pub const LIST_HOST: Self = Self::new("ListHost");
    /// A reference to an object.
    pub const RESOURCE_HOST: Self = Self::new("ResourceHost");
    /// All elements, row-major, in the memory of a GPU.
    pub const DENSE_GPU: Self = Self::new("DenseGpu");
    /// Elements in another process.
    pub const REMOTE: Self = Self::new("Remote");

    /// The kinds that the runtime defines.
    pub const ALL: [Self; 9] = [
        Self::UNKNOWN,
        Self::DENSE_HOST,
        Self::SCALAR_HOST,
        Self::COO_HOST,
        Self::STRING_HOST,
        Self::LIST_HOST,
        Self::RESOURCE_HOST,
        Self::DENSE_GPU,
        Self::REMOTE,
    ];

    /// Creates a user-defined kind with this name.
    #[must_use]
    pub const fn new(name: &'static str) -> Self {
        Self { name }
    }

    /// Returns the kind with this name, if the runtime defines it.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|known| known.name == name)
    }

    /// Returns the name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.name
    }
}

impl fmt::Display for TensorType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TensorType<name={}>", self.name)
    }
}

impl Value for TensorType {
    const MLIR_TYPE: &'static str = "!tfrt.tensor_type";
    const IDENTITY: TypeIdentity<Self> = identity::of_this_crate();
}

impl Immutable for TensorType {}
