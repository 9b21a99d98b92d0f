//! What the writers make of declarations that have everything a declaration can have.
//!
//! The documents lie beside this file; `TFRT_BLESS=1` writes them anew.

mod declarations;

mod schema;

use std::path::PathBuf;
use std::{env, fs};

use serde_json::Value;
use tfrt_ods::TraitDef;
use tfrt_ods::write::{json, markdown, page, td};

use declarations::catalogue;

#[test]
fn declarations_are_what_the_rules_allow() {
    for entry in catalogue().entries() {
        assert_eq!(entry.op.check(), Ok(()), "{}", entry.op.name);
    }
}

#[test]
fn pages_say_all_that_is_declared() {
    let catalogue = catalogue();
    let pages = catalogue.entries().iter().map(page::page);
    check("pages.txt", &pages.collect::<Vec<_>>().join("\n"));
    check("list.txt", &page::list(&catalogue));
}

#[test]
fn a_reference_has_a_section_for_each_dialect() {
    check("reference.md", &markdown::markdown("Example", &catalogue()));
}

#[test]
fn table_gen_has_a_record_for_each_declaration() {
    let text = td::td(&catalogue());
    let num_ops = text.matches(" : TFRT_Op<").count();
    assert_eq!(num_ops, catalogue().entries().len());
    check("declarations.td", &text);
}

#[test]
fn json_says_all_that_is_declared() {
    let text = json::json(&catalogue());
    check("declarations.json", &text);
    let document: Value = serde_json::from_str(&text).expect("it is JSON");
    let path = directory().join("../../schema/declarations.schema.json");
    let schema = fs::read_to_string(path).expect("the schema is there");
    let schema: Value = serde_json::from_str(&schema).expect("it is JSON");
    let breaches = schema::breaches(&schema, &document);
    assert!(breaches.is_empty(), "{breaches:#?}");
}

#[test]
fn the_schema_refuses_what_the_writer_does_not_write() {
    let schema = fs::read_to_string(directory().join("../../schema/declarations.schema.json"));
    let schema: Value =
        serde_json::from_str(&schema.expect("the schema is there")).expect("it is JSON");
    let document: Value = serde_json::from_str(&json::json(&catalogue())).expect("it is JSON");
    type Damage = fn(&mut Value);
    let damages: [(Damage, &str); 5] = [
        (|document| document["version"] = 2.into(), "/version"),
        (
            |document| document["ops"][0]["name"] = Value::Null,
            "/ops/0/name",
        ),
        (
            |document| document["ops"][0]["execution"] = "fast".into(),
            "/ops/0/execution",
        ),
        (
            |document| document["ops"][0]["color"] = "red".into(),
            "/ops/0",
        ),
        (
            |document| {
                drop(
                    document["ops"][1]
                        .as_object_mut()
                        .and_then(|op| op.remove("effect")),
                )
            },
            "/ops/1",
        ),
    ];
    for (damage, place) in damages {
        let mut damaged = document.clone();
        damage(&mut damaged);
        let breaches = schema::breaches(&schema, &damaged);
        assert!(
            breaches
                .iter()
                .any(|breach| breach.starts_with(&format!("{place}: "))),
            "{place}: {breaches:?}"
        );
    }
}

#[test]
fn the_schema_knows_every_trait() {
    let schema = fs::read_to_string(directory().join("../../schema/declarations.schema.json"));
    let schema: Value =
        serde_json::from_str(&schema.expect("the schema is there")).expect("it is JSON");
    let names = &schema["$defs"]["op"]["properties"]["traits"]["items"]["enum"];
    let expected: Vec<Value> = TraitDef::all().iter().map(|def| def.name.into()).collect();
    assert_eq!(*names, Value::Array(expected));
}

#[test]
fn the_order_in_which_declarations_are_collected_shows_nowhere() {
    let (one, other) = (catalogue(), declarations::reversed_catalogue());
    assert_eq!(td::td(&one), td::td(&other));
    assert_eq!(json::json(&one), json::json(&other));
    assert_eq!(markdown::markdown("", &one), markdown::markdown("", &other));
}

fn directory() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/documents")
}

/// Compares a document with the file of this name.
#[track_caller]
fn check(name: &str, found: &str) {
    let path = directory().join(name);
    if env::var_os("TFRT_BLESS").is_some() {
        fs::write(&path, found).expect("the file can be written");
    }
    let expected = fs::read_to_string(&path).unwrap_or_default();
    let differs = expected
        .lines()
        .zip(found.lines())
        .position(|(a, b)| a != b);
    assert!(
        expected == found,
        "{name} differs from line {} on; TFRT_BLESS=1 writes it anew",
        differs.unwrap_or_else(|| expected.lines().count().min(found.lines().count())) + 1
    );
}
