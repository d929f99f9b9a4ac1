//! `j['a'][1] = value`: assignment to a place within a jsonb, which is made if it is not there.

use super::Json;
use super::access::index;
use super::order::compare_keys;
use crate::error::{Result, SqlError, SqlState};

/// No array is filled up to more elements than this.
const MAX_ELEMENTS: usize = 1 << 22;

impl Json {
    /// The value with another one at this place. Objects and arrays on the way are made, and arrays are filled up with
    /// nulls; a scalar on the way is an error.
    pub fn assign(&self, path: &[&str], value: Json) -> Result<Json> {
        let mut copy = self.clone();
        copy.put(path, 0, value)?;
        Ok(copy)
    }

    fn put(&mut self, path: &[&str], depth: usize, value: Json) -> Result<()> {
        let Some(&step) = path.get(depth) else {
            *self = value;
            return Ok(());
        };
        match self {
            Json::Object(entries) => match entries.binary_search_by(|entry| compare_keys(&entry.0, step)) {
                Ok(at) => entries[at].1.put(path, depth + 1, value),
                Err(at) => {
                    entries.insert(at, (step.to_owned(), made(&path[depth + 1..], value)?));
                    Ok(())
                }
            },
            Json::Array(items) => {
                let at = element(step, depth, items.len())?;
                if let Some(item) = items.get_mut(at) {
                    return item.put(path, depth + 1, value);
                }
                let value = made(&path[depth + 1..], value)?;
                fill(items, at)?;
                items.push(value);
                Ok(())
            }
            _ => Err(SqlError::new(SqlState::INVALID_PARAMETER_VALUE, "cannot replace existing key")
                .detail("The path assumes key is a composite object, but it is a scalar value.")),
        }
    }
}

/// What a path leads through that is not there yet: an array for a number, else an object.
fn made(path: &[&str], value: Json) -> Result<Json> {
    path.iter().rev().try_fold(value, |value, step| match index(step) {
        Some(at) => {
            let mut items = Vec::new();
            fill(&mut items, usize::try_from(at).unwrap_or(0))?;
            items.push(value);
            Ok(Json::Array(items))
        }
        None => Ok(Json::object(vec![((*step).to_owned(), value)])),
    })
}

fn fill(items: &mut Vec<Json>, length: usize) -> Result<()> {
    if length >= MAX_ELEMENTS {
        let message = format!("number of jsonb array elements exceeds the maximum allowed ({MAX_ELEMENTS})");
        return Err(SqlError::with_code("54000", message));
    }
    items.resize_with(length.max(items.len()), || Json::Null);
    Ok(())
}

/// The place of an array that a step means; negative ones count from the end.
fn element(step: &str, depth: usize, length: usize) -> Result<usize> {
    let position = depth + 1;
    let wanted = index(step).ok_or_else(|| {
        let message = format!("path element at position {position} is not an integer: \"{step}\"");
        SqlError::new(SqlState::INVALID_TEXT_REPRESENTATION, message)
    })?;
    let from_start = if wanted < 0 { wanted + i64::try_from(length).unwrap_or(i64::MAX) } else { wanted };
    usize::try_from(from_start).map_err(|_| {
        let message = format!("path element at position {position} is out of range: {wanted}");
        SqlError::new(SqlState::INVALID_PARAMETER_VALUE, message)
    })
}
