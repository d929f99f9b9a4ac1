//! Following a path through a value.
//!
//! In lax mode what is not there is nothing, arrays are taken apart where an object is wanted, and a single value is an array
//! of one where an array is wanted. In strict mode all of these are errors; inside of a condition an error makes it unknown.

use std::cmp::Ordering;

use super::{Arithmetic, Compare, Expr, Method, Path, Step};
use crate::error::{Result, SqlError, SqlState};
use crate::types::json::Json;
use crate::types::numeric::Numeric;

/// Whether a text matches a regular expression with flags (`i`, `s`, `m`, `x`, `q`).
pub type Matches<'a> = &'a dyn Fn(&str, &str, &str) -> Result<bool>;

/// A path with what it needs to run.
pub struct Run<'a> {
    path: &'a Path,
    root: &'a Json,
    variables: &'a Json,
    matches: Matches<'a>,
}

/// Whether the steps to an item include `.**`.
fn goes_through_depths(mut expr: &Expr) -> bool {
    while let Expr::Step(from, step) = expr {
        if matches!(step, Step::Depth { .. }) {
            return true;
        }
        expr = from;
    }
    false
}

/// Whether an item has another form than a step of strict mode wants.
fn is_structural(error: &SqlError) -> bool {
    matches!(error.fields().code.as_str(), "2203A" | "2203C" | "22039" | "22033")
}

/// True, false, or unknown.
type Truth = Option<bool>;

/// What `@` and `last` are.
#[derive(Clone, Copy)]
struct Scope<'a> {
    current: &'a Json,
    last: i64,
}

