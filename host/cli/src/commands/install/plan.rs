//! What files become, before anything is written.

use std::{path::Path, time::Duration};

use hookbox::config::{Config, ConfigErrors};
use hookbox_protocol::EventKind;
use serde_json::{Value, json};

use super::Place;
use crate::{
    change::{self, Backup, Change},
    clients::{
        Form, Scope,
        entry::{self, Ours, Wiring},
        settings::{Group, Settings},
    },
    exit::Exit,
};

/// The plugin, as it stands in `clients/opencode/`.
const PLUGIN: &str = include_str!("hookbox.ts");

/// What an installation would change.
pub struct Planned {
    pub changes: Vec<Change>,
    /// What is worth knowing about it.
    pub notes: Vec<String>,
    /// The configuration as the client will meet it, where it is not yet checked.
    pub checked: Option<Config>,
}

/// What makes the client ask hookbox.
pub fn install(place: &Place, import: bool) -> anyhow::Result<Planned> {
    let Place { client, file, config, .. } = place;
    let before = change::read(file)?;
    let mut text = change::read(config)?;
    let (mut changes, mut notes) = (Vec::new(), Vec::new());
    if client.form == Form::Plugin {
        if import {
            return Err(Exit::Usage.error(format!("{} has no hooks that could be moved: they are code", client.title)));
        }
        let wiring = wiring(place, text.as_deref())?;
        let (known, unknown) = entry::events(client, &wiring);
        tell(place, &known, &unknown, &mut notes);
        let after = plugin(place, &known)?;
        changes
            .push(change_to(place, before, Some(after), |text| text.starts_with("// OpenCode plugin: asks hookbox"))?);
        return Ok(Planned { changes, notes, checked: Some(wiring.config) });
    }
    let settings = Settings::read(client, file, before.as_deref())?;
    if import {
        let (groups, left) = take(place, &settings, text.as_deref())?;
        notes.extend(left);
        if client.form == Form::Process {
            let folderless = groups.iter().filter(|(_, process)| process.get("dir").is_none());
            notes.extend(folderless.map(|(name, _)| {
                format!("{name} ran where PicoClaw was started, and now runs where {} is", config.display())
            }));
        }
        if !groups.is_empty() {
            let after = adopt(place, text.as_deref(), &groups)?;
            let change =
                Change { file: config.clone(), before: text, after: Some(after.clone()), backup: Backup::Make };
            changes.push(change);
            text = Some(after);
        }
    }
    let wiring = wiring(place, text.as_deref())?;
    let (known, unknown) = entry::events(client, &wiring);
    tell(place, &known, &unknown, &mut notes);
    let same = |ours: &Ours| ours.runs(client, &place.project, config);
    let installed = settings.found()?.iter().any(|found| same(&found.ours));
    let others = settings.found()?.into_iter().filter(|found| !same(&found.ours));
    notes.extend(others.map(|found| format!("{} also runs `{}`; it stays", found.event, found.ours.words.join(" "))));
    settings.put(&entries(place, &wiring, &known, &settings)?, same)?;
    if client.name == "blade" && !known.is_empty() {
        // Without the first all hooks there are off.
        settings.switch("enabled", &json!(true))?;
        for behavior in ["timeoutBehavior", "failureBehavior"] {
            if wiring.config.fail_closed {
                settings.switch(behavior, &json!("deny"))?;
            }
        }
    }
    let after = if before.is_none() && settings.found()?.is_empty() { None } else { Some(settings.text()) };
    changes.push(change_to(place, before, after, |_| installed)?);
    let checked = (!wiring.config.hooks.is_empty()).then_some(wiring.config);
    Ok(Planned { changes, notes, checked })
}

/// What takes hookbox out again.
pub fn remove(place: &Place, only: Option<&Path>) -> anyhow::Result<Change> {
    let Place { client, file, .. } = place;
    let before = change::read(file)?;
    let Some(text) = before.clone() else {
        return Ok(Change { file: file.clone(), before, after: None, backup: Backup::Keep });
    };
    let backup = change::read(&change::backup(file))?;
    let after = if client.form == Form::Plugin {
        if !text.starts_with("// OpenCode plugin: asks hookbox") {
            return Err(Exit::Config.error(format!("{}: not hookbox's plugin; it is left as it is", file.display())));
        }
        None
    } else {
        let settings = Settings::read(client, file, Some(&text))?;
        let goes = |ours: &Ours| only.is_none_or(|config| ours.runs(client, &place.project, config));
        if !settings.found()?.iter().any(|found| goes(&found.ours)) {
            return Ok(Change { file: file.clone(), after: before.clone(), before, backup: Backup::Keep });
        }
        settings.remove(|found| goes(&found.ours))?;
        // Where nothing else was changed since, it is again what it was, to the byte.
        let was = backup.as_deref().and_then(|text| Settings::read(client, file, Some(text)).ok());
        match (was, backup) {
            (Some(was), Some(text)) if same_but_switches(&was, &settings) => {
                return Ok(Change { file: file.clone(), before, after: Some(text), backup: Backup::Drop });
            }
            (None, _) if settings.is_empty() => None,
            _ => Some(settings.text()),
        }
    };
    Ok(Change { file: file.clone(), before, after, backup: Backup::Keep })
}

