//! Translation of assembly formats to MLIR's language, if it has the same elements.
//!
//! The text of a program is then the same in both, with one exception: MLIR's formats must have a
//! dictionary of attributes, so one is added at the end of a format that lacks it. Text written by
//! the op itself never contains it.

use crate::constraint::AttrKind;
use crate::format::{DictKeyword, Element, Format, Group};
use crate::op::{Arity, OpDef};

use super::names::OpNames;

/// Returns the format of an op in the language of MLIR, or `None` if an element has no equivalent
/// there.
pub(super) fn translate(def: &OpDef, names: &OpNames) -> Option<String> {
    let format = Format::parse(def).ok()?;
    let translation = Translation { def, names };
    let mut text = translation.elements(&format.elements)?;
    let mut has_dictionary = false;
    format.visit(|element| has_dictionary |= matches!(element, Element::AttrDict(_)));
    if !has_dictionary {
        text.push("attr-dict".into());
    }
    Some(text.join(" "))
}

struct Translation<'a> {
    def: &'a OpDef,
    names: &'a OpNames,
}

impl Translation<'_> {
    fn elements(&self, elements: &[Element]) -> Option<Vec<String>> {
        let mut text = Vec::new();
        for element in elements {
            text.extend(self.element(element)?);
        }
        Some(text)
    }

    /// Translates one element, possibly to several in MLIR.
    fn element(&self, element: &Element) -> Option<Vec<String>> {
        let one = match element {
            Element::Literal(text) => format!("`{text}`"),
            Element::Operands(groups) => return self.operands(groups),
            Element::Attribute {
                attribute,
                is_typed,
            } => {
                let def = &self.def.attributes[*attribute];
                if *is_typed && has_fixed_type(&def.kind) {
                    return None;
                }
                format!("${}", def.name)
            }
            Element::Function(function) => format!("${}", self.names.functions[*function]),
            Element::AttrDict(DictKeyword::No) => "attr-dict".into(),
            Element::AttrDict(DictKeyword::Yes) => "attr-dict-with-keyword".into(),
            Element::Types(lists) => match &lists[..] {
                [groups] => format!("type({})", self.groups(groups)?),
                _ => return None,
            },
            Element::FunctionType {
                inputs,
                results,
                is_parenthesised: false,
            } => {
                let (inputs, results) = (self.groups(inputs)?, self.groups(results)?);
                format!("functional-type({inputs}, {results})")
            }
            Element::Region {
                function,
                arguments,
            } if arguments.is_empty() => format!("${}", self.names.functions[*function]),
            Element::Blank { is_written } => if *is_written { "` `" } else { "``" }.into(),
            Element::WholeRegion(function) => format!("${}", self.names.functions[*function]),
            Element::Optional { elements, anchor } => {
                let group = self.group(elements, *anchor)?;
                return Some(vec![format!("({group})?")]);
            }
            Element::Either {
                first,
                second,
                anchor,
            } => {
                let group = self.group(first, *anchor)?;
                let other = self.elements(second)?;
                return Some(vec![format!("({group}) : ({})?", other.join(" "))]);
            }
            _ => return None,
        };
        Some(vec![one])
    }

    fn operands(&self, groups: &[usize]) -> Option<Vec<String>> {
        let mut text = Vec::new();
        for (index, &group) in groups.iter().enumerate() {
            let name = &self.names.operands[group];
            let is_last = index + 1 == groups.len();
            match self.def.operands[group].arity {
                Arity::One if index == 0 => text.push(format!("${name}")),
                Arity::One => text.push(format!("`,` ${name}")),
                // A comma before an optional value shows its presence; a comma after it could not.
                _ if !is_last => return None,
                _ if index == 0 => text.push(format!("${name}")),
                _ => text.push(format!("(`,` ${name}^)?")),
            }
        }
        Some(text)
    }

    /// Returns the MLIR names of groups: one, or all of a kind.
    fn groups(&self, groups: &[Group]) -> Option<String> {
        let all_operands = (0..self.def.operands.len()).map(Group::Operand);
        let all_results = (0..self.def.results.len()).map(Group::Result);
        match groups {
            [Group::Operand(operand)] => Some(format!("${}", self.names.operands[*operand])),
            [Group::Result(result)] => Some(format!("${}", self.names.results[*result])),
            _ if groups.iter().copied().eq(all_operands) => Some("operands".into()),
            _ if groups.iter().copied().eq(all_results) => Some("results".into()),
            _ => None,
        }
    }

    /// Returns `first anchor^ …`: MLIR requires an explicit anchor and a first element that can be
    /// missing.
    fn group(&self, inner: &[Element], anchor: Option<usize>) -> Option<String> {
        let can_miss = |element: &Element| match element {
            Element::Operands(groups) => {
                matches!(groups[..], [group] if self.def.operands[group].arity != Arity::One)
            }
            Element::Attribute { attribute, .. } => {
                self.def.attributes[*attribute].default.is_some()
            }
            _ => false,
        };
        let first = inner.first()?;
        if !matches!(first, Element::Literal(_)) && !can_miss(first) {
            return None;
        }
        let anchor = anchor.or_else(|| inner.iter().position(can_miss))?;
        let mut text = Vec::new();
        for (index, element) in inner.iter().enumerate() {
            let is_nested = matches!(
                element,
                Element::AttrDict(_) | Element::Optional { .. } | Element::Either { .. }
            );
            if is_nested {
                return None;
            }
            text.extend(self.element(element)?);
            if index == anchor {
                text.last_mut()?.push('^');
            }
        }
        Some(text.join(" "))
    }
}

/// Returns `true` if MLIR omits the type of such an attribute.
fn has_fixed_type(kind: &AttrKind) -> bool {
    matches!(
        kind,
        AttrKind::Int { .. } | AttrKind::Float(_) | AttrKind::Enum(_)
    )
}
