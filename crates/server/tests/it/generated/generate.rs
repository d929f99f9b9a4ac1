//! Statements from the grammar of what is supported: every function and operator, every type with its edges.

use skew_sql::catalog::Catalog;
use skew_sql::functions::{Body, Function, all_functions, all_operators};
use skew_sql::types::names;
use skew_sql::types::{Type as T, kind};

use skew_testing::Dice;

/// What every database begins with.
pub(super) const SCHEMA: &[&str] = &[
    "CREATE TABLE t0 (a int PRIMARY KEY, b text, c numeric, d timestamptz, e jsonb, f int[])",
    "CREATE TABLE t1 (a bigint, b float8, c date, d interval, e bytea, f text[], g bool)",
    "CREATE TABLE t2 (a int REFERENCES t0 ON DELETE CASCADE, b varchar(10) DEFAULT 'x', c serial, UNIQUE (a, b), CHECK (c > 0))",
    "INSERT INTO t0 SELECT g, 'text ' || g, g / 3.0, timestamptz '2024-01-01' + g * interval '1 day', jsonb_build_object('k', g), \
     ARRAY[g, g + 1] FROM generate_series(1, 50) g",
    "INSERT INTO t1 SELECT g, g / 7.0, date '2024-01-01' + g, g * interval '1 hour', 'x', ARRAY['a', 'b'], g % 2 = 0 \
     FROM generate_series(1, 50) g",
    "INSERT INTO t2 (a, b) SELECT g, 'n' || g FROM generate_series(1, 20) g",
    "CREATE VIEW v0 AS SELECT a, b, row_number() OVER (ORDER BY c) AS n FROM t0",
    "CREATE FUNCTION f0(n int) RETURNS int LANGUAGE plpgsql AS $$ BEGIN RETURN n + 1; END $$",
];

/// Functions that stop other connections or this one, sleep, or change the timeout.
const LEFT_OUT: &[&str] =
    &["pg_terminate_backend", "pg_cancel_backend", "set_config", "pg_sleep", "pg_sleep_for", "pg_sleep_until"];

/// How deep expressions nest.
const DEPTH: usize = 3;

pub(super) struct Generator {
    catalog: Catalog,
    calls: Vec<&'static Function>,
    operators: Vec<&'static Function>,
}

impl Generator {
    pub(super) fn new() -> Generator {
        let calls = all_functions().filter(|function| !LEFT_OUT.contains(&function.name)).collect();
        Generator { catalog: Catalog::default(), calls, operators: all_operators().collect() }
    }

    pub(super) fn statement(&self, random: &mut Dice) -> String {
        match random.roll(20) {
            0..=7 => format!("SELECT {}", self.call(self.calls[random.roll(self.calls.len())], DEPTH, random)),
            8..=9 => {
                format!("SELECT {}", self.operation(self.operators[random.roll(self.operators.len())], DEPTH, random))
            }
            10..=13 => self.query(2, random),
            14..=15 => self.change(random),
            16..=17 => self.definition(random),
            _ => self.block(random),
        }
    }

    /// A call of any function, with arguments of its types.
    fn call(&self, function: &Function, depth: usize, random: &mut Dice) -> String {
        let mut args: Vec<String> = function.args.iter().map(|ty| self.expr(*ty, depth, random)).collect();
        if random.one_in(30) {
            args.pop();
        }
        if function.variadic && random.one_in(2) {
            args.extend((0..random.roll(4)).map(|_| self.expr(T::TEXT, 0, random)));
        }
        let name = match function.name {
            "history" | "choices" | "seed" | "level" => format!("skew.{}", function.name),
            name => format!("\"{name}\""),
        };
        let list = args.join(", ");
        match &function.body {
            Body::OrderedSet { direct, .. } => {
                let (direct, sorted) = args.split_at((*direct).min(args.len()));
                format!("{name}({}) WITHIN GROUP (ORDER BY {}) FROM t0", direct.join(", "), sorted.join(", "))
            }
            Body::Aggregate(_) if random.one_in(3) => format!("{name}({list}) OVER ({}) FROM t0", self.window(random)),
            Body::Aggregate(_) => format!("{name}({}{list}) FROM t0", if random.one_in(4) { "DISTINCT " } else { "" }),
            Body::Window(_) => format!("{name}({list}) OVER ({}) FROM t0", self.window(random)),
            Body::Set { .. } if random.one_in(2) => format!("* FROM {name}({list}) LIMIT 100"),
            Body::Set { .. } | Body::Scalar(_) => format!("{name}({list})"),
        }
    }