/// Whether two settings say the same, but for what an installation leaves: containers without content, and switches.
fn same_but_switches(one: &Settings, other: &Settings) -> bool {
    let bare = |settings: &Settings| {
        let mut value = settings.value();
        if value.get("version") == Some(&json!(1)) {
            value.as_object_mut().map(|value| value.remove("version"));
        }
        if let Some(hooks) = value.get_mut("hooks").and_then(Value::as_object_mut) {
            for switch in ["enabled", "timeoutBehavior", "failureBehavior"] {
                hooks.remove(switch);
            }
            hooks.retain(|_, event| !event.as_array().is_some_and(Vec::is_empty));
            if hooks.get("processes").and_then(Value::as_object).is_some_and(serde_json::Map::is_empty) {
                hooks.remove("processes");
            }
            if hooks.is_empty() {
                value.as_object_mut().map(|value| value.remove("hooks"));
            }
        }
        value
    };
    bare(one) == bare(other)
}

/// A change of the client's settings. Its backup is the file as it was before hookbox stood in it.
fn change_to(
    place: &Place,
    before: Option<String>,
    after: Option<String>,
    installed: impl Fn(&str) -> bool,
) -> anyhow::Result<Change> {
    let file = place.file.clone();
    let known = before.as_deref().is_some_and(installed);
    let backup = if known && change::backup(&file).exists() { Backup::Keep } else { Backup::Make };
    if place.client.form == Form::Plugin && before.is_some() && !known {
        return Err(Exit::Config.error(format!("{}: not hookbox's plugin; it is left as it is", file.display())));
    }
    Ok(Change {
        file,
        before,
        after,
        backup: if known && place.client.form == Form::Plugin { Backup::Keep } else { backup },
    })
}

fn wiring(place: &Place, text: Option<&str>) -> anyhow::Result<Wiring> {
    let Place { client, config, .. } = place;
    let Some(text) = text else {
        let message =
            format!("there is no {}: write your hooks into it, or name another file with --config", config.display());
        return Err(Exit::Config.error(message));
    };
    let wiring = entry::wire(client, text, config)?;
    let dialect = wiring.config.dialect.name();
    let fits = match client.form {
        Form::Process => dialect == "picoclaw",
        Form::Plugin => wiring.dialect == "opencode",
        // The SDK asks in code: clients/blade.
        _ => !hint_of(config, text).starts_with("blade-callback"),
    };
    if fits {
        return Ok(wiring);
    }
    let message = format!("{}: {} cannot be asked through hooks of this dialect", config.display(), client.title);
    Err(Exit::Config.error(format!("{message}; write a file with \"dialect\": \"{}\"", client.dialect)))
}

fn hint_of(config: &Path, text: &str) -> String {
    Config::parse(text, config, None).map_or_else(|_| String::new(), |loaded| loaded.config.dialect.name().to_owned())
}

fn tell(place: &Place, known: &[(String, Duration)], unknown: &[String], notes: &mut Vec<String>) {
    let title = place.client.title;
    notes.extend(unknown.iter().map(|event| format!("{title} has no event {event}: its hooks will not run there")));
    if known.is_empty() {
        notes.push(format!("{} has no hooks for events of {title}", place.config.display()));
    }
}

/// The entries that the client's settings are to have.
fn entries(
    place: &Place,
    wiring: &Wiring,
    known: &[(String, Duration)],
    settings: &Settings,
) -> anyhow::Result<Vec<(String, Value)>> {
    let Place { client, scope, project, config, .. } = place;
    let words = entry::words(client, wiring, entry::program()?, config.to_string_lossy().into_owned());
    if client.form == Form::Process {
        return Ok(if known.is_empty() {
            Vec::new()
        } else {
            vec![("hookbox".into(), process(wiring, words, settings))]
        });
    }
    let line = entry::line(client, *scope, project, &words);
    let of = |(event, time): &(String, Duration)| {
        (event.clone(), entry::entry(client, wiring, &entry::closed(client, wiring, event, &line), *time))
    };
    Ok(known.iter().map(of).collect())
}

