//! Every verdict as a line of JSON, in a file or on stdout. Rotation is left to others: SIGHUP opens the file anew.

use std::{
    fs::File,
    io::{self, Write},
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use hookbox::private::append;

/// Where records go when no file is meant.
const STDOUT: &str = "stdout";

/// Where records go.
#[derive(Debug)]
pub struct Records {
    path: Option<PathBuf>,
    file: Mutex<Option<File>>,
}

impl Records {
    /// `stdout`, or a file that is made, or written on.
    ///
    /// # Errors
    /// The file cannot be opened, or is not the user's alone.
    pub fn open(to: &Path) -> io::Result<Self> {
        let path = (to != Path::new(STDOUT)).then(|| to.to_owned());
        let file = path.as_deref().map(append).transpose()?;
        Ok(Self { path, file: Mutex::new(file) })
    }

    /// Opens the file anew, which may have been moved away.
    pub fn reopen(&self) {
        let Some(path) = &self.path else { return };
        match append(path) {
            Ok(file) => *self.file.lock().unwrap_or_else(PoisonError::into_inner) = Some(file),
            Err(error) => tracing::error!("records: {}: {error}", path.display()),
        }
    }

    /// Writes one line in one step. A verdict holds even when it cannot be recorded.
    pub fn write(&self, line: &str) {
        let line = format!("{line}\n");
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let written = if let Some(file) = file.as_mut() {
            file.write_all(line.as_bytes())
        } else {
            let mut stdout = io::stdout().lock();
            stdout.write_all(line.as_bytes()).and_then(|()| stdout.flush())
        };
        if let Err(error) = written {
            metrics::counter!("hookbox_records_lost_total").increment(1);
            tracing::error!("a verdict could not be recorded: {error}");
        }
    }
}
