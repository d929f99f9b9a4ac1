"""psycopg 3: parameters in text and binary, pipelines, COPY, server-side cursors, errors, notices, cancel."""

import datetime as dt
import decimal
import threading
import uuid

import psycopg
from psycopg import errors, sql
from psycopg.rows import dict_row
from psycopg.types.json import Jsonb

connection = psycopg.connect("", autocommit=True)


def check(found, expected):
    assert found == expected, f"{found!r} is not {expected!r}"


def fails(error, code):
    try:
        code()
    except error as raised:
        return raised
    raise AssertionError(f"{error.__name__} was not raised")


def values_come_back():
    utc = dt.timezone.utc
    values = [
        ("bool", True), ("int2", -7), ("int4", 2**31 - 1), ("int8", -(2**63)), ("float8", 0.1), ("float4", 1.5),
        ("numeric", decimal.Decimal("12345678901234567890.0100")), ("text", "it's \\ \u20ac"), ("varchar", "x"),
        ("bytea", b"\x00\xff'\\"), ("date", dt.date(2024, 2, 29)), ("time", dt.time(23, 59, 59, 999999)),
        ("timestamp", dt.datetime(2024, 2, 29, 12, 30, 0, 1)),
        ("timestamptz", dt.datetime(2024, 2, 29, 12, 30, tzinfo=utc)),
        ("interval", dt.timedelta(days=3, seconds=5, microseconds=7)),
        ("uuid", uuid.UUID("00112233-4455-6677-8899-aabbccddeeff")), ("int4[]", [1, None, 3]), ("text[]", ["a,b", None, '"']),
        ("numeric", decimal.Decimal("NaN")), ("float8", float("inf")), ("date", None),
    ]
    for name, value in values:
        for binary in (False, True):
            for placeholder in ("%t", "%b"):
                if value is None and placeholder == "%b":
                    continue
                with connection.cursor(binary=binary) as cursor:
                    query = sql.SQL("SELECT {}::{}").format(sql.SQL(placeholder), sql.SQL(name))
                    found = cursor.execute(query, [value]).fetchone()[0]
                    if isinstance(value, decimal.Decimal) and value.is_nan():
                        assert found.is_nan()
                    else:
                        assert found == value, (name, binary, placeholder, found, value)
    check(connection.execute("SELECT %s::jsonb", [Jsonb({"b": [1, None], "a": "x"})]).fetchone()[0],
          {"a": "x", "b": [1, None]})


def columns_are_described():
    connection.execute("CREATE TABLE described (id serial PRIMARY KEY, name varchar(10), price numeric(8,2))")
    cursor = connection.execute("SELECT id, name, price, 1 AS one FROM described")
    found = [(c.name, c.type_code, c.internal_size, c.precision, c.scale) for c in cursor.description]
    check(found, [("id", 23, 4, None, None), ("name", 1043, None, None, None), ("price", 1700, None, 8, 2),
                  ("one", 23, 4, None, None)])


def transactions_nest():
    connection.execute("CREATE TABLE nested (id int PRIMARY KEY)")
    with connection.transaction():
        connection.execute("INSERT INTO nested VALUES (1)")
        try:
            with connection.transaction():
                connection.execute("INSERT INTO nested VALUES (2)")
                raise ValueError
        except ValueError:
            pass
        with connection.transaction():
            connection.execute("INSERT INTO nested VALUES (3)")
    check(connection.execute("SELECT id FROM nested ORDER BY id").fetchall(), [(1,), (3,)])


def errors_have_their_fields():
    connection.execute("CREATE TABLE parent (id int PRIMARY KEY)")
    connection.execute("CREATE TABLE child (id int PRIMARY KEY, parent int REFERENCES parent, n int CHECK (n > 0) NOT NULL)")
    connection.execute("INSERT INTO parent VALUES (1)")
    error = fails(errors.UniqueViolation, lambda: connection.execute("INSERT INTO parent VALUES (1)"))
    check((error.diag.constraint_name, error.diag.table_name, error.diag.schema_name), ("parent_pkey", "parent", "public"))
    check(error.diag.message_primary, 'duplicate key value violates unique constraint "parent_pkey"')
    check(error.diag.message_detail, "Key (id)=(1) already exists.")
    error = fails(errors.ForeignKeyViolation, lambda: connection.execute("INSERT INTO child VALUES (1, 9, 1)"))
    check(error.diag.constraint_name, "child_parent_fkey")
    error = fails(errors.NotNullViolation, lambda: connection.execute("INSERT INTO child VALUES (1, 1, NULL)"))
    check(error.diag.column_name, "n")
    error = fails(errors.CheckViolation, lambda: connection.execute("INSERT INTO child VALUES (1, 1, 0)"))
    check(error.diag.constraint_name, "child_n_check")
    error = fails(errors.UndefinedTable, lambda: connection.execute("SELECT * FROM nowhere"))
    check((error.diag.statement_position, error.diag.severity_nonlocalized), ("15", "ERROR"))
    fails(errors.SyntaxError, lambda: connection.execute("SELEC 1"))
    fails(errors.InvalidTextRepresentation, lambda: connection.execute("SELECT %s::text::int", ["x"]))
    fails(errors.DivisionByZero, lambda: connection.execute("SELECT 1/0"))


