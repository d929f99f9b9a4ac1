//! Tables over the store: rows and cells, index entries, locks; what one statement sees.
//!
//! A table is a space of the store. Its rows are ordered by the primary key (or by a hidden number), each with an
//! existence cell and a cell for every column that is not part of that key. The existence cell holds the key's values.
//! An index is a space of entries: the indexed values, then the row, in an order-preserving encoding; an entry that is
//! there leads to a row that may have these values. What does not match is found out by reading the cells, so an entry
//! too many does no harm, and there is never one too few: whoever writes a cell writes its entry in the same transaction.
//!
//! - [`locks`]: who holds what
//! - [`world`]: the statement's view: cache, transaction, settings
//! - [`rows`]: scans, existence and cells
//! - [`write`]: inserting, changing and deleting rows with their index entries
//! - `again`: rows with the key of a deleted one
//! - [`look`]: the committed state, for constraints
//! - `serializable`: what serializable transactions read and write, where Skew does as PostgreSQL does
//! - `ssi`: which of them are refused
//! - `versions`: `xmin` and `xmax`; `same`: when values of a cell are the same
//! - `site`: where bodies stand that have called what runs now
//! - `conflict`: transactions that have to start again, in PostgreSQL's words; `changes`: what parts of a statement keep
//!   from each other

mod again;
mod changes;
pub(crate) mod conflict;
pub mod locks;
pub(crate) mod look;
pub(crate) mod rows;
pub(crate) mod same;
pub(crate) mod serializable;
pub(crate) mod site;
pub(crate) mod ssi;
pub(crate) mod table;
pub(crate) mod versions;
pub(crate) mod world;
pub(crate) mod write;

pub(crate) use world::World;
