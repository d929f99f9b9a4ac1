//! One module for each command.

pub(crate) mod certify;
pub(crate) mod check;
pub(crate) mod completions;
pub(crate) mod convert;
pub(crate) mod explain;
pub(crate) mod explore;
pub(crate) mod man;
pub(crate) mod merge;
pub(crate) mod replay;
pub(crate) mod robust;
pub(crate) mod serve;
pub(crate) mod test;
