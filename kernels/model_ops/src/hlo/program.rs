//! Scalar programs, which are the text of an attribute. They define reductions, scatters, sorts and
//! element-wise ops.
//!
//! ```text
//! program     ::= instruction (';' instruction)* ';' 'ret' value*
//! instruction ::= 'const' type bits | function value | function value value
//!               | function value value value value
//!               | 'cmp' ('total' | 'weak')? direction value value | 'select' value value value
//!               | 'clamp' value value value | 'convert' type value | 'bitcast' type value
//!               | 'reduce_precision' number number value
//! ```
//!
//! A number names a value: first the arguments, then the results of the instructions. A constant
//! is the bits of its type in hexadecimal digits. For example, `add 0 1;ret 2` is a sum.
//!
//! Programs come from files. Each is checked against the types of its arguments before it runs. It
//! has no jumps, so it terminates.

use tfrt::prelude::*;

use super::complex::Quaternary;
use super::element::{Kind, Type};
use super::function::{Binary, Comparison, Order, Unary, clamp, convert, reduce_precision};
use crate::invalid;

#[derive(Clone, Debug)]
enum Instruction {
    Constant(u64),
    Unary(Unary, usize),
    Binary(Binary, usize, usize),
    Quaternary(Quaternary, [usize; 4]),
    Compare {
        comparison: Comparison,
        order: Order,
        a: usize,
        b: usize,
    },
    Select(usize, usize, usize),
    Clamp(usize, usize, usize),
    Convert(usize),
    Bitcast(usize),
    ReducePrecision {
        exponent_bits: u32,
        fraction_bits: u32,
        x: usize,
    },
}

/// A checked program, and the elements of its values.
#[derive(Clone, Debug)]
pub(super) struct Program {
    num_arguments: usize,
    instructions: Vec<Instruction>,
    /// The types of all values.
    types: Vec<Type>,
    results: Vec<usize>,
    /// The elements of all values. The caller sets those of the arguments.
    registers: Vec<Vec<u64>>,
}

impl Program {
    /// Parses a program for arguments of these types.
    pub(super) fn new(op: &str, text: &str, arguments: &[Type]) -> Result<Self> {
        let mut program = Self {
            num_arguments: arguments.len(),
            instructions: Vec::new(),
            types: arguments.to_vec(),
            results: Vec::new(),
            registers: Vec::new(),
        };
        let mut has_results = false;
        for line in text.split(';') {
            if has_results {
                return Err(wrong(op, line, "it follows `ret`"));
            }
            let words: Vec<&str> = line.split_ascii_whitespace().collect();
            if let Some((&"ret", values)) = words.split_first() {
                for value in values {
                    let value = program.value(op, line, value)?;
                    program.results.push(value);
                }
                has_results = true;
            } else {
                let (instruction, ty) = program.instruction(op, line, &words)?;
                program.instructions.push(instruction);
                program.types.push(ty);
            }
        }
        if !has_results {
            return Err(wrong(op, text, "expected `ret` at the end"));
        }
        program.registers = vec![Vec::new(); program.types.len()];
        Ok(program)
    }

    fn value(&self, op: &str, line: &str, word: &str) -> Result<usize> {
        let value = word.parse::<usize>().ok();
        value
            .filter(|&value| value < self.types.len())
            .ok_or_else(|| wrong(op, line, &format!("unknown value `{word}`")))
    }

