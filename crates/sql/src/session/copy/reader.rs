//! Bytes of a COPY → rows of fields.

use crate::error::{Result, SqlError, SqlState};
use crate::session::copy::format::Format;
use crate::types::binary;

/// A field.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Field {
    Null,
    Text(String),
    Binary(Vec<u8>),
}

/// A row as it came.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Row<'a> {
    pub(crate) fields: Vec<Field>,
    /// Its line, where it is text.
    pub(crate) line: Option<&'a [u8]>,
}

/// What a binary COPY begins with.
pub(super) const SIGNATURE: &[u8] = b"PGCOPY\n\xff\r\n\0";

/// Rows one after the other: a table's text is larger as rows of fields than it is as text.
pub(crate) type Rows<'a> = Box<dyn Iterator<Item = Result<Row<'a>>> + 'a>;

/// The rows.
pub(crate) fn read<'a>(format: &'a Format, data: &'a [u8], columns: usize) -> Result<Rows<'a>> {
    if format.binary {
        return Ok(Box::new(read_binary(data)?.into_iter().map(Ok)));
    }
    let rows: Rows<'a> = match format.csv {
        true => Box::new(read_csv(format, data)?.into_iter().map(Ok)),
        false => Box::new(lines(data).map(move |line| read_line(format, line, columns))),
    };
    Ok(if format.header { Box::new(rows.skip(1)) } else { rows })
}

fn bad(message: impl Into<String>) -> SqlError {
    SqlError::new(SqlState::BAD_COPY_FILE_FORMAT, message)
}

fn utf8(bytes: Vec<u8>) -> Result<String> {
    binary::utf8(&bytes)?;
    Ok(String::from_utf8(bytes).expect("looked at just now"))
}

/// The lines of a text, up to the one that says that it ends.
fn lines(data: &[u8]) -> impl Iterator<Item = &[u8]> {
    // What follows the last line break is no line.
    let lines = (!data.is_empty()).then(|| data.strip_suffix(b"\n").unwrap_or(data).split(|&byte| byte == b'\n'));
    let lines = lines.into_iter().flatten().map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    lines.take_while(|&line| line != b"\\.")
}

fn read_line<'a>(format: &Format, line: &'a [u8], columns: usize) -> Result<Row<'a>> {
    let fields = match columns == 0 && line.is_empty() {
        true => Vec::new(),
        false => {
            let fields = split_escaped(line, format.delimiter).into_iter();
            fields.map(|field| unescape(field, format)).collect::<Result<_>>()?
        }
    };
    Ok(Row { fields, line: Some(line) })
}

/// Splits at delimiters that no backslash is before.
fn split_escaped(line: &[u8], delimiter: u8) -> Vec<&[u8]> {
    let (mut fields, mut start, mut at) = (Vec::new(), 0, 0);
    while at < line.len() {
        match line[at] {
            b'\\' => at += 2,
            byte if byte == delimiter => {
                fields.push(&line[start..at]);
                at += 1;
                start = at;
            }
            _ => at += 1,
        }
    }
    fields.push(&line[start.min(line.len())..]);
    fields
}

fn unescape(field: &[u8], format: &Format) -> Result<Field> {
    if field == format.null.as_bytes() {
        return Ok(Field::Null);
    }
    if !field.contains(&b'\\') {
        return utf8(field.to_vec()).map(Field::Text);
    }
    let mut bytes = Vec::with_capacity(field.len());
    let mut rest = field.iter().copied().peekable();
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        let digits = |rest: &mut std::iter::Peekable<_>, radix: u32, most: usize, mut value: u32| {
            for _ in 0..most {
                let digit = rest.peek().and_then(|&byte: &u8| char::from(byte).to_digit(radix));
                let Some(digit) = digit else { break };
                value = value * radix + digit;
                rest.next();
            }
            value as u8
        };
        bytes.push(match rest.next() {
            None => b'\\',
            Some(b'b') => 8,
            Some(b'f') => 12,
            Some(b'n') => b'\n',
            Some(b'r') => b'\r',
            Some(b't') => b'\t',
            Some(b'v') => 11,
            Some(b'x') if rest.peek().is_some_and(u8::is_ascii_hexdigit) => digits(&mut rest, 16, 2, 0),
            Some(digit @ b'0'..=b'7') => digits(&mut rest, 8, 2, u32::from(digit - b'0')),
            Some(other) => other,
        });
    }
    utf8(bytes).map(Field::Text)
}

