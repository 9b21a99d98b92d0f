//! The functions that combine elements.

use std::panic::{AssertUnwindSafe, catch_unwind};

use half::{bf16, f16};
use tfrt_support::{DType, Error};
use tfrt_tensor::Element;

use super::UserReduction;
use super::user_reduction::UserElement;

/// Loops over pairs of elements, with a loop for each function: the choice between them is not part
/// of it.
macro_rules! for_each {
    ($self:ident, $pairs:expr, |$reduction:ident, $pair:pat_param| $body:block) => {
        macro_rules! each {
            ($which:expr) => {
                for $pair in $pairs {
                    let $reduction = $which;
                    $body
                }
            };
        }
        match $self {
            Self::Sum | Self::Mean => each!(Self::Sum),
            Self::Prod => each!(Self::Prod),
            Self::Max => each!(Self::Max),
            Self::Min => each!(Self::Min),
            Self::User(user) => {
                // Elements that are written in part are dropped with the error.
                let combined = catch_unwind(AssertUnwindSafe(|| each!($self)));
                if combined.is_err() {
                    return Err(Error::new(format!("reduction {} panicked", user.name())));
                }
            }
        }
    };
}

/// The function of an all-reduce.
///
/// ```
/// use tfrt_distributed::collective::Reduction;
///
/// assert_eq!(Reduction::from_name("mean").ok(), Some(Reduction::Mean));
/// assert_eq!(Reduction::from_name("median").unwrap_err().message(), "unexpected reduction_name in AllReduce");
/// assert_eq!(Reduction::Mean.finish(Reduction::Mean.combine(-4_i32, 1), 2), -1);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reduction {
    /// The sum. Integers wrap.
    Sum,
    /// The product. Integers wrap.
    Prod,
    /// The larger one; NaN loses against the member's own element.
    Max,
    /// The smaller one; as for the larger one.
    Min,
    /// The sum, divided by the number of members. Integers are rounded towards zero.
    Mean,
    /// A function of the program's.
    User(&'static UserReduction),
}

impl Reduction {
    const NAMES: [(&'static str, Self); 5] = [
        ("sum", Self::Sum),
        ("prod", Self::Prod),
        ("max", Self::Max),
        ("min", Self::Min),
        ("mean", Self::Mean),
    ];

    /// Returns the reduction of this name.
    ///
    /// # Errors
    /// `unexpected reduction_name in AllReduce`
    pub fn from_name(name: &str) -> Result<Self, Error> {
        let found = Self::NAMES.iter().find(|(known, _)| *known == name);
        found
            .map(|(_, reduction)| *reduction)
            .or_else(|| UserReduction::find(name).map(Self::User))
            .ok_or_else(|| Error::new("unexpected reduction_name in AllReduce"))
    }

    /// Returns the name.
    #[must_use]
    pub fn name(self) -> &'static str {
        if let Self::User(user) = self {
            return user.name();
        }
        let found = Self::NAMES.iter().find(|(_, known)| *known == self);
        found.map_or("", |(name, _)| name)
    }

    /// Checks that elements of a type can be reduced so.
    pub(super) fn check(self, dtype: DType) -> Result<(), Error> {
        match self {
            Self::User(user) if !user.supports(dtype) => Err(user.unsupported(dtype)),
            _ => Ok(()),
        }
    }

    /// Returns the number of the reduction in headers, and the fingerprint of its name.
    pub(super) fn to_numbers(self) -> (u8, u64) {
        match self {
            Self::Sum => (1, 0),
            Self::Prod => (2, 0),
            Self::Max => (3, 0),
            Self::Min => (4, 0),
            Self::Mean => (5, 0),
            Self::User(user) => (6, user.fingerprint()),
        }
    }

    /// Returns the reduction of a header.
    pub(super) fn from_numbers(number: u8, fingerprint: u64) -> Option<Self> {
        Some(match number {
            1 => Self::Sum,
            2 => Self::Prod,
            3 => Self::Max,
            4 => Self::Min,
            5 => Self::Mean,
            6 => Self::User(UserReduction::with_fingerprint(fingerprint)?),
            _ => return None,
        })
    }

    /// Combines the result so far with the element of a member.
    #[inline]
    #[must_use]
    pub fn combine<T: Reducible>(self, so_far: T, own: T) -> T {
        match self {
            Self::Sum | Self::Mean => so_far.sum(own),
            Self::Prod => so_far.product(own),
            Self::Max if so_far > own => so_far,
            Self::Min if so_far < own => so_far,
            Self::Max | Self::Min => own,
            Self::User(user) => user.combine(so_far, own),
        }
    }

