//! The instructions of device functions.
//!
//! Every number is in a register of its own class, Booleans in predicates. Calls are inlined. The
//! text is not optimised: the assembler of the driver does that.

use std::collections::HashMap;
use std::fmt::Write;
use std::rc::Rc;

use tfrt_support::{Error, ErrorCode};

use super::grid::GridRegisters;
use crate::library;
use crate::tree::{BinaryOp, Function, NumberMethod, Scalar, UnaryOp, Value};
use crate::typed::{Line, Lines, Node, Op, Typed};

/// Texts of more lines are refused: they come from functions that call each other very often.
const MAX_LINES: usize = 1 << 17;

/// Calls that are nested deeper are refused: functions that call each other in a circle.
const MAX_DEPTH: usize = 128;

/// A register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Register {
    class: Class,
    number: u32,
}

/// A class of registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    Predicate,
    Word,
    Long,
    Float,
    Double,
}

const CLASSES: [(Class, &str, &str); 5] = [
    (Class::Predicate, "%p", ".pred"),
    (Class::Word, "%r", ".b32"),
    (Class::Long, "%rd", ".b64"),
    (Class::Float, "%f", ".f32"),
    (Class::Double, "%fd", ".f64"),
];

impl Class {
    pub(super) fn of(ty: Scalar) -> Self {
        match ty {
            Scalar::Bool => Self::Predicate,
            Scalar::I32 | Scalar::U32 => Self::Word,
            Scalar::I64 | Scalar::U64 => Self::Long,
            Scalar::F32 => Self::Float,
            Scalar::F64 => Self::Double,
        }
    }
}

impl std::fmt::Display for Register {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (_, prefix, _) = CLASSES[self.class as usize];
        write!(f, "{prefix}{}", self.number)
    }
}

/// A place to jump to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Label(u32);

impl std::fmt::Display for Label {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "$L{}", self.0)
    }
}

/// The text of an entry while it is written.
#[derive(Debug, Default)]
pub(super) struct Code {
    text: String,
    num_lines: usize,
    counts: [u32; CLASSES.len()],
    num_labels: u32,
    /// The number of calls that are being written.
    depth: usize,
    /// The arrays and places of a grid kernel.
    pub(super) grid: Option<GridRegisters>,
    typed: HashMap<*const Function, Rc<Typed>>,
}

/// Writes one instruction, with a semicolon.
macro_rules! line {
    ($code:expr, $($text:tt)+) => {
        $code.line(format_args!($($text)+))
    };
}
pub(super) use line;

impl Code {
    pub(super) fn line(&mut self, text: std::fmt::Arguments<'_>) {
        self.num_lines += 1;
        let written = writeln!(self.text, "    {text};");
        debug_assert!(written.is_ok(), "a string takes any text");
    }

    pub(super) fn register(&mut self, class: Class) -> Register {
        let count = &mut self.counts[class as usize];
        *count += 1;
        Register {
            class,
            number: *count,
        }
    }

    pub(super) fn label(&mut self) -> Label {
        self.num_labels += 1;
        Label(self.num_labels)
    }

    pub(super) fn place(&mut self, label: Label) {
        let written = writeln!(self.text, "{label}:");
        debug_assert!(written.is_ok(), "a string takes any text");
    }

    /// Returns the declarations of the registers, and the instructions.
    pub(super) fn finish(self) -> String {
        let mut text = String::new();
        for ((_, prefix, ty), count) in CLASSES.iter().zip(self.counts) {
            if count > 0 {
                let written = writeln!(text, "    .reg {ty} {prefix}<{}>;", count + 1);
                debug_assert!(written.is_ok(), "a string takes any text");
            }
        }
        text + &self.text
    }

