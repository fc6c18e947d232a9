//! `hookbox install`: makes a client run hookbox for the events of a configuration.

mod plan;
mod trust;

use std::path::{Path, PathBuf};

use clap::Args;
use hookbox::config::{Config, Diagnostic};
use serde_json::{Value, json};

use super::{block_on, doctor::vouched, host};
use crate::{
    change::{self, Change},
    clients::{
        self, Client, Form, Scope, claude,
        plugin::{self, Installed},
    },
    diagnostics,
    exit::Exit,
    heartbeat, print, report, user_file,
};

/// Connect a client to hookbox for every event that a configuration has hooks for.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  hookbox install claude --config hooks.json")]
#[expect(clippy::struct_excessive_bools, reason = "one per switch on the command line")]
pub struct Install {
    /// claude, codebuddy, blade, codex, gemini, copilot, opencode or picoclaw
    #[arg(value_name = "CLIENT", value_parser = client)]
    client: &'static Client,
    /// In the settings of the project that is the current folder (the default, where the client has such)
    #[arg(long, conflicts_with = "user")]
    project: bool,
    /// In your own settings, for all projects
    #[arg(long)]
    user: bool,
    /// The configuration; `hooks.json` here when left out
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Take it out again: of this configuration, or all of hookbox when none is given
    #[arg(long, conflicts_with = "import")]
    remove: bool,
    /// Move the hooks that stand there into the configuration
    #[arg(long)]
    import: bool,
    /// Write without asking
    #[arg(long, short)]
    yes: bool,
    /// With --yes: write also to files outside the project that links in the project lead to
    #[arg(long)]
    follow_links: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Parses a client's name. The error lists the known names.
pub fn client(name: &str) -> Result<&'static Client, String> {
    let names = || clients::ALL.iter().map(|client| client.name).collect::<Vec<_>>().join(", ");
    clients::by_name(name).ok_or_else(|| format!("known are {}", names()))
}

/// The client and the files of an installation.
struct Target {
    client: &'static Client,
    scope: Scope,
    project: PathBuf,
    /// The client's settings.
    file: PathBuf,
    /// hookbox's configuration.
    config: PathBuf,
}

impl Install {
    /// An installation in the usual settings of a client.
    pub fn of(client: &'static Client, config: &Path, yes: bool, follow_links: bool) -> Self {
        let config = Some(config.to_owned());
        Self {
            client,
            project: false,
            user: false,
            config,
            remove: false,
            import: false,
            yes,
            follow_links,
            json: false,
        }
    }

    /// Its removal.
    pub fn removal(client: &'static Client, config: &Path, yes: bool, follow_links: bool) -> Self {
        Self { remove: true, ..Self::of(client, config, yes, follow_links) }
    }

    pub fn run(self) -> anyhow::Result<Exit> {
        if self.json {
            print::json_only();
        }
        let (exit, done) = self.apply()?;
        print::result(&done);
        Ok(exit)
    }

    /// Installs or removes, and prints the steps for people. Returns the result for programs.
    pub fn apply(self) -> anyhow::Result<(Exit, Value)> {
        let project = std::env::current_dir()?;
        let client = self.client;
        let scope = match (self.project, self.user) {
            (true, _) => Scope::Project,
            (_, true) => Scope::User,
            _ => client.usual_scope(),
        };
        let file = client.file(scope, &project).ok_or_else(|| match scope {
            Scope::Project | Scope::Local => {
                Exit::Usage.error(format!("{} has no settings of a project: give --user", client.title))
            }
            Scope::User => Exit::Usage.error("HOME is not set, so you have no settings"),
        })?;
        let config = project.join(self.config.as_deref().unwrap_or(Path::new("hooks.json")));
        let target = Target { client, scope, project, file, config };
        let (exit, written) = if self.remove { self.remove(&target)? } else { self.install(&target)? };
        let done = json!({
            "client": client.name, "settings": target.file.to_string_lossy(),
            "configuration": target.config.to_string_lossy(), "written": written.is_some(),
            "files": written.unwrap_or_default(),
        });
        Ok((exit, done))
    }

    fn install(&self, target: &Target) -> anyhow::Result<(Exit, Option<Vec<Value>>)> {
        let Target { client, scope, .. } = *target;
        let planned = plan::install(target, self.import)?;
        planned.notes.iter().for_each(print::out);
        // From now on the client starts them, so the user sees them before consenting.
        super::trust::programs(&planned.config).iter().for_each(print::out);
        check(planned.config, planned.warnings)?;
        let Some(written) = self.make(target, &planned.changes)? else { return Ok((Exit::Code(1), None)) };
        vouched::note(client, &target.project, &target.file, &target.config)?;
        if client.name == "codex" {
            return Ok((trust::approve(target, self.yes)?, Some(written)));
        }
        if client.name == "claude" {
            return Ok((loaded_by_claude(target), Some(written)));
        }
        if let Some(hint) = hint(client, scope) {
            print::out(hint);
        }
        Ok((Exit::Ok, Some(written)))
    }

    fn remove(&self, target: &Target) -> anyhow::Result<(Exit, Option<Vec<Value>>)> {
        let only = self.config.is_some().then_some(target.config.as_path());
        let plan::Removal { changes, notes } = plan::remove(target, only)?;
        notes.iter().for_each(print::out);
        let before = change::read(&target.file)?;
        let Some(written) = self.make(target, &changes)? else { return Ok((Exit::Code(1), None)) };
        if let Some(before) = before.filter(|_| !changes.is_empty()) {
            vouched::forget(target.client, &target.project, &target.file, &before)?;
            if !target.client.is_installed(&target.project) {
                heartbeat::forget(target.client.dialect, &target.project);
            }
        }
        Ok((Exit::Ok, Some(written)))
    }

