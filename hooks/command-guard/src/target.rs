//! Reach of a path that a command deletes or overwrites.

use hookbox_shell::{UNKNOWN, Word};

/// Loss with a path, from little to much.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Reach {
    /// Made again by tools, or temporary.
    Disposable,
    /// A part of the project.
    Project,
    /// Not known before it runs.
    Unknown,
    /// Something outside of the project.
    Outside,
    /// The project as a whole, with its history.
    Whole,
    /// The system, or all that a user has.
    Critical,
}

/// Top folders of a system in which everything is the system's.
const SYSTEM: [&str; 16] = [
    "bin",
    "boot",
    "dev",
    "etc",
    "lib",
    "lib32",
    "lib64",
    "proc",
    "sbin",
    "sys",
    "usr",
    "system",
    "library",
    "windows",
    "program files",
    "programdata",
];
/// Top folders that hold those of users and services.
const HOLDERS: [&str; 10] = ["home", "users", "var", "opt", "srv", "run", "mnt", "media", "root", "applications"];

/// Reach of a path. `disposable`: names of folders that may go.
pub(crate) fn reach(word: &Word, disposable: &[String]) -> Reach {
    let text = word.text.replace('\\', "/");
    let (root, rest) = root(&text);
    let mut parts: Vec<&str> = Vec::new();
    let mut above = 0;
    for part in rest.split('/') {
        match part {
            "" | "." => {}
            ".." => above += usize::from(parts.pop().is_none()),
            part => parts.push(part),
        }
    }
    // `x/*` is what is in `x`.
    let all = |part: &str| part.chars().all(|c| matches!(c, '*' | '.' | '?' | '[' | ']' | '!'));
    while parts.last().is_some_and(|part| word.glob && all(part)) {
        parts.pop();
    }
    let known = |part: &&str| !part.contains(UNKNOWN);
    if parts.iter().any(|part| part.eq_ignore_ascii_case(".git")) {
        return Reach::Whole;
    }
    let goes = |part: &&str| disposable.iter().any(|name| name == part);
    let lower = parts.first().map(|part| part.to_ascii_lowercase()).unwrap_or_default();
    match root {
        Root::System if SYSTEM.contains(&lower.as_str()) && !is_users(&parts) => Reach::Critical,
        Root::System if parts.len() == 1 && HOLDERS.contains(&lower.as_str()) => Reach::Critical,
        Root::System if parts.len() == 2 && matches!(lower.as_str(), "home" | "users") => Reach::Critical,
        Root::System | Root::Home if parts.is_empty() => Reach::Critical,
        _ if parts.iter().any(|part| !known(part)) => match (&root, parts.iter().position(|part| !known(part))) {
            // Behind a folder whose content may go, a part is unknown.
            (_, Some(at)) if parts.iter().take(at).any(&goes) || is_temporary(&root, &parts) => Reach::Disposable,
            _ => Reach::Unknown,
        },
        _ if is_temporary(&root, &parts) && parts.len() > 1 => Reach::Disposable,
        Root::System | Root::Home => {
            let inside = parts.len() > 3 && parts.last().is_some_and(goes);
            if inside { Reach::Disposable } else { Reach::Outside }
        }
        Root::Here if above > 0 && parts.is_empty() => Reach::Whole,
        Root::Here if above > 0 && !parts.last().is_some_and(goes) => Reach::Outside,
        Root::Here if parts.is_empty() => Reach::Whole,
        Root::Here if parts.iter().any(goes) => Reach::Disposable,
        Root::Here => Reach::Project,
    }
}

/// Reach of a path after `cd` into a folder: more than its own where the folder is the system's.
pub(crate) fn reach_in(word: &Word, folder: &str, disposable: &[String]) -> Reach {
    let here = reach(word, disposable);
    let relative = !word.text.starts_with(['/', '~', '\\', '$', '%']) && word.text.get(1..2) != Some(":");
    let near = (1..=2).contains(&folder.split('/').filter(|part| !part.is_empty()).count()) || folder == "/";
    if !relative || !near || here < Reach::Project || !folder.starts_with(['/', '~']) {
        return here;
    }
    let mut joined = word.clone();
    joined.text = format!("{folder}/{}", word.text);
    let there = reach(&joined, disposable);
    if there == Reach::Critical { there } else { here }
}

enum Root {
    System,
    Home,
    Here,
}

/// `/`, `C:/`, `//?/C:/`, `/mnt/c/`, `~/`, `~user/`.
fn root(text: &str) -> (Root, &str) {
    let text = text.strip_prefix("//?/").or_else(|| text.strip_prefix("//./")).unwrap_or(text);
    let bytes = text.as_bytes();
    if let (Some(letter), Some(b':')) = (bytes.first(), bytes.get(1))
        && letter.is_ascii_alphabetic()
    {
        return (Root::System, text.get(2..).unwrap_or_default());
    }
    // A drive of Windows, as WSL and Git have them.
    if let [b'/', b'm', b'n', b't', b'/', letter, rest @ ..] = bytes
        && letter.is_ascii_alphabetic()
        && matches!(rest, [] | [b'/', ..])
    {
        return (Root::System, text.get(6..).unwrap_or_default());
    }
    if let Some(rest) = text.strip_prefix('~') {
        return (Root::Home, rest.split_once('/').map_or("", |(_, rest)| rest));
    }
    for variable in ["$env:userprofile", "%userprofile%", "$env:home"] {
        if text.get(..variable.len()).is_some_and(|start| start.eq_ignore_ascii_case(variable)) {
            return (Root::Home, text.get(variable.len()..).unwrap_or_default());
        }
    }
    match text.strip_prefix('/') {
        Some(rest) => (Root::System, rest),
        None => (Root::Here, text),
    }
}

fn is_temporary(root: &Root, parts: &[&str]) -> bool {
    let temporary = matches!(parts, ["tmp", ..] | ["var" | "private", "tmp", _, ..] | ["dev", "shm", _, ..]);
    matches!(root, Root::System) && temporary
}

/// Files of users in the system's folders.
fn is_users(parts: &[&str]) -> bool {
    matches!(parts, ["dev", "shm", _, ..])
}
