//! Executions of applications on the weak database, as traces: what is claimed of programs is compared with them.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use skew_model::Level;
use skew_prove::summary::Facts;
use skew_sql::app::App;
use skew_sql::explore::{Client, Watch, trace};
use skew_sql::session::Database;
use skew_sql::session::guide::Guide;
use skew_sql::session::trace::{CellRef, Did, Event, Part, Recorded, RowRef, Trace};
use skew_testing::Dice;

use crate::generate::Generated;

/// A transaction that committed, and the call that it was.
#[derive(Debug)]
pub struct Execution {
    /// The program's name.
    pub program: String,
    /// The arguments; `None`: not a literal.
    pub arguments: Vec<Option<Recorded>>,
    /// What it did.
    pub trace: Trace,
}

/// The levels of executions.
pub const LEVELS: [Level; 8] =
    [Level::Rc, Level::Ra, Level::Cc, Level::Psi, Level::Pc, Level::Si, Level::Ser, Level::Mvrc];

/// The committed transactions of one run of a client, every choice by chance.
pub fn random(database: &Database, app: &App, client: &Client, level: Level, seed: u64) -> Vec<Execution> {
    let guide = Arc::new(Mutex::new(Guide::random(seed)));
    let watch = Watch::start(Duration::from_secs(3_600));
    committed(trace(database, app, client, level, &guide, &watch).expect("it runs").1)
}

/// The committed transactions of a client in so many of the ways that a level allows.
pub fn explored(database: &Database, app: &App, client: &Client, level: Level, most: usize) -> Vec<Execution> {
    let guide: Arc<Mutex<Guide>> = Arc::default();
    let watch = Watch::start(Duration::from_secs(3_600));
    let mut all = Vec::new();
    for _ in 0..most {
        all.extend(committed(trace(database, app, client, level, &guide, &watch).expect("it runs").1));
        if !guide.lock().expect("nothing panics with it").next_run() {
            break;
        }
    }
    all
}

fn committed(traces: Vec<Trace>) -> Vec<Execution> {
    traces.into_iter().filter(|trace| trace.committed).filter_map(execution).collect()
}

fn execution(trace: Trace) -> Option<Execution> {
    let (name, rest) = trace.call.strip_prefix("CALL ")?.split_once('(')?;
    let arguments = literals(rest.rsplit_once(')')?.0);
    Some(Execution { program: name.trim().to_owned(), arguments, trace })
}

/// An event as a line of text.
pub fn shown(event: &Event, facts: &Facts) -> String {
    let value = |value: &Recorded| match value {
        Recorded::Null => "NULL".to_owned(),
        Recorded::Value(text) => text.clone(),
    };
    let named = |table: u32| facts.table(table).map_or("?", |table| &table.name[..]);
    let row = |row: &RowRef| {
        let key: Vec<String> = row.key.iter().map(|(_, part)| value(part)).collect();
        format!("{}[{}]", named(row.table), key.join(", "))
    };
    let cell = |cell: &CellRef| {
        let part = match cell.part {
            Part::Existence => String::new(),
            Part::Column(column) => {
                format!(".{}", facts.table(cell.row.table).map_or("?", |table| table.column(column)))
            }
            Part::Entry(_, count) => format!(" by {count} of an index"),
        };
        row(&cell.row) + &part
    };
    let there = |found: &Option<Recorded>| found.as_ref().map_or("nothing".to_owned(), value);
    let did = match &event.did {
        Did::Read(at, found) => format!("read {} = {}", cell(at), there(found)),
        Did::OwnRead(at, found) => format!("read its own {} = {}", cell(at), there(found)),
        Did::Write(at, written) => format!("write {} = {}", cell(at), there(written)),
        Did::Look { table, index, equal } => {
            let equal: Vec<String> = equal.iter().map(value).collect();
            let by = if index.is_some() { " by an index" } else { "" };
            format!("look at {}[{}…]{by}", named(*table), equal.join(", "))
        }
        Did::Lock(locked, strength) => format!("lock {} {strength:?}", row(locked)),
    };
    format!("{}: {did}", event.statement)
}

/// The literals of a list of arguments.
fn literals(list: &str) -> Vec<Option<Recorded>> {
    let (mut parts, mut quoted) = (vec![String::new()], false);
    for letter in list.chars() {
        match letter {
            ',' if !quoted => parts.push(String::new()),
            letter => {
                quoted ^= letter == '\'';
                parts.last_mut().expect("there is one").push(letter);
            }
        }
    }
    let literal = |part: &String| {
        let part = part.trim();
        let quoted = part.strip_prefix('\'').and_then(|part| part.strip_suffix('\''));
        match quoted {
            Some(text) => Some(Recorded::Value(text.replace("''", "'"))),
            None if part.eq_ignore_ascii_case("null") => Some(Recorded::Null),
            None => part.parse::<f64>().is_ok().then(|| Recorded::Value(part.to_owned())),
        }
    };
    parts.iter().map(literal).collect()
}

/// Up to three sessions with up to five calls of a generated application.
pub fn client(generated: &Generated, dice: &mut Dice) -> Client {
    let call = |dice: &mut Dice| {
        let program = &generated.programs[dice.roll(generated.programs.len())];
        let arguments: Vec<String> = (0..program.parameters).map(|_| (dice.roll(4)).to_string()).collect();
        format!("{}({})", program.name, arguments.join(", "))
    };
    let sessions = ["s", "t", "u"].into_iter().take(1 + dice.roll(3));
    let sessions = sessions.map(|name| (name.to_owned(), (0..1 + dice.roll(3)).map(|_| call(dice)).collect()));
    Client { sessions: sessions.collect() }
}
