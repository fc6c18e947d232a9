//! The state of tenants, for display.

use std::sync::Arc;

use super::slot::{LoadError, Slot, Standing};
use crate::{tenant::Tenant, token::Token};

/// The state of a tenant, for display.
#[derive(Debug)]
pub struct Overview {
    pub name: String,
    /// `loading`, `serving`, `refused` or `gone`.
    pub standing: &'static str,
    /// The loaded tenant.
    pub tenant: Option<Arc<Tenant>>,
    pub error: Option<LoadError>,
    /// The time of the last load, as Unix time in ms.
    pub loaded: Option<i64>,
    pub tokens: Arc<[Token]>,
    /// True if failures block.
    pub closed: bool,
}

impl Overview {
    /// The current state of a tenant.
    pub fn of(name: &str, slot: &Slot) -> Self {
        let found = slot.found();
        let (standing, tenant) = match found.standing {
            Standing::Loading => ("loading", None),
            Standing::Serving(tenant) => ("serving", Some(tenant)),
            Standing::Broken(_) => ("refused", None),
            Standing::Gone(_) => ("gone", None),
        };
        Self {
            name: name.to_owned(),
            standing,
            tenant,
            error: slot.error.clone(),
            loaded: slot.loaded,
            tokens: found.tokens,
            closed: found.closed,
        }
    }
}
