//! hermes-config
