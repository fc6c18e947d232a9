//! The entry for hookbox in a client's settings: builds its command line, and recognises one.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use hookbox::{
    Dialect, EventKind,
    config::{Config, Diagnostic, Hook, Loaded},
    dialect::{self, Flow},
};
use serde_json::{Value, json};

use super::{Client, Form, Scope, on_path};

/// Time in addition to that of the hooks: to start, to read the configuration, and to compile uncached components.
const OWN_TIME: Duration = Duration::from_secs(10);

/// A configuration as one client uses it, and the dialect option for `run`.
#[derive(Debug, Clone)]
pub struct Wiring {
    /// The value of `--dialect`: the client's own, or `auto` if the file has another one's form.
    pub dialect: String,
    /// True if the file names that dialect itself.
    pub of_file: bool,
    /// The configuration under the client's dialect.
    pub config: Config,
    /// The warnings about the file.
    pub warnings: Vec<Diagnostic>,
    /// Events in the file that are unknown in its own dialect.
    pub unknown: Vec<String>,
}

/// Reads a configuration for a client.
///
/// A file in the client's own dialect is read unchanged. A file in another dialect of the same form is read in the
/// client's dialect. Any other file is read in its own dialect, and each event is called by the name that it has there.
pub fn wire(client: &Client, text: &str, file: &Path) -> Result<Wiring, hookbox::config::ConfigErrors> {
    let Loaded { config: named, warnings, .. } = Config::parse(text, file, None)?;
    let unknown = unknown(&named);
    let own = dialect::by_name(client.dialect).unwrap_or(named.dialect);
    let base = |dialect: &dyn Dialect| dialect.name().trim_end_matches("@observed").to_owned();
    if base(named.dialect) == base(own) {
        // The documentation of Blade describes no program, so the observed profile applies.
        let dialect = if own.name().contains('@') { own } else { named.dialect };
        let config = Config::parse(text, file, Some(dialect.name()))?.config;
        let of_file = dialect.name() == named.dialect.name();
        return Ok(Wiring { dialect: dialect.name().to_owned(), of_file, config, warnings, unknown });
    }
    let alike = named.dialect.shape() == own.shape() && named.dialect.timeout_unit() == own.timeout_unit();
    let known = |hook: &Hook| hook.events.iter().all(|event| own.spec_by_name(event).is_some());
    if alike && named.hooks.iter().all(known) {
        let config = Config::parse(text, file, Some(own.name()))?.config;
        return Ok(Wiring { dialect: own.name().to_owned(), of_file: false, config, warnings, unknown });
    }
    Ok(Wiring { dialect: "auto".to_owned(), of_file: false, config: named.answering(own), warnings, unknown })
}

/// The events of a configuration that its dialect does not know, without those of hooks for any event.
fn unknown(config: &Config) -> Vec<String> {
    let events = config.hooks.iter().flat_map(|hook| &hook.events);
    let mut unknown: Vec<String> = Vec::new();
    for event in events.filter(|event| *event != "canUseTool" && config.dialect.spec_by_name(event).is_none()) {
        if !unknown.contains(event) {
            unknown.push(event.clone());
        }
    }
    unknown
}

/// The events that a configuration has hooks for, by their names in the client's settings, each with the timeout of its
/// entry. The second list has the events that the client does not support.
pub fn events(client: &Client, wiring: &Wiring) -> (Vec<(String, Duration)>, Vec<String>) {
    let (mut known, mut unknown): (Vec<(String, Duration)>, Vec<String>) = (Vec::new(), Vec::new());
    let dialect = wiring.config.dialect;
    let own_file = wiring.dialect != "auto";
    for event in wiring.config.hooks.iter().flat_map(|hook| &hook.events) {
        let name = match dialect.spec_by_name(event) {
            Some(_) if client.form == Form::Flat => pascal(event),
            // In Copilot and Blade this is set in code, not in settings.
            Some(spec) if spec.name == "canUseTool" => continue,
            Some(spec) => spec.name.to_owned(),
            // Clients add events every month. An unknown event is kept, but only if the file is for this client.
            None if own_file && event != "canUseTool" => event.clone(),
            None => {
                if !unknown.contains(event) {
                    unknown.push(event.clone());
                }
                continue;
            }
        };
        if !known.iter().any(|(other, _)| *other == name) {
            known.push((name, time(&wiring.config, event)));
        }
    }
    (known, unknown)
}

