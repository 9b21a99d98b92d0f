//! The entries of kernels: the loops around a device function.

use std::fmt::Write;

use tfrt_support::{Error, ErrorCode};

use super::body::{Class, Code, Label, Register, line};
use super::{BLOCK_THREADS, LaunchForm, MAX_RANK, OperandLayout, entry_name};
use crate::kernel::{FunctionKernel, KernelForm};
use crate::tree::{Function, Scalar, Value};

/// An entry that is being written.
pub(super) struct Entry<'k> {
    pub(super) kernel: &'k FunctionKernel,
    variant: &'k LaunchForm,
    pub(super) code: Code,
    parameters: Vec<String>,
}

/// The threads of a launch that share its elements.
pub(super) struct Threads {
    /// The first element of this thread.
    pub(super) index: Register,
    /// The number of threads.
    step: Register,
}

impl<'k> Entry<'k> {
    pub(super) fn new(kernel: &'k FunctionKernel, variant: &'k LaunchForm) -> Result<Self, Error> {
        let num_operands = kernel.function.parameters.len();
        let is_fitting = match variant {
            LaunchForm::Elementwise(layouts) => layouts.len() == num_operands,
            LaunchForm::Broadcast { rank, .. } => (1..=MAX_RANK).contains(rank),
            LaunchForm::Along { kept, reduced, .. } => kept + reduced <= MAX_RANK,
            LaunchForm::Partial | LaunchForm::Final | LaunchForm::Initial | LaunchForm::Grid => {
                true
            }
        };
        if !is_fitting {
            return Err(Error::new(format!(
                "`{}`: the launch does not fit {num_operands} operands",
                kernel.name
            ))
            .with_code(ErrorCode::InvalidArgument));
        }
        Ok(Self {
            kernel,
            variant,
            code: Code::default(),
            parameters: Vec::new(),
        })
    }

    /// Returns the text of the entry.
    pub(super) fn write(mut self) -> Result<String, Error> {
        let mut shared = Vec::new();
        let mut block = [BLOCK_THREADS, 1, 1];
        match self.variant {
            LaunchForm::Elementwise(layouts) => self.elementwise(layouts)?,
            LaunchForm::Broadcast { rank, is_narrow } => self.broadcast(*rank, *is_narrow)?,
            LaunchForm::Partial | LaunchForm::Final => {
                let num_bytes = BLOCK_THREADS as usize * self.result().size_bytes();
                shared.push(("cache".to_owned(), num_bytes));
                self.reduction()?;
            }
            LaunchForm::Along {
                kept,
                reduced,
                is_shared,
            } => self.along(*kept, *reduced, *is_shared)?,
            LaunchForm::Initial => self.initial()?,
            LaunchForm::Grid => {
                let rules = self.rules()?;
                block = rules.threads;
                shared = super::grid::shared_arrays(rules);
                self.grid(rules)?;
            }
        }
        let mut text = String::new();
        let parameters = self.parameters.join(",\n    ");
        let name = entry_name(self.kernel);
        let [x, y, z] = block;
        let mut written = writeln!(
            text,
            ".visible .entry {name}(\n    {parameters}\n)\n.maxntid {x}, {y}, {z}\n{{"
        );
        for (name, num_bytes) in shared {
            written = written
                .and_then(|()| writeln!(text, "    .shared .align 8 .b8 {name}[{num_bytes}];"));
        }
        written = written.and_then(|()| writeln!(text, "{}    ret;\n}}", self.code.finish()));
        debug_assert!(written.is_ok(), "a string takes any text");
        Ok(text)
    }

    pub(super) fn result(&self) -> Scalar {
        self.kernel.function.result
    }

    /// Declares a parameter of 64 bits, and loads it.
    pub(super) fn parameter(&mut self, name: &str) -> Register {
        self.parameters.push(format!(".param .u64 {name}"));
        let register = self.code.register(Class::Long);
        line!(self.code, "ld.param.u64 {register}, [{name}]");
        register
    }

    /// Declares a pointer to global memory.
    pub(super) fn pointer(&mut self, name: &str) -> Register {
        let generic = self.parameter(name);
        let global = self.code.register(Class::Long);
        line!(self.code, "cvta.to.global.u64 {global}, {generic}");
        global
    }

    pub(super) fn threads(&mut self) -> Threads {
        let code = &mut self.code;
        let [block, size, thread, count] = [(); 4].map(|()| code.register(Class::Word));
        line!(code, "mov.u32 {block}, %ctaid.x");
        line!(code, "mov.u32 {size}, %ntid.x");
        line!(code, "mov.u32 {thread}, %tid.x");
        line!(code, "mov.u32 {count}, %nctaid.x");
        let (index, wide) = (code.register(Class::Long), code.register(Class::Long));
        line!(code, "cvt.u64.u32 {wide}, {thread}");
        line!(code, "mad.wide.u32 {index}, {block}, {size}, {wide}");
        let step = code.register(Class::Long);
        line!(code, "mul.wide.u32 {step}, {count}, {size}");
        Threads { index, step }
    }

