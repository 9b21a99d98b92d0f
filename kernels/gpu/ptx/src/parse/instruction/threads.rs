//! What threads do together: barriers, shuffles, votes and atomic operations.

use crate::instruction::*;
use crate::types::ScalarType;

use super::{ATOMICS, Class, Decoded, Decoder, unsupported};

impl Decoder<'_, '_, '_, '_, '_> {
    pub(super) fn barrier(&mut self) -> Decoded<Op> {
        if self.modifiers.take("cluster") || self.modifiers.take("arrive") {
            return unsupported(format!("`{}` is not supported", self.name));
        }
        if self.modifiers.take("warp") {
            self.require_sync()?;
            return Ok(Op::WarpBarrier {
                mask: self.body.source(ScalarType::B32)?,
            });
        }
        let is_aligned = self.base == "bar" || self.modifiers.take("aligned");
        self.modifiers.take("aligned");
        if self.modifiers.take("sync") {
            let id = if self.body.cursor.is_sign(b';') {
                Operand::Immediate(0)
            } else {
                self.body.source(ScalarType::U32)?
            };
            let num_threads = if self.body.cursor.is_sign(b',') {
                Some(self.next_source(ScalarType::U32)?)
            } else {
                None
            };
            return Ok(Op::Barrier {
                id,
                num_threads,
                gather: None,
                is_aligned,
            });
        }
        if !self.modifiers.take("red") {
            return unsupported(format!("`{}` is not supported", self.name));
        }
        let Some(gather) = self.modifiers.one_of(&[
            ("popc", Gather::Count),
            ("and", Gather::All),
            ("or", Gather::Any),
        ]) else {
            return unsupported("expected an operation");
        };
        let to = self.body.target_of(gather != Gather::Count)?;
        let id = self.next_source(ScalarType::U32)?;
        // The number of threads may be left out; the predicate comes last.
        self.body.comma()?;
        let start = self.body.cursor.position();
        let num_threads = match self.body.source(ScalarType::U32) {
            Ok(count) if self.body.cursor.eat(b',') => Some(count),
            _ => {
                self.body.cursor.jump(start);
                None
            }
        };
        let predicate = self.body.source(ScalarType::Pred)?;
        Ok(Op::Barrier {
            id,
            num_threads,
            gather: Some((gather, to, predicate)),
            is_aligned,
        })
    }

    pub(super) fn shuffle(&mut self) -> Decoded<Op> {
        self.require_sync()?;
        let table = [
            ("up", Shuffle::Up),
            ("down", Shuffle::Down),
            ("bfly", Shuffle::Butterfly),
            ("idx", Shuffle::Index),
        ];
        let Some(op) = self.modifiers.one_of(&table) else {
            return unsupported("expected a direction");
        };
        let (to, is_in_range) = self.target_pair(false)?;
        let bits = ScalarType::B32;
        let (a, b, clamp, mask) = (
            self.next_source(bits)?,
            self.next_source(bits)?,
            self.next_source(bits)?,
            self.next_source(bits)?,
        );
        Ok(Op::Shuffle {
            op,
            to,
            is_in_range,
            a,
            b,
            clamp,
            mask,
        })
    }

    pub(super) fn vote(&mut self) -> Decoded<Op> {
        self.require_sync()?;
        let table = [
            ("all", Vote::All),
            ("any", Vote::Any),
            ("uni", Vote::Uniform),
            ("ballot", Vote::Ballot),
        ];
        let Some(op) = self.modifiers.one_of(&table) else {
            return unsupported("expected an operation");
        };
        let to = self.body.target_of(op != Vote::Ballot)?;
        let (predicate, mask) = (
            self.next_source(ScalarType::Pred)?,
            self.next_source(ScalarType::B32)?,
        );
        Ok(Op::Vote {
            op,
            to,
            predicate,
            mask,
        })
    }

    pub(super) fn match_values(&mut self) -> Decoded<Op> {
        let ty = self.ty(Class::Integer)?;
        self.require_sync()?;
        let is_all = self.modifiers.take("all");
        if !is_all && !self.modifiers.take("any") {
            return unsupported("expected `.any` or `.all`");
        }
        let (to, is_match) = self.target_pair(false)?;
        let (a, mask) = (self.next_source(ty)?, self.next_source(ScalarType::B32)?);
        Ok(Op::Match {
            is_all,
            ty,
            to,
            is_match,
            a,
            mask,
        })
    }

    pub(super) fn atomic(&mut self) -> Decoded<Op> {
        let ty = self.ty(Class::Number)?;
        if ty.size() < 2 {
            return unsupported("atomic operations on bytes are not supported");
        }
        let is_fence = self.modifiers.take_fence();
        let space = self.modifiers.space();
        let Some(op) = self.modifiers.one_of(ATOMICS) else {
            return unsupported("expected an operation");
        };
        let to = if self.base == "atom" {
            let to = self.body.target()?;
            self.body.comma()?;
            to
        } else {
            None
        };
        let address = self.address()?;
        let b = self.next_source(ty)?;
        let c = if op == Atomic::CompareAndSwap {
            self.next_source(ty)?
        } else {
            Operand::Immediate(0)
        };
        Ok(Op::Atomic {
            op,
            ty,
            space,
            to,
            address,
            b,
            c,
            is_fence,
        })
    }
}
