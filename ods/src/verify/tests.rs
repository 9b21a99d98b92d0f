//! Violations of one declaration, and their messages.

use std::borrow::Cow;

use super::*;
use crate::constraint::AttrKind;
use crate::instance::{RegionInstance, Signature};
use crate::op::{AttrDef, AttrDefault, FunctionDef, OperandDef, ResultDef};

#[derive(Default)]
struct Instance {
    operands: Vec<&'static str>,
    results: Vec<&'static str>,
    attributes: Vec<(&'static str, AttrInstance<'static>)>,
    regions: usize,
}

impl OpInstance for Instance {
    fn name(&self) -> &str {
        "t.op"
    }

    fn operand_types(&self) -> Vec<Cow<'_, str>> {
        self.operands.iter().map(|ty| Cow::Borrowed(*ty)).collect()
    }

    fn result_types(&self) -> Vec<Cow<'_, str>> {
        self.results.iter().map(|ty| Cow::Borrowed(*ty)).collect()
    }

    fn attribute_names(&self) -> Vec<Cow<'_, str>> {
        let names = self.attributes.iter();
        names.map(|(name, _)| Cow::Borrowed(*name)).collect()
    }

    fn attribute(&self, name: &str) -> Option<AttrInstance<'_>> {
        self.attributes
            .iter()
            .find(|(other, _)| *other == name)
            .map(|(_, value)| value.clone())
    }

    fn regions(&self) -> Vec<RegionInstance<'_>> {
        vec![
            RegionInstance {
                arguments: Vec::new(),
                returns: None
            };
            self.regions
        ]
    }

    fn resolve(&self, _symbol: &str) -> Option<Signature<'_>> {
        None
    }

    fn enclosing_function(&self) -> Option<Signature<'_>> {
        None
    }
}

fn check(def: &OpDef, instance: &Instance, expected: &[&str]) {
    let messages: Vec<String> = verify_op(def, instance)
        .into_iter()
        .map(|breach| breach.message)
        .collect();
    assert_eq!(messages, expected);
}

const I32: TypeConstraint = TypeConstraint::Exact("i32");
const CHAIN: TypeConstraint = TypeConstraint::Exact(CHAIN_TYPE);

const ADD: OpDef = OpDef {
    operands: &[OperandDef::new("a", I32), OperandDef::new("b", I32)],
    results: &[ResultDef::new("sum", I32)],
    ..OpDef::new("t.op")
};

#[test]
fn every_breach_is_reported_in_order() {
    let instance = Instance {
        operands: vec!["i32"],
        results: vec!["i64"],
        regions: 2,
        ..Instance::default()
    };
    check(
        &ADD,
        &instance,
        &[
            "requires zero regions",
            "expected 2 operands, but found 1",
            "result #0 must be 32-bit signless integer, but got 'i64'",
        ],
    );
    let with_syntax = OpDef {
        assembly_format: Some("$a `,` $b attr-dict"),
        ..ADD
    };
    let message = "inferred type(s) 'i32' are incompatible with return type(s) of operation 'i64'";
    let instance = Instance {
        operands: vec!["i32", "i32"],
        results: vec!["i64"],
        ..Instance::default()
    };
    check(&with_syntax, &instance, &[message]);
}

#[test]
fn operand_types_are_put_in_words() {
    let instance = Instance {
        operands: vec!["i32", "!my.t"],
        results: vec!["i32"],
        ..Instance::default()
    };
    check(
        &ADD,
        &instance,
        &["operand #1 must be 32-bit signless integer, but got '!my.t'"],
    );
}

#[test]
fn attributes_and_functions_are_checked_by_name() {
    const DEF: OpDef = OpDef {
        attributes: &[
            AttrDef::new("c", AttrKind::I32),
            AttrDef::new("d", AttrKind::Array(&AttrKind::I64)),
        ],
        functions: &[FunctionDef {
            name: "b",
            form: FunctionForm::Symbol,
        }],
        ..OpDef::new("t.op")
    };
    check(
        &DEF,
        &Instance::default(),
        &[
            "requires attribute 'b'",
            "requires attribute 'c'",
            "requires attribute 'd'",
        ],
    );
    let attributes = vec![
        ("b", AttrInstance::Symbol("m".into(), true)),
        ("c", AttrInstance::Int(1, "ui32".into())),
        ("d", AttrInstance::Array(vec![AttrInstance::Bool(true)])),
    ];
    check(
        &DEF,
        &Instance {
            attributes,
            ..Instance::default()
        },
        &[
            "attribute 'b' failed to satisfy constraint: flat symbol reference attribute",
            "attribute 'c' failed to satisfy constraint: 32-bit signless integer attribute",
            "attribute 'd' failed to satisfy constraint: 64-bit integer array attribute",
        ],
    );
}

