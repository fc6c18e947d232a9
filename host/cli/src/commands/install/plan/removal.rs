//! Plans the removal of an installation.

use std::path::Path;

use serde_json::{Map, Value, json};

use super::{super::trust, Target, not_our_plugin};
use crate::{
    change::{self, Backup, Change},
    clients::{
        Form,
        command::HookboxCommand,
        plugin,
        settings::{Group, Settings},
    },
};

/// The planned changes of a removal.
#[derive(Default)]
pub struct Removal {
    pub changes: Vec<Change>,
    /// Messages for the user.
    pub notes: Vec<String>,
}
/// Plans the removal. `only`: the entries of this configuration.
pub fn remove(target: &Target, only: Option<&Path>) -> anyhow::Result<Removal> {
    let Target { client, file, .. } = target;
    let mut removal = Removal::default();
    let Some(text) = change::read(file)? else { return Ok(removal) };
    if client.form == Form::Plugin {
        if !plugin::is_plugin(&text) {
            return Err(not_our_plugin(target));
        }
        let change = Change { file: file.clone(), before: Some(text), after: None, backup: Backup::Drop };
        removal.changes.push(change);
        return Ok(removal);
    }
    let settings = Settings::read(client, file, Some(&text))?;
    let is_removed = |command: &HookboxCommand| only.is_none_or(|config| command.runs(client, &target.project, config));
    if !settings.found()?.iter().any(|found| is_removed(&found.command)) {
        return Ok(removal);
    }
    settings.remove(|found| is_removed(&found.command))?;
    let is_last = settings.found()?.is_empty();
    let restored = if is_last { restore(target, &settings, &mut removal)? } else { None };
    let after = restored.or_else(|| (!settings.is_empty()).then(|| settings.text()));
    if client.name == "codex" {
        let (was, now) = (Settings::read(client, file, Some(&text))?, Settings::read(client, file, after.as_deref())?);
        let (change, moved_notes) = trust::follow(target, &was, &now, is_last)?;
        removal.changes.extend(change);
        removal.notes.extend(moved_notes);
    }
    let backup = if is_last { Backup::Drop } else { Backup::Keep };
    removal.changes.push(Change { file: file.clone(), before: Some(text), after, backup });
    Ok(removal)
}

/// Moves back the imported hooks, if there is a backup. Returns the backup if nothing else has changed since, so that
/// the file is restored exactly.
fn restore(target: &Target, settings: &Settings, removal: &mut Removal) -> anyhow::Result<Option<String>> {
    let Some(backup) = change::read(&change::backup(&target.file))? else { return Ok(None) };
    let Ok(original) = Settings::read(target.client, &target.file, Some(&backup)) else { return Ok(None) };
    // A backup with hookbox entries is not the original file.
    if !original.found().is_ok_and(|found| found.is_empty()) {
        return Ok(None);
    }
    let moved = bring_back(target, &original, settings, removal)?;
    if same_but_switches(&original, settings) {
        return Ok(Some(backup));
    }
    settings.adopt(&moved)?;
    Ok(None)
}

/// Moves back the hooks that an installation moved into the configuration: those in the backup that are not in the
/// current settings. Plans their removal from the configuration, and also removes them from `was`, for the comparison
/// with the current settings.
fn bring_back(target: &Target, was: &Settings, now: &Settings, removal: &mut Removal) -> anyhow::Result<Vec<Group>> {
    let Target { client, config, .. } = target;
    let Some(text) = change::read(config)? else { return Ok(Vec::new()) };
    let Ok(configuration) = Settings::read(client, config, Some(&text)) else { return Ok(Vec::new()) };
    let is_moved = |event: &str, group: &Value| {
        configuration.has(event, group).unwrap_or(false) && !now.has(event, group).unwrap_or(true)
    };
    let (moved, _) = was.import(|event, _, group| if is_moved(event, group) { Ok(()) } else { Err(String::new()) })?;
    if moved.is_empty() {
        return Ok(moved);
    }
    configuration.disown(&moved)?;
    removal.notes.extend(
        moved
            .iter()
            .map(|(event, _)| format!("{event}: its hooks move back to {}, from {}", client.title, config.display())),
    );
    let backup = change::read(&change::backup(config))?;
    let bare =
        |text: &str| Settings::read(client, config, Some(text)).ok().map(|settings| without_remains(settings.value()));
    let left = without_remains(configuration.value());
    let after = match backup {
        Some(text) if bare(&text).as_ref() == Some(&left) => Some(text),
        // The file was created for them.
        None if left.as_object().is_some_and(|left| left.keys().all(|key| key == "dialect")) => None,
        _ => Some(configuration.text()),
    };
    removal.changes.push(Change { file: config.clone(), before: Some(text), after, backup: Backup::Drop });
    Ok(moved)
}

/// A configuration without the remains of moved hooks: empty containers, and timeouts without hooks.
fn without_remains(mut value: Value) -> Value {
    if let Some(hooks) = value.get_mut("hooks").and_then(Value::as_object_mut) {
        remove_empty(hooks);
        if hooks.keys().all(|key| key == "defaults") {
            value.as_object_mut().map(|value| value.remove("hooks"));
        }
    }
    value
}

/// Returns true if two settings are equal except for the remains of an installation: empty containers and switches.
fn same_but_switches(one: &Settings, other: &Settings) -> bool {
    let bare = |settings: &Settings| {
        // A file without a value is empty, or has nothing but comments.
        let mut value = Some(settings.value()).filter(|value| !value.is_null()).unwrap_or_else(|| json!({}));
        // An installation adds one of these versions.
        if [Some(&json!(1)), Some(&json!(2))].contains(&value.get("version")) {
            value.as_object_mut().map(|value| value.remove("version"));
        }
        if let Some(hooks) = value.get_mut("hooks").and_then(Value::as_object_mut) {
            for switch in ["enabled", "timeoutBehavior", "failureBehavior"] {
                hooks.remove(switch);
            }
            remove_empty(hooks);
            if hooks.is_empty() {
                value.as_object_mut().map(|value| value.remove("hooks"));
            }
        }
        value
    };
    bare(one) == bare(other)
}

/// Removes events without groups, and `processes` without a process.
fn remove_empty(hooks: &mut Map<String, Value>) {
    hooks.retain(|_, event| !event.as_array().is_some_and(Vec::is_empty));
    if hooks.get("processes").and_then(Value::as_object).is_some_and(Map::is_empty) {
        hooks.remove("processes");
    }
}
