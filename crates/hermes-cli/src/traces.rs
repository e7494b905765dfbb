//! Traces: spans of calls on their way to the collector that the settings name.
//!
//! The log begins before any command has read its settings, and spans have to be seen from then on;
//! so the variables are read on their own.

use tracing_subscriber::{Layer, Registry};

/// Something that listens to what happens.
pub(crate) type Listener = Box<dyn Layer<Registry> + Send + Sync>;

#[cfg(feature = "otel")]
pub(crate) use exported::Traces;
#[cfg(not(feature = "otel"))]
pub(crate) use left_out::{Traces, asked_for_by};

#[cfg(feature = "otel")]
mod exported {
    use hermes_config::{Options, process_env};
    use hermes_otel::{Exporter, OtelError, PATIENCE};
    use tracing_subscriber::Layer as _;

    use super::Listener;
    use crate::cli::Globals;

    /// The way to the collector; nothing if the settings name none.
    pub(crate) struct Traces(Result<Option<Exporter>, OtelError>);

    impl Traces {
        pub(crate) fn start(globals: &Globals) -> Self {
            let options = Options {
                home: globals.home.clone(),
                profile: globals.profile.clone(),
                env: process_env::read(),
                tolerate_broken: true,
            };
            // What keeps settings from being read is told by the command, which reads them too.
            let settings = hermes_config::environment(options).unwrap_or_default();
            Self(Exporter::from_settings(&settings))
        }

        pub(crate) fn listener(&self) -> Option<Listener> {
            self.0.as_ref().ok()?.as_ref().map(|exporter| exporter.layer().boxed())
        }

        /// Why nothing is exported although somebody wants it.
        pub(crate) fn problem(&self) -> Option<String> {
            self.0.as_ref().err().map(|error| format!("no traces are exported: {error}"))
        }

        /// Sends what is left, unless that takes too long.
        pub(crate) fn end(self) {
            if let Ok(Some(exporter)) = self.0 {
                exporter.shutdown(PATIENCE);
            }
        }
    }
}

#[cfg(not(feature = "otel"))]
mod left_out {
    use hermes_registry::Settings;

    use super::Listener;
    use crate::cli::Globals;

    /// Nothing.
    pub(crate) struct Traces;

    impl Traces {
        pub(crate) fn start(_globals: &Globals) -> Self {
            Self
        }

        pub(crate) fn listener(&self) -> Option<Listener> {
            None
        }

        pub(crate) fn problem(&self) -> Option<String> {
            None
        }

        pub(crate) fn end(self) {}
    }

    /// The variable that names a collector, which gets nothing from this program.
    pub(crate) fn asked_for_by(settings: &Settings) -> Option<&'static str> {
        let endpoints = ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"];
        endpoints.into_iter().find(|variable| settings.env_filled(variable).is_some())
    }
}
