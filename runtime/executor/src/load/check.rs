//! The check of a body: its kernels fit its kind, its types do not contradict each other, and it
//! conforms to the declarations.

use tfrt_async::TypeIndex;
use tfrt_bef::{FunctionKind, KernelId as FileKernelId, VerifiedFunction};
use tfrt_host::__runtime::KernelTypes;
use tfrt_host::kernel::KernelDescriptor;
use tfrt_ods::OpTraits;
use tfrt_support::entity::EntityId;
use tfrt_support::{Error, ErrorCode};

use super::binding::BoundAttributes;
use super::proof::{Contradiction, KernelUse, Registers};
use super::requirements;
use super::tables::{Tables, to_number};
use super::waits::is_non_strict;

/// The types of a body.
#[derive(Debug)]
pub(crate) struct BodyTypes {
    /// The payload types of each kernel.
    pub(crate) kernels: Vec<KernelTypes>,
    /// Whether each kernel is proven.
    pub(crate) is_proven: Vec<bool>,
    /// The payload type of each register, if its producer declares it.
    pub(crate) registers: Vec<Option<TypeIndex>>,
}

/// The results of checking a body.
#[derive(Debug)]
pub(crate) struct CheckedBody {
    pub(crate) types: BodyTypes,
    pub(crate) attributes: BoundAttributes,
}

/// Checks a verified body.
///
/// # Errors
/// Returns what is wrong, with the location of the kernel at fault.
pub(crate) fn check(tables: &Tables, function: &VerifiedFunction) -> Result<CheckedBody, Error> {
    let types = check_types(tables, function)?;
    let attributes = BoundAttributes::new(tables, function)?;
    requirements::check(tables, function, &types.kernels, &attributes)?;
    Ok(CheckedBody { types, attributes })
}

fn check_types(tables: &Tables, function: &VerifiedFunction) -> Result<BodyTypes, Error> {
    let entry = tables.function(function.id());
    let is_sync = function.entry().kind == FunctionKind::Sync;
    let descriptors: Vec<KernelDescriptor> = function
        .kernels()
        .map(|kernel| tables.kernel(function.record(kernel).code))
        .collect();
    let types: Vec<KernelTypes> = descriptors.iter().map(KernelDescriptor::types).collect();
    let mut uses = Vec::with_capacity(types.len());
    for ((kernel, descriptor), types) in function.kernels().zip(&descriptors).zip(&types) {
        check_kind(tables, function, kernel, descriptor, is_sync)?;
        let record = function.record(kernel);
        uses.push(KernelUse {
            op: descriptor.op(),
            types,
            operands: record.operands.as_words(),
            results: record.results.as_words(),
        });
    }
    let arguments: Vec<&str> = entry.argument_types.iter().map(|ty| &**ty).collect();
    let declared: Vec<&str> = entry.result_types.iter().map(|ty| &**ty).collect();
    let returned: Vec<u32> = function
        .results()
        .iter()
        .map(|&register| to_number(register))
        .collect();
    let registers = Registers::new(function.num_registers(), &arguments, &uses);
    let locate = |contradiction: Contradiction| {
        let location = match contradiction.kernel {
            Some(index) => {
                function
                    .record(FileKernelId::from_index(index + 1))
                    .location
            }
            None => function.location(),
        };
        contradiction
            .error
            .set_place_if_unset(tables.bef.place(location));
        contradiction.error
    };
    let proofs = uses
        .iter()
        .enumerate()
        .map(|(index, kernel)| registers.check_kernel(index, *kernel));
    let mut is_proven: Vec<bool> = proofs.collect::<Result<_, _>>().map_err(locate)?;
    for (kernel, is_proven) in function.kernels().zip(&mut is_proven) {
        // Only its declaration says which operands a non-strict kernel waits for, so the kernel
        // checks what it reads.
        *is_proven &= !is_non_strict(function, kernel);
    }
    registers
        .check_returns(&returned, &declared)
        .map_err(locate)?;
    let registers = registers.payloads();
    Ok(BodyTypes {
        kernels: types,
        is_proven,
        registers,
    })
}

/// Rejects a kernel that cannot run in this kind of function, or not as strictly as the file
/// requires.
fn check_kind(
    tables: &Tables,
    function: &VerifiedFunction,
    kernel: FileKernelId,
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
    error.set_place_if_unset(tables.bef.place(function.record(kernel).location));
    Err(error)
}
