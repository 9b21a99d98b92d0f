//! The functions that kernels call: a kernel may require a signature, which is checked at load
//! time.

use tfrt_ods::{FunctionForm, FunctionSignature, OpDef};
use tfrt_support::entity::EntityId;
use tfrt_support::{Error, ErrorCode};

use crate::load::signature::FunctionEntry;
use crate::load::tables::Tables;

/// Checks that the functions of a kernel, given by `ids`, have the signatures that `op` requires.
pub(crate) fn check(tables: &Tables, op: &OpDef, ids: &[u32]) -> Result<(), Error> {
    for signature in op.signatures {
        if let Some(id) = id_of(op, signature.function, ids) {
            let function = tables.function(EntityId::from_index(id as usize));
            check_one(op, signature, function)?;
        }
    }
    Ok(())
}

/// Returns the function that a kernel declares as `name`. One entry of the declaration may stand
/// for a list.
fn id_of(op: &OpDef, name: &str, ids: &[u32]) -> Option<u32> {
    let functions = op.functions;
    let position = functions
        .iter()
        .position(|function| function.name == name)?;
    let list = functions
        .iter()
        .position(|function| function.form == FunctionForm::SymbolList);
    let is_behind_list = list.is_some_and(|list| list < position);
    let index = if is_behind_list {
        ids.len().checked_sub(functions.len() - position)?
    } else {
        position
    };
    ids.get(index).copied()
}

fn check_one(op: &OpDef, wanted: &FunctionSignature, found: &FunctionEntry) -> Result<(), Error> {
    let argument_types = found.argument_types.iter().map(|spelling| &**spelling);
    let result_types = found.result_types.iter().map(|spelling| &**spelling);
    let expected = written(
        wanted.arguments.iter().copied(),
        wanted.results.iter().copied(),
    );
    let found = written(argument_types, result_types);
    if expected == found {
        return Ok(());
    }
    Err(Error::new(format!(
        "function `{}` of `{}`: expected `{expected}`, found `{found}`",
        wanted.function, op.name
    ))
    .with_code(ErrorCode::InvalidArgument))
}

/// `(i32, f32) -> (i32)`
fn written<'a>(
    arguments: impl Iterator<Item = &'a str>,
    results: impl Iterator<Item = &'a str>,
) -> String {
    let arguments: Vec<_> = arguments.collect();
    let results: Vec<_> = results.collect();
    format!("({}) -> ({})", arguments.join(", "), results.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tfrt_ods::FunctionDef;

    #[test]
    fn a_function_behind_a_list_is_found() {
        const fn function(name: &'static str, form: FunctionForm) -> FunctionDef {
            FunctionDef { name, form }
        }
        const FUNCTIONS: &[FunctionDef] = &[
            function("first", FunctionForm::Symbol),
            function("list", FunctionForm::SymbolList),
            function("second", FunctionForm::Symbol),
            function("body", FunctionForm::Region),
        ];
        let op = OpDef {
            functions: FUNCTIONS,
            ..OpDef::new("test.op")
        };
        let of = |name, ids: &[u32]| id_of(&op, name, ids);
        assert_eq!(of("first", &[7, 1, 2, 3, 8, 9]), Some(7));
        assert_eq!(of("second", &[7, 1, 2, 3, 8, 9]), Some(8));
        assert_eq!(of("body", &[7, 8, 9]), Some(9));
        assert_eq!(of("body", &[]), None);
    }
}
