//! The text of device code, written piece by piece.
//!
//! A kernel has one thread for each element of its result. Its parameters all have 64 bits; the
//! first one is the number of elements. Numbers of 16 bits are computed with 32 bits.

use std::fmt::Write;

use tfrt::prelude::*;

/// Kinds of registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    Predicate,
    Bits16,
    Bits32,
    Bits64,
    F32,
    F64,
}

impl Class {
    const ALL: [Self; 6] = [
        Self::Predicate,
        Self::Bits16,
        Self::Bits32,
        Self::Bits64,
        Self::F32,
        Self::F64,
    ];

    /// The prefix of its registers, and their type.
    const fn spelling(self) -> (&'static str, &'static str) {
        match self {
            Self::Predicate => ("p", "pred"),
            Self::Bits16 => ("h", "b16"),
            Self::Bits32 => ("r", "b32"),
            Self::Bits64 => ("rd", "b64"),
            Self::F32 => ("f", "f32"),
            Self::F64 => ("fd", "f64"),
        }
    }
}

/// Types of numbers that kernels compute with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Number {
    F16,
    F32,
    F64,
}

impl Number {
    /// Returns the type of the elements of a tensor; `None` if kernels do not compute with it.
    pub(super) fn of(dtype: DType) -> Option<Self> {
        match dtype {
            DType::F16 => Some(Self::F16),
            DType::F32 => Some(Self::F32),
            DType::F64 => Some(Self::F64),
            _ => None,
        }
    }

    /// Returns the class of the registers that it is computed in.
    pub(super) fn class(self) -> Class {
        match self {
            Self::F16 | Self::F32 => Class::F32,
            Self::F64 => Class::F64,
        }
    }

    /// Returns the type of computations, as instructions spell it.
    pub(super) fn computed(self) -> &'static str {
        self.class().spelling().1
    }

    /// Returns the logarithm of its bytes.
    fn shift(self) -> u32 {
        match self {
            Self::F16 => 1,
            Self::F32 => 2,
            Self::F64 => 3,
        }
    }

    /// Returns a constant of the type of computations.
    pub(super) fn constant(self, number: f64) -> String {
        match self.class() {
            // Kernels use constants that have few digits.
            Class::F32 => format!("0f{:08X}", (number as f32).to_bits()),
            _ => double(number),
        }
    }
}

/// Returns a constant of 64 bits.
pub(super) fn double(number: f64) -> String {
    format!("0d{:016X}", number.to_bits())
}

/// A kernel that is being written.
#[derive(Debug, Default)]
pub(super) struct Code {
    num_parameters: usize,
    num_registers: [u32; Class::ALL.len()],
    num_labels: u32,
    body: String,
}

impl Code {
    /// Begins a kernel. Returns it and the index of the element of a thread.
    pub(super) fn new() -> (Self, String) {
        let mut code = Self::default();
        let block = code.op(Class::Bits32, "mov.u32", &["%ctaid.x"]);
        let size = code.op(Class::Bits32, "mov.u32", &["%ntid.x"]);
        let thread = code.op(Class::Bits32, "mov.u32", &["%tid.x"]);
        let before = code.op(Class::Bits64, "mul.wide.u32", &[&block, &size]);
        let thread = code.op(Class::Bits64, "cvt.u64.u32", &[&thread]);
        let index = code.op(Class::Bits64, "add.u64", &[&before, &thread]);
        let count = code.parameter();
        let is_outside = code.op(Class::Predicate, "setp.ge.u64", &[&index, &count]);
        code.line(&format!("@{is_outside} bra DONE;"));
        (code, index)
    }

    /// Returns the text of the module.
    pub(super) fn finish(self, name: &str) -> String {
        let parameters = (0..self.num_parameters).map(|index| format!(".param .u64 p{index}"));
        let parameters = parameters.collect::<Vec<_>>().join(", ");
        let mut text = format!(
            ".version 7.0\n.target sm_70\n.address_size 64\n\n.visible .entry \
             {name}({parameters})\n{{\n"
        );
        for (class, count) in Class::ALL.into_iter().zip(self.num_registers) {
            let (prefix, ty) = class.spelling();
            // Writing into a string cannot fail.
            let _ = writeln!(text, "    .reg .{ty} %{prefix}<{}>;", count + 1);
        }
        text + &self.body + "DONE:\n    ret;\n}\n"
    }

