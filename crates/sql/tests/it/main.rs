//! SQL text in, result text out.

mod queries;
