//! The rules of `docs/style.md` that a program can check: openings of doc comments, banned phrases, commit subjects.
//! `tests/prose/rules.txt` lists them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// The longest commit subject, in characters.
const SUBJECT: usize = 72;
/// The last commit that was made before subjects were checked.
const BEFORE_SUBJECTS: &str = "bda21f7";
/// Files that quote others: specifications in their own words, recorded lines, licences, this list itself.
const QUOTING: [&str; 5] = ["docs/spec/", "tests/samples/", "tests/prose/", "LICENSE", "tests/frozen/"];

struct Rules {
    openings: Vec<String>,
    phrases: Vec<(String, String)>,
}

impl Rules {
    fn read() -> Self {
        let text = fs::read_to_string(root().join("tests/prose/rules.txt")).unwrap();
        let (mut openings, mut phrases) = (Vec::new(), Vec::new());
        for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            match line.split_once(' ').unwrap() {
                ("opening", words) => openings.push(words.to_owned()),
                ("phrase", rule) => {
                    let (phrase, plain) = rule.split_once(" = ").expect("`phrase WORDS = PLAIN`");
                    phrases.push((phrase.to_owned(), plain.to_owned()));
                }
                other => panic!("unknown rule {other:?}"),
            }
        }
        Self { openings, phrases }
    }

    /// Violations in one file, each as `LINE: message`.
    fn check(&self, path: &str, text: &str) -> Vec<String> {
        let mut found = Vec::new();
        let mut in_doc = false;
        for (number, line) in (1..).zip(text.lines()) {
            let doc = doc_comment(path, line);
            if let Some(words) = doc.filter(|_| !in_doc) {
                let begins = |opening: &&String| has_opening(words, opening);
                found.extend(self.openings.iter().find(begins).map(|opening| {
                    format!("{number}: a doc comment begins with `{opening}`; begin with a noun or a verb")
                }));
            }
            // An empty line within a comment does not end it.
            in_doc = doc.is_some() || in_doc && ["///", "//!"].contains(&line.trim());
            // Python compares with `is None`.
            let lower = line.replace("is None", "").to_lowercase();
            for (phrase, plain) in self.phrases.iter().filter(|(phrase, _)| has_words(&lower, phrase)) {
                found.push(format!("{number}: `{phrase}`: write {plain}"));
            }
        }
        found
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The text of a line that is a doc comment.
fn doc_comment<'a>(path: &str, line: &'a str) -> Option<&'a str> {
    let line = line.trim_start();
    let markers: &[&str] = match Path::new(path).extension()?.to_str()? {
        "rs" => &["/// ", "//! "],
        "wit" => &["/// "],
        _ => &[],
    };
    markers.iter().find_map(|marker| line.strip_prefix(marker))
}

fn has_opening(text: &str, opening: &str) -> bool {
    text.strip_prefix(opening).is_some_and(|rest| !rest.starts_with(|next: char| next.is_alphanumeric()))
}

/// Contains these words as whole words.
fn has_words(text: &str, words: &str) -> bool {
    let apart = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric() && c != '_');
    text.match_indices(words)
        .any(|(at, _)| apart(text[..at].chars().next_back()) && apart(text[at + words.len()..].chars().next()))
}

fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).current_dir(root()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Tracked files that people read, by path from the root.
fn files() -> Vec<String> {
    let listed = git(&["ls-files"]).expect("the tests run in a checkout");
    let read = |path: &&str| {
        let known = ["rs", "wit", "md", "go", "js", "ts", "py"];
        let kind = Path::new(path).extension().and_then(|kind| kind.to_str());
        kind.is_some_and(|kind| known.contains(&kind)) && !QUOTING.iter().any(|quoting| path.starts_with(quoting))
    };
    let mut files: Vec<String> = listed.lines().filter(read).map(str::to_owned).collect();
    files.push("docs/spec/decisions.md".to_owned());
    files.retain(|path| root().join(path).is_file());
    files
}

#[test]
fn files_follow_the_rules() {
    let rules = Rules::read();
    let mut wrong = Vec::new();
    // These two quote the rules.
    for path in files().into_iter().filter(|path| path != "tests/prose.rs" && path != "docs/style.md") {
        let found = rules.check(&path, &fs::read_to_string(root().join(&path)).unwrap());
        wrong.extend(found.into_iter().map(|what| format!("{path}:{what}")));
    }
    assert!(wrong.is_empty(), "see docs/style.md\n{}", wrong.join("\n"));
}

#[test]
fn commit_subjects_are_short_and_imperative() {
    let range = format!("{BEFORE_SUBJECTS}..HEAD");
    // A checkout without history has no subjects to check.
    let Some(subjects) = git(&["log", "--no-merges", "--format=%s", &range]) else { return };
    let wrong: Vec<_> = subjects.lines().filter_map(|subject| Some((subject, wrong_subject(subject)?))).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The rule that a commit subject breaks.
fn wrong_subject(subject: &str) -> Option<&'static str> {
    let first = subject.split(' ').next().unwrap_or_default();
    let lower = first.to_lowercase();
    if subject.chars().count() > SUBJECT {
        Some("longer than 72 characters")
    } else if !first.starts_with(|c: char| c.is_uppercase()) {
        Some("begins with a verb in the imperative, in upper case")
    } else if ["what", "who", "whoever", "how", "where", "whether"].contains(&lower.as_str())
        || lower.ends_with("ing") && !["bring", "string", "ring"].contains(&lower.as_str())
        || lower.ends_with("ed") && !["embed", "need", "feed", "speed", "shed"].contains(&lower.as_str())
    {
        Some("begins with a verb in the imperative")
    } else if subject.ends_with('.') {
        Some("ends without a full stop")
    } else {
        None
    }
}

#[test]
fn the_rules_find_violations() {
    let rules = Rules::read();
    let found = |path: &str, text: &str| !rules.check(path, text).is_empty();
    assert!(found("a.rs", "    /// Whether it is open.\n"));
    assert!(found("a.wit", "/// What came.\n"));
    assert!(found("a.rs", "// Whoever waits.\n") && found("a.md", "the value of X is none\n"));
    assert!(!found("a.rs", "/// Whatsoever\n/// What continues a sentence.\n") && !found("a.md", "What is hookbox?\n"));
    assert!(!found("a.rs", "/// Tenants are\n/// Who\n"), "only the first line of a comment is its opening");
    for (subject, right) in [
        ("Limit idle connections per tenant", true),
        ("Say whose turn it is.", false),
        ("limit idle connections", false),
        ("Limited idle connections", false),
        ("What a tenant may use", false),
        ("Embed the page", true),
    ] {
        assert_eq!(wrong_subject(subject).is_none(), right, "{subject}");
    }
    assert!(wrong_subject(&"Long ".repeat(20)).is_some());
}
