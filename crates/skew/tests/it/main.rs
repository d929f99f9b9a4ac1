//! The library as its users see it.

mod exploring;
mod fresh_process;
mod messages;
mod programs;
mod runtimes;
