//! Reads the folder of tenants: determines which files are tenants' own, and which of them changed.
//!
//! A hooks file may be in the same folder, and its tenant may write to it. So the content of a file does not suffice to
//! make it a tenant's file: a file that a tenant's file names under `hooks` is a hooks file, unless it was loaded as a
//! tenant before.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap, HashSet},
    fs, io,
    path::{Path, PathBuf},
    sync::Arc,
};

use crate::{
    files::{FilePath, Stamp, stamp, stamp_of_meta},
    tenant::FileSummary,
};

/// The maximum length of a tenant's name, in characters.
const NAME: usize = 63;

/// The state between two reads of the folder.
#[derive(Debug, Default)]
pub struct Folder {
    summaries: HashMap<String, Arc<FileSummary>>,
    /// The names of files that were loaded as hooks files. They do not become tenants, whatever they contain.
    pub hooks_files: BTreeSet<String>,
}

/// The daemon's state of a tenant.
pub struct TenantStamps {
    pub name: String,
    /// True if its hooks were ever loaded.
    pub served: bool,
    /// The stamp of the tenant's file when the tenant was last loaded completely. `None` while its files are invalid.
    pub loaded: Option<Stamp>,
    /// The files that it depends on, starting with its own. Empty before it was loaded.
    pub places: Vec<FilePath>,
}

/// A tenant's file, and the stamps of all the files it depends on.
#[derive(Debug)]
pub struct FoundFile {
    pub name: String,
    pub path: PathBuf,
    pub summary: Arc<FileSummary>,
    pub stamps: Vec<Stamp>,
    /// True if someone other than the operator may have written it.
    pub is_doubtful: bool,
}

/// The role of a file in the folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    Tenant,
    HooksFile,
    /// It resembles a tenant's own file, but a tenant's file names it under `hooks`.
    Doubtful,
}

impl Folder {
    /// The current tenants of a folder.
    ///
    /// # Errors
    /// The folder cannot be read. A missing folder is empty.
    pub fn look(&mut self, folder: &Path, known: &[TenantStamps]) -> io::Result<Vec<FoundFile>> {
        let found = list(folder)?;
        self.summaries.retain(|name, summary| found.get(name).is_some_and(|(_, stamp)| *stamp == summary.stamp));
        for (name, (path, stamp)) in &found {
            self.summaries.entry(name.clone()).or_insert_with(|| Arc::new(FileSummary::at(path, *stamp)));
        }
        self.hooks_files.retain(|name| found.contains_key(name));
        let named = self.named(folder, &found);
        for tenant in known {
            let now = found.get(&tenant.name).map(|(_, stamp)| *stamp);
            if now.is_none() || tenant.loaded != now {
                continue;
            }
            let served: Vec<&String> = known.iter().filter(|other| other.served).map(|other| &other.name).collect();
            let files = named.iter().filter(|(_, namers)| namers.contains(&tenant.name)).map(|(name, _)| name);
            self.hooks_files.extend(files.filter(|name| !served.contains(name)).cloned());
        }
        let roles = self.roles(&found, known, &named);
        let places: HashMap<&str, &[FilePath]> =
            known.iter().map(|tenant| (tenant.name.as_str(), tenant.places.as_slice())).collect();
        let seen = found.into_iter().filter_map(|(name, (path, stamp))| {
            let role = roles.get(&name).copied().unwrap_or(Role::Doubtful);
            if role == Role::HooksFile {
                return None;
            }
            // The first is its own file, whose stamp is known.
            let others = places.get(name.as_str()).and_then(|places| places.get(1..)).unwrap_or_default();
            let stamps = std::iter::once(stamp).chain(others.iter().map(FilePath::stamp)).collect();
            let summary = Arc::clone(self.summaries.get(&name)?);
            Some(FoundFile { name, path, summary, stamps, is_doubtful: role == Role::Doubtful })
        });
        Ok(seen.collect())
    }

