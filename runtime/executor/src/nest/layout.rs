//! From a verified body to a nest.

use std::alloc::Layout;
use std::collections::HashSet;
use std::sync::OnceLock;

use tfrt_async::value::MAX_COPIED_BYTES;
use tfrt_async::{Chain, TypeIndex};
use tfrt_bef::FunctionId;
use tfrt_host::ExecutionContext;
use tfrt_ods::OpTraits;
use tfrt_support::entity::EntityId;

use super::worth::Worth;
use super::{Call, Callee, Cell, Nest, Reader, Step, Timing, Whole};
use crate::body::{ResultForm, WordPool};
use crate::call_loop::KernelSource;
use crate::constants::Word;
use crate::places::{self, KernelPlaces, Reading};
use crate::program::{Function, FunctionBody, Program};

/// Words that a frame may have.
const MAX_FRAME_WORDS: usize = 1 << 21;

/// Functions that a nest may be made of.
const MAX_FUNCTIONS: usize = 1024;

impl Nest {
    /// The function as a nest, if it can be one. `types` holds, for each register, the payload type that its producer gives, if
    /// that is known; `results` are the registers that the function returns.
    pub(crate) fn of(
        program: &Program,
        function: &Function,
        kernels: &[KernelSource<'_>],
        mut types: Vec<Option<TypeIndex>>,
        results: &[u32],
        timing: Timing,
    ) -> Option<Self> {
        let arguments = payloads(&function.argument_types)?;
        for (ty, &argument) in types.iter_mut().zip(&arguments) {
            *ty = Some(argument);
        }
        for kernel in kernels {
            if let Some(callee) = callee_of(kernel) {
                let callee = program.entry(*callee.functions().first()?);
                let given = payloads(&callee.result_types)?;
                for (&register, ty) in kernel.places.results.iter().zip(given) {
                    types[register as usize] = Some(ty);
                }
            }
        }
        let result_types = results.iter().map(|&register| types[register as usize]);
        let declared = payloads(&function.result_types)?;
        if !result_types.eq(declared.iter().copied().map(Some)) {
            return None;
        }
        let constants: HashSet<u32> = kernels
            .iter()
            .filter(|kernel| is_constant(&kernel.places))
            .flat_map(|kernel| kernel.places.results.iter().copied())
            .collect();
        let frame = Frame::lay_out(&types, arguments.len(), &constants, kernels, results)?;
        let mut builder = Builder {
            is_written: (0..types.len())
                .map(|register| {
                    register < arguments.len() || constants.contains(&(register as u32))
                })
                .collect(),
            types,
            frame,
            words: WordPool::default(),
            steps: Vec::new(),
            readers: Vec::new(),
            calls: Vec::new(),
            constant_kernels: Vec::new(),
        };
        for kernel in kernels {
            builder.add(kernel)?;
        }
        let cell = |&register: &u32| {
            Some(Cell {
                word: builder.frame.first_word(register),
                ty: builder.written(register)?,
            })
        };
        let result_cells = results.iter().map(cell).collect::<Option<_>>()?;
        let result_words: Vec<u32> = builder.frame.words_of(results).collect();
        Some(Self {
            result_words: builder.words.push(&result_words),
            results: result_cells,
            arguments: arguments.into(),
            steps: builder.steps.into(),
            readers: builder.readers.into(),
            calls: builder.calls.into(),
            constant_kernels: builder.constant_kernels.into(),
            words: builder.words.finish(),
            num_words: builder.frame.num_words,
            first_constant: builder.frame.first_constant,
            timing,
            whole: OnceLock::new(),
            constants: OnceLock::new(),
            worth: Worth::default(),
        })
    }

    /// Whether everything that the nest calls is a nest, too, and what they are together. Found out once.
    pub(super) fn whole(&self, program: &Program, ctx: &ExecutionContext) -> Option<Whole> {
        *self.whole.get_or_init(|| self.explore(program, ctx))
    }

    fn explore(&self, program: &Program, ctx: &ExecutionContext) -> Option<Whole> {
        let mut whole = Whole { is_in_order: true };
        let mut seen: HashSet<FunctionId> = HashSet::new();
        let mut pending = vec![self];
        while let Some(nest) = pending.pop() {
            whole.is_in_order &= nest.timing.is_one_stream;
            nest.constants(program, ctx)?;
            for call in &nest.calls {
                for &function in call.callee.functions() {
                    let callee = Self::of_function(program, function)?;
                    let types = callee.results.iter().map(|cell| cell.ty);
                    // N3.
                    if *callee.arguments != *call.argument_types
                        || !types.eq(call.result_types.iter().copied())
                    {
                        return None;
                    }
                    if seen.insert(function) {
                        pending.push(callee);
                    }
                }
            }
            if seen.len() > MAX_FUNCTIONS {
                return None;
            }
        }
        Some(whole)
    }

    /// The nest that a function is, if it is one.
    #[inline]
    pub(super) fn of_function(program: &Program, function: FunctionId) -> Option<&Self> {
        match program.body(function) {
            Ok(FunctionBody::Async(body)) => body.nest.as_ref(),
            _ => None,
        }
    }
}

/// A kernel that is a call: of which function.
fn callee_of(kernel: &KernelSource<'_>) -> Option<Callee> {
    let traits = kernel.descriptor.op().traits;
    match *kernel.functions {
        [callee] if traits.contains(OpTraits::CALL) => {
            Some(Callee::Always(EntityId::from_index(callee as usize)))
        }
        [first, second] if traits.contains(OpTraits::CHOOSES) => {
            // The word of the condition is filled in where words are known.
            let functions = [first, second].map(|callee| EntityId::from_index(callee as usize));
            Some(Callee::Either(0, functions))
        }
        _ => None,
    }
}

/// Whether a kernel gives the same in every run, and is not a step at all.
fn is_constant(kernel: &KernelPlaces<'_>) -> bool {
    kernel.is_constant && kernel.operands.is_empty()
}

/// The payload types that spellings stand for in every program; nothing if one of them stands for several, or is not copied.
fn payloads(spellings: &[Box<str>]) -> Option<Vec<TypeIndex>> {
    let payload = |spelling: &str| {
        Some(match spelling {
            "!tfrt.chain" => TypeIndex::of::<Chain>(),
            "i1" => TypeIndex::of::<bool>(),
            "i8" => TypeIndex::of::<i8>(),
            "i16" => TypeIndex::of::<i16>(),
            "i32" => TypeIndex::of::<i32>(),
            "i64" => TypeIndex::of::<i64>(),
            "ui8" => TypeIndex::of::<u8>(),
            "ui16" => TypeIndex::of::<u16>(),
            "ui32" => TypeIndex::of::<u32>(),
            "ui64" => TypeIndex::of::<u64>(),
            "f32" => TypeIndex::of::<f32>(),
            "f64" => TypeIndex::of::<f64>(),
            _ => return None,
        })
    };
    spellings.iter().map(|spelling| payload(spelling)).collect()
}

/// Where registers are in a frame.
#[derive(Debug)]
struct Frame {
    /// By register: the first word, and how many there are.
    registers: Vec<(u32, u32)>,
    first_constant: u32,
    num_words: u32,
}

impl Frame {
    /// Arguments, which have the first numbers, come first, and constants last. Other registers share words, one after the other.
    fn lay_out(
        types: &[Option<TypeIndex>],
        num_arguments: usize,
        constants: &HashSet<u32>,
        kernels: &[KernelSource<'_>],
        results: &[u32],
    ) -> Option<Self> {
        let num_words_of = |register: u32| {
            let layout = types[register as usize].and_then(TypeIndex::copied_layout)?;
            debug_assert!(layout.align() <= Layout::new::<Word>().align());
            Some(layout.size().div_ceil(size_of::<Word>()))
        };
        let mut words = FrameWords::default();
        let mut registers = vec![(0, 0); types.len()];
        for register in 0..to_u32(num_arguments)? {
            registers[register as usize] = words.take_new(num_words_of(register)?)?;
        }
        let mut last_use = vec![None; types.len()];
        for (index, kernel) in kernels.iter().enumerate() {
            for &register in kernel.places.operands.iter().chain(kernel.places.results) {
                last_use[register as usize] = Some(index);
            }
        }
        // They are read when all steps are done.
        for &register in results {
            last_use[register as usize] = Some(kernels.len());
        }
        for (index, kernel) in kernels.iter().enumerate() {
            let is_variable = |register: &u32| !constants.contains(register);
            for &register in kernel
                .places
                .results
                .iter()
                .filter(|register| is_variable(register))
            {
                registers[register as usize] = words.take(num_words_of(register)?)?;
            }
            // Afterwards: what a kernel gives must not lie where it reads.
            let uses = kernel.places.operands.iter().chain(kernel.places.results);
            for &register in uses.filter(|register| is_variable(register)) {
                let is_argument = (register as usize) < num_arguments;
                if !is_argument
                    && last_use[register as usize]
                        .take_if(|last| *last == index)
                        .is_some()
                {
                    words.give_back(registers[register as usize]);
                }
            }
        }
        let first_constant = words.num_words;
        for (register, words_of) in (0..).zip(&mut registers) {
            if constants.contains(&register) {
                *words_of = words.take_new(num_words_of(register)?)?;
            }
        }
        (words.num_words as usize <= MAX_FRAME_WORDS).then_some(Self {
            registers,
            first_constant,
            num_words: words.num_words,
        })
    }

    fn first_word(&self, register: u32) -> u32 {
        self.registers[register as usize].0
    }

    /// The words of registers, one after the other.
    fn words_of(&self, registers: &[u32]) -> impl Iterator<Item = u32> {
        registers.iter().flat_map(|&register| {
            let (first, len) = self.registers[register as usize];
            first..first + len
        })
    }
}

/// The words of a frame while it is laid out.
#[derive(Debug, Default)]
struct FrameWords {
    num_words: u32,
    /// Those that nobody uses any more, by how many lie together.
    unused: [Vec<u32>; MAX_WORDS_OF_REGISTER + 1],
}

/// How many words a register may have.
const MAX_WORDS_OF_REGISTER: usize = MAX_COPIED_BYTES.div_ceil(size_of::<Word>());

impl FrameWords {
    /// Words that nobody uses; the first one, and how many there are.
    fn take(&mut self, len: usize) -> Option<(u32, u32)> {
        match self.unused.get_mut(len)?.pop() {
            Some(first) => Some((first, to_u32(len)?)),
            None => self.take_new(len),
        }
    }

