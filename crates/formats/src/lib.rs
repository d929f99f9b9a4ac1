//! Recorded histories in the formats of other tools, both ways: bytes in, [`History`] out, and back.
//!
//! Reading never panics and never trusts a length: what cannot be understood is an [`InputError`] with the line.
//! Writing never loses anything that changes a verdict: what the format cannot say is refused by name. Only names
//! of sessions and transactions give way, to numbers, where a format has nothing but numbers.
//!
//! In reading order:
//! - [`Format`]: the formats, by name and by path
//! - [`ReadError`], [`WriteError`]: what may go wrong
//! - `lines`: input in chunks of whole lines, and no line longer than the limit
//! - `numbers`: tables for small numbers, and numbers for names
//! - `express`: what a history needs of a format
//! - `hist`: our own text
//! - `plume`: Plume's text, one operation a line, made for millions of them
//! - [`jsonl`]: our own JSON Lines, which hold all that a history holds
//! - `json`: JSON values that keep the order of their fields
//! - [`elle`]: Jepsen's EDN, list-append and rw-register
//! - [`dbcop`]: dbcop's JSON and bincode
//! - [`cobra`]: Cobra's folders of binary logs
//! - [`witness`]: runs to be replayed, as JSON
//! - `fields`: the fields of a JSON document, or what is wrong with one
//! - [`campaign`]: many runs of somebody's own tests, and what replays one of them
//! - [`robust`]: whether every run of an application is serializable, and what replays one that is not
//!
//! ```
//! use skew_formats::{Format, read, write};
//! let history = read(Format::Plume, "two.txt", &b"w(1,7,0,0)\nr(1,7,1,1)\n"[..])?;
//! let mut text = Vec::new();
//! write(&history, Format::Hist, &mut text)?;
//! assert_eq!(String::from_utf8(text)?, "init  *=0\ns0 t0  w 1=7\ns1 t1  r 1=7\n");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod error;
mod express;
mod fields;
mod format;
mod hist;
mod json;
mod lines;
mod numbers;
mod plume;

pub mod campaign;
pub mod cobra;
pub mod dbcop;
pub mod elle;
pub mod jsonl;
pub mod robust;
pub mod witness;

use std::io::{BufRead, Write};

use skew_model::History;
use skew_model::hist::InputError;

pub use cobra::{read_cobra, write_cobra};
pub use error::{ReadError, WriteError};
pub use format::{Format, UnknownFormat};

/// The history that a stream holds. `file_name` is what diagnostics call it.
pub fn read(format: Format, file_name: &str, input: impl BufRead) -> Result<History, ReadError> {
    let history = match format {
        Format::Hist => hist::read(file_name, input),
        Format::Jsonl => jsonl::read(file_name, input),
        Format::Elle => elle::read(file_name, input),
        Format::Plume => plume::read(file_name, input),
        Format::Dbcop => dbcop::read(file_name, input),
        Format::Cobra => Err(InputError::at(0, 0, "a Cobra history is a folder, not a stream")
            .hint("give the folder with the *.log files")
            .into()),
    };
    history.map_err(|error| error.in_file(file_name))
}

/// Writes a history, or says what the format cannot express.
pub fn write(history: &History, format: Format, out: &mut impl Write) -> Result<(), WriteError> {
    match format {
        Format::Hist => hist::write(history, out),
        Format::Jsonl => jsonl::write(history, out),
        Format::Elle => elle::write(history, out),
        Format::Plume => plume::write(history, out),
        Format::Dbcop => dbcop::write(history, out),
        Format::Cobra => {
            Err(WriteError::cannot(format, "anything in one file: it is a folder with a log for each session"))
        }
    }
}
