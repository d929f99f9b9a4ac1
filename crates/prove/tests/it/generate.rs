//! Small applications from seeds: two or three programs of one to four statements over two tables.

use std::fmt::Write as _;

use skew_testing::Dice;

/// An application as text, and what can be called.
pub struct Generated {
    pub text: String,
    pub programs: Vec<GeneratedProgram>,
}

pub struct GeneratedProgram {
    pub name: &'static str,
    pub parameters: usize,
}

/// The application of a seed.
pub fn generate(seed: u64) -> Generated {
    let mut maker =
        Maker { dice: Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0x5DEE_CE66), tables: Vec::new(), left: 0 };
    maker.dice.roll(2);
    maker.tables = vec![maker.first_table(), maker.second_table()];
    let mut text = String::new();
    for table in &maker.tables {
        let _ = writeln!(text, "{}\n{}", table.definition, table.rows);
    }
    let count = 2 + maker.dice.roll(2);
    let mut programs = Vec::new();
    for name in ["f", "g", "h"].into_iter().take(count) {
        let parameters = 1 + usize::from(maker.dice.one_in(3));
        let list = (1..=parameters).map(|at| format!("p{at} int")).collect::<Vec<_>>().join(", ");
        let body = maker.body(parameters);
        let _ = writeln!(
            text,
            "CREATE PROCEDURE {name}({list}) LANGUAGE plpgsql AS $$\nDECLARE x int; y int := 0; r record;\nBEGIN\n{body}END $$;"
        );
        programs.push(GeneratedProgram { name, parameters });
    }
    Generated { text, programs }
}

/// The tables of applications that are dense.
const TABLES: &str = "CREATE TABLE a (id int PRIMARY KEY, v int NOT NULL, w int NOT NULL);
    INSERT INTO a VALUES (1, 0, 0), (2, 0, 0);
    CREATE TABLE b (id int PRIMARY KEY, n int NOT NULL);
    INSERT INTO b VALUES (1, 0);\n";

/// An application whose programs meet at every turn: one to three simple statements over three rows.
pub fn dense(seed: u64) -> Generated {
    let mut dice = Dice(seed.wrapping_mul(0xD1B5_4A32_D192_ED03) ^ 0x0DE5_5EED);
    dice.roll(2);
    let mut text = TABLES.to_owned();
    let mut programs = Vec::new();
    for name in ["f", "g", "h"].into_iter().take(2 + dice.roll(2)) {
        let mut body = String::new();
        for _ in 0..1 + dice.roll(3) {
            let statement = simple(&mut dice);
            let _ = writeln!(body, "{statement}");
        }
        let _ = writeln!(
            text,
            "CREATE PROCEDURE {name}() LANGUAGE plpgsql AS $$\nDECLARE x int := 7;\nBEGIN\n{body}END $$;"
        );
        programs.push(GeneratedProgram { name, parameters: 0 });
    }
    Generated { text, programs }
}

/// A statement about one of three rows, or all of them.
fn simple(dice: &mut Dice) -> String {
    let (key, column) = (dice.pick(&["1", "1", "1", "2"]), dice.pick(&["v", "v", "w"]));
    let value = dice.pick(&["5", "x"]);
    match dice.roll(16) {
        0 => format!("SELECT {column} INTO x FROM a WHERE id = {key};"),
        1 => "SELECT n INTO x FROM b WHERE id = 1;".to_owned(),
        2..4 => format!("SELECT a.v + a.w + b.n INTO x FROM a, b WHERE a.id = {key} AND b.id = 1;"),
        4 => format!("SELECT sum({column}) INTO x FROM a;"),
        5..8 => format!("UPDATE a SET {column} = {value} WHERE id = {key};"),
        8 => format!("UPDATE a SET {column} = {column} + 1 WHERE id = {key};"),
        9..11 => format!("UPDATE b SET n = {value} WHERE id = 1;"),
        11 => "UPDATE b SET n = n + 1 WHERE id = 1 RETURNING n INTO x;".to_owned(),
        12 => format!("UPDATE a SET {column} = (SELECT n FROM b WHERE id = 1) WHERE id = {key};"),
        13 => {
            let strength = dice.pick(&["UPDATE", "NO KEY UPDATE", "SHARE", "KEY SHARE"]);
            format!("SELECT {column} INTO x FROM a WHERE id = {key} FOR {strength};")
        }
        14 => format!("DELETE FROM a WHERE id = {key};"),
        _ => format!("INSERT INTO a VALUES ({key}, 1, 1) ON CONFLICT DO NOTHING;"),
    }
}

