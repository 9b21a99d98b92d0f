//! Pipelines from Rust: typed closures as functions of elements, and elements as Rust values.

use tfrt_async::{AnyRef, BorrowError, Value};
use tfrt_host::{ExecutionContext, FunctionRef};
use tfrt_support::{Error, ErrorCode};

use crate::dataset::Dataset;
use crate::element_types::ElementTypes;
use crate::function::ElementFunction;
use crate::iterator::DataIterator;
use crate::result::{IterationResult, Values};

/// The functions that [`Dataset::map`] and similar methods take: closures of one to twelve
/// components, and functions of programs. A closure without parameters can
/// [save a state](ElementFunction::with_state).
///
/// A closure takes each component by value, as a payload that can be cloned. It returns a payload,
/// a tuple of payloads, or a `Result` of either. `Marker` tells the compiler which of these it is;
/// it is always inferred.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a function of elements",
    label = "expected a closure of one to twelve payloads that returns payloads, or a `FunctionRef`",
    note = "annotate the parameters: `|number: i64| number + 1`",
    note = "parameters and results are types that implement `Value`; parameters are also `Clone`"
)]
pub trait IntoElementFunction<Marker> {
    /// Returns the function.
    fn into_element_function(self) -> ElementFunction;

    /// Returns the function with a declared state: see [`ElementFunction::with_state`].
    fn with_state<S, R>(
        self,
        save: impl IntoElementFunction<S>,
        restore: impl IntoElementFunction<R>,
    ) -> ElementFunction
    where
        Self: Sized,
    {
        self.into_element_function().with_state(save, restore)
    }
}

/// The marker of functions of programs.
#[derive(Debug)]
pub enum OfProgram {}

impl IntoElementFunction<OfProgram> for FunctionRef {
    fn into_element_function(self) -> ElementFunction {
        self.into()
    }
}

impl IntoElementFunction<OfProgram> for ElementFunction {
    fn into_element_function(self) -> ElementFunction {
        self
    }
}

/// What closures of elements return.
pub trait IntoValues<Marker> {
    /// How many components there are.
    const NUM_VALUES: usize;

    /// Returns the types of the components.
    #[must_use]
    fn element_types() -> ElementTypes {
        ElementTypes::of_unknown(Self::NUM_VALUES)
    }

    /// Returns the components.
    ///
    /// # Errors
    /// What the closure returned as one.
    fn into_values(self) -> Result<Values, Error>;
}

/// What the elements of a pipeline are taken as: a payload, a tuple of one to twelve payloads, or a
/// `Vec<AnyRef>` of any number of them.
#[diagnostic::on_unimplemented(
    message = "elements cannot be taken as `{Self}`",
    label = "expected a payload, a tuple of one to twelve payloads, or a `Vec<AnyRef>`",
    note = "payloads are of types that implement `Value + Clone`"
)]
pub trait FromValues<Marker>: Sized {
    /// Returns the payloads of available values.
    ///
    /// # Errors
    /// If there is another number of values, one is an error, or its payload is of another type.
    fn from_values(values: &[AnyRef]) -> Result<Self, Error>;

    /// Draws the next element as this, if it is at hand without a value; see
    /// [`Draw::draw_payload`](crate::Draw::draw_payload).
    ///
    /// # Errors
    /// The result of the draw, if it is not.
    #[doc(hidden)]
    #[inline]
    fn draw_from(
        iterator: &mut DataIterator,
        ctx: &ExecutionContext,
    ) -> Result<Self, IterationResult> {
        Err(iterator.draw(ctx))
    }
}

/// The marker of a single payload.
#[derive(Debug)]
pub enum One {}

/// The marker of a tuple.
#[derive(Debug)]
pub enum Many {}

/// The marker of no payload.
#[derive(Debug)]
pub enum NoPayload {}

/// The marker of a list of values.
#[derive(Debug)]
pub enum List {}

/// The marker of a `Result`.
#[derive(Debug)]
pub struct Fallible<Marker>(std::marker::PhantomData<Marker>);

impl<T: Value> IntoValues<One> for T {
    const NUM_VALUES: usize = 1;

