//! The packets before the first message: refusals of encryption, cancel requests, who connects and whether they may.

use std::io::Read;
use std::time::Instant;

use skew_sql::error::{Result, SqlError, SqlState};

use crate::postgres::cancel::Cancels;
use crate::postgres::conversation::last_words;
use crate::postgres::decode::{self, Fields, malformed};
use crate::postgres::encode::Messages;
use crate::postgres::frames::{End, Frames};
use crate::postgres::scram::{self, Refused, Verifier};
use crate::postgres::sink::Sink;
use crate::settings::Authentication;

const CANCEL: i32 = 80877102;
const SSL: i32 = 80877103;
const GSS: i32 = 80877104;
/// Encryption may be asked for twice, in two ways.
const MAX_PACKETS: usize = 4;

/// How clients prove that they may connect.
pub enum Gatekeeper {
    /// They need not.
    Trust,
    /// By sending the password.
    Password(String),
    /// By SCRAM-SHA-256.
    Scram(Box<Verifier>),
}

/// Who connects.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Introduction {
    /// The user.
    pub user: String,
    /// The database.
    pub database: String,
    /// Settings.
    pub settings: Vec<(String, String)>,
}

/// Where a client's bytes come from, which may become encrypted.
pub trait Source: Read {
    /// Whether it could.
    fn can_encrypt(&self) -> bool {
        false
    }

    /// From now on everything is, both ways.
    fn encrypt(&mut self) {}

    /// Reading fails from this moment on; `None`: it waits as long as it takes.
    fn set_deadline(&mut self, _deadline: Option<Instant>) {}
}

impl Source for &[u8] {}

/// Why nobody is connected.
pub enum NotConnected {
    /// It was a cancel request, or the client went away.
    Silently,
    /// The client is told.
    Refused(SqlError),
}

impl From<SqlError> for NotConnected {
    fn from(error: SqlError) -> Self {
        NotConnected::Refused(error)
    }
}

impl From<End> for NotConnected {
    fn from(end: End) -> Self {
        last_words(&end).map_or(NotConnected::Silently, NotConnected::Refused)
    }
}

impl Gatekeeper {
    /// As the settings say. A salt is drawn.
    pub fn new(authentication: &Authentication) -> Result<Gatekeeper, getrandom::Error> {
        Ok(match authentication {
            Authentication::Trust => Gatekeeper::Trust,
            Authentication::Password(password) => Gatekeeper::Password(password.clone()),
            Authentication::Scram(password) => {
                let mut salt = [0; 16];
                getrandom::fill(&mut salt)?;
                Gatekeeper::Scram(Box::new(Verifier::new(password, salt)))
            }
        })
    }
}

/// Hears who connects, and lets them in or not.
pub fn introduce(
    frames: &mut Frames<impl Source>,
    sink: &Sink,
    gatekeeper: &Gatekeeper,
    cancels: &Cancels,
) -> Result<Introduction, NotConnected> {
    for _ in 0..MAX_PACKETS {
        let can_encrypt = frames.source().can_encrypt();
        let packet = frames.untyped()?;
        let mut fields = Fields { rest: packet };
        match fields.i32()? {
            SSL if can_encrypt => {
                // Whoever was in between could have sent these in the client's name.
                if frames.is_ahead() {
                    return Err(malformed("received unencrypted data after SSL request").into());
                }
                sink.send(&mut b"S".to_vec());
                frames.source().encrypt();
            }
            SSL | GSS => sink.send(&mut b"N".to_vec()),
            CANCEL => {
                cancels.request(fields.i32()?, fields.i32()?);
                return Err(NotConnected::Silently);
            }
            version => {
                let mut out = Messages::default();
                let introduction = read_introduction(version, &mut fields, &mut out)?;
                sink.send(&mut out.bytes);
                authenticate(frames, sink, gatekeeper, &introduction.user)?;
                return Ok(introduction);
            }
        }
    }
    Err(malformed("too many requests for encryption").into())
}

