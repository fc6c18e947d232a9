//! Turns the text of a configuration into hooks: parse strictly → validate → resolve. Each step reports all its findings.

use std::path::Path;

use hookbox_protocol::{
    DecodeError, Dialect,
    dialect::{self, ConfigShape, is_same_client},
    json::{self, Object, describe, shorten, token},
};
use hookbox_sandbox::sha256;
use serde_json::{Number, Value};

use super::{
    Config, ConfigErrors, Diagnostic, Handler, HostSettings, clients,
    diagnostic::{Finding, Severity, nearest, suggestion},
    flat, lines, misplaced,
    options::ReadOptions,
    resolve::Resolver,
    schema::{DEFAULT_DIALECT, Part},
    validate,
};

/// A configuration and its warnings.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Loaded {
    /// The configuration.
    pub config: Config,
    /// The warnings. All have the severity [`Severity::Warning`].
    pub warnings: Vec<Diagnostic>,
}

pub(super) fn parse(
    text: &str,
    file: &Path,
    options: &ReadOptions,
    choose: impl FnOnce(&Object, &mut Vec<Finding>) -> Option<&'static dyn Dialect>,
) -> Result<Loaded, ConfigErrors> {
    // Editors on Windows start files with a byte order mark.
    let json = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut value = json::parse(json.as_bytes()).map_err(|error| syntax_error(file, &error))?;
    plain_numbers(&mut value);
    let mut found = Vec::new();
    let Value::Object(object) = value else {
        let message = format!("expected an object, found {}", describe(&value));
        return Err(located(file, Some(text), vec![Finding::error("", message)]));
    };
    let Some(dialect) = choose(&object, &mut found) else {
        return Err(located(file, Some(text), found));
    };
    let config = read(object, file, dialect, text, options, &mut found);
    let is_wrong = found.iter().any(|finding| finding.severity == Severity::Error);
    if is_wrong && options.files {
        found.extend(missing(&config));
    }
    let diagnostics = located(file, Some(text), found).diagnostics;
    if is_wrong {
        return Err(ConfigErrors { diagnostics });
    }
    Ok(Loaded { config, warnings: diagnostics })
}

/// Errors about component files that cannot be read, for a complete report on an invalid configuration.
fn missing(config: &Config) -> impl Iterator<Item = Finding> {
    config.hooks.iter().filter_map(|hook| {
        let Handler::Wasm(wasm) = &hook.handler else { return None };
        if wasm.reference.is_some() || wasm.is_bundled() {
            return None;
        }
        let error = wasm.component.metadata().err()?;
        let message = format!("`{}`: cannot read {}: {error}", hook.name, wasm.component.display());
        let help = "build the hook, or correct `component` in the configuration";
        Some(Finding::error(&hook.pointer, message).help(help))
    })
}

/// Converts numbers to a form that serde reads into any type. `serde_json` may keep digits as they were written.
fn plain_numbers(value: &mut Value) {
    match value {
        Value::Number(number) if !number.is_i64() && !number.is_u64() => {
            *number = number.as_f64().and_then(Number::from_f64).unwrap_or_else(|| number.clone());
        }
        Value::Array(items) => items.iter_mut().for_each(plain_numbers),
        Value::Object(members) => members.values_mut().for_each(plain_numbers),
        _ => {}
    }
}

pub(super) fn choose_dialect(
    object: &Object,
    given: Option<&str>,
    found: &mut Vec<Finding>,
) -> Option<&'static dyn Dialect> {
    let written = object.get("dialect").and_then(Value::as_str);
    let name = given.or(written).unwrap_or(DEFAULT_DIALECT);
    let chosen = dialect::by_name(name);
    if chosen.is_none() {
        // Nothing else in the file can be checked without the dialect.
        let known: Vec<&str> = dialect::ALL.iter().map(|dialect| dialect.name()).collect();
        let pointer = if given.is_some() { "" } else { "/dialect" };
        found.push(Finding::error(pointer, format!("unknown dialect `{name}`")).help(suggestion(name, &known)));
    }
    chosen
}

