//! Messages cut out of a stream of bytes.

use std::io::{self, Read};

use crate::postgres::decode;

/// Messages that are not data or statements are at most this long, as in PostgreSQL.
const SMALL: usize = 10_000;
/// The whole message.
const SYNC: &[u8] = b"S\0\0\0\x04";
/// What the buffer starts with, and goes back to after a long message.
const USUAL: usize = 8 << 10;

/// Cuts messages out of what a client sends.
pub struct Frames<R> {
    source: R,
    buffer: Vec<u8>,
    /// The part of the buffer that was read and not handed out yet.
    start: usize,
    end: usize,
    max_message: usize,
}

/// A message: its type and its body.
pub struct Frame<'a> {
    /// Its type.
    pub kind: u8,
    /// What follows its length.
    pub body: &'a [u8],
    /// Whether the next message has been read already, and is Sync.
    pub sync_is_next: bool,
}

/// Why there is no further message.
#[derive(Debug)]
pub enum End {
    /// The client is gone.
    Gone,
    /// The client did not send anything for too long.
    Timeout,
    /// The same in the middle of a transaction.
    IdleInTransaction,
    /// The same between transactions.
    IdleSession,
    /// There is no such message.
    UnknownType(u8),
    /// A length that no message of that type can have. Nobody knows where the next one starts.
    Length(u8),
    /// More bytes than this server takes.
    TooLong(usize),
}

impl From<io::Error> for End {
    fn from(error: io::Error) -> End {
        match error.kind() {
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => End::Timeout,
            _ => End::Gone,
        }
    }
}

impl<R: Read> Frames<R> {
    /// Reads from `source` messages of at most that many bytes.
    pub fn new(source: R, max_message: usize) -> Frames<R> {
        Frames { source, buffer: vec![0; USUAL], start: 0, end: 0, max_message }
    }

    /// Waits until the next message begins.
    pub fn wait(&mut self) -> Result<(), End> {
        self.fill(1)
    }

    /// The next message.
    pub fn next(&mut self) -> Result<Frame<'_>, End> {
        self.fill(1)?;
        let kind = self.buffer[self.start];
        let may_be_long = decode::may_be_long(kind).ok_or(End::UnknownType(kind))?;
        self.fill(5)?;
        let length = self.length_at(self.start + 1);
        let length = usize::try_from(length).ok().filter(|&length| length >= 4).ok_or(End::Length(kind))?;
        if !may_be_long && length > SMALL {
            return Err(End::Length(kind));
        }
        if length > self.max_message {
            return Err(End::TooLong(length));
        }
        self.take(1 + length)?;
        let (read, rest) = self.buffer[..self.end].split_at(self.start);
        Ok(Frame { kind, body: &read[read.len() - (length - 4)..], sync_is_next: rest.starts_with(SYNC) })
    }

    /// A packet without a type, as clients send before they are connected: what follows its length.
    pub fn untyped(&mut self) -> Result<&[u8], End> {
        self.fill(4)?;
        let length = self.length_at(self.start);
        let length =
            usize::try_from(length).ok().filter(|length| (8..=SMALL).contains(length)).ok_or(End::Length(0))?;
        let packet = self.take(length)?;
        Ok(&packet[4..])
    }

    /// Whether bytes were read that are not handed out yet.
    pub fn is_ahead(&self) -> bool {
        self.start < self.end
    }

    /// What bytes come from.
    pub fn source(&mut self) -> &mut R {
        &mut self.source
    }

    fn length_at(&self, at: usize) -> i32 {
        let bytes = self.buffer[at..at + 4].try_into().expect("four bytes were read");
        i32::from_be_bytes(bytes)
    }

    fn take(&mut self, count: usize) -> Result<&[u8], End> {
        self.fill(count)?;
        let start = self.start;
        self.start += count;
        Ok(&self.buffer[start..start + count])
    }

    /// Reads until that many bytes are there. The buffer grows with what comes, not with what was announced.
    fn fill(&mut self, count: usize) -> Result<(), End> {
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
            if self.buffer.len() > 128 * USUAL {
                self.buffer = vec![0; USUAL];
            }
        }
        while self.end - self.start < count {
            if self.start + count > self.buffer.len() && self.start > 0 {
                self.buffer.copy_within(self.start..self.end, 0);
                (self.start, self.end) = (0, self.end - self.start);
            }
            if self.end == self.buffer.len() {
                let length = (2 * self.buffer.len()).max(USUAL);
                self.buffer.resize(length, 0);
            }
            match self.source.read(&mut self.buffer[self.end..]) {
                Ok(0) => return Err(End::Gone),
                Ok(read) => self.end += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Hands out a few bytes at a time, as networks do.
    struct Trickle<'a>(&'a [u8], usize);

    impl Read for Trickle<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let count = self.1.min(self.0.len()).min(buffer.len());
            buffer[..count].copy_from_slice(&self.0[..count]);
            self.0 = &self.0[count..];
            Ok(count)
        }
    }

    fn read_all(bytes: &[u8], step: usize) -> String {
        let mut frames = Frames::new(Trickle(bytes, step), 50_000);
        let mut out = String::new();
        loop {
            match frames.next() {
                Ok(frame) => out += &format!("{}{} ", char::from(frame.kind), frame.body.len()),
                Err(end) => return out + &format!("{end:?}"),
            }
        }
    }

    #[test]
    fn messages_are_cut_wherever_the_network_cuts() {
        let mut bytes = b"S\0\0\0\x04".to_vec();
        bytes.extend(b"Q\0\0\x9c\x40");
        bytes.extend([b' '; 0x9c40 - 4]);
        bytes.extend(b"H\0\0\0\x04");
        for step in [1, 3, 7, 4096, 1 << 20] {
            assert_eq!(read_all(&bytes, step), "S0 Q39996 H0 Gone", "{step}");
        }
    }

    #[test]
    fn lengths_that_cannot_be_are_refused_before_anything_is_read() {
        assert_eq!(read_all(b"Q\xff\xff\xff\xff", 9), "Length(81)");
        assert_eq!(read_all(b"Q\0\0\0\x03", 9), "Length(81)");
        assert_eq!(read_all(b"S\0\x01\0\0", 9), "Length(83)");
        assert_eq!(read_all(b"Q\x7f\0\0\0", 9), "TooLong(2130706432)");
        assert_eq!(read_all(b"G", 9), "UnknownType(71)");
        assert_eq!(read_all(b"Q\0\0\0\x09ab", 9), "Gone");
    }
}
