//! `hookbox health`, which queries a daemon through the addresses in its settings.

use std::{net::TcpListener, process::Command};

use serde_json::{Value, json};

use crate::{
    daemon::{Daemon, Files},
    tls,
};

/// Returns the exit code and the output of `hookbox health`.
fn health(files: &Files) -> (Option<i32>, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hookbox"));
    let output = command.args(["health", "--wait", "10", "--config"]).arg(files.path("serve.json")).output().unwrap();
    let said = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap()).concat();
    (output.status.code(), said)
}

/// A daemon whose settings have the addresses that it got.
fn settled(files: Files, more: impl FnOnce(&Daemon) -> Value) -> Daemon {
    let daemon = files.start();
    daemon.files.settings(more(&daemon));
    daemon
}

async fn becomes_ready(daemon: &Daemon) {
    daemon.until("ready", async || health(&daemon.files) == (Some(0), "ready\n".into())).await;
}

#[tokio::test]
async fn a_daemon_is_ready_until_it_ends() {
    let mut daemon = settled(Files::new(), |daemon| json!({ "listen": daemon.addresses[0] }));
    becomes_ready(&daemon).await;
    daemon.signal("TERM");
    daemon.ends();
    let (code, said) = health(&daemon.files);
    assert!(code == Some(1) && said.contains("does not respond"), "{code:?} {said}");
}

#[tokio::test]
async fn sockets_and_separate_addresses_are_queried() {
    let files = Files::new();
    files.settings(json!({ "listen": "unix:hookbox.sock" }));
    becomes_ready(&settled(files, |_| json!({ "listen": "unix:hookbox.sock" }))).await;

    let files = Files::new();
    files.settings(json!({ "listen": "0.0.0.0:0", "insecure": true, "admin": "0.0.0.0:0" }));
    let daemon = settled(
        files,
        |daemon| json!({ "listen": daemon.addresses[0], "insecure": true, "admin": daemon.addresses[1] }),
    );
    becomes_ready(&daemon).await;
    daemon.files.settings(json!({ "listen": daemon.addresses[0], "insecure": true }));
    assert!(health(&daemon.files).1.contains("only `admin` serves `/readyz`"));
}

/// The certificate has another name than the address.
#[tokio::test]
async fn a_daemon_behind_tls_is_queried_by_its_address() {
    let files = tls::encrypted();
    let pem = json!({ "certificate": "certificate.pem", "key": "key.pem" });
    files.settings(json!({ "listen": "0.0.0.0:0", "admin": "0.0.0.0:0", "tls": pem }));
    let more = |daemon: &Daemon| json!({ "listen": daemon.addresses[0], "admin": daemon.addresses[1], "tls": pem });
    becomes_ready(&settled(files, more)).await;
}

#[test]
fn only_a_daemon_is_ready() {
    // A listener that never answers.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let files = Files::new();
    files.settings(json!({ "listen": silent.local_addr().unwrap().to_string() }));
    let mut command = Command::new(env!("CARGO_BIN_EXE_hookbox"));
    let output = command.args(["health", "--wait", "0.2", "--config"]).arg(files.path("serve.json")).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    files.write_text("serve.json", "{");
    assert_eq!(health(&files).0, Some(78));
}
