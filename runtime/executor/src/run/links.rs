//! How arguments and results move between the frames of a caller and a callee, worked out by the
//! first call.

use std::sync::OnceLock;

use tfrt_async::TypeIndex;
use tfrt_bef::FunctionId;

use crate::lower::code::{Code, KernelDetails, Register, RegisterId};
use crate::run::frame::CellCopy;

/// How one kernel calls one function, passing values from place to place.
#[derive(Debug)]
pub(crate) struct Link {
    pub(crate) callee: FunctionId,
    /// The copies of the arguments, if all of them are copied from cell to cell.
    pub(crate) arguments: Option<Box<[CellCopy]>>,
    /// The copies of the results, if all of them are copied from cell to cell.
    pub(crate) results: Option<Box<[CellCopy]>>,
    /// Whether the callee is a leaf.
    pub(crate) is_leaf: bool,
}

impl Link {
    /// Returns how a kernel of `caller` calls `callee`, function `id`, with these operands, or
    /// `None` if the numbers of arguments or results differ.
    #[cold]
    pub(crate) fn between(
        caller: &Code,
        operands: &[u32],
        details: &KernelDetails,
        id: FunctionId,
        callee: &Code,
    ) -> Option<Self> {
        let counts = (callee.start.arguments.len(), callee.results.len());
        if counts != (operands.len(), details.results.len()) {
            return None;
        }
        let sources = operands
            .iter()
            .map(|&register| &caller.registers[register as usize]);
        let arguments = sources.zip(&callee.registers);
        let arguments = arguments.map(|(from, to)| match to.num_takes() {
            0 => copy(from, to),
            _ => None,
        });
        let sources = callee
            .results
            .iter()
            .map(|&register| callee.register(register));
        let targets = details
            .results
            .iter()
            .map(|result| caller.register(result.register));
        let results = sources.zip(targets).map(|(from, to)| copy(from, to));
        // Results of one register are one value, which copies would not be.
        let is_repeated = callee.has_repeated_results();
        Some(Self {
            callee: id,
            arguments: collect(arguments),
            results: collect(results).filter(|_| !is_repeated),
            is_leaf: callee.is_leaf,
        })
    }
}

/// Returns the copy that passes a value, or `Some(None)` if the value is not read and needs no
/// copy. Returns `None` if the value cannot be passed by copying: a value that is not in a cell may
/// be an error, which has to be inspected even if the value is not read.
fn copy(from: &Register, to: &Register) -> Option<Option<CellCopy>> {
    match (from.cell, to.cell, to.slot) {
        (Some(_), None, None) if !to.has_typed_readers => Some(None),
        _ => CellCopy::between(from, to).map(Some),
    }
}

fn collect(copies: impl Iterator<Item = Option<Option<CellCopy>>>) -> Option<Box<[CellCopy]>> {
    let copies: Option<Vec<Option<CellCopy>>> = copies.collect();
    Some(copies?.into_iter().flatten().collect())
}

/// How the results of a function become the arguments of its next round, if all of them are copied
/// from cell to cell.
#[derive(Debug)]
pub(crate) struct Carrying {
    pub(crate) copies: Box<[CellCopy]>,
    /// The register of the result after the carried ones, which is a `bool` in a cell, if there is
    /// one.
    pub(crate) condition: Option<RegisterId>,
}

impl Carrying {
    /// Returns how the results of `code` become its arguments, some of which have to be of a fixed
    /// type, or `None` if they are passed in another way.
    #[cold]
    pub(crate) fn of(code: &Code, fixed_arguments: &[Option<TypeIndex>]) -> Option<Self> {
        let num_arguments = code.start.arguments.len();
        let condition = match code.results.len().checked_sub(num_arguments)? {
            0 => None,
            1 => code.results.last().copied(),
            _ => return None,
        };
        let is_bool = |id: RegisterId| code.register(id).ty == Some(TypeIndex::of::<bool>());
        let results = code.results.iter().map(|&id| code.register(id));
        if !condition.is_none_or(is_bool)
            || !results.clone().all(|result| result.cell.is_some())
            // Results of one register are one value, which copies would not be.
            || code.has_repeated_results()
        {
            return None;
        }
        let arguments = code.registers[..num_arguments].iter().zip(fixed_arguments);
        let copies = results.zip(arguments).map(|(from, (to, &fixed))| {
            let is_accepted = fixed.is_none_or(|fixed| from.ty == Some(fixed));
            match to.num_takes() {
                0 if is_accepted => copy(from, to),
                _ => None,
            }
        });
        Some(Self {
            copies: collect(copies)?,
            condition,
        })
    }
}

/// The links of the kernels of a body that call functions.
#[derive(Debug)]
pub(crate) struct Links(Box<[OnceLock<Option<Link>>]>);

impl Links {
    /// Returns as many empty links as the code has.
    pub(crate) fn of(code: &Code) -> Self {
        Self((0..code.num_links).map(|_| OnceLock::new()).collect())
    }

    /// Returns the link of a kernel to one of its functions, if it has been made.
    #[inline]
    pub(crate) fn made(&self, kernel: &KernelDetails, number: u32) -> Option<&Link> {
        let index = kernel.first_link + number;
        self.0.get(index as usize)?.get()?.as_ref()
    }

    /// Returns the link of a kernel to one of its functions. The first call computes it with
    /// `make`.
    #[inline]
    pub(crate) fn get(
        &self,
        kernel: &KernelDetails,
        number: u32,
        make: impl FnOnce() -> Option<Link>,
    ) -> Option<&Link> {
        let index = kernel.first_link + number;
        self.0[index as usize].get_or_init(make).as_ref()
    }
}