/// Copilot's name of an event, in the spelling that gives its payload Claude's fields.
pub fn pascal(event: &str) -> String {
    match event {
        "userPromptSubmitted" => "UserPromptSubmit".into(),
        "agentStop" => "Stop".into(),
        _ => {
            let mut letters = event.chars();
            letters.next().map_or_else(String::new, |first| first.to_ascii_uppercase().to_string() + letters.as_str())
        }
    }
}

/// The timeout of an event's entry: the time of its hooks and hookbox's own.
pub fn time(config: &Config, event: &str) -> Duration {
    let name = config.dialect.spec_by_name(event).map_or(event, |spec| spec.name);
    let same =
        |other: &String| other == event || config.dialect.spec_by_name(other).is_some_and(|spec| spec.name == name);
    let hooks: Vec<&Hook> = config.hooks.iter().filter(|hook| hook.events.iter().any(same)).collect();
    let sum = hooks.iter().map(|hook| hook.timeout).sum::<Duration>();
    let longest = hooks.iter().map(|hook| hook.timeout).max().unwrap_or_default();
    let all = match config.dialect.flow() {
        Flow::Concurrent(_) if hooks.iter().any(|hook| hook.sequential) => sum,
        Flow::Concurrent(at_once) => {
            let rounds = hooks.len().div_ceil(config.max_concurrent.unwrap_or(at_once).max(1));
            longest.saturating_mul(u32::try_from(rounds).unwrap_or(u32::MAX)).min(sum)
        }
        Flow::Sequential | Flow::Chained => sum,
    };
    all + OWN_TIME
}

/// The name of hookbox in an entry: `hookbox` if the `PATH` contains this program, else its path.
pub fn program() -> anyhow::Result<String> {
    let own = std::env::current_exe()?;
    let same = |found: PathBuf| found.canonicalize().ok() == own.canonicalize().ok();
    Ok(if on_path("hookbox").is_some_and(same) { "hookbox".to_owned() } else { own.to_string_lossy().into_owned() })
}

/// The words of the command line in an entry.
pub fn words(client: &Client, wiring: &Wiring, program: String, config: String) -> Vec<String> {
    let mut words = vec![program];
    if client.form == Form::Process {
        words.push("stdio".into());
    } else {
        // Copilot also reads the settings of Claude Code, so `auto` recognises the caller by its event.
        let shared = client.dialect == "claude" && wiring.of_file;
        let dialect = if shared { "auto".to_owned() } else { wiring.dialect.clone() };
        words.extend(["run".into(), "--dialect".into(), dialect]);
    }
    if wiring.config.fail_closed {
        // This also applies if the file is missing.
        words.push("--fail-closed".into());
    }
    words.extend(["--config".into(), config]);
    words
}

/// The command line for `sh -c`. The configuration is relative to the project's folder if the client sets its variable.
pub fn line(client: &Client, scope: Scope, project: &Path, words: &[String]) -> String {
    let (config, before) = words.split_last().map_or(("", &[][..]), |(last, before)| (last.as_str(), before));
    let below = Path::new(config).strip_prefix(project).ok();
    let config = match (scope, client.project_variable, below) {
        (Scope::Project, Some(variable), Some(below)) => {
            in_double_quotes(&reference(client, variable), &below.to_string_lossy())
        }
        _ => quoted(config),
    };
    before.iter().map(|word| quoted(word)).chain([config]).collect::<Vec<_>>().join(" ")
}

/// The end of a gate's command line that fails closed.
const CLOSED: &str = " || { [ $? = 2 ] || echo 'hookbox ended without a verdict' >&2; exit 2; }";

/// Returns true if hooks can prevent this event.
pub fn is_gate(wiring: &Wiring, event: &str) -> bool {
    let kind = wiring.config.dialect.spec_by_name(event).map(|spec| spec.kind);
    matches!(kind, Some(EventKind::PreToolUse | EventKind::PermissionRequest | EventKind::UserPromptSubmit))
}

