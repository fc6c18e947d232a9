//! Limits on the memory and time of the patterns of one configuration.

use std::collections::HashMap;

use regex_automata::meta;
use regex_syntax::hir::Hir;

use super::{MatchError, invalid};

/// Maximum text of one pattern, in bytes.
const MAX_TEXT: usize = 8 << 10;
/// Maximum size of one compiled pattern, in bytes.
const MAX_COMPILED: usize = 512 << 10;
/// Search cache of a pattern, in bytes per searching thread.
const SEARCH_CACHE: usize = 64 << 10;
/// Estimate in bytes for parsing a part of a pattern that can match a whole Unicode script.
const CLASS: usize = 16 << 10;
/// Estimate in bytes for a plain name, besides its letters.
const NAME: usize = 64;
/// Maximum for all patterns of one budget, in bytes.
const MAX_TOTAL: usize = 32 << 20;

/// The memory budget for the matchers of one configuration or tenant: 32 MiB, by estimate. A repeated pattern is compiled
/// and counted once.
#[derive(Debug, Clone)]
pub struct Budget {
    total: usize,
    left: usize,
    compiled: HashMap<String, meta::Regex>,
}

impl Default for Budget {
    fn default() -> Self {
        Self::with(MAX_TOTAL)
    }
}

impl Budget {
    /// Creates a budget of this many bytes, at most 32 MiB.
    pub fn with(bytes: usize) -> Self {
        let total = bytes.min(MAX_TOTAL);
        Self { total, left: total, compiled: HashMap::new() }
    }

    /// Returns the bytes that are taken, by estimate.
    pub fn used(&self) -> usize {
        self.total.saturating_sub(self.left)
    }

    /// Returns true after a pattern was refused because of its size. No more patterns are compiled then.
    pub fn is_used_up(&self) -> bool {
        self.left == 0
    }

    /// Compiles the regular expression `source`. `pattern` is the text of the configuration, for errors.
    pub(super) fn regex(&mut self, pattern: &str, source: &str) -> Result<meta::Regex, MatchError> {
        if let Some(known) = self.compiled.get(source) {
            return Ok(known.clone());
        }
        if source.len() > MAX_TEXT {
            return Err(self.refuse(pattern, &format!("has {} bytes; at most {MAX_TEXT} are allowed", source.len())));
        }
        self.take(pattern, source.len() + CLASS * classes(source))?;
        let tree: Hir = regex_syntax::parse(source).map_err(|error| invalid(pattern, &error))?;
        let limits = meta::Config::new().nfa_size_limit(Some(MAX_COMPILED)).hybrid_cache_capacity(SEARCH_CACHE);
        let Ok(regex) = meta::Builder::new().configure(limits).build_from_hir(&tree) else {
            return Err(self.refuse(pattern, &format!("takes more than {} KiB compiled", MAX_COMPILED >> 10)));
        };
        // A search uses about two bytes per byte of the compiled pattern, in addition to its cache.
        self.take(pattern, 3 * regex.memory_usage() + SEARCH_CACHE)?;
        self.compiled.insert(source.to_owned(), regex.clone());
        Ok(regex)
    }

    /// Compiles a pattern that must match a whole text.
    pub(super) fn whole(&mut self, pattern: &str) -> Result<meta::Regex, MatchError> {
        // The parentheses around the pattern would make `a)(b` valid.
        if pattern.len() <= MAX_TEXT {
            regex_syntax::parse(pattern).map_err(|error| invalid(pattern, &error))?;
        }
        self.regex(pattern, &format!("^(?:{pattern})$"))
    }

    /// Counts plain names that are separated by `|`.
    pub(super) fn names(&mut self, text: &str) -> Result<(), MatchError> {
        let names = text.bytes().filter(|byte| *byte == b'|').count() + 1;
        self.take(text, text.len() + NAME * names)
    }

    fn take(&mut self, pattern: &str, bytes: usize) -> Result<(), MatchError> {
        match self.left.checked_sub(bytes) {
            Some(left) if left > 0 => self.left = left,
            _ => {
                let total = MAX_TOTAL >> 20;
                return Err(
                    self.refuse(pattern, &format!("is one too many: all matchers together may take {total} MiB"))
                );
            }
        }
        Ok(())
    }

    fn refuse(&mut self, pattern: &str, problem: &str) -> MatchError {
        self.left = 0;
        MatchError::TooLarge { pattern: crate::json::shorten(pattern, 60), problem: problem.to_owned() }
    }
}

/// Counts the parts of a pattern that can match thousands of characters.
fn classes(source: &str) -> usize {
    let escaped = source
        .as_bytes()
        .windows(2)
        .filter(|pair| matches!(pair, [b'\\', b'p' | b'P' | b'w' | b'W' | b'd' | b'D' | b's' | b'S']));
    escaped.count() + source.bytes().filter(|byte| *byte == b'[').count()
}
