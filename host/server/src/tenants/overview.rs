//! Tenants for people who look.

use std::sync::Arc;

use super::slot::{LoadError, Slot, Standing};
use crate::{tenant::Tenant, token::Token};

/// A tenant for people who look.
#[derive(Debug)]
pub struct Overview {
    pub name: String,
    /// `loading`, `serving`, `refused` or `gone`.
    pub standing: &'static str,
    /// Its hooks, where they are loaded.
    pub tenant: Option<Arc<Tenant>>,
    pub error: Option<LoadError>,
    /// The time of the last load, in milliseconds since 1970.
    pub loaded: Option<i64>,
    pub tokens: Arc<[Token]>,
    /// True when failures block.
    pub closed: bool,
}

impl Overview {
    /// The present state of a tenant.
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