/// Returns true if the client blocks when the entry's program is missing or ends without a verdict.
pub fn blocks_without_us(client: &Client, handler: &Value) -> bool {
    let line = ["command", "bash"].into_iter().find_map(|key| handler.get(key)?.as_str()).unwrap_or_default();
    let wrapped = line.split_once("||").is_some_and(|(_, rest)| rest.contains("exit 2"));
    // The shell's exit code 127 blocks there, and Copilot denies on every code except 0.
    wrapped
        || matches!(client.form, Form::Plugin | Form::Flat)
        || client.name == "gemini"
        || handler.get("onFailure") == Some(&json!("block"))
}

/// The command line of a gate that fails closed. It blocks even if hookbox is missing or is killed before it can
/// respond. Only for gates: blocking an agent from stopping would protect nothing.
pub fn closed(client: &Client, wiring: &Wiring, event: &str, line: &str) -> String {
    if is_gate(wiring, event) && wiring.config.fail_closed && client.form == Form::Groups {
        format!("{line}{CLOSED}")
    } else {
        line.to_owned()
    }
}

/// The reference to a variable. Gemini replaces `$NAME` by a quoted path, which is wrong within quotes, and leaves
/// `${NAME}` to the shell.
fn reference(client: &Client, variable: &str) -> String {
    if client.name == "gemini" { format!("${{{variable}}}") } else { format!("${variable}") }
}

/// A command line as the client gives it to the shell.
pub fn expanded(client: &Client, project: &Path, line: &str) -> String {
    match client.project_variable {
        Some(variable) if client.name == "gemini" => {
            line.replace(&format!("${variable}"), &quoted(&project.to_string_lossy()))
        }
        _ => line.to_owned(),
    }
}

/// Returns true if the client changes the command line so that it names another configuration than it says.
pub fn is_misquoted(client: &Client, project: &Path, handler: &Value) -> bool {
    let Some(line) = handler.get("command").and_then(Value::as_str) else { return false };
    let expanded = expanded(client, project, line);
    let file = |line: &str| Some(ours(&json!({ "command": line }))?.file(client, project));
    expanded != line && file(&expanded) != file(line)
}

fn in_double_quotes(reference: &str, below: &str) -> String {
    let mut text = format!("\"{reference}/");
    for c in below.chars() {
        if "$`\"\\".contains(c) {
            text.push('\\');
        }
        text.push(c);
    }
    text + "\""
}

/// Quotes a word for a shell.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "/._-+=:@,%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// The entry of one event, in the client's form.
pub fn entry(client: &Client, wiring: &Wiring, line: &str, time: Duration) -> Value {
    // `hookbox run` assumes the client's default timeout. With a shorter one, the client would continue before the
    // verdict.
    #[expect(clippy::cast_precision_loss, reason = "a few minutes")]
    let seconds = time.as_secs_f64().ceil().max(client.patience as f64);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "timeouts are a few weeks at most")]
    let timeout = if client.milliseconds { (seconds * 1000.0) as u64 } else { seconds as u64 };
    if client.form == Form::Flat {
        return json!({ "type": "command", "bash": line, "timeoutSec": timeout });
    }
    let mut handler = json!({ "type": "command", "command": line, "timeout": timeout });
    if let Some(handler) = handler.as_object_mut() {
        if client.name == "gemini" {
            handler.insert("name".into(), "hookbox".into());
        }
        // Since 2.1.295, a hook with this option blocks if it cannot start or times out. Older versions ignore the
        // option.
        if client.name == "claude" && wiring.config.fail_closed {
            handler.insert("onFailure".into(), "block".into());
        }
    }
    json!({ "hooks": [handler] })
}

/// A hookbox command in a client's settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookboxCommand {
    /// All words of the command line.
    pub words: Vec<String>,
    /// The configuration in the command line.
    pub config: Option<String>,
}

impl HookboxCommand {
    /// The configuration that it runs in a project. Without a `--config`, that is the project's `hooks.json`.
    pub fn file(&self, client: &Client, project: &Path) -> PathBuf {
        project.join(self.below(client))
    }

    /// The configuration, relative to the project where the command line says so.
    pub fn below(&self, client: &Client) -> &str {
        let named = self.config.as_deref().unwrap_or("hooks.json");
        let variable = client.project_variable.unwrap_or_default();
        let below = [format!("${variable}/"), format!("${{{variable}}}/")];
        below.iter().find_map(|start| named.strip_prefix(start.as_str())).unwrap_or(named)
    }

