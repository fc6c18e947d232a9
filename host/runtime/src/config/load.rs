//! Reads a configuration: parse strictly → validate → resolve. Each step reports all its findings.

use std::{
    io::{self, Read},
    path::{Path, PathBuf},
};

use hookbox_protocol::{
    DecodeError, Dialect,
    dialect::{self, ConfigShape, is_same_client},
    json::{self, Object, describe, token},
};
use hookbox_sandbox::{private::open_regular, sha256};
use serde_json::{Number, Value};

use super::{
    Config, ConfigErrors, Diagnostic, Handler, HostSettings, clients,
    diagnostic::{Finding, Severity, nearest, suggestion},
    flat, lines, misplaced,
    resolve::Resolver,
    schema::{DEFAULT_DIALECT, Part},
    validate,
};

/// A configuration and its warnings.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// The configuration.
    pub config: Config,
    /// The warnings. All have the severity [`Severity::Warning`].
    pub warnings: Vec<Diagnostic>,
}

impl Config {
    /// Reads and checks a configuration file, and logs its warnings. Components are read only when their hooks are
    /// loaded.
    ///
    /// # Errors
    /// All errors of the file, at once.
    pub fn from_file(path: impl AsRef<Path>) -> Result<Self, ConfigErrors> {
        let Loaded { config, warnings } = Reader::new().file(path.as_ref())?;
        for warning in warnings {
            tracing::warn!("{warning}");
        }
        Ok(config)
    }

    /// Like [`Config::from_file`], with a dialect that overrides the one in the file.
    ///
    /// # Errors
    /// Same as [`Config::from_file`].
    pub fn load(path: &Path, dialect: Option<&str>) -> Result<Loaded, ConfigErrors> {
        Reader { dialect: dialect.map(str::to_owned), ..Reader::new() }.file(path)
    }

    /// Like [`Config::load`], with the text of a file.
    ///
    /// # Errors
    /// All errors of the text, at once.
    pub fn parse(text: &str, file: &Path, dialect: Option<&str>) -> Result<Loaded, ConfigErrors> {
        Reader { dialect: dialect.map(str::to_owned), ..Reader::new() }.text(text, file)
    }

    /// Like [`Config::parse`], with the embedder's own dialect. It overrides the dialect in the text, and its
    /// [`Dialect::shape`] determines the form of `hooks`. Pass the result to
    /// [`StandaloneBuilder::config`](crate::StandaloneBuilder::config).
    ///
    /// # Errors
    /// Same as [`Config::parse`].
    pub fn parse_for(text: &str, file: &Path, dialect: &'static dyn Dialect) -> Result<Loaded, ConfigErrors> {
        parse(text, file, &Reader::new(), |_, _| Some(dialect))
    }
}

/// Reads configurations, with options.
#[derive(Debug, Clone, Default)]
#[must_use]
pub struct Reader {
    dialect: Option<String>,
    pub(super) handlers: Vec<String>,
    pub(super) fail_closed: bool,
    files: bool,
    pub(super) matcher_bytes: Option<usize>,
}

impl Reader {
    /// Creates a reader with default options.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets a dialect that overrides the one in the file.
    pub fn dialect(mut self, name: impl Into<String>) -> Self {
        self.dialect = Some(name.into());
        self
    }

    /// Adds a type of handlers that files may use. [`Runtime::reader`](crate::Runtime::reader) includes those of its
    /// runtime.
    pub fn handler(mut self, kind: impl Into<String>) -> Self {
        self.handlers.push(kind.into());
        self
    }

    /// Also reports missing component files if the configuration has other errors. Without errors, loading the hooks
    /// reports them.
    pub fn with_files(mut self) -> Self {
        self.files = true;
        self
    }

    /// Sets whether failures block even if the file does not contain `"failClosed": true`.
    pub fn fail_closed(mut self, closed: bool) -> Self {
        self.fail_closed = closed;
        self
    }

    /// Sets the memory for compiled matchers, for files that share a budget of 32 MiB. See [`Config::matcher_bytes`].
    pub fn matcher_bytes(mut self, limit: usize) -> Self {
        self.matcher_bytes = Some(limit);
        self
    }

    /// Reads and checks a file.
    ///
    /// # Errors
    /// All errors of the file, at once.
    pub fn file(&self, path: &Path) -> Result<Loaded, ConfigErrors> {
        let bytes = regular(path).map_err(|error| {
            let finding = Finding::error("", format!("the configuration cannot be read: {error}"));
            located(
                path,
                None,
                vec![match error.kind() {
                    io::ErrorKind::NotFound => finding.help("create the file, or name another one"),
                    _ => finding,
                }],
            )
        })?;
        match String::from_utf8(bytes) {
            Ok(text) => self.text(&text, path),
            Err(error) => {
                let place = DecodeError::Utf8(error.utf8_error().valid_up_to());
                Err(located(path, None, vec![Finding::error("", place.to_string())]))
            }
        }
    }

    /// Reads and checks the text of a file.
    ///
    /// # Errors
    /// All errors of the text, at once.
    pub fn text(&self, text: &str, file: &Path) -> Result<Loaded, ConfigErrors> {
        parse(text, file, self, |object, found| choose_dialect(object, self.dialect.as_deref(), found))
    }
}

fn parse(
    text: &str,
    file: &Path,
    reader: &Reader,
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
    let config = read(object, file, dialect, text, reader, &mut found);
    let is_wrong = found.iter().any(|finding| finding.severity == Severity::Error);
    if is_wrong && reader.files {
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

/// Finds the configuration file of a project: `hooks.json`, or else the settings of Claude Code.
pub fn find(dir: &Path) -> Option<PathBuf> {
    ["hooks.json", ".claude/settings.json"].iter().map(|name| dir.join(name)).find(|path| path.is_file())
}

/// The largest configuration in bytes, which bounds the time and memory of reading it.
const MAX_BYTES: u64 = 16 << 20;

/// The bytes of a regular file, cut just above [`MAX_BYTES`]. Does not block if the path is a pipe.
pub(super) fn beginning(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open_regular(path)?.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The bytes of a regular file. An error if it is too large.
pub(super) fn regular(path: &Path) -> io::Result<Vec<u8>> {
    let bytes = beginning(path)?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(io::Error::other(format!("it is larger than {} MiB", MAX_BYTES >> 20)));
    }
    Ok(bytes)
}

fn choose_dialect(object: &Object, given: Option<&str>, found: &mut Vec<Finding>) -> Option<&'static dyn Dialect> {
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
    reader: &Reader,
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
    found.extend(validate::check(schema, &reader.handlers, &value).into_iter().filter(|finding| !own(finding)));

    let absolute = std::path::absolute(file).unwrap_or_else(|_| file.to_path_buf());
    let base = absolute.parent().map(Path::to_path_buf).unwrap_or_default();
    let mut resolver = Resolver::new(dialect, base, reader);
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

/// Adds the file and line to findings. Errors come first, each group in the order of the file.
fn located(file: &Path, text: Option<&str>, found: Vec<Finding>) -> ConfigErrors {
    let mut diagnostics: Vec<Diagnostic> = found
        .into_iter()
        .map(|Finding { severity, pointer, message, help }| {
            let line = text.filter(|_| !pointer.is_empty()).and_then(|text| lines::line(text, &pointer));
            Diagnostic { severity, file: file.to_path_buf(), pointer, line, message, help }
        })
        .collect();
    diagnostics.sort_by_key(|diagnostic| (diagnostic.severity == Severity::Warning, diagnostic.line));
    ConfigErrors { diagnostics }
}
