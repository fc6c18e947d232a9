//! Codex: without an approval of its hash a hook there does not run, and nobody says so.

use std::path::Path;

use super::Place;
use crate::{
    change::{self, Backup, Change},
    clients::{
        Scope,
        codex::{self, Listed},
        entry::Ours,
        settings::Settings,
    },
    exit::Exit,
    print,
};

/// Shows what Codex reports of the hooks that were written, and records it with its user's consent.
pub fn approve(place: &Place, yes: bool) -> anyhow::Result<Exit> {
    let Some(program) = place.client.program() else {
        print::out(
            "codex is not on the PATH, so it cannot be asked for the hash of the hooks; approve them in its terminal, with /hooks",
        );
        return Ok(Exit::Ok);
    };
    let root = codex::root(&place.project).to_owned();
    let trusts =
        |text: Option<&str>, file: &Path| Ok::<_, anyhow::Error>(codex::Settings::read(file, text)?.trusts(&root));
    let file = settings_file(place)?;
    let text = change::read(&file)?;
    if place.scope == Scope::Project && !trusts(text.as_deref(), &file)? {
        print::out(format_args!("Codex runs hooks of a project only where it is trusted; {} is not:", root.display()));
        let mut settings = codex::Settings::read(&file, text.as_deref())?;
        settings.trust(&root)?;
        if !make(&file, text, settings.text(), yes)? {
            return Ok(Exit::Told(1));
        }
    }
    let waiting: Vec<Listed> = ours(&program, place)?.into_iter().filter(|hook| !hook.trusted).collect();
    if !waiting.is_empty() {
        print::out("Codex reports these hashes, and runs only hooks whose hash is recorded:");
        let text = change::read(&file)?;
        let mut settings = codex::Settings::read(&file, text.as_deref())?;
        for hook in &waiting {
            print::out(format_args!("  {}   {}", hook.hash, hook.command));
            settings.approve(hook)?;
        }
        if !make(&file, text, settings.text(), yes)? {
            return Ok(Exit::Told(1));
        }
    }
    let now = ours(&program, place)?;
    let (trusted, not): (Vec<&Listed>, Vec<&Listed>) = now.iter().partition(|hook| hook.trusted && hook.enabled);
    for hook in &not {
        let why = if hook.enabled { "does not trust it" } else { "was told not to run it" };
        print::out(format_args!("{}: Codex {why}", hook.key));
    }
    if now.is_empty() {
        print::out("Codex does not list the hooks that were written: its settings may switch hooks off");
    } else {
        print::out(format_args!("Codex trusts {} of {} hooks", trusted.len(), now.len()));
    }
    Ok(if not.is_empty() && !now.is_empty() { Exit::Ok } else { Exit::Software })
}

/// What takes the approvals out again.
pub fn forget(place: &Place, only: Option<&Path>) -> anyhow::Result<Option<Change>> {
    let Place { client, file: hooks, project, .. } = place;
    let settings = Settings::read(client, hooks, change::read(hooks)?.as_deref())?;
    let goes = |ours: &Ours| only.is_none_or(|config| ours.runs(client, project, config));
    let resolved = hooks.canonicalize().unwrap_or_else(|_| hooks.clone());
    let found = settings.found()?;
    let found = found.iter().filter(|found| goes(&found.ours));
    let keys: Vec<String> =
        found.flat_map(|f| [hooks, &resolved].map(|file| codex::key(file, &f.event, f.place))).collect();
    let file = settings_file(place)?;
    let Some(text) = change::read(&file)? else { return Ok(None) };
    let mut settings = codex::Settings::read(&file, Some(&text))?;
    settings.forget(&keys);
    let after = settings.text();
    let after = if after.trim().is_empty() && !change::backup(&file).exists() { None } else { Some(after) };
    let backup = if after == change::read(&change::backup(&file))? { Backup::Drop } else { Backup::Keep };
    Ok(Some(Change { file, before: Some(text), after, backup }))
}

/// Our hooks of these settings, as the client knows them.
fn ours(program: &Path, place: &Place) -> anyhow::Result<Vec<Listed>> {
    let same = |source: &Path| source == place.file || source.canonicalize().ok() == place.file.canonicalize().ok();
    let of_ours = |hook: &Listed| {
        let words = crate::clients::entry::ours(&serde_json::json!({ "command": hook.command }));
        same(&hook.source) && words.is_some_and(|ours| ours.runs(place.client, &place.project, &place.config))
    };
    Ok(codex::list(program, &place.project)?.into_iter().filter(of_ours).collect())
}

fn settings_file(place: &Place) -> anyhow::Result<std::path::PathBuf> {
    let home = place.client.home().ok_or_else(|| Exit::Usage.error("HOME is not set, so Codex has no settings"))?;
    Ok(home.join("config.toml"))
}

fn make(file: &Path, before: Option<String>, after: String, yes: bool) -> anyhow::Result<bool> {
    let backup = if change::backup(file).exists() { Backup::Keep } else { Backup::Make };
    let change = Change { file: file.to_owned(), before, after: Some(after), backup };
    change.show();
    if !change::consent(yes)? {
        print::out("nothing was written: until it is recorded, Codex will not run the hooks");
        return Ok(false);
    }
    change.make()?;
    print::out(format_args!("written: {}", file.display()));
    Ok(true)
}
