//! Plans the changes to files before anything is written.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use hookbox::config::{Config, ConfigErrors, Diagnostic, Hook};
use hookbox_protocol::{EventKind, FailurePolicy};
use serde_json::{Value, json};

use super::{Place, trust};
use crate::{
    change::{self, Backup, Change},
    clients::{
        Form, Scope,
        entry::{self, HookboxCommand, Wiring},
        plugin,
        settings::{Group, Settings},
    },
    exit::Exit,
};

/// The planned changes of an installation.
pub struct Planned {
    pub changes: Vec<Change>,
    /// Messages for the user.
    pub notes: Vec<String>,
    /// The configuration as the client will use it, and its warnings.
    pub checked: Option<(Config, Vec<Diagnostic>)>,
}

/// The planned changes of a removal.
#[derive(Default)]
pub struct Removal {
    pub changes: Vec<Change>,
    /// Messages for the user.
    pub notes: Vec<String>,
}

/// Plans the installation.
pub fn install(place: &Place, import: bool) -> anyhow::Result<Planned> {
    let Place { client, file, config, .. } = place;
    let before = change::read(file)?;
    let mut text = change::read(config)?;
    let (mut changes, mut notes) = (Vec::new(), Vec::new());
    if client.form == Form::Plugin {
        if import {
            return Err(Exit::Usage.error(format!("the hooks of {} cannot be moved: they are code", client.title)));
        }
        let wiring = wiring(place, text.as_deref())?;
        let known = events(place, &wiring, &mut notes)?;
        let after = plugin(place, &known)?;
        changes.push(change_to(place, before, Some(after), plugin::is_plugin)?);
        return Ok(Planned { changes, notes, checked: Some((wiring.config, wiring.warnings)) });
    }
    let settings = Settings::read(client, file, before.as_deref())?;
    if let Some(why) = before.as_deref().and_then(|text| client.unread(text)) {
        return Err(rejected(
            place,
            &format!("{} does not read it, so {}: {why}", client.title, client.without_settings()),
        ));
    }
    if import {
        let (groups, left) = take(place, &settings, text.as_deref())?;
        notes.extend(left);
        if client.form == Form::Process && !groups.is_empty() {
            let given = groups.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(", ");
            notes.push(format!(
                "{given}: PicoClaw gave them its whole environment; hookbox gives PATH, HOME, TMPDIR, TZ, the language and \
                 what an entry names in `env`: name what else they read in `allowedEnvVars` there"
            ));
            let folderless = groups.iter().filter(|(_, process)| process.get("dir").is_none());
            notes.extend(folderless.map(|(name, _)| {
                format!(
                    "{name} ran in the folder in which PicoClaw was started, and now runs in the folder of {}",
                    config.display()
                )
            }));
        }
        if !groups.is_empty() {
            let after = adopt(place, text.as_deref(), &groups, &settings.value())?;
            let change =
                Change { file: config.clone(), before: text, after: Some(after.clone()), backup: Backup::Make };
            changes.push(change);
            text = Some(after);
        }
    }
    let wiring = wiring(place, text.as_deref())?;
    let known = events(place, &wiring, &mut notes)?;
    for (event, index, why) in settings.spoiled()? {
        if known.iter().any(|(known, _)| *known == event) {
            let why = format!("/hooks/{event}/{index}: {why}, so {} runs no hook of {event}", client.title);
            return Err(rejected(place, &why));
        }
    }
    let same = |ours: &HookboxCommand| ours.runs(client, &place.project, config);
    // If the file has a hookbox entry, it is not in its original state any more.
    let installed = !settings.found()?.is_empty();
    let others = settings.found()?.into_iter().filter(|found| !same(&found.ours));
    notes.extend(
        others.map(|found| {
            format!("{} also runs `{}`; this entry is not changed", found.event, found.ours.words.join(" "))
        }),
    );
    settings.put(&entries(place, &wiring, &known, &settings)?, same)?;
    if client.name == "blade" && !known.is_empty() {
        // Without this switch, Blade runs no hooks.
        settings.switch("enabled", &json!(true))?;
        for behavior in ["timeoutBehavior", "failureBehavior"] {
            if wiring.config.fail_closed {
                settings.switch(behavior, &json!("deny"))?;
            }
        }
    }
    let after = if before.is_none() && settings.found()?.is_empty() { None } else { Some(settings.text()) };
    if client.name == "codex" {
        let was = Settings::read(client, file, before.as_deref())?;
        let (change, moved_notes) = trust::follow(place, &was, &settings, false)?;
        changes.extend(change);
        notes.extend(moved_notes);
    }
    changes.push(change_to(place, before, after, |_| installed)?);
    Ok(Planned { changes, notes, checked: Some((wiring.config, wiring.warnings)) })
}

