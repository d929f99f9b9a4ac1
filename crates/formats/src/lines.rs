//! Input in chunks of whole lines, so that parsers work on slices and no line longer than the limit is ever held.

use std::io::{ErrorKind, Read};

use skew_model::hist::{InputError, MAX_LINE_BYTES};

use crate::error::ReadError;

const CHUNK_BYTES: usize = 256 << 10;

/// Whole lines of a stream, some at a time.
pub(crate) struct LineChunks<R> {
    input: R,
    buffer: Vec<u8>,
    /// Where the line that the last chunk left unfinished starts.
    rest: usize,
    filled: usize,
    ended: bool,
}

impl<R: Read> LineChunks<R> {
    pub(crate) fn new(input: R) -> Self {
        LineChunks { input, buffer: vec![0; CHUNK_BYTES], rest: 0, filled: 0, ended: false }
    }

    /// The next lines. Each ends with a newline, the last one of the input too. `line` is the number of the next
    /// line, for the error that it is too long.
    pub(crate) fn next(&mut self, line: u32) -> Result<Option<&[u8]>, ReadError> {
        self.buffer.copy_within(self.rest..self.filled, 0);
        self.filled -= self.rest;
        self.rest = 0;
        while !self.ended {
            if self.filled == self.buffer.len() {
                self.grow(line)?;
            }
            let searched = self.filled;
            match self.input.read(&mut self.buffer[searched..]) {
                Ok(0) => self.ended = true,
                Ok(count) => self.filled += count,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(error.into()),
            }
            if let Some(newline) = self.buffer[searched..self.filled].iter().rposition(|&byte| byte == b'\n') {
                self.rest = searched + newline + 1;
                return Ok(Some(&self.buffer[..self.rest]));
            }
        }
        if self.filled == 0 {
            return Ok(None);
        }
        if self.filled == self.buffer.len() {
            self.grow(line)?;
        }
        self.buffer[self.filled] = b'\n';
        self.rest = self.filled;
        Ok(Some(&self.buffer[..self.rest + 1]))
    }

    fn grow(&mut self, line: u32) -> Result<(), ReadError> {
        if self.buffer.len() > MAX_LINE_BYTES {
            return Err(InputError::at(line, 0, format!("the line is longer than {} MiB", MAX_LINE_BYTES >> 20))
                .hint("check that the file is what its name says")
                .into());
        }
        self.buffer.resize((self.buffer.len() * 2).min(MAX_LINE_BYTES + 1), 0);
        Ok(())
    }
}

/// Gives every line of a stream, as text with its number from 1, to `take`.
pub(crate) fn for_each_line<E: Into<ReadError>>(
    input: impl Read,
    mut take: impl FnMut(u32, &str) -> Result<(), E>,
) -> Result<(), ReadError> {
    let mut chunks = LineChunks::new(input);
    let mut number = 0u32;
    while let Some(chunk) = chunks.next(number.saturating_add(1))? {
        let lines = chunk.strip_suffix(b"\n").unwrap_or(chunk);
        for line in lines.split(|&byte| byte == b'\n') {
            number = number.saturating_add(1);
            take(number, text_of(line, number)?).map_err(Into::into)?;
        }
    }
    Ok(())
}

fn text_of(line: &[u8], number: u32) -> Result<&str, InputError> {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    std::str::from_utf8(line).map_err(|error| {
        let before = String::from_utf8_lossy(&line[..error.valid_up_to()]).chars().count();
        InputError::at(number, u32::try_from(before).unwrap_or(u32::MAX).saturating_add(1), "this is not UTF-8 text")
            .hint("check that the file is what its name says")
    })
}
