//! What a SQL layer does with a store stays within the levels of its transactions: rows of several cells in a space,
//! ranges, statements that lock rows and look again, savepoints, constraints that look at what is committed.
//!
//! `SKEW_RANDOM=100000 cargo test --release -p skew-store rows` for as many runs.

use std::ops::Bound;

use skew_check::{Assumptions, Checker, Options as CheckOptions};
use skew_model::{History, Key, Level, Literal, Scope, SessionId, TxnId};
use skew_store::{Error, Mark, Options, Reads, Recency, Refusals, RowLocks, Space, Store, TellingStatus};

use crate::programs::Dice;
use crate::soundness::{LEVELS, runs};

/// Cells after the one that says whether the row exists.
const CELLS: u32 = 2;

/// A statement on the rows of a table, whose bytes are `[0]` to `[ROWS]`.
#[derive(Clone, Copy, Debug)]
enum Statement {
    Select(Range),
    Insert(u8),
    /// Changes the second cell of the rows whose first cell is even.
    Update(Range),
    Delete(Range),
    SelectForUpdate(u8),
}

type Range = (Bound<u8>, Bound<u8>);

const ROWS: usize = 4;

/// Where a session stands.
#[derive(Default)]
struct At {
    open: Option<Open>,
    left: usize,
}

struct Open {
    txn: TxnId,
    level: Level,
    /// The rows that the running statement has still to look at.
    rows: Vec<Key>,
    statement: Option<Statement>,
    statements_left: usize,
    mark: Option<Mark>,
}

struct Table {
    store: Store<i64>,
    space: Space,
    /// Who has locked which row.
    locks: Vec<(Key, TxnId)>,
    value: i64,
    refused: usize,
}

fn random_range(dice: &mut Dice) -> Range {
    let mut bound = || match dice.roll(4) {
        0 | 1 => Bound::Unbounded,
        2 => Bound::Included(dice.roll(ROWS) as u8),
        _ => Bound::Excluded(dice.roll(ROWS) as u8),
    };
    (bound(), bound())
}

fn random_statement(dice: &mut Dice) -> Statement {
    match dice.roll(8) {
        0 | 1 => Statement::Select(random_range(dice)),
        2 | 3 => Statement::Insert(dice.roll(ROWS) as u8),
        4 | 5 => Statement::Update(random_range(dice)),
        6 => Statement::Delete(random_range(dice)),
        _ => Statement::SelectForUpdate(dice.roll(ROWS) as u8),
    }
}

impl Table {
    fn new(options: Options) -> Table {
        let mut store = Store::new(options);
        let space = store.space();
        Table { store, space, locks: Vec::new(), value: 0, refused: 0 }
    }

    /// Begins a statement: finds the rows, and says that it has looked at all of them.
    fn begin(&mut self, open: &mut Open, statement: Statement) -> Result<(), Error> {
        self.store.statement(open.txn)?;
        let row = |row: u8| (Bound::Included(row), Bound::Included(row));
        let (from, to) = match statement {
            Statement::Select(range) | Statement::Update(range) | Statement::Delete(range) => range,
            Statement::Insert(at) | Statement::SelectForUpdate(at) => row(at),
        };
        if let Statement::Insert(at) | Statement::SelectForUpdate(at) = statement {
            self.store.entry(self.space, &[at], CELLS);
        }
        let (from, to) = (from.map(|row| [row]), to.map(|row| [row]));
        let (from, to) = (from.as_ref().map(<[u8; 1]>::as_slice), to.as_ref().map(<[u8; 1]>::as_slice));
        open.rows = self.store.range(self.space, from, to).rev().collect();
        if !matches!(statement, Statement::Insert(_) | Statement::SelectForUpdate(_)) {
            self.store.note_range(open.txn, self.space, from, to)?;
        }
        open.statement = Some(statement);
        Ok(())
    }