    /// Combines the results so far with the elements of a member.
    ///
    /// # Errors
    /// If the function of a program panics.
    pub(super) fn combine_into<T: Reducible>(
        self,
        so_far: &mut [T],
        own: &[T],
    ) -> Result<(), Error> {
        for_each!(
            self,
            so_far.iter_mut().zip(own),
            |reduction, (so_far, own)| {
                *so_far = reduction.combine(*so_far, *own);
            }
        );
        Ok(())
    }

    /// Combines the results so far with the elements of a member, which the new results replace.
    ///
    /// # Errors
    /// If the function of a program panics.
    pub(super) fn combine_onto<T: Reducible>(
        self,
        so_far: &[T],
        own: &mut [T],
    ) -> Result<(), Error> {
        for_each!(self, so_far.iter().zip(own), |reduction, (so_far, own)| {
            *own = reduction.combine(*so_far, *own);
        });
        Ok(())
    }

    /// Computes the results from the combined elements of all members.
    pub(super) fn finish_all<T: Reducible>(self, combined: &mut [T], num_members: usize) {
        if self == Self::Mean {
            for combined in combined {
                *combined = self.finish(*combined, num_members);
            }
        }
    }

    /// Computes the result from the combined elements of all members.
    #[inline]
    #[must_use]
    pub fn finish<T: Reducible>(self, combined: T, num_members: usize) -> T {
        match self {
            Self::Mean => combined.divided_by(num_members),
            _ => combined,
        }
    }
}

/// An element that can be reduced.
pub trait Reducible: Element + PartialOrd + UserElement {
    /// Returns the sum.
    #[must_use]
    fn sum(self, other: Self) -> Self;

    /// Returns the product.
    #[must_use]
    fn product(self, other: Self) -> Self;

    /// Returns the quotient by a number of members.
    #[must_use]
    fn divided_by(self, num_members: usize) -> Self;
}

macro_rules! impl_integers {
    ($($integer:ty as $wide:ty),+) => {$(
        impl Reducible for $integer {
            #[inline]
            fn sum(self, other: Self) -> Self {
                self.wrapping_add(other)
            }

            #[inline]
            fn product(self, other: Self) -> Self {
                self.wrapping_mul(other)
            }

            #[inline]
            fn divided_by(self, num_members: usize) -> Self {
                // The quotient is not larger than the dividend.
                (self as $wide / num_members as $wide) as Self
            }
        }
    )+};
}

impl_integers!(i8 as i128, i16 as i128, i32 as i64, i64 as i128);
impl_integers!(u8 as u128, u16 as u128, u32 as u64, u64 as u128);

macro_rules! impl_floats {
    ($($float:ty, |$number:ident| $from:expr;)+) => {$(
        impl Reducible for $float {
            #[inline]
            fn sum(self, other: Self) -> Self {
                self + other
            }

            #[inline]
            fn product(self, other: Self) -> Self {
                self * other
            }

            #[inline]
            fn divided_by(self, num_members: usize) -> Self {
                let $number = num_members;
                self / $from
            }
        }
    )+};
}

impl_floats! {
    f32, |number| number as f32;
    f64, |number| number as f64;
    f16, |number| f16::from_f64(number as f64);
    bf16, |number| bf16::from_f64(number as f64);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_wrap_and_round_towards_zero() {
        assert_eq!(Reduction::Sum.combine(i32::MAX, 1), i32::MIN);
        assert_eq!(Reduction::Prod.combine(200_u8, 2), 144);
        assert_eq!(Reduction::Mean.finish(-3_i32, 3), -1);
        assert_eq!(Reduction::Mean.finish(-7_i64, 2), -3);
        assert_eq!(Reduction::Mean.finish(u64::MAX, 1), u64::MAX);
        assert_eq!(Reduction::Mean.finish(-100_i8, 200), 0);
    }

    #[test]
    fn what_is_not_a_number_loses_against_the_own_element() {
        assert_eq!(Reduction::Max.combine(f32::NAN, 1.0), 1.0);
        assert_eq!(Reduction::Min.combine(f32::NAN, 1.0), 1.0);
        assert!(Reduction::Max.combine(1.0, f32::NAN).is_nan());
    }
}
