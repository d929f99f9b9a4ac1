//! Changes.
