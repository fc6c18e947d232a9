//! Remembers the configurations whose warnings this user has seen.

use hookbox::{config::Config, folders, private::Folder, sha256};

/// The maximum number of remembered configurations. The oldest is forgotten first.
const REMEMBERED: usize = 100;
/// The file with one line for each: its path and its state.
const FILE: &str = "warned";

/// Returns true if this user has not seen the warnings of this version of a configuration. Always true if nothing can
/// be remembered.
pub fn first(config: &Config) -> bool {
    let Some(folder) = folders::state().and_then(|state| Folder::open(&state.join("warned")).ok()) else { return true };
    let file = std::path::absolute(&config.file).unwrap_or_else(|_| config.file.clone());
    let place = sha256(file.as_os_str().as_encoded_bytes());
    // The warnings depend on hookbox's version and on `failClosed`.
    let shut = if config.fail_closed { "closed" } else { "open" };
    let state = format!("{} {} {shut} {}", config.digest, config.dialect.name(), env!("CARGO_PKG_VERSION"));
    let line = format!("{place} {state}");
    let known = folder.read(FILE).ok().flatten().and_then(|bytes| String::from_utf8(bytes).ok()).unwrap_or_default();
    if known.lines().any(|known| known == line) {
        return false;
    }
    let others: Vec<&str> = known.lines().filter(|known| !known.starts_with(&place)).collect();
    let newest = others.iter().skip(others.len().saturating_sub(REMEMBERED - 1));
    let lines: String = newest.chain([&line.as_str()]).flat_map(|line| [line, "\n"]).collect();
    // If this fails, the warnings are printed again.
    let _ = folder.write(FILE, &[lines.as_bytes()]);
    true
}
