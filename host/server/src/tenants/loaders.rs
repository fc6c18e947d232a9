//! Limits the concurrency of loading tenants. A tenant that compiles slowly does not delay the others.

use std::{
    pin::pin,
    time::{Duration, Instant},
};

use tokio::sync::Semaphore;

/// The number of tenants that load concurrently.
const LOADERS: usize = 4;
/// The number of additional tenants that have been loading for longer than [`QUICK`].
const SLOW: usize = 8;
/// The limit of a quick load. Most loads are quick, because their components are cached.
const QUICK: Duration = Duration::from_secs(1);

/// The permits to load tenants.
pub struct Loaders {
    quick: Semaphore,
    slow: Semaphore,
    /// Permits to read hooks files.
    hints: Semaphore,
}

impl Loaders {
    pub fn new() -> Self {
        Self { quick: Semaphore::new(LOADERS), slow: Semaphore::new(SLOW), hints: Semaphore::new(LOADERS) }
    }

    /// Reads hooks files, which is always quick.
    pub async fn hint<T>(&self, look: impl Future<Output = T>) -> T {
        let _permit = self.hints.acquire().await;
        look.await
    }

    /// Loads a tenant. Returns true if that was slow. A tenant that was slow before uses a permit for slow loads. A
    /// load that turns out to be slow switches to such a permit as soon as one is free.
    pub async fn load<T>(&self, was_slow: bool, load: impl Future<Output = T>) -> (T, bool) {
        if was_slow {
            let _permit = self.slow.acquire().await;
            let begin = Instant::now();
            let loaded = load.await;
            return (loaded, begin.elapsed() > QUICK);
        }
        let quick = self.quick.acquire().await;
        let mut load = pin!(load);
        if let Ok(loaded) = tokio::time::timeout(QUICK, &mut load).await {
            return (loaded, false);
        }
        tokio::select! {
            loaded = &mut load => (loaded, true),
            _slow = self.slow.acquire() => {
                drop(quick);
                (load.await, true)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::{future::pending, sync::Arc, time::Duration};

    use futures_util::FutureExt;
    use tokio::time::timeout;

    use super::{LOADERS, Loaders, SLOW};

    const PATIENCE: Duration = Duration::from_mins(1);

    #[tokio::test]
    async fn slow_loads_do_not_delay_others() {
        let loaders = Arc::new(Loaders::new());
        let endless: Vec<_> = (0..SLOW)
            .map(|_| {
                let loaders = Arc::clone(&loaders);
                tokio::spawn(async move { loaders.load(false, pending::<()>()).await })
            })
            .collect();
        // Each of them has started, and switches its permit after a second.
        while loaders.slow.available_permits() > 0 {
            let done = timeout(PATIENCE, loaders.load(false, async { 1 })).await;
            assert_eq!(done.unwrap(), (1, false));
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        let all = timeout(PATIENCE, loaders.quick.acquire_many(u32::try_from(LOADERS).unwrap())).await;
        drop(all.unwrap());
        // A tenant that was slow before waits for a permit for slow loads.
        assert!(loaders.load(true, async { 1 }).now_or_never().is_none());
        endless.iter().for_each(tokio::task::JoinHandle::abort);
        assert_eq!(timeout(PATIENCE, loaders.load(true, async { 1 })).await.unwrap(), (1, false));
    }
}
