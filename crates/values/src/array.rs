//! Arrays: text forms, and what functions need of their shape.

use std::sync::Arc;

use crate::Env;
use crate::error::{Result, SqlError, SqlState};
use crate::{ArrayValue, Datum, Type, Typed, builtin, text};

/// Most dimensions of an array.
pub const MAX_DIMENSIONS: usize = 6;
/// Most items of an array.
pub const MAX_ITEMS: usize = 134_217_727;

impl ArrayValue {
    /// An array with one dimension that counts from one; without dimensions if it is empty.
    pub fn new(element: Type, items: Vec<Datum>) -> ArrayValue {
        let dimensions = if items.is_empty() { Vec::new() } else { vec![(items.len(), 1)] };
        ArrayValue { element, dimensions, items }
    }
}

impl Datum {
    /// An array with one dimension.
    pub fn array(element: Type, items: Vec<Datum>) -> Datum {
        Datum::Array(Arc::new(ArrayValue::new(element, items)))
    }
}

/// Reads `{1,2,NULL}`, `{{a,"b c"},{d,e}}`, `[0:1]={1,2}`.
pub fn parse(text: &str, element: Typed, env: &dyn Env) -> Result<Datum> {
    let malformed = |detail: &str| {
        SqlError::new(SqlState::INVALID_TEXT_REPRESENTATION, format!("malformed array literal: \"{text}\""))
            .detail(detail)
    };
    let mut rest = text.trim_start();
    let bounds = parse_bounds(&mut rest, &malformed)?;
    if !rest.starts_with('{') {
        return Err(malformed(match bounds.is_empty() {
            true => "Array value must start with \"{\" or dimension information.",
            false => "Array contents must start with \"{\".",
        }));
    }
    let delimiter = builtin::by_oid(element.ty).map_or(',', |builtin| builtin.delimiter);
    let mut reader = Reader {
        chars: rest.char_indices().peekable(),
        text: rest,
        delimiter,
        lengths: Vec::new(),
        leaf: None,
        items: Vec::new(),
        malformed: &malformed,
    };
    reader.braces(0)?;
    reader.skip_space();
    if reader.chars.peek().is_some() {
        return Err(malformed("Junk after closing right brace."));
    }
    let (lengths, texts) = (reader.lengths, reader.items);
    if !bounds.is_empty() {
        let declared: Vec<usize> = bounds.iter().map(|(length, _)| *length).collect();
        if declared.len() != lengths.len() || declared != lengths {
            return Err(malformed("Specified array dimensions do not match array contents."));
        }
    }
    if texts.is_empty() {
        return Ok(Datum::array(element.ty, Vec::new()));
    }
    let lower = |at: usize| bounds.get(at).map_or(1, |(_, lower)| *lower);
    let dimensions = lengths.iter().enumerate().map(|(at, length)| (*length, lower(at))).collect();
    let read = |item: Option<String>| match item {
        Some(item) => text::input(&item, element, env),
        None => Ok(Datum::Null),
    };
    let items = texts.into_iter().map(read).collect::<Result<_>>()?;
    Ok(Datum::Array(Arc::new(ArrayValue { element: element.ty, dimensions, items })))
}

/// `[1:2][0:3]=`: lengths and lower bounds.
fn parse_bounds(rest: &mut &str, malformed: &dyn Fn(&str) -> SqlError) -> Result<Vec<(usize, i32)>> {
    let mut bounds = Vec::new();
    while let Some(inner) = rest.strip_prefix('[') {
        let (range, after) = inner.split_once(']').ok_or_else(|| malformed("Missing \"]\" after array dimensions."))?;
        let number = |text: &str| {
            let text = text.trim();
            text.parse::<i32>().map_err(|_| malformed("\"[\" must introduce explicitly-specified array dimensions."))
        };
        let (lower, upper) = match range.split_once(':') {
            Some((lower, upper)) => (number(lower)?, number(upper)?),
            None => (1, number(range)?),
        };
        if upper < lower {
            return Err(SqlError::new(SqlState::ARRAY_SUBSCRIPT_ERROR, "upper bound cannot be less than lower bound"));
        }
        if bounds.len() == MAX_DIMENSIONS {
            return Err(too_many_dimensions(bounds.len() + 1));
        }
        bounds.push(((i64::from(upper) - i64::from(lower) + 1) as usize, lower));
        *rest = after.trim_start();
    }
    if !bounds.is_empty() {
        *rest = rest.strip_prefix('=').ok_or_else(|| malformed("Missing \"=\" after array dimensions."))?.trim_start();
    }
    Ok(bounds)
}

