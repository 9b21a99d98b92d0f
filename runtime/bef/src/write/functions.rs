//! The Functions section: the bodies.

use tfrt_attr::PADDING;
use tfrt_attr::vbr;
use tfrt_support::entity::EntityId;

use super::body_error::{BodyError, OperationError};
use super::locations::LocationWriter;
use super::{AttributeId, BefBuilder, WriteError, push_id};
use crate::format::{
    KernelFlags, PSEUDO_KERNEL_CODE, PSEUDO_KERNEL_LOCATION, RECORD_ALIGNMENT, RECORD_HEADER_WORDS,
    SectionId,
};
use crate::ids::{FunctionId, KernelCode, LocationOffset, RegisterId, TypeNameId, raw};
use crate::location::BefLocation;

/// The body of a function.
///
/// The registers are numbered: first the arguments, then the results of the kernels in program
/// order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Body {
    /// The location of the function; `None` if it cannot be expressed.
    pub location: Option<BefLocation>,
    /// The stream of the arguments.
    pub root_stream: u32,
    /// The number of registers that are arguments.
    pub num_arguments: usize,
    /// The types of the registers.
    pub register_types: Vec<TypeNameId>,
    /// The kernels, in program order.
    pub kernels: Vec<BodyKernel>,
    /// The registers that are returned.
    pub results: Vec<RegisterId>,
}

/// An operation of a [`Body`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BodyKernel {
    /// The kernel that it runs.
    pub code: KernelCode,
    /// Its location; `None` if it cannot be expressed.
    pub location: Option<BefLocation>,
    /// The stream it runs on.
    pub stream: u32,
    /// Its flags.
    pub flags: KernelFlags,
    /// The registers it reads.
    pub operands: Vec<RegisterId>,
    /// Its attributes, sorted by name, except those whose values are functions.
    pub attributes: Vec<KernelAttribute>,
    /// The functions it refers to: by attributes sorted by name, then by regions.
    pub functions: Vec<FunctionId>,
    /// The registers it defines.
    pub results: Vec<RegisterId>,
}

impl BodyKernel {
    /// Creates an operation that runs `code` on stream 0, without operands, attributes, functions,
    /// results and location.
    #[must_use]
    pub fn new(code: KernelCode) -> Self {
        Self {
            code,
            location: None,
            stream: 0,
            flags: KernelFlags::NONE,
            operands: Vec::new(),
            attributes: Vec::new(),
            functions: Vec::new(),
            results: Vec::new(),
        }
    }
}

/// An attribute of a [`BodyKernel`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelAttribute {
    /// Its name, used only for decoding.
    pub name: String,
    /// Its value.
    pub value: AttributeId,
}

/// The Functions section, and the offsets of the bodies in it.
#[derive(Debug)]
pub(super) struct EncodedFunctions {
    pub(super) bytes: Vec<u8>,
    /// For each function; a function without a body gets the end of the section so far.
    pub(super) offsets: Vec<usize>,
}

/// Encodes the section; appends locations to `locations` in the order in which the bodies refer to
/// them.
pub(super) fn encode(
    builder: &BefBuilder,
    locations: &mut LocationWriter,
) -> Result<EncodedFunctions, WriteError> {
    let mut bytes = Vec::new();
    let mut offsets = Vec::with_capacity(builder.functions.len());
    for (id, function) in builder.functions.iter() {
        offsets.push(bytes.len());
        let mut signature = function.arguments.iter().chain(&function.results);
        if let Some(&index) = signature.find(|&&index| !builder.types.contains(index)) {
            return Err(WriteError::UnknownType {
                function: id,
                index,
            });
        }
        match (function.kind.has_body(), builder.bodies.get(&id)) {
            (true, Some(body)) => {
                check(builder, id, body).map_err(|problem| WriteError::InvalidBody {
                    function: id,
                    problem,
                })?;
                encode_body(builder, body, locations, &mut bytes)?;
            }
            (true, None) => return Err(WriteError::MissingBody(id)),
            (false, Some(_)) => return Err(WriteError::NativeBody(id)),
            (false, None) => {}
        }
    }
    Ok(EncodedFunctions { bytes, offsets })
}

/// Checks that everything that the body refers to exists, and that every register is defined once,
/// in order.
fn check(builder: &BefBuilder, id: FunctionId, body: &Body) -> Result<(), BodyError> {
    let function = &builder.functions[id];
    let num_registers = body.register_types.len();
    if body.num_arguments != function.arguments.len() {
        return Err(BodyError::ArgumentCount {
            expected: function.arguments.len(),
            found: body.num_arguments,
        });
    }
    if body.results.len() != function.results.len() {
        return Err(BodyError::ResultCount {
            expected: function.results.len(),
            found: body.results.len(),
        });
    }
    let mut types = body.register_types.iter();
    if let Some(&index) = types.find(|&&index| !builder.types.contains(index)) {
        return Err(BodyError::UnknownType(index));
    }
    let defined = body
        .kernels
        .iter()
        .flat_map(|kernel| &kernel.results)
        .map(|register| register.index());
    if !defined.eq(body.num_arguments..num_registers) {
        return Err(BodyError::Definitions { num_registers });
    }
    for (operation, kernel) in body.kernels.iter().enumerate() {
        check_kernel(builder, num_registers, kernel)
            .map_err(|problem| BodyError::Operation { operation, problem })?;
    }
    let mut results = body.results.iter();
    match results.find(|register| register.index() >= num_registers) {
        Some(&result) => Err(BodyError::UnknownResult {
            num_registers,
            result,
        }),
        None => Ok(()),
    }
}

