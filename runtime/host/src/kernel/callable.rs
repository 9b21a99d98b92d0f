//! Functions with a known signature, which a kernel calls without type checks.
#![expect(unsafe_code, reason = "implements a trait with duties")]

use std::fmt;
use std::marker::PhantomData;

use tfrt_async::{AnyRef, AsyncValueRef, Value};
use tfrt_support::{Error, ErrorCode};

use crate::kernel::function;
use crate::kernel::function_ref::FunctionRef;
use crate::kernel::param::{Param, Sealed};
use crate::kernel::source::Source;
use crate::kernel::type_list::TypeList;
use crate::services::execution::ExecutionContext;

/// The types of arguments or of results of a function, as a tuple.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a list of value types",
    label = "not a tuple of up to 12 types that implement `Value`",
    note = "write `Function<(i32,), (i32,)>` or `Region<(i32,), (i32,)>`: the types of the \
            arguments in a tuple, then those of the results"
)]
pub trait ValueTypes: Sealed {
    /// The values, which may become available later.
    type Later;
    /// The MLIR spellings of the types.
    const SPELLINGS: &'static [&'static str];

    /// Converts payloads to references to available values.
    #[doc(hidden)]
    fn into_refs(self) -> Vec<AnyRef>;

    /// Converts values that may become available later to untyped references.
    #[doc(hidden)]
    fn later_into_refs(later: Self::Later) -> Vec<AnyRef>;

    /// Types the references. One of another type becomes an error.
    #[doc(hidden)]
    fn from_refs(refs: Vec<AnyRef>) -> Self::Later;
}

/// The types of results of a synchronous function, as a tuple. A result may be shared, so its
/// payload is cloned.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "the results `{Self}` of a synchronous function cannot be copied out of its registers",
    label = "not a tuple of types that are `Value + Clone`"
)]
pub trait ClonedTypes: ValueTypes + Sized {
    /// Clones the payloads of the references.
    ///
    /// # Errors
    /// If one has another type or is not available.
    fn cloned_from(refs: &[Option<AnyRef>]) -> Result<Self, Error>;
}

macro_rules! impl_value_types {
    ($($ty:ident $value:ident),+) => {
        impl<$($ty: Value),+> ValueTypes for ($($ty,)+) {
            type Later = ($(AsyncValueRef<$ty>,)+);
            const SPELLINGS: &'static [&'static str] = &[$($ty::MLIR_TYPE),+];

            fn into_refs(self) -> Vec<AnyRef> {
                let ($($value,)+) = self;
                vec![$(AnyRef::available($value)),+]
            }

            fn later_into_refs(later: Self::Later) -> Vec<AnyRef> {
                let ($($value,)+) = later;
                vec![$($value.into_any()),+]
            }

            fn from_refs(refs: Vec<AnyRef>) -> Self::Later {
                let mut refs = refs.into_iter();
                ($(refs.next().map_or_else(left_out::<$ty>, AsyncValueRef::expecting),)+)
            }
        }

        impl<$($ty: Value + Clone),+> ClonedTypes for ($($ty,)+) {
            fn cloned_from(refs: &[Option<AnyRef>]) -> Result<Self, Error> {
                let mut refs = refs.iter();
                Ok(($(cloned::<$ty>(refs.next())?,)+))
            }
        }
    };
}

impl ValueTypes for () {
    type Later = ();
    const SPELLINGS: &'static [&'static str] = &[];

    fn into_refs(self) -> Vec<AnyRef> {
        Vec::new()
    }

    fn later_into_refs((): ()) -> Vec<AnyRef> {
        Vec::new()
    }

    fn from_refs(_refs: Vec<AnyRef>) {}
}

impl ClonedTypes for () {
    fn cloned_from(_refs: &[Option<AnyRef>]) -> Result<(), Error> {
        Ok(())
    }
}

