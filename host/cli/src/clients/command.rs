//! Recognises hookbox's command lines in a client's settings.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::{Client, words};

/// A hookbox command in a client's settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookboxCommand {
    /// All words of the command line.
    pub words: Vec<String>,
    /// The configuration in the command line.
    pub config: Option<String>,
}

impl HookboxCommand {
    /// Parses a handler in a client's settings. `None` if it does not run hookbox.
    pub fn of(handler: &Value) -> Option<Self> {
        let text = |key: &str| handler.get(key).and_then(Value::as_str);
        let mut all: Vec<String> = match handler.get("command") {
            Some(Value::Array(words)) => words.iter().filter_map(|word| Some(word.as_str()?.to_owned())).collect(),
            _ => words::split(text("bash").or(text("command")).or(text("exec"))?),
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
        let option = all.iter().position(|word| word == "--config");
        let config = option.and_then(|option| all.get(option + 1)).cloned();
        let config = config.or_else(|| all.iter().find_map(|word| Some(word.strip_prefix("--config=")?.to_owned())));
        Some(Self { words: all, config })
    }

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

/// Returns true if this is the file name of a hookbox program: `hookbox`, a name with a suffix such as `hookbox-0.2.0`,
/// or the name of this program.
fn is_hookbox(program: &str) -> bool {
    let suffix = program.strip_prefix("hookbox");
    let named = suffix.is_some_and(|suffix| !suffix.starts_with(char::is_alphabetic));
    named || std::env::current_exe().is_ok_and(|own| own.file_name().is_some_and(|name| name == program))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::path::Path;

    use serde_json::json;

    use super::HookboxCommand;
    use crate::clients;

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
            assert!(HookboxCommand::of(&json!({ "command": line })).unwrap().runs(claude, project, config), "{line}");
        }
        assert!(
            !HookboxCommand::of(&json!({ "command": "hookbox run --config /q/hooks.json" }))
                .unwrap()
                .runs(claude, project, config)
        );
        for line in ["hookbox check", "my-hookbox run", "hookboxes run", "echo hookbox run", ""] {
            assert_eq!(HookboxCommand::of(&json!({ "command": line })), None, "{line}");
        }
    }
}
