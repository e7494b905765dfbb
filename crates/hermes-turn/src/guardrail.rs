//! Noticing a model that goes round in circles.