#[test]
fn optional_functions_come_together() {
    const fn function(name: &'static str, form: FunctionForm) -> FunctionDef {
        FunctionDef { name, form }
    }
    const DEF: OpDef = OpDef {
        functions: &[
            function("f", FunctionForm::Symbol),
            function("g", FunctionForm::OptionalSymbol),
            function("h", FunctionForm::OptionalSymbol),
        ],
        ..OpDef::new("t.op")
    };
    let with = |names: &[&'static str]| {
        let symbol = |&name: &_| (name, AttrInstance::Symbol("m".into(), false));
        Instance {
            attributes: names.iter().map(symbol).collect(),
            ..Instance::default()
        }
    };
    check(&DEF, &with(&["f"]), &[]);
    check(&DEF, &with(&["f", "g", "h"]), &[]);
    check(
        &DEF,
        &with(&["g"]),
        &[
            "requires attribute 'f'",
            "attribute 'g' requires attribute 'h'",
        ],
    );
    check(
        &DEF,
        &with(&["f", "h"]),
        &["attribute 'h' requires attribute 'g'"],
    );
    let mut nested = with(&["f", "g"]);
    nested
        .attributes
        .push(("h", AttrInstance::Symbol("m".into(), true)));
    check(
        &DEF,
        &nested,
        &["attribute 'h' failed to satisfy constraint: flat symbol reference attribute"],
    );
}

#[test]
fn attributes_that_are_not_declared_are_refused_with_the_closest_name() {
    const DEF: OpDef = OpDef {
        attributes: &[AttrDef {
            default: Some(AttrDefault::Int(1)),
            ..AttrDef::new("stride", AttrKind::I32)
        }],
        ..OpDef::new("t.op")
    };
    let instance = |attributes| Instance {
        attributes,
        ..Instance::default()
    };
    let value = || AttrInstance::Int(1, "i32".into());
    check(
        &DEF,
        &instance(vec![("strides", value()), ("unlike", value())]),
        &[
            "has no attribute 'strides'; did you mean `stride`?",
            "has no attribute 'unlike'; it has `stride`",
        ],
    );
    check(
        &ADD,
        &Instance {
            operands: vec!["i32", "i32"],
            results: vec!["i32"],
            ..instance(vec![("a", value())])
        },
        &["has no attribute 'a'; it has none"],
    );
    check(
        &DEF,
        &instance(vec![("_tfrt_cost", value()), ("other.note", value())]),
        &[],
    );
    let functions = vec![AttrInstance::Symbol("f".into(), false)];
    check(
        &DEF,
        &instance(vec![("other.functions", AttrInstance::Array(functions))]),
        &[
            "attribute 'other.functions' names a function, but the op declares no function of \
             this name",
        ],
    );
}

#[test]
fn attributes_under_free_names_are_checked_by_position() {
    const DEF: OpDef = OpDef {
        attributes: &[
            AttrDef::new("count", AttrKind::I32),
            AttrDef::new("name", AttrKind::String),
        ],
        functions: &[FunctionDef {
            name: "callee",
            form: FunctionForm::Symbol,
        }],
        traits: OpTraits::FREE_ATTRIBUTE_NAMES,
        ..OpDef::new("t.op")
    };
    let instance = |attributes| Instance {
        attributes,
        ..Instance::default()
    };
    let (count, name) = (
        || AttrInstance::Int(1, "i32".into()),
        || AttrInstance::String("n".into()),
    );
    let callee = || AttrInstance::Symbol("f".into(), false);
    check(
        &DEF,
        &instance(vec![
            ("b", name()),
            ("f", callee()),
            ("a", count()),
            ("_tfrt_cost", count()),
        ]),
        &[],
    );
    check(
        &DEF,
        &instance(vec![("a", name()), ("b", count()), ("f", callee())]),
        &[
            "attribute 'a' failed to satisfy constraint: 32-bit signless integer attribute",
            "attribute 'b' failed to satisfy constraint: string attribute",
        ],
    );
    check(
        &DEF,
        &instance(vec![("name", name())]),
        &["requires attribute 'count'", "requires attribute 'callee'"],
    );
    check(
        &DEF,
        &instance(vec![
            ("f", callee()),
            ("x", count()),
            ("y", name()),
            ("z", name()),
        ]),
        &["expected 2 attributes ('count', 'name'), under any names, but found 3 ('x', 'y', 'z')"],
    );
}

