//! Text → syntax tree.
