//! One module for each command; those that need a database are a feature.

#[cfg(feature = "database")]
pub(crate) mod certify;
pub(crate) mod check;
pub(crate) mod completions;
pub(crate) mod convert;
pub(crate) mod explain;
#[cfg(feature = "database")]
pub(crate) mod explore;
pub(crate) mod man;
#[cfg(feature = "database")]
pub(crate) mod merge;
#[cfg(feature = "database")]
pub(crate) mod replay;
#[cfg(feature = "database")]
pub(crate) mod robust;
#[cfg(feature = "database")]
pub(crate) mod serve;
#[cfg(feature = "database")]
pub(crate) mod test;
