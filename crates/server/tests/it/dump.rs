//! pg_dump: what it writes of a schema with every kind of object makes the same schema again, here and on PostgreSQL.

use std::io::Write;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::target::{Target, has};

fn schema() -> String {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients/pg_dump/schema.sql");
    std::fs::read_to_string(file).expect("the schema")
}

fn load(target: &Target, sql: &str) {
    let mut psql = target.command("psql");
    let psql = psql.args(["-X", "-q", "-v", "ON_ERROR_STOP=1"]).stdin(Stdio::piped()).stdout(Stdio::null());
    let mut psql = psql.stderr(Stdio::piped()).spawn().expect("psql runs");
    psql.stdin.take().expect("a pipe").write_all(sql.as_bytes()).expect("psql reads");
    let output = psql.wait_with_output().expect("psql ends");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// The dump without the lines that no two dumps or servers share.
fn dump(target: &Target) -> String {
    let output = target.command("pg_dump").output().expect("pg_dump runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("text");
    let own = ["\\restrict", "\\unrestrict", "-- Dumped from database version"];
    let lines = text.lines().filter(|line| !own.iter().any(|word| line.starts_with(word)));
    lines.collect::<Vec<_>>().join("\n")
}

/// The first lines that differ, for people.
fn must_be_same(one: &str, other: &str) {
    let differs = one.lines().zip(other.lines()).position(|(one, other)| one != other);
    let around =
        |text: &str, at: usize| text.lines().skip(at.saturating_sub(5)).take(15).collect::<Vec<_>>().join("\n");
    if let Some(at) = differs {
        panic!("line {}:\n{}\n--- is not\n{}", at + 1, around(one, at), around(other, at));
    }
    assert_eq!(one.lines().count(), other.lines().count(), "one of the dumps ends earlier");
}

#[test]
fn a_dump_restores_to_the_same_dump() {
    if !has("psql") || !has("pg_dump") {
        return;
    }
    let (first, second) = (Target::new(), Target::new());
    load(&first, &schema());
    let dumped = dump(&first);
    for line in [
        "CREATE TYPE app.addr AS (",
        "\tstreet text,",
        "COMMENT ON COLUMN app.addr.zip IS 'zip';",
        "CREATE UNIQUE INDEX mv_m ON app.mv USING btree (m);",
        "CREATE INDEX mv_cnt ON app.mv USING btree (cnt DESC);",
        "CREATE DOMAIN app.email AS text NOT NULL DEFAULT 'x@y'::text",
        "    u uuid DEFAULT ext.uuid_generate_v4(),",
        "    d date DEFAULT CURRENT_DATE,",
        "    a integer DEFAULT app.f(1),",
        "    BEGIN ATOMIC",
        "   RETURNING l.a;",
        "    RETURN (a + b);",
        "CREATE UNLOGGED TABLE app.fast (",
        "  WITH LOCAL CHECK OPTION;",
    ] {
        assert!(dumped.lines().any(|dumped| dumped == line), "{line} is not in\n{dumped}");
    }
    for word in ["REPLICA IDENTITY", "SET STORAGE", "COMMENT ON SCHEMA public", "pg_materialized"] {
        assert!(!dumped.contains(word), "{word} is in\n{dumped}");
    }
    load(&second, &dumped);
    must_be_same(&dump(&second), &dumped);
}

#[test]
fn dumps_of_postgresql_and_skew_are_the_same_and_restore_on_either() {
    let Some(postgres) = Postgres::start() else { return };
    let skew = || Target::with(crate::target::settings());
    let (ours, theirs) = (skew(), postgres.database("made"));
    load(&ours, &schema());
    load(&theirs, &schema());
    let (our_dump, their_dump) = (dump(&ours), dump(&theirs));
    must_be_same(&our_dump, &their_dump);
    let (here, there) = (skew(), postgres.database("restored"));
    load(&here, &their_dump);
    load(&there, &our_dump);
    must_be_same(&dump(&here), &their_dump);
    must_be_same(&dump(&there), &our_dump);
}

/// A PostgreSQL 15 of the test's own.
struct Postgres {
    folder: PathBuf,
    port: u16,
    programs: PathBuf,
}

impl Postgres {
    /// It is looked for where Debian puts it; without one the test is skipped.
    fn start() -> Option<Postgres> {
        if !has("psql") || !has("pg_dump") {
            return None;
        }
        let programs = PathBuf::from("/usr/lib/postgresql/15/bin");
        if !skew_testing::available("PostgreSQL 15", programs.join("initdb").exists()) {
            return None;
        }
        let port = TcpListener::bind("127.0.0.1:0").expect("a free port").local_addr().expect("an address").port();
        let folder = std::env::temp_dir().join(format!("skew-dump-{}-{port}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let postgres = Postgres { folder, port, programs };
        postgres.own_folder();
        postgres.run("initdb", &["-A", "trust", "-U", "postgres", "-E", "UTF8", "--locale=C.UTF-8", "--no-sync"]);
        let options = format!(
            "-p {port} -c listen_addresses=127.0.0.1 -c fsync=off -c unix_socket_directories={}",
            postgres.folder.display()
        );
        postgres.run("pg_ctl", &["-w", "-l", &format!("{}/log", postgres.folder.display()), "-o", &options, "start"]);
        Some(postgres)
    }

    /// The server refuses to run as root: then it runs as the user `postgres`.
    fn is_root() -> bool {
        Command::new("id").arg("-u").output().is_ok_and(|output| output.stdout.starts_with(b"0\n"))
    }

    fn own_folder(&self) {
        if Postgres::is_root() {
            let changed = Command::new("chown").arg("postgres").arg(&self.folder).status();
            assert!(changed.is_ok_and(|status| status.success()), "the folder is the server's");
        }
    }

    fn run(&self, program: &str, args: &[&str]) {
        let program = self.programs.join(program);
        let mut command = match Postgres::is_root() {
            true => {
                let mut command = Command::new("setpriv");
                command.args(["--reuid=postgres", "--regid=postgres", "--init-groups"]).arg(program);
                command
            }
            false => Command::new(program),
        };
        let data = self.folder.join("data");
        command.arg("-D").arg(data).args(args).current_dir(&self.folder).stdout(Stdio::null()).stderr(Stdio::null());
        assert!(command.status().is_ok_and(|status| status.success()), "{command:?}");
    }

    fn database(&self, name: &str) -> Target {
        let target = Target::existing(([127, 0, 0, 1], self.port).into(), "postgres");
        let made = target.command("psql").args(["-qXc", &format!("CREATE DATABASE {name}")]).status();
        assert!(made.expect("psql runs").success());
        Target::existing(target.address, name)
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        self.run("pg_ctl", &["-m", "immediate", "stop"]);
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}
