//! Launches: a grid of blocks, one after another.

use crate::error::{Fault, FaultKind, Place};
use crate::memory::Memory;
use crate::module::KernelId;
use crate::program::Program;
use crate::types::{ScalarType, Space};

use races::Races;
use thread::{State, Thread};

mod thread;

mod block;

mod step;

mod access;

mod warp;

mod races;

mod print;

/// The most bytes that a kernel may have as variables in shared memory.
const MAX_STATIC_SHARED: u64 = 48 << 10;
/// The most bytes of shared memory in all, as on a device of compute capability 9.
const MAX_SHARED: u64 = 227 << 10;
/// Bytes that the threads of a block may take for registers, parameters and local memory together.
const MAX_THREAD_STATE: usize = 512 << 20;
/// The most text that a launch may print; a device has a buffer, too.
const MAX_PRINTED: usize = 1 << 20;

/// The configuration of a launch.
///
/// ```
/// use tfrt_ptx::Launch;
///
/// let launch = Launch { dynamic_shared: 1024, max_steps: 1_000_000, ..Launch::new([4, 1, 1], [256, 1, 1], &[]) };
/// assert!(launch.finds_races);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Launch<'a> {
    /// Number of blocks.
    pub grid: [u32; 3],
    /// Number of threads of a block.
    pub block: [u32; 3],
    /// The number of bytes of shared memory after the kernel's own variables.
    pub dynamic_shared: u32,
    /// The parameters, laid out according to [`Module::parameters`](crate::Module::parameters).
    pub parameters: &'a [u8],
    /// The maximum number of instructions of all threads together.
    pub max_steps: u64,
    /// Whether two accesses to one byte of shared memory are an error if no barrier orders them.
    /// Atomic and volatile accesses are ignored, and so are accesses of a thread before a fence.
    pub finds_races: bool,
}

impl<'a> Launch<'a> {
    /// Creates a launch without dynamic shared memory, of at most 2^32 steps, that finds races.
    pub fn new(grid: [u32; 3], block: [u32; 3], parameters: &'a [u8]) -> Self {
        Self {
            grid,
            block,
            dynamic_shared: 0,
            parameters,
            max_steps: 1 << 32,
            finds_races: true,
        }
    }
}

/// The result of a launch.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Report {
    /// Executed instructions of all threads.
    pub steps: u64,
    /// The output of the kernel, up to 1 MiB.
    pub printed: String,
}

impl Program {
    /// Runs a kernel to completion.
    ///
    /// The kernel runs on the calling thread. Other threads may use the memory meanwhile, as far as
    /// the [`Memory`] permits.
    ///
    /// # Errors
    /// The first fault of a thread. Earlier writes of the threads are kept.
    pub fn launch(
        &self,
        kernel: KernelId,
        launch: &Launch<'_>,
        memory: &mut dyn Memory,
    ) -> Result<Report, Fault> {
        let mut machine = Machine::new(self, kernel, launch, memory)?;
        let result = machine.grid();
        let printed = std::mem::take(&mut machine.printed);
        match result {
            Ok(()) => Ok(Report {
                steps: machine.steps,
                printed,
            }),
            Err(fault) => Err(fault.with_printed(printed)),
        }
    }
}

/// The state of a launch.
struct Machine<'a> {
    program: &'a Program,
    launch: &'a Launch<'a>,
    kernel: u32,
    memory: &'a mut dyn Memory,
    /// By index of the variable, where it lies in shared memory.
    shared_offsets: Vec<u64>,
    shared: Vec<u8>,
    races: Option<Races>,
    block: [u32; 3],
    steps: u64,
    printed: String,
    /// Bytes that one thread may take.
    max_thread_state: usize,
}

