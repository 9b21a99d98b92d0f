//! The parameter marker of an attribute.
#![expect(unsafe_code, reason = "implements a trait whose reads rely on checks")]

use std::marker::PhantomData;

use tfrt_support::Error;

use crate::kernel::attribute::{AttrParam, AttrRead};
use crate::kernel::param::{Param, Sealed};
use crate::kernel::source::Source;
use crate::kernel::type_list::TypeList;

/// A parameter with `#[attr]`: the attribute at `INDEX`, in byte order of the names.
#[derive(Debug)]
pub struct Attribute<A: ?Sized, const INDEX: usize>(PhantomData<A>);

impl<A: ?Sized, const INDEX: usize> Sealed for Attribute<A, INDEX> {}

impl<A: AttrParam + ?Sized, const INDEX: usize> Param for Attribute<A, INDEX> {
    type Held<'f> = Option<A::Value<'f>>;
    type Argument<'h, 'f> = A::Value<'f>;
    const IS_DIRECT: bool = true;
    const READS_CALL: bool = true;
    const IS_FIXED: bool = true;

    #[inline]
    unsafe fn hold<'f, S: Source<'f>>(source: S) -> Result<Self::Held<'f>, Error> {
        source.attribute::<A>(INDEX).map(Some)
    }

    #[inline]
    fn lend<'h, 'f>(held: &'h mut Self::Held<'f>) -> Self::Argument<'h, 'f> {
        match held.take() {
            Some(value) => value,
            None => unreachable!("an argument is lent once"),
        }
    }

    fn check<'a, S: Source<'a>>(_source: S) -> Result<(), Error> {
        Ok(())
    }

    fn describe(_operands: &mut TypeList) {}

    fn describe_attributes(reads: &mut Vec<AttrRead>) {
        reads.push(AttrRead {
            index: INDEX,
            check: |section, offset| A::read(section, offset).map(drop),
        });
    }
}