    fn element_types() -> ElementTypes {
        ElementTypes::of::<T>()
    }

    fn into_values(self) -> Result<Values, Error> {
        let mut values = Values::new();
        values.push(AnyRef::available(self));
        Ok(values)
    }
}

impl IntoValues<NoPayload> for () {
    const NUM_VALUES: usize = 0;

    fn into_values(self) -> Result<Values, Error> {
        Ok(Values::new())
    }
}

impl<T: IntoValues<M>, E: Into<Error>, M> IntoValues<Fallible<M>> for Result<T, E> {
    const NUM_VALUES: usize = T::NUM_VALUES;

    fn element_types() -> ElementTypes {
        T::element_types()
    }

    fn into_values(self) -> Result<Values, Error> {
        self.map_err(Into::into)?.into_values()
    }
}

impl<T: Value + Clone> FromValues<One> for T {
    fn from_values(values: &[AnyRef]) -> Result<Self, Error> {
        let taken = match values {
            [value] => payload(value),
            _ => None,
        };
        taken.ok_or_else(|| wrong_types(values, [T::MLIR_TYPE]))
    }

    #[inline]
    fn draw_from(
        iterator: &mut DataIterator,
        ctx: &ExecutionContext,
    ) -> Result<Self, IterationResult> {
        iterator.draw_payload(ctx)
    }
}

impl FromValues<List> for Vec<AnyRef> {
    fn from_values(values: &[AnyRef]) -> Result<Self, Error> {
        Ok(values.to_vec())
    }
}

impl<F, R, M> IntoElementFunction<(fn() -> R, M)> for F
where
    F: Fn() -> R + Send + Sync + 'static,
    R: IntoValues<M>,
{
    fn into_element_function(self) -> ElementFunction {
        let name = std::any::type_name::<F>();
        let function = move |_: &ExecutionContext, _: &[AnyRef]| self().into_values();
        ElementFunction::from_named_closure(name, 0, R::NUM_VALUES, function)
            .with_types(ElementTypes::of_unknown(0), R::element_types())
    }
}

macro_rules! impl_tuples {
    ($($ty:ident $value:ident),+) => {
        impl<$($ty: Value),+> IntoValues<Many> for ($($ty,)+) {
            const NUM_VALUES: usize = [$(stringify!($ty)),+].len();

            fn element_types() -> ElementTypes {
                ElementTypes::new([$(Some($ty::MLIR_TYPE)),+])
            }

            fn into_values(self) -> Result<Values, Error> {
                let ($($value,)+) = self;
                let mut values = Values::new();
                $(values.push(AnyRef::available($value));)+
                Ok(values)
            }
        }

        impl<$($ty: Value + Clone),+> FromValues<Many> for ($($ty,)+) {
            fn from_values(values: &[AnyRef]) -> Result<Self, Error> {
                let wrong = || wrong_types(values, [$($ty::MLIR_TYPE),+]);
                let [$($value),+] = values else {
                    return Err(wrong());
                };
                Ok(($(payload($value).ok_or_else(wrong)?,)+))
            }
        }

        impl<F, R, M, $($ty),+> IntoElementFunction<(fn($($ty),+) -> R, M)> for F
        where
            F: Fn($($ty),+) -> R + Send + Sync + 'static,
            $($ty: Value + Clone,)+
            R: IntoValues<M>,
        {
            fn into_element_function(self) -> ElementFunction {
                let num_parameters = [$(stringify!($ty)),+].len();
                let name = std::any::type_name::<F>();
                let function = move |_: &ExecutionContext, values: &[AnyRef]| {
                    let ($($value,)+) = <($($ty,)+)>::from_values(values)?;
                    self($($value),+).into_values()
                };
                ElementFunction::from_named_closure(name, num_parameters, R::NUM_VALUES, function)
                    .with_types(ElementTypes::new([$(Some($ty::MLIR_TYPE)),+]), R::element_types())
            }
        }
    };
}

