//! Reads files without blocking the async executor.

/// Reads files on a thread that may block.
pub async fn blocking<T: Send + 'static>(read: impl FnOnce() -> T + Send + 'static) -> T {
    match tokio::task::spawn_blocking(read).await {
        Ok(read) => read,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            // The runtime is shutting down, so the result is not needed any more.
            Err(_) => std::future::pending().await,
        },
    }
}
