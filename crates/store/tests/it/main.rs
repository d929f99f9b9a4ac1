//! Tests of the store.

mod exactness;
mod programs;
mod soundness;