#[test]
fn an_op_may_take_any_attributes() {
    const DEF: OpDef = OpDef {
        traits: OpTraits::ANY_ATTRIBUTES,
        ..OpDef::new("t.op")
    };
    let attributes = vec![("a", AttrInstance::Bool(true)), ("b", AttrInstance::Shape)];
    check(
        &DEF,
        &Instance {
            attributes,
            ..Instance::default()
        },
        &[],
    );
}

#[test]
fn counts_of_variadic_groups_have_a_least_number() {
    const DEF: OpDef = OpDef {
        operands: &[
            OperandDef::new("a", I32),
            OperandDef::variadic("rest", TypeConstraint::Any),
        ],
        results: &[
            ResultDef::new("chain", CHAIN),
            ResultDef::variadic("rest", TypeConstraint::Any),
        ],
        ..OpDef::new("t.op")
    };
    check(
        &DEF,
        &Instance::default(),
        &["expected 1 or more results", "expected 1 or more operands"],
    );
}

#[test]
fn a_generic_op_with_an_effect_may_leave_its_chain_out() {
    const DEF: OpDef = OpDef {
        operands: &[OperandDef::new("chain", CHAIN)],
        results: &[ResultDef::new("chain", CHAIN)],
        effect: Effect::IO,
        ..OpDef::new("t.op")
    };
    check(
        &DEF,
        &Instance {
            results: vec![CHAIN_TYPE],
            ..Instance::default()
        },
        &[],
    );
    let with_form = OpDef {
        assembly_format: Some("operands"),
        ..DEF
    };
    check(
        &with_form,
        &Instance {
            results: vec![CHAIN_TYPE],
            ..Instance::default()
        },
        &["requires a single operand"],
    );
}

#[test]
fn an_optional_chain_may_be_missing_among_the_results_too() {
    const DEF: OpDef = OpDef {
        operands: &[OperandDef::new("a", I32), OperandDef::new("chain", CHAIN)],
        results: &[ResultDef::new("b", I32), ResultDef::new("chain", CHAIN)],
        effect: Effect::IO,
        traits: OpTraits::OPTIONAL_CHAIN,
        ..OpDef::new("t.op")
    };
    let instance = |results| Instance {
        operands: vec!["i32"],
        results,
        ..Instance::default()
    };
    check(&DEF, &instance(vec!["i32", CHAIN_TYPE]), &[]);
    check(&DEF, &instance(vec!["i32"]), &[]);
    // A kernel that writes an operand needs no other effect.
    let writes = OpDef {
        effect: Effect::None,
        ..DEF
    };
    check(&writes, &instance(vec!["i32"]), &[]);
    check(&DEF, &instance(vec![]), &["expected 2 results"]);
    check(
        &DEF,
        &instance(vec!["i64"]),
        &["result #0 must be 32-bit signless integer, but got 'i64'"],
    );
    let without_trait = OpDef {
        traits: OpTraits::NONE,
        ..DEF
    };
    check(
        &without_trait,
        &instance(vec!["i32"]),
        &["expected 2 results"],
    );
}

#[test]
fn an_extra_chain_is_a_trait() {
    let instance = Instance {
        operands: vec!["i32", "i32", CHAIN_TYPE],
        results: vec!["i32"],
        ..Instance::default()
    };
    check(&ADD, &instance, &["expected 2 operands, but found 3"]);
    check(
        &OpDef {
            traits: OpTraits::EXTRA_CHAIN,
            ..ADD
        },
        &instance,
        &[],
    );
}

#[test]
fn the_own_verifier_runs_last() {
    fn own(_: &dyn OpInstance, breaches: &mut Vec<Breach>) {
        breaches.push(Breach::op("own"));
    }
    const DEF: OpDef = OpDef {
        verifier: Some(own),
        ..ADD
    };
    check(
        &DEF,
        &Instance {
            operands: vec!["i32", "i32"],
            results: vec!["i32"],
            ..Instance::default()
        },
        &["own"],
    );
    check(
        &DEF,
        &Instance {
            operands: vec!["i32"],
            results: vec!["i32"],
            ..Instance::default()
        },
        &["expected 2 operands, but found 1"],
    );
}
