//! Metadata functions of ops: what they are asked with, and what they may say.
//!
//! ```text
//!  a kernel with `#[out]`   operands and attributes as it is given them ─┐
//!  its declaration          MetadataQuery ──────────────────────────────┼─► the author's function ─► results
//!  any other op             OpQuery, attributes bound by name ───────────┘
//! ```

use smallvec::SmallVec;
use tfrt_async::{AnyRef, Value};
use tfrt_host::kernel::{AttrParam, Operands};
use tfrt_ods::OpDef;
use tfrt_ods::{MetadataQuery, NoMetadata};
use tfrt_support::IntoError;
use tfrt_support::TensorMetadata;
use tfrt_support::{Error, ErrorCode};
use tfrt_tensor::Tensor;

use crate::attrs::{BoundAttrs, OpAttrs};
use crate::handle::read_metadata;
use crate::metadata::partial::PartialMetadata;
use crate::op::{OpQuery, PartialQuery, ResultMetadata};

/// Metadata of operands of which there may be any number.
pub type RestMetadata = SmallVec<[TensorMetadata; 4]>;

/// Does not compile unless `T` is a tensor.
pub const fn assert_tensor<T: Tensor + ?Sized>() {}

/// Returns the metadata of an operand.
#[inline]
pub fn metadata_of<T: Tensor + ?Sized>(tensor: &T) -> TensorMetadata {
    tensor.metadata()
}

/// Returns the metadata of an operand that is taken as a reference.
///
/// # Errors
/// If it is not a tensor, or not available.
pub fn metadata_of_value(operand: &AnyRef) -> Result<TensorMetadata, Error> {
    read_metadata(operand)
}

/// Returns the metadata of all operands that remain.
#[must_use]
pub fn metadata_of_all<T: Tensor + Value>(operands: Operands<'_, T>) -> RestMetadata {
    operands.iter().map(metadata_of).collect()
}

/// Returns the metadata of all operands that remain, which are taken as references.
///
/// # Errors
/// If one is not a tensor, or not available.
pub fn metadata_of_values(operands: &[AnyRef]) -> Result<RestMetadata, Error> {
    operands.iter().map(read_metadata).collect()
}

/// Returns the metadata of an optional operand in a query.
///
/// # Errors
/// If it is there, and nothing is known of it.
pub fn operand_if_given<'a>(
    query: &MetadataQuery<'a>,
    index: usize,
) -> Result<Option<&'a TensorMetadata>, NoMetadata> {
    match query.operands.get(index) {
        None => Ok(None),
        Some(Some(metadata)) => Ok(Some(metadata)),
        Some(None) => Err(NoMetadata::Unknown),
    }
}

/// Returns the metadata of all operands of a query from `start` on.
///
/// # Errors
/// If nothing is known of one of them.
pub fn told_of_rest(query: &MetadataQuery<'_>, start: usize) -> Result<RestMetadata, NoMetadata> {
    let rest = query.operands.get(start..).unwrap_or_default();
    let known = rest.iter().cloned();
    known
        .map(|operand| operand.ok_or(NoMetadata::Unknown))
        .collect()
}

/// The input of a metadata function: complete or partial metadata.
pub trait Query<'a> {
    /// The metadata of one operand.
    type Operand: 'a;

    /// Returns all operands.
    fn operands(&self) -> &'a [Self::Operand];

    /// Returns the attributes.
    fn attrs(&self) -> &'a OpAttrs;
}

impl<'a> Query<'a> for OpQuery<'a> {
    type Operand = TensorMetadata;

    fn operands(&self) -> &'a [TensorMetadata] {
        self.operands
    }

    fn attrs(&self) -> &'a OpAttrs {
        self.attrs
    }
}

impl<'a> Query<'a> for PartialQuery<'a> {
    type Operand = PartialMetadata;

    fn operands(&self) -> &'a [PartialMetadata] {
        self.operands
    }

    fn attrs(&self) -> &'a OpAttrs {
        self.attrs
    }
}

/// Returns all operands from `start` on.
#[must_use]
pub fn operands_from<'a, Q: Query<'a>>(query: &Q, start: usize) -> &'a [Q::Operand] {
    query.operands().get(start..).unwrap_or_default()
}

