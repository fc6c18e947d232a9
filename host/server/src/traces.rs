//! Traces over OTLP: a span per request, with the library's spans per event and per hook below it.

use std::{fmt, time::Duration};

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

/// The maximum time for sending the last spans.
const LAST: Duration = Duration::from_secs(2);
/// The timeout of one export.
const SENDING: Duration = Duration::from_secs(10);

/// Exports spans to a collector until it is dropped.
#[derive(Debug)]
pub struct Traces {
    provider: SdkTracerProvider,
}

impl Traces {
    /// Exports to the collector at this address, such as `http://127.0.0.1:4318`. For `https://…`, this machine has to
    /// trust the collector's certificate. Needs a tokio runtime.
    ///
    /// # Errors
    /// The address is invalid.
    pub fn to(collector: &str) -> Result<Self, ExporterBuildError> {
        let client = OnRuntime { client: client(), runtime: tokio::runtime::Handle::current() };
        let exporter = SpanExporter::builder()
            .with_http()
            .with_http_client(client)
            .with_protocol(Protocol::HttpBinary)
            .with_endpoint(format!("{}/v1/traces", collector.trim_end_matches('/')))
            .build()?;
        let service = Resource::builder().with_service_name("hookbox").build();
        let provider = SdkTracerProvider::builder().with_batch_exporter(exporter).with_resource(service).build();
        global::set_text_map_propagator(TraceContextPropagator::new());
        Ok(Self { provider })
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

/// A client that sends on the daemon's runtime, because the exporter's thread has none.
struct OnRuntime {
    client: reqwest::Client,
    runtime: tokio::runtime::Handle,
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
            let answer = client.execute(request).await?;
            let mut response = Response::builder().status(answer.status());
            if let Some(headers) = response.headers_mut() {
                headers.clone_from(answer.headers());
            }
            Ok::<_, HttpError>(response.body(answer.bytes().await?)?)
        });
        sending.await?
    }
}
