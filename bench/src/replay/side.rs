//! One of the two servers in a replay.

use std::io;
use std::time::Duration;

use super::statement;
use crate::wire::{Answer, Connection, FreshDatabase, Url};

/// Numbers in the recorded statements that stand for a table, by its name.
const RECORDED_OIDS: [(u64, &str); 5] =
    [(23638, "u_id_seq"), (23639, "u"), (23649, "t_id_seq"), (23650, "t"), (23663, "v")];

/// Words that say that a number in a statement may be the number of an object.
const OID_WORDS: [&str; 3] = ["oid", "relid", "pg_get_"];

/// A session with a database of its own.
pub(super) struct Side {
    database: FreshDatabase,
    patience: Duration,
    connection: Option<Connection>,
    status: u8,
}

impl Side {
    pub(super) fn new(server: &Url, name: &str, patience: Duration) -> io::Result<Side> {
        let database = FreshDatabase::create(server, name)?;
        Ok(Side { database, patience, connection: None, status: b'I' })
    }

    /// Runs a statement, with values for its parameters if it has some.
    pub(super) fn run(&mut self, sql: &str, extended: bool) -> Answer {
        let sql = match OID_WORDS.iter().any(|word| sql.contains(word)) {
            true => self.with_own_oids(sql),
            false => sql.to_owned(),
        };
        let prepared = extended || statement::has_parameters(&sql);
        self.send(|connection| match prepared {
            true => run_prepared(connection, &sql),
            false => connection.simple(&sql),
        })
    }

    /// Ends the transaction that the last statement left open.
    pub(super) fn finish(&mut self) {
        match self.status {
            b'T' => drop(self.send(|connection| connection.simple("COMMIT"))),
            b'E' => drop(self.send(|connection| connection.simple("ROLLBACK"))),
            _ => {}
        }
    }

    fn send(&mut self, request: impl FnOnce(&mut Connection) -> Answer) -> Answer {
        let answer = match self.connection() {
            Ok(connection) => request(connection),
            Err(error) => Answer { lost: Some(error.to_string()), ..Answer::default() },
        };
        self.status = answer.status;
        if answer.lost.is_some()
            && let Some(connection) = self.connection.take()
        {
            // It may still be at work on the statement.
            let _ = connection.cancel();
        }
        answer
    }

    fn connection(&mut self) -> io::Result<&mut Connection> {
        if self.connection.is_none() {
            let connection = Connection::open(self.database.url())?;
            connection.limit(self.patience)?;
            self.connection = Some(connection);
        }
        Ok(self.connection.as_mut().expect("it was just opened"))
    }

    /// Numbers of tables that were recorded on another server become numbers of tables on this one: the same table where
    /// it is known, otherwise some table, the same one on every server.
    fn with_own_oids(&mut self, sql: &str) -> String {
        let numbers = recorded_numbers(sql);
        if numbers.is_empty() || self.status == b'E' {
            return sql.to_owned();
        }
        let question =
            "SELECT relname, oid FROM pg_class WHERE oid >= 16384 AND relkind IN ('r', 'v', 'S') ORDER BY 1, 2";
        let answer = self.send(|connection| connection.simple(question));
        let tables: Vec<(&str, &str)> =
            answer.rows().iter().filter_map(|row| Some((row.first()?.as_deref()?, row.get(1)?.as_deref()?))).collect();
        let mut sql = sql.to_owned();
        for number in numbers {
            let name = RECORDED_OIDS.iter().find(|(recorded, _)| *recorded == number).map(|(_, name)| *name);
            let own = match name {
                Some(name) => tables.iter().find(|(table, _)| *table == name),
                None if tables.is_empty() => None,
                None => tables.get(number as usize % tables.len()),
            };
            if let Some((_, oid)) = own {
                sql = sql.replace(&number.to_string(), oid);
            }
        }
        sql
    }
}

/// Numbers of five digits from 16385 on; 16383 and 16384 are limits, not objects.
fn recorded_numbers(sql: &str) -> Vec<u64> {
    let mut numbers: Vec<u64> = sql
        .split(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '.')
        .filter(|word| word.len() == 5)
        .filter_map(|word| word.parse().ok())
        .filter(|number| *number > 16384)
        .collect();
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}

fn run_prepared(connection: &mut Connection, sql: &str) -> Answer {
    let prepared = connection.prepare("", sql);
    if prepared.code().is_some() {
        return prepared;
    }
    let values: Vec<Option<String>> = prepared.parameters.iter().map(|oid| sample(*oid).map(str::to_owned)).collect();
    let mut answer = connection.execute("", &values);
    answer.parameters = prepared.parameters;
    answer
}

/// A value of a type, chosen so that catalog queries find something.
fn sample(type_oid: u32) -> Option<&'static str> {
    Some(match type_oid {
        16 => "t",
        17 => "\\x00",
        18 | 25 | 1042 | 1043 => "x",
        19 => "pg_class",
        20 | 21 | 23 | 700 | 701 | 1700 => "1",
        26 | 2205 => "1259",
        114 | 3802 => "{}",
        1082 => "2024-01-02",
        1083 => "03:04:05",
        1114 => "2024-01-02 03:04:05",
        1184 => "2024-01-02 03:04:05+00",
        1186 => "1 day",
        2950 => "00000000-0000-0000-0000-000000000001",
        1000..=1028 | 1115 | 1182 | 1185 | 1231 => "{}",
        _ => return None,
    })
}
