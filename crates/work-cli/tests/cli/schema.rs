//! As much of JSON Schema as ours use: a check that is small enough to read.

use serde_json::{Map, Value};

/// What of `value` does not fit `schema`.
pub(crate) fn misfits(schema: &Value, value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    check(schema, schema, value, "$", &mut found);
    found
}

fn check(root: &Value, schema: &Value, value: &Value, at: &str, found: &mut Vec<String>) {
    let Some(rules) = schema.as_object() else { return };
    for (keyword, rule) in rules {
        match keyword.as_str() {
            "$ref" => {
                let name = rule
                    .as_str()
                    .and_then(|name| name.strip_prefix("#/$defs/"))
                    .expect("a definition");
                check(root, &root["$defs"][name], value, at, found);
            }
            "type" => {
                let types = rule.as_array();
                let fits = types
                    .map_or_else(|| is(rule, value), |all| all.iter().any(|one| is(one, value)));
                if !fits {
                    found.push(format!("{at} is no {rule}: {value}"));
                }
            }
            "enum" if !rule.as_array().expect("a list").contains(value) => {
                found.push(format!("{at} is none of {rule}: {value}"));
            }
            "const" if rule != value => found.push(format!("{at} is not {rule}: {value}")),
            "anyOf" | "oneOf" => {
                let fits = |one: &&Value| {
                    let mut misfits = Vec::new();
                    check(root, one, value, at, &mut misfits);
                    misfits.is_empty()
                };
                if !rule.as_array().expect("a list").iter().any(|one| fits(&one)) {
                    found.push(format!("{at} fits none of {rule}: {value}"));
                }
            }
            "allOf" => {
                for one in rule.as_array().expect("a list") {
                    check(root, one, value, at, found);
                }
            }
            "required" => {
                for name in rule.as_array().expect("a list") {
                    if value
                        .as_object()
                        .is_some_and(|fields| !fields.contains_key(name.as_str().expect("a name")))
                    {
                        found.push(format!("{at} lacks {name}"));
                    }
                }
            }
            "properties" => {
                properties(root, rule.as_object().expect("an object"), value, at, found);
            }
            "items" => {
                for (n, item) in value.as_array().into_iter().flatten().enumerate() {
                    check(root, rule, item, &format!("{at}[{n}]"), found);
                }
            }
            _ => {}
        }
    }
}

/// Every field is described, too: a document says nothing that its schema does not.
fn properties(
    root: &Value,
    known: &Map<String, Value>,
    value: &Value,
    at: &str,
    found: &mut Vec<String>,
) {
    for (name, field) in value.as_object().into_iter().flatten() {
        match known.get(name) {
            Some(schema) => check(root, schema, field, &format!("{at}.{name}"), found),
            None => found.push(format!("{at}.{name} is not described")),
        }
    }
}

fn is(kind: &Value, value: &Value) -> bool {
    match kind.as_str().expect("a type") {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("an unknown type: {other}"),
    }
}

#[test]
fn the_check_finds_what_does_not_fit() {
    let schema = serde_json::json!({
        "properties": {"a": {"type": ["string", "null"]}, "b": {"$ref": "#/$defs/B"}},
        "required": ["a"],
        "$defs": {"B": {"enum": ["x"]}},
    });
    for (value, misfits_expected) in [
        (serde_json::json!({"a": null, "b": "x"}), 0),
        (serde_json::json!({"a": 1}), 1),
        (serde_json::json!({"b": "y"}), 2),
        (serde_json::json!({"a": "", "c": 1}), 1),
    ] {
        assert_eq!(misfits(&schema, &value).len(), misfits_expected, "{value}");
    }
}
