//! The user's folders, as the XDG base directory specification defines them.

use std::{env, path::PathBuf};

/// The folder of hookbox's persistent data: `$XDG_STATE_HOME/hookbox`, or `~/.local/state/hookbox`. `None` without a
/// home directory.
pub fn state() -> Option<PathBuf> {
    user("XDG_STATE_HOME", ".local/state")
}

/// The folder of the user's settings: `$XDG_CONFIG_HOME/hookbox`, or `~/.config/hookbox`. `None` without a home
/// directory.
pub fn config() -> Option<PathBuf> {
    user("XDG_CONFIG_HOME", ".config")
}

/// The default file for the state of hooks.
pub(crate) fn state_file() -> Option<PathBuf> {
    Some(state()?.join("state.db"))
}

/// The default folder of compiled components: `$XDG_CACHE_HOME/hookbox`, or `~/.cache/hookbox`. `None` without a home
/// directory.
pub fn cache() -> Option<PathBuf> {
    user("XDG_CACHE_HOME", ".cache")
}

/// The `hookbox` folder below the folder in `variable`, or else below `fallback` in the home directory. `None` without
/// a home directory.
/// "All paths set in these environment variables must be absolute. If an implementation encounters a relative path in
/// any of these variables it should consider the path invalid and ignore it."
fn user(variable: &str, fallback: &str) -> Option<PathBuf> {
    let absolute = |name| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let base = absolute(variable).or_else(|| Some(absolute("HOME")?.join(fallback)))?;
    Some(base.join("hookbox"))
}
