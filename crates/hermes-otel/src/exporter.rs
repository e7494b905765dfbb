//! From spans of `tracing` to batches.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use hermes_registry::Settings;
use opentelemetry::trace::TracerProvider as _;
use opentelemetry::{InstrumentationScope, KeyValue};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::resource::TelemetryResourceDetector;
use opentelemetry_sdk::trace::{
    BatchConfigBuilder, BatchSpanProcessor, SdkTracerProvider, SpanLimits,
};
use tracing::{Level, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::filter::{FilterFn, LevelFilter};
use tracing_subscriber::registry::LookupSpan;

use crate::config::Config;
use crate::error::OtelError;
use crate::send::{Sender, Trouble};

/// How long [`Exporter::shutdown`] is worth waiting for, at the end of a program that is for people.
pub const PATIENCE: Duration = Duration::from_secs(2);

/// How many finished spans wait for the collector; more are dropped.
const QUEUE: usize = 2048;
/// How many go in one request.
const BATCH: usize = 512;
/// How long they wait at most, while a program runs.
const DELAY: Duration = Duration::from_secs(5);

/// Sends finished spans to a collector, from a thread of its own.
pub struct Exporter {
    provider: SdkTracerProvider,
    trouble: Arc<Trouble>,
}

impl Exporter {
    /// The exporter that the settings ask for; none when they name no endpoint, or switch it off.
    ///
    /// # Errors
    /// A variable that can't be made sense of.
    pub fn from_settings(settings: &Settings) -> Result<Option<Self>, OtelError> {
        Ok(Config::from_settings(settings)?.map(Self::new))
    }

    fn new(config: Config) -> Self {
        let trouble = Arc::new(Trouble::with(&config.endpoint));
        let sender =
            Sender::new(config.endpoint, config.headers, config.timeout, Arc::clone(&trouble));
        // All is set, since what isn't would come from the environment of the process.
        let batches = BatchConfigBuilder::default()
            .with_max_queue_size(QUEUE)
            .with_max_export_batch_size(BATCH)
            .with_scheduled_delay(DELAY)
            .build();
        let processor = BatchSpanProcessor::builder(sender).with_batch_config(batches).build();
        let resource = Resource::builder_empty()
            .with_detector(Box::new(TelemetryResourceDetector))
            .with_attribute(KeyValue::new("service.version", env!("CARGO_PKG_VERSION")))
            .with_attributes(config.attributes)
            .with_service_name(config.service)
            .build();
        let provider = SdkTracerProvider::builder()
            .with_sampler(config.sampler)
            .with_span_limits(SpanLimits::default())
            .with_resource(resource)
            .with_span_processor(processor)
            .build();
        Self { provider, trouble }
    }

    /// A layer that takes our spans, down to debug level, and nothing else: log entries may hold
    /// anything, and so may spans of others.
    pub fn layer<S>(&self) -> impl Layer<S> + Send + Sync + use<S>
    where
        S: Subscriber + for<'span> LookupSpan<'span> + Send + Sync,
    {
        let scope =
            InstrumentationScope::builder("hermes").with_version(env!("CARGO_PKG_VERSION")).build();
        let ours = FilterFn::new(|span| {
            span.is_span() && *span.level() <= Level::DEBUG && span.target().starts_with("hermes")
        });
        tracing_opentelemetry::layer()
            .with_tracer(self.provider.tracer_with_scope(scope))
            // Paths of the machine that it was built on, and numbers of threads.
            .with_location(false)
            .with_threads(false)
            .with_tracked_inactivity(false)
            // Nobody asks OpenTelemetry for the current span here.
            .with_context_activation(false)
            .with_filter(ours.with_max_level_hint(LevelFilter::DEBUG))
    }

    /// Sends what is left and ends the exporter; gives up after `patience`. Spans that finish later
    /// are lost.
    pub fn shutdown(self, patience: Duration) {
        // Requests that fail are no failure of the shutdown; those that don't end are.
        if self.provider.shutdown_with_timeout(patience).is_err() {
            self.trouble.tell("it doesn't answer, and the program ends");
        }
    }
}

impl fmt::Debug for Exporter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Exporter").finish_non_exhaustive()
    }
}
