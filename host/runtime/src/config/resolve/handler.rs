//! Resolves the handler of an entry.

use std::{
    path::{Component, Path, PathBuf},
    time::Duration,
};

use hookbox_protocol::authority::{Authority, Power, Rewrite, env::is_name};
use hookbox_sandbox::{
    Limits, Permissions,
    permission::{HttpGrant, LlmGrant, StateGrant},
};
use serde_json::{Map, Value};

use super::{Resolver, name};
use crate::{
    artifact::{LOCK_FILE, Reference, ReferenceError, SCHEME},
    config::{
        Handler, Process, Wasm, bundled,
        diagnostic::Finding,
        file::{
            AgentEntry, AuthorityEntry, CommandEntry, HttpEntry, OwnEntry, Preset, ProcessEntry, PromptEntry,
            RewriteEntry, Runs, WasmEntry,
        },
    },
};

/// The default timeout of a hook process's handshake in seconds, as in `PicoClaw`.
const START: f64 = 5.0;

/// The default number of turns of an agent handler.
const AGENT_TURNS: u32 = 10;

/// A resolved entry.
pub(super) struct Resolved {
    /// The default name.
    pub(super) name: String,
    pub(super) handler: Handler,
    pub(super) authority: Option<Authority>,
    /// The timeout in the entry's own limits.
    pub(super) timeout: Option<f64>,
}

impl Resolver {
    /// The authority of an entry. Reports invalid names of environment variables as errors.
    fn authority(&mut self, entry: Option<AuthorityEntry>, pointer: &str) -> Option<Authority> {
        let entry = entry?;
        for (index, name) in entry.invalid_variables() {
            let finding = Finding::error(format!("{pointer}/authority/env/{index}"), no_variable(name));
            self.found.push(finding.help("name each variable, as in `\"env\": [\"CI_JOB_ID\"]`"));
        }
        Some(entry.into())
    }

    /// Resolves the handler of an entry. `None` and an error if it cannot be read.
    pub(super) fn handler(&mut self, runs: Runs, pointer: &str) -> Option<Resolved> {
        let (mut given, mut timeout) = (None, None);
        let (name, handler) = match runs {
            Runs::Wasm(mut entry) => {
                given = self.authority(entry.authority.take(), pointer);
                timeout = entry.limits.get("timeout").and_then(Value::as_f64);
                let wasm = self.wasm(*entry, pointer);
                let named = wasm.reference.as_ref().map(|reference| reference.short_name().to_owned());
                (named.unwrap_or_else(|| name::of_file(&wasm.name)), Handler::Wasm(wasm))
            }
            Runs::Command(CommandEntry { command, args }) => {
                let name = if args.is_some() { name::of_file(&command) } else { name::of_command(&command) };
                (name, Handler::Command { command, args, dir: self.base.clone() })
            }
            Runs::Http(mut entry) => {
                given = self.authority(entry.authority.take(), pointer);
                (name::of_url(&entry.url), self.http(entry, pointer))
            }
            Runs::Prompt(PromptEntry { prompt, model }) => ("prompt".to_owned(), Handler::Prompt { prompt, model }),
            Runs::Agent(AgentEntry { prompt, model, max_turns }) => {
                let max_turns = max_turns.unwrap_or(AGENT_TURNS);
                ("agent".to_owned(), Handler::Agent { prompt, model, max_turns })
            }
            Runs::McpTool(_) => self.left_out("mcp_tool", None, pointer),
            Runs::Builtin => {
                let help = "if PicoClaw itself runs it, set `\"enabled\": false` here";
                self.left_out("builtin", Some(help), pointer)
            }
            Runs::Process(entry) => {
                let Some(executable) = entry.command.first() else { return self.no_command(pointer) };
                (name::of_file(executable), Handler::Process(Box::new(self.process(*entry))))
            }
            Runs::Own(OwnEntry { kind, authority: entry, options }) if self.handlers.contains(&kind) => {
                given = self.authority(entry, pointer);
                (kind.clone(), Handler::Own { kind, options })
            }
            // The type is known, but the entry is invalid. The validator has reported it.
            Runs::Own(OwnEntry { kind, .. }) => {
                self.unread.push(Finding::error(pointer, format!("not understood: a handler of type `{kind}`")));
                return None;
            }
        };
        Some(Resolved { name, handler, authority: given, timeout })
    }