impl_value_types!(A a);
impl_value_types!(A a, B b);
impl_value_types!(A a, B b, C c);
impl_value_types!(A a, B b, C c, D d);
impl_value_types!(A a, B b, C c, D d, E e);
impl_value_types!(A a, B b, C c, D d, E e, F f);
impl_value_types!(A a, B b, C c, D d, E e, F f, G g);
impl_value_types!(A a, B b, C c, D d, E e, F f, G g, H h);
impl_value_types!(A a, B b, C c, D d, E e, F f, G g, H h, I i);
impl_value_types!(A a, B b, C c, D d, E e, F f, G g, H h, I i, J j);
impl_value_types!(A a, B b, C c, D d, E e, F f, G g, H h, I i, J j, K k);
impl_value_types!(A a, B b, C c, D d, E e, F f, G g, H h, I i, J j, K k, L l);

/// Returns the error value for a function that returned fewer results than its signature declares.
#[cold]
fn left_out<T: Value>() -> AsyncValueRef<T> {
    AsyncValueRef::error(missing::<T>())
}

/// Clones the payload of a result.
fn cloned<T: Value + Clone>(result: Option<&Option<AnyRef>>) -> Result<T, Error> {
    let result = result.and_then(Option::as_ref).ok_or_else(missing::<T>)?;
    let payload = result.try_read::<T>().map_err(|_| missing::<T>())?;
    Ok(payload.clone())
}

#[cold]
fn missing<T: Value>() -> Error {
    Error::new(format!("a function returned no `{}`", T::MLIR_TYPE)).with_code(ErrorCode::Internal)
}

/// A function from `A` to `R`, both tuples of value types. Keeps the file alive; clones share it.
///
/// As a parameter, it binds a function named by a symbol. The loader rejects programs that name one
/// with another signature.
///
/// ```
/// use tfrt_host::ExecutionContext;
/// use tfrt_host::kernel::Function;
/// use tfrt_async::AsyncValueRef;
///
/// fn twice(function: Function<(i32,), (i32,)>, number: i32, ctx: &ExecutionContext) -> AsyncValueRef<i32> {
///     let (once,) = function.call(ctx, (number,));
///     let (twice,) = function.call_later(ctx, (once,));
///     twice
/// }
/// ```
pub struct Function<A, R> {
    function: FunctionRef,
    signature: PhantomData<fn(A) -> R>,
}

impl<A: ValueTypes, R: ValueTypes> Function<A, R> {
    /// Starts the function and returns without waiting; the results may become available later.
    #[must_use]
    pub fn call(&self, ctx: &ExecutionContext, arguments: A) -> R::Later {
        R::from_refs(self.function.execute(ctx, &arguments.into_refs()))
    }

    /// Like [`call`](Self::call), with arguments that may become available later.
    #[must_use]
    pub fn call_later(&self, ctx: &ExecutionContext, arguments: A::Later) -> R::Later {
        let arguments = A::later_into_refs(arguments);
        R::from_refs(self.function.execute(ctx, &arguments))
    }

    /// Runs a synchronous function to completion.
    ///
    /// # Errors
    /// The error of the first failing kernel; or an error if the function is not synchronous.
    pub fn call_sync(&self, ctx: &ExecutionContext, arguments: A) -> Result<R, Error>
    where
        R: ClonedTypes,
    {
        let mut results = vec![None; R::SPELLINGS.len()];
        self.function
            .execute_sync(ctx, &arguments.into_refs(), &mut results)?;
        R::cloned_from(&results)
    }

    /// Returns the function without its signature.
    #[must_use]
    pub fn untyped(&self) -> &FunctionRef {
        &self.function
    }

    const fn of(function: FunctionRef) -> Self {
        Self {
            function,
            signature: PhantomData,
        }
    }
}

impl FunctionRef {
    /// Adds the signature, for Rust callers: the compiler then checks arguments and results.
    ///
    /// ```
    /// use tfrt_host::{ExecutionContext, FunctionRef};
    /// use tfrt_support::Error;
    ///
    /// async fn double(function: FunctionRef, ctx: &ExecutionContext) -> Result<Option<i32>, Error> {
    ///     let (result,) = function.typed::<(i32,), (i32,)>()?.call(ctx, (21,));
    ///     Ok(result.await?.get().copied())
    /// }
    /// ```
    ///
    /// # Errors
    /// If the function has another signature; the message names both.
    pub fn typed<A: ValueTypes, R: ValueTypes>(self) -> Result<Function<A, R>, Error> {
        let found = (self.argument_types(), self.result_types());
        if found.0 == A::SPELLINGS && found.1 == R::SPELLINGS {
            return Ok(Function::of(self));
        }
        let list = |types: &[&str]| format!("({})", types.join(", "));
        Err(Error::new(format!(
            "function `{}`: expected the type `{} -> {}`, found `{} -> {}`",
            self.name(),
            list(A::SPELLINGS),
            list(R::SPELLINGS),
            list(&found.0),
            list(&found.1)
        ))
        .with_code(ErrorCode::InvalidArgument))
    }
}

