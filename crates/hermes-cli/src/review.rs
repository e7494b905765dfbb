//! The model that looks at commands in smart mode.

use hermes_registry::Settings;
use hermes_tools::approvals::ApprovalsBuilder;

#[cfg(feature = "smart")]
use hermes_approval::ChatModel as Model;
#[cfg(not(feature = "smart"))]
use left_out::Model;

/// The model that the settings name, or why there is none.
fn model(settings: &Settings) -> Result<Model, String> {
    #[cfg(feature = "smart")]
    let client = hermes_net::Client::of(settings).build();
    #[cfg(not(feature = "smart"))]
    let client = ();
    Model::of(settings, client)
}

/// Lends the model to the gate, or says why there is none.
pub(crate) fn lend(gate: ApprovalsBuilder, settings: &Settings) -> ApprovalsBuilder {
    match model(settings) {
        Ok(model) => gate.reviewer(std::sync::Arc::new(model)),
        Err(why) => gate.without_reviewer(why),
    }
}

/// Why smart mode has no model, if it has none.
pub(crate) fn problem(settings: &Settings) -> Option<String> {
    let why = model(settings).err()?;
    Some(format!("approvals.mode is `smart`, but a person decides: {why}"))
}

#[cfg(not(feature = "smart"))]
mod left_out {
    use hermes_registry::Settings;
    use hermes_tools::approvals::{ReviewRequest, Reviewer, ReviewerFuture};

    /// There is none.
    pub(super) enum Model {}

    impl Model {
        pub(super) fn of(_: &Settings, (): ()) -> Result<Self, String> {
            Err("this program was built without the feature `smart`".to_owned())
        }
    }

    impl Reviewer for Model {
        fn review<'a>(&'a self, _: &'a ReviewRequest) -> ReviewerFuture<'a> {
            match *self {}
        }
    }
}
