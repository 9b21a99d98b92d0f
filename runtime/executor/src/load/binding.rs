//! Which attribute of a kernel in a file is which attribute of its declaration, settled when a body is checked.
//!
//! [`tfrt_ods::binding`] has the rules. Nearly always the attributes of the file are those of the declaration, in their order, and
//! the record of the kernel serves as it is.

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
    /// Where in the attribute section those of a kernel are whose record has others, or another order.
    moved: HashMap<KernelId, Vec<u32>>,
}

impl BoundAttributes {
    /// Binds the attributes, and the functions, of each kernel of a body.
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
            let refuse = |message: String| {
                let error = Error::new(message).with_code(ErrorCode::InvalidArgument);
                error.set_place_if_unset(tables.bef.place(record.location));
                error
            };
            if let Binding::At(positions) = binding.map_err(refuse)? {
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

    /// Where in the attribute section the attributes of a kernel are, in the order of its declaration.
    pub(crate) fn of<'a>(&'a self, kernel: KernelId, record: &KernelRecord<'a>) -> &'a [u32] {
        match self.moved.get(&kernel) {
            Some(moved) => moved,
            None => record.attributes.as_words(),
        }
    }
}

/// Files hold no names of attributes that refer to functions, so that their number must be right. A kernel that declares no function
/// looks at none.
fn check_functions(tables: &Tables, op: &OpDef, found: &[u32]) -> Result<(), String> {
    let is_list = |function: &tfrt_ods::FunctionDef| function.form == FunctionForm::SymbolList;
    let num_lists = op
        .functions
        .iter()
        .filter(|function| is_list(function))
        .count();
    let num_others = op.functions.len() - num_lists;
    let is_right = match num_lists {
        0 => found.len() == num_others,
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
    Err(format!(
        "`{}` calls the functions {}; found {} functions: {}",
        op.name,
        declared.collect::<Vec<_>>().join(", "),
        found.len(),
        names.collect::<Vec<_>>().join(", "),
    ))
}