impl<A, R> Clone for Function<A, R> {
    fn clone(&self) -> Self {
        Self {
            function: self.function.clone(),
            signature: PhantomData,
        }
    }
}

impl<A, R> fmt::Debug for Function<A, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.function.fmt(f)
    }
}

/// A region from `A` to `R`: a [`Function`] inside the op itself.
///
/// ```
/// use tfrt_async::AsyncValueRef;
/// use tfrt_host::ExecutionContext;
/// use tfrt_host::kernel::Region;
///
/// fn apply(body: Region<(i32,), (i32,)>, number: i32, ctx: &ExecutionContext) -> AsyncValueRef<i32> {
///     body.call(ctx, (number,)).0
/// }
/// ```
pub struct Region<A, R>(Function<A, R>);

impl<A, R> std::ops::Deref for Region<A, R> {
    type Target = Function<A, R>;

    fn deref(&self) -> &Function<A, R> {
        &self.0
    }
}

impl<A, R> Clone for Region<A, R> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<A, R> fmt::Debug for Region<A, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A parameter type that is a function with a known signature.
#[doc(hidden)]
pub trait Callable: Clone + Send + Sealed + 'static {
    /// The types of its arguments.
    type Arguments: ValueTypes;
    /// The types of its results.
    type Results: ValueTypes;

    /// Converts an untyped function.
    fn from_function(function: FunctionRef) -> Self;
}

impl<A, R> Sealed for Function<A, R> {}

impl<A: ValueTypes + 'static, R: ValueTypes + 'static> Callable for Function<A, R> {
    type Arguments = A;
    type Results = R;

    fn from_function(function: FunctionRef) -> Self {
        Self::of(function)
    }
}

impl<A, R> Sealed for Region<A, R> {}

impl<A: ValueTypes + 'static, R: ValueTypes + 'static> Callable for Region<A, R> {
    type Arguments = A;
    type Results = R;

    fn from_function(function: FunctionRef) -> Self {
        Self(Function::of(function))
    }
}

/// The marker of a parameter of type `C`: the function at `INDEX`, from the end if `FROM_END`;
/// borrowed if `IS_LENT`.
#[derive(Debug)]
pub struct TypedFunction<C, const INDEX: usize, const FROM_END: bool, const IS_LENT: bool>(
    PhantomData<C>,
);

impl<C, const INDEX: usize, const FROM_END: bool, const IS_LENT: bool> Sealed
    for TypedFunction<C, INDEX, FROM_END, IS_LENT>
{
}

macro_rules! impl_typed_function {
    ($is_lent:literal, $argument:ty, |$held:ident| $lend:expr) => {
        impl<C: Callable, const INDEX: usize, const FROM_END: bool> Param
            for TypedFunction<C, INDEX, FROM_END, $is_lent>
        {
            type Held<'f> = C;
            type Argument<'h, 'f> = $argument;
            const IS_DIRECT: bool = true;
            const READS_CALL: bool = true;

            unsafe fn hold<'f, S: Source<'f>>(source: S) -> Result<Self::Held<'f>, Error> {
                function::take(source, INDEX, FROM_END).map(C::from_function)
            }

            fn lend<'h, 'f>($held: &'h mut Self::Held<'f>) -> Self::Argument<'h, 'f> {
                $lend
            }

            fn check<'a, S: Source<'a>>(_source: S) -> Result<(), Error> {
                Ok(())
            }

            fn describe(_operands: &mut TypeList) {}
        }
    };
}

impl_typed_function!(false, C, |held| held.clone());
impl_typed_function!(true, &'h C, |held| held);