    fn operation(&self, operator: &Function, depth: usize, random: &mut Dice) -> String {
        match operator.args {
            [only] => format!("{} {}", operator.name, self.expr(*only, depth, random)),
            [left, right] => {
                let (left, right) = (self.expr(*left, depth, random), self.expr(*right, depth, random));
                format!("{left} {} {right}", operator.name)
            }
            _ => "1".to_owned(),
        }
    }

    fn window(&self, random: &mut Dice) -> String {
        let mut window = String::new();
        if random.one_in(2) {
            window += &format!("PARTITION BY {} ", random.of(&["a % 3", "b", "c > 5"]));
        }
        window += &format!("ORDER BY {} ", random.of(&["a", "c DESC", "d"]));
        if random.one_in(2) {
            let bound = |random: &mut Dice| {
                let edges = ["UNBOUNDED PRECEDING", "1 PRECEDING", "CURRENT ROW", "2 FOLLOWING", "UNBOUNDED FOLLOWING"];
                (*random.of(&edges)).to_owned()
            };
            let exclude = random.of(&["", "EXCLUDE CURRENT ROW", "EXCLUDE TIES", "EXCLUDE GROUP"]);
            let unit = random.of(&["ROWS", "GROUPS", "RANGE"]);
            window += &format!("{unit} BETWEEN {} AND {} {exclude}", bound(random), bound(random));
        }
        window
    }

    /// An expression of a type, or nearly.
    fn expr(&self, ty: T, depth: usize, random: &mut Dice) -> String {
        let concrete = self.concrete(ty, random);
        if depth == 0 || random.one_in(2) {
            return self.literal(concrete, random);
        }
        let inner = depth - 1;
        match random.roll(12) {
            0..=4 => {
                let fitting: Vec<&Function> =
                    self.calls.iter().copied().filter(|function| function.returns == concrete).collect();
                match fitting.is_empty() {
                    true => self.literal(concrete, random),
                    false => {
                        let function = fitting[random.roll(fitting.len())];
                        match function.body {
                            Body::Scalar(_) => self.call(function, inner, random),
                            _ => self.literal(concrete, random),
                        }
                    }
                }
            }
            5..=6 => {
                let fitting: Vec<&Function> =
                    self.operators.iter().copied().filter(|operator| operator.returns == concrete).collect();
                match fitting.is_empty() {
                    true => self.literal(concrete, random),
                    false => format!("({})", self.operation(fitting[random.roll(fitting.len())], inner, random)),
                }
            }
            7 => format!("(SELECT {} FROM t0 LIMIT 1)", self.expr(concrete, inner, random)),
            8 => {
                let condition = self.expr(T::BOOL, inner, random);
                let (yes, no) = (self.expr(concrete, inner, random), self.expr(concrete, inner, random));
                format!("CASE WHEN {condition} THEN {yes} ELSE {no} END")
            }
            9 => format!("coalesce({}, {})", self.expr(concrete, inner, random), self.expr(concrete, inner, random)),
            10 => {
                let from = *random.of(TYPES);
                format!("({})::{}", self.expr(from, inner, random), self.name(concrete))
            }
            _ => format!("nullif({}, {})", self.expr(concrete, inner, random), self.expr(concrete, inner, random)),
        }
    }

    /// A type in the place of a polymorphic one.
    fn concrete(&self, ty: T, random: &mut Dice) -> T {
        match ty {
            T::ANYARRAY => *random.of(&[T::INT4_ARRAY, T::TEXT_ARRAY]),
            T::ANYELEMENT | T::ANY => *random.of(TYPES),
            ty => ty,
        }
    }