/// A dense application whose statements stand in functions that are called in one way or another, and in triggers.
pub fn calling(seed: u64) -> Generated {
    let mut dice = Dice(seed.wrapping_mul(0xA076_1D64_78BD_642F) ^ 0x0CA1_15ED);
    dice.roll(2);
    let mut text = TABLES.to_owned();
    if dice.one_in(4) {
        let statement = match dice.roll(3) {
            0 => "UPDATE a SET v = v + 1 WHERE id = 2;",
            1 => "UPDATE a SET w = (SELECT sum(v) FROM a) WHERE id = 1;",
            _ => "PERFORM 1 FROM a WHERE id = 1;",
        };
        let _ = writeln!(
            text,
            "CREATE FUNCTION fired() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {statement} RETURN NEW; END $$;
             CREATE TRIGGER fired {} UPDATE ON b FOR EACH ROW EXECUTE FUNCTION fired();",
            dice.pick(&["AFTER", "BEFORE"]),
        );
    }
    let (mut programs, mut functions) = (Vec::new(), 0);
    for name in ["f", "g", "h"].into_iter().take(2 + dice.roll(2)) {
        let mut body = String::new();
        for _ in 0..1 + dice.roll(3) {
            let statement = simple(&mut dice);
            if dice.one_in(3) {
                let _ = writeln!(body, "{statement}");
                continue;
            }
            functions += 1;
            let early = dice.pick(&["", "", "IF x > 6 THEN RETURN 3; END IF;"]);
            let call = dice.pick(&[
                "x := u(x);",
                "x := u(5) + u(x);",
                "PERFORM u(x);",
                "SELECT u(x) INTO x;",
                "IF u(x) > 4 THEN UPDATE b SET n = x WHERE id = 1; END IF;",
                "x := (SELECT u(v) FROM a WHERE id = 1);",
                "UPDATE b SET n = u(n) WHERE id = 1;",
                "CALL u(x);",
            ]);
            let _ = match call {
                "CALL u(x);" => writeln!(
                    text,
                    "CREATE PROCEDURE u{functions}(INOUT x int) LANGUAGE plpgsql AS $$ BEGIN {statement} END $$;"
                ),
                _ => writeln!(
                    text,
                    "CREATE FUNCTION u{functions}(x int) RETURNS int LANGUAGE plpgsql AS $$ BEGIN {early} {statement} RETURN x; END $$;"
                ),
            };
            let _ = writeln!(body, "{}", call.replace("u(", &format!("u{functions}(")));
        }
        let _ = writeln!(
            text,
            "CREATE PROCEDURE {name}() LANGUAGE plpgsql AS $$\nDECLARE x int := 7;\nBEGIN\n{body}END $$;"
        );
        programs.push(GeneratedProgram { name, parameters: 0 });
    }
    Generated { text, programs }
}

/// An application whose programs look at rows within limits: by the key, by another column with an index or without one, by
/// joins and by rows that others refer to.
pub fn limited(seed: u64) -> Generated {
    let mut dice = Dice(seed.wrapping_mul(0xA24B_AED4_963E_E407) ^ 0x0011_317E);
    dice.roll(2);
    let index = dice.pick(&["", "", "CREATE INDEX ON a (g);", "CREATE INDEX ON a (g, v);"]);
    let null = dice.pick(&[" NOT NULL", ""]);
    let mut text = format!(
        "CREATE TABLE a (id int PRIMARY KEY, g int{null}, v int NOT NULL); {index}
        INSERT INTO a VALUES (1, 2, 0), (2, 1, 0);
        CREATE TABLE b (id int PRIMARY KEY, n int NOT NULL, a int REFERENCES a);
        INSERT INTO b VALUES (1, 0, 1);\n"
    );
    let mut programs = Vec::new();
    for name in ["f", "g", "h"].into_iter().take(2 + dice.roll(2)) {
        let parameters = dice.roll(2);
        let mut body = String::new();
        for _ in 0..1 + dice.roll(3) {
            let statement = limited_statement(&mut dice, parameters);
            let guard = if parameters > 0 { dice.pick(&["", "", "p > 1", "p < 2"]) } else { "" };
            let _ = match guard {
                "" => writeln!(body, "{statement}"),
                guard => writeln!(body, "IF {guard} THEN {statement} END IF;"),
            };
        }
        let list = if parameters > 0 { "p int" } else { "" };
        let _ = writeln!(
            text,
            "CREATE PROCEDURE {name}({list}) LANGUAGE plpgsql AS $$\nDECLARE x int := 7; y int := 1;\nBEGIN\n{body}END $$;"
        );
        programs.push(GeneratedProgram { name, parameters });
    }
    Generated { text, programs }
}

