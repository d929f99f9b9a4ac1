//! `skew serve`: what it prints, how it ends, what it refuses.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use crate::run::{file, root, skew, skew_with_input};

/// A server that runs until the test ends.
struct Serving(Child);

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts the server on a free port: it, its address, and what it printed.
fn serve(arguments: &[&str]) -> (Serving, String, String) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_skew"))
        .args(["serve", "--port", "0"])
        .args(arguments)
        .current_dir(root())
        .env_remove("SKEW_PASSWORD")
        .stdout(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe"));
    let mut printed = String::new();
    while !printed.contains("Ctrl-C") {
        assert_ne!(lines.read_line(&mut printed).expect("text"), 0, "{printed}");
    }
    let first = printed.lines().next().expect("a line");
    let address = first.strip_prefix("postgresql://").and_then(|rest| rest.strip_suffix("/postgres"));
    let address = address.expect("a URL").to_owned();
    (Serving(child), address, printed)
}

#[test]
fn the_server_says_where_it_is_and_ends_cleanly() {
    let (mut serving, address, printed) = serve(&["--isolation", "cc", "--seed", "7"]);
    let expected = format!(
        "postgresql://{address}/postgres\n  level    cc for all\n  recency  commit: a transaction that begins after a commit sees \
         it\n  hold     up to 3 ms while others are at work\n  seed     7\n  connect  psql postgresql://{address}/postgres   any user, any database name (a new name is \
         a new database)\n  end      Ctrl-C\n"
    );
    assert_eq!(printed, expected);
    let mut client = TcpStream::connect(&address).expect("the server listens");
    client.write_all(b"\0\0\0\x17\0\x03\0\0user\0postgres\0\0").expect("written");
    let mut answer = [0; 9];
    client.read_exact(&mut answer).expect("an answer");
    assert_eq!(&answer, b"R\0\0\0\x08\0\0\0\0", "AuthenticationOk");
    let pid = serving.0.id().to_string();
    assert!(Command::new("kill").args(["-INT", &pid]).status().expect("kill runs").success());
    assert_eq!(serving.0.wait().expect("it ends").code(), Some(0));
    let mut rest = Vec::new();
    client.read_to_end(&mut rest).expect("the server says goodbye");
    assert!(String::from_utf8_lossy(&rest).contains("terminating connection due to administrator command"));
}

#[test]
fn levels_go_by_id_and_by_sql_name() {
    for (arguments, level, recency) in [
        (&[][..], "READ COMMITTED is mvrc, REPEATABLE READ is si, SERIALIZABLE is ser", "commit"),
        (&["--isolation", "read committed"], "READ COMMITTED (mvrc) for all", "commit"),
        (&["--isolation", "repeatable-read"], "REPEATABLE READ (si) for all", "commit"),
        (&["--isolation", "serializable", "--recency", "none"], "SERIALIZABLE (ser) for all", "none"),
        (&["--isolation", "si"], "si for all", "commit"),
        (&["--isolation", "si", "--replicated"], "si for all", "none"),
        (&["--isolation", "rc"], "rc for all", "commit"),
        (&["--isolation", "cc", "--recency", "none"], "cc for all", "none"),
    ] {
        let (_serving, _, printed) = serve(arguments);
        assert!(printed.contains(&format!("  level    {level}\n  recency  {recency}: ")), "{arguments:?}: {printed}");
    }
}

#[test]
fn what_cannot_be_served_is_refused() {
    let refused = |arguments: &[&str], expected: &str| {
        let done = skew(&[&["serve", "--port", "0"], arguments].concat());
        assert_eq!(done.code, 2, "{arguments:?}");
        assert!(done.err.contains(expected), "{arguments:?}: {}", done.err);
        assert_eq!(done.out, "");
    };
    refused(&["--isolation", "sser"], "transactions do not run at sser; the ids are ru rc ra cc mvrc pc psi si ser");
    refused(&["--isolation", "strong"], "strong");
    refused(&["--host", "example.com"], "`example.com` is not an IP address");
    refused(&["--host", "0.0.0.0"], "listening on 0.0.0.0 demands a --password");
    refused(&["--load", "no-such.sql"], "no-such.sql: ");
    let broken = file("broken.sql", b"-- fine so far\nCREATE TABLE t (id int);\n\nSELEC 1;\n");
    refused(&["--load", &broken], "broken.sql:4: syntax error at or near \"SELEC\" (42601)");
}

#[test]
fn a_port_that_is_taken_is_named() {
    let (_serving, address, _) = serve(&[]);
    let port = address.rsplit_once(':').expect("a port").1;
    let done = skew(&["serve", "--port", port]);
    assert_eq!(done.code, 2);
    assert!(done.err.starts_with(&format!("skew: cannot listen on 127.0.0.1:{port}: ")), "{}", done.err);
    assert!(done.err.trim_end().ends_with("--port 0 takes a free port"), "{}", done.err);
}

#[test]
fn unix_sockets_are_removed_at_the_end() {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("socket");
    std::fs::create_dir_all(&folder).expect("a folder");
    let (mut serving, address, printed) = serve(&["--unix-socket", folder.to_str().expect("UTF-8")]);
    let path = folder.join(format!(".s.PGSQL.{}", address.rsplit_once(':').expect("a port").1));
    assert!(printed.contains(&format!("  socket   {}\n", path.display())), "{printed}");
    assert!(path.exists());
    let pid = serving.0.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &pid]).status().expect("kill runs").success());
    assert_eq!(serving.0.wait().expect("it ends").code(), Some(0));
    assert!(!path.exists());
}

#[test]
fn orders_are_answered_line_by_line_and_the_end_of_input_ends_the_server() {
    let done = skew_with_input(&["serve", "--port", "0", "--format", "json", "--stdin"], b"reset 7\nrest 8\nexplain\n");
    assert_eq!(done.code, 0, "{}", done.err);
    let lines: Vec<serde_json::Value> =
        done.out.lines().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect();
    assert_eq!(lines.len(), 4, "{}", done.out);
    assert_eq!((lines[0]["skew"].as_str(), lines[0]["recency"].as_str()), (Some("serve"), Some("commit")));
    assert_eq!(lines[1], serde_json::json!({ "ok": true, "seed": 7 }));
    assert_eq!(
        lines[2]["error"],
        "`rest` is no order; did you mean `reset`? Orders are reset, explain, coverage, history"
    );
    assert_eq!((&lines[3]["ok"], &lines[3]["seed"]), (&true.into(), &7.into()));
}

#[test]
fn a_ping_says_whether_a_server_answers() {
    let (_serving, address, _) = serve(&[]);
    let port = address.rsplit(':').next().expect("a port");
    assert_eq!(skew(&["serve", "--ping", "--port", port]).code, 0);
    // A port that was free a moment ago.
    let free = std::net::TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).expect("a port");
    let silent = skew(&["serve", "--ping", "--port", &free.port().to_string()]);
    assert_eq!(silent.code, 1);
    assert!(silent.err.contains("no server answers at 127.0.0.1:"), "{}", silent.err);
}
