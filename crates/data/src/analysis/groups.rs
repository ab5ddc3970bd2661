//! Groups of what has something in common.

use std::collections::HashMap;
use std::hash::Hash;

/// Returns the items with the same key together, in the order of their first ones.
pub fn group_by_key<T, K: Clone + Eq + Hash>(
    items: impl IntoIterator<Item = T>,
    key: impl Fn(&T) -> K,
) -> Vec<(K, Vec<T>)> {
    let mut groups: Vec<(K, Vec<T>)> = Vec::new();
    let mut places: HashMap<K, usize> = HashMap::new();
    for item in items {
        let key = key(&item);
        let place = *places.entry(key.clone()).or_insert(groups.len());
        match groups.get_mut(place) {
            Some((_, group)) => group.push(item),
            None => groups.push((key, vec![item])),
        }
    }
    groups
}
