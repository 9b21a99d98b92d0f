//! Input pipelines: datasets, the iterators over them, and the protocol between their stages.
//!
//! ```text
//!  Dataset (immutable tree of stages)          DataIterator (state of one pass, a tree of the same form)
//!
//!      batch ──► map ──► range     iterator()      batch ──► map ──► range
//!                               ─────────────►      draw ──► draw ──► draw
//!                                                         IterationResult ◄──
//! ```
//!
//! A consumer *draws* from an iterator; each stage draws from its input. A draw never blocks: a
//! result may be pending, and so may the values of an element. Several results may be outstanding,
//! and that is where parallelism comes from: a batch draws all of its elements at once, and a
//! prefetch above a map keeps several calls under way.
//!
//! | module | contents |
//! |---|---|
//! | `dataset`, `iterator` | [`Dataset`], [`DataIterator`] and the traits of their stages, [`Stage`] and [`Draw`] |
//! | `result` | [`IterationResult`] and [`Outcome`]: what a draw returns |
//! | `function` | [`ElementFunction`]: functions of programs and closures |
//! | `declared_state` | the state that a function has besides its arguments, and the order of its calls |
//! | `element_types` | [`ElementTypes`]: what is known of elements before one is drawn |
//! | `token` | stages that answer requests in order, as their inputs arrive |
//! | `stages` | one file for each dataset |
//! | `typed`, `elements` | pipelines from Rust: typed closures, and [`Elements`] for loops |
//! | `description`, `checkpoint` | [`Description`] of a pipeline, and the rest of a pass as bytes |
//! | `options` | [`PipelineOptions`]: what holds for all pipelines of a host |
//! | `policy` | [`OnError`]: what follows an error |
//! | `work_ahead`, `num_ahead`, `tuner` | [`WorkAhead`]: how many elements a stage works on at a time, given or found by measuring; [`NumAhead`] and [`LearnedNumber`] for sources |
//! | `observation` | [`Observation`]: what each stage takes |
//! | `philox` | [`Philox`]: the random numbers of shuffles |
//!
//! File formats are in crates above this one. This crate does no I/O, except that it queries the
//! free memory of the system.
#![deny(unsafe_code)]

mod result;

mod dataset;

mod iterator;

mod function;

mod declared_state;

mod element_types;

mod token;

mod cardinality;

mod description;

mod checkpoint;

mod stages;

mod philox;

mod numbers;

mod digest;

mod tuner;

mod checked_work_ahead;

mod work_ahead;

mod num_ahead;

mod options;

mod policy;

mod typed;

mod elements;

mod identity;

mod sync;

mod observation;

pub use cardinality::Cardinality;
pub use checkpoint::{Saving, StateReader, StateWriter};
pub use dataset::{Dataset, MAX_HEIGHT, Position, Stage, require_positive};
pub use description::{Description, StageDescription};
pub use element_types::ElementTypes;
pub use elements::Elements;
pub use function::ElementFunction;
pub use iterator::{DataIterator, Draw};
pub use num_ahead::NumAhead;
pub use observation::{HeldBytes, Observation, ObservedStages, StageCounts};
pub use options::PipelineOptions;
pub use philox::Philox;
pub use policy::OnError;
pub use result::{END_MESSAGE, IterationResult, Outcome, Values, are_available};
pub use stages::batch::BatchComponent;
pub use stages::even_shard::UnevenShards;
pub use stages::padded_batch::PaddedComponent;
pub use token::{Machine, Serial, StepResult};
pub use tuner::LearnedNumber;
pub use typed::{Fallible, FromValues, IntoElementFunction, IntoValues, Many, OfProgram, One};
pub use work_ahead::WorkAhead;
