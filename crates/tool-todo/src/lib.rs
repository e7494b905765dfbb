//! hermes-tool-todo
