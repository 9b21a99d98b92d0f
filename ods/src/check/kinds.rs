//! The rules about kinds of attributes.

use std::collections::HashSet;

use super::parts::is_identifier;
use super::{Check, part_error};
use crate::constraint::{AttrKind, EnumDef};
use crate::op::fits_in;

pub(super) fn check_kind(name: &'static str, kind: &AttrKind) -> Check {
    match kind {
        AttrKind::Int {
            width: 1,
            is_unsigned: true,
        } => part_error(
            name,
            format!("attribute `{name}` is a boolean, which cannot be unsigned"),
        ),
        AttrKind::Int {
            width: 1 | 8 | 16 | 32 | 64,
            ..
        } => Ok(()),
        AttrKind::Int { width, .. } => part_error(
            name,
            format!(
                "attribute `{name}`: expected an integer of 1, 8, 16, 32 or 64 bits, found \
                 {width} bits"
            ),
        ),
        AttrKind::Array(element) => check_kind(name, element),
        AttrKind::Enum(def) => check_enum(name, def),
        _ => Ok(()),
    }
}

fn check_enum(name: &'static str, def: &'static EnumDef) -> Check {
    let fail =
        |message: String| part_error(name, format!("the enum of attribute `{name}` {message}"));
    let EnumDef {
        name: called,
        width,
        cases,
        refusals: _,
        numbers,
        sign: _,
        operand_types,
    } = def;
    if !is_identifier(called) {
        return fail(format!(
            "has the name `{called}`, which is not an identifier"
        ));
    }
    if !matches!(width, 8 | 16 | 32 | 64) {
        return fail(format!("has {width} bits, expected 8, 16, 32 or 64"));
    }
    if cases.is_empty() {
        return fail("has no cases".into());
    }
    if numbers.is_some_and(|numbers| numbers.scale <= 0) {
        return fail("has a scale of numbers that is not positive".into());
    }
    let mut keywords = HashSet::new();
    for case in *cases {
        let keyword = case.keyword;
        if !is_identifier(keyword) {
            return fail(format!(
                "has the case `{keyword}`, which is not an identifier"
            ));
        }
        if !fits_in(case.value, *width, false) {
            return fail(format!(
                "has the case `{keyword}`, whose value is out of range"
            ));
        }
        if !keywords.insert(keyword) {
            return fail(format!("has the case `{keyword}` twice"));
        }
    }
    for (keyword, types) in operand_types.iter().flat_map(|types| types.of_cases) {
        if !keywords.contains(keyword) {
            return fail(format!(
                "has operand types for `{keyword}`, which is not a case"
            ));
        }
        if types.is_empty() {
            return fail(format!(
                "has an empty list of operand types for `{keyword}`"
            ));
        }
    }
    Ok(())
}