fn read_introduction(version: i32, fields: &mut Fields<'_>, out: &mut Messages) -> Result<Introduction> {
    let (major, minor) = (version >> 16, version & 0xffff);
    if major != 3 {
        let message = format!("unsupported frontend protocol {major}.{minor}: server supports 3.0 to 3.0");
        return Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message));
    }
    let mut introduction = Introduction::default();
    let mut unknown = Vec::new();
    loop {
        let name = fields.text().map_err(|_| layout())?;
        if name.is_empty() {
            break;
        }
        let value = fields.text().map_err(|_| layout())?;
        match name {
            "user" => value.clone_into(&mut introduction.user),
            "database" => value.clone_into(&mut introduction.database),
            "options" => introduction.settings.extend(command_line(value)?),
            "replication" => refuse_replication(value)?,
            name if name.starts_with("_pq_.") => unknown.push(name),
            name => introduction.settings.push((name.to_owned(), value.to_owned())),
        }
    }
    if !fields.rest.is_empty() {
        return Err(layout());
    }
    if introduction.user.is_empty() {
        let message = "no PostgreSQL user name specified in startup packet";
        return Err(SqlError::new(SqlState::INVALID_AUTHORIZATION_SPECIFICATION, message));
    }
    if introduction.database.is_empty() {
        introduction.database.clone_from(&introduction.user);
    }
    if minor > 0 || !unknown.is_empty() {
        out.negotiate(&unknown);
    }
    Ok(introduction)
}

fn layout() -> SqlError {
    malformed("invalid startup packet layout: expected terminator as last byte")
}

fn refuse_replication(value: &str) -> Result<()> {
    match value {
        "false" | "off" | "no" | "0" => Ok(()),
        _ => Err(SqlError::unsupported("replication")),
    }
}

/// The settings in `-c name=value --name=value`. A backslash protects a blank.
fn command_line(options: &str) -> Result<Vec<(String, String)>> {
    let mut settings = Vec::new();
    let mut words = split_words(options).into_iter();
    while let Some(word) = words.next() {
        let setting = match (word.as_str(), word.strip_prefix("-c"), word.strip_prefix("--")) {
            ("-c", ..) => words.next(),
            (_, Some(setting), _) | (_, _, Some(setting)) => Some(setting.to_owned()),
            _ => None,
        };
        let setting = setting.as_deref().and_then(|setting| setting.split_once('='));
        let Some((name, value)) = setting else {
            let message = format!("invalid command-line argument for server process: {word}");
            return Err(SqlError::new(SqlState::SYNTAX_ERROR, message));
        };
        settings.push((name.replace('-', "_"), value.to_owned()));
    }
    Ok(settings)
}