fn limited_statement(dice: &mut Dice, parameters: usize) -> String {
    let numbers: &[&str] = if parameters > 0 { &["1", "2", "3", "p", "p", "y"] } else { &["1", "2", "3", "y"] };
    let column = dice.pick(&["id", "id", "g"]);
    let (one, other) = (dice.pick(numbers), dice.pick(numbers));
    let limits = match dice.roll(9) {
        0 => format!("{column} < {one}"),
        1 => format!("{column} >= {one}"),
        2 => format!("{column} BETWEEN {one} AND {other}"),
        3 => format!("{column} NOT BETWEEN {one} AND {other}"),
        4 => format!("{column} IN ({one}, {other})"),
        5 => format!("{column} NOT IN ({one}, {other})"),
        6 => format!("{column} <> {one}"),
        7 => format!("id > {one} AND g <= {other}"),
        _ => format!("NOT ({column} < {one} OR {column} = {other})"),
    };
    let key = dice.pick(numbers);
    match dice.roll(16) {
        0 => format!("SELECT sum(v) INTO x FROM a WHERE {limits};"),
        1 => format!("SELECT count(*) INTO x FROM a WHERE {limits};"),
        2 => format!("UPDATE a SET v = 5 WHERE {limits};"),
        3 => format!("UPDATE a SET v = x WHERE id = {key} AND {limits};"),
        4 => format!("SELECT v INTO x FROM a WHERE id = {key} AND {limits};"),
        5 => format!("DELETE FROM a WHERE {limits};"),
        6 | 7 => format!("INSERT INTO a VALUES ({key}, {one}, 1) ON CONFLICT DO NOTHING;"),
        8 => format!("INSERT INTO a VALUES ({}, {one}, x);", dice.pick(&["3", "4", "0"])),
        9 => format!("SELECT {}(id) INTO y FROM a;", dice.pick(&["max", "min"])),
        10 => format!("SELECT b.a, a.v INTO y, x FROM b JOIN a ON a.id = b.a WHERE b.id = {key};"),
        11 => format!("UPDATE b SET n = x WHERE id = {key};"),
        12 => "SELECT n INTO x FROM b WHERE id = 1;".to_owned(),
        13 => format!("INSERT INTO b VALUES ({key}, 1, {one});"),
        14 => format!("SELECT v INTO x FROM a WHERE id = {key};"),
        _ => format!("UPDATE a SET v = x WHERE id = {key};"),
    }
}

/// What programs ask for; those of real databases more often.
const LEVELS: &[&str] =
    &["", "", "", "mvrc", "mvrc", "mvrc", "si", "si", "si", "ser", "ser", "psi", "psi", "pc", "cc", "ra", "rc"];

/// Applications of both kinds, where some of the programs ask for a level.
pub fn with_levels(seed: u64) -> Generated {
    let mut generated = if seed.is_multiple_of(2) { generate(seed) } else { dense(seed) };
    let mut dice = Dice(seed ^ 0x0DD5_EED5);
    dice.roll(2);
    for program in &generated.programs {
        let level = dice.pick(LEVELS);
        if !level.is_empty() {
            let _ = writeln!(generated.text, "COMMENT ON PROCEDURE {} IS '@isolation {level}';", program.name);
        }
    }
    generated
}

/// A table, and how it is spoken of.
#[derive(Clone)]
struct Table {
    name: &'static str,
    definition: String,
    rows: &'static str,
    key: &'static [&'static str],
    /// What can be changed and is not the key.
    values: &'static [&'static str],
    /// The key comes from a sequence if it is left out.
    identity: bool,
}

