//! The protocol, message by message: what PostgreSQL answers.

use crate::raw::{Raw, bind, close, describe, execute, message, parse, query, startup, sync};
use crate::target::Target;

fn connect(target: &Target) -> Raw {
    Raw::connect(target.address, &target.database)
}

#[test]
fn a_simple_query_answers_each_statement() {
    let target = Target::new();
    let mut raw = connect(&target);
    assert_eq!(raw.query("SELECT 1 AS a, NULL::text AS b"), "T(a:23:0,b:25:0) D(1,NULL) C(SELECT 1) Z(I)");
    assert_eq!(raw.query("SELECT 1 AS a; SELECT 2 AS b;"), {
        "T(a:23:0) D(1) C(SELECT 1) T(b:23:0) D(2) C(SELECT 1) Z(I)"
    });
    assert_eq!(raw.query(""), "I Z(I)");
    assert_eq!(raw.query(" ; -- nothing"), "I Z(I)");
    assert_eq!(raw.query("SELECT WHERE false"), "T() C(SELECT 0) Z(I)");
}

#[test]
fn a_simple_query_is_one_transaction() {
    let target = Target::new();
    let mut raw = connect(&target);
    assert_eq!(raw.query("CREATE TABLE t (id int PRIMARY KEY)"), "C(CREATE TABLE) Z(I)");
    assert_eq!(raw.query("INSERT INTO t VALUES (1); INSERT INTO t VALUES (1)"), {
        "C(INSERT 0 1) E(23505 duplicate key value violates unique constraint \"t_pkey\") Z(I)"
    });
    assert_eq!(raw.query("SELECT count(*) FROM t"), "T(count:20:0) D(0) C(SELECT 1) Z(I)");
    // COMMIT within it commits what was before; what is after is on its own.
    assert_eq!(raw.query("BEGIN; INSERT INTO t VALUES (1); COMMIT; INSERT INTO t VALUES (2); SELECT 1/0"), {
        "C(BEGIN) C(INSERT 0 1) C(COMMIT) C(INSERT 0 1) E(22012 division by zero) Z(I)"
    });
    assert_eq!(raw.query("SELECT id FROM t"), "T(id:23:0) D(1) C(SELECT 1) Z(I)");
}

#[test]
fn the_status_follows_the_transaction() {
    let target = Target::new();
    let mut raw = connect(&target);
    assert_eq!(raw.query("BEGIN"), "C(BEGIN) Z(T)");
    assert_eq!(raw.query("SELECT 1/0"), "E(22012 division by zero) Z(E)");
    assert_eq!(raw.query("SELECT 1"), {
        "E(25P02 current transaction is aborted, commands ignored until end of transaction block) Z(E)"
    });
    assert_eq!(raw.query("COMMIT"), "C(ROLLBACK) Z(I)");
    assert_eq!(raw.query("COMMIT"), "N(WARNING 25P01 there is no transaction in progress) C(COMMIT) Z(I)");
}

#[test]
fn an_extended_query_has_its_steps() {
    let target = Target::new();
    let mut raw = connect(&target);
    let steps = [
        parse("s", "SELECT $1::int + 1 AS next, $2::text AS word", &[]),
        describe('S', "s"),
        bind("p", "s", &["41", "x"], 0),
        describe('P', "p"),
        execute("p", 0),
        sync(),
    ];
    assert_eq!(raw.talk(&steps), {
        "1 t(23,25) T(next:23:0,word:25:0) 2 T(next:23:0,word:25:0) D(42,x) C(SELECT 1) Z(I)"
    });
    assert_eq!(raw.talk(&[bind("", "s", &["1", "y"], 1), describe('P', ""), execute("", 0), sync()]), {
        "2 T(next:23:1,word:25:1) D(00000002,y) C(SELECT 1) Z(I)"
    });
    assert_eq!(raw.talk(&[close('S', "s"), close('S', "never"), bind("", "s", &[], 0), sync()]), {
        "3 3 E(26000 prepared statement \"s\" does not exist) Z(I)"
    });
    assert_eq!(raw.talk(&[parse("", "SET extra_float_digits = 1", &[]), describe('S', ""), sync()]), "1 t() n Z(I)");
    assert_eq!(raw.talk(&[parse("", "", &[]), bind("", "", &[], 0), execute("", 0), sync()]), "1 2 I Z(I)");
}

