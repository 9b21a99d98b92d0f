//! The library as a whole: what is registered, and whether every declaration holds together.

use std::collections::BTreeMap;

use tfrt::kernel::DialectRegistration;
use tfrt::ods::format::Format;
use tfrt::ods::{OpDef, OpTraits};
use tfrt::prelude::*;

tfrt::link!(tfrt_kernels);

fn registry() -> KernelRegistry {
    KernelRegistry::from_link().unwrap_or_else(|duplicates| panic!("{duplicates}"))
}

fn op(name: &str) -> &'static OpDef {
    registry()
        .op(name)
        .unwrap_or_else(|| panic!("`{name}` is declared"))
}

#[test]
fn every_assembly_format_is_well_formed() {
    let broken: Vec<String> = registry()
        .ops()
        .filter_map(|op| {
            Format::parse(op)
                .err()
                .map(|error| format!("{}: {error}", op.name))
        })
        .collect();
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn every_kernel_is_documented() {
    let registry = registry();
    let bare: Vec<&str> = registry
        .ops()
        .filter(|op| op.summary.is_empty())
        .map(|op| op.name)
        .collect();
    assert_eq!(bare, [""; 0]);
}

#[test]
fn every_group_has_its_kernels() {
    let registry = registry();
    let mut counts: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for kernel in registry.kernels() {
        let count = counts.entry(kernel.op().dialect()).or_default();
        count.0 += 1;
        count.1 += usize::from(kernel.is_sync());
    }
    // Kernels, and synchronous ones among them. `tfrt.select` comes on top of the 65 of the
    // reference, and a convolution that ends a residual block on top of the 12; ops of the Core
    // Runtime are kernels, too, and a constant of `corert_sync` has one.
    let expected = [
        ("btf", (40, 0)),
        ("coo", (24, 0)),
        ("corert", (56, 0)),
        ("corert_sync", (18, 18)),
        ("eigen", (13, 0)),
        ("tf", (66, 0)),
        ("tf_sync", (73, 73)),
        ("tfrt", (73, 9)),
        ("tfrt_data", (78, 0)),
        ("tfrt_dht", (204, 0)),
        ("tfrt_dht_sync", (114, 114)),
        ("tfrt_sht", (1, 0)),
        ("tfrt_sht_sync", (2, 2)),
        ("tfrt_test", (150, 8)),
        ("tfrt_test_sync", (6, 6)),
        ("tfrt_tutorial", (2, 0)),
        ("ts", (16, 0)),
        ("ts_sync", (3, 3)),
        ("vt", (3, 0)),
    ];
    assert_eq!(counts, BTreeMap::from(expected));
}

#[test]
fn ops_with_a_custom_form_take_no_chain_that_they_do_not_declare() {
    let registry = registry();
    let lenient: Vec<&str> = registry
        .ops()
        .filter(|op| op.assembly_format.is_some() && op.traits.contains(OpTraits::EXTRA_CHAIN))
        .map(|op| op.name)
        .collect();
    assert_eq!(lenient, [""; 0]);
}

#[test]
fn other_kernels_take_one_chain_more() {
    for name in [
        "tfrt.minus.i32",
        "tfrt_test.fail",
        "vt.add",
        "tfrt_test.blocking.usleep",
    ] {
        assert!(op(name).traits.contains(OpTraits::EXTRA_CHAIN), "{name}");
    }
    for name in [
        "tfrt_test.print_hello",
        "tfrt_test.atomic.inc.i32",
        "vt.print",
        "tfrt.print.f16",
    ] {
        assert!(op(name).traits.contains(OpTraits::OPTIONAL_CHAIN), "{name}");
    }
}

#[test]
fn control_flow_and_exchanges_can_run_non_strictly() {
    let registry = registry();
    let non_strict: Vec<&str> = registry
        .ops()
        .filter(|op| op.traits.contains(OpTraits::NON_STRICT))
        .map(|op| op.name)
        .collect();
    let expected = [
        "corert.abort_if_error",
        "corert.send",
        "tfrt.call",
        "tfrt.case",
        "tfrt.cond",
        "tfrt.if",
        "tfrt.repeat.i32",
        "tfrt.select",
        "tfrt.while",
        "tfrt_test.do.async",
    ];
    assert_eq!(non_strict, expected);
    assert!(!op("tfrt.if").operands[0].is_reference && op("tfrt.if").operands[1].is_reference);
    assert!(
        !op("tfrt.repeat.i32").operands[0].is_reference
            && op("tfrt.repeat.i32").operands[1].is_reference
    );
}

#[test]
fn attributes_bind_in_the_order_of_their_names() {
    let names = |name: &str| {
        op(name)
            .attributes
            .iter()
            .map(|attribute| attribute.name)
            .collect::<Vec<_>>()
    };
    assert_eq!(names("tfrt.constant.complex64"), ["imaginary", "real"]);
    assert_eq!(
        names("tfrt_test.benchmark"),
        ["duration_secs", "max_count", "name", "num_warmup_runs"]
    );
}

#[test]
fn native_functions_are_found_by_name() {
    let registry = registry();
    for name in [
        "native_sink",
        "native_async_sink",
        "native_add",
        "native_async_add",
        "native_error",
    ] {
        assert!(registry.native(name).is_some(), "{name}");
    }
}

#[test]
fn dialects_state_what_they_accept() {
    let mut names: Vec<&str> = DialectRegistration::linked()
        .map(|dialect| dialect.name)
        .collect();
    names.sort_unstable();
    let expected = [
        "btf",
        "builtin",
        "coo",
        "corert",
        "corert_sync",
        "eigen",
        "ht",
        "t",
        "tf",
        "tf_sync",
        "tfrt",
        "tfrt_data",
        "tfrt_dht",
        "tfrt_dht_sync",
        "tfrt_dist",
        "tfrt_sht",
        "tfrt_sht_sync",
        "tfrt_test",
        "tfrt_test_sync",
        "tfrt_tutorial",
        "ts",
        "ts_sync",
        "vt",
    ];
    assert_eq!(names, expected);
    let strict = DialectRegistration::linked()
        .filter(|dialect| !dialect.allows_unknown_ops)
        .count();
    assert_eq!(
        strict, 3,
        "tensors, host tensors and shapes refuse what they do not know"
    );
}