fn read_csv<'a>(format: &Format, data: &'a [u8]) -> Result<Vec<Row<'a>>> {
    let (mut rows, mut row, mut at, mut start) = (Vec::new(), Vec::new(), 0, 0);
    while at < data.len() {
        if row.is_empty() && data[at..].starts_with(b"\\.") && matches!(data.get(at + 2), None | Some(b'\n' | b'\r')) {
            break;
        }
        let (field, next) = csv_field(format, data, at)?;
        row.push(field);
        at = next;
        let line = Some(&data[start..at]);
        match data.get(at) {
            Some(&byte) if byte == format.delimiter => {
                at += 1;
                if at == data.len() {
                    row.push(empty(format));
                }
                continue;
            }
            Some(b'\r') => at += 1 + usize::from(data.get(at + 1) == Some(&b'\n')),
            Some(_) => at += 1,
            None => {}
        }
        rows.push(Row { fields: std::mem::take(&mut row), line });
        start = at;
    }
    if !row.is_empty() {
        rows.push(Row { fields: row, line: Some(&data[start..]) });
    }
    Ok(rows)
}

fn empty(format: &Format) -> Field {
    if format.null.is_empty() { Field::Null } else { Field::Text(String::new()) }
}

/// A field of a CSV line and where it ends: at a delimiter, a line break or the end.
fn csv_field(format: &Format, data: &[u8], mut at: usize) -> Result<(Field, usize)> {
    let (mut bytes, mut quoted, mut inside) = (Vec::new(), false, false);
    while let Some(&byte) = data.get(at) {
        if inside {
            if byte == format.escape
                && data.get(at + 1).is_some_and(|&next| next == format.quote || next == format.escape)
            {
                bytes.push(data[at + 1]);
                at += 2;
                continue;
            }
            if byte == format.quote {
                inside = false;
            } else {
                bytes.push(byte);
            }
        } else if byte == format.quote {
            (quoted, inside) = (true, true);
        } else if byte == format.delimiter || byte == b'\n' || byte == b'\r' {
            break;
        } else {
            bytes.push(byte);
        }
        at += 1;
    }
    if inside {
        return Err(bad("unterminated CSV quoted field"));
    }
    if !quoted && bytes == format.null.as_bytes() {
        return Ok((Field::Null, at));
    }
    Ok((Field::Text(utf8(bytes)?), at))
}

fn read_binary(data: &[u8]) -> Result<Vec<Row<'_>>> {
    let mut rest = data.strip_prefix(SIGNATURE).ok_or_else(|| bad("COPY file signature not recognized"))?;
    let mut take = |count: usize| -> Result<&[u8]> {
        let (head, tail) = rest.split_at_checked(count).ok_or_else(|| bad("unexpected EOF in COPY data"))?;
        rest = tail;
        Ok(head)
    };
    let number = |bytes: &[u8]| bytes.iter().fold(0i64, |number, byte| number << 8 | i64::from(*byte));
    take(4)?;
    let extension = number(take(4)?);
    take(usize::try_from(extension).map_err(|_| bad("invalid COPY file header"))?)?;
    let mut rows = Vec::new();
    loop {
        let count = number(take(2)?) as i16;
        if count < 0 {
            return Ok(rows);
        }
        let mut row = Vec::new();
        for _ in 0..count {
            let length = number(take(4)?) as i32;
            row.push(match usize::try_from(length) {
                Ok(length) => Field::Binary(take(length)?.to_vec()),
                Err(_) => Field::Null,
            });
        }
        rows.push(Row { fields: row, line: None });
    }
}
