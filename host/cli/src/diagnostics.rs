//! Diagnostics about configurations, for people and for programs.

use std::io;

use hookbox::config::Diagnostic;
use serde_json::{Value, json};

use crate::{
    excerpt::Excerpt,
    print,
    terminal::{self, Tone},
};

/// Prints a diagnostic on stdout, with the line that it is about.
pub fn out(diagnostic: &Diagnostic) {
    for line in lines(diagnostic, terminal::stdout_has_colours()) {
        print::safe_out(&line);
    }
}

/// Prints a diagnostic on stderr. Under `run` and `stdio` without the line, because the model may read it.
pub fn err(diagnostic: &Diagnostic) {
    if print::is_json() {
        return print::json_line(&json(diagnostic));
    }
    if print::is_for_client() {
        return print::lines(diagnostic).into_iter().for_each(print::err);
    }
    for line in lines(diagnostic, terminal::colours(&io::stderr())) {
        print::safe_err(&line);
    }
}

/// A diagnostic as JSON.
pub fn json(diagnostic: &Diagnostic) -> Value {
    let Diagnostic { file, pointer, line, message, help, .. } = diagnostic;
    let column = if print::is_for_client() { None } else { Excerpt::of(diagnostic).map(|excerpt| excerpt.column()) };
    let mut value = json!({
        "severity": print::severity(diagnostic), "message": message, "file": file.to_string_lossy(),
        "pointer": pointer, "line": line, "help": help,
    });
    if let (Some(value), Some(column)) = (value.as_object_mut(), column) {
        value.insert("column".into(), column.into());
    }
    value
}

/// The lines of a diagnostic, safe for a terminal. The excerpt stands below the location.
fn lines(diagnostic: &Diagnostic, colours: bool) -> Vec<String> {
    let tone = if diagnostic.is_error() { Tone::Bad } else { Tone::Doubtful };
    let severity = print::severity(diagnostic);
    let mut lines: Vec<String> = print::lines(diagnostic).iter().map(|line| print::plain(line)).collect();
    if let Some(first) = lines.first_mut() {
        let rest = first.strip_prefix(severity).unwrap_or_default();
        *first = format!("{}{rest}", terminal::word(severity, tone, colours));
    }
    let width = terminal::width().map(|width| width.saturating_sub(INDENT.len()));
    let excerpt = Excerpt::of(diagnostic).map(|excerpt| excerpt.lines(colours, width)).unwrap_or_default();
    let at = lines.len().min(2);
    lines.splice(at..at, excerpt.iter().map(|line| format!("{INDENT}{line}").trim_end().to_owned()));
    lines
}

/// The indentation of an excerpt.
const INDENT: &str = "   ";
