//! Statements that no person wrote: none of them makes the server panic, disconnect, or take longer than its timeout.
//!
//! `SKEW_STATEMENTS=100000,20000` says how many generated and how many mutated ones [default: 400,200], `SKEW_SEED=1` where
//! to begin; `SKEW_SERVER=host:port` is a server to try, where a crash does not end the test [default: one in this process];
//! `SKEW_CORPUS=folder:folder` are folders of more SQL to mutate; `SKEW_LATE_MS=100` is how late an answer is allowed to be
//! [default: not judged]. On a busy machine an answer comes late although the server does all it can: with
//! `SKEW_SERVER_PID`, an answer is late only if the server has also computed for longer than that.

mod generate;
mod mutate;

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use crate::raw::{Raw, bind, describe, execute, message, parse, query, sync};
use crate::target::{Target, settings};
use generate::Generator;
use mutate::Mutator;
use skew_testing::Dice;

/// The statement timeout.
const TIMEOUT: Duration = Duration::from_millis(200);
/// Statements until the next database: what they make does not pile up.
const STATEMENTS_PER_DATABASE: usize = 500;

struct Trial {
    address: SocketAddr,
    late: Option<Duration>,
    /// The server's process, if it is another one.
    process: Option<u32>,
    /// Answers that were late because the machine was busy.
    held_up: usize,
    failures: Vec<String>,
    slowest: (Duration, String),
    answered: usize,
    refused: usize,
}

impl Trial {
    /// Runs statements, made from the seed and their number.
    fn run(&mut self, kind: &str, seed: u64, count: usize, make: impl Fn(&mut Dice, usize) -> Vec<String>) {
        let mut raw = None;
        for number in 0..count {
            if number % STATEMENTS_PER_DATABASE == 0 {
                raw = None;
            }
            let database = format!("{kind}{}", number / STATEMENTS_PER_DATABASE);
            let mut raw_now = raw.take().unwrap_or_else(|| self.connect(&database));
            let mut random = Dice(seed ^ (number as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15));
            let name = format!("{kind} {seed}/{number}");
            let statements = make(&mut random, number);
            let mut each = statements.iter().map(|sql| sql.replace('\0', " "));
            if each.all(|sql| self.try_one(&mut raw_now, &sql, &mut random, &name)) {
                raw = Some(raw_now);
            }
        }
    }

    fn connect(&self, database: &str) -> Raw {
        let mut raw = Raw::connect(self.address, database);
        raw.query(&format!("SET statement_timeout = {}", TIMEOUT.as_millis()));
        for sql in generate::SCHEMA {
            raw.query(sql);
        }
        raw
    }

    /// Runs a statement; false if the connection is lost.
    fn try_one(&mut self, raw: &mut Raw, sql: &str, random: &mut Dice, name: &str) -> bool {
        let (began, computed) = (Instant::now(), self.computed());
        let extended = random.roll(8) == 0;
        let messages = match extended {
            true => [parse("", sql, &[]), bind("", "", &[], 1), describe('P', ""), execute("", 0), sync()].concat(),
            false => query(sql),
        };
        raw.send(&messages);
        let (answer, copies) = raw.end_of_answer();
        let took = began.elapsed();
        let computed = self.computed().zip(computed).map(|(after, before)| after - before);
        if copies {
            raw.send(&message(b'f', b"enough\0"));
            if extended {
                // While data comes in, the server passes over the Sync that came before it.
                raw.send(&sync());
            }
            raw.until_ready();
        }
        let is_late = |took: Duration| self.late.is_some_and(|late| took > TIMEOUT + late);
        let held_up = is_late(took) && !computed.is_none_or(is_late);
        self.held_up += usize::from(held_up);
        if took > self.slowest.0 && !held_up {
            self.slowest = (took, sql.to_owned());
        }
        let why = if answer.ends_with("closed") {
            Some(format!("lost connection: {answer}"))
        } else if answer.contains("E(XX000") {
            Some(answer.clone())
        } else if is_late(took) && !held_up {
            Some(format!("took {took:?}, computing for {computed:?}"))
        } else {
            None
        };
        if let Some(why) = why {
            eprintln!("{name}: {why}: {}", shortened(sql));
            self.failures.push(format!("{name}: {why}: {sql}"));
        }
        if answer.contains("E(") {
            self.refused += 1
        } else {
            self.answered += 1
        }
        if answer.ends_with("closed") {
            return false;
        }
        if answer.ends_with("Z(E)") || answer.ends_with("Z(T)") && random.roll(4) == 0 {
            raw.query("ROLLBACK");
        }
        let changes_settings = ["set", "discard", "timeout"].iter().any(|word| sql.to_lowercase().contains(word));
        if changes_settings {
            raw.query("ROLLBACK; RESET ALL");
            raw.query(&format!("SET statement_timeout = {}", TIMEOUT.as_millis()));
        }
        true
    }