impl_tuples!(A a);
impl_tuples!(A a, B b);
impl_tuples!(A a, B b, C c);
impl_tuples!(A a, B b, C c, D d);
impl_tuples!(A a, B b, C c, D d, E e);
impl_tuples!(A a, B b, C c, D d, E e, G g);
impl_tuples!(A a, B b, C c, D d, E e, G g, H h);
impl_tuples!(A a, B b, C c, D d, E e, G g, H h, I i);
impl_tuples!(A a, B b, C c, D d, E e, G g, H h, I i, J j);
impl_tuples!(A a, B b, C c, D d, E e, G g, H h, I i, J j, K k);
impl_tuples!(A a, B b, C c, D d, E e, G g, H h, I i, J j, K k, L l);
impl_tuples!(A a, B b, C c, D d, E e, G g, H h, I i, J j, K k, L l, N n);

#[inline]
fn payload<T: Value + Clone>(value: &AnyRef) -> Option<T> {
    let payload = value.try_read::<T>().ok()?;
    Some(payload.clone())
}

/// Returns the error of an element without payloads of these types: that of a component, or one
/// that names the types of all components.
#[cold]
fn wrong_types<const N: usize>(values: &[AnyRef], expected: [&str; N]) -> Error {
    if let Some(error) = values.iter().find_map(AnyRef::error_if_present) {
        return error.clone();
    }
    let expected = ElementTypes::new(expected.map(Some));
    let found = ElementTypes::of_values(values);
    if expected == found {
        return BorrowError::Written.into();
    }
    let message = format!("expected elements of type {expected}, found {found}");
    Error::new(message).with_code(ErrorCode::InvalidArgument)
}

impl Dataset {
    /// Returns the results of a function of each element.
    ///
    /// ```
    /// use tfrt_data::Dataset;
    ///
    /// let squares = Dataset::range(0, 5, 1)?.map(|number: i64| number * number)?;
    /// assert_eq!(squares.name(), "map");
    /// # Ok::<(), tfrt_support::Error>(())
    /// ```
    ///
    /// # Errors
    /// If datasets are nested too deep.
    pub fn map<M>(&self, function: impl IntoElementFunction<M>) -> Result<Self, Error> {
        self.map_with(function.into_element_function(), &[])
    }

    /// Maps as [`map`](Self::map) does, with up to `num_parallel` concurrent calls, each a task of
    /// the work queue; -1 finds the fastest number by experiment. The order is kept; see
    /// [`parallel_map_with`](Self::parallel_map_with) to relax it.
    ///
    /// ```
    /// use tfrt_data::Dataset;
    /// use tfrt_host::{ExecutionContext, HostContext, RequestContextBuilder};
    /// use tfrt_support::Error;
    ///
    /// let ctx = ExecutionContext::new(RequestContextBuilder::new(HostContext::builder().build()).build());
    /// let squares = Dataset::range(0, 5, 1)?.parallel_map(|number: i64| number * number, 4)?;
    /// let squares: Vec<i64> = squares.elements(&ctx).collect::<Result<_, Error>>()?;
    /// assert_eq!(squares, [0, 1, 4, 9, 16]);
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// If the number is neither -1 nor between 1 and 2^20, or datasets are nested too deep.
    pub fn parallel_map<M>(
        &self,
        function: impl IntoElementFunction<M>,
        num_parallel: i64,
    ) -> Result<Self, Error> {
        self.parallel_map_with(function.into_element_function(), &[], num_parallel, true)
    }

    /// Returns the elements for which a function returns true.
    ///
    /// # Errors
    /// If datasets are nested too deep.
    pub fn filter<M>(&self, predicate: impl IntoElementFunction<M>) -> Result<Self, Error> {
        self.filter_with(predicate.into_element_function())
    }

    /// Returns the elements of the datasets that a function returns, in turns: see
    /// [`interleave_with`](Self::interleave_with).
    ///
    /// # Errors
    /// If a length is not positive, the cycle is longer than 2^20, or datasets are nested too deep.
    pub fn interleave<M>(
        &self,
        function: impl IntoElementFunction<M>,
        cycle_length: i64,
        block_length: i64,
    ) -> Result<Self, Error> {
        self.interleave_with(function.into_element_function(), cycle_length, block_length)
    }

