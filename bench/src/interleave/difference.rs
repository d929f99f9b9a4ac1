//! A script that two servers ran differently: where, as a script to read, and made smaller.

use std::fmt;
use std::io;

use crate::sessions::{Event, Script, Server, Transcript};

/// Making a script smaller stops after so many attempts.
const ATTEMPTS: usize = 150;

/// Both transcripts of a script.
pub(super) struct Difference {
    pub(super) seed: u64,
    pub(super) script: Script,
    pub(super) expected: Transcript,
    pub(super) seen: Transcript,
}

/// The statement that a server refused with 0A000, without its numbers, if there is one.
pub(super) fn unsupported(script: &Script, seen: &Transcript) -> Option<String> {
    let refused = |outcome: &str| outcome.starts_with("error 0A000");
    let event = seen.events.iter().find(|event| refused(&event.outcome))?;
    Some(without_numbers(&script.steps[event.step].sql))
}

fn without_numbers(sql: &str) -> String {
    let words = sql.split(' ').map(|word| if word.starts_with(|c: char| c.is_ascii_digit()) { "N" } else { word });
    words.collect::<Vec<_>>().join(" ")
}

impl Difference {
    /// The first event at which the transcripts part.
    fn first(&self) -> usize {
        let same = |(left, right): &(&Event, &Event)| left == right;
        self.expected.events.iter().zip(&self.seen.events).take_while(same).count()
    }

    /// The same for differences that likely have the same reason.
    pub(super) fn cause(&self) -> String {
        let at = self.first();
        let (Some(expected), Some(seen)) = (self.expected.events.get(at), self.seen.events.get(at)) else {
            return "other rows at the end".to_owned();
        };
        let kind = |event: &Event| {
            let outcome = event.outcome.split(" (").next().unwrap_or_default().to_owned();
            match event.released.len() {
                0 => outcome,
                count => format!("{outcome}, {count} go on"),
            }
        };
        let words: Vec<&str> = self.script.steps[expected.step].sql.split(' ').collect();
        let end = words.iter().position(|word| ["WHERE", "VALUES", "SET"].contains(word)).unwrap_or(words.len());
        let mut what = words[..end.min(5)].join(" ");
        if let Some(lock) = self.script.steps[expected.step].sql.split(" FOR ").nth(1) {
            what = format!("SELECT FOR {lock}");
        }
        format!("{}: {} instead of {}", without_numbers(&what), kind(seen), kind(expected))
    }

    /// Leaves out statements as long as the servers still differ.
    pub(super) fn shrunk(mut self, server: &mut Server, postgres: &mut Server) -> io::Result<Difference> {
        let mut attempts = 0;
        let mut size = self.script.steps.len().div_ceil(2);
        while size > 0 && attempts < ATTEMPTS {
            let mut at = 0;
            let mut smaller = false;
            while at < self.script.steps.len() && attempts < ATTEMPTS {
                let mut script = self.script.clone();
                script.steps.drain(at..(at + size).min(script.steps.len()));
                attempts += 1;
                let (expected, seen) = (postgres.run(&script)?, server.run(&script)?);
                if expected != seen && unsupported(&script, &seen).is_none() {
                    self = Difference { script, expected, seen, ..self };
                    smaller = true;
                } else {
                    at += size;
                }
            }
            if size > 1 || !smaller {
                size /= 2;
            }
        }
        Ok(self)
    }

    fn write_event(&self, f: &mut fmt::Formatter<'_>, event: &Event) -> fmt::Result {
        let step = &self.script.steps[event.step];
        write!(f, "{}; -- T{}. {}", step.sql, step.session + 1, event.outcome)?;
        write_released(f, event)?;
        writeln!(f)
    }
}

fn write_released(f: &mut fmt::Formatter<'_>, event: &Event) -> fmt::Result {
    for (session, outcome) in &event.released {
        write!(f, "; T{} goes on: {outcome}", session + 1)?;
    }
    Ok(())
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = self.first();
        writeln!(f, "-- seed {}", self.seed)?;
        if let Some(key) = self.script.setup.iter().find(|sql| sql.contains("REFERENCES"))
            && self.script.steps.iter().any(|step| step.sql.contains("parent") || step.sql.contains("child"))
        {
            writeln!(f, "-- {key}")?;
        }
        for event in &self.expected.events[..at] {
            self.write_event(f, event)?;
        }
        let shown = |f: &mut fmt::Formatter<'_>, name: &str, events: &[Event]| -> fmt::Result {
            for event in events.get(at..).unwrap_or_default().iter().take(3) {
                write!(f, "--   {name:10} ")?;
                self.write_event(f, event)?;
            }
            Ok(())
        };
        shown(f, "PostgreSQL", &self.expected.events)?;
        shown(f, "seen", &self.seen.events)?;
        for (expected, seen) in self.expected.tables.iter().zip(&self.seen.tables) {
            if expected != seen {
                writeln!(f, "--   at the end, PostgreSQL {expected}; seen {seen}")?;
            }
        }
        Ok(())
    }
}
