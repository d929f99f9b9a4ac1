//! SQL text to syntax trees, without knowing what a name means.
//!
//! In reading order:
//! - [`error`]: what goes wrong, with its SQLSTATE
//! - [`budget`]: what a statement is allowed to use: time, memory, stack
//! - [`sort`]: sorting that ends when its statement does
//! - [`parse`]: text → syntax tree, which prints as SQL again; [`quote`]: names and literals as SQL writes them
//! - [`plpgsql`]: the same for bodies of functions

pub mod budget;
pub mod error;
pub mod parse;
pub mod plpgsql;
pub mod quote;
pub mod sort;
