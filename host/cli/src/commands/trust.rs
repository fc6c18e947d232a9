//! `hookbox trust`: shows what a found configuration may do, and records the user's trust.

use std::{collections::BTreeMap, path::PathBuf};

use clap::Args;
use hookbox::{
    Permissions,
    artifact::{self, Approvals, Locked},
    config::{Config, Handler, Hook, Wasm},
    sandbox::{
        component,
        permission::{HttpGrant, LlmGrant, StateGrant},
    },
    sha256,
};
use hookbox_protocol::authority::{Authority, Rewrite};
use serde_json::{Value, json};

use super::run::Source;
use crate::{
    exit::Exit,
    locks::Locks,
    print, report,
    trust::{Store, Trusted, place},
};

/// Trust a configuration in its folder, in its current state.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  hookbox trust hooks.json")]
#[expect(clippy::struct_excessive_bools, reason = "one per switch on the command line")]
pub struct Trust {
    /// The configuration; `hooks.json` here, or the client's own settings, when left out
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    /// The hook protocol, when the configuration does not say (default: claude)
    #[arg(long, value_name = "NAME")]
    dialect: Option<String>,
    /// Only show what it may do
    #[arg(long)]
    dry_run: bool,
    /// Trust it no more
    #[arg(long, conflicts_with = "dry_run")]
    revoke: bool,
    /// List all that is trusted
    #[arg(long, conflicts_with_all = ["file", "dialect", "dry_run", "revoke"])]
    list: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Trust {
    pub fn run(self) -> anyhow::Result<Exit> {
        if self.json {
            print::json_only();
        }
        if self.list {
            return list();
        }
        let source = Source { config: self.file, dialect: self.dialect, event: None, untrusted: false };
        let file = source.path()?;
        let place = place(&file);
        if self.revoke {
            let revoked = Store::open()?.remove(&place)?;
            let word = if revoked { "no longer trusted" } else { "was not trusted" };
            print::out(format_args!("{}: {word}", place.display()));
            print::result(&json!({ "file": place.to_string_lossy(), "trusted": false, "revoked": revoked }));
            return Ok(Exit::Ok);
        }
        // Read only once, so that exactly the shown configuration becomes trusted.
        let loaded = Config::load(&place, source.dialect.as_deref())?;
        report::problems(&loaded.warnings);
        let config = loaded.config;
        let components = components(&config)?;
        show(&config, &components);
        let described = described(&config, &components, !self.dry_run);
        if self.dry_run {
            print::result(&described);
            return Ok(Exit::Ok);
        }
        let dialect = config.dialect.name().to_owned();
        // Trusting a checkout includes its lock, which contains the digests that were shown.
        if !config.references.is_empty() {
            let mut locks = Locks::open(Some(place.clone()), Some(&dialect))?;
            for reference in config.references.iter().map(ToString::to_string) {
                // Only what was shown: the lock may have changed since.
                let shown = |locked: &&Locked| components.values().any(|digest| digest == locked.hex());
                if let Some(locked) = locks.lock.components.get(&reference).filter(shown).cloned() {
                    let attested = locks.approval.approved(&reference, &locked).is_some_and(|known| known.attested);
                    locks.approve(&reference, Locked { attested, ..locked });
                }
            }
            locks.settle()?;
        }
        Store::open()?.put(&Trusted { file: place, dialect, digest: config.digest, components })?;
        print::out(format_args!("trusted; to undo this   hookbox trust --revoke {}", file.display()));
        print::result(&described);
        Ok(Exit::Ok)
    }
}

/// The state of a configuration that is as it was when it became trusted.
const TRUSTED: &str = "trusted";

fn list() -> anyhow::Result<Exit> {
    let mut listed = Vec::new();
    for trusted in Store::open()?.all()? {
        let now = Config::load(&trusted.file, Some(&trusted.dialect)).map(|loaded| loaded.config);
        let word = match now {
            Err(_) => "cannot be read now",
            Ok(now) if now.digest != trusted.digest => "has changed since, so not trusted",
            Ok(now) if components(&now).ok().as_ref() != Some(&trusted.components) => {
                "changed components are not trusted"
            }
            Ok(_) => TRUSTED,
        };
        print::out(format_args!("{}   {word}", trusted.file.display()));
        let file = trusted.file.to_string_lossy();
        listed.push(json!({ "file": file, "trusted": word == TRUSTED, "state": word }));
    }
    print::result(&json!({ "configurations": listed }));
    Ok(Exit::Ok)
}

/// In place of the digest of a bundled component, which is trusted like the program.
const BUNDLED: &str = "bundled";

/// The digest of each hook's component.
fn components(config: &Config) -> anyhow::Result<BTreeMap<String, String>> {
    let mut digests = BTreeMap::new();
    for hook in &config.hooks {
        if let Handler::Wasm(wasm) = &hook.handler {
            if wasm.is_bundled() {
                digests.insert(hook.pointer.clone(), BUNDLED.to_owned());
                continue;
            }
            let missing = |why: String| {
                Exit::Config.error(format!("`{}`: {why}; a missing component cannot be trusted", hook.name))
            };
            let bytes = match &wasm.reference {
                None => component::read(&wasm.component).map_err(|error| missing(error.to_string()))?,
                Some(reference) => {
                    let found = artifact::component(config, reference, Approvals::Vouched);
                    found.map_err(|error| missing(format!("{error}: {}", error.help())))?.1
                }
            };
            digests.insert(hook.pointer.clone(), sha256(&bytes));
        }
    }
    Ok(digests)
}

fn show(config: &Config, components: &BTreeMap<String, String>) {
    let short = |digest: &str| digest.get(..12).unwrap_or(digest).to_owned();
    print::out(format_args!(
        "{}   {}   sha256:{}…",
        config.file.display(),
        config.dialect.name(),
        short(&config.digest)
    ));
    let mut commands = false;
    for hook in &config.hooks {
        let digest = components.get(&hook.pointer).filter(|digest| *digest != BUNDLED);
        let digest = digest.map(|digest| format!("   sha256:{}…", short(digest)));
        print::out(format_args!("  {}   {}{}", events(hook), what(&hook.handler), digest.unwrap_or_default()));
        for line in may(config, hook) {
            print::out(format_args!("      {line}"));
        }
        commands |= matches!(hook.handler, Handler::Command { .. } | Handler::Process(_));
    }
    if config.hooks.is_empty() {
        print::out("  no hooks");
    }
    for line in host(config) {
        print::out(format_args!("  {line}"));
    }
    if commands {
        print::out(
            "  Commands run as you do, outside the sandbox. Scripts and programs that they start are not covered:",
        );
        print::out("  their authors can change what runs without a new `hookbox trust`.");
    }
}

/// The lines of [`show`] as JSON.
fn described(config: &Config, components: &BTreeMap<String, String>, trusted: bool) -> Value {
    let hook = |hook: &Hook| {
        json!({
            "pointer": hook.pointer, "events": events(hook), "runs": what(&hook.handler),
            "componentDigest": components.get(&hook.pointer), "may": may(config, hook),
        })
    };
    json!({
        "file": config.file.to_string_lossy(), "dialect": config.dialect.name(), "digest": config.digest,
        "hooks": config.hooks.iter().map(hook).collect::<Vec<_>>(), "host": host(config), "trusted": trusted,
    })
}

/// A line for each hook that starts a program outside of the sandbox.
pub fn programs(config: &Config) -> Vec<String> {
    let starts = |hook: &&Hook| matches!(hook.handler, Handler::Command { .. } | Handler::Process(_));
    let line = |hook: &Hook| format!("{} starts, as you, the {}", events(hook), what(&hook.handler));
    config.hooks.iter().filter(starts).map(line).collect()
}

/// The events and the matcher of a hook.
fn events(hook: &Hook) -> String {
    let events = if hook.events.is_empty() { "all its events".to_owned() } else { join(&hook.events) };
    let matcher =
        hook.matcher_text.as_deref().filter(|text| !text.is_empty()).map(|text| format!(" {}", print::quoted(text)));
    format!("{events}{}", matcher.unwrap_or_default())
}

/// The complete handler. Nobody could review a shortened command.
fn what(handler: &Handler) -> String {
    match handler {
        Handler::Wasm(wasm) => match &wasm.reference {
            Some(reference) => format!("component {reference}"),
            None if wasm.is_bundled() => format!("component {}", print::name(&wasm.name)),
            None => format!("component {}", print::name(&wasm.component.to_string_lossy())),
        },
        Handler::Command { command, args: None, .. } => format!("command {}", print::quoted(command)),
        Handler::Command { command, args: Some(args), .. } => {
            let words: Vec<String> = [command].into_iter().chain(args).map(|word| print::quoted(word)).collect();
            format!("command {}", words.join(" "))
        }
        Handler::Process(process) => {
            let words: Vec<String> = process.command.iter().map(|word| print::quoted(word)).collect();
            format!("process {}, in {}", words.join(" "), print::name(&process.dir.to_string_lossy()))
        }
        Handler::Http { url, .. } => format!("http POST of the event to {}", print::quoted(url)),
        Handler::Prompt { prompt, .. } => format!("prompt {}", print::quoted(prompt)),
        Handler::Agent { prompt, max_turns, .. } => {
            format!("agent, {max_turns} turns at most, may read the project: {}", print::quoted(prompt))
        }
        Handler::Own { kind, .. } => format!("a handler of type {}", print::quoted(kind)),
        Handler::LeftOut { kind } => format!("nothing: handlers of type {kind} are not run"),
        Handler::Callback => "callback".into(),
        Handler::Withheld { why, .. } => why.clone(),
    }
}

/// The authority and the grants of a hook.
fn may(config: &Config, hook: &Hook) -> Vec<String> {
    match &hook.handler {
        Handler::Wasm(Wasm { permissions, .. }) => {
            let authority = hook.bounds().unwrap_or_else(Authority::trusted);
            [format!("may decide   {}", decides(&authority))].into_iter().chain(reaches(permissions)).collect()
        }
        Handler::Command { .. } | Handler::Process(_) => vec!["may decide   everything, and do what you may".into()],
        Handler::Http { headers, .. } => {
            let names: Vec<String> = headers.iter().map(|(name, _)| print::name(name)).collect();
            let sends = format!(
                "sends        the event{}",
                if names.is_empty() { String::new() } else { format!(", with the headers {}", names.join(", ")) }
            );
            vec![format!("may decide   {}", decides(&hook.bounds().unwrap_or_else(Authority::trusted))), sends]
        }
        Handler::Prompt { model, .. } | Handler::Agent { model, .. } => {
            let named = model.as_deref().or(config.settings.llm.as_ref().and_then(|llm| llm.model.as_deref()));
            let model = named.map_or_else(String::new, |model| format!(" {}", print::name(model)));
            vec!["may decide   everything".into(), format!("sends        the event to the language model{model}")]
        }
        Handler::Own { .. } | Handler::LeftOut { .. } | Handler::Callback | Handler::Withheld { .. } => Vec::new(),
    }
}

fn decides(authority: &Authority) -> String {
    if *authority == Authority::trusted() {
        return "everything".into();
    }
    let words = authority.decide.iter().map(|power| power.word().to_owned());
    let rewrites = match &authority.rewrite {
        Rewrite::All => Some("rewrite everything".to_owned()),
        Rewrite::Only(pointers) if pointers.is_empty() => None,
        Rewrite::Only(pointers) => Some(format!("rewrite {}", join(pointers))),
    };
    let context = authority.context.then(|| "add context".to_owned());
    let message = authority.system_message.then(|| "message to the user".to_owned());
    let words: Vec<String> = words.chain(rewrites).chain(context).chain(message).collect();
    if words.is_empty() { "nothing".into() } else { words.join(", ") }
}

fn reaches(permissions: &Permissions) -> Vec<String> {
    let Permissions { state, http, llm, read, write, env, bounds: _ } = permissions;
    let mut lines = Vec::new();
    let mut line = |word: &str, text: String| lines.push(format!("{word:12} {text}"));
    match state {
        Some(StateGrant::Detailed(details)) => {
            let shared = details.namespace.as_deref().map(|name| format!(", shared as {}", print::name(name)));
            line("keeps", format!("state{}", shared.unwrap_or_default()));
        }
        Some(StateGrant::Enabled(true)) => line("keeps", "state".into()),
        _ => {}
    }
    for grant in http {
        line(
            "sends",
            match grant {
                HttpGrant::Origin(origin) => format!("requests to {}", print::name(origin)),
                HttpGrant::Detailed(details) => {
                    let private = if details.private { ", in private networks too" } else { "" };
                    format!("requests to {} ({}){private}", print::name(&details.origin), join(&details.methods))
                }
            },
        );
    }
    if !matches!(llm, None | Some(LlmGrant::Enabled(false))) {
        line("asks", "the language model".into());
    }
    for (folders, word) in [(read, "reads"), (write, "writes")] {
        for (guest, host) in folders {
            line(word, format!("{} as {}", print::name(host), print::name(guest)));
        }
    }
    if !env.is_empty() {
        line("sees", format!("the variables {}", join(env)));
    }
    lines
}

/// The host settings of the file.
fn host(config: &Config) -> Vec<String> {
    let settings = &config.settings;
    let mut lines = Vec::new();
    if let Some(llm) = &settings.llm {
        let place = llm.base_url.as_deref().map_or_else(String::new, |url| format!(" at {}", print::quoted(url)));
        let key = llm
            .api_key_env
            .as_deref()
            .map_or_else(String::new, |name| format!(", with the key in ${}", print::name(name)));
        lines.push(format!("language model{place}{key}"));
    }
    lines.extend(settings.tenant.as_deref().map(|tenant| format!("state of the tenant {}", print::name(tenant))));
    lines.extend(settings.state_file.as_deref().map(|file| format!("state in {}", print::name(file))));
    lines
}

fn join(words: &[String]) -> String {
    words.iter().map(|word| print::name(word)).collect::<Vec<_>>().join(", ")
}