    /// A handler of a type that hookbox does not run. The hook stays in the list, so that it does not look as if it had
    /// agreed.
    fn left_out(&mut self, kind: &'static str, help: Option<&str>, pointer: &str) -> (String, Handler) {
        let message = format!("hookbox does not run handlers of type `{kind}`; this hook counts as failed");
        self.found.push(Finding { help: help.map(str::to_owned), ..Finding::warning(pointer, message) });
        (kind.to_owned(), Handler::LeftOut { kind })
    }

    /// Reports an empty `command`. The validator does not check the length of arrays.
    fn no_command<T>(&mut self, pointer: &str) -> Option<T> {
        let finding = Finding::error(format!("{pointer}/command"), "expected an executable, found an empty array");
        self.found.push(finding.help("name it, and its arguments after it: `[\"python3\", \"hook.py\"]`"));
        None
    }

    fn process(&mut self, entry: ProcessEntry) -> Process {
        let ProcessEntry { command, dir, env, allowed_env_vars, .. } = entry;
        Process {
            command,
            dir: dir.map_or_else(|| self.base.clone(), |dir| self.base.join(dir)),
            env,
            variables: allowed_env_vars,
            start: seconds(entry.start_timeout.unwrap_or(START)),
            observer: entry.observer_timeout.map(seconds),
            interceptor: entry.interceptor_timeout.map(seconds),
            approval: entry.approval_timeout.map(seconds),
        }
    }

    fn wasm(&mut self, entry: WasmEntry, pointer: &str) -> Wasm {
        let mut limits_given = self.limits_given.clone();
        limits_given.extend(super::given(Some(&entry.limits), &format!("{pointer}/limits")));
        self.found.extend(bundled::check(&entry.component, &entry.config, pointer));
        let reference = self.reference(&entry.component, pointer);
        let (file, owner) = match &reference {
            // Without tag and digest, so that an update keeps the state of the component.
            Some(reference) => (LOCK_FILE, format!("{SCHEME}{}", reference.name())),
            None => (entry.component.as_str(), plain(&entry.component)),
        };
        Wasm {
            name: entry.component.clone(),
            component: self.base.join(file),
            must_load: reference.is_some(),
            reference,
            owner,
            permissions: self.permissions(entry.permissions, &format!("{pointer}/permissions")),
            config: entry.config,
            limits: merge(&self.limits, entry.limits),
            limits_given,
            digest: None,
        }
    }

    /// Parses a component's name as a reference. Reports an invalid reference.
    fn reference(&mut self, component: &str, pointer: &str) -> Option<Reference> {
        if !component.starts_with(SCHEME) {
            return None;
        }
        let invalid = |error: ReferenceError| {
            Finding::error(format!("{pointer}/component"), error.to_string())
                .help("a reference is, for example, `oci://registry.example/acme/guard:1.2`")
        };
        Reference::parse(component).map_err(|error| self.found.push(invalid(error))).ok()
    }

    /// Makes host paths absolute, and removes grants of `false`. Reports invalid origins.
    fn permissions(&mut self, mut permissions: Permissions, pointer: &str) -> Permissions {
        permissions.state = permissions.state.filter(|grant| *grant != StateGrant::Enabled(false));
        permissions.llm = permissions.llm.filter(|grant| *grant != LlmGrant::Enabled(false));
        for path in permissions.read.values_mut().chain(permissions.write.values_mut()) {
            *path = self.base.join(&*path).to_string_lossy().into_owned();
        }
        for (index, grant) in permissions.http.iter().enumerate() {
            let (origin, place) = match grant {
                HttpGrant::Origin(origin) => (origin, format!("{pointer}/http/{index}")),
                HttpGrant::Detailed(details) => (&details.origin, format!("{pointer}/http/{index}/origin")),
            };
            if !is_origin(origin) {
                self.found.push(
                    Finding::error(place, format!("`{origin}` is not an origin"))
                        .help("an origin is scheme, host and, unless it is the default, port: `https://example.com`"),
                );
            }
        }
        permissions
    }