    /// Words that nobody has used before.
    fn take_new(&mut self, len: usize) -> Option<(u32, u32)> {
        let (first, len) = (self.num_words, to_u32(len)?);
        self.num_words = first.checked_add(len)?;
        Some((first, len))
    }

    fn give_back(&mut self, (first, len): (u32, u32)) {
        if let Some(unused) = self.unused.get_mut(len as usize) {
            unused.push(first);
        }
    }
}

/// Collects steps.
struct Builder {
    types: Vec<Option<TypeIndex>>,
    /// N2, as far as the steps go.
    is_written: Vec<bool>,
    frame: Frame,
    words: WordPool,
    steps: Vec<Step>,
    readers: Vec<Reader>,
    calls: Vec<Call>,
    constant_kernels: Vec<Reader>,
}

impl Builder {
    /// The type of a register that is written before the next step.
    fn written(&self, register: u32) -> Option<TypeIndex> {
        self.types[register as usize].filter(|_| self.is_written[register as usize])
    }

    /// Adds a kernel; nothing if it cannot be part of a nest.
    fn add(&mut self, kernel: &KernelSource<'_>) -> Option<()> {
        if let Some(callee) = callee_of(kernel) {
            self.add_call(kernel, callee)?;
        } else {
            self.add_kernel(kernel)?;
        }
        for &register in kernel.places.results {
            self.is_written[register as usize] = true;
        }
        Some(())
    }

