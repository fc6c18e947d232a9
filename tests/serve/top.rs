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
    let output = hookbox(&daemon, "acme").arg("--json").output().unwrap();
    let told: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        (&told["now"]["tenants"][0]["tenant"], &told["hooks"]["hooks"][0]["tenant"]),
        (&json!("acme"), &json!("acme"))
    );
    assert!(told["attention"]["list"].is_array(), "{told}");
    let (code, out, error) = once("nobody");
    assert!(code != Some(0) && out.is_empty() && error.contains("rejects the token"), "{code:?} {error}");
}

#[tokio::test]
async fn top_restores_the_terminal() {
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

/// A tmux server of a test's own, which ends with it.
struct Tmux(String);

impl Tmux {
    fn run(&self, args: &[&str]) -> String {
        let mut tmux = std::process::Command::new("tmux");
        let output = tmux.args(["-L", &self.0, "-f", "/dev/null"]).args(args).env("HOOKBOX_TOKEN", token("operator"));
        let output = output.output().expect("tmux is installed by tools/needs");
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// The screen, once it has these words.
    async fn shows(&self, words: &[&str]) -> String {
        for _ in 0..600 {
            let screen = self.run(&["capture-pane", "-p"]);
            if words.iter().all(|word| screen.contains(word)) {
                return screen;
            }
            tokio::time::sleep(std::time::Duration::from_millis(100)).await;
        }
        panic!("{words:?} do not come: {}", self.run(&["capture-pane", "-p"]));
    }
}

impl Drop for Tmux {
    fn drop(&mut self) {
        self.run(&["kill-server"]);
    }
}

#[tokio::test]
async fn top_runs_inside_tmux() {
    let daemon = operated();
    daemon.verdict("acme", bash("rm -rf /")).await;
    let tmux = Tmux(format!("hookbox-{}", std::process::id()));
    let top = hookbox(&daemon, "operator");
    let words: Vec<_> =
        std::iter::once(top.get_program()).chain(top.get_args()).map(|word| word.to_str().unwrap()).collect();
    let line = format!("echo before; '{}'; echo END $?; cat", words.join("' '"));
    tmux.run(&["new-session", "-d", "-x", "110", "-y", "30", &line]);
    let screen = tmux.shows(&["eu-1", "15 minutes", "q quit", "TENANT", "acme", "100%", "HOOK", "guard.wasm"]).await;
    assert!(!screen.contains("before") && screen.lines().all(|line| line.chars().count() <= 110), "{screen}");
    tmux.run(&["send-keys", "w"]);
    tmux.shows(&["24 hours", "acme"]).await;
    // A smaller window is redrawn, with the most important parts.
    tmux.run(&["resize-window", "-x", "50", "-y", "12"]);
    let screen = tmux.shows(&["24 hours", "TENANT", "acme"]).await;
    assert!(screen.lines().count() <= 12 && !screen.contains("WAITING"), "{screen}");
    tmux.run(&["send-keys", "q"]);
    // The screen from before is back.
    let screen = tmux.shows(&["before", "END 0"]).await;
    assert!(!screen.contains("TENANT"), "{screen}");
}
