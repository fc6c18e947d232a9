//! Which configurations this user was warned of.

use hookbox::{config::Config, folders, private::Folder, sha256};

/// Configurations that are remembered; the oldest is forgotten first.
const REMEMBERED: usize = 100;
/// The file they are in, a line each: where the configuration is, and what it was like.
const FILE: &str = "warned";

/// Returns true if this user is warned of a configuration as it is now for the first time. Where nothing can be remembered, every
/// time is the first.
pub fn first(config: &Config) -> bool {
    let Some(folder) = folders::state().and_then(|state| Folder::open(&state.join("warned")).ok()) else { return true };
    let file = std::path::absolute(&config.file).unwrap_or_else(|_| config.file.clone());
    let place = sha256(file.as_os_str().as_encoded_bytes());
    // Another version may warn of more, and so may a call without `--fail-closed`.
    let shut = if config.fail_closed { "closed" } else { "open" };
    let state = format!("{} {} {shut} {}", config.digest, config.dialect.name(), env!("CARGO_PKG_VERSION"));
    let line = format!("{place} {state}");
    let known = folder.read(FILE).ok().flatten().and_then(|bytes| String::from_utf8(bytes).ok()).unwrap_or_default();
    if known.lines().any(|known| known == line) {
        return false;
    }
    let others: Vec<&str> = known.lines().filter(|known| !known.starts_with(&place)).collect();
    let kept = others.iter().skip(others.len().saturating_sub(REMEMBERED - 1));
    let lines: String = kept.chain([&line.as_str()]).flat_map(|line| [line, "\n"]).collect();
    // What cannot be remembered is told again.
    let _ = folder.write(FILE, &[lines.as_bytes()]);
    true
}
