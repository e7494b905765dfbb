//! Text that tries to give a model instructions.