impl<'a> Machine<'a> {
    fn new(
        program: &'a Program,
        kernel: KernelId,
        launch: &'a Launch<'a>,
        memory: &'a mut dyn Memory,
    ) -> Result<Self, Fault> {
        let module = &program.module;
        let Some(function) = module
            .functions
            .get(kernel.0 as usize)
            .filter(|function| function.is_kernel && function.is_defined)
        else {
            return Err(Fault::new(
                FaultKind::InvalidLaunch,
                "?",
                "the kernel belongs to another module",
            ));
        };
        let fail = |kind, message: String| Err(Fault::new(kind, &function.name, message));
        let invalid = |message| fail(FaultKind::InvalidLaunch, message);
        let (grid, block) = (launch.grid, launch.block);
        if grid.contains(&0) || grid[0] > i32::MAX as u32 || grid[1] > 65535 || grid[2] > 65535 {
            return invalid(format!(
                "expected a grid from 1 to 2147483647 x 65535 x 65535 blocks, found {} x {} x {}",
                grid[0], grid[1], grid[2]
            ));
        }
        let num_threads = block.iter().map(|&len| u64::from(len)).product::<u64>();
        if block.contains(&0)
            || block[0] > 1024
            || block[1] > 1024
            || block[2] > 64
            || num_threads > 1024
        {
            return invalid(format!(
                "expected a block from 1 to 1024 x 1024 x 64 threads, at most 1024 in total, \
                 found {} x {} x {}",
                block[0], block[1], block[2]
            ));
        }
        if let Some(max) = function.max_threads.filter(|&max| num_threads > max.into()) {
            return invalid(format!(
                "expected a block of at most {max} threads, which the kernel declares, found \
                 {num_threads}"
            ));
        }
        let expected = function
            .parameters
            .last()
            .map_or(0, |last| last.offset + last.size);
        if launch.parameters.len() != expected {
            return invalid(format!(
                "expected {expected} bytes of parameters, found {}",
                launch.parameters.len()
            ));
        }
        if let Some((line, reason)) = module.unsupported(kernel) {
            return fail(FaultKind::Unsupported, format!("line {line}: {reason}"));
        }
        let (shared_offsets, static_shared) = layout(program, kernel);
        let shared = static_shared + u64::from(launch.dynamic_shared);
        if static_shared > MAX_STATIC_SHARED || shared > MAX_SHARED {
            let text = format!(
                "expected at most {MAX_STATIC_SHARED} bytes of shared variables and {MAX_SHARED} \
                 bytes of shared memory in total"
            );
            return fail(
                FaultKind::OutOfResources,
                format!("{text}, found {static_shared} and {shared}"),
            );
        }
        let max_thread_state = MAX_THREAD_STATE / num_threads as usize;
        if function.num_registers * 8 + function.local_bytes + function.param_bytes
            > max_thread_state
        {
            let text = format!(
                "{} registers and {} bytes of local memory",
                function.num_registers, function.local_bytes
            );
            return fail(
                FaultKind::OutOfResources,
                format!(
                    "{num_threads} threads with {text} each exceed the resources of the machine"
                ),
            );
        }
        let races = (launch.finds_races && shared > 0 && num_threads > 1)
            .then(|| Races::new(shared as usize, num_threads as usize));
        Ok(Self {
            program,
            launch,
            kernel: kernel.0,
            memory,
            shared_offsets,
            shared: vec![0; shared as usize],
            races,
            block: [0; 3],
            steps: 0,
            printed: String::new(),
            max_thread_state,
        })
    }

    fn grid(&mut self) -> Result<(), Fault> {
        let size = self.launch.block;
        let mut threads = Vec::new();
        for z in 0..size[2] {
            for y in 0..size[1] {
                for x in 0..size[0] {
                    threads.push(Thread::new(threads.len() as u32, [x, y, z]));
                }
            }
        }
        let function = &self.program.module.functions[self.kernel as usize];
        for z in 0..self.launch.grid[2] {
            for y in 0..self.launch.grid[1] {
                for x in 0..self.launch.grid[0] {
                    self.block = [x, y, z];
                    // What nobody wrote looks like nothing that anybody would write.
                    self.shared.fill(0xaa);
                    if let Some(races) = &mut self.races {
                        races.start_block();
                    }
                    for thread in &mut threads {
                        thread.start(self.kernel, function, self.launch.parameters);
                    }
                    self.run_block(&mut threads)?;
                }
            }
        }
        Ok(())
    }

    #[cold]
    fn fault(&self, thread: &Thread, kind: FaultKind, message: impl Into<String>) -> Fault {
        let module = &self.program.module;
        let instruction =
            &module.functions[thread.frame.function as usize].code[thread.frame.pc as usize];
        let text = module
            .source
            .get(instruction.span.0 as usize..instruction.span.1 as usize)
            .unwrap_or_default();
        let mut text: Vec<&str> = text.split_whitespace().collect();
        text.truncate(32);
        let place = Place {
            line: instruction.line,
            instruction: text.join(" "),
            block: self.block,
            thread: thread.position,
        };
        Fault::new(kind, &module.functions[self.kernel as usize].name, message).at(place)
    }
}

/// Lays out the variables in shared memory that a kernel can reach, and returns the start of the
/// dynamic part.
fn layout(program: &Program, kernel: KernelId) -> (Vec<u64>, u64) {
    let module = &program.module;
    let mut offsets = vec![0; module.variables.len()];
    let mut used: Vec<u32> = Vec::new();
    for id in module.reachable(kernel) {
        used.extend(&module.functions[id as usize].shared);
    }
    used.sort_unstable();
    used.dedup();
    let (dynamic, fixed): (Vec<u32>, Vec<u32>) = used
        .into_iter()
        .partition(|&index| module.variables[index as usize].is_extern);
    let mut end = 0u64;
    for index in fixed {
        let variable = &module.variables[index as usize];
        let offset = end.next_multiple_of(variable.align);
        offsets[index as usize] = offset;
        // Too much of it is refused at the launch.
        end = offset.saturating_add(variable.size).min(1 << 40);
    }
    let align = dynamic
        .iter()
        .map(|&index| module.variables[index as usize].align)
        .max()
        .unwrap_or(1);
    end = end.next_multiple_of(align);
    for index in dynamic {
        offsets[index as usize] = end;
    }
    (offsets, end)
}
