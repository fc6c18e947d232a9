//! Codex silently ignores a hook whose hash is not approved.

use std::path::Path;

use super::Target;
use crate::{
    change::{self, Backup, Change},
    clients::{
        Scope,
        codex::{self, Listed},
        command::HookboxCommand,
        settings::{PlacedHandler, Settings},
    },
    exit::Exit,
    print,
};

/// Shows the hooks that Codex reports for the written entries, and approves them with the user's consent.
pub fn approve(target: &Target, yes: bool) -> anyhow::Result<Exit> {
    let Some(program) = target.client.program() else {
        print::out(
            "codex is not on the PATH, so the hashes of the hooks are unknown; approve them in its terminal, with /hooks",
        );
        return Ok(Exit::Ok);
    };
    let root = codex::root(&target.project).to_owned();
    let trusts =
        |text: Option<&str>, file: &Path| Ok::<_, anyhow::Error>(codex::Settings::read(file, text)?.trusts(&root));
    let file = settings_file(target)?;
    let text = change::read(&file)?;
    let mut untouched = !text.as_deref().unwrap_or_default().contains("hookbox");
    if target.scope == Scope::Project && !trusts(text.as_deref(), &file)? {
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
    let waiting: Vec<Listed> = listed(&program, target)?.hooks.into_iter().filter(|hook| !hook.trusted).collect();
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
    let codex::Answer { hooks: now, warnings } = listed(&program, target)?;
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
/// entries, and moves those of other hooks to their new positions. With the last entry, removes the trust that `install`
/// added.
pub fn follow(
    target: &Target,
    before: &Settings,
    after: &Settings,
    last: bool,
) -> anyhow::Result<(Option<Change>, Vec<String>)> {
    let Target { file: hooks, project, scope, .. } = target;
    let resolved = hooks.canonicalize().unwrap_or_else(|_| hooks.clone());
    let mut names = vec![hooks.as_path()];
    names.extend(Some(resolved.as_path()).filter(|resolved| resolved != hooks));
    let keys = |placed: &PlacedHandler| {
        names.iter().map(|name| codex::key(name, &placed.event, placed.position)).collect::<Vec<_>>()
    };
    let (before, after) = (before.layout()?, after.layout()?);
    let (mut moves, mut forgotten) = (Vec::new(), Vec::new());
    let mut left = after.iter().filter(|placed| !placed.runs_hookbox).collect::<Vec<_>>();
    for placed in &before {
        // Handlers that stay keep their order.
        let stays = left.iter().position(|other| other.event == placed.event && other.group == placed.group);
        match stays.filter(|_| !placed.runs_hookbox) {
            Some(at) => {
                let to = left.remove(at);
                if to.position != placed.position {
                    moves.extend(keys(placed).into_iter().zip(keys(to)));
                }
            }
            // A new hookbox entry at the same position is approved again.
            None if after.iter().any(|other| {
                other.runs_hookbox && other.event == placed.event && other.position == placed.position
            }) => {}
            None => forgotten.extend(keys(placed)),
        }
    }
    let file = settings_file(target)?;
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
fn listed(program: &Path, target: &Target) -> anyhow::Result<codex::Answer> {
    let same = |source: &Path| source == target.file || source.canonicalize().ok() == target.file.canonicalize().ok();
    let runs_hookbox = |hook: &Listed| {
        let command = HookboxCommand::of(&serde_json::json!({ "command": hook.command }));
        same(&hook.source)
            && command.is_some_and(|command| command.runs(target.client, &target.project, &target.config))
    };
    let mut answer = codex::list(program, &target.project)?;
    answer.hooks.retain(runs_hookbox);
    Ok(answer)
}

fn settings_file(target: &Target) -> anyhow::Result<std::path::PathBuf> {
    let home = target.client.home().ok_or_else(|| Exit::Usage.error("HOME is not set, so Codex has no settings"))?;
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
