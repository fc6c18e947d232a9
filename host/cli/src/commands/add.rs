//! `hookbox add`: an entry of a bundled hook in a configuration, with the grants and the authority that it needs.

mod entries;

use std::path::{Path, PathBuf};

use clap::Args;
use hookbox::{
    Dialect,
    config::{Config, Handler},
    dialect::{self, ConfigShape},
};
use hookbox_catalogue::{ALL, Bundled, PREFIX, by_name};
use serde_json::{Value, json};

use self::entries::Entries;
use crate::{
    change::{self, Backup, Change},
    clients::{self, Client},
    exit::Exit,
    print,
};

/// Add a bundled hook to a configuration.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  hookbox add command-guard --monitor")]
pub struct Add {
    /// The hook, as `hookbox hooks` lists it
    #[arg(value_name = "NAME", value_parser = bundled)]
    name: &'static Bundled,
    /// The client that a new configuration is written for (default: claude, whose form works for all but picoclaw)
    #[arg(long, value_name = "CLIENT", value_parser = super::install::client)]
    client: Option<&'static Client>,
    /// The configuration; `hooks.json` here when left out
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Let the hook run and be recorded, and decide nothing
    #[arg(long)]
    monitor: bool,
    /// Write without asking
    #[arg(long, short)]
    yes: bool,
    /// With --yes: write also to a file outside the current folder that a link in it leads to
    #[arg(long)]
    follow_links: bool,
}

/// The bundled hook of that name, or which there are.
pub fn bundled(name: &str) -> Result<&'static Bundled, String> {
    let names = || ALL.iter().map(|bundled| bundled.name).collect::<Vec<_>>().join(", ");
    by_name(name.strip_prefix(PREFIX).unwrap_or(name)).ok_or_else(|| format!("known are {}", names()))
}

impl Add {
    pub fn run(self) -> anyhow::Result<Exit> {
        let folder = std::env::current_dir()?;
        let file = folder.join(self.config.as_deref().unwrap_or(Path::new("hooks.json")));
        let change = planned(&file, &[self.name], self.client, self.monitor)?;
        if change.is_none() {
            print::out(format_args!("{} has {PREFIX}{} already", file.display(), self.name.name));
            return Ok(Exit::Ok);
        }
        change.show();
        change.tell_of_link(&folder, self.yes, self.follow_links)?;
        if !change::consent(self.yes)? {
            print::out("nothing was written");
            return Ok(Exit::Code(1));
        }
        change.make()?;
        print::out(format_args!("written: {}", file.display()));
        let client = self.client.map_or("claude", |client| client.name);
        print::out(format_args!(
            "next:   hookbox check {0}   and   hookbox install {client} --config {0}",
            file.display()
        ));
        Ok(Exit::Ok)
    }
}

/// The change that adds bundled hooks to a configuration. Hooks that it has stay as they are.
///
/// # Errors
/// The configuration is invalid, or its dialect has no event that the hook handles.
pub fn planned(
    file: &Path,
    hooks: &[&'static Bundled],
    client: Option<&Client>,
    monitor: bool,
) -> anyhow::Result<Change> {
    let before = change::read(file)?;
    // Every client except PicoClaw supports a configuration in Claude Code's form.
    let named = client.map(|client| client.dialect).filter(|dialect| *dialect == "picoclaw").unwrap_or("claude");
    let text =
        before.clone().unwrap_or_else(|| format!("{{\n  \"dialect\": \"{named}\",\n  \"failClosed\": true\n}}\n"));
    let config = before.as_ref().map(|text| Config::parse(text, file, None)).transpose()?.map(|loaded| loaded.config);
    let dialect = match &config {
        Some(config) => config.dialect,
        None => dialect::by_name(named).ok_or_else(|| Exit::Software.error(format!("unknown dialect {named}")))?,
    };
    let has = |bundled: &&&Bundled| config.as_ref().is_some_and(|config| names(config, bundled));
    let entries = Entries::read(file, &text)?;
    let mut added = false;
    for bundled in hooks.iter().filter(|bundled| !has(bundled)) {
        let mut places = 0;
        for (place, value) in places_of(bundled, dialect, monitor)? {
            match dialect.shape() {
                ConfigShape::Named => entries.set(&place, &value)?,
                ConfigShape::Groups | ConfigShape::Flat => entries.push(&place, &value)?,
            }
            places += 1;
        }
        if places == 0 {
            let message = format!("{}: {} has no event that {} handles", file.display(), dialect.name(), bundled.name);
            return Err(Exit::Config.error(message));
        }
        added = true;
    }
    let backup = if before.is_some() { Backup::Make } else { Backup::Keep };
    let after = if added { Some(entries.text()) } else { before.clone() };
    Ok(Change { file: file.to_owned(), before, after, backup })
}

/// Returns true if the hook runs for some event of a configuration.
fn names(config: &Config, bundled: &Bundled) -> bool {
    let name = format!("{PREFIX}{}", bundled.name);
    config
        .hooks
        .iter()
        .any(|hook| matches!(&hook.handler, Handler::Wasm(wasm) if wasm.is_bundled() && wasm.name == name))
}

/// The entries of a hook under a dialect, each with its event or name.
fn places_of(bundled: &Bundled, dialect: &dyn Dialect, monitor: bool) -> anyhow::Result<Vec<(String, Value)>> {
    let mut entry = json!({
        "type": "wasm",
        "component": format!("{PREFIX}{}", bundled.name),
        "authority": serde_json::from_str::<Value>(bundled.authority)?,
        "onFailure": "block",
    });
    if let Some(members) = entry.as_object_mut().filter(|_| monitor) {
        members.insert("mode".into(), "monitor".into());
    }
    let claude = dialect::by_name("claude");
    let kind = |event: &str| claude.and_then(|claude| claude.spec_by_name(event)).map(|spec| spec.kind);
    let specs = bundled.events.iter().filter_map(|(event, _)| {
        let kind = kind(event)?;
        dialect.specs().iter().find(|spec| spec.kind == kind)
    });
    let names: Vec<&str> = specs.map(|spec| spec.name).collect();
    if dialect.shape() == ConfigShape::Named {
        let requests: Vec<&str> = names.iter().map(|name| name.strip_prefix("hook.").unwrap_or(name)).collect();
        if let Some(members) = entry.as_object_mut().filter(|_| !requests.is_empty()) {
            members.insert("intercept".into(), json!(requests));
            return Ok(vec![(bundled.name.to_owned(), entry)]);
        }
        return Ok(Vec::new());
    }
    let flat = dialect.shape() == ConfigShape::Flat;
    let group = |name: &str| (name.to_owned(), if flat { entry.clone() } else { json!({ "hooks": [entry.clone()] }) });
    Ok(names.into_iter().map(group).collect())
}

/// The names of the clients on this machine: those with a program on the `PATH` or with settings.
pub fn present(project: &Path) -> Vec<&'static Client> {
    use clients::Scope;
    let there = |client: &&'static Client| {
        let files = [Scope::Project, Scope::Local, Scope::User].into_iter();
        let mut files = files.filter_map(|scope| client.file(scope, project));
        client.program().is_some() || files.any(|file| file.symlink_metadata().is_ok())
    };
    clients::ALL.iter().filter(there).collect()
}
