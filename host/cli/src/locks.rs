//! The lock of a configuration, its components and its approvals, which commands change together.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::File,
    path::PathBuf,
};

use anyhow::Context;
use hookbox::{
    artifact::{Approval, ApprovalStore, ComponentCache, Lock, LockError, Locked, Reference, lock_file},
    config::{Config, Reader},
    sandbox::component::inspect,
};
use hookbox_registry::{Registry, Resolved, Trust};

use crate::{exit::Exit, print, registries, report, user_file};

/// A configuration with its lock, the user's approvals and the fetched components.
pub struct Locks {
    /// The configuration.
    pub config: Config,
    /// The lock's file.
    pub path: PathBuf,
    /// The lock. Empty if the file does not exist yet.
    pub lock: Lock,
    /// True if the lock's file exists.
    pub is_there: bool,
    /// The approvals of the lock.
    pub approval: Approval,
    store: ApprovalStore,
    cache: ComponentCache,
    /// The right to change the lock and its approvals.
    _busy: File,
}

impl Locks {
    /// Reads all of them.
    pub fn open(file: Option<PathBuf>, dialect: Option<&str>) -> anyhow::Result<Self> {
        let found = || hookbox::config::find(std::path::Path::new(""));
        let no = || Exit::Config.error("no configuration here: name the file");
        let file = file.or_else(found).ok_or_else(no)?;
        let loaded = dialect.into_iter().fold(Reader::new(), Reader::dialect).file(&file)?;
        report::problems(&loaded.warnings);
        let config = loaded.config;
        let path = lock_file(&config);
        let no_home = "no folder for approvals: HOME is not set";
        let store = ApprovalStore::of_user().context(no_home)?;
        let busy =
            store.exclusive(&path).with_context(|| format!("cannot change the approvals of {}", path.display()))?;
        let (lock, is_there) = match Lock::read(&path, None) {
            Ok(lock) => (lock, true),
            Err(LockError::Missing(_)) => (Lock::new(), false),
            Err(error) => return Err(Exit::Config.error(error.to_string())),
        };
        let mut approval = store.get(&path).context("cannot read the approvals")?;
        approval.settle(&lock);
        Ok(Self { config, path, lock, is_there, approval, store, cache: ComponentCache::of_user()?, _busy: busy })
    }

    /// The references that these words select: by the whole reference, its repository or the last word of that. Without
    /// words, all.
    pub fn named(&self, words: &[String]) -> anyhow::Result<Vec<Reference>> {
        let all = &self.config.references;
        if words.is_empty() {
            return Ok(all.iter().cloned().collect());
        }
        let mut chosen = BTreeSet::new();
        for word in words {
            let is = |reference: &&Reference| {
                reference.to_string() == *word || reference.name() == *word || reference.short_name() == word
            };
            let found: Vec<&Reference> = all.iter().filter(is).collect();
            if found.is_empty() {
                let message = format!("{} names no component `{word}`", self.config.file.display());
                return Err(Exit::Usage.error(message));
            }
            chosen.extend(found.into_iter().cloned());
        }
        Ok(chosen.into_iter().collect())
    }

