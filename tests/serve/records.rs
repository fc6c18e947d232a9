//! Records and logs that cannot be written. Only these lines wait; everything else continues.

use std::{
    io::{Read, Write},
    process::{Command, Stdio},
    time::Duration,
};

use rustix::process::{Pid, Resource, Rlimit, prlimit};
use serde_json::json;

use crate::{
    daemon::{Daemon, Files, PATIENCE, bash, denies, problem, read, token},
    reload::metric_if_any,
};

/// Ends a daemon with SIGTERM.
fn ends(mut daemon: Daemon) {
    daemon.signal("TERM");
    let begin = std::time::Instant::now();
    loop {
        match daemon.child.try_wait().unwrap() {
            Some(status) => return assert!(status.success(), "{status}"),
            None => assert!(begin.elapsed() < PATIENCE, "it does not end\n{}", daemon.log()),
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

async fn is_healthy(daemon: &Daemon) -> bool {
    daemon.client.get(daemon.url("/healthz")).send().await.unwrap().status() == 200
}

#[tokio::test]
async fn unread_records_delay_nothing() {
    for stream in ["stdout", "stderr"] {
        let files = Files::new();
        files.settings(json!({ "records": stream, "drain": 2 }));
        let mut daemon = Daemon::with(files, |command| {
            command.stdout(Stdio::piped());
        });
        // Several times the capacity of a pipe.
        for n in 0..400 {
            let command = if n % 2 == 0 { "rm -rf /" } else { "ls" };
            assert_eq!(denies(&daemon.verdict("acme", bash(command)).await), n % 2 == 0, "{stream} {n}");
        }
        assert!(is_healthy(&daemon).await, "{stream}");
        let unread = daemon.child.stdout.take();
        ends(daemon);
        drop(unread);
    }
}

#[tokio::test]
async fn an_unread_log_delays_nothing() {
    let files = Files::new();
    files.settings(json!({ "listen": "unix:hookbox.sock", "drain": 2 }));
    for n in 0..40 {
        files.write_text(&format!("tenants/broken-{n}.json"), &format!("{{ {}", "x".repeat(5000)));
    }
    let (_unread, mut full) = std::io::pipe().unwrap();
    rustix::io::ioctl_fionbio(&full, true).unwrap();
    while full.write(&[b'x'; 4096]).is_ok() {}
    rustix::io::ioctl_fionbio(&full, false).unwrap();
    let socket = files.path("hookbox.sock");
    let mut child = files.command().stderr(full).spawn().unwrap();
    let client = reqwest::Client::builder().no_proxy().unix_socket(socket).build().unwrap();
    let ask = async || {
        let asked = client.post("http://hookbox/v1/acme/claude").bearer_auth(token("acme"));
        let response = asked.body(bash("rm -rf /").to_string()).send().await.ok()?;
        (response.status() == 200).then_some(response)
    };
    let begin = std::time::Instant::now();
    while ask().await.is_none() {
        assert!(begin.elapsed() < PATIENCE, "it does not serve");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert!(denies(&read(ask().await.unwrap()).await));
    let term = Command::new("kill").arg(child.id().to_string()).status().unwrap();
    assert!(term.success());
    while child.try_wait().unwrap().is_none() {
        if begin.elapsed() > PATIENCE {
            child.kill().unwrap();
            panic!("it does not end");
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Limits the size of the daemon's files in bytes, which is like a full disk.
fn limit_files(daemon: &Daemon, bytes: Option<u64>) {
    let pid = Pid::from_child(&daemon.child);
    prlimit(Some(pid), Resource::Fsize, Rlimit { current: bytes, maximum: None }).unwrap();
}

#[tokio::test]
async fn lost_records_on_a_full_disk_are_counted() {
    let files = Files::new();
    files.settings(json!({ "records": "records.jsonl" }));
    let daemon = files.start();
    daemon.verdict("acme", bash("ls")).await;
    let lost = async || metric_if_any(&daemon, "hookbox_records_lost_total").await;
    let path = daemon.files.path("records.jsonl");
    daemon.until("recorded", async || std::fs::read_to_string(&path).unwrap().ends_with('\n')).await;
    // Half of a line fits.
    limit_files(&daemon, Some(std::fs::metadata(&path).unwrap().len() + 100));
    for _ in 0..5 {
        assert!(denies(&daemon.verdict("acme", bash("rm -rf /")).await));
    }
    daemon.until("counted", async || lost().await == Some(5.0)).await;
    assert!(is_healthy(&daemon).await);
    limit_files(&daemon, None);
    daemon.verdict("acme", bash("ls")).await;
    daemon.until("reported", async || daemon.log().contains("recorded again; 5 were not")).await;
    assert_eq!(daemon.log().matches("verdicts are not recorded: ").count(), 1, "{}", daemon.log());
    let text = std::fs::read_to_string(&path).unwrap();
    let whole = text.lines().filter(|line| serde_json::from_str::<serde_json::Value>(line).is_ok()).count();
    assert_eq!((whole, text.lines().count()), (2, 3), "{text}");
    ends(daemon);
}

#[tokio::test]
async fn an_unrecorded_required_verdict_blocks() {
    let files = Files::new();
    files.settings(json!({ "records": "records.jsonl", "recordsRequired": true }));
    let daemon = files.start();
    assert!(!denies(&daemon.verdict("acme", bash("ls")).await));
    let path = daemon.files.path("records.jsonl");
    assert_eq!(std::fs::read_to_string(&path).unwrap().lines().count(), 1, "written before it is answered");
    limit_files(&daemon, Some(std::fs::metadata(&path).unwrap().len()));
    let blocked = daemon.ask("acme", bash("ls")).send().await.unwrap();
    assert_eq!(blocked.headers()["hookbox-problem"], "unrecorded");
    assert_eq!((blocked.status().as_u16(), &blocked.headers()["hookbox-verdict"]), (200, &"deny".parse().unwrap()));
    assert!(denies(&read(blocked).await));
    // An event that cannot be blocked.
    let end = json!({ "hook_event_name": "SessionEnd", "session_id": "s", "reason": "exit" });
    assert_eq!(problem(daemon.ask("acme", end).send().await.unwrap()).await, (503, "unrecorded".into()));
    let batch = daemon.post("/v1/acme/claude/batch").bearer_auth(token("acme")).body(json!([bash("ls")]).to_string());
    assert!(denies(&read(batch.send().await.unwrap()).await[0]["output"]));
    assert!(is_healthy(&daemon).await);
    limit_files(&daemon, None);
    assert!(!denies(&daemon.verdict("acme", bash("ls")).await));
    ends(daemon);
}

#[tokio::test]
async fn an_unread_required_record_blocks_in_time() {
    let files = Files::new();
    files.settings(json!({ "records": "stdout", "recordsRequired": true, "drain": 2 }));
    let mut daemon = Daemon::with(files, |command| {
        command.stdout(Stdio::piped());
    });
    let mut stdout = daemon.child.stdout.take().unwrap();
    let ask = async || {
        let asked = daemon.ask("acme", bash("ls")).header("hookbox-timeout", "2").send().await.unwrap();
        denies(&read(asked).await)
    };
    let mut asked = 0;
    while !ask().await {
        asked += 1;
        assert!(asked < 1000, "nobody reads, and nothing is blocked");
    }
    assert!(ask().await && is_healthy(&daemon).await);
    let reading = std::thread::spawn(move || {
        let _ = stdout.read_to_end(&mut Vec::new());
    });
    daemon.until("let through again", async || !ask().await).await;
    ends(daemon);
    reading.join().unwrap();
}

#[tokio::test]
async fn records_into_a_pipe_are_refused_and_not_waited_for() {
    let files = Files::new();
    let fifo = |name: &str| assert!(Command::new("mkfifo").arg(files.path(name)).status().unwrap().success());
    fifo("pipe");
    files.settings(json!({ "records": "pipe" }));
    let output = files.command().output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && said.contains("`records`"), "{said}");
    files.settings(json!({ "recordsRequired": true }));
    let output = files.command().output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && said.contains("`recordsRequired` needs `records`"), "{said}");
    // A pipe that replaces the file later changes nothing.
    files.settings(json!({ "records": "records.jsonl" }));
    fifo("later");
    let daemon = files.start();
    std::fs::rename(daemon.files.path("records.jsonl"), daemon.files.path("records.1")).unwrap();
    std::fs::rename(daemon.files.path("later"), daemon.files.path("records.jsonl")).unwrap();
    daemon.signal("HUP");
    daemon.until("refused", async || daemon.log().contains("records: ")).await;
    daemon.verdict("acme", bash("ls")).await;
    let kept = || std::fs::read_to_string(daemon.files.path("records.1")).unwrap();
    daemon.until("recorded", async || kept().lines().count() == 1).await;
    ends(daemon);
}

#[tokio::test]
async fn chained_records_have_one_writer_at_a_time() {
    let chained = |path: &std::path::Path| json!({ "records": path, "recordsChain": {} });
    let [first, second] = [Files::new(), Files::new()];
    let path = first.path("records.jsonl");
    first.settings(chained(&path));
    second.settings(chained(&path));
    let mut daemon = first.start();
    daemon.verdict("acme", bash("ls")).await;
    let output = second.command().output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && said.contains("another process writes this file"), "{said}");
    // SIGHUP without a rotation keeps the file and its lock.
    daemon.signal("HUP");
    daemon.verdict("acme", bash("ls")).await;
    assert!(!second.command().output().unwrap().status.success());
    daemon.until("recorded", async || std::fs::read_to_string(&path).unwrap().lines().count() == 2).await;
    // Behind a rotation the old file is free, and the new one is locked.
    std::fs::rename(&path, daemon.files.path("old.jsonl")).unwrap();
    daemon.signal("HUP");
    daemon.until("opened again", async || path.exists()).await;
    daemon.verdict("acme", bash("ls")).await;
    assert!(!second.command().output().unwrap().status.success());
    let files = Files::new();
    files.settings(chained(&daemon.files.path("old.jsonl")));
    ends(files.start());
    daemon.signal("TERM");
    assert!(daemon.child.wait().unwrap().success());
    ends(second.start());
}

/// The last line that `hookbox records verify` prints, and its exit code.
fn verified(daemon: &Files, files: &[&str]) -> (Option<i32>, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hookbox"));
    command.args(["records", "verify"]).args(files).args(["--heads", "heads.jsonl", "--key", "records.pub"]);
    let output = command.current_dir(daemon.path("")).output().unwrap();
    let told = String::from_utf8(output.stdout).unwrap();
    (output.status.code(), told.lines().last().unwrap_or_default().to_owned())
}

#[tokio::test]
async fn the_daemon_chains_its_records_over_rotations() {
    let files = Files::new();
    let (key, text) = hookbox_registry::SigningKey::generate().unwrap();
    files.write_text("records.key", &text);
    files.write_text("records.pub", &key.public().to_pem());
    let chain = json!({ "key": "records.key", "heads": "heads.jsonl" });
    files.settings(json!({ "records": "records.jsonl", "recordsRequired": true, "recordsChain": chain }));
    let mut daemon = files.start();
    let path = daemon.files.path("records.jsonl");
    daemon.verdict("acme", bash("ls")).await;
    // Half of a line fits. It is removed, and the losses are a line of the chain.
    limit_files(&daemon, Some(std::fs::metadata(&path).unwrap().len() + 100));
    for _ in 0..3 {
        assert!(denies(&daemon.verdict("acme", bash("ls")).await));
    }
    limit_files(&daemon, None);
    daemon.verdict("acme", bash("ls")).await;
    std::fs::rename(&path, daemon.files.path("old.jsonl")).unwrap();
    daemon.signal("HUP");
    daemon.until("reopened", async || path.exists()).await;
    daemon.verdict("acme", bash("rm -rf /")).await;
    // A killed daemon continues after the last line, a stopped one after the last head, also in a new file.
    daemon.restart();
    daemon.verdict("acme", bash("ls")).await;
    daemon.signal("TERM");
    daemon.child.wait().unwrap();
    std::fs::rename(&path, daemon.files.path("newer.jsonl")).unwrap();
    daemon.restart();
    daemon.verdict("acme", bash("ls")).await;
    let (code, told) = verified(&daemon.files, &["old.jsonl", "newer.jsonl", "records.jsonl"]);
    assert_eq!((code, &*told), (Some(0), "6 records, 2 signed heads, 3 lost before they were written: whole"));
    assert_eq!(verified(&daemon.files, &["newer.jsonl", "records.jsonl"]).0, Some(0));
    let text = std::fs::read_to_string(daemon.files.path("old.jsonl")).unwrap();
    let first = text.lines().next().unwrap();
    daemon.files.write_text("cut.jsonl", &format!("{first}\n"));
    assert_eq!(verified(&daemon.files, &["cut.jsonl"]).0, Some(1));
    ends(daemon);

    let files = Files::new();
    for (settings, why) in [
        (json!({ "recordsChain": {} }), "`recordsChain` needs `records`"),
        (json!({ "records": "r.jsonl", "recordsChain": { "heads": "h.jsonl" } }), "needs `key` and `heads`"),
        (json!({ "records": "r.jsonl", "recordsChain": { "key": "no", "heads": "h.jsonl" } }), "cannot read"),
    ] {
        files.settings(settings);
        let output = files.command().output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && said.contains(why), "{said}");
    }
}
