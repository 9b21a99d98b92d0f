//! From a verified body to the form that runs.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use tfrt_bef::{FunctionId, FunctionKind, KernelId, VerifiedFunction};
use tfrt_host::kernel::{KernelDescriptor, KernelTypes};
use tfrt_ods::OpTraits;
use tfrt_support::entity::EntityId;
use tfrt_support::{Error, ErrorCode};

use crate::body::{Body, Kernel, KernelResult, Promised, Register, Start, Strictness, WordPool};
use crate::interpreter::{SyncBody, SyncKernel};
use crate::invocation::BlockLayout;
use crate::program::{FunctionBody, Program, malformed, to_number};
use crate::proof::{self, Contradiction, KernelUse, Registers};

/// Verifies, proves and decodes the body of a function of `program`.
pub(crate) fn decode(program: &Program, id: FunctionId) -> Result<FunctionBody, Error> {
    let function = program.bef().function(id).map_err(malformed)?;
    let proofs = prove(program, &function)?;
    match function.entry().kind {
        FunctionKind::Sync => Ok(FunctionBody::Sync(Arc::new(decode_sync(
            program, &function, &proofs,
        )))),
        _ => decode_async(program, &function, &proofs)
            .map(|body| FunctionBody::Async(Arc::new(body))),
    }
}

/// Checks the types of a body; tells of every kernel whether it is proven.
fn prove(program: &Program, function: &VerifiedFunction) -> Result<Vec<bool>, Error> {
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
    let mut proofs: Vec<bool> = proofs.collect::<Result<_, _>>().map_err(locate)?;
    for (kernel, is_proven) in function.kernels().zip(&mut proofs) {
        // Which operands a non-strict kernel waits for is the word of its declaration; so it looks at what it reads.
        *is_proven &= !is_non_strict(function, kernel);
    }
    registers
        .check_returns(&returned, &declared)
        .map_err(locate)?;
    Ok(proofs)
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
    proofs: &[bool],
) -> Result<Body, Error> {
    let mut words = WordPool::default();
    let waits = Waits::new(program, function);
    let kernels: Box<[Kernel]> = function
        .kernels()
        .zip(proofs)
        .map(|(kernel, &is_proven)| {
            let (entry, record) = (
                &function.kernel_table()[kernel.index()],
                function.record(kernel),
            );
            let results = record
                .results_with_users()
                .map(|(register, users)| KernelResult {
                    register: to_number(register),
                    users: words.push(&waits.users_to_count(to_number(register), users.as_words())),
                });
            let results = results.collect();
            let (strictness, ready_count) = match waits.of_kernel(to_number(kernel)) {
                None => (Strictness::Strict, entry.ready_count()),
                Some([]) if record.operands.is_empty() => (Strictness::Strict, 1),
                Some([]) => (Strictness::WaitsForAny, 1),
                Some(positions) => (
                    Strictness::Waits(words.push(positions)),
                    to_count(positions.len()),
                ),
            };
            Kernel {
                results,
                descriptor: program.kernel(record.code),
                is_proven,
                strictness,
                stream: entry.stream,
                ready_count,
                location: to_number(record.location),
                operands: words.push(record.operands.as_words()),
                attributes: words.push(record.attributes.as_words()),
                functions: words.push(record.functions.as_words()),
            }
        })
        .collect();
    let roots = function.pseudo_record().results_with_users().next();
    let argument_users = function.argument_users();
    let start = Start {
        stream: function.kernel_table()[0].stream,
        roots: roots
            .map(|(_, users)| words.push(users.as_words()))
            .unwrap_or_default(),
        argument_users: argument_users
            .map(|(register, users)| {
                words.push(&waits.users_to_count(to_number(register), users.as_words()))
            })
            .collect(),
    };
    let mut registers: Box<[Register]> = function
        .use_counts()
        .iter()
        .map(|&num_uses| Register {
            num_uses,
            promise: None,
        })
        .collect();
    let results: Box<[u32]> = function
        .results()
        .iter()
        .map(|&register| to_number(register))
        .collect();
    let mut promised = Vec::new();
    let mut promise = |register: u32, first_result: Option<u32>| {
        let entry = &mut registers[register as usize];
        if entry.promise.is_none() {
            entry.promise = Some(to_count(promised.len()));
            promised.push(Promised {
                register,
                first_result,
            });
        }
    };
    (0_u32..)
        .zip(&results)
        .for_each(|(index, &register)| promise(register, Some(index)));
    waits
        .early_registers(function)
        .for_each(|register| promise(register, None));
    for &register in &results {
        // The file counts a return as a use; here only kernels use.
        registers[register as usize].num_uses -= 1;
    }
    let Some(block) = BlockLayout::new(kernels.len(), registers.len(), promised.len()) else {
        return Err(
            Error::new("a function is too large to run").with_code(ErrorCode::ResourceExhausted)
        );
    };
    Ok(Body {
        start,
        kernels,
        registers,
        results,
        promised: promised.into(),
        words: words.finish(),
        block,
    })
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

fn decode_sync(program: &Program, function: &VerifiedFunction, proofs: &[bool]) -> SyncBody {
    let mut words = WordPool::default();
    let num_arguments = program.entry(function.id()).argument_types.len();
    let mut remaining_uses = function.use_counts().to_vec();
    let kernels = function
        .kernels()
        .zip(proofs)
        .map(|(kernel, &is_proven)| {
            let record = function.record(kernel);
            let mut dead = Vec::new();
            for &register in record.operands.as_words() {
                remaining_uses[register as usize] -= 1;
                // An argument is lent by the caller, and never dies.
                if remaining_uses[register as usize] == 0 && register as usize >= num_arguments {
                    dead.push(register);
                }
            }
            let unused = record
                .results
                .as_words()
                .iter()
                .filter(|&&result| remaining_uses[result as usize] == 0);
            dead.extend(unused);
            SyncKernel {
                descriptor: program.kernel(record.code),
                is_proven,
                location: to_number(record.location),
                operands: words.push(record.operands.as_words()),
                attributes: words.push(record.attributes.as_words()),
                functions: words.push(record.functions.as_words()),
                results: words.push(record.results.as_words()),
                dead: words.push(&dead),
            }
        })
        .collect();
    SyncBody {
        num_registers: function.num_registers(),
        kernels,
        results: function
            .results()
            .iter()
            .map(|&register| to_number(register))
            .collect(),
        words: words.finish(),
    }
}
