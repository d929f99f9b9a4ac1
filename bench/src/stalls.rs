//! How long other clients wait while one client runs a statement of every heavy kind.
//!
//! One connection runs the statement. Meanwhile another one asks `SELECT 1` and a third one updates a row of another
//! table, again and again; the longest of their answers counts. A thread that does nothing but sleep for a millisecond at
//! a time tells how long the machine itself held a thread up: on a machine that is busy with other work, an answer is late
//! without the server being the reason.

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::wire::{Connection, Url};

/// Measure how long other clients wait while one runs a heavy statement of each kind
#[derive(clap::Args)]
#[command(after_help = "\
Example:
  skew serve -p 5520 &
  skew-bench stalls --server postgres://127.0.0.1:5520/x")]
pub(crate) struct Arguments {
    /// Where the server is; each kind gets a database of its own
    #[arg(long, value_name = "URL")]
    server: Url,

    /// Rows that each statement has to do with
    #[arg(long, default_value_t = 100_000)]
    rows: u32,

    /// The isolation level of the heavy transactions, in SQL's words
    #[arg(long, default_value = "read committed")]
    isolation: String,

    /// Times that each kind is run; the longest wait counts
    #[arg(long, default_value_t = 1)]
    rounds: u32,

    /// Only kinds whose names contain one of these
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
}

/// What the other clients must not notice.
struct Kind {
    name: &'static str,
    /// What comes before it.
    before: &'static str,
    heavy: Heavy,
}