    pub(super) fn register(&mut self, class: Class) -> String {
        let count = &mut self.num_registers[class as usize];
        *count += 1;
        format!("%{}{count}", class.spelling().0)
    }

    /// Adds an instruction that writes a new register.
    pub(super) fn op(&mut self, class: Class, instruction: &str, operands: &[&str]) -> String {
        let result = self.register(class);
        let operands = operands.join(", ");
        self.line(&format!("{instruction} {result}, {operands};"));
        result
    }

    pub(super) fn line(&mut self, instruction: &str) {
        self.body += "    ";
        self.body += instruction;
        self.body += "\n";
    }

    pub(super) fn new_label(&mut self) -> String {
        self.num_labels += 1;
        format!("L{}", self.num_labels)
    }

    pub(super) fn place(&mut self, label: &str) {
        self.body += label;
        self.body += ":\n";
    }

    /// Adds a parameter of 64 bits, and reads it.
    pub(super) fn parameter(&mut self) -> String {
        let index = self.num_parameters;
        self.num_parameters += 1;
        self.op(Class::Bits64, "ld.param.u64", &[&format!("[p{index}]")])
    }

    pub(super) fn parameters(&mut self, count: usize) -> Vec<String> {
        (0..count).map(|_| self.parameter()).collect()
    }

    /// Splits an index into coordinates.
    pub(super) fn coordinates(&mut self, index: &str, dims: &[String]) -> Vec<String> {
        let mut rest = index.to_owned();
        let mut coordinates = vec![rest.clone(); dims.len()];
        for (dimension, extent) in dims.iter().enumerate().skip(1).rev() {
            let next = self.op(Class::Bits64, "div.u64", &[&rest, extent]);
            let multiple = self.op(Class::Bits64, "mul.lo.u64", &[&next, extent]);
            coordinates[dimension] = self.op(Class::Bits64, "sub.u64", &[&rest, &multiple]);
            rest = next;
        }
        if let Some(first) = coordinates.first_mut() {
            *first = rest;
        }
        coordinates
    }

    /// Returns the offset of an element, in elements.
    pub(super) fn offset(&mut self, coordinates: &[String], strides: &[String]) -> String {
        let mut offset = self.op(Class::Bits64, "mov.u64", &["0"]);
        for (coordinate, stride) in coordinates.iter().zip(strides) {
            offset = self.op(Class::Bits64, "mad.lo.u64", &[coordinate, stride, &offset]);
        }
        offset
    }

    /// Returns the address of an element of 2 to the power of `shift` bytes.
    pub(super) fn address(&mut self, base: &str, offset: &str, shift: u32) -> String {
        let bytes = self.op(Class::Bits64, "shl.b64", &[offset, &shift.to_string()]);
        self.op(Class::Bits64, "add.u64", &[base, &bytes])
    }

    /// Reads a number, in the type of its computations.
    pub(super) fn load(&mut self, number: Number, base: &str, offset: &str) -> String {
        let address = format!("[{}]", self.address(base, offset, number.shift()));
        match number {
            Number::F16 => {
                let half = self.op(Class::Bits16, "ld.global.b16", &[&address]);
                self.op(Class::F32, "cvt.f32.f16", &[&half])
            }
            Number::F32 => self.op(Class::F32, "ld.global.f32", &[&address]),
            Number::F64 => self.op(Class::F64, "ld.global.f64", &[&address]),
        }
    }

    /// Writes a number of the type of its computations.
    pub(super) fn store(&mut self, number: Number, base: &str, offset: &str, value: &str) {
        let address = self.address(base, offset, number.shift());
        match number {
            Number::F16 => {
                let half = self.op(Class::Bits16, "cvt.rn.f16.f32", &[value]);
                self.line(&format!("st.global.b16 [{address}], {half};"));
            }
            Number::F32 => self.line(&format!("st.global.f32 [{address}], {value};")),
            Number::F64 => self.line(&format!("st.global.f64 [{address}], {value};")),
        }
    }

    /// Converts between types of computations.
    pub(super) fn convert(&mut self, value: &str, from: Number, to: Number) -> String {
        match (from.class(), to.class()) {
            (Class::F64, Class::F32) => self.op(Class::F32, "cvt.rn.f32.f64", &[value]),
            (Class::F32, Class::F64) => self.op(Class::F64, "cvt.f64.f32", &[value]),
            _ => value.to_owned(),
        }
    }

