//! Provenance: what was judged, by what, and how it came out, as JSON.

use hookbox_protocol::HookOutput;
use hookbox_sandbox::sha256;
use serde_json::{Map, Value, json};

use crate::{
    clock::unix_ms,
    host::Host,
    verdict::{HookReport, Status, Verdict},
};

impl Verdict {
    /// The record of this verdict: digests (SHA-256, hexadecimal) of the event, the configuration and every component
    /// that ran, [each hook's part](HookReport::record), and what all of them came to. `event` is the wire JSON the
    /// verdict is about, `at` milliseconds since 1970. Of the event's content the record holds its name, its tool, what
    /// hooks said and the output.
    pub fn record(&self, host: &Host, event: &[u8]) -> Value {
        json!({
            "at": unix_ms(),
            "event": self.event,
            "tool": self.tool,
            "dialect": self.dialect,
            "eventDigest": sha256(event),
            "configDigest": host.config().digest,
            "hooks": self.hooks.iter().map(HookReport::record).collect::<Vec<_>>(),
            "verdict": self.outcome.output.word(),
            "clause": self.outcome.clause,
            "output": self.wire,
        })
    }
}

impl HookReport {
    /// This hook's part: its verdict in a word, and where it ran its time (µs), fuel, component digest, reason or fault,
    /// and notes.
    pub fn record(&self) -> Value {
        let mut line = Map::new();
        let mut put = |key: &str, value: Value| drop(line.insert(key.to_owned(), value));
        put("hook", json!(self.name));
        put("pointer", json!(self.pointer));
        put("verdict", json!(self.word()));
        if let Some(run) = self.run() {
            put("timeUs", json!(u64::try_from(run.time.as_micros()).unwrap_or(u64::MAX)));
            if let Some(fuel) = run.fuel {
                put("fuel", json!(fuel));
            }
            if let Some(digest) = &self.digest {
                put("componentDigest", json!(digest));
            }
            match &run.result {
                Ok(output) => output.reason.iter().for_each(|reason| put("reason", json!(reason))),
                Err(failure) => {
                    put("cause", json!(failure.cause.word()));
                    put("message", json!(failure.message));
                    put("countedAs", json!(self.counted.word()));
                }
            }
            let note = |note: &hookbox_protocol::Note| json!({ "kind": note.kind.word(), "text": note.text });
            put("notes", run.notes.iter().map(note).collect());
        }
        Value::Object(line)
    }

    /// What became of it, in a word or two.
    pub fn word(&self) -> &'static str {
        match &self.status {
            Status::Ran(run) => run.result.as_ref().map_or("failed", HookOutput::word),
            Status::NotMatched => "not matched",
            Status::NotHandled => "not handled",
            Status::NotReached => "not reached",
        }
    }
}
