//! Models of the datasets of a program that is being loaded.
//!
//! ```text
//!   %a = tfrt_data.range_dataset … { element_type = i64 }       range, of i64
//!   %b = tfrt_data.map_dataset %a { function = @f }      ──►    map, by a function of the types of @f
//!   %c = tfrt_data.filter_dataset %b { function = @g }          filter: refused, if @g takes other elements
//! ```
//!
//! A model consists of the stages that the kernels make. Its functions only have types, and its
//! numbers stand for any others. So the rules of stages are in one place, [`tfrt::data`]: the error
//! that a kernel would report is found before the program runs.
//!
//! Some of what a running program knows is unknown here, such as the datasets that a function
//! takes, and columns that are inferred from a file. Unknown types are not compared.

use tfrt::data::{
    Dataset, Draw, ElementFunction, ElementTypes, IterationResult, Outcome, Position, Stage,
};
use tfrt::ods::instance::{AttrInstance, OpInstance, Signature};
use tfrt::prelude::*;
use tfrt_readers::csv::CsvOptions;
use tfrt_readers::example::{SequenceSchema, parse_examples, parse_sequence_examples};
use tfrt_readers::fixed_length::FixedLengthOptions;
use tfrt_readers::image_folder::ImageFolderOptions;
use tfrt_readers::schema::Schema;
use tfrt_readers::tar::TarOptions;
use tfrt_readers::text::{list_files_dataset, text_line_dataset};
use tfrt_readers::tfrecord::{TfRecordOptions, tf_record_dataset};

use super::files::names;
use super::stages::batched_components;

/// How many ops are examined for a model. Every op of a program has a model of its own, so this
/// bounds the time for a long pipeline. An op makes at most two stages, and so models stay below
/// the greatest height.
const MAX_OPS: u32 = 40;

/// A file that no model opens.
const NO_FILE: &str = "";

/// Returns the error that the kernel of an op that makes a dataset reports for the types of its
/// functions and inputs.
pub(super) fn check(op: &dyn OpInstance) -> Result<()> {
    Builder { num_left: MAX_OPS }.make(op).map(|_| ())
}

/// Returns the dataset of the elements of an operand, which is a dataset or an iterator.
pub(super) fn dataset_of(op: &dyn OpInstance, operand: usize) -> Option<Dataset> {
    Builder { num_left: MAX_OPS }.known(op, operand)
}

