//! Components from registries: references, the lock that pins them, the folder of fetched components, and approvals.
//!
//! This module opens no connections. `hookbox lock` resolves references and fetches components (the crate
//! `hookbox-registry`). Deciding on events only uses what is locked, fetched and approved.

mod approval;
mod cache;
mod lock;
mod locked;
mod power;
mod reference;
mod revoked;

pub use approval::{Approval, ApprovalStore, Approvals};
pub use cache::{CACHE_BYTES, CachedComponent, ComponentCache, ComponentCacheError};
pub use lock::{LOCK_FILE, Lock, LockError, Locked, declarations, lock_file};
pub(crate) use locked::{LockContext, entry, fetch, verify};
pub use locked::{NotLocked, component};
pub use power::{Change, Power};
pub use reference::{Reference, ReferenceError, SCHEME};
pub use revoked::{REGISTRIES_FILE, Revoked};
