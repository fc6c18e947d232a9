//! Secrets that are arguments of commands: `--token X`, `curl -u me:X`, `mysql -pX`, `ENV API_SECRET X`.

use crate::assigned::{Assigned, is_secret, kind, value};
use crate::class::Class;
use crate::config::Config;

static NAME: Class = Class::of("A-Za-z0-9_-");

/// Longest line that is looked back through, in bytes.
const LINE: usize = 200;
/// Longest name, in bytes.
const LONGEST: usize = 40;
/// Programs whose option is followed by a password: the program, and the option.
const PASSWORDS: [(&[u8], &[u8]); 4] =
    [(b"sshpass ", b"-p"), (b"docker login", b"-p"), (b"podman login", b"-p"), (b"redis-cli", b"-a")];
/// Programs with `-pPASSWORD`.
const ATTACHED: [&[u8]; 5] = [b"mysql", b"mysqldump", b"mysqladmin", b"mariadb", b"sshpass"];

/// The secret behind a blank. `before` ends before it, and `after` begins behind it.
pub(crate) fn at(before: &[u8], after: &[u8], config: &Config) -> Option<Assigned> {
    let length = before.iter().rev().take(LONGEST).take_while(|byte| NAME.has(**byte)).count();
    let (rest, name) = before.split_at_checked(before.len() - length)?;
    if name.is_empty() || after.starts_with(b"-") {
        return None;
    }
    let line = line(rest);
    let text = std::str::from_utf8(name).ok()?;
    if let Some(option) = text.strip_prefix("--") {
        if matches!(option, "user" | "proxy-user") {
            return user(line, after);
        }
        return secret(kind(option, config)?, after);
    }
    if name == b"-u" {
        return user(line, after);
    }
    if PASSWORDS.iter().any(|(program, option)| *option == name && has(line, program)) {
        return secret("password", after);
    }
    let netrc = text == "password" && (has(line, b"machine ") || has(line, b"login "));
    let capital = name.iter().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || *byte == b'_');
    let set = capital && [b"ENV ".as_slice(), b"setx ", b"SETX "].iter().any(|word| rest.ends_with(word));
    if netrc || set { secret(kind(text, config)?, after) } else { None }
}

/// The password of `-pPASSWORD`. `before` ends before the hyphen.
pub(crate) fn attached(before: &[u8], after: &[u8]) -> Option<Assigned> {
    let rest = after.strip_prefix(b"p").filter(|_| before.ends_with(b" "))?;
    let line = line(before);
    if rest.starts_with(b" ") || !ATTACHED.iter().any(|program| has(line, program)) {
        return None;
    }
    let Assigned { kind, start, length } = secret("password", rest)?;
    Some(Assigned { kind, start: start + 1, length })
}

fn secret(kind: &'static str, after: &[u8]) -> Option<Assigned> {
    let (start, value, _) = value(after)?;
    is_secret(value, kind, true).then_some(Assigned { kind, start, length: value.len() })
}

/// The password of `user:password`, for a client of the network.
fn user(line: &[u8], after: &[u8]) -> Option<Assigned> {
    let client = [b"curl".as_slice(), b"wget", b"http"].iter().any(|program| has(line, program));
    let (start, value, _) = value(after).filter(|_| client)?;
    let colon = value.iter().position(|byte| *byte == b':')? + 1;
    let password = value.get(colon..)?;
    is_secret(password, "password", true).then_some(Assigned {
        kind: "password",
        start: start + colon,
        length: password.len(),
    })
}

/// The last line of a text, at most 200 bytes of it.
pub(crate) fn line(text: &[u8]) -> &[u8] {
    let from = text.len().saturating_sub(LINE);
    let near = text.get(from..).unwrap_or_default();
    let start = near.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    near.get(start..).unwrap_or_default()
}

pub(crate) fn has(text: &[u8], wanted: &[u8]) -> bool {
    crate::shape::find(text, wanted).is_some()
}
