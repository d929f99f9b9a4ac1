//! Following a path through a value.
//!
//! In lax mode what is not there is nothing, arrays are taken apart where an object is wanted, and a single value is an array
//! of one where an array is wanted. In strict mode all of these are errors; inside of a condition an error makes it unknown.

use std::borrow::Cow;
use std::cmp::Ordering;

use super::{Arithmetic, Compare, Expr, Method, Path, Step};
use crate::budget;
use crate::error::{Result, SqlError, SqlState};
use crate::json::Json;
use crate::numeric::Numeric;

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

/// What a path finds: most items are parts of the value, and are not copied before the end.
type Item<'s> = Cow<'s, Json>;

/// What it takes to look at an item, in units of [`crate::budget`].
const ITEM_WORK: usize = 20;

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
        let found = self.items(&self.path.root, Scope { current: self.root, last: -1 })?;
        found.into_iter().map(|item| budget::step(ITEM_WORK).map(|()| item.into_owned())).collect()
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

    fn items<'s>(&'s self, expr: &'s Expr, scope: Scope<'s>) -> Result<Vec<Item<'s>>> {
        Ok(match expr {
            Expr::Root => vec![Cow::Borrowed(self.root)],
            Expr::Current => vec![Cow::Borrowed(scope.current)],
            Expr::Last => vec![Cow::Owned(Json::number(scope.last))],
            Expr::Literal(json) => vec![Cow::Borrowed(json)],
            Expr::Variable(name) => match self.variables.field(name) {
                Some(value) => vec![Cow::Borrowed(value)],
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
                    let done = match item {
                        Cow::Borrowed(item) => self.step(item, step, scope, &mut found),
                        Cow::Owned(item) => {
                            let mut parts = Vec::new();
                            let done = self.step(&item, step, scope, &mut parts);
                            found.extend(parts.into_iter().map(|part| Cow::Owned(part.into_owned())));
                            done
                        }
                    };
                    match done {
                        Err(error) if forgives && is_structural(&error) => {}
                        done => done?,
                    }
                }
                found
            }
            Expr::Arithmetic(operator, operands) => {
                vec![Cow::Owned(self.arithmetic(*operator, operands, scope)?)]
            }
            Expr::Sign(minus, operand) => {
                let sign = |item: Item<'s>| match &*item {
                    Json::Number(number) if *minus => Ok(Cow::Owned(Json::Number(number.negate()))),
                    Json::Number(_) => Ok(item),
                    _ => {
                        let symbol = if *minus { '-' } else { '+' };
                        let message = format!("operand of unary jsonpath operator {symbol} is not a numeric value");
                        Err(failure("2203B", message))
                    }
                };
                self.unwrapped(operand, scope)?.into_iter().map(sign).collect::<Result<_>>()?
            }
            condition => vec![Cow::Owned(match self.truth(condition, scope)? {
                Some(value) => Json::Bool(value),
                None => Json::Null,
            })],
        })
    }

    /// Items, arrays taken apart in lax mode.
    fn unwrapped<'s>(&'s self, expr: &'s Expr, scope: Scope<'s>) -> Result<Vec<Item<'s>>> {
        let items = self.items(expr, scope)?;
        if !self.lax() {
            return Ok(items);
        }
        let mut apart = Vec::with_capacity(items.len());
        for item in items {
            match item {
                Cow::Borrowed(Json::Array(items)) => {
                    budget::step(items.len())?;
                    apart.extend(items.iter().map(Cow::Borrowed));
                }
                Cow::Owned(Json::Array(items)) => apart.extend(items.into_iter().map(Cow::Owned)),
                single => apart.push(single),
            }
        }
        Ok(apart)
    }

    fn arithmetic<'s>(&'s self, operator: Arithmetic, operands: &'s [Expr; 2], scope: Scope<'s>) -> Result<Json> {
        let number = |expr: &'s Expr, side: &str| -> Result<Numeric> {
            match single(&self.unwrapped(expr, scope)?) {
                Some(Json::Number(number)) => Ok(number.clone()),
                _ => {
                    let symbol = operator.symbol();
                    let message = format!("{side} operand of jsonpath operator {symbol} is not a single numeric value");
                    Err(failure("22038", message))
                }
            }
        };
        let (left, right) = (number(&operands[0], "left")?, number(&operands[1], "right")?);
        Ok(Json::Number(match operator {
            Arithmetic::Add => left.add(&right)?,
            Arithmetic::Subtract => left.subtract(&right)?,
            Arithmetic::Multiply => left.multiply(&right)?,
            Arithmetic::Divide => left.divide(&right)?,
            Arithmetic::Modulo => left.modulo(&right)?,
        }))
    }

    fn step<'s>(&'s self, item: &'s Json, step: &'s Step, scope: Scope<'s>, found: &mut Vec<Item<'s>>) -> Result<()> {
        budget::step(ITEM_WORK)?;
        match (step, item) {
            (Step::Key(key), Json::Object(_)) => match item.field(key) {
                Some(value) => found.push(Cow::Borrowed(value)),
                None if self.lax() => {}
                None => return Err(failure("2203A", format!("JSON object does not contain key \"{key}\""))),
            },
            (Step::AnyKey, Json::Object(entries)) => {
                budget::step(entries.len())?;
                found.extend(entries.iter().map(|(_, value)| Cow::Borrowed(value)));
            }
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
            (Step::Depth { from, to }, _) => descend(item, 0, (*from, to.unwrap_or(u32::MAX)), found)?,
            (Step::AnyItem, Json::Array(items)) => {
                budget::step(items.len())?;
                found.extend(items.iter().map(Cow::Borrowed));
            }
            (Step::AnyItem, _) if self.lax() => found.push(Cow::Borrowed(item)),
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

    fn filter<'s>(
        &'s self,
        item: &'s Json,
        condition: &'s Expr,
        scope: Scope<'s>,
        found: &mut Vec<Item<'s>>,
    ) -> Result<()> {
        budget::step(ITEM_WORK)?;
        if self.truth(condition, Scope { current: item, ..scope })? == Some(true) {
            found.push(Cow::Borrowed(item));
        }
        Ok(())
    }

    fn subscripts<'s>(
        &'s self,
        items: &'s [Json],
        ranges: &'s [(Expr, Option<Expr>)],
        scope: Scope<'s>,
        found: &mut Vec<Item<'s>>,
    ) -> Result<()> {
        let scope = Scope { last: items.len() as i64 - 1, ..scope };
        let index = |expr: &'s Expr| -> Result<i64> {
            match single(&self.items(expr, scope)?) {
                Some(Json::Number(number)) => number
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
            budget::step(range.clone().count())?;
            found.extend(range.map(|at| Cow::Borrowed(&items[at as usize])));
        }
        Ok(())
    }

    fn method<'s>(&self, item: &Json, method: Method, found: &mut Vec<Item<'s>>) -> Result<()> {
        budget::step(ITEM_WORK)?;
        let name = method.name();
        let mut give = |json: Json| found.push(Cow::Owned(json));
        match (method, item) {
            (Method::Type, _) => give(Json::String(item.type_name().to_owned())),
            (Method::Size, Json::Array(items)) => give(Json::number(items.len() as i64)),
            (Method::Size, _) if self.lax() => give(Json::number(1)),
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
                give(Json::Number(Numeric::from_f64(value)));
            }
            (Method::Double, Json::String(text)) => {
                let value = text.trim().parse::<f64>().ok().filter(|value| value.is_finite()).ok_or_else(|| {
                    failure("22036", "string argument of jsonpath item method .double() is not a valid representation of a double precision number")
                })?;
                give(Json::Number(Numeric::from_f64(value)));
            }
            (Method::Double, _) => {
                return Err(failure(
                    "22036",
                    "jsonpath item method .double() can only be applied to a string or numeric value",
                ));
            }
            (Method::Ceiling, Json::Number(number)) => give(Json::Number(number.ceil()?)),
            (Method::Floor, Json::Number(number)) => give(Json::Number(number.floor()?)),
            (Method::Abs, Json::Number(number)) => give(Json::Number(number.abs())),
            _ => {
                let message = format!("jsonpath item method .{name}() can only be applied to a numeric value");
                return Err(failure("22036", message));
            }
        }
        Ok(())
    }

    /// A condition. Errors of its parts make it unknown; only what has nothing to do with the data is an error.
    fn truth<'s>(&'s self, expr: &'s Expr, scope: Scope<'s>) -> Result<Truth> {
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
                self.any(items.iter().map(|item| match &**item {
                    Json::String(text) => (self.matches)(pattern, flags, text).map(Some),
                    _ => Ok(None),
                }))?
            }
            other => {
                // A path where a condition is wanted: the parser lets none through.
                let items = self.items(other, scope)?;
                matches!(single(&items), Some(Json::Bool(true))).then_some(true)
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

    fn any_pair<'s>(
        &'s self,
        operands: &'s [Expr; 2],
        scope: Scope<'s>,
        holds: impl Fn(&Json, &Json) -> Result<Truth>,
    ) -> Result<Truth> {
        let Some(left) = self.quiet(self.unwrapped(&operands[0], scope))? else { return Ok(None) };
        let Some(right) = self.quiet(self.unwrapped(&operands[1], scope))? else { return Ok(None) };
        let pairs = left.iter().flat_map(|left| right.iter().map(move |right| (left, right)));
        self.any(pairs.map(|(left, right)| budget::step(ITEM_WORK).and_then(|()| holds(left, right))))
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

/// The only item, if there is one alone.
fn single<'s>(items: &'s [Item<'_>]) -> Option<&'s Json> {
    match items {
        [item] => Some(item),
        _ => None,
    }
}

/// Everything that is between these depths, from the top down.
fn descend<'s>(item: &'s Json, depth: u32, (from, to): (u32, u32), found: &mut Vec<Item<'s>>) -> Result<()> {
    budget::step(ITEM_WORK)?;
    // `last` is where there is nothing below.
    let leaf = item.is_scalar();
    if (from..=to).contains(&depth) || (from == u32::MAX && leaf) {
        found.push(Cow::Borrowed(item));
    }
    if depth >= to {
        return Ok(());
    }
    match item {
        Json::Array(items) => items.iter().try_for_each(|item| descend(item, depth + 1, (from, to), found)),
        Json::Object(entries) => entries.iter().try_for_each(|(_, value)| descend(value, depth + 1, (from, to), found)),
        _ => Ok(()),
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
