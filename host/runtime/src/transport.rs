//! Front ends for protocols with a long-lived connection. Each turns messages into events, passes them to the pipeline,
//! and turns verdicts into messages. None decides anything itself.

pub mod stdio;
