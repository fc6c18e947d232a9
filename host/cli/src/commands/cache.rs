//! `hookbox cache`: shows what is cached on disk, and removes it.

use std::{collections::BTreeSet, fs, path::Path};

use anyhow::Context;
use clap::Args;
use hookbox::{
    artifact::{ApprovalStore, CACHE_BYTES, ComponentCache, Lock},
    folders,
};
use serde_json::json;

use super::lock::count;
use crate::{exit::Exit, print, user_file};

/// Show the caches of registries and of the compiler, and free space.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  hookbox cache --gc")]
pub struct Cache {
    /// Remove components that no lock of this user names any more
    #[arg(long)]
    gc: bool,
    /// Remove compiled code too; it is compiled again when it is needed
    #[arg(long)]
    compiled: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Cache {
    pub fn run(self) -> anyhow::Result<Exit> {
        if self.json {
            print::json_only();
        }
        let mut components = Vec::new();
        let cache = ComponentCache::of_user()?;
        let named = locked()?;
        let (mut bytes, mut number, mut removed) = (0, 0, 0);
        for file in cache.files()? {
            let used = named.contains(&file.digest);
            if self.gc && !used {
                cache.remove(&file.digest)?;
                removed += 1;
                continue;
            }
            (bytes, number) = (bytes + file.size, number + 1);
            if self.json {
                components.push(json!({
                    "digest": format!("sha256:{}", file.digest), "bytes": file.size, "locked": used,
                }));
                continue;
            }
            let word = if used { "locked" } else { "in no lock" };
            print::out(format_args!("sha256:{}   {} KB   {word}", file.digest, file.size.div_ceil(1024)));
        }
        let compiled = folders::cache().map(|folder| compiled(&folder, self.compiled)).transpose()?;
        if self.json {
            print::json(&json!({
                "folder": cache.folder().to_string_lossy(), "components": components, "bytes": bytes,
                "limitBytes": CACHE_BYTES, "removed": removed,
                "compiled": compiled.map(|(number, bytes)| {
                    json!({ "files": number, "bytes": bytes, "removed": self.compiled })
                }),
            }));
            return Ok(Exit::Ok);
        }
        print::out(format_args!(
            "{}: {}, {} of {} MiB",
            cache.folder().display(),
            count(number),
            bytes.div_ceil(1 << 20),
            CACHE_BYTES >> 20
        ));
        if self.gc {
            print::out(format_args!("{} removed", count(removed)));
        }
        if let Some((number, bytes)) = compiled {
            let word = if self.compiled { ", removed" } else { "" };
            print::out(format_args!("compiled: {}, {} MiB{word}", count(number), bytes.div_ceil(1 << 20)));
        }
        Ok(Exit::Ok)
    }
}

/// The digests in all locks for which this user has approved or pending entries.
fn locked() -> anyhow::Result<BTreeSet<String>> {
    let Some(store) = ApprovalStore::of_user() else { return Ok(BTreeSet::new()) };
    let mut digests = BTreeSet::new();
    for approval in store.all().context("cannot read the approvals")? {
        let lock = Lock::read(&approval.lock, None).ok();
        let in_lock = lock.iter().flat_map(|lock| lock.components.values());
        let waiting = approval.next.values().chain(approval.pending.values()).filter(|_| lock.is_some());
        digests.extend(in_lock.chain(waiting).map(|locked| locked.hex().to_owned()));
    }
    Ok(digests)
}

/// Counts or removes compiled code, which is directly in the cache folder. Returns the number of files and their bytes.
fn compiled(folder: &Path, remove: bool) -> anyhow::Result<(usize, u64)> {
    let (mut number, mut bytes) = (0, 0);
    let Ok(entries) = fs::read_dir(folder) else { return Ok((number, bytes)) };
    for path in entries.flatten().map(|entry| entry.path()) {
        let of_compiler = path.extension().is_some_and(|extension| extension == "cwasm" || extension == "refused");
        let Ok(meta) = path.symlink_metadata() else { continue };
        if !of_compiler || !meta.is_file() {
            continue;
        }
        if remove {
            user_file::remove(&path)?;
        }
        (number, bytes) = (number + 1, bytes + meta.len());
    }
    Ok((number, bytes))
}
