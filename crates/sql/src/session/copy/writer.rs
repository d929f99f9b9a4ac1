//! Rows → bytes of a COPY.

use crate::error::Result;
use crate::ir::Output;
use crate::session::copy::format::Format;
use crate::session::copy::reader::SIGNATURE;
use crate::storage::World;
use crate::types::{Datum, binary, text};

/// One piece of data for each row.
pub(super) fn write(
    world: &mut World<'_>,
    format: &Format,
    columns: &[Output],
    rows: &[Vec<Datum>],
) -> Result<Vec<Vec<u8>>> {
    let mut pieces = Vec::with_capacity(rows.len() + 2);
    // Clients rely on the header being in one piece with what follows it.
    let mut header = Vec::new();
    if format.binary {
        header.extend(SIGNATURE);
        header.extend([0; 8]);
    } else if format.header {
        let names: Vec<String> = columns.iter().map(|column| column.name.to_string()).collect();
        pieces.push(line(format, names.into_iter().map(Some)));
    }
    for row in rows {
        if format.binary {
            let mut piece = std::mem::take(&mut header);
            binary_row(world, columns, row, &mut piece)?;
            pieces.push(piece);
            continue;
        }
        let field = |(value, column): (&Datum, &Output)| {
            (!value.is_null()).then(|| text::output(value, column.typed.ty, world))
        };
        let fields: Vec<Option<String>> = row.iter().zip(columns).map(field).collect();
        pieces.push(line(format, fields.into_iter()));
    }
    if format.binary {
        header.extend([0xff, 0xff]);
        pieces.push(header);
    }
    Ok(pieces)
}

fn line(format: &Format, fields: impl Iterator<Item = Option<String>>) -> Vec<u8> {
    let mut line = Vec::new();
    for (at, field) in fields.enumerate() {
        if at > 0 {
            line.push(format.delimiter);
        }
        match field {
            None => line.extend(format.null.bytes()),
            Some(field) if format.csv => quote(format, &field, &mut line),
            Some(field) => escape(format, &field, &mut line),
        }
    }
    line.push(b'\n');
    line
}

fn escape(format: &Format, field: &str, line: &mut Vec<u8>) {
    for byte in field.bytes() {
        let short = match byte {
            8 => b'b',
            12 => b'f',
            b'\n' => b'n',
            b'\r' => b'r',
            b'\t' => b't',
            11 => b'v',
            b'\\' => b'\\',
            byte if byte == format.delimiter => byte,
            byte => {
                line.push(byte);
                continue;
            }
        };
        line.extend([b'\\', short]);
    }
}

fn quote(format: &Format, field: &str, line: &mut Vec<u8>) {
    let special = |byte: u8| byte == format.delimiter || byte == format.quote || byte == b'\n' || byte == b'\r';
    let needed = format.force_quote || field == format.null || field.bytes().any(special) || field == "\\.";
    if !needed {
        line.extend(field.bytes());
        return;
    }
    line.push(format.quote);
    for byte in field.bytes() {
        if byte == format.quote || byte == format.escape {
            line.push(format.escape);
        }
        line.push(byte);
    }
    line.push(format.quote);
}

fn binary_row(world: &mut World<'_>, columns: &[Output], row: &[Datum], bytes: &mut Vec<u8>) -> Result<()> {
    bytes.extend(i16::try_from(row.len()).unwrap_or(i16::MAX).to_be_bytes());
    for (value, column) in row.iter().zip(columns) {
        if value.is_null() {
            bytes.extend((-1i32).to_be_bytes());
            continue;
        }
        let mut field = Vec::new();
        binary::output_into(&mut field, value, column.typed.ty, world)?;
        bytes.extend(i32::try_from(field.len()).unwrap_or(i32::MAX).to_be_bytes());
        bytes.extend(field);
    }
    Ok(())
}
