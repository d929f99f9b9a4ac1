//! What clients send, once they have connected.
//!
//! Bodies are borrowed from the buffer that they were read into. Whatever is wrong with one is an error of that message
//! only, worded as PostgreSQL words it: where the next message starts is known from the frame.

use skew_sql::error::{Result, SqlError, SqlState};
use skew_sql::types::Type;
/// Bytes as text, or 22021 with the first bytes that are none.
pub use skew_sql::types::binary::utf8;

/// A message from a client.
#[derive(Clone, PartialEq, Debug)]
pub enum Request<'a> {
    /// Statements as text.
    Query(&'a str),
    /// Prepare a statement.
    Parse {
        /// Its name; empty: the unnamed one.
        name: &'a str,
        /// Its text.
        sql: &'a str,
        /// The types of parameters that the client knows.
        types: Vec<Type>,
    },
    /// Give a statement its parameters, which makes a portal.
    Bind(Bind<'a>),
    /// Say what a statement or a portal returns.
    Describe(Target<'a>),
    /// Run a portal.
    Execute {
        /// Its name.
        portal: &'a str,
        /// How many rows at most; zero or less: all.
        max_rows: i32,
    },
    /// Forget a statement or a portal.
    Close(Target<'a>),
    /// Send what there is.
    Flush,
    /// The end of a pipeline.
    Sync,
    /// The fast path, which nobody uses any more.
    FunctionCall,
    /// Data of a COPY FROM STDIN.
    CopyData(&'a [u8]),
    /// The data is complete.
    CopyDone,
    /// The client gives up, for this reason.
    CopyFail(&'a str),
    /// The client is leaving.
    Terminate,
    /// A password, or a step of SCRAM.
    Password(&'a [u8]),
}

/// A prepared statement or a portal.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Target<'a> {
    /// A prepared statement.
    Statement(&'a str),
    /// A portal.
    Portal(&'a str),
}

/// A portal to be made.
#[derive(Clone, PartialEq, Debug)]
pub struct Bind<'a> {
    /// The portal's name.
    pub portal: &'a str,
    /// The statement's name.
    pub statement: &'a str,
    /// None: all text; one: all in this format; or one a parameter.
    pub parameter_formats: Vec<i16>,
    /// The parameters; `None` is NULL.
    pub parameters: Vec<Option<&'a [u8]>>,
    /// As for parameters, of the result's columns.
    pub result_formats: Vec<i16>,
}

/// Whether there is a message with this type, and whether it may be long. Others are small: a few bytes and a name.
pub fn may_be_long(kind: u8) -> Option<bool> {
    match kind {
        b'Q' | b'F' | b'B' | b'P' | b'd' => Some(true),
        b'C' | b'D' | b'E' | b'H' | b'S' | b'X' | b'c' | b'f' | b'p' => Some(false),
        _ => None,
    }
}

/// Reads the body of a message.
pub fn request(kind: u8, body: &[u8]) -> Result<Request<'_>> {
    let mut fields = Fields { rest: body };
    let request = match kind {
        b'Q' => Request::Query(fields.text()?),
        b'P' => parse(&mut fields)?,
        b'B' => Request::Bind(bind(&mut fields)?),
        b'D' => Request::Describe(target(&mut fields, "DESCRIBE")?),
        b'C' => Request::Close(target(&mut fields, "CLOSE")?),
        b'E' => Request::Execute { portal: fields.text()?, max_rows: fields.i32()? },
        b'H' => Request::Flush,
        b'S' => Request::Sync,
        b'X' => return Ok(Request::Terminate),
        b'F' => return Ok(Request::FunctionCall),
        b'd' => return Ok(Request::CopyData(body)),
        b'c' => return Ok(Request::CopyDone),
        b'f' => Request::CopyFail(fields.text()?),
        b'p' => return Ok(Request::Password(body)),
        _ => return Err(malformed(format!("invalid frontend message type {kind}"))),
    };
    fields.end()?;
    Ok(request)
}

fn parse<'a>(fields: &mut Fields<'a>) -> Result<Request<'a>> {
    let (name, sql) = (fields.text()?, fields.text()?);
    let count = fields.count()?;
    let known = |oid: i32| if oid == 0 { Type::UNKNOWN } else { Type(oid.cast_unsigned()) };
    let types = (0..count).map(|_| fields.i32().map(known)).collect::<Result<_>>()?;
    Ok(Request::Parse { name, sql, types })
}

fn bind<'a>(fields: &mut Fields<'a>) -> Result<Bind<'a>> {
    let (portal, statement) = (fields.text()?, fields.text()?);
    let parameter_formats = fields.formats()?;
    let count = fields.count()?;
    let parameters = (0..count).map(|_| fields.value()).collect::<Result<_>>()?;
    let result_formats = fields.formats()?;
    Ok(Bind { portal, statement, parameter_formats, parameters, result_formats })
}

fn target<'a>(fields: &mut Fields<'a>, message: &str) -> Result<Target<'a>> {
    let kind = fields.u8()?;
    let name = fields.text()?;
    match kind {
        b'S' => Ok(Target::Statement(name)),
        b'P' => Ok(Target::Portal(name)),
        _ => Err(malformed(format!("invalid {message} message subtype {kind}"))),
    }
}