struct Maker {
    dice: Dice,
    tables: Vec<Table>,
    /// How many statements the program may still have.
    left: usize,
}

/// What statements can speak of.
#[derive(Clone, Copy)]
struct Scope {
    parameters: usize,
    /// Variables that have been set.
    x: bool,
    /// Within a loop over rows: `r.k` and `r.n`.
    row: bool,
}

impl Maker {
    fn first_table(&mut self) -> Table {
        let table = Table {
            name: "a",
            definition: "CREATE TABLE a (id int PRIMARY KEY, v int NOT NULL);".to_owned(),
            rows: "INSERT INTO a VALUES (1, 1), (2, 0);",
            key: &["id"],
            values: &["v"],
            identity: false,
        };
        if self.dice.one_in(2) {
            return table;
        }
        Table {
            definition: "CREATE TABLE a (id int PRIMARY KEY, v int NOT NULL, w int NOT NULL DEFAULT 0);".to_owned(),
            rows: "INSERT INTO a VALUES (1, 1, 0), (2, 0, 1);",
            values: &["v", "w"],
            ..table
        }
    }

    fn second_table(&mut self) -> Table {
        let refers = if self.dice.one_in(6) { " REFERENCES a(id) ON DELETE CASCADE" } else { "" };
        match self.dice.roll(4) {
            0 | 1 => Table {
                name: "b",
                definition: format!("CREATE TABLE b (i int{refers}, j int, n int NOT NULL, PRIMARY KEY (i, j));"),
                rows: "INSERT INTO b VALUES (1, 1, 1), (1, 2, 0), (2, 2, 2);",
                key: &["i", "j"],
                values: &["n"],
                identity: false,
            },
            2 => Table {
                name: "b",
                definition: format!("CREATE TABLE b (id int PRIMARY KEY, u int UNIQUE{refers}, n int);"),
                rows: "INSERT INTO b VALUES (1, 2, 1), (2, 1, 2);",
                key: &["id"],
                values: &["u", "n"],
                identity: false,
            },
            _ => Table {
                name: "b",
                definition: format!(
                    "CREATE TABLE b (id int GENERATED BY DEFAULT AS IDENTITY (START WITH 10) PRIMARY KEY, u int{refers}, n int);"
                ),
                rows: "INSERT INTO b VALUES (1, 1, 1), (2, 2, 0);",
                key: &["id"],
                values: &["u", "n"],
                identity: true,
            },
        }
    }

    fn body(&mut self, parameters: usize) -> String {
        let mut scope = Scope { parameters, x: false, row: false };
        let mut body = String::new();
        self.left = 1 + self.dice.roll(4).min(self.dice.roll(4));
        while self.left > 0 {
            body.push_str(&self.statement(&mut scope));
        }
        body
    }

    fn table(&mut self) -> Table {
        let at = self.dice.roll(2);
        self.tables[at].clone()
    }

    /// A value.
    fn value(&mut self, scope: Scope) -> String {
        match self.dice.roll(8) {
            0 => self.dice.pick(&["1", "2", "0"]).to_owned(),
            1 if scope.x => "x + 1".to_owned(),
            2 | 3 if scope.x => "x".to_owned(),
            4 | 5 if scope.row => self.dice.pick(&["r.n", "r.k"]).to_owned(),
            _ => format!("p{}", 1 + self.dice.roll(scope.parameters)),
        }
    }

    /// A condition on the key of one row.
    fn by_key(&mut self, table: &Table, scope: Scope) -> String {
        let parts: Vec<String> =
            table.key.iter().map(|column| format!("{}.{column} = {}", table.name, self.value(scope))).collect();
        parts.join(" AND ")
    }

    /// A condition on any number of rows.
    fn predicate(&mut self, table: &Table, scope: Scope) -> String {
        let column = self.dice.pick(table.values);
        let name = table.name;
        match self.dice.roll(7) {
            0 | 1 => format!("{name}.{column} = {}", self.value(scope)),
            2 => format!("{name}.{column} > 0"),
            3 => format!("{name}.{} = {}", table.key[0], self.value(scope)),
            4 => format!("{name}.{} IN (1, {})", table.key[0], self.value(scope)),
            5 => {
                let at = usize::from(name == "a");
                let other = self.tables[at].clone();
                let not = self.dice.pick(&["", "", "NOT "]);
                let with = self.dice.pick(&[table.key[0], column]);
                format!("{not}EXISTS (SELECT 1 FROM {0} WHERE {0}.{1} = {name}.{with})", other.name, other.key[0])
            }
            _ => "true".to_owned(),
        }
    }

