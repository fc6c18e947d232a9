//! Reads command lines as a POSIX shell or bash does, without running anything.
//!
//! [`analyse`] finds every call of a program in a text: behind pipes, in substitutions, in strings that are given to another
//! shell, behind programs that run others (`sudo`, `xargs`, `find -exec`). What cannot be known without running it is marked:
//! [`UNKNOWN`] in a word, [`Unseen`] for a whole command.
//!
//! The cost is bounded: each level of nesting reads its text once, and expansions have a separate budget.
#![deny(missing_docs)]

mod call;
mod code;
mod expand;
mod files;
mod parse;
mod runner;
mod script;
mod word;

pub use call::{Analysis, Call, Input, Unseen, analyse};
pub use code::strings;
pub use word::{UNKNOWN, Word};