    fn name(&self, ty: T) -> String {
        names::display(ty, &self.catalog)
    }

    fn literal(&self, ty: T, random: &mut Dice) -> String {
        if random.one_in(25) {
            return "NULL".to_owned();
        }
        let name = self.name(ty);
        if let Some(element) = kind::element(ty, &self.catalog) {
            return match random.roll(6) {
                0 => format!("'{{}}'::{name}"),
                1 => format!("array_fill({}, ARRAY[2, 3])", self.literal(element, random)),
                2 => format!("array_fill({}, ARRAY[3], ARRAY[-1])", self.literal(element, random)),
                3 => format!("ARRAY(SELECT {} FROM t0)", self.literal(element, random)),
                _ => {
                    let items: Vec<String> = (0..1 + random.roll(4)).map(|_| self.literal(element, random)).collect();
                    format!("ARRAY[{}]::{name}", items.join(", "))
                }
            };
        }
        let edges: &[&str] = match ty {
            T::INT2 => &["0", "1", "-1", "32767", "-32768"],
            T::INT4 => &["0", "1", "2", "-1", "7", "100", "2147483647", "-2147483648"],
            T::INT8 => &["0", "1", "-1", "1000", "9223372036854775807", "-9223372036854775808", "4294967296"],
            T::FLOAT4 | T::FLOAT8 => {
                &["0", "-0", "1.5", "-2", "NaN", "Infinity", "-Infinity", "1e30", "1e-30", "3.4e38", "0.1"]
            }
            T::NUMERIC => &[
                "0",
                "1",
                "-1",
                "0.5",
                "NaN",
                "Infinity",
                "-Infinity",
                "1e1000",
                "1e-1000",
                "123456789.987654321",
                "-99999999999999999999",
                "1e131000",
                "0.00000000000000000001",
                "3",
                "12",
            ],
            T::BOOL => &["true", "false"],
            T::DATE => {
                &["2024-02-29", "infinity", "-infinity", "4713-01-01 BC", "5874897-12-31", "1970-01-01", "0001-01-01"]
            }
            T::TIME => &["00:00", "24:00:00", "23:59:59.999999", "12:34:56"],
            T::TIMETZ => &["00:00+15:59", "24:00-15:59", "12:00Z"],
            T::TIMESTAMP | T::TIMESTAMPTZ => &[
                "2024-02-29 12:34:56.789",
                "infinity",
                "-infinity",
                "4713-01-01 00:00 BC",
                "294276-12-31 23:59:59.999999",
                "1970-01-01",
                "0001-12-31 BC",
            ],
            T::INTERVAL => &[
                "0",
                "1 day",
                "-1 month",
                "178956970 years",
                "-178956970 years",
                "2147483647 days",
                "-2147483648 days",
                "9223372036854 seconds",
                "1 year 2 months 3 days 04:05:06.7",
                "-9223372036854775807 microseconds",
            ],
            T::JSON | T::JSONB => &[
                "null",
                "1",
                "\"a\"",
                "[]",
                "{}",
                "[1, [2, {\"a\": [3]}]]",
                "{\"a\": 1, \"b\": [1, 2], \"c\": {\"d\": null}}",
                "1e400",
                "-0.0",
                "[[[[[[]]]]]]",
                "{\"\": \"\\u00e4\"}",
            ],
            T::BYTEA => &["", "\\x00", "\\xdeadbeef", "abc"],
            T::UUID => &["00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff"],
            T::OID | T::REGCLASS => &["0", "1259", "16384", "4294967295"],
            T::INET | T::CIDR => &["0.0.0.0/0", "255.255.255.255", "::/0", "10.0.0.0/8", "fe80::1"],
            T::BIT | T::VARBIT => &["0", "1", "10101", "11111111111111111111111111111111"],
            T::RECORD => return format!("row({}, {})", self.literal(T::INT4, random), self.literal(T::TEXT, random)),
            T::TEXT | T::VARCHAR | T::BPCHAR | T::NAME | T::UNKNOWN => return self.text(random, &name),
            _ => &["0", "a", "", "1", "t0", "{}", "$.a[*] ? (@ > 1)", "(1,2)"],
        };
        let edge = random.of(edges);
        match random.one_in(6) {
            true => format!("'{edge}'"),
            false => format!("'{edge}'::{name}"),
        }
    }