/// Returns the function that an attribute refers to, if there is one.
pub(super) fn function_of(op: &dyn OpInstance, attribute: &str) -> Option<ElementFunction> {
    let Some(AttrInstance::Symbol(name, false)) = op.attribute(attribute) else {
        return None;
    };
    let Signature {
        arguments, results, ..
    } = op.resolve(&name)?;
    let types = |types: &[_]| ElementTypes::new(types.iter().map(|ty: &Spelling<'_>| Some(&**ty)));
    let function = ElementFunction::from_closure(arguments.len(), results.len(), |_, _| {
        Err(Error::new("the function of a model is not called"))
    });
    Some(function.with_types(types(&arguments), types(&results)))
}

/// Returns the function with the state that an op declares for it, if it does.
fn with_state(op: &dyn OpInstance, function: ElementFunction) -> ElementFunction {
    match (function_of(op, "save"), function_of(op, "restore")) {
        (Some(save), Some(restore)) => function.with_state(save, restore),
        _ => function,
    }
}

type Spelling<'a> = std::borrow::Cow<'a, str>;

struct Builder {
    num_left: u32,
}

impl Builder {
    /// Returns the dataset that is an operand, or one of unknown elements.
    fn input(&mut self, op: &dyn OpInstance, operand: usize) -> Result<Dataset> {
        match self.known(op, operand) {
            Some(dataset) => Ok(dataset),
            None => Dataset::new(Opaque),
        }
    }

    /// Returns the dataset that is an operand, or whose iterator the operand is.
    fn known(&mut self, op: &dyn OpInstance, operand: usize) -> Option<Dataset> {
        let below = op.producer(operand)?;
        self.num_left = self.num_left.checked_sub(1)?;
        match below.name() {
            "tfrt_data.make_iterator" | "tfrt_data.iterator_restore" => self.known(&*below, 0),
            // An op that is not well formed is reported on its own.
            _ => self.make(&*below).ok()?,
        }
    }

    fn inputs(&mut self, op: &dyn OpInstance, from: usize) -> Result<Vec<Dataset>> {
        (from..op.operand_types().len())
            .map(|operand| self.input(op, operand))
            .collect()
    }

    /// Returns the dataset that an op makes, unless it is unknown.
    fn make(&mut self, op: &dyn OpInstance) -> Result<Option<Dataset>> {
        let Some(name) = op.name().strip_prefix("tfrt_data.") else {
            return Ok(None);
        };
        let name = name.strip_suffix("_dataset").unwrap_or(name);
        if let Some(dataset) = source(name, op) {
            return Ok(Some(dataset));
        }
        if let Some(function) = function_of(op, "function") {
            return self.apply(name, op, with_state(op, function));
        }
        let schema = |attribute| text(op, attribute).map(|text| text.parse::<Schema>());
        let input = self.input(op, 0)?;
        Ok(Some(match name {
            "take" => input.take(1)?,
            "skip" => input.skip(1)?,
            "repeat" => input.repeat(1)?,
            "shuffle" => input.shuffle(1, 0, 0)?,
            "prefetch" => input.prefetch(1)?,
            "shard" | "auto_shard" => input.shard(1, 0)?,
            "cache" | "snapshot" => input.cache()?,
            "assert_cardinality" => input.assert_cardinality(0)?,
            "ignore_errors" => input.ignore_errors(false)?,
            "unique" => input.unique()?,
            "memory_dataset.i64" | "memory_dataset.str" | "on_error" | "log" => input,
            "options" => input.in_any_order()?,
            "zip" => Dataset::zip(&self.inputs(op, 0)?)?,
            "concatenate" => Dataset::concatenate(&self.inputs(op, 0)?)?,
            "sample_from_datasets" => Dataset::sample_from(&self.inputs(op, 0)?, None, 0, 0)?,
            "choose_from_datasets" => Dataset::choose_from(&input, &self.inputs(op, 1)?)?,
            "batch" => input.batch(1)?,
            "padded_batch" => input.padded_batch(1)?,
            "ragged_batch" => input.ragged_batch(1, false)?,
            "unbatch" => input.unbatch()?,
            "rebatch" => input.unbatch()?.batch(1)?,
            "window" => input.window(1, 1, 1, false)?,
            "enumerate" => input.enumerate(0)?,
            "parse_example" => match schema("schema") {
                Some(Ok(schema)) => parse_examples(&input, schema)?,
                _ => return Ok(None),
            },
            "parse_sequence_example" => match (schema("context"), schema("sequences")) {
                (Some(Err(_)), _) | (_, Some(Err(_))) => return Ok(None),
                (context, sequences) => {
                    let (context, sequences) = (context.transpose()?, sequences.transpose()?);
                    parse_sequence_examples(&input, SequenceSchema::new(context, sequences)?)?
                }
            },
            "generator" => match (function_of(op, "init"), function_of(op, "next")) {
                (Some(init), Some(next)) => {
                    let (next, finish) = (with_state(op, next), function_of(op, "finish"));
                    Dataset::generator_with(init, &values(op, 0), next, finish)?
                }
                _ => return Ok(None),
            },
            "group_by_window" => match (function_of(op, "key"), function_of(op, "reduce")) {
                (Some(key), Some(reduce)) => {
                    let key = with_state(op, key);
                    let reduce = reduce.with_state_of(&key);
                    input.group_by_window_with(key, reduce, 1)?
                }
                _ => return Ok(None),
            },
            name => match name
                .strip_prefix("batch_dataset.")
                .and_then(batched_components)
            {
                Some(components) => input.batch_with(1, components, false, false)?,
                None => return Ok(None),
            },
        }))
    }

    /// Returns the dataset that applies a function to an input.
    fn apply(
        &mut self,
        name: &str,
        op: &dyn OpInstance,
        function: ElementFunction,
    ) -> Result<Option<Dataset>> {
        let input = self.input(op, 0)?;
        Ok(Some(match name {
            "map" => input.map_with(function, &values(op, 1))?,
            "parallel_map" => input.parallel_map_with(function, &values(op, 2), 1, true)?,
            "map_and_batch" => {
                input.map_and_batch_with(function, &values(op, 2), 1, None, false)?
            }
            "scan" => input.scan_with(&values(op, 1), function)?,
            "filter" => input.filter_with(function)?,
            "take_while" => input.take_while_with(function)?,
            "interleave" | "flat_map" => arity(op, input.interleave_with(function, 1, 1)?)?,
            "parallel_interleave" => {
                let turns = input.parallel_interleave_with(function, 1, 1, 1, true)?;
                arity(op, turns)?
            }
            "bucket_by_length" => input.bucket_by_length(function, &[], &[1], &[], false)?,
            "rejection_resample" => input.rejection_resample(function, &[1.0], None, 0, 0)?,
            _ => return Ok(None),
        }))
    }
}

/// Returns the dataset of an op without an input, unless it is unknown.
fn source(name: &str, op: &dyn OpInstance) -> Option<Dataset> {
    let schema = |attribute| text(op, attribute)?.parse::<Schema>().ok();
    let dataset = match name {
        "range" => Dataset::range_of(element_type(op)?, 0, 0, 1),
        "make_dataset_from_values.i32"
        | "make_dataset_from_values.i64"
        | "make_dataset_from_values.str"
        | "make_dataset_from_values.tensor" => Dataset::from_values(&values(op, 1)),
        "tf_record" => tf_record_dataset(NO_FILE),
        "example" => {
            let options = TfRecordOptions::default();
            match op.attribute("batch_size") {
                Some(_) => options.example_batches(NO_FILE, schema("schema")?, 1),
                None => options.examples(NO_FILE, schema("schema")?),
            }
        }
        "text_line" => text_line_dataset(NO_FILE),
        "list_files" => list_files_dataset(NO_FILE),
        "fixed_length_record" => FixedLengthOptions::new(1).dataset(NO_FILE),
        "image_folder" => ImageFolderOptions::default().dataset(NO_FILE),
        "tar" => {
            let extensions = names(text(op, "extensions").as_deref()).unwrap_or_default();
            let options = TarOptions {
                extensions,
                ..TarOptions::default()
            };
            options.dataset(NO_FILE)
        }
        "csv" => {
            let options = CsvOptions {
                schema: Some(schema("schema")?),
                batch_size: op.attribute("batch_size").map(|_| 1),
                ..CsvOptions::default()
            };
            options.dataset(NO_FILE)
        }
        _ => return None,
    };
    dataset.ok()
}

/// Returns a value of the type of each operand from the one with this index on. The type of a value
/// is unknown if there is none for its spelling.
fn values(op: &dyn OpInstance, from: usize) -> Vec<AnyRef> {
    let types = op.operand_types();
    types.iter().skip(from).map(|ty| value(ty)).collect()
}

fn value(spelling: &str) -> AnyRef {
    macro_rules! one_of {
        ($($ty:ty),+) => {
            $(if spelling == <$ty as Value>::MLIR_TYPE {
                return AnyRef::available(<$ty>::default());
            })+
        };
    }
    one_of!(
        i64, i32, f32, f64, bool, u8, i8, i16, u16, u32, u64, ByteString
    );
    match spelling {
        Chain::MLIR_TYPE => AnyRef::ready_chain(),
        _ => AnyRef::error(Error::new("a value of a model")),
    }
}

/// Returns a dataset with the number of components that an op states.
fn arity(op: &dyn OpInstance, dataset: Dataset) -> Result<Dataset> {
    match op.attribute("arity") {
        Some(AttrInstance::Int(number, _)) => match i64::try_from(number) {
            Ok(number) => dataset.with_num_components(number),
            Err(_) => Ok(dataset),
        },
        _ => Ok(dataset),
    }
}

/// Returns the text of an attribute.
fn text<'a>(op: &'a dyn OpInstance, attribute: &str) -> Option<Spelling<'a>> {
    match op.attribute(attribute)? {
        AttrInstance::String(text) => Some(text),
        _ => None,
    }
}

/// Returns the element type of a range.
fn element_type(op: &dyn OpInstance) -> Option<DType> {
    let Some(AttrInstance::Type(spelling)) = op.attribute("element_type") else {
        return None;
    };
    let mut types = (0..=u8::MAX).filter_map(DType::from_code);
    types.find(|dtype| dtype.to_string() == spelling)
}

/// A dataset of unknown elements.
#[derive(Debug)]
struct Opaque;

impl Stage for Opaque {
    fn name(&self) -> &'static str {
        "opaque"
    }

    fn make_iterator(&self, _position: Position) -> Box<dyn Draw> {
        Box::new(Self)
    }
}

impl Draw for Opaque {
    fn draw(&mut self, _ctx: &ExecutionContext) -> IterationResult {
        Outcome::END.into()
    }
}
