//! Moves the hooks in a client's settings to hookbox's configuration.

use hookbox::config::{Config, ConfigErrors};
use serde_json::{Value, json};

use super::Target;
use crate::{
    change::{Backup, Change},
    clients::{
        Form,
        settings::{Group, Settings},
    },
    exit::Exit,
};

/// Plans the change of the configuration, and removes the imported hooks from the client's settings. `None`: there is
/// nothing to import.
pub(super) fn plan(
    target: &Target,
    settings: &Settings,
    text: Option<&str>,
    notes: &mut Vec<String>,
) -> anyhow::Result<Option<Change>> {
    let Target { client, config, .. } = target;
    let (groups, left) = take(target, settings, text)?;
    notes.extend(left);
    if groups.is_empty() {
        return Ok(None);
    }
    if client.form == Form::Process {
        notes.extend(process_notes(target, &groups));
    }
    let after = adopt(target, text, &groups, &settings.value())?;
    let before = text.map(str::to_owned);
    Ok(Some(Change { file: config.clone(), before, after: Some(after), backup: Backup::Make }))
}

/// The differences between a process of `PicoClaw` and one of hookbox.
fn process_notes(target: &Target, groups: &[Group]) -> Vec<String> {
    let names = groups.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(", ");
    let environment = format!(
        "{names}: PicoClaw gave them its whole environment; hookbox gives PATH, HOME, TMPDIR, TZ, the language and \
         what an entry names in `env`: name what else they read in `allowedEnvVars` there"
    );
    let without_folder = groups.iter().filter(|(_, process)| process.get("dir").is_none()).map(|(name, _)| {
        format!(
            "{name} ran in the folder in which PicoClaw was started, and now runs in the folder of {}",
            target.config.display()
        )
    });
    [environment].into_iter().chain(without_folder).collect()
}

/// The hooks in a client's settings that can move to the configuration, and messages about the others.
fn take(target: &Target, settings: &Settings, text: Option<&str>) -> anyhow::Result<(Vec<Group>, Vec<String>)> {
    let Target { client, config, .. } = target;
    let dialect = match text.map(|text| Config::parse(text, config, None)).transpose()? {
        Some(loaded) => loaded.config.dialect.name(),
        None => client.dialect,
    };
    if dialect.trim_end_matches("@observed") != client.name {
        let message =
            format!("{} is in the form of {dialect}, and the hooks of {} are not", config.display(), client.title);
        return Err(Exit::Config.error(message));
    }
    let configuration = Settings::read(client, config, Some(text.unwrap_or("{}\n")))?;
    let (times, own) = (defaults(&settings.value()), defaults(&configuration.value()));
    settings.import(|event, handler, group| {
        let taken = || configuration.value().pointer(&format!("/hooks/processes/{event}")).is_some();
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
fn adopt(target: &Target, text: Option<&str>, groups: &[Group], client_settings: &Value) -> anyhow::Result<String> {
    let Target { client, config, .. } = target;
    let new = format!("{{\n  \"dialect\": \"{}\"\n}}\n", client.dialect);
    let configuration = Settings::read(client, config, Some(text.unwrap_or(&new)))?;
    configuration.adopt(groups)?;
    // Otherwise the processes would get the client's default timeouts.
    if let Some(times) = defaults(client_settings).filter(|_| client.form == Form::Process) {
        configuration.set_defaults(&times)?;
    }
    Ok(configuration.text())
}

/// The configured timeouts of `PicoClaw`'s processes.
fn defaults(settings: &Value) -> Option<Value> {
    settings
        .pointer("/hooks/defaults")
        .filter(|given| given.as_object().is_some_and(|given| !given.is_empty()))
        .cloned()
}
