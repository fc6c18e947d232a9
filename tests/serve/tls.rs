//! TLS of the daemon and of its own connections. The certificates beside this file are for `localhost` and valid for
//! 100 years.

use std::{
    fs,
    net::{SocketAddr, TcpListener},
    path::{Path, PathBuf},
    process::Command,
    sync::{Arc, Mutex},
};

use reqwest::{Certificate, Client};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio_rustls::{
    TlsAcceptor,
    rustls::{
        ServerConfig,
        crypto::ring,
        pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
    },
};

use crate::{
    daemon::{Daemon, Files, bash, denies, read, token},
    shared::{Server, failed, limited_files},
};

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/serve/tls").join(name)
}

/// `acme` behind TLS, on every address of the machine.
pub fn encrypted() -> Files {
    let files = Files::new();
    for name in ["certificate.pem", "key.pem"] {
        fs::copy(file(name), files.path(name)).unwrap();
    }
    files.settings(json!({ "listen": "0.0.0.0:0", "tls": { "certificate": "certificate.pem", "key": "key.pem" } }));
    files
}

/// Makes a daemon trust the certificates, as the machine's own store would.
fn trusting(command: &mut Command) {
    command.env("SSL_CERT_FILE", file("ca.pem"));
}

/// A client that trusts the certificates or does not.
fn client(trusts: bool) -> Client {
    let builder = Client::builder().no_proxy();
    let root = Certificate::from_pem(&fs::read(file("ca.pem")).unwrap()).unwrap();
    if trusts { builder.add_root_certificate(root) } else { builder }.build().unwrap()
}

fn port(daemon: &Daemon) -> u16 {
    daemon.addresses[0].parse::<SocketAddr>().unwrap().port()
}

async fn ask(daemon: &Daemon, client: &Client) -> reqwest::Result<reqwest::Response> {
    let url = format!("https://localhost:{}/v1/acme/claude", port(daemon));
    client.post(url).bearer_auth(token("acme")).body(bash("rm -rf /").to_string()).send().await
}

#[tokio::test]
async fn with_a_certificate_it_serves_beyond_loopback() {
    let daemon = encrypted().start();
    assert!(denies(&read(ask(&daemon, &client(true)).await.unwrap()).await));
    assert!(ask(&daemon, &client(false)).await.is_err());
    // Plain HTTP is rejected.
    let plain = format!("http://127.0.0.1:{}/v1/acme/claude", port(&daemon));
    assert!(daemon.client.post(plain).bearer_auth(token("acme")).body("{}").send().await.is_err());
    // An invalid certificate does not replace the old one.
    daemon.files.write_text("certificate.pem", "none");
    daemon.until("looked at", async || daemon.log().contains("the new certificate is not used")).await;
    assert!(denies(&read(ask(&daemon, &client(true)).await.unwrap()).await));
    fs::copy(file("certificate.pem"), daemon.files.path("certificate.pem")).unwrap();
    daemon.until("replaced", async || daemon.log().contains("the certificate is replaced")).await;
    assert!(denies(&read(ask(&daemon, &client(true)).await.unwrap()).await));
}

#[tokio::test]
async fn a_pipe_in_place_of_a_certificate_or_key_is_refused() {
    for name in ["certificate.pem", "key.pem"] {
        let pipe = |path: &Path| {
            fs::remove_file(path).unwrap();
            rustix::fs::mkfifoat(rustix::fs::CWD, path, rustix::fs::Mode::RUSR).unwrap();
        };
        let daemon = encrypted().start();
        pipe(&daemon.files.path(name));
        daemon.until("looked at", async || daemon.log().contains("not a regular file")).await;
        assert!(denies(&read(ask(&daemon, &client(true)).await.unwrap()).await));
        daemon.signal("TERM");
        let mut child = daemon;
        let ended = tokio::task::spawn_blocking(move || child.child.wait().unwrap().code());
        assert_eq!(tokio::time::timeout(crate::daemon::PATIENCE, ended).await.unwrap().unwrap(), Some(0));
        let files = encrypted();
        pipe(&files.path(name));
        let said = files.command().output().unwrap();
        assert!(!said.status.success() && String::from_utf8_lossy(&said.stderr).contains("not a regular file"));
    }
}

#[test]
fn it_does_not_start_without_its_files() {
    for missing in ["certificate.pem", "key.pem"] {
        let files = encrypted();
        fs::remove_file(files.path(missing)).unwrap();
        let output = files.command().output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && said.contains(missing), "{said}");
    }
}

#[tokio::test]
async fn the_state_server_can_use_tls() {
    // A free port, which the server takes at once.
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let folder = tempfile::tempdir().unwrap();
    let [certificate, key] = ["certificate.pem", "key.pem"].map(|name| file(name).to_str().unwrap().to_owned());
    let options = [
        "--port",
        "0",
        "--tls-port",
        &port.to_string(),
        "--tls-cert-file",
        &certificate,
        "--tls-key-file",
        &key,
        "--tls-auth-clients",
        "no",
    ];
    let _server = Server::with(folder.path(), &options);
    let url = format!("rediss://localhost:{port}");
    let daemon = Daemon::with(limited_files(&url, 2), trusting);
    for denied in [false, false, true] {
        assert_eq!(denies(&daemon.verdict("acme", bash("ls")).await), denied, "{}", daemon.log());
    }
    assert_eq!(failed(&daemon).await, 0);
    // A daemon that does not trust the server keeps no state there.
    let wary = Daemon::with(limited_files(&url, 2), |_| {});
    wary.verdict("acme", bash("ls")).await;
    assert_eq!(failed(&wary).await, 1);
}

/// A trace collector behind TLS. Returns its address and the bytes that it gets.
async fn collector() -> (String, Arc<Mutex<Vec<u8>>>) {
    let chain = CertificateDer::pem_file_iter(file("certificate.pem")).unwrap().map(Result::unwrap).collect();
    let key = PrivateKeyDer::from_pem_file(file("key.pem")).unwrap();
    let builder = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let builder = builder.with_safe_default_protocol_versions().unwrap().with_no_client_auth();
    let acceptor = TlsAcceptor::from(Arc::new(builder.with_single_cert(chain, key).unwrap()));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://localhost:{}", listener.local_addr().unwrap().port());
    let sent = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&sent);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let Ok(mut stream) = acceptor.accept(stream).await else { continue };
            let mut part = [0; 16 << 10];
            while let Ok(read @ 1..) = stream.read(&mut part).await {
                seen.lock().unwrap().extend_from_slice(&part[..read]);
                // It does not wait for the rest of the request.
                let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await;
            }
        }
    });
    (url, sent)
}

#[tokio::test]
async fn traces_can_use_tls() {
    let (url, sent) = collector().await;
    let files = Files::new();
    files.settings(json!({ "otlp": url }));
    let mut daemon = Daemon::with(files, trusting);
    daemon.verdict("acme", bash("ls")).await;
    daemon.signal("TERM");
    let ended = tokio::task::spawn_blocking(move || (daemon.child.wait().unwrap().code(), daemon.log())).await.unwrap();
    assert_eq!(ended.0, Some(0), "{}", ended.1);
    let sent = String::from_utf8_lossy(&sent.lock().unwrap()).into_owned();
    assert!(sent.starts_with("POST /v1/traces") && sent.contains("guard.wasm"), "{sent}\n{}", ended.1);
}
