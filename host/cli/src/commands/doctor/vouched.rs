//! The programs that `doctor` may start: entries that the user made, and no program of a checkout.

use std::{
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
};

use hookbox::{folders, private::Folder, sha256};
use serde_json::{Value, json};

use crate::{
    change,
    clients::{
        Client, Form, Scope,
        command::HookboxCommand,
        on_path, plugin,
        settings::{Found, Settings},
        wiring::Wiring,
    },
    trust, user_file,
};

/// Checks that an entry may be run. `install` wrote it for this user, or it is in the user's own settings, or the user
/// trusts its configuration. In addition, its program must not be part of the checkout.
///
/// # Errors
/// The reason why it may not be run.
pub fn check(
    client: &Client,
    scope: Scope,
    project: &Path,
    file: &Path,
    found: &Found,
    wiring: &Wiring,
) -> Result<(), String> {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let project = real(project);
    let name = found.command.words.first().map_or("hookbox", String::as_str);
    let program = on_path(name).ok_or_else(|| format!("`{name}` is not on the PATH"))?;
    if !program.is_absolute() || real(&program).starts_with(&project) {
        return Err(format!("{} is a program of the project", program.display()));
    }
    if is_noted(&name_of(client, file, &wiring.config.file, &found.handler, &found.command)) {
        return Ok(());
    }
    if program.file_name().is_none_or(|name| name != "hookbox") {
        return Err(format!("{} is not called hookbox", program.display()));
    }
    let line = text(&found.handler);
    if line.is_some_and(|line| line.contains(|c| ";|&`()<>\n\r".contains(c))) {
        return Err("its command line does more than start hookbox, and `hookbox install` did not write it".into());
    }
    if scope == Scope::User && !real(&wiring.config.file).starts_with(&project) {
        return Ok(());
    }
    trust::is_trusted(&wiring.config).map_err(|why| {
        // Trust includes the dialect, which the entry may set instead of the file.
        let dialect = wiring.config.dialect.name();
        format!("{why}; review it, then   hookbox trust --dialect {dialect} {}", wiring.config.file.display())
    })
}

/// Removes the records of the entries that are no longer in these settings, and folders that become empty.
pub fn forget(client: &'static Client, project: &Path, file: &Path, before: &str) -> anyhow::Result<()> {
    let Some(place) = place().filter(|place| place.exists()) else { return Ok(()) };
    let now = match change::read(file)? {
        Some(text) => names(client, project, file, &text)?,
        None => Vec::new(),
    };
    if let Ok(folder) = Folder::open(&place) {
        for name in names(client, project, file, before)?.iter().filter(|name| !now.contains(name)) {
            // A record that stays lets `doctor` run exactly the same entry, which this user once wrote.
            let _ = folder.remove(name);
        }
        drop(folder);
    }
    if let Some(home) = std::env::var_os("HOME").map(PathBuf::from).filter(|home| place.starts_with(home)) {
        // Reading a trust that does not exist leaves its folder behind.
        user_file::remove_empty_folders(&place.with_file_name("trust").join("any"), &home);
        user_file::remove_empty_folders(&place.join("any"), &home);
    }
    Ok(())
}

/// The names of the records of all entries in the text of a client's settings.
fn names(client: &'static Client, project: &Path, file: &Path, text: &str) -> anyhow::Result<Vec<String>> {
    if client.form == Form::Plugin {
        let config = plugin::Installed::read(text).map(|installed| project.join(installed.config));
        let none = HookboxCommand { words: Vec::new(), config: None };
        return Ok(config.map(|config| name_of(client, file, &config, &Value::Null, &none)).into_iter().collect());
    }
    let found = Settings::read(client, file, Some(text))?.found()?;
    let name =
        |found: &Found| name_of(client, file, &found.command.file(client, project), &found.handler, &found.command);
    Ok(found.iter().map(name).collect())
}

/// Records that `install` wrote the entries of a configuration into these settings for this user.
pub fn note(client: &'static Client, project: &Path, file: &Path, config: &Path) -> anyhow::Result<()> {
    let Some(text) = change::read(file)? else { return Ok(()) };
    let mut names = Vec::new();
    if client.form == Form::Plugin {
        names.push(name_of(client, file, config, &Value::Null, &HookboxCommand { words: Vec::new(), config: None }));
    } else {
        let found = Settings::read(client, file, Some(&text))?.found()?;
        let own = found.iter().filter(|found| found.command.runs(client, project, config));
        names.extend(own.map(|found| name_of(client, file, config, &found.handler, &found.command)));
    }
    let Some(folder) = place().and_then(|place| Folder::open(&place).ok()) else { return Ok(()) };
    for name in names {
        // If this fails, `doctor` runs no canary and says why.
        let _ = folder.write(&name, &[]);
    }
    Ok(())
}

fn is_noted(name: &str) -> bool {
    let kept = place().filter(|place| place.exists()).and_then(|place| Folder::open(&place).ok());
    kept.is_some_and(|folder| folder.file(name).is_ok_and(|file| file.is_some()))
}

fn place() -> Option<PathBuf> {
    Some(folders::state()?.join("installed"))
}

/// The name of a record. It includes the command line of an entry. The program of a plugin is hookbox's own code.
fn name_of(client: &Client, file: &Path, config: &Path, handler: &Value, command: &HookboxCommand) -> String {
    let real = |path: &Path| {
        let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        // The bytes, because two paths that are not UTF-8 may have the same text.
        path.to_str().map_or_else(|| json!(path.as_os_str().as_bytes()), |text| json!(text))
    };
    let plugin = client.form == Form::Plugin;
    let (line, words) = if plugin { (None, &[][..]) } else { (text(handler), command.words.as_slice()) };
    let entry = json!([client.name, real(file), real(config), line, words]);
    sha256(entry.to_string().as_bytes())
}

/// The command line that the client's shell runs.
fn text(handler: &Value) -> Option<&str> {
    handler.get("bash").or(handler.get("command")).and_then(Value::as_str)
}
