//! Kinds of tensors, by name.

use std::io;

use tfrt::prelude::*;

use crate::text::print_line;

/// A kind of tensor that programs can name.
///
/// ```
/// use tfrt_kernels::test::tensor_types::TensorType;
///
/// assert_eq!(TensorType::from_name("DenseHost").map(TensorType::name), Some("DenseHost"));
/// assert_eq!(TensorType::from_name("Imaginary"), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Value)]
#[value("!tfrt.tensor_type")]
pub struct TensorType {
    name: &'static str,
}

impl TensorType {
    /// The names that there are.
    const NAMES: [&'static str; 7] = [
        "Unknown",
        "DenseHost",
        "ScalarHost",
        "CooHost",
        "StringHost",
        "DenseGpu",
        "Remote",
    ];

    /// The kind of this name, if there is one.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::NAMES
            .into_iter()
            .find(|known| *known == name)
            .map(|name| Self { name })
    }

    /// The name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.name
    }
}

/// Gives the kind of tensor that its attribute names, whatever the attribute is called.
///
/// # Errors
/// `tensor type NAME is not registered`.
#[tfrt_kernel("tfrt_test.get_static_tensor_type", raw, results(tensor_type: TensorType))]
fn get_static_tensor_type(frame: &mut KernelFrame<'_>) -> Result<()> {
    let name = frame.attribute::<str>(0)?;
    let unknown = || {
        Error::new(format!("tensor type {name} is not registered")).with_code(ErrorCode::NotFound)
    };
    let tensor_type = TensorType::from_name(name).ok_or_else(unknown)?;
    frame.set_result(0, AnyRef::available(tensor_type));
    Ok(())
}

/// Prints `tensor_type = NAME`.
#[tfrt_kernel("tfrt_test.print_tensor_type", side_effecting)]
fn print_tensor_type(tensor_type: TensorType) -> io::Result<()> {
    print_line(format_args!("tensor_type = {}", tensor_type.name()))
}
