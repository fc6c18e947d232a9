//! cargo's messages during a build: one JSON object per line.

use std::{
    io::{self, IsTerminal, Write},
    path::{Path, PathBuf},
};

use serde_json::Value;

use super::TARGET;
use crate::exit::Exit;

/// The artifacts and errors of a build.
#[derive(Default)]
pub struct Messages {
    /// The artifact messages of built packages.
    built: Vec<Value>,
    /// A dependency that does not compile.
    broken: Option<String>,
}

impl Messages {
    /// The message format to request from cargo. With colours if stderr is a terminal.
    pub fn format() -> &'static str {
        if io::stderr().is_terminal() { "json-diagnostic-rendered-ansi" } else { "json" }
    }

    /// Handles one line. Prints the compiler's messages at once, unchanged.
    pub fn take(&mut self, line: &[u8]) {
        let Ok(message) = serde_json::from_slice::<Value>(line) else { return };
        match text(&message, "/reason") {
            Some("compiler-message") => {
                let _ = io::stderr().write_all(text(&message, "/message/rendered").unwrap_or_default().as_bytes());
                let is_foreign = text(&message, "/package_id").is_some_and(|id| !id.starts_with("path+"));
                if is_foreign && text(&message, "/message/level") == Some("error") {
                    self.broken = text(&message, "/target/name").map(str::to_owned);
                }
            }
            Some("compiler-artifact") => self.built.push(message),
            _ => {}
        }
    }

    /// The error of a failed build.
    pub fn failure(&self, folder: &Path) -> anyhow::Error {
        match &self.broken {
            Some(package) => Exit::Software.advised(
                format!("`{package}` does not compile for a hook, because hooks have no sockets, files, processes and threads"),
                &[
                    &format!("dependents:   cargo tree --target {TARGET} --invert {package}"),
                    "try `default-features = false`; to send requests, use `http` of hookbox_guest",
                ],
            ),
            None => Exit::Software.error(format!("cargo could not build {}", folder.display())),
        }
    }

    /// The module that was built from this manifest.
    pub fn artifact(&self, manifest: &Path) -> Option<PathBuf> {
        let own = self.built.iter().rev().filter(|one| text(one, "/manifest_path").map(Path::new) == Some(manifest));
        let mut files = own.flat_map(|one| one.get("filenames").and_then(Value::as_array).into_iter().flatten());
        files.find_map(|file| {
            let file = Path::new(file.as_str()?);
            file.extension().is_some_and(|extension| extension == "wasm").then(|| file.to_owned())
        })
    }

    /// The version of a built package.
    pub fn version(&self, name: &str) -> Option<String> {
        let id = self.built.iter().find(|one| text(one, "/target/name") == Some(name))?;
        // `…#0.1.0` or `…#hookbox-guest@0.1.0`
        text(id, "/package_id")?.rsplit(['#', '@']).next().map(str::to_owned)
    }
}

fn text<'a>(message: &'a Value, pointer: &str) -> Option<&'a str> {
    message.pointer(pointer)?.as_str()
}
