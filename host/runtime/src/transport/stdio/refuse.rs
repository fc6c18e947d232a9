//! Answers every line without hooks, for a process that lacks what hooks need, such as descriptors or threads. It needs
//! no runtime.

use std::{
    io::{self, BufRead, Read as _, Write},
    time::Instant,
};

use serde_json::json;

use super::{
    Budget, LINE_LIMIT, Unavailable,
    budget::kind,
    message::{Message, RpcError},
    reply,
    request::{Incomplete, Request},
};
use crate::event::EventKind;

/// Answers one client until it closes its end: gates are blocked if `unavailable` says so, and get an error otherwise.
///
/// # Errors
/// An error of reading. A client that has gone away is not an error.
pub fn refuse(unavailable: &Unavailable, mut input: impl BufRead, mut output: impl Write) -> io::Result<()> {
    while let Some((line, cut)) = next(&mut input)? {
        let Some(reply) = answer(unavailable, line, cut) else { continue };
        if writeln!(output, "{reply}").and_then(|()| output.flush()).is_err() {
            return Ok(());
        }
    }
    Ok(())
}

/// The next line without its newline, and true if it exceeds the length limit. The rest of such a line is skipped.
fn next(input: &mut impl BufRead) -> io::Result<Option<(Vec<u8>, bool)>> {
    let mut line = Vec::new();
    let maximum = u64::try_from(LINE_LIMIT).unwrap_or(u64::MAX);
    if input.by_ref().take(maximum).read_until(b'\n', &mut line)? == 0 {
        return Ok(None);
    }
    let ended = line.pop_if(|last| *last == b'\n').is_some();
    let cut = !ended && line.len() == LINE_LIMIT;
    if cut {
        input.skip_until(b'\n')?;
        line.truncate(1024);
    }
    Ok(Some((line, cut)))
}

/// The reply to a line, if it has one.
fn answer(unavailable: &Unavailable, line: Vec<u8>, cut: bool) -> Option<String> {
    let (id, method, broken) = match Message::read(&line) {
        _ if line.trim_ascii().is_empty() => return None,
        Message::Request { id, method } if method == "hook.hello" => {
            return Some(reply::result(&id, &json!({ "ok": true })).to_string());
        }
        Message::Request { id, method } => (id, Some(method), None),
        Message::Notification { .. } => return None,
        Message::Invalid { id, method, error } => (id?, method, Some(Incomplete { error, too_large: cut })),
    };
    match method.as_deref().map(|method| (method, kind(method))) {
        Some((_, Some(EventKind::AgentEvent))) => return None,
        Some((method, None)) => return Some(RpcError::method(method).reply(&id).to_string()),
        _ => {}
    }
    let request = Request { id, method, line, since: Instant::now(), broken };
    let response = unavailable.response(&request.asked(Budget::default()));
    Some(reply::of(response, &request))
}
