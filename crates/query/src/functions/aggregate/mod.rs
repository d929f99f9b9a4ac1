//! Aggregates: what each one is, and the state that it keeps.

pub(super) mod basic;
pub(super) mod collect;
pub(super) mod extreme;
pub(super) mod ordered;
pub(super) mod regression;
pub(super) mod sum;
pub(super) mod variance;
