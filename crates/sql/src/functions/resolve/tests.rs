//! Calls in, the chosen overload out.
