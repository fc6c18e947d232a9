//! Which files something was made of, and whether they have changed since.

use std::{
    fs,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

/// What changes when a file does: device, number, times and length. `None`: there is none.
pub type Stamp = Option<(u64, u64, i64, i64, u64)>;

/// Files with their stamps. Each is added before it is read, so that no change is missed.
#[derive(Debug, Default)]
pub struct Files {
    /// Their paths.
    pub paths: Vec<PathBuf>,
    /// As they were.
    pub stamps: Vec<Stamp>,
}

impl Files {
    /// Adds a file that is about to be read.
    pub fn add(&mut self, path: &Path) {
        self.stamps.push(stamp(path));
        self.paths.push(path.to_owned());
    }
}

/// A file as it is now. Links are followed, as whoever reads it does.
pub fn stamp(path: &Path) -> Stamp {
    let meta = fs::metadata(path).ok()?;
    let nanos = |seconds: i64, nanos: i64| seconds.saturating_mul(1_000_000_000).saturating_add(nanos);
    let (modified, changed) = (nanos(meta.mtime(), meta.mtime_nsec()), nanos(meta.ctime(), meta.ctime_nsec()));
    Some((meta.dev(), meta.ino(), modified, changed, meta.len()))
}
