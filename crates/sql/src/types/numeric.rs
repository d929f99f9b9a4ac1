//! Exact numbers.

/// A numeric of any precision, NaN and infinities included.
#[derive(Clone, Debug)]
pub struct Numeric;
