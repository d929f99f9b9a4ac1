//! The library as its users see it.

mod fresh_process;
mod messages;
mod programs;
mod runtimes;
