//! The kinds of constraints, with statements that try to break them together.

/// One kind of constraint: a schema, statements of its writers, and a query for rows that break it. `{k}` is a small key,
/// `{v}` a small number, `{n}` one that may be negative.
#[derive(Debug)]
pub struct Kind {
    /// What it is called.
    pub name: &'static str,
    /// The schema and its first rows.
    pub setup: &'static str,
    /// What writers do.
    pub statements: &'static [&'static str],
    /// Finds rows that break it.
    pub broken: &'static str,
}

/// Every kind of constraint that looks at more than the value which is written.
pub const KINDS: [Kind; 11] = [
    Kind {
        name: "CHECK of two columns",
        setup: "CREATE TABLE t (id int PRIMARY KEY, a int, b int, CHECK (a + b >= 0));
                INSERT INTO t VALUES (1, 0, 0), (2, 5, 5)",
        statements: &[
            "UPDATE t SET a = {n} WHERE id = {k}",
            "UPDATE t SET b = {n} WHERE id = {k}",
            "UPDATE t SET a = a - {v} WHERE id = {k}",
            "DELETE FROM t WHERE id = {k}",
            "INSERT INTO t VALUES ({k}, {n}, {v})",
            "SELECT a, b FROM t WHERE id = {k}",
        ],
        broken: "SELECT * FROM t WHERE a + b < 0",
    },
    Kind {
        name: "UNIQUE (a, b)",
        setup: "CREATE TABLE t (id int PRIMARY KEY, a int, b int, UNIQUE (a, b));
                INSERT INTO t VALUES (1, 1, 1), (2, 2, 2)",
        statements: &[
            "UPDATE t SET a = {v} WHERE id = {k}",
            "UPDATE t SET b = {v} WHERE id = {k}",
            "DELETE FROM t WHERE id = {k}",
            "INSERT INTO t VALUES ({k}, {v}, {v})",
            "INSERT INTO t VALUES ({k}, {v}, {v}) ON CONFLICT (a, b) DO NOTHING",
            "SELECT id FROM t WHERE a = {v} AND b = {v}",
        ],
        broken: "SELECT a, b FROM t GROUP BY a, b HAVING count(*) > 1",
    },
    Kind {
        name: "UNIQUE (a), rows without a key",
        setup: "CREATE TABLE t (id int, a int UNIQUE); INSERT INTO t VALUES (1, 1), (2, 2)",
        statements: &[
            "UPDATE t SET a = {v} WHERE id = {k}",
            "UPDATE t SET a = NULL WHERE id = {k}",
            "DELETE FROM t WHERE a = {v}",
            "INSERT INTO t VALUES ({k}, {v})",
        ],
        broken: "SELECT a FROM t WHERE a IS NOT NULL GROUP BY a HAVING count(*) > 1",
    },
    Kind {
        name: "partial UNIQUE",
        setup: "CREATE TABLE t (id int PRIMARY KEY, a int, active boolean);
                CREATE UNIQUE INDEX one ON t (a) WHERE active;
                INSERT INTO t VALUES (1, 1, true), (2, 1, false), (3, 2, false)",
        statements: &[
            "UPDATE t SET a = {v} WHERE id = {k}",
            "UPDATE t SET active = true WHERE id = {k}",
            "UPDATE t SET active = NOT active WHERE id = {k}",
            "DELETE FROM t WHERE id = {k}",
            "INSERT INTO t VALUES ({k}, {v}, true)",
        ],
        broken: "SELECT a FROM t WHERE active GROUP BY a HAVING count(*) > 1",
    },
    Kind {
        name: "UNIQUE of an expression",
        setup: "CREATE TABLE t (id int PRIMARY KEY, a int, b int);
                CREATE UNIQUE INDEX one ON t ((a + b));
                INSERT INTO t VALUES (1, 1, 1), (2, 2, 2)",
        statements: &[
            "UPDATE t SET a = {v} WHERE id = {k}",
            "UPDATE t SET b = {v} WHERE id = {k}",
            "DELETE FROM t WHERE id = {k}",
            "INSERT INTO t VALUES ({k}, {v}, {v})",
        ],
        broken: "SELECT a + b FROM t GROUP BY a + b HAVING count(*) > 1",
    },
    Kind {
        name: "FOREIGN KEY of two columns",
        setup: "CREATE TABLE p (x int, y int, PRIMARY KEY (x, y));
                CREATE TABLE t (id int PRIMARY KEY, a int, b int, FOREIGN KEY (a, b) REFERENCES p);
                INSERT INTO p VALUES (1, 1), (2, 2), (1, 2);
                INSERT INTO t VALUES (1, 1, 1), (2, 2, 2)",
        statements: &[
            "UPDATE t SET a = {v} WHERE id = {k}",
            "UPDATE t SET b = {v} WHERE id = {k}",
            "DELETE FROM t WHERE id = {k}",
            "INSERT INTO t VALUES ({k}, {v}, {v})",
            "DELETE FROM p WHERE x = {v} AND y = {v}",
            "INSERT INTO p VALUES ({v}, {v})",
            "UPDATE p SET x = {v} WHERE y = {v}",
        ],
        broken: "SELECT * FROM t WHERE a IS NOT NULL AND b IS NOT NULL
                 AND NOT EXISTS (SELECT 1 FROM p WHERE x = a AND y = b)",
    },
    Kind {
        name: "FOREIGN KEY of a key that is not the primary one",
        setup: "CREATE TABLE p (id int PRIMARY KEY, x int, y int, UNIQUE (x, y));
                CREATE TABLE t (id int PRIMARY KEY, a int, b int,
                                FOREIGN KEY (a, b) REFERENCES p (x, y) ON UPDATE CASCADE ON DELETE CASCADE);
                INSERT INTO p VALUES (1, 1, 1), (2, 2, 2), (3, 1, 2);
                INSERT INTO t VALUES (1, 1, 1), (2, 2, 2)",
        statements: &[
            "UPDATE t SET a = {v} WHERE id = {k}",
            "UPDATE t SET b = {v} WHERE id = {k}",
            "INSERT INTO t VALUES ({k}, {v}, {v})",
            "DELETE FROM p WHERE id = {k}",
            "UPDATE p SET x = {v} WHERE id = {k}",
            "UPDATE p SET y = {v} WHERE id = {k}",
        ],
        broken: "SELECT id FROM t WHERE a IS NOT NULL AND b IS NOT NULL
                 AND NOT EXISTS (SELECT 1 FROM p WHERE x = a AND y = b)
                 UNION ALL SELECT x FROM p GROUP BY x, y HAVING count(*) > 1",
    },
    Kind {
        name: "ON DELETE SET NULL",
        setup: "CREATE TABLE p (id int PRIMARY KEY, n int);
                CREATE TABLE t (id int PRIMARY KEY, a int REFERENCES p ON DELETE SET NULL);
                INSERT INTO p VALUES (1, 0), (2, 0);
                INSERT INTO t VALUES (1, 1), (2, 2)",
        statements: &[
            "UPDATE t SET a = {v} WHERE id = {k}",
            "INSERT INTO t VALUES ({k}, {v})",
            "DELETE FROM t WHERE id = {k}",
            "DELETE FROM p WHERE id = {v}",
            "DELETE FROM p",
            "INSERT INTO p VALUES ({v}, 0)",
            "UPDATE p SET n = n + 1 WHERE id = {v}",
        ],
        broken: "SELECT * FROM t WHERE a IS NOT NULL AND NOT EXISTS (SELECT 1 FROM p WHERE p.id = a)",
    },
    Kind {
        name: "ON DELETE SET DEFAULT",
        setup: "CREATE TABLE p (id int PRIMARY KEY, n int);
                CREATE TABLE t (id int PRIMARY KEY, a int DEFAULT 1 REFERENCES p ON DELETE SET DEFAULT);
                INSERT INTO p VALUES (1, 0), (2, 0);
                INSERT INTO t VALUES (1, 1), (2, 2)",
        statements: &[
            "UPDATE t SET a = {v} WHERE id = {k}",
            "INSERT INTO t VALUES ({k}, {v})",
            "DELETE FROM t WHERE id = {k}",
            "DELETE FROM p WHERE id = {v}",
            "INSERT INTO p VALUES ({v}, 0)",
        ],
        broken: "SELECT * FROM t WHERE a IS NOT NULL AND NOT EXISTS (SELECT 1 FROM p WHERE p.id = a)",
    },
    Kind {
        name: "generated column",
        setup: "CREATE TABLE t (id int PRIMARY KEY, a int, b int, g int GENERATED ALWAYS AS (a * a + b) STORED);
                INSERT INTO t VALUES (1, 0, 0), (2, 5, 5)",
        statements: &[
            "UPDATE t SET a = {n} WHERE id = {k}",
            "UPDATE t SET b = {n} WHERE id = {k}",
            "UPDATE t SET b = b + 1 WHERE id = {k}",
            "DELETE FROM t WHERE id = {k}",
            "INSERT INTO t VALUES ({k}, {n}, {v})",
            "SELECT g FROM t WHERE id = {k}",
        ],
        broken: "SELECT * FROM t WHERE g <> a * a + b",
    },
    Kind {
        name: "deferred constraints",
        setup: "CREATE TABLE p (id int PRIMARY KEY, n int);
                CREATE TABLE t (id int PRIMARY KEY DEFERRABLE INITIALLY DEFERRED, a int, b int,
                                UNIQUE (a, b) DEFERRABLE INITIALLY DEFERRED,
                                FOREIGN KEY (b) REFERENCES p DEFERRABLE INITIALLY DEFERRED);
                INSERT INTO p VALUES (1, 0), (2, 0);
                INSERT INTO t VALUES (1, 1, 1), (2, 2, 2)",
        statements: &[
            "UPDATE t SET a = {v} WHERE id = {k}",
            "UPDATE t SET b = {v} WHERE id = {k}",
            "UPDATE t SET id = {k} WHERE id = {k}",
            "INSERT INTO t VALUES ({k}, {v}, {v})",
            "DELETE FROM t WHERE id = {k}",
            "DELETE FROM p WHERE id = {v}",
            "INSERT INTO p VALUES ({v}, 0)",
        ],
        broken: "SELECT id FROM t GROUP BY id HAVING count(*) > 1
                 UNION ALL SELECT a FROM t GROUP BY a, b HAVING count(*) > 1
                 UNION ALL SELECT id FROM t WHERE b IS NOT NULL AND NOT EXISTS (SELECT 1 FROM p WHERE p.id = b)",
    },
];

/// A statement with numbers; `roll` gives a number below another one.
pub fn filled_in(template: &str, mut roll: impl FnMut(usize) -> usize) -> String {
    let mut text = template.to_owned();
    while let Some(at) = text.find('{') {
        let number = match &text[at..at + 3] {
            "{k}" => 1 + roll(3) as i64,
            "{v}" => 1 + roll(2) as i64,
            _ => roll(7) as i64 - 3,
        };
        text.replace_range(at..at + 3, &number.to_string());
    }
    text
}
