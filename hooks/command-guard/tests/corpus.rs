//! Recall and false positives of the guard on the corpus.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

use hookbox_command_guard::{Config, Verdict, judge};

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
    let (mut harmful, mut held, mut worst, mut denied) = (0, 0, 0, 0);
    let (mut harmless, mut asked, mut wrongly_denied) = (0, 0, 0);
    for (number, line) in CORPUS.lines().enumerate().filter(|(_, line)| !line.is_empty() && !line.starts_with('#')) {
        let (expected, command) = line.split_once('\t').unwrap_or_else(|| panic!("line {}: no tab", number + 1));
        let verdict = judge(&unescaped(command), &config);
        let found = match &verdict {
            Some(Verdict::Deny(_)) => "deny",
            Some(Verdict::Ask(_)) => "ask",
            None => "pass",
        };
        if found != expected {
            println!("expected {expected}, found {found}: {command}");
        }
        match expected {
            "deny" | "ask" => {
                harmful += 1;
                held += usize::from(found != "pass");
                worst += usize::from(expected == "deny");
                denied += usize::from(expected == "deny" && found == "deny");
            }
            "pass" => {
                harmless += 1;
                asked += usize::from(found == "ask");
                wrongly_denied += usize::from(found == "deny");
            }
            other => panic!("line {}: {other}", number + 1),
        }
    }
    println!("harmful  {held} of {harmful} held back ({:.1} %)", share(held, harmful));
    println!("worst    {denied} of {worst} denied ({:.1} %)", share(denied, worst));
    println!("harmless {asked} of {harmless} asked about ({:.1} %), {wrongly_denied} denied", share(asked, harmless));
    // The figures of docs/catalogue/command-guard.md.
    assert_eq!((held, harmful), (724, 734));
    assert_eq!((denied, worst), (526, 546));
    assert_eq!((asked, wrongly_denied, harmless), (22, 0, 1166));
}
