use tfrt::prelude::*;

/// A point in the plane.
#[derive(Value)]
#[value("!my.coordinate")]
struct Coordinate {
    x: i32,
    y: i32,
}

/// Returns the point of these two coordinates.
#[tfrt_kernel("my.create_coordinate")]
fn create_coordinate(x: i32, y: i32) -> Coordinate {
    Coordinate { x, y }
}

/// Prints a point.
#[tfrt_kernel("my.print_coordinate", side_effecting)]
fn print_coordinate(coordinate: &Coordinate) {
    println!("({}, {})", coordinate.x, coordinate.y);
}
