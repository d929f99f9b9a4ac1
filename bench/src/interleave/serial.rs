//! SERIALIZABLE: what committed has to be what the same transactions give one after the other, in some order.
//!
//! A server may abort other transactions than PostgreSQL does, so transcripts are not compared. Instead, every order of
//! the committed transactions that keeps each session's order is run on PostgreSQL, until one gives the same results
//! and the same rows at the end.

use std::io::{self, Write};

use super::generate;
use crate::random::Random;
use crate::sessions::{Script, Server, Step, Transcript};

/// Statements whose results do not depend on who else is there.
const STATEMENTS: [&str; 12] = [
    "SELECT id, v FROM acct WHERE id = {k} ORDER BY id",
    "SELECT id, v FROM acct WHERE id > 0 ORDER BY id",
    "SELECT count(*), sum(v) FROM acct WHERE id > 0",
    "SELECT id, v FROM acct WHERE v > {c} ORDER BY id",
    "UPDATE acct SET v = v + {k} WHERE id = {k}",
    "UPDATE acct SET v = {c} WHERE v > {c} AND id > {k}",
    "UPDATE acct SET v = (SELECT sum(v) FROM acct) WHERE id = {k} RETURNING v",
    "INSERT INTO acct SELECT count(*) + {k}, {c}, 0 FROM acct ON CONFLICT DO NOTHING",
    "INSERT INTO uniq SELECT max(id) + {k}, {k}, 0 FROM uniq ON CONFLICT DO NOTHING",
    "DELETE FROM acct WHERE id = {k}",
    "SELECT id, k FROM uniq ORDER BY id",
    "UPDATE uniq SET v = (SELECT count(*) FROM acct) WHERE id = {k} RETURNING v",
];

/// Compares serializable runs with serial ones and prints those that no order explains.
pub(super) fn run(
    runs: u64,
    seed: u64,
    mut server: Server,
    mut postgres: Server,
    out: &mut impl Write,
) -> io::Result<()> {
    let (mut explained, mut aborted, mut orders) = (0, 0, 0);
    let mut unexplained = 0;
    for seed in seed..seed + runs {
        let script = script(seed);
        let seen = server.run(&script)?;
        let committed = committed(&script, &seen);
        aborted += script.steps.iter().filter(|step| step.sql == "COMMIT").count() - committed.len();
        let mut found = false;
        for order in orders_of(&committed) {
            orders += 1;
            if serial_run_agrees(&script, &committed, &order, &seen, &mut postgres)? {
                found = true;
                break;
            }
        }
        if found {
            explained += 1;
        } else {
            unexplained += 1;
            writeln!(out, "-- seed {seed}: no serial order gives this")?;
            for event in &seen.events {
                let step = &script.steps[event.step];
                writeln!(out, "{}; -- T{}. {} {:?}", step.sql, step.session + 1, event.outcome, event.released)?;
            }
            writeln!(out, "-- at the end {:?}", seen.tables)?;
            out.flush()?;
        }
    }
    writeln!(
        out,
        "{runs} interleavings at SERIALIZABLE: {explained} have a serial order, {unexplained} do not; {aborted} \
         transactions were aborted; {orders} orders tried"
    )
}

/// Two sessions with two transactions each, or three with one.
fn script(seed: u64) -> Script {
    let mut random = Random::new(seed);
    let (sessions, transactions) = if random.below(2) == 0 { (2, 2) } else { (3, 1) };
    let mut queues: Vec<Vec<String>> = (0..sessions)
        .map(|_| {
            let mut statements = Vec::new();
            for _ in 0..transactions {
                statements.push("BEGIN ISOLATION LEVEL SERIALIZABLE".to_owned());
                for _ in 0..=random.below(3) {
                    let template = STATEMENTS[random.below(STATEMENTS.len() as u32) as usize];
                    let key = (random.below(3) + 1).to_string();
                    let constant = (random.below(4) * 10 + 5).to_string();
                    statements.push(template.replace("{k}", &key).replace("{c}", &constant));
                }
                statements.push("COMMIT".to_owned());
            }
            statements.reverse();
            statements
        })
        .collect();
    let mut steps = Vec::new();
    while queues.iter().any(|queue| !queue.is_empty()) {
        let session = random.below(sessions as u32) as usize;
        if let Some(sql) = queues[session].pop() {
            steps.push(Step { session, sql });
        }
    }
    Script { tables: generate::TABLES, setup: generate::setup(""), sessions, steps }
}

/// A transaction that committed: its session and its steps.
struct Committed {
    session: usize,
    steps: Vec<usize>,
}

fn committed(script: &Script, seen: &Transcript) -> Vec<Committed> {
    let mut committed = Vec::new();
    for session in 0..script.sessions {
        let mut steps = Vec::new();
        for (at, step) in script.steps.iter().enumerate().filter(|(_, step)| step.session == session) {
            steps.push(at);
            if step.sql == "COMMIT" {
                let steps = std::mem::take(&mut steps);
                if seen.outcome(script, at) == Some("COMMIT") {
                    committed.push(Committed { session, steps });
                }
            }
        }
    }
    committed
}

/// Orders of all numbers up to the length that keep each session's order.
fn orders_of(committed: &[Committed]) -> Vec<Vec<usize>> {
    fn extend(committed: &[Committed], order: &mut Vec<usize>, orders: &mut Vec<Vec<usize>>) {
        if order.len() == committed.len() {
            orders.push(order.clone());
            return;
        }
        for next in 0..committed.len() {
            let earlier = |other: &usize| committed[*other].session == committed[next].session;
            if order.contains(&next) || (0..next).filter(earlier).any(|other| !order.contains(&other)) {
                continue;
            }
            order.push(next);
            extend(committed, order, orders);
            order.pop();
        }
    }
    let mut orders = Vec::new();
    extend(committed, &mut Vec::new(), &mut orders);
    orders
}

fn serial_run_agrees(
    script: &Script,
    committed: &[Committed],
    order: &[usize],
    seen: &Transcript,
    postgres: &mut Server,
) -> io::Result<bool> {
    let steps: Vec<usize> = order.iter().flat_map(|&at| committed[at].steps.iter().copied()).collect();
    let serial = Script { steps: steps.iter().map(|&at| script.steps[at].clone()).collect(), ..script.clone() };
    let expected = postgres.run(&serial)?;
    let mut pairs = steps.iter().zip(&expected.events);
    let same = pairs.all(|(&step, event)| seen.outcome(script, step) == Some(event.outcome.as_str()));
    Ok(same && expected.tables == seen.tables)
}