    fn http(&mut self, entry: HttpEntry, pointer: &str) -> Handler {
        let HttpEntry { url, headers, allowed_env_vars, .. } = entry;
        if !url.starts_with("http://") && !url.starts_with("https://") {
            let message = format!("`{url}` is not an http address");
            self.found.push(Finding::error(format!("{pointer}/url"), message).help("it starts with `https://`"));
        }
        let headers = headers
            .into_iter()
            .map(|(name, value)| {
                let value = self.expand(&value, &allowed_env_vars, &format!("{pointer}/headers/{name}"));
                (name, value)
            })
            .collect();
        Handler::Http { url, headers, variables: allowed_env_vars }
    }

    /// Replaces `$NAME` and `${NAME}` by the allowed variables. Others become empty, as in the client.
    fn expand(&mut self, text: &str, allowed: &[String], pointer: &str) -> String {
        let mut result = String::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('$') {
            result.push_str(before);
            let (name, tail) = variable(after);
            rest = tail;
            if name.is_empty() {
                result.push('$');
            } else if !allowed.iter().any(|other| other == name) {
                self.found.push(
                    Finding::warning(pointer, format!("`{name}` may not be read, so it is empty here"))
                        .help(format!("to allow it, add   \"allowedEnvVars\": [\"{name}\"]")),
                );
            } else if let Ok(value) = std::env::var(name) {
                result.push_str(&value);
            } else {
                self.found
                    .push(Finding::warning(pointer, format!("the environment has no `{name}`, so it is empty here")));
            }
        }
        result + rest
    }
}

/// Converts seconds. Only a value that the validator has rejected is out of range.
pub(super) fn seconds(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)
}

/// The variable name after a `$`, with or without braces, and the rest of the text.
fn variable(text: &str) -> (&str, &str) {
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if let Some((name, tail)) = text.strip_prefix('{').and_then(|braced| braced.split_once('}'))
        && !name.is_empty()
        && name.chars().all(word)
    {
        return (name, tail);
    }
    text.split_at(text.find(|c| !word(c)).unwrap_or(text.len()))
}

/// A path without `.` components, so that a file has fewer spellings.
fn plain(component: &str) -> String {
    let parts = Path::new(component).components().filter(|part| *part != Component::CurDir);
    parts.collect::<PathBuf>().to_string_lossy().into_owned()
}

fn is_origin(text: &str) -> bool {
    let host = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    host.is_some_and(|host| !host.is_empty() && !host.contains(['/', '?', '#', '@', '*', ' ']))
}

/// The hook's own limits, which override the file's.
fn merge(limits: &Limits, own: Map<String, Value>) -> Limits {
    if own.is_empty() {
        return limits.clone();
    }
    let Ok(Value::Object(mut merged)) = serde_json::to_value(limits) else { return limits.clone() };
    merged.extend(own);
    serde_json::from_value(Value::Object(merged)).unwrap_or_else(|_| limits.clone())
}

impl AuthorityEntry {
    /// Invalid names of environment variables, with their indices. Patterns are invalid: no deny list could be
    /// complete, so each variable has to be named.
    pub(in crate::config) fn invalid_variables(&self) -> impl Iterator<Item = (usize, &str)> {
        let names: &[String] = match self {
            Self::Preset(_) => &[],
            Self::Detailed(details) => &details.env,
        };
        names.iter().map(String::as_str).enumerate().filter(|(_, name)| !is_name(name))
    }
}

/// The error message for an invalid name.
pub(in crate::config) fn no_variable(name: &str) -> String {
    format!("`{name}` is not the name of an environment variable, and patterns are not supported")
}

impl From<AuthorityEntry> for Authority {
    fn from(entry: AuthorityEntry) -> Self {
        match entry {
            AuthorityEntry::Preset(Preset::Gate) => Self::gate(),
            AuthorityEntry::Preset(Preset::Rewriter) => Self::rewriter(),
            AuthorityEntry::Preset(Preset::Trusted) => Self::trusted(),
            AuthorityEntry::Detailed(details) => Self {
                decide: details.decide.into_iter().map(Power::from).collect(),
                rewrite: match details.rewrite {
                    RewriteEntry::All(_) => Rewrite::All,
                    RewriteEntry::Pointers(pointers) => Rewrite::Only(pointers),
                },
                context: details.context,
                system_message: details.system_message,
                env: details.env,
            },
        }
    }
}
