//! `hookbox add`: the entries of a hook in a configuration. A bundled hook gets the authority that it needs; a component of a
//! registry gets nothing that it asks for.

mod entries;
mod hook;

use std::path::{Path, PathBuf};

use clap::Args;
use hookbox::{
    config::Config,
    dialect::{self, ConfigShape},
};
use hookbox_catalogue::{ALL, Bundled, PREFIX, by_name};
use serde_json::json;

pub use self::hook::Hook;
use self::{entries::Entries, hook::HookArgument};
use crate::{
    change::{self, Backup, Change},
    clients::{self, Client},
    exit::Exit,
    print,
};

/// Add a bundled hook, or one of a registry, to a configuration.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  hookbox add command-guard --monitor\n  hookbox add oci://registry.example/acme/guard:1.0"
)]
#[expect(clippy::struct_excessive_bools, reason = "one per switch on the command line")]
pub struct Add {
    /// The hook, as `hookbox hooks` lists it, or `oci://HOST/REPOSITORY:TAG`
    #[arg(value_name = "NAME", value_parser = HookArgument::parse)]
    name: HookArgument,
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
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// The bundled hook of that name, or which there are.
pub fn bundled(name: &str) -> Result<&'static Bundled, String> {
    let names = || ALL.iter().map(|bundled| bundled.name).collect::<Vec<_>>().join(", ");
    by_name(name.strip_prefix(PREFIX).unwrap_or(name)).ok_or_else(|| format!("known are {}", names()))
}

impl Add {
    pub fn run(self) -> anyhow::Result<Exit> {
        if self.json {
            print::json_only();
        }
        let folder = std::env::current_dir()?;
        let file = folder.join(self.config.as_deref().unwrap_or(Path::new("hooks.json")));
        let hook = self.name.hook()?;
        let change = planned(&file, std::slice::from_ref(&hook), self.client, self.monitor)?;
        let done = |written: bool| json!({ "file": file.to_string_lossy(), "component": hook.component, "asks": hook.asks, "written": written });
        if change.is_none() {
            print::out(format_args!("{} has {} already", file.display(), hook.shown()));
            print::result(&done(false));
            return Ok(Exit::Ok);
        }
        change.show();
        change.tell_of_link(&folder, self.yes, self.follow_links)?;
        if !change::consent(self.yes)? {
            print::out("nothing was written");
            print::result(&done(false));
            return Ok(Exit::Code(1));
        }
        change.make()?;
        print::out(format_args!("written: {}", file.display()));
        let client = self.client.map_or("claude", |client| client.name);
        if matches!(self.name, HookArgument::Reference(_)) {
            let asks: Vec<&str> = hook.asks.iter().map(String::as_str).collect();
            if !asks.is_empty() {
                let asks = print::name(&asks.join(", "));
                print::out(format_args!(
                    "grant:  `permissions` of its entries, or it does not load: it asks for {asks}"
                ));
            }
            print::out(format_args!("next:   hookbox lock {}", file.display()));
        }
        print::out(format_args!(
            "next:   hookbox check {0}   and   hookbox install {client} --config {0}",
            file.display()
        ));
        print::result(&done(true));
        Ok(Exit::Ok)
    }
}

/// The change that adds hooks to a configuration. Hooks that it has stay as they are.
///
/// # Errors
/// The configuration is invalid, or its dialect has no event that the hook handles.
pub fn planned(file: &Path, hooks: &[Hook], client: Option<&Client>, monitor: bool) -> anyhow::Result<Change> {
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
    let has = |hook: &&Hook| config.as_ref().is_some_and(|config| hook.is_in(config));
    let entries = Entries::read(file, &text)?;
    let mut added = false;
    for hook in hooks.iter().filter(|hook| !has(hook)) {
        let mut places = 0;
        for (place, value) in hook.entries(dialect, monitor) {
            match dialect.shape() {
                ConfigShape::Named => entries.set(&place, &value)?,
                ConfigShape::Groups | ConfigShape::Flat => entries.push(&place, &value)?,
            }
            places += 1;
        }
        if places == 0 {
            let message = format!("{}: {} has no event that {} handles", file.display(), dialect.name(), hook.shown());
            return Err(Exit::Config.error(message));
        }
        added = true;
    }
    let backup = if before.is_some() { Backup::Make } else { Backup::Keep };
    let after = if added { Some(entries.text()) } else { before.clone() };
    Ok(Change { file: file.to_owned(), before, after, backup })
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
