//! What was found, on a real PostgreSQL: its sessions as psql processes, in a schema of their own that is dropped again.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use super::Found;

/// Nobody should wait, so nothing takes long.
const PATIENCE: Duration = Duration::from_secs(10);

/// What PostgreSQL did.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Replayed {
    /// The same: nobody was refused, and the same rows are there in the end.
    Same,
    /// Something else, in words.
    Different(String),
}

/// Runs what was found on the PostgreSQL at a URL, with the application's text in a schema of its own.
pub fn replay(url: &str, app: &str, found: &Found) -> Result<Replayed, String> {
    let script = found.postgres_script()?;
    let schema = format!("skew_replay_{}", std::process::id());
    let psql = Psql { url, schema: &schema };
    psql.once(&format!("DROP SCHEMA IF EXISTS {schema} CASCADE; CREATE SCHEMA {schema};"))?;
    let answer = psql.once(app).and_then(|_| psql.shows(&script, &found.state));
    psql.once(&format!("DROP SCHEMA IF EXISTS {schema} CASCADE;"))?;
    answer
}

struct Psql<'a> {
    url: &'a str,
    schema: &'a str,
}

impl Psql<'_> {
    /// A psql that reads statements from its input; errors come with its output, in order.
    fn start(&self) -> Result<Child, String> {
        // The URL is a parameter of the shell, not a part of what it reads.
        let line = "exec psql -X -q -A -t -F ', ' -P null=null -d \"$1\" 2>&1";
        let child = Command::new("sh")
            .args(["-c", line, "psql", self.url])
            .env("PGOPTIONS", format!("-c search_path={} -c client_min_messages=warning", self.schema))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn();
        child.map_err(|error| format!("psql cannot be started: {error}"))
    }

    /// The answers to statements of one session; what fails is an error.
    fn once(&self, statements: &str) -> Result<Vec<String>, String> {
        let mut session = Session::new(self.start()?)?;
        let lines = session.ask(statements)?;
        match lines.iter().find(|line| is_error(line)) {
            Some(error) => Err(error.clone()),
            None => Ok(lines),
        }
    }

    fn shows(&self, script: &str, state: &[String]) -> Result<Replayed, String> {
        let mut sessions: Vec<(String, Session)> = Vec::new();
        for line in script.lines() {
            let (statement, name) = line.rsplit_once(" -- ").ok_or("a line without a session")?;
            let at = match sessions.iter().position(|(known, _)| known == name) {
                Some(at) => at,
                None => {
                    sessions.push((name.to_owned(), Session::new(self.start()?)?));
                    sessions.len() - 1
                }
            };
            let answers = sessions[at].1.ask(statement)?;
            if let Some(error) = answers.iter().find(|line| is_error(line)) {
                return Ok(Replayed::Different(format!("{name}: {statement} {error}")));
            }
        }
        drop(sessions);
        for expected in state {
            let Some((table, rows)) = expected.split_once(": ") else { continue };
            let mut lines = self.once(&format!("SELECT * FROM {};", skew_sql::types::quote::identifier(table)))?;
            lines.sort();
            let shown = lines.iter().map(|row| format!("({row})")).collect::<Vec<_>>().join(" ");
            if shown != rows {
                return Ok(Replayed::Different(format!("{table} has {shown} instead of {rows}")));
            }
        }
        Ok(Replayed::Same)
    }
}

fn is_error(line: &str) -> bool {
    ["ERROR:", "FATAL:", "psql: error:"].iter().any(|word| line.contains(word))
}

/// A psql that is asked, and answers.
struct Session {
    child: Child,
    input: ChildStdin,
    lines: Receiver<String>,
    asked: usize,
}

impl Session {
    fn new(mut child: Child) -> Result<Session, String> {
        let input = child.stdin.take().ok_or("psql has no input")?;
        let output = child.stdout.take().ok_or("psql has no output")?;
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        Ok(Session { child, input, lines, asked: 0 })
    }

    /// What is answered to statements.
    fn ask(&mut self, statements: &str) -> Result<Vec<String>, String> {
        self.asked += 1;
        let mark = format!("skew answered {}", self.asked);
        // A psql that has ended tells why on its output.
        let _ = writeln!(self.input, "{statements}\n\\echo {mark}");
        let _ = self.input.flush();
        let mut answers = Vec::new();
        loop {
            match self.lines.recv_timeout(PATIENCE) {
                Ok(line) if line == mark => return Ok(answers),
                Ok(line) => answers.push(line),
                Err(RecvTimeoutError::Timeout) => return Err(format!("no answer to: {statements}")),
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(if answers.is_empty() { "psql has ended".to_owned() } else { answers.join("; ") });
                }
            }
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