    fn instruction(&self, op: &str, line: &str, words: &[&str]) -> Result<(Instruction, Type)> {
        let value = |word: &str| self.value(op, line, word);
        let ty = |value: usize| self.types[value];
        let same = |a: usize, b: usize| match self.types[a] == self.types[b] {
            true => Ok(self.types[a]),
            false => Err(wrong(op, line, "expected operands of one type")),
        };
        let refused = |ty: Type| wrong(op, line, &format!("unsupported type {}", ty.name()));
        Ok(match *words {
            ["const", name, bits] => {
                let ty = Type::named(name).ok_or_else(|| wrong(op, line, "unknown type"))?;
                let bits = u64::from_str_radix(bits, 16);
                let bits = bits.map_err(|_| wrong(op, line, "expected hexadecimal digits"))?;
                (Instruction::Constant(ty.of_native(bits)), ty)
            }
            ["cmp", direction, a, b] | ["cmp", "total" | "weak", direction, a, b] => {
                let comparison = Comparison::named(direction);
                let comparison = comparison.ok_or_else(|| wrong(op, line, "unknown comparison"))?;
                let (a, b) = (value(a)?, value(b)?);
                same(a, b)?;
                let order = match words[1] {
                    "total" => Order::Total,
                    "weak" => Order::Weak,
                    _ => Order::Partial,
                };
                let instruction = Instruction::Compare {
                    comparison,
                    order,
                    a,
                    b,
                };
                (instruction, Type::BOOL)
            }
            ["select", condition, a, b] => {
                let (condition, a, b) = (value(condition)?, value(a)?, value(b)?);
                if ty(condition).kind != Kind::Bool {
                    return Err(refused(ty(condition)));
                }
                (Instruction::Select(condition, a, b), same(a, b)?)
            }
            ["clamp", least, x, greatest] => {
                let (least, x, greatest) = (value(least)?, value(x)?, value(greatest)?);
                same(least, x)?;
                (Instruction::Clamp(least, x, greatest), same(x, greatest)?)
            }
            ["convert", name, x] => {
                let to = Type::named(name).ok_or_else(|| wrong(op, line, "unknown type"))?;
                (Instruction::Convert(value(x)?), to)
            }
            ["bitcast", name, x] => {
                let to = Type::named(name).ok_or_else(|| wrong(op, line, "unknown type"))?;
                let x = value(x)?;
                if ty(x).bits != to.bits || ty(x).kind == Kind::Bool {
                    return Err(refused(ty(x)));
                }
                (Instruction::Bitcast(x), to)
            }
            ["reduce_precision", exponent, fraction, x] => {
                let x = value(x)?;
                if !ty(x).is_real() {
                    return Err(refused(ty(x)));
                }
                let number = |word: &str, least: u32| {
                    let number = word.parse::<u32>().ok();
                    number
                        .filter(|number| (least..=64).contains(number))
                        .ok_or_else(|| wrong(op, line, "expected a number of bits"))
                };
                let instruction = Instruction::ReducePrecision {
                    exponent_bits: number(exponent, 1)?,
                    fraction_bits: number(fraction, 0)?,
                    x,
                };
                (instruction, ty(x))
            }
            [name, x] => {
                let function = Unary::named(name);
                let function = function.ok_or_else(|| wrong(op, line, "unknown function"))?;
                let x = value(x)?;
                let result = function.result(ty(x)).ok_or_else(|| refused(ty(x)))?;
                (Instruction::Unary(function, x), result)
            }
            [name, a, b] => {
                let function = Binary::named(name);
                let function = function.ok_or_else(|| wrong(op, line, "unknown function"))?;
                let (a, b) = (value(a)?, value(b)?);
                let ty = same(a, b)?;
                if !function.takes(ty) {
                    return Err(refused(ty));
                }
                (Instruction::Binary(function, a, b), ty)
            }
            [name, a, b, c, d] => {
                let function = Quaternary::named(name);
                let function = function.ok_or_else(|| wrong(op, line, "unknown function"))?;
                let operands = [value(a)?, value(b)?, value(c)?, value(d)?];
                let ty = same(operands[0], operands[1])?;
                same(operands[0], operands[2])?;
                same(operands[0], operands[3])?;
                if !ty.is_real() {
                    return Err(refused(ty));
                }
                (Instruction::Quaternary(function, operands), ty)
            }
            _ => return Err(wrong(op, line, "unknown instruction")),
        })
    }

    /// Returns the types of the results.
    pub(super) fn result_types(&self) -> Vec<Type> {
        self.results
            .iter()
            .map(|&value| self.types[value])
            .collect()
    }

    /// Returns the number of results.
    pub(super) fn num_results(&self) -> usize {
        self.results.len()
    }

    /// Returns an error if the results do not have these types.
    pub(super) fn expect_results(&self, op: &str, types: &[Type]) -> Result<()> {
        if self.result_types() == types {
            return Ok(());
        }
        let names = |types: &[Type]| {
            let names: Vec<&str> = types.iter().map(|ty| ty.name()).collect();
            names.join(", ")
        };
        Err(invalid(format!(
            "`{op}` needs a function that returns ({}), found ({})",
            names(types),
            names(&self.result_types())
        )))
    }

    /// Returns the function, if the program only applies one function to its two arguments.
    pub(super) fn as_binary(&self) -> Option<Binary> {
        match (&self.instructions[..], &self.results[..]) {
            ([Instruction::Binary(function, 0, 1)], [2]) if self.num_arguments == 2 => {
                Some(*function)
            }
            _ => None,
        }
    }

    /// Returns the elements of an argument, to be set before the program runs. All arguments must
    /// have the same number of elements.
    pub(super) fn argument(&mut self, index: usize) -> &mut Vec<u64> {
        &mut self.registers[index]
    }

