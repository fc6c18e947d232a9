//! Bundled components: `"component": "hookbox:NAME"`, and the JSON Schema of their `config`.

use std::sync::OnceLock;

use hookbox_catalogue::{ALL, Bundled, by_name, name_in};
use serde_json::Value;

use super::{
    diagnostic::{Finding, suggestion},
    schema::Part,
    validate,
};

/// Everything that is wrong with an entry that names a bundled component: an unknown name, a `config` that it does not take.
pub(super) fn check(component: &str, config: &Value, pointer: &str) -> Vec<Finding> {
    let Some(name) = name_in(component) else { return Vec::new() };
    let Some(bundled) = by_name(name) else {
        let known: Vec<&str> = ALL.iter().map(|bundled| bundled.name).collect();
        let message = format!("unknown bundled hook `{name}`");
        return vec![Finding::error(format!("{pointer}/component"), message).help(suggestion(name, &known))];
    };
    if config.is_null() {
        return Vec::new();
    }
    let mut found = validate::check(schema(bundled), &[], config);
    for finding in &mut found {
        finding.pointer = format!("{pointer}/config{}", finding.pointer);
    }
    found
}

/// The schema of a bundled hook's `config`, read once for as long as the process lives.
fn schema(bundled: &'static Bundled) -> &'static Part {
    static READ: OnceLock<Vec<(&'static str, &'static Part)>> = OnceLock::new();
    static ANY: Part = Part::Members(&[]);
    let read = || {
        let part = |bundled: &'static Bundled| {
            // A test of the catalogue holds that it is JSON.
            let schema: Value = serde_json::from_str(bundled.schema).unwrap_or_default();
            let part: &'static Part = Box::leak(Box::new(part(&schema, &schema)));
            (bundled.name, part)
        };
        ALL.iter().map(part).collect()
    };
    READ.get_or_init(read).iter().find(|(name, _)| *name == bundled.name).map_or(&ANY, |(_, part)| part)
}

/// A schema as the validator takes it, without its words for people. `$ref` leads to `$defs` of the whole.
fn part(schema: &Value, whole: &Value) -> Part {
    match schema {
        Value::Bool(value) => Part::Bool(*value),
        Value::Number(value) => Part::Number(value.as_f64().unwrap_or_default()),
        Value::String(value) => Part::Text(Box::leak(value.clone().into_boxed_str())),
        Value::Array(items) => Part::List(Vec::leak(items.iter().map(|item| part(item, whole)).collect())),
        Value::Object(members) => {
            let for_people = |name: &str| matches!(name, "$schema" | "title" | "description" | "default" | "$defs");
            let members = members.iter().filter(|(name, _)| !for_people(name)).map(|(name, value)| {
                let name: &'static str = Box::leak(name.clone().into_boxed_str());
                let target =
                    (name == "$ref").then(|| value.as_str()?.strip_prefix('#').and_then(|at| whole.pointer(at)));
                match target.flatten() {
                    Some(target) => (name, Part::Ref(Box::leak(Box::new(part(target, whole))))),
                    None => (name, part(value, whole)),
                }
            });
            Part::Members(Vec::leak(members.collect()))
        }
        Value::Null => Part::Members(&[]),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn errors(component: &str, config: &Value) -> Vec<String> {
        check(component, config, "/hook").iter().map(|found| format!("{} {}", found.pointer, found.message)).collect()
    }

    #[test]
    fn the_configuration_of_a_bundled_hook_is_validated() {
        let guard = "hookbox:command-guard";
        assert_eq!(errors(guard, &Value::Null), [""; 0]);
        assert_eq!(errors(guard, &json!({ "git": "deny", "disposable": ["out"] })), [""; 0]);
        assert_eq!(errors(guard, &json!({ "gti": "deny" })), ["/hook/config/gti unknown key `gti`"]);
        assert_eq!(errors(guard, &json!({ "git": "never" })), ["/hook/config/git unknown word `never`"]);
        let expected = "/hook/config/disposable expected an array, found the string \"out\"";
        assert_eq!(errors(guard, &json!({ "disposable": "out" })), [expected]);
        assert_eq!(
            errors("hookbox:comand-guard", &Value::Null),
            ["/hook/component unknown bundled hook `comand-guard`"]
        );
        assert_eq!(errors("guard.wasm", &json!({ "anything": 1 })), [""; 0]);
    }
}