/// `54000`: the number of dimensions exceeds the maximum.
pub fn too_many_dimensions(count: usize) -> SqlError {
    SqlError::new(
        SqlState::PROGRAM_LIMIT_EXCEEDED,
        format!("number of array dimensions ({count}) exceeds the maximum allowed ({MAX_DIMENSIONS})"),
    )
}

struct Reader<'a> {
    chars: std::iter::Peekable<std::str::CharIndices<'a>>,
    text: &'a str,
    delimiter: char,
    /// The length of each dimension, as the first braces of each depth have it.
    lengths: Vec<usize>,
    /// The depth at which items are.
    leaf: Option<usize>,
    items: Vec<Option<String>>,
    malformed: &'a dyn Fn(&str) -> SqlError,
}

impl Reader<'_> {
    fn fail<T>(&self, detail: &str) -> Result<T> {
        Err((self.malformed)(detail))
    }

    fn skip_space(&mut self) {
        while self.chars.next_if(|(_, char)| char.is_ascii_whitespace() || *char == '\x0b').is_some() {}
    }

    /// What is between two braces: items, or more braces.
    fn braces(&mut self, depth: usize) -> Result<()> {
        if depth == MAX_DIMENSIONS {
            return Err(too_many_dimensions(depth + 1));
        }
        self.chars.next();
        let first = self.lengths.len() == depth;
        if first {
            self.lengths.push(0);
        }
        let mut count = 0;
        self.skip_space();
        if self.chars.next_if(|(_, char)| *char == '}').is_some() {
            // Empty braces are an empty array, and nothing else.
            return match depth {
                0 => Ok(()),
                _ => self.fail("Unexpected \"}\" character."),
            };
        }
        loop {
            self.skip_space();
            match self.chars.peek() {
                None => return self.fail("Unexpected end of input."),
                Some((_, '{')) => {
                    if self.leaf.is_some_and(|leaf| leaf <= depth) {
                        return self.fail(match count {
                            0 => "Multidimensional arrays must have sub-arrays with matching dimensions.",
                            _ => "Unexpected \"{\" character.",
                        });
                    }
                    self.braces(depth + 1)?;
                }
                Some(_) => self.item(depth)?,
            }
            count += 1;
            self.skip_space();
            match self.chars.next() {
                Some((_, char)) if char == self.delimiter => {}
                Some((_, '}')) => break,
                Some((_, '{')) => return self.fail("Unexpected \"{\" character."),
                Some(_) => return self.fail("Unexpected array element."),
                None => return self.fail("Unexpected end of input."),
            }
        }
        if first {
            self.lengths[depth] = count;
        } else if self.lengths[depth] != count {
            return self.fail("Multidimensional arrays must have sub-arrays with matching dimensions.");
        }
        Ok(())
    }

    fn item(&mut self, depth: usize) -> Result<()> {
        if *self.leaf.get_or_insert(depth) != depth {
            return self.fail("Unexpected array element.");
        }
        if self.items.len() >= MAX_ITEMS {
            return Err(SqlError::new(
                SqlState::PROGRAM_LIMIT_EXCEEDED,
                format!("array size exceeds the maximum allowed ({MAX_ITEMS})"),
            ));
        }
        let item = match self.chars.next_if(|(_, char)| *char == '"') {
            Some(_) => Some(self.quoted()?),
            None => self.bare()?,
        };
        self.items.push(item);
        Ok(())
    }

    fn quoted(&mut self) -> Result<String> {
        let mut item = String::new();
        loop {
            match self.chars.next() {
                None => return self.fail("Unexpected end of input."),
                Some((_, '"')) => return Ok(item),
                Some((_, '\\')) => match self.chars.next() {
                    Some((_, char)) => item.push(char),
                    None => return self.fail("Unexpected end of input."),
                },
                Some((_, char)) => item.push(char),
            }
        }
    }

    /// An item without quotes: up to a delimiter or a brace, without spaces at its end.
    fn bare(&mut self) -> Result<Option<String>> {
        let mut item = String::new();
        let mut kept = 0;
        let mut escaped = false;
        loop {
            match self.chars.peek().copied() {
                None => return self.fail("Unexpected end of input."),
                Some((_, char)) if char == self.delimiter || char == '}' => break,
                Some((_, char @ ('{' | '"'))) => {
                    return match char {
                        '"' => self.fail("Unexpected array element."),
                        _ => self.fail(&format!("Unexpected \"{char}\" character.")),
                    };
                }
                Some((_, '\\')) => {
                    self.chars.next();
                    escaped = true;
                    match self.chars.next() {
                        Some((_, char)) => item.push(char),
                        None => return self.fail("Unexpected end of input."),
                    }
                    kept = item.len();
                }
                Some((_, char)) => {
                    self.chars.next();
                    item.push(char);
                    if !char.is_ascii_whitespace() {
                        kept = item.len();
                    }
                }
            }
        }
        item.truncate(kept);
        if item.is_empty() {
            let next = self.chars.peek().map_or(self.text.len(), |(at, _)| *at);
            return self.fail(&format!("Unexpected \"{}\" character.", &self.text[next..next + 1]));
        }
        Ok((escaped || !item.eq_ignore_ascii_case("null")).then_some(item))
    }
}

