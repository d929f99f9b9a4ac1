//! What is done with bound statements besides planning and running them. The statements themselves are
//! [`crate::catalog::tree`], because objects of the catalog keep them.
//!
//! In reading order:
//! - [`stored`]: what a stored expression or query uses; [`current`] brings it up to date with the catalog
//! - [`walk`]: the parts of expressions and plans; `below`: plans and tables below a plan; [`outward`]: columns of queries
//!   around
//! - [`same`]: whether two expressions are the same; [`volatility`]: how much an expression depends on the world
//! - [`print`](mod@print): bound statements as text for people

mod below;
pub mod current;
pub mod outward;
pub mod print;
pub mod same;
pub mod stored;
pub mod volatility;
pub mod walk;

pub use crate::catalog::tree::*;
pub use below::{TableUse, children, subplans};
