//! Recall and false positives of the guard on the corpus.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

use hookbox_file_guard::{Asked, Config, judge};
use serde_json::{Value, json};

const CORPUS: &str = include_str!("corpus.txt");

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
    let (mut protected, mut held, mut free, mut wrongly) = (0, 0, 0, 0);
    for (number, line) in CORPUS.lines().enumerate().filter(|(_, line)| !line.is_empty() && !line.starts_with('#')) {
        let parts: Vec<&str> = line.splitn(3, '\t').collect();
        let [expected, tool, input] = parts[..] else { panic!("line {}: no tabs", number + 1) };
        let input: Value = match input.strip_prefix('$') {
            Some(command) => json!({ "command": unescaped(command) }),
            None => serde_json::from_str(input).unwrap_or_else(|error| panic!("line {}: {error}", number + 1)),
        };
        let found = judge(&Asked { tool, input: &input, folder: Some("/home/dev/project") }, &config);
        let right = match expected {
            "hold" => found.is_some(),
            "pass" => found.is_none(),
            other => panic!("line {}: {other}", number + 1),
        };
        if !right {
            println!("expected {expected}: {tool} {input} {found:?}");
        }
        if expected == "hold" {
            protected += 1;
            held += usize::from(found.is_some());
        } else {
            free += 1;
            wrongly += usize::from(found.is_some());
        }
    }
    println!("protected {held} of {protected} held back ({:.1} %)", share(held, protected));
    println!("free      {wrongly} of {free} held back ({:.1} %)", share(wrongly, free));
    // The figures of docs/catalogue/file-guard.md.
    assert_eq!((held, protected), (325, 332));
    assert_eq!((wrongly, free), (0, 169));
}
