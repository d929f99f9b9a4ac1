//! Who writes each key, chain by chain: the newest writer of a key in a chain, up to a place, is a binary search.

use crate::base::Chains;
use crate::facts::{Facts, Node};

/// The writers of every key, grouped by chain.
#[derive(Clone)]
pub(crate) struct Writers {
    /// For each key, where its groups start.
    key_groups: Vec<u32>,
    groups: Vec<Group>,
    /// The places of the writers in their chains, ascending within a group.
    places: Vec<u32>,
}

#[derive(Clone, Copy)]
pub(crate) struct Group {
    pub chain: u32,
    start: u32,
}

impl Writers {
    /// `txn_of` gives the transaction whose commit a chain member is, if it is one.
    pub(crate) fn new(facts: &Facts, chains: &Chains, txn_of: impl Fn(u32) -> Option<Node>) -> Self {
        let keys = facts.key_count();
        let mut starts = vec![0u32; keys + 1];
        for node in 1..facts.len() as Node {
            for &key in facts.writes(node) {
                starts[key as usize + 1] += 1;
            }
        }
        for at in 1..=keys {
            starts[at] += starts[at - 1];
        }
        let mut writers =
            Writers { key_groups: vec![0; keys + 1], groups: Vec::new(), places: vec![0; facts.write_count()] };
        // Chain after chain, so that each key's writers end up grouped and ascending.
        let mut next = starts.clone();
        let mut chain_of = vec![0u32; facts.write_count()];
        for (chain, members) in chains.members.iter().enumerate() {
            for &member in members {
                let Some(node) = txn_of(member) else { continue };
                for &key in facts.writes(node) {
                    let at = &mut next[key as usize];
                    writers.places[*at as usize] = chains.place[member as usize];
                    chain_of[*at as usize] = chain as u32;
                    *at += 1;
                }
            }
        }
        for key in 0..keys {
            let mut before = u32::MAX;
            for at in starts[key]..starts[key + 1] {
                let chain = chain_of[at as usize];
                if chain != before {
                    writers.groups.push(Group { chain, start: at });
                    before = chain;
                }
            }
            writers.key_groups[key + 1] = writers.groups.len() as u32;
        }
        writers.groups.push(Group { chain: u32::MAX, start: facts.write_count() as u32 });
        writers
    }

    /// The groups of a key, as a range of group numbers.
    #[inline]
    pub(crate) fn groups(&self, key: u32) -> std::ops::Range<usize> {
        self.key_groups[key as usize] as usize..self.key_groups[key as usize + 1] as usize
    }

    /// The chain of a group.
    #[inline]
    pub(crate) fn chain(&self, group: usize) -> u32 {
        self.groups[group].chain
    }

    /// The places of a group's writers, ascending.
    #[inline]
    pub(crate) fn places(&self, group: usize) -> &[u32] {
        &self.places[self.groups[group].start as usize..self.groups[group + 1].start as usize]
    }

    /// The last place of a group that is at most `limit`, or 0.
    #[inline]
    pub(crate) fn last_up_to(&self, group: usize, limit: u32) -> u32 {
        let places = self.places(group);
        if places[0] > limit {
            return 0;
        }
        let last = places[places.len() - 1];
        if last <= limit {
            return last;
        }
        places[places.partition_point(|&place| place <= limit) - 1]
    }
}
