//! Syntax tree → IR, against a catalog.
