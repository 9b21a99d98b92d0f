//! Lowering: from a checked body to code whose kernels know the places of their values.
//!
//! Does not know how code is run.

pub(crate) mod ids;

pub(crate) mod code;

pub(crate) mod schedule;

pub(crate) mod segments;

pub(crate) mod shared;

pub(crate) mod replay;

pub(crate) mod places;

use std::collections::{HashMap, HashSet};

use tfrt_async::TypeIndex;
use tfrt_bef::{FunctionKind, KernelId as FileKernelId, VerifiedFunction};
use tfrt_host::__runtime::KernelTypes;
use tfrt_host::kernel::KernelDescriptor;
use tfrt_ods::OpTraits;
use tfrt_support::entity::EntityId;
use tfrt_support::{Error, ErrorCode};

use crate::load::{BodyTypes, CheckedBody, FunctionEntry, Tables, Waits, is_non_strict, to_number};
use code::{
    AtOnce, BoolCell, Code, Extras, Kernel, KernelDetails, KernelId, KernelResult, RegisterId,
    ResultForm, Schedule, Start, StreamId, Strictness, WordPool, Words,
};
use places::{Callees, InPlace, KernelPlaces};
use schedule::{FOR_ANY, Simulation};

/// Lowers a body. A synchronous body runs in program order, regardless of the streams in the file.
///
/// # Errors
/// Fails if the body is too large to run.
pub(crate) fn lower(
    tables: &Tables,
    function: &VerifiedFunction,
    checked: &CheckedBody,
) -> Result<Code, Error> {
    let CheckedBody { types, attributes } = checked;
    let is_sync = function.entry().kind == FunctionKind::Sync;
    let waits = match is_sync {
        true => Waits::default(),
        false => Waits::new(tables, function),
    };
    let results: Vec<u32> = returned_registers(function);
    let uses = kernel_places(tables, function, types);
    let early: HashSet<u32> = waits.early_registers(function).collect();
    let assumed = assumed_types(tables, function, &uses, types);
    let num_arguments = function.entry().arguments.len();
    let placed = places::assign(&uses, assumed, &results, &early, num_arguments);
    let Some(placed) = placed else {
        let error = Error::new("the function is too large to run");
        return Err(error.with_code(ErrorCode::ResourceExhausted));
    };
    let mut words = WordPool::default();
    let mut graph = match is_sync {
        true => Graph::in_program_order(function),
        false => Graph::of(function, &waits, &mut words),
    };
    let at_once = ReadyAtOnce::of(&graph, &words);
    let order = match (is_sync, waits.is_empty()) {
        (true, _) => Some(ids(graph.streams.len())),
        (false, true) => at_once.order(&graph, &words),
        (false, false) => None,
    };
    let is_scheduled = order.is_some();
    let order = order.unwrap_or_else(|| ids(graph.streams.len()));
    let mut new_ids = vec![KernelId::from_index(0); order.len()];
    for (new, old) in order.iter().enumerate() {
        new_ids[old.index()] = KernelId::from_index(new);
    }
    // So far, all words are lists of users.
    words.renumber(&new_ids);
    let at_once = at_once.finish(&order, &new_ids, &mut words);
    let mut in_place: Vec<Option<InPlace>> = placed.kernels;
    let mut kernels = Vec::with_capacity(order.len());
    let mut details = Vec::with_capacity(order.len());
    let mut num_links = 0;
    for old in &order {
        let index = old.index();
        let file_id = FileKernelId::from_index(index + 1);
        let record = function.record(file_id);
        let descriptor = tables.kernel(record.code);
        let results = std::mem::take(&mut graph.results[index]);
        let in_place = in_place[index].take();
        let direct = match in_place {
            Some(_) if uses[index].call.is_none() => descriptor.direct(),
            _ => None,
        };
        let in_place = in_place.unwrap_or_default();
        let words_in_place = in_place.push_words(&mut words);
        let is_returned = |result: &KernelResult| {
            let register = &placed.registers[result.register.index()];
            register.returned.is_some()
        };
        let returns = results.iter().any(is_returned);
        let extras = words_in_place.extras.with_if(returns, Extras::RETURNS);
        let publishes = Extras::PUBLISHES.and(Extras::RETURNS);
        kernels.push(Kernel {
            direct: direct.map(|direct| direct.run),
            offsets: words_in_place.offsets,
            users: match &*results {
                _ if direct.is_none() => Words::default(),
                [] => Words::default(),
                // Counted down as the results are published.
                _ if extras.contains(publishes) => Words::default(),
                [result] => result.users,
                results => {
                    let users = results.iter().flat_map(|result| words.get(result.users));
                    let users: Vec<u32> = users.copied().collect();
                    words.push(users)
                }
            },
            stream: graph.streams[index],
            extras,
            num_released: words_in_place.num_released,
            num_kept: words_in_place.num_kept,
        });
        let first_link = num_links;
        if in_place.extras.contains(Extras::CALLS) {
            num_links += to_count(record.functions.as_words().len());
        }
        details.push(KernelDetails {
            descriptor,
            is_proven: types.is_proven[index],
            reads_file: direct.is_some_and(|direct| direct.reads_file),
            strictness: match waits.of_kernel(to_number(file_id)) {
                None => Strictness::Strict,
                Some([]) if record.operands.is_empty() => Strictness::Strict,
                Some([]) => Strictness::WaitsForAny,
                Some(positions) => Strictness::Waits(words.push(positions.iter().copied())),
            },
            location: to_number(record.location),
            operands: words.push(record.operands.as_words().iter().copied()),
            attributes: words.push(attributes.of(file_id, &record).iter().copied()),
            functions: words.push(record.functions.as_words().iter().copied()),
            condition: match (uses[index].call, record.operands.as_words()) {
                (Some(Callees::Either), [condition, ..]) => {
                    BoolCell::of(&placed.registers[*condition as usize])
                }
                _ => None,
            },
            first_link,
            results,
            is_bottleneck: false,
            awaited_slot: None,
            settlings: in_place.settlings.into(),
            forms: in_place.forms.into(),
            taken_slots: words_in_place.taken_slots,
            taken: words.push(in_place.taken),
        });
    }
    let num_streams = graph.streams.iter().map(|stream| stream.index() + 1).max();
    let mut code = Code {
        schedule: None,
        leaf: None,
        num_links,
        start: Start {
            stream: graph.stream,
            roots: graph.roots,
            arguments: graph.arguments,
            at_once,
        },
        kernels: kernels.into(),
        details: details.into(),
        registers: placed.registers,
        first_results: first_of_each(&results),
        results: results
            .iter()
            .map(|&register| register_id(register))
            .collect(),
        returned: placed.returned,
        early: placed.early,
        ready_counts: permute(&graph.ready_counts, &order),
        words: words.finish(),
        frame: placed.frame,
        has_shared: false,
        num_streams: num_streams.unwrap_or(0),
    };
    code.schedule = is_scheduled.then(|| match is_sync {
        true => Schedule::Exact,
        false => Schedule::of(&code),
    });
    if matches!(code.schedule, Some(Schedule::Exact)) {
        shared::share(&mut code);
    }
    for kernel in &mut code.kernels {
        let settles = kernel.num_released != 0 || kernel.num_kept != 0;
        kernel.extras = kernel
            .extras
            .with_if(kernel.direct.is_some() && settles, Extras::SETTLES);
    }
    if !is_sync && matches!(code.schedule, Some(Schedule::Exact)) {
        for kernel in schedule::bottlenecks(&code) {
            let details = &mut code.details[kernel.index()];
            details.is_bottleneck = true;
            if let ([result], [ResultForm::LaterSlot]) = (&*details.results, &*details.forms) {
                details.awaited_slot = code.registers[result.register.index()].slot;
            }
        }
    }
    let is_leaf = matches!(code.schedule, Some(Schedule::Exact))
        && !code.frame.has_slots
        && code.kernels.iter().all(Kernel::is_plain);
    if is_leaf {
        let kernels = code.kernels.iter().zip(ids(code.kernels.len()));
        let kernels = kernels.filter_map(|(kernel, id)| kernel.in_leaf(id));
        code.leaf = Some(kernels.collect());
    }
    Ok(code)
}

