//! The order of jsonb values, and bytes that compare like it.
//!
//! Kinds in the order null, string, number, boolean, array, object; containers by how many items they have, then item by
//! item. An empty array that is the whole value comes before everything: PostgreSQL has it so, and indexes depend on it.

use std::cmp::Ordering;

use super::Json;
use crate::encode::{encode_bytes, encode_numeric};

impl Ord for Json {
    fn cmp(&self, other: &Json) -> Ordering {
        self.is_empty_array().cmp(&other.is_empty_array()).reverse().then_with(|| compare(self, other))
    }
}

impl PartialOrd for Json {
    fn partial_cmp(&self, other: &Json) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Json {
    fn eq(&self, other: &Json) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Json {}

/// The order in which an object keeps its keys: short ones first.
pub(super) fn compare_keys(left: &str, right: &str) -> Ordering {
    left.len().cmp(&right.len()).then_with(|| left.cmp(right))
}

fn compare(left: &Json, right: &Json) -> Ordering {
    match (left, right) {
        (Json::Bool(left), Json::Bool(right)) => left.cmp(right),
        (Json::Number(left), Json::Number(right)) => left.cmp(right),
        (Json::String(left), Json::String(right)) => left.cmp(right),
        (Json::Array(left), Json::Array(right)) => left.len().cmp(&right.len()).then_with(|| {
            let mut pairs = left.iter().zip(right).map(|(left, right)| compare(left, right));
            pairs.find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
        }),
        (Json::Object(left), Json::Object(right)) => left.len().cmp(&right.len()).then_with(|| {
            let entry = |(left, right): (&(String, Json), &(String, Json))| {
                left.0.cmp(&right.0).then_with(|| compare(&left.1, &right.1))
            };
            left.iter().zip(right).map(entry).find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
        }),
        _ => left.rank().cmp(&right.rank()),
    }
}

impl Json {
    fn is_empty_array(&self) -> bool {
        matches!(self, Json::Array(items) if items.is_empty())
    }

    fn rank(&self) -> u8 {
        match self {
            Json::Null => 1,
            Json::String(_) => 2,
            Json::Number(_) => 3,
            Json::Bool(_) => 4,
            Json::Array(_) => 5,
            Json::Object(_) => 6,
        }
    }

    /// Adds bytes that compare as values do.
    pub fn encode(&self, out: &mut Vec<u8>) {
        if self.is_empty_array() {
            return out.push(0);
        }
        self.encode_inner(out);
    }

    fn encode_inner(&self, out: &mut Vec<u8>) {
        out.push(self.rank());
        match self {
            Json::Null => {}
            Json::Bool(value) => out.push(u8::from(*value)),
            Json::Number(number) => encode_numeric(out, number),
            Json::String(text) => encode_bytes(out, text.as_bytes()),
            Json::Array(items) => {
                out.extend_from_slice(&(items.len() as u32).to_be_bytes());
                items.iter().for_each(|item| item.encode_inner(out));
            }
            Json::Object(entries) => {
                out.extend_from_slice(&(entries.len() as u32).to_be_bytes());
                for (key, value) in entries {
                    encode_bytes(out, key.as_bytes());
                    value.encode_inner(out);
                }
            }
        }
    }
}
