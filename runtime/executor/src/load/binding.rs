//! Maps the attributes of a kernel in a file to those of its declaration, when a body is checked.
//!
//! The rules are in [`tfrt_ods::binding`]. Nearly always, the attributes of the file are those of
//! the declaration in the same order, and the record of the kernel is used as it is.

use std::collections::HashMap;

use tfrt_bef::read::functions::KernelRecord;
use tfrt_bef::{KernelId, VerifiedFunction};
use tfrt_ods::binding::{ABSENT, Binding, bind};
use tfrt_ods::{FunctionForm, OpDef, OpTraits};
use tfrt_support::{Error, ErrorCode};

use super::tables::{Tables, malformed};

/// The attributes of the kernels of a body.
#[derive(Debug, Default)]
pub(crate) struct BoundAttributes {
    /// The positions in the attribute section, for kernels whose records have other attributes or
    /// another order.
    moved: HashMap<KernelId, Vec<u32>>,
}

impl BoundAttributes {
    /// Binds the attributes of each kernel of a body, and checks its functions.
    pub(crate) fn new(tables: &Tables, function: &VerifiedFunction) -> Result<Self, Error> {
        let mut bound = Self::default();
        let needs_names = |kernel: KernelId| {
            let record = function.record(kernel);
            let traits = tables.kernel(record.code).op().traits;
            !record.attributes.is_empty() && !traits.contains(OpTraits::ANY_ATTRIBUTES)
        };
        let mut names = match function.kernels().any(needs_names) {
            true => tables
                .bef
                .attribute_names_of(function.id())
                .map_err(malformed)?,
            false => None,
        };
        let mut of_kernel: Vec<&str> = Vec::new();
        for kernel in function.kernels() {
            let record = function.record(kernel);
            let op = tables.kernel(record.code).op();
            of_kernel.clear();
            of_kernel.extend(names.iter_mut().flatten().take(record.attributes.len()));
            let names = names.is_some().then_some(&*of_kernel);
            let binding = match (record.attributes.len(), op.attributes) {
                (0, []) => Ok(Binding::InOrder),
                (found, _) => bind(op, found, names),
            };
            let refuse = |error: Error| {
                let error = error.with_code(ErrorCode::InvalidArgument);
                error.set_place_if_unset(tables.bef.place(record.location));
                error
            };
            if let Binding::At(positions) = binding.map_err(|error| refuse(error.into()))? {
                let offsets = record.attributes.as_words();
                let offset =
                    |position: Option<usize>| position.map_or(ABSENT, |position| offsets[position]);
                let moved = positions.into_iter().map(offset);
                bound.moved.insert(kernel, moved.collect());
            }
            check_functions(tables, op, record.functions.as_words()).map_err(refuse)?;
        }
        Ok(bound)
    }

    /// Returns the positions of a kernel's attributes in the attribute section, in the order of its
    /// declaration.
    pub(crate) fn of<'a>(&'a self, kernel: KernelId, record: &KernelRecord<'a>) -> &'a [u32] {
        match self.moved.get(&kernel) {
            Some(moved) => moved,
            None => record.attributes.as_words(),
        }
    }
}

/// Checks the number of a kernel's functions: files do not store the names of attributes that refer
/// to functions. A kernel that declares no function does not look at any.
fn check_functions(tables: &Tables, op: &OpDef, found: &[u32]) -> Result<(), Error> {
    let count = |form| {
        let functions = op.functions.iter();
        functions.filter(|function| function.form == form).count()
    };
    let num_lists = count(FunctionForm::SymbolList);
    let num_optional = count(FunctionForm::OptionalSymbol);
    let num_others = op.functions.len() - num_lists;
    let is_right = match num_lists {
        0 => [num_others, num_others - num_optional].contains(&found.len()),
        _ => found.len() >= num_others,
    };
    if op.functions.is_empty() || is_right {
        return Ok(());
    }
    let declared = op
        .functions
        .iter()
        .map(|function| format!("`{}`", function.name));
    let names = found.iter().map(|&id| {
        let name = &tables
            .function(tfrt_support::entity::EntityId::from_index(id as usize))
            .name;
        match name.is_empty() {
            true => String::from("a region"),
            false => format!("`@{name}`"),
        }
    });
    let names = match found {
        [] => String::from("none"),
        _ => names.collect::<Vec<_>>().join(", "),
    };
    Err(Error::new(format!(
        "`{}`: expected the functions {}, found {names}",
        op.name,
        declared.collect::<Vec<_>>().join(", "),
    )))
}
