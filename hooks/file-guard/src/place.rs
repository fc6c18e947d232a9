//! A path as what it names: without spellings that name the same file.

use hookbox_shell::UNKNOWN;

/// A path in parts, in small letters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Place {
    /// It begins at a root, or at a home.
    pub(crate) absolute: bool,
    /// The names of its folders and its own.
    pub(crate) parts: Vec<String>,
    /// Of these, those before the first one in the home of a user.
    pub(crate) home: Option<usize>,
}

/// Names of the folder of a user, as commands and tools have them.
const HOMES: [&str; 7] =
    ["$home", "${home}", "%userprofile%", "%homepath%", "$env:userprofile", "${env:userprofile}", "$env:home"];
/// Letters that some file systems do not see.
const INVISIBLE: [char; 9] =
    ['\u{200b}', '\u{200c}', '\u{200d}', '\u{200e}', '\u{200f}', '\u{2060}', '\u{feff}', '\u{ad}', '\u{180e}'];

/// The place that a path names. `folder`: the start of relative paths.
pub(crate) fn place(path: &str, folder: Option<&Place>) -> Place {
    let path = path.trim().trim_matches(['"', '\'']);
    let path = match path.get(..7) {
        Some(start) if start.eq_ignore_ascii_case("file://") => decoded(path.get(7..).unwrap_or_default()),
        _ => path.to_owned(),
    };
    let path: String = path.chars().filter(|c| !INVISIBLE.contains(c)).flat_map(char::to_lowercase).collect();
    let path = path.replace('\\', "/");
    let path = ["//?/", "//./"].iter().find_map(|start| path.strip_prefix(start)).unwrap_or(&path);
    let bytes = path.as_bytes();
    let (mut absolute, mut home, mut rest) = (false, None, path);
    if let [letter, b':', ..] = bytes
        && letter.is_ascii_alphabetic()
    {
        (absolute, rest) = (true, path.get(2..).unwrap_or_default());
    } else if let Some(drive) = ["/mnt/", "/cygdrive/", "/"].iter().find_map(|start| drive(path.strip_prefix(start)?)) {
        (absolute, rest) = (true, drive);
    } else if let Some(after) = path.strip_prefix('~') {
        (absolute, home, rest) = (true, Some(0), after.split_once('/').map_or("", |(_, rest)| rest));
    } else if let Some(after) = HOMES.iter().find_map(|name| path.strip_prefix(name)) {
        (absolute, home, rest) = (true, Some(0), after);
    } else if path.starts_with('/') {
        absolute = true;
    }
    let mut parts: Vec<String> = Vec::new();
    if !absolute && let Some(folder) = folder {
        (absolute, home) = (folder.absolute, folder.home);
        parts.clone_from(&folder.parts);
    }
    for part in rest.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(named(part)),
        }
    }
    if home.is_some_and(|home| parts.len() < home) {
        home = None;
    }
    let home = home.or_else(|| in_home(absolute, &parts));
    Place { absolute, parts, home }
}

/// `c/Users` is `/Users` on a drive.
fn drive(path: &str) -> Option<&str> {
    let (letter, rest) = path.split_once('/').unwrap_or((path, ""));
    (letter.len() == 1 && letter.bytes().all(|byte| byte.is_ascii_alphabetic())).then_some(rest)
}

/// A name without what Windows does not see: blanks and dots at its end, the name of a stream.
fn named(part: &str) -> String {
    let whole = part;
    let part = part.split(':').next().unwrap_or_default();
    let part = part.trim_end_matches(['.', ' ']);
    if part.is_empty() { whole.to_owned() } else { part.to_owned() }
}

/// Number of parts before those in the home of a user.
fn in_home(absolute: bool, parts: &[String]) -> Option<usize> {
    let names: Vec<&str> = parts.iter().map(String::as_str).collect();
    match names.as_slice() {
        _ if !absolute => None,
        ["root", ..] => Some(1),
        ["home" | "users", _, ..] => Some(2),
        ["var", "home", _, ..] => Some(3),
        _ => None,
    }
}

/// `%2e` is `.`; what is no code stays.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let code = (*first == b'%').then(|| after.get(..2)).flatten();
        let code = code.and_then(|code| u8::from_str_radix(std::str::from_utf8(code).ok()?, 16).ok());
        bytes.push(code.unwrap_or(*first));
        rest = if code.is_some() { after.get(2..).unwrap_or_default() } else { after };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

impl Place {
    /// Returns true if it may be several files.
    pub(crate) fn is_glob(&self) -> bool {
        self.parts.iter().any(|part| part.contains(['*', '?', '[', UNKNOWN]))
    }

    /// Returns true if nothing is known of its name.
    pub(crate) fn is_unknown(&self) -> bool {
        self.parts.last().is_some_and(|part| part.chars().all(|c| c == UNKNOWN))
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "it is a test")]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_one_file_are_one_place() {
        let folder = place("/home/dev/project", None);
        let env = place("/home/dev/project/.env", None);
        for path in [
            ".env",
            "./.env",
            "a/../.env",
            ".ENV",
            ".env.",
            ".env ",
            ".env::$DATA",
            "\".env\"",
            "~/project/.env/../.env",
            "file:///home/dev/project/%2eenv",
            "/home//dev/./project/.env",
            "/home/dev/project/.e\u{200b}nv",
            "sub\\..\\.env",
        ] {
            let found = place(path, Some(&folder));
            assert_eq!(found.parts.last(), env.parts.last(), "{path}");
            assert!(found.home.is_some(), "{path}");
        }
        let windows = place("C:\\Users\\dev\\.ssh\\id_rsa", None);
        for path in ["/mnt/c/Users/dev/.ssh/id_rsa", "/c/users/dev/.ssh/ID_RSA", "\\\\?\\C:\\Users\\dev\\.ssh\\id_rsa"]
        {
            assert_eq!(place(path, None), windows, "{path}");
        }
    }

    #[test]
    fn the_home_of_a_user_has_many_names() {
        for path in [
            "~/.ssh/x",
            "$HOME/.ssh/x",
            "${HOME}/.ssh/x",
            "%USERPROFILE%\\.ssh\\x",
            "/root/.ssh/x",
            "~dev/.ssh/x",
            "/Users/dev/.ssh/x",
        ] {
            let found = place(path, None);
            assert_eq!(found.parts.get(found.home.unwrap()..).unwrap(), [".ssh", "x"], "{path}");
        }
    }
}
