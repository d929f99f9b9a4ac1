//! The front doors of the weak database.
