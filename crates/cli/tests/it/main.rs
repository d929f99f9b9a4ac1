//! The binary as its users run it: arguments in, text and exit codes out.

mod answers;
mod bad_input;
mod bad_situations;
mod campaign;
mod cause;
mod closing;
mod examples;
mod explore;
mod fixes;
mod readme;
mod robust;
mod robust_solver;
mod run;
mod schemas;
mod serve;
mod words;
