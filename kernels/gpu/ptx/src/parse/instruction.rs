//! One instruction: its name, its modifiers, its operands.
//!
//! A name that PTX does not have is an error of the text. A form of PTX that this machine does not
//! support becomes [`Op::Unsupported`], so the other kernels of the module can be used.

use crate::error::ParseError;
use crate::instruction::*;
use crate::types::{ScalarType, Space};

use super::body::Body;
use super::modifiers::Modifiers;

/// The reasons why an instruction was not decoded.
enum Refusal {
    Text(ParseError),
    Unsupported(String),
}

impl From<ParseError> for Refusal {
    fn from(error: ParseError) -> Self {
        Self::Text(error)
    }
}

type Decoded<T> = Result<T, Refusal>;

/// Names of PTX that this machine does not run.
const KNOWN: &[&str] = &[
    "wmma",
    "ldmatrix",
    "stmatrix",
    "movmatrix",
    "mbarrier",
    "tex",
    "tld4",
    "txq",
    "istypep",
    "suld",
    "sust",
    "sured",
    "suq",
    "wgmma",
    "tcgen05",
    "clusterlaunchcontrol",
    "mapa",
    "getctarank",
    "multimem",
    "addc",
    "subc",
    "madc",
    "vadd",
    "vsub",
    "vabsdiff",
    "vmin",
    "vmax",
    "vshl",
    "vshr",
    "vmad",
    "vset",
    "vadd2",
    "vsub2",
    "vavrg2",
    "vabsdiff2",
    "vmin2",
    "vmax2",
    "vset2",
    "vadd4",
    "vsub4",
    "vavrg4",
    "vabsdiff4",
    "vmin4",
    "vmax4",
    "vset4",
    "tensormap",
    "alloca",
    "stacksave",
    "stackrestore",
    "fns",
    "bmsk",
    "szext",
    "createpolicy",
];

const ATOMICS: &[(&str, Atomic)] = &[
    ("add", Atomic::Add),
    ("min", Atomic::Min),
    ("max", Atomic::Max),
    ("and", Atomic::And),
    ("or", Atomic::Or),
    ("xor", Atomic::Xor),
    ("exch", Atomic::Exchange),
    ("cas", Atomic::CompareAndSwap),
    ("inc", Atomic::Increment),
    ("dec", Atomic::Decrement),
];

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

/// Parses an instruction behind its guard, up to the semicolon.
pub(super) fn parse(body: &mut Body<'_, '_, '_>) -> Result<Op, ParseError> {
    let name = body.cursor.word("an instruction")?;
    let behind_name = body.cursor.position();
    match decode(body, name) {
        Ok(op) => {
            body.cursor.expect(b';')?;
            Ok(op)
        }
        Err(Refusal::Text(error)) => Err(error),
        Err(Refusal::Unsupported(reason)) => {
            body.cursor.jump(behind_name);
            while !body.cursor.eat(b';') {
                body.cursor.any()?;
            }
            Ok(Op::Unsupported(reason.into()))
        }
    }
}

fn unsupported<T>(reason: impl Into<String>) -> Decoded<T> {
    Err(Refusal::Unsupported(reason.into()))
}

fn decode(body: &mut Body<'_, '_, '_>, name: &str) -> Decoded<Op> {
    let (base, mut modifiers) = Modifiers::of(name);
    let mut decoder = Decoder {
        body,
        name,
        base,
        modifiers: &mut modifiers,
    };
    let op = decoder.op()?;
    match modifiers.leftover() {
        Some(word) => unsupported(format!("modifier `.{word}` of `{name}` is not supported")),
        None => Ok(op),
    }
}

struct Decoder<'b, 'a, 'c, 'm, 'n> {
    body: &'b mut Body<'a, 'c, 'm>,
    name: &'n str,
    base: &'n str,
    modifiers: &'b mut Modifiers<'n>,
}

/// The types that an instruction accepts.
#[derive(Clone, Copy, PartialEq)]
enum Class {
    Integer,
    Float,
    Number,
    /// Integers and predicates.
    Bits,
}

