//! Where the values of a function are: which kernels run in place, and which registers have slots and cells.
//!
//! 1. The type of a register is the one that its producer gives. Where the producer does not say, it is the first one that a
//!    kernel which could run in place reads: an assumption, which publication checks at run time.
//! 2. A kernel runs in place if it can, and if every operand that it reads as a payload has the type that it reads. It reads no
//!    slot of an early register, and writes none.
//! 3. A register has a slot if its slot is ever taken from or put into, and a cell if a kernel that runs in place reads or
//!    writes a copied payload there.
//!
//! Linear in the size of the body.

use std::collections::HashSet;
use std::ops::Range;

use tfrt_async::{Chain, TypeIndex};
use tfrt_host::kernel::KernelTypes;
use tfrt_host::kernel::direct::Direct;

use crate::body::{Extras, NonZeroOffset, Register, ResultForm};
use crate::invocation::{BlockBuilder, BlockLayout};

/// One kernel, as far as places are concerned.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KernelPlaces<'a> {
    /// How it runs in place, if it can; nothing for a kernel that does not run strictly.
    pub(crate) direct: Option<Direct>,
    pub(crate) types: &'a KernelTypes,
    pub(crate) operands: &'a [u32],
    pub(crate) results: &'a [u32],
    /// Whether it gives the same results in every invocation.
    pub(crate) is_constant: bool,
}

/// What was decided of one kernel that runs in place.
#[derive(Debug, Default)]
pub(crate) struct InPlace {
    pub(crate) extras: Extras,
    pub(crate) forms: Vec<ResultForm>,
    /// The registers whose slots it has to be taken out of.
    pub(crate) taken: Vec<u32>,
    /// Of results, then of operands.
    pub(crate) offsets: Vec<u32>,
}

/// Where the values of a body are.
#[derive(Debug)]
pub(crate) struct Places {
    pub(crate) registers: Box<[Register]>,
    /// For each kernel, how it runs in place; nothing if it does not.
    pub(crate) kernels: Vec<Option<InPlace>>,
    /// The registers that the function returns, each once.
    pub(crate) returned: Box<[u32]>,
    pub(crate) early: Box<[u32]>,
    pub(crate) block: BlockLayout,
    /// The bytes of the block that are cells of constants, and nothing else.
    pub(crate) constants: Range<usize>,
}

/// How an operand of a kernel that runs in place is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reading {
    /// Its payload, of this type.
    Payload(TypeIndex),
    /// As a reference.
    Reference,
    /// Not at all, but it has to be a chain.
    Chain,
}

