//! Codex runs a hook only if its hash was approved. Only the client can compute the hash: `codex app-server` reports it
//! in its `hooks/list` response. Approvals are recorded in `config.toml`.

use std::{
    io::{BufRead, BufReader, Write},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::mpsc,
    time::Duration,
};

use anyhow::Context;
use serde_json::{Value, json};
use toml_edit::{DocumentMut, Item, Table, TableLike, value};

use super::settings::Position;
use crate::exit::Exit;

/// The comment after a setting that `hookbox install` wrote.
const OF_INSTALL: &str = " # set by hookbox install";

/// The timeout of a request to the client.
const PATIENCE: Duration = Duration::from_secs(30);

/// A hook that Codex lists.
#[derive(Debug)]
pub struct Listed {
    /// The key of its approval in `config.toml`.
    pub key: String,
    /// The current hash.
    pub hash: String,
    /// True if this hash is approved.
    pub trusted: bool,
    /// False if the user disabled the hook.
    pub enabled: bool,
    /// The settings file that contains it.
    pub source: PathBuf,
    /// The command line.
    pub command: String,
}

/// Output of Codex about the hooks of a project.
#[derive(Debug)]
pub struct Answer {
    /// The hooks that it would run, if they are approved.
    pub hooks: Vec<Listed>,
    /// Its warnings, such as a settings file that it cannot parse.
    pub warnings: Vec<String>,
}

/// Lists the hooks that Codex would run in a project.
///
/// # Errors
/// The program cannot be run, or does not respond.
pub fn list(program: &Path, project: &Path) -> anyhow::Result<Answer> {
    let answer = ask(program, project).with_context(|| format!("cannot ask `{} app-server`", program.display()))?;
    let text = |hook: &Value, key: &str| hook.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let all = |key: &str| {
        let folders = answer.get("data").and_then(Value::as_array).into_iter().flatten();
        folders.filter_map(|folder| folder.get(key)?.as_array()).flatten().collect::<Vec<_>>()
    };
    let listed = |hook: &Value| Listed {
        key: text(hook, "key"),
        hash: text(hook, "currentHash"),
        trusted: matches!(text(hook, "trustStatus").as_str(), "trusted" | "managed"),
        enabled: hook.get("enabled") != Some(&Value::Bool(false)),
        source: text(hook, "sourcePath").into(),
        command: text(hook, "command"),
    };
    let messages = [all("warnings"), all("errors")].concat();
    let messages =
        messages.into_iter().map(|messages| messages.as_str().map_or_else(|| messages.to_string(), str::to_owned));
    Ok(Answer { hooks: all("hooks").into_iter().map(listed).collect(), warnings: messages.collect() })
}