enum Heavy {
    Statement(&'static str),
    /// `COPY t FROM STDIN` with all rows.
    CopyIn,
    /// The client goes away in the middle of its transaction.
    Disconnect,
}

const fn kind(name: &'static str, before: &'static str, statement: &'static str) -> Kind {
    Kind { name, before, heavy: Heavy::Statement(statement) }
}

/// `$rows` stands for the number of rows; the table `t` is full.
const KINDS: &[Kind] = &[
    kind("INSERT … SELECT", "", "INSERT INTO empty SELECT * FROM t"),
    kind("INSERT, an index and a unique one", INDEXED, "INSERT INTO empty SELECT * FROM t"),
    kind("UPDATE", "", "UPDATE t SET n = n + 1"),
    kind("UPDATE of keys", "", "UPDATE t SET id = id + $rows"),
    kind("DELETE", "", "DELETE FROM t"),
    kind("MERGE", "", "MERGE INTO t USING t AS s ON s.id = t.id WHEN MATCHED THEN UPDATE SET n = s.n + 1"),
    kind("INSERT … ON CONFLICT", "", "INSERT INTO t SELECT * FROM t ON CONFLICT (id) DO UPDATE SET n = excluded.n + 1"),
    kind("COMMIT of INSERT", "BEGIN; INSERT INTO empty SELECT * FROM t", "COMMIT"),
    kind("COMMIT of UPDATE", "BEGIN; UPDATE t SET n = n + 1", "COMMIT"),
    kind("COMMIT of DELETE", "BEGIN; DELETE FROM t", "COMMIT"),
    kind("COMMIT of reads", "BEGIN; SELECT sum(n) FROM t; SELECT count(*) FROM t WHERE name > 'b'", "COMMIT"),
    kind("COMMIT of locks", "BEGIN; SELECT count(*) FROM (SELECT 1 FROM t FOR UPDATE) s", "COMMIT"),
    kind("ROLLBACK of INSERT", "BEGIN; INSERT INTO empty SELECT * FROM t", "ROLLBACK"),
    kind("ROLLBACK of UPDATE", "BEGIN; UPDATE t SET n = n + 1", "ROLLBACK"),
    kind("ROLLBACK of DELETE", "BEGIN; DELETE FROM t", "ROLLBACK"),
    kind("ROLLBACK TO of INSERT", "BEGIN; SAVEPOINT s; INSERT INTO empty SELECT * FROM t", "ROLLBACK TO s"),
    kind("ROLLBACK TO of UPDATE", "BEGIN; SAVEPOINT s; UPDATE t SET n = n + 1", "ROLLBACK TO s"),
    kind("a statement that fails at its end", "", "INSERT INTO empty SELECT id % ($rows - 1), n, name FROM t"),
    kind(
        "a block that catches its error",
        "",
        "DO $$ BEGIN INSERT INTO empty SELECT * FROM t; PERFORM 1/0; EXCEPTION WHEN division_by_zero THEN NULL; END $$",
    ),
    Kind { name: "a client that goes away", before: "BEGIN; UPDATE t SET n = n + 1", heavy: Heavy::Disconnect },
    kind("SELECT", "", "SELECT * FROM t"),
    kind("SELECT … FOR UPDATE", "", "SELECT * FROM t FOR UPDATE"),
    kind("ORDER BY", "", "SELECT count(*) FROM (SELECT * FROM t ORDER BY name DESC, n) s"),
    kind("GROUP BY", "", "SELECT count(*) FROM (SELECT name, sum(n) FROM t GROUP BY name) s"),
    kind("DISTINCT", "", "SELECT count(DISTINCT name) FROM t"),
    kind("a join", "", "SELECT count(*) FROM t JOIN t s USING (name)"),
    kind("a window", "", "SELECT max(r) FROM (SELECT rank() OVER (ORDER BY name) AS r FROM t) s"),
    kind("string_agg", "", "SELECT length(string_agg(name, ',' ORDER BY n)) FROM t"),
    kind("array_agg", "", "SELECT array_position(array_agg(n ORDER BY id DESC), -1) FROM t"),
    kind(
        "DO with a loop",
        "",
        "DO $$ BEGIN FOR i IN 1..$rows LOOP INSERT INTO empty VALUES (i, i, 'x'); END LOOP; END $$",
    ),
    Kind { name: "COPY … FROM", before: "", heavy: Heavy::CopyIn },
    kind("COPY … TO", "", "COPY t TO STDOUT"),
    kind("TRUNCATE", "", "TRUNCATE t"),
    kind("DROP TABLE", "", "DROP TABLE t"),
    kind("CREATE TABLE AS", "", "CREATE TABLE copied AS SELECT * FROM t"),
    kind("CREATE INDEX", "", "CREATE INDEX ON t (name)"),
    kind("CREATE UNIQUE INDEX", "", "CREATE UNIQUE INDEX ON t (name, n)"),
    kind("REINDEX", "CREATE INDEX t_name ON t (name)", "REINDEX TABLE t"),
    kind("VACUUM", "", "VACUUM t"),
    kind("ANALYZE", "", "ANALYZE t"),
    kind("ADD COLUMN with a default", "", "ALTER TABLE t ADD COLUMN more int DEFAULT 7"),
    kind("ADD COLUMN, generated", "", "ALTER TABLE t ADD COLUMN twice int GENERATED ALWAYS AS (n * 2) STORED"),
    kind("ALTER COLUMN TYPE", "", "ALTER TABLE t ALTER COLUMN n TYPE bigint USING n * 2"),
    kind("SET NOT NULL", "", "ALTER TABLE t ALTER COLUMN name SET NOT NULL"),
    kind("ADD CHECK", "", "ALTER TABLE t ADD CHECK (n >= 0)"),
    kind("ADD UNIQUE", "", "ALTER TABLE t ADD UNIQUE (n)"),
    kind("ADD FOREIGN KEY", FULL_CHILD, "ALTER TABLE child ADD FOREIGN KEY (t) REFERENCES t"),
    kind("INSERT with a foreign key", CHILD, "INSERT INTO child SELECT id, id FROM t"),
    kind("COMMIT with a deferred foreign key", DEFERRED_CHILD, "COMMIT"),
    kind("DELETE that cascades", CASCADING_CHILD, "DELETE FROM t"),
    kind("COMMIT with a deferred unique key", DEFERRED_UNIQUE, "COMMIT"),
    kind("triggers", TRIGGER, "UPDATE t SET n = n + 1"),
    kind("REFRESH MATERIALIZED VIEW", MATERIALIZED, "REFRESH MATERIALIZED VIEW m"),
    kind("skew.history()", "", "SELECT length(skew.history())"),
    kind("skew.checkpoint()", "", "SELECT skew.checkpoint()"),
    kind("skew.reset()", "SELECT skew.checkpoint(); UPDATE t SET n = n + 1", "SELECT skew.reset()"),
    kind("skew.reset() to nothing", "", "SELECT skew.reset()"),
    kind("pg_locks", "BEGIN; SELECT count(*) FROM (SELECT 1 FROM t FOR UPDATE) s", "SELECT count(*) FROM pg_locks"),
    kind("advisory locks", "SELECT count(pg_advisory_lock(id)) FROM t", "SELECT pg_advisory_unlock_all()"),
];

const INDEXED: &str = "CREATE INDEX ON empty (n); CREATE UNIQUE INDEX ON empty (name)";
const CHILD: &str = "CREATE TABLE child (id int PRIMARY KEY, t int REFERENCES t)";
const FULL_CHILD: &str = "CREATE TABLE child (id int PRIMARY KEY, t int); INSERT INTO child SELECT id, id FROM t";
const CASCADING_CHILD: &str = "CREATE TABLE child (id int PRIMARY KEY, t int REFERENCES t ON DELETE CASCADE); \
     CREATE INDEX ON child (t); INSERT INTO child SELECT id, id FROM t";
const DEFERRED_CHILD: &str = "CREATE TABLE child (id int PRIMARY KEY, t int REFERENCES t INITIALLY DEFERRED); \
     BEGIN; INSERT INTO child SELECT id, id FROM t";
const DEFERRED_UNIQUE: &str = "CREATE TABLE once (id int PRIMARY KEY, n int UNIQUE INITIALLY DEFERRED); \
     INSERT INTO once SELECT id, id FROM t; BEGIN; UPDATE once SET n = n + 1";
const MATERIALIZED: &str = "CREATE MATERIALIZED VIEW m AS SELECT name, count(*) FROM t GROUP BY name";
const TRIGGER: &str = "CREATE FUNCTION more() RETURNS trigger LANGUAGE plpgsql AS \
     $$ BEGIN NEW.n := NEW.n + 1; RETURN NEW; END $$; \
     CREATE TRIGGER more BEFORE UPDATE ON t FOR EACH ROW EXECUTE FUNCTION more()";

/// Prints a table.
pub(crate) fn print(arguments: &Arguments, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "| kind | took | SELECT 1 waited | UPDATE waited | the machine |")?;
    writeln!(out, "| --- | ---: | ---: | ---: | ---: |")?;
    let only = &arguments.only;
    let wanted = |kind: &&Kind| only.is_empty() || only.iter().any(|part| kind.name.contains(part.as_str()));
    for (number, kind) in KINDS.iter().enumerate().filter(|(_, kind)| wanted(kind)) {
        let mut worst = Waits::default();
        for round in 0..arguments.rounds {
            worst = worst.max(measure(arguments, kind, &format!("stalls{number}r{round}"))?);
        }
        let [took, select, update, machine] = [worst.took, worst.select, worst.update, worst.machine].map(milliseconds);
        writeln!(out, "| {} | {took} | {select} | {update} | {machine} |", kind.name)?;
        out.flush()?;
    }
    Ok(())
}

