//! `hookbox top`: the console's numbers in a terminal.

use std::{io::Write, process::Stdio};

use serde_json::json;

use crate::daemon::{Daemon, Files, bash, hash, hooks, tenant, token};

/// Runs a program in a terminal of its own: waits for words, types a key or sends a signal, and tells how it ended. The last
/// line says whether the terminal's modes are those of before.
const TERMINAL: &str = r#"
import os, pty, select, signal, sys, termios
words, key, command = sys.argv[1], sys.argv[2], sys.argv[3:]
pid, terminal = pty.fork()
if pid == 0:
    os.execvp(command[0], command)
before, seen = None, b""
def read():
    global seen
    if not select.select([terminal], [], [], 60)[0]:
        os.kill(pid, signal.SIGKILL)
        sys.exit("nothing comes: " + seen.decode("utf-8", "replace"))
    try:
        part = os.read(terminal, 65536)
    except OSError:
        part = b""
    seen += part
    return part
before = termios.tcgetattr(terminal)
while words.encode() not in seen:
    read() or sys.exit("it ended: " + seen.decode("utf-8", "replace"))
during = termios.tcgetattr(terminal)
if key.startswith("SIG"):
    os.kill(pid, getattr(signal, key))
else:
    os.write(terminal, key.encode())
while b"\x1b[?1049l" not in seen:
    read() or sys.exit("it left the screen as it was: " + seen.decode("utf-8", "replace"))
status = os.waitpid(pid, 0)[1]
after = termios.tcgetattr(terminal)
sys.stdout.write(seen.decode("utf-8", "replace"))
print("\nEND", os.waitstatus_to_exitcode(status), before[3] == after[3], during[3] != before[3])
"#;

fn operated() -> Daemon {
    let files = Files::new();
    files.settings(json!({ "operators": [hash("operator")], "name": "eu-1" }));
    files.write("tenants/other.json", &tenant("other"));
    files.write("tenants/other-hooks.json", &hooks("guard.wasm"));
    files.start()
}

fn hookbox(daemon: &Daemon, who: &str) -> std::process::Command {
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_hookbox"));
    command.args(["top", "--connect", &daemon.url("")]).env("HOOKBOX_TOKEN", token(who));
    command
}

#[tokio::test]
async fn top_prints_once_without_a_terminal() {
    let daemon = operated();
    daemon.verdict("acme", bash("rm -rf /")).await;
    let once = |who: &str| {
        let output = hookbox(&daemon, who).output().unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap())
    };
    let (code, out, _) = once("operator");
    assert_eq!(code, Some(0));
    for words in ["eu-1", "TENANT", "acme", "other", "100%", "HOOK", "guard.wasm"] {
        assert!(out.contains(words), "{words}: {out}");
    }
    assert!(!out.contains('\u{1b}'), "{out}");
    let (code, out, _) = once("acme");
    assert!(code == Some(0) && out.contains("acme") && !out.contains("other"), "{out}");
    let (code, out, error) = once("nobody");
    assert!(code != Some(0) && out.is_empty() && error.contains("does not know the token"), "{code:?} {error}");
}

#[tokio::test]
async fn top_leaves_the_terminal_as_it_was() {
    let daemon = operated();
    daemon.verdict("acme", bash("ls")).await;
    for end in ["q", "\u{3}", "SIGTERM", "SIGHUP"] {
        let top = hookbox(&daemon, "operator");
        let mut python = std::process::Command::new("python3");
        python.args(["-", "guard.wasm", end]).arg(top.get_program()).args(top.get_args());
        python.env("HOOKBOX_TOKEN", token("operator")).env("TERM", "screen-256color");
        let mut python = python.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        python.stdin.take().unwrap().write_all(TERMINAL.as_bytes()).unwrap();
        let output = tokio::task::spawn_blocking(move || python.wait_with_output().unwrap()).await.unwrap();
        let (out, error) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(out.contains("\u{1b}[?1049h") && out.contains("q quit"), "{end:?}: {out} {error}");
        assert!(out.trim_end().ends_with("END 0 True True"), "{end:?}: {out} {error}");
    }
}