    /// Begins a loop over the elements of this thread; returns where it starts and ends.
    pub(super) fn begin_loop(&mut self, threads: &Threads, count: Register) -> (Label, Label) {
        let (head, end) = (self.code.label(), self.code.label());
        let is_done = self.code.register(Class::Predicate);
        self.code.place(head);
        line!(
            self.code,
            "setp.ge.u64 {is_done}, {}, {count}",
            threads.index
        );
        line!(self.code, "@{is_done} bra {end}");
        (head, end)
    }

    pub(super) fn end_loop(&mut self, threads: &Threads, (head, end): (Label, Label)) {
        let Threads { index, step } = threads;
        line!(self.code, "add.u64 {index}, {index}, {step}");
        line!(self.code, "bra {head}");
        self.code.place(end);
    }

    /// Declares the pointers to the operands.
    pub(super) fn operands(&mut self) -> Vec<(Register, Scalar)> {
        let parameters = self.kernel.function.parameters;
        parameters
            .iter()
            .enumerate()
            .map(|(index, parameter)| (self.pointer(&format!("operand{index}")), parameter.ty))
            .collect()
    }

    fn elementwise(&mut self, layouts: &[OperandLayout]) -> Result<(), Error> {
        let count = self.parameter("count");
        let result = self.pointer("result");
        let operands = self.operands();
        let threads = self.threads();
        let within = self.begin_loop(&threads, count);
        let mut arguments = Vec::with_capacity(operands.len());
        for ((base, ty), layout) in operands.into_iter().zip(layouts) {
            let address = match layout {
                OperandLayout::Linear => self.code.element(base, threads.index, ty),
                OperandLayout::Single => base,
            };
            arguments.push(self.code.load("global", address, ty));
        }
        let value = self.code.call(self.kernel.function, &arguments)?;
        let address = self.code.element(result, threads.index, self.result());
        self.code.store("global", address, value, self.result());
        self.end_loop(&threads, within);
        Ok(())
    }

    fn broadcast(&mut self, rank: usize, is_narrow: bool) -> Result<(), Error> {
        let count = self.parameter("count");
        let result = self.pointer("result");
        let operands = self.operands();
        let (class, unsigned) = if is_narrow {
            (Class::Word, "u32")
        } else {
            (Class::Long, "u64")
        };
        let narrowed = |entry: &mut Self, name: String| {
            let wide = entry.parameter(&name);
            if !is_narrow {
                return wide;
            }
            let narrow = entry.code.register(Class::Word);
            line!(entry.code, "cvt.u32.u64 {narrow}, {wide}");
            narrow
        };
        let extents: Vec<Register> = (1..rank)
            .map(|axis| narrowed(self, format!("extent{axis}")))
            .collect();
        let mut strides = Vec::new();
        for operand in 0..operands.len() {
            let of_operand = (0..rank)
                .map(|axis| narrowed(self, format!("stride{operand}_{axis}")))
                .collect::<Vec<Register>>();
            strides.push(of_operand);
        }
        let threads = self.threads();
        let within = self.begin_loop(&threads, count);
        let code = &mut self.code;
        let mut rest = code.register(class);
        if is_narrow {
            line!(code, "cvt.u32.u64 {rest}, {}", threads.index);
        } else {
            line!(code, "mov.b64 {rest}, {}", threads.index);
        }
        // The coordinates, innermost last.
        let mut coordinates = vec![rest; rank];
        for axis in (1..rank).rev() {
            let extent = extents[axis - 1];
            let [quotient, covered, coordinate] = [(); 3].map(|()| code.register(class));
            line!(code, "div.{unsigned} {quotient}, {rest}, {extent}");
            line!(code, "mul.lo.{unsigned} {covered}, {quotient}, {extent}");
            line!(code, "sub.{unsigned} {coordinate}, {rest}, {covered}");
            coordinates[axis] = coordinate;
            rest = quotient;
        }
        coordinates[0] = rest;
        let mut arguments = Vec::with_capacity(operands.len());
        for ((base, ty), strides) in operands.into_iter().zip(strides) {
            let code = &mut self.code;
            let offset = code.register(Class::Long);
            line!(code, "mov.b64 {offset}, 0");
            for (coordinate, stride) in coordinates.iter().zip(strides) {
                if is_narrow {
                    line!(
                        code,
                        "mad.wide.u32 {offset}, {coordinate}, {stride}, {offset}"
                    );
                } else {
                    line!(
                        code,
                        "mad.lo.u64 {offset}, {coordinate}, {stride}, {offset}"
                    );
                }
            }
            let address = self.code.element(base, offset, ty);
            arguments.push(self.code.load("global", address, ty));
        }
        let value = self.code.call(self.kernel.function, &arguments)?;
        let address = self.code.element(result, threads.index, self.result());
        self.code.store("global", address, value, self.result());
        self.end_loop(&threads, within);
        Ok(())
    }