fn milliseconds(time: Duration) -> String {
    format!("{:.1} ms", time.as_secs_f64() * 1e3)
}

/// The longest of each.
#[derive(Clone, Copy, Default)]
struct Waits {
    took: Duration,
    select: Duration,
    update: Duration,
    machine: Duration,
}

impl Waits {
    fn max(self, other: Waits) -> Waits {
        Waits {
            took: self.took.max(other.took),
            select: self.select.max(other.select),
            update: self.update.max(other.update),
            machine: self.machine.max(other.machine),
        }
    }
}

fn measure(arguments: &Arguments, kind: &Kind, database: &str) -> io::Result<Waits> {
    let url = Url { database: database.to_owned(), ..arguments.server.clone() };
    let mut heavy = Connection::open(&url)?;
    run(&mut heavy, "CREATE TABLE small (id int PRIMARY KEY, n int); INSERT INTO small VALUES (1, 0)")?;
    run(&mut heavy, "CREATE TABLE t (id int PRIMARY KEY, n int, name text)")?;
    run(&mut heavy, "CREATE TABLE empty (id int PRIMARY KEY, n int, name text)")?;
    let fill = format!("INSERT INTO t SELECT g, g, 'name ' || g FROM generate_series(1, {}) g", arguments.rows);
    run(&mut heavy, &fill)?;
    run(&mut heavy, &format!("SET default_transaction_isolation = '{}'", arguments.isolation))?;
    let with_rows = |sql: &str| sql.replace("$rows", &arguments.rows.to_string());
    run(&mut heavy, &with_rows(kind.before))?;

    let others = Others::start(&url)?;
    let began = Instant::now();
    match kind.heavy {
        // One kind is meant to fail.
        Heavy::Statement(sql) => _ = heavy.simple(&with_rows(sql)),
        Heavy::CopyIn => {
            let rows: String = (1..=arguments.rows).map(|n| format!("{n}\t{n}\tname {n}\n")).collect();
            heavy.copy_in("COPY empty FROM STDIN", rows.into_bytes());
        }
        Heavy::Disconnect => {
            drop(heavy);
            // Long enough for the server to roll back.
            thread::sleep(Duration::from_secs(1));
        }
    }
    let took = began.elapsed();
    Ok(Waits { took, ..others.stop()? })
}

