//! Declarations of ops without kernels, so that programs with them can be read, verified, written
//! and translated; and properties of the library's dialects.
//!
//! Many ops form families, with one op for each element type or rank. A family is one declaration
//! with many names.

pub mod shapes;

pub mod dense_tensors;

pub mod sparse_tensors;

use tfrt::ods::{DialectDef, UnknownTypes};

/// The dialects of the standard library. All but those of tensors and shapes accept ops and types
/// that no one declared.
const DIALECTS: &[DialectDef] = &[
    DialectDef {
        summary: "Functions and modules.",
        ..DialectDef::new("builtin")
    },
    DialectDef {
        summary: "Sparse tensors in coordinate form.",
        ..DialectDef::new("coo")
    },
    DialectDef {
        summary: "Ops that run other ops, by name, on tensor handles.",
        types: &[
            "string",
            "ophandler",
            "tensorhandle",
            "resource",
            "variant",
            "quint8",
            "quint16",
            "qint8",
            "qint16",
            "qint32",
        ],
        allows_inlining: true,
        shape_attribute: Some("shape"),
        ..DialectDef::new("corert")
    },
    DialectDef {
        summary: "Ops that run other ops, in synchronous functions.",
        ..DialectDef::new("corert_sync")
    },
    DialectDef {
        summary: "Buffers in host memory.",
        types: &["host_buffer"],
        unknown_types: UnknownTypes::Rejected("unknown type: "),
        allows_unknown_ops: false,
        ..DialectDef::new("ht")
    },
    DialectDef {
        summary: "Tensors of any kind.",
        types: &["tensor"],
        unknown_types: UnknownTypes::Rejected("unknown tensor type: "),
        allows_unknown_ops: false,
        ..DialectDef::new("t")
    },
    DialectDef {
        summary: "Numbers, chains, calls and loops.",
        types: &["chain", "string", "tensor_type", "device"],
        allows_inlining: true,
        ..DialectDef::new("tfrt")
    },
    DialectDef {
        summary: "Pipelines of input data.",
        types: &["dataset", "iterator"],
        ..DialectDef::new("tfrt_data")
    },
    DialectDef {
        summary: "Dense tensors in host memory, and their buffers.",
        ..DialectDef::new("tfrt_dht")
    },
    DialectDef {
        summary: "Dense tensors in synchronous functions.",
        ..DialectDef::new("tfrt_dht_sync")
    },
    DialectDef {
        summary: "Work on other machines.",
        types: &[
            "dist_context",
            "dist_context_configuration",
            "task_handle",
            "remote_object_id",
            "remote_execute_spec",
            "remote_chain_manager",
            "payload",
        ],
        unknown_types: UnknownTypes::Rejected("unknown tfrt_dist type "),
        ..DialectDef::new("tfrt_dist")
    },
    DialectDef {
        summary: "Kernels for tests: delays, counters, errors, benchmarks.",
        ..DialectDef::new("tfrt_test")
    },
    DialectDef {
        summary: "Shapes of tensors.",
        types: &["shape", "partial_shape"],
        unknown_types: UnknownTypes::Rejected("unknown shape type: "),
        allows_unknown_ops: false,
        ..DialectDef::new("ts")
    },
];

tfrt::declare_dialects!(DIALECTS);

/// Prefixes that the reference does not know as dialects.
const FAMILIES: &[DialectDef] = &[
    family("btf", "Tensors in files of the format BTF."),
    family("eigen", "Layers of image networks, on dense tensors."),
    family("tf", "Ops of TensorFlow, on tensors in host memory."),
    family("tf_sync", "Ops of TensorFlow in synchronous functions."),
    family("tfrt_sht", "Tensors of strings in host memory."),
    family(
        "tfrt_sht_sync",
        "Tensors of strings in synchronous functions.",
    ),
    family(
        "tfrt_test_sync",
        "Kernels for tests of synchronous functions.",
    ),
    family(
        "tfrt_tutorial",
        "An example of a type that a kernel author adds.",
    ),
    family("ts_sync", "Shapes of tensors in synchronous functions."),
    family(
        "vt",
        "Values that report when they are created, copied, moved and dropped.",
    ),
];

tfrt::declare_dialects!(FAMILIES);

const fn family(name: &'static str, summary: &'static str) -> DialectDef {
    DialectDef {
        summary,
        is_listed: false,
        ..DialectDef::new(name)
    }
}
