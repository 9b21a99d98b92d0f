//! Views of structured attributes: typed windows on the bytes of a section, checked when they are
//! made.
//!
//! A view borrows; copying one costs nothing. What a view returns was verified when it was read, so
//! that its accessors cannot fail unless they are asked for another type than there is.

mod aggregate;

mod compilation_unit;

mod dense;

mod shape;

pub use aggregate::{AggregateView, AttrRef};
pub use compilation_unit::CompilationUnitView;
pub use dense::DenseView;
pub use shape::ShapeView;