#[test]
fn after_an_error_everything_is_skipped_until_sync() {
    let target = Target::new();
    let mut raw = connect(&target);
    assert_eq!(
        raw.talk(&[parse("", "SELEC", &[]), bind("", "", &[], 0), execute("", 0), query("SELECT 1"), sync()]),
        { "E(42601 syntax error at or near \"SELEC\") Z(I)" }
    );
    assert_eq!(raw.talk(&[bind("", "", &[], 0), sync()]), "E(26000 unnamed prepared statement does not exist) Z(I)");
    assert_eq!(raw.talk(&[execute("p", 0), sync()]), "E(34000 portal \"p\" does not exist) Z(I)");
    assert_eq!(raw.talk(&[describe('P', "p"), sync()]), "E(34000 portal \"p\" does not exist) Z(I)");
    assert_eq!(raw.talk(&[parse("", "SELECT $1::int", &[]), bind("", "", &[], 0), sync()]), {
        "1 E(08P01 bind message supplies 0 parameters, but prepared statement \"\" requires 1) Z(I)"
    });
    assert_eq!(raw.talk(&[parse("", "SELECT $1::int", &[]), bind("", "", &["x"], 0), sync()]), {
        "1 E(22P02 invalid input syntax for type integer: \"x\") Z(I)"
    });
    assert_eq!(raw.talk(&[parse("", "SELECT 1; SELECT 2", &[]), sync()]), {
        "E(42601 cannot insert multiple commands into a prepared statement) Z(I)"
    });
    assert_eq!(raw.talk(&[parse("s", "SELECT 1", &[]), parse("s", "SELECT 1", &[]), sync()]), {
        "1 E(42P05 prepared statement \"s\" already exists) Z(I)"
    });
}

#[test]
fn errors_of_any_step_abort_the_transaction() {
    let target = Target::new();
    let mut raw = connect(&target);
    assert_eq!(raw.query("BEGIN"), "C(BEGIN) Z(T)");
    assert_eq!(raw.talk(&[bind("", "nothing", &[], 0), sync()]), {
        "E(26000 prepared statement \"nothing\" does not exist) Z(E)"
    });
    assert_eq!(raw.query("ROLLBACK"), "C(ROLLBACK) Z(I)");
    assert_eq!(raw.query("BEGIN"), "C(BEGIN) Z(T)");
    assert_eq!(raw.talk(&[parse("", "SELECT $1::int", &[]), bind("", "", &["x"], 0), sync()]), {
        "1 E(22P02 invalid input syntax for type integer: \"x\") Z(E)"
    });
}

#[test]
fn a_pipeline_is_one_transaction_up_to_sync() {
    let target = Target::new();
    let mut raw = connect(&target);
    raw.query("CREATE TABLE t (id int PRIMARY KEY)");
    let insert = |id: &str| [bind("", "i", &[id], 0), execute("", 0)].concat();
    let failing =
        [parse("i", "INSERT INTO t VALUES ($1)", &[]), insert("1"), insert("2"), insert("1"), insert("3"), sync()];
    assert_eq!(raw.talk(&failing), {
        "1 2 C(INSERT 0 1) 2 C(INSERT 0 1) 2 E(23505 duplicate key value violates unique constraint \"t_pkey\") Z(I)"
    });
    assert_eq!(raw.query("SELECT count(*) FROM t"), "T(count:20:0) D(0) C(SELECT 1) Z(I)");
    assert_eq!(raw.talk(&[insert("1"), insert("2"), sync()]), "2 C(INSERT 0 1) 2 C(INSERT 0 1) Z(I)");
    assert_eq!(raw.query("SELECT count(*) FROM t"), "T(count:20:0) D(2) C(SELECT 1) Z(I)");
}

#[test]
fn constraints_that_are_deferred_fail_at_sync() {
    let target = Target::new();
    let mut raw = connect(&target);
    raw.query("CREATE TABLE p (id int PRIMARY KEY)");
    raw.query("CREATE TABLE c (p int REFERENCES p DEFERRABLE INITIALLY DEFERRED)");
    let error = "E(23503 insert or update on table \"c\" violates foreign key constraint \"c_p_fkey\")";
    assert_eq!(
        raw.talk(&[parse("", "INSERT INTO c VALUES (1)", &[]), bind("", "", &[], 0), execute("", 0), sync()]),
        { format!("1 2 C(INSERT 0 1) {error} Z(I)") }
    );
    assert_eq!(raw.query("INSERT INTO c VALUES (1)"), format!("{error} Z(I)"));
    assert_eq!(raw.query("SELECT 1 AS a; INSERT INTO c VALUES (1)"), {
        format!("T(a:23:0) D(1) C(SELECT 1) {error} Z(I)")
    });
}