/// Shows an array.
pub fn show(out: &mut String, array: &ArrayValue, env: &dyn Env) {
    if array.items.is_empty() {
        return out.push_str("{}");
    }
    if array.dimensions.iter().any(|(_, lower)| *lower != 1) {
        for (length, lower) in &array.dimensions {
            out.push_str(&format!("[{lower}:{}]", i64::from(*lower) + *length as i64 - 1));
        }
        out.push('=');
    }
    let delimiter = builtin::by_oid(array.element).map_or(',', |builtin| builtin.delimiter);
    let mut items = array.items.iter();
    show_dimension(out, array, 0, &mut items, delimiter, env);
}

fn show_dimension(
    out: &mut String,
    array: &ArrayValue,
    depth: usize,
    items: &mut std::slice::Iter<'_, Datum>,
    delimiter: char,
    env: &dyn Env,
) {
    out.push('{');
    for at in 0..array.dimensions[depth].0 {
        if at > 0 {
            out.push(delimiter);
        }
        if depth + 1 < array.dimensions.len() {
            show_dimension(out, array, depth + 1, items, delimiter, env);
        } else if let Some(item) = items.next() {
            show_item(out, item, array.element, delimiter, env);
        }
    }
    out.push('}');
}

fn show_item(out: &mut String, item: &Datum, element: Type, delimiter: char, env: &dyn Env) {
    if item.is_null() {
        return out.push_str("NULL");
    }
    let start = out.len();
    text::output_into(out, item, element, env);
    let shown = &out[start..];
    let special = |char: char| matches!(char, '"' | '\\' | '{' | '}' | ' ' | '\t' | '\n' | '\r' | '\x0b' | '\x0c');
    let plain = !shown.is_empty()
        && !shown.eq_ignore_ascii_case("null")
        && !shown.contains(|char| special(char) || char == delimiter);
    if plain {
        return;
    }
    let shown = out.split_off(start);
    out.push('"');
    for char in shown.chars() {
        if matches!(char, '"' | '\\') {
            out.push('\\');
        }
        out.push(char);
    }
    out.push('"');
}

/// Reads an int2vector or oidvector: numbers with spaces between them.
pub fn parse_vector(text: &str, element: Type, env: &dyn Env) -> Result<Datum> {
    let read = |item| text::input(item, element.into(), env);
    let items: Vec<Datum> = text.split_ascii_whitespace().map(read).collect::<Result<_>>()?;
    Ok(vector(element, items))
}

/// An int2vector or oidvector: counts from zero.
pub fn vector(element: Type, items: Vec<Datum>) -> Datum {
    Datum::Array(Arc::new(ArrayValue { element, dimensions: vec![(items.len(), 0)], items }))
}

/// Shows an int2vector or oidvector.
pub fn show_vector(out: &mut String, array: &ArrayValue, env: &dyn Env) {
    for (at, item) in array.items.iter().enumerate() {
        if at > 0 {
            out.push(' ');
        }
        text::output_into(out, item, array.element, env);
    }
}