    /// Shows changes, asks for consent, and applies them. Returns the changed files, and `None` if the user refuses.
    fn make(&self, target: &Target, changes: &[Change]) -> anyhow::Result<Option<Vec<Value>>> {
        let changes: Vec<&Change> = changes.iter().filter(|change| !change.is_none()).collect();
        if changes.is_empty() {
            print::out("nothing to change");
            return Ok(Some(Vec::new()));
        }
        for change in &changes {
            match self.in_one_line(target, change) {
                Some(line) => print::out(line),
                None => change.show(),
            }
            change.tell_of_link(&target.project, self.yes, self.follow_links)?;
        }
        if !change::consent(self.yes)? {
            print::out("nothing was written");
            return Ok(None);
        }
        let mut files = Vec::new();
        for change in changes {
            change.make()?;
            if change.after.is_none() {
                self.tidy(target, &change.file);
            }
            let word = if change.after.is_some() { "written" } else { "removed" };
            let backup = change::backup(&change.file);
            let kept = backup.exists().then(|| format!("; as it was: {}", backup.display()));
            print::out(format_args!("{word}: {}{}", change.file.display(), kept.unwrap_or_default()));
            files.push(json!({ "file": change.file.to_string_lossy(), "change": word }));
        }
        Ok(Some(files))
    }
}

impl Install {
    /// A short description of a change to an unedited plugin. Only its line of settings matters; the rest is hookbox's
    /// code.
    fn in_one_line(&self, target: &Target, change: &Change) -> Option<String> {
        if self.client.form != Form::Plugin || change.file != target.file {
            return None;
        }
        let shown = |text: &String| plugin::first_difference(text).is_none();
        if !change.before.iter().chain(&change.after).all(shown) {
            return None;
        }
        let Some(text) = &change.after else { return Some(format!("--- {}: hookbox's plugin", change.file.display())) };
        let Installed { command, config, timeout } = Installed::read(text)?;
        let (file, lines) = (change.file.display(), text.lines().count());
        Some(format!(
            "+++ {file}: hookbox's plugin of {lines} lines, which calls {command} with {config} within {timeout} ms"
        ))
    }

    /// Removes the folders that become empty without a file, below the project or the user's home.
    fn tidy(&self, target: &Target, file: &Path) {
        let home = std::env::var_os("HOME").map(PathBuf::from);
        let own = self.client.home().and_then(|home| Some(home.parent()?.to_owned()));
        let mut tops = [Some(target.project.clone()), home, own].into_iter().flatten();
        let top = tops.find(|top| file.starts_with(top));
        if let Some(top) = top {
            user_file::remove_empty_folders(file, &top);
        }
    }
}

/// Checks the configuration like `hookbox check`. Compiled components stay in the cache for the first event.
fn check(mut config: Config, warnings: Vec<Diagnostic>) -> anyhow::Result<()> {
    let file = config.file.display().to_string();
    let mut found = warnings;
    found.extend(config.self_writes());
    // The user has not agreed to run programs yet.
    crate::trust::leave_out_programs(&mut config).iter().for_each(print::out);
    if !config.hooks.is_empty() {
        found.extend(block_on(async { Ok(host(config).await?.check().await) })?);
    }
    diagnostics::out(&found.iter().collect::<Vec<_>>());
    if found.iter().any(Diagnostic::is_error) {
        return Err(Exit::Config.error(format!("nothing was written: not every hook of {file} can be used")));
    }
    Ok(())
}

/// Asks Claude Code if it loads the written file. It drops a whole file for some errors.
fn loaded_by_claude(target: &Target) -> Exit {
    let Some(program) = target.client.program() else { return Exit::Ok };
    let found = match claude::invalid(&program, target.client.home().as_deref(), &target.project) {
        Ok(found) => found,
        Err(error) => {
            print::out(format_args!("{}; `hookbox doctor claude` checks again", report::one_line(&error)));
            return Exit::Ok;
        }
    };
    let mut loaded = true;
    for invalid in found.iter().filter(|invalid| invalid.is_of(&target.file) && !invalid.is_part) {
        loaded = false;
        print::out(format_args!("Claude Code does not load these settings, so no hook of them runs: {}", invalid.text));
    }
    if loaded { Exit::Ok } else { Exit::Config }
}

/// The remaining steps that only the user can do.
fn hint(client: &Client, scope: Scope) -> Option<&'static str> {
    match (client.name, client.form, scope) {
        ("blade", ..) => {
            Some("Blade runs it when the workspace and the hooks are trusted: /hooks trust, in its own terminal")
        }
        ("copilot", _, Scope::Project) => {
            Some("it runs only in a trusted folder; to trust it in headless mode: copilot -p … --trust-folder")
        }
        ("gemini", _, Scope::Project) => Some(
            "it runs only in a trusted folder; to trust it in headless mode: GEMINI_CLI_TRUST_WORKSPACE=true gemini -p …",
        ),
        (_, Form::Plugin, _) => Some("OpenCode loads it when it starts; try a call that your hooks deny"),
        (_, Form::Process, _) => Some("PicoClaw starts it when its gateway starts"),
        _ => None,
    }
}
