//! Values of any type that serde knows, as JSON text under a key.

use serde::Serialize;
use serde::de::DeserializeOwned;
use skew_store::{FromValue, Value};

/// A value that is kept as JSON: `t.write("cart", Json(&cart))`, `let Json(cart) = t.read::<Json<Cart>>("cart")?`.
///
/// ```
/// use skew::{Json, Level};
///
/// skew::check_random(Level::SERIALIZABLE, 10, |db| {
///     db.spawn("alice", |session| {
///         session.transaction(|t| {
///             t.write("prices", Json(vec![1.5, 2.25]))?;
///             let Json(prices) = t.read::<Json<Vec<f64>>>("prices")?;
///             assert_eq!(prices.iter().sum::<f64>(), 3.75);
///             Ok(())
///         })
///     });
/// });
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct Json<T>(pub T);

/// # Panics
/// When the value has no JSON, such as a map whose keys are no texts.
impl<T: Serialize> From<Json<T>> for Value {
    fn from(value: Json<T>) -> Value {
        match serde_json::to_string(&value.0) {
            Ok(text) => Value::from(text),
            Err(error) => panic!("a value that is written as JSON has none: {error}"),
        }
    }
}

impl<T: DeserializeOwned> FromValue for Json<T> {
    const WANTED: &'static str = "JSON of that kind";

    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Text(text) => serde_json::from_str(text).ok().map(Json),
            _ => None,
        }
    }
}
