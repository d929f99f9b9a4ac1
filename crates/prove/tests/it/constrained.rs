//! Small applications whose programs meet through constraints: unique keys that are freed and taken, parents that come and go,
//! children, cascades, checks over two columns, generated columns.

use std::fmt::Write as _;

use skew_testing::Dice;

use crate::generate::{Generated, GeneratedProgram};

/// The application of a seed.
pub fn constrained(seed: u64) -> Generated {
    let mut dice = Dice(seed.wrapping_mul(0x9FB2_1C65_1E98_DF25) ^ 0xC0_457A);
    dice.roll(2);
    let mut text = tables(&mut dice);
    let mut programs = Vec::new();
    for name in ["f", "g", "h"].into_iter().take(2 + dice.roll(2)) {
        let mut body = String::new();
        for _ in 0..2 + dice.roll(2) {
            let _ = writeln!(body, "{}", statement(&mut dice));
        }
        let _ = writeln!(
            text,
            "CREATE PROCEDURE {name}() LANGUAGE plpgsql AS $$\nDECLARE x int := 7;\nBEGIN\n{body}END $$;"
        );
        programs.push(GeneratedProgram { name, parameters: 0 });
    }
    Generated { text, programs }
}

fn tables(dice: &mut Dice) -> String {
    let unique = dice.pick(&["UNIQUE", "UNIQUE", "", "UNIQUE DEFERRABLE INITIALLY DEFERRED"]);
    // A foreign key can refer to a column only if it is plainly unique.
    let parent = if unique == "UNIQUE" { dice.pick(&["a (id)", "a (id)", "a (u)"]) } else { "a (id)" };
    let index = dice.pick(&[
        "",
        "",
        "CREATE UNIQUE INDEX ON a (u) WHERE v = 0;",
        "CREATE UNIQUE INDEX ON a ((u + w));",
        "CREATE INDEX ON c (p);",
    ]);
    let check = dice.pick(&["", "", ", CHECK (v + w <= 6)"]);
    let generated = dice.pick(&["", "", ", s int GENERATED ALWAYS AS (v + w) STORED"]);
    let action =
        dice.pick(&["", "", "", "ON DELETE CASCADE", "ON DELETE SET NULL", "ON UPDATE CASCADE ON DELETE CASCADE"]);
    let timing = dice.pick(&["", "", "DEFERRABLE INITIALLY DEFERRED"]);
    format!(
        "CREATE TABLE a (id int PRIMARY KEY, u int {unique}, v int NOT NULL, w int NOT NULL{generated}{check});
         CREATE TABLE c (id int PRIMARY KEY, p int REFERENCES {parent} {action} {timing});
         CREATE TABLE b (id int PRIMARY KEY, n int NOT NULL);
         {index}
         INSERT INTO a VALUES (1, 1, 0, 0), (2, 2, 0, 0); INSERT INTO c VALUES (1, 1); INSERT INTO b VALUES (1, 0);\n"
    )
}

/// A statement about one or two rows, most of them looked at by a constraint.
fn statement(dice: &mut Dice) -> String {
    let (row, key) = (dice.pick(&["1", "1", "2", "3"]), dice.pick(&["1", "1", "2", "3"]));
    match dice.roll(20) {
        0..3 => "SELECT n INTO x FROM b WHERE id = 1;".to_owned(),
        3 => format!("SELECT v INTO x FROM a WHERE id = {row};"),
        4 => format!("SELECT p INTO x FROM c WHERE id = {row};"),
        5 => dice.pick(&["SELECT count(*) INTO x FROM c;", "SELECT count(*) INTO x FROM a;"]).to_owned(),
        6..9 => format!("UPDATE b SET n = {} WHERE id = 1;", dice.pick(&["5", "x", "n + 1"])),
        9 => format!("UPDATE a SET {} = {} WHERE id = {row};", dice.pick(&["v", "w"]), dice.pick(&["5", "x", "0"])),
        10..12 => format!("DELETE FROM a WHERE id = {row};"),
        12..14 => format!("INSERT INTO a VALUES ({row}, {key}, 0, 0);"),
        14 => format!("UPDATE a SET u = {key} WHERE id = {row};"),
        15..17 => format!("INSERT INTO c VALUES ({row}, {key});"),
        17..19 => format!("DELETE FROM c WHERE id = {row};"),
        _ => format!("UPDATE c SET p = {} WHERE id = {row};", dice.pick(&["1", "2", "3", "NULL"])),
    }
}
