//! Limits of the system on the process: none of them causes a panic or opens a gate.

use std::path::PathBuf;

use super::*;

const GATE_CALL: &[u8] =
    br#"{"jsonrpc":"2.0","id":1,"method":"hook.before_tool","params":{"tool":"exec","arguments":{"command":"ls"}}}"#;

/// Runs every front end under one limit.
fn every_front_end(dir: &Path, before: &[&str], program: &Path, limit: &str) {
    let fronts: [(&[&str], &[u8]); 4] = [
        (&["run", "--config", "hooks.json", "--fail-closed"], CALL),
        (&["run", "--connect", "http://127.0.0.1:9", "--tenant", "a", "--fail-closed"], CALL),
        (&["run", "--connect", "http://127.0.0.1:9", "--tenant", "a", "--config", "hooks.json"], CALL),
        (&["stdio", "--config", "picoclaw.json", "--fail-closed"], GATE_CALL),
    ];
    for (args, event) in fronts {
        let script = format!("ulimit {limit} && exec \"$@\"");
        let words: Vec<&str> = before.iter().copied().chain(["bash", "-c", &script, "bash"]).collect();
        let mut command = Command::new(words[0]);
        command.args(&words[1..]).arg(program).args(args).current_dir(dir).env("HOOKBOX_TOKEN", "t");
        command.env("XDG_CACHE_HOME", dir.join("cache")).env("XDG_STATE_HOME", dir.join("state"));
        let output = fed(&mut command, &[event, b"\n"].concat());
        let (code, told) = (output.status.code(), said(&output));
        // The system ends programs that it cannot load, and processes that exceed their processor time.
        let started = code.is_some_and(|code| code != 127);
        // The compiler is a separate process. Its end is a failure of the hook.
        assert!(!told.contains("internal error") && code != Some(101), "{limit} {args:?}: {told}");
        let shut =
            if args[0] == "run" { code == Some(2) || told.contains("\"deny\"") } else { told.contains("deny_tool") };
        assert!(!started || shut, "{limit} {args:?}: {told}");
    }
}

fn gates() -> tempfile::TempDir {
    let denies = json!({ "type": "command", "command": "echo no >&2; exit 2" });
    let component = json!({ "type": "wasm", "component": "gate.wasm" });
    let dir = folder(&json!({ "failClosed": true }), &[component, denies]);
    fs::write(dir.path().join("gate.wasm"), encode(&gate("", ""), GATE, "")).unwrap();
    let hooks =
        json!({ "gate": { "type": "command", "command": "echo no >&2; exit 2", "intercept": ["before_tool"] } });
    let config = json!({ "dialect": "picoclaw", "failClosed": true, "hooks": hooks });
    fs::write(dir.path().join("picoclaw.json"), config.to_string()).unwrap();
    for name in ["cache", "state"] {
        fs::create_dir(dir.path().join(name)).unwrap();
    }
    dir
}

#[test]
fn few_descriptors_open_no_gate() {
    let dir = gates();
    for files in (3..=20).chain([24, 32]) {
        every_front_end(dir.path(), &[], Path::new(HOOKBOX), &format!("-n {files}"));
    }
}

#[test]
fn little_memory_small_files_and_little_time_open_no_gate() {
    let dir = gates();
    for limit in ["-f 0", "-f 1", "-t 1"] {
        every_front_end(dir.path(), &[], Path::new(HOOKBOX), limit);
    }
    for mib in (60..=120).step_by(5) {
        every_front_end(dir.path(), &[], Path::new(HOOKBOX), &format!("-v {}", mib * 1024));
    }
}

/// Limits on processes do not apply to root, so root runs this as another user.
#[test]
fn few_processes_open_no_gate() {
    let dir = gates();
    let root = rustix::process::getuid().is_root();
    let other: &[&str] = if root { &["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] } else { &[] };
    let mut program = PathBuf::from(HOOKBOX);
    if root {
        // The other user may have no access to the build's folder.
        program = dir.path().join("hookbox");
        if fs::hard_link(HOOKBOX, &program).is_err() {
            fs::copy(HOOKBOX, &program).unwrap();
        }
        for name in ["", "cache", "state"] {
            let path = dir.path().join(name);
            std::os::unix::fs::chown(&path, Some(65534), Some(65534)).unwrap();
        }
    }
    for processes in [0, 1, 2, 3, 4, 6, 8] {
        every_front_end(dir.path(), other, &program, &format!("-u {processes}"));
    }
}

/// stdout closes after the verdict, even if stderr is still blocked.
#[test]
fn stdout_ends_with_the_verdict_while_stderr_blocks() {
    let dir = folder(&json!({ "failClosed": true }), &[json!({ "type": "command", "command": "echo no >&2; exit 2" })]);
    let (_reader, mut writer) = std::io::pipe().unwrap();
    rustix::fs::fcntl_setfl(&writer, OFlags::NONBLOCK).unwrap();
    while writer.write(&[b'x'; 4096]).is_ok() {}
    rustix::fs::fcntl_setfl(&writer, OFlags::empty()).unwrap();
    let mut command = hookbox(dir.path());
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(writer).spawn().unwrap();
    child.stdin.take().unwrap().write_all(CALL).unwrap();
    let mut told = String::new();
    std::io::Read::read_to_string(&mut child.stdout.take().unwrap(), &mut told).unwrap();
    assert!(told.contains("\"deny\""), "{told}");
    assert!(child.try_wait().unwrap().is_none(), "it waits for a reader of stderr");
    until(|| child.try_wait().unwrap().is_some(), "it ends");
}