/// Returns the registers that a function returns.
pub(crate) fn returned_registers(function: &VerifiedFunction) -> Vec<u32> {
    let results = function.results().iter();
    results.map(|&register| to_number(register)).collect()
}

/// Returns, for each kernel of a body, what determines the places of its values.
pub(crate) fn kernel_places<'a>(
    tables: &Tables,
    function: &'a VerifiedFunction,
    types: &'a BodyTypes,
) -> Vec<KernelPlaces<'a>> {
    let place = |(kernel, types): (FileKernelId, &'a KernelTypes)| {
        let record = function.record(kernel);
        let descriptor = tables.kernel(record.code);
        let is_strict = !is_non_strict(function, kernel);
        let direct = descriptor.direct();
        KernelPlaces {
            direct: direct.filter(|_| is_strict),
            call: callees(&descriptor, record.functions.as_words()).filter(|_| is_strict),
            types,
            operands: record.operands.as_words(),
            results: record.results.as_words(),
            is_constant: direct.is_some_and(|direct| direct.is_fixed)
                && descriptor.op().traits.contains(OpTraits::PURE),
        }
    };
    function.kernels().zip(&types.kernels).map(place).collect()
}

/// Returns, for each result of a function, given by register, the first result of the same
/// register.
pub(crate) fn first_of_each(results: &[u32]) -> Box<[u32]> {
    let mut first: HashMap<u32, u32> = HashMap::new();
    let first_of = |(index, &register): (usize, &u32)| {
        *first.entry(register).or_insert_with(|| to_count(index))
    };
    results.iter().enumerate().map(first_of).collect()
}

