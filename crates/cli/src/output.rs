//! Text out: to a file or to standard output, where a reader that went away is not an error.

use std::fs::File;
use std::io::{self, IsTerminal, Write};
use std::path::Path;

use clap::ValueEnum;
use skew_report::Style;

/// When to colour.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    Auto,
    Always,
    Never,
}

/// How text on standard output should look.
pub(crate) fn style(color: Color, expand: bool) -> Style {
    let terminal = io::stdout().is_terminal();
    let color = match color {
        Color::Always => true,
        Color::Never => false,
        Color::Auto => terminal && std::env::var_os("NO_COLOR").is_none(),
    };
    let columns = terminal_size::terminal_size().map_or(100, |(width, _)| usize::from(width.0));
    Style { color, width: if terminal { columns.max(60) } else { 100 }, expand }
}

/// Writes to a file, or to standard output.
pub(crate) fn write(path: Option<&Path>, text: &str) -> Result<(), String> {
    with_output(path, |out| out.write_all(text.as_bytes()))
}

/// Hands a file, or standard output, to a writer.
pub(crate) fn with_output<E: From<io::Error> + ToString>(
    path: Option<&Path>,
    write: impl FnOnce(&mut dyn Write) -> Result<(), E>,
) -> Result<(), String> {
    let Some(path) = path else {
        let mut out = io::BufWriter::new(Listener(io::stdout().lock()));
        write(&mut out).map_err(|error| error.to_string())?;
        return out.flush().map_err(|error| format!("cannot write to standard output: {error}"));
    };
    let failed = |error: String| format!("cannot write {}: {error}", path.display());
    let mut out = io::BufWriter::new(File::create(path).map_err(|error| failed(error.to_string()))?);
    write(&mut out).map_err(|error| failed(error.to_string()))?;
    out.flush().map_err(|error| failed(error.to_string()))
}

/// Standard output, to somebody who may stop listening (`skew check … | head`): what they do not hear is not an error.
struct Listener<W>(W);

impl<W: Write> Write for Listener<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.0.write(bytes) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(bytes.len()),
            written => written,
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self.0.flush() {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            flushed => flushed,
        }
    }
}
