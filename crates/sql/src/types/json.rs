//! JSON values.

/// A JSON value.
#[derive(Clone, Debug)]
pub struct Json;