    /// Maps each file that is named under `hooks` to the files that name it. A file that names itself does not count.
    fn named(&self, folder: &Path, found: &BTreeMap<String, (PathBuf, Stamp)>) -> BTreeMap<String, BTreeSet<String>> {
        let mut by_inode: HashMap<(u64, u64), Vec<&String>> = HashMap::new();
        for (name, (_, stamp)) in found {
            if let Some((dev, ino, ..)) = stamp {
                by_inode.entry((*dev, *ino)).or_default().push(name);
            }
        }
        let mut named: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for (namer, summary) in &self.summaries {
            for path in &summary.hooks {
                // Compared by inode, so that any path or link counts.
                let Some((dev, ino, ..)) = stamp(&folder.join(path)) else { continue };
                for name in by_inode.get(&(dev, ino)).into_iter().flatten().filter(|name| **name != namer) {
                    named.entry((*name).clone()).or_default().insert(namer.clone());
                }
            }
        }
        named
    }

    fn roles(
        &self,
        found: &BTreeMap<String, (PathBuf, Stamp)>,
        known: &[TenantStamps],
        named: &BTreeMap<String, BTreeSet<String>>,
    ) -> HashMap<String, Role> {
        let served: HashSet<&str> =
            known.iter().filter(|tenant| tenant.served).map(|tenant| tenant.name.as_str()).collect();
        let mut roles: HashMap<String, Role> = HashMap::new();
        for name in found.keys() {
            if served.contains(name.as_str()) {
                roles.insert(name.clone(), Role::Tenant);
            } else if self.hooks_files.contains(name)
                || self.summaries.get(name).is_some_and(|summary| summary.is_hooks_file)
            {
                roles.insert(name.clone(), Role::HooksFile);
            }
        }
        let like_a_tenant = |name: &String| self.summaries.get(name).is_some_and(|summary| summary.has_tokens);
        let named_role = |name: &String| if like_a_tenant(name) { Role::Doubtful } else { Role::HooksFile };
        // A file's `hooks` count once it is a tenant's file. It is one if no file whose `hooks` count names it.
        loop {
            let before = roles.len();
            for name in found.keys() {
                if roles.contains_key(name) {
                    continue;
                }
                let namers: Vec<_> = named.get(name).into_iter().flatten().map(|namer| roles.get(namer)).collect();
                if namers.contains(&Some(&Role::Tenant)) {
                    roles.insert(name.clone(), named_role(name));
                } else if namers.iter().all(Option::is_some) {
                    roles.insert(name.clone(), Role::Tenant);
                }
            }
            if roles.len() == before {
                break;
            }
        }
        // The remaining files name each other.
        for name in found.keys() {
            roles.entry(name.clone()).or_insert_with(|| named_role(name));
        }
        roles
    }
}

/// The files that may be tenants' own, with their stamps.
fn list(folder: &Path) -> io::Result<BTreeMap<String, (PathBuf, Stamp)>> {
    let mut found = BTreeMap::new();
    let entries = match fs::read_dir(folder) {
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(found);
        }
        entries => entries?,
    };
    for entry in entries {
        let path = entry?.path();
        let name = path.file_stem().and_then(|name| name.to_str());
        if path.extension().is_some_and(|extension| extension == "json")
            && let Some(name) = name.filter(|name| is_name(name))
            // A link without a target counts as missing.
            && let Ok(meta) = fs::metadata(&path)
            && !meta.is_dir()
        {
            let stamp = Some(stamp_of_meta(&meta));
            found.insert(name.to_owned(), (path, stamp));
        }
    }
    Ok(found)
}

