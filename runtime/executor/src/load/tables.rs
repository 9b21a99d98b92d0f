//! The tables of a verified file with their names resolved: kernels, functions, native functions.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use tfrt_async::TypeIndex;
use tfrt_attr::AttrTypeCode;
use tfrt_bef::{AttributeOffset, BefFile, FunctionId, KernelCode, TypeNameId, VerifiedBef};
use tfrt_host::__runtime::TypeList;
use tfrt_host::HostContext;
use tfrt_host::kernel::NativeFunction;
use tfrt_host::kernel::{KernelDescriptor, KernelRegistry};
use tfrt_ods::{Arity, TypeConstraint};
use tfrt_support::FunctionKind;
use tfrt_support::entity::{EntityId, PrimaryMap};
use tfrt_support::nearest::did_you_mean;
use tfrt_support::{Error, ErrorCode};

use super::proof::fixed_spelling;
use super::signature::{FunctionEntry, fixed_payloads};

/// A verified file whose names are resolved.
pub(crate) struct Tables {
    pub(crate) bef: VerifiedBef,
    kernels: PrimaryMap<KernelCode, KernelDescriptor>,
    functions: PrimaryMap<FunctionId, FunctionEntry>,
    /// The named functions. If several have the same name, the last one wins.
    by_name: HashMap<Box<str>, FunctionId>,
    /// The payload type that each spelling stands for in this file.
    spelled: OnceLock<HashMap<&'static str, Option<TypeIndex>>>,
}

impl Tables {
    /// Verifies the tables of `file` and resolves its kernels and native functions among those of
    /// `host`.
    pub(crate) fn load(host: &HostContext, file: &BefFile) -> Result<Self, Error> {
        let bef = file.verify().map_err(malformed)?;
        let registry = host.registry();
        let kernels = bef
            .kernels()
            .map(|code| resolve_kernel(&bef, registry, code))
            .collect::<Result<_, _>>()?;
        let spellings: PrimaryMap<TypeNameId, Arc<str>> =
            bef.types().map(|ty| bef.type_name(ty).into()).collect();
        let mut functions = PrimaryMap::new();
        let mut by_name = HashMap::new();
        for function in bef.functions() {
            let spellings =
                |types: &[TypeNameId]| types.iter().map(|&ty| Arc::clone(&spellings[ty])).collect();
            let native = match function.kind {
                FunctionKind::Async | FunctionKind::Sync => None,
                FunctionKind::Native => Some(resolve_native(registry, function.name)?),
            };
            let argument_types: Box<[Arc<str>]> = spellings(function.arguments);
            let id = functions.push(FunctionEntry {
                name: function.name.into(),
                kind: function.kind,
                fixed_arguments: fixed_payloads(&argument_types),
                argument_types,
                result_types: spellings(function.results),
                native,
            });
            if !function.name.is_empty() {
                by_name.insert(function.name.into(), id);
            }
        }
        Ok(Self {
            bef,
            kernels,
            functions,
            by_name,
            spelled: OnceLock::new(),
        })
    }

    /// Returns the functions in index order.
    pub(crate) fn function_ids(&self) -> impl ExactSizeIterator<Item = FunctionId> + use<> {
        self.functions.ids()
    }

    /// Returns the function of this name.
    pub(crate) fn id_of(&self, name: &str) -> Option<FunctionId> {
        self.by_name.get(name).copied()
    }

    /// Returns the function of this number.
    pub(crate) fn function(&self, id: FunctionId) -> &FunctionEntry {
        &self.functions[id]
    }

    /// Returns the kernel of this number.
    pub(crate) fn kernel(&self, code: KernelCode) -> KernelDescriptor {
        self.kernels[code]
    }

    /// Returns the type that the file states for the attribute at an offset, or `None` if it states
    /// none or an impossible one. The information is optional, and nothing relies on it.
    pub(crate) fn attribute_code(&self, offset: u32) -> Option<AttrTypeCode> {
        let types = self.bef.attribute_types().ok().flatten()?;
        types.code(AttributeOffset::from_index(offset as usize))
    }

