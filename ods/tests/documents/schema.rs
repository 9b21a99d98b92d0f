//! As much of JSON Schema as the schema of declarations uses.

use serde_json::Value;

/// What of `document` the schema does not allow, each with the way to it.
pub fn breaches(schema: &Value, document: &Value) -> Vec<String> {
    let mut found = Vec::new();
    check(schema, schema, document, "", &mut found);
    found
}

fn check(root: &Value, schema: &Value, value: &Value, path: &str, found: &mut Vec<String>) {
    if let Some(reference) = schema["$ref"].as_str() {
        let pointer = reference.strip_prefix('#').expect("references are local");
        let target = root
            .pointer(pointer)
            .expect("what a reference names is there");
        check(root, target, value, path, found);
    }
    if let Some(choices) = schema["oneOf"].as_array() {
        let fits = |choice: &&Value| {
            let mut breaches = Vec::new();
            check(root, choice, value, path, &mut breaches);
            breaches.is_empty()
        };
        let num_fitting = choices.iter().filter(fits).count();
        if num_fitting != 1 {
            found.push(format!("{path}: {num_fitting} choices fit {value}"));
        }
    }
    if !schema["const"].is_null() && schema["const"] != *value {
        found.push(format!("{path}: {value} is not {}", schema["const"]));
    }
    if let Some(values) = schema["enum"].as_array()
        && !values.contains(value)
    {
        found.push(format!("{path}: {value} is none of the values"));
    }
    let types = match &schema["type"] {
        Value::Array(types) => types.iter().filter_map(Value::as_str).collect(),
        ty => ty.as_str().into_iter().collect::<Vec<_>>(),
    };
    if !types.is_empty() && !types.contains(&type_of(value)) {
        found.push(format!("{path}: {value} is not of type {types:?}"));
    }
    if let (Some(items), Some(elements)) = (schema.get("items"), value.as_array()) {
        for (index, element) in elements.iter().enumerate() {
            check(root, items, element, &format!("{path}/{index}"), found);
        }
    }
    let (Some(properties), Some(members)) = (schema["properties"].as_object(), value.as_object())
    else {
        return;
    };
    for (name, member) in members {
        match properties.get(name) {
            Some(schema) => check(root, schema, member, &format!("{path}/{name}"), found),
            None => found.push(format!("{path}: nobody knows `{name}`")),
        }
    }
    for name in schema["required"].as_array().into_iter().flatten() {
        let name = name.as_str().expect("names are strings");
        if !members.contains_key(name) {
            found.push(format!("{path}: `{name}` is missing"));
        }
    }
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_i64() || number.is_u64() => "integer",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}
