//! Quotations of `docs/spec` are verbatim: those of the vectors, of `explain`, and of comments in the code.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

use std::{
    fs,
    path::{Path, PathBuf},
};

use hookbox_testing::{spec::Pages, vectors};

#[test]
fn every_vector_quotes_the_specification() {
    let pages = Pages::read();
    let mut wrong = Vec::new();
    for file in vectors::all() {
        for vector in &file.vectors {
            if let Err(why) = pages.check(&vector.clause) {
                wrong.push(format!("{} «{}»: {why}", file.path.display(), vector.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Checks every clause that a merge can return, including those without a vector.
#[test]
fn every_clause_of_the_code_quotes_the_specification() {
    let pages = Pages::read();
    let (mut found, mut wrong) = (0, Vec::new());
    for path in sources("host/protocol/src/dialect") {
        let text = fs::read_to_string(&path).unwrap();
        for literal in text.split('\n').filter(|line| !line.trim_start().starts_with("//")).flat_map(literals) {
            if literal.contains(".md#") {
                found += 1;
                wrong.extend(pages.check(&literal).err().map(|why| format!("{}: {why}", path.display())));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(found >= 25, "only {found} clauses were found: are they no longer literals of one line?");
}

#[test]
fn comments_quote_existing_pages() {
    let pages = Pages::read();
    let (mut checked, mut wrong) = (0, Vec::new());
    for path in
        ["host", "tests", "sdk-guest", "guest-examples", "fuzz", "wit"].iter().flat_map(|folder| sources(folder))
    {
        for (line, comment) in comments(&fs::read_to_string(&path).unwrap()) {
            let place = format!("{}:{line}", path.display());
            if comment.contains(".md: \"") {
                wrong.push(format!("{place}: quote with the heading: `page.md#heading: \"words\"`"));
            }
            if comment.chars().any(|c| ('\u{3000}'..='\u{9fff}').contains(&c)) {
                wrong.push(format!("{place}: quote the English page"));
            }
            match pages.check_comment(&comment) {
                Ok(more) => checked += more,
                Err(why) => wrong.push(format!("{place}: {why}")),
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(checked >= 100, "only {checked} quotations were found");
}

#[test]
fn false_quotations_are_found() {
    let pages = Pages::read();
    pages.check("decisions.md#matchers: Matchers are ignored for events that are not about a tool.").unwrap();
    for (clause, why) in [
        ("Matchers are ignored for events that are not about a tool.", "is not"),
        ("decisions.md#outputs: Matchers are ignored for events that are not about a tool.", "does not say"),
        ("decisions.md#nowhere: Matchers are ignored", "has no"),
        ("decisions.md#matchers: configuration", "times"),
        ("decisions.md#matchers: is", "too short"),
    ] {
        assert!(pages.check(clause).unwrap_err().contains(why), "{clause}");
    }
    let comment = |words: &str| pages.check_comment(&format!("Why. decisions.md#claude: {words} And so on."));
    assert_eq!(
        comment(r#""`decision:"block"` + `reason` (the real client's form)"; "`suppressOutput` is the OR.""#),
        Ok(1)
    );
    comment(r#""`suppressOutput` is the OR."; "and nothing else.""#).unwrap_err();
    comment(r#""`decision:"allow"` + `reason` (the real client's form)""#).unwrap_err();
}

/// Returns the Rust and WIT files under a folder, without build output.
fn sources(folder: &str) -> Vec<PathBuf> {
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(folder)];
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() && path.file_name().is_none_or(|name| name != "target") {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs" || extension == "wit") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// Returns the comments of a file. The lines of a comment are joined, with the number of the first line.
fn comments(text: &str) -> Vec<(usize, String)> {
    let mut found: Vec<(usize, String)> = Vec::new();
    let mut last = None;
    for (number, line) in (1..).zip(text.lines()) {
        let Some(words) = line.trim_start().strip_prefix("//") else { continue };
        let words = words.trim_start_matches(['/', '!']).trim();
        match found.last_mut() {
            Some((_, comment)) if last == Some(number - 1) => comment.extend([" ", words]),
            _ => found.push((number, words.to_owned())),
        }
        last = Some(number);
    }
    found
}

/// Returns the string literals of a line.
fn literals(line: &str) -> Vec<String> {
    let (mut found, mut chars, mut open) = (Vec::new(), line.chars(), None::<String>);
    while let Some(c) = chars.next() {
        match (&mut open, c) {
            (None, '"') => open = Some(String::new()),
            (Some(text), '\\') => text.extend(chars.next()),
            (Some(_), '"') => found.extend(open.take()),
            (Some(text), c) => text.push(c),
            _ => {}
        }
    }
    found
}
