//! Markers of text: parameters and results whose payload is a [`ByteString`] and whose Rust type is
//! another.
//!
//! A value of type `!tfrt.string` holds bytes. A kernel that takes text gets a view of the bytes,
//! or fails with an error that states where they are not UTF-8; a kernel that returns text returns
//! its bytes. Neither copies, except for `String` parameters, which own their text.
#![expect(unsafe_code, reason = "reads operands whose types were proven")]

use std::marker::PhantomData;

use tfrt_async::NotText;
use tfrt_async::{ByteString, TypeIndex, Value};
use tfrt_ods::{Arity, OpDef, TypeConstraint};
use tfrt_support::{Error, ErrorCode};

use crate::kernel::operand::OperandParam;
use crate::kernel::optional::is_present;
use crate::kernel::param::{Param, Sealed};
use crate::kernel::result::{ResultParam, ResultPart, Sink, put_all};
use crate::kernel::source::Source;
use crate::kernel::type_list::TypeList;

const TYPE: TypeConstraint = TypeConstraint::Exact(ByteString::MLIR_TYPE);

/// The form in which a kernel takes a byte string.
pub trait TextForm: Sealed + 'static {
    /// The Rust type of the parameter.
    type Taken<'f>: Send;

    /// Converts the bytes to this form.
    ///
    /// # Errors
    /// If they are not text, and this form requires it.
    fn take(bytes: &ByteString) -> Result<Self::Taken<'_>, NotText>;
}

/// `&str`
#[derive(Debug)]
pub struct AsStr;

/// `String`
#[derive(Debug)]
pub struct AsString;

/// `&[u8]`
#[derive(Debug)]
pub struct AsBytes;

impl Sealed for AsStr {}

impl TextForm for AsStr {
    type Taken<'f> = &'f str;

    #[inline]
    fn take(bytes: &ByteString) -> Result<&str, NotText> {
        bytes.to_text()
    }
}

impl Sealed for AsString {}

impl TextForm for AsString {
    type Taken<'f> = String;

    fn take(bytes: &ByteString) -> Result<String, NotText> {
        bytes.to_text().map(str::to_owned)
    }
}

impl Sealed for AsBytes {}

impl TextForm for AsBytes {
    type Taken<'f> = &'f [u8];

    #[inline]
    fn take(bytes: &ByteString) -> Result<&[u8], NotText> {
        Ok(bytes)
    }
}

/// A byte string, as `F`.
#[derive(Debug)]
pub struct Text<F, const INDEX: usize>(PhantomData<F>);

/// A byte string as `F`, if the operand is present: `Option<&str>` and the like.
#[derive(Debug)]
pub struct OptionalText<F, const INDEX: usize, const CHAIN_FOLLOWS: bool>(PhantomData<F>);

/// Reads the operand at `index`.
///
/// # Safety
/// 1. `check` of [`ByteString`] and `index` would succeed.
#[inline]
unsafe fn read<'f, F: TextForm, S: Source<'f>>(
    source: S,
    index: usize,
) -> Result<F::Taken<'f>, Error> {
    // SAFETY: duty 1, and `ByteString` is not mutable.
    let bytes = unsafe { source.get::<ByteString>(index) };
    F::take(bytes).map_err(|error| not_text(source.op(), index, error))
}

#[cold]
fn not_text(op: &OpDef, index: usize, error: NotText) -> Error {
    let name = op.operands.get(index).map_or("", |operand| operand.name);
    Error::new(format!("operand `{name}` of `{}`: {error}", op.name))
        .with_code(ErrorCode::InvalidArgument)
}

/// Moves the held value out: an argument is lent once.
#[inline]
fn lend<T>(held: &mut Option<T>) -> T {
    match held.take() {
        Some(text) => text,
        None => unreachable!("an argument is lent once"),
    }
}

impl<F, const INDEX: usize> Sealed for Text<F, INDEX> {}

impl<F: TextForm, const INDEX: usize> Param for Text<F, INDEX> {
    type Held<'f> = Option<F::Taken<'f>>;
    type Argument<'h, 'f> = F::Taken<'f>;
    const IS_DIRECT: bool = true;
    const NUM_OPERANDS: usize = 1;