fn check_kernel(
    builder: &BefBuilder,
    num_registers: usize,
    kernel: &BodyKernel,
) -> Result<(), OperationError> {
    let mut operands = kernel.operands.iter();
    if let Some(&operand) = operands.find(|register| register.index() >= num_registers) {
        return Err(OperationError::UnknownRegister {
            num_registers,
            operand,
        });
    }
    if !builder.kernels.contains(kernel.code) {
        return Err(OperationError::UnknownKernel(kernel.code));
    }
    let mut functions = kernel.functions.iter();
    if let Some(&function) = functions.find(|id| id.index() >= builder.functions.len()) {
        return Err(OperationError::UnknownFunction(function));
    }
    let mut values = kernel.attributes.iter().map(|attribute| attribute.value);
    match values.find(|value| value.index() >= builder.attributes.len()) {
        Some(value) => Err(OperationError::UnknownAttribute(value)),
        None => Ok(()),
    }
}

/// The uses in a body.
struct Uses {
    /// For each register, the number of its uses by kernels and the return.
    counts: Vec<u32>,
    /// For each register, the kernels that use it, once for each use, in reverse program order.
    users: Vec<Vec<u32>>,
    /// The kernels without operands, in program order.
    roots: Vec<u32>,
}

impl Uses {
    fn of(body: &Body) -> Self {
        let num_registers = body.register_types.len();
        let mut uses = Self {
            counts: vec![0; num_registers],
            users: vec![Vec::new(); num_registers],
            roots: vec![],
        };
        for (number, kernel) in (1..).zip(&body.kernels) {
            if kernel.operands.is_empty() {
                uses.roots.push(number);
            }
            for operand in &kernel.operands {
                uses.counts[operand.index()] += 1;
                uses.users[operand.index()].push(number);
            }
        }
        for users in &mut uses.users {
            users.reverse();
        }
        for result in &body.results {
            uses.counts[result.index()] += 1;
        }
        uses
    }
}

/// The lists of a kernel record.
struct Record<'a> {
    code: u32,
    location: u32,
    arguments: Vec<u32>,
    attributes: Vec<u32>,
    functions: Vec<u32>,
    /// The result registers, each with its users.
    results: Vec<(u32, &'a [u32])>,
}

impl Record<'_> {
    fn write(&self, words: &mut Vec<u32>) {
        let counts = [
            self.arguments.len(),
            self.attributes.len(),
            self.functions.len(),
            self.results.len(),
        ];
        words.reserve(RECORD_HEADER_WORDS + counts.iter().sum::<usize>());
        words.extend([self.code, self.location]);
        words.extend(counts.map(|count| count as u32));
        words.extend(self.results.iter().map(|(_, users)| users.len() as u32));
        words.extend_from_slice(&self.arguments);
        words.extend_from_slice(&self.attributes);
        words.extend_from_slice(&self.functions);
        words.extend(self.results.iter().map(|&(register, _)| register));
        words.extend(self.results.iter().flat_map(|&(_, users)| users));
    }
}

fn encode_body(
    builder: &BefBuilder,
    body: &Body,
    locations: &mut LocationWriter,
    bytes: &mut Vec<u8>,
) -> Result<(), WriteError> {
    let uses = Uses::of(body);
    let num_registers = body.register_types.len();
    let mut words = Vec::new();
    let function_location = locations.add(body.location.as_ref())?;

    push_id::<LocationOffset>(bytes, function_location);
    vbr::write(bytes, num_registers as u64);
    for &count in &uses.counts {
        vbr::write(bytes, count.into());
    }

    vbr::write(bytes, body.kernels.len() as u64 + 1);
    let mut table_entry = |words: &[u32], num_operands: usize, stream: u32| {
        vbr::write(bytes, (words.len() * RECORD_ALIGNMENT) as u64);
        vbr::write(bytes, num_operands as u64);
        vbr::write(bytes, stream.into());
    };
    table_entry(&words, 0, body.root_stream);
    pseudo_record(body, &uses).write(&mut words);
    for kernel in &body.kernels {
        table_entry(&words, kernel.operands.len(), kernel.stream);
        let location = locations.add(kernel.location.as_ref())?;
        let record = Record {
            code: raw(kernel.code),
            location: raw(location),
            arguments: kernel.operands.iter().copied().map(raw).collect(),
            attributes: kernel
                .attributes
                .iter()
                .map(|named| raw(builder.attributes[named.value].offset))
                .collect(),
            functions: kernel.functions.iter().copied().map(raw).collect(),
            results: kernel
                .results
                .iter()
                .map(|&register| (raw(register), &uses.users[register.index()][..]))
                .collect(),
        };
        record.write(&mut words);
    }

    for &result in &body.results {
        push_id(bytes, result);
    }
    bytes.resize(bytes.len().next_multiple_of(RECORD_ALIGNMENT), PADDING);
    bytes.extend(words.iter().flat_map(|word| word.to_le_bytes()));
    if u32::try_from(bytes.len()).is_err() {
        return Err(WriteError::TooLong(SectionId::Functions));
    }
    Ok(())
}

/// Returns the record that starts the kernels without operands and publishes the arguments.
fn pseudo_record<'a>(body: &Body, uses: &'a Uses) -> Record<'a> {
    let num_registers = body.register_types.len();
    let arguments = (0..).zip(&uses.users).take(body.num_arguments);
    let results = std::iter::once((num_registers as u32, &uses.roots[..]))
        .chain(arguments.map(|(register, users)| (register, &users[..])))
        .collect();
    Record {
        code: PSEUDO_KERNEL_CODE,
        location: PSEUDO_KERNEL_LOCATION,
        arguments: Vec::new(),
        attributes: Vec::new(),
        functions: Vec::new(),
        results,
    }
}
