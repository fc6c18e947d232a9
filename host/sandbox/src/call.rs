//! One call of one component: a neutral event in, a neutral answer or a failure out.
//!
//! `event` has a file per event. `just bindings` writes the list of them, and the calls of events whose types say all.

mod input;
mod output;
#[macro_use]
mod interface;

mod event;

pub(crate) use event::bind;
pub(crate) use interface::{Call, Failed, Interface};
pub(crate) use output::Reader;
