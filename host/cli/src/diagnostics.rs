//! Diagnostics about configurations, for people and for programs.

use std::io;

use hookbox::config::Diagnostic;
use serde_json::{Value, json};

use crate::{
    excerpt::Excerpt,
    print,
    terminal::{self, Tone},
};

/// Prints diagnostics on stdout, each with the line that it is about.
pub fn out(diagnostics: &[&Diagnostic]) {
    let colours = terminal::stdout_has_colours();
    for (diagnostic, excerpt) in diagnostics.iter().zip(Excerpt::of_each(diagnostics)) {
        for line in lines(diagnostic, excerpt, colours) {
            print::safe_out(&line);
        }
    }
}

/// Prints diagnostics on stderr. Under `run` and `stdio` without the lines, because the model may read them.
pub fn err(diagnostics: &[&Diagnostic]) {
    if print::is_json() {
        return json(diagnostics).iter().for_each(print::json_line);
    }
    if print::is_for_client() {
        return diagnostics.iter().flat_map(|diagnostic| print::lines(diagnostic)).for_each(print::err);
    }
    let colours = terminal::colours(&io::stderr());
    for (diagnostic, excerpt) in diagnostics.iter().zip(Excerpt::of_each(diagnostics)) {
        for line in lines(diagnostic, excerpt, colours) {
            print::safe_err(&line);
        }
    }
}

/// Diagnostics as JSON.
pub fn json(diagnostics: &[&Diagnostic]) -> Vec<Value> {
    let columns = if print::is_for_client() {
        diagnostics.iter().map(|_| None).collect()
    } else {
        Excerpt::of_each(diagnostics).iter().map(|excerpt| Some(excerpt.as_ref()?.column())).collect::<Vec<_>>()
    };
    diagnostics.iter().zip(columns).map(|(diagnostic, column)| one_json(diagnostic, column)).collect()
}

fn one_json(diagnostic: &Diagnostic, column: Option<usize>) -> Value {
    let Diagnostic { file, pointer, line, message, help, .. } = diagnostic;
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
fn lines(diagnostic: &Diagnostic, excerpt: Option<Excerpt>, colours: bool) -> Vec<String> {
    let tone = if diagnostic.is_error() { Tone::Bad } else { Tone::Doubtful };
    let severity = print::severity(diagnostic);
    let mut lines: Vec<String> = print::lines(diagnostic).iter().map(|line| print::plain(line)).collect();
    if let Some(first) = lines.first_mut() {
        let rest = first.strip_prefix(severity).unwrap_or_default();
        *first = format!("{}{rest}", terminal::word(severity, tone, colours));
    }
    let width = terminal::width().map(|width| width.saturating_sub(INDENT.len()));
    let excerpt = excerpt.map(|excerpt| excerpt.lines(colours, width)).unwrap_or_default();
    let at = lines.len().min(2);
    lines.splice(at..at, excerpt.iter().map(|line| format!("{INDENT}{line}").trim_end().to_owned()));
    lines
}

/// The indentation of an excerpt.
const INDENT: &str = "   ";
