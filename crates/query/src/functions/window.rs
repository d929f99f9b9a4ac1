//! Window functions that are not aggregates: what they take and return. The executor knows what they do.

use crate::functions::define::window;
use crate::functions::kinds::ANYCOMPATIBLE;
use crate::functions::{Function, WindowFunction as W};
use crate::types::Type as T;

/// The functions.
pub(super) static FUNCTIONS: &[Function] = &[
    window("row_number", &[], T::INT8, W::RowNumber),
    window("rank", &[], T::INT8, W::Rank),
    window("dense_rank", &[], T::INT8, W::DenseRank),
    window("percent_rank", &[], T::FLOAT8, W::PercentRank),
    window("cume_dist", &[], T::FLOAT8, W::CumeDist),
    window("ntile", &[T::INT4], T::INT4, W::Ntile),
    window("lag", &[T::ANYELEMENT], T::ANYELEMENT, W::Lag),
    window("lag", &[T::ANYELEMENT, T::INT4], T::ANYELEMENT, W::Lag),
    window("lag", &[ANYCOMPATIBLE, T::INT4, ANYCOMPATIBLE], ANYCOMPATIBLE, W::Lag),
    window("lead", &[T::ANYELEMENT], T::ANYELEMENT, W::Lead),
    window("lead", &[T::ANYELEMENT, T::INT4], T::ANYELEMENT, W::Lead),
    window("lead", &[ANYCOMPATIBLE, T::INT4, ANYCOMPATIBLE], ANYCOMPATIBLE, W::Lead),
    window("first_value", &[T::ANYELEMENT], T::ANYELEMENT, W::FirstValue),
    window("last_value", &[T::ANYELEMENT], T::ANYELEMENT, W::LastValue),
    window("nth_value", &[T::ANYELEMENT, T::INT4], T::ANYELEMENT, W::NthValue),
];
