//! Anomalies of `si` and `mvrc` on a PostgreSQL of the test's own: its REPEATABLE READ and READ COMMITTED let them through,
//! its SERIALIZABLE refuses them.

use std::fmt::Write as _;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};

use skew_model::Level;
use skew_prove::confirm::replay::{Replayed, replay};
use skew_prove::robust::answer::Effort;
use skew_prove::robust::{Question, Robustness};

use crate::confirm::{BLIND, COPIED, OVERDRAFT, READ_ONLY, found};
use crate::{example, load};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the repository")
}

#[test]
fn a_write_skew_is_two_sessions() {
    let (found, _) = found(OVERDRAFT, Level::Si, "withdraw withdraw; 1 rw 2 account; 2 rw 1 account");
    let expected = "\
BEGIN ISOLATION LEVEL REPEATABLE READ; -- T1
BEGIN ISOLATION LEVEL REPEATABLE READ; -- T2
SELECT 'sees what is committed now'; -- T2
CALL withdraw(2, 1); -- T1
COMMIT; -- T1
CALL withdraw(1, 1); -- T2
COMMIT; -- T2
";
    let script = found.postgres_script().expect("snapshots are enough");
    assert_eq!(script, expected);
    shows(OVERDRAFT, &script);
}

#[test]
fn a_read_only_anomaly_is_three_sessions() {
    let app = example("smallbank.sql");
    let (found, _) = found(&app, Level::Si, READ_ONLY);
    shows(&app, &found.postgres_script().expect("snapshots are enough"));
}

const LOST: &str = "withdraw withdraw; 1 rw 2 account; 2 rw 1 account; 1.acct = 2.acct";

#[test]
fn an_update_that_is_lost_at_read_committed_is_statements_of_two_sessions() {
    let app = example("withdraw.sql");
    let (found, _) = found(&app, Level::Mvrc, LOST);
    let script = found.postgres_script().expect("statements are enough");
    let sessions: Vec<&str> = script.lines().filter_map(|line| Some(line.rsplit_once("-- ")?.1)).collect();
    assert_eq!(sessions, ["T1", "T1", "T1", "T2", "T2", "T1", "T2", "T2"], "{script}");
    let first = "DO $skew$ <<withdraw>> DECLARE acct integer := 1; shown record; BEGIN FOR shown IN SELECT balance \
        FROM account WHERE id = acct LOOP RAISE NOTICE '%', shown; END LOOP; END $skew$; -- T1";
    assert_eq!(script.lines().nth(1), Some(first), "{script}");
}

#[test]
fn what_read_committed_shows_a_postgresql_shows() {
    let smallbank = "write_check amalgamate; 1 rw 2 saving; 2 rw 1 checking; 1.n = 2.n1";
    let ticket = "purchase purchase; 1 rw 2 events; 2 rw 1 events; 1.place = 2.place; 1.what = 2.what";
    let apps = [("withdraw.sql", LOST), ("smallbank.sql", smallbank), ("fusion_ticket.sql", ticket)];
    let Some(server) = Server::start() else { return };
    for (name, text) in apps {
        let app = example(name);
        let (found, _) = found(&app, Level::Mvrc, text);
        assert!(!found.state.is_empty() && !found.executed.is_empty(), "{name}");
        assert_eq!(replay(&server.url(), &app, &found), Ok(Replayed::Same), "{name}");
        // With other rows in the end it would not be the same.
        let mut other = found.clone();
        other.state = vec![found.state[0].replace('(', "(7")];
        assert!(matches!(replay(&server.url(), &app, &other), Ok(Replayed::Different(_))), "{name}");
    }
    let app = example("smallbank.sql");
    let (found, _) = found(&app, Level::Si, READ_ONLY);
    assert_eq!(replay(&server.url(), &app, &found), Ok(Replayed::Same));
}

#[test]
fn who_has_written_last_a_postgresql_shows() {
    let (found, _) = found(BLIND, Level::Mvrc, COPIED);
    let script = found.postgres_script().expect("statements are enough");
    let last: Vec<&str> = script.lines().skip_while(|line| !line.starts_with("SELECT")).collect();
    let expected = [1, 2, 3].map(|session| format!("SELECT v FROM u /* what is left */; -- T{session}"));
    assert_eq!(last, expected, "{script}");
    let Some(server) = Server::start() else { return };
    assert_eq!(replay(&server.url(), BLIND, &found), Ok(Replayed::Same), "{script}");
}

/// TPC-C is published to be serializable at SI (Fekete and others 2005). With deliveries of all districts in one transaction
/// it is not, and PostgreSQL's REPEATABLE READ does what was found.
#[test]
fn deliveries_of_all_districts_are_not_serializable_on_a_postgresql_either() {
    let Some(server) = Server::start() else { return };
    let text = example("tpcc.sql");
    let (database, app) = load(&text);
    let robustness = Robustness::of(&database, &app).expect("its procedures are there");
    let answer = robustness.answer(&database, &app, Level::Si, &Question::default(), &[], Effort::default());
    let found = answer.expect("it runs").found;
    let (_, run) = found.first().expect("a run");
    assert_eq!(replay(&server.url(), &text, run), Ok(Replayed::Same), "{}", run.client_text());
}

