//! A client that sends what it is told to and shows what comes back, message by message.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// A connection.
pub(crate) struct Raw {
    pub(crate) stream: TcpStream,
    pub(crate) key: (i32, i32),
}

/// A message with its type.
pub(crate) fn message(kind: u8, body: &[u8]) -> Vec<u8> {
    let mut bytes = vec![kind];
    bytes.extend((body.len() as i32 + 4).to_be_bytes());
    bytes.extend(body);
    bytes
}

pub(crate) fn query(sql: &str) -> Vec<u8> {
    message(b'Q', format!("{sql}\0").as_bytes())
}

pub(crate) fn parse(name: &str, sql: &str, types: &[u32]) -> Vec<u8> {
    let mut body = format!("{name}\0{sql}\0").into_bytes();
    body.extend((types.len() as i16).to_be_bytes());
    types.iter().for_each(|ty| body.extend(ty.to_be_bytes()));
    message(b'P', &body)
}

/// With parameters as text, and all columns in one format.
pub(crate) fn bind(portal: &str, statement: &str, parameters: &[&str], format: i16) -> Vec<u8> {
    let mut body = format!("{portal}\0{statement}\0\0\0").into_bytes();
    body.extend((parameters.len() as i16).to_be_bytes());
    for parameter in parameters {
        body.extend((parameter.len() as i32).to_be_bytes());
        body.extend(parameter.as_bytes());
    }
    body.extend([0, 1]);
    body.extend(format.to_be_bytes());
    message(b'B', &body)
}

pub(crate) fn describe(kind: char, name: &str) -> Vec<u8> {
    message(b'D', format!("{kind}{name}\0").as_bytes())
}

pub(crate) fn close(kind: char, name: &str) -> Vec<u8> {
    message(b'C', format!("{kind}{name}\0").as_bytes())
}

pub(crate) fn execute(portal: &str, max_rows: i32) -> Vec<u8> {
    let mut body = format!("{portal}\0").into_bytes();
    body.extend(max_rows.to_be_bytes());
    message(b'E', &body)
}

pub(crate) fn sync() -> Vec<u8> {
    message(b'S', b"")
}

/// A startup packet.
pub(crate) fn startup(version: i32, settings: &[(&str, &str)]) -> Vec<u8> {
    let mut body = version.to_be_bytes().to_vec();
    for (name, value) in settings {
        body.extend(format!("{name}\0{value}\0").as_bytes());
    }
    body.push(0);
    let mut packet = (body.len() as i32 + 4).to_be_bytes().to_vec();
    packet.extend(body);
    packet
}

impl Raw {
    /// A socket, nothing more.
    pub(crate) fn socket(address: SocketAddr) -> Raw {
        let stream = TcpStream::connect(address).expect("the server listens");
        stream.set_read_timeout(Some(Duration::from_secs(120))).expect("a socket");
        Raw { stream, key: (0, 0) }
    }

    /// A connection that is ready.
    pub(crate) fn connect(address: SocketAddr, database: &str) -> Raw {
        let mut raw = Raw::socket(address);
        raw.send(&startup(196608, &[("user", "postgres"), ("database", database)]));
        let greeting = raw.until_ready();
        assert!(greeting.ends_with("Z(I)"), "{greeting}");
        raw
    }

