//! Tests that the syntax of newer MLIR versions round-trips.

use std::sync::Arc;

use tfrt_ir::{ParseOptions, PrintOptions, Registry, parse, print};

fn read(source: &str) -> Result<tfrt_ir::Module, String> {
    let registry = Arc::new(Registry::default());
    let options = ParseOptions {
        allow_unregistered_dialects: true,
    };
    parse(source, "f", &registry, &options).map_err(|errors| errors[0].to_string())
}

/// Checks that a text prints as `expected`, and that `expected` prints as itself.
fn check_with(source: &str, expected: &str, options: &PrintOptions) {
    for text in [source, expected] {
        let module = read(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        assert_eq!(print(&module, options), expected);
    }
}

fn check(source: &str, expected: &str) {
    check_with(source, expected, &PrintOptions::default());
}

fn check_same(op: &str) {
    check(op, &format!("module {{\n  {op}\n}}\n"));
}

fn check_error(source: &str, expected: &str) {
    match read(source) {
        Ok(module) => panic!("read as:\n{}", print(&module, &PrintOptions::default())),
        Err(error) => assert_eq!(error, expected),
    }
}

#[test]
fn properties_are_apart_from_attributes() {
    check_same(r#""a.b"() <{p = 1 : i32, q}> {r = "x"} : () -> ()"#);
    check_same(r#""a.b"() <{p = 1 : i32}> : () -> ()"#);
    check(
        "\"a.b\"() <{q = 2 : i32, p = 1 : i32}> ({\n}) : () -> ()",
        "module {\n  \"a.b\"() <{p = 1 : i32, q = 2 : i32}> ({\n  }) : () -> ()\n}\n",
    );
    check_error(
        r#""a.b"() <{p = 1 : i32}> {p = 2 : i32} : () -> ()"#,
        "f:1:25: error: 'p' is a property and an attribute",
    );
    check_error(
        r#""a.b"() <{p = 1 : i32} : () -> ()"#,
        "f:1:24: error: expected '>' to close properties",
    );
}

#[test]
fn properties_are_attributes_of_the_op() {
    let module = read(r#""a.b"() <{p = 7 : i32}> : () -> ()"#).unwrap();
    let op = module.block_ops(module.body())[0];
    let value = module.attr(op, "p").and_then(|p| module.attribute_int(p));
    assert_eq!(value, Some(7));
}

#[test]
fn arrays_have_elements_of_one_type() {
    check_same(r#""a.b"() {a = array<i64: 1, -2>} : () -> ()"#);
    check_same(r#""a.b"() {a = array<i64>} : () -> ()"#);
    check_same(r#""a.b"() {a = array<i1: true, false>} : () -> ()"#);
    check_same(r#""a.b"() {a = [5.000000e-01, 0x7FF0000000000000 : f64]} : () -> ()"#);
    check_same(r#""a.b"() {a = array<f32: 1.000000e+00, 0x7FC00000>} : () -> ()"#);
    check_same(r#""a.b"() {a = array<i8: -128, 127>} : () -> ()"#);
    check_error(
        r#""a.b"() {a = array<i8: 300>} : () -> ()"#,
        "f:1:24: error: integer constant out of range for type",
    );
    check_error(
        r#""a.b"() {a = array<index: 3>} : () -> ()"#,
        "f:1:20: error: expected integer or float type",
    );
    check_error(
        r#""a.b"() {a = array<i8: (1, 2)>} : () -> ()"#,
        "f:1:24: error: expected integer or float literal",
    );
    check_error(
        r#""a.b"() {a = array<i8: 1} : () -> ()"#,
        "f:1:25: error: expected '>'",
    );
}

#[test]
fn bodies_of_dialect_attributes_and_types_need_no_quotes() {
    check_same(r#""a.b"() {a = #x<precision DEFAULT>, b = [#x<p A>, #x.y<[0]>]} : () -> ()"#);
    check_same(r#"%0:2 = "a.b"() : () -> (!x<token [{}]>, i32)"#);
    check_same(r#""a.b"() {a = #x<algorithm<lhs = f32, b -> c>>} : () -> ()"#);
    check_error(
        r#""a.b"() {a = #x<p (>)>} : () -> ()"#,
        "f:1:20: error: unbalanced '>' character in pretty dialect name",
    );
    check_error(
        r#""a.b"() {a = #x<p"#,
        "f:1:16: error: unexpected nul or EOF in pretty dialect name",
    );
}

#[test]
fn elements_may_stand_at_the_end_of_the_text() {
    let text = "module {\n  \"a.b\"() {a = dense_resource<w> : tensor<2xi8>} : () -> ()\n}\n\n\
                {-#\n  dialect_resources: {\n    builtin: {\n      w: \"0x010000002A07\",\n      \
                \"odd name\": \"0x01000000\"\n    }\n  },\n  external_resources: {\n    tool: {\n      \
                is_new: true,\n      note: \"text\"\n    }\n  }\n#-}\n";
    check(text, text);
    let module = read(text).unwrap();
    assert_eq!(module.resource_bytes("w"), Some(&[0x2A, 7][..]));
    assert_eq!(module.resource_bytes("odd name"), Some(&[][..]));
    assert_eq!(module.resource_bytes("note"), None);
    check("module {\n} {-# #-}", "module {\n}\n");
    check_error(
        "module {} {-# dialect_resources: { builtin: { w: \"0x0100\" } } #-}",
        "f:1:50: error: expected hexadecimal digits of at least four bytes in a resource",
    );
    check_error(
        "module {} {-# other: {} #-}",
        "f:1:15: error: unknown key 'other' in file metadata dictionary",
    );
    check_error(
        "module {} {-# dialect_resources: { builtin: { w: 3 } } #-}",
        "f:1:50: error: expected the value of a resource",
    );
    check_error(
        "module {} {-# dialect_resources: {}",
        "f:1:36: error: expected '#-}' to end file metadata",
    );
    check_error(
        r#""a.b"() {a = dense_resource<w> : tensor<?xi8>} : () -> ()"#,
        "f:1:46: error: elements literal type must have static shape",
    );
}

#[test]
fn numbers_of_up_to_eight_bits_are_read_and_printed() {
    for ty in [
        "f4E2M1FN",
        "f6E2M3FN",
        "f6E3M2FN",
        "f8E5M2",
        "f8E4M3",
        "f8E3M4",
        "f8E4M3FN",
        "f8E4M3FNUZ",
        "f8E5M2FNUZ",
        "f8E4M3B11FNUZ",
        "f8E8M0FNU",
    ] {
        check_same(&format!(
            "%0 = \"a.b\"() {{a = dense<[1.000000e+00, 2.000000e+00]> : tensor<2x{ty}>}} : () -> tensor<?x{ty}>"
        ));
    }
    check_same(r#""a.b"() {a = 0x7F : f8E4M3FN} : () -> ()"#);
    check_same(r#""a.b"() {a = array<f4E2M1FN: 1.500000e+00, -6.000000e+00>} : () -> ()"#);
    check(
        r#""a.b"() {a = 1.07 : f8E4M3FN} : () -> ()"#,
        "module {\n  \"a.b\"() {a = 1.125000e+00 : f8E4M3FN} : () -> ()\n}\n",
    );
    check_error(
        r#""a.b"() {a = 0x100 : f8E4M3FN} : () -> ()"#,
        "f:1:14: error: hexadecimal float constant out of range for type",
    );
}

#[test]
fn locations_may_be_ranges_and_name_each_other() {
    let options = PrintOptions {
        debug_info: true,
        local_scope: true,
        ..PrintOptions::default()
    };
    let check = |location: &str, expected: &str| {
        let source = format!("module {{\n  \"a.b\"() : () -> () loc({location})\n}} loc(unknown)");
        let expected =
            format!("module {{\n  \"a.b\"() : () -> () loc({expected})\n}} loc(unknown)");
        check_with(&source, &expected, &options);
    };
    check("\"f.py\":11:35 to :65", "\"f.py\":11:35 to :65");
    check("\"f.py\":11:35 to 11:65", "\"f.py\":11:35 to :65");
    check("\"f.py\":11:35 to 12:1", "\"f.py\":11:35 to 12:1");
    check("\"add\"(\"f.py\":1:2 to :3)", "\"add\"(\"f.py\":1:2 to :3)");
    check(
        "\"jit\"(\"main\"(\"f.py\":1:2))",
        "\"jit\"(\"main\"(\"f.py\":1:2))",
    );
    let source = "#loc1 = loc(\"f\":1:2 to :3)\n#loc2 = loc(callsite(\"x\"(#loc1) at #loc1))\n\
                  \"a.b\"() : () -> () loc(#loc2)\n";
    let module = read(source).unwrap();
    let op = module.block_ops(module.body())[0];
    assert_eq!(module.place(module.op_location(op)).to_string(), "f:1:2");
    check_error(
        "\"a.b\"() : () -> () loc(callsite(#l at #m))",
        "f:1:33: error: expected location instance",
    );
    check_error(
        "\"a.b\"() : () -> () loc(\"f\":1:2 to 3)",
        "f:1:36: error: expected ':' in FileLineColRange",
    );
}

#[test]
fn aliases_of_locations_do_not_grow_without_bound() {
    let chain = |next: &dyn Fn(usize) -> String, count: usize| {
        let mut source = "#loc0 = loc(\"f\":1:2)\n".to_owned();
        for index in 1..count {
            source.push_str(&format!("#loc{index} = loc({})\n", next(index - 1)));
        }
        source + &format!("\"a.b\"() : () -> () loc(#loc{})\n", count - 1)
    };
    let callers = |last: usize| format!("callsite(\"x\" at #loc{last})");
    let names = |last: usize| format!("\"x\"(#loc{last})");
    let pairs = |last: usize| format!("callsite(#loc{last} at #loc{last})");
    for (next, count) in [
        (&callers as &dyn Fn(usize) -> String, 100_000),
        (&names, 100_000),
        (&pairs, 40),
    ] {
        let error = read(&chain(next, count)).unwrap_err();
        assert!(error.ends_with("error: location is too long"), "{error}");
    }
    // The stack of calls of a large program.
    let options = PrintOptions {
        debug_info: true,
        ..PrintOptions::default()
    };
    for next in [&callers as &dyn Fn(usize) -> String, &names] {
        let module = read(&chain(next, 1000)).unwrap();
        assert_eq!(print(&module, &options).matches("\"x\"").count(), 999);
    }
}

#[test]
fn functions_of_the_newer_dialect_call_and_return_without_its_name() {
    let short =
        "func.func @f(%x: i32) -> i32 {\n  %y = call @f(%x) : (i32) -> i32\n  return %y : i32\n}\n";
    let long = short
        .replace("call @", "func.call @")
        .replace("return %", "func.return %");
    let options = PrintOptions {
        func_dialect: true,
        ..PrintOptions::default()
    };
    let text = print(&read(&long).unwrap(), &options);
    assert_eq!(print(&read(short).unwrap(), &options), text);
    check_with(short, &text, &options);
    // So do functions under their older name.
    let older = short.replace("func.func", "func");
    assert_eq!(print(&read(&older).unwrap(), &options), text);
    // Other regions have no short names for these ops.
    assert!(read("\"a.b\"() ({\n  return\n}) : () -> ()\n").is_err());
}

#[test]
fn every_cut_of_a_text_is_an_error_or_a_program() {
    let text = "func.func @f() {\n  %y = \"a.b\"() <{p = array<i8: 1, 2>}> {q = #x<a<b>>, r = \
                dense_resource<w> : tensor<1xf8E5M2>} : () -> i32 loc(\"f\":1:2 to 3:4)\n  return\n}\n\
                {-# dialect_resources: { builtin: { w: \"0x0100000000\" } } #-}\n";
    assert!(read(text).is_ok());
    for end in 0..text.len() {
        let _ = read(&text[..end]);
        for replaced in ["<", ">", "{-#", "#-}", "\"", ":"] {
            let _ = read(&format!("{}{replaced}{}", &text[..end], &text[end..]));
        }
    }
}

#[test]
fn digits_of_booleans_are_bytes_or_bits() {
    let check = |digits: &str, ty: &str, expected: &str| {
        check(
            &format!("\"a.b\"() {{a = dense<\"0x{digits}\"> : tensor<{ty}>}} : () -> ()"),
            &format!(
                "module {{\n  \"a.b\"() {{a = dense<{expected}> : tensor<{ty}>}} : () -> ()\n}}\n"
            ),
        );
    };
    check("010001", "3xi1", "[true, false, true]");
    check("FF00", "2xi1", "[true, false]");
    check("05", "3xi1", "[true, false, true]");
    // A single byte is packed, unless it has one Boolean for all elements.
    check("01", "3xi1", "[true, false, false]");
    check("01", "9xi1", "true");
    check("FF", "3xi1", "true");
    check("00", "3xi1", "false");
    check(
        "4102",
        "10xi1",
        "[true, false, false, false, false, false, true, false, false, true]",
    );
    for digits in ["0100", "02", "03FFFFFF"] {
        check_error(
            &format!("\"a.b\"() {{a = dense<\"0x{digits}\"> : tensor<17xi1>}} : () -> ()"),
            &format!(
                "f:1:{}: error: elements hex data size is invalid for provided type: 'i1'",
                26 + digits.len()
            ),
        );
    }
}
