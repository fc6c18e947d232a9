//! The line of a configuration that a diagnostic is about, with the place marked.

use std::{collections::BTreeSet, ops::Range, path::Path};

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use hookbox::{config::Diagnostic, json};
use hookbox_protocol::DecodeError;
use jsonc_parser::{CollectOptions, ast::Value, common::Ranged, parse_to_ast};

use crate::{change, clients::settings, print};

/// The most characters of a line before and after the marked place. Minified files have a single line.
const AROUND: usize = 160;
/// The width of an excerpt where there is no terminal.
const WIDTH: usize = 120;

/// A line of a file, and the marked part of it.
#[derive(Debug, PartialEq, Eq)]
pub struct Excerpt {
    /// The line number, from 1.
    line: usize,
    /// The number of the first marked character in the line, from 1.
    column: usize,
    /// The part of the line around the marked place. It is safe for a terminal.
    text: String,
    /// The marked bytes of `text`.
    marked: Range<usize>,
}

impl Excerpt {
    /// The excerpt for each diagnostic. `None` if the file cannot be read any more, or the diagnostic is about all of it. Each
    /// file is read and parsed once.
    pub fn of_each(diagnostics: &[&Diagnostic]) -> Vec<Option<Self>> {
        let mut excerpts: Vec<Option<Self>> = diagnostics.iter().map(|_| None).collect();
        let located = diagnostics.iter().filter(|diagnostic| diagnostic.line.is_some());
        let files: BTreeSet<&Path> = located.map(|diagnostic| diagnostic.file.as_path()).collect();
        for file in files {
            let Ok(Some(text)) = change::read(file) else { continue };
            let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
            let root = parsed(text);
            for (excerpt, diagnostic) in excerpts.iter_mut().zip(diagnostics) {
                if diagnostic.line.is_some() && diagnostic.file == file {
                    let place = match &root {
                        _ if diagnostic.pointer.is_empty() => syntax_error(text),
                        Some(root) => value(text, root, &diagnostic.pointer, &diagnostic.message),
                        None => None,
                    };
                    *excerpt = place.and_then(|place| Self::at(text, place));
                }
            }
        }
        excerpts
    }

    /// The excerpt with a range of the text marked, at most to the end of its line.
    fn at(text: &str, place: Range<usize>) -> Option<Self> {
        let before = text.get(..place.start)?;
        let start = before.rfind('\n').map_or(0, |at| at + 1);
        let line = text.get(start..)?.split(['\n', '\r']).next()?;
        let from = (place.start - start).min(line.len());
        let to = (place.end - start).clamp(from, line.len());
        let (head, middle, tail) = (line.get(..from)?, line.get(from..to)?, line.get(to..)?);
        let cut = head.chars().rev().take(AROUND).map(char::len_utf8).sum::<usize>();
        let near = head.get(head.len() - cut..)?;
        let head_shown = shown(if cut < head.len() { format!("…{near}") } else { near.to_owned() }.chars());
        let middle_shown = shown(middle.chars().take(AROUND));
        let tail_shown = shown(tail.chars().take(AROUND));
        Some(Self {
            line: before.matches('\n').count() + 1,
            column: head.chars().count() + 1,
            marked: head_shown.len()..head_shown.len() + middle_shown.len(),
            text: head_shown + &middle_shown + &tail_shown,
        })
    }

    /// The number of the first marked character in its line, from 1.
    pub fn column(&self) -> usize {
        self.column
    }

    /// The excerpt as lines for a terminal of this width.
    pub fn lines(&self, colours: bool, width: Option<usize>) -> Vec<String> {
        let renderer = if colours { Renderer::styled() } else { Renderer::plain() };
        let mark = AnnotationKind::Primary.span(self.marked.clone());
        let snippet = Snippet::source(self.text.as_str()).line_start(self.line).fold(false).annotation(mark);
        let report = [Group::with_level(Level::ERROR).element(snippet)];
        let drawn = renderer.term_width(width.unwrap_or(WIDTH)).render(&report);
        // The first line is an empty margin.
        drawn.lines().skip(1).map(|line| line.trim_end().to_owned()).collect()
    }
}

/// Replaces characters that a terminal interprets, one by one, so that the columns stay.
fn shown(text: impl Iterator<Item = char>) -> String {
    text.map(|c| if c != '\t' && print::is_unsafe(c) { '\u{fffd}' } else { c }).collect()
}

