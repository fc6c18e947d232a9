use hookbox_protocol::{
    Dialect,
    dialect::{ALL, ConfigShape},
};
use serde_json::json;

use super::*;

/// A configuration of each shape that uses every key.
fn full() -> Vec<(&'static str, Value)> {
    let handlers = json!([
        { "type": "wasm", "component": "a.wasm", "timeout": 1.5, "onFailure": "block", "onTimeout": "ask",
          "permissions": { "state": { "perSession": true, "namespace": "n", "maxKeys": 1, "maxValueKiB": 1 },
            "http": ["https://a.example", { "origin": "https://b.example", "methods": ["GET"], "private": true, "maxBodyKiB": 1 }],
            "llm": { "maxCalls": 1, "maxTokens": 1 }, "read": { "/a": "a" }, "write": { "/b": "b" }, "env": ["HOME"] },
          "authority": { "decide": ["deny"], "rewrite": "all", "context": true, "systemMessage": true, "env": ["CI_JOB"] },
          "limits": { "fuel": 1, "timeout": 2 }, "config": { "a": [1] } },
        { "type": "wasm", "component": "b.wasm", "authority": "gate", "permissions": { "state": true, "llm": true } },
        { "type": "command", "command": "x", "args": ["y"], "timeoutMs": 5 },
        { "type": "http", "url": "https://a.example", "headers": { "A": "b" }, "allowedEnvVars": ["PATH"] },
        { "type": "prompt", "prompt": "p", "model": "m", "once": true },
        { "type": "agent", "prompt": "p", "model": "m", "maxTurns": 2 },
        { "type": "process", "command": ["x", "y"], "dir": "d", "env": { "A": "b" }, "allowedEnvVars": ["HOME"],
          "transport": "stdio", "startTimeout": 1, "observerTimeout": 1, "interceptorTimeout": 1.5, "approvalTimeout": 2 },
        { "type": "mcp_tool", "server": "s" }
    ]);
    let file = |hooks: Value| {
        json!({ "$schema": "s", "limits": { "fuel": 5, "memoryMiB": 1, "tableElements": 1, "timeout": 2.5, "outputKiB": 1, "logKiB": 1, "hostCalls": 1 },
            "failClosed": true, "disableAllHooks": false, "canUseTool": { "type": "command", "command": "c" }, "hooks": hooks,
            "host": { "tenant": "t", "stateFile": "f", "maxInstances": 2,
                "llm": { "provider": "anthropic", "baseUrl": "u", "model": "m", "apiKeyEnv": "K" } } })
    };
    let named: Object = handlers
        .as_array()
        .unwrap()
        .iter()
        .enumerate()
        .map(|(index, handler)| {
            let mut hook = handler.as_object().unwrap().clone();
            hook.extend(
                json!({ "enabled": true, "priority": index, "observe": ["*"], "intercept": ["before_tool"] })
                    .as_object()
                    .unwrap()
                    .clone(),
            );
            (format!("h{index}"), Value::Object(hook))
        })
        .chain(
            json!({ "enabled": true, "builtins": { "b": { "enabled": true, "priority": 1, "config": {} } },
                "defaults": { "observer_timeout_ms": 1, "interceptor_timeout_ms": 1.5, "approval_timeout_ms": 0 },
                "processes": { "p": { "enabled": true, "command": ["x"], "intercept": ["before_tool"] } } })
            .as_object()
            .unwrap()
            .clone(),
        )
        .collect();
    [
        (
            ConfigShape::Groups,
            json!({ "enabled": true, "defaultTimeout": 3, "timeoutBehavior": "ask", "failureBehavior": "deny",
            "maxConcurrentHooks": 2, "PreToolUse": [{ "matcher": "Bash", "timeout": 4, "hooks": handlers }] }),
        ),
        (ConfigShape::Flat, json!({ "PreToolUse": handlers })),
        (ConfigShape::Named, Value::Object(named)),
    ]
    .into_iter()
    .filter_map(|(shape, hooks)| {
        Some((ALL.iter().find(|dialect| dialect.shape() == shape && asks(**dialect))?.name(), hooks))
    })
    .map(|(dialect, hooks)| {
        let mut file = file(hooks);
        // The client has no such callback.
        if let Some(file) = file.as_object_mut().filter(|_| dialect == "picoclaw") {
            file.remove("canUseTool");
        }
        (dialect, file)
    })
    .collect()
}

/// The first dialect of each shape; of those with groups, the one with all features.
fn asks(dialect: &dyn Dialect) -> bool {
    dialect.shape() != ConfigShape::Groups || dialect.name() == "blade"
}

type Object = serde_json::Map<String, Value>;

#[test]
fn every_key_is_known() {
    for (dialect, value) in full() {
        let loaded = parse_as(dialect, &value.to_string()).unwrap_or_else(|errors| panic!("{dialect}: {errors}"));
        assert!(loaded.config.hooks.len() >= 6, "{dialect}");
    }
}

