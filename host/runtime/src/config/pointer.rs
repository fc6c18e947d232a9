//! Where in a configuration something stands.

use std::fmt;

use hookbox_protocol::json::token;

/// A JSON pointer that is written out only where something is told of the place: most places are right.
#[derive(Clone, Copy)]
pub(super) enum Pointer<'a> {
    /// The whole.
    Whole,
    /// A member of what is there.
    Member(&'a Self, &'a str),
    /// An item of what is there.
    Item(&'a Self, usize),
}

impl fmt::Display for Pointer<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole => Ok(()),
            Self::Member(above, key) => write!(f, "{above}/{}", token(key)),
            Self::Item(above, index) => write!(f, "{above}/{index}"),
        }
    }
}

impl From<Pointer<'_>> for String {
    fn from(pointer: Pointer<'_>) -> Self {
        pointer.to_string()
    }
}
