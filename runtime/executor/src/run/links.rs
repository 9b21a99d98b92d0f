//! How arguments and results move between the frames of a caller and a callee, worked out by the
//! first call.

use std::sync::OnceLock;

use tfrt_async::TypeIndex;
use tfrt_bef::FunctionId;

use crate::lower::code::{BoolCell, Code, KernelDetails, Register};
use crate::run::frame::{CellCopy, SmallFrame};

/// How one kernel calls one function, passing values from place to place.
#[derive(Debug)]
pub(crate) struct Link {
    pub(crate) callee: FunctionId,
    /// The copies of the arguments, if all of them are copied from cell to cell.
    pub(crate) arguments: Option<Box<[CellCopy]>>,
    /// The copies of the results, if all of them are copied from cell to cell.
    pub(crate) results: Option<Box<[CellCopy]>>,
    /// Whether the callee is a leaf whose frame is small, and all arguments and results are copied
    /// from cell to cell.
    pub(crate) is_small_leaf: bool,
}

impl Link {
    /// Returns how a kernel of `caller` calls `callee`, function `id`, with these operands, or
    /// `None` if the call has to be made in another way: the numbers of arguments or results
    /// differ, or an argument is not of the type that is fixed for it.
    #[cold]
    pub(crate) fn between(
        caller: &Code,
        operands: &[u32],
        details: &KernelDetails,
        id: FunctionId,
        callee: &Code,
        fixed_arguments: &[Option<TypeIndex>],
    ) -> Option<Self> {
        let counts = (callee.start.arguments.len(), callee.results.len());
        if counts != (operands.len(), details.results.len()) {
            return None;
        }
        let sources = operands
            .iter()
            .map(|&register| &caller.registers[register as usize]);
        let arguments = match Passing::of_arguments(sources, callee, fixed_arguments) {
            Passing::Copied(copies) => Some(copies),
            Passing::Otherwise => None,
            Passing::Refused => return None,
        };
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
        let results = collect(results).filter(|_| !is_repeated);
        let is_copied = arguments.is_some() && results.is_some();
        Some(Self {
            callee: id,
            arguments,
            results,
            is_small_leaf: is_copied && callee.leaf.is_some() && SmallFrame::fits(callee),
        })
    }
}

/// How values become the arguments of a function.
enum Passing {
    /// All of them are copied from cell to cell.
    Copied(Box<[CellCopy]>),
    /// Some of them are passed in another way.
    Otherwise,
    /// One of them is never of the type that is fixed for it.
    Refused,
}

impl Passing {
    /// Returns how the values of these registers become the arguments of `callee`. A value in a
    /// cell has a known type, which is compared here; that of any other value is compared when it
    /// is passed.
    fn of_arguments<'a>(
        values: impl Iterator<Item = &'a Register> + Clone,
        callee: &Code,
        fixed_arguments: &[Option<TypeIndex>],
    ) -> Self {
        let is_refused = |(from, &fixed): (&Register, &Option<TypeIndex>)| {
            from.cell.is_some() && fixed.is_some_and(|fixed| from.ty != Some(fixed))
        };
        if values.clone().zip(fixed_arguments).any(is_refused) {
            return Self::Refused;
        }
        let arguments = &callee.registers[..callee.start.arguments.len()];
        let copies = values.zip(arguments).map(|(from, to)| match to.num_held {
            0 => copy(from, to),
            _ => None,
        });
        collect(copies).map_or(Self::Otherwise, Self::Copied)
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
    /// The result after the carried ones, if there is one.
    pub(crate) condition: Option<BoolCell>,
}

impl Carrying {
    /// Returns how the results of `code` become its arguments, some of which have to be of a fixed
    /// type, or `None` if they are passed in another way.
    #[cold]
    pub(crate) fn of(code: &Code, fixed_arguments: &[Option<TypeIndex>]) -> Option<Self> {
        let num_arguments = code.start.arguments.len();
        let condition = match code.results.len().checked_sub(num_arguments)? {
            0 => None,
            // A condition of another type is an error, which the general way reports.
            1 => Some(BoolCell::of(code.register(*code.results.last()?))?),
            _ => return None,
        };
        let results = code.results.iter().map(|&id| code.register(id));
        // Results of one register are one value, which copies would not be.
        if code.has_repeated_results() || !results.clone().all(|result| result.cell.is_some()) {
            return None;
        }
        let carried = results.take(num_arguments);
        match Passing::of_arguments(carried, code, fixed_arguments) {
            Passing::Copied(copies) => Some(Self { copies, condition }),
            Passing::Otherwise | Passing::Refused => None,
        }
    }
}

/// The links of the kernels of a body that call functions.
#[derive(Debug)]
pub(crate) struct Links(Box<[OnceLock<Option<Link>>]>);

impl Links {
    /// Creates as many empty links as the code has.
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
