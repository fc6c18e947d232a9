//! Detection of secrets.

use std::ops::Range;

const MASK: &str = "***";

/// Returns the text with its secrets masked, and their number.
pub(crate) fn redact(text: &str) -> (String, usize) {
    let mut clean = String::new();
    let mut found = 0;
    let mut kept = 0;
    for (at, byte) in text.bytes().enumerate() {
        // This position is inside a secret that is already masked.
        if at < kept {
            continue;
        }
        if let Some(secret) = secret_at(text, at, byte) {
            clean.push_str(text.get(kept..secret.start).unwrap_or_default());
            clean.push_str(MASK);
            kept = secret.end;
            found += 1;
        }
    }
    clean.push_str(text.get(kept..).unwrap_or_default());
    (clean, found)
}

/// Returns the secret that starts here, or whose name starts here. The first byte excludes most positions, because
/// outputs are long.
fn secret_at(text: &str, at: usize, byte: u8) -> Option<Range<usize>> {
    let find: fn(&str) -> Option<Range<usize>> = match byte {
        b'A' => aws_key_id,
        b'g' => github_token,
        b'-' => private_key,
        b'S' => secret_key,
        _ => return None,
    };
    let (before, rest) = text.split_at_checked(at)?;
    // `SECRET_KEY` may end a longer name. The other patterns start a word.
    let begins = byte == b'S' || !before.ends_with(|c: char| c.is_ascii_alphanumeric());
    let Range { start, end } = find(rest).filter(|_| begins)?;
    Some(at + start..at + end)
}

/// Detects `AKIA…` and `ASIA…` with 20 capitals and digits.
fn aws_key_id(text: &str) -> Option<Range<usize>> {
    let tail = text.strip_prefix("AKIA").or_else(|| text.strip_prefix("ASIA"))?;
    let length = run(tail, |byte| byte.is_ascii_uppercase() || byte.is_ascii_digit());
    (length == 16).then_some(0..20)
}

/// Detects `ghp_…` and similar prefixes, and `github_pat_…`.
fn github_token(text: &str) -> Option<Range<usize>> {
    let prefix = ["ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"].into_iter().find(|p| text.starts_with(p))?;
    let length = run(text.get(prefix.len()..)?, |byte| byte.is_ascii_alphanumeric() || byte == b'_');
    (length >= 20).then_some(0..prefix.len() + length)
}

/// Detects `-----BEGIN … PRIVATE KEY-----` up to its end mark, or up to the end of the text if the mark is missing.
fn private_key(text: &str) -> Option<Range<usize>> {
    const MARK: &str = "PRIVATE KEY-----";
    let head = text.strip_prefix("-----BEGIN ")?;
    let label = head.find(MARK)?;
    // `RSA `, `OPENSSH `, …: a word or two and not the rest of a document.
    if label > 20 {
        return None;
    }
    let end = text.find("-----END ").and_then(|at| Some(at + text.get(at..)?.find(MARK)? + MARK.len()));
    Some(0..end.unwrap_or(text.len()))
}

/// Detects the value of `SECRET_KEY=…` or `SECRET_ACCESS_KEY=…`, quoted or not.
fn secret_key(text: &str) -> Option<Range<usize>> {
    let name = ["SECRET_KEY=", "SECRET_ACCESS_KEY="].into_iter().find(|name| text.starts_with(name))?;
    let value = text.get(name.len()..)?;
    let (start, length) = match value.chars().next()? {
        quote @ ('"' | '\'') => (1, value.get(1..)?.find([quote, '\n']).unwrap_or(value.len() - 1)),
        _ => (0, value.find(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | ';' | '&')).unwrap_or(value.len())),
    };
    (length > 0).then_some(name.len() + start..name.len() + start + length)
}

fn run(text: &str, belongs: impl Fn(u8) -> bool) -> usize {
    text.bytes().take_while(|byte| belongs(*byte)).count()
}

#[cfg(test)]
mod tests {
    use super::redact;

    const PEM: &str = "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----";

    #[test]
    fn secrets_are_masked() {
        let token = format!("ghp_{}", "a1".repeat(18));
        for (text, clean) in [
            ("AKIAIOSFODNN7EXAMPLE".to_owned(), "***"),
            ("key=ASIAIOSFODNN7EXAMPLE.".to_owned(), "key=***."),
            (format!("https://{token}@github.com"), "https://***@github.com"),
            (format!("github_pat_{}", "x".repeat(30)), "***"),
            (format!("a\n{PEM}\nb"), "a\n***\nb"),
            ("-----BEGIN PRIVATE KEY-----\nMIIE".to_owned(), "***"),
            ("DJANGO_SECRET_KEY='a b' x".to_owned(), "DJANGO_SECRET_KEY='***' x"),
            ("AWS_SECRET_ACCESS_KEY=abc/def+g\n".to_owned(), "AWS_SECRET_ACCESS_KEY=***\n"),
            ("ключ SECRET_KEY=пароль;".to_owned(), "ключ SECRET_KEY=***;"),
        ] {
            assert_eq!(redact(&text), (clean.to_owned(), 1), "{text}");
        }
    }

    #[test]
    fn other_text_is_unchanged() {
        for text in [
            "AKIA",
            "AKIAIOSFODNN7EXAMPLEX",
            "XAKIAIOSFODNN7EXAMPLE",
            "ghp_short",
            "SECRET_KEY=",
            "SECRET_KEYS=a",
            "-----BEGIN PUBLIC KEY-----\nMIIE\n-----END PUBLIC KEY-----",
            "-----BEGIN ",
            "Ünïcödé",
            "",
        ] {
            assert_eq!(redact(text), (text.to_owned(), 0), "{text}");
        }
    }

    #[test]
    fn several_secrets_are_counted() {
        assert_eq!(redact("SECRET_KEY=a SECRET_KEY=b").1, 2);
        assert_eq!(redact(&format!("{PEM}{PEM}")), ("******".to_owned(), 2));
    }
}
