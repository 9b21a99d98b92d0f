//! Operands of several types, taken as the trait that they share.

use std::ops::Deref;

use tfrt::async_value::{BorrowError, ReadGuard};
use tfrt::kernel::Object;
use tfrt::prelude::*;
use tfrt::testing;

trait Shape: Send + Sync {
    fn area(&self) -> i64;
}

#[derive(Clone, Value)]
#[value("!objects.shape")]
struct Square(i64);

/// Kernels may write into it, so that reading it is a borrow.
#[derive(Clone, Value)]
#[value("!objects.shape", mutable)]
struct Rectangle(i64, i64);

impl Shape for Square {
    fn area(&self) -> i64 {
        self.0 * self.0
    }
}

impl Shape for Rectangle {
    fn area(&self) -> i64 {
        self.0 * self.1
    }
}

enum AnyShape<'a> {
    Square(ReadGuard<'a, Square>),
    Rectangle(ReadGuard<'a, Rectangle>),
}

impl Deref for AnyShape<'_> {
    type Target = dyn Shape;

    fn deref(&self) -> &Self::Target {
        match self {
            Self::Square(shape) => &**shape,
            Self::Rectangle(shape) => &**shape,
        }
    }
}

impl Object for dyn Shape {
    const MLIR_TYPE: &'static str = "!objects.shape";
    type Guard<'a> = AnyShape<'a>;

    fn read(operand: &AnyRef) -> Result<AnyShape<'_>, BorrowError> {
        if operand.is::<Square>() {
            operand.try_read().map(AnyShape::Square)
        } else {
            operand.try_read().map(AnyShape::Rectangle)
        }
    }
}

#[tfrt_kernel("objects.area", sync = "objects_sync.area", results(area), kernel_set = Area)]
fn area(shape: &dyn Shape) -> i64 {
    shape.area()
}

#[tfrt_kernel("objects.square", sync = "objects_sync.square", results(shape))]
fn square(side: i64) -> Square {
    Square(side)
}

#[tfrt_kernel("objects.sum", blocking, results(area))]
fn sum(first: &dyn Shape, second: &(dyn Shape + 'static), and: i64) -> i64 {
    first.area() + second.area() + and
}

#[tfrt_kernel("objects.later", results(area))]
async fn later(shape: &dyn Shape) -> i64 {
    shape.area()
}

#[tfrt_kernel("objects.both", results(done))]
fn both(shape: &dyn Shape, written: &mut Rectangle) -> i64 {
    written.0 = shape.area();
    written.0
}

#[test]
fn every_type_is_taken() {
    let area = || testing::kernel("objects.area");
    area().operands((Square(3),)).run().expect_value(9_i64);
    area()
        .operands((Rectangle(2, 3),))
        .run()
        .expect_value(6_i64);
    let sum = testing::kernel("objects.sum").operands((Square(3), Rectangle(2, 3), 1_i64));
    sum.run().expect_value(16_i64);
    let later = testing::kernel("objects.later").operands((testing::later(Rectangle(2, 3)),));
    later.run().expect_value(6_i64);
}

#[test]
fn the_declaration_has_the_spelling_that_the_types_share() {
    let op = <Area as tfrt::kernel::KernelSet>::KERNELS[0].op();
    assert_eq!(
        op.operands[0].ty,
        tfrt::ods::TypeConstraint::Exact("!objects.shape")
    );
    assert!(!op.operands[0].is_reference);
}

#[test]
fn other_types_are_refused() {
    testing::kernel("objects.area")
        .operands((3,))
        .expect_refused("operand #0 must be !objects.shape type, but got 'i32'");
    let program = testing::program(
        r#"
        func @area(%shape: !objects.shape) -> i64 {
          %area = "objects.area"(%shape) : (!objects.shape) -> i64
          tfrt.return %area : i64
        }
        "#,
    );
    program
        .call("area", (3_i64,))
        .expect_error("expected `!objects.shape`, found `i64`");
}

#[test]
fn a_payload_that_is_written_is_in_use() {
    let rectangle = AnyRef::available(Rectangle(2, 3));
    let outcome = testing::kernel("objects.both")
        .operands((rectangle.clone(), rectangle))
        .run();
    outcome.expect_error("the value is being read by another kernel");
}

#[test]
fn the_interpreter_takes_objects() {
    let program = testing::program(
        r#"
        func @areas(%shape: !objects.shape, %side: i64) -> (i64, i64) attributes {tfrt.sync} {
          %square = "objects_sync.square"(%side) : (i64) -> !objects.shape
          %area = "objects_sync.area"(%square) : (!objects.shape) -> i64
          %given = "objects_sync.area"(%shape) : (!objects.shape) -> i64
          tfrt.return %area, %given : i64, i64
        }
        "#,
    );
    let outcome = program.call("areas", (Rectangle(2, 3), 4_i64));
    outcome.expect_values((16_i64, 6_i64));
}
