//! Bringing a transaction's catalog together with what others have committed meanwhile.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::catalog::Catalog;

/// What `own` changed since `base`, applied to `now`.
pub fn merge(base: &Arc<Catalog>, own: Arc<Catalog>, now: &Arc<Catalog>) -> Arc<Catalog> {
    if Arc::ptr_eq(base, now) {
        return own;
    }
    let mut merged = Catalog::clone(now);
    merge_map(&base.schemas, &own.schemas, &mut merged.schemas, Arc::ptr_eq);
    merge_map(&base.relations, &own.relations, &mut merged.relations, Arc::ptr_eq);
    merge_map(&base.types, &own.types, &mut merged.types, Arc::ptr_eq);
    merge_map(&base.functions, &own.functions, &mut merged.functions, Arc::ptr_eq);
    merge_map(&base.collations, &own.collations, &mut merged.collations, Arc::ptr_eq);
    merge_map(&base.extensions, &own.extensions, &mut merged.extensions, Arc::ptr_eq);
    merge_map(&base.comments, &own.comments, &mut merged.comments, |one, two| one == two);
    merged.relation_names =
        merged.relations.values().map(|relation| ((relation.schema, relation.name.clone()), relation.oid)).collect();
    merged.touch();
    Arc::new(merged)
}

fn merge_map<K: Ord + Clone, V: Clone>(
    base: &BTreeMap<K, V>,
    own: &BTreeMap<K, V>,
    now: &mut BTreeMap<K, V>,
    same: impl Fn(&V, &V) -> bool,
) {
    for key in base.keys().filter(|key| !own.contains_key(key)) {
        now.remove(key);
    }
    for (key, value) in own {
        if !base.get(key).is_some_and(|before| same(before, value)) {
            now.insert(key.clone(), value.clone());
        }
    }
}
