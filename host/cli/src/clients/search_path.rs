//! Finds programs on the `PATH`.

use std::path::PathBuf;

/// The program that a shell would run under this name.
pub fn on_path(name: &str) -> Option<PathBuf> {
    use std::os::unix::fs::PermissionsExt;
    let runs =
        |file: &PathBuf| file.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0);
    if name.contains('/') {
        return Some(PathBuf::from(name)).filter(runs);
    }
    search_path().into_iter().map(|folder| folder.join(name)).find(runs)
}

/// The trusted folders of `PATH`: absolute paths that are not within the current folder, which may be a checkout.
pub fn search_path() -> Vec<PathBuf> {
    let here = std::env::current_dir().and_then(|folder| folder.canonicalize()).ok();
    let own = |folder: &PathBuf| {
        let real = folder.canonicalize().unwrap_or_else(|_| folder.clone());
        folder.is_absolute() && here.as_ref().is_none_or(|here| !real.starts_with(here))
    };
    std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()).filter(own).collect()
}
