//! The places of the values of a function: which kernels run in place, and which registers have
//! slots and cells.
//!
//! 1. The type of a register is the one that its producer returns. If the producer does not declare
//!    it, it is the one that the caller of this module assumes, or else the type read by the first
//!    kernel that could run in place. An assumption is checked when a value is put into the
//!    register.
//! 2. A kernel runs in place if it can, and if every operand that it reads as a payload has the
//!    type that it reads. It neither reads nor writes the slot of an early register. A call passes
//!    its operands from their places.
//! 3. A register has a slot if its slot is ever taken from or put into, and a cell if a kernel that
//!    runs in place reads or writes a copied payload there, or if a call passes it.
//!
//! The time is linear in the size of the body.

use std::alloc::Layout;
use std::collections::HashSet;
use std::ops::Range;

use tfrt_async::{Chain, TypeIndex};
use tfrt_host::__runtime::{Direct, KernelTypes};
use tfrt_support::entity::EntityId;

use super::code::{
    Extras, FrameLayout, Offset, Register, RegisterId, ResultForm, Settling, WordPool, Words,
};

/// The properties of one kernel that determine the places of its values.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KernelPlaces<'a> {
    /// How it runs in place, if it can; `None` for a kernel that does not run strictly.
    pub(crate) direct: Option<Direct>,
    /// Which functions it calls, if it does nothing else and runs strictly.
    pub(crate) call: Option<Callees>,
    pub(crate) types: &'a KernelTypes,
    pub(crate) operands: &'a [u32],
    pub(crate) results: &'a [u32],
    /// Whether it returns the same results in every invocation.
    pub(crate) is_constant: bool,
}

/// The functions that a call calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Callees {
    /// One function, with all operands.
    One,
    /// The first of two functions if the first operand is true, and the second one otherwise, with
    /// the other operands.
    Either,
}

/// The decisions on one kernel that runs in place.
#[derive(Debug, Default)]
pub(crate) struct InPlace {
    pub(crate) extras: Extras,
    pub(crate) forms: Vec<ResultForm>,
    pub(crate) settlings: Vec<Settling>,
    /// The registers whose slots it takes from.
    pub(crate) taken: Vec<u32>,
    /// The offsets of these slots.
    pub(crate) taken_slots: Vec<u32>,
    /// The offsets of results, those of their cells if the kernel fills cells, then those of
    /// operands, with the length of a tail before those of its operands.
    pub(crate) offsets: Vec<u32>,
}

/// The parts of a kernel that runs in place that are among the words of the code.
#[derive(Debug)]
pub(crate) struct WordsInPlace {
    /// The first offset.
    pub(crate) offsets: u32,
    pub(crate) num_released: u8,
    pub(crate) num_kept: u8,
    pub(crate) taken_slots: Words,
    /// What has to be done for the kernel besides calling it.
    pub(crate) extras: Extras,
}

/// The most takes of a kernel that [`InPlace::takes_often`] looks at.
const MAX_COMPARED: usize = 16;

impl InPlace {
    /// Returns `true` if the kernel takes from a register as often as it has to. A kernel that runs
    /// in place reads its operands where they are. It owns counts of them so that they live, and
    /// two of an operand that it has more than once, so that no such operand appears to have only
    /// one owner.
    fn takes_often(&self, register: u32) -> bool {
        let compared = self.taken.iter().take(MAX_COMPARED);
        compared.filter(|&&taken| taken == register).count() >= 2
    }

    /// Appends the slots that are taken from, the slots of results that are kept, the slots of
    /// which a reference is dropped, and the offsets to `words`, in the order that
    /// [`Kernel`](super::code::Kernel) specifies. A reference is dropped for each that is taken,
    /// unless they are [shared](super::shared).
    pub(crate) fn push_words(&self, words: &mut WordPool) -> WordsInPlace {
        let kept = || {
            self.settlings.iter().filter_map(|settling| match settling {
                Settling::Keep(slot, num_held) => Some([slot.get(), *num_held]),
                _ => None,
            })
        };
        let counts = (
            u8::try_from(self.taken_slots.len()),
            u8::try_from(kept().count()),
        );
        // Longer lists are in the details only.
        let (num_released, num_kept, extras) = match counts {
            (Ok(num_released), Ok(num_kept)) => (num_released, num_kept, self.extras),
            (Ok(num_released), Err(_)) => (num_released, 0, self.extras.and(Extras::LOOKS)),
            (Err(_), _) => (0, 0, self.extras.and(Extras::LOOKS)),
        };
        let taken_slots = words.push(self.taken_slots.iter().copied());
        words.push(kept().flatten());
        words.push(self.taken_slots.iter().copied());
        WordsInPlace {
            offsets: words.push(self.offsets.iter().copied()).start(),
            num_released,
            num_kept,
            taken_slots,
            extras,
        }
    }
}

