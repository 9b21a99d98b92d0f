//! Moves: between registers, to and from memory, and conversions.

use crate::instruction::*;
use crate::types::{ScalarType, Space};

use super::{Class, Decoded, Decoder, Refusal, unsupported};

impl Decoder<'_, '_, '_, '_, '_> {
    pub(super) fn mov(&mut self) -> Decoded<Op> {
        let ty = self.ty(if self.modifiers.types == [ScalarType::Pred] {
            Class::Bits
        } else {
            Class::Number
        })?;
        if self.body.cursor.is_sign(b'{') {
            let to = self.body.targets()?;
            let from = self.next_source(ty)?;
            return Ok(Op::Unpack {
                part_bits: self.part_bits(ty, to.len())?,
                to,
                from,
            });
        }
        let to = self.body.target_of(ty == ScalarType::Pred)?;
        self.body.comma()?;
        if self.body.cursor.is_sign(b'{') {
            let parts = self.body.sources(ScalarType::B64)?;
            return Ok(Op::Pack {
                to,
                part_bits: self.part_bits(ty, parts.len())?,
                parts,
            });
        }
        Ok(Op::Move {
            ty,
            to,
            from: self.body.source(ty)?,
        })
    }

    fn part_bits(&self, ty: ScalarType, num_parts: usize) -> Decoded<u32> {
        match num_parts {
            2 | 4 | 8 if ty.bits() as usize >= 8 * num_parts => Ok(ty.bits() / num_parts as u32),
            _ => Err(Refusal::Text(self.body.cursor.error_at_last(format!(
                "{} bits cannot be split into {num_parts} parts",
                ty.bits()
            )))),
        }
    }

    fn vector_len(&mut self) -> usize {
        self.modifiers
            .one_of(&[("v2", 2), ("v4", 4), ("v8", 8)])
            .unwrap_or(1)
    }

    fn check_vector(&self, expected: usize, found: usize, ty: ScalarType) -> Decoded<()> {
        if expected != found {
            return Err(Refusal::Text(self.body.cursor.error_at_last(format!(
                "expected {expected} elements, found {found}"
            ))));
        }
        if expected * ty.size() > 32 {
            return Err(Refusal::Text(
                self.body
                    .cursor
                    .error_at_last("expected a vector of at most 32 bytes"),
            ));
        }
        Ok(())
    }

    pub(super) fn load(&mut self) -> Decoded<Op> {
        let ty = self.ty(Class::Number)?;
        let is_weak = self.modifiers.is_weak();
        let is_fence = self.modifiers.take_fence();
        let (space, len) = (self.modifiers.space(), self.vector_len());
        let to = self.body.targets()?;
        self.check_vector(len, to.len(), ty)?;
        self.body.comma()?;
        let from = self.address()?;
        Ok(Op::Load {
            ty,
            space,
            to,
            from,
            is_weak: is_weak && !is_fence,
        })
    }

    pub(super) fn store(&mut self) -> Decoded<Op> {
        let ty = self.ty(Class::Number)?;
        let is_weak = self.modifiers.is_weak();
        let is_fence = self.modifiers.take_fence();
        let (space, len) = (self.modifiers.space(), self.vector_len());
        let to = self.address()?;
        self.body.comma()?;
        let from = self.body.sources(ty)?;
        self.check_vector(len, from.len(), ty)?;
        Ok(Op::Store {
            ty,
            space,
            to,
            from,
            is_weak: is_weak && !is_fence,
        })
    }

    pub(super) fn address_conversion(&mut self) -> Decoded<Op> {
        let ty = self.ty(Class::Integer)?;
        if ty.size() != 8 {
            return unsupported("addresses of 32 bits are not supported");
        }
        let is_from_generic = self.modifiers.take("to");
        let space = self.modifiers.space();
        let (to, from) = (self.body.target()?, self.next_source(ty)?);
        Ok(if is_from_generic {
            Op::FromGeneric { space, to, from }
        } else {
            Op::ToGeneric { space, to, from }
        })
    }

    pub(super) fn convert(&mut self) -> Decoded<Op> {
        let &[to_ty, from_ty] = &*self.modifiers.types else {
            return unsupported("expected two types");
        };
        if [to_ty, from_ty]
            .iter()
            .any(|ty| matches!(ty, ScalarType::Pred | ScalarType::B128))
            || from_ty.half().is_some()
        {
            return unsupported("this conversion is not supported");
        }
        let integral = self.modifiers.integral();
        let mode = self.modifiers.mode();
        let (to, from) = (self.body.target()?, self.next_source(from_ty)?);
        let low = match to_ty.half() {
            Some(_) if from_ty == ScalarType::F32 => Some(self.next_source(from_ty)?),
            Some(_) => return unsupported("this conversion is not supported"),
            None => None,
        };
        Ok(Op::Convert {
            to_ty,
            from_ty,
            mode,
            integral,
            to,
            from,
            low,
        })
    }

    pub(super) fn copy_async(&mut self) -> Decoded<Op> {
        if !self.modifiers.take("async")
            || self.modifiers.has("bulk")
            || self.modifiers.has("mbarrier")
        {
            return unsupported(format!("`{}` is not supported", self.name));
        }
        if self.modifiers.take("commit_group")
            | self.modifiers.take("wait_group")
            | self.modifiers.take("wait_all")
        {
            // Each copy is done at once.
            self.skip_operands()?;
            return Ok(Op::Nothing);
        }
        if self.modifiers.space() != Space::Shared || self.modifiers.space() != Space::Global {
            return unsupported("only copies from global to shared memory are supported");
        }
        let to = self.address()?;
        self.body.comma()?;
        let from = self.address()?;
        let num_bytes = self.next_source(ScalarType::U32)?;
        let num_read = if self.body.cursor.is_sign(b',') {
            Some(self.next_source(ScalarType::U32)?)
        } else {
            None
        };
        Ok(Op::CopyAsync {
            to,
            from,
            num_bytes,
            num_read,
        })
    }
}
