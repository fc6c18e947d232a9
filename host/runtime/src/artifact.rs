//! Components of registries: their names, the lock that pins them, the folder that keeps them, and who approved them.
//!
//! Nothing here opens a connection. `hookbox lock` resolves names and fetches components (the crate `hookbox-registry`);
//! what decides on events reads what is locked, kept and approved, and nothing else.

mod approval;
mod kept;
mod lock;
mod locked;
mod power;
mod reference;

pub use approval::{Approval, ApprovalStore, Approvals};
pub use kept::{KEPT_BYTES, KeepError, Kept, KeptFile};
pub use lock::{LOCK_FILE, Lock, LockError, Locked, declarations, lock_file};
pub use locked::{NotLocked, component};
pub(crate) use locked::{Place, entry, fetch, verify};
pub use power::{Change, Power};
pub use reference::{Reference, ReferenceError, SCHEME};
