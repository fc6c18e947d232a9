//! The memory for request bodies and responses: one budget for all tenants and one per tenant. Memory is taken before a body
//! is read, and for a response when it is known. It is returned when the response was sent.
//!
//! As at the gate, a tenant may use no more of the budget than remains free. The first 16 KiB of a body are not
//! counted, so that an event can still be recognised and blocked if there is no memory for the rest.

mod permit;
mod read;

pub use self::{
    permit::{Bodies, BodyPermit},
    read::{Bounds, FREE, Read},
};
