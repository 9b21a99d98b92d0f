//! Views of structured attributes: typed views of the bytes of a section, checked when they are
//! created.
//!
//! A view borrows; copying one costs nothing. The content of a view was verified when it was read,
//! so its accessors cannot fail unless another type is requested.

mod aggregate;

mod compilation_unit;

mod dense;

mod shape;

pub use aggregate::{AggregateView, AttrRef};
pub use compilation_unit::CompilationUnitView;
pub use dense::DenseView;
pub use shape::ShapeView;
