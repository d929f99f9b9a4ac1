//! Programs to verdicts: what can be said about every run of an application's transactions, whatever their number,
//! without running them.
//!
//! In reading order:
//! - [`ir`]: the language of analyses: programs as trees of blocks of accesses, and what they mean
//! - [`lower`]: from PL/pgSQL and the schema to that language
//! - [`summary`]: what each way through a procedure reads and writes
//! - [`graph`]: dependencies between ways, and the cycles that a level allows
//! - [`lemmas`]: why the graph leaves out what it leaves out
//! - [`robust`]: whether every run is serializable at a level
//! - [`suspect`]: calls that may not be serializable together
//! - [`confirm`]: a suspect as a run that is executed
//! - [`certificate`]: what shows that a level is robust, and a checker that shares nothing with what found it

pub mod certificate;
pub mod confirm;
pub mod graph;
pub mod ir;
pub mod lemmas;
pub mod lower;
pub mod robust;
pub mod smt;
pub mod summary;
pub mod suspect;
