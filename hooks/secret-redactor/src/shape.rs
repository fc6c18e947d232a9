//! Secrets that are known by their shape: private keys, JSON web tokens, passwords in URLs, authorization headers.

use std::ops::Range;

use crate::class::{Class, entropy};

static BASE64_URL: Class = Class::of("A-Za-z0-9_=-");
static CREDENTIAL: Class = Class::of("A-Za-z0-9_.~+/=-");
static SCHEME: Class = Class::of("a-z0-9+.-");

/// The secret at the start of a text: its kind and its range.
pub(crate) fn at(text: &[u8]) -> Option<(&'static str, Range<usize>)> {
    match text.first()? {
        b'-' => private_key(text).map(|end| ("private-key", 0..end)),
        b'e' => web_token(text).map(|end| ("json-web-token", 0..end)),
        b'B' | b'b' => authorization(text).map(|range| ("authorization-header", range)),
        b'P' => putty_key(text).map(|end| ("private-key", 0..end)),
        b'0'..=b'9' => telegram(text).map(|end| ("telegram-token", 0..end)),
        b':' => in_url(text).map(|range| ("password-in-url", range)),
        _ => None,
    }
}

/// `-----BEGIN … PRIVATE KEY-----` to its end, or to the end of the text where that is cut off.
fn private_key(text: &[u8]) -> Option<usize> {
    let head = text.strip_prefix(b"-----BEGIN ")?;
    let label = head.get(..head.len().min(64))?;
    let mark = find(label, b"PRIVATE KEY")?;
    if label.get(..mark)?.contains(&b'\n') {
        return None;
    }
    let Some(end) = find(text, b"-----END ") else { return Some(text.len()) };
    let tail = text.get(end + 9..)?;
    let close = find(tail.get(..tail.len().min(64))?, b"-----");
    Some(close.map_or(text.len(), |close| end + 9 + close + 5))
}

/// A key file of the program `PuTTY`: to the end of its private part.
fn putty_key(text: &[u8]) -> Option<usize> {
    if !text.starts_with(b"PuTTY-User-Key-File-") {
        return None;
    }
    let Some(end) = find(text, b"Private-MAC: ") else { return Some(text.len()) };
    let line = text.get(end..)?.iter().position(|byte| *byte == b'\n');
    Some(line.map_or(text.len(), |line| end + line))
}

/// `1234567890:AA…`: the number of a bot, and 35 letters.
fn telegram(text: &[u8]) -> Option<usize> {
    let digits = text.iter().take(12).take_while(|byte| byte.is_ascii_digit()).count();
    let token = text.get(digits..)?.strip_prefix(b":AA")?;
    let length = BASE64_URL.run(token, 40);
    ((8..=10).contains(&digits) && (32..=34).contains(&length)).then_some(digits + 3 + length)
}

/// Position of a text in another.
pub(crate) fn find(text: &[u8], wanted: &[u8]) -> Option<usize> {
    text.windows(wanted.len()).position(|window| window == wanted)
}

/// Three parts in base64, of which two are JSON objects.
fn web_token(text: &[u8]) -> Option<usize> {
    if !text.starts_with(b"eyJ") {
        return None;
    }
    let head = BASE64_URL.run(text, 4096);
    let rest = text.get(head..)?.strip_prefix(b".")?;
    if head < 16 || !rest.starts_with(b"eyJ") {
        return None;
    }
    let body = BASE64_URL.run(rest, 65_536);
    let sign = rest.get(body..)?.strip_prefix(b".").map_or(0, |sign| 1 + BASE64_URL.run(sign, 4096));
    Some(head + 1 + body + sign)
}

/// The credential behind `Bearer ` or `Basic `.
fn authorization(text: &[u8]) -> Option<Range<usize>> {
    let start =
        [b"Bearer ".as_slice(), b"bearer ", b"Basic ", b"basic "].iter().find(|word| text.starts_with(word))?.len();
    let secret = text.get(start..)?;
    let secret = secret.get(..CREDENTIAL.run(secret, 4096))?;
    // `Basic authentication` is a text.
    let token = secret.len() >= 12 && secret.iter().any(u8::is_ascii_digit) && entropy(secret) >= 3.0;
    token.then_some(start..start + secret.len())
}

/// The password of `scheme://user:password@host`. The text begins at `://`.
fn in_url(text: &[u8]) -> Option<Range<usize>> {
    let rest = text.strip_prefix(b"://")?;
    let authority = rest.get(..rest.len().min(512))?;
    let end = authority
        .iter()
        .position(|byte| matches!(byte, b'/' | b'?' | b'#' | b' ' | b'\n' | b'"' | b'\'' | b'<' | b'>'));
    let authority = authority.get(..end.unwrap_or(authority.len()))?;
    let at = authority.iter().rposition(|byte| *byte == b'@')?;
    let Some(colon) = authority.iter().position(|byte| *byte == b':').filter(|colon| *colon < at) else {
        // Sentry and others have a key alone.
        let key = authority.get(..at)?;
        return (key.len() >= 32 && key.iter().all(u8::is_ascii_hexdigit)).then(|| 3..3 + at);
    };
    let secret = authority.get(colon + 1..at)?;
    // `postgres:postgres` is the default of a test.
    if authority.get(..colon) == Some(secret) {
        return None;
    }
    let placeholder = secret.is_empty() || matches!(secret.first(), Some(b'$' | b'{' | b'<' | b'*' | b'%' | b'['));
    let known: &[&[u8]] = &[b"password", b"pass", b"passwd", b"pwd", b"secret", b"x-oauth-basic", b"token"];
    (!placeholder && !known.contains(&secret)).then(|| 3 + colon + 1..3 + at)
}

/// Returns true if a text ends with what may be the scheme of a URL.
pub(crate) fn is_scheme(before: &[u8]) -> bool {
    before.last().is_some_and(|byte| SCHEME.has(*byte))
}