    /// Returns a register with a constant.
    pub(super) fn constant(&mut self, value: Value) -> Register {
        let to = self.register(Class::of(value.ty));
        let bits = value.bits;
        match to.class {
            Class::Predicate => {
                let word = self.register(Class::Word);
                line!(self, "mov.b32 {word}, {}", u64::from(bits != 0));
                line!(self, "setp.ne.u32 {to}, {word}, 0");
            }
            Class::Word => line!(self, "mov.b32 {to}, {}", bits as u32),
            Class::Long => line!(self, "mov.b64 {to}, {bits}"),
            Class::Float => line!(self, "mov.f32 {to}, 0f{:08X}", bits as u32),
            Class::Double => line!(self, "mov.f64 {to}, 0d{bits:016X}"),
        }
        to
    }

    pub(super) fn copy(&mut self, to: Register, from: Register) {
        let suffix = match to.class {
            Class::Predicate => "pred",
            Class::Word => "b32",
            Class::Long => "b64",
            Class::Float => "f32",
            Class::Double => "f64",
        };
        line!(self, "mov.{suffix} {to}, {from}");
    }

    fn typed(&mut self, function: &'static Function) -> Result<Rc<Typed>, Error> {
        let key: *const Function = function;
        if let Some(typed) = self.typed.get(&key) {
            return Ok(Rc::clone(typed));
        }
        let typed = Rc::new(Typed::new(function)?);
        self.typed.insert(key, Rc::clone(&typed));
        Ok(typed)
    }

    /// Writes a function in place of a call, and returns its result.
    ///
    /// # Errors
    /// If the text becomes too long.
    pub(super) fn call(
        &mut self,
        function: &'static Function,
        arguments: &[Register],
    ) -> Result<Register, Error> {
        if self.num_lines > MAX_LINES {
            return Err(Error::new(format!(
                "device function `{}`: the code with all functions that it calls has more than \
                 {MAX_LINES} lines",
                function.name
            ))
            .with_code(ErrorCode::ResourceExhausted));
        }
        if self.depth == MAX_DEPTH {
            return Err(Error::new(format!(
                "device function `{}`: calls are nested more than {MAX_DEPTH} deep; functions \
                 cannot call each other in a circle",
                function.name
            ))
            .with_code(ErrorCode::ResourceExhausted));
        }
        let arguments: Vec<Option<Register>> = arguments.iter().copied().map(Some).collect();
        self.run(function, &arguments)
    }

    /// Writes a function. Parameters without an argument are arrays, which have no register.
    ///
    /// # Errors
    /// If the text becomes too long.
    pub(super) fn run(
        &mut self,
        function: &'static Function,
        arguments: &[Option<Register>],
    ) -> Result<Register, Error> {
        self.depth += 1;
        let typed = self.typed(function)?;
        let mut locals = Vec::with_capacity(function.num_locals as usize);
        for local in 0..function.num_locals {
            // A variable that is never used has no type.
            let ty = typed.local(local).unwrap_or(Scalar::I32);
            locals.push(self.register(Class::of(ty)));
        }
        for (local, argument) in locals.iter().zip(arguments) {
            if let Some(argument) = argument {
                self.copy(*local, *argument);
            }
        }
        let (result, end) = (self.register(Class::of(function.result)), self.label());
        let mut body = Body {
            code: self,
            typed: &typed,
            locals,
            result,
            end,
            loops: Vec::new(),
        };
        if let Some(value) = body.lines(&typed.body)? {
            self.copy(result, value);
        }
        self.place(end);
        self.depth -= 1;
        Ok(result)
    }
}

/// A function that is being written.
pub(super) struct Body<'c> {
    pub(super) code: &'c mut Code,
    pub(super) typed: &'c Typed,
    locals: Vec<Register>,
    result: Register,
    end: Label,
    /// Where `continue` and `break` go, innermost last.
    loops: Vec<(Label, Label)>,
}