/// What PostgreSQL's REPEATABLE READ lets through although snapshot isolation over keys does not.
#[test]
fn rows_that_are_taken_again_are_no_conflict_on_a_postgresql_either() {
    let Some(server) = Server::start() else { return };
    for app in [crate::own_levels::MUTEX, crate::own_levels::TAKEN_AGAIN] {
        let (database, program) = load(app);
        let robustness = Robustness::of(&database, &program).expect("its procedures are there");
        let answer = robustness.answer(&database, &program, Level::PgRr, &Question::default(), &[], Effort::default());
        let found = answer.expect("it runs").found;
        let (_, run) = found.first().expect("a run");
        assert_eq!(replay(&server.url(), app, run), Ok(Replayed::Same), "{}", run.client_text());
    }
}

/// A PostgreSQL of the test's own, which ends with it.
struct Server {
    port: u16,
    folder: PathBuf,
    child: Child,
}

impl Server {
    fn start() -> Option<Server> {
        if !has_postgresql() {
            return None;
        }
        let (port, folder) = place();
        let wait = "touch ready; for i in $(seq 600); do [ -e stop ] && exit; sleep 0.1; done";
        let child = Command::new("bash")
            .arg(root().join("bench/with-postgres.sh"))
            .arg(port.to_string())
            .args(["bash", "-c", wait])
            .current_dir(&folder)
            .spawn()
            .expect("bash runs");
        let is_ready = || folder.join("ready").exists();
        for _ in 0..600 {
            if is_ready() {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(100));
        }
        assert!(is_ready(), "PostgreSQL starts");
        Some(Server { port, folder, child })
    }

    fn url(&self) -> String {
        format!("postgres://postgres@127.0.0.1:{}/postgres", self.port)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = std::fs::write(self.folder.join("stop"), "");
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// PostgreSQL does what a script says, and refuses it at SERIALIZABLE.
#[track_caller]
fn shows(app: &str, script: &str) {
    let Some(answers) = in_postgresql(app, script) else { return };
    assert!(!answers.contains("ERROR"), "{script}{answers}");
    let serializable = script.replace("REPEATABLE READ", "SERIALIZABLE");
    let answers = in_postgresql(app, &serializable).expect("there was one");
    assert!(answers.contains("could not serialize access"), "{serializable}{answers}");
}

fn has_postgresql() -> bool {
    let found = Command::new("sh")
        .args(["-c", "ls -d /usr/lib/postgresql/*/bin >/dev/null 2>&1 || command -v pg_config >/dev/null"])
        .status();
    skew_testing::available("PostgreSQL", found.is_ok_and(|status| status.success()))
}

/// A free port, and a folder.
fn place() -> (u16, PathBuf) {
    let port = TcpListener::bind("127.0.0.1:0").and_then(|socket| socket.local_addr()).expect("a port").port();
    let folder = std::env::temp_dir().join(format!("skew-on-postgres-{port}"));
    std::fs::create_dir_all(&folder).expect("a folder");
    (port, folder)
}

/// What PostgreSQL answers to a script of several sessions; `None` where there is none.
fn in_postgresql(app: &str, script: &str) -> Option<String> {
    if !has_postgresql() {
        return None;
    }
    let port = TcpListener::bind("127.0.0.1:0").and_then(|socket| socket.local_addr()).expect("a port").port();
    let folder = std::env::temp_dir().join(format!("skew-on-postgres-{port}"));
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::write(folder.join("app.sql"), app).expect("the application is written");
    std::fs::write(folder.join("run.sh"), shell(port, script)).expect("the script is written");
    let output = Command::new(root().join("bench/with-postgres.sh"))
        .arg(port.to_string())
        .args(["timeout", "60", "bash", "run.sh"])
        .current_dir(&folder)
        .output()
        .expect("bash runs");
    let answers = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{answers}");
    std::fs::remove_dir_all(&folder).expect("the folder is ours");
    Some(answers)
}

/// Gives each line to the psql that it names, and waits until it is done.
fn shell(port: u16, script: &str) -> String {
    let psql = format!("psql -X -h 127.0.0.1 -p {port} -U postgres");
    let mut out = format!("set -e\n{psql} -q -f app.sql >/dev/null\n");
    for session in 1..=3 {
        let pipe = session + 10;
        let _ = writeln!(out, "mkfifo in{session}\n{psql} <in{session} 2>&1 &\nexec {pipe}>in{session}");
    }
    for (number, line) in script.lines().enumerate() {
        let (statement, session) = line.split_once(" -- T").expect("every line has a session");
        let pipe = session.parse::<usize>().expect("a number") + 10;
        let _ = writeln!(out, "cat >&{pipe} <<'END'\n{statement}\n\\! touch done{number}\nEND");
        let _ = writeln!(out, "while [ ! -e done{number} ]; do sleep 0.01; done");
    }
    out + "exec 11>&- 12>&- 13>&-\nwait\n"
}