    /// Goes on with the next row; whether it could, without waiting.
    fn go_on(&mut self, open: &mut Open, row: Key, dice: &mut Dice) -> Result<bool, Error> {
        let (txn, first, second) = (open.txn, Key(row.0 + 1), Key(row.0 + 2));
        self.value += 1;
        match open.statement.expect("a statement is on the way") {
            Statement::Select(_) => {
                if self.store.read(txn, row, dice)?.is_some() {
                    self.store.read(txn, first, dice)?;
                    self.store.read(txn, second, dice)?;
                }
            }
            Statement::Insert(_) => {
                let others = self.store.writers(row).any(|writer| writer != txn);
                let exists = self.store.own_write(txn, row).unwrap_or_else(|| self.store.latest(row)).is_some();
                if others || exists || !self.lock(open, row) {
                    return Ok(!others);
                }
                for cell in [row, first, second] {
                    let _ = self.store.write(txn, cell, Some(self.value))?;
                }
            }
            Statement::Update(_) | Statement::Delete(_) => {
                if self.store.read(txn, row, dice)?.is_none() || self.store.read(txn, first, dice)?.is_none() {
                    return Ok(true);
                }
                if !self.lock(open, row) {
                    return Ok(false);
                }
                self.change(open, row, dice)?;
            }
            Statement::SelectForUpdate(_) => {
                if !self.lock(open, row) {
                    return Ok(false);
                }
                self.store.withdraw_reads(txn, row, 1 + CELLS)?;
                if self.store.read_under_lock(txn, row)?.is_some() {
                    self.store.read_newest(txn, second)?;
                }
            }
        }
        Ok(true)
    }

    /// The row is locked: looks at it again, and changes it if it is still wanted.
    fn change(&mut self, open: &Open, row: Key, dice: &mut Dice) -> Result<(), Error> {
        let (txn, first, second) = (open.txn, Key(row.0 + 1), Key(row.0 + 2));
        if open.level == Level::Mvrc {
            self.store.withdraw_reads(txn, row, 1 + CELLS)?;
            if self.store.read_under_lock(txn, row)?.is_none() {
                return Ok(());
            }
            if self.store.read_under_lock(txn, first)?.is_none_or(|value| value % 5 == 0) {
                return Ok(());
            }
        }
        if matches!(open.statement, Some(Statement::Delete(_))) {
            for cell in [row, first, second] {
                let _ = self.store.write(txn, cell, None)?;
            }
            return Ok(());
        }
        if dice.roll(2) == 0 {
            self.store.read_under_lock(txn, second)?;
        }
        let _ = self.store.write(txn, second, Some(self.value))?;
        if dice.roll(3) == 0 {
            self.store.read(txn, second, dice)?;
        }
        Ok(())
    }

    /// Locks a row at `mvrc`; whether it was free.
    fn lock(&mut self, open: &Open, row: Key) -> bool {
        if open.level != Level::Mvrc {
            return true;
        }
        let holder = self.locks.iter().find(|(locked, _)| *locked == row).map(|&(_, holder)| holder);
        if holder.is_none() {
            self.locks.push((row, open.txn));
        }
        holder.is_none_or(|holder| holder == open.txn)
    }

    fn end(&mut self, at: &mut At) {
        let open = at.open.take().expect("a transaction has ended");
        self.locks.retain(|&(_, holder)| holder != open.txn);
        at.left -= 1;
    }

    /// One step of a session; whether a transaction committed.
    fn step(
        &mut self,
        session: SessionId,
        at: &mut At,
        mode: Reads,
        level: &dyn Fn(&mut Dice) -> Level,
        dice: &mut Dice,
    ) -> bool {
        let Some(open) = &mut at.open else {
            let level = level(dice);
            let txn = self.store.begin(session, level, mode).expect("the store runs these levels");
            let statements_left = 1 + dice.roll(4);
            at.open = Some(Open { txn, level, rows: Vec::new(), statement: None, statements_left, mark: None });
            return false;
        };
        let result = match open.rows.last() {
            Some(&row) => self.go_on(open, row, dice).map(|done| {
                if done {
                    open.rows.pop();
                } else if dice.roll(4) == 0 {
                    // It has waited long enough, and does without the row.
                    open.rows.pop();
                }
            }),
            None if open.statements_left == 0 => {
                let ended = if dice.roll(8) == 0 { self.store.rollback(open.txn) } else { self.store.commit(open.txn) };
                let committed = ended.is_ok();
                self.end(at);
                return committed;
            }
            None => {
                open.statements_left -= 1;
                match (open.mark, dice.roll(4)) {
                    (None, 0) => {
                        open.mark = Some(self.store.savepoint(open.txn).expect("the transaction is open"));
                        Ok(())
                    }
                    (Some(mark), 0) => self.store.rollback_to(open.txn, mark),
                    _ => {
                        let statement = random_statement(dice);
                        self.begin(open, statement)
                    }
                }
            }
        };
        if let Err(error) = result {
            assert!(error.is_retryable() && self.store.is_open(open.txn), "{error}");
            self.refused += 1;
            match open.mark.filter(|_| dice.roll(2) == 0) {
                Some(mark) => {
                    self.store.rollback_to(open.txn, mark).expect("the transaction is open");
                    open.rows.clear();
                }
                None => {
                    self.store.rollback(open.txn).expect("the transaction is open");
                    self.end(at);
                }
            }
        }
        false
    }
}