fn split_words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut characters = text.chars();
    while let Some(c) = characters.next() {
        match c {
            '\\' => word.extend(characters.next()),
            c if c.is_whitespace() => {
                if !word.is_empty() {
                    words.push(std::mem::take(&mut word));
                }
            }
            c => word.push(c),
        }
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

fn authenticate(
    frames: &mut Frames<impl Read>,
    sink: &Sink,
    gatekeeper: &Gatekeeper,
    user: &str,
) -> Result<(), NotConnected> {
    let wrong = || {
        let message = format!("password authentication failed for user \"{user}\"");
        SqlError::new(SqlState::INVALID_PASSWORD, message)
    };
    match gatekeeper {
        Gatekeeper::Trust => {}
        Gatekeeper::Password(expected) => {
            ask(sink, 3, b"");
            let given = password(frames)?;
            let given = given.strip_suffix(&[0]).ok_or_else(|| malformed("invalid password packet size"))?;
            if given != expected.as_bytes() {
                return Err(wrong().into());
            }
        }
        Gatekeeper::Scram(verifier) => {
            let last = scram(frames, sink, verifier).map_err(|why| match why {
                Problem::Refused(Refused::Password) => NotConnected::Refused(wrong()),
                Problem::Refused(Refused::Malformed(why)) => NotConnected::Refused(malformed(why)),
                Problem::NotConnected(why) => why,
            })?;
            ask(sink, 12, last.as_bytes());
        }
    }
    ask(sink, 0, b"");
    Ok(())
}

enum Problem {
    Refused(Refused),
    NotConnected(NotConnected),
}

impl From<Refused> for Problem {
    fn from(why: Refused) -> Self {
        Problem::Refused(why)
    }
}

impl<E: Into<NotConnected>> From<E> for Problem {
    fn from(why: E) -> Self {
        Problem::NotConnected(why.into())
    }
}

fn scram(frames: &mut Frames<impl Read>, sink: &Sink, verifier: &Verifier) -> Result<String, Problem> {
    ask(sink, 10, format!("{}\0\0", scram::MECHANISM).as_bytes());
    let first = password(frames)?;
    let mut fields = Fields { rest: &first };
    let mechanism = fields.text()?;
    if mechanism != scram::MECHANISM {
        return Err(malformed("client selected an invalid SASL authentication mechanism").into());
    }
    let client_first = decode::utf8(fields.value()?.unwrap_or_default())?;
    let mut nonce = [0; 18];
    getrandom::fill(&mut nonce).map_err(|_| SqlError::new(SqlState::INTERNAL_ERROR, "no randomness"))?;
    let exchange = verifier.begin(client_first, &scram::base64::encode(&nonce))?;
    ask(sink, 11, exchange.server_first.as_bytes());
    let last = password(frames)?;
    Ok(verifier.finish(&exchange, decode::utf8(&last)?)?)
}

fn ask(sink: &Sink, code: i32, data: &[u8]) {
    let mut out = Messages::default();
    out.authentication(code, data);
    sink.send(&mut out.bytes);
}

fn password(frames: &mut Frames<impl Read>) -> Result<Vec<u8>, NotConnected> {
    let frame = frames.next()?;
    match frame.kind {
        b'p' => Ok(frame.body.to_vec()),
        kind => Err(malformed(format!("expected password response, got message type {kind}")).into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(version: i32, body: &[u8]) -> String {
        let mut out = Messages::default();
        match read_introduction(version, &mut Fields { rest: body }, &mut out) {
            Ok(found) => {
                let settings: Vec<String> =
                    found.settings.iter().map(|(name, value)| format!("{name}={value}")).collect();
                let sent = out.bytes.len();
                format!("{} {} [{}] {sent}", found.user, found.database, settings.join(" "))
            }
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn clients_say_who_they_are() {
        assert_eq!(read(196608, b"user\0ann\0database\0shop\0\0"), "ann shop [] 0");
        assert_eq!(read(196608, b"user\0ann\0application_name\0psql\0\0"), "ann ann [application_name=psql] 0");
        assert_eq!(read(196608, b"\0"), "28000: no PostgreSQL user name specified in startup packet");
        assert_eq!(read(131072, b"\0"), "0A000: unsupported frontend protocol 2.0: server supports 3.0 to 3.0");
        assert_eq!(read(196608, b"user\0ann"), {
            "08P01: invalid startup packet layout: expected terminator as last byte"
        });
        assert_eq!(
            read(196608, b"user\0ann\0replication\0database\0\0"),
            "0A000: replication is not supported by Skew"
        );
    }

    #[test]
    fn newer_protocols_are_negotiated_down() {
        assert_eq!(read(196610, b"user\0ann\0\0"), "ann ann [] 13");
        assert_eq!(read(196608, b"user\0ann\0_pq_.x\0y\0\0"), "ann ann [] 20");
    }

    #[test]
    fn options_are_settings() {
        assert_eq!(read(196608, b"user\0a\0options\0-c a=1 -cb=2 --search-path=x\\ y\0\0"), {
            "a a [a=1 b=2 search_path=x y] 0"
        });
        assert_eq!(
            read(196608, b"user\0a\0options\0-x\0\0"),
            "42601: invalid command-line argument for server process: -x"
        );
    }
}