#[test]
fn portals_hand_out_rows_in_pieces() {
    let target = Target::new();
    let mut raw = connect(&target);
    let begin = [parse("s", "SELECT g FROM generate_series(1, 5) g", &[]), bind("p", "s", &[], 0)].concat();
    assert_eq!(raw.talk(&[begin, execute("p", 2), execute("p", 2), execute("p", 2), execute("p", 2), sync()]), {
        "1 2 D(1) D(2) s D(3) D(4) s D(5) C(SELECT 1) C(SELECT 0) Z(I)"
    });
    // Exactly as many as there are: the portal does not know yet that it is at its end.
    assert_eq!(raw.talk(&[bind("p", "s", &[], 0), execute("p", 5), execute("p", 5), sync()]), {
        "2 D(1) D(2) D(3) D(4) D(5) s C(SELECT 0) Z(I)"
    });
    // A portal ends with its transaction, which may go on after Sync.
    assert_eq!(raw.talk(&[execute("p", 1), sync()]), "E(34000 portal \"p\" does not exist) Z(I)");
    raw.query("BEGIN");
    assert_eq!(raw.talk(&[bind("p", "s", &[], 0), execute("p", 2), sync()]), "2 D(1) D(2) s Z(T)");
    assert_eq!(raw.talk(&[execute("p", 2), sync()]), "D(3) D(4) s Z(T)");
    assert_eq!(raw.talk(&[bind("p", "s", &[], 0), sync()]), "E(42P03 cursor \"p\" already exists) Z(E)");
    raw.query("ROLLBACK");
    assert_eq!(
        raw.talk(&[
            parse("", "CREATE TABLE t (id int)", &[]),
            bind("", "", &[], 0),
            execute("", 0),
            execute("", 0),
            sync()
        ]),
        { "1 2 C(CREATE TABLE) E(55000 portal \"\" cannot be run) Z(I)" }
    );
    assert_eq!(
        raw.talk(&[
            parse("", "INSERT INTO t VALUES (1), (2), (3) RETURNING id", &[]),
            bind("", "", &[], 0),
            execute("", 2),
            execute("", 2),
            sync()
        ]),
        { "E(42P01 relation \"t\" does not exist) Z(I)" }
    );
}

#[test]
fn statements_with_returning_run_once() {
    let target = Target::new();
    let mut raw = connect(&target);
    raw.query("CREATE TABLE t (id int)");
    let insert = [parse("", "INSERT INTO t VALUES (1), (2), (3) RETURNING id", &[]), bind("", "", &[], 0)].concat();
    assert_eq!(raw.talk(&[insert, execute("", 2), execute("", 2), sync()]), "1 2 D(1) D(2) s D(3) C(INSERT 0 1) Z(I)");
    assert_eq!(raw.query("SELECT count(*) FROM t"), "T(count:20:0) D(3) C(SELECT 1) Z(I)");
}

#[test]
fn names_are_shared_with_sql() {
    let target = Target::new();
    let mut raw = connect(&target);
    raw.talk(&[parse("s", "SELECT 7 AS seven", &[]), sync()]);
    assert_eq!(raw.query("EXECUTE s"), "T(seven:23:0) D(7) C(SELECT 1) Z(I)");
    assert_eq!(raw.query("DEALLOCATE s"), "C(DEALLOCATE) Z(I)");
    assert_eq!(raw.talk(&[bind("", "s", &[], 0), sync()]), "E(26000 prepared statement \"s\" does not exist) Z(I)");
    assert_eq!(
        raw.query("BEGIN; DECLARE c CURSOR FOR SELECT g FROM generate_series(1, 3) g"),
        "C(BEGIN) C(DECLARE CURSOR) Z(T)"
    );
    assert_eq!(raw.talk(&[describe('P', "c"), execute("c", 2), execute("c", 0), sync()]), {
        "T(g:23:0) D(1) D(2) s D(3) C(SELECT 1) Z(T)"
    });
}

