//! One instruction: its name, its modifiers, its operands.
//!
//! A name that PTX does not have is an error of the text. A form of PTX that this machine does not
//! support becomes [`Op::Unsupported`], so the other kernels of the module can be used.

mod data;

mod arithmetic;

mod control;

mod threads;

use crate::error::ParseError;
use crate::instruction::*;
use crate::types::ScalarType;

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
}
