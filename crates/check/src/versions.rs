//! What the recorder knew about the order of versions.

use skew_model::{History, Key, Value};

use crate::facts::Node;
use crate::values::{Found, WrittenValues};

/// What the recorder knew about the order of a key's versions.
pub(crate) struct VersionOrder {
    pub key: u32,
    /// Writers, oldest first.
    pub known: Vec<Node>,
    /// Writers that the order does not mention: they come after all that it does. Those of a value that several
    /// transactions wrote are in neither list.
    pub later: Vec<Node>,
}

impl VersionOrder {
    /// Whether one writer's version is older than another's.
    pub(crate) fn has(&self, older: Node, newer: Node) -> bool {
        let place = |node: Node| self.known.iter().position(|&other| other == node);
        match (place(older), place(newer)) {
            (Some(older), Some(newer)) => older < newer,
            (Some(_), None) => self.later.contains(&newer),
            (None, _) => false,
        }
    }
}

/// The values of known version orders that several transactions wrote.
pub(crate) fn ambiguous_versions(history: &History) -> Vec<(Key, Value)> {
    let keys = history.ordered_keys();
    if keys.is_empty() {
        return Vec::new();
    }
    let values = WrittenValues::of(history);
    let versions = keys.iter().flat_map(|&key| {
        let order = history.version_order(key).unwrap_or_default();
        order.iter().map(move |&value| (key, value))
    });
    versions.filter(|&(key, value)| values.find(history, key, value) == Found::Several).collect()
}
