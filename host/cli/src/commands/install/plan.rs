//! Plans the changes to files before anything is written.

mod entries;
mod events;
mod import;
mod removal;

use std::path::Path;

use hookbox::config::{Config, Diagnostic};
use serde_json::json;

pub use self::removal::{Removal, remove};
use super::{Target, trust};
use crate::{
    change::{self, Backup, Change},
    clients::{Form, command::HookboxCommand, plugin, settings::Settings, wiring::Wiring},
    exit::Exit,
};

/// The planned changes of an installation.
pub struct Planned {
    pub changes: Vec<Change>,
    /// Messages for the user.
    pub notes: Vec<String>,
    /// The configuration as the client will use it.
    pub config: Config,
    /// The warnings about the configuration.
    pub warnings: Vec<Diagnostic>,
}

/// Plans the installation. `import` also moves the hooks in the client's settings to the configuration.
pub fn install(target: &Target, import: bool) -> anyhow::Result<Planned> {
    let Target { client, file, config, .. } = target;
    if client.form == Form::Plugin {
        return install_plugin(target, import);
    }
    let before = change::read(file)?;
    let mut text = change::read(config)?;
    let (mut changes, mut notes) = (Vec::new(), Vec::new());
    let settings = Settings::read(client, file, before.as_deref())?;
    if let Some(why) = before.as_deref().and_then(|text| client.unread(text)) {
        let why = format!("{} does not read it, so {}: {why}", client.title, client.without_settings());
        return Err(rejected(target, &why));
    }
    if import && let Some(change) = import::plan(target, &settings, text.as_deref(), &mut notes)? {
        text.clone_from(&change.after);
        changes.push(change);
    }
    let wiring = wiring(target, text.as_deref())?;
    let known = events::sent(target, &wiring, &mut notes)?;
    for (event, index, why) in settings.spoiled()? {
        if known.iter().any(|(known, _)| *known == event) {
            let why = format!("/hooks/{event}/{index}: {why}, so {} runs no hook of {event}", client.title);
            return Err(rejected(target, &why));
        }
    }
    let found = settings.found()?;
    // If the file has a hookbox entry, it is not in its original state any more.
    let is_installed = !found.is_empty();
    let is_same = |command: &HookboxCommand| command.runs(client, &target.project, config);
    for other in found.iter().filter(|found| !is_same(&found.command)) {
        let line = other.command.words.join(" ");
        notes.push(format!("{} also runs `{line}`; this entry is not changed", other.event));
    }
    settings.put(&entries::entries(target, &wiring, &known, &settings)?, is_same)?;
    if client.name == "blade" && !known.is_empty() {
        set_blade_switches(&settings, &wiring)?;
    }
    let after = if before.is_none() && settings.found()?.is_empty() { None } else { Some(settings.text()) };
    if client.name == "codex" {
        let was = Settings::read(client, file, before.as_deref())?;
        let (change, moved_notes) = trust::follow(target, &was, &settings, false)?;
        changes.extend(change);
        notes.extend(moved_notes);
    }
    // The backup is the file before it had hookbox entries.
    let backup = if before.is_some() && is_installed { Backup::Keep } else { Backup::Make };
    changes.push(Change { file: file.clone(), before, after, backup });
    Ok(Planned { changes, notes, config: wiring.config, warnings: wiring.warnings })
}

/// Plans the installation of a plugin.
fn install_plugin(target: &Target, import: bool) -> anyhow::Result<Planned> {
    let Target { client, file, config, .. } = target;
    if import {
        return Err(Exit::Usage.error(format!("the hooks of {} cannot be moved: they are code", client.title)));
    }
    let before = change::read(file)?;
    let mut notes = Vec::new();
    let wiring = wiring(target, change::read(config)?.as_deref())?;
    let known = events::sent(target, &wiring, &mut notes)?;
    let after = Some(entries::plugin(target, &known)?);
    let backup = match before.as_deref() {
        Some(text) if plugin::is_plugin(text) => Backup::Keep,
        Some(_) => return Err(not_our_plugin(target)),
        None => Backup::Make,
    };
    let changes = vec![Change { file: file.clone(), before, after, backup }];
    Ok(Planned { changes, notes, config: wiring.config, warnings: wiring.warnings })
}

/// Sets the switches without which Blade runs no hooks, or continues when they fail.
fn set_blade_switches(settings: &Settings, wiring: &Wiring) -> anyhow::Result<()> {
    settings.switch("enabled", &json!(true))?;
    for behavior in ["timeoutBehavior", "failureBehavior"] {
        if wiring.config.fail_closed {
            settings.switch(behavior, &json!("deny"))?;
        }
    }
    Ok(())
}

/// The error for a file in the place of the plugin.
fn not_our_plugin(target: &Target) -> anyhow::Error {
    Exit::Config.error(format!("{}: not hookbox's plugin; it was not changed", target.file.display()))
}

/// Reads the configuration for the client.
fn wiring(target: &Target, text: Option<&str>) -> anyhow::Result<Wiring> {
    let Target { client, config, .. } = target;
    let Some(text) = text else {
        let message =
            format!("there is no {}: write your hooks into it, or name another file with --config", config.display());
        return Err(Exit::Config.error(message));
    };
    let wiring = Wiring::read(client, text, config)?;
    let dialect = wiring.config.dialect.name();
    let fits = match client.form {
        Form::Process => dialect == "picoclaw",
        Form::Plugin => wiring.dialect == "opencode",
        // The SDK calls hookbox from code: clients/blade.
        _ => !named_dialect(config, text).starts_with("blade-callback"),
    };
    if fits {
        return Ok(wiring);
    }
    let message = format!("{}: {} does not call hooks of this dialect", config.display(), client.title);
    Err(Exit::Config.error(format!("{message}; write a file with \"dialect\": \"{}\"", client.dialect)))
}

/// The dialect that the file itself names, with its profile.
fn named_dialect(config: &Path, text: &str) -> String {
    Config::parse(text, config, None).map_or_else(|_| String::new(), |loaded| loaded.config.dialect.name().to_owned())
}

/// The error for settings that the client does not read as hookbox does. A gate in them would never be called.
fn rejected(target: &Target, why: &str) -> anyhow::Error {
    let message = format!("nothing was written: {}: {why}", target.file.display());
    Exit::Config.advised(message, &["correct that part of the file, then install again"])
}