    pub(crate) fn send(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).expect("the server reads");
    }

    /// Sends messages and shows the answers up to as many ReadyForQuery.
    pub(crate) fn talk(&mut self, messages: &[Vec<u8>]) -> String {
        self.send(&messages.concat());
        self.until_ready()
    }

    /// Runs a simple query.
    pub(crate) fn query(&mut self, sql: &str) -> String {
        self.talk(&[query(sql)])
    }

    /// The first value of a query, as it is.
    pub(crate) fn text(&mut self, sql: &str) -> String {
        self.send(&query(sql));
        let mut text = String::new();
        loop {
            match self.next() {
                Some((b'D', body)) => text = String::from_utf8_lossy(body.get(6..).unwrap_or_default()).into_owned(),
                Some((b'Z', _)) | None => return text,
                Some(_) => {}
            }
        }
    }

    /// The messages up to ReadyForQuery or the end of the connection.
    pub(crate) fn until_ready(&mut self) -> String {
        let mut shown = Vec::new();
        loop {
            match self.next() {
                Some((kind, body)) => {
                    if kind == b'K' {
                        let number = |at: usize| i32::from_be_bytes(body[at..at + 4].try_into().expect("four bytes"));
                        self.key = (number(0), number(4));
                        continue;
                    }
                    if kind == b'S' && shown.iter().all(|shown: &String| shown.starts_with("R(")) {
                        continue;
                    }
                    shown.push(show(kind, &body));
                    if kind == b'Z' {
                        return shown.join(" ");
                    }
                }
                None => {
                    shown.push("closed".to_owned());
                    return shown.join(" ");
                }
            }
        }
    }

    /// The errors, the end of the connection and the status at the end of an answer, and whether data is asked for: what
    /// there is to say of an answer that is possibly long.
    pub(crate) fn end_of_answer(&mut self) -> (String, bool) {
        let mut shown = String::new();
        loop {
            match self.next() {
                Some((b'Z', body)) => return (shown + &show(b'Z', &body), false),
                Some((b'G', _)) => return (shown, true),
                Some((b'E', body)) => shown += &(show(b'E', &body) + " "),
                Some(_) => {}
                None => return (shown + "closed", false),
            }
        }
    }

    /// One message, shown.
    pub(crate) fn one(&mut self) -> String {
        self.next().map_or_else(|| "closed".to_owned(), |(kind, body)| show(kind, &body))
    }

    pub(crate) fn next(&mut self) -> Option<(u8, Vec<u8>)> {
        let mut head = [0; 5];
        self.stream.read_exact(&mut head).ok()?;
        let length = i32::from_be_bytes(head[1..].try_into().expect("four bytes"));
        let mut body = vec![0; usize::try_from(length).expect("a length") - 4];
        self.stream.read_exact(&mut body).ok()?;
        Some((head[0], body))
    }
}

fn show(kind: u8, body: &[u8]) -> String {
    let kind = char::from(kind);
    let shown = match kind {
        'T' => fields(body),
        'D' => values(body),
        'E' | 'N' => error(body),
        'C' | 'Z' | 'A' => text(body),
        'S' => text(body).replacen('|', "=", 1),
        't' => body[2..]
            .chunks(4)
            .map(|ty| u32::from_be_bytes(ty.try_into().expect("four")).to_string())
            .collect::<Vec<_>>()
            .join(","),
        'R' => body[3].to_string(),
        'G' | 'H' => format!("{},{}", body[0], body[2]),
        'd' => text(body),
        _ => String::new(),
    };
    if shown.is_empty() && !"CDTt".contains(kind) { kind.to_string() } else { format!("{kind}({shown})") }
}

fn text(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body).replace('\0', "|");
    text.strip_suffix('|').unwrap_or(&text).to_owned()
}

/// name:type:format of each column.
fn fields(body: &[u8]) -> String {
    let mut rest = &body[2..];
    let mut shown = Vec::new();
    while !rest.is_empty() {
        let end = rest.iter().position(|&byte| byte == 0).expect("a name");
        let name = String::from_utf8_lossy(&rest[..end]).into_owned();
        rest = &rest[end + 1..];
        let ty = u32::from_be_bytes(rest[6..10].try_into().expect("four bytes"));
        shown.push(format!("{name}:{ty}:{}", rest[17]));
        rest = &rest[18..];
    }
    shown.join(",")
}

fn values(body: &[u8]) -> String {
    let mut rest = &body[2..];
    let mut shown = Vec::new();
    while !rest.is_empty() {
        let length = i32::from_be_bytes(rest[..4].try_into().expect("four bytes"));
        rest = &rest[4..];
        let Ok(length) = usize::try_from(length) else {
            shown.push("NULL".to_owned());
            continue;
        };
        let value = &rest[..length];
        rest = &rest[length..];
        let is_text = value.iter().all(|byte| (b' '..=b'~').contains(byte));
        shown.push(if is_text {
            String::from_utf8_lossy(value).into_owned()
        } else {
            value.iter().map(|byte| format!("{byte:02x}")).collect()
        });
    }
    shown.join(",")
}

/// The severity, the state and the message.
fn error(body: &[u8]) -> String {
    let fields: Vec<String> =
        body.split(|&byte| byte == 0).map(|field| String::from_utf8_lossy(field).into_owned()).collect();
    let field = |kind: char| fields.iter().find_map(|field| field.strip_prefix(kind)).unwrap_or_default().to_owned();
    let severity = field('V');
    let severity = if severity == "ERROR" { String::new() } else { format!("{severity} ") };
    format!("{severity}{} {}", field('C'), field('M'))
}
