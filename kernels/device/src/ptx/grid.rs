//! Grid kernels: the registers of their arrays, and the instructions that only they have.
//!
//! Every access compares its indices with the extents, and one out of bounds executes `trap`.
//! Shared memory starts as zeros, as on the processor.

use tfrt_support::{Error, ErrorCode};

use super::body::{Body, Class, Register, line};
use super::entry::Entry;
use crate::grid::GridRules;
use crate::kernel::KernelForm;
use crate::tree::{AtomicOp, GridArray, GridPosition, Scalar};
use crate::typed::{Line, Node};

/// The axes of a grid, as PTX names them.
const AXES: [&str; 3] = ["x", "y", "z"];

/// An array.
#[derive(Clone, Debug)]
struct Array {
    /// Its memory, as instructions name it.
    space: &'static str,
    base: Register,
    /// The extents, of 32 bits.
    extents: Vec<Register>,
}

/// The arrays of a grid kernel.
#[derive(Debug)]
pub(super) struct GridRegisters {
    threads: [u32; 3],
    result: Array,
    /// None for numbers.
    operands: Vec<Option<Array>>,
    shared: Vec<Array>,
}

/// Returns the names and sizes of the shared arrays, in bytes.
pub(super) fn shared_arrays(rules: &GridRules) -> Vec<(String, usize)> {
    let arrays = rules.shared.iter().enumerate();
    arrays
        .map(|(index, array)| (format!("shared{index}"), array.num_bytes()))
        .collect()
}

impl Entry<'_> {
    /// Returns the rules of a grid kernel.
    pub(super) fn rules(&self) -> Result<&'static GridRules, Error> {
        match self.kernel.form {
            KernelForm::Grid(rules)
                if rules.ranks.len() == self.kernel.function.parameters.len() =>
            {
                Ok(rules)
            }
            _ => Err(Error::new(format!(
                "`{}`: the rules do not fit the operands of the kernel",
                self.kernel.name
            ))
            .with_code(ErrorCode::InvalidArgument)),
        }
    }

    /// Fills the result.
    pub(super) fn initial(&mut self) -> Result<(), Error> {
        let rules = self.rules()?;
        let ty = self.result();
        let Some(initial) = rules.initial.map(|initial| initial()) else {
            return Err(Error::new(format!(
                "`{}`: the kernel has no initial value",
                self.kernel.name
            ))
            .with_code(ErrorCode::InvalidArgument));
        };
        let count = self.parameter("count");
        let result = self.pointer("result");
        let threads = self.threads();
        let value = self.code.constant(initial);
        let within = self.begin_loop(&threads, count);
        let address = self.code.element(result, threads.index, ty);
        self.code.store("global", address, value, ty);
        self.end_loop(&threads, within);
        Ok(())
    }

    /// Declares an array of global memory: its pointer and its extents.
    fn array(&mut self, name: &str, rank: usize) -> Array {
        let base = self.pointer(name);
        let extents = (0..rank)
            .map(|axis| {
                let wide = self.parameter(&format!("{name}_extent{axis}"));
                let extent = self.code.register(Class::Word);
                line!(self.code, "cvt.u32.u64 {extent}, {wide}");
                extent
            })
            .collect();
        Array {
            space: "global",
            base,
            extents,
        }
    }

    /// Each thread runs the function.
    pub(super) fn grid(&mut self, rules: &'static GridRules) -> Result<(), Error> {
        let result = self.array("result", rules.result_rank);
        let (mut operands, mut arguments) = (Vec::new(), Vec::new());
        for (index, parameter) in self.kernel.function.parameters.iter().enumerate() {
            let name = format!("operand{index}");
            match rules.ranks[index] {
                Some(rank) => {
                    operands.push(Some(self.array(&name, rank)));
                    arguments.push(None);
                }
                None => {
                    let address = self.pointer(&name);
                    operands.push(None);
                    arguments.push(Some(self.code.load("global", address, parameter.ty)));
                }
            }
        }
        let shared = self.shared(rules);
        self.code.grid = Some(GridRegisters {
            threads: rules.threads,
            result,
            operands,
            shared,
        });
        self.code.run(self.kernel.function, &arguments)?;
        Ok(())
    }

    /// Returns the shared arrays, after the threads of the block have written zeros to them.
    fn shared(&mut self, rules: &GridRules) -> Vec<Array> {
        let mut arrays = Vec::new();
        let [width, height, depth] = rules.threads;
        for (index, array) in rules.shared.iter().enumerate() {
            let code = &mut self.code;
            let base = code.register(Class::Long);
            line!(code, "mov.u64 {base}, shared{index}");
            let extent = code.register(Class::Word);
            line!(code, "mov.b32 {extent}, {}", array.len);
            arrays.push(Array {
                space: "shared",
                base,
                extents: vec![extent],
            });
            let [x, y, z, row, word] = [(); 5].map(|()| code.register(Class::Word));
            line!(code, "mov.u32 {x}, %tid.x");
            line!(code, "mov.u32 {y}, %tid.y");
            line!(code, "mov.u32 {z}, %tid.z");
            line!(code, "mad.lo.u32 {row}, {z}, {height}, {y}");
            line!(code, "mad.lo.u32 {word}, {row}, {width}, {x}");
            let (head, end) = (code.label(), code.label());
            let is_done = code.register(Class::Predicate);
            let (wide, zero) = (code.register(Class::Long), code.register(Class::Word));
            line!(code, "mov.b32 {zero}, 0");
            code.place(head);
            line!(
                code,
                "setp.ge.u32 {is_done}, {word}, {}",
                array.num_bytes() / 4
            );
            line!(code, "@{is_done} bra {end}");
            line!(code, "cvt.u64.u32 {wide}, {word}");
            let address = code.element(base, wide, Scalar::U32);
            code.store("shared", address, zero, Scalar::U32);
            line!(code, "add.u32 {word}, {word}, {}", width * height * depth);
            line!(code, "bra {head}");
            code.place(end);
        }
        if !arrays.is_empty() {
            line!(self.code, "bar.sync 0");
        }
        arrays
    }
}