    /// Each thread combines its elements in order; then the threads of a block combine theirs, each
    /// half of them with the other half. [`crate::cpu::reduce`] does the same.
    fn reduction(&mut self) -> Result<(), Error> {
        let KernelForm::Reduce { identity, combine } = &self.kernel.form else {
            return Ok(());
        };
        let ty = self.result();
        check_combination(self.kernel, combine, identity())?;
        let count = self.parameter("count");
        let result = self.pointer("result");
        let operands = match self.variant {
            LaunchForm::Final => vec![(self.pointer("parts"), ty)],
            _ => self.operands(),
        };
        let threads = self.threads();
        let sum = self.code.constant(identity());
        let within = self.begin_loop(&threads, count);
        let mut arguments = Vec::with_capacity(operands.len());
        for (base, ty) in operands {
            let address = self.code.element(base, threads.index, ty);
            arguments.push(self.code.load("global", address, ty));
        }
        let value = match self.variant {
            LaunchForm::Final => arguments[0],
            _ => self.code.call(self.kernel.function, &arguments)?,
        };
        let next = self.code.call(combine, &[sum, value])?;
        self.code.copy(sum, next);
        self.end_loop(&threads, within);

        // The tree in shared memory.
        let [thread, half] = [(); 2].map(|()| self.code.register(Class::Word));
        line!(self.code, "mov.u32 {thread}, %tid.x");
        let cache = self.code.register(Class::Long);
        line!(self.code, "mov.u64 {cache}, cache");
        let index = self.code.register(Class::Long);
        line!(self.code, "cvt.u64.u32 {index}, {thread}");
        let own = self.code.element(cache, index, ty);
        self.code.store("shared", own, sum, ty);
        line!(self.code, "mov.u32 {half}, {}", BLOCK_THREADS / 2);
        let (head, skip, is_idle) = (
            self.code.label(),
            self.code.label(),
            self.code.register(Class::Predicate),
        );
        self.code.place(head);
        line!(self.code, "bar.sync 0");
        line!(self.code, "setp.ge.u32 {is_idle}, {thread}, {half}");
        line!(self.code, "@{is_idle} bra {skip}");
        let (other_thread, wide) = (
            self.code.register(Class::Word),
            self.code.register(Class::Long),
        );
        line!(self.code, "add.u32 {other_thread}, {thread}, {half}");
        line!(self.code, "cvt.u64.u32 {wide}, {other_thread}");
        let other = self.code.element(cache, wide, ty);
        let (a, b) = (
            self.code.load("shared", own, ty),
            self.code.load("shared", other, ty),
        );
        let combined = self.code.call(combine, &[a, b])?;
        self.code.store("shared", own, combined, ty);
        self.code.place(skip);
        line!(self.code, "shr.u32 {half}, {half}, 1");
        let is_more = self.code.register(Class::Predicate);
        line!(self.code, "setp.ne.u32 {is_more}, {half}, 0");
        line!(self.code, "@{is_more} bra {head}");

        let end = self.code.label();
        let is_other = self.code.register(Class::Predicate);
        line!(self.code, "setp.ne.u32 {is_other}, {thread}, 0");
        line!(self.code, "@{is_other} bra {end}");
        let [block, wide] = [Class::Word, Class::Long].map(|class| self.code.register(class));
        line!(self.code, "mov.u32 {block}, %ctaid.x");
        line!(self.code, "cvt.u64.u32 {wide}, {block}");
        let target = self.code.element(result, wide, ty);
        let value = self.code.load("shared", own, ty);
        self.code.store("global", target, value, ty);
        self.code.place(end);
        Ok(())
    }
}

/// Refuses an identity or a combination of another type, which the macro cannot write.
pub(super) fn check_combination(
    kernel: &FunctionKernel,
    combine: &Function,
    identity: Value,
) -> Result<(), Error> {
    let ty = kernel.function.result;
    let is_fitting = identity.ty == ty
        && combine.result == ty
        && combine.parameters.len() == 2
        && combine
            .parameters
            .iter()
            .all(|parameter| parameter.ty == ty);
    if is_fitting {
        return Ok(());
    }
    Err(Error::new(format!(
        "`{}`: the identity and `{}` must be of the type of the function, `{ty}`",
        kernel.name, combine.name
    ))
    .with_code(ErrorCode::InvalidArgument))
}