fn run(options: Options, mode: Reads, level: &dyn Fn(&mut Dice) -> Level, dice: &mut Dice) -> (Table, usize) {
    let mut table = Table::new(options);
    let committed = run_on(&mut table, mode, level, dice);
    (table, committed)
}

fn run_on(table: &mut Table, mode: Reads, level: &dyn Fn(&mut Dice) -> Level, dice: &mut Dice) -> usize {
    let count = 1 + dice.roll(3);
    let sessions: Vec<SessionId> = (0..count).map(|at| table.store.session(&format!("s{at}"))).collect();
    let mut at: Vec<At> = sessions.iter().map(|_| At { open: None, left: 1 + dice.roll(3) }).collect();
    let mut committed = 0;
    while let Some(session) = pick(&at, dice) {
        committed += usize::from(table.step(sessions[session], &mut at[session], mode, level, dice));
    }
    sessions.into_iter().for_each(|session| table.store.close_session(session).expect("all transactions have ended"));
    committed
}

fn pick(at: &[At], dice: &mut Dice) -> Option<usize> {
    let busy: Vec<usize> = (0..at.len()).filter(|&session| at[session].left > 0).collect();
    (!busy.is_empty()).then(|| busy[dice.roll(busy.len())])
}

fn history(table: &Table) -> History {
    let literal = |&value: &i64| Literal::Int(value);
    table.store.told(|key| name(&table.store, key), literal).history
}

fn name(store: &Store<i64>, key: Key) -> String {
    match store.at(key) {
        Some((_, bytes)) => format!("row{}", bytes[0]),
        None => store.key_name(key).into_owned(),
    }
}

fn stays_within_its_levels(seed: u64, options: Options, mode: Reads, level: &dyn Fn(&mut Dice) -> Level) -> usize {
    let (table, committed) = run(options, mode, level, &mut Dice::new(seed));
    let history = history(&table);
    let real_time = options.recency == Recency::Commit;
    let assumptions = Assumptions { sessions: true, real_time };
    let checker = Checker::new(&history, CheckOptions { assumptions, ..CheckOptions::default() });
    let holds = checker.holds(Scope::Declared);
    assert_eq!(holds, Some(true), "seed {seed}, {options:?}, {mode:?}\n{history}");
    committed
}

const MODES: [Reads; 3] = [Reads::Any, Reads::Newest, Reads::Snapshot];

fn options(recency: Recency) -> Options {
    Options { recency, locks: RowLocks::ByCaller, refusals: Refusals::Reported, ..Options::default() }
}

#[test]
fn tables_keep_to_every_level() {
    for level in LEVELS {
        for recency in [Recency::None, Recency::Commit] {
            for mode in MODES {
                let each = |seed| stays_within_its_levels(seed, options(recency), mode, &|_| level);
                let committed: usize = (0..runs() / 4).map(each).sum();
                println!("{level} recency {recency:?}, {mode:?}: {committed} committed");
                assert!(committed as u64 > runs() / 4, "{level}, {recency:?}, {mode:?}: only {committed} committed");
            }
        }
    }
}

#[test]
fn tables_keep_to_mixtures_of_levels() {
    for recency in [Recency::None, Recency::Commit] {
        for mode in MODES {
            let mixed = |dice: &mut Dice| LEVELS[dice.roll(LEVELS.len())];
            (0..2 * runs()).for_each(|seed| _ = stays_within_its_levels(seed, options(recency), mode, &mixed));
        }
    }
}

#[test]
fn tables_keep_to_their_levels_with_retention() {
    for keep in [1, 4] {
        for seed in 0..runs() {
            let retained = Options { retention: Some(keep), ..options(Recency::None) };
            let few_operations = Options { max_operations: Some(10 * keep), ..options(Recency::Commit) };
            let mixed = |dice: &mut Dice| LEVELS[dice.roll(LEVELS.len())];
            stays_within_its_levels(seed, retained, Reads::Any, &mixed);
            stays_within_its_levels(seed, few_operations, Reads::Any, &mixed);
        }
    }
}

