//! Spans that cost nothing where nobody listens.

/// Does asynchronous work within a span. Where nobody listens, which is most often, the work is not carried into one: that
/// copies all that it will ever hold.
#[doc(hidden)] // for our own crates
#[macro_export]
macro_rules! traced {
    ($span:expr, $work:expr) => {{
        let span = $span;
        if span.is_disabled() { $work.await } else { tracing::Instrument::instrument($work, span).await }
    }};
}