/// Plans the removal.
pub fn remove(place: &Place, only: Option<&Path>) -> anyhow::Result<Removal> {
    let Place { client, file, .. } = place;
    let mut removal = Removal::default();
    let Some(text) = change::read(file)? else { return Ok(removal) };
    let before = Some(text.clone());
    if client.form == Form::Plugin {
        if !plugin::is_plugin(&text) {
            return Err(Exit::Config.error(format!("{}: not hookbox's plugin; it was not changed", file.display())));
        }
        removal.changes.push(Change { file: file.clone(), before, after: None, backup: Backup::Drop });
        return Ok(removal);
    }
    let settings = Settings::read(client, file, Some(&text))?;
    let goes = |ours: &HookboxCommand| only.is_none_or(|config| ours.runs(client, &place.project, config));
    if !settings.found()?.iter().any(|found| goes(&found.ours)) {
        return Ok(removal);
    }
    settings.remove(|found| goes(&found.ours))?;
    let last = settings.found()?.is_empty();
    // A backup with hookbox entries is not the original file.
    let backup = change::read(&change::backup(file))?;
    let was = |text: &str| {
        let was = Settings::read(client, file, Some(text)).ok()?;
        was.found().is_ok_and(|found| found.is_empty()).then_some(was)
    };
    let mut restored = None;
    if let Some((backup, was)) = backup.as_deref().and_then(|text| Some((text, was(text)?))).filter(|_| last) {
        let moved = bring_back(place, &was, &settings, &mut removal)?;
        if same_but_switches(&was, &settings) {
            // Nothing else has changed since, so the file is restored exactly.
            restored = Some(backup.to_owned());
        } else {
            settings.adopt(&moved)?;
        }
    }
    let after = restored.or_else(|| (!settings.is_empty()).then(|| settings.text()));
    if client.name == "codex" {
        let (was, now) = (Settings::read(client, file, Some(&text))?, Settings::read(client, file, after.as_deref())?);
        let (change, moved_notes) = trust::follow(place, &was, &now, last)?;
        removal.changes.extend(change);
        removal.notes.extend(moved_notes);
    }
    let backup = if last { Backup::Drop } else { Backup::Keep };
    removal.changes.push(Change { file: file.clone(), before, after, backup });
    Ok(removal)
}

/// Moves back the hooks that an installation moved into the configuration: those in the backup that are not in the
/// current settings. Plans their removal from the configuration, and also removes them from `was`, for the comparison
/// with the current settings.
fn bring_back(place: &Place, was: &Settings, now: &Settings, removal: &mut Removal) -> anyhow::Result<Vec<Group>> {
    let Place { client, config, .. } = place;
    let Some(text) = change::read(config)? else { return Ok(Vec::new()) };
    let Ok(ours) = Settings::read(client, config, Some(&text)) else { return Ok(Vec::new()) };
    let is_moved =
        |event: &str, group: &Value| ours.has(event, group).unwrap_or(false) && !now.has(event, group).unwrap_or(true);
    let (moved, _) = was.import(|event, _, group| if is_moved(event, group) { Ok(()) } else { Err(String::new()) })?;
    if moved.is_empty() {
        return Ok(moved);
    }
    ours.disown(&moved)?;
    removal.notes.extend(
        moved
            .iter()
            .map(|(event, _)| format!("{event}: its hooks move back to {}, from {}", client.title, config.display())),
    );
    let backup = change::read(&change::backup(config))?;
    let bare =
        |text: &str| Settings::read(client, config, Some(text)).ok().map(|settings| without_rest(settings.value()));
    let left = without_rest(ours.value());
    let after = match backup {
        Some(text) if bare(&text).as_ref() == Some(&left) => Some(text),
        // The file was created for them.
        None if left.as_object().is_some_and(|left| left.keys().all(|key| key == "dialect")) => None,
        _ => Some(ours.text()),
    };
    removal.changes.push(Change { file: config.clone(), before: Some(text), after, backup: Backup::Drop });
    Ok(moved)
}