def a_failed_transaction_is_failed_until_it_is_rolled_back():
    with psycopg.connect("") as other:
        fails(errors.DivisionByZero, lambda: other.execute("SELECT 1/0"))
        check(other.info.transaction_status, psycopg.pq.TransactionStatus.INERROR)
        fails(errors.InFailedSqlTransaction, lambda: other.execute("SELECT 1"))
        other.rollback()
        check(other.execute("SELECT 1").fetchone(), (1,))


def pipelines_are_one_transaction():
    connection.execute("CREATE TABLE piped (id int PRIMARY KEY)")
    with connection.pipeline():
        for i in range(100):
            connection.execute("INSERT INTO piped VALUES (%s)", [i])
        cursor = connection.execute("SELECT count(*) FROM piped")
    check(cursor.fetchone(), (100,))

    def failing():
        with connection.pipeline():
            connection.execute("INSERT INTO piped VALUES (1000)")
            connection.execute("INSERT INTO piped VALUES (1)")
            connection.execute("INSERT INTO piped VALUES (1001)")
    fails(errors.UniqueViolation, failing)
    check(connection.execute("SELECT count(*) FROM piped").fetchone(), (100,))
    check(connection.info.transaction_status, psycopg.pq.TransactionStatus.IDLE)


def many_are_executed():
    connection.execute("CREATE TABLE many (id int PRIMARY KEY, name text)")
    with connection.cursor() as cursor:
        cursor.executemany("INSERT INTO many VALUES (%s, %s) RETURNING id", [(i, f"n{i}") for i in range(50)], returning=True)
        found = []
        while True:
            found.append(cursor.fetchone()[0])
            if not cursor.nextset():
                break
        check(found, list(range(50)))
        cursor.execute("UPDATE many SET name = 'x' WHERE id < 10")
        check((cursor.rowcount, cursor.statusmessage), (10, "UPDATE 10"))


def statements_are_prepared():
    for i in range(20):
        check(connection.execute("SELECT name FROM many WHERE id = %s", [i + 10], prepare=True).fetchone(), (f"n{i + 10}",))
    connection.execute("DEALLOCATE ALL")
    check(connection.execute("SELECT 1 + %s::int", [1], prepare=True).fetchone(), (2,))


def data_is_copied():
    connection.execute("CREATE TABLE copied (id int, name text, at timestamp)")
    rows = [(1, "a\tb\\c\n", dt.datetime(2024, 1, 2)), (2, None, None), (3, "\u20ac", dt.datetime(1999, 12, 31, 23, 59, 59))]
    with connection.cursor() as cursor:
        with cursor.copy("COPY copied FROM STDIN") as copy:
            for row in rows:
                copy.write_row(row)
        check(cursor.rowcount, 3)
        with cursor.copy("COPY copied (id, name, at) FROM STDIN (FORMAT binary)") as copy:
            copy.set_types(["int4", "text", "timestamp"])
            for row in rows:
                copy.write_row(row)
        check(connection.execute("SELECT * FROM copied ORDER BY id").fetchall(), sorted(rows * 2, key=lambda row: row[0]))
        with cursor.copy("COPY (SELECT * FROM copied ORDER BY id LIMIT 1) TO STDOUT") as copy:
            check(b"".join(bytes(data) for data in copy), b"1\ta\\tb\\\\c\\n\t2024-01-02 00:00:00\n")
        with cursor.copy("COPY copied TO STDOUT (FORMAT binary)") as copy:
            copy.set_types(["int4", "text", "timestamp"])
            check(sorted(copy.rows(), key=lambda row: row[0]), sorted(rows * 2, key=lambda row: row[0]))
        with cursor.copy("COPY copied TO STDOUT (FORMAT csv, HEADER)") as copy:
            check(b"".join(bytes(data) for data in copy).split(b"\n")[0], b"id,name,at")

        def given_up():
            with cursor.copy("COPY copied FROM STDIN") as copy:
                copy.write("4\tx\t\\N\n")
                raise ValueError
        fails(ValueError, given_up)

        def wrong():
            with cursor.copy("COPY copied FROM STDIN") as copy:
                copy.write("x\ty\tz\n")
        error = fails(errors.InvalidTextRepresentation, wrong)
        assert error.diag.context.startswith("COPY copied, line 1, column id"), error.diag.context
    check(connection.execute("SELECT count(*) FROM copied").fetchone(), (6,))


