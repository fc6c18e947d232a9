//! Spans without cost when there is no subscriber.

/// Awaits a future within a span. Without a subscriber, which is the common case, the future is not wrapped, because
/// wrapping copies it.
#[doc(hidden)] // for hookbox's crates
#[macro_export]
macro_rules! traced {
    ($span:expr, $work:expr) => {{
        let span = $span;
        if span.is_disabled() { $work.await } else { tracing::Instrument::instrument($work, span).await }
    }};
}
