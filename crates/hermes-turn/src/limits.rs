//! How long a result may be, and what stands in for a longer one.