    /// The component of an entry: the fetched one, or else the one in its registry, by the digest in the lock. Returns the
    /// entry for approvals, which is attested only if the publisher was verified for this user.
    pub async fn component(
        &self,
        (registry, trust): &(Registry, Trust),
        reference: &Reference,
        locked: &Locked,
    ) -> anyhow::Result<(Vec<u8>, Locked)> {
        let digests = [locked.digest.as_str(), locked.manifest.as_str()];
        if let Some(what) = trust.revoked.find(digests, locked.publisher.as_deref()) {
            return Err(Exit::Unsigned.error(format!("`{reference}`: {what} is revoked")));
        }
        // What this user approved was verified then. Without a policy the digest is enough.
        let approved = self.approval.approved(&reference.to_string(), locked);
        if let Some(what) = approved.and_then(|entry| trust.revoked.find([&entry.manifest, ""], None)) {
            return Err(Exit::Unsigned.error(format!("`{reference}`: {what} is revoked")));
        }
        // What `update` verified waits in the user's own folder, so its word counts as an approval's does.
        let waiting = self.approval.pending.get(&reference.to_string());
        let waiting = waiting.filter(|found| found.digest == locked.digest && found.publisher == locked.publisher);
        let verified = approved.or(waiting).is_some_and(|entry| entry.attested);
        let attested = |attested: bool| Locked { attested, ..locked.clone() };
        if (approved.is_some() || trust.publishers.accept(reference, None))
            && let Some(bytes) = self.cache.get(locked.hex())?
        {
            return Ok((bytes, attested(verified)));
        }
        let pinned = reference.at(&locked.manifest);
        let seen = registry.inspect(&pinned).await.map_err(registries::failed)?;
        let verified = trust.verify(registry, &pinned, &seen).await.map_err(registries::refused)?;
        let publisher = verified.map(|verified| verified.publisher);
        if publisher.is_some() && publisher != locked.publisher {
            let found = publisher.unwrap_or_default();
            let in_lock = locked.publisher.as_deref().unwrap_or("unknown");
            let message = format!("`{reference}` is signed by {found}, and the lock says {in_lock}");
            return Err(Exit::Forged.advised(message, &["run   hookbox update"]));
        }
        let pulled = registry.pull_seen(&pinned, seen).await.map_err(registries::failed)?;
        if pulled.seen.component.digest != locked.digest {
            let found = &pulled.seen.component.digest;
            let message = format!("`{reference}`: the registry has {found} where {} is locked", locked.digest);
            return Err(Exit::Forged.error(message));
        }
        Ok((pulled.component, attested(publisher.is_some())))
    }

    /// The component of an entry, if it is kept.
    pub fn cached(&self, locked: &Locked) -> anyhow::Result<Option<Vec<u8>>> {
        Ok(self.cache.get(locked.hex())?)
    }

    /// The fetched components of the lock, by reference.
    pub fn all_kept(&self) -> BTreeMap<String, Vec<u8>> {
        let cache = |locked: &Locked| self.cache.get(locked.hex()).ok().flatten();
        self.lock.components.iter().filter_map(|(name, locked)| Some((name.clone(), cache(locked)?))).collect()
    }

    /// Keeps a component.
    pub fn keep(&self, bytes: &[u8]) -> anyhow::Result<()> {
        Ok(self.cache.put(bytes).map(drop)?)
    }

    /// Adds a resolved component to the lock, as approved.
    pub fn take(&mut self, reference: &Reference, resolved: &Resolved) -> anyhow::Result<()> {
        self.keep(&resolved.component)?;
        self.enter(reference, resolved.locked.clone());
        Ok(())
    }

    /// Adds an entry to the lock, as approved. Keeps the reviewer's note.
    pub fn enter(&mut self, reference: &Reference, mut locked: Locked) {
        let name = reference.to_string();
        locked.note = self.lock.components.get(&name).and_then(|before| before.note.clone());
        self.approve(&name, locked.clone());
        self.lock.components.insert(name, locked);
    }

    /// Approves an entry, which is attested only if the publisher was verified for this user.
    pub fn approve(&mut self, name: &str, locked: Locked) {
        self.approval.next.insert(name.to_owned(), locked);
        self.approval.pending.remove(name);
    }

    /// Writes the approvals and the lock. In between, both the old and the new lock are approved, so that hooks which
    /// run meanwhile find an approved one.
    pub fn write(&mut self) -> anyhow::Result<()> {
        self.lock.declare(&self.config);
        self.drop_unused();
        self.store.put(&self.approval).context("cannot save the approvals")?;
        let text = self.lock.text();
        if user_file::read(&self.path)?.as_deref() != Some(text.as_bytes()) {
            // A checkout may have a link in its place. What it leads to is not this lock.
            user_file::replace(&self.path, text.as_bytes())?;
        }
        self.settle()
    }

