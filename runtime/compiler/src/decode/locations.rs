//! Decodes locations of a file as those of IR.

use tfrt_ir::{LocationId, Module};

/// Returns the location in `module` that a location of the file stands for.
pub(super) fn ir_location(module: &mut Module, location: &tfrt_bef::BefLocation) -> LocationId {
    match location {
        tfrt_bef::BefLocation::Unknown => module.unknown_location(),
        tfrt_bef::BefLocation::File { file, line, column } => {
            module.file_location(file, *line, *column)
        }
        tfrt_bef::BefLocation::Name { name, child } => {
            // Text cannot give a name to a name: of several nested names, the outermost is kept.
            let mut named = &**child;
            while let tfrt_bef::BefLocation::Name { child, .. } = named {
                named = child;
            }
            let child = ir_location(module, named);
            module.intern_location(tfrt_ir::Location::Name {
                name: name.as_str().into(),
                child,
            })
        }
        tfrt_bef::BefLocation::CallSite { callee, caller } => {
            let callee = ir_location(module, callee);
            let caller = ir_location(module, caller);
            module.intern_location(tfrt_ir::Location::CallSite { callee, caller })
        }
        tfrt_bef::BefLocation::Fused(members) => {
            let members: Vec<LocationId> = members
                .iter()
                .map(|member| ir_location(module, member))
                .collect();
            module.fused_location(&members, None)
        }
    }
}
