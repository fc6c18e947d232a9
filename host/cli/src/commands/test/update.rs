//! `--update`: replaces expected results by the actual ones, and leaves the rest of the file unchanged.

use std::{ops::Range, slice};

use saphyr_parser::{Event, Parser, ScanError, Span};
use serde_json::{Map, Value};

use super::{Tested, case::File, expect::Found, run::StepResult};
use crate::{commands::yaml, user_file};

/// A part of a file, with its byte range.
pub struct Node {
    place: Range<usize>,
    pub line: usize,
    column: usize,
    /// True for a collection in brackets, which stays on one line.
    flow: bool,
    kind: Kind,
}

enum Kind {
    Scalar(String),
    List(Vec<Node>),
    Map(Vec<(Node, Node)>),
}

impl Node {
    fn get(&self, name: &str) -> Option<&Node> {
        let Kind::Map(fields) = &self.kind else { return None };
        fields.iter().find(|(key, _)| matches!(&key.kind, Kind::Scalar(text) if text == name)).map(|(_, value)| value)
    }

    /// The events of a case: those under `events`, or the case itself.
    fn steps(&self) -> &[Node] {
        match self.get("events").map(|events| &events.kind) {
            Some(Kind::List(events)) => events,
            _ => slice::from_ref(self),
        }
    }
}

/// The cases of a file.
pub fn places(text: &str) -> Result<Vec<Node>, ScanError> {
    let bytes: Vec<usize> = text.char_indices().map(|(index, _)| index).chain([text.len()]).collect();
    match next(&mut Parser::new_from_str(text), &bytes)? {
        Next::Node(Node { kind: Kind::List(cases), .. }) => Ok(cases),
        _ => Ok(Vec::new()),
    }
}

enum Next {
    Node(Node),
    /// The end of the enclosing collection, after its bracket.
    End(usize),
}

/// The next node of a file. `bytes` has the byte offset of each character.
fn next<'a>(
    events: &mut impl Iterator<Item = Result<(Event<'a>, Span), ScanError>>,
    bytes: &[usize],
) -> Result<Next, ScanError> {
    let byte = |index: usize| bytes.get(index).or(bytes.last()).copied().unwrap_or_default();
    while let Some(event) = events.next() {
        let (event, span) = event?;
        let (start, mut end) = (byte(span.start.index()), byte(span.end.index()));
        let in_brackets = start < end;
        let (flow, kind) = match event {
            Event::Scalar(text, ..) => (false, Kind::Scalar(text.into_owned())),
            Event::SequenceStart(..) => {
                let mut nodes: Vec<Node> = Vec::new();
                let closed = loop {
                    match next(events, bytes)? {
                        Next::Node(node) => nodes.push(node),
                        Next::End(closed) => break closed,
                    }
                };
                end = if in_brackets { closed } else { nodes.last().map_or(end, |last| last.place.end) };
                (in_brackets, Kind::List(nodes))
            }
            Event::MappingStart(..) => {
                let mut fields: Vec<(Node, Node)> = Vec::new();
                let closed = loop {
                    match (next(events, bytes)?, &mut *events) {
                        (Next::End(closed), _) => break closed,
                        (Next::Node(key), events) => match next(events, bytes)? {
                            Next::Node(value) => fields.push((key, value)),
                            Next::End(closed) => break closed,
                        },
                    }
                };
                // An empty value has the location of the next key.
                let last = fields.last().map(|(key, value)| if value.place.is_empty() { key } else { value });
                end = if in_brackets { closed } else { last.map_or(end, |last| last.place.end) };
                (in_brackets, Kind::Map(fields))
            }
            Event::SequenceEnd | Event::MappingEnd | Event::StreamEnd => return Ok(Next::End(end)),
            _ => continue,
        };
        return Ok(Next::Node(Node {
            place: start..end,
            line: span.start.line(),
            column: span.start.col(),
            flow,
            kind,
        }));
    }
    Ok(Next::End(bytes.last().copied().unwrap_or_default()))
}

/// Writes the actual results into the files.
pub fn write(files: &[File], tested: &[Tested<'_>]) -> anyhow::Result<()> {
    for file in files {
        let mut edits = Vec::new();
        for one in tested.iter().filter(|one| std::ptr::eq(one.file, file)) {
            let Some(place) = file.places.get(one.case.index) else { continue };
            for (place, went) in place.steps().iter().zip(&one.went.steps) {
                edits.extend(changes(&file.text, place, went));
            }
        }
        edits.sort_by_key(|(place, _): &(Range<usize>, String)| std::cmp::Reverse(place.start));
        let mut text = file.text.clone();
        for (place, new) in edits {
            text.replace_range(place, &new);
        }
        if text != file.text {
            user_file::replace(&file.path, text.as_bytes())?;
        }
    }
    Ok(())
}

/// The edits for one event.
fn changes(text: &str, step: &Node, went: &StepResult) -> Vec<(Range<usize>, String)> {
    let Some(found) = &went.found else { return Vec::new() };
    let Some(expect) = step.get("expect") else { return vec![first(text, step, found)] };
    let Kind::Map(fields) = &expect.kind else { return Vec::new() };
    let mut edits = Vec::new();
    for (key, value) in fields {
        let Kind::Scalar(name) = &key.kind else { continue };
        let differs = went.differences.iter().any(|difference| difference.part == Some(name));
        let Some(found) = found.part(name).filter(|_| differs) else { continue };
        // The edit starts after the colon, so that a value can move to a separate line or back.
        let gap = text.get(key.place.end..value.place.start).unwrap_or_default();
        let start = key.place.end + gap.find(':').map_or(0, |colon| colon + 1);
        let new = if expect.flow { format!(" {found}") } else { yaml::value(&found, key.column, name) };
        edits.push((start..end(text, value).max(start), new));
    }
    edits
}

/// The edit that adds the decision and the output to an event without an `expect`.
fn first(text: &str, step: &Node, found: &Found) -> (Range<usize>, String) {
    let parts = ["decision", "output"].into_iter().filter_map(|name| Some((name.to_owned(), found.part(name)?)));
    let expect = Value::Object(parts.collect::<Map<_, _>>());
    let end = end(text, step);
    if step.flow {
        let before = end.saturating_sub(1);
        return (before..before, format!(", expect: {expect}"));
    }
    (end..end, format!("\n{}expect:{}", " ".repeat(step.column), yaml::value(&expect, step.column, "expect")))
}

/// The end of a node, without the line break after a multi-line text.
fn end(text: &str, node: &Node) -> usize {
    node.place.start + text.get(node.place.clone()).unwrap_or_default().trim_end().len()
}