fn run(connection: &mut Connection, sql: &str) -> io::Result<()> {
    if sql.is_empty() {
        return Ok(());
    }
    let answer = connection.simple(sql);
    let lost = answer.lost.map(|why| format!("{sql}: {why}"));
    let refused = answer.error.map(|error| format!("{sql}: {error}"));
    lost.or(refused).map_or(Ok(()), |why| Err(io::Error::other(why)))
}

/// What goes on beside the heavy statement.
struct Others {
    goes_on: Arc<AtomicBool>,
    select: JoinHandle<io::Result<Duration>>,
    update: JoinHandle<io::Result<Duration>>,
    machine: JoinHandle<io::Result<Duration>>,
}

impl Others {
    fn start(url: &Url) -> io::Result<Others> {
        let goes_on = Arc::new(AtomicBool::new(true));
        let mut connections = [Connection::open(url)?, Connection::open(url)?];
        for connection in &mut connections {
            // What a connection does first takes longer: catalogs are read, statements bound.
            (0..20).try_for_each(|_| run(connection, "SELECT 1; UPDATE small SET n = n + 1 WHERE id = 1"))?;
        }
        let [mut selecting, mut updating] = connections;
        let others = Others {
            select: repeat(&goes_on, move || run_unless_gone(&mut selecting, "SELECT 1")),
            update: repeat(&goes_on, move || run_unless_gone(&mut updating, "UPDATE small SET n = n + 1 WHERE id = 1")),
            machine: repeat(&goes_on, || Ok(())),
            goes_on,
        };
        thread::sleep(Duration::from_millis(20));
        Ok(others)
    }

    fn stop(self) -> io::Result<Waits> {
        self.goes_on.store(false, Ordering::Relaxed);
        let longest = |thread: JoinHandle<io::Result<Duration>>| thread.join().expect("a client does not panic");
        Ok(Waits {
            took: Duration::ZERO,
            select: longest(self.select)?,
            update: longest(self.update)?,
            machine: longest(self.machine)?,
        })
    }
}

/// Runs a statement. A reset takes the tables away, and a refusal is an answer, too.
fn run_unless_gone(connection: &mut Connection, sql: &str) -> io::Result<()> {
    let answer = connection.simple(sql);
    answer.lost.map_or(Ok(()), |why| Err(io::Error::other(why)))
}

/// Does something every millisecond. The longest time from when it was due until it was done.
fn repeat(
    goes_on: &Arc<AtomicBool>,
    mut act: impl FnMut() -> io::Result<()> + Send + 'static,
) -> JoinHandle<io::Result<Duration>> {
    const PAUSE: Duration = Duration::from_millis(1);
    let goes_on = goes_on.clone();
    thread::spawn(move || {
        let mut longest = Duration::ZERO;
        while goes_on.load(Ordering::Relaxed) {
            let due = Instant::now() + PAUSE;
            thread::sleep(PAUSE);
            act()?;
            longest = longest.max(due.elapsed());
        }
        Ok(longest)
    })
}