    fn add_call(&mut self, kernel: &KernelSource<'_>, callee: Callee) -> Option<()> {
        let (callee, arguments) = match callee {
            Callee::Always(_) => (callee, kernel.places.operands),
            Callee::Either(_, functions) => {
                let (&condition, arguments) = kernel.places.operands.split_first()?;
                if self.written(condition)? != TypeIndex::of::<bool>() {
                    return None;
                }
                let word = self.frame.first_word(condition);
                (Callee::Either(word, functions), arguments)
            }
        };
        let of_arguments = arguments.iter().map(|&register| self.written(register));
        let argument_types = of_arguments.collect::<Option<_>>()?;
        let results = kernel.places.results;
        let of_results = results
            .iter()
            .map(|&register| self.types[register as usize]);
        let result_types = of_results.collect::<Option<_>>()?;
        let arguments: Vec<u32> = self.frame.words_of(arguments).collect();
        let results: Vec<u32> = self.frame.words_of(results).collect();
        self.steps.push(Step::Call(to_u32(self.calls.len())?));
        self.calls.push(Call {
            callee,
            arguments: self.words.push(&arguments),
            results: self.words.push(&results),
            argument_types,
            result_types,
        });
        Some(())
    }

    fn add_kernel(&mut self, kernel: &KernelSource<'_>) -> Option<()> {
        let places = &kernel.places;
        let direct = places.direct.filter(|direct| !direct.reads_context)?;
        let traits = kernel.descriptor.op().traits;
        let is_free_of_effects =
            traits.contains(OpTraits::PURE) || traits.contains(OpTraits::EFFECT_FREE);
        if !is_free_of_effects || !kernel.functions.is_empty() {
            return None;
        }
        let gives_cells = (0..places.results.len())
            .all(|index| places::result_form(places, index) == ResultForm::Cell);
        let readings = places::readings(places)?;
        let agrees = |(reading, &register): (&Reading, &u32)| {
            reading.is_copied() && self.written(register) == reading.payload()
        };
        if !gives_cells || !readings.iter().zip(places.operands).all(agrees) {
            return None;
        }
        let results = places.results.iter().take(direct.num_results);
        let operands = places.operands.iter().take(direct.num_operands);
        let offset = |&register: &u32| self.frame.first_word(register) * size_of::<Word>() as u32;
        let offsets: Vec<u32> = results.chain(operands).map(offset).collect();
        let offsets = self.words.push(&offsets);
        // A constant is no step: it is in its word before the first one, wherever in the body it is defined.
        if !direct.reads_call && !is_constant(places) {
            self.steps.push(Step::Run(direct.run, offsets.start()));
            return Some(());
        }
        let reader = Reader {
            run: direct.run,
            offsets,
            attributes: self.words.push(kernel.attributes),
        };
        if is_constant(places) {
            self.constant_kernels.push(reader);
        } else {
            self.steps.push(Step::Read(to_u32(self.readers.len())?));
            self.readers.push(reader);
        }
        Some(())
    }
}

fn to_u32(len: usize) -> Option<u32> {
    u32::try_from(len).ok()
}
