//! Jepsen's EDN, as Elle checks it: list-append and rw-register histories.
//!
//! ```text
//! {:type :invoke, :f :txn, :process 0, :index 0, :value [[:append 5 1] [:r 5 nil]]}
//! {:type :ok,     :f :txn, :process 0, :index 1, :value [[:append 5 1] [:r 5 [1]]]}
//! ```
//! One map after another or one vector of all, records (`#jepsen.history.Op{…}`) or plain maps. Operations of
//! processes that are not numbers, such as the nemesis, and values that are not vectors of micro-operations are not
//! transactions and are passed over.
//!
//! A process is a session; one that crashed is a new session if it goes on, and an operation without a process is a
//! session of its own. `:ok` is committed with what the
//! completion says. Of `:fail` and `:info` only the writes that were asked for are known: rolled back, or nobody
//! knows. Invocations give times, in units of `:index` (or of the place in the file).
//!
//! A list read `[:r k [1 2 3]]` is a read of its last element, and the longest list of a key is its version order.
//! What lists say beyond that becomes a finding: two lists of which neither starts with the other, an element seen
//! twice, an element inside a list that nobody appended or whose transaction failed. A list that ends with what the
//! transaction itself appended also tells which version lies beneath: an observation.

mod edn;
mod entries;
mod lists;
mod read;
mod write;

pub(crate) use read::read;
pub(crate) use write::write;
