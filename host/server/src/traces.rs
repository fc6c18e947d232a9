//! Traces over OTLP: a span per request, with the library's spans per event and per hook below it.

use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use axum::http::HeaderMap;
use hookbox::async_trait;
use opentelemetry::{
    global,
    propagation::{Extractor, TextMapPropagator},
    trace::TracerProvider,
};
use opentelemetry_http::{Bytes, HeaderExtractor, HttpClient, HttpError, Request, Response};
use opentelemetry_otlp::{ExporterBuildError, Protocol, SpanExporter, WithExportConfig, WithHttpConfig};
use opentelemetry_sdk::{
    Resource,
    propagation::TraceContextPropagator,
    trace::{SdkTracer, SdkTracerProvider},
};
use tracing::Span;
use tracing_opentelemetry::OpenTelemetrySpanExt;

use crate::clock::unix_ms;

/// The maximum time for sending the last spans.
const LAST: Duration = Duration::from_secs(2);
/// The longest error that is kept, in characters.
const ERROR: usize = 300;
/// The timeout of one export.
const SENDING: Duration = Duration::from_secs(10);

/// Exports spans to a collector until it is dropped.
#[derive(Debug)]
pub struct Traces {
    provider: SdkTracerProvider,
    exports: Exports,
}

/// The results of the exports so far. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Exports(Arc<Mutex<Exported>>);

/// The counts of exports, and the state of the latest.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Exported {
    /// Exports that the collector accepted.
    pub accepted: u64,
    /// Exports that failed; their spans are lost.
    pub failed: u64,
    /// The time of the latest export, as Unix time in ms.
    pub last: Option<i64>,
    /// The error of the latest export, and the time of the first failure in a row. `None`: it was accepted.
    pub error: Option<(String, i64)>,
}

impl Exports {
    /// The results so far.
    pub fn so_far(&self) -> Exported {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn add(&self, error: Option<String>, now: i64) {
        let mut exported = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        exported.last = Some(now);
        match error {
            None => {
                exported.accepted += 1;
                exported.error = None;
            }
            Some(text) => {
                exported.failed += 1;
                let since = exported.error.take().map_or(now, |(_, since)| since);
                exported.error = Some((hookbox::shorten(&text, ERROR), since));
            }
        }
    }
}

impl Traces {
    /// Exports to the collector at this address, such as `http://127.0.0.1:4318`. For `https://…`, this machine has to
    /// trust the collector's certificate. Needs a tokio runtime.
    ///
    /// # Errors
    /// The address is invalid.
    pub fn to(collector: &str) -> Result<Self, ExporterBuildError> {
        let exports = Exports::default();
        let runtime = tokio::runtime::Handle::current();
        let client = OnRuntime { client: client(), runtime, exports: exports.clone() };
        let exporter = SpanExporter::builder()
            .with_http()
            .with_http_client(client)
            .with_protocol(Protocol::HttpBinary)
            .with_endpoint(format!("{}/v1/traces", collector.trim_end_matches('/')))
            .build()?;
        let service = Resource::builder().with_service_name("hookbox").build();
        let provider = SdkTracerProvider::builder().with_batch_exporter(exporter).with_resource(service).build();
        global::set_text_map_propagator(TraceContextPropagator::new());
        Ok(Self { provider, exports })
    }

    /// The results of the exports, for the console.
    pub fn exports(&self) -> Exports {
        self.exports.clone()
    }

    /// The tracer for the program's own spans.
    pub fn tracer(&self) -> SdkTracer {
        self.provider.tracer("hookbox")
    }
}

impl Drop for Traces {
    fn drop(&mut self) {
        if let Err(error) = self.provider.shutdown_with_timeout(LAST) {
            tracing::warn!("the last traces were not sent: {error}");
        }
    }
}

/// A client that trusts the machine's certificates, because collectors often have a private CA.
fn client() -> reqwest::Client {
    let certificates = rustls_native_certs::load_native_certs().certs;
    let trusted = certificates.iter().filter_map(|certificate| reqwest::Certificate::from_der(certificate).ok());
    let builder = trusted.fold(reqwest::Client::builder(), reqwest::ClientBuilder::add_root_certificate);
    builder.build().unwrap_or_default()
}

/// The maximum length of a trace header. The standard requires 512 bytes to be passed on. Longer ones are ignored.
const HEADER: usize = 512;

/// Makes a span part of the trace that a request belongs to.
pub fn follow(span: &Span, headers: &HeaderMap) {
    let context = TraceContextPropagator::new().extract(&Bounded(HeaderExtractor(headers)));
    // Without a collector, there is no span to attach.
    let _ = span.set_parent(context);
}

/// The trace headers within the length limit.
struct Bounded<'a>(HeaderExtractor<'a>);

impl Extractor for Bounded<'_> {
    fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key).filter(|value| value.len() <= HEADER)
    }
    fn keys(&self) -> Vec<&str> {
        self.0.keys()
    }
}

/// A client that uses the daemon's runtime, because the exporter's thread has none.
struct OnRuntime {
    client: reqwest::Client,
    runtime: tokio::runtime::Handle,
    exports: Exports,
}

impl fmt::Debug for OnRuntime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OnRuntime")
    }
}

#[async_trait]
impl HttpClient for OnRuntime {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let client = self.client.clone();
        let sending = self.runtime.spawn(async move {
            let mut request = reqwest::Request::try_from(request)?;
            *request.timeout_mut() = Some(SENDING);
            // The address may have a password, and the error is shown.
            let answer = client.execute(request).await.map_err(reqwest::Error::without_url)?;
            let mut response = Response::builder().status(answer.status());
            if let Some(headers) = response.headers_mut() {
                headers.clone_from(answer.headers());
            }
            Ok::<_, HttpError>(response.body(answer.bytes().await?)?)
        });
        let sent = sending.await?;
        let error = match &sent {
            Ok(response) if response.status().is_success() => None,
            Ok(response) => Some(format!("it answers {}", response.status())),
            Err(error) => Some(chain(error.as_ref())),
        };
        self.exports.add(error, unix_ms());
        sent
    }
}

/// An error with its causes: an HTTP client's own text does not say why it cannot connect.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        text = format!("{text}: {inner}");
        cause = inner.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{Exported, Exports};

    #[test]
    fn failures_in_a_row_keep_the_time_of_the_first() {
        let exports = Exports::default();
        assert_eq!(exports.so_far(), Exported::default());
        exports.add(None, 1);
        exports.add(Some("refused".into()), 2);
        exports.add(Some("x".repeat(1000)), 3);
        let now = exports.so_far();
        assert_eq!((now.accepted, now.failed, now.last), (1, 2, Some(3)));
        assert!(now.error.is_some_and(|(text, since)| since == 2 && text.len() < 400));
        exports.add(None, 4);
        assert_eq!(exports.so_far().error, None);
    }
}
