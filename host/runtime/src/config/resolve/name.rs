//! The default names of hooks. Names become labels, so they must not contain secrets.

use std::path::Path;

use hookbox_protocol::json::shorten;
use url::Url;

use super::Finding;

/// The maximum length of a name in characters. It is part of every record, metric and message about the hook.
pub(super) const LIMIT: usize = 200;

/// A configured name. Reports a name that is too long, and cuts it.
pub(super) fn bounded(name: String, pointer: &str, found: &mut Vec<Finding>) -> String {
    let length = name.chars().count();
    if length <= LIMIT {
        return name;
    }
    let message =
        format!("the hook's name has {length} characters, but at most {LIMIT} are allowed: `{}`", shorten(&name, 40));
    found.push(Finding::error(pointer, message).help("give it a shorter name"));
    shorten(&name, LIMIT)
}

/// The file name, without folders.
pub(super) fn of_file(path: &str) -> String {
    let name = Path::new(path).file_name().unwrap_or(path.as_ref());
    name.to_string_lossy().into_owned()
}

/// The file name of the program in a command line. `command` if it cannot be recognised.
pub(super) fn of_command(line: &str) -> String {
    let mut words = line.split_whitespace();
    let program = loop {
        match words.next() {
            // Skip an assignment before the command. A quoted value could continue in the next word, so it ends the
            // search.
            Some(word) if word.contains('=') && !word.contains(['\'', '"', '`', '$', '(']) => {}
            other => break other.unwrap_or_default(),
        }
    };
    let name = of_file(program.trim_matches(['"', '\'']));
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-+".contains(c);
    let is_name = !name.is_empty() && name.chars().all(plain) && !program.contains('=');
    if is_name { name } else { "command".to_owned() }
}

/// The URL's host.
pub(super) fn of_url(url: &str) -> String {
    let host = Url::parse(url).ok().and_then(|url| url.host_str().map(str::to_owned));
    host.unwrap_or_else(|| "http".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_holds_no_secret() {
        for (line, name) in [
            ("./hooks/check.sh --token=abc", "check.sh"),
            ("\"$CLAUDE_PROJECT_DIR\"/check.sh", "check.sh"),
            ("TOKEN=abc ./deploy", "deploy"),
            ("TOKEN='a b' ./deploy", "command"),
            ("TOKEN=$(cat secret) ./deploy", "command"),
            ("jq -c .", "jq"),
            ("if true; then x; fi", "if"),
            ("(cd x; y)", "command"),
            ("TOKEN=abc", "command"),
            ("", "command"),
        ] {
            assert_eq!(of_command(line), name, "{line}");
        }
        assert_eq!(of_url("https://user:secret@hooks.example.com:8443/T0/secret?key=1"), "hooks.example.com");
        assert_eq!(of_url("nonsense"), "http");
        assert_eq!(of_file("a/b/guard.wasm"), "guard.wasm");
    }
}
