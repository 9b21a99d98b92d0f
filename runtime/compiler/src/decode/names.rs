//! Restores names that a file does not hold: those of attributes that refer to functions.
//!
//! A kernel record lists only function ids. The declaration of the op identifies the attributes
//! that they came from. If there is no declaration, or if it does not fit, distinct placeholder
//! names in ascending order are used, so that encoding the program again keeps the functions in the
//! same order.

use std::collections::BTreeSet;

use tfrt_ods::{FunctionForm, OpDef};

/// One attribute that refers to functions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FunctionSlot {
    /// The name of the attribute.
    pub(super) name: String,
    /// The content of the attribute.
    pub(super) shape: SlotShape,
}

/// The content of an attribute that refers to functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SlotShape {
    /// One symbol.
    Symbol,
    /// A list of this many symbols.
    List(usize),
}

/// Returns the attributes, in order, from which `num_symbols` function references of an op came.
///
/// `taken` holds the names of the op's other attributes.
pub(super) fn function_slots(
    def: Option<&OpDef>,
    num_symbols: usize,
    taken: &BTreeSet<&str>,
) -> Vec<FunctionSlot> {
    def.and_then(|def| declared_slots(def, num_symbols))
        .unwrap_or_else(|| fallback_slots(num_symbols, taken))
}

fn declared_slots(def: &OpDef, num_symbols: usize) -> Option<Vec<FunctionSlot>> {
    let count = |form| {
        let functions = def.functions.iter();
        functions.filter(|function| function.form == form).count()
    };
    let lists = count(FunctionForm::SymbolList);
    // All of the optional functions are named, or none.
    let optional = count(FunctionForm::OptionalSymbol);
    let has_optional = num_symbols == count(FunctionForm::Symbol) + optional;
    let symbols = match has_optional {
        true => num_symbols,
        false => count(FunctionForm::Symbol),
    };
    // Two lists cannot be told apart.
    let list_len = match lists {
        0 if symbols == num_symbols => 0,
        1 => num_symbols.checked_sub(symbols)?,
        _ => return None,
    };
    let slots = def.functions.iter().filter_map(|function| {
        let shape = match function.form {
            FunctionForm::Symbol => SlotShape::Symbol,
            FunctionForm::OptionalSymbol if has_optional => SlotShape::Symbol,
            FunctionForm::SymbolList if list_len > 0 => SlotShape::List(list_len),
            // An empty list refers to no function: the file holds it as an ordinary attribute.
            FunctionForm::OptionalSymbol | FunctionForm::SymbolList | FunctionForm::Region => {
                return None;
            }
        };
        Some(FunctionSlot {
            name: function.name.to_owned(),
            shape,
        })
    });
    Some(slots.collect())
}

/// Returns `callee`, `callee_1`, …, with leading zeros if the names would not be in order
/// otherwise.
fn fallback_slots(num_symbols: usize, taken: &BTreeSet<&str>) -> Vec<FunctionSlot> {
    let digits = num_symbols.saturating_sub(1).to_string().len();
    let mut stem = String::from("callee");
    while taken.iter().any(|name| name.starts_with(&stem)) {
        stem.push('_');
    }
    (0..num_symbols)
        .map(|index| FunctionSlot {
            name: if index == 0 {
                stem.clone()
            } else {
                format!("{stem}_{index:0digits$}")
            },
            shape: SlotShape::Symbol,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use tfrt_ods::FunctionDef;

    use super::*;

    const fn function(name: &'static str, form: FunctionForm) -> FunctionDef {
        FunctionDef { name, form }
    }

    fn names(def: Option<&OpDef>, num_symbols: usize, taken: &[&str]) -> Vec<String> {
        let taken = taken.iter().copied().collect();
        function_slots(def, num_symbols, &taken)
            .into_iter()
            .map(|slot| slot.name)
            .collect()
    }

    #[test]
    fn declared_names_come_back() {
        static COND: OpDef = OpDef {
            functions: &[
                function("a_true_fn", FunctionForm::Symbol),
                function("b_false_fn", FunctionForm::Symbol),
                function("body", FunctionForm::Region),
            ],
            ..OpDef::new("t.cond")
        };
        assert_eq!(names(Some(&COND), 2, &[]), ["a_true_fn", "b_false_fn"]);
        assert_eq!(names(Some(&COND), 1, &[]), ["callee"]);
    }

    #[test]
    fn optional_functions_are_all_there_or_none_is() {
        static MAP: OpDef = OpDef {
            functions: &[
                function("function", FunctionForm::Symbol),
                function("restore", FunctionForm::OptionalSymbol),
                function("save", FunctionForm::OptionalSymbol),
            ],
            ..OpDef::new("t.map")
        };
        let all = ["function", "restore", "save"];
        assert_eq!(names(Some(&MAP), 1, &[]), all[..1]);
        assert_eq!(names(Some(&MAP), 2, &[]), ["callee", "callee_1"]);
        assert_eq!(names(Some(&MAP), 3, &[]), all);
    }

    #[test]
    fn a_list_takes_what_the_symbols_leave() {
        static CASE: OpDef = OpDef {
            functions: &[
                function("branches", FunctionForm::SymbolList),
                function("then", FunctionForm::Symbol),
            ],
            ..OpDef::new("t.case")
        };
        let slots = function_slots(Some(&CASE), 4, &BTreeSet::new());
        assert_eq!(
            slots[0],
            FunctionSlot {
                name: "branches".into(),
                shape: SlotShape::List(3)
            }
        );
        assert_eq!(
            slots[1],
            FunctionSlot {
                name: "then".into(),
                shape: SlotShape::Symbol
            }
        );
    }

    #[test]
    fn names_that_stand_in_are_distinct_and_in_order() {
        assert_eq!(names(None, 3, &[]), ["callee", "callee_1", "callee_2"]);
        assert_eq!(names(None, 1, &["callee"]), ["callee_"]);
        let many = names(None, 12, &[]);
        assert!(many.is_sorted(), "{many:?}");
    }
}