impl Body<'_> {
    fn registers(&self) -> Result<&GridRegisters, Error> {
        let registers = self.code.grid.as_ref();
        registers.ok_or_else(|| self.error("only grid kernels have arrays"))
    }

    fn array(&self, memory: GridArray) -> Result<&Array, Error> {
        let registers = self.registers()?;
        let found = match memory {
            GridArray::Result => Some(&registers.result),
            GridArray::Operand(number) => match registers.operands.get(number as usize) {
                Some(array) => array.as_ref(),
                None => None,
            },
            GridArray::Shared(number) => registers.shared.get(number as usize),
        };
        found.ok_or_else(|| self.error("there is no such array"))
    }

    /// Writes a place in the grid.
    pub(super) fn position(
        &mut self,
        position: GridPosition,
        axis: u32,
    ) -> Result<Register, Error> {
        let Some(name) = AXES.get(axis as usize) else {
            return Err(self.error("a grid has three axes"));
        };
        let threads = self.registers()?.threads[axis as usize];
        let to = self.code.register(Class::Word);
        match position {
            GridPosition::Thread => line!(self.code, "mov.u32 {to}, %tid.{name}"),
            GridPosition::Block => line!(self.code, "mov.u32 {to}, %ctaid.{name}"),
            GridPosition::Blocks => line!(self.code, "mov.u32 {to}, %nctaid.{name}"),
            GridPosition::Threads => line!(self.code, "mov.b32 {to}, {threads}"),
            GridPosition::Index => {
                let [block, thread] = [(); 2].map(|()| self.code.register(Class::Word));
                line!(self.code, "mov.u32 {block}, %ctaid.{name}");
                line!(self.code, "mov.u32 {thread}, %tid.{name}");
                line!(self.code, "mad.lo.u32 {to}, {block}, {threads}, {thread}");
            }
        }
        Ok(to)
    }

    /// Returns an extent.
    pub(super) fn extent(&mut self, memory: GridArray, axis: u32) -> Result<Register, Error> {
        let extent = self.array(memory)?.extents.get(axis as usize).copied();
        extent.ok_or_else(|| self.error("an array has no such axis"))
    }

    /// Checks indices; returns the memory and the address of the element.
    pub(super) fn address(
        &mut self,
        memory: GridArray,
        ty: Scalar,
        index: &[Node],
    ) -> Result<(&'static str, Register), Error> {
        let array = self.array(memory)?.clone();
        if index.len() != array.extents.len() {
            return Err(self.error("the number of indices is not that of the axes"));
        }
        let index = self.numbers(index)?;
        let code = &mut *self.code;
        let mut offset = code.register(Class::Long);
        line!(code, "mov.b64 {offset}, 0");
        for (axis, (index, extent)) in index.iter().zip(&array.extents).enumerate() {
            let (is_outside, next) = (code.register(Class::Predicate), code.register(Class::Long));
            line!(code, "setp.ge.u32 {is_outside}, {index}, {extent}");
            line!(code, "@{is_outside} trap");
            line!(code, "cvt.u64.u32 {next}, {index}");
            if axis > 0 {
                let wide = code.register(Class::Long);
                line!(code, "cvt.u64.u32 {wide}, {extent}");
                line!(code, "mad.lo.u64 {next}, {offset}, {wide}, {next}");
            }
            offset = next;
        }
        Ok((array.space, code.element(array.base, offset, ty)))
    }

    /// Writes a store or an atomic operation.
    pub(super) fn write(&mut self, line: &Line) -> Result<(), Error> {
        match line {
            Line::Store {
                memory,
                ty,
                index,
                op,
                value,
            } => {
                let (space, address) = self.address(*memory, *ty, index)?;
                let right_ty = self.typed.ty(value);
                let value = self.number(value)?;
                let value = match (op, right_ty) {
                    (Some(op), Some(right_ty)) => {
                        let element = self.code.load(space, address, *ty);
                        self.arithmetic(*op, *ty, element, (value, right_ty))?
                    }
                    (Some(_), None) => return Err(self.error("an operand has no type")),
                    (None, _) => value,
                };
                self.code.store(space, address, value, *ty);
            }
            Line::Atomic {
                memory,
                ty,
                index,
                op,
                value,
            } => {
                let (space, address) = self.address(*memory, *ty, index)?;
                let value = self.number(value)?;
                let Some(suffix) = atomic_suffix(*op, *ty) else {
                    return Err(self.error("only integers have atomic operations"));
                };
                line!(self.code, "red.{space}.{suffix} [{address}], {value}");
            }
            _ => return Err(self.error("a statement is not a store")),
        }
        Ok(())
    }
}