    fn text(&self, random: &mut Dice, name: &str) -> String {
        if random.one_in(12) {
            let (piece, times) =
                (random.of(&["a", "ab", "ä", "1", "(", "x "]), random.of(&["1000", "20000", "300000"]));
            return format!("repeat('{piece}', {times})");
        }
        let texts = [
            "",
            "a",
            "abc",
            "ABC",
            "äöü\u{1f600}",
            "%",
            "_",
            "\\",
            "a%b",
            "(a|b)*c",
            "([a-z]+)\\1",
            "^(.*)$",
            "[[:alpha:]]",
            "x{1,100}",
            "(?=a)",
            "YYYY-MM-DD HH24:MI:SS.US TZ",
            "FM999,999D99MI",
            "RN",
            "9.99EEEE",
            "%s %I %L %1$s",
            "%10s",
            "UTC",
            "Europe/Berlin",
            "+15:59",
            "public.t0",
            "t0",
            "pg_class",
            "year",
            "month",
            "epoch",
            "week",
            "century",
            "hex",
            "base64",
            "escape",
            "SQL_ASCII",
            "g",
            "gi",
            "n",
            "1",
            "-1",
            "1e10",
            "NaN",
            "infinity",
            "2024-02-29",
            "{a,b}",
            "{\"a\": 1}",
            "[1,2]",
            "$.a",
            "lax $[*]",
            "strict $.** ? (@ > 0)",
            "select 1",
            "int4",
            "text",
            " ",
            "\t\n",
            "a b c",
            "0x1F",
            "true",
            "nfc",
            "md5",
            "sha256",
        ];
        let text = random.of(&texts).replace('\'', "''");
        match random.one_in(3) {
            true => format!("'{text}'::{name}"),
            false => format!("'{text}'"),
        }
    }

    fn from(&self, depth: usize, random: &mut Dice) -> (String, &'static str) {
        match random.roll(9) {
            0..=2 => ("t0".to_owned(), "t0"),
            3 => ("v0 AS t0".to_owned(), "t0"),
            4 => ("t0 JOIN t2 USING (a)".to_owned(), "t0"),
            5 => ("t0 LEFT JOIN LATERAL (SELECT * FROM t2 WHERE t2.a = t0.a) s ON true".to_owned(), "t0"),
            6 => (format!("(SELECT a, b, c FROM t0 WHERE {}) t0", self.condition(depth, random)), "t0"),
            7 => ("generate_series(1, 100000) t0(a), t1".to_owned(), "t0"),
            _ => ("t0, t1 AS s, t2 AS u".to_owned(), "t0"),
        }
    }

    fn condition(&self, depth: usize, random: &mut Dice) -> String {
        match random.roll(6) {
            0 => format!("a = {}", self.expr(T::INT4, depth, random)),
            1 => format!("b LIKE {}", self.expr(T::TEXT, depth, random)),
            2 => format!("a IN (SELECT a FROM t2 WHERE {})", self.expr(T::BOOL, depth, random)),
            3 => format!("EXISTS (SELECT FROM t1 WHERE t1.a = t0.a AND {})", self.expr(T::BOOL, depth, random)),
            4 => format!("a BETWEEN {} AND {}", self.expr(T::INT4, 0, random), self.expr(T::INT4, 0, random)),
            _ => self.expr(T::BOOL, depth, random),
        }
    }

