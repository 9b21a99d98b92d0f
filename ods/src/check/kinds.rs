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
            format!("attribute `{name}` is a truth value, which has no sign"),
        ),
        AttrKind::Int {
            width: 1 | 8 | 16 | 32 | 64,
            ..
        } => Ok(()),
        AttrKind::Int { width, .. } => part_error(
            name,
            format!(
                "attribute `{name}` is an integer of {width} bits: expected 1, 8, 16, 32 or 64"
            ),
        ),
        AttrKind::Array(element) => check_kind(name, element),
        AttrKind::Enum(def) => check_enum(name, def),
        _ => Ok(()),
    }
}

fn check_enum(name: &'static str, def: &'static EnumDef) -> Check {
    let fail = |message: String| {
        part_error(
            name,
            format!("the enumeration of attribute `{name}` {message}"),
        )
    };
    let EnumDef {
        name: called,
        width,
        cases,
        refusals: _,
        numbers,
    } = def;
    if !is_identifier(called) {
        return fail(format!(
            "has the name `{called}`, which is not an identifier"
        ));
    }
    if !matches!(width, 8 | 16 | 32 | 64) {
        return fail(format!("has {width} bits: expected 8, 16, 32 or 64"));
    }
    if cases.is_empty() {
        return fail("has no case".into());
    }
    if numbers.is_some_and(|numbers| numbers.scale <= 0) {
        return fail("has numbers that are no distance apart".into());
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
                "has the case `{keyword}`, whose value does not fit"
            ));
        }
        if !keywords.insert(keyword) {
            return fail(format!("has the case `{keyword}` twice"));
        }
    }
    Ok(())
}
