//! The language servers that the program lends to tools which write files.
//!
//! `hermes exec` has them: one start serves all calls. `hermes call` has them on demand only, since
//! a single call would wait for seconds and throw the server away.

#[cfg(not(feature = "lsp"))]
pub(crate) use left_out::LanguageServers;
#[cfg(feature = "lsp")]
pub(crate) use lent::LanguageServers;

#[cfg(feature = "lsp")]
mod lent {
    use std::sync::Arc;

    use hermes_lint::Diagnostics;
    use hermes_lsp::LspConfig;
    use hermes_registry::{Services, Settings};

    use crate::cli::Call;

    /// Ends all servers when it is dropped, whoever else still holds the service: a call that was
    /// given up may hold a thread, and that thread its services.
    pub(crate) struct LanguageServers(Option<Arc<hermes_lsp::LanguageServers>>);

    impl LanguageServers {
        /// What the settings allow, if servers are wanted at all. None is started yet.
        pub(crate) fn of(settings: &Settings, wanted: bool) -> Self {
            let config = wanted.then(|| LspConfig::of(settings)).filter(|config| config.enabled);
            Self(config.map(|config| Arc::new(hermes_lsp::LanguageServers::new(config))))
        }

        pub(crate) fn wanted_by(call: &Call) -> bool {
            call.lsp
        }

        pub(crate) fn lend(&self, services: Services) -> Services {
            match &self.0 {
                Some(servers) => services.with::<dyn Diagnostics>(Arc::clone(servers) as _),
                None => services,
            }
        }
    }

    impl Drop for LanguageServers {
        fn drop(&mut self) {
            if let Some(servers) = &self.0 {
                servers.close();
            }
        }
    }
}

#[cfg(not(feature = "lsp"))]
mod left_out {
    use hermes_registry::{Services, Settings};

    use crate::cli::Call;

    /// None.
    pub(crate) struct LanguageServers;

    impl LanguageServers {
        pub(crate) fn of(_settings: &Settings, _wanted: bool) -> Self {
            Self
        }

        pub(crate) fn wanted_by(_call: &Call) -> bool {
            false
        }

        pub(crate) fn lend(&self, services: Services) -> Services {
            services
        }
    }
}
