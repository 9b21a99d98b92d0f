//! Kernels with more parameters than a function can have: they read their frames in order.

use tfrt::async_value::Immutable;
use tfrt::kernel::AttrParam;
use tfrt::prelude::*;

/// Reads the operands and attributes of a frame, one after another. Attributes are in byte order of
/// their names.
pub(super) struct FrameReader<'f, 'a> {
    frame: &'f KernelFrame<'a>,
    next_operand: usize,
    next_attribute: usize,
}

impl<'f, 'a> FrameReader<'f, 'a> {
    /// From the first one on.
    pub(super) fn new(frame: &'f KernelFrame<'a>) -> Self {
        Self {
            frame,
            next_operand: 0,
            next_attribute: 0,
        }
    }

    /// Returns the next operand.
    pub(super) fn operand<T: Value + Immutable>(&mut self) -> Result<&'a T> {
        self.next_operand += 1;
        self.frame.value(self.next_operand - 1)
    }

    /// Returns the next operand, whatever its type.
    pub(super) fn any(&mut self) -> Result<&'a AnyRef> {
        self.next_operand += 1;
        let operand = self.frame.arguments().get(self.next_operand - 1);
        operand.ok_or_else(|| Error::new("an operand is missing"))
    }

    /// Returns the next attribute.
    pub(super) fn attribute<A: AttrParam + ?Sized>(&mut self) -> Result<A::Value<'a>> {
        self.next_attribute += 1;
        self.frame.attribute::<A>(self.next_attribute - 1)
    }
}

/// A frame whose kernel has one result.
pub(super) trait FinishWith {
    /// Sets the only result.
    fn finish_with<T: Value>(&mut self, result: T) -> Result<()>;
}

impl FinishWith for KernelFrame<'_> {
    fn finish_with<T: Value>(&mut self, result: T) -> Result<()> {
        self.set_result(0, AnyRef::available(result));
        Ok(())
    }
}
