//! The default values.

use std::time::Duration;

pub(super) const fn timeout() -> Duration {
    Duration::from_secs(30)
}

pub(super) const fn drain() -> Duration {
    Duration::from_secs(25)
}

pub(super) const fn grace() -> Duration {
    Duration::from_secs(30)
}

pub(super) const fn body() -> u32 {
    8 * 1024
}

pub(super) const fn body_memory() -> u32 {
    256
}

pub(super) const fn connections() -> u32 {
    4096
}

pub(super) const fn concurrency() -> u32 {
    64
}

pub(super) const fn instances() -> u32 {
    64
}

pub(super) const fn memory() -> u32 {
    256
}