/// The suffix of arithmetic instructions.
fn suffix(ty: Scalar) -> &'static str {
    match ty {
        Scalar::Bool => "pred",
        Scalar::I32 => "s32",
        Scalar::U32 => "u32",
        Scalar::I64 => "s64",
        Scalar::U64 => "u64",
        Scalar::F32 => "f32",
        Scalar::F64 => "f64",
    }
}

/// The suffix of instructions on bits.
fn bits(ty: Scalar) -> &'static str {
    match ty {
        Scalar::Bool => "pred",
        Scalar::I32 | Scalar::U32 | Scalar::F32 => "b32",
        Scalar::I64 | Scalar::U64 | Scalar::F64 => "b64",
    }
}

impl Body<'_> {
    pub(super) fn error(&self, message: &str) -> Error {
        let name = self.typed.function.name;
        Error::new(format!("device function `{name}`: {message}")).with_code(ErrorCode::Internal)
    }

    /// Writes a block, and returns its value.
    fn lines(&mut self, lines: &Lines) -> Result<Option<Register>, Error> {
        for line in &lines.statements {
            self.statement(line)?;
        }
        match &lines.value {
            Some(value) => self.value(value),
            None => Ok(None),
        }
    }

    fn local(&self, local: u32) -> Result<Register, Error> {
        let register = self.locals.get(local as usize).copied();
        register.ok_or_else(|| self.error("a variable is not declared"))
    }

    fn statement(&mut self, line: &Line) -> Result<(), Error> {
        match line {
            Line::Set(local, value) => {
                let local = self.local(*local)?;
                let value = self.number(value)?;
                self.code.copy(local, value);
            }
            Line::For {
                local,
                start,
                end,
                is_inclusive,
                body,
            } => self.for_loop(*local, start, end, *is_inclusive, body)?,
            Line::Return(value) => {
                let value = self.number(value)?;
                self.code.copy(self.result, value);
                line!(self.code, "bra {}", self.end);
            }
            Line::Break | Line::Continue => {
                let Some((next, exit)) = self.loops.last().copied() else {
                    return Err(self.error("`break` is outside of a loop"));
                };
                let target = if matches!(line, Line::Break) {
                    exit
                } else {
                    next
                };
                line!(self.code, "bra {target}");
            }
            Line::Expr(value) => {
                self.value(value)?;
            }
            Line::Store { .. } | Line::Atomic { .. } => self.write(line)?,
            Line::Barrier => line!(self.code, "bar.sync 0"),
            Line::End => line!(self.code, "bra {}", self.end),
        }
        Ok(())
    }

    fn for_loop(
        &mut self,
        local: u32,
        start: &Node,
        end: &Node,
        is_inclusive: bool,
        body: &Lines,
    ) -> Result<(), Error> {
        let Some(ty) = self.typed.ty(start) else {
            return Err(self.error("the bounds of a loop have no type"));
        };
        let (start, last) = (self.number(start)?, self.number(end)?);
        let variable = self.local(local)?;
        let counter = self.code.register(Class::of(ty));
        // The end may be a variable that the body changes.
        let end = self.code.register(Class::of(ty));
        self.code.copy(counter, start);
        self.code.copy(end, last);
        let (head, next, exit) = (self.code.label(), self.code.label(), self.code.label());
        let is_done = self.code.register(Class::Predicate);
        self.code.place(head);
        let outside = if is_inclusive { "gt" } else { "ge" };
        line!(
            self.code,
            "setp.{outside}.{} {is_done}, {counter}, {end}",
            suffix(ty)
        );
        line!(self.code, "@{is_done} bra {exit}");
        self.code.copy(variable, counter);
        self.loops.push((next, exit));
        self.lines(body)?;
        self.loops.pop();
        self.code.place(next);
        if is_inclusive {
            // The last number may be the greatest of its type.
            line!(
                self.code,
                "setp.eq.{} {is_done}, {counter}, {end}",
                suffix(ty)
            );
            line!(self.code, "@{is_done} bra {exit}");
        }
        line!(self.code, "add.{} {counter}, {counter}, 1", suffix(ty));
        line!(self.code, "bra {head}");
        self.code.place(exit);
        Ok(())
    }

    /// Writes an expression with a value.
    pub(super) fn number(&mut self, node: &Node) -> Result<Register, Error> {
        match self.value(node)? {
            Some(register) => Ok(register),
            None => Err(self.error("an expression has no value")),
        }
    }

    fn value(&mut self, node: &Node) -> Result<Option<Register>, Error> {
        let ty = self.typed.ty(node);
        match &node.op {
            Op::If(condition, then, otherwise) => {
                let condition = self.number(condition)?;
                let result = ty.map(|ty| self.code.register(Class::of(ty)));
                let (other, end) = (self.code.label(), self.code.label());
                line!(self.code, "@!{condition} bra {other}");
                for (index, lines) in [Some(then), otherwise.as_ref()].into_iter().enumerate() {
                    let value = lines.map(|lines| self.lines(lines)).transpose()?.flatten();
                    if let (Some(result), Some(value)) = (result, value) {
                        self.code.copy(result, value);
                    }
                    if index == 0 {
                        line!(self.code, "bra {end}");
                        self.code.place(other);
                    }
                }
                self.code.place(end);
                return Ok(result);
            }
            Op::Block(lines) => return self.lines(lines),
            _ => {}
        }
        let Some(ty) = ty else {
            return Err(self.error("an expression has no type"));
        };
        self.operation(&node.op, ty).map(Some)
    }

    fn operation(&mut self, op: &Op, ty: Scalar) -> Result<Register, Error> {
        Ok(match op {
            // A block behind it may change the variable before it is used.
            Op::Local(local) => {
                let local = self.local(*local)?;
                let to = self.code.register(Class::of(ty));
                self.code.copy(to, local);
                to
            }
            Op::Int(bits) => self.code.constant(Value { ty, bits: *bits }),
            Op::Float(digits) => {
                let bits = match ty {
                    Scalar::F32 => digits.parse::<f32>().ok().map(|x| u64::from(x.to_bits())),
                    _ => digits.parse::<f64>().ok().map(f64::to_bits),
                };
                let Some(bits) = bits else {
                    return Err(self.error(&format!("`{digits}` is not a float")));
                };
                self.code.constant(Value { ty, bits })
            }
            Op::Value(value) => self.code.constant(*value),
            Op::Unary(unary, operand) => {
                let operand = self.number(operand)?;
                let to = self.code.register(Class::of(ty));
                match (unary, ty) {
                    (UnaryOp::Neg, Scalar::U32 | Scalar::U64 | Scalar::Bool) => {
                        return Err(self.error("a number without a sign has no opposite"));
                    }
                    (UnaryOp::Neg, _) => line!(self.code, "neg.{} {to}, {operand}", suffix(ty)),
                    (UnaryOp::Not, _) => line!(self.code, "not.{} {to}, {operand}", bits(ty)),
                }
                to
            }
            Op::Binary(binary, left, right) => self.binary(*binary, ty, left, right)?,
            Op::Cast(operand) => {
                let Some(from) = self.typed.ty(operand) else {
                    return Err(self.error("an operand of `as` has no type"));
                };
                let operand = self.number(operand)?;
                self.cast(from, ty, operand)
            }
            Op::Call(function, arguments) => {
                let arguments = self.numbers(arguments)?;
                self.code.call(function, &arguments)?
            }
            Op::Method(method, arguments) => {
                let receiver = arguments.first().and_then(|first| self.typed.ty(first));
                let Some(receiver) = receiver else {
                    return Err(self.error("the receiver of a method has no type"));
                };
                let registers = self.numbers(arguments)?;
                self.method(*method, receiver, ty, &registers)?
            }
            Op::Position(position, axis) => self.position(*position, *axis)?,
            Op::Extent(memory, axis) => self.extent(*memory, *axis)?,
            Op::Load(memory, index) => {
                let (space, address) = self.address(*memory, ty, index)?;
                self.code.load(space, address, ty)
            }
            Op::If(..) | Op::Block(_) => return Err(self.error("an expression has no value")),
        })
    }

    pub(super) fn numbers(&mut self, nodes: &[Node]) -> Result<Vec<Register>, Error> {
        nodes.iter().map(|node| self.number(node)).collect()
    }

    fn binary(
        &mut self,
        binary: BinaryOp,
        ty: Scalar,
        left: &Node,
        right: &Node,
    ) -> Result<Register, Error> {
        use BinaryOp as B;
        if matches!(binary, B::And | B::Or) {
            // The right side may assign, or leave the function.
            let result = self.code.register(Class::Predicate);
            let end = self.code.label();
            let left = self.number(left)?;
            self.code.copy(result, left);
            let not = if binary == B::And { "!" } else { "" };
            line!(self.code, "@{not}{result} bra {end}");
            let right = self.number(right)?;
            self.code.copy(result, right);
            self.code.place(end);
            return Ok(result);
        }
        let (Some(operand_ty), Some(right_ty)) = (self.typed.ty(left), self.typed.ty(right)) else {
            return Err(self.error("an operand has no type"));
        };
        let (a, b) = (self.number(left)?, self.number(right)?);
        if binary.is_comparison() {
            return Ok(self.compare(binary, operand_ty, a, b));
        }
        self.arithmetic(binary, ty, a, (b, right_ty))
    }

    /// Writes an operator whose result is of the type of its left operand.
    pub(super) fn arithmetic(
        &mut self,
        binary: BinaryOp,
        ty: Scalar,
        a: Register,
        (b, right_ty): (Register, Scalar),
    ) -> Result<Register, Error> {
        use BinaryOp as B;
        let to = self.code.register(Class::of(ty));
        let code = &mut *self.code;
        let (number, bits) = (suffix(ty), bits(ty));
        match binary {
            B::Add | B::Sub | B::Mul | B::Div if ty.is_float() => {
                let name = match binary {
                    B::Add => "add",
                    B::Sub => "sub",
                    B::Mul => "mul",
                    _ => "div",
                };
                line!(code, "{name}.rn.{number} {to}, {a}, {b}");
            }
            B::Add => line!(code, "add.{number} {to}, {a}, {b}"),
            B::Sub => line!(code, "sub.{number} {to}, {a}, {b}"),
            B::Mul => line!(code, "mul.lo.{number} {to}, {a}, {b}"),
            B::Div | B::Rem if ty != Scalar::Bool => {
                return Ok(self.divide(binary == B::Rem, ty, a, b));
            }
            B::BitAnd => line!(code, "and.{bits} {to}, {a}, {b}"),
            B::BitOr => line!(code, "or.{bits} {to}, {a}, {b}"),
            B::BitXor => line!(code, "xor.{bits} {to}, {a}, {b}"),
            B::ShiftLeft | B::ShiftRight => {
                let amount = self.cast(right_ty, Scalar::U32, b);
                let masked = self.code.register(Class::Word);
                let mask = ty.size_bytes() * 8 - 1;
                line!(self.code, "and.b32 {masked}, {amount}, {mask}");
                if binary == B::ShiftLeft {
                    line!(self.code, "shl.{bits} {to}, {a}, {masked}");
                } else {
                    line!(self.code, "shr.{number} {to}, {a}, {masked}");
                }
            }
            _ => return Err(self.error("an operator does not fit its operands")),
        }
        Ok(to)
    }

    fn compare(&mut self, binary: BinaryOp, ty: Scalar, a: Register, b: Register) -> Register {
        let (ty, a, b) = match ty {
            Scalar::Bool => {
                let words = [a, b].map(|operand| self.cast(Scalar::Bool, Scalar::U32, operand));
                (Scalar::U32, words[0], words[1])
            }
            _ => (ty, a, b),
        };
        let name = match binary {
            BinaryOp::Eq => "eq",
            // A NaN differs from every number.
            BinaryOp::Ne if ty.is_float() => "neu",
            BinaryOp::Ne => "ne",
            BinaryOp::Lt => "lt",
            BinaryOp::Le => "le",
            BinaryOp::Gt => "gt",
            _ => "ge",
        };
        let to = self.code.register(Class::Predicate);
        line!(self.code, "setp.{name}.{} {to}, {a}, {b}", suffix(ty));
        to
    }

    /// Divides integers; a division by 0, and of the smallest number by -1, is not one of the
    /// device's.
    fn divide(&mut self, is_rem: bool, ty: Scalar, a: Register, b: Register) -> Register {
        let (class, number, bits) = (Class::of(ty), suffix(ty), bits(ty));
        let code = &mut *self.code;
        let (is_zero, safe) = (code.register(Class::Predicate), code.register(class));
        let (by, to) = (code.register(class), code.register(class));
        line!(code, "setp.eq.{number} {is_zero}, {b}, 0");
        line!(code, "selp.{bits} {safe}, 1, {b}, {is_zero}");
        let is_minus_one = ty.is_signed().then(|| {
            let is_minus_one = code.register(Class::Predicate);
            line!(code, "setp.eq.{number} {is_minus_one}, {safe}, -1");
            is_minus_one
        });
        match is_minus_one {
            Some(is_minus_one) => {
                line!(code, "selp.{bits} {by}, 1, {safe}, {is_minus_one}");
            }
            None => code.copy(by, safe),
        }
        if is_rem {
            let rest = code.register(class);
            line!(code, "rem.{number} {rest}, {a}, {by}");
            line!(code, "selp.{bits} {to}, {a}, {rest}, {is_zero}");
            return to;
        }
        let mut quotient = code.register(class);
        line!(code, "div.{number} {quotient}, {a}, {by}");
        if let Some(is_minus_one) = is_minus_one {
            let (opposite, chosen) = (code.register(class), code.register(class));
            line!(code, "neg.{number} {opposite}, {a}");
            line!(
                code,
                "selp.{bits} {chosen}, {opposite}, {quotient}, {is_minus_one}"
            );
            quotient = chosen;
        }
        line!(code, "selp.{bits} {to}, 0, {quotient}, {is_zero}");
        to
    }

    fn cast(&mut self, from: Scalar, to_ty: Scalar, x: Register) -> Register {
        let code = &mut *self.code;
        let to = code.register(Class::of(to_ty));
        let (from_name, to_name) = (suffix(from), suffix(to_ty));
        match (from, to_ty) {
            _ if Class::of(from) == Class::of(to_ty) => code.copy(to, x),
            (Scalar::Bool, _) => line!(code, "selp.{} {to}, 1, 0, {x}", bits(to_ty)),
            (Scalar::F32, Scalar::F64) => line!(code, "cvt.f64.f32 {to}, {x}"),
            (Scalar::F64, Scalar::F32) => line!(code, "cvt.rn.f32.f64 {to}, {x}"),
            _ if from.is_float() => {
                // Out of range, the result is the nearest integer; of a NaN it is 0.
                let (converted, is_nan) = (
                    code.register(Class::of(to_ty)),
                    code.register(Class::Predicate),
                );
                line!(code, "cvt.rzi.{to_name}.{from_name} {converted}, {x}");
                line!(code, "setp.nan.{from_name} {is_nan}, {x}, {x}");
                line!(code, "selp.{} {to}, 0, {converted}, {is_nan}", bits(to_ty));
            }
            _ if to_ty.is_float() => line!(code, "cvt.rn.{to_name}.{from_name} {to}, {x}"),
            // To 64 bits with the sign of the operand, or to the low 32.
            _ => {
                let wide = if from.is_signed() { "s64" } else { "u64" };
                match to_ty {
                    Scalar::I64 | Scalar::U64 => {
                        line!(code, "cvt.{wide}.{from_name} {to}, {x}");
                    }
                    _ => line!(code, "cvt.u32.u64 {to}, {x}"),
                }
            }
        }
        to
    }

    fn method(
        &mut self,
        method: NumberMethod,
        ty: Scalar,
        result: Scalar,
        arguments: &[Register],
    ) -> Result<Register, Error> {
        use NumberMethod as M;
        if let Some(function) = library::function(method, ty) {
            return self.code.call(function, arguments);
        }
        let x = arguments[0];
        let argument = |index: usize| arguments.get(index).copied().unwrap_or(x);
        let (number, bits, class) = (suffix(ty), bits(ty), Class::of(ty));
        let code = &mut *self.code;
        let to = code.register(Class::of(result));
        let is_float = ty.is_float();
        match method {
            M::Abs if is_float => line!(code, "abs.{number} {to}, {x}"),
            M::Abs | M::AbsDiff | M::Signum => return Ok(self.integer_sign(method, ty, arguments)),
            M::Sqrt => line!(code, "sqrt.rn.{number} {to}, {x}"),
            M::Floor => line!(code, "cvt.rmi.{number}.{number} {to}, {x}"),
            M::Ceil => line!(code, "cvt.rpi.{number}.{number} {to}, {x}"),
            M::Trunc => line!(code, "cvt.rzi.{number}.{number} {to}, {x}"),
            M::RoundTiesEven => line!(code, "cvt.rni.{number}.{number} {to}, {x}"),
            M::Fract => {
                let whole = code.register(class);
                line!(code, "cvt.rzi.{number}.{number} {whole}, {x}");
                line!(code, "sub.rn.{number} {to}, {x}, {whole}");
            }
            M::Recip => line!(code, "rcp.rn.{number} {to}, {x}"),
            M::MulAdd => {
                let (a, b) = (argument(1), argument(2));
                line!(code, "fma.rn.{number} {to}, {x}, {a}, {b}");
            }
            // The sign of the first operand goes to the second.
            M::Copysign => line!(code, "copysign.{number} {to}, {}, {x}", argument(1)),
            M::Min => line!(code, "min.{number} {to}, {x}, {}", argument(1)),
            M::Max => line!(code, "max.{number} {to}, {x}, {}", argument(1)),
            M::Clamp => {
                let (low, high) = (argument(1), argument(2));
                let (is_low, is_high) = (
                    code.register(Class::Predicate),
                    code.register(Class::Predicate),
                );
                let above = code.register(class);
                line!(code, "setp.gt.{number} {is_high}, {x}, {high}");
                line!(
                    code,
                    "selp.{} {above}, {high}, {x}, {is_high}",
                    selected(ty)
                );
                line!(code, "setp.lt.{number} {is_low}, {x}, {low}");
                line!(code, "selp.{} {to}, {low}, {above}, {is_low}", selected(ty));
            }
            M::IsNan => line!(code, "setp.nan.{number} {to}, {x}, {x}"),
            M::IsFinite | M::IsInfinite => {
                let (size, infinity) = (code.register(class), infinity(ty));
                line!(code, "abs.{number} {size}, {x}");
                let infinity = code.constant(infinity);
                let name = if method == M::IsFinite { "lt" } else { "eq" };
                line!(code, "setp.{name}.{number} {to}, {size}, {infinity}");
            }
            M::IsSignNegative | M::IsSignPositive => {
                let integer = if ty == Scalar::F32 {
                    Class::Word
                } else {
                    Class::Long
                };
                let signed = if ty == Scalar::F32 { "s32" } else { "s64" };
                let image = code.register(integer);
                line!(code, "mov.{bits} {image}, {x}");
                let name = if method == M::IsSignNegative {
                    "lt"
                } else {
                    "ge"
                };
                line!(code, "setp.{name}.{signed} {to}, {image}, 0");
            }
            M::ToBits | M::FromBits => line!(code, "mov.{bits} {to}, {x}"),
            M::CountOnes => line!(code, "popc.{bits} {to}, {x}"),
            M::LeadingZeros => line!(code, "clz.{bits} {to}, {x}"),
            M::TrailingZeros => {
                let reversed = code.register(class);
                line!(code, "brev.{bits} {reversed}, {x}");
                line!(code, "clz.{bits} {to}, {reversed}");
            }
            M::RotateLeft | M::RotateRight => {
                let width = ty.size_bytes() * 8;
                let (left, right) = (code.register(Class::Word), code.register(Class::Word));
                let opposite = code.register(Class::Word);
                let (high, low) = (code.register(class), code.register(class));
                let amount = argument(1);
                line!(code, "and.b32 {left}, {amount}, {}", width - 1);
                line!(code, "neg.s32 {opposite}, {amount}");
                line!(code, "and.b32 {right}, {opposite}, {}", width - 1);
                let unsigned = if width == 32 { "u32" } else { "u64" };
                if method == M::RotateLeft {
                    line!(code, "shl.{bits} {high}, {x}, {left}");
                    line!(code, "shr.{unsigned} {low}, {x}, {right}");
                } else {
                    line!(code, "shl.{bits} {high}, {x}, {right}");
                    line!(code, "shr.{unsigned} {low}, {x}, {left}");
                }
                line!(code, "or.{bits} {to}, {high}, {low}");
            }
            _ => return Err(self.error(&format!("there is no `{method:?}` of `{ty}`"))),
        }
        Ok(to)
    }

    /// Writes `abs`, `abs_diff` and `signum` of integers.
    fn integer_sign(
        &mut self,
        method: NumberMethod,
        ty: Scalar,
        arguments: &[Register],
    ) -> Register {
        let (number, bits, class) = (suffix(ty), bits(ty), Class::of(ty));
        let x = arguments[0];
        let code = &mut *self.code;
        let to = code.register(class);
        match method {
            NumberMethod::Abs => {
                let (is_negative, opposite) =
                    (code.register(Class::Predicate), code.register(class));
                line!(code, "setp.lt.{number} {is_negative}, {x}, 0");
                line!(code, "neg.{number} {opposite}, {x}");
                line!(code, "selp.{bits} {to}, {opposite}, {x}, {is_negative}");
            }
            NumberMethod::AbsDiff => {
                let y = arguments.get(1).copied().unwrap_or(x);
                let (is_less, up, down) = (
                    code.register(Class::Predicate),
                    code.register(class),
                    code.register(class),
                );
                line!(code, "setp.lt.{number} {is_less}, {x}, {y}");
                line!(code, "sub.{number} {up}, {y}, {x}");
                line!(code, "sub.{number} {down}, {x}, {y}");
                line!(code, "selp.{bits} {to}, {up}, {down}, {is_less}");
            }
            _ => {
                let (is_positive, is_negative) = (
                    code.register(Class::Predicate),
                    code.register(Class::Predicate),
                );
                let positive = code.register(class);
                line!(code, "setp.gt.{number} {is_positive}, {x}, 0");
                line!(code, "selp.{bits} {positive}, 1, 0, {is_positive}");
                line!(code, "setp.lt.{number} {is_negative}, {x}, 0");
                line!(code, "selp.{bits} {to}, -1, {positive}, {is_negative}");
            }
        }
        to
    }
}

/// The suffix of `selp`.
fn selected(ty: Scalar) -> &'static str {
    if ty.is_float() { suffix(ty) } else { bits(ty) }
}

fn infinity(ty: Scalar) -> Value {
    let bits = match ty {
        Scalar::F32 => u64::from(f32::INFINITY.to_bits()),
        _ => f64::INFINITY.to_bits(),
    };
    Value { ty, bits }
}