    /// Returns the payload type that a spelling stands for: the one that every kernel of the file
    /// that declares the spelling reads or returns there, or `None` if kernels disagree. This is an
    /// assumption, which is checked wherever a value comes from another source.
    pub(crate) fn payload_of(&self, spelling: &str) -> Option<TypeIndex> {
        let spelled = self
            .spelled
            .get_or_init(|| collect_spellings(&self.kernels));
        spelled.get(spelling).copied().flatten()
    }
}

/// Returns the payload types that the declarations of kernels assign to spellings, with `None`
/// where they disagree.
fn collect_spellings(
    kernels: &PrimaryMap<KernelCode, KernelDescriptor>,
) -> HashMap<&'static str, Option<TypeIndex>> {
    let mut spelled = HashMap::new();
    let mut note = |declared: &[(TypeConstraint, Arity)], types: &TypeList| {
        // After an open part, positions depend on the number of values.
        let fixed = declared
            .iter()
            .take_while(|(_, arity)| *arity == Arity::One);
        for (index, &(ty, _)) in fixed.enumerate() {
            let found = fixed_spelling(ty);
            if let (Some(spelling), Some(ty)) = (found, types.get(index, declared.len())) {
                let known = spelled.entry(spelling).or_insert(Some(ty));
                *known = known.filter(|&known| known == ty);
            }
        }
    };
    for kernel in kernels.values() {
        let (op, types) = (kernel.op(), kernel.types());
        let operands: Vec<_> = op
            .operands
            .iter()
            .map(|part| (part.ty, part.arity))
            .collect();
        note(&operands, &types.operands);
        let results: Vec<_> = op
            .results
            .iter()
            .map(|part| (part.ty, part.arity))
            .collect();
        note(&results, &types.results);
    }
    spelled
}

/// Returns the error for a malformed file: the message of TFRT, then what was found and where.
pub(crate) fn malformed(error: tfrt_bef::BefError) -> Error {
    Error::new(error.to_string()).with_code(ErrorCode::DataLoss)
}

/// Returns the number of an id.
pub(crate) fn to_number(id: impl EntityId) -> u32 {
    u32::try_from(id.index()).expect("an id holds 32 bits")
}

fn resolve_kernel(
    bef: &VerifiedBef,
    registry: &KernelRegistry,
    code: KernelCode,
) -> Result<KernelDescriptor, Error> {
    let name = bef.kernel_name(code);
    if let Some(kernel) = registry.get(name) {
        return Ok(*kernel);
    }
    let error = Error::new(unknown_kernel(registry, name)).with_code(ErrorCode::NotFound);
    if let Some(location) = bef.first_use(code) {
        error.set_place_if_unset(bef.place(location));
    }
    Err(error)
}
#[cold]
fn unknown_kernel(registry: &KernelRegistry, name: &str) -> String {
    let mut message = format!("unknown kernel name '{name}'");
    let dialect = name.split_once('.').map_or(name, |(dialect, _)| dialect);
    let dialects = registry.dialects();
    message.push_str(&did_you_mean(&registry.suggest(name)));
    if !dialects.contains(&dialect) {
        let linked = if dialects.is_empty() {
            String::from("none")
        } else {
            dialects.join(", ")
        };
        message.push_str(&format!(
            "; no kernels of `{dialect}` are linked (linked: {linked}): the linker omits crates \
             that nothing refers to; link the kernel crate with `tfrt::link!`, or load it as a \
             kernel library"
        ));
    }
    message
}

fn resolve_native(registry: &KernelRegistry, name: &str) -> Result<NativeFunction, Error> {
    registry.native(name).copied().ok_or_else(|| {
        Error::new(format!(
            "invalid FunctionIndex section in BEF file: unable to find native function in global registry: `{name}`"
        ))
        .with_code(ErrorCode::NotFound)
    })
}
