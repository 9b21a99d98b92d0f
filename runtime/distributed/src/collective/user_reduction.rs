//! Reductions of users.

use std::fmt;

use half::{bf16, f16};
use tfrt_support::fnv::Fnv1a;
use tfrt_support::{DType, Error, ErrorCode};

use super::Reducible;

/// A reduction that a program defines: a name, and functions of two elements for the types that it
/// supports. Registered when a program is linked; the first one of a name counts.
///
/// All members must link the same functions. Elements are combined in the order of an all-reduce,
/// so a function need not be associative or commutative.
///
/// ```
/// use tfrt_distributed::collective::{Reduction, UserReduction};
///
/// fn largest(so_far: f32, own: f32) -> f32 {
///     if own.abs() > so_far.abs() { own } else { so_far }
/// }
///
/// inventory::submit! {
///     UserReduction::new("largest_magnitude").with_f32(largest)
/// }
///
/// let reduction = Reduction::from_name("largest_magnitude").unwrap();
/// assert_eq!(reduction.combine(-3.0_f32, 2.0), -3.0);
/// ```
#[derive(Clone, Copy)]
pub struct UserReduction {
    name: &'static str,
    functions: Functions,
}

/// A function of two elements.
type Combine<T> = fn(T, T) -> T;

macro_rules! functions {
    ($($field:ident, $with:ident: $ty:ty, $dtype:ident;)+) => {
        #[derive(Clone, Copy)]
        struct Functions {
            $($field: Option<Combine<$ty>>,)+
        }

        impl UserReduction {
            /// Creates a reduction without functions.
            #[must_use]
            pub const fn new(name: &'static str) -> Self {
                Self {
                    name,
                    functions: Functions { $($field: None,)+ },
                }
            }

            $(
                #[doc = concat!("Sets the function of the result so far and of a member's element, for `", stringify!($ty), "`.")]
                #[must_use]
                pub const fn $with(mut self, function: fn($ty, $ty) -> $ty) -> Self {
                    self.functions.$field = Some(function);
                    self
                }
            )+

            /// Returns `true` if there is a function for elements of a type.
            #[must_use]
            pub fn supports(&self, dtype: DType) -> bool {
                match dtype {
                    $(DType::$dtype => self.functions.$field.is_some(),)+
                    _ => false,
                }
            }
        }

        $(impl UserElement for $ty {
            fn function_of(user: &UserReduction) -> Option<Combine<Self>> {
                user.functions.$field
            }
        })+
    };
}

functions! {
    of_i8, with_i8: i8, I8;
    of_i16, with_i16: i16, I16;
    of_i32, with_i32: i32, I32;
    of_i64, with_i64: i64, I64;
    of_u8, with_u8: u8, Ui8;
    of_u16, with_u16: u16, Ui16;
    of_u32, with_u32: u32, Ui32;
    of_u64, with_u64: u64, Ui64;
    of_f16, with_f16: f16, F16;
    of_bf16, with_bf16: bf16, Bf16;
    of_f32, with_f32: f32, F32;
    of_f64, with_f64: f64, F64;
}

/// An element for which reductions of users may have a function.
pub trait UserElement: Copy {
    /// Returns the function for this type.
    fn function_of(user: &UserReduction) -> Option<fn(Self, Self) -> Self>;
}

inventory::collect!(UserReduction);

impl UserReduction {
    /// Returns the reduction of this name.
    #[must_use]
    pub fn find(name: &str) -> Option<&'static Self> {
        let mut known = inventory::iter::<Self>.into_iter();
        known.find(|known| known.name == name)
    }

    /// Returns its name.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Returns the reduction with this fingerprint.
    pub(super) fn with_fingerprint(fingerprint: u64) -> Option<&'static Self> {
        let mut known = inventory::iter::<Self>.into_iter();
        known.find(|known| known.fingerprint() == fingerprint)
    }

    /// Returns what stands for its name in headers.
    pub(super) fn fingerprint(&self) -> u64 {
        Fnv1a::of(self.name.as_bytes())
    }

    /// Combines two elements. Without a function for the type, the own element is the result:
    /// operations check for one before they start.
    pub(super) fn combine<T: Reducible>(&self, so_far: T, own: T) -> T {
        T::function_of(self).map_or(own, |function| function(so_far, own))
    }

    /// Returns the error of a type without a function.
    #[cold]
    pub(super) fn unsupported(&self, dtype: DType) -> Error {
        let name = self.name;
        let message = format!("reduction {name} has no function for elements of type {dtype}");
        Error::new(message).with_code(ErrorCode::InvalidArgument)
    }
}

impl PartialEq for UserReduction {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for UserReduction {}

impl fmt::Debug for UserReduction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UserReduction")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}
