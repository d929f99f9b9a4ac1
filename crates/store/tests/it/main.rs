//! Tests of the store.

mod completeness;
mod exactness;
mod programs;
mod soundness;