    fn query(&self, depth: usize, random: &mut Dice) -> String {
        if random.one_in(10) {
            let (first, step) = (self.expr(T::INT4, 1, random), self.expr(T::INT4, 1, random));
            return format!(
                "WITH RECURSIVE r(n) AS (SELECT {first} UNION ALL SELECT n + {step} FROM r WHERE n < 1000) SELECT * FROM r LIMIT 50"
            );
        }
        if random.one_in(8) && depth > 0 {
            let operation = random.of(&["UNION", "UNION ALL", "INTERSECT", "EXCEPT", "EXCEPT ALL"]);
            return format!("({}) {operation} ({})", self.query(depth - 1, random), self.query(depth - 1, random));
        }
        let (from, table) = self.from(depth, random);
        let distinct = random.of(&["", "", "", "DISTINCT ", "DISTINCT ON (a) "]);
        let mut sql = match random.roll(3) {
            0 => format!("SELECT {distinct}{}, {table}.a FROM {from}", self.expr(*random.of(TYPES), depth, random)),
            1 => format!("SELECT {distinct}* FROM {from}"),
            _ => {
                let keys = random.of(&[
                    "GROUP BY b",
                    "GROUP BY ROLLUP (b, c)",
                    "GROUP BY CUBE (b, a)",
                    "GROUP BY GROUPING SETS ((a), (b), ())",
                    "",
                ]);
                let total = random.of(&[
                    "count(*)",
                    "sum(a)",
                    "avg(a)",
                    "max(b)",
                    "string_agg(b, ',')",
                    "array_agg(c)",
                    "jsonb_agg(a)",
                ]);
                return format!("SELECT {total} FROM {from} WHERE {} {keys}", self.condition(depth, random));
            }
        };
        if random.one_in(2) {
            sql += &format!(" WHERE {}", self.condition(depth, random));
        }
        if random.one_in(2) {
            sql += &format!(
                " ORDER BY {} {}",
                random.of(&["1", "a", "2 DESC", "b NULLS FIRST"]),
                random.of(&["", "LIMIT 3", "OFFSET 1", "FETCH FIRST 2 ROWS WITH TIES"])
            );
        }
        if random.one_in(8) {
            let locks: &[&str] = &[" FOR UPDATE", " FOR SHARE SKIP LOCKED", " FOR NO KEY UPDATE NOWAIT"];
            sql += *random.of(locks);
        }
        sql
    }

    fn change(&self, random: &mut Dice) -> String {
        let returning = random.of(&["", " RETURNING *", " RETURNING a, ctid"]);
        match random.roll(7) {
            0 => format!(
                "INSERT INTO t0 (a, b, c) VALUES ({}, {}, {}){returning}",
                self.expr(T::INT4, 2, random),
                self.expr(T::TEXT, 2, random),
                self.expr(T::NUMERIC, 2, random)
            ),
            1 => format!(
                "INSERT INTO t0 (a, b) SELECT a, b FROM t0 ON CONFLICT (a) DO UPDATE SET b = {}{returning}",
                self.expr(T::TEXT, 2, random)
            ),
            2 => format!(
                "UPDATE t0 SET c = {}, e = {} WHERE {}{returning}",
                self.expr(T::NUMERIC, 2, random),
                self.expr(T::JSONB, 2, random),
                self.condition(1, random)
            ),
            3 => format!("DELETE FROM t2 AS t0 WHERE {}{returning}", self.condition(1, random)),
            4 => format!(
                "MERGE INTO t2 USING t0 ON t0.a = t2.a WHEN MATCHED AND {} THEN UPDATE SET b = 'm' WHEN NOT MATCHED THEN DO NOTHING",
                self.expr(T::BOOL, 1, random)
            ),
            5 => format!(
                "WITH w AS (UPDATE t1 SET b = {} RETURNING a) SELECT count(*) FROM w",
                self.expr(T::FLOAT8, 2, random)
            ),
            _ => format!(
                "INSERT INTO t1 (a, b, c, d) VALUES ({}, {}, {}, {})",
                self.expr(T::INT8, 1, random),
                self.expr(T::FLOAT8, 1, random),
                self.expr(T::DATE, 1, random),
                self.expr(T::INTERVAL, 1, random)
            ),
        }
    }

