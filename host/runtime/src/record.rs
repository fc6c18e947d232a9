//! Provenance: what was judged, by what, and how it came out, as one JSON object per verdict.

use hookbox_protocol::Answer;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::{
    host::Host,
    verdict::{HookReport, Status, Verdict},
};

impl Verdict {
    /// The record of this verdict: digests (SHA-256, hexadecimal) of the event, the configuration and every component
    /// that ran, each hook's verdict, time (µs), fuel and fault, and what all of them came to. `event` is the wire JSON
    /// the verdict is about. The record holds no content of the event but its name, its tool and the hooks' reasons.
    pub fn record(&self, host: &Host, event: &[u8]) -> Value {
        let mut record = json!({
            "event": self.event,
            "dialect": self.dialect,
            "eventDigest": digest(event),
            "configDigest": host.config().digest,
            "hooks": self.hooks.iter().map(hook).collect::<Vec<_>>(),
            "verdict": said(&self.merged.answer),
            "clause": self.merged.clause,
            "output": self.wire,
        });
        if let Some(tool) = &self.tool {
            record["tool"] = json!(tool);
        }
        record
    }
}

fn hook(report: &HookReport) -> Value {
    let mut line = json!({ "hook": report.name, "pointer": report.pointer });
    let ran = match &report.status {
        Status::Ran(ran) => ran,
        Status::NotMatched => return with(line, "verdict", "not-matched"),
        Status::NotHandled => return with(line, "verdict", "not-handled"),
        Status::NotReached => return with(line, "verdict", "not-reached"),
    };
    line["timeUs"] = json!(u64::try_from(ran.time.as_micros()).unwrap_or(u64::MAX));
    if let Some(fuel) = ran.fuel {
        line["fuel"] = json!(fuel);
    }
    if let Some(digest) = &ran.digest {
        line["componentDigest"] = json!(digest);
    }
    match &ran.result {
        Ok(answer) => with(line, "verdict", &said(answer)),
        Err(failure) => {
            line["fault"] = json!({ "cause": failure.cause.word(), "message": failure.message });
            line["countedAs"] = said(&ran.counted).into();
            with(line, "verdict", "failed")
        }
    }
}

fn with(mut object: Value, key: &str, word: &str) -> Value {
    object[key] = word.into();
    object
}

/// An answer in one word.
pub(crate) fn said(answer: &Answer) -> String {
    match (&answer.rule, &answer.halt) {
        (_, Some(_)) => "stop".into(),
        (Some(rule), None) => rule.kind().word().into(),
        (None, None) if answer.is_silent() => "nothing".into(),
        (None, None) => "effects".into(),
    }
}

fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}
