//! Parameters and results, in text and binary.

use skew_sql::error::Result;
use skew_sql::ir::Output;
use skew_sql::session::{Connection, Format};
use skew_sql::types::{Datum, Type};

use crate::postgres::decode;
use crate::postgres::encode::{Field, Messages};

/// Reads a parameter. Text must be UTF-8, whatever its type.
pub(crate) fn parameter(connection: &mut Connection, bytes: &[u8], ty: Type, format: Format) -> Result<Datum> {
    if format == Format::Text {
        decode::utf8(bytes)?;
    }
    connection.read_value(bytes, ty, format)
}

/// RowDescription. Columns beyond `formats` are text.
pub(crate) fn describe(out: &mut Messages, connection: &Connection, columns: &[Output], formats: &[Format]) {
    let fields = columns.iter().enumerate().map(|(at, column)| {
        let typed = connection.shown_type(column.typed);
        Field {
            name: &column.name,
            origin: column.origin.unwrap_or((0, 0)),
            ty: typed.ty,
            size: size(typed.ty),
            modifier: typed.modifier,
            format: i16::from(formats.get(at) == Some(&Format::Binary)),
        }
    });
    out.row_description(columns.len(), fields);
}

/// DataRow
pub(crate) fn row(
    connection: &mut Connection,
    out: &mut Messages,
    columns: &[Output],
    row: &[Datum],
    format: impl Fn(usize) -> Format,
) -> Result<()> {
    let start = out.bytes.len();
    let mut written = Ok(());
    out.message(b'D', |bytes| {
        bytes.extend((row.len() as u16).to_be_bytes());
        for (at, (value, column)) in row.iter().zip(columns).enumerate() {
            if value.is_null() {
                bytes.extend((-1_i32).to_be_bytes());
                continue;
            }
            let place = bytes.len();
            bytes.extend([0; 4]);
            written = connection.write_value(bytes, value, column.typed.ty, format(at));
            if written.is_err() {
                return;
            }
            let length = (bytes.len() - place - 4) as i32;
            bytes[place..place + 4].copy_from_slice(&length.to_be_bytes());
        }
    });
    if written.is_err() {
        out.bytes.truncate(start);
    }
    written
}

/// How many rows are handed out until the next look whether the statement was cancelled or is late.
pub(crate) const ROWS_BETWEEN_LOOKS: usize = 128;

/// A tag counts the rows that were handed out: `SELECT` is `SELECT 2`, and `INSERT 0 3` of which one was left is
/// `INSERT 0 1`.
pub(crate) fn tag(tag: &str, rows: usize) -> String {
    let command = tag.trim_end_matches(|last: char| last.is_ascii_digit()).trim_end();
    if command == "SHOW" || command == "CALL" || command == "EXPLAIN" {
        return command.to_owned();
    }
    format!("{command} {rows}")
}

/// The bytes of a value as PostgreSQL keeps it (`typlen`); -1: it varies; -2: it ends with a zero byte.
fn size(ty: Type) -> i16 {
    match ty {
        Type::BOOL | Type::CHAR_INTERNAL => 1,
        Type::INT2 => 2,
        Type::INT4 | Type::OID | Type::FLOAT4 | Type::DATE | Type::XID | Type::CID | Type::VOID => 4,
        Type::REGPROC | Type::REGPROCEDURE | Type::REGOPER | Type::REGOPERATOR | Type::REGCLASS => 4,
        Type::REGTYPE | Type::REGROLE | Type::REGNAMESPACE | Type::REGCONFIG => 4,
        Type::TID | Type::MACADDR => 6,
        Type::INT8 | Type::FLOAT8 | Type::TIME | Type::TIMESTAMP | Type::TIMESTAMPTZ | Type::MONEY | Type::PG_LSN => 8,
        Type::TIMETZ => 12,
        Type::INTERVAL | Type::UUID => 16,
        Type::NAME => 64,
        Type::UNKNOWN | Type::CSTRING => -2,
        _ => -1,
    }
}
