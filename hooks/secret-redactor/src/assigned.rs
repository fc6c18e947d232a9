//! Secrets that are known by their names: `api_key = "…"`, `PASSWORD=…`, `"token": "…"`.

use crate::class::{Class, entropy};
use crate::config::Config;

static NAME: Class = Class::of("A-Za-z0-9_.-");
static VALUE: Class = Class::of("A-Za-z0-9_.~+/=@!#%^&*:,?$|-");

/// Longest name that is looked back for, in bytes.
const LONGEST_NAME: usize = 64;
/// Longest value, in bytes.
const LONGEST: usize = 256;
/// Beginning of a value in which a placeholder is looked for, in bytes.
const BEGINNING: usize = 48;
/// Bits per byte of a value that a name alone does not make a secret; gitleaks' own.
const ENTROPY: f64 = 3.5;

/// Words of a name that say what its value is.
const PASSWORDS: [&str; 9] =
    ["password", "passwd", "passphrase", "pwd", "pass", "pgpassword", "mysqlpwd", "sshpass", "passcode"];
const SECRETS: [&str; 13] = [
    "secret",
    "pat",
    "token",
    "apikey",
    "credential",
    "credentials",
    "creds",
    "authkey",
    "accesskey",
    "secretkey",
    "privatekey",
    "authtoken",
    "accesstoken",
];
/// Words before `key` with which it is one.
const KEYS: [&str; 20] = [
    "api",
    "secret",
    "private",
    "access",
    "auth",
    "encryption",
    "signing",
    "master",
    "account",
    "storage",
    "shared",
    "service",
    "webhook",
    "client",
    "license",
    "app",
    "application",
    "subscription",
    "deploy",
    "session",
];
/// Last words of names whose values are about a secret.
const ABOUT: [&str; 36] = [
    "name",
    "id",
    "type",
    "url",
    "uri",
    "path",
    "file",
    "count",
    "length",
    "limit",
    "expiry",
    "expires",
    "ttl",
    "policy",
    "field",
    "label",
    "arn",
    "version",
    "algorithm",
    "format",
    "prefix",
    "header",
    "max",
    "min",
    "size",
    "env",
    "ref",
    "enabled",
    "required",
    "endpoint",
    "hint",
    "class",
    "rotation",
    "index",
    "store",
    "manager",
];
/// Values that stand for a secret.
const PLACEHOLDERS: [&str; 24] = [
    "example",
    "changeme",
    "change-me",
    "change_me",
    "your",
    "placeholder",
    "redacted",
    "dummy",
    "xxxx",
    "todo",
    "replace",
    "insert",
    "process.env",
    "os.environ",
    "getenv",
    "secrets.",
    "vars.",
    "env.",
    "config.",
    "settings.",
    "undefined",
    "none",
    "null",
    "****",
];

/// A secret behind a name.
pub(crate) struct Assigned {
    pub(crate) kind: &'static str,
    /// Distance of its first byte from the sign.
    pub(crate) start: usize,
    pub(crate) length: usize,
}

/// The secret of an assignment. `before` ends before its sign, and `after` begins behind it.
pub(crate) fn at(before: &[u8], after: &[u8], config: &Config) -> Option<Assigned> {
    let trimmed = before.trim_ascii_end();
    let trimmed = trimmed.strip_suffix(b"\"").or_else(|| trimmed.strip_suffix(b"'")).unwrap_or(trimmed);
    let length = trimmed.iter().rev().take(LONGEST_NAME).take_while(|byte| NAME.has(**byte)).count();
    let name = std::str::from_utf8(trimmed.get(trimmed.len() - length..)?).ok()?;
    let line = trimmed.get(..trimmed.len() - length)?;
    let kind = kind(name, config)?;

    let (start, value, quoted) = value(after)?;
    // `NAME=value` at the start of a line, as `env` and `.env` have it, has values of any kind.
    let environment = !after.starts_with(b" ") && is_environment(name, line);
    is_secret(value, kind, environment || quoted).then_some(Assigned { kind, start, length: value.len() })
}

/// The value at the start of a text: its distance, the value, and true if it is quoted.
pub(crate) fn value(after: &[u8]) -> Option<(usize, &[u8], bool)> {
    let blanks = after.iter().take(8).take_while(|byte| matches!(byte, b' ' | b'\t' | b'=' | b'>')).count();
    let rest = after.get(blanks..)?;
    let quote = rest.first().copied().filter(|byte| matches!(byte, b'"' | b'\'' | b'`'));
    match quote {
        Some(quote) => {
            let inner = rest.get(1..)?;
            let most = inner.len().min(LONGEST);
            let end = inner.get(..most)?.iter().position(|byte| *byte == quote || *byte == b'\n').unwrap_or(most);
            Some((blanks + 1, inner.get(..end)?, true))
        }
        None => Some((blanks, without_end(rest.get(..VALUE.run(rest, LONGEST))?), false)),
    }
}