    #[inline]
    unsafe fn hold<'f, S: Source<'f>>(source: S) -> Result<Self::Held<'f>, Error> {
        // SAFETY: duty 1.
        unsafe { read::<F, S>(source, INDEX) }.map(Some)
    }

    #[inline]
    fn lend<'h, 'f>(held: &'h mut Self::Held<'f>) -> Self::Argument<'h, 'f> {
        lend(held)
    }

    fn check<'a, S: Source<'a>>(source: S) -> Result<(), Error> {
        source.check::<ByteString>(INDEX)
    }

    fn describe(operands: &mut TypeList) {
        operands.set(INDEX, Some(TypeIndex::of::<ByteString>()));
    }
}

impl<F: TextForm, const INDEX: usize> OperandParam for Text<F, INDEX> {
    const TYPE: TypeConstraint = TYPE;
}

impl<F, const INDEX: usize, const CHAIN_FOLLOWS: bool> Sealed
    for OptionalText<F, INDEX, CHAIN_FOLLOWS>
{
}

impl<F: TextForm, const INDEX: usize, const CHAIN_FOLLOWS: bool> Param
    for OptionalText<F, INDEX, CHAIN_FOLLOWS>
{
    type Held<'f> = Option<F::Taken<'f>>;
    type Argument<'h, 'f> = Option<F::Taken<'f>>;

    unsafe fn hold<'f, S: Source<'f>>(source: S) -> Result<Self::Held<'f>, Error> {
        if !is_present(source, INDEX, CHAIN_FOLLOWS) {
            return Ok(None);
        }
        // SAFETY: duty 1: `check` covers the operand if it is present.
        unsafe { read::<F, S>(source, INDEX) }.map(Some)
    }

    fn lend<'h, 'f>(held: &'h mut Self::Held<'f>) -> Self::Argument<'h, 'f> {
        held.take()
    }

    fn check<'a, S: Source<'a>>(source: S) -> Result<(), Error> {
        if is_present(source, INDEX, CHAIN_FOLLOWS) {
            source.check::<ByteString>(INDEX)
        } else {
            Ok(())
        }
    }

    fn describe(operands: &mut TypeList) {
        // The declaration limits this tail to one value.
        operands.set_tail(INDEX, Some(TypeIndex::of::<ByteString>()));
    }
}

impl<F: TextForm, const INDEX: usize, const CHAIN_FOLLOWS: bool> OperandParam
    for OptionalText<F, INDEX, CHAIN_FOLLOWS>
{
    const TYPE: TypeConstraint = TYPE;
    const ARITY: Arity = Arity::Optional;
}

/// `String`: an available text.
#[derive(Debug)]
pub struct TextResult;

/// `Vec<String>`: texts for all the remaining slots.
#[derive(Debug)]
pub struct TextTail;

impl Sealed for TextResult {}

impl ResultPart for TextResult {
    type Returned = String;
    const SLOTS: usize = 1;
    const IS_DIRECT: bool = true;

    #[inline]
    fn put<S: Sink>(text: String, sink: &mut S) {
        sink.put_payload(ByteString::from(text));
    }

    fn describe(results: &mut TypeList) {
        results.push(Some(TypeIndex::of::<ByteString>()));
    }
}

impl ResultParam for TextResult {
    const TYPE: TypeConstraint = TYPE;
}

impl Sealed for TextTail {}

impl ResultPart for TextTail {
    type Returned = Vec<String>;
    const SLOTS: usize = 0;
    const HAS_TAIL: bool = true;

    fn put<S: Sink>(texts: Vec<String>, sink: &mut S) {
        put_all(texts, sink, |sink, text| {
            sink.put_payload(ByteString::from(text));
        });
    }

    fn describe(results: &mut TypeList) {
        results.push_tail(Some(TypeIndex::of::<ByteString>()));
    }
}

impl ResultParam for TextTail {
    const TYPE: TypeConstraint = TYPE;
    const ARITY: Arity = Arity::Variadic;
}
