//! Locations in a configuration.

use std::fmt;

use hookbox_protocol::json::token;

/// A JSON pointer that is only formatted when it is needed in a message. Most locations have no errors.
#[derive(Clone, Copy)]
pub(super) enum Pointer<'a> {
    /// The whole file.
    Whole,
    /// A member of an object.
    Member(&'a Self, &'a str),
    /// An item of an array.
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
