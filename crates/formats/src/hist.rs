//! Our own text: the parser and the printer are the model's, the stream and the refusals are here.

use std::io::{Read, Write};

use rustc_hash::FxHashSet;
use skew_model::hist::{HistParser, literal_text};
use skew_model::{History, Literal, SessionId};

use crate::error::{ReadError, WriteError};
use crate::express::{Feature, refuse};
use crate::format::Format;
use crate::lines::for_each_line;

pub(crate) fn read(file_name: &str, input: impl Read) -> Result<History, ReadError> {
    let mut parser = HistParser::default();
    parser.builder().file(file_name);
    for_each_line(input, |_, line| parser.line(line))?;
    Ok(parser.finish()?)
}

pub(crate) fn write(history: &History, out: &mut impl Write) -> Result<(), WriteError> {
    refuse(history, Format::Hist, &[Feature::Findings])?;
    let sessions = (0..history.session_count() as u32).map(|id| history.session_literal(SessionId(id)));
    refuse_same_names(sessions, 's')?;
    refuse_same_names(history.txn_ids().map(|id| history.txn_literal(id)), 't')?;
    write!(out, "{history}")?;
    Ok(())
}

/// In the text `7` and `t7` are one name, and `init` is the initial transaction's.
fn refuse_same_names(names: impl Iterator<Item = Literal>, prefix: char) -> Result<(), WriteError> {
    let mut seen = FxHashSet::default();
    for name in names {
        let text = match name {
            Literal::Int(number) if number >= 0 => format!("{prefix}{number}"),
            other => literal_text(&other),
        };
        if prefix == 't' && text == "init" {
            return Err(WriteError::cannot(Format::Hist, "a transaction named init"));
        }
        if let Some(twice) = seen.replace(text) {
            return Err(WriteError::cannot(Format::Hist, format!("two different things named {twice}")));
        }
    }
    Ok(())
}