/// Returns true if a text is a valid name of a tenant.
pub fn is_name(text: &str) -> bool {
    (1..=NAME).contains(&text.len()) && text.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-'))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::{fs, os::unix::fs::symlink, path::Path};

    use super::{Folder, TenantStamps};

    /// A tenant's file that names `hooks` as its hooks file.
    fn naming(hooks: &str) -> String {
        format!(r#"{{ "tokens": [], "hooks": {{ "claude": "{hooks}" }} }}"#)
    }

    /// The names of tenants. A doubtful one has a question mark.
    fn look(folder: &mut Folder, path: &Path, served: &[&str]) -> Vec<String> {
        let loaded = |name: &str| Some(crate::files::stamp(&path.join(format!("{name}.json"))));
        let known =
            |name: &&str| TenantStamps { name: (*name).into(), served: true, loaded: loaded(name), places: Vec::new() };
        let known: Vec<TenantStamps> = served.iter().map(known).collect();
        let seen = folder.look(path, &known).unwrap();
        seen.iter().map(|seen| format!("{}{}", seen.name, if seen.is_doubtful { "?" } else { "" })).collect()
    }

    #[test]
    fn a_file_is_a_hooks_file_by_any_path() {
        let root = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(root.path().join(name), text).unwrap();
        write("hooks-a.json", r#"{ "hooks": {} }"#);
        symlink("hooks-a.json", root.path().join("hooks-b.json")).unwrap();
        let up = format!("../{}/hooks-b.json", root.path().file_name().unwrap().to_str().unwrap());
        for name in ["hooks-a.json", "./hooks-a.json", &up] {
            write("acme.json", &naming(name));
            assert_eq!(look(&mut Folder::default(), root.path(), &[]), ["acme"], "{name}");
        }
        write("acme.json", &naming("elsewhere.json"));
        // A hooks file that no file names is not a tenant either. An invalid tenant's file is one.
        assert_eq!(look(&mut Folder::default(), root.path(), &[]), ["acme"]);
        for text in ["{", "{}", r#"{ "hooks": { "claude": "hooks.json" } }"#, r#"{ "tokens": [], "hooks": [] }"#] {
            write("hooks-a.json", text);
            assert_eq!(look(&mut Folder::default(), root.path(), &[]), ["acme", "hooks-a", "hooks-b"], "{text}");
        }
    }

    #[test]
    fn no_file_removes_a_loaded_neighbour() {
        let root = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(root.path().join(name), text).unwrap();
        write("beta.json", &naming("beta-hooks.json"));
        write("acme.json", &naming("beta.json"));
        assert_eq!(look(&mut Folder::default(), root.path(), &["beta"]), ["acme", "beta"]);
        // Also while its own file is invalid.
        write("beta.json", r#"{ "tokens": ["#);
        assert_eq!(look(&mut Folder::default(), root.path(), &["beta"]), ["acme", "beta"]);
        // The author of a file that was never loaded is unknown: it keeps its name, but is not loaded.
        write("beta.json", &naming("beta-hooks.json"));
        assert_eq!(look(&mut Folder::default(), root.path(), &[]), ["acme", "beta?"]);
        write("beta.json", &naming("acme.json"));
        assert_eq!(look(&mut Folder::default(), root.path(), &[]), ["acme?", "beta?"]);
        write("acme.json", &naming("acme.json"));
        assert_eq!(look(&mut Folder::default(), root.path(), &[]), ["acme?", "beta"]);
    }

    #[test]
    fn a_hooks_file_is_never_a_tenant() {
        let root = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(root.path().join(name), text).unwrap();
        write("acme.json", &naming("acme-hooks.json"));
        write("acme-hooks.json", r#"{ "hooks": {} }"#);
        write("beta.json", &naming("beta-hooks.json"));
        let mut folder = Folder::default();
        assert_eq!(look(&mut folder, root.path(), &["acme", "beta"]), ["acme", "beta"]);
        write("acme-hooks.json", &naming("beta.json"));
        assert_eq!(look(&mut folder, root.path(), &["acme", "beta"]), ["acme", "beta"]);
        assert_eq!(look(&mut Folder::default(), root.path(), &[]), ["acme", "acme-hooks?", "beta"]);
        // It does not become a tenant either when no file names it any more.
        fs::remove_file(root.path().join("acme.json")).unwrap();
        assert_eq!(look(&mut folder, root.path(), &["beta"]), ["beta"]);
        // Removing the file clears its role.
        fs::remove_file(root.path().join("acme-hooks.json")).unwrap();
        assert_eq!(look(&mut folder, root.path(), &["beta"]), ["beta"]);
        write("acme-hooks.json", &naming("x.json"));
        assert_eq!(look(&mut folder, root.path(), &["beta"]), ["acme-hooks", "beta"]);
    }

    #[test]
    fn a_missing_folder_counts_as_empty() {
        let root = tempfile::tempdir().unwrap();
        assert!(look(&mut Folder::default(), &root.path().join("nowhere"), &[]).is_empty());
    }
}
