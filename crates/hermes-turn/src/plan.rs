//! Which calls of a batch may run beside each other.
