//! hermes-tool-file
