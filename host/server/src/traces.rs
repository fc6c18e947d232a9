//! Traces over OTLP: a span per request, below it those of the library, per event and per hook.

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

/// So long the last spans may take to be sent.
const LAST: Duration = Duration::from_secs(2);
/// So long one sending may take.
const SENDING: Duration = Duration::from_secs(10);

/// Sends spans to a collector until it is dropped.
#[derive(Debug)]
pub struct Traces {
    provider: SdkTracerProvider,
}

impl Traces {
    /// To the collector at this address, as in `http://127.0.0.1:4318`; one at `https://…` has a certificate that this
    /// machine trusts. Needs a tokio runtime.
    ///
    /// # Errors
    /// The address is none.
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

    /// What makes spans of a program's own.
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

/// One that trusts whom the machine trusts: a collector is often certified by its owner.
fn client() -> reqwest::Client {
    let certificates = rustls_native_certs::load_native_certs().certs;
    let trusted = certificates.iter().filter_map(|certificate| reqwest::Certificate::from_der(certificate).ok());
    let builder = trusted.fold(reqwest::Client::builder(), reqwest::ClientBuilder::add_root_certificate);
    builder.build().unwrap_or_default()
}

/// Bytes of a header of a trace at most; the standard asks for 512 of them to be passed on. A longer one is ignored.
const HEADER: usize = 512;

/// Makes a span part of the trace that a request belongs to.
pub fn follow(span: &Span, headers: &HeaderMap) {
    let context = TraceContextPropagator::new().extract(&Bounded(HeaderExtractor(headers)));
    // Where nobody collects spans, there is none to follow.
    let _ = span.set_parent(context);
}

/// The headers of a trace that are not too long to be kept.
struct Bounded<'a>(HeaderExtractor<'a>);

impl Extractor for Bounded<'_> {
    fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key).filter(|value| value.len() <= HEADER)
    }
    fn keys(&self) -> Vec<&str> {
        self.0.keys()
    }
}

/// reqwest on the daemon's runtime: spans are sent from a thread that has none.
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