/// The places of the values of a body.
#[derive(Debug)]
pub(crate) struct Places {
    pub(crate) registers: Box<[Register]>,
    /// For each kernel, how it runs in place; `None` if it does not.
    pub(crate) kernels: Vec<Option<InPlace>>,
    /// The registers that the function returns, each once.
    pub(crate) returned: Box<[RegisterId]>,
    pub(crate) early: Box<[RegisterId]>,
    pub(crate) frame: FrameLayout,
}

/// How an operand of a kernel that runs in place is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reading {
    /// Its payload, of this type.
    Payload(TypeIndex),
    /// As a reference.
    Reference,
    /// Not at all, but it must be a chain.
    Chain,
    /// Passed to a function.
    Passed,
}

/// Allocates the words of a frame.
#[derive(Debug)]
struct FrameBuilder {
    layout: Layout,
}

impl FrameBuilder {
    fn new() -> Self {
        // No place is at offset 0.
        Self {
            layout: Layout::new::<u64>(),
        }
    }

    /// Allocates a slot.
    fn slot(&mut self) -> Option<Offset> {
        self.place(Layout::new::<tfrt_async::AnyRef>())
    }

    /// Returns the index of the next word.
    fn next_word(&mut self) -> usize {
        self.layout = self.layout.pad_to_align();
        self.layout.size() / size_of::<u64>()
    }

    fn place(&mut self, place: Layout) -> Option<Offset> {
        let (whole, offset) = self.layout.extend(place).ok()?;
        self.layout = whole;
        // All offsets in a frame have 32 bits.
        u32::try_from(whole.size()).ok()?;
        Offset::new(u32::try_from(offset).ok()?)
    }
}

const _: () = assert!(align_of::<u64>() >= tfrt_async::MAX_COPIED_ALIGN);

