//! `hookbox init`: from a fresh program to clients that are guarded.

use std::{
    io::{self, IsTerminal},
    path::{Path, PathBuf},
};

use anyhow::Context;
use clap::Args;
use hookbox_catalogue::{ALL, Bundled, PREFIX};
use serde_json::Value;

use super::{add, doctor::Doctor, install::Install};
use crate::{
    change::{self, Backup, Change},
    clients::Client,
    exit::Exit,
    print,
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
    /// Show what would be written, and write nothing
    #[arg(long, conflicts_with = "undo")]
    dry_run: bool,
    /// Take it out again
    #[arg(long)]
    undo: bool,
}

impl Init {
    pub fn run(self) -> anyhow::Result<Exit> {
        let project = std::env::current_dir()?;
        let file = project.join(self.config.as_deref().unwrap_or(Path::new("hooks.json")));
        let asks = !self.yes && !self.dry_run && io::stdin().is_terminal();
        let clients = self.clients(&project, asks && !self.undo)?;
        if self.undo {
            return self.undo(&clients, &file);
        }
        let hooks = self.hooks(asks)?;
        if hooks.is_empty() {
            print::out("no hook was chosen: nothing to do");
            return Ok(Exit::Told(1));
        }
        let only_picoclaw =
            matches!(clients.as_slice(), [client] if client.name == "picoclaw").then(|| clients.first());
        let change = add::planned(&file, &hooks, only_picoclaw.flatten().copied(), self.monitor)?;
        if !change.is_none() {
            change.show();
        }
        if self.dry_run {
            for client in &clients {
                let settings = client.file(client.usual_scope(), &project);
                let settings = settings.map_or_else(String::new, |file| format!(": {}", file.display()));
                print::out(format_args!("{} would be made to ask hookbox{settings}", client.title));
            }
            print::out("nothing was written");
            return Ok(Exit::Ok);
        }
        if !change.is_none() {
            if !change::consent(self.yes)? {
                print::out("nothing was written");
                return Ok(Exit::Told(1));
            }
            change.make()?;
            print::out(format_args!("written: {}", file.display()));
        }
        let mut worst = Exit::Ok;
        for client in &clients {
            print::out(client.title);
            let done = Install::of(client, &file, self.yes).run()?;
            if done == Exit::Ok {
                let checked = Doctor::of(client).run()?;
                worst = if checked == Exit::Ok { worst } else { checked };
            } else {
                worst = done;
            }
        }
        print::out(format_args!(
            "to see what the hooks say of an event:   hookbox explain --config {}",
            file.display()
        ));
        print::out("to change what they do:   docs/hooks/, and `config` of each hook in that file");
        print::out("to take it out again:     hookbox init --undo");
        Ok(worst)
    }

    /// The clients that are meant: those that are given, or those on this machine that the user wants.
    fn clients(&self, project: &Path, asks: bool) -> anyhow::Result<Vec<&'static Client>> {
        if !self.client.is_empty() {
            return Ok(self.client.clone());
        }
        let present = add::present(project);
        if present.is_empty() {
            let message = "no client that hookbox knows is on this machine";
            return Err(Exit::Usage.advised(message, &["to name one:   hookbox init --client claude"]));
        }
        let mut wanted = Vec::new();
        for client in present {
            // A configuration is written in one form, and PicoClaw's is another than the rest's.
            if client.name == "picoclaw" {
                print::out(
                    "PicoClaw has a configuration of its own:   hookbox init --client picoclaw --config picoclaw.json",
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
    fn undo(&self, clients: &[&'static Client], file: &Path) -> anyhow::Result<Exit> {
        for client in clients {
            print::out(client.title);
            Install::removal(client, file, self.yes).run()?;
        }
        let Some(before) = change::read(file)? else { return Ok(Exit::Ok) };
        let kept = change::read(&change::backup(file))?;
        let after = match kept {
            Some(text) => Some(text),
            None if is_only_bundled(&before) => None,
            None => {
                print::out(format_args!("{} stays: it has hooks of your own", file.display()));
                return Ok(Exit::Ok);
            }
        };
        let change = Change { file: file.to_owned(), before: Some(before), after, backup: Backup::Drop };
        change.show();
        if !change::consent(self.yes)? {
            print::out("nothing was written");
            return Ok(Exit::Told(1));
        }
        change.make()?;
        print::out(format_args!("taken out of {}", file.display()));
        Ok(Exit::Ok)
    }
}

/// Asks a question on a terminal; an empty answer is yes.
fn confirmed(question: &str) -> anyhow::Result<bool> {
    print::err(format_args!("{question} [Y/n]"));
    let mut answer = String::new();
    io::stdin().read_line(&mut answer).context("cannot read the answer")?;
    Ok(matches!(answer.trim().to_ascii_lowercase().as_str(), "" | "y" | "yes"))
}

/// Returns true if every hook of a configuration is a bundled one.
fn is_only_bundled(text: &str) -> bool {
    fn handlers(value: &Value, found: &mut Vec<bool>) {
        match value {
            Value::Object(members) if members.contains_key("type") => {
                let component = members.get("component").and_then(Value::as_str).unwrap_or_default();
                found.push(component.starts_with(PREFIX));
            }
            Value::Object(members) => members.values().for_each(|value| handlers(value, found)),
            Value::Array(items) => items.iter().for_each(|value| handlers(value, found)),
            _ => {}
        }
    }
    let Ok(value) = serde_json::from_str::<Value>(text) else { return false };
    let mut found = Vec::new();
    value.get("hooks").into_iter().for_each(|hooks| handlers(hooks, &mut found));
    found.iter().all(|bundled| *bundled)
}
