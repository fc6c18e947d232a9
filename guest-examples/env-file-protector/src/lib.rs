//! Prevents an agent from writing `.env`, `.env.*` and any file in `.git/`.

use hookbox_guest::prelude::*;

/// Tools that write files: those of claude and blade, then those of picoclaw. Reading is allowed, whatever the matcher
/// says.
const WRITERS: [&str; 7] = ["Write", "Edit", "MultiEdit", "NotebookEdit", "write_file", "edit_file", "append_file"];

/// Pointers to the path in the tools' inputs.
const PATHS: [&str; 4] = ["/file_path", "/filePath", "/notebook_path", "/path"];

struct EnvFileProtector;

impl PreToolUse for EnvFileProtector {
    fn handle(_: &EventContext, call: &ToolCall) -> Result<Output> {
        if !WRITERS.contains(&call.name.as_str()) {
            return Ok(pass());
        }
        let protected = PATHS.iter().filter_map(|place| call.input.str(place)).find(|path| is_protected(path));
        Ok(protected.map_or_else(pass, |path| deny(format!("{path} is protected from changes"))))
    }
}

hookbox_guest::export!(EnvFileProtector: PreToolUse);

/// Ignores letter case, because some file systems ignore it too.
fn is_protected(path: &str) -> bool {
    let path = path.to_ascii_lowercase();
    let parts = parts(&path);
    let is_env = parts.last().is_some_and(|name| *name == ".env" || name.starts_with(".env."));
    is_env || parts.contains(&".git")
}

/// Splits a path into names and resolves `.` and `..` by name only: `a/../.env` is `.env`.
fn parts(path: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    for part in path.split(['/', '\\']) {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decide(tool: &str, input: Value) -> Result<Output> {
        EnvFileProtector::handle(&EventContext::default(), &ToolCall::new(tool, input))
    }

    #[test]
    fn environment_files_are_protected_however_the_path_is_written() {
        for path in [
            ".env",
            "/home/dev/project/.env",
            "a/../.env",
            "./.env.production",
            "a/./b/../../.env.local",
            ".env/",
            "C:\\project\\.env",
            ".ENV",
        ] {
            let decision = decide("Write", json!({"file_path": path, "content": ""}));
            assert_eq!(decision, Ok(deny(format!("{path} is protected from changes"))));
        }
    }

    #[test]
    fn the_git_directory_is_protected() {
        assert_eq!(
            decide("Edit", json!({"file_path": ".git/config"})),
            Ok(deny(".git/config is protected from changes"))
        );
        assert_eq!(
            decide("MultiEdit", json!({"file_path": "/p/.git/hooks/x"})),
            Ok(deny("/p/.git/hooks/x is protected from changes"))
        );
        assert_eq!(
            decide("edit_file", json!({"path": "src/../.git/HEAD"})),
            Ok(deny("src/../.git/HEAD is protected from changes"))
        );
    }

    #[test]
    fn other_files_are_ignored() {
        for path in [
            "src/env.rs",
            "environment",
            "a.env",
            ".envrc",
            ".gitignore",
            ".github/workflows/ci.yml",
            ".git/../README.md",
        ] {
            assert_eq!(decide("Write", json!({"file_path": path})), Ok(pass()), "{path}");
        }
    }

    #[test]
    fn reading_is_allowed_even_without_a_matcher() {
        assert_eq!(decide("Read", json!({"file_path": ".env"})), Ok(pass()));
    }
}
