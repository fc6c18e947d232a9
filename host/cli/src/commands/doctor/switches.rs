//! Switches and missing trust that prevent a client from running any hook.

use serde_json::Value;

use super::Findings;
use crate::{
    change,
    clients::{Form, Scope, codex, settings::Settings},
};

/// Copilot's files with the user's choices, below its home.
const COPILOT: [&str; 2] = ["config.json", "settings.json"];

impl Findings {
    /// Reports switches that are off. Of several files, the most specific one applies.
    pub fn switches(&mut self) {
        let mut files = Vec::new();
        for scope in [Scope::Local, Scope::Project, Scope::User] {
            let Some(file) = self.client.file(scope, &self.project) else { continue };
            // The client ignores a file that it cannot read, with its switches. Copilot's own files below may have comments.
            let text = self.text(&file).filter(|text| self.client.unread(text).is_none());
            files.extend(text.and_then(|text| self.parsed(&file, &text)).map(|value| (file, value)));
        }
        if self.client.name == "copilot" {
            let home = self.client.home();
            let named = home.iter().flat_map(|home| COPILOT.map(|name| home.join(name)));
            files.extend(
                named.collect::<Vec<_>>().into_iter().filter_map(|file| Some((file.clone(), self.value(&file)?))),
            );
        }
        for (pointer, on, name) in [
            ("/disableAllHooks", false, "`disableAllHooks` is true"),
            ("/hooksConfig/enabled", true, "`hooksConfig.enabled` is false"),
        ] {
            let found = files.iter().find_map(|(file, value)| Some((file, value.pointer(pointer)?.as_bool()?)));
            if let Some((file, found)) = found
                && found != on
            {
                self.problem(format_args!("{}: {name}: no hook runs", file.display()));
            }
        }
        for (file, value) in &files {
            let enabled = value.pointer("/hooks/enabled");
            let off = match self.client.form {
                Form::Process => (enabled == Some(&Value::Bool(false))).then_some("`hooks.enabled` is false"),
                _ if self.client.name == "blade" && value.get("hooks").is_some() => {
                    (enabled != Some(&Value::Bool(true))).then_some("`hooks.enabled` is not true")
                }
                _ => None,
            };
            if let Some(what) = off {
                self.problem(format_args!("{}: {what}: no hook runs", file.display()));
            }
        }
    }

    /// The text of a settings file. A plugin is no settings file.
    fn text(&self, file: &std::path::Path) -> Option<String> {
        if self.client.form == Form::Plugin { None } else { change::read(file).ok()? }
    }

    /// The content of a settings file. Its errors are reported where its entries are read.
    fn parsed(&self, file: &std::path::Path, text: &str) -> Option<Value> {
        Some(Settings::read(self.client, file, Some(text)).ok()?.value())
    }

    fn value(&self, file: &std::path::Path) -> Option<Value> {
        self.parsed(file, &self.text(file)?)
    }

    /// Reports if Copilot does not trust the folder: it silently ignores the hooks of untrusted projects.
    pub fn trusts_folder(&mut self, scope: Scope) {
        let Some(home) = self.client.home().filter(|_| self.client.name == "copilot" && scope == Scope::Project) else {
            return;
        };
        let real = |path: &std::path::Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let root = real(codex::root(&self.project));
        let values = COPILOT.map(|name| self.value(&home.join(name)));
        let trusted = values.iter().flatten().flat_map(|value| {
            ["trustedFolders", "trusted_folders"].into_iter().filter_map(|key| value.get(key)?.as_array()).flatten()
        });
        let mut trusted = trusted.filter_map(Value::as_str).map(|folder| real(std::path::Path::new(folder)));
        if !trusted.any(|folder| root.starts_with(folder)) {
            self.problem(format_args!(
                "Copilot does not trust {}, so hooks of the project do not run: trust it in Copilot's own terminal, or \
                 give copilot -p … --trust-folder each time",
                root.display()
            ));
        }
    }
}
