//! hermes-tools
