//! hermes-registry

mod settings;

pub use settings::Settings;