/// Returns what a kernel calls, if it does nothing else.
fn callees(kernel: &KernelDescriptor, functions: &[u32]) -> Option<Callees> {
    let traits = kernel.op().traits;
    match functions {
        [_] if traits.contains(OpTraits::CALL) => Some(Callees::One),
        [_, _] if traits.contains(OpTraits::CHOOSES) => Some(Callees::Either),
        _ => None,
    }
}

/// Returns the payload type of each register: the type that its producer returns, or the type that
/// declarations suggest for an argument or for the result of a call.
fn assumed_types(
    tables: &Tables,
    function: &VerifiedFunction,
    kernels: &[KernelPlaces<'_>],
    types: &BodyTypes,
) -> Vec<Option<TypeIndex>> {
    let mut assumed = types.registers.clone();
    let entry = tables.function(function.id());
    for (ty, spelling) in assumed.iter_mut().zip(&entry.argument_types) {
        *ty = ty.or_else(|| tables.payload_of(spelling));
    }
    for (kernel, file_id) in kernels.iter().zip(function.kernels()) {
        let callee = function.record(file_id).functions.as_words().first();
        let (Some(_), Some(&callee)) = (kernel.call, callee) else {
            continue;
        };
        let callee: &FunctionEntry = tables.function(EntityId::from_index(callee as usize));
        for (&register, spelling) in kernel.results.iter().zip(&callee.result_types) {
            let ty = &mut assumed[register as usize];
            *ty = ty.or_else(|| tables.payload_of(spelling));
        }
    }
    assumed
}

/// The graph of a body, in program order.
#[derive(Debug)]
struct Graph {
    /// The stream of the pseudo kernel.
    stream: StreamId,
    roots: Words,
    arguments: Box<[KernelResult]>,
    /// The results of each kernel.
    results: Vec<Box<[KernelResult]>>,
    streams: Vec<StreamId>,
    ready_counts: Vec<u32>,
}

impl Graph {
    /// Builds the graph, and collects the users of all values in `words`, which must be empty.
    fn of(function: &VerifiedFunction, waits: &Waits, words: &mut WordPool) -> Self {
        let mut result = |register: u32, users: &[u32]| {
            let users = waits.users_to_count(register, users);
            KernelResult {
                register: register_id(register),
                // In the file, number 0 is the pseudo kernel.
                users: words.push(users.iter().map(|user| user - 1)),
            }
        };
        let mut results = Vec::new();
        let mut streams = Vec::new();
        let mut ready_counts = Vec::new();
        for kernel in function.kernels() {
            let (entry, record) = (
                &function.kernel_table()[kernel.index()],
                function.record(kernel),
            );
            let with_users = record.results_with_users();
            let of_kernel =
                with_users.map(|(register, users)| result(to_number(register), users.as_words()));
            results.push(of_kernel.collect());
            streams.push(stream_id(entry.stream));
            ready_counts.push(match waits.of_kernel(to_number(kernel)) {
                None => entry.ready_count(),
                Some([]) if record.operands.is_empty() => 1,
                Some([]) => FOR_ANY,
                Some(positions) => to_count(positions.len()),
            });
        }
        let arguments = function
            .argument_users()
            .map(|(register, users)| result(to_number(register), users.as_words()))
            .collect();
        let roots = function.pseudo_record().results_with_users().next();
        let roots = roots
            .map(|(_, users)| words.push(users.as_words().iter().map(|user| user - 1)))
            .unwrap_or_default();
        Self {
            stream: stream_id(function.kernel_table()[0].stream),
            roots,
            arguments,
            results,
            streams,
            ready_counts,
        }
    }
}

impl Graph {
    /// Builds the graph of kernels that run one after the other, so that no kernel waits.
    fn in_program_order(function: &VerifiedFunction) -> Self {
        let result = |register: u32| KernelResult {
            register: register_id(register),
            users: Words::default(),
        };
        let results: Vec<Box<[KernelResult]>> = function
            .kernels()
            .map(|kernel| {
                let registers = function.record(kernel).results.as_words().iter();
                registers.map(|&register| result(register)).collect()
            })
            .collect();
        let num_arguments = to_count(function.entry().arguments.len());
        Self {
            stream: stream_id(0),
            roots: Words::default(),
            arguments: (0..num_arguments).map(result).collect(),
            streams: vec![stream_id(0); results.len()],
            ready_counts: vec![0; results.len()],
            results,
        }
    }
}

/// The initial state if all arguments are available, with kernels numbered in program order.
#[derive(Debug)]
struct ReadyAtOnce {
    ready_counts: Box<[u32]>,
    stream: StreamId,
    inline: Vec<KernelId>,
    /// Ordered by stream.
    outline: Vec<KernelId>,
}

impl ReadyAtOnce {
    fn of(graph: &Graph, words: &WordPool) -> Self {
        let mut simulation = Simulation::new(&graph.ready_counts, []);
        let users = graph.arguments.iter().map(|argument| argument.users);
        for users in std::iter::once(graph.roots).chain(users) {
            simulation.arrive(kernel_ids(words.get(users)));
        }
        let Simulation {
            ready_counts,
            ready,
        } = simulation;
        let stream_of = |kernel: &KernelId| graph.streams[kernel.index()];
        // A path without ready kernels in its stream moves to the first other stream.
        let has_own = ready.iter().any(|kernel| stream_of(kernel) == graph.stream);
        let stream = match ready.first() {
            Some(first) if !has_own => stream_of(first),
            _ => graph.stream,
        };
        let (inline, mut outline): (Vec<KernelId>, Vec<KernelId>) =
            ready.iter().partition(|kernel| stream_of(kernel) == stream);
        outline.sort_by_key(stream_of);
        Self {
            ready_counts: ready_counts.into_boxed_slice(),
            stream,
            inline,
            outline,
        }
    }

    /// Returns the order in which one path would run all kernels, or `None` if some of them would
    /// never run.
    fn order(&self, graph: &Graph, words: &WordPool) -> Option<Vec<KernelId>> {
        let ready = self.outline.iter().chain(&self.inline).copied();
        Simulation::new(&self.ready_counts, ready).order(|path, kernel| {
            for result in &graph.results[kernel.index()] {
                path.arrive(kernel_ids(words.get(result.users)));
            }
        })
    }

    fn finish(self, order: &[KernelId], new_ids: &[KernelId], words: &mut WordPool) -> AtOnce {
        let new_id = |old: &KernelId| new_ids[old.index()];
        AtOnce {
            ready_counts: permute(&self.ready_counts, order),
            stream: self.stream,
            inline: words.push(self.inline.iter().map(|old| to_number(new_id(old)))),
            outline: self.outline.iter().map(new_id).collect(),
        }
    }
}

/// Reorders `old`, which is in program order.
fn permute(old: &[u32], order: &[KernelId]) -> Box<[u32]> {
    order.iter().map(|kernel| old[kernel.index()]).collect()
}

fn kernel_ids(words: &[u32]) -> impl Iterator<Item = KernelId> {
    words.iter().map(|&id| KernelId::from_index(id as usize))
}

fn ids(num_kernels: usize) -> Vec<KernelId> {
    (0..num_kernels).map(KernelId::from_index).collect()
}

fn register_id(number: u32) -> RegisterId {
    RegisterId::from_index(number as usize)
}

fn stream_id(number: u32) -> StreamId {
    StreamId::from_index(number as usize)
}

fn to_count(len: usize) -> u32 {
    u32::try_from(len).expect("a verified body is far smaller than 4 GiB")
}