/// Returns the operation and type of `red`.
fn atomic_suffix(op: AtomicOp, ty: Scalar) -> Option<String> {
    let (is_wide, is_signed) = match ty {
        Scalar::I32 => (false, true),
        Scalar::U32 => (false, false),
        Scalar::I64 => (true, true),
        Scalar::U64 => (true, false),
        Scalar::Bool | Scalar::F32 | Scalar::F64 => return None,
    };
    let bits = if is_wide { 64 } else { 32 };
    let sign = if is_signed { 's' } else { 'u' };
    Some(match op {
        // Sums of two's complement do not depend on the sign.
        AtomicOp::Add => format!("add.u{bits}"),
        AtomicOp::Min => format!("min.{sign}{bits}"),
        AtomicOp::Max => format!("max.{sign}{bits}"),
        AtomicOp::And => format!("and.b{bits}"),
        AtomicOp::Or => format!("or.b{bits}"),
        AtomicOp::Xor => format!("xor.b{bits}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_have_no_atomic_operations() {
        assert_eq!(
            atomic_suffix(AtomicOp::Add, Scalar::I64).as_deref(),
            Some("add.u64")
        );
        assert_eq!(
            atomic_suffix(AtomicOp::Max, Scalar::I32).as_deref(),
            Some("max.s32")
        );
        assert_eq!(atomic_suffix(AtomicOp::Add, Scalar::F32), None);
    }
}
