//! Files in: a history from a path or from standard input, with progress on long ones.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use skew_formats::{Format, ReadError};
use skew_model::History;

use crate::progress::Progress;

/// Bytes read from a file at a time.
const BUFFER: usize = 1 << 20;

/// A history and where it came from.
pub(crate) struct Input {
    /// As the user named it.
    pub name: String,
    pub history: History,
    /// Where its recorded lines can be read again: only `.hist` files.
    pub lines: Option<PathBuf>,
}

/// Reads a history. The format comes from the flag, or the path, or is `.hist` on standard input.
pub(crate) fn read(path: &Path, format: Option<Format>, progress: &Progress) -> Result<Input, String> {
    let name = if path == Path::new("-") { "<stdin>".to_owned() } else { path.display().to_string() };
    let broken = |error: ReadError| match error {
        ReadError::Io(error) => format!("cannot read {name}: {error}"),
        input => input.to_string(),
    };
    if path == Path::new("-") {
        let format = format.unwrap_or(Format::Hist);
        let history = skew_formats::read(format, &name, io::stdin().lock()).map_err(broken)?;
        return Ok(Input { name, history, lines: None });
    }
    let metadata = std::fs::metadata(path).map_err(|error| format!("cannot read {name}: {error}"))?;
    let format = format.or_else(|| Format::of_path(path)).ok_or_else(|| {
        let formats: Vec<String> = Format::ALL.iter().map(Format::to_string).collect();
        format!("{name}: cannot tell the format from the name; say it: --input {}", formats.join("|"))
    })?;
    let history = if metadata.is_dir() {
        skew_formats::read_cobra(path).map_err(broken)?
    } else {
        let file = File::open(path).map_err(|error| format!("cannot read {name}: {error}"))?;
        progress.reading(&name, metadata.len());
        let counted = Counted { inner: BufReader::with_capacity(BUFFER, file), progress };
        skew_formats::read(format, &name, counted).map_err(broken)?
    };
    Ok(Input { lines: (format == Format::Hist).then(|| path.to_owned()), name, history })
}

/// One line of a text file, from 1.
pub(crate) fn line_of(path: &Path, line: u32) -> Option<String> {
    let file = BufReader::new(File::open(path).ok()?);
    file.lines().nth(line.checked_sub(1)? as usize)?.ok()
}

/// A reader that reports how far it is.
struct Counted<'p> {
    inner: BufReader<File>,
    progress: &'p Progress,
}

impl Read for Counted<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.progress.advance(count as u64);
        Ok(count)
    }
}

impl BufRead for Counted<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.inner.fill_buf()
    }

    fn consume(&mut self, amount: usize) {
        self.inner.consume(amount);
        self.progress.advance(amount as u64);
    }
}
