//! hermes-schema
