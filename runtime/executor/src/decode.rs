//! From a verified body to the form that runs.

use std::borrow::Cow;
use std::collections::HashMap;

use tfrt_async::TypeIndex;
use tfrt_bef::{FunctionId, FunctionKind, KernelId, VerifiedFunction};
use tfrt_host::kernel::{KernelDescriptor, KernelTypes};
use tfrt_ods::OpTraits;
use tfrt_support::entity::EntityId;
use tfrt_support::{Error, ErrorCode};

use crate::attributes::BoundAttributes;
use crate::batch::GroupCost;
use crate::body::{
    AtOnce, Body, Extras, Kernel, KernelDetails, KernelResult, ResultForm, Start, Strictness,
    WordPool, Words,
};
use crate::call_loop::{CallLoop, KernelSource};
use crate::constants::Constants;
use crate::interpreter::{SyncBody, SyncKernel};
use crate::invocation::BlockBuilder;
use crate::nest::{Nest, Timing};
use crate::places::{self, KernelPlaces};
use crate::program::{FunctionBody, Program, malformed, to_number};
use crate::proof::{self, Contradiction, KernelUse, Registers};
use crate::ready_count::ReadyCount;
use crate::requirements;

/// Verifies, proves and decodes the body of a function of `program`.
pub(crate) fn decode(program: &Program, id: FunctionId) -> Result<FunctionBody, Error> {
    let function = program.bef().function(id).map_err(malformed)?;
    let proof = Proof::of(program, &function)?;
    let attributes = BoundAttributes::new(program, &function)?;
    requirements::check(program, &function, &proof.types, &attributes)?;
    match function.entry().kind {
        FunctionKind::Sync => {
            let body = decode_sync(program, &function, &proof, &attributes);
            Ok(FunctionBody::Sync(Box::new(body)))
        }
        _ => decode_async(program, &function, &proof, &attributes)
            .map(|body| FunctionBody::Async(Box::new(body))),
    }
}

/// What the check of the types of a body has found.
#[derive(Debug)]
struct Proof {
    /// The payload types of each kernel.
    types: Vec<KernelTypes>,
    /// Whether each kernel is proven.
    is_proven: Vec<bool>,
    /// The payload type of each register, as far as its producer says.
    registers: Vec<Option<TypeIndex>>,
}

impl Proof {
    /// Checks the types of a body.
    fn of(program: &Program, function: &VerifiedFunction) -> Result<Self, Error> {
        let entry = program.entry(function.id());
        let is_sync = function.entry().kind == FunctionKind::Sync;
        let descriptors: Vec<KernelDescriptor> = function
            .kernels()
            .map(|kernel| program.kernel(function.record(kernel).code))
            .collect();
        let types: Vec<KernelTypes> = descriptors.iter().map(KernelDescriptor::types).collect();
        let mut uses = Vec::with_capacity(types.len());
        for ((kernel, descriptor), types) in function.kernels().zip(&descriptors).zip(&types) {
            check_kind(program, function, kernel, descriptor, is_sync)?;
            let record = function.record(kernel);
            uses.push(KernelUse {
                op: descriptor.op(),
                types,
                operands: record.operands.as_words(),
                results: record.results.as_words(),
            });
        }
        let arguments: Vec<&str> = entry
            .argument_types
            .iter()
            .map(|spelling| &**spelling)
            .collect();
        let declared: Vec<&str> = entry
            .result_types
            .iter()
            .map(|spelling| &**spelling)
            .collect();
        let returned: Vec<u32> = function
            .results()
            .iter()
            .map(|&register| to_number(register))
            .collect();
        let registers = Registers::new(function.num_registers(), &arguments, &uses);
        let locate = |contradiction: Contradiction| {
            let location = match contradiction.kernel {
                Some(index) => function.record(KernelId::from_index(index + 1)).location,
                None => function.location(),
            };
            contradiction
                .error
                .set_place_if_unset(program.bef().place(location));
            contradiction.error
        };
        let proofs = uses
            .iter()
            .enumerate()
            .map(|(index, kernel)| registers.check_kernel(index, *kernel));
        let mut is_proven: Vec<bool> = proofs.collect::<Result<_, _>>().map_err(locate)?;
        for (kernel, is_proven) in function.kernels().zip(&mut is_proven) {
            // Which operands a non-strict kernel waits for is the word of its declaration; so it looks at what it reads.
            *is_proven &= !is_non_strict(function, kernel);
        }
        registers
            .check_returns(&returned, &declared)
            .map_err(locate)?;
        let registers = registers.payloads();
        Ok(Self {
            types,
            is_proven,
            registers,
        })
    }
}

