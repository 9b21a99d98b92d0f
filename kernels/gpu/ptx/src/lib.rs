//! An interpreter of PTX, the assembly language of CUDA's kernels.
//!
//! It runs the output of real compilers on machines without a GPU, and reports faults whose
//! behaviour is undefined on a GPU. It is for tests and debugging: it does not model time, caches
//! or the weak memory order of a device.
//!
//! | step | type |
//! |---|---|
//! | text is parsed, or refused with line and column | [`Module`] |
//! | its variables get addresses | [`Program`] |
//! | a kernel runs on a grid of threads | [`Program::launch`] |
//! | against memory that the caller owns | [`Memory`] |
//!
//! ```
//! use tfrt_ptx::{Arena, Launch, Memory, Module, Program};
//!
//! let text = "
//!     .version 8.0
//!     .target sm_90
//!     .address_size 64
//!     .visible .entry double(.param .u64 data) {
//!         .reg .b32 %r<4>;
//!         .reg .b64 %rd<4>;
//!         ld.param.u64 %rd1, [data];
//!         mov.u32 %r1, %tid.x;
//!         mul.wide.u32 %rd2, %r1, 4;
//!         add.s64 %rd3, %rd1, %rd2;
//!         ld.global.u32 %r2, [%rd3];
//!         shl.b32 %r3, %r2, 1;
//!         st.global.u32 [%rd3], %r3;
//!         ret;
//!     }";
//! let program = Program::place(Module::parse(text)?, |_| None)?;
//! let mut memory = Arena::new();
//! let data = memory.allocate(8);
//! memory.write(data, &[1, 0, 0, 0, 21, 0, 0, 0])?;
//! let kernel = program.module().kernel("double").unwrap();
//! program.launch(kernel, &Launch::new([1, 1, 1], [2, 1, 1], &data.to_le_bytes()), &mut memory)?;
//! let mut doubled = [0; 8];
//! memory.read(data, &mut doubled)?;
//! assert_eq!(doubled, [2, 0, 0, 0, 42, 0, 0, 0]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Supported instructions
//! Everything that NVRTC, nvcc, rustc and LLVM emit for ordinary kernels: integer and
//! floating-point arithmetic with all rounding modes, f16 and bf16 and their pairs, calls and
//! recursion, local, shared, constant and parameter memory, atomics, barriers, shuffles, votes,
//! matches, reductions in a warp, `cp.async`, `mma.m16n8k16`, `printf` and assertions. Other
//! instructions (textures, clusters, `wgmma`, carry chains) are parsed; a launch that reaches one
//! fails and names its line. A word that is not PTX is an error of the parser.
//!
//! # Execution of threads
//! Each thread runs alone up to a *meeting point*: a barrier or an operation of its warp. A warp
//! operation runs when every live lane of its mask has reached the instruction, a barrier when
//! every live thread of the block has. So a run is deterministic, needs no analysis of control
//! flow, and reports a wrong mask or a divergent barrier as a deadlock. A thread that spins yields
//! after some steps. Blocks run one after another: a block that waits for a later one reaches the
//! step limit.
//!
//! # Detected errors
//! Accesses out of bounds (as the [`Memory`] defines them), misaligned accesses, races in shared
//! memory between barriers, divergent barriers, endless loops and stack overflows. Each is a
//! [`Fault`] with its kernel, line, instruction, block and thread.
//!
//! # Precision
//! Operations that PTX defines exactly produce the same bits as a device, with `0x7fffffff` for a
//! NaN. Approximate functions such as `ex2.approx` are computed in `f64` and rounded once, which is
//! *more* precise than a device: a tolerance that holds here may not hold there.
#![forbid(unsafe_code)]

pub use arena::Arena;
pub use error::{Fault, FaultKind, LinkError, ParseError};
pub use machine::{Launch, Report};
pub use memory::{AccessError, Memory};
pub use module::{KernelId, Module, Parameter, Variable};
pub use program::Program;
pub use types::{ScalarType, Space};

mod types;

mod error;

mod float;

mod arithmetic;

mod convert;

mod instruction;

mod lexer;

mod module;

mod parse;

mod memory;

mod arena;

mod program;

mod machine;
