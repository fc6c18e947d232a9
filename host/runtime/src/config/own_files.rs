//! Grants that let a hook change its own grants.

use std::path::{Path, PathBuf};

use super::{Config, Diagnostic, Handler, Severity};
use crate::folders;

impl Config {
    /// A warning for each `write` grant that covers this configuration, one of its components, or hookbox's own data. A
    /// hook that can write there can grant itself more. Checks the folders as they are now.
    pub fn self_writes(&self) -> Vec<Diagnostic> {
        let components = self.hooks.iter().filter_map(|hook| match &hook.handler {
            Handler::Wasm(wasm) => Some(wasm.component.clone()),
            _ => None,
        });
        let own_folders = folders::state().into_iter().chain(folders::cache());
        let files: Vec<PathBuf> = [self.file.clone()].into_iter().chain(components).chain(own_folders).collect();
        let mut found = Vec::new();
        for hook in &self.hooks {
            let Handler::Wasm(wasm) = &hook.handler else { continue };
            for (guest, folder) in &wasm.permissions.write {
                let Some(file) = files.iter().find(|file| covers(Path::new(folder), file)) else { continue };
                let message = format!("`{}` may write to {}, and so change its own grants", hook.name, file.display());
                let pointer = format!("{}/permissions/write/{}", hook.pointer, hookbox_protocol::json::token(guest));
                let help = "grant it a folder without files of hookbox".to_owned();
                let diagnostic = self.error_at(&pointer, message, Some(help));
                found.push(Diagnostic { severity: Severity::Warning, ..diagnostic });
            }
        }
        found
    }
}

/// Returns true if a file, or the target of its symlink, is below a folder.
fn covers(folder: &Path, file: &Path) -> bool {
    let Ok(folder) = folder.canonicalize() else { return false };
    let place = std::path::absolute(file)
        .ok()
        .and_then(|file| Some(file.parent()?.canonicalize().ok()?.join(file.file_name()?)));
    [place, file.canonicalize().ok()].into_iter().flatten().any(|file| file.starts_with(&folder))
}
