//! The operands that non-strict kernels wait for.

use std::borrow::Cow;
use std::collections::HashMap;

use tfrt_bef::{KernelId as FileKernelId, VerifiedFunction};
use tfrt_support::entity::EntityId;

use super::tables::{Tables, to_number};

/// Returns `true` if the file runs a kernel non-strictly.
pub(crate) fn is_non_strict(function: &VerifiedFunction, kernel: FileKernelId) -> bool {
    function.kernel_table()[kernel.index()]
        .flags
        .is_non_strict()
}

/// The operands that non-strict kernels wait for. Empty for most functions.
#[derive(Debug, Default)]
pub(crate) struct Waits {
    /// By kernel number: the positions of the operands that it waits for; empty if it waits for
    /// any.
    positions: HashMap<u32, Vec<u32>>,
    /// By kernel and register: how often the register is an operand that the kernel waits for.
    counts: HashMap<(u32, u32), usize>,
}

impl Waits {
    pub(crate) fn new(tables: &Tables, function: &VerifiedFunction) -> Self {
        let mut waits = Self::default();
        for kernel in function
            .kernels()
            .filter(|&kernel| is_non_strict(function, kernel))
        {
            let record = function.record(kernel);
            let op = tables.kernel(record.code).op();
            let operands = record.operands.as_words();
            let groups = op.operand_groups();
            let is_waited = |&(position, _): &(u32, &u32)| {
                let part = groups.part_of(position as usize, operands.len());
                part.is_none_or(|part| !op.operands[part].is_reference)
            };
            let waited: Vec<(u32, &u32)> = (0..).zip(operands).filter(is_waited).collect();
            let counted: Vec<u32> = match waited.is_empty() {
                true => operands.to_vec(),
                false => waited.iter().map(|&(_, &register)| register).collect(),
            };
            for register in counted {
                *waits
                    .counts
                    .entry((to_number(kernel), register))
                    .or_default() += 1;
            }
            waits.positions.insert(
                to_number(kernel),
                waited.iter().map(|&(position, _)| position).collect(),
            );
        }
        waits
    }

    /// Returns `true` if every kernel waits for all of its operands.
    pub(crate) fn is_empty(&self) -> bool {
        self.positions.is_empty()
    }

    /// Returns the positions that a kernel waits for, or `None` if it is strict.
    pub(crate) fn of_kernel(&self, kernel: u32) -> Option<&[u32]> {
        self.positions.get(&kernel).map(Vec::as_slice)
    }

    /// Returns the users of a register whose counts its arrival decrements.
    pub(crate) fn users_to_count<'a>(&self, register: u32, users: &'a [u32]) -> Cow<'a, [u32]> {
        if self.positions.is_empty() {
            return Cow::Borrowed(users);
        }
        let mut counted: HashMap<u32, usize> = HashMap::new();
        let is_counted = |user: &&u32| {
            if !self.positions.contains_key(user) {
                return true;
            }
            let seen = counted.entry(**user).or_default();
            *seen += 1;
            self.counts
                .get(&(**user, register))
                .is_some_and(|&count| *seen <= count)
        };
        users.iter().filter(is_counted).copied().collect()
    }

    /// Returns the registers that a kernel may read before they are available.
    pub(crate) fn early_registers(&self, function: &VerifiedFunction) -> impl Iterator<Item = u32> {
        let non_strict = function
            .kernels()
            .filter(|&kernel| self.positions.contains_key(&to_number(kernel)));
        non_strict.flat_map(|kernel| function.record(kernel).operands.as_words().iter().copied())
    }
}
