//! The requirements of declarations besides types, checked at load time: attributes, signatures of
//! functions, and shapes that fit each other.

mod attributes;

mod shapes;

mod signatures;

use tfrt_bef::{KernelId, VerifiedFunction};
use tfrt_host::__runtime::{AttributeList, KernelTypes};
use tfrt_ods::OpDef;
use tfrt_support::Error;
use tfrt_support::entity::EntityId;

use super::binding::BoundAttributes;
use super::tables::Tables;
use shapes::KernelShapes;

/// Checks a body whose types have been checked. `types` are the types that its kernels read.
pub(crate) fn check(
    tables: &Tables,
    function: &VerifiedFunction,
    types: &[KernelTypes],
    bound: &BoundAttributes,
) -> Result<(), Error> {
    let place = |error: Error, kernel: KernelId| {
        let location = function.record(kernel).location;
        error.set_place_if_unset(tables.bef.place(location));
        error
    };
    let op_of =
        |kernel: KernelId| -> &'static OpDef { tables.kernel(function.record(kernel).code).op() };
    for (kernel, types) in function.kernels().zip(types) {
        let record = function.record(kernel);
        let attributes = AttributeList {
            section: tables.bef.attributes(),
            offsets: bound.of(kernel, &record),
        };
        let code_of = |offset| tables.attribute_code(offset);
        attributes::check(op_of(kernel), types, attributes, code_of)
            .map_err(|error| place(error, kernel))?;
        let callees = function.record(kernel).functions.as_words();
        signatures::check(tables, op_of(kernel), callees).map_err(|error| place(error, kernel))?;
    }
    let kernels = function.kernels().map(|kernel| {
        let record = function.record(kernel);
        KernelShapes {
            op: op_of(kernel),
            operands: record.operands.as_words(),
            results: record.results.as_words(),
            attributes: bound.of(kernel, &record),
        }
    });
    shapes::check(tables.bef.attributes(), function.num_registers(), kernels)
        .map_err(|(index, error)| place(error, KernelId::from_index(index + 1)))
}