/// The attributes of an op, bound as its declaration says.
#[derive(Debug)]
pub struct BoundAttributes<'a>(BoundAttrs<'a>);

/// Returns the attributes that a query has for what `op` declares, defaults included.
///
/// # Errors
/// If one is missing, or of another kind.
pub fn attributes_of<'a>(
    op: &'static OpDef,
    query: &impl Query<'a>,
) -> Result<BoundAttributes<'a>, Error> {
    Ok(BoundAttributes(query.attrs().bind(op)?))
}

impl BoundAttributes<'_> {
    /// Returns the attribute at `index` of the declaration.
    ///
    /// # Errors
    /// If its bytes do not hold an `A`.
    pub fn read<A: AttrParam + ?Sized>(&self, index: usize) -> Result<A::Value<'_>, Error> {
        match self.0.offsets().get(index) {
            Some(&offset) => A::read(self.0.section(), offset),
            None => Err(Error::new(format!("unknown attribute {index}"))
                .with_code(ErrorCode::InvalidArgument)),
        }
    }
}

/// An op with `N` results.
#[derive(Debug)]
pub struct Results<const N: usize>;

/// An op whose number of results is not fixed, or not known.
#[derive(Debug)]
pub struct AnyResults;

/// What a metadata function of an op with these results may return.
#[diagnostic::on_unimplemented(
    message = "a metadata function cannot return `{Self}` for this op",
    label = "does not match the results of the op",
    note = "return a `TensorMetadata` for one result, or a tuple with one for each result; an \
            `Option` for metadata that may be unknown; a `Vec` for any number of results; or a \
            `Result` of these"
)]
pub trait OpMetadataAnswer<Op> {
    /// Returns the metadata of each result.
    ///
    /// # Errors
    /// The error of the function.
    fn into_results(self) -> Result<ResultMetadata, Error>;
}

/// Returns the result of a metadata function.
///
/// # Errors
/// The error of the function.
pub fn result_metadata<Op>(answer: impl OpMetadataAnswer<Op>) -> Result<ResultMetadata, Error> {
    answer.into_results()
}

/// The metadata of one result, if it is known.
pub trait OneResult {
    /// Returns the metadata, if it is known.
    fn known(self) -> Option<TensorMetadata>;
}

impl OneResult for TensorMetadata {
    fn known(self) -> Option<TensorMetadata> {
        Some(self)
    }
}

impl OneResult for Option<TensorMetadata> {
    fn known(self) -> Option<TensorMetadata> {
        self
    }
}

#[diagnostic::do_not_recommend]
impl<Op, T: OpMetadataAnswer<Op>, E: IntoError> OpMetadataAnswer<Op> for Result<T, E> {
    fn into_results(self) -> Result<ResultMetadata, Error> {
        self.map_err(IntoError::into_error)?.into_results()
    }
}

#[diagnostic::do_not_recommend]
impl<Op, T: OneResult> OpMetadataAnswer<Op> for Vec<T> {
    fn into_results(self) -> Result<ResultMetadata, Error> {
        Ok(self.into_iter().map(OneResult::known).collect())
    }
}

#[diagnostic::do_not_recommend]
impl<Op> OpMetadataAnswer<Op> for ResultMetadata {
    fn into_results(self) -> Result<ResultMetadata, Error> {
        Ok(self)
    }
}

/// The result of a function that estimates the time of an op.
#[diagnostic::on_unimplemented(
    message = "a function that estimates the time of an op cannot return `{Self}`",
    label = "not a number of microseconds",
    note = "return an `f64`, or a `Result` of one"
)]
pub trait CostAnswer {
    /// Returns the time in microseconds.
    ///
    /// # Errors
    /// The error of the function.
    fn into_microseconds(self) -> Result<f64, Error>;
}

impl CostAnswer for f64 {
    fn into_microseconds(self) -> Result<f64, Error> {
        Ok(self)
    }
}

#[diagnostic::do_not_recommend]
impl<T: CostAnswer, E: IntoError> CostAnswer for Result<T, E> {
    fn into_microseconds(self) -> Result<f64, Error> {
        self.map_err(IntoError::into_error)?.into_microseconds()
    }
}