    /// Returns true if it runs this configuration. Without a `--config`, it runs the project's.
    pub fn runs(&self, client: &Client, project: &Path, config: &Path) -> bool {
        if self.config.is_none() {
            return config.parent() == Some(project);
        }
        let (one, other) = (self.file(client, project), config);
        one == other || one.canonicalize().ok().is_some_and(|one| other.canonicalize().ok() == Some(one))
    }
}

/// Parses a handler in a client's settings. `None` if it does not run hookbox.
pub fn ours(handler: &Value) -> Option<HookboxCommand> {
    let text = |key: &str| handler.get(key).and_then(Value::as_str);
    let mut all: Vec<String> = match handler.get("command") {
        Some(Value::Array(words)) => words.iter().filter_map(|word| Some(word.as_str()?.to_owned())).collect(),
        _ => split(text("bash").or(text("command")).or(text("exec"))?),
    };
    // The command line may start with variable assignments.
    let is_variable = |word: &String| word.split_once('=').is_some_and(|(name, _)| !name.contains('/'));
    all.drain(..all.iter().take_while(|word| is_variable(word)).count());
    let args = handler.get("args").and_then(Value::as_array).into_iter().flatten();
    all.extend(args.filter_map(|word| Some(word.as_str()?.to_owned())));
    let program = Path::new(all.first()?).file_name()?.to_str()?;
    let serves = matches!(all.get(1)?.as_str(), "run" | "stdio");
    if !is_hookbox(program) || !serves {
        return None;
    }
    let place = all.iter().position(|word| word == "--config");
    let config = place.and_then(|place| all.get(place + 1)).cloned();
    let config = config.or_else(|| all.iter().find_map(|word| Some(word.strip_prefix("--config=")?.to_owned())));
    Some(HookboxCommand { words: all, config })
}

/// Returns true if this is the file name of a hookbox program: `hookbox`, a name with a suffix such as `hookbox-0.2.0`,
/// or the name of this program.
fn is_hookbox(program: &str) -> bool {
    let suffix = program.strip_prefix("hookbox");
    let named = suffix.is_some_and(|suffix| !suffix.starts_with(char::is_alphabetic));
    named || std::env::current_exe().is_ok_and(|own| own.file_name().is_some_and(|name| name == program))
}

/// Splits a command line into words. Supports quotes and backslashes, but no other shell syntax.
pub fn split(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    let mut letters = line.chars();
    while let Some(c) = letters.next() {
        match (quote, c) {
            (Some(end), c) if c == end => quote = None,
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None | Some('"'), '\\') => word.get_or_insert_default().extend(letters.next()),
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::path::Path;

    use serde_json::json;

    use super::{ours, quoted, split};
    use crate::clients;

    #[test]
    fn quoted_text_is_one_word() {
        for word in ["a b", "it's", "$HOME", "", "/plain/path", "a\"b\\c", "多"] {
            assert_eq!(split(&quoted(word)), [word]);
        }
        assert_eq!(split(r#"hookbox run --config "$X/a b" c\ d"#), ["hookbox", "run", "--config", "$X/a b", "c d"]);
    }

    #[test]
    fn an_installed_entry_is_recognised() {
        let claude = clients::by_name("claude").unwrap();
        let (project, config) = (Path::new("/p"), Path::new("/p/hooks.json"));
        for line in [
            "hookbox run --config \"$CLAUDE_PROJECT_DIR/hooks.json\"",
            "/opt/bin/hookbox run --config=/p/hooks.json --fail-closed",
            "hookbox run",
            "hookbox run --config hooks.json",
            "/opt/hookbox-0.2.0 run --config /p/hooks.json",
        ] {
            assert!(ours(&json!({ "command": line })).unwrap().runs(claude, project, config), "{line}");
        }
        assert!(
            !ours(&json!({ "command": "hookbox run --config /q/hooks.json" })).unwrap().runs(claude, project, config)
        );
        for line in ["hookbox check", "my-hookbox run", "hookboxes run", "echo hookbox run", ""] {
            assert_eq!(ours(&json!({ "command": line })), None, "{line}");
        }
    }
}
