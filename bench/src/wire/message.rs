//! The bytes of messages.

use std::io::{self, BufReader, Read};
use std::net::TcpStream;

use super::answer::Column;

/// Longer messages are not from a database.
const LONGEST: usize = 1 << 30;

/// A message that is written: a tag, a length, a body.
#[derive(Clone)]
pub(super) struct Writer {
    bytes: Vec<u8>,
    length_at: usize,
}

impl Writer {
    pub(super) fn new(tag: u8) -> Writer {
        Writer { bytes: vec![tag, 0, 0, 0, 0], length_at: 1 }
    }

    /// The first message of a connection has no tag.
    pub(super) fn untagged() -> Writer {
        Writer { bytes: vec![0; 4], length_at: 0 }
    }

    pub(super) fn byte(&mut self, value: u8) {
        self.bytes.push(value);
    }

    pub(super) fn short(&mut self, value: usize) {
        self.bytes.extend((value as u16).to_be_bytes());
    }

    pub(super) fn int(&mut self, value: i32) {
        self.bytes.extend(value.to_be_bytes());
    }

    pub(super) fn bytes(&mut self, value: &[u8]) {
        self.bytes.extend(value);
    }

    pub(super) fn text(&mut self, value: &str) {
        self.bytes.extend(value.as_bytes());
        self.bytes.push(0);
    }

    /// A value with its length, or NULL.
    pub(super) fn value(&mut self, value: Option<&[u8]>) {
        match value {
            Some(value) => {
                self.int(value.len() as i32);
                self.bytes.extend(value);
            }
            None => self.int(-1),
        }
    }

    pub(super) fn finish(mut self) -> Vec<u8> {
        let length = ((self.bytes.len() - self.length_at) as u32).to_be_bytes();
        self.bytes[self.length_at..self.length_at + 4].copy_from_slice(&length);
        self.bytes
    }
}

/// A message that was read.
pub(super) struct Message {
    pub(super) tag: u8,
    body: Vec<u8>,
    at: usize,
}

/// Takes a connection's bytes apart.
pub(super) struct Reader(BufReader<TcpStream>);

impl Reader {
    pub(super) fn new(stream: TcpStream) -> Reader {
        Reader(BufReader::with_capacity(1 << 16, stream))
    }

    pub(super) fn message(&mut self) -> io::Result<Message> {
        let mut head = [0; 5];
        self.0.read_exact(&mut head)?;
        let length = u32::from_be_bytes([head[1], head[2], head[3], head[4]]) as usize;
        if !(4..LONGEST).contains(&length) {
            return Err(io::Error::other(format!("a message with the length {length}")));
        }
        let mut body = vec![0; length - 4];
        self.0.read_exact(&mut body)?;
        Ok(Message { tag: head[0], body, at: 0 })
    }
}

impl Message {
    fn take(&mut self, length: usize) -> io::Result<&[u8]> {
        let start = self.at;
        let end = start + length;
        if end > self.body.len() {
            return Err(io::Error::other(format!("message `{}` ends too early", self.tag as char)));
        }
        self.at = end;
        Ok(&self.body[start..end])
    }

    pub(super) fn byte(&mut self) -> io::Result<u8> {
        Ok(self.take(1)?[0])
    }

    pub(super) fn short(&mut self) -> io::Result<usize> {
        let bytes = self.take(2)?;
        Ok(usize::from(u16::from_be_bytes([bytes[0], bytes[1]])))
    }

    pub(super) fn int(&mut self) -> io::Result<i32> {
        let bytes = self.take(4)?;
        Ok(i32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    }

    pub(super) fn text(&mut self) -> io::Result<String> {
        let length = self.body[self.at..]
            .iter()
            .position(|&byte| byte == 0)
            .ok_or_else(|| io::Error::other("a string without its end"))?;
        let text = String::from_utf8_lossy(self.take(length)?).into_owned();
        self.take(1)?;
        Ok(text)
    }

    /// What has not been read yet, as text.
    pub(super) fn rest(&mut self) -> String {
        let text = String::from_utf8_lossy(&self.body[self.at..]).into_owned();
        self.at = self.body.len();
        text
    }

    pub(super) fn types(&mut self) -> io::Result<Vec<u32>> {
        (0..self.short()?).map(|_| Ok(self.int()? as u32)).collect()
    }

    pub(super) fn columns(&mut self) -> io::Result<Vec<Column>> {
        (0..self.short()?)
            .map(|_| {
                let name = self.text()?;
                self.take(6)?;
                let type_oid = self.int()? as u32;
                self.take(8)?;
                Ok(Column { name, type_oid })
            })
            .collect()
    }

    pub(super) fn row(&mut self) -> io::Result<Vec<Option<String>>> {
        (0..self.short()?)
            .map(|_| {
                let length = self.int()?;
                if length < 0 {
                    return Ok(None);
                }
                Ok(Some(String::from_utf8_lossy(self.take(length as usize)?).into_owned()))
            })
            .collect()
    }
}