    fn condition(&mut self, scope: Scope) -> String {
        match self.dice.roll(6) {
            0 | 1 if scope.x => self.dice.pick(&["x > 0", "x IS NULL", "x = p1", "coalesce(x, 0) < 2"]).to_owned(),
            2 => self.dice.pick(&["p1 = 1", "p1 > 1"]).to_owned(),
            3 if scope.parameters == 2 => "p1 = p2".to_owned(),
            _ => {
                let table = self.table();
                let not = self.dice.pick(&["", "NOT "]);
                let which =
                    if self.dice.one_in(3) { self.predicate(&table, scope) } else { self.by_key(&table, scope) };
                format!("{not}EXISTS (SELECT 1 FROM {} WHERE {which})", table.name)
            }
        }
    }

    /// The values of a new row.
    fn row(&mut self, table: &Table, key: &[String], scope: Scope) -> String {
        let mut values = key.to_vec();
        values.extend(table.values.iter().map(|_| self.value(scope)));
        values.join(", ")
    }

    fn statement(&mut self, scope: &mut Scope) -> String {
        let table = self.table();
        let name = table.name;
        let column = self.dice.pick(table.values);
        self.left = self.left.saturating_sub(1);
        // What has statements within needs some that are left.
        match self.dice.roll(if self.left > 0 { 20 } else { 14 }) {
            0 | 1 => {
                let lock = self.dice.pick(&["", "", "", " FOR UPDATE"]);
                let key = self.by_key(&table, *scope);
                scope.x = true;
                let missing = self.dice.pick(&[
                    "",
                    "",
                    "IF NOT FOUND THEN RETURN; END IF;\n",
                    "IF NOT FOUND THEN RAISE EXCEPTION 'none'; END IF;\n",
                    "IF x IS NULL THEN RETURN; END IF;\n",
                ]);
                let strict = if self.dice.one_in(8) { " STRICT" } else { "" };
                format!("SELECT {column} INTO{strict} x FROM {name} WHERE {key}{lock};\n{missing}")
            }
            2 => {
                let what = self.dice.pick(&["count(*)", "sum", "min", "max"]);
                let what = if what == "count(*)" { what.to_owned() } else { format!("{what}({column})") };
                let which = self.predicate(&table, *scope);
                scope.x = true;
                format!("SELECT {what} INTO x FROM {name} WHERE {which};\n")
            }
            3..=5 => {
                let value = match self.dice.roll(4) {
                    0 | 1 => format!("{column} + 1"),
                    2 => "1".to_owned(),
                    _ => self.value(*scope),
                };
                let mut key = self.by_key(&table, *scope);
                if self.dice.one_in(6) {
                    key = format!("{key} AND {}", self.predicate(&table, *scope));
                }
                let returning = if self.dice.one_in(6) {
                    scope.x = true;
                    format!(" RETURNING {column} INTO x")
                } else {
                    String::new()
                };
                format!("UPDATE {name} SET {column} = {value} WHERE {key}{returning};\n")
            }
            6 => {
                let value = match self.dice.roll(4) {
                    0 => format!("{column} + 1"),
                    1 => {
                        let other = self.table();
                        format!("(SELECT count(*) FROM {} WHERE {})", other.name, self.predicate(&other, *scope))
                    }
                    _ => self.value(*scope),
                };
                let which =
                    if self.dice.one_in(2) { self.predicate(&table, *scope) } else { self.by_key(&table, *scope) };
                format!("UPDATE {name} SET {column} = {value} WHERE {which};\n")
            }
            7..=9 => self.insert(&table, scope),
            10 => {
                let which =
                    if self.dice.one_in(3) { self.predicate(&table, *scope) } else { self.by_key(&table, *scope) };
                format!("DELETE FROM {name} WHERE {which};\n")
            }
            11 => {
                let (a, b) = (self.tables[0].clone(), self.tables[1].clone());
                let through = self.dice.pick(a.values);
                let key = self.by_key(&a, *scope);
                scope.x = true;
                let first = b.key[0];
                format!("SELECT b.n INTO x FROM a JOIN b ON b.{first} = a.{through} WHERE {key};\n")
            }
            12 => {
                let value = self.value(*scope);
                scope.x = true;
                format!("x := {value};\n")
            }
            13 if self.dice.one_in(2) => {
                let (key, value) = (table.key[0], self.value(*scope));
                let which = self.by_key(&table, *scope);
                format!("UPDATE {name} SET {key} = {value} WHERE {which};\n")
            }
            13 => {
                let condition = self.condition(*scope);
                format!("IF {condition} THEN RETURN; END IF;\n")
            }
            14..=16 => {
                let condition = self.condition(*scope);
                let then = self.inner(*scope);
                let otherwise = if self.left > 0 && self.dice.one_in(3) {
                    format!("ELSE\n{}", self.inner(*scope))
                } else {
                    String::new()
                };
                format!("IF {condition} THEN\n{then}{otherwise}END IF;\n")
            }
            17 => {
                let which = self.predicate(&table, *scope);
                let key = table.key[table.key.len() - 1];
                let body = self.inner(Scope { row: true, ..*scope });
                let lock = if self.dice.one_in(4) { " FOR UPDATE" } else { "" };
                format!(
                    "FOR r IN SELECT {key} AS k, {column} AS n FROM {name} WHERE {which}{lock} LOOP\n{body}END LOOP;\n"
                )
            }
            18 => {
                let mut inside = Scope { x: true, ..*scope };
                let body = self.statement(&mut inside);
                let exit = if self.dice.one_in(4) { "EXIT WHEN x = 2;\n" } else { "" };
                format!("FOR y IN 1..2 LOOP\nx := y;\n{exit}{body}END LOOP;\n")
            }
            _ => {
                let body = self.inner(*scope);
                let handler = if self.left == 0 { "NULL;\n".to_owned() } else { self.inner(*scope) };
                // Who catches what others cause is not known to be robust.
                let caught = if body.len().is_multiple_of(2) { "OTHERS" } else { "division_by_zero" };
                format!("BEGIN\n{body}EXCEPTION WHEN {caught} THEN\n{handler}END;\n")
            }
        }
    }