/// An error in the protocol.
pub fn malformed(message: impl Into<String>) -> SqlError {
    SqlError::new(SqlState::PROTOCOL_VIOLATION, message)
}

/// The fields of a message that were not read yet.
pub(crate) struct Fields<'a> {
    pub(crate) rest: &'a [u8],
}

impl<'a> Fields<'a> {
    pub(crate) fn bytes(&mut self, count: usize) -> Result<&'a [u8]> {
        let Some((bytes, rest)) = self.rest.split_at_checked(count) else {
            return Err(malformed("insufficient data left in message"));
        };
        self.rest = rest;
        Ok(bytes)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        Ok(self.bytes(N)?.try_into().expect("that many bytes were taken"))
    }

    pub(crate) fn u8(&mut self) -> Result<u8> {
        self.array::<1>().map(|[byte]| byte)
    }

    pub(crate) fn i16(&mut self) -> Result<i16> {
        self.array().map(i16::from_be_bytes)
    }

    pub(crate) fn i32(&mut self) -> Result<i32> {
        self.array().map(i32::from_be_bytes)
    }

    fn count(&mut self) -> Result<usize> {
        self.array().map(u16::from_be_bytes).map(usize::from)
    }

    fn formats(&mut self) -> Result<Vec<i16>> {
        let count = self.count()?;
        (0..count).map(|_| self.i16()).collect()
    }

    pub(crate) fn value(&mut self) -> Result<Option<&'a [u8]>> {
        match self.i32()? {
            -1 => Ok(None),
            length => match usize::try_from(length) {
                Ok(length) => self.bytes(length).map(Some),
                Err(_) => Err(malformed("insufficient data left in message")),
            },
        }
    }

    /// Text that ends with a zero byte.
    pub(crate) fn text(&mut self) -> Result<&'a str> {
        let Some(end) = self.rest.iter().position(|&byte| byte == 0) else {
            return Err(malformed("invalid string in message"));
        };
        let text = utf8(&self.rest[..end])?;
        self.rest = &self.rest[end + 1..];
        Ok(text)
    }

    fn end(&self) -> Result<()> {
        match self.rest {
            [] => Ok(()),
            _ => Err(malformed("invalid message format")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(kind: u8, body: &[u8]) -> String {
        match request(kind, body) {
            Ok(request) => format!("{request:?}"),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn messages_are_read() {
        assert_eq!(answer(b'Q', b"SELECT 1\0"), r#"Query("SELECT 1")"#);
        assert_eq!(answer(b'P', b"s\0SELECT $1\0\0\x01\0\0\0\x17"), {
            r#"Parse { name: "s", sql: "SELECT $1", types: [Type(23)] }"#
        });
        assert_eq!(answer(b'B', b"\0s\0\0\0\0\x02\0\0\0\x01x\xff\xff\xff\xff\0\x01\0\x01"), {
            "Bind(Bind { portal: \"\", statement: \"s\", parameter_formats: [], parameters: [Some([120]), None], \
             result_formats: [1] })"
        });
        assert_eq!(answer(b'D', b"Ss\0"), r#"Describe(Statement("s"))"#);
        assert_eq!(answer(b'E', b"p\0\0\0\0\x05"), r#"Execute { portal: "p", max_rows: 5 }"#);
    }

    #[test]
    fn what_is_wrong_with_a_message_is_said_as_postgresql_says_it() {
        assert_eq!(answer(b'Q', b"SELECT 1"), "08P01: invalid string in message");
        assert_eq!(answer(b'Q', b"SELECT 1\0\0"), "08P01: invalid message format");
        assert_eq!(answer(b'B', b"\0s\0\0\0\0\x02\0\0\0\x01"), "08P01: insufficient data left in message");
        assert_eq!(answer(b'B', b"\0s\0\0\0\0\x01\xff\xff\xff\xf0\0\0"), "08P01: insufficient data left in message");
        assert_eq!(answer(b'D', b"xs\0"), "08P01: invalid DESCRIBE message subtype 120");
        assert_eq!(answer(b'Q', b"\xe2\x28\xa1\0"), {
            "22021: invalid byte sequence for encoding \"UTF8\": 0xe2 0x28 0xa1"
        });
    }

    #[test]
    fn no_prefix_of_a_message_is_misread() {
        let whole = b"\0s\0\0\x01\0\x01\0\x02\0\0\0\x01x\xff\xff\xff\xff\0\x01\0\x01";
        for length in 0..whole.len() {
            assert!(answer(b'B', &whole[..length]).starts_with("08P01"), "{length}");
        }
    }
}