/// Refuses a kernel that cannot run in this kind of function, or not in the way that the file wants.
fn check_kind(
    program: &Program,
    function: &VerifiedFunction,
    kernel: KernelId,
    descriptor: &KernelDescriptor,
    is_sync: bool,
) -> Result<(), Error> {
    let name = descriptor.name();
    let message = if descriptor.is_sync() != is_sync {
        let (is, wanted) = if is_sync {
            ("asynchronous", "a synchronous")
        } else {
            ("synchronous", "an asynchronous")
        };
        format!("kernel `{name}` is {is} and cannot run in {wanted} function")
    } else if is_non_strict(function, kernel)
        && !descriptor.op().traits.contains(OpTraits::NON_STRICT)
    {
        format!(
            "`{name}` is marked `bef.nonstrict`, but kernel `{name}` is not declared `non_strict`"
        )
    } else {
        return Ok(());
    };
    let error = Error::new(message).with_code(ErrorCode::InvalidArgument);
    error.set_place_if_unset(program.bef().place(function.record(kernel).location));
    Err(error)
}

fn is_non_strict(function: &VerifiedFunction, kernel: KernelId) -> bool {
    function.kernel_table()[kernel.index()]
        .flags
        .is_non_strict()
}

fn decode_async(
    program: &Program,
    function: &VerifiedFunction,
    proof: &Proof,
    attributes: &BoundAttributes,
) -> Result<Body, Error> {
    let mut words = WordPool::default();
    let waits = Waits::new(program, function);
    let results: Box<[u32]> = function
        .results()
        .iter()
        .map(|&register| to_number(register))
        .collect();
    let first_results = first_of_each(&results);
    let uses = kernel_places(program, function, proof);
    let early = waits.early_registers(function).collect();
    let types = proof.registers.clone();
    let places = places::assign(&uses, types, &results, &early, BlockBuilder::new);
    let Some(places) = places else {
        return Err(
            Error::new("a function is too large to run").with_code(ErrorCode::ResourceExhausted)
        );
    };
    let (mut kernels, mut details, mut ready_counts) = (Vec::new(), Vec::new(), Vec::new());
    for ((kernel, in_place), &is_proven) in
        function.kernels().zip(places.kernels).zip(&proof.is_proven)
    {
        let (entry, record) = (
            &function.kernel_table()[kernel.index()],
            function.record(kernel),
        );
        let results: Box<[KernelResult]> = record
            .results_with_users()
            .map(|(register, users)| KernelResult {
                register: to_number(register),
                users: words.push(&waits.users_to_count(to_number(register), users.as_words())),
            })
            .collect();
        let (strictness, ready_count) = match waits.of_kernel(to_number(kernel)) {
            None => (Strictness::Strict, entry.ready_count()),
            Some([]) if record.operands.is_empty() => (Strictness::Strict, 1),
            Some([]) => (Strictness::WaitsForAny, ReadyCount::FOR_ANY),
            Some(positions) => (
                Strictness::Waits(words.push(positions)),
                to_count(positions.len()),
            ),
        };
        let descriptor = program.kernel(record.code);
        let in_place = in_place.map(|in_place| (descriptor.direct(), in_place));
        let (direct, in_place) = in_place.unwrap_or_default();
        let publishes = in_place.extras.contains(Extras::PUBLISHES);
        kernels.push(Kernel {
            direct: direct.map(|direct| direct.run),
            offsets: words.push(&in_place.offsets).start(),
            users: match (&direct, &*results) {
                (None, _) | (_, []) => Words::default(),
                // Counted down as they are published.
                _ if publishes => Words::default(),
                (_, [result]) => result.users,
                (_, results) => {
                    let users = results.iter().flat_map(|result| words.get(result.users));
                    let users: Vec<u32> = users.copied().collect();
                    words.push(&users)
                }
            },
            stream: entry.stream,
            extras: in_place.extras,
        });
        details.push(KernelDetails {
            descriptor,
            is_proven,
            strictness,
            location: to_number(record.location),
            operands: words.push(record.operands.as_words()),
            attributes: words.push(attributes.of(kernel, &record)),
            functions: words.push(record.functions.as_words()),
            results,
            forms: in_place.forms.into(),
            taken: words.push(&in_place.taken),
        });
        ready_counts.push(ready_count);
    }
    let roots = function.pseudo_record().results_with_users().next();
    let stream = function.kernel_table()[0].stream;
    let roots = roots
        .map(|(_, users)| words.push(users.as_words()))
        .unwrap_or_default();
    let arguments: Box<[KernelResult]> = function
        .argument_users()
        .map(|(register, users)| KernelResult {
            register: to_number(register),
            users: words.push(&waits.users_to_count(to_number(register), users.as_words())),
        })
        .collect();
    let at_once = at_once(
        stream,
        roots,
        &arguments,
        &kernels,
        &ready_counts,
        &mut words,
    );
    let sources = kernel_sources(program, function, &uses, attributes);
    let is_one_stream =
        at_once.outline.len() == 0 && kernels.iter().all(|kernel| kernel.stream == at_once.stream);
    let is_late = late_registers(&at_once, &kernels, &details, &words, places.registers.len());
    let nest = Nest::of(
        program,
        program.entry(function.id()),
        &sources,
        proof.registers.clone(),
        &results,
        Timing {
            is_one_stream,
            is_late: results.iter().all(|&register| is_late[register as usize]),
        },
    );
    let call_loop = order_of_one_path(&at_once, &kernels, &details, &words).and_then(|order| {
        CallLoop::of(
            &sources,
            &order,
            proof.registers.clone(),
            arguments.len(),
            &results,
            &first_results,
        )
    });
    let start = Start {
        stream,
        roots,
        arguments,
        at_once,
    };
    let streams = kernels
        .iter()
        .map(|kernel: &Kernel| kernel.stream as usize + 1);
    Ok(Body {
        call_loop,
        nest,
        constants: Constants::new(places.constants),
        num_streams: streams.max().unwrap_or(0),
        group_cost: GroupCost::default(),
        start,
        kernels: kernels.into(),
        details: details.into(),
        registers: places.registers,
        results,
        first_results,
        returned: places.returned,
        early: places.early,
        ready_counts: ready_counts.into(),
        words: words.finish(),
        block: places.block,
    })
}