/// A configuration without the remains of moved hooks: empty containers, and timeouts without hooks.
fn without_rest(mut value: Value) -> Value {
    if let Some(hooks) = value.get_mut("hooks").and_then(Value::as_object_mut) {
        hooks.retain(|_, event| !event.as_array().is_some_and(Vec::is_empty));
        if hooks.get("processes").and_then(Value::as_object).is_some_and(serde_json::Map::is_empty) {
            hooks.remove("processes");
        }
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

/// The change of the client's settings. The backup is the file before it had hookbox entries.
fn change_to(
    place: &Place,
    before: Option<String>,
    after: Option<String>,
    installed: impl Fn(&str) -> bool,
) -> anyhow::Result<Change> {
    let file = place.file.clone();
    let known = before.as_deref().is_some_and(installed);
    let backup = if known { Backup::Keep } else { Backup::Make };
    if place.client.form == Form::Plugin && before.is_some() && !known {
        return Err(Exit::Config.error(format!("{}: not hookbox's plugin; it was not changed", file.display())));
    }
    Ok(Change { file, before, after, backup })
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
        // The SDK calls hookbox from code: clients/blade.
        _ => !hint_of(config, text).starts_with("blade-callback"),
    };
    if fits {
        return Ok(wiring);
    }
    let message = format!("{}: {} does not call hooks of this dialect", config.display(), client.title);
    Err(Exit::Config.error(format!("{message}; write a file with \"dialect\": \"{}\"", client.dialect)))
}

/// The error for settings that the client does not read as hookbox does. A gate in them would never be called.
fn rejected(place: &Place, why: &str) -> anyhow::Error {
    let message = format!("nothing was written: {}: {why}", place.file.display());
    Exit::Config.advised(message, &["correct that part of the file, then install again"])
}

fn hint_of(config: &Path, text: &str) -> String {
    Config::parse(text, config, None).map_or_else(|_| String::new(), |loaded| loaded.config.dialect.name().to_owned())
}

/// The events that the client is to send, with their timeouts. Adds a note for each event that it will not send.
///
/// # Errors
/// A gate would never be called, because its event is unknown or the client does not have it.
fn events(place: &Place, wiring: &Wiring, notes: &mut Vec<String>) -> anyhow::Result<Vec<(String, Duration)>> {
    let Place { client, config, .. } = place;
    let title = client.title;
    let (known, lacking) = entry::events(client, wiring);
    let closed = |event: &String| {
        let hooks = wiring.config.hooks.iter().filter(|hook| hook.events.contains(event));
        let decided = |hook: &Hook| matches!(hook.on_failure, Some(FailurePolicy::Deny | FailurePolicy::Ask));
        wiring.config.fail_closed || hooks.into_iter().any(decided)
    };
    let refuse = |event: &String, why: String| {
        let message = format!("nothing was written: {}: {why}, so the gate would never be called", config.display());
        let pointer = format!("/hooks/{event}");
        let help =
            wiring.warnings.iter().find(|warning| warning.pointer == pointer).and_then(|found| found.help.clone());
        Exit::Config.advised(message, &[help.as_deref().unwrap_or("use the client's name of the event, or remove it")])
    };
    for event in &wiring.unknown {
        let doubted = wiring.warnings.iter().any(|warning| warning.pointer == format!("/hooks/{event}"));
        // These clients add events every month.
        let grows = ["claude", "codebuddy", "blade"].contains(&client.name);
        if closed(event) && (doubted || !grows) {
            return Err(refuse(event, format!("unknown event {event}")));
        }
        notes.push(format!("unknown event {event}: {title} may not send it"));
    }
    if let Some(event) = lacking.first().filter(|event| known.is_empty() && closed(event)) {
        return Err(refuse(event, format!("{title} has no event {event}")));
    }
    let lacking = lacking.iter().filter(|event| !wiring.unknown.contains(event));
    notes.extend(lacking.map(|event| format!("{title} has no event {event}: its hooks will not run there")));
    if known.is_empty() {
        notes.push(format!("{} has no hooks for events of {title}", config.display()));
    }
    let home = std::env::var_os("HOME").map(PathBuf::from);
    if place.scope == Scope::User && config.starts_with(&place.project) && home.as_ref() != Some(&place.project) {
        notes.push(format!(
            "all your projects will use {}, a file of this project: changing it affects all of them",
            config.display()
        ));
    }
    Ok(known)
}

/// The entries for the client's settings.
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

/// `PicoClaw`'s entry: the requests and notifications that it gets, and the client's timeouts if its settings have any.
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

/// The plugin with the settings of this installation.
fn plugin(place: &Place, known: &[(String, Duration)]) -> anyhow::Result<String> {
    let below = place.config.strip_prefix(&place.project).ok().filter(|_| place.scope == Scope::Project);
    let config = below.unwrap_or(&place.config).to_string_lossy().into_owned();
    let longest = known.iter().map(|(_, time)| *time).max().unwrap_or_default();
    let milliseconds = u64::try_from(longest.as_millis()).unwrap_or(u64::MAX).max(10_000);
    let installed = plugin::Installed { command: entry::program()?, config, timeout: milliseconds };
    installed.plugin().ok_or_else(|| Exit::Software.error("the plugin has no placeholder for its settings"))
}

/// The hooks in a client's settings that can move to the configuration, and messages about the others.
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
    let ours = Settings::read(client, config, Some(text.unwrap_or("{}\n")))?;
    let (times, own) = (defaults(&settings.value()), defaults(&ours.value()));
    settings.import(|event, handler, group| {
        let taken = || ours.value().pointer(&format!("/hooks/processes/{event}")).is_some();
        let hooks = match client.form {
            Form::Process if handler.get("enabled") != Some(&json!(true)) => return Err("it is not enabled".into()),
            Form::Process if taken() => return Err(format!("{} has another hook of that name", config.display())),
            Form::Process if own.is_some() && own != times => {
                return Err(format!("its timeouts in `hooks.defaults` differ from those of {}", config.display()));
            }
            Form::Process => json!({ "processes": { event: handler } }),
            _ => json!({ event: [group] }),
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

/// The text of hookbox's configuration with these groups added.
fn adopt(place: &Place, text: Option<&str>, groups: &[Group], client_has: &Value) -> anyhow::Result<String> {
    let Place { client, config, .. } = place;
    let new = format!("{{\n  \"dialect\": \"{}\"\n}}\n", client.dialect);
    let ours = Settings::read(client, config, Some(text.unwrap_or(&new)))?;
    ours.adopt(groups)?;
    // Otherwise the processes would get the client's default timeouts.
    if let Some(times) = defaults(client_has).filter(|_| client.form == Form::Process) {
        ours.set_defaults(&times)?;
    }
    Ok(ours.text())
}

/// The configured timeouts of `PicoClaw`'s processes.
fn defaults(settings: &Value) -> Option<Value> {
    settings
        .pointer("/hooks/defaults")
        .filter(|given| given.as_object().is_some_and(|given| !given.is_empty()))
        .cloned()
}