def cursors_stay_on_the_server():
    with connection.transaction():
        with connection.cursor("named", row_factory=dict_row) as cursor:
            cursor.execute("SELECT i, i * i AS square FROM generate_series(1, %s) i", [250])
            check(cursor.description[1].name, "square")
            check(cursor.fetchone(), {"i": 1, "square": 1})
            check(len(cursor.fetchmany(100)), 100)
            check(sum(row["i"] for row in cursor), sum(range(102, 251)))
        with connection.cursor("scrolling", scrollable=True) as cursor:
            cursor.execute("SELECT i FROM generate_series(1, 10) i")
            cursor.scroll(5)
            check(cursor.fetchone(), (6,))
            cursor.scroll(-3)
            check(cursor.fetchone(), (4,))


def notices_arrive():
    heard = []
    connection.add_notice_handler(lambda notice: heard.append((notice.severity, notice.message_primary)))
    connection.execute("DO $$ BEGIN RAISE NOTICE 'hello %', 1; RAISE WARNING 'careful'; END $$")
    connection.execute("DROP TABLE IF EXISTS nowhere")
    check(heard, [("NOTICE", "hello 1"), ("WARNING", "careful"), ("NOTICE", 'table "nowhere" does not exist, skipping')])


def settings_are_reported():
    check(connection.info.parameter_status("server_encoding"), "UTF8")
    check(connection.info.parameter_status("standard_conforming_strings"), "on")
    assert connection.info.server_version // 10000 == 15, connection.info.server_version
    connection.execute("SET TIME ZONE 'Europe/Berlin'")
    check(connection.info.parameter_status("TimeZone"), "Europe/Berlin")
    with psycopg.connect("", options="-c search_path=pg_catalog -c timezone=UTC", application_name="tester") as other:
        check(other.execute("SHOW search_path").fetchone(), ("pg_catalog",))
        check(other.execute("SHOW application_name").fetchone(), ("tester",))
        check(other.info.parameter_status("TimeZone"), "UTC")


def isolation_is_asked_for():
    with psycopg.connect("") as other:
        other.isolation_level = psycopg.IsolationLevel.SERIALIZABLE
        check(other.execute("SHOW transaction_isolation").fetchone(), ("serializable",))
        other.rollback()
        other.isolation_level = None
        other.read_only = True
        fails(errors.ReadOnlySqlTransaction, lambda: other.execute("CREATE TABLE never (id int)"))


def statements_are_cancelled():
    with psycopg.connect("", autocommit=True) as other:
        timer = threading.Timer(0.2, other.cancel_safe)
        timer.start()
        fails(errors.QueryCanceled, lambda: other.execute("SELECT pg_sleep(30)"))
        timer.join()
        check(other.execute("SELECT 1").fetchone(), (1,))


def notifications_arrive():
    with psycopg.connect("", autocommit=True) as listener:
        listener.execute("LISTEN news")
        connection.execute("NOTIFY news, 'first'")
        connection.execute("SELECT pg_notify('news', 'second')")
        found = [(n.channel, n.payload) for n in listener.notifies(timeout=10, stop_after=2)]
        check(found, [("news", "first"), ("news", "second")])


def several_statements_make_one_query():
    cursor = connection.execute("SELECT 1; SELECT 2, 3; CREATE TABLE several (id int)")
    check(cursor.fetchall(), [(1,)])
    assert cursor.nextset()
    check(cursor.fetchall(), [(2, 3)])
    assert cursor.nextset()
    check(cursor.statusmessage, "CREATE TABLE")
    fails(errors.UniqueViolation, lambda: connection.execute(
        "CREATE TABLE twice (id int PRIMARY KEY); INSERT INTO twice VALUES (1); INSERT INTO twice VALUES (1)"))
    fails(errors.UndefinedTable, lambda: connection.execute("SELECT * FROM twice"))


import sys

checks = [f for f in list(globals().values()) if callable(f) and getattr(f, "__module__", None) == "__main__"
          and f.__name__ not in ("check", "fails")]
failed = 0
for f in checks:
    try:
        f()
    except Exception as error:
        failed += 1
        print(f"FAILED {f.__name__}: {type(error).__name__}: {error}")
        if connection.info.transaction_status != psycopg.pq.TransactionStatus.IDLE:
            connection.rollback()
print(f"{len(checks) - failed} of {len(checks)} passed")
sys.exit(failed > 0)
