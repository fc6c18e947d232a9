//! The daemon's state of one tenant.

use std::{sync::Arc, time::Instant};

use super::{folder::TenantStamps, memory::SavedTenant};
use crate::{
    files::Files,
    tenant::{FileSummary, FileTokens, Tenant, Usage},
    token::Token,
};

/// A tenant. Its tokens are updated whenever its file changes, without waiting for a load.
pub struct Slot {
    /// Its last readable tokens. `None` if they could never be read.
    tokens: Option<Arc<[Token]>>,
    /// True if failures block. `None` if its files could never be read.
    closed: Option<bool>,
    pub standing: Standing,
    /// True if its current files are invalid.
    pub is_refused: bool,
    pub past: Progress,
    pub files: Files,
    pub loading: bool,
    /// True if the last load was slow.
    pub is_slow: bool,
    /// Incremented when its file is removed. Loads of an earlier generation are dropped.
    pub generation: u64,
    pub usage: Option<Arc<Usage>>,
    /// The error of the current files.
    pub error: Option<LoadError>,
    /// The time of the last load, as Unix time in ms.
    pub loaded: Option<i64>,
}

/// The error of invalid files.
#[derive(Debug, Clone)]
pub struct LoadError {
    /// The text that `hookbox check` prints.
    pub text: String,
    /// The text for the tenant's owner, without the operator's file.
    pub public_text: String,
    /// The time of the error, as Unix time in ms.
    pub at: i64,
}

/// The most advanced state that a name ever had.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Progress {
    /// An invalid file, which may be a hooks file.
    #[default]
    File,
    /// A valid tenant's file.
    Tenant,
    /// A tenant whose hooks were loaded.
    Served,
}

/// The current state of a tenant.
#[derive(Debug, Clone)]
pub enum Standing {
    /// It is loading for the first time, or again after its file was removed.
    Loading,
    /// It is loaded.
    Serving(Arc<Tenant>),
    /// It was never loaded. The text is the reason for its clients.
    Broken(Arc<str>),
    /// Its file was removed at this time.
    Gone(Instant),
}

/// The state of a tenant for a request.
#[derive(Debug, Clone)]
pub struct TenantView {
    /// Hashes of its tokens.
    pub tokens: Arc<[Token]>,
    /// True if failures block, or if that is unknown.
    pub closed: bool,
    /// Its state.
    pub standing: Standing,
}

impl Slot {
    /// Creates the slot of a new tenant.
    pub fn new() -> Self {
        Self {
            tokens: None,
            closed: None,
            standing: Standing::Loading,
            is_refused: false,
            past: Progress::default(),
            files: Files::default(),
            loading: false,
            is_slow: false,
            generation: 0,
            usage: None,
            error: None,
            loaded: None,
        }
    }

    /// Creates the slot of a tenant that an earlier daemon knew.
    pub fn known(known: SavedTenant, now: Instant) -> Self {
        let (tokens, closed) = (Some(known.tokens.into()), Some(known.closed));
        let past = if known.served { Progress::Served } else { Progress::Tenant };
        Self { tokens, closed, past, standing: Standing::Gone(now), ..Self::new() }
    }

    pub fn found(&self) -> TenantView {
        TenantView { tokens: self.tokens(), closed: self.closed.unwrap_or(true), standing: self.standing.clone() }
    }

    pub fn tokens(&self) -> Arc<[Token]> {
        self.tokens.clone().unwrap_or_default()
    }

    /// The part that is persisted. `None` for a tenant whose file could never be read.
    pub fn to_keep(&self) -> Option<SavedTenant> {
        let (tokens, closed) = (self.tokens.as_ref()?.to_vec(), self.closed?);
        Some(SavedTenant { tokens, closed, served: self.past == Progress::Served })
    }

    /// The part that reading the folder needs.
    pub fn as_known(&self, name: &str) -> TenantStamps {
        let is_loaded = matches!(self.standing, Standing::Serving(_)) && !self.is_refused;
        let loaded = is_loaded.then(|| self.files.stamps.first().copied()).flatten();
        TenantStamps {
            name: name.to_owned(),
            served: self.past == Progress::Served,
            loaded,
            places: self.files.places.clone(),
        }
    }