    /// Returns the exponential function of a number of 64 bits, within one unit in the last place.
    pub(super) fn exp(&mut self, x: &str) -> String {
        use std::f64::consts::LOG2_E;

        // Beyond these, the result is 0 or infinite. Comparisons keep what is not a number.
        let mut x = x.to_owned();
        for (comparison, limit) in [("gt", 710.0), ("lt", -746.0)] {
            let limit = double(limit);
            let comparison = format!("setp.{comparison}.f64");
            let is_beyond = self.op(Class::Predicate, &comparison, &[&x, &limit]);
            x = self.op(Class::F64, "selp.f64", &[&limit, &x, &is_beyond]);
        }
        // x = k ln 2 + r, with the low part of ln 2 apart.
        let high = f64::from_bits(0x3FE6_2E42_FEE0_0000);
        let low = 1.908_214_929_270_587_7e-10;
        let scaled = self.op(Class::F64, "mul.rn.f64", &[&x, &double(LOG2_E)]);
        let k = self.op(Class::F64, "cvt.rni.f64.f64", &[&scaled]);
        let r = self.op(Class::F64, "fma.rn.f64", &[&k, &double(-high), &x]);
        let r = self.op(Class::F64, "fma.rn.f64", &[&k, &double(-low), &r]);
        let mut factorials = vec![1.0_f64];
        for n in 1..=13 {
            factorials.push(factorials[n - 1] * n as f64);
        }
        let mut sum = self.op(Class::F64, "mov.f64", &[&double(1.0 / factorials[13])]);
        for factorial in factorials[..13].iter().rev() {
            let term = double(1.0 / factorial);
            sum = self.op(Class::F64, "fma.rn.f64", &[&sum, &r, &term]);
        }
        // 2^k in two steps: each is a number that is not denormal.
        let k = self.op(Class::Bits32, "cvt.rni.s32.f64", &[&k]);
        let first = self.op(Class::Bits32, "shr.s32", &[&k, "1"]);
        let second = self.op(Class::Bits32, "sub.s32", &[&k, &first]);
        for part in [first, second] {
            let biased = self.op(Class::Bits32, "add.s32", &[&part, "1023"]);
            let wide = self.op(Class::Bits64, "cvt.s64.s32", &[&biased]);
            let bits = self.op(Class::Bits64, "shl.b64", &[&wide, "52"]);
            let power = self.op(Class::F64, "mov.b64", &[&bits]);
            sum = self.op(Class::F64, "mul.rn.f64", &[&sum, &power]);
        }
        sum
    }

    /// Returns the hyperbolic tangent of a number of 64 bits.
    pub(super) fn tanh(&mut self, x: &str) -> String {
        let magnitude = self.op(Class::F64, "abs.f64", &[x]);
        // Close to zero by a continued fraction, which cancels nothing.
        let square = self.op(Class::F64, "mul.rn.f64", &[x, x]);
        let mut below = self.op(Class::F64, "mov.f64", &[&double(19.0)]);
        for odd in [17.0, 15.0, 13.0, 11.0, 9.0, 7.0, 5.0, 3.0, 1.0] {
            let quotient = self.op(Class::F64, "div.rn.f64", &[&square, &below]);
            below = self.op(Class::F64, "add.rn.f64", &[&quotient, &double(odd)]);
        }
        let small = self.op(Class::F64, "div.rn.f64", &[x, &below]);
        let twice = self.op(Class::F64, "mul.rn.f64", &[&magnitude, &double(-2.0)]);
        let power = self.exp(&twice);
        let above = self.op(Class::F64, "sub.rn.f64", &[&double(1.0), &power]);
        let below = self.op(Class::F64, "add.rn.f64", &[&double(1.0), &power]);
        let large = self.op(Class::F64, "div.rn.f64", &[&above, &below]);
        let large = self.op(Class::F64, "copysign.f64", &[x, &large]);
        let is_small = self.op(
            Class::Predicate,
            "setp.lt.f64",
            &[&magnitude, &double(0.35)],
        );
        self.op(Class::F64, "selp.f64", &[&small, &large, &is_small])
    }
}
