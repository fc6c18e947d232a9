//! From a text to the text without its secrets.

use std::ops::Range;

use crate::assigned::{self, Assigned};
use crate::config::Config;
use crate::{argument, named, shape, token};

/// A text without its secrets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Redacted {
    /// The text, with `[redacted:kind]` in place of each secret.
    pub text: String,
    /// The kind of each secret, in the order in which they stand.
    pub names: Vec<&'static str>,
}

/// Replaces the secrets of a text.
pub fn redact(text: &str, config: &Config) -> Redacted {
    let mut redacted = Redacted::default();
    let bytes = text.as_bytes();
    let (mut at, mut kept) = (0, 0);
    while let Some(byte) = bytes.get(at) {
        let Some((name, range)) = secret_at(bytes, at, *byte, config) else {
            at += 1;
            continue;
        };
        let secret = text.get(range.clone());
        if secret.is_none_or(|secret| secret.is_empty() || config.allow.iter().any(|allowed| allowed == secret)) {
            at += 1;
            continue;
        }
        redacted.text.push_str(text.get(kept..range.start).unwrap_or_default());
        redacted.text.push_str("[redacted:");
        redacted.text.push_str(name);
        redacted.text.push(']');
        redacted.names.push(name);
        kept = range.end;
        at = range.end;
    }
    redacted.text.push_str(text.get(kept..).unwrap_or_default());
    redacted
}

/// Replaces the secrets of a member of an object, of which the name may say that all of it is one.
pub(crate) fn member(name: Option<&str>, text: &str, config: &Config) -> Redacted {
    let kind = name.filter(|_| config.assignments).and_then(|name| assigned::member(name, text, config));
    match kind.filter(|_| !config.allow.iter().any(|allowed| allowed == text)) {
        Some(kind) => Redacted { text: format!("[redacted:{kind}]"), names: vec![kind] },
        None => redact(text, config),
    }
}

/// The secret that begins here, or whose name or sign does.
fn secret_at(text: &[u8], at: usize, byte: u8, config: &Config) -> Option<(&'static str, Range<usize>)> {
    let (before, rest) = text.split_at_checked(at)?;
    let begins = !before.last().is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    if begins || escaped(before) {
        if let Some((name, length)) = token::at(rest) {
            return Some((name, at..at + length));
        }
        if let Some(length) = own(rest, config) {
            return Some(("own-prefix", at..at + length));
        }
    }
    let shaped = match byte {
        b':' => shape::is_scheme(before),
        b'-' | b'e' | b'B' | b'b' | b'P' | b'0'..=b'9' => begins || escaped(before),
        _ => false,
    };
    if let Some((name, range)) = shaped.then(|| shape::at(rest)).flatten() {
        return Some((name, at + range.start..at + range.end));
    }
    if !config.assignments {
        return None;
    }
    let after = rest.get(1..)?;
    let found = match byte {
        b'=' | b':' => assigned::at(before, after, config).or_else(|| named::at(before, after, config)),
        b' ' => argument::at(before, after, config),
        b'>' => named::element(before, after, config),
        b'-' => argument::attached(before, after),
        _ => None,
    };
    let Assigned { kind, start, length } = found?;
    Some((kind, at + 1 + start..at + 1 + start + length))
}

/// A secret behind `\n` or `\t` in a text that is itself quoted.
fn escaped(before: &[u8]) -> bool {
    matches!(before, [.., b'\\', b'n' | b't' | b'r'])
}

/// A word with one of the configuration's own beginnings.
fn own(text: &[u8], config: &Config) -> Option<usize> {
    let starts = config.prefixes.iter().filter(|prefix| !prefix.is_empty());
    let start = starts.map(String::as_bytes).find(|prefix| text.starts_with(prefix))?;
    let rest = text.get(start.len()..)?;
    let length = rest
        .iter()
        .take(256)
        .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'))
        .count();
    (length > 0).then_some(start.len() + length)
}
