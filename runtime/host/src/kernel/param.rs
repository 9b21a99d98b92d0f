//! Parameter markers: how each parameter of a function is bound.
//!
//! A marker is a type without values. Binding has two steps, so that borrowed data outlives the
//! call: *holding* reads, copies or borrows from the frame, *lending* creates the argument from
//! what is held.
#![expect(
    unsafe_code,
    reason = "passes on the duty to have checked the operands"
)]

use tfrt_support::Error;

use crate::kernel::attribute::AttrRead;
use crate::kernel::operand_slot::OperandSlot;
use crate::kernel::source::Source;
use crate::kernel::type_list::TypeList;

/// How one parameter is bound.
pub trait Param: Sealed {
    /// The data held from the frame for the duration of the call.
    type Held<'f>: Send;
    /// The type of the function's parameter.
    type Argument<'h, 'f>;

    /// `true` if a [direct](crate::kernel::direct) kernel can have the parameter.
    const IS_DIRECT: bool = false;

    /// The number of operands that the parameter binds.
    const NUM_OPERANDS: usize = 0;

    /// If the parameter is a tail that a [direct](crate::kernel::direct) kernel can have, the
    /// position of its first operand.
    const TAIL: Option<usize> = None;

    /// `true` if it reads anything besides operands.
    const READS_CALL: bool = false;

    /// `true` if it reads attributes or functions.
    const READS_FILE: bool = Self::READS_CALL;

    /// `true` if the parameter is the same in every run of one kernel of a file.
    const IS_FIXED: bool = false;

    /// Holds the data from the frame.
    ///
    /// # Errors
    /// If a borrow is refused, or an attribute or function is not as expected.
    ///
    /// # Safety
    /// 1. [`check`](Self::check) of the same source would succeed.
    unsafe fn hold<'f, S: Source<'f>>(source: S) -> Result<Self::Held<'f>, Error>;

    /// Creates the argument from the held data.
    fn lend<'h, 'f>(held: &'h mut Self::Held<'f>) -> Self::Argument<'h, 'f>;

    /// Checks that the operands that the marker reads exist, are available, and have the payload
    /// types that it reads.
    fn check<'a, S: Source<'a>>(source: S) -> Result<(), Error>;

    /// Adds the operands that the marker reads to `operands`.
    fn describe(operands: &mut TypeList);

    /// Adds the attribute that the marker reads to `reads`.
    fn describe_attributes(reads: &mut Vec<AttrRead>) {
        let _ = reads;
    }
}

/// How all the parameters of a function are bound.
pub trait ParamList: Sealed {
    /// The data held from the frame.
    type Held<'f>: Send;
    /// The function's parameters, as a tuple.
    type Arguments<'h, 'f>;
    /// Places for the operands of a call that its kernel outlives; at least as many as there are
    /// parameters.
    type Places: AsRef<[OperandSlot]> + Default + Send;

    /// `true` if a [direct](crate::kernel::direct) kernel can have these parameters.
    const IS_DIRECT: bool;

    /// The number of operands that they bind, without those of a tail.
    const NUM_OPERANDS: usize;

    /// `true` if a [direct](crate::kernel::direct) kernel with these parameters has a tail, which
    /// follows all other operands.
    const HAS_TAIL: bool;

    /// `true` if anything besides operands is read.
    const READS_CALL: bool;

    /// `true` if attributes or functions are read.
    const READS_FILE: bool;

    /// `true` if anything besides operands and single attributes is read: the context, functions,
    /// all attributes.
    const READS_CONTEXT: bool;

    /// `true` if all of them are the same in every run of one kernel of a file.
    const IS_FIXED: bool;

    /// Holds the data from the frame.
    ///
    /// # Errors
    /// The error of the first marker that fails.
    ///
    /// # Safety
    /// 1. [`check`](Self::check) of the same source would succeed.
    unsafe fn hold<'f, S: Source<'f>>(source: S) -> Result<Self::Held<'f>, Error>;

    /// Creates the arguments from the held data.
    fn lend<'h, 'f>(held: &'h mut Self::Held<'f>) -> Self::Arguments<'h, 'f>;

    /// Holds the data from the frame while `function` runs with the arguments. The data of each
    /// parameter is apart from the others, in registers of the processor if it fits.
    ///
    /// # Errors
    /// The error of the first marker that fails.
    ///
    /// # Safety
    /// 1. [`check`](Self::check) of the same source would succeed.
    unsafe fn with_arguments<'f, S: Source<'f>, R>(
        source: S,
        function: impl for<'h> FnOnce(Self::Arguments<'h, 'f>) -> R,
    ) -> Result<R, Error>;

    /// Checks that every operand that is read exists, is available, and has the payload type that
    /// it is read as.
    fn check<'a, S: Source<'a>>(source: S) -> Result<(), Error>;

    /// Adds the operands that are read.
    fn describe(operands: &mut TypeList);

    /// Adds the attributes that are read one by one.
    fn describe_attributes(reads: &mut Vec<AttrRead>);
}

/// The arguments that `P` binds.
pub type Arguments<'h, 'f, P> = <P as ParamList>::Arguments<'h, 'f>;

/// Restricts the traits of this module to the markers of this crate.
pub trait Sealed {}