    /// Returns the elements before the first one for which a function returns false.
    ///
    /// # Errors
    /// If datasets are nested too deep.
    pub fn take_while<M>(&self, predicate: impl IntoElementFunction<M>) -> Result<Self, Error> {
        self.take_while_with(predicate.into_element_function())
    }

    /// Returns the elements of the datasets that a function returns, one dataset after the other.
    ///
    /// # Errors
    /// If datasets are nested too deep.
    pub fn flat_map<M>(&self, function: impl IntoElementFunction<M>) -> Result<Self, Error> {
        self.interleave_with(function.into_element_function(), 1, 1)
    }

    /// Returns the results of a function of each element and a state. The function takes the state,
    /// then the components, and returns the next state, then the components of the result.
    ///
    /// ```
    /// use tfrt_data::Dataset;
    ///
    /// let sums = Dataset::range(1, 5, 1)?.scan(0_i64, |sum: i64, x: i64| (sum + x, sum + x))?;
    /// assert_eq!(sums.name(), "scan");
    /// # Ok::<(), tfrt_support::Error>(())
    /// ```
    ///
    /// # Errors
    /// If datasets are nested too deep.
    pub fn scan<M>(
        &self,
        state: impl Value,
        function: impl IntoElementFunction<M>,
    ) -> Result<Self, Error> {
        self.scan_with(
            &[AnyRef::available(state)],
            function.into_element_function(),
        )
    }

    /// Returns batches of `batch_size` consecutive elements: each component is a tensor with one
    /// row per element.
    ///
    /// ```
    /// use tfrt_async::ByteString;
    /// use tfrt_data::Dataset;
    /// use tfrt_host::{ExecutionContext, HostContext, RequestContextBuilder};
    /// use tfrt_support::Error;
    ///
    /// let ctx = ExecutionContext::new(RequestContextBuilder::new(HostContext::builder().build()).build());
    /// let words = Dataset::range(0, 3, 1)?.map(|x: i64| ByteString::from(x.to_string().as_bytes()))?;
    /// let batches = Dataset::zip(&[Dataset::range(0, 3, 1)?, words])?.batch(2)?;
    /// // A tensor of numbers and one of strings in each; here, their rows again.
    /// let rows = batches.unbatch()?.elements::<(i64, ByteString), _>(&ctx);
    /// let rows = rows.collect::<Result<Vec<_>, Error>>()?;
    /// assert_eq!(rows[2], (2, ByteString::from(&b"2"[..])));
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// If the size is not positive, or datasets are nested too deep.
    pub fn batch(&self, batch_size: i64) -> Result<Self, Error> {
        self.batch_with(batch_size, &[], false, false)
    }

    /// Returns batches of `batch_size` consecutive elements, each component padded with zeros to
    /// the largest element of the batch.
    ///
    /// ```
    /// use tfrt_data::Dataset;
    /// use tfrt_host::{ExecutionContext, HostContext, RequestContextBuilder};
    /// use tfrt_support::Error;
    /// use tfrt_tensor::DenseHostTensor;
    ///
    /// let ctx = ExecutionContext::new(RequestContextBuilder::new(HostContext::builder().build()).build());
    /// let ones = |len: i64| DenseHostTensor::vector(&vec![1_i64; len as usize]).map_err(Error::from);
    /// let batches = Dataset::range(1, 4, 1)?.map(ones)?.padded_batch(3)?;
    /// let batch = batches.elements::<DenseHostTensor, _>(&ctx).next().expect("there is one")?;
    /// assert_eq!(&*batch.elements::<i64>()?, [1, 0, 0, 1, 1, 0, 1, 1, 1]);
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// If the size is not positive, or datasets are nested too deep.
    pub fn padded_batch(&self, batch_size: i64) -> Result<Self, Error> {
        self.padded_batch_with(batch_size, &[], false)
    }

    /// Returns the same elements, of which the next `num_ahead` are drawn before they are
    /// requested; see [`prefetch_with`](Self::prefetch_with).
    ///
    /// # Errors
    /// If the number is less than -1 or larger than 2^20, or datasets are nested too deep.
    pub fn prefetch(&self, num_ahead: i64) -> Result<Self, Error> {
        self.prefetch_with(num_ahead, true)
    }
}