fn read(
    mut object: Object,
    file: &Path,
    dialect: &'static dyn Dialect,
    text: &str,
    options: &ReadOptions,
    found: &mut Vec<Finding>,
) -> Config {
    let shape = dialect.shape();
    let schema = Part::file(shape);
    top_level_keys(schema, &object, found);
    // decisions.md#who-is-calling: "A file's `dialect` says how its hooks are written".
    let written = object.get("dialect").and_then(Value::as_str).and_then(dialect::by_name);
    let written = written.filter(|written| !is_same_client(*written, dialect)).unwrap_or(dialect);
    misplaced::policies(dialect, &object, found);
    // The schema lists the built-in dialects, but the file may also name the embedder's dialect.
    if object.get("dialect").and_then(Value::as_str) == Some(dialect.name()) {
        object.shift_remove("dialect");
    }
    let mut value = Value::Object(object);
    if shape == ConfigShape::Named {
        name_processes(&mut value);
    }
    let moved = if dialect.takes_flat_entries() { flat::grouped(&mut value) } else { flat::Moved::default() };
    // No warnings about keys that only the client uses.
    let own = |finding: &Finding| {
        let key = finding.pointer.rsplit('/').next().unwrap_or_default();
        finding.severity == Severity::Warning && dialect.usage().own_keys.contains(&key)
    };
    found.extend(validate::check(schema, &options.handlers, &value).into_iter().filter(|finding| !own(finding)));

    let absolute = std::path::absolute(file).unwrap_or_else(|_| file.to_path_buf());
    let base = absolute.parent().map(Path::to_path_buf).unwrap_or_default();
    let mut resolver = Resolver::new(dialect, base, options);
    let settings = match shape {
        ConfigShape::Groups => resolver.file(value, Resolver::groups),
        ConfigShape::Flat => resolver.file(value, Resolver::flat),
        ConfigShape::Named => resolver.file(value, Resolver::named),
    }
    .unwrap_or_else(|error| {
        resolver.unread.push(Finding::error("", format!("not understood: {error}")));
        HostSettings::default()
    });
    let wrong = |found: &[Finding]| found.iter().any(|finding| finding.severity == Severity::Error);
    resolver.unasked_gates();
    if !wrong(found) {
        resolver.unheard_events();
        resolver.undecided_gates();
    }
    found.append(&mut resolver.found);
    // The validator reports unreadable parts. If it misses one, this error keeps its hook from being dropped silently.
    if !wrong(found) {
        found.append(&mut resolver.unread);
    }
    // Pointers in messages refer to the file as written.
    let pointers = found.iter_mut().map(|finding| &mut finding.pointer);
    for pointer in pointers.chain(resolver.hooks.iter_mut().map(|hook| &mut hook.pointer)) {
        moved.back(pointer);
    }
    let references = resolver.hooks.iter().filter_map(|hook| match &hook.handler {
        Handler::Wasm(wasm) => wasm.reference.clone(),
        _ => None,
    });
    let references = references.collect();
    Config {
        file: file.to_path_buf(),
        references,
        dialect,
        written,
        fail_closed: resolver.fail_closed,
        enabled: resolver.enabled,
        max_concurrent: resolver.max_concurrent,
        matcher_bytes: resolver.patterns.used(),
        hooks: resolver.hooks,
        digest: sha256(text),
        settings,
    }
}

/// decisions.md#picoclaw: "A `command` that is an array, as in its own configuration, means `"type": "process"`, and so does
/// an entry of its `processes`."
fn name_processes(value: &mut Value) {
    let Some(hooks) = value.get_mut("hooks").and_then(Value::as_object_mut) else { return };
    for (name, entry) in hooks.iter_mut() {
        if name == "processes" {
            entry
                .as_object_mut()
                .into_iter()
                .flat_map(Object::values_mut)
                .for_each(|entry| name_process(entry, |_| true));
        } else {
            name_process(entry, |entry| entry.get("command").is_some_and(Value::is_array));
        }
    }
}

fn name_process(entry: &mut Value, is: impl Fn(&Object) -> bool) {
    if let Some(entry) = entry.as_object_mut().filter(|entry| !entry.contains_key("type"))
        && is(entry)
    {
        entry.insert("type".into(), "process".into());
    }
}

/// Checks the keys at the top of the file, which hookbox shares with the client. An unknown key that resembles one of
/// hookbox's is an error. Others are warnings, because clients add settings every month.
fn top_level_keys(schema: &Part, object: &Object, found: &mut Vec<Finding>) {
    let ours = || schema.get("properties").map(Part::members).unwrap_or_default().iter().map(|(name, _)| *name);
    let known = |key: &str| ours().any(|name| name == key) || clients::SETTINGS.contains(&key);
    for key in object.keys().filter(|key| !known(key) && !misplaced::is_policy(key)) {
        let pointer = format!("/{}", token(key));
        found.push(match nearest(key, ours()) {
            Some(near) => {
                Finding::error(pointer, format!("unknown key `{key}`")).help(format!("did you mean `{near}`?"))
            }
            None => Finding::warning(pointer, format!("`{key}` is not a setting of hookbox")),
        });
    }
}

fn syntax_error(file: &Path, error: &DecodeError) -> ConfigErrors {
    let mut errors = located(file, None, vec![Finding::error("", error.to_string())]);
    // serde_json's messages end with "at line L column C".
    let line = match error {
        DecodeError::Syntax(message) => message
            .rsplit_once(" at line ")
            .and_then(|(_, place)| place.split(' ').next())
            .and_then(|line| line.parse().ok()),
        _ => None,
    };
    for diagnostic in &mut errors.diagnostics {
        diagnostic.line = line;
    }
    errors
}

/// The maximum number of diagnostics of one file. Each takes a search through the file's text.
const MOST: usize = 100;

/// The maximum length of a message, a pointer or a help text, in characters. They quote words of the file.
const MOST_TEXT: usize = 2000;

/// Adds the file and line to findings. Errors come first, each group in the order of the file. Omits those beyond
/// [`MOST`], and reports their number.
pub(super) fn located(file: &Path, text: Option<&str>, mut found: Vec<Finding>) -> ConfigErrors {
    found.sort_by_key(|finding| finding.severity == Severity::Warning);
    let omitted = found.split_off(found.len().min(MOST));
    let mut diagnostics: Vec<Diagnostic> = found
        .into_iter()
        .map(|Finding { severity, pointer, message, help }| {
            let line = text.filter(|_| !pointer.is_empty()).and_then(|text| lines::line(text, &pointer));
            let (message, help) = (shorten(&message, MOST_TEXT), help.map(|help| shorten(&help, MOST_TEXT)));
            Diagnostic {
                severity,
                file: file.to_path_buf(),
                pointer: shorten(&pointer, MOST_TEXT),
                line,
                message,
                help,
            }
        })
        .collect();
    diagnostics.sort_by_key(|diagnostic| (diagnostic.severity == Severity::Warning, diagnostic.line));
    if let Some(first) = omitted.first() {
        let message = format!("{} more errors and warnings are not shown", omitted.len());
        let (severity, file) = (first.severity, file.to_path_buf());
        diagnostics.push(Diagnostic { severity, file, pointer: String::new(), line: None, message, help: None });
    }
    ConfigErrors { diagnostics }
}