/// The secret of a member of an object.
pub(crate) fn member(name: &str, value: &str, config: &Config) -> Option<&'static str> {
    let kind = kind(name, config)?;
    (!value.contains('\n') && value.len() <= LONGEST && is_secret(value.as_bytes(), kind, true)).then_some(kind)
}

/// The kind of secret that a name announces; `None`: it announces none.
pub(crate) fn kind(name: &str, config: &Config) -> Option<&'static str> {
    if config.names.iter().any(|own| own.eq_ignore_ascii_case(name)) {
        return Some("named");
    }
    let last = name.rsplit('.').next().unwrap_or(name);
    let words = words(last);
    let last = words.last()?.as_str();
    if ABOUT.contains(&last)
        || words.iter().any(|word| matches!(word.as_str(), "public" | "pub" | "no" | "max" | "num" | "csrf"))
    {
        return None;
    }
    let has = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
    let key =
        words.windows(2).any(|pair| matches!(pair, [before, key] if key == "key" && KEYS.contains(&before.as_str())));
    if has(&PASSWORDS) {
        Some("password")
    } else if has(&SECRETS) || key || words.len() == 1 && last == "auth" {
        Some("secret")
    } else {
        None
    }
}

/// `awsSecretKey`, `AWS_SECRET_KEY` and `aws-secret-key` are three words.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut small = false;
    for c in name.chars() {
        let ends = !c.is_ascii_alphanumeric() || small && c.is_ascii_uppercase();
        if ends && words.last().is_some_and(|word| !word.is_empty()) {
            words.push(String::new());
        }
        if c.is_ascii_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.push(c.to_ascii_lowercase());
        }
        small = c.is_ascii_lowercase() || c.is_ascii_digit();
    }
    words.retain(|word| !word.is_empty());
    words
}

fn is_environment(name: &str, line: &[u8]) -> bool {
    let capital = name.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_');
    let line = line.strip_suffix(b"export ").or_else(|| line.strip_suffix(b"ENV ")).unwrap_or(line);
    capital && matches!(line.last(), None | Some(b'\n' | b' ' | b'\t' | b'"' | b'\'' | b';' | b':' | b'-'))
}

/// A sentence's or a list's end is not the value's.
fn without_end(value: &[u8]) -> &[u8] {
    let end = value.iter().rposition(|byte| !matches!(byte, b',' | b'.' | b';' | b':' | b'&' | b'?' | b'|'));
    value.get(..end.map_or(0, |end| end + 1)).unwrap_or_default()
}

/// `plain`: it is written as a value is, in quotes or in an environment.
pub(crate) fn is_secret(value: &[u8], kind: &str, plain: bool) -> bool {
    let Ok(text) = std::str::from_utf8(value) else { return false };
    let beginning = text.char_indices().nth(BEGINNING).map_or(text, |(at, _)| text.get(..at).unwrap_or(text));
    let lower = beginning.to_ascii_lowercase();
    let stands_for =
        matches!(value.first(), None | Some(b'$' | b'<' | b'{' | b'%' | b'[' | b'*' | b'(' | b'&' | b'/' | b'.'))
            || PLACEHOLDERS.iter().any(|word| lower.contains(word))
            || matches!(
                lower.as_str(),
                "true"
                    | "false"
                    | "password"
                    | "secret"
                    | "token"
                    | "required"
                    | "optional"
                    | "string"
                    | "str"
                    | "test"
            )
            || value.iter().all(|byte| Some(byte) == value.first());
    if stands_for || text.contains("://") || text.contains(['(', ' ']) {
        return false;
    }
    let digit = value.iter().any(u8::is_ascii_digit);
    let letter = value.iter().any(u8::is_ascii_alphabetic);
    match kind {
        "named" => value.len() > 2,
        "password" if plain => value.len() >= 6,
        // Kubernetes has them in base64.
        "password" => value.len() >= 8 && letter && (digit || value.ends_with(b"=")),
        _ if plain && value.len() >= 12 => digit && letter && entropy(value) >= 3.0,
        _ => value.len() >= 10 && digit && letter && entropy(value) >= ENTROPY,
    }
}
