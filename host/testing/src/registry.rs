//! A real registry (Debian's `docker-registry`), on loopback, with a separate folder.

use std::{
    fs,
    net::{TcpListener, TcpStream},
    process::{Child, Command, Stdio},
    sync::atomic::{AtomicU32, Ordering},
    thread,
    time::{Duration, Instant},
};

/// A running registry; it ends when it is dropped.
pub struct Registry {
    pub host: String,
    child: Child,
    _folder: tempfile::TempDir,
}

impl Registry {
    pub fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let port = port();
        let host = format!("127.0.0.1:{port}");
        let config = folder.path().join("config.yml");
        let data = folder.path().join("data");
        let text = format!(
            "version: 0.1\nlog: {{ level: error }}\nstorage: {{ filesystem: {{ rootdirectory: {} }}, delete: {{ enabled: true }} }}\n\
             http: {{ addr: {host} }}\n",
            data.display()
        );
        fs::write(&config, text).unwrap();
        let start = |program: &str| {
            let mut command = Command::new(program);
            command.arg("serve").arg(&config).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
            command.spawn()
        };
        let child = start("docker-registry").or_else(|_| start("registry"));
        let child = child.expect("docker-registry cannot be started: tools/needs installs it");
        let until = Instant::now() + Duration::from_secs(20);
        while TcpStream::connect(&host).is_err() {
            assert!(Instant::now() < until, "the registry does not listen");
            thread::sleep(Duration::from_millis(20));
        }
        Self { host, child, _folder: folder }
    }

    /// A reference to a repository of it.
    pub fn reference(&self, rest: &str) -> String {
        format!("oci://{}/{rest}", self.host)
    }

    /// Ends it: what follows is offline.
    pub fn stop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A free port below those that the system gives to connections: a client of another test could take such a port before
/// the registry listens, or connect to itself.
fn port() -> u16 {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    loop {
        let next = std::process::id().wrapping_mul(97).wrapping_add(NEXT.fetch_add(1, Ordering::Relaxed));
        let port = 12_000 + u16::try_from(next % 20_000).unwrap();
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
}

impl Drop for Registry {
    fn drop(&mut self) {
        self.stop();
    }
}