/// `PicoClaw`'s entry: what it is asked about and told of, and how long the client waits, where its settings say.
fn process(wiring: &Wiring, mut words: Vec<String>, settings: &Settings) -> Value {
    let dialect = wiring.config.dialect;
    let short = |name: &str| name.strip_prefix("hook.").unwrap_or(name).to_owned();
    let (mut intercept, mut observe): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
    for hook in &wiring.config.hooks {
        if hook.observe_only {
            observe.extend(hook.matcher_text.iter().flat_map(|kinds| kinds.split('|')).map(str::to_owned));
        } else if hook.events.is_empty() {
            let all = dialect.specs().iter().filter(|spec| spec.kind != EventKind::AgentEvent && spec.blockable);
            intercept.extend(all.map(|spec| short(spec.name)));
        }
        if !hook.observe_only {
            intercept.extend(hook.events.iter().map(|event| short(event)));
        }
    }
    for names in [&mut intercept, &mut observe] {
        names.sort();
        names.dedup();
    }
    let settings = settings.value();
    for (key, option) in [
        ("observer_timeout_ms", "--observer-timeout"),
        ("interceptor_timeout_ms", "--interceptor-timeout"),
        ("approval_timeout_ms", "--approval-timeout"),
    ] {
        let given = settings.pointer(&format!("/hooks/defaults/{key}")).and_then(Value::as_f64);
        if let Some(milliseconds) = given.filter(|milliseconds| *milliseconds > 0.0) {
            words.extend([option.to_owned(), (milliseconds / 1000.0).to_string()]);
        }
    }
    json!({
        "enabled": true, "priority": 100, "transport": "stdio",
        "command": words, "observe": observe, "intercept": intercept,
    })
}

/// The plugin with this installation's settings in it.
fn plugin(place: &Place, known: &[(String, Duration)]) -> anyhow::Result<String> {
    let below = place.config.strip_prefix(&place.project).ok().filter(|_| place.scope == Scope::Project);
    let config = below.unwrap_or(&place.config).to_string_lossy().into_owned();
    let longest = known.iter().map(|(_, time)| *time).max().unwrap_or_default();
    let milliseconds = u64::try_from(longest.as_millis()).unwrap_or(u64::MAX).max(10_000);
    let (command, config) = (json!(entry::program()?), json!(config));
    let settings = format!("const INSTALLED = {{ command: {command}, config: {config}, timeout: {milliseconds} }};");
    let mut lines: Vec<&str> = PLUGIN.lines().collect();
    let Some(line) = lines.iter_mut().find(|line| line.starts_with("const INSTALLED = ")) else {
        return Err(Exit::Software.error("the plugin has no place for its settings"));
    };
    *line = &settings;
    Ok(lines.join("\n") + "\n")
}

/// The hooks of a client's settings that can be ours, and what is told of the others.
fn take(place: &Place, settings: &Settings, text: Option<&str>) -> anyhow::Result<(Vec<Group>, Vec<String>)> {
    let Place { client, config, .. } = place;
    let dialect = match text.map(|text| Config::parse(text, config, None)).transpose()? {
        Some(loaded) => loaded.config.dialect.name(),
        None => client.dialect,
    };
    if dialect.trim_end_matches("@observed") != client.name {
        let message =
            format!("{} is in the form of {dialect}, and the hooks of {} are not", config.display(), client.title);
        return Err(Exit::Config.error(message));
    }
    settings.import(|event, handler| {
        let hooks = match client.form {
            Form::Process if handler.get("enabled") != Some(&json!(true)) => return Err("it is not enabled".into()),
            Form::Process => json!({ "processes": { event: handler } }),
            _ => json!({ event: [{ "hooks": [handler] }] }),
        };
        let alone = json!({ "failClosed": true, "hooks": hooks }).to_string();
        match Config::parse(&alone, config, Some(dialect)) {
            Ok(loaded) => match loaded.warnings.first() {
                None if !loaded.config.hooks.is_empty() => Ok(()),
                first => Err(first.map_or_else(|| "hookbox does not run it".into(), |warning| warning.message.clone())),
            },
            Err(ConfigErrors { diagnostics, .. }) => {
                Err(diagnostics.first().map_or_else(String::new, |found| found.message.clone()))
            }
        }
    })
}

/// Our configuration with these groups behind those that it has.
fn adopt(place: &Place, text: Option<&str>, groups: &[Group]) -> anyhow::Result<String> {
    let Place { client, config, .. } = place;
    let new = format!("{{\n  \"dialect\": \"{}\"\n}}\n", client.dialect);
    let ours = Settings::read(client, config, Some(text.unwrap_or(&new)))?;
    ours.adopt(groups)?;
    Ok(ours.text())
}
