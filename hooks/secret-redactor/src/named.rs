//! Secrets whose names stand apart from them: `<password>X</password>`, `name: API_KEY` with `value: X`, cookies, signed URLs.

use crate::argument::{has, line};
use crate::assigned::{Assigned, is_secret, kind, value};
use crate::class::{Class, entropy};
use crate::config::Config;

static NAME: Class = Class::of("A-Za-z0-9_.-");

/// Longest text in which the name of a value is looked for, in bytes.
const NEAR: usize = 120;
/// Words of the names of cookies that open a session.
const SESSIONS: [&str; 5] = ["sess", "sid", "auth", "token", "remember"];

/// The secret behind `=` or `:`, whose name is elsewhere. `before` ends before the sign, and `after` begins behind it.
pub(crate) fn at(before: &[u8], after: &[u8], config: &Config) -> Option<Assigned> {
    let trimmed = before.strip_suffix(b"\"").unwrap_or(before);
    let length = trimmed.iter().rev().take(64).take_while(|byte| NAME.has(**byte)).count();
    let (rest, name) = trimmed.split_at_checked(trimmed.len() - length)?;
    if name.len() < 3 {
        return None;
    }
    if name.eq_ignore_ascii_case(b"value") {
        let kind = kind(&named_before(rest)?, config)?;
        let (start, value, _) = value(after)?;
        return is_secret(value, kind, true).then_some(Assigned { kind, start, length: value.len() });
    }
    let signs = [b"sig".as_slice(), b"x-amz-signature", b"signature"];
    let signed = rest.ends_with(b"&") && signs.iter().any(|sign| name.eq_ignore_ascii_case(sign));
    let session = || {
        let name = name.to_ascii_lowercase();
        SESSIONS.iter().any(|word| has(&name, word.as_bytes()))
    };
    let cookie = !signed && session() && has(line(rest), b"ookie:");
    if !signed && !cookie {
        return None;
    }
    let (start, value, _) = value(after)?;
    let random = value.len() >= 16 && value.iter().any(u8::is_ascii_digit) && entropy(value) >= 3.0;
    let end = value.iter().position(|byte| matches!(byte, b'&' | b';' | b',')).unwrap_or(value.len());
    let kind = if cookie { "cookie" } else { "signature" };
    random.then_some(Assigned { kind, start, length: end })
}

/// The secret of an element: `<password>X</password>`. `before` ends before `>`.
pub(crate) fn element(before: &[u8], after: &[u8], config: &Config) -> Option<Assigned> {
    let length = before.iter().rev().take(64).take_while(|byte| NAME.has(**byte)).count();
    let (rest, name) = before.split_at_checked(before.len() - length)?;
    if !rest.ends_with(b"<") {
        return None;
    }
    let kind = kind(std::str::from_utf8(name).ok()?, config)?;
    let (start, value, _) = value(after)?;
    let closed = after.get(start + value.len()..)?.starts_with(b"</");
    (closed && is_secret(value, kind, true)).then_some(Assigned { kind, start, length: value.len() })
}

/// The name that stands before a value: `key="NAME"`, `"name": "NAME"`, `name: NAME`.
fn named_before(text: &[u8]) -> Option<String> {
    let near = text.get(text.len().saturating_sub(NEAR)..)?;
    let near = String::from_utf8_lossy(near).into_owned();
    let marks = ["key=\"", "name=\"", "\"name\":\"", "\"name\": \"", "name: "];
    let start = marks.iter().filter_map(|mark| near.rfind(mark).map(|at| at + mark.len())).max()?;
    let name: String = near.get(start..)?.chars().take_while(|c| c.is_ascii() && NAME.has(*c as u8)).collect();
    (!name.is_empty()).then_some(name)
}