    /// One statement, or two, within another one.
    fn inner(&mut self, scope: Scope) -> String {
        let mut inside = scope;
        let first = self.statement(&mut inside);
        if self.left > 0 && self.dice.one_in(2) { first + &self.statement(&mut inside) } else { first }
    }

    fn insert(&mut self, table: &Table, scope: &mut Scope) -> String {
        let (name, column) = (table.name, table.values[table.values.len() - 1]);
        let key: Vec<String> = table.key.iter().map(|_| self.value(*scope)).collect();
        match self.dice.roll(8) {
            0 | 1 if table.identity => {
                let values = table.values.iter().map(|_| self.value(*scope)).collect::<Vec<_>>().join(", ");
                let returning = if self.dice.one_in(2) {
                    scope.x = true;
                    " RETURNING id INTO x"
                } else {
                    ""
                };
                format!("INSERT INTO {name} ({}) VALUES ({values}){returning};\n", table.values.join(", "))
            }
            2 => {
                let last = table.key[table.key.len() - 1];
                let mut key = key;
                *key.last_mut().expect("tables have keys") = format!("coalesce(max({last}), 0) + 1");
                let row = self.row(table, &key, *scope);
                format!("INSERT INTO {name} SELECT {row} FROM {name};\n")
            }
            3 => {
                let other = self.table();
                let row = self.row(table, &key, *scope);
                let which = self.predicate(&other, *scope);
                format!("INSERT INTO {name} SELECT {row} FROM {} WHERE {which} LIMIT 1;\n", other.name)
            }
            4 => {
                let row = self.row(table, &key, *scope);
                format!("INSERT INTO {name} VALUES ({row}) ON CONFLICT DO NOTHING;\n")
            }
            5 => {
                let row = self.row(table, &key, *scope);
                let target = table.key.join(", ");
                format!(
                    "INSERT INTO {name} VALUES ({row}) ON CONFLICT ({target}) DO UPDATE SET {column} = {name}.{column} + 1;\n"
                )
            }
            _ => {
                let row = self.row(table, &key, *scope);
                format!("INSERT INTO {name} VALUES ({row});\n")
            }
        }
    }
}
