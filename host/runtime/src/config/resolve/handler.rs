//! Resolves the handler of an entry.

use std::time::Duration;

use hookbox_protocol::authority::Authority;
use serde_json::Value;

use super::{Resolver, name};
use crate::config::{
    Handler, Process,
    diagnostic::Finding,
    file::{AgentEntry, CommandEntry, OwnEntry, ProcessEntry, PromptEntry, Runs},
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
}

/// Converts seconds. Only a value that the validator has rejected is out of range.
pub(super) fn seconds(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)
}
