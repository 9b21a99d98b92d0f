//! Calculations, comparisons and products of matrices.

use crate::instruction::*;
use crate::types::ScalarType;

use super::{Class, Decoded, Decoder, Refusal, unsupported};

const COMPARISONS: &[(&str, Comparison)] = &[
    ("eq", Comparison::Eq),
    ("ne", Comparison::Ne),
    ("lt", Comparison::Lt),
    ("le", Comparison::Le),
    ("gt", Comparison::Gt),
    ("ge", Comparison::Ge),
    ("equ", Comparison::EqU),
    ("neu", Comparison::NeU),
    ("ltu", Comparison::LtU),
    ("leu", Comparison::LeU),
    ("gtu", Comparison::GtU),
    ("geu", Comparison::GeU),
    ("num", Comparison::Num),
    ("nan", Comparison::Nan),
    ("lo", Comparison::Lo),
    ("ls", Comparison::Ls),
    ("hi", Comparison::Hi),
    ("hs", Comparison::Hs),
];

const JOINS: &[(&str, Join)] = &[("and", Join::And), ("or", Join::Or), ("xor", Join::Xor)];

impl Decoder<'_, '_, '_, '_, '_> {
    pub(super) fn unary(&mut self, op: Unary, class: Class) -> Decoded<Op> {
        let ty = self.ty(class)?;
        let mode = self.modifiers.mode();
        self.modifiers.take("approx");
        let (to, a) = (
            self.body.target_of(ty == ScalarType::Pred)?,
            self.next_source(ty)?,
        );
        Ok(Op::Unary {
            op,
            ty,
            mode,
            to,
            a,
        })
    }

    pub(super) fn binary(&mut self, op: Binary, class: Class) -> Decoded<Op> {
        let ty = self.ty(class)?;
        let mode = self.modifiers.mode();
        if matches!(op, Binary::Div) {
            self.modifiers.take("approx");
            self.modifiers.take("full");
        }
        let (to, a) = (
            self.body.target_of(ty == ScalarType::Pred)?,
            self.next_source(ty)?,
        );
        let is_shift = matches!(op, Binary::ShiftLeft | Binary::ShiftRight);
        let b = self.next_source(if is_shift { ScalarType::U32 } else { ty })?;
        Ok(Op::Binary {
            op,
            ty,
            mode,
            to,
            a,
            b,
        })
    }

    /// Returns the part of a product: low, high or all of it.
    fn product<T>(&mut self, ty: ScalarType, low: T, high: T, wide: T) -> Decoded<T> {
        let (is_low, is_high, is_wide) = (
            self.modifiers.take("lo"),
            self.modifiers.take("hi"),
            self.modifiers.take("wide"),
        );
        match (is_low, is_high, is_wide) {
            (false, false, false) if ty.is_float() => Ok(low),
            (true, false, false) if !ty.is_float() => Ok(low),
            (false, true, false) if !ty.is_float() => Ok(high),
            (false, false, true) if !ty.is_float() && matches!(ty.size(), 2 | 4) => Ok(wide),
            _ => Err(Refusal::Text(self.body.cursor.error_at_last(format!(
                "`.lo`, `.hi` and `.wide` in `{}` are only for integers",
                self.name
            )))),
        }
    }

    pub(super) fn mul(&mut self) -> Decoded<Op> {
        let ty = self.ty(Class::Number)?;
        if self.base == "mul24" {
            return match self.modifiers.take("lo") {
                true => self.binary(Binary::Mul24, Class::Integer),
                false => unsupported("the high part of `mul24` is not supported"),
            };
        }
        let op = self.product(ty, Binary::Mul, Binary::MulHigh, Binary::MulWide)?;
        self.binary(op, Class::Number)
    }

    pub(super) fn mul_add(&mut self) -> Decoded<Op> {
        let class = if self.base == "fma" {
            Class::Float
        } else {
            Class::Number
        };
        let ty = self.ty(class)?;
        let op = match self.base {
            "mad24" if self.modifiers.take("lo") => Ternary::MulAdd24,
            "mad24" => return unsupported("the high part of `mad24` is not supported"),
            _ => self.product(
                ty,
                Ternary::MulAdd,
                Ternary::MulAddHigh,
                Ternary::MulAddWide,
            )?,
        };
        self.ternary(op)
    }

    pub(super) fn ternary(&mut self, op: Ternary) -> Decoded<Op> {
        let ty = self.ty(if op == Ternary::MulAdd {
            Class::Number
        } else {
            Class::Integer
        })?;
        let mode = self.modifiers.mode();
        let to = self.body.target()?;
        let (b_ty, c_ty) = match op {
            Ternary::MulAddWide if ty.size() == 2 => (ty, ScalarType::B32),
            Ternary::MulAddWide => (ty, ScalarType::B64),
            Ternary::ExtractBits => (ScalarType::U32, ScalarType::U32),
            Ternary::Dot4 { .. } | Ternary::Dot2 { .. } => (ScalarType::B32, ScalarType::B32),
            _ => (ty, ty),
        };
        let operands = [
            self.next_source(ty)?,
            self.next_source(b_ty)?,
            self.next_source(c_ty)?,
        ];
        Ok(Op::Ternary {
            op,
            ty,
            mode,
            to,
            operands,
        })
    }

    /// Returns a comparison with its operands, which follow the targets.
    fn test(
        &mut self,
        ty: ScalarType,
        comparison: Comparison,
        join: Option<Join>,
        flushes: bool,
    ) -> Decoded<Test> {
        let (a, b) = (self.next_source(ty)?, self.next_source(ty)?);
        let join = match join {
            Some(join) => Some((join, self.next_source(ScalarType::Pred)?)),
            None => None,
        };
        Ok(Test {
            comparison,
            ty,
            flushes,
            a,
            b,
            join,
        })
    }

    fn comparison(&mut self) -> Decoded<(Comparison, Option<Join>, bool)> {
        let Some(comparison) = self.modifiers.one_of(COMPARISONS) else {
            return unsupported("expected a comparison");
        };
        Ok((
            comparison,
            self.modifiers.one_of(JOINS),
            self.modifiers.take("ftz"),
        ))
    }

    pub(super) fn set_predicate(&mut self) -> Decoded<Op> {
        let ty = self.ty(Class::Number)?;
        if ty.half().is_some() {
            return unsupported("comparisons of pairs are not supported");
        }
        let (comparison, join, flushes) = self.comparison()?;
        let (to, opposite) = self.target_pair(true)?;
        let test = self.test(ty, comparison, join, flushes)?;
        Ok(Op::SetPredicate { test, to, opposite })
    }

    pub(super) fn set(&mut self) -> Decoded<Op> {
        let &[ty, from] = &*self.modifiers.types else {
            return unsupported("expected two types");
        };
        if ty.half().is_some() || from.half().is_some() {
            return unsupported("comparisons of pairs are not supported");
        }
        let (comparison, join, flushes) = self.comparison()?;
        let to = self.body.target()?;
        let test = self.test(from, comparison, join, flushes)?;
        Ok(Op::Set { test, ty, to })
    }

    pub(super) fn matrix_mul_add(&mut self) -> Decoded<Op> {
        let ty = match &*self.modifiers.types {
            [ScalarType::F32, a, b, ScalarType::F32]
                if a == b && matches!(a, ScalarType::F16 | ScalarType::Bf16) =>
            {
                *a
            }
            _ => {
                return unsupported("only `mma` of f16 or bf16 with f32 accumulators is supported");
            }
        };
        self.require_sync()?;
        for word in ["m16n8k16", "row", "col"] {
            if !self.modifiers.take(word) {
                return unsupported("only `mma` of `.m16n8k16.row.col` is supported");
            }
        }
        let d = self.body.targets()?;
        self.body.comma()?;
        let a = self.body.sources(ScalarType::B32)?;
        self.body.comma()?;
        let b = self.body.sources(ScalarType::B32)?;
        self.body.comma()?;
        let c = self.body.sources(ScalarType::F32)?;
        match (
            <[Target; 4]>::try_from(&*d),
            <[Operand; 4]>::try_from(&*a),
            <[Operand; 2]>::try_from(&*b),
            <[Operand; 4]>::try_from(&*c),
        ) {
            (Ok(d), Ok(a), Ok(b), Ok(c)) => Ok(Op::MatrixMulAdd { ty, d, a, b, c }),
            _ => {
                Err(Refusal::Text(self.body.cursor.error_at_last(
                    "expected fragments of 4, 4, 2 and 4 registers",
                )))
            }
        }
    }
}
