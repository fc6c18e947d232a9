//! Recall and false positives of the redactor on the corpus.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

use hookbox_secret_redactor::{Config, redact};

const CORPUS: &str = include_str!("corpus.txt");

/// Letters from a fixed seed (xorshift).
struct Letters(u64);

impl Letters {
    fn draw(&mut self, class: &str, count: usize) -> String {
        let letters: &[u8] = match class {
            "hex" => b"0123456789abcdef",
            "upper" => b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567",
            "digits" => b"0123456789",
            "word" => b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
            "dash" => b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-",
            "base64" => b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
            other => panic!("no class {other}"),
        };
        let one = |_| {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            char::from(letters[usize::try_from(self.0 % letters.len() as u64).unwrap()])
        };
        (0..count).map(one).collect()
    }

    /// A line of the corpus with its classes drawn.
    fn fill(&mut self, line: &str) -> String {
        let (mut filled, mut rest) = (String::new(), line);
        while let Some((before, after)) = rest.split_once('{') {
            let class = after.split_once('}').and_then(|(class, rest)| Some((class.split_once(':')?, rest)));
            let drawn = class.and_then(|((name, count), rest)| Some((name, count.parse().ok()?, rest)));
            filled.push_str(before);
            rest = after;
            if let Some((name, count, behind)) = drawn {
                filled.push_str(&self.draw(name, count));
                rest = behind;
            } else {
                filled.push('{');
            }
        }
        filled + rest
    }
}

fn unescaped(text: &str) -> String {
    text.replace("\\\\", "\0").replace("\\n", "\n").replace('\0', "\\")
}

/// Of `all`, `some` in per cent.
#[expect(clippy::cast_precision_loss, reason = "a few hundred")]
fn share(some: usize, all: usize) -> f64 {
    100.0 * some as f64 / all as f64
}

#[test]
fn recall_and_false_positives() {
    let config = Config::default();
    let mut letters = Letters(0x9e37_79b9_7f4a_7c15);
    let (mut secrets, mut found, mut harmless, mut wrongly) = (0, 0, 0, 0);
    for (number, line) in CORPUS.lines().enumerate().filter(|(_, line)| !line.is_empty() && !line.starts_with('#')) {
        let (expected, text) = line.split_once('\t').unwrap_or_else(|| panic!("line {}: no tab", number + 1));
        let text = letters.fill(&unescaped(text));
        let marked: Vec<&str> = text.split('«').skip(1).filter_map(|part| part.split('»').next()).collect();
        let redacted = redact(&text.replace(['«', '»'], ""), &config);
        match expected {
            "hold" => {
                assert!(!marked.is_empty(), "line {}: nothing is marked", number + 1);
                // A part of a secret is a secret still: what is left must not have half of it.
                for secret in marked {
                    let half: String = secret.chars().take(secret.chars().count().div_ceil(2).max(4)).collect();
                    let gone = !redacted.text.contains(&half);
                    secrets += 1;
                    found += usize::from(gone);
                    if !gone {
                        println!("missed: {line}");
                    }
                }
            }
            "pass" => {
                harmless += 1;
                wrongly += usize::from(!redacted.names.is_empty());
                if !redacted.names.is_empty() {
                    println!("not a secret: {line} {:?}", redacted.names);
                }
            }
            other => panic!("line {}: {other}", number + 1),
        }
    }
    println!("secrets  {found} of {secrets} redacted ({:.1} %)", share(found, secrets));
    println!("harmless {wrongly} of {harmless} redacted ({:.1} %)", share(wrongly, harmless));
    // The figures of docs/catalogue/secret-redactor.md.
    assert_eq!((found, secrets), (208, 214));
    assert_eq!((wrongly, harmless), (0, 200));
}

/// The documents and the contract of this project, which have no secrets: what is taken for one in ten thousand lines.
#[test]
fn documents_and_sources_are_left_alone() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let (mut folders, mut lines, mut wrongly) = (vec![root.join("docs"), root.join("wit"), root.join("host")], 0, 0);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if path.is_dir() {
                folders.extend((!matches!(name.as_str(), "target" | "node_modules" | "tests")).then_some(path));
            } else if path
                .extension()
                .is_some_and(|end| matches!(end.to_str(), Some("md" | "rs" | "wit" | "json" | "toml")))
            {
                let text = std::fs::read_to_string(&path).unwrap();
                let redacted = redact(&text, &Config::default());
                lines += text.lines().count();
                wrongly += redacted.names.len();
                if !redacted.names.is_empty() {
                    println!("{}: {:?}", path.display(), redacted.names);
                }
            }
        }
    }
    println!("{wrongly} in {lines} lines");
    assert!(lines > 20_000, "{lines}");
    assert!(wrongly * 10_000 <= lines * 5, "{wrongly} in {lines} lines");
}