/// Decides where the values of a body are; nothing if there are too many. `types` holds, for each register, the payload type
/// that its producer gives, if that is known. `start_block` begins a block that has so many results and early registers.
pub(crate) fn assign(
    kernels: &[KernelPlaces<'_>],
    mut types: Vec<Option<TypeIndex>>,
    results: &[u32],
    is_early: &HashSet<u32>,
    start_block: impl FnOnce(usize, usize) -> Option<BlockBuilder>,
) -> Option<Places> {
    assume_types(kernels, &mut types);
    let mut early: Vec<u32> = is_early.iter().copied().collect();
    early.sort_unstable();
    let (mut registers, returned) = describe(&types, results, &early);
    let readings = choose(kernels, &types, is_early);
    let mut needs = vec![Needs::default(); registers.len()];
    for &register in &early {
        needs[register as usize].slot = true;
    }
    let uses = kernels.iter().zip(&readings);
    let mut in_place: Vec<Option<InPlace>> = uses
        .map(|(kernel, readings)| {
            count_uses(kernel, readings.as_deref(), &mut registers, &mut needs)
        })
        .collect();
    for register in &mut registers {
        register.is_wanted =
            register.num_references > 0 || register.returned.is_some() || register.early.is_some();
    }
    let mut block = start_block(returned.len(), early.len())?;
    let constants = lay_out(&mut block, &mut registers, &needs)?;
    for ((kernel, readings), chosen) in kernels.iter().zip(&readings).zip(&mut in_place) {
        let (Some(readings), Some(chosen), Some(direct)) = (readings, chosen, kernel.direct) else {
            continue;
        };
        complete(chosen, kernel, direct, readings, &registers)?;
        let is_constant = |register: &u32| needs[*register as usize].is_constant;
        let is_constant = !kernel.results.is_empty() && kernel.results.iter().all(is_constant);
        // It is not called, so that it reads nothing.
        chosen.extras = chosen.extras.with_if(is_constant, Extras::CONSTANT);
    }
    Some(Places {
        registers: registers.into(),
        kernels: in_place,
        returned: returned.into(),
        early: early.into(),
        block: block.finish(kernels.len())?,
        constants,
    })
}

/// Lets each register whose producer does not say its type have the first one that is read.
fn assume_types(kernels: &[KernelPlaces<'_>], types: &mut [Option<TypeIndex>]) {
    for kernel in kernels {
        for (reading, &register) in readings(kernel).into_iter().flatten().zip(kernel.operands) {
            types[register as usize] = types[register as usize].or(reading.payload());
        }
    }
}

/// The registers, as far as they are known without the kernels, and those that are returned, each once.
fn describe(
    types: &[Option<TypeIndex>],
    results: &[u32],
    early: &[u32],
) -> (Vec<Register>, Vec<u32>) {
    let mut registers: Vec<Register> = types
        .iter()
        .map(|&ty| Register {
            ty,
            ..Register::default()
        })
        .collect();
    let mut returned: Vec<u32> = Vec::new();
    for &register in results {
        registers[register as usize]
            .returned
            .get_or_insert_with(|| {
                returned.push(register);
                to_u32(returned.len() - 1)
            });
    }
    for (index, &register) in early.iter().enumerate() {
        registers[register as usize].early = Some(to_u32(index));
    }
    (registers, returned)
}

/// How each kernel reads its operands, if it runs in place.
fn choose(
    kernels: &[KernelPlaces<'_>],
    types: &[Option<TypeIndex>],
    is_early: &HashSet<u32>,
) -> Vec<Option<Vec<Reading>>> {
    let choose_one = |kernel: &KernelPlaces<'_>| {
        let readings = readings(kernel)?;
        // The slot of an early register is not free to be written.
        let writes_early = kernel
            .results
            .iter()
            .any(|register| is_early.contains(register));
        let agrees = |(reading, &register): (&Reading, &u32)| {
            let wanted = reading.payload();
            // Others hold what is in the slot of an early register, and may make it an error before its producer comes:
            // publication, which looks at what the producer gives, would not learn of that.
            let is_settled = reading.is_copied() || !is_early.contains(&register);
            is_settled && (wanted.is_none() || wanted == types[register as usize])
        };
        let all_agree = readings.iter().zip(kernel.operands).all(agrees);
        (all_agree && !writes_early).then_some(readings)
    };
    kernels.iter().map(choose_one).collect()
}

/// Counts what a kernel takes, and notes what its registers need; what is decided of it, if it runs in place.
fn count_uses(
    kernel: &KernelPlaces<'_>,
    readings: Option<&[Reading]>,
    registers: &mut [Register],
    needs: &mut [Needs],
) -> Option<InPlace> {
    let Some(readings) = readings else {
        for &register in kernel.operands {
            registers[register as usize].num_references += 1;
        }
        return None;
    };
    let mut chosen = InPlace::default();
    for (reading, &register) in readings.iter().zip(kernel.operands) {
        registers[register as usize].has_direct_readers = true;
        if reading.is_copied() {
            needs[register as usize].cell = true;
        } else {
            chosen.taken.push(register);
            registers[register as usize].num_references += 1;
        }
    }
    chosen.forms = (0..kernel.results.len())
        .map(|index| result_form(kernel, index))
        .collect();
    let is_in_cells = chosen.forms.iter().all(|&form| form == ResultForm::Cell);
    for (&register, &form) in kernel.results.iter().zip(&chosen.forms) {
        let needs = &mut needs[register as usize];
        needs.cell |= form == ResultForm::Cell;
        needs.slot |= form != ResultForm::Cell;
        needs.is_constant = kernel.is_constant && kernel.operands.is_empty() && is_in_cells;
    }
    Some(chosen)
}

/// Gives registers their places; which bytes of the block are cells of constants.
fn lay_out(
    block: &mut BlockBuilder,
    registers: &mut [Register],
    needs: &[Needs],
) -> Option<Range<usize>> {
    for (register, needs) in registers.iter_mut().zip(needs) {
        if needs.slot || register.num_references > 0 {
            register.slot = Some(block.slot()?);
        }
        if needs.cell && !needs.is_constant {
            register.cell = Some(place_cell(block, register)?);
        }
    }
    let first_constant = block.next_word()?;
    for (register, needs) in registers.iter_mut().zip(needs) {
        if needs.cell && needs.is_constant {
            register.cell = Some(place_cell(block, register)?);
        }
    }
    Some(first_constant..block.next_word()?)
}

fn place_cell(block: &mut BlockBuilder, register: &Register) -> Option<NonZeroOffset> {
    block.cell(register.ty.and_then(TypeIndex::copied_layout)?)
}

/// What a register needs besides a slot to take references from.
#[derive(Clone, Copy, Debug, Default)]
struct Needs {
    slot: bool,
    cell: bool,
    /// Whether the cell is that of a constant.
    is_constant: bool,
}

impl Reading {
    /// The type that the payload has to have.
    pub(crate) fn payload(self) -> Option<TypeIndex> {
        match self {
            Self::Payload(ty) => Some(ty),
            Self::Reference => None,
            Self::Chain => Some(TypeIndex::of::<Chain>()),
        }
    }

    /// Whether nothing has to be taken out of a slot.
    pub(crate) fn is_copied(self) -> bool {
        self.payload()
            .is_some_and(|ty| ty.copied_layout().is_some())
    }
}

/// How a kernel that could run in place reads its operands; nothing if it could not.
pub(crate) fn readings(kernel: &KernelPlaces<'_>) -> Option<Vec<Reading>> {
    let direct = kernel.direct?;
    let (num_operands, num_results) = (kernel.operands.len(), kernel.results.len());
    let chain = Some(TypeIndex::of::<Chain>());
    let ends_in_chain = num_results == direct.num_results + 1
        && kernel.types.results.get(direct.num_results, num_results) == chain;
    if num_results != direct.num_results && !ends_in_chain {
        return None;
    }
    let has_extra_chain = num_operands == direct.num_operands + 1
        && kernel
            .types
            .operands
            .admits(direct.num_operands, num_operands, chain);
    if num_operands != direct.num_operands && !has_extra_chain {
        return None;
    }
    (0..num_operands)
        .map(|index| {
            if index == direct.num_operands {
                Some(Reading::Chain)
            } else if kernel.types.operands.is_reference(index) {
                Some(Reading::Reference)
            } else {
                let ty = kernel.types.operands.get(index, num_operands)?;
                Some(Reading::Payload(ty))
            }
        })
        .collect()
}

pub(crate) fn result_form(kernel: &KernelPlaces<'_>, index: usize) -> ResultForm {
    let types = &kernel.types.results;
    let ty = types.get(index, kernel.results.len());
    if types.is_reference(index) {
        ResultForm::LaterSlot
    } else if ty.and_then(TypeIndex::copied_layout).is_some() {
        ResultForm::Cell
    } else {
        ResultForm::Slot
    }
}

/// Fills in what follows from where the registers are.
fn complete(
    chosen: &mut InPlace,
    kernel: &KernelPlaces<'_>,
    direct: Direct,
    readings: &[Reading],
    registers: &[Register],
) -> Option<()> {
    let offset = |place: Option<NonZeroOffset>| place.map(NonZeroOffset::get);
    for (&form, &register) in chosen
        .forms
        .iter()
        .zip(kernel.results)
        .take(direct.num_results)
    {
        let register = &registers[register as usize];
        chosen.offsets.push(match form {
            ResultForm::Cell => offset(register.cell)?,
            ResultForm::Slot | ResultForm::LaterSlot => offset(register.slot)?,
        });
    }
    for (reading, &register) in readings
        .iter()
        .zip(kernel.operands)
        .take(direct.num_operands)
    {
        let register = &registers[register as usize];
        chosen.offsets.push(if reading.is_copied() {
            offset(register.cell)?
        } else {
            offset(register.slot)?
        });
    }
    let publishes = |(&form, &register): (&ResultForm, &u32)| {
        form != ResultForm::Cell || registers[register as usize].is_wanted
    };
    chosen.extras = Extras::NONE
        .with_if(direct.reads_call, Extras::READS_CALL)
        .with_if(!chosen.taken.is_empty(), Extras::TAKES_SLOTS)
        .with_if(
            chosen.forms.iter().zip(kernel.results).any(publishes),
            Extras::PUBLISHES,
        );
    Some(())
}

fn to_u32(len: usize) -> u32 {
    u32::try_from(len).expect("a verified body is far smaller than 4 GiB")
}
