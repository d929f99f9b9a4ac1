//! Applications on a key-value store, each with an assertion that holds in every serializable run and not in every
//! causal one: those of MonkeyDB (Biswas, Kakwani, Vedurada, Enea, Lal, OOPSLA 2021, §7).
//!
//! In reading order:
//! - [`cart`]: a shopping cart, and an item that comes back
//! - [`courseware`]: courses with a capacity, too many students in one, and students in a course that is gone
//! - [`twitter`]: tweets, and one that was seen and is missing
//! - [`stack`]: a stack on compare-and-set, and an element that is popped twice
//! - [`assertions`]: all of them in a list
//!
//! Each file has the application first: plain functions that run transactions of a session. Then come a workload of
//! three clients with three operations each, what must not be seen in it, and both together as the body of a test:
//!
//! ```
//! use skew_examples::stack;
//! use skew_model::Level;
//! use skew_store::{Config, run, strategies::Random};
//!
//! # std::panic::set_hook(Box::new(|_| {}));
//! let at = |level, seed| run(&Config::new(level), Box::new(Random::new(seed)), stack::no_element_is_popped_twice);
//! assert!((0..100).all(|seed| at(Level::Ser, seed).failure.is_none()));
//! assert!((0..100).any(|seed| at(Level::Cc, seed).failure.is_some()));
//! ```

pub mod assertions;
pub mod cart;
pub mod courseware;
pub mod stack;
pub mod twitter;

/// How often an operation is tried before it gives up. Only levels that refuse conflicting transactions make it try
/// more than once; there, an attempt succeeds as soon as it reads nothing stale.
pub const ATTEMPTS: usize = 10_000;

/// Why a workload does not expect its operations to fail.
const RETRIED: &str = "an operation that is tried often enough gets through";
