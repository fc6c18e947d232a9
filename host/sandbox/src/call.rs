//! One call of one component: takes a neutral event, returns a neutral output or a failure.
//!
//! `event` has one file per event. `just bindings` writes the list of them, and the files of events that follow from
//! the contract alone.

mod input;
mod output;
#[macro_use]
mod interface;

mod event;

pub(crate) use event::bind;
pub(crate) use interface::{Call, Failed, Interface};
pub(crate) use output::Reader;
