//! Reads configuration files: options, bounded reading, and the location of a project's file.

use std::{
    io::{self, Read},
    path::{Path, PathBuf},
};

use hookbox_protocol::{DecodeError, Dialect};
use hookbox_sandbox::private::open_regular;

use super::{
    Config, ConfigErrors,
    diagnostic::Finding,
    load::{self, Loaded},
    options::ReadOptions,
};

impl Config {
    /// Reads and checks a configuration file, and logs its warnings. Components are read only when their hooks are
    /// loaded.
    ///
    /// # Errors
    /// All errors of the file.
    pub fn from_file(path: impl AsRef<Path>) -> Result<Self, ConfigErrors> {
        let Loaded { config, warnings } = Reader::new().file(path.as_ref())?;
        for warning in warnings {
            tracing::warn!("{warning}");
        }
        Ok(config)
    }

    /// Like [`Config::from_file`], with a dialect that overrides the one in the file.
    ///
    /// # Errors
    /// Same as [`Config::from_file`].
    pub fn load(path: &Path, dialect: Option<&str>) -> Result<Loaded, ConfigErrors> {
        Reader::with(dialect).file(path)
    }

    /// Like [`Config::load`], with the text of a file.
    ///
    /// # Errors
    /// All errors of the text.
    pub fn parse(text: &str, file: &Path, dialect: Option<&str>) -> Result<Loaded, ConfigErrors> {
        Reader::with(dialect).text(text, file)
    }

    /// Like [`Config::parse`], with the embedder's own dialect. It overrides the dialect in the text, and its
    /// [`Dialect::shape`] determines the form of `hooks`. Pass the result to
    /// [`StandaloneBuilder::config`](crate::StandaloneBuilder::config).
    ///
    /// # Errors
    /// Same as [`Config::parse`].
    pub fn parse_for(text: &str, file: &Path, dialect: &'static dyn Dialect) -> Result<Loaded, ConfigErrors> {
        load::parse(text, file, &ReadOptions::default(), |_, _| Some(dialect))
    }
}

/// Reads configurations, with options.
#[derive(Debug, Clone, Default)]
#[must_use]
pub struct Reader(ReadOptions);

impl Reader {
    /// Creates a reader with default options.
    pub fn new() -> Self {
        Self::default()
    }

    fn with(dialect: Option<&str>) -> Self {
        Self(ReadOptions { dialect: dialect.map(str::to_owned), ..ReadOptions::default() })
    }

    /// Sets a dialect that overrides the one in the file.
    pub fn dialect(mut self, name: impl Into<String>) -> Self {
        self.0.dialect = Some(name.into());
        self
    }

    /// Adds a type of handlers that files may use. [`Runtime::reader`](crate::Runtime::reader) includes those of its
    /// runtime.
    pub fn handler(mut self, kind: impl Into<String>) -> Self {
        self.0.handlers.push(kind.into());
        self
    }

    /// Also reports missing component files if the configuration has other errors. Without errors, loading the hooks
    /// reports them.
    pub fn with_files(mut self) -> Self {
        self.0.files = true;
        self
    }

    /// Sets whether failures block even if the file does not contain `"failClosed": true`.
    pub fn fail_closed(mut self, closed: bool) -> Self {
        self.0.fail_closed = closed;
        self
    }

    /// Sets the memory for compiled matchers, for files that share a budget of 32 MiB. See [`Config::matcher_bytes`].
    pub fn matcher_bytes(mut self, limit: usize) -> Self {
        self.0.matcher_bytes = Some(limit);
        self
    }

    /// Reads and checks a file.
    ///
    /// # Errors
    /// All errors of the file.
    pub fn file(&self, path: &Path) -> Result<Loaded, ConfigErrors> {
        let bytes = regular(path).map_err(|error| {
            let finding = Finding::error("", format!("cannot read the configuration: {error}"));
            load::located(
                path,
                None,
                vec![match error.kind() {
                    io::ErrorKind::NotFound => finding.help("create the file, or name another one"),
                    _ => finding,
                }],
            )
        })?;
        match String::from_utf8(bytes) {
            Ok(text) => self.text(&text, path),
            Err(error) => {
                let place = DecodeError::Utf8(error.utf8_error().valid_up_to());
                Err(load::located(path, None, vec![Finding::error("", place.to_string())]))
            }
        }
    }

    /// Reads and checks the text of a file.
    ///
    /// # Errors
    /// All errors of the text.
    pub fn text(&self, text: &str, file: &Path) -> Result<Loaded, ConfigErrors> {
        load::parse(text, file, &self.0, |object, found| load::choose_dialect(object, self.0.dialect.as_deref(), found))
    }
}

/// Finds the configuration file of a project: `hooks.json`, or else the settings of Claude Code.
pub fn find(dir: &Path) -> Option<PathBuf> {
    ["hooks.json", ".claude/settings.json"].iter().map(|name| dir.join(name)).find(|path| path.is_file())
}

/// The largest configuration in bytes, which bounds the time and memory of reading it.
const MAX_BYTES: u64 = 16 << 20;

/// The bytes of a regular file, cut just above [`MAX_BYTES`]. Does not block if the path is a pipe.
pub(super) fn beginning(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open_regular(path)?.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The bytes of a regular file. An error if it is too large.
pub(super) fn regular(path: &Path) -> io::Result<Vec<u8>> {
    let bytes = beginning(path)?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(io::Error::other(format!("it is larger than {} MiB", MAX_BYTES >> 20)));
    }
    Ok(bytes)
}