/// Where snapshots are exact, only conflicting writes are refused, and reads at `ser`.
#[test]
fn exact_snapshots_refuse_no_reads() {
    for level in [Level::Mvrc, Level::Pc] {
        let run = |seed| run(options(Recency::Commit), Reads::Snapshot, &|_| level, &mut Dice::new(seed));
        let refused = (0..runs()).map(|seed| run(seed).0.refused).sum::<usize>();
        assert_eq!(refused, 0, "{level}");
    }
}

/// A history that is told in pieces, while transactions go on, is the history of the moment in which the telling began.
#[test]
fn a_history_told_in_pieces_is_that_of_its_beginning() {
    let mixed = |dice: &mut Dice| LEVELS[dice.roll(LEVELS.len())];
    let mut told_late = 0;
    for seed in 0..runs() {
        let recency = if seed % 2 == 0 { Recency::None } else { Recency::Commit };
        let retention = (seed % 3 == 0).then_some(2);
        let mut table = Table::new(Options { retention, ..options(recency) });
        let dice = &mut Dice::new(seed);
        let sessions: Vec<SessionId> = (0..3).map(|at| table.store.session(&format!("s{at}"))).collect();
        let mut at: Vec<At> = sessions.iter().map(|_| At { open: None, left: 4 }).collect();
        for _ in 0..dice.roll(60) {
            let Some(session) = pick(&at, dice) else { break };
            table.step(sessions[session], &mut at[session], Reads::Any, &mixed, dice);
        }
        let expected = history(&table).to_string();
        let mut telling = table.store.begin_telling();
        loop {
            let store = &table.store;
            let name = &mut |key: Key| name(store, key);
            let status = telling.go_on(store, 1 + dice.roll(3), name, &mut |&value| Literal::Int(value));
            if status == TellingStatus::Done {
                break;
            }
            assert_eq!(status, TellingStatus::More);
            if let Some(session) = pick(&at, dice) {
                table.step(sessions[session], &mut at[session], Reads::Any, &mixed, dice);
                told_late += usize::from(history(&table).to_string() != expected);
            }
        }
        let told = table.store.end_telling(telling).expect("it was told to its end").told();
        assert_eq!(told.history.to_string(), expected, "seed {seed}");
    }
    assert!(told_late > 0, "transactions go on while the history is told");
}

/// A reset takes away what was to be told, and the next telling begins from there.
#[test]
fn a_telling_does_not_outlive_a_reset() {
    let mut table = Table::new(options(Recency::None));
    table.store.checkpoint().expect("no transaction is open");
    run_on(&mut table, Reads::Any, &|_| Level::Cc, &mut Dice::new(1));
    let mut telling = table.store.begin_telling();
    table.store.reset().expect("there is a checkpoint");
    let (mut name, mut literal) = (|_: Key| String::new(), |&value: &i64| Literal::Int(value));
    assert_eq!(telling.go_on(&table.store, 1, &mut name, &mut literal), TellingStatus::Gone);
    assert!(table.store.end_telling(telling).is_none());
}

/// After a reset a store does what it did after the checkpoint, however much was done in between.
#[test]
fn a_reset_store_runs_as_it_did() {
    let mixed = |dice: &mut Dice| LEVELS[dice.roll(LEVELS.len())];
    for recency in [Recency::None, Recency::Commit] {
        for (retention, seed) in
            [None, Some(2)].into_iter().flat_map(|keep| (0..runs() / 20).map(move |seed| (keep, seed)))
        {
            let mut table = Table::new(Options { retention, ..options(recency) });
            let run = |table: &mut Table, seed| {
                table.value = 0;
                run_on(table, Reads::Any, &mixed, &mut Dice::new(seed));
                history(table).to_string()
            };
            run(&mut table, seed);
            table.store.checkpoint().expect("no transaction is open");
            assert!(!history(&table).to_string().contains('@'), "the history is empty");
            let first = run(&mut table, seed + 1000);
            for between in 0..3 {
                table.store.reset().expect("there is a checkpoint");
                run(&mut table, seed + 2000 + between);
            }
            table.store.reset().expect("there is a checkpoint");
            assert_eq!(run(&mut table, seed + 1000), first, "seed {seed}, {retention:?}, {recency:?}");
        }
    }
}
