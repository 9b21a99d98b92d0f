//! A module whose variables have addresses.

use crate::error::LinkError;
use crate::memory::{AccessError, Memory};
use crate::module::{Module, Relocation, Variable};
use crate::types::Space;

/// Bits of an address that say which window it lies in. Zero is memory of the device.
pub(crate) const WINDOW: u64 = 0xff << 56;
pub(crate) const SHARED: u64 = 1 << 56;
pub(crate) const LOCAL: u64 = 2 << 56;
pub(crate) const PARAM: u64 = 3 << 56;
/// Addresses of functions.
pub(crate) const CODE: u64 = 15 << 56;

/// A module that can be launched.
///
/// ```
/// use tfrt_ptx::{Arena, Memory, Module, Program};
///
/// let module = Module::parse(".version 8.0\n.target sm_90\n.address_size 64\n.global .u32 counts[2] = {7};")?;
/// let mut memory = Arena::new();
/// let program = Program::place(module, |variable| Some(memory.allocate(variable.size() as usize)))?;
/// program.initialise(&mut memory)?;
/// let mut bytes = [0; 8];
/// memory.read(program.address("counts").unwrap(), &mut bytes)?;
/// assert_eq!(bytes, [7, 0, 0, 0, 0, 0, 0, 0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Program {
    pub(crate) module: Module,
    /// By index of the variable; zero for variables in shared memory, which each kernel lays out.
    pub(crate) addresses: Vec<u64>,
}

impl Program {
    /// Assigns the addresses of `address_of` to the variables of a module. A variable without an
    /// address is missing.
    ///
    /// # Errors
    /// If a variable has no address, or one that is not aligned or not on the device; or if an
    /// initial value names an unknown symbol.
    pub fn place(
        module: Module,
        mut address_of: impl FnMut(&Variable) -> Option<u64>,
    ) -> Result<Self, LinkError> {
        let mut addresses = Vec::with_capacity(module.variables.len());
        for variable in &module.variables {
            let error = |reason| LinkError {
                symbol: variable.name.clone(),
                reason,
            };
            if variable.space == Space::Shared {
                addresses.push(0);
                continue;
            }
            let address = address_of(variable).ok_or_else(|| error("has no address"))?;
            if address & WINDOW != 0
                || address
                    .checked_add(variable.size)
                    .is_none_or(|end| end & WINDOW != 0)
            {
                return Err(error("has an address of more than 56 bits"));
            }
            if !address.is_multiple_of(variable.align) {
                return Err(error("has a misaligned address"));
            }
            addresses.push(address);
        }
        let mut program = Self { module, addresses };
        for index in 0..program.module.variables.len() {
            let relocations = std::mem::take(&mut program.module.variables[index].relocations);
            for Relocation {
                at,
                width,
                symbol,
                offset,
            } in relocations
            {
                let Some(address) = program.symbol(&symbol) else {
                    return Err(LinkError {
                        symbol,
                        reason: "is used by an initializer but is not defined in device memory",
                    });
                };
                let bytes = address.wrapping_add_signed(offset).to_le_bytes();
                program.module.variables[index].initial[at..at + width]
                    .copy_from_slice(&bytes[..width]);
            }
        }
        Ok(program)
    }

    fn symbol(&self, name: &str) -> Option<u64> {
        let function = || {
            self.module
                .function_by_name
                .get(name)
                .map(|&id| CODE | u64::from(id))
        };
        self.address(name).or_else(function)
    }

    /// Returns the module.
    pub fn module(&self) -> &Module {
        &self.module
    }

    /// Returns the address of a variable in global or constant memory.
    pub fn address(&self, name: &str) -> Option<u64> {
        let index = *self.module.variable_by_name.get(name)? as usize;
        (self.module.variables[index].space != Space::Shared).then(|| self.addresses[index])
    }

    /// Writes the first values of all variables that the module defines.
    ///
    /// # Errors
    /// If the memory refuses one.
    pub fn initialise(&self, memory: &mut dyn Memory) -> Result<(), AccessError> {
        for (variable, &address) in self.module.variables.iter().zip(&self.addresses) {
            if variable.space == Space::Shared || variable.is_extern {
                continue;
            }
            let mut at = 0;
            while at < variable.size {
                let mut piece = [0; 32];
                let len = (variable.size - at).min(32) as usize;
                let first = usize::try_from(at)
                    .unwrap_or(usize::MAX)
                    .min(variable.initial.len());
                let known =
                    &variable.initial[first..variable.initial.len().min(first.saturating_add(len))];
                piece[..known.len()].copy_from_slice(known);
                memory.write(address + at, &piece[..len])?;
                at += len as u64;
            }
        }
        Ok(())
    }
}
