//! Codex silently ignores a hook whose hash is not approved.

use std::path::Path;

use super::Place;
use crate::{
    change::{self, Backup, Change},
    clients::{
        Scope,
        codex::{self, Listed},
        settings::{PlacedHandler, Settings},
    },
    exit::Exit,
    print,
};

/// Shows the hooks that Codex reports for the written entries, and approves them with the user's consent.
pub fn approve(place: &Place, yes: bool) -> anyhow::Result<Exit> {
    let Some(program) = place.client.program() else {
        print::out(
            "codex is not on the PATH, so the hashes of the hooks are unknown; approve them in its terminal, with /hooks",
        );
        return Ok(Exit::Ok);
    };
    let root = codex::root(&place.project).to_owned();
    let trusts =
        |text: Option<&str>, file: &Path| Ok::<_, anyhow::Error>(codex::Settings::read(file, text)?.trusts(&root));
    let file = settings_file(place)?;
    let text = change::read(&file)?;
    let mut untouched = !text.as_deref().unwrap_or_default().contains("hookbox");
    if place.scope == Scope::Project && !trusts(text.as_deref(), &file)? {
        print::out(format_args!(
            "Codex runs the hooks of a project only if the project is trusted; {} is not:",
            root.display()
        ));
        let mut settings = codex::Settings::read(&file, text.as_deref())?;
        settings.trust(&root)?;
        if !make(&file, text, settings.text(), yes, Backup::Make)? {
            return Ok(Exit::Code(1));
        }
        untouched = false;
    }
    let waiting: Vec<Listed> = ours(&program, place)?.hooks.into_iter().filter(|hook| !hook.trusted).collect();
    if !waiting.is_empty() {
        print::out("Codex reports these hashes, and runs only hooks whose hash is recorded:");
        let text = change::read(&file)?;
        let mut settings = codex::Settings::read(&file, text.as_deref())?;
        for hook in &waiting {
            print::out(format_args!("  {}   {}", hook.hash, hook.command));
            settings.approve(hook)?;
        }
        let backup = if untouched { Backup::Make } else { Backup::Keep };
        if !make(&file, text, settings.text(), yes, backup)? {
            return Ok(Exit::Code(1));
        }
    }
    let codex::Answer { hooks: now, warnings } = ours(&program, place)?;
    let (trusted, not): (Vec<&Listed>, Vec<&Listed>) = now.iter().partition(|hook| hook.trusted && hook.enabled);
    for hook in &not {
        let why = if hook.enabled { "has not approved it" } else { "has disabled it" };
        print::out(format_args!("{}: Codex {why}", hook.key));
    }
    if now.is_empty() {
        for warning in &warnings {
            print::out(format_args!("Codex: {warning}"));
        }
        let why = if warnings.is_empty() { ": its settings may switch hooks off" } else { "" };
        print::out(format_args!("Codex does not list the hooks that were written, so it does not run them{why}"));
    } else {
        print::out(format_args!("Codex trusts {} of {} hooks", trusted.len(), now.len()));
    }
    Ok(if not.is_empty() && !now.is_empty() { Exit::Ok } else { Exit::Config })
}

/// Updates the approvals in `config.toml` when entries of `hooks.json` change. Removes approvals of removed hookbox
/// entries, and moves those of other hooks to their new places. With the last entry, removes the trust that `install`
/// added.
pub fn follow(
    place: &Place,
    before: &Settings,
    after: &Settings,
    last: bool,
) -> anyhow::Result<(Option<Change>, Vec<String>)> {
    let Place { file: hooks, project, scope, .. } = place;
    let resolved = hooks.canonicalize().unwrap_or_else(|_| hooks.clone());
    let mut names = vec![hooks.as_path()];
    names.extend(Some(resolved.as_path()).filter(|resolved| resolved != hooks));
    let keys = |placed: &PlacedHandler| {
        names.iter().map(|name| codex::key(name, &placed.event, placed.place)).collect::<Vec<_>>()
    };
    let (before, after) = (before.layout()?, after.layout()?);
    let (mut moves, mut forgotten) = (Vec::new(), Vec::new());
    let mut left = after.iter().filter(|placed| !placed.is_ours).collect::<Vec<_>>();
    for placed in &before {
        // Handlers that stay keep their order.
        let stays = left.iter().position(|other| other.event == placed.event && other.what == placed.what);
        match stays.filter(|_| !placed.is_ours) {
            Some(at) => {
                let to = left.remove(at);
                if to.place != placed.place {
                    moves.extend(keys(placed).into_iter().zip(keys(to)));
                }
            }
            // A new hookbox entry at the same place is approved again.
            None if after
                .iter()
                .any(|other| other.is_ours && other.event == placed.event && other.place == placed.place) => {}
            None => forgotten.extend(keys(placed)),
        }
    }
    let file = settings_file(place)?;
    let Some(text) = change::read(&file)? else { return Ok((None, Vec::new())) };
    let mut settings = codex::Settings::read(&file, Some(&text))?;
    settings.forget(&forgotten);
    let approvals = settings.carry(&moves);
    let mut notes = Vec::new();
    if approvals > 0 {
        let hooks =
            if approvals == 1 { "1 other hook moves".to_owned() } else { format!("{approvals} other hooks move") };
        notes.push(format!("{hooks} to another position in the file, with their approvals by Codex"));
    }
    if last && *scope == Scope::Project && settings.distrust(codex::root(project)) {
        notes.push(format!("Codex trusted {} only for hookbox: this trust is removed", codex::root(project).display()));
    }
    let after = settings.text();
    let after = (!after.trim().is_empty()).then_some(after);
    let backup = if last { Backup::Drop } else { Backup::Keep };
    Ok((Some(Change { file, before: Some(text), after, backup }), notes))
}

/// hookbox's hooks in these settings, as Codex lists them.
fn ours(program: &Path, place: &Place) -> anyhow::Result<codex::Answer> {
    let same = |source: &Path| source == place.file || source.canonicalize().ok() == place.file.canonicalize().ok();
    let of_ours = |hook: &Listed| {
        let words = crate::clients::entry::ours(&serde_json::json!({ "command": hook.command }));
        same(&hook.source) && words.is_some_and(|ours| ours.runs(place.client, &place.project, &place.config))
    };
    let mut answer = codex::list(program, &place.project)?;
    answer.hooks.retain(of_ours);
    Ok(answer)
}

fn settings_file(place: &Place) -> anyhow::Result<std::path::PathBuf> {
    let home = place.client.home().ok_or_else(|| Exit::Usage.error("HOME is not set, so Codex has no settings"))?;
    Ok(home.join("config.toml"))
}

fn make(file: &Path, before: Option<String>, after: String, yes: bool, backup: Backup) -> anyhow::Result<bool> {
    let backup = if change::backup(file).exists() { Backup::Keep } else { backup };
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
