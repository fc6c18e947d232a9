//! A real registry (Debian's `docker-registry`), on loopback, with a separate folder.

use std::{
    fs,
    io::{Read, Write},
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
        // Another test process may take a free port first, so this is repeated with the next port.
        std::iter::from_fn(|| Some(Self::at(port()))).take(10).flatten().next().expect("no registry can be started")
    }

    /// A registry at this port, unless another server has it.
    fn at(port: u16) -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let host = format!("127.0.0.1:{port}");
        let name = folder.path().file_name().unwrap().to_string_lossy().into_owned();
        let config = folder.path().join("config.yml");
        let data = folder.path().join("data");
        let text = format!(
            "version: 0.1\nlog: {{ level: error }}\nstorage: {{ filesystem: {{ rootdirectory: {} }}, delete: {{ enabled: true }} }}\n\
             http: {{ addr: {host}, headers: {{ Registry-Of-Test: [{name}] }} }}\n",
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
        let mut registry = Self { host, child, _folder: folder };
        let until = Instant::now() + Duration::from_secs(20);
        while !response(&registry.host).is_some_and(|text| text.contains(&name)) {
            if registry.child.try_wait().unwrap().is_some() {
                return None;
            }
            assert!(Instant::now() < until, "the registry does not respond");
            thread::sleep(Duration::from_millis(20));
        }
        Some(registry)
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

/// The response of the server at this address, which may be another test's.
fn response(host: &str) -> Option<String> {
    let mut stream = TcpStream::connect(host).ok()?;
    stream.set_read_timeout(Some(Duration::from_secs(5))).ok()?;
    stream.write_all(format!("GET /v2/ HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n").as_bytes()).ok()?;
    let mut text = String::new();
    stream.read_to_string(&mut text).ok()?;
    Some(text)
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