/// For each result of a function, by register, the first one that is of the same register.
fn first_of_each(results: &[u32]) -> Box<[u32]> {
    let mut first: HashMap<u32, u32> = HashMap::new();
    let first_of = |(index, &register): (usize, &u32)| {
        *first.entry(register).or_insert_with(|| to_count(index))
    };
    results.iter().enumerate().map(first_of).collect()
}

/// What it comes to when all arguments are available at the start: as counting down one by one would leave it.
fn at_once(
    stream: u32,
    roots: Words,
    arguments: &[KernelResult],
    kernels: &[Kernel],
    ready_counts: &[u32],
    words: &mut WordPool,
) -> AtOnce {
    let mut ready_counts: Box<[u32]> = ready_counts.into();
    let mut ready = Vec::new();
    let users = arguments.iter().map(|argument| argument.users);
    for users in std::iter::once(roots).chain(users) {
        for &number in words.get(users) {
            if ReadyCount::simulate(&mut ready_counts[number as usize - 1]) {
                ready.push(number);
            }
        }
    }
    let stream_of = |number: &u32| kernels[*number as usize - 1].stream;
    // A path that has nothing to do in its stream moves over to the first other one.
    let has_own = ready.iter().any(|number| stream_of(number) == stream);
    let stream = match ready.first() {
        Some(first) if !has_own => stream_of(first),
        _ => stream,
    };
    let (inline, mut outline): (Vec<u32>, Vec<u32>) =
        ready.iter().partition(|number| stream_of(number) == stream);
    outline.sort_by_key(stream_of);
    AtOnce {
        ready_counts,
        stream,
        inline: words.push(&inline),
        num_outline_groups: outline
            .chunk_by(|a, b| stream_of(a) == stream_of(b))
            .count(),
        outline: words.push(&outline),
    }
}

/// The kernels of a body, for a loop of calls.
fn kernel_sources<'a>(
    program: &Program,
    function: &'a VerifiedFunction,
    places: &[KernelPlaces<'a>],
    attributes: &'a BoundAttributes,
) -> Vec<KernelSource<'a>> {
    let source = |(kernel, &places): (KernelId, &KernelPlaces<'a>)| {
        let record = function.record(kernel);
        KernelSource {
            places,
            descriptor: program.kernel(record.code),
            location: to_number(record.location),
            attributes: attributes.of(kernel, &record),
            functions: record.functions.as_words(),
        }
    };
    function.kernels().zip(places).map(source).collect()
}