    /// How long the server has computed since it began, to a hundredth of a second.
    fn computed(&self) -> Option<Duration> {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.process?)).expect("the server runs");
        let (_, fields) = stat.rsplit_once(')').expect("the name of the process is in parentheses");
        let ticks = |at: usize| fields.split_whitespace().nth(at).and_then(|ticks| ticks.parse::<u64>().ok());
        // A tick is 10 ms for every process that asks, whatever the kernel counts in.
        Some(Duration::from_millis(10 * (ticks(11)? + ticks(12)?)))
    }
}

fn shortened(sql: &str) -> String {
    sql.chars().take(300).collect()
}

#[test]
fn statements_that_no_person_wrote_do_no_harm() {
    let asked = std::env::var("SKEW_STATEMENTS").unwrap_or_else(|_| "400,200".to_owned());
    let counts: Vec<usize> = asked.split(',').filter_map(|count| count.parse().ok()).collect();
    let [generated, mutated] = counts[..] else { panic!("SKEW_STATEMENTS is two numbers, not {asked}") };
    let seed = std::env::var("SKEW_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1);
    let late = std::env::var("SKEW_LATE_MS").ok().and_then(|late| late.parse().ok()).map(Duration::from_millis);
    println!("SKEW_SEED={seed} SKEW_STATEMENTS={asked} cargo test -p skew-server --test it generated");
    let server = std::env::var("SKEW_SERVER").ok();
    let own = server.is_none().then(|| {
        let options = skew_sql::session::Options { memory: 256 << 20, ..Default::default() };
        Target::with(skew_server::Settings { options, ..settings() })
    });
    let address = match (&own, &server) {
        (Some(target), _) => target.address,
        (None, Some(server)) => server.parse().expect("host:port"),
        (None, None) => unreachable!("without a server there is an own one"),
    };
    let slowest = (Duration::ZERO, String::new());
    let process = std::env::var("SKEW_SERVER_PID").ok().map(|process| process.parse().expect("a number"));
    let mut trial =
        Trial { address, late, process, held_up: 0, failures: Vec::new(), slowest, answered: 0, refused: 0 };
    let generator = Generator::new();
    trial.run("generated", seed, generated, |random, _| vec![generator.statement(random)]);
    let mutator = Mutator::new();
    trial.run("mutated", seed, mutated, |random, number| {
        mutator.statements(random, number / STATEMENTS_PER_DATABASE, number)
    });
    println!(
        "{generated} generated, {mutated} mutated of {} in the corpus: {} answered, {} refused, {} failures, {} held up by the machine, slowest {:?}: {}",
        mutator.len(),
        trial.answered,
        trial.refused,
        trial.failures.len(),
        trial.held_up,
        trial.slowest.0,
        shortened(&trial.slowest.1)
    );
    assert!(trial.failures.is_empty(), "seed {seed}: {}", trial.failures.join("\n"));
}
