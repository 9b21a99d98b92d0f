use tfrt::prelude::*;

/// A number that is written in the program.
#[tfrt_kernel("tfrt.constant.{T}", T = [i32, i64, f32])]
fn constant<T: Value + Copy>(#[attr] value: T) -> T {
    value
}

/// The sum.
#[tfrt_kernel("tfrt.add.{T}", T = [i32, i64, f32])]
fn add<T: Value + Copy + Number>(a: T, b: T) -> T {
    a.plus(b)
}

/// The difference.
#[tfrt_kernel("tfrt.minus.{T}", T = [i32, i64, f32])]
fn minus<T: Value + Copy + Number>(a: T, b: T) -> T {
    a.minus(b)
}

/// The product.
#[tfrt_kernel("tfrt.mul.{T}", T = [i32, i64, f32])]
fn mul<T: Value + Copy + Number>(a: T, b: T) -> T {
    a.times(b)
}

/// Whether the numbers are equal.
#[tfrt_kernel("tfrt.equal.{T}", T = [i32, i64])]
fn equal<T: Value + Copy + PartialEq>(a: T, b: T) -> bool {
    a == b
}

/// Whether the first number is not above the second.
#[tfrt_kernel("tfrt.lessequal.{T}", T = [i32, i64])]
fn less_equal<T: Value + Copy + PartialOrd>(a: T, b: T) -> bool {
    a <= b
}

/// Prints a number.
#[tfrt_kernel("tfrt.print.{T}", T = [i32, i64], side_effecting)]
fn print<T: Value + Copy + std::fmt::Display>(number: T) {
    println!("{number}");
}

/// The quotient and the remainder.
#[tfrt_kernel("tfrt.div.{T}", T = [i32, i64])]
fn div<T: Value + Copy + Number>(a: T, b: T) -> Result<(T, T)> {
    a.divided_by(b).ok_or_else(|| Error::new("Divide by zero"))
}

trait Number: Sized {
    fn plus(self, other: Self) -> Self;
    fn minus(self, other: Self) -> Self;
    fn times(self, other: Self) -> Self;
    fn divided_by(self, other: Self) -> Option<(Self, Self)>;
}

macro_rules! impl_number {
    ($($ty:ty),*) => {
        $(impl Number for $ty {
            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }

            fn minus(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }

            fn times(self, other: Self) -> Self {
                self.wrapping_mul(other)
            }

            fn divided_by(self, other: Self) -> Option<(Self, Self)> {
                Some((self.checked_div(other)?, self.checked_rem(other)?))
            }
        })*
    };
}

impl_number!(i32, i64);

impl Number for f32 {
    fn plus(self, other: Self) -> Self {
        self + other
    }

    fn minus(self, other: Self) -> Self {
        self - other
    }

    fn times(self, other: Self) -> Self {
        self * other
    }

    fn divided_by(self, other: Self) -> Option<(Self, Self)> {
        Some((self / other, self % other))
    }
}
