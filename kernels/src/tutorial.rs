//! The kernels of the tutorial: a user-defined type, a kernel that creates it, and a kernel that
//! prints it.

use std::io;

use tfrt::prelude::*;

use crate::text::print_line;

/// A point in the plane.
///
/// ```
/// use tfrt_kernels::tutorial::Coordinate;
///
/// let coordinate = Coordinate { x: 3, y: -4 };
/// assert_eq!((coordinate.x, coordinate.y), (3, -4));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Value)]
#[value("!my.coordinate")]
pub struct Coordinate {
    /// The horizontal coordinate.
    pub x: i32,
    /// The vertical coordinate.
    pub y: i32,
}

/// Creates a coordinate.
#[tfrt_kernel("tfrt_tutorial.create_coordinate")]
fn create_coordinate(x: i32, y: i32) -> Coordinate {
    Coordinate { x, y }
}

/// Prints a coordinate: `(X, Y)`.
#[tfrt_kernel("tfrt_tutorial.print_coordinate", side_effecting)]
fn print_coordinate(coordinate: &Coordinate) -> io::Result<()> {
    print_line(format_args!("({}, {})", coordinate.x, coordinate.y))
}
