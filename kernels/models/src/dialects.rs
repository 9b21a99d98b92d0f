//! Properties of the dialects here.

use tfrt::ods::DialectDef;

/// Ops of both mean the same wherever they stand, and a misspelled one is an error in the text.
const DIALECTS: &[DialectDef] = &[
    DialectDef {
        summary: "Simulated handwritten digits.",
        allows_unknown_ops: false,
        allows_inlining: true,
        ..DialectDef::new("digits")
    },
    DialectDef {
        summary: "Training, weights and reports of models.",
        allows_unknown_ops: false,
        allows_inlining: true,
        ..DialectDef::new("models")
    },
];

tfrt::declare_dialects!(DIALECTS);
