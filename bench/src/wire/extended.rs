//! Prepared statements: the extended query protocol.

use std::io::Write;

use super::message::Writer;
use super::{Answer, Connection};

impl Connection {
    /// Parses a statement under a name and asks for its parameters and columns.
    pub(crate) fn prepare(&mut self, name: &str, sql: &str) -> Answer {
        let mut parse = Writer::new(b'P');
        parse.text(name);
        parse.text(sql);
        parse.short(0);
        let mut describe = Writer::new(b'D');
        describe.byte(b'S');
        describe.text(name);
        self.pipeline(&[parse, describe])
    }

    /// Binds text values to a prepared statement's parameters and runs it to its end.
    pub(crate) fn execute(&mut self, name: &str, parameters: &[Option<String>]) -> Answer {
        let mut describe = Writer::new(b'D');
        describe.byte(b'P');
        describe.text("");
        self.pipeline(&[bind(name, parameters), describe, run()])
    }

    /// `execute` without asking for the columns, as a driver does that has prepared the statement.
    pub(crate) fn execute_known(&mut self, name: &str, parameters: &[Option<String>]) -> Answer {
        self.pipeline(&[bind(name, parameters), run()])
    }

    fn pipeline(&mut self, messages: &[Writer]) -> Answer {
        let mut bytes = Vec::new();
        for message in messages {
            bytes.extend(message.clone().finish());
        }
        bytes.extend(Writer::new(b'S').finish());
        match self.writer.write_all(&bytes) {
            Ok(()) => self.collect(),
            Err(error) => Answer::lost(&error),
        }
    }
}

/// All parameters and columns are text.
fn bind(name: &str, parameters: &[Option<String>]) -> Writer {
    let mut bind = Writer::new(b'B');
    bind.text("");
    bind.text(name);
    bind.short(0);
    bind.short(parameters.len());
    for parameter in parameters {
        bind.value(parameter.as_deref().map(str::as_bytes));
    }
    bind.short(0);
    bind
}

fn run() -> Writer {
    let mut run = Writer::new(b'E');
    run.text("");
    run.int(0);
    run
}
