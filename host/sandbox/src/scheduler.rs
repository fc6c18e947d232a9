//! Permits for running components: the scheduler decides which call may begin.

use std::{
    any::Any,
    fmt,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use async_trait::async_trait;
use tokio::sync::Semaphore;

/// A permit to run one call. Dropping it returns it.
pub type Permit = Box<dyn Any + Send>;

/// Decides which calls of components may begin.
///
/// ```
/// use std::sync::Arc;
/// use hookbox_sandbox::{EngineOptions, scheduler::{Permit, Scheduler}};
///
/// /// For callers that limit their calls themselves.
/// #[derive(Debug)]
/// struct Unlimited;
///
/// #[async_trait::async_trait]
/// impl Scheduler for Unlimited {
///     async fn permit(&self, _tenant: &Arc<str>) -> Permit {
///         Box::new(())
///     }
/// }
///
/// let options = EngineOptions { scheduler: Some(Arc::new(Unlimited)), ..EngineOptions::default() };
/// ```
#[async_trait]
pub trait Scheduler: fmt::Debug + Send + Sync {
    /// Waits for the permit to run a call of this tenant. The engine drops the future at the call's deadline. A call that
    /// begins while `max_instances` calls run fails.
    async fn permit(&self, tenant: &Arc<str>) -> Permit;
}

/// The default scheduler: calls begin in FIFO order.
#[derive(Debug)]
pub(crate) struct Fifo(Arc<Semaphore>);

impl Fifo {
    pub(crate) fn new(permits: usize) -> Self {
        Self(Arc::new(Semaphore::new(permits.min(Semaphore::MAX_PERMITS))))
    }
}

#[async_trait]
impl Scheduler for Fifo {
    async fn permit(&self, _tenant: &Arc<str>) -> Permit {
        // This cannot fail, because the semaphore is never closed.
        Box::new(Arc::clone(&self.0).acquire_owned().await)
    }
}

/// A running call, while it is counted.
pub(crate) struct Running<'a> {
    count: &'a AtomicUsize,
    _permit: Permit,
}

impl<'a> Running<'a> {
    pub(crate) fn new(permit: Permit, count: &'a AtomicUsize) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self { count, _permit: permit }
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.count.fetch_sub(1, Ordering::Relaxed);
    }
}
