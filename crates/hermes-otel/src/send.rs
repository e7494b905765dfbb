//! Batches of spans on their way to the collector.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use opentelemetry::Value;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::transform::common::tonic::ResourceAttributesWithSchema;
use opentelemetry_proto::transform::trace::tonic::group_spans_by_resource_and_scope;
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::{OTelSdkError, OTelSdkResult};
use opentelemetry_sdk::trace::{SpanData, SpanExporter};
use prost::Message as _;
use ureq::Agent;
use ureq::http::{HeaderName, HeaderValue, Uri};
use ureq::tls::{RootCerts, TlsConfig, TlsProvider};

/// How many bytes of a text leave the machine. The ids of calls are a model's own words.
const LONGEST_TEXT: usize = 256;

/// What `hermes-tools` names the spans of calls.
const CALL: &str = "tool_call";

/// How many bytes of an answer are read, so that the connection can be used again.
const LONGEST_ANSWER: u64 = 64 * 1024;

/// Tells of the first failure. The next ones would say the same.
pub(crate) struct Trouble {
    collector: String,
    is_told: AtomicBool,
}

impl Trouble {
    /// `endpoint` is named without what may be secret in it.
    pub(crate) fn with(endpoint: &Uri) -> Self {
        let scheme = endpoint.scheme_str().unwrap_or_default();
        let host = endpoint.host().unwrap_or_default();
        let port = endpoint.port().map(|port| format!(":{port}")).unwrap_or_default();
        Self { collector: format!("{scheme}://{host}{port}"), is_told: AtomicBool::new(false) }
    }

    pub(crate) fn tell(&self, why: &str) {
        if !self.is_told.swap(true, Ordering::Relaxed) {
            tracing::warn!("traces don't reach the collector at {}: {why}", self.collector);
        }
    }
}

/// Sends batches, each in one request. Blocks, so it belongs on a thread of its own.
pub(crate) struct Sender {
    agent: Agent,
    endpoint: Uri,
    headers: Vec<(HeaderName, HeaderValue)>,
    resource: ResourceAttributesWithSchema,
    trouble: Arc<Trouble>,
}

impl Sender {
    pub(crate) fn new(
        endpoint: Uri,
        headers: Vec<(HeaderName, HeaderValue)>,
        timeout: Duration,
        trouble: Arc<Trouble>,
    ) -> Self {
        let provider = rustls::crypto::ring::default_provider();
        let tls = TlsConfig::builder()
            .provider(TlsProvider::Rustls)
            .root_certs(RootCerts::PlatformVerifier)
            .unversioned_rustls_crypto_provider(Arc::new(provider))
            .build();
        let config = Agent::config_builder()
            .tls_config(tls)
            .timeout_global(Some(timeout))
            // By default it would come from the environment of the process.
            .proxy(None)
            // Headers may be keys, which are for the collector alone.
            .max_redirects(0)
            .max_redirects_will_error(false)
            .http_status_as_error(false)
            .user_agent(concat!("hermes-otel/", env!("CARGO_PKG_VERSION")))
            .build();
        let resource = ResourceAttributesWithSchema::default();
        Self { agent: config.into(), endpoint, headers, resource, trouble }
    }

    fn post(&self, body: &[u8]) -> Result<(), String> {
        let mut request = self.agent.post(&self.endpoint);
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        let request = request.header("content-type", "application/x-protobuf");
        let mut answer = request.send(body).map_err(|error| error.to_string())?;
        let _ = answer.body_mut().with_config().limit(LONGEST_ANSWER).read_to_vec();
        if answer.status().is_success() {
            Ok(())
        } else {
            Err(format!("it answered {}", answer.status()))
        }
    }
}

impl SpanExporter for Sender {
    async fn export(&self, mut batch: Vec<SpanData>) -> OTelSdkResult {
        for span in &mut batch {
            name(span);
            shorten(span);
        }
        let resource_spans = group_spans_by_resource_and_scope(batch, &self.resource);
        let body = ExportTraceServiceRequest { resource_spans }.encode_to_vec();
        self.post(&body).map_err(|why| {
            self.trouble.tell(&why);
            OTelSdkError::InternalFailure(why)
        })
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.resource = resource.into();
    }
}

impl fmt::Debug for Sender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender").field("to", &self.trouble.collector).finish_non_exhaustive()
    }
}

/// Names the span of a call after the tool, which wasn't known yet when the span began; the layer
/// takes a name at the beginning only.
fn name(span: &mut SpanData) {
    if span.name == CALL
        && let Some(tool) = span.attributes.iter().find(|it| it.key.as_str() == "tool")
    {
        span.name = tool.value.as_str().into_owned().into();
    }
}

/// Cuts texts that are too long.
fn shorten(span: &mut SpanData) {
    if let Some(short) = cut(&span.name) {
        span.name = short.into();
    }
    for attribute in &mut span.attributes {
        if let Value::String(text) = &attribute.value
            && let Some(short) = cut(text.as_str())
        {
            attribute.value = short.into();
        }
    }
}

/// The beginning of a text that is too long.
fn cut(text: &str) -> Option<String> {
    let end = text.floor_char_boundary(LONGEST_TEXT);
    let head = text.get(..end).filter(|head| head.len() < text.len())?;
    Some(format!("{head}…"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_cut_between_characters() {
        assert_eq!(cut(""), None);
        assert_eq!(cut(&"a".repeat(LONGEST_TEXT)), None);
        assert_eq!(cut(&"a".repeat(300)).unwrap(), "a".repeat(LONGEST_TEXT) + "…");
        assert_eq!(cut(&"€".repeat(300)).unwrap(), "€".repeat(85) + "…");
    }

    #[test]
    fn what_is_secret_in_an_address_is_not_told() {
        let trouble = Trouble::with(&Uri::from_static("https://user:pass@host:1/path?key=v"));
        assert_eq!(trouble.collector, "https://host:1");
    }
}
