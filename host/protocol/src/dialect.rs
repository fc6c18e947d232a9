//! All dialects. [`crate::protocol`] defines their trait.

pub mod blade;
pub mod blade_callback;
pub mod claude;
pub mod codebuddy;
pub mod codex;
mod common;
pub mod copilot;
pub mod gemini;
pub mod opencode;
pub mod picoclaw;
mod recognise;
mod registry;
mod translate;

pub use recognise::{Caller, caller, recognise, recognised};
pub use registry::{ALL, by_name};
pub use translate::{is_same_client, other_names, translate};

pub use crate::protocol::{
    ConfigShape, Dialect, EventSpec, Expressible, Flow, Mark, Marks, Outcome, TimeUnit, ToolNames, Usage,
};
