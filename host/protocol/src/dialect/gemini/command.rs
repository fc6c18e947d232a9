//! Reads the output of a command by the rules of Gemini CLI: gemini.md#reading-an-answer, gemini.md#exit-codes.

use serde_json::Value;

use crate::{
    command::{CommandOutput, HandlerResult, bad_output, exited, text},
    event::Event,
    failure::{Cause, Failure},
    json::{Object, parse},
    output::{Decision, HookOutput, Note},
    protocol::Dialect,
};

pub(super) fn read(dialect: &dyn Dialect, event: &Event, ended: &CommandOutput) -> HandlerResult {
    // "stdout is read as JSON; when stdout is empty, stderr is."
    let [stdout, stderr] = [ended.stdout, ended.stderr].map(|bytes| text(bytes).trim().to_owned());
    let text = if stdout.is_empty() { stderr } else { stdout };
    match answer(text.trim_start_matches('\u{feff}')) {
        Some(Ok(object)) => {
            let (output, mut notes) = dialect.decode_output(event, &object).map_err(|error| bad_output(&error))?;
            if ended.code.is_none() {
                // "When an object was found, the exit code no longer matters", unless failures block.
                notes.push(Note::warning("the command was killed by a signal after its answer").of_misfit());
            }
            Ok((output, notes))
        }
        Some(Err(found)) => {
            Err(Failure::new(Cause::BadOutput, format!("output: {found} is not an answer, and Gemini CLI ignores it")))
        }
        None => plain(ended, text),
    }
}

/// Parses an answer. `Err` describes JSON that is not an object; `None` is plain text.
fn answer(text: &str) -> Option<Result<Object, String>> {
    let value = match parse(text.as_bytes()).ok()? {
        // "A JSON string is parsed once more."
        Value::String(inner) => parse(inner.as_bytes()).ok()?,
        value => value,
    };
    match value {
        Value::Object(object) => Some(Ok(object)),
        other => Some(Err(crate::json::describe(&other))),
    }
}

/// Reads plain text: "What was printed is text, not JSON".
fn plain(ended: &CommandOutput, text: String) -> HandlerResult {
    match ended.code {
        Some(0) if text.is_empty() => Ok((HookOutput::default(), Vec::new())),
        // Text that contains an object was probably meant as an answer.
        Some(0) if text.contains('{') => {
            Err(Failure::new(Cause::BadOutput, "output: not one JSON object, so Gemini CLI ignores it"))
        }
        Some(0) => Ok((HookOutput { system_message: Some(text), ..HookOutput::default() }, Vec::new())),
        Some(1) | None => Err(exited(ended.code, ended)),
        Some(_) if text.is_empty() => Err(exited(ended.code, ended)),
        Some(_) => Ok((HookOutput::decided(Decision::Deny, text), Vec::new())),
    }
}