    /// Updates the tokens from a file. An unreadable file revokes none.
    pub fn heed(&mut self, summary: &FileSummary) {
        let before = self.tokens();
        if summary.file.is_ok() {
            self.past = self.past.max(Progress::Tenant);
        }
        match &summary.tokens {
            FileTokens::All(tokens) if **tokens == *before && self.tokens.is_some() => {}
            FileTokens::All(tokens) => self.tokens = Some(tokens.as_slice().into()),
            FileTokens::Some(tokens) => {
                let more = tokens.iter().filter(|token| !before.contains(token));
                self.tokens = Some(before.iter().chain(more).cloned().collect());
            }
            FileTokens::Text(tokens) if self.tokens.is_none() && !tokens.is_empty() => {
                self.tokens = Some(tokens.as_slice().into());
            }
            FileTokens::Text(_) => {}
        }
    }

    /// Updates `failClosed` from a tenant's file and its hooks files. If one of them cannot be read, an earlier `true`
    /// stays.
    pub fn settle(&mut self, own: Option<bool>, hooks: &[Option<bool>]) {
        let says: Vec<Option<bool>> = std::iter::once(own).chain(hooks.iter().copied()).collect();
        let is_unsure = says.contains(&None);
        self.closed = Some(says.contains(&Some(true)) || (is_unsure && self.closed == Some(true)));
    }

    /// Drops the loaded hooks and the pending load.
    pub fn withdraw(&mut self, standing: Standing) {
        self.standing = standing;
        self.is_refused = false;
        self.error = None;
        self.files = Files::default();
        self.loading = false;
        self.generation += 1;
    }

    /// Resets the state after the file was restored.
    pub fn come_back(&mut self) {
        if matches!(self.standing, Standing::Gone(_)) {
            self.standing = Standing::Loading;
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::fs;

    use super::Slot;
    use crate::{files::stamp, tenant::FileSummary, token::Token};

    /// The tokens of a slot after it read a file with this text.
    fn heed(slot: &mut Slot, text: &str) -> Vec<Token> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("acme.json");
        fs::write(&file, text).unwrap();
        slot.heed(&FileSummary::at(&file, stamp(&file)));
        slot.tokens().to_vec()
    }

    #[test]
    fn a_file_that_cannot_be_read_revokes_nothing_and_one_that_can_does() {
        let (a, b) = (Token::of("first secret"), Token::of("second secret"));
        let file = |tokens: &str, more: &str| format!(r#"{{ "tokens": [{tokens}], "hooks": {{}}{more} }}"#);
        let both = file(&format!("\"{a}\", \"{b}\""), "");
        let only_b = format!("\"{b}\"");
        for unreadable in ["", "{", "[]", r#"{ "tokens": 1 }"#, &file(&format!("// \"{a}\""), ""), r#"{ "hooks": {} }"#]
        {
            let mut slot = Slot::new();
            assert_eq!(heed(&mut slot, &both), [a.clone(), b.clone()]);
            assert_eq!(heed(&mut slot, unreadable), [a.clone(), b.clone()], "{unreadable}");
        }
        // Also if the file is invalid elsewhere.
        for readable in [file(&only_b, ""), file(&only_b, r#", "quotas": 7"#), file(&only_b, r#", "what": "is this""#)]
        {
            let mut slot = Slot::new();
            heed(&mut slot, &both);
            assert_eq!(heed(&mut slot, &readable), std::slice::from_ref(&b), "{readable}");
        }
        let mut slot = Slot::new();
        heed(&mut slot, &both);
        assert!(heed(&mut slot, &file("", "")).is_empty());
        // The text of an invalid file does not restore a revoked token.
        assert!(heed(&mut slot, &format!("{{ \"tokens\": [\"{a}\"")).is_empty());
        // An invalid hash may be that of any earlier token.
        let mut slot = Slot::new();
        heed(&mut slot, &both);
        assert_eq!(heed(&mut slot, &file("\"sha256:12\"", "")), [a.clone(), b]);
        // Without earlier tokens, the hashes in the text are used.
        assert_eq!(heed(&mut Slot::new(), &format!("{{ \"tokens\": [\"{a}\"")), [a]);
    }

    #[test]
    fn a_file_without_fail_closed_changes_nothing() {
        let closed_after = |before: Option<bool>, own, hooks: &[Option<bool>]| {
            let mut slot = Slot { closed: before, ..Slot::new() };
            assert!(slot.found().closed || before == Some(false));
            slot.settle(own, hooks);
            slot.found().closed
        };
        assert!(!closed_after(None, Some(false), &[Some(false)]));
        assert!(closed_after(None, Some(false), &[Some(false), Some(true)]));
        assert!(closed_after(None, Some(true), &[None]));
        assert!(!closed_after(None, Some(false), &[None]));
        assert!(closed_after(Some(true), Some(false), &[None]));
        assert!(closed_after(Some(true), None, &[]));
        assert!(!closed_after(Some(true), Some(false), &[Some(false)]));
        assert!(!closed_after(Some(false), None, &[]));
    }
}
