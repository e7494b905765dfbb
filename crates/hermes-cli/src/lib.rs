//! hermes-cli