/// Replaces and removes every node of the full configurations, one at a time. Nothing may panic, and everything that
/// the validator accepts must deserialize. This keeps the schema and the types in step.
#[test]
fn valid_files_deserialize() {
    let others: Vec<Value> =
        serde_json::from_str(r#"[null, true, -1, 1.5, 1e18, "x", [], {}, [{}], {"type": []}]"#).unwrap();
    for (dialect, value) in full() {
        for pointer in pointers(&value) {
            for other in others.iter().map(Some).chain([None]) {
                let mut mutant = value.clone();
                mutate(&mut mutant, &pointer, other);
                let messages = messages(dialect, &mutant.to_string());
                assert!(
                    !messages.iter().any(|line| line.contains("not understood")),
                    "{dialect} {pointer} {other:?}: {messages:?}"
                );
            }
        }
    }
}

/// Cuts the text and flips bytes. The result is an error or a configuration, never a panic.
#[test]
fn no_text_panics() {
    for (dialect, value) in full().into_iter().take(1) {
        let text = value.to_string();
        for at in 0..text.len() {
            let _ = parse_as(dialect, text.get(..at).unwrap_or_default());
            for byte in ["", "\"", "{", "]", "\u{0}", "é", "~/"] {
                let (Some(before), Some(after)) = (text.get(..at), text.get(at + 1..)) else { continue };
                let _ = parse_as(dialect, &format!("{before}{byte}{after}"));
            }
        }
    }
}

fn pointers(value: &Value) -> Vec<String> {
    let children: Vec<(String, &Value)> = match value {
        Value::Object(object) => {
            object.iter().map(|(key, child)| (hookbox_protocol::json::token(key), child)).collect()
        }
        Value::Array(items) => items.iter().enumerate().map(|(index, child)| (index.to_string(), child)).collect(),
        _ => Vec::new(),
    };
    let below = children.into_iter().flat_map(|(token, child)| {
        std::iter::once(format!("/{token}")).chain(pointers(child).into_iter().map(move |p| format!("/{token}{p}")))
    });
    below.collect()
}

fn mutate(value: &mut Value, pointer: &str, other: Option<&Value>) {
    let Some(other) = other else {
        let (parent, token) = pointer.rsplit_once('/').unwrap();
        match value.pointer_mut(parent).unwrap() {
            Value::Object(object) => drop(object.remove(&token.replace("~1", "/"))),
            Value::Array(items) => drop(items.remove(token.parse().unwrap())),
            _ => {}
        }
        return;
    };
    *value.pointer_mut(pointer).unwrap() = other.clone();
}

#[cfg(feature = "schema")]
#[test]
fn the_schema_that_is_checked_in_is_current() {
    let generated = super::super::generated();
    for (name, current) in [
        ("../../docs/hookbox.schema.json", format!("{generated:#}\n")),
        ("src/config/schema/parts.rs", parts(&generated)),
    ] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(name);
        if std::env::var_os("UPDATE_SCHEMA").is_some() {
            std::fs::write(&path, &current).unwrap();
        }
        let written = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(written == current, "{name} is not current; UPDATE_SCHEMA=1 cargo test -p hookbox config writes it");
    }
}

/// The parts of the schema for validation: each definition, and the whole for each shape of `hooks`.
#[cfg(feature = "schema")]
fn parts(schema: &Value) -> String {
    let definitions = schema["$defs"].as_object().unwrap();
    let files = ["Groups", "Flat", "Named"].map(|shape| {
        let mut properties = schema["properties"].clone();
        properties["hooks"] = json!({ "$ref": format!("#/$defs/{shape}") });
        (format!("{shape}File"), json!({ "type": "object", "properties": properties }))
    });
    let definitions = definitions.iter().map(|(name, part)| (name.clone(), part.clone()));
    let parts = definitions.chain(files).map(|(name, schema)| {
        let (name, part) = (constant(&name), part(&schema, false));
        format!("pub(super) static {name}: Part = {part};\n")
    });
    let head = "//! Of `docs/hookbox.schema.json`, written by the test that holds the two together.\n\n\
        use super::Part::{self, Bool, List, Members, Number, Ref, Text};\n\n";
    std::iter::once(head.to_owned()).chain(parts).collect()
}

/// A schema as a Rust constant, without descriptions and defaults. With `named`, its members are properties, which may
/// have any name.
#[cfg(feature = "schema")]
fn part(schema: &Value, named: bool) -> String {
    match schema {
        Value::Object(members) => {
            let members =
                members.iter().filter(|(name, _)| named || !["description", "default"].contains(&name.as_str()));
            let members = members.map(|(name, member)| match member.as_str().filter(|_| name == "$ref" && !named) {
                Some(target) => format!("({name:?}, Ref(&{}))", constant(target.rsplit('/').next().unwrap())),
                None => format!("({name:?}, {})", part(member, name == "properties" && !named)),
            });
            format!("Members(&[{}])", members.collect::<Vec<_>>().join(", "))
        }
        Value::Array(items) => {
            format!("List(&[{}])", items.iter().map(|item| part(item, false)).collect::<Vec<_>>().join(", "))
        }
        Value::String(text) => format!("Text({text:?})"),
        Value::Bool(flag) => format!("Bool({flag})"),
        Value::Number(number) => format!("Number({:?})", number.as_f64().unwrap()),
        Value::Null => panic!("nothing in a schema is null"),
    }
}

/// Converts a name such as `WasmEntry` to `WASM_ENTRY`.
#[cfg(feature = "schema")]
fn constant(name: &str) -> String {
    let word = |(at, letter): (usize, char)| {
        if letter.is_uppercase() && at > 0 { vec!['_', letter] } else { vec![letter.to_ascii_uppercase()] }
    };
    name.char_indices().flat_map(word).collect()
}