/// Returns the result of a function that estimates the time of an op.
///
/// # Errors
/// The error of the function.
pub fn cost<Op>(answer: impl CostAnswer) -> Result<f64, Error> {
    answer.into_microseconds()
}

/// A result of a metadata function, for an op with these results, if metadata is partial.
#[diagnostic::on_unimplemented(
    message = "a function for partly known metadata cannot return `{Self}` for this op",
    label = "does not fit the results of the op",
    note = "return one `PartialMetadata` for one result, or a tuple of one for each; a `Vec` for any number; or a `Result` of these"
)]
pub trait PartialAnswer<Op> {
    /// Returns the known metadata of each result.
    ///
    /// # Errors
    /// The error of the function.
    fn into_partial(self) -> Result<Vec<PartialMetadata>, Error>;
}

/// Returns the result of a metadata function for partially known operands.
///
/// # Errors
/// The error of the function.
pub fn partial_result_metadata<Op>(
    answer: impl PartialAnswer<Op>,
) -> Result<Vec<PartialMetadata>, Error> {
    answer.into_partial()
}

#[diagnostic::do_not_recommend]
impl<Op, T: PartialAnswer<Op>, E: IntoError> PartialAnswer<Op> for Result<T, E> {
    fn into_partial(self) -> Result<Vec<PartialMetadata>, Error> {
        self.map_err(IntoError::into_error)?.into_partial()
    }
}

#[diagnostic::do_not_recommend]
impl<Op> PartialAnswer<Op> for Vec<PartialMetadata> {
    fn into_partial(self) -> Result<Vec<PartialMetadata>, Error> {
        Ok(self)
    }
}

macro_rules! impl_partial_answer {
    ($($op:ty: $answer:ty, $values:pat => [$($value:ident),*];)*) => {$(
        #[diagnostic::do_not_recommend]
        impl PartialAnswer<$op> for $answer {
            fn into_partial(self) -> Result<Vec<PartialMetadata>, Error> {
                let $values = self;
                Ok(Vec::from([$($value),*]))
            }
        }
    )*};
}

impl_partial_answer! {
    Results<1>: PartialMetadata, a => [a];
    AnyResults: PartialMetadata, a => [a];
    Results<2>: (PartialMetadata, PartialMetadata), (a, b) => [a, b];
    Results<3>: (PartialMetadata, PartialMetadata, PartialMetadata), (a, b, c) => [a, b, c];
}

macro_rules! impl_answer {
    ($($answer:ty, $op:ty;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl OpMetadataAnswer<$op> for $answer {
            fn into_results(self) -> Result<ResultMetadata, Error> {
                Ok(smallvec::smallvec![OneResult::known(self)])
            }
        }
    )*};
}

impl_answer! {
    TensorMetadata, Results<1>;
    Option<TensorMetadata>, Results<1>;
    TensorMetadata, AnyResults;
    Option<TensorMetadata>, AnyResults;
}

macro_rules! impl_answer_of_several {
    ($($count:literal: ($($ty:ident $value:ident),*);)*) => {$(
        impl_answer_of_several!(Results<$count>: $($ty $value),*);
        impl_answer_of_several!(AnyResults: $($ty $value),*);
    )*};
    ($op:ty: $($ty:ident $value:ident),*) => {
        #[diagnostic::do_not_recommend]
        impl<$($ty: OneResult),*> OpMetadataAnswer<$op> for ($($ty,)*) {
            fn into_results(self) -> Result<ResultMetadata, Error> {
                let ($($value,)*) = self;
                Ok(smallvec::smallvec![$($value.known()),*])
            }
        }
    };
}

impl_answer_of_several! {
    1: (A a);
    2: (A a, B b);
    3: (A a, B b, C c);
    4: (A a, B b, C c, D d);
    5: (A a, B b, C c, D d, E e);
    6: (A a, B b, C c, D d, E e, F f);
    7: (A a, B b, C c, D d, E e, F f, G g);
    8: (A a, B b, C c, D d, E e, F f, G g, H h);
}