    /// Runs the program on each of `count` elements of its arguments.
    pub(super) fn run(&mut self, count: usize) {
        for (index, instruction) in self.instructions.iter().enumerate() {
            let at = self.num_arguments + index;
            let (values, rest) = self.registers.split_at_mut(at);
            let Some(to) = rest.first_mut() else {
                return;
            };
            match *instruction {
                Instruction::Constant(bits) => {
                    to.clear();
                    to.resize(count, bits);
                }
                Instruction::Unary(function, x) => function.run(self.types[x], &values[x], to),
                Instruction::Binary(function, a, b) => {
                    function.run(self.types[a], &values[a], &values[b], to);
                }
                Instruction::Quaternary(function, operands) => {
                    let [a, b, c, d] = operands.map(|operand| &values[operand]);
                    function.run(self.types[operands[0]], [a, b, c, d], to);
                }
                Instruction::Compare {
                    comparison,
                    order,
                    a,
                    b,
                } => {
                    let ty = self.types[a];
                    to.clear();
                    let pairs = values[a].iter().zip(&values[b]);
                    to.extend(pairs.map(|(&a, &b)| u64::from(comparison.holds(ty, order, a, b))));
                }
                Instruction::Select(condition, a, b) => {
                    to.clear();
                    let pairs = values[a].iter().zip(&values[b]);
                    let all = values[condition].iter().zip(pairs);
                    to.extend(all.map(|(&condition, (&a, &b))| if condition == 0 { b } else { a }));
                }
                Instruction::Clamp(least, x, greatest) => {
                    let ty = self.types[x];
                    to.clear();
                    let bounds = values[least].iter().zip(&values[greatest]);
                    let all = values[x].iter().zip(bounds);
                    to.extend(all.map(|(&x, (&least, &greatest))| clamp(ty, least, x, greatest)));
                }
                Instruction::Convert(x) => {
                    let (from, wanted) = (self.types[x], self.types[at]);
                    to.clear();
                    to.extend(values[x].iter().map(|&x| convert(from, wanted, x)));
                }
                Instruction::Bitcast(x) => {
                    let (from, wanted) = (self.types[x], self.types[at]);
                    to.clear();
                    to.extend(values[x].iter().map(|&x| wanted.of_native(from.native(x))));
                }
                Instruction::ReducePrecision {
                    exponent_bits,
                    fraction_bits,
                    x,
                } => {
                    let ty = self.types[x];
                    let reduced = |&x: &u64| reduce_precision(ty, exponent_bits, fraction_bits, x);
                    to.clear();
                    to.extend(values[x].iter().map(reduced));
                }
            }
        }
    }

    /// Returns the elements of a result.
    pub(super) fn result(&self, index: usize) -> &[u64] {
        &self.registers[self.results[index]]
    }
}

#[cold]
fn wrong(op: &str, line: &str, why: &str) -> Error {
    invalid(format!("`{op}`: function `{}`: {why}", line.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ty(name: &str) -> Type {
        Type::named(name).unwrap()
    }

    #[test]
    fn a_program_runs_on_many_elements_at_once() {
        let i32 = ty("i32");
        let text = "cmp lt 0 1;const i32 ffffffff;select 2 0 3;add 4 1;ret 5 2";
        let mut program = Program::new("t", text, &[i32, i32]).unwrap();
        *program.argument(0) = vec![1, 5];
        *program.argument(1) = vec![2, 3];
        program.run(2);
        assert_eq!(program.result(0), [3, 2]);
        assert_eq!(program.result(1), [1, 0]);
        assert_eq!(program.result_types(), [i32, Type::BOOL]);
    }

    #[test]
    fn bits_of_numbers_are_those_of_integers_of_the_same_width() {
        let text = "bitcast ui32 0;bitcast i32 0;bitcast f32 1;ret 1 2 3";
        let mut program = Program::new("t", text, &[ty("f32")]).unwrap();
        *program.argument(0) = vec![(-0.0_f64).to_bits(), 1_f64.to_bits()];
        program.run(2);
        assert_eq!(program.result(0), [0x8000_0000, 0x3F80_0000]);
        assert_eq!(program.result(1), [i64::from(i32::MIN) as u64, 0x3F80_0000]);
        assert_eq!(program.result(2), [(-0.0_f64).to_bits(), 1_f64.to_bits()]);
    }

    #[test]
    fn wrong_programs_are_refused() {
        let check = |text: &str, expected: &str| {
            let error = Program::new("t", text, &[ty("i32"), ty("f32")]).unwrap_err();
            assert!(error.to_string().contains(expected), "{error}");
        };
        check("add 0 1;ret 2", "operands of one type");
        check("add 0 2;ret 2", "unknown value `2`");
        check("sqrt 0;ret 2", "unsupported type i32");
        check("frob 0;ret 2", "unknown function");
        check("const f99 0;ret 2", "unknown type");
        check("bitcast i64 1;ret 2", "unsupported type f32");
        check("add 0 0", "expected `ret`");
        check("ret 0;ret 0", "follows `ret`");
        check("reduce_precision 0 3 1;ret 2", "number of bits");
        check("", "unknown instruction");
        check("select 0 0 0;ret 2", "unsupported type i32");
    }
}
