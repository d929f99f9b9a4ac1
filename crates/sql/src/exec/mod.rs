//! IR → rows, over the store.
