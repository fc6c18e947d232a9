//! Redirects files that an agent writes to a sandbox directory: `/etc/hosts` becomes `/sandbox/etc/hosts`.

use hookbox_guest::prelude::*;

/// Tools that write a file: that of claude and blade, then that of picoclaw.
const WRITERS: [&str; 2] = ["Write", "write_file"];

/// Pointers to the path in the tools' inputs: claude and blade, then blade-callback, then picoclaw.
const PLACES: [&str; 3] = ["/file_path", "/filePath", "/path"];

struct PathRewriter;

#[derive(serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Config {
    /// Absolute path of the directory that all files are written to.
    prefix: String,
}

impl Default for Config {
    fn default() -> Self {
        Self { prefix: "/sandbox".to_owned() }
    }
}

impl PreToolUse for PathRewriter {
    fn handle(context: &EventContext, call: &ToolCall) -> Result<Output> {
        if !WRITERS.contains(&call.name.as_str()) {
            return Ok(pass());
        }
        let Config { prefix } = config::get()?;
        if !prefix.starts_with('/') {
            return Err(format!("configuration: prefix must be an absolute path, not `{prefix}`").into());
        }
        for place in PLACES {
            if let Some(path) = call.input.str(place) {
                return match inside(&prefix, context.cwd.as_deref(), path) {
                    Some(moved) => Ok(allow().rewrite(call.input.with(place, moved)?)),
                    None => Ok(pass()),
                };
            }
        }
        Ok(pass())
    }
}

hookbox_guest::export!(PathRewriter: PreToolUse);

/// Returns the path below the prefix, or `None` if it is already there. Resolves `..` first, because it must not lead
/// out.
fn inside(prefix: &str, cwd: Option<&str>, path: &str) -> Option<String> {
    let prefix = parts(prefix);
    let mut target = if path.starts_with('/') { Vec::new() } else { parts(cwd.unwrap_or_default()) };
    walk(&mut target, path);
    (!target.starts_with(&prefix)).then(|| format!("/{}", [prefix, target].concat().join("/")))
}

fn parts(path: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    walk(&mut parts, path);
    parts
}

fn walk<'a>(parts: &mut Vec<&'a str>, path: &'a str) {
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
}

#[cfg(test)]
mod tests {
    use hookbox_guest::testing;

    use super::*;

    fn decide(path: &str) -> Result<Output> {
        let context = EventContext { cwd: Some("/home/dev".to_owned()), ..EventContext::default() };
        PathRewriter::handle(&context, &ToolCall::new("Write", json!({"file_path": path, "content": "x"})))
    }

    fn moved(path: &str) -> Output {
        allow().rewrite(json!({"file_path": path, "content": "x"}))
    }

    #[test]
    fn paths_are_moved_below_the_prefix() {
        testing::host();
        assert_eq!(decide("/etc/hosts"), Ok(moved("/sandbox/etc/hosts")));
        assert_eq!(decide("src/main.rs"), Ok(moved("/sandbox/home/dev/src/main.rs")));
        assert_eq!(decide("/sandboxed/x"), Ok(moved("/sandbox/sandboxed/x")));
    }

    #[test]
    fn every_agents_writer_is_known() {
        testing::host();
        for (tool, key) in [("Write", "file_path"), ("Write", "filePath"), ("write_file", "path")] {
            let decision =
                PathRewriter::handle(&EventContext::default(), &ToolCall::new(tool, json!({key: "/etc/hosts"})));
            assert_eq!(decision, Ok(allow().rewrite(json!({key: "/sandbox/etc/hosts"}))), "{tool} {key}");
        }
    }

    #[test]
    fn dots_do_not_lead_out() {
        testing::host();
        assert_eq!(decide("/sandbox/../etc/hosts"), Ok(moved("/sandbox/etc/hosts")));
        assert_eq!(decide("../../../../etc/hosts"), Ok(moved("/sandbox/etc/hosts")));
    }

    #[test]
    fn paths_inside_are_left_to_the_client() {
        testing::host();
        assert_eq!(decide("/sandbox/etc/hosts"), Ok(pass()));
        let read = ToolCall::new("Read", json!({"file_path": "/etc/hosts"}));
        assert_eq!(PathRewriter::handle(&EventContext::default(), &read), Ok(pass()));
    }

    #[test]
    fn the_prefix_comes_from_the_configuration() {
        testing::host().config(json!({"prefix": "/tmp/box/"}));
        assert_eq!(decide("/etc/hosts"), Ok(moved("/tmp/box/etc/hosts")));
        testing::host().config(json!({"prefix": "box"}));
        assert!(decide("/etc/hosts").is_err());
        testing::host().config(json!({"prefxi": "/box"}));
        assert!(decide("/etc/hosts").is_err());
    }
}
