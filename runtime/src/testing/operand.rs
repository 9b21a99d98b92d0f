//! Operands of kernels and arguments of functions in tests.
//!
//! Each run creates its own operands, so runs under several queues do not share values that kernels
//! write.

use std::fmt;

use tfrt_async::{AnyRef, AsyncValueRef, ByteString, Value};
use tfrt_host::ExecutionContext;
use tfrt_support::Error;

/// One operand, which every run creates anew.
pub struct Operand {
    ty: Option<&'static str>,
    make: Box<dyn Fn(&ExecutionContext) -> AnyRef>,
}

impl Operand {
    fn new(ty: Option<&'static str>, make: impl Fn(&ExecutionContext) -> AnyRef + 'static) -> Self {
        Self {
            ty,
            make: Box::new(make),
        }
    }

    /// Returns the MLIR spelling of its type, or `None` if it has no type.
    pub(super) fn ty(&self) -> Option<&'static str> {
        self.ty
    }

    pub(super) fn make(&self, ctx: &ExecutionContext) -> AnyRef {
        (self.make)(ctx)
    }
}

impl fmt::Debug for Operand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Operand")
            .field("ty", &self.ty)
            .finish_non_exhaustive()
    }
}

/// Returns an operand that is unavailable when the run starts, and becomes available in a task of
/// the queue.
#[must_use]
pub fn later<T: Value + Clone>(value: T) -> Operand {
    Operand::new(Some(T::MLIR_TYPE), move |ctx| {
        let (promise, later) = AsyncValueRef::unconstructed();
        let value = value.clone();
        ctx.enqueue(move || promise.emplace(value));
        later.into_any()
    })
}

/// Returns an operand that is an error.
#[must_use]
pub fn error(error: impl Into<ErrorText>) -> Operand {
    let ErrorText(error) = error.into();
    Operand::new(None, move |_| AnyRef::error(error.clone()))
}

/// Returns an operand that `make` creates for every run, for types that cannot be cloned.
#[must_use]
pub fn value_from<T: Value>(make: impl Fn() -> T + 'static) -> Operand {
    Operand::new(Some(T::MLIR_TYPE), move |_| AnyRef::available(make()))
}

/// The argument of [`error`]: an error, or the message of one.
#[derive(Clone, Debug)]
pub struct ErrorText(Error);

impl From<&str> for ErrorText {
    fn from(message: &str) -> Self {
        Self(Error::new(message))
    }
}

impl From<Error> for ErrorText {
    fn from(error: Error) -> Self {
        Self(error)
    }
}

/// A type of operands. The compiler infers `How`, which distinguishes the conversions.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an operand of a test",
    label = "not an operand",
    note = "pass a value of type `Value + Clone`, a string or an `AnyRef`; for other types, pass \
            a function that creates the value: `testing::value_from(|| …)`"
)]
pub trait IntoOperand<How> {
    /// Converts this to an operand.
    fn into_operand(self) -> Operand;
}

/// The conversion of a value, which is cloned for every run.
#[derive(Debug)]
pub struct ByValue;

/// The conversion of an [`AnyRef`], which every run passes as it is.
#[derive(Debug)]
pub struct ByReference;

/// The conversion of a text to a [`ByteString`].
#[derive(Debug)]
pub struct ByText;

/// The conversion of an [`Operand`], which is used as it is.
#[derive(Debug)]
pub struct Ready;

impl<T: Value + Clone> IntoOperand<ByValue> for T {
    fn into_operand(self) -> Operand {
        Operand::new(Some(T::MLIR_TYPE), move |_| AnyRef::available(self.clone()))
    }
}

impl IntoOperand<ByReference> for AnyRef {
    fn into_operand(self) -> Operand {
        Operand::new(self.mlir_type(), move |_| self.clone())
    }
}

impl IntoOperand<ByText> for &str {
    fn into_operand(self) -> Operand {
        ByteString::from(self).into_operand()
    }
}

impl IntoOperand<ByText> for String {
    fn into_operand(self) -> Operand {
        ByteString::from(self).into_operand()
    }
}

impl IntoOperand<Ready> for Operand {
    fn into_operand(self) -> Operand {
        self
    }
}

/// A type of all operands: a tuple, or a `Vec` of one type.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the operands of a test",
    label = "not a list of operands",
    note = "pass a tuple, such as `(1, \"two\")`, or `(1,)` for a single operand; or a `Vec` of \
            operands of the same type"
)]
pub trait IntoOperands<How> {
    /// Converts this to a list of operands, in order.
    fn into_operands(self) -> Vec<Operand>;
}

impl<T: IntoOperand<How>, How> IntoOperands<(How,)> for Vec<T> {
    fn into_operands(self) -> Vec<Operand> {
        self.into_iter().map(T::into_operand).collect()
    }
}

macro_rules! impl_for_tuples {
    ($(($($operand:ident $how:ident),*))*) => {$(
        impl<$($operand: IntoOperand<$how>, $how),*> IntoOperands<($($how,)*)> for ($($operand,)*) {
            fn into_operands(self) -> Vec<Operand> {
                #[expect(non_snake_case, reason = "the parts are named after their types")]
                let ($($operand,)*) = self;
                vec![$($operand.into_operand()),*]
            }
        }
    )*};
}

impl_for_tuples! {
    (A HowA)
    (A HowA, B HowB)
    (A HowA, B HowB, C HowC)
    (A HowA, B HowB, C HowC, D HowD)
    (A HowA, B HowB, C HowC, D HowD, E HowE)
    (A HowA, B HowB, C HowC, D HowD, E HowE, F HowF)
    (A HowA, B HowB, C HowC, D HowD, E HowE, F HowF, G HowG)
    (A HowA, B HowB, C HowC, D HowD, E HowE, F HowF, G HowG, H HowH)
}

impl IntoOperands<()> for () {
    fn into_operands(self) -> Vec<Operand> {
        Vec::new()
    }
}