#[test]
fn data_is_copied_in_and_out() {
    let target = Target::new();
    let mut raw = connect(&target);
    raw.query("CREATE TABLE t (id int PRIMARY KEY, name text)");
    let data = |text: &str| message(b'd', text.as_bytes());
    raw.send(&query("COPY t FROM STDIN; SELECT 1 AS one"));
    assert_eq!(raw.one(), "G(0,2)");
    assert_eq!(raw.talk(&[data("1\ta\n2"), data("\tb\n"), message(b'c', b"")]), {
        "C(COPY 2) T(one:23:0) D(1) C(SELECT 1) Z(I)"
    });
    assert_eq!(raw.query("COPY t TO STDOUT"), "H(0,2) d(1\ta\n) d(2\tb\n) c C(COPY 2) Z(I)");
    raw.send(&query("COPY t FROM STDIN"));
    assert_eq!(raw.one(), "G(0,2)");
    assert_eq!(raw.talk(&[data("3\tc\n"), message(b'f', b"enough\0")]), "E(57014 COPY from stdin failed: enough) Z(I)");
    raw.send(&query("COPY t FROM STDIN"));
    assert_eq!(raw.one(), "G(0,2)");
    assert_eq!(raw.talk(&[data("1\tx\n"), data("9\ty\n"), message(b'c', b"")]), {
        "E(23505 duplicate key value violates unique constraint \"t_pkey\") Z(I)"
    });
    raw.send(&[parse("", "COPY t (id) FROM STDIN", &[]), bind("", "", &[], 0), execute("", 0), sync()].concat());
    assert_eq!([raw.one(), raw.one(), raw.one()].join(" "), "1 2 G(0,1)");
    assert_eq!(raw.talk(&[data("5\n"), message(b'c', b""), sync()]), "C(COPY 1) Z(I)");
    assert_eq!(raw.query("SELECT count(*) FROM t"), "T(count:20:0) D(3) C(SELECT 1) Z(I)");
    raw.send(&query("COPY t FROM STDIN"));
    assert_eq!(raw.one(), "G(0,2)");
    assert_eq!(raw.query("SELECT 1"), {
        "E(08P01 unexpected message type 0x51 during COPY from stdin) \
         E(FATAL 08P01 terminating connection because protocol synchronization was lost) closed"
    });
}

#[test]
fn changed_settings_are_reported() {
    let target = Target::new();
    let mut raw = connect(&target);
    assert_eq!(raw.query("SET application_name = 'x'"), "C(SET) S(application_name=x) Z(I)");
    assert_eq!(raw.query("SET application_name = 'x'"), "C(SET) Z(I)");
    assert_eq!(raw.query("BEGIN; SET LOCAL TimeZone = 'Asia/Tokyo'"), "C(BEGIN) C(SET) S(TimeZone=Asia/Tokyo) Z(T)");
    let back = raw.query("ROLLBACK");
    assert!(back.starts_with("C(ROLLBACK) S(TimeZone="), "{back}");
}

#[test]
fn malformed_messages_are_errors_of_their_own() {
    let target = Target::new();
    let mut raw = connect(&target);
    assert_eq!(raw.talk(&[message(b'Q', b"SELECT 1")]), "E(08P01 invalid string in message) Z(I)");
    assert_eq!(
        raw.talk(&[parse("", "SELECT 1", &[]), message(b'B', b"\0\0\0\x01"), sync()]),
        "1 E(08P01 insufficient data left in message) Z(I)"
    );
    assert_eq!(raw.talk(&[message(b'D', b"x\0"), sync()]), "E(08P01 invalid DESCRIBE message subtype 120) Z(I)");
    assert_eq!(raw.talk(&[message(b'Q', b"SELECT '\xff'\0")]), {
        "E(22021 invalid byte sequence for encoding \"UTF8\": 0xff) Z(I)"
    });
    assert_eq!(raw.talk(&[message(b'Q', b"SELECT '\xe2\x28\xa1'\0")]), {
        "E(22021 invalid byte sequence for encoding \"UTF8\": 0xe2 0x28 0xa1) Z(I)"
    });
    let mut binary = b"\0\0\0\0\0\x01\0\0\0\x01\xff\0\0".to_vec();
    assert_eq!(raw.talk(&[parse("", "SELECT $1::text", &[]), message(b'B', &binary), sync()]), {
        "1 E(22021 invalid byte sequence for encoding \"UTF8\": 0xff) Z(I)"
    });
    // As a binary integer of one byte.
    binary.splice(2..4, [0, 1, 0, 1]);
    assert_eq!(raw.talk(&[parse("", "SELECT $1::int", &[]), message(b'B', &binary), sync()]), {
        "1 E(08P01 insufficient data left in message) Z(I)"
    });
    assert_eq!(raw.query("SELECT 1 AS a"), "T(a:23:0) D(1) C(SELECT 1) Z(I)");
}

#[test]
fn messages_out_of_sync_end_the_connection() {
    let target = Target::new();
    let mut raw = connect(&target);
    raw.send(b"G\0\0\0\x04");
    assert_eq!(raw.until_ready(), "E(FATAL 08P01 invalid frontend message type 71) closed");
}

#[test]
fn startups_are_negotiated() {
    let target = Target::new();
    let mut raw = Raw::socket(target.address);
    raw.send(&startup(196608 + 2, &[("user", "postgres"), ("database", &target.database), ("_pq_.new", "1")]));
    let greeting = raw.until_ready();
    assert!(greeting.starts_with("v") && greeting.ends_with("Z(I)"), "{greeting}");
    let mut raw = Raw::socket(target.address);
    raw.send(&startup(196608, &[("database", "x")]));
    assert_eq!(raw.until_ready(), "E(FATAL 28000 no PostgreSQL user name specified in startup packet) closed");
}
