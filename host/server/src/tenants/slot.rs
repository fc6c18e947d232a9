//! One tenant as the daemon knows it, in whatever state it is.

use std::{sync::Arc, time::Instant};

use super::{folder::Known, memory::KnownTenant};
use crate::{
    files::Files,
    tenant::{Glance, Tenant, Told, Usage},
    token::Token,
};

/// A tenant. Its tokens are taken from its file at each look, and do not wait for a load.
pub struct Slot {
    /// Its tokens, as they were last read. `None` before they could be read.
    tokens: Option<Arc<[Token]>>,
    /// True when failures block, as far as its files could be read.
    closed: Option<bool>,
    pub standing: Standing,
    /// True when the present files cannot be used.
    pub is_refused: bool,
    pub past: Past,
    pub files: Files,
    pub loading: bool,
    /// True when the last load was slow.
    pub is_slow: bool,
    /// Grows when its file goes away: loads of an earlier generation are dropped.
    pub generation: u64,
    pub usage: Option<Arc<Usage>>,
    /// The error of the present files.
    pub error: Option<LoadError>,
    /// The time of the last load, in milliseconds since 1970.
    pub loaded: Option<i64>,
}

/// The error of files that cannot be used.
#[derive(Debug, Clone)]
pub struct LoadError {
    /// The text that `hookbox check` prints.
    pub text: String,
    /// The text for the tenant's owner, without the operator's file.
    pub told: String,
    /// The time, in milliseconds since 1970.
    pub at: i64,
}

/// The most that a name ever was.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Past {
    /// A file that cannot be used: it may be a hooks file.
    #[default]
    File,
    /// A valid tenant's file.
    Tenant,
    /// A tenant whose hooks were loaded.
    Served,
}

/// The present state of a tenant.
#[derive(Debug, Clone)]
pub enum Standing {
    /// It is loaded for the first time, or anew after it was gone.
    Loading,
    /// Its hooks.
    Serving(Arc<Tenant>),
    /// It was never loaded. The reason is for its clients.
    Broken(Arc<str>),
    /// Its file is gone, since then.
    Gone(Instant),
}

/// A tenant as a request finds it.
#[derive(Debug, Clone)]
pub struct Found {
    /// Hashes of its tokens.
    pub tokens: Arc<[Token]>,
    /// True when a failure blocks, also as long as that is unknown.
    pub closed: bool,
    /// Its state.
    pub standing: Standing,
}

impl Slot {
    /// Makes the slot of a new tenant.
    pub fn new() -> Self {
        Self {
            tokens: None,
            closed: None,
            standing: Standing::Loading,
            is_refused: false,
            past: Past::default(),
            files: Files::default(),
            loading: false,
            is_slow: false,
            generation: 0,
            usage: None,
            error: None,
            loaded: None,
        }
    }

    /// Makes the slot of a tenant that an earlier daemon knew.
    pub fn known(known: KnownTenant, now: Instant) -> Self {
        let (tokens, closed) = (Some(known.tokens.into()), Some(known.closed));
        let past = if known.served { Past::Served } else { Past::Tenant };
        Self { tokens, closed, past, standing: Standing::Gone(now), ..Self::new() }
    }

    pub fn found(&self) -> Found {
        Found { tokens: self.tokens(), closed: self.closed.unwrap_or(true), standing: self.standing.clone() }
    }

    pub fn tokens(&self) -> Arc<[Token]> {
        self.tokens.clone().unwrap_or_default()
    }

    /// Returns the part that outlives the daemon; `None` for a tenant whose file could not be read yet.
    pub fn to_keep(&self) -> Option<KnownTenant> {
        let (tokens, closed) = (self.tokens.as_ref()?.to_vec(), self.closed?);
        Some(KnownTenant { tokens, closed, served: self.past == Past::Served })
    }

    /// Returns the part that a look at the folder needs.
    pub fn as_known(&self, name: &str) -> Known {
        let is_loaded = matches!(self.standing, Standing::Serving(_)) && !self.is_refused;
        let loaded = is_loaded.then(|| self.files.stamps.first().copied()).flatten();
        Known { name: name.to_owned(), served: self.past == Past::Served, loaded, places: self.files.places.clone() }
    }

    /// Takes the tokens of a file. A file that cannot be read revokes none.
    pub fn heed(&mut self, glance: &Glance) {
        let before = self.tokens();
        if glance.file.is_ok() {
            self.past = self.past.max(Past::Tenant);
        }
        match &glance.tokens {
            Told::All(tokens) if **tokens == *before && self.tokens.is_some() => {}
            Told::All(tokens) => self.tokens = Some(tokens.as_slice().into()),
            Told::Some(tokens) => {
                let more = tokens.iter().filter(|token| !before.contains(token));
                self.tokens = Some(before.iter().chain(more).cloned().collect());
            }
            Told::Text(tokens) if self.tokens.is_none() && !tokens.is_empty() => {
                self.tokens = Some(tokens.as_slice().into());
            }
            Told::Text(_) => {}
        }
    }

    /// Takes `failClosed` of a tenant's file and its hooks files. When one of them cannot be read, an earlier `true` holds.
    pub fn settle(&mut self, own: Option<bool>, hooks: &[Option<bool>]) {
        let says: Vec<Option<bool>> = std::iter::once(own).chain(hooks.iter().copied()).collect();
        let is_unsure = says.contains(&None);
        self.closed = Some(says.contains(&Some(true)) || (is_unsure && self.closed == Some(true)));
    }

    /// Drops the loaded hooks, and the load that is under way.
    pub fn withdraw(&mut self, standing: Standing) {
        self.standing = standing;
        self.is_refused = false;
        self.error = None;
        self.files = Files::default();
        self.loading = false;
        self.generation += 1;
    }

    /// Ends the time in which its file was gone.
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
    use crate::{files::stamp, tenant::Glance, token::Token};

    /// Reads the tokens of a slot after a file had this text.
    fn heed(slot: &mut Slot, text: &str) -> Vec<Token> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("acme.json");
        fs::write(&file, text).unwrap();
        slot.heed(&Glance::at(&file, stamp(&file)));
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
        // With a mistake elsewhere too.
        for readable in [file(&only_b, ""), file(&only_b, r#", "quotas": 7"#), file(&only_b, r#", "what": "is this""#)]
        {
            let mut slot = Slot::new();
            heed(&mut slot, &both);
            assert_eq!(heed(&mut slot, &readable), std::slice::from_ref(&b), "{readable}");
        }
        let mut slot = Slot::new();
        heed(&mut slot, &both);
        assert!(heed(&mut slot, &file("", "")).is_empty());
        // What was revoked does not come back with the text of a broken file.
        assert!(heed(&mut slot, &format!("{{ \"tokens\": [\"{a}\"")).is_empty());
        // One hash with a mistake may be that of any token.
        let mut slot = Slot::new();
        heed(&mut slot, &both);
        assert_eq!(heed(&mut slot, &file("\"sha256:12\"", "")), [a.clone(), b]);
        // Where nothing is known, its text is all there is.
        assert_eq!(heed(&mut Slot::new(), &format!("{{ \"tokens\": [\"{a}\"")), [a]);
    }

    #[test]
    fn what_says_nothing_about_failures_changes_nothing() {
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