/// The order in which a path would run the kernels of a function whose arguments are available; nothing if it would hand some
/// of them to the work queue, or if what follows cannot be known.
fn order_of_one_path(
    start: &AtOnce,
    kernels: &[Kernel],
    details: &[KernelDetails],
    words: &WordPool,
) -> Option<Vec<usize>> {
    let is_simple = |(kernel, details): (&Kernel, &KernelDetails)| {
        let gives_payloads = details.forms.iter().all(|&form| form == ResultForm::Cell);
        kernel.direct.is_some() && kernel.stream == start.stream && gives_payloads
    };
    if start.outline.len() > 0 || !kernels.iter().zip(details).all(is_simple) {
        return None;
    }
    let mut ready_counts = start.ready_counts.clone();
    let mut ready = words.get(start.inline).to_vec();
    let mut order = Vec::with_capacity(kernels.len());
    while let Some(number) = ready.pop() {
        let index = number as usize - 1;
        order.push(index);
        for result in &details[index].results {
            for &user in words.get(result.users) {
                if ReadyCount::simulate(&mut ready_counts[user as usize - 1]) {
                    ready.push(user);
                }
            }
        }
    }
    (order.len() == kernels.len()).then_some(order)
}

/// Which registers surely have no value when the call of a function returns whose arguments were available: they depend on what
/// the first path hands to the work queue. What that is, is known up to the first kernel that needs a frame.
fn late_registers(
    start: &AtOnce,
    kernels: &[Kernel],
    details: &[KernelDetails],
    words: &WordPool,
    num_registers: usize,
) -> Vec<bool> {
    let stream_of = |number: u32| kernels[number as usize - 1].stream;
    let mut is_handed_on = vec![false; kernels.len()];
    let mut hand_on = |numbers: &[u32]| {
        numbers
            .iter()
            .for_each(|&number| is_handed_on[number as usize - 1] = true);
    };
    hand_on(words.get(start.outline));
    let mut ready_counts = start.ready_counts.clone();
    let mut stream = start.stream;
    let mut inline = words.get(start.inline).to_vec();
    while let Some(number) = inline.pop() {
        let index = number as usize - 1;
        if kernels[index].direct.is_none() {
            break;
        }
        let users = details[index]
            .results
            .iter()
            .flat_map(|result| words.get(result.users));
        let ready =
            users.filter(|&&user| ReadyCount::simulate(&mut ready_counts[user as usize - 1]));
        let (own, mut others): (Vec<u32>, Vec<u32>) =
            ready.partition(|&&user| stream_of(user) == stream);
        inline.extend(own);
        if inline.is_empty()
            && let Some(&first) = others.first()
        {
            stream = stream_of(first);
            (inline, others) = others
                .into_iter()
                .partition(|&user| stream_of(user) == stream);
        }
        hand_on(&others);
    }
    let mut is_late = vec![false; num_registers];
    // One round finds all where kernels stand behind those that they read from, as they mostly do. Less would be found, which does no
    // harm, and a file cannot make it take long.
    for _ in 0..2 {
        for (details, &is_handed_on) in details.iter().zip(&is_handed_on) {
            let operands = words.get(details.operands);
            let waits = details.strictness == Strictness::Strict
                && operands.iter().any(|&register| is_late[register as usize]);
            if waits || is_handed_on {
                for result in &details.results {
                    is_late[result.register as usize] = true;
                }
            }
        }
    }
    is_late
}

/// The kernels of a body as far as places are concerned.
fn kernel_places<'a>(
    program: &Program,
    function: &'a VerifiedFunction,
    proof: &'a Proof,
) -> Vec<KernelPlaces<'a>> {
    let place = |(kernel, types): (KernelId, &'a KernelTypes)| {
        let record = function.record(kernel);
        let direct = program.kernel(record.code).direct();
        KernelPlaces {
            direct: direct.filter(|_| !is_non_strict(function, kernel)),
            types,
            operands: record.operands.as_words(),
            results: record.results.as_words(),
            is_constant: direct.is_some_and(|direct| direct.is_fixed)
                && program
                    .kernel(record.code)
                    .op()
                    .traits
                    .contains(OpTraits::PURE),
        }
    };
    function.kernels().zip(&proof.types).map(place).collect()
}

/// Which operands the kernels that run non-strictly wait for. Empty for most functions.
#[derive(Debug, Default)]
struct Waits {
    /// By the number of the kernel: the positions of the operands that it waits for; none if it waits for any.
    positions: HashMap<u32, Vec<u32>>,
    /// By kernel and register: how often the register is an operand that the kernel waits for.
    counts: HashMap<(u32, u32), usize>,
}

