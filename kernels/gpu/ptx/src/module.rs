//! Parsed PTX: functions and variables by name.

use std::collections::HashMap;
use std::fmt;

use crate::error::ParseError;
use crate::instruction::{Instruction, Op, Register};
use crate::types::{ScalarType, Space};

/// A parsed text. It belongs to no device and holds no memory.
///
/// ```
/// let module = tfrt_ptx::Module::parse(".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry nothing() { ret; }").unwrap();
/// let kernel = module.kernel("nothing").unwrap();
/// assert!(module.parameters(kernel).is_empty());
/// let error = tfrt_ptx::Module::parse(".version 8.0\n.entry k() { add.u32 %r1, 1; }").unwrap_err();
/// assert_eq!((error.line(), error.column()), (2, 22));
/// ```
pub struct Module {
    pub(crate) source: String,
    pub(crate) version: (u32, u32),
    pub(crate) target: String,
    pub(crate) functions: Vec<Function>,
    pub(crate) function_by_name: HashMap<String, u32>,
    pub(crate) variables: Vec<Variable>,
    pub(crate) variable_by_name: HashMap<String, u32>,
}

/// A kernel of a module.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct KernelId(pub(crate) u32);

/// The position of a kernel's parameter in the block of parameters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Parameter {
    /// Bytes before it.
    pub offset: usize,
    /// Bytes that it takes.
    pub size: usize,
}

/// A variable of a module.
#[derive(Clone, Debug)]
pub struct Variable {
    pub(crate) name: String,
    pub(crate) space: Space,
    pub(crate) align: u64,
    pub(crate) size: u64,
    pub(crate) is_extern: bool,
    /// The first bytes; zeros follow.
    pub(crate) initial: Vec<u8>,
    pub(crate) relocations: Vec<Relocation>,
}

/// An address that becomes known when variables are placed.
#[derive(Clone, Debug)]
pub(crate) struct Relocation {
    pub(crate) at: usize,
    pub(crate) width: usize,
    pub(crate) symbol: String,
    pub(crate) offset: i64,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Function {
    pub(crate) name: String,
    pub(crate) is_kernel: bool,
    /// Whether it has a body.
    pub(crate) is_defined: bool,
    pub(crate) parameters: Vec<Formal>,
    pub(crate) results: Vec<Formal>,
    /// Bytes of parameters, results and arguments of calls in a frame.
    pub(crate) param_bytes: usize,
    pub(crate) local_bytes: usize,
    pub(crate) num_registers: usize,
    pub(crate) max_threads: Option<u32>,
    pub(crate) code: Vec<Instruction>,
    /// Functions that it calls or whose address it takes.
    pub(crate) callees: Vec<u32>,
    pub(crate) calls_pointers: bool,
    /// Variables in shared memory that it names.
    pub(crate) shared: Vec<u32>,
}

/// A parameter or a result of a function.
#[derive(Clone, Debug)]
pub(crate) struct Formal {
    pub(crate) offset: usize,
    pub(crate) size: usize,
    /// If it is a register, which.
    pub(crate) register: Option<Register>,
    pub(crate) ty: ScalarType,
}

impl Variable {
    /// Returns the name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the state space: global, const or shared.
    pub fn space(&self) -> Space {
        self.space
    }

    /// Returns the alignment in bytes, a power of two.
    pub fn align(&self) -> u64 {
        self.align
    }

    /// Returns the size in bytes.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Returns `true` if another module defines it.
    pub fn is_extern(&self) -> bool {
        self.is_extern
    }
}

impl Module {
    /// Parses PTX. A NUL ends the text, as in an image that is handed to a driver.
    ///
    /// # Errors
    /// At the first word that is not PTX. An instruction that is PTX but cannot be run fails when
    /// it is launched.
    pub fn parse(text: &str) -> Result<Self, ParseError> {
        crate::parse::module(text.split('\0').next().unwrap_or_default())
    }

    /// Returns the version of PTX that the text names.
    pub fn version(&self) -> (u32, u32) {
        self.version
    }

    /// Returns the architecture that the text names, such as `sm_90`.
    pub fn target(&self) -> &str {
        &self.target
    }

    /// Returns the kernel of that name.
    pub fn kernel(&self, name: &str) -> Option<KernelId> {
        let id = *self.function_by_name.get(name)?;
        let function = &self.functions[id as usize];
        (function.is_kernel && function.is_defined).then_some(KernelId(id))
    }

    /// Returns all kernels and their names, in the order of the text.
    pub fn kernels(&self) -> impl Iterator<Item = (KernelId, &str)> {
        let numbered = self.functions.iter().enumerate();
        numbered
            .filter(|(_, function)| function.is_kernel && function.is_defined)
            .map(|(id, function)| (KernelId(id as u32), &*function.name))
    }

    /// Returns the parameters of a kernel, in order.
    pub fn parameters(&self, kernel: KernelId) -> Vec<Parameter> {
        let formals = &self.functions[kernel.0 as usize].parameters;
        formals
            .iter()
            .map(|&Formal { offset, size, .. }| Parameter { offset, size })
            .collect()
    }

    /// Returns the variables in global and constant memory, for which a [`Program`](crate::Program)
    /// needs addresses.
    pub fn variables(&self) -> impl Iterator<Item = &Variable> {
        self.variables
            .iter()
            .filter(|variable| variable.space != Space::Shared)
    }

    /// Returns the first unsupported instruction that a launch of the kernel could reach: its line,
    /// and the reason.
    pub fn unsupported(&self, kernel: KernelId) -> Option<(u32, &str)> {
        self.reachable(kernel)
            .into_iter()
            .flat_map(|id| &self.functions[id as usize].code)
            .find_map(|instruction| match &instruction.op {
                Op::Unsupported(reason) => Some((instruction.line, &**reason)),
                _ => None,
            })
    }

    /// Returns the functions that a kernel can reach, starting with itself.
    pub(crate) fn reachable(&self, kernel: KernelId) -> Vec<u32> {
        let mut is_reached = vec![false; self.functions.len()];
        is_reached[kernel.0 as usize] = true;
        let mut order = vec![kernel.0];
        let mut next = 0;
        while let Some(&id) = order.get(next) {
            next += 1;
            let function = &self.functions[id as usize];
            let all = if function.calls_pointers {
                0..self.functions.len() as u32
            } else {
                0..0
            };
            for callee in function.callees.iter().copied().chain(all) {
                let callee_function = &self.functions[callee as usize];
                if !callee_function.is_kernel
                    && !std::mem::replace(&mut is_reached[callee as usize], true)
                {
                    order.push(callee);
                }
            }
        }
        order
    }
}

impl fmt::Debug for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kernels: Vec<_> = self.kernels().map(|(_, name)| name).collect();
        f.debug_struct("Module")
            .field("version", &self.version)
            .field("target", &self.target)
            .field("kernels", &kernels)
            .finish()
    }
}
