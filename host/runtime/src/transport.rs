//! Front ends that speak a client's protocol over a long-lived connection. Each turns messages into events, hands them to
//! the pipeline, and turns verdicts into messages; none decides anything itself.

pub mod stdio;
