//! Parts of JSON values, and values made of others: what the operators of jsonb do.

use super::Json;
use crate::error::{Result, SqlError, SqlState};

/// The place in an array that an index means; negative ones count from the end.
pub fn place(index: i64, length: usize) -> Option<usize> {
    let length = length as i64;
    let at = if index < 0 { index + length } else { index };
    (0..length).contains(&at).then_some(at as usize)
}

/// A step of a path as an index of an array.
pub fn index(step: &str) -> Option<i64> {
    step.trim_ascii_start().parse::<i32>().ok().map(i64::from)
}

impl Json {
    /// `-> 'key'`
    pub fn field(&self, key: &str) -> Option<&Json> {
        match self {
            Json::Object(entries) => {
                let found = entries.binary_search_by(|entry| super::order::compare_keys(&entry.0, key));
                found.ok().map(|at| &entries[at].1)
            }
            _ => None,
        }
    }

    /// `-> 1`: counted from zero, or from the end if negative.
    pub fn item(&self, index: i64) -> Option<&Json> {
        match self {
            Json::Array(items) => place(index, items.len()).map(|at| &items[at]),
            _ => None,
        }
    }

    /// `#>`
    pub fn path(&self, path: &[&str]) -> Option<&Json> {
        path.iter().try_fold(self, |value, step| match value {
            Json::Object(_) => value.field(step),
            Json::Array(_) => value.item(index(step)?),
            _ => None,
        })
    }

    /// `?`: a key of an object, a string of an array, or that string itself.
    pub fn has_key(&self, key: &str) -> bool {
        match self {
            Json::Object(_) => self.field(key).is_some(),
            Json::Array(items) => items.iter().any(|item| matches!(item, Json::String(text) if text == key)),
            Json::String(text) => text == key,
            _ => false,
        }
    }

    /// `@>`
    pub fn contains(&self, other: &Json) -> bool {
        match (self, other) {
            // An array may contain a scalar by itself, but only at the top.
            (Json::Array(items), scalar) if scalar.is_scalar() => items.contains(scalar),
            _ => self.contains_inner(other),
        }
    }

    fn contains_inner(&self, other: &Json) -> bool {
        match (self, other) {
            (Json::Object(_), Json::Object(wanted)) => {
                wanted.iter().all(|(key, value)| self.field(key).is_some_and(|found| found.contains_inner(value)))
            }
            (Json::Array(items), Json::Array(wanted)) => {
                wanted.iter().all(|value| items.iter().any(|item| item.contains_inner(value)))
            }
            (left, right) if left.is_scalar() && right.is_scalar() => left == right,
            _ => false,
        }
    }

    /// `||`
    pub fn concat(&self, other: &Json) -> Json {
        let listed = |json: &Json| match json {
            Json::Array(items) => items.clone(),
            single => vec![single.clone()],
        };
        match (self, other) {
            (Json::Object(left), Json::Object(right)) => Json::object(left.iter().chain(right).cloned().collect()),
            (left, right) => {
                let mut items = listed(left);
                items.extend(listed(right));
                Json::Array(items)
            }
        }
    }

    /// `- 'key'`: without this key of an object, or these strings of an array.
    pub fn without_key(&self, key: &str) -> Result<Json> {
        match self {
            Json::Object(entries) => Ok(Json::Object(entries.iter().filter(|entry| entry.0 != key).cloned().collect())),
            Json::Array(items) => {
                let kept = items.iter().filter(|item| !matches!(item, Json::String(text) if text == key));
                Ok(Json::Array(kept.cloned().collect()))
            }
            _ => Err(invalid("cannot delete from scalar")),
        }
    }

    /// `- 1`: without this item of an array.
    pub fn without_item(&self, index: i64) -> Result<Json> {
        match self {
            Json::Array(items) => {
                let gone = place(index, items.len());
                let kept = items.iter().enumerate().filter(|(at, _)| Some(*at) != gone);
                Ok(Json::Array(kept.map(|(_, item)| item.clone()).collect()))
            }
            Json::Object(_) => Err(invalid("cannot delete from object using integer index")),
            _ => Err(invalid("cannot delete from scalar")),
        }
    }