/// The character at which a text stops being JSON.
fn syntax_error(text: &str) -> Option<Range<usize>> {
    let Err(DecodeError::Syntax(message)) = json::parse(text.as_bytes()) else { return None };
    // The message ends with "at line L column C", where C counts bytes from 1.
    let (what, place) = message.rsplit_once(" at line ")?;
    let (line, column) = place.split_once(" column ")?;
    let (line, column): (usize, usize) = (line.parse().ok()?, column.parse().ok()?);
    let start: usize = text.split_inclusive('\n').take(line.checked_sub(1)?).map(str::len).sum();
    let of_line = text.get(start..)?.split('\n').next()?;
    let mut from = column.checked_sub(1)?.min(of_line.len());
    while !of_line.is_char_boundary(from) {
        from -= 1;
    }
    let to = from + of_line.get(from..)?.chars().next().map_or(0, char::len_utf8);
    // A repeated key is reported behind its closing quote.
    if what.contains("appears twice") {
        let key = of_line.get(..from)?.trim_end().strip_suffix('"')?.rfind('"')?;
        return Some(start + key..start + from);
    }
    Some(start + from..start + to)
}

fn parsed(text: &str) -> Option<Value<'_>> {
    parse_to_ast(text, &CollectOptions::default(), &settings::jsonc::options()).ok()?.value
}

/// The part of the value at a pointer that a message is about: the key if the message names it, or else the value. If the
/// value is missing, the nearest value around it.
fn value(text: &str, root: &Value<'_>, pointer: &str, message: &str) -> Option<Range<usize>> {
    let (mut here, mut key) = (root, None);
    for token in pointer.split('/').skip(1) {
        let token = token.replace("~1", "/").replace("~0", "~");
        let found = match here {
            Value::Object(object) => {
                let member = object.properties.iter().rev().find(|member| member.name.as_str() == token);
                member.map(|member| (&member.value, Some((member.name.range(), token))))
            }
            Value::Array(array) => {
                let item = token.parse::<usize>().ok().and_then(|index| array.elements.get(index));
                item.map(|item| (item, None))
            }
            _ => None,
        };
        let Some(found) = found else { break };
        (here, key) = found;
    }
    let whole = here.range();
    let is_long = text.get(whole.start..whole.end)?.contains('\n');
    let range = match key {
        Some((name, token)) if is_long || message.contains(&format!("`{token}`")) => name,
        _ => whole,
    };
    Some(range.start..range.end)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::{Excerpt, parsed, syntax_error, value};

    fn drawn(text: &str, pointer: &str, message: &str) -> Vec<String> {
        Excerpt::at(text, value(text, &parsed(text).unwrap(), pointer, message).unwrap()).unwrap().lines(false, None)
    }

    #[test]
    fn the_key_is_marked_if_the_message_names_it_and_else_the_value() {
        let text = "{\n  \"a\": {\n    \"timout\": \"2\" } }";
        let key = ["3 |     \"timout\": \"2\" } }", "  |     ^^^^^^^^"];
        assert_eq!(drawn(text, "/a/timout", "unknown key `timout`"), key);
        let value = ["3 |     \"timout\": \"2\" } }", "  |               ^^^"];
        assert_eq!(drawn(text, "/a/timout", "expected a number"), value);
        // A value of several lines is shown by its key, or by its first line.
        assert_eq!(drawn(text, "/a", "missing key `b`"), ["2 |   \"a\": {", "  |   ^^^"]);
        assert_eq!(drawn("[\n{\n} ]", "/0/x", "x"), ["2 | {", "  | ^"]);
    }

    #[test]
    fn a_syntax_error_is_marked_at_its_character() {
        let marked = |text: &str| {
            let excerpt = Excerpt::at(text, syntax_error(text).unwrap()).unwrap();
            (excerpt.line, excerpt.column, excerpt.text.get(excerpt.marked).unwrap().to_owned())
        };
        assert_eq!(marked("{\n  \"a\": [,]\n}"), (2, 9, ",".into()));
        assert_eq!(marked("{ \"é\": 1, \"é\": 2 }"), (1, 11, "\"é\"".into()));
        // The end of the text has no character.
        assert_eq!(marked("{ \"a\": 1"), (1, 9, String::new()));
        assert_eq!(syntax_error("{}"), None);
    }

    #[test]
    fn an_excerpt_is_short_and_cannot_move_the_cursor() {
        let text = format!("{{\"{}\": \"\u{9b}2J\u{202e}\", \"b\": 1}}", "a".repeat(5000));
        let excerpt =
            Excerpt::at(&text, value(&text, &parsed(&text).unwrap(), "/b", "expected a string").unwrap()).unwrap();
        assert_eq!(excerpt.column, text.chars().count() - 1);
        let lines = excerpt.lines(false, Some(80)).join("\n");
        assert!(lines.len() < 600 && lines.contains("\"b\": 1"), "{lines}");
        assert!(!lines.contains(['\u{9b}', '\u{202e}']), "{lines:?}");
    }
}
