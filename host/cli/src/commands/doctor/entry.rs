//! Checks an entry and the configuration that it names.

use std::path::Path;

use serde_json::Value;

use super::{
    super::{block_on, host},
    Findings,
};
use crate::{
    change,
    clients::{
        Form, Scope, entry, on_path,
        settings::Found,
        wiring::{self, Wiring},
    },
    exit::Exit,
    print, report,
};

impl Findings {
    /// Reports the findings of `hookbox check` on the configuration.
    pub(super) fn check(&mut self, wiring: &Wiring) {
        let mut config = wiring.config.clone();
        for text in crate::trust::leave_out_programs(&mut config) {
            self.line("note", text);
        }
        let checked = block_on(async { Ok(host(config).await?.check().await) });
        let found = match checked {
            Ok(found) => found,
            Err(error) => return self.problem(report::one_line(&error)),
        };
        for diagnostic in wiring.warnings.iter().chain(&found) {
            let text = print::lines(diagnostic).into_iter().map(|line| line.trim().to_owned()).collect::<Vec<_>>();
            let text = text.join("; ");
            if diagnostic.is_error() { self.problem(text) } else { self.line("note", text) }
        }
    }

    /// Reports the program that the entry starts.
    pub(super) fn reachable(&mut self, found: &Found) {
        let program = found.command.words.first().map_or("", String::as_str);
        if let Some(path) = on_path(program) {
            return self.line("hookbox", path.display());
        }
        let blocks = entry::blocks_without_hookbox(self.client, &found.handler);
        let then = if blocks { "every call is blocked" } else { "the gate is open" };
        self.problem(format_args!("`{program}` cannot be started: it is not on this PATH; {then}"));
    }

    /// Reports the configuration that an entry names, and reads it as this client uses it.
    pub(super) fn config(&mut self, found: &Found, scope: Scope) -> Option<Wiring> {
        let command = &found.command;
        let below = command.below(self.client);
        if scope == Scope::User && !Path::new(below).is_absolute() {
            self.line("config", format_args!("{below}: of the client's current project; here that is this folder"));
        }
        let file = self.project.join(below);
        let read = change::read(&file)
            .and_then(|text| text.ok_or_else(|| Exit::Config.error(format!("{} is not there", file.display()))));
        let wiring = read.and_then(|text| Ok(Wiring::read(self.client, &text, &file)?));
        match wiring {
            Ok(wiring) => {
                let dialect = wiring.config.dialect.name();
                let closed = if wiring.config.fail_closed { "fails closed" } else { "fails open" };
                self.line("config", format_args!("{}   {dialect}   {closed}", file.display()));
                // The plugin itself denies if hookbox does not respond.
                let plugin = self.client.form == Form::Plugin;
                if wiring.config.fail_closed && !plugin && !command.words.iter().any(|word| word == "--fail-closed") {
                    self.line("note", "without --fail-closed in the entry, a missing configuration opens the gate");
                }
                let open =
                    !entry::blocks_without_hookbox(self.client, &found.handler) && self.client.form == Form::Groups;
                if wiring.config.fail_closed && wiring.is_gate(&found.event) && open {
                    let name = self.client.name;
                    let text = format!(
                        "if hookbox is missing or killed, the gate is open: `hookbox install {name}` writes an entry that blocks"
                    );
                    self.line("note", text);
                }
                Some(wiring)
            }
            Err(error) => {
                self.problem(report::one_line(&error));
                None
            }
        }
    }

    /// Reports events without an entry, and entries without hooks.
    pub(super) fn events(&mut self, found: &[&Found], wiring: &Wiring) {
        if self.client.form == Form::Process || self.client.form == Form::Plugin {
            return;
        }
        let (known, unknown) = wiring.events(self.client);
        for (event, _) in known.iter().filter(|(event, _)| !found.iter().any(|found| found.event == *event)) {
            let name = self.client.name;
            self.problem(format_args!("{event} has hooks, but no entry: `hookbox install {name}` writes it"));
        }
        for event in unknown {
            self.problem(format_args!("{event} has hooks, but {} has no such event", self.client.title));
        }
        for found in found.iter().filter(|found| !known.iter().any(|(event, _)| *event == found.event)) {
            self.line("note", format_args!("{}: no hook handles it", found.event));
        }
        for found in found.iter().filter(|found| found.matcher.as_deref().is_some_and(|text| !text.is_empty())) {
            let matcher = found.matcher.as_deref().unwrap_or_default();
            let text =
                format!("{}: its matcher {} keeps other calls from all hooks", found.event, print::quoted(matcher));
            self.line("note", text);
        }
    }

    /// Reports an entry whose timeout is shorter than that of its hooks.
    pub(super) fn timeout(&mut self, found: &Found, wiring: &Wiring) {
        let client = self.client;
        if matches!(client.form, Form::Process | Form::Plugin) {
            return;
        }
        let key = if client.form == Form::Flat { "timeoutSec" } else { "timeout" };
        let given = found.handler.get(key).or(found.handler.get("timeout")).and_then(Value::as_f64);
        let unit = if client.milliseconds { 1000.0 } else { 1.0 };
        #[expect(clippy::cast_precision_loss, reason = "a few minutes")]
        let has = given.map_or(client.patience as f64, |given| given / unit);
        let needs = wiring::timeout(&wiring.config, &found.event).as_secs_f64();
        if given.is_some_and(|given| client.milliseconds && given < 1000.0) {
            let given = given.unwrap_or_default();
            self.problem(format_args!(
                "{}: its timeout of {given} is in milliseconds: it expires, and the gate is open",
                found.event
            ));
        } else if given.is_some_and(|given| !client.milliseconds && given > 86_400.0) {
            self.problem(format_args!("{}: its timeout is in seconds: this is more than a day", found.event));
        } else if has < needs {
            self.problem(format_args!(
                "{}: {} waits {has} s, but the hooks may take {needs} s: the gate is open after that",
                found.event, client.title
            ));
        } else {
            self.line(
                "timeout",
                format_args!("{}   {has} s, of which the hooks and hookbox may take {needs} s", found.event),
            );
        }
    }
}
