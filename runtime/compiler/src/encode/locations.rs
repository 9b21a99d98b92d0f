//! Encodes locations of IR as those of a file.

use tfrt_ir::{LocationId, Module};

/// Returns the location in the form of a file, which has neither the ends of ranges nor the
/// metadata of fused locations.
pub(super) fn file_location(module: &Module, location: LocationId) -> tfrt_bef::BefLocation {
    match module.location(location) {
        tfrt_ir::Location::Unknown => tfrt_bef::BefLocation::Unknown,
        tfrt_ir::Location::File { file, line, column }
        | tfrt_ir::Location::FileRange {
            file, line, column, ..
        } => tfrt_bef::BefLocation::File {
            file: (**file).to_owned(),
            line: *line,
            column: *column,
        },
        tfrt_ir::Location::Name { name, child } => tfrt_bef::BefLocation::Name {
            name: (**name).to_owned(),
            child: Box::new(file_location(module, *child)),
        },
        tfrt_ir::Location::CallSite { callee, caller } => tfrt_bef::BefLocation::CallSite {
            callee: Box::new(file_location(module, *callee)),
            caller: Box::new(file_location(module, *caller)),
        },
        tfrt_ir::Location::Fused {
            members,
            metadata: _,
        } => tfrt_bef::BefLocation::Fused(
            members
                .iter()
                .map(|&member| file_location(module, member))
                .collect(),
        ),
    }
}