fn ask(program: &Path, project: &Path) -> anyhow::Result<Value> {
    let mut child = Command::new(program)
        .arg("app-server")
        .current_dir(project)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let client = json!({ "name": "hookbox", "version": env!("CARGO_PKG_VERSION") });
    let lines = [
        json!({ "id": 1, "method": "initialize", "params": { "clientInfo": client } }),
        json!({ "method": "initialized" }),
        json!({ "id": 2, "method": "hooks/list", "params": { "cwds": [project] } }),
    ];
    let (Some(mut stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
        anyhow::bail!("it has no stdin and stdout");
    };
    let (send, answers) = mpsc::channel();
    // The thread ends with the child, because its stdout closes then.
    std::thread::spawn(move || {
        for line in BufReader::new(stdout).lines().map_while(Result::ok) {
            let Ok(message) = serde_json::from_str::<Value>(&line) else { continue };
            if message.get("id") == Some(&json!(2)) && send.send(message).is_err() {
                break;
            }
        }
    });
    let written = lines.iter().try_for_each(|line| writeln!(stdin, "{line}"));
    let reply = written.map_err(anyhow::Error::from).and_then(|()| Ok(answers.recv_timeout(PATIENCE)?));
    drop(stdin);
    let _ = child.kill();
    let _ = child.wait();
    let reply = reply.context("it did not respond")?;
    match (reply.get("result"), reply.get("error")) {
        (Some(result), _) => Ok(result.clone()),
        (None, error) => anyhow::bail!("it refused: {}", error.unwrap_or(&reply)),
    }
}

/// The folder that Codex trusts: that of the repository, or else the project's.
pub fn root(project: &Path) -> &Path {
    project.ancestors().find(|folder| folder.join(".git").exists()).unwrap_or(project)
}

/// Codex's `config.toml`, open for editing.
pub struct Settings(DocumentMut);

impl Settings {
    /// Parses the text. `None`: the file does not exist yet.
    ///
    /// # Errors
    /// The text is not valid TOML.
    pub fn read(file: &Path, text: Option<&str>) -> anyhow::Result<Self> {
        let wrong = |error| Exit::Config.error(format!("{}: {error}; the file was not changed", file.display()));
        text.unwrap_or_default().parse().map(Self).map_err(wrong)
    }

    /// The current text.
    pub fn text(&self) -> String {
        self.0.to_string()
    }

    /// Returns true if a project is trusted.
    pub fn trusts(&self, root: &Path) -> bool {
        let project = self.0.get("projects").and_then(|projects| projects.get(&*root.to_string_lossy()));
        project.and_then(|project| project.get("trust_level")).and_then(Item::as_str) == Some("trusted")
    }

    /// Marks a project as trusted. A comment marks the setting for [`Settings::distrust`].
    pub fn trust(&mut self, root: &Path) -> anyhow::Result<()> {
        self.set(&["projects", &root.to_string_lossy()], "trust_level", "trusted")?;
        let projects = self.0.get_mut("projects").and_then(|projects| projects.get_mut(&*root.to_string_lossy()));
        let level = projects.and_then(|project| project.get_mut("trust_level")).and_then(Item::as_value_mut);
        if let Some(level) = level {
            level.decor_mut().set_suffix(OF_INSTALL);
        }
        Ok(())
    }

    /// Removes the trust that [`Settings::trust`] wrote. Returns true if there was any.
    pub fn distrust(&mut self, root: &Path) -> bool {
        let root = root.to_string_lossy();
        let Some(projects) = self.0.get_mut("projects").and_then(Item::as_table_like_mut) else { return false };
        let Some(project) = projects.get_mut(&root).and_then(Item::as_table_like_mut) else { return false };
        let suffix =
            project.get("trust_level").and_then(Item::as_value).and_then(|value| value.decor().suffix()?.as_str());
        if suffix.map(str::trim) != Some(OF_INSTALL.trim()) {
            return false;
        }
        project.remove("trust_level");
        if project.is_empty() {
            projects.remove(&root);
        }
        if projects.is_empty() {
            self.0.remove("projects");
        }
        true
    }

    /// Moves the state of hooks from their old keys to their new ones. Returns the number of approvals among them.
    pub fn carry(&mut self, moves: &[(String, String)]) -> usize {
        let Some(state) = self.0.get_mut("hooks").and_then(|hooks| hooks.get_mut("state")) else { return 0 };
        let Some(state) = state.as_table_like_mut() else { return 0 };
        let taken: Vec<_> = moves.iter().filter_map(|(from, to)| Some((to, state.remove(from)?))).collect();
        let mut approvals = 0;
        for (to, item) in taken {
            approvals += usize::from(item.get("trusted_hash").is_some());
            state.insert(to, item);
        }
        approvals
    }

    /// Approves a hook with its current hash.
    pub fn approve(&mut self, hook: &Listed) -> anyhow::Result<()> {
        self.set(&["hooks", "state", &hook.key], "trusted_hash", &hook.hash)
    }

    /// Removes the approvals under these keys.
    pub fn forget(&mut self, keys: &[String]) {
        let Some(hooks) = self.0.get_mut("hooks").and_then(Item::as_table_like_mut) else { return };
        let Some(state) = hooks.get_mut("state").and_then(Item::as_table_like_mut) else { return };
        let mut forgot = false;
        for key in keys {
            forgot |= state.remove(key).is_some();
        }
        if forgot && state.is_empty() {
            hooks.remove("state");
            if hooks.is_empty() {
                self.0.remove("hooks");
            }
        }
    }

    fn set(&mut self, path: &[&str], key: &str, to: &str) -> anyhow::Result<()> {
        let mut table: &mut dyn TableLike = self.0.as_table_mut();
        for (index, name) in path.iter().enumerate() {
            let item = table.entry(name).or_insert_with(|| {
                let mut new = Table::new();
                // Only the last table needs a separate header.
                new.set_implicit(index + 1 < path.len());
                Item::Table(new)
            });
            let no_table =
                || Exit::Config.error(format!("config.toml: `{}` is not a table; it was not changed", path.join(".")));
            table = item.as_table_like_mut().ok_or_else(no_table)?;
        }
        table.insert(key, value(to));
        Ok(())
    }
}

/// Codex's key for the approval of the hook at a place in a file.
pub fn key(file: &Path, event: &str, position: Position) -> String {
    let mut name = String::new();
    for c in event.chars() {
        if c.is_ascii_uppercase() && !name.is_empty() {
            name.push('_');
        }
        name.push(c.to_ascii_lowercase());
    }
    format!("{}:{name}:{}:{}", file.display(), position.group, position.handler)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::path::Path;

    use super::{Listed, Position, Settings, key};

    fn listed(key: &str) -> Listed {
        let (hash, command) = ("sha256:ab".to_owned(), String::new());
        Listed { key: key.into(), hash, trusted: false, enabled: true, source: "/h".into(), command }
    }

    #[test]
    fn an_approval_is_added_and_removed_without_other_changes() {
        let text =
            "# mine\nmodel = \"m\" # of mine\n\n[hooks.state.\"/other:stop:0:0\"]\ntrusted_hash = \"sha256:cd\"\n";
        let key = key(Path::new("/h/hooks.json"), "PreToolUse", Position { group: 1, handler: 0 });
        assert_eq!(key, "/h/hooks.json:pre_tool_use:1:0");
        let mut settings = Settings::read(Path::new("config.toml"), Some(text)).unwrap();
        settings.approve(&listed(&key)).unwrap();
        let with = settings.text();
        assert_eq!(with, format!("{text}\n[hooks.state.\"{key}\"]\ntrusted_hash = \"sha256:ab\"\n"));
        settings.forget(&[key]);
        assert_eq!(settings.text(), text);
    }

    #[test]
    fn a_project_is_trusted() {
        let mut settings = Settings::read(Path::new("config.toml"), None).unwrap();
        assert!(!settings.trusts(Path::new("/p q")));
        settings.trust(Path::new("/p q")).unwrap();
        assert_eq!(settings.text(), "[projects.\"/p q\"]\ntrust_level = \"trusted\" # set by hookbox install\n");
        assert!(settings.trusts(Path::new("/p q")));
        let mut again = Settings::read(Path::new("config.toml"), Some(&settings.text())).unwrap();
        assert!(again.distrust(Path::new("/p q")));
        assert_eq!(again.text(), "");
        // A setting that the user wrote stays.
        let existing = "[projects.\"/p q\"]\ntrust_level = \"trusted\"\n";
        let mut settings = Settings::read(Path::new("config.toml"), Some(existing)).unwrap();
        assert!(!settings.distrust(Path::new("/p q")));
        assert_eq!(settings.text(), existing);
        assert!(Settings::read(Path::new("config.toml"), Some("a = [")).is_err());
    }
}