    fn definition(&self, random: &mut Dice) -> String {
        let n = random.roll(5);
        let ty = *random.of(TYPES);
        let name = self.name(ty);
        match random.roll(16) {
            0 => format!(
                "CREATE TABLE x{n} (a int PRIMARY KEY, b {name} DEFAULT {}, CHECK (b IS NOT NULL OR {}))",
                self.expr(ty, 1, random),
                self.expr(T::BOOL, 1, random)
            ),
            1 => {
                format!("CREATE INDEX ON t0 (({}))", self.expr(*random.of(&[T::INT4, T::TEXT, T::NUMERIC]), 1, random))
            }
            2 => format!("CREATE OR REPLACE VIEW y{n} AS {}", self.query(1, random)),
            3 => format!(
                "CREATE OR REPLACE FUNCTION z{n}(x {name}) RETURNS {name} LANGUAGE sql AS $$ SELECT {} $$",
                self.expr(ty, 2, random)
            ),
            4 => {
                format!("ALTER TABLE t{} ADD COLUMN n{n} {name} DEFAULT {}", random.roll(3), self.expr(ty, 1, random))
            }
            5 => {
                format!("ALTER TABLE t{} ALTER COLUMN b TYPE {name} USING {}", random.roll(3), self.expr(ty, 1, random))
            }
            6 => format!("DROP TABLE IF EXISTS x{n} CASCADE"),
            7 => format!("DROP VIEW IF EXISTS y{n} CASCADE"),
            8 => {
                format!("CREATE DOMAIN d{n} AS {name} CHECK (VALUE IS NOT NULL AND {})", self.expr(T::BOOL, 1, random))
            }
            9 => format!("CREATE TYPE e{n} AS ENUM ('a', 'b', 'c')"),
            10 => format!("CREATE MATERIALIZED VIEW m{n} AS {}", self.query(1, random)),
            11 => format!("CREATE TABLE x{n} AS {}", self.query(1, random)),
            12 => format!("ALTER TABLE t1 ADD CONSTRAINT k{n} CHECK ({}) NOT VALID", self.expr(T::BOOL, 2, random)),
            13 => format!("EXPLAIN {}", self.query(1, random)),
            14 => format!("PREPARE p{n} AS {}", self.query(1, random)),
            _ => format!("COPY ({}) TO STDOUT", self.query(1, random)),
        }
    }

    fn block(&self, random: &mut Dice) -> String {
        let ty = *random.of(TYPES);
        let name = self.name(ty);
        let mut body = String::new();
        for _ in 0..1 + random.roll(4) {
            body += &match random.roll(8) {
                0 => format!("x := {};", self.expr(ty, 2, random)),
                1 => format!("FOR i IN 1..{} LOOP x := {}; END LOOP;", random.of(&["3", "100", "1000000000"]), self.expr(ty, 1, random)),
                2 => format!("BEGIN x := {}; EXCEPTION WHEN others THEN RAISE NOTICE '%', sqlerrm; END;", self.expr(ty, 2, random)),
                3 => format!("FOR r IN {} LOOP EXIT WHEN {}; END LOOP;", self.query(1, random), self.expr(T::BOOL, 1, random)),
                4 => format!("IF {} THEN RAISE NOTICE '%', x; ELSE {}; END IF;", self.expr(T::BOOL, 1, random), self.change(random)),
                5 => format!("EXECUTE {};", self.expr(T::TEXT, 1, random)),
                6 => "texts := texts || texts || 'a'::text; WHILE cardinality(texts) > 0 LOOP texts := texts || texts; END LOOP;".to_owned(),
                _ => format!("PERFORM {};", self.expr(*random.of(TYPES), 2, random)),
            };
        }
        format!("DO $x$ DECLARE x {name}; r record; texts text[] := '{{a}}'; BEGIN {body} END $x$")
    }
}

const TYPES: &[T] = &[
    T::INT2,
    T::INT4,
    T::INT8,
    T::FLOAT4,
    T::FLOAT8,
    T::NUMERIC,
    T::BOOL,
    T::TEXT,
    T::VARCHAR,
    T::BPCHAR,
    T::DATE,
    T::TIME,
    T::TIMETZ,
    T::TIMESTAMP,
    T::TIMESTAMPTZ,
    T::INTERVAL,
    T::JSON,
    T::JSONB,
    T::BYTEA,
    T::UUID,
    T::INET,
    T::VARBIT,
    T::INT4_ARRAY,
    T::TEXT_ARRAY,
];