/// Assigns places to the values of a body. Returns `None` if there are too many. `types`
/// holds, for each register, the payload type that its producer returns, or that is assumed. The
/// first `num_arguments` registers are arguments.
pub(crate) fn assign(
    kernels: &[KernelPlaces<'_>],
    mut types: Vec<Option<TypeIndex>>,
    results: &[u32],
    is_early: &HashSet<u32>,
    num_arguments: usize,
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
    // An argument that is only returned, as by a branch of a condition, is copied like the others.
    // A run with an argument of another type, which nothing reads, does not follow a schedule.
    for (register, needs) in registers.iter().zip(&mut needs).take(num_arguments) {
        let is_copied = register.ty.and_then(TypeIndex::copied_layout).is_some();
        let is_only_returned = register.returned.is_some() && register.num_references == 0;
        needs.cell |= is_copied && is_only_returned && register.early.is_none();
    }
    for (register, needs) in registers.iter_mut().zip(&mut needs) {
        register.is_wanted =
            register.num_references > 0 || register.returned.is_some() || register.early.is_some();
        // The caller takes the result from the frame.
        needs.slot |= register.returned.is_some() && !needs.cell;
    }
    let mut frame = FrameBuilder::new();
    let constants = lay_out(&mut frame, &mut registers, &needs)?;
    for register in &mut registers {
        register.num_held = register.num_takes();
    }
    for ((kernel, readings), chosen) in kernels.iter().zip(&readings).zip(&mut in_place) {
        let (Some(readings), Some(chosen)) = (readings, chosen) else {
            continue;
        };
        complete(chosen, kernel, readings, &registers)?;
        let is_constant = |register: &u32| needs[*register as usize].is_constant;
        let is_constant = !kernel.results.is_empty() && kernel.results.iter().all(is_constant);
        // A constant is not called, so it does not read anything. If no constant takes up room,
        // none is computed in advance: a failure of one of them would go unnoticed.
        let is_made = is_constant && !constants.is_empty();
        chosen.extras = chosen.extras.with_if(is_made, Extras::CONSTANT);
    }
    let ids = |registers: Vec<u32>| -> Box<[RegisterId]> {
        let ids = registers
            .iter()
            .map(|&id| RegisterId::from_index(id as usize));
        ids.collect()
    };
    Some(Places {
        kernels: in_place,
        returned: ids(returned),
        early: ids(early),
        frame: FrameLayout {
            num_words: frame.next_word(),
            has_slots: registers.iter().any(|register| register.slot.is_some()),
            constants,
        },
        registers: registers.into(),
    })
}

/// Assumes, for each register whose producer does not declare its type, the first type that is
/// read.
fn assume_types(kernels: &[KernelPlaces<'_>], types: &mut [Option<TypeIndex>]) {
    for kernel in kernels {
        let readings = direct_readings(kernel).into_iter().flatten();
        for (reading, &register) in readings.zip(kernel.operands) {
            types[register as usize] = types[register as usize].or(reading.payload());
        }
    }
}

/// Returns the registers, as far as they are known without the kernels, and those that are
/// returned, each once.
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

/// Returns how each kernel reads its operands, if it runs in place.
fn choose(
    kernels: &[KernelPlaces<'_>],
    types: &[Option<TypeIndex>],
    is_early: &HashSet<u32>,
) -> Vec<Option<Vec<Reading>>> {
    let choose_one = |kernel: &KernelPlaces<'_>| {
        let is_early = |register: &u32| is_early.contains(register);
        // The slot of an early register is not free to be written.
        if kernel.results.iter().any(is_early) {
            return None;
        }
        if let Some(callees) = kernel.call {
            let is_condition =
                |&register: &u32| types[register as usize] == Some(TypeIndex::of::<bool>());
            let is_chosen = match callees {
                Callees::One => true,
                Callees::Either => kernel.operands.first().is_some_and(is_condition),
            };
            let is_call = is_chosen && !kernel.operands.iter().any(is_early);
            return is_call.then(|| vec![Reading::Passed; kernel.operands.len()]);
        }
        let readings = direct_readings(kernel)?;
        let agrees = |(reading, register): (&Reading, &u32)| {
            let wanted = reading.payload();
            // Others hold the value in the slot of an early register, and may set it to an error
            // before its producer runs. Publication, which inspects the values that the producer
            // returns, would not see that error.
            let is_settled = reading.is_copied() || !is_early(register);
            is_settled && (wanted.is_none() || wanted == types[*register as usize])
        };
        let all_agree = readings.iter().zip(kernel.operands).all(agrees);
        all_agree.then_some(readings)
    };
    kernels.iter().map(choose_one).collect()
}

/// Counts what a kernel takes, and records what its registers need. Returns the decisions on it, if
/// it runs in place.
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
        let found = &mut registers[register as usize];
        let is_copied = match reading {
            Reading::Passed => found.ty.and_then(TypeIndex::copied_layout).is_some(),
            _ => reading.is_copied(),
        };
        found.has_typed_readers |= is_copied || *reading != Reading::Passed;
        if is_copied {
            needs[register as usize].cell = true;
        } else if kernel.call.is_some() || !chosen.takes_often(register) {
            chosen.taken.push(register);
            found.num_references += 1;
        }
    }
    chosen.forms = (0..kernel.results.len())
        .map(|index| result_form(kernel, index, registers))
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

/// Assigns places to registers. Returns the words of the frame that are cells of constants.
fn lay_out(
    frame: &mut FrameBuilder,
    registers: &mut [Register],
    needs: &[Needs],
) -> Option<Range<usize>> {
    let place_cell = |frame: &mut FrameBuilder, register: &mut Register| {
        let layout = register.ty.and_then(TypeIndex::copied_layout)?;
        register.num_bytes = u16::try_from(layout.size()).ok()?;
        register.cell = Some(frame.place(layout)?);
        Some(())
    };
    for (register, needs) in registers.iter_mut().zip(needs) {
        if needs.slot || register.num_references > 0 {
            register.slot = Some(frame.slot()?);
        }
        if needs.cell && !needs.is_constant {
            place_cell(frame, register)?;
        }
    }
    let first_constant = frame.next_word();
    for (register, needs) in registers.iter_mut().zip(needs) {
        if needs.cell && needs.is_constant {
            place_cell(frame, register)?;
        }
    }
    Some(first_constant..frame.next_word())
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
    /// Returns the type that the payload must have.
    fn payload(self) -> Option<TypeIndex> {
        match self {
            Self::Payload(ty) => Some(ty),
            Self::Reference | Self::Passed => None,
            Self::Chain => Some(TypeIndex::of::<Chain>()),
        }
    }

    /// Returns `true` if the operand does not have to be taken out of a slot.
    fn is_copied(self) -> bool {
        self.payload()
            .is_some_and(|ty| ty.copied_layout().is_some())
    }
}

/// Returns how a kernel that could run in place reads its operands, or `None` if it could not.
fn direct_readings(kernel: &KernelPlaces<'_>) -> Option<Vec<Reading>> {
    let direct = kernel.direct?;
    let (num_operands, num_results) = (kernel.operands.len(), kernel.results.len());
    let chain = Some(TypeIndex::of::<Chain>());
    let ends_in_chain = num_results == direct.num_results + 1
        && kernel.types.results.get(direct.num_results, num_results) == chain;
    if num_results != direct.num_results && !ends_in_chain {
        return None;
    }
    let num_more = num_operands.checked_sub(direct.num_operands)?;
    let has_extra_chain = num_more == 1
        && kernel
            .types
            .operands
            .admits(direct.num_operands, num_operands, chain);
    let max_more = if direct.has_tail { Direct::MAX_TAIL } else { 0 };
    if num_more > max_more && !has_extra_chain {
        return None;
    }
    (0..num_operands)
        .map(|index| {
            if direct.takes_reference(&kernel.types.operands, index) {
                Some(Reading::Reference)
            } else if index == direct.num_operands {
                Some(Reading::Chain)
            } else {
                let ty = kernel.types.operands.get(index, num_operands)?;
                Some(Reading::Payload(ty))
            }
        })
        .collect()
}

fn result_form(kernel: &KernelPlaces<'_>, index: usize, registers: &[Register]) -> ResultForm {
    if kernel.call.is_some() {
        let ty = registers[kernel.results[index] as usize].ty;
        return match ty.and_then(TypeIndex::copied_layout) {
            Some(_) => ResultForm::Cell,
            None => ResultForm::Slot,
        };
    }
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

/// Fills in what follows from the places of the registers.
fn complete(
    chosen: &mut InPlace,
    kernel: &KernelPlaces<'_>,
    readings: &[Reading],
    registers: &[Register],
) -> Option<()> {
    let offset = |place: Option<Offset>| place.map(Offset::get);
    if let Some(direct) = kernel.direct {
        let results = chosen.forms.iter().zip(kernel.results);
        for (&form, &register) in results.take(direct.num_results) {
            let register = &registers[register as usize];
            chosen.offsets.push(match form {
                ResultForm::Cell => offset(register.cell)?,
                ResultForm::Slot | ResultForm::LaterSlot => offset(register.slot)?,
            });
        }
        if direct.fills_cells {
            let num_results = kernel.results.len();
            for (index, &register) in kernel.results.iter().enumerate().take(direct.num_results) {
                let register = &registers[register as usize];
                let ty = kernel.types.results.get(index, num_results);
                // A cell is for the type that the kernel is declared to return, or is not filled.
                let cell = register.cell.filter(|_| ty.is_some() && ty == register.ty);
                chosen.offsets.push(offset(cell).unwrap_or(0));
            }
        }
        let place_of = |(reading, &register): (&Reading, &u32)| {
            let register = &registers[register as usize];
            match reading.is_copied() {
                true => offset(register.cell),
                false => offset(register.slot),
            }
        };
        let mut places = readings.iter().zip(kernel.operands).map(place_of);
        for place in places.by_ref().take(direct.num_operands) {
            chosen.offsets.push(place?);
        }
        if direct.has_tail {
            chosen.offsets.push(to_u32(places.len()));
            for place in places {
                chosen.offsets.push(place?);
            }
        }
    }
    for &register in &chosen.taken {
        chosen
            .taken_slots
            .push(offset(registers[register as usize].slot)?);
    }
    let results = || {
        let registers = kernel
            .results
            .iter()
            .map(|&register| &registers[register as usize]);
        chosen.forms.iter().zip(registers)
    };
    let settlings = results().map(|(&form, register)| Settling::of(form, register));
    chosen.settlings = settlings.collect();
    let looks = |&settling: &Settling| !matches!(settling, Settling::Done | Settling::Keep(..));
    let looks = chosen.settlings.iter().any(looks);
    if chosen
        .settlings
        .iter()
        .all(|&settling| settling == Settling::Done)
    {
        chosen.settlings.clear();
    }
    let publishes = results().any(|(&form, register)| {
        form != ResultForm::Cell || register.num_references > 0 || register.early.is_some()
    });
    chosen.extras = Extras::NONE
        .with_if(
            kernel.direct.is_some_and(|direct| direct.reads_call),
            Extras::READS_CALL,
        )
        .with_if(kernel.call.is_some(), Extras::CALLS)
        .with_if(!chosen.taken.is_empty(), Extras::TAKES_SLOTS)
        .with_if(publishes, Extras::PUBLISHES)
        .with_if(looks, Extras::LOOKS);
    Some(())
}

fn to_u32(len: usize) -> u32 {
    u32::try_from(len).expect("a verified body is far smaller than 4 GiB")
}