impl Waits {
    fn new(program: &Program, function: &VerifiedFunction) -> Self {
        let mut waits = Self::default();
        for kernel in function
            .kernels()
            .filter(|&kernel| is_non_strict(function, kernel))
        {
            let record = function.record(kernel);
            let op = program.kernel(record.code).op();
            let operands = record.operands.as_words();
            let is_waited = |&(position, _): &(u32, &u32)| {
                let declared = proof::declared_position(
                    op.operands.iter().map(|operand| operand.arity),
                    position as usize,
                    operands.len(),
                );
                op.operands
                    .get(declared)
                    .is_none_or(|operand| !operand.is_reference)
            };
            let waited: Vec<(u32, &u32)> = (0..).zip(operands).filter(is_waited).collect();
            let counted: Vec<u32> = match waited.is_empty() {
                true => operands.to_vec(),
                false => waited.iter().map(|&(_, &register)| register).collect(),
            };
            for register in counted {
                *waits
                    .counts
                    .entry((to_number(kernel), register))
                    .or_default() += 1;
            }
            waits.positions.insert(
                to_number(kernel),
                waited.iter().map(|&(position, _)| position).collect(),
            );
        }
        waits
    }

    /// The positions that a kernel waits for; nothing if it is strict.
    fn of_kernel(&self, kernel: u32) -> Option<&[u32]> {
        self.positions.get(&kernel).map(Vec::as_slice)
    }

    /// Of the users of a register, those that its arrival counts for.
    fn users_to_count<'a>(&self, register: u32, users: &'a [u32]) -> Cow<'a, [u32]> {
        if self.positions.is_empty() {
            return Cow::Borrowed(users);
        }
        let mut counted: HashMap<u32, usize> = HashMap::new();
        let is_counted = |user: &&u32| {
            if !self.positions.contains_key(user) {
                return true;
            }
            let seen = counted.entry(**user).or_default();
            *seen += 1;
            self.counts
                .get(&(**user, register))
                .is_some_and(|&count| *seen <= count)
        };
        users.iter().filter(is_counted).copied().collect()
    }

    /// The registers that a kernel may read before they are there.
    fn early_registers(&self, function: &VerifiedFunction) -> impl Iterator<Item = u32> {
        let non_strict = function
            .kernels()
            .filter(|&kernel| self.positions.contains_key(&to_number(kernel)));
        non_strict.flat_map(|kernel| function.record(kernel).operands.as_words().iter().copied())
    }
}

fn to_count(len: usize) -> u32 {
    u32::try_from(len).expect("a verified body is far smaller than 4 GiB")
}

fn decode_sync(
    program: &Program,
    function: &VerifiedFunction,
    proof: &Proof,
    attributes: &BoundAttributes,
) -> SyncBody {
    let mut words = WordPool::default();
    let num_arguments = program.entry(function.id()).argument_types.len();
    let mut remaining_uses = function.use_counts().to_vec();
    let kernels = function
        .kernels()
        .zip(&proof.is_proven)
        .map(|(kernel, &is_proven)| {
            let record = function.record(kernel);
            let mut last_uses = Vec::new();
            for (position, &register) in (0..).zip(record.operands.as_words()) {
                remaining_uses[register as usize] -= 1;
                // An argument is lent by the caller, and never dies.
                if remaining_uses[register as usize] == 0 && register as usize >= num_arguments {
                    last_uses.push(position);
                }
            }
            let results = record.results.as_words().iter();
            let is_unused = |register: &&u32| remaining_uses[**register as usize] == 0;
            let unused: Vec<u32> = results
                .copied()
                .filter(|register| is_unused(&register))
                .collect();
            SyncKernel {
                descriptor: program.kernel(record.code),
                is_proven,
                location: to_number(record.location),
                operands: words.push(record.operands.as_words()),
                attributes: words.push(attributes.of(kernel, &record)),
                functions: words.push(record.functions.as_words()),
                results: words.push(record.results.as_words()),
                last_uses: words.push(&last_uses),
                unused: words.push(&unused),
            }
        })
        .collect();
    let results: Box<[u32]> = function
        .results()
        .iter()
        .map(|&register| to_number(register))
        .collect();
    let uses = kernel_places(program, function, proof);
    let in_order: Vec<usize> = (0..uses.len()).collect();
    SyncBody {
        num_registers: function.num_registers(),
        call_loop: CallLoop::of(
            &kernel_sources(program, function, &uses, attributes),
            &in_order,
            proof.registers.clone(),
            num_arguments,
            &results,
            &first_of_each(&results),
        ),
        kernels,
        results,
        words: words.finish(),
    }
}
