//! The library as its users see it.

mod exploring;
mod fresh_process;
mod library;
mod messages;
mod programs;
mod runtimes;