    /// `#-`
    pub fn without_path(&self, path: &[&str]) -> Result<Json> {
        if self.is_scalar() {
            return Err(invalid("cannot delete path in scalar"));
        }
        let mut copy = self.clone();
        if !path.is_empty() {
            copy.edit(path, 0, &Edit::Delete)?;
        }
        Ok(copy)
    }

    /// `jsonb_set`
    pub fn set(&self, path: &[&str], value: Json, create: bool) -> Result<Json> {
        if self.is_scalar() {
            return Err(invalid("cannot set path in scalar"));
        }
        let mut copy = self.clone();
        if !path.is_empty() && !matches!(&copy, empty if empty.is_empty() && !create) {
            copy.edit(path, 0, &Edit::Set { value, create })?;
        }
        Ok(copy)
    }

    /// `jsonb_insert`
    pub fn insert(&self, path: &[&str], value: Json, after: bool) -> Result<Json> {
        if self.is_scalar() {
            return Err(invalid("cannot set path in scalar"));
        }
        let mut copy = self.clone();
        if !path.is_empty() {
            copy.edit(path, 0, &Edit::Insert { value, after })?;
        }
        Ok(copy)
    }

    /// `jsonb_strip_nulls`: without fields that are null.
    pub fn strip_nulls(&self) -> Json {
        match self {
            Json::Object(entries) => {
                let kept = entries.iter().filter(|entry| !matches!(entry.1, Json::Null));
                Json::Object(kept.map(|(key, value)| (key.clone(), value.strip_nulls())).collect())
            }
            Json::Array(items) => Json::Array(items.iter().map(Json::strip_nulls).collect()),
            scalar => scalar.clone(),
        }
    }

    fn is_empty(&self) -> bool {
        match self {
            Json::Array(items) => items.is_empty(),
            Json::Object(entries) => entries.is_empty(),
            _ => false,
        }
    }

    fn edit(&mut self, path: &[&str], depth: usize, edit: &Edit) -> Result<()> {
        let step = path[depth];
        let last = depth + 1 == path.len();
        match self {
            Json::Object(entries) => {
                let found = entries.binary_search_by(|entry| super::order::compare_keys(&entry.0, step));
                match (found, edit) {
                    (Ok(at), _) if !last => entries[at].1.edit(path, depth + 1, edit)?,
                    (Ok(at), Edit::Delete) => drop(entries.remove(at)),
                    (Ok(at), Edit::Set { value, .. }) => entries[at].1 = value.clone(),
                    (Ok(_), Edit::Insert { .. }) => {
                        return Err(invalid("cannot replace existing key")
                            .hint("Try using the function jsonb_set to replace key value."));
                    }
                    (Err(at), Edit::Set { value, create: true } | Edit::Insert { value, .. }) if last => {
                        entries.insert(at, (step.to_owned(), value.clone()));
                    }
                    (Err(_), _) => {}
                }
            }
            Json::Array(items) => {
                let wanted = index(step).ok_or_else(|| {
                    SqlError::new(
                        SqlState::INVALID_TEXT_REPRESENTATION,
                        format!("path element at position {} is not an integer: \"{step}\"", depth + 1),
                    )
                })?;
                match (place(wanted, items.len()), edit) {
                    (Some(at), _) if !last => items[at].edit(path, depth + 1, edit)?,
                    (Some(at), Edit::Delete) => drop(items.remove(at)),
                    (Some(at), Edit::Set { value, .. }) => items[at] = value.clone(),
                    (Some(at), Edit::Insert { value, after }) => items.insert(at + usize::from(*after), value.clone()),
                    (None, Edit::Set { value, create: true } | Edit::Insert { value, .. }) if last => {
                        let at = if wanted < 0 { 0 } else { items.len() };
                        items.insert(at, value.clone());
                    }
                    (None, _) => {}
                }
            }
            _ => {}
        }
        Ok(())
    }
}

/// What happens at the end of a path.
enum Edit {
    Delete,
    Set { value: Json, create: bool },
    Insert { value: Json, after: bool },
}

fn invalid(message: &str) -> SqlError {
    SqlError::new(SqlState::INVALID_PARAMETER_VALUE, message)
}