/// Returns `true` if there is at most one tail, and it follows `num_operands` operands.
const fn is_last(tails: &[Option<usize>], num_operands: usize) -> bool {
    let mut num_tails = 0;
    let mut index = 0;
    while index < tails.len() {
        if let Some(start) = tails[index] {
            if start != num_operands {
                return false;
            }
            num_tails += 1;
        }
        index += 1;
    }
    num_tails <= 1
}

macro_rules! impl_param_list {
    ($($marker:ident $held:ident),*) => {
        impl<$($marker),*> Sealed for ($($marker,)*) {}

        impl<$($marker: Param),*> ParamList for ($($marker,)*) {
            type Held<'f> = ($($marker::Held<'f>,)*);
            type Arguments<'h, 'f> = ($($marker::Argument<'h, 'f>,)*);
            type Places = [OperandSlot; [$(stringify!($marker)),*].len()];
            const IS_DIRECT: bool = true $(&& $marker::IS_DIRECT)*
                && is_last(&[$($marker::TAIL),*], Self::NUM_OPERANDS);
            const NUM_OPERANDS: usize = 0 $(+ $marker::NUM_OPERANDS)*;
            const HAS_TAIL: bool = false $(|| $marker::TAIL.is_some())*;
            const READS_CALL: bool = false $(|| $marker::READS_CALL)*;
            const READS_FILE: bool = false $(|| $marker::READS_FILE)*;
            const READS_CONTEXT: bool = false $(|| ($marker::READS_CALL && !$marker::IS_FIXED))*;
            const IS_FIXED: bool = true $(&& $marker::IS_FIXED)*;

            #[inline]
            unsafe fn hold<'f, S: Source<'f>>(source: S) -> Result<Self::Held<'f>, Error> {
                Ok(($(
                    // SAFETY: duty 1: the check of the list succeeds only if that of each marker
                    // does.
                    unsafe { $marker::hold(source) }?,
                )*))
            }

            #[inline]
            fn lend<'h, 'f>(held: &'h mut Self::Held<'f>) -> Self::Arguments<'h, 'f> {
                let ($($held,)*) = held;
                ($($marker::lend($held),)*)
            }

            #[inline]
            unsafe fn with_arguments<'f, S: Source<'f>, R>(
                source: S,
                function: impl for<'h> FnOnce(Self::Arguments<'h, 'f>) -> R,
            ) -> Result<R, Error> {
                $(
                    // SAFETY: duty 1: the check of the list succeeds only if that of each marker
                    // does.
                    let mut $held = unsafe { $marker::hold(source) }?;
                )*
                Ok(function(($($marker::lend(&mut $held),)*)))
            }

            fn check<'a, S: Source<'a>>(source: S) -> Result<(), Error> {
                $($marker::check(source)?;)*
                Ok(())
            }

            fn describe(operands: &mut TypeList) {
                $($marker::describe(operands);)*
            }

            fn describe_attributes(reads: &mut Vec<AttrRead>) {
                $($marker::describe_attributes(reads);)*
            }
        }
    };
}

impl Sealed for () {}

impl ParamList for () {
    type Held<'f> = ();
    type Arguments<'h, 'f> = ();
    type Places = [OperandSlot; 0];
    const IS_DIRECT: bool = true;
    const NUM_OPERANDS: usize = 0;
    const HAS_TAIL: bool = false;
    const READS_CALL: bool = false;
    const READS_FILE: bool = false;
    const READS_CONTEXT: bool = false;
    const IS_FIXED: bool = true;

    #[inline]
    unsafe fn hold<'f, S: Source<'f>>(_source: S) -> Result<(), Error> {
        Ok(())
    }

    #[inline]
    fn lend<'h, 'f>(_held: &'h mut Self::Held<'f>) -> Self::Arguments<'h, 'f> {}

    #[inline]
    unsafe fn with_arguments<'f, S: Source<'f>, R>(
        _source: S,
        function: impl for<'h> FnOnce(Self::Arguments<'h, 'f>) -> R,
    ) -> Result<R, Error> {
        Ok(function(()))
    }

    fn check<'a, S: Source<'a>>(_source: S) -> Result<(), Error> {
        Ok(())
    }

    fn describe(_operands: &mut TypeList) {}

    fn describe_attributes(_reads: &mut Vec<AttrRead>) {}
}

impl_param_list!(A a);
impl_param_list!(A a, B b);
impl_param_list!(A a, B b, C c);
impl_param_list!(A a, B b, C c, D d);
impl_param_list!(A a, B b, C c, D d, E e);
impl_param_list!(A a, B b, C c, D d, E e, F f);
impl_param_list!(A a, B b, C c, D d, E e, F f, G g);
impl_param_list!(A a, B b, C c, D d, E e, F f, G g, H h);
impl_param_list!(A a, B b, C c, D d, E e, F f, G g, H h, I i);
impl_param_list!(A a, B b, C c, D d, E e, F f, G g, H h, I i, J j);
impl_param_list!(A a, B b, C c, D d, E e, F f, G g, H h, I i, J j, K k);
impl_param_list!(A a, B b, C c, D d, E e, F f, G g, H h, I i, J j, K k, L l);
