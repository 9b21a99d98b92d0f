//! The rules about kinds of attributes.

use super::{Check, DeclarationError};
use crate::const_text::{is_identifier, same};
use crate::constraint::{AttrKind, EnumDef};
use crate::op::fits_in;

pub(super) const fn check_kind(name: &'static str, kind: &AttrKind) -> Check {
    match kind {
        AttrKind::Int {
            width: 1,
            is_unsigned: true,
        } => Err(DeclarationError::named(
            "attribute `",
            name,
            "` is a truth value, which has no sign",
        )),
        AttrKind::Int {
            width: 1 | 8 | 16 | 32 | 64,
            ..
        } => Ok(()),
        AttrKind::Int { .. } => Err(DeclarationError::named(
            "attribute `",
            name,
            "` is an integer of another width than 1, 8, 16, 32 or 64 bits",
        )),
        AttrKind::Array(element) => check_kind(name, element),
        AttrKind::Enum(def) => check_enum(name, def),
        _ => Ok(()),
    }
}

const fn check_enum(name: &'static str, def: &'static EnumDef) -> Check {
    if !is_identifier(def.name) {
        return Err(DeclarationError::named(
            "the enumeration of attribute `",
            name,
            "` is not called by an identifier",
        ));
    }
    if !matches!(def.width, 8 | 16 | 32 | 64) {
        return Err(DeclarationError::named(
            "the enumeration of attribute `",
            name,
            "` is of another width than 8, 16, 32 or 64 bits",
        ));
    }
    if def.cases.is_empty() {
        return Err(DeclarationError::named(
            "the enumeration of attribute `",
            name,
            "` has no case",
        ));
    }
    let mut index = 0;
    while index < def.cases.len() {
        let case = &def.cases[index];
        let mut problem = None;
        if !is_identifier(case.keyword) {
            problem = Some("` is not an identifier");
        } else if !fits_in(case.value, def.width, false) {
            problem = Some("` has a value that does not fit");
        }
        let mut before = 0;
        while before < index {
            if same(def.cases[before].keyword, case.keyword) {
                problem = Some("` is there twice");
            }
            before += 1;
        }
        if let Some(problem) = problem {
            return Err(DeclarationError {
                parts: ["case `", case.keyword, problem, ", in attribute ", name],
                offset: None,
            });
        }
        index += 1;
    }
    Ok(())
}
