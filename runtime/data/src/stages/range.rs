//! A range of numbers.

use std::any::Any;

use half::f16;
use tfrt_async::AnyRef;
use tfrt_host::ExecutionContext;
use tfrt_support::{DType, Error};

use crate::cardinality::Cardinality;
use crate::checkpoint::{StateReader, StateWriter};
use crate::dataset::{Dataset, Position, Stage};
use crate::description::StageDescription;
use crate::element_types::ElementTypes;
use crate::iterator::Draw;
use crate::result::{IterationResult, Outcome};

/// The numbers from a start, by a step, as long as they are before a stop.
#[derive(Clone, Debug)]
struct Range {
    start: i64,
    stop: i64,
    step: i64,
    element_type: DType,
}

impl Stage for Range {
    fn name(&self) -> &'static str {
        "range"
    }

    fn cardinality(&self) -> Cardinality {
        let Self {
            start, stop, step, ..
        } = *self;
        if !is_supported(self.element_type) {
            return Cardinality::Infinite;
        }
        let distance = match step {
            1.. => i128::from(stop) - i128::from(start),
            _ => i128::from(start) - i128::from(stop),
        };
        if step == 0 || distance <= 0 {
            return Cardinality::Finite(0);
        }
        let step_size = i128::from(step).abs();
        let len = (distance + step_size - 1) / step_size;
        // A step over the largest number wraps, and goes on from the other side.
        match i64::try_from(i128::from(start) + len * i128::from(step)) {
            Ok(_) => Cardinality::Finite(u64::try_from(len).unwrap_or(u64::MAX)),
            Err(_) => Cardinality::Unknown,
        }
    }

    fn element_types(&self) -> ElementTypes {
        match is_supported(self.element_type) {
            true => ElementTypes::new([Some(&*self.element_type.to_string())]),
            false => ElementTypes::UNKNOWN,
        }
    }

    fn describe(&self, to: &mut StageDescription<'_>) {
        to.attribute("element_type", self.element_type);
        to.attribute("start", self.start);
        to.attribute("stop", self.stop);
        to.attribute("step", self.step);
    }

    fn is_cheap_to_redraw(&self) -> bool {
        true
    }

    fn is_seekable(&self) -> bool {
        matches!(self.cardinality(), Cardinality::Finite(_))
    }

    fn make_iterator(&self, _position: Position) -> Box<dyn Draw> {
        let is_supported = is_supported(self.element_type);
        Box::new(RangeIterator {
            next: self.start,
            range: Self {
                // Without a step, there is no next number, wherever the iterator stands.
                step: if is_supported { self.step } else { 0 },
                ..self.clone()
            },
        })
    }
}

#[derive(Debug)]
struct RangeIterator {
    next: i64,
    range: Range,
}

impl RangeIterator {
    #[inline]
    fn next_number(&mut self) -> Option<i64> {
        let Range { stop, step, .. } = self.range;
        let number = self.next;
        let has_next = match step {
            1.. => number < stop,
            _ => step < 0 && number > stop,
        };
        if !has_next {
            return None;
        }
        self.next = number.wrapping_add(step);
        Some(number)
    }

    /// Returns what is drawn where there is no next number.
    #[cold]
    fn without_number(&self) -> IterationResult {
        match is_supported(self.range.element_type) {
            true => Outcome::END.into(),
            false => Outcome::error(Error::new("Unsupported data type")).into(),
        }
    }
}

impl Draw for RangeIterator {
    #[inline]
    fn draw(&mut self, _ctx: &ExecutionContext) -> IterationResult {
        let Some(number) = self.next_number() else {
            return self.without_number();
        };
        // Most ranges are of this type: others take a jump table.
        Outcome::one(match self.range.element_type {
            DType::I64 => AnyRef::available(number),
            other => convert(number, other),
        })
        .into()
    }

    fn draw_payload(
        &mut self,
        ctx: &ExecutionContext,
        payload: &mut dyn Any,
    ) -> Option<IterationResult> {
        let Some(payload) = payload.downcast_mut::<Option<i64>>() else {
            return Some(self.draw(ctx));
        };
        if self.range.element_type != DType::I64 {
            return Some(self.draw(ctx));
        }
        *payload = self.next_number();
        match payload {
            Some(_) => None,
            None => Some(self.without_number()),
        }
    }

    fn save(&mut self, to: &mut StateWriter<'_>) -> Result<(), Error> {
        to.i64(self.next);
        Ok(())
    }

    fn restore(&mut self, from: &mut StateReader<'_>) -> Result<(), Error> {
        self.next = from.i64()?;
        Ok(())
    }

    fn seek(&mut self, num_before: u64) -> Result<(), Error> {
        let Range {
            start, stop, step, ..
        } = self.range;
        let next = i128::from(start) + i128::from(step) * i128::from(num_before);
        // After the end, any number serves as well as the stop.
        self.next = i64::try_from(next).unwrap_or(stop);
        Ok(())
    }
}

/// Returns `true` if there are ranges of the type.
fn is_supported(element_type: DType) -> bool {
    matches!(
        element_type,
        DType::Ui8
            | DType::Ui16
            | DType::Ui32
            | DType::Ui64
            | DType::I8
            | DType::I16
            | DType::I32
            | DType::I64
            | DType::F16
            | DType::F32
            | DType::F64
    )
}

/// Returns the number as a value of a type, cast as in C: integers wrap, floats are rounded. A half
/// takes the low bits as its own.
#[inline(never)]
fn convert(number: i64, element_type: DType) -> AnyRef {
    match element_type {
        DType::Ui8 => AnyRef::available(number as u8),
        DType::Ui16 => AnyRef::available(number as u16),
        DType::Ui32 => AnyRef::available(number as u32),
        DType::Ui64 => AnyRef::available(number as u64),
        DType::I8 => AnyRef::available(number as i8),
        DType::I16 => AnyRef::available(number as i16),
        DType::I32 => AnyRef::available(number as i32),
        DType::F16 => AnyRef::available(f16::from_bits(number as u16)),
        DType::F32 => AnyRef::available(number as f32),
        DType::F64 => AnyRef::available(number as f64),
        _ => AnyRef::available(number),
    }
}

impl Dataset {
    /// Returns the numbers from `start`, in steps of `step`, up to but excluding `stop`: below it,
    /// or above it if the step is negative. A step of zero makes an empty range.
    ///
    /// # Errors
    /// None at present.
    pub fn range(start: i64, stop: i64, step: i64) -> Result<Self, Error> {
        Self::range_of(DType::I64, start, stop, step)
    }

    /// Returns the same as [`range`](Self::range), with elements of another type: integers wrap,
    /// floats are rounded, and for [`DType::F16`] the low 16 bits of the number are those of the
    /// element. For a type that is not a number, every draw fails with `Unsupported data type`, and
    /// the sequence never ends.
    ///
    /// # Errors
    /// None at present.
    pub fn range_of(element_type: DType, start: i64, stop: i64, step: i64) -> Result<Self, Error> {
        Self::new(Range {
            start,
            stop,
            step,
            element_type,
        })
    }
}