impl Decoder<'_, '_, '_, '_, '_> {
    fn op(&mut self) -> Decoded<Op> {
        Ok(match self.base {
            "mov" => return self.mov(),
            "ld" | "ldu" => return self.load(),
            "st" => return self.store(),
            "cvta" => return self.address_conversion(),
            "isspacep" => {
                let space = self.modifiers.space();
                let (to, from) = (
                    self.body.target_of(true)?,
                    self.next_source(ScalarType::B64)?,
                );
                Op::IsSpace { space, to, from }
            }
            "abs" | "neg" => {
                return self.unary(
                    if self.base == "abs" {
                        Unary::Abs
                    } else {
                        Unary::Neg
                    },
                    Class::Number,
                );
            }
            "not" => return self.unary(Unary::Not, Class::Bits),
            "cnot" => return self.unary(Unary::LogicalNot, Class::Integer),
            "brev" => return self.unary(Unary::ReverseBits, Class::Integer),
            "popc" => return self.unary(Unary::CountOnes, Class::Integer),
            "clz" => return self.unary(Unary::LeadingZeros, Class::Integer),
            "bfind" => {
                let op = if self.modifiers.take("shiftamt") {
                    Unary::FindBitShift
                } else {
                    Unary::FindBit
                };
                return self.unary(op, Class::Integer);
            }
            "sqrt" => return self.unary(Unary::Sqrt, Class::Float),
            "rsqrt" => return self.unary(Unary::ReciprocalSqrt, Class::Float),
            "rcp" => return self.unary(Unary::Reciprocal, Class::Float),
            "ex2" => return self.unary(Unary::Exp2, Class::Float),
            "lg2" => return self.unary(Unary::Log2, Class::Float),
            "sin" => return self.unary(Unary::Sin, Class::Float),
            "cos" => return self.unary(Unary::Cos, Class::Float),
            "tanh" => return self.unary(Unary::Tanh, Class::Float),
            "add" => return self.binary(Binary::Add, Class::Number),
            "sub" => return self.binary(Binary::Sub, Class::Number),
            "div" => return self.binary(Binary::Div, Class::Number),
            "min" => return self.binary(Binary::Min, Class::Number),
            "max" => return self.binary(Binary::Max, Class::Number),
            "rem" => return self.binary(Binary::Rem, Class::Integer),
            "and" => return self.binary(Binary::And, Class::Bits),
            "or" => return self.binary(Binary::Or, Class::Bits),
            "xor" => return self.binary(Binary::Xor, Class::Bits),
            "shl" => return self.binary(Binary::ShiftLeft, Class::Integer),
            "shr" => return self.binary(Binary::ShiftRight, Class::Integer),
            "copysign" => return self.binary(Binary::CopySign, Class::Float),
            "mul" | "mul24" => return self.mul(),
            "mad" | "mad24" | "fma" => return self.mul_add(),
            "shf" => {
                let is_left = self.modifiers.take("l");
                if !is_left && !self.modifiers.take("r") {
                    return unsupported(format!("expected a direction of `{}`", self.name));
                }
                let wraps = self.modifiers.take("wrap");
                self.modifiers.take("clamp");
                return self.ternary(if is_left {
                    Ternary::FunnelLeft { wraps }
                } else {
                    Ternary::FunnelRight { wraps }
                });
            }
            "bfe" => return self.ternary(Ternary::ExtractBits),
            "sad" => return self.ternary(Ternary::AbsDifference),
            "prmt" => {
                let table = [
                    ("f4e", Permutation::Forward4),
                    ("b4e", Permutation::Backward4),
                    ("rc8", Permutation::Replicate8),
                    ("ecl", Permutation::EdgeLeft),
                    ("ecr", Permutation::EdgeRight),
                    ("rc16", Permutation::Replicate16),
                ];
                let permutation = self.modifiers.one_of(&table).unwrap_or(Permutation::Any);
                return self.ternary(Ternary::PermuteBytes(permutation));
            }
            "dp4a" | "dp2a" => {
                let &[first, second] = &*self.modifiers.types else {
                    return unsupported("expected two types");
                };
                let is_signed = [first.is_signed(), second.is_signed()];
                let high = self.modifiers.take("hi");
                self.modifiers.take("lo");
                return self.ternary(if self.base == "dp4a" {
                    Ternary::Dot4 { is_signed }
                } else {
                    Ternary::Dot2 { is_signed, high }
                });
            }
            "bfi" => {
                let ty = self.ty(Class::Integer)?;
                let to = self.body.target()?;
                let (a, b) = (self.next_source(ty)?, self.next_source(ty)?);
                let operands = [
                    a,
                    b,
                    self.next_source(ScalarType::U32)?,
                    self.next_source(ScalarType::U32)?,
                ];
                Op::InsertBits { ty, to, operands }
            }
            "lop3" => {
                let to = self.body.target()?;
                let operands = [
                    self.next_source(ScalarType::B32)?,
                    self.next_source(ScalarType::B32)?,
                    self.next_source(ScalarType::B32)?,
                ];
                self.body.comma()?;
                let table = self.body.cursor.unsigned("a table of eight bits")? as u8;
                Op::Logic3 {
                    to,
                    operands,
                    table,
                }
            }
            "setp" => return self.set_predicate(),
            "set" => return self.set(),
            "selp" => {
                let ty = self.ty(Class::Number)?;
                let to = self.body.target()?;
                let (a, b, predicate) = (
                    self.next_source(ty)?,
                    self.next_source(ty)?,
                    self.next_source(ScalarType::Pred)?,
                );
                Op::Select {
                    ty,
                    to,
                    a,
                    b,
                    predicate,
                }
            }
            "slct" => {
                let &[ty, by @ (ScalarType::S32 | ScalarType::F32)] = &*self.modifiers.types else {
                    return unsupported("expected a type, then `.s32` or `.f32`");
                };
                let mode = self.modifiers.mode();
                let to = self.body.target()?;
                let (a, b, sign) = (
                    self.next_source(ty)?,
                    self.next_source(ty)?,
                    self.next_source(by)?,
                );
                Op::SelectBySign {
                    ty,
                    by,
                    mode,
                    to,
                    a,
                    b,
                    sign,
                }
            }
            "cvt" => return self.convert(),
            "testp" => {
                let table = [
                    ("finite", FloatClass::Finite),
                    ("infinite", FloatClass::Infinite),
                    ("number", FloatClass::Number),
                    ("notanumber", FloatClass::NotANumber),
                    ("normal", FloatClass::Normal),
                    ("subnormal", FloatClass::Subnormal),
                ];
                let ty = self.ty(Class::Float)?;
                let Some(class) = self.modifiers.one_of(&table) else {
                    return unsupported("expected a number class");
                };
                let (to, a) = (self.body.target_of(true)?, self.next_source(ty)?);
                Op::TestFloat { class, ty, to, a }
            }
            "bra" => {
                self.modifiers.take("uni");
                let label = self.body.cursor.name()?;
                self.body.jump_to(label, 0);
                Op::Branch(0)
            }
            "brx" => return self.branch_table(),
            "call" => return self.call(),
            "ret" | "exit" | "trap" => {
                self.modifiers.take("uni");
                match self.base {
                    "ret" => Op::Return,
                    "exit" => Op::Exit,
                    _ => Op::Trap,
                }
            }
            "bar" | "barrier" => return self.barrier(),
            "membar" | "fence" => {
                self.skip_operands()?;
                self.modifiers.clear();
                Op::Fence
            }
            "prefetch" | "prefetchu" | "discard" | "nanosleep" | "griddepcontrol" | "pmevent"
            | "brkpt" | "setmaxnreg" | "applypriority" => {
                self.skip_operands()?;
                self.modifiers.clear();
                Op::Nothing
            }
            "shfl" => return self.shuffle(),
            "vote" => return self.vote(),
            "match" => return self.match_values(),
            "redux" => {
                let ty = self.ty(Class::Number)?;
                self.require_sync()?;
                let Some(op) = self.modifiers.one_of(&ATOMICS[..6]) else {
                    return unsupported("expected an operation");
                };
                let to = self.body.target()?;
                let (a, mask) = (self.next_source(ty)?, self.next_source(ScalarType::B32)?);
                Op::Reduce {
                    op,
                    ty,
                    to,
                    a,
                    mask,
                }
            }
            "elect" => {
                self.require_sync()?;
                let (to, is_elected) = self.target_pair(false)?;
                let mask = self.next_source(ScalarType::B32)?;
                Op::Elect {
                    to,
                    is_elected,
                    mask,
                }
            }
            "activemask" => Op::ActiveMask {
                to: self.body.target()?,
            },
            "atom" | "red" => return self.atomic(),
            "cp" => return self.copy_async(),
            "mma" => return self.matrix_mul_add(),
            base if KNOWN.contains(&base) => {
                return unsupported(format!("`{base}` is not supported"));
            }
            base => {
                return Err(Refusal::Text(
                    self.body
                        .cursor
                        .error_at_last(format!("expected an instruction, found `{base}`")),
                ));
            }
        })
    }

    /// Returns the only type of the instruction.
    fn ty(&self, class: Class) -> Decoded<ScalarType> {
        let Some(&ty) = self.modifiers.types.first() else {
            if self.modifiers.leftover().is_some() {
                return unsupported(format!("`{}` has no supported type", self.name));
            }
            return Err(Refusal::Text(
                self.body
                    .cursor
                    .error_at_last(format!("expected a type in `{}`", self.name)),
            ));
        };
        let fits = match class {
            Class::Integer => !ty.is_float() && ty != ScalarType::Pred,
            Class::Float => ty.is_float(),
            Class::Number => ty != ScalarType::Pred,
            Class::Bits => !ty.is_float(),
        };
        if !fits {
            return Err(Refusal::Text(self.body.cursor.error_at_last(format!(
                "`{}` has no form for this type",
                self.base
            ))));
        }
        if ty == ScalarType::B128 {
            return unsupported("values of 128 bits are not supported");
        }
        Ok(ty)
    }

    fn next_source(&mut self, ty: ScalarType) -> Decoded<Operand> {
        self.body.comma()?;
        Ok(self.body.source(ty)?)
    }

    fn skip_operands(&mut self) -> Decoded<()> {
        while !self.body.cursor.is_sign(b';') {
            self.body.cursor.any()?;
        }
        Ok(())
    }

    fn require_sync(&mut self) -> Decoded<()> {
        let is_there = self.modifiers.take("sync");
        self.modifiers.take("aligned");
        if is_there {
            Ok(())
        } else {
            unsupported(format!("`{}` without `.sync` is not supported", self.base))
        }
    }

    /// `to` or `to|predicate`.
    fn target_pair(&mut self, is_predicate: bool) -> Decoded<(Target, Target)> {
        let to = self.body.target_of(is_predicate)?;
        let second = if self.body.cursor.eat(b'|') {
            self.body.target_of(true)?
        } else {
            None
        };
        Ok((to, second))
    }

    fn address(&mut self) -> Decoded<Address> {
        self.body.cursor.expect(b'[')?;
        let base = self.body.source(ScalarType::B64)?;
        let mut offset = 0i64;
        while !self.body.cursor.eat(b']') {
            let is_negative = if self.body.cursor.eat(b'+') {
                self.body.cursor.eat(b'-')
            } else {
                self.body.cursor.expect(b'-')?;
                true
            };
            let by = self.body.cursor.unsigned("an offset")? as i64;
            offset = if is_negative {
                offset.wrapping_sub(by)
            } else {
                offset.wrapping_add(by)
            };
        }
        Ok(Address { base, offset })
    }

    fn mov(&mut self) -> Decoded<Op> {
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

    fn load(&mut self) -> Decoded<Op> {
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

    fn store(&mut self) -> Decoded<Op> {
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

    fn address_conversion(&mut self) -> Decoded<Op> {
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

    fn unary(&mut self, op: Unary, class: Class) -> Decoded<Op> {
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

    fn binary(&mut self, op: Binary, class: Class) -> Decoded<Op> {
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

    fn mul(&mut self) -> Decoded<Op> {
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

    fn mul_add(&mut self) -> Decoded<Op> {
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

    fn ternary(&mut self, op: Ternary) -> Decoded<Op> {
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

    fn set_predicate(&mut self) -> Decoded<Op> {
        let ty = self.ty(Class::Number)?;
        if ty.half().is_some() {
            return unsupported("comparisons of pairs are not supported");
        }
        let (comparison, join, flushes) = self.comparison()?;
        let (to, opposite) = self.target_pair(true)?;
        let test = self.test(ty, comparison, join, flushes)?;
        Ok(Op::SetPredicate { test, to, opposite })
    }

    fn set(&mut self) -> Decoded<Op> {
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

    fn convert(&mut self) -> Decoded<Op> {
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

    fn branch_table(&mut self) -> Decoded<Op> {
        if !self.modifiers.take("idx") {
            return unsupported("`brx` without `.idx` is not supported");
        }
        self.modifiers.take("uni");
        let index = self.body.source(ScalarType::U32)?;
        self.body.comma()?;
        let name = self.body.cursor.name()?;
        let Some(labels) = self.body.table(name)? else {
            return Err(Refusal::Text(self.body.cursor.error_at_last(format!(
                "`.branchtargets` named `{name}` are not defined"
            ))));
        };
        for (entry, label) in labels.iter().enumerate() {
            self.body.jump_to(label, entry);
        }
        Ok(Op::BranchTable {
            index,
            targets: vec![0; labels.len()].into(),
        })
    }

    fn call(&mut self) -> Decoded<Op> {
        self.modifiers.take("uni");
        let results = if self.body.cursor.is_sign(b'(') {
            let results = self.arguments()?;
            self.body.comma()?;
            results
        } else {
            Box::default()
        };
        let callee = match self
            .body
            .cursor
            .peek_word()
            .and_then(|name| self.body.function_named(name))
        {
            Some(id) => {
                self.body.cursor.any()?;
                Callee::Function(id)
            }
            None => {
                self.body.function.calls_pointers = true;
                Callee::Pointer(self.body.source(ScalarType::B64)?)
            }
        };
        let mut arguments = Box::default();
        if self.body.cursor.eat(b',') {
            if self.body.cursor.is_sign(b'(') {
                arguments = self.arguments()?;
                if self.body.cursor.eat(b',') {
                    self.body.cursor.name()?;
                }
            } else {
                // A prototype or a list of targets.
                self.body.cursor.name()?;
            }
        }
        if let Callee::Function(id) = callee {
            let known = &self.body.module.functions[id as usize];
            // A function that calls itself is still being parsed; its head is in the module.
            let (expected, found) = (
                (known.results.len(), known.parameters.len()),
                (results.len(), arguments.len()),
            );
            if expected != found {
                let text = format!(
                    "`{}` has {} results and {} parameters, found {} and {}",
                    known.name, expected.0, expected.1, found.0, found.1
                );
                return Err(Refusal::Text(self.body.cursor.error_at_last(text)));
            }
        }
        Ok(Op::Call {
            callee,
            results,
            arguments,
        })
    }

    fn arguments(&mut self) -> Decoded<Box<[Operand]>> {
        self.body.cursor.expect(b'(')?;
        let mut arguments = Vec::new();
        while !self.body.cursor.eat(b')') {
            arguments.push(self.body.source(ScalarType::B64)?);
            if !self.body.cursor.is_sign(b')') {
                self.body.comma()?;
            }
        }
        Ok(arguments.into())
    }

    fn barrier(&mut self) -> Decoded<Op> {
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

    fn shuffle(&mut self) -> Decoded<Op> {
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

    fn vote(&mut self) -> Decoded<Op> {
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

    fn match_values(&mut self) -> Decoded<Op> {
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

    fn atomic(&mut self) -> Decoded<Op> {
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

    fn copy_async(&mut self) -> Decoded<Op> {
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

    fn matrix_mul_add(&mut self) -> Decoded<Op> {
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
