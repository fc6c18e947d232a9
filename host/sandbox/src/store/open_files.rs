//! Limits on the files that a tenant's calls hold open, and so on the threads that work on them.
//!
//! wasmtime-wasi works on files on threads of tokio's blocking pool, and a thread that waits for a disk outlives its
//! call. Such a thread holds its file open, so a limit on open files per tenant also limits the blocked threads.

use std::{
    collections::HashMap,
    fs::File,
    io,
    os::unix::fs::MetadataExt,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
};

use super::LimitReached;

/// Maximum number of open files, directories and streams of one call.
const PER_CALL: usize = 64;
/// Maximum number for all calls of a tenant. Includes files that threads still use after their call has ended. tokio's
/// blocking pool has 512 threads.
const PER_TENANT: usize = 128;

/// Open files of all tenants of an engine.
#[derive(Debug, Default)]
pub(crate) struct OpenFiles {
    tenants: Mutex<HashMap<Arc<str>, Vec<Weak<File>>>>,
    /// Directories granted to hooks, by device and inode.
    folders: Mutex<HashMap<(u64, u64), Weak<File>>>,
}

impl OpenFiles {
    /// Keeps a granted directory open, with one descriptor for all hooks that share it.
    pub(crate) fn keep(&self, folder: File) -> io::Result<Arc<File>> {
        let meta = folder.metadata()?;
        let mut folders = lock(&self.folders);
        if let Some(folder) = folders.get(&(meta.dev(), meta.ino())).and_then(Weak::upgrade) {
            return Ok(folder);
        }
        folders.retain(|_, folder| folder.strong_count() > 0);
        let folder = Arc::new(folder);
        folders.insert((meta.dev(), meta.ino()), Arc::downgrade(&folder));
        Ok(folder)
    }
}

/// Open files of one call.
pub(super) struct CallFiles {
    all: Arc<OpenFiles>,
    tenant: Arc<str>,
    own: Vec<Weak<File>>,
}

impl CallFiles {
    pub(super) fn new(all: Arc<OpenFiles>, tenant: Arc<str>) -> Self {
        Self { all, tenant, own: Vec::new() }
    }

    /// Returns an error if there is no room for another file or stream.
    pub(super) fn check(&mut self) -> Result<(), LimitReached> {
        self.take(None)
    }

    /// Counts a file until its last holder closes it.
    pub(super) fn add(&mut self, file: &Arc<File>) -> Result<(), LimitReached> {
        self.take(Some(file))
    }

    fn take(&mut self, file: Option<&Arc<File>>) -> Result<(), LimitReached> {
        if held(&mut self.own) >= PER_CALL {
            return Err(LimitReached::Memory(format!("held more than {PER_CALL} files and streams of files open")));
        }
        let mut tenants = lock(&self.all.tenants);
        tenants.retain(|_, files| held(files) > 0);
        let files = tenants.get(&self.tenant).map_or(0, |files| files.iter().map(Weak::strong_count).sum());
        if files >= PER_TENANT {
            return Err(LimitReached::Files(PER_TENANT));
        }
        if let Some(file) = file {
            self.own.push(Arc::downgrade(file));
            tenants.entry(Arc::clone(&self.tenant)).or_default().push(Arc::downgrade(file));
        }
        Ok(())
    }
}

/// Removes closed files from the list and counts the references to the others: descriptors, streams and threads.
fn held(files: &mut Vec<Weak<File>>) -> usize {
    files.retain(|file| file.strong_count() > 0);
    files.iter().map(Weak::strong_count).sum()
}

/// Locks a mutex and ignores poisoning, because a panic leaves none of these values half changed.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::{Arc, CallFiles, File, LimitReached, OpenFiles, PER_CALL, PER_TENANT};

    #[test]
    fn open_files_are_limited_per_tenant() {
        let all = Arc::new(OpenFiles::default());
        let call = |tenant: &str| CallFiles::new(Arc::clone(&all), tenant.into());
        let file = || Arc::new(tempfile::tempfile().unwrap());
        let mut held = Vec::new();
        for _ in 0..PER_TENANT / PER_CALL {
            let mut one = call("acme");
            for _ in 0..PER_CALL {
                let file = file();
                one.add(&file).unwrap();
                held.push(file);
            }
            assert!(matches!(one.check(), Err(LimitReached::Memory(_))));
        }
        // Those calls have ended: their files are now held by threads.
        assert!(matches!(call("acme").add(&file()), Err(LimitReached::Files(_))));
        call("other").add(&file()).unwrap();
        held.pop();
        call("acme").add(&file()).unwrap();
        let threads: Vec<Arc<File>> = held.iter().take(1).cloned().collect();
        assert!(matches!(call("acme").check(), Err(LimitReached::Files(_))));
        drop((threads, held));
        call("acme").check().unwrap();
        assert!(all.tenants.lock().unwrap().is_empty());
    }

    #[test]
    fn hooks_share_the_descriptor_of_a_directory() {
        let (all, folder) = (OpenFiles::default(), tempfile::tempdir().unwrap());
        let keep = || all.keep(File::open(folder.path()).unwrap()).unwrap();
        let one = keep();
        assert!(Arc::ptr_eq(&one, &keep()));
    }
}
