//! Messages that the provider's own client sends and ours doesn't.

use prost::Message;

#[derive(Clone, PartialEq, Message)]
pub(crate) struct EnvironmentGetOrCreateRequest {
    #[prost(string, tag = "1")]
    pub(crate) deployment_name: String,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct EnvironmentGetOrCreateResponse {
    #[prost(string, tag = "1")]
    pub(crate) environment_id: String,
    #[prost(message, optional, tag = "2")]
    pub(crate) metadata: Option<EnvironmentMetadata>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct EnvironmentMetadata {
    #[prost(string, tag = "1")]
    pub(crate) name: String,
    #[prost(message, optional, tag = "2")]
    pub(crate) settings: Option<EnvironmentSettings>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct EnvironmentSettings {
    #[prost(string, tag = "1")]
    pub(crate) image_builder_version: String,
}
