//! All attributes of an op, for kernels whose attributes have no fixed names.
#![expect(unsafe_code, reason = "implements a trait with duties")]

use tfrt_ods::OpDef;
use tfrt_support::Error;

use crate::kernel::attribute::{self, AttrParam};
use crate::kernel::inputs::AttributeList;
use crate::kernel::param::{Param, Sealed};
use crate::kernel::source::Source;
use crate::kernel::type_list::TypeList;

/// The attributes of one kernel in one file, in byte order of their names, which are not stored.
///
/// A parameter of this type binds all attributes that a program writes on the op.
///
/// ```
/// use tfrt_host::kernel::Attributes;
/// use tfrt_support::Error;
///
/// fn sum(numbers: Attributes<'_>) -> Result<i32, Error> {
///     (0..numbers.len()).map(|index| numbers.get::<i32>(index)).sum()
/// }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Attributes<'a> {
    op: &'static OpDef,
    list: AttributeList<'a>,
}

impl<'a> Attributes<'a> {
    /// Returns the number of attributes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.list.offsets.len()
    }

    /// Returns `true` if there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the attribute at `index`.
    ///
    /// # Errors
    /// If there is no such attribute, or its bytes do not hold an `A`.
    pub fn get<A: AttrParam + ?Sized>(&self, index: usize) -> Result<A::Value<'a>, Error> {
        attribute::read::<A>(self.op, self.list, index)
    }
}

/// The marker of a parameter of type [`Attributes`].
#[derive(Debug)]
pub struct AllAttributes;

impl Sealed for AllAttributes {}

impl Param for AllAttributes {
    type Held<'f> = Attributes<'f>;
    type Argument<'h, 'f> = Attributes<'f>;
    const IS_DIRECT: bool = true;
    const READS_CALL: bool = true;

    #[inline]
    unsafe fn hold<'f, S: Source<'f>>(source: S) -> Result<Self::Held<'f>, Error> {
        Ok(Attributes {
            op: source.op(),
            list: source.attributes(),
        })
    }

    #[inline]
    fn lend<'h, 'f>(held: &'h mut Self::Held<'f>) -> Self::Argument<'h, 'f> {
        *held
    }

    fn check<'a, S: Source<'a>>(_source: S) -> Result<(), Error> {
        Ok(())
    }

    fn describe(_operands: &mut TypeList) {}
}
