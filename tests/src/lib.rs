//! hermes-tests
