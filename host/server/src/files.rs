//! Reads files that others write, without blocking on pipes and with a size limit, and detects changes.

use std::{
    fs,
    io::{self, Read},
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

use hookbox::{
    private::open_regular,
    sandbox::beneath::{Beneath, MetadataExt as _},
};

/// The largest settings file, in bytes. A larger one is a mistake.
pub const MAX_SETTINGS_BYTES: u64 = 1 << 20;

/// A value that changes with a file: device, inode, times and length. `None`: the file does not exist.
pub type Stamp = Option<(u64, u64, i64, i64, u64)>;

/// The path of a file, and the folder that must contain it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilePath {
    /// Its path.
    pub path: PathBuf,
    /// The folder. `None`: anywhere.
    pub within: Option<PathBuf>,
}

impl FilePath {
    /// A file of the operator. It may be anywhere.
    pub fn anywhere(path: &Path) -> Self {
        Self { path: path.to_owned(), within: None }
    }

    /// A file of a tenant. It must be within the tenant's folder.
    pub fn within(path: &Path, folder: &Path) -> Self {
        Self { path: path.to_owned(), within: Some(folder.to_owned()) }
    }

    /// The current stamp of the file. Follows links, as reading does.
    pub fn stamp(&self) -> Stamp {
        let Some(folder) = &self.within else { return stamp(&self.path) };
        let meta = Beneath::open(folder).and_then(|folder| folder.metadata(&self.path)).ok()?;
        let times = (meta.mtime(), meta.mtime_nsec(), meta.ctime(), meta.ctime_nsec());
        Some(stamp_of(meta.dev(), meta.ino(), times, meta.len()))
    }

    /// Reads the file.
    ///
    /// # Errors
    /// An I/O error, or the file is not regular, is larger than `limit`, or is outside of its folder.
    pub fn read(&self, limit: u64) -> io::Result<Vec<u8>> {
        let file = match &self.within {
            None => open_regular(&self.path),
            Some(folder) => Beneath::open(folder)?.file(&self.path),
        };
        read(file?, limit)
    }
}

/// Files with their stamps. Each stamp is taken before the file is read, so that no change is missed.
#[derive(Debug, Default)]
pub struct Files {
    /// Their places.
    pub places: Vec<FilePath>,
    /// Their stamps.
    pub stamps: Vec<Stamp>,
}

impl Files {
    /// Adds a file that is about to be read.
    pub fn add(&mut self, place: FilePath) {
        self.stamps.push(place.stamp());
        self.places.push(place);
    }
}

/// The current stamp of a file.
pub fn stamp(path: &Path) -> Stamp {
    fs::metadata(path).ok().map(|meta| stamp_of_meta(&meta))
}

/// The stamp of a file with known metadata.
pub fn stamp_of_meta(meta: &fs::Metadata) -> (u64, u64, i64, i64, u64) {
    let times = (meta.mtime(), meta.mtime_nsec(), meta.ctime(), meta.ctime_nsec());
    stamp_of(meta.dev(), meta.ino(), times, meta.len())
}

fn stamp_of(dev: u64, ino: u64, times: (i64, i64, i64, i64), length: u64) -> (u64, u64, i64, i64, u64) {
    let nanos = |seconds: i64, nanos: i64| seconds.saturating_mul(1_000_000_000).saturating_add(nanos);
    (dev, ino, nanos(times.0, times.1), nanos(times.2, times.3), length)
}

/// Reads an open file.
///
/// # Errors
/// An I/O error, or the file is larger than `limit`.
pub fn read(file: fs::File, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        return Err(io::Error::other(format!("it is larger than {} KiB", limit >> 10)));
    }
    Ok(bytes)
}
