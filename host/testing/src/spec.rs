//! Pages of `docs/spec`, and quotations from them: `PAGE#HEADING: SENTENCE`.

use std::{collections::BTreeMap, fs, path::Path};

/// The text below each heading, up to the next one, by page and heading. White space is reduced to single blanks.
pub struct Pages(BTreeMap<String, String>);

/// Minimum length of a quotation. Shorter texts are not specific enough.
const SHORTEST: usize = 12;

impl Pages {
    pub fn read() -> Self {
        let mut sections = BTreeMap::<String, String>::new();
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/spec");
        for path in fs::read_dir(&folder).expect("docs/spec").map(|entry| entry.expect("readable").path()) {
            let page = path.file_name().expect("named").to_string_lossy().into_owned();
            let (mut place, mut fenced) = (page.clone(), false);
            for line in fs::read_to_string(&path).expect("readable").lines() {
                fenced ^= line.starts_with("```");
                if line.starts_with('#') && !fenced {
                    place = format!("{page}#{}", anchor(line));
                    assert!(!sections.contains_key(&place), "two headings are {place}");
                }
                let section = sections.entry(place.clone()).or_default();
                section.extend([line, "\n"]);
            }
        }
        Self(sections.into_iter().map(|(place, text)| (place, one_line(&text))).collect())
    }

    /// Returns the text below a heading.
    pub fn section(&self, place: &str) -> Option<&str> {
        self.0.get(place).map(String::as_str)
    }

    /// Checks a clause: its heading exists, and its text occurs there exactly once.
    pub fn check(&self, clause: &str) -> Result<(), String> {
        let (place, quoted) = clause.split_once(": ").ok_or("it is not `PAGE#HEADING: SENTENCE`")?;
        let section = self.section(place).ok_or_else(|| format!("docs/spec has no {place}"))?;
        let quoted = one_line(quoted);
        match section.matches(&quoted).count() {
            _ if quoted.len() < SHORTEST => Err(format!("`{quoted}` is too short a quotation")),
            0 => Err(format!("{place} does not say `{quoted}`")),
            1 => Ok(()),
            times => Err(format!("{place} says `{quoted}` {times} times")),
        }
    }

    /// Checks every heading that a comment names, and every `PAGE#HEADING: "words"; "more words"`. Quotations may
    /// contain quotation marks, so each ends at the first mark that makes it a text of the page.
    pub fn check_comment(&self, comment: &str) -> Result<usize, String> {
        let mut checked = 0;
        for (at, _) in comment.match_indices(".md#") {
            let name = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
            let start = comment[..at].rfind(|c| !name(c)).map_or(0, |found| found + 1);
            let after = &comment[at + ".md#".len()..];
            let (heading, mut after) = after.split_at(after.find(|c| !name(c)).unwrap_or(after.len()));
            let place = format!("{}.md#{heading}", &comment[start..at]);
            let section = self.section(&place).ok_or_else(|| format!("docs/spec has no {place}"))?;
            checked += 1;
            let mut opening = ": \"";
            while let Some(quoted) = after.strip_prefix(opening) {
                let ends = quoted.match_indices('"').map(|(end, _)| quoted.split_at(end));
                let found = |(words, _): &(&str, &str)| words.len() >= SHORTEST && section.contains(words);
                let (_, rest) = ends.filter(ends_there).find(found).ok_or_else(|| {
                    format!("{place} does not say \"{}", quoted.chars().take(120).collect::<String>())
                })?;
                (after, opening) = (&rest[1..], "; \"");
            }
        }
        Ok(checked)
    }
}

/// Returns true if a quotation mark can be a closing one.
fn ends_there((_, rest): &(&str, &str)) -> bool {
    rest.chars().nth(1).is_none_or(|next| " .,;:)".contains(next))
}

/// Returns the anchor of a heading, as Git hosts build it.
fn anchor(heading: &str) -> String {
    let heading = heading.trim_start_matches('#').trim().to_lowercase().replace(' ', "-");
    heading.chars().filter(|c| c.is_alphanumeric() || "-_".contains(*c)).collect()
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