impl<'a> Run<'a> {
    /// A path through a value, with the variables that an object has.
    pub fn new(path: &'a Path, root: &'a Json, variables: &'a Json, matches: Matches<'a>) -> Run<'a> {
        Run { path, root, variables, matches }
    }

    /// All items that the path finds.
    pub fn query(&self) -> Result<Vec<Json>> {
        if !matches!(self.variables, Json::Object(_)) {
            return Err(SqlError::new(SqlState::INVALID_PARAMETER_VALUE, "\"vars\" argument is not an object")
                .detail("Jsonpath parameters should be encoded as key-value pairs of \"vars\" object."));
        }
        self.items(&self.path.root, Scope { current: self.root, last: -1 })
    }

    /// Whether it finds any.
    pub fn exists(&self) -> Result<bool> {
        self.query().map(|items| !items.is_empty())
    }

    /// What a path that is a condition comes to; `None` is NULL.
    pub fn matches(&self) -> Result<Option<bool>> {
        match &self.query()?[..] {
            [Json::Bool(value)] => Ok(Some(*value)),
            [Json::Null] => Ok(None),
            _ => Err(failure("22038", "single boolean result is expected")),
        }
    }

    fn lax(&self) -> bool {
        !self.path.strict
    }

    fn items(&self, expr: &Expr, scope: Scope<'_>) -> Result<Vec<Json>> {
        Ok(match expr {
            Expr::Root => vec![self.root.clone()],
            Expr::Current => vec![scope.current.clone()],
            Expr::Last => vec![Json::number(scope.last)],
            Expr::Literal(json) => vec![json.clone()],
            Expr::Variable(name) => match self.variables.field(name) {
                Some(value) => vec![value.clone()],
                None => {
                    return Err(SqlError::new(
                        SqlState::UNDEFINED_OBJECT,
                        format!("could not find jsonpath variable \"{name}\""),
                    ));
                }
            },
            Expr::Step(from, step) => {
                let mut found = Vec::new();
                // After `.**` there are items of all forms: those that the step does not fit are passed over.
                let forgives = self.path.strict && goes_through_depths(from);
                for item in self.items(from, scope)? {
                    match self.step(&item, step, scope, &mut found) {
                        Err(error) if forgives && is_structural(&error) => {}
                        done => done?,
                    }
                }
                found
            }
            Expr::Arithmetic(operator, operands) => vec![self.arithmetic(*operator, operands, scope)?],
            Expr::Sign(minus, operand) => {
                let sign = |item: Json| match item {
                    Json::Number(number) if *minus => Ok(Json::Number(number.negate())),
                    Json::Number(number) => Ok(Json::Number(number)),
                    _ => {
                        let symbol = if *minus { '-' } else { '+' };
                        let message = format!("operand of unary jsonpath operator {symbol} is not a numeric value");
                        Err(failure("2203B", message))
                    }
                };
                self.unwrapped(operand, scope)?.into_iter().map(sign).collect::<Result<_>>()?
            }
            condition => vec![match self.truth(condition, scope)? {
                Some(value) => Json::Bool(value),
                None => Json::Null,
            }],
        })
    }

    /// Items, arrays taken apart in lax mode.
    fn unwrapped(&self, expr: &Expr, scope: Scope<'_>) -> Result<Vec<Json>> {
        let items = self.items(expr, scope)?;
        if !self.lax() {
            return Ok(items);
        }
        let apart = |item| match item {
            Json::Array(items) => items,
            single => vec![single],
        };
        Ok(items.into_iter().flat_map(apart).collect())
    }

    fn arithmetic(&self, operator: Arithmetic, operands: &[Expr; 2], scope: Scope<'_>) -> Result<Json> {
        let single = |expr: &Expr, side: &str| -> Result<Numeric> {
            match &self.unwrapped(expr, scope)?[..] {
                [Json::Number(number)] => Ok(number.clone()),
                _ => {
                    let symbol = operator.symbol();
                    let message = format!("{side} operand of jsonpath operator {symbol} is not a single numeric value");
                    Err(failure("22038", message))
                }
            }
        };
        let (left, right) = (single(&operands[0], "left")?, single(&operands[1], "right")?);
        Ok(Json::Number(match operator {
            Arithmetic::Add => left.add(&right)?,
            Arithmetic::Subtract => left.subtract(&right)?,
            Arithmetic::Multiply => left.multiply(&right)?,
            Arithmetic::Divide => left.divide(&right)?,
            Arithmetic::Modulo => left.modulo(&right)?,
        }))
    }

    fn step(&self, item: &Json, step: &Step, scope: Scope<'_>, found: &mut Vec<Json>) -> Result<()> {
        match (step, item) {
            (Step::Key(key), Json::Object(_)) => match item.field(key) {
                Some(value) => found.push(value.clone()),
                None if self.lax() => {}
                None => return Err(failure("2203A", format!("JSON object does not contain key \"{key}\""))),
            },
            (Step::AnyKey, Json::Object(entries)) => found.extend(entries.iter().map(|(_, value)| value.clone())),
            (Step::Key(_) | Step::AnyKey, Json::Array(items)) if self.lax() => {
                for inner in items.iter().filter(|inner| matches!(inner, Json::Object(_))) {
                    self.step(inner, step, scope, found)?;
                }
            }
            (Step::Key(_) | Step::AnyKey, _) if self.lax() => {}
            (Step::Key(_), _) => {
                return Err(failure("2203A", "jsonpath member accessor can only be applied to an object"));
            }
            (Step::AnyKey, _) => {
                return Err(failure("2203C", "jsonpath wildcard member accessor can only be applied to an object"));
            }
            (Step::Depth { from, to }, _) => descend(item, 0, (*from, to.unwrap_or(u32::MAX)), found),
            (Step::AnyItem, Json::Array(items)) => found.extend(items.iter().cloned()),
            (Step::AnyItem, _) if self.lax() => found.push(item.clone()),
            (Step::AnyItem, _) => {
                return Err(failure("22039", "jsonpath wildcard array accessor can only be applied to an array"));
            }
            (Step::Items(ranges), Json::Array(items)) => self.subscripts(items, ranges, scope, found)?,
            (Step::Items(ranges), _) if self.lax() => {
                self.subscripts(std::slice::from_ref(item), ranges, scope, found)?;
            }
            (Step::Items(_), _) => {
                return Err(failure("22039", "jsonpath array accessor can only be applied to an array"));
            }
            (Step::Filter(condition), Json::Array(items)) if self.lax() => {
                for inner in items {
                    self.filter(inner, condition, scope, found)?;
                }
            }
            (Step::Filter(condition), _) => self.filter(item, condition, scope, found)?,
            (Step::Method(method), _) => self.method(item, *method, found)?,
        }
        Ok(())
    }

    fn filter(&self, item: &Json, condition: &Expr, scope: Scope<'_>, found: &mut Vec<Json>) -> Result<()> {
        if self.truth(condition, Scope { current: item, ..scope })? == Some(true) {
            found.push(item.clone());
        }
        Ok(())
    }

    fn subscripts(
        &self,
        items: &[Json],
        ranges: &[(Expr, Option<Expr>)],
        scope: Scope<'_>,
        found: &mut Vec<Json>,
    ) -> Result<()> {
        let scope = Scope { last: items.len() as i64 - 1, ..scope };
        let index = |expr: &Expr| -> Result<i64> {
            match &self.items(expr, scope)?[..] {
                [Json::Number(number)] => number
                    .truncate(0)?
                    .to_integer(i32::MIN.into(), i32::MAX.into(), "integer")
                    .map_err(|_| failure("22033", "jsonpath array subscript is out of integer range")),
                _ => Err(failure("22033", "jsonpath array subscript is not a single numeric value")),
            }
        };
        for (from, to) in ranges {
            let first = index(from)?;
            let last = to.as_ref().map_or(Ok(first), index)?;
            if self.path.strict && (first < 0 || first > last || last >= items.len() as i64) {
                return Err(failure("22033", "jsonpath array subscript is out of bounds"));
            }
            let range = first.max(0)..=last.min(items.len() as i64 - 1);
            found.extend(range.map(|at| items[at as usize].clone()));
        }
        Ok(())
    }

    fn method(&self, item: &Json, method: Method, found: &mut Vec<Json>) -> Result<()> {
        let name = method.name();
        match (method, item) {
            (Method::Type, _) => found.push(Json::String(item.type_name().to_owned())),
            (Method::Size, Json::Array(items)) => found.push(Json::number(items.len() as i64)),
            (Method::Size, _) if self.lax() => found.push(Json::number(1)),
            (Method::Size, _) => {
                return Err(failure("22039", "jsonpath item method .size() can only be applied to an array"));
            }
            (Method::KeyValue, _) => return Err(SqlError::unsupported("jsonpath method .keyvalue()")),
            (_, Json::Array(items)) if self.lax() => {
                for inner in items {
                    self.method(inner, method, found)?;
                }
            }
            (Method::Double, Json::Number(number)) => {
                let value = number.to_f64().map_err(|_| {
                    failure(
                        "22036",
                        "numeric argument of jsonpath item method .double() is out of range for type double precision",
                    )
                })?;
                found.push(Json::Number(Numeric::from_f64(value)));
            }
            (Method::Double, Json::String(text)) => {
                let value = text.trim().parse::<f64>().ok().filter(|value| value.is_finite()).ok_or_else(|| {
                    failure("22036", "string argument of jsonpath item method .double() is not a valid representation of a double precision number")
                })?;
                found.push(Json::Number(Numeric::from_f64(value)));
            }
            (Method::Double, _) => {
                return Err(failure(
                    "22036",
                    "jsonpath item method .double() can only be applied to a string or numeric value",
                ));
            }
            (Method::Ceiling, Json::Number(number)) => found.push(Json::Number(number.ceil()?)),
            (Method::Floor, Json::Number(number)) => found.push(Json::Number(number.floor()?)),
            (Method::Abs, Json::Number(number)) => found.push(Json::Number(number.abs())),
            _ => {
                let message = format!("jsonpath item method .{name}() can only be applied to a numeric value");
                return Err(failure("22036", message));
            }
        }
        Ok(())
    }

    /// A condition. Errors of its parts make it unknown; only what has nothing to do with the data is an error.
    fn truth(&self, expr: &Expr, scope: Scope<'_>) -> Result<Truth> {
        Ok(match expr {
            Expr::And(operands) => match self.truth(&operands[0], scope)? {
                Some(false) => Some(false),
                left => match self.truth(&operands[1], scope)? {
                    Some(true) => left,
                    right => right,
                },
            },
            Expr::Or(operands) => match self.truth(&operands[0], scope)? {
                Some(true) => Some(true),
                left => match self.truth(&operands[1], scope)? {
                    Some(false) => left,
                    right => right,
                },
            },
            Expr::Not(inner) => self.truth(inner, scope)?.map(|value| !value),
            Expr::IsUnknown(inner) => Some(self.truth(inner, scope)?.is_none()),
            Expr::Exists(inner) => self.quiet(self.items(inner, scope))?.map(|items| !items.is_empty()),
            Expr::Compare(operator, operands) => {
                self.any_pair(operands, scope, |left, right| Ok(compare(*operator, left, right)))?
            }
            Expr::StartsWith(operands) => self.any_pair(operands, scope, |left, right| {
                Ok(match (left, right) {
                    (Json::String(text), Json::String(start)) => Some(text.starts_with(start.as_str())),
                    _ => None,
                })
            })?,
            Expr::LikeRegex { text, pattern, flags } => {
                let Some(items) = self.quiet(self.unwrapped(text, scope))? else { return Ok(None) };
                self.any(items.iter().map(|item| match item {
                    Json::String(text) => (self.matches)(pattern, flags, text).map(Some),
                    _ => Ok(None),
                }))?
            }
            other => {
                // A path where a condition is wanted: the parser lets none through.
                let items = self.items(other, scope)?;
                matches!(items[..], [Json::Bool(true)]).then_some(true)
            }
        })
    }

    /// `None` for an error that the data made.
    fn quiet<T>(&self, result: Result<T>) -> Result<Option<T>> {
        match result {
            Ok(value) => Ok(Some(value)),
            Err(error) if is_suppressible(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn any_pair(
        &self,
        operands: &[Expr; 2],
        scope: Scope<'_>,
        holds: impl Fn(&Json, &Json) -> Result<Truth>,
    ) -> Result<Truth> {
        let Some(left) = self.quiet(self.unwrapped(&operands[0], scope))? else { return Ok(None) };
        let Some(right) = self.quiet(self.unwrapped(&operands[1], scope))? else { return Ok(None) };
        self.any(left.iter().flat_map(|left| right.iter().map(|right| holds(left, right)).collect::<Vec<_>>()))
    }

    /// True if any is; in strict mode, unknown if any is.
    fn any(&self, answers: impl Iterator<Item = Result<Truth>>) -> Result<Truth> {
        let (mut found, mut unknown) = (false, false);
        for answer in answers {
            match answer? {
                None if self.path.strict => return Ok(None),
                None => unknown = true,
                Some(true) if self.lax() => return Ok(Some(true)),
                Some(true) => found = true,
                Some(false) => {}
            }
        }
        Ok(if found {
            Some(true)
        } else if unknown {
            None
        } else {
            Some(false)
        })
    }
}

/// Everything that is between these depths, from the top down.
fn descend(item: &Json, depth: u32, (from, to): (u32, u32), found: &mut Vec<Json>) {
    // `last` is where there is nothing below.
    let leaf = item.is_scalar();
    if (from..=to).contains(&depth) || (from == u32::MAX && leaf) {
        found.push(item.clone());
    }
    if depth >= to {
        return;
    }
    match item {
        Json::Array(items) => items.iter().for_each(|item| descend(item, depth + 1, (from, to), found)),
        Json::Object(entries) => entries.iter().for_each(|(_, value)| descend(value, depth + 1, (from, to), found)),
        _ => {}
    }
}

fn compare(operator: Compare, left: &Json, right: &Json) -> Truth {
    let order = match (left, right) {
        (Json::Null, Json::Null) => Ordering::Equal,
        (Json::Null, _) | (_, Json::Null) => return Some(operator == Compare::NotEqual),
        (Json::Bool(left), Json::Bool(right)) => left.cmp(right),
        (Json::Number(left), Json::Number(right)) => left.cmp(right),
        (Json::String(left), Json::String(right)) => left.cmp(right),
        _ => return None,
    };
    Some(match operator {
        Compare::Equal => order.is_eq(),
        Compare::NotEqual => order.is_ne(),
        Compare::Less => order.is_lt(),
        Compare::LessOrEqual => order.is_le(),
        Compare::Greater => order.is_gt(),
        Compare::GreaterOrEqual => order.is_ge(),
    })
}

fn failure(code: &'static str, message: impl Into<String>) -> SqlError {
    SqlError::with_code(code, message)
}

/// Whether an error is about the data, so that `silent` functions and conditions pass over it.
pub fn is_suppressible(error: &SqlError) -> bool {
    let code = error.fields().code.as_str();
    code.starts_with("2203") || matches!(code, "22012" | "22003" | "22007" | "22008")
}