    /// Writes only the approvals.
    pub fn settle(&mut self) -> anyhow::Result<()> {
        self.approval.settle(&self.lock);
        let names = |name: &String| self.lock.components.contains_key(name);
        self.approval.components.retain(|name, _| names(name));
        self.approval.pending.retain(|name, _| names(name));
        self.store.put(&self.approval).context("cannot save the approvals")
    }

    /// Removes entries that no configuration names any more. Keeps all if another configuration of the lock is
    /// unreadable.
    fn drop_unused(&mut self) {
        let own = self.config.file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let mut used: BTreeSet<String> = self.config.references.iter().map(ToString::to_string).collect();
        let mut gone = Vec::new();
        for name in self.lock.declarations.keys().filter(|name| **name != own) {
            let path = self.config.folder().join(name);
            if !path.exists() {
                gone.push(name.clone());
                continue;
            }
            match Reader::new().file(&path) {
                Ok(other) => used.extend(other.config.references.iter().map(ToString::to_string)),
                Err(_) => return,
            }
        }
        for name in gone {
            self.lock.declarations.remove(&name);
        }
        self.lock.components.retain(|name, _| used.contains(name));
    }

    /// Returns true if this user approved the same component of the same repository for another lock.
    pub fn approved_elsewhere(&self, reference: &Reference, locked: &Locked) -> bool {
        let all = self.store.all().unwrap_or_default();
        all.iter().filter(|approval| approval.lock != self.approval.lock).any(|approval| {
            approval.components.iter().any(|(name, approved)| {
                Reference::parse(name).is_ok_and(|other| other.name() == reference.name())
                    && approved.digest == locked.digest
            })
        })
    }
}

/// Prints a description of an entry. `attested` is false if the publisher was not verified for this user.
pub fn show(reference: &Reference, locked: &Locked, attested: bool) {
    let version = locked.version.as_deref().map(|version| format!("   version {}", print::name(version)));
    print::out(format_args!("{reference}{}", version.unwrap_or_default()));
    print::out(format_args!("  component   {}   {} KB", locked.digest, locked.size.div_ceil(1024)));
    let publisher = match &locked.publisher {
        Some(publisher) if attested => print::name(publisher),
        Some(publisher) => format!("{} (the lock says so; no policy here verifies it)", print::name(publisher)),
        None => "unknown (not signed)".into(),
    };
    print::out(format_args!("  publisher   {publisher}"));
    print::out(format_args!("  handles     {}", list(&locked.exports)));
    for line in asks(&locked.imports) {
        print::out(format_args!("  asks        {line}"));
    }
}

/// Descriptions of the interfaces that a component imports.
pub fn asks(imports: &BTreeSet<String>) -> Vec<String> {
    let words = BTreeMap::from([
        ("state", "to keep state between events (`state`)"),
        ("http", "to send requests to origins that its configuration grants (`http`)"),
        ("llm", "to call the language model (`llm`)"),
    ]);
    let mut lines: Vec<String> =
        imports.iter().filter_map(|name| words.get(name.as_str())).map(|w| (*w).to_owned()).collect();
    let others: Vec<String> =
        imports.iter().filter(|name| !words.contains_key(name.as_str())).map(|name| print::name(name)).collect();
    if !others.is_empty() {
        lines.push(format!(
            "for {}, which have no effect unless directories or variables are granted",
            others.join(", ")
        ));
    }
    if lines.is_empty() {
        lines.push("for nothing".into());
    }
    lines
}

/// Checks that the component's power equals that in the lock.
pub fn check_power(reference: &Reference, locked: &Locked, bytes: &[u8]) -> anyhow::Result<()> {
    let found = inspect(bytes).map_err(|error| Exit::Forged.error(format!("`{reference}`: {error}")))?;
    if hookbox::artifact::Power::of(&found) == locked.power() {
        return Ok(());
    }
    let message = format!("`{reference}`: the events or interfaces in the lock differ from those of the component");
    Err(Exit::Forged.advised(message, &["the lock was edited: check its history, then run   hookbox lock"]))
}

fn list(words: &BTreeSet<String>) -> String {
    if words.is_empty() {
        "—".into()
    } else {
        words.iter().map(|word| print::name(word)).collect::<Vec<_>>().join(", ")
    }
}
