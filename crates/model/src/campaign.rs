//! A campaign: somebody's own tests, run again and again on the weak database, and why they broke.

use std::fmt;

/// What a campaign did and found.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Campaign {
    /// The command that was run.
    pub command: Vec<String>,
    /// The level, in words: `read committed (mvrc)`.
    pub level: String,
    /// Where the seeds of runs come from.
    pub seed: u64,
    /// How many runs were asked for, in all shards.
    pub planned: u64,
    /// Which part of them this is: number and count.
    pub shard: Option<(u32, u32)>,
    /// Runs one after the other and at serializable, which tell whether the test itself is right.
    pub baseline: Vec<RunLine>,
    /// The runs, by number.
    pub runs: Vec<RunLine>,
    /// The first run that failed, explained.
    pub failure: Option<FailedRun>,
    /// The runs that failed after it, in order, explained without being repeated.
    pub other_failures: Vec<FailedRun>,
    /// The runs that failed, by what caused them, the most frequent cause first.
    pub causes: Vec<FailureCause>,
    /// What the database refused because it does not support it: the words, and how often.
    pub unsupported: Vec<(String, u64)>,
    /// How long clients were held so that transactions overlap, all runs together.
    pub held_ms: u64,
    /// How long everything took.
    pub elapsed_ms: u64,
    /// Whether it was stopped before its end.
    pub is_interrupted: bool,
    /// Which overlaps the runs had.
    pub coverage: Coverage,
}

/// Which overlaps the runs of a campaign had. `docs/coverage.md` defines every number.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Coverage {
    /// Runs (in each database) whose overlaps were counted.
    pub runs: u64,
    /// Runs with too many statements to count.
    pub uncounted: u64,
    /// Counted runs in which two clients were at work at the same time.
    pub concurrent: u64,
    /// The most connections with transactions in one run.
    pub connections: u64,
    /// Committed transactions that read or wrote something.
    pub transactions: u64,
    /// Pairs of transactions of different connections that overlapped.
    pub overlapping: u64,
    /// Pairs of transaction shapes that conflict, by their texts.
    pub pairs: Vec<ConflictingPair>,
    /// Reads that returned a version although a newer one had been committed.
    pub stale_reads: u64,
}

/// Two transaction shapes that touch a common cell which one of them writes.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ConflictingPair {
    /// One shape: its statements without values, one per line.
    pub one: String,
    /// The other one; the same text for two transactions of one shape.
    pub other: String,
    /// How many pairs of transactions of these shapes conflicted, overlapping or not.
    pub met: u64,
    /// Whether two that overlapped had the first one touch the common cell first.
    pub one_first: bool,
    /// Whether two that overlapped had the other one touch it first.
    pub other_first: bool,
}

impl Coverage {
    /// Conflicting pairs of shapes that overlapped at all.
    pub fn overlapped(&self) -> usize {
        self.pairs.iter().filter(|pair| pair.one_first || pair.other_first).count()
    }

    /// Conflicting pairs of shapes that overlapped in both orders.
    pub fn in_both_orders(&self) -> usize {
        self.pairs.iter().filter(|pair| pair.one_first && pair.other_first).count()
    }

    /// Whether runs were counted and nothing weak was possible in any of them: no two clients were at work at the same
    /// time, and no read was stale.
    pub fn is_empty(&self) -> bool {
        self.runs > 0 && self.uncounted == 0 && self.concurrent == 0 && self.stale_reads == 0
    }

    /// Adds what other runs covered.
    pub fn add(&mut self, other: Coverage) {
        self.runs += other.runs;
        self.uncounted += other.uncounted;
        self.concurrent += other.concurrent;
        self.connections = self.connections.max(other.connections);
        self.transactions += other.transactions;
        self.overlapping += other.overlapping;
        self.stale_reads += other.stale_reads;
        for pair in other.pairs {
            match self.pairs.iter_mut().find(|known| known.one == pair.one && known.other == pair.other) {
                Some(known) => {
                    known.met += pair.met;
                    known.one_first |= pair.one_first;
                    known.other_first |= pair.other_first;
                }
                None => self.pairs.push(pair),
            }
        }
        self.pairs.sort_by(|one, two| (&one.one, &one.other).cmp(&(&two.one, &two.other)));
    }
}

/// One run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RunLine {
    /// Its number, from 1.
    pub number: u64,
    /// Its seed.
    pub seed: u64,
    /// How it ended.
    pub outcome: RunOutcome,
    /// How long the command took.
    pub ms: u64,
    /// How many statements the database answered.
    pub statements: u64,
    /// How many transactions were refused with 40001 or 40P01.
    pub refusals: u64,
}

/// How a run ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RunOutcome {
    /// With exit code 0.
    Passed,
    /// With another exit code.
    Failed(i32),
    /// By a signal.
    Killed(i32),
    /// It took too long and was stopped.
    TimedOut,
}

impl RunOutcome {
    /// Whether the test passed.
    pub fn passed(self) -> bool {
        self == RunOutcome::Passed
    }
}

/// In words that follow `the test` or `the command`.
impl fmt::Display for RunOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RunOutcome::Passed => f.write_str("passed"),
            RunOutcome::Failed(code) => write!(f, "failed with exit code {code}"),
            RunOutcome::Killed(signal) => write!(f, "was killed by signal {signal}"),
            RunOutcome::TimedOut => f.write_str("did not end in time"),
        }
    }
}

/// The failing runs of one cause.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct FailureCause {
    /// `lost update of stock.n`
    pub words: String,
    /// The runs' numbers.
    pub runs: Vec<u64>,
    /// The files that replay them.
    pub replays: Vec<String>,
}

/// What reruns of a failing run have shown, in which transactions that had overlapped ran one after the other.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Experiment {
    /// Pairs of transactions that overlapped and met at a cell.
    pub pairs: usize,
    /// Pairs of them whose overlap the failure needs.
    pub needed: usize,
    /// Reruns without the overlaps that are needed.
    pub serial_runs: usize,
    /// How many of them passed.
    pub serial_passed: usize,
}

/// A run that failed, and why.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FailedRun {
    /// Which run it was.
    pub run: RunLine,
    /// What the command printed, the end of it.
    pub output: String,
    /// The database in which it went wrong.
    pub database: String,
    /// What clients asked for, in the order in which it was executed.
    pub statements: Vec<SqlStatement>,
    /// Why.
    pub why: Why,
    /// How many reads returned an old version at first, and how many of them are needed.
    pub stale_reads: (usize, usize),
    /// How often the run was repeated, and how often it failed again.
    pub repeated: (usize, usize),
    /// What reruns showed in which transactions did not overlap.
    pub experiment: Option<Experiment>,
    /// The file that replays it.
    pub replay: Option<String>,
}

/// A statement of a client.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SqlStatement {
    /// The connection, from 1.
    pub connection: usize,
    /// The transaction's name.
    pub txn: Option<String>,
    /// As the client wrote it.
    pub text: String,
    /// The values of its parameters.
    pub parameters: Vec<String>,
    /// What it was answered, in words: `2 rows`, `done`, `40001 could not serialize…`.
    pub answer: String,
    /// Whether it failed.
    pub is_error: bool,
    /// The connection, from 1, for the end of whose transaction it waited.
    pub waited_for: Option<usize>,
    /// What it read and wrote.
    pub operations: Vec<SqlOperation>,
}

/// What a statement read or wrote.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SqlOperation {
    /// Whether it is a write.
    pub is_write: bool,
    /// The cell: `stock[1].count`.
    pub key: String,
    /// The value.
    pub value: String,
    /// Whether newer versions had been committed.
    pub is_stale: bool,
    /// What it could have returned, oldest first, if there was a choice.
    pub alternatives: Vec<String>,
    /// Whether the explanation points at it.
    pub is_guilty: bool,
    /// The statement of a function that it comes from.
    pub within: Option<String>,
}

/// Why a run failed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Why {
    /// Its transactions are not serializable.
    Anomaly(Box<SqlAnomaly>),
    /// They are, but the database refused statements as it may at this level: the statements' numbers.
    Refused(Vec<usize>),
    /// They are, and nothing was refused.
    Serializable,
    /// The checker gave up.
    Unknown(String),
}

/// A violation of serializability, in words.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SqlAnomaly {
    /// `lost-update`
    pub id: String,
    /// One sentence.
    pub headline: String,
    /// The edges of the cycle.
    pub edges: Vec<SqlEdge>,
    /// The cycle in one line.
    pub cycle: String,
    /// The weakest levels that it breaks, and the strongest that it satisfies.
    pub breaks: Vec<String>,
    /// The strongest levels that it satisfies.
    pub satisfies: Vec<String>,
    /// What else is not serializable in the run, and is not the cause of the failure: `lost update of page.views`.
    pub others: Vec<String>,
    /// Changes that were tried and passed, cheapest first.
    pub tried: Vec<TriedFix>,
    /// Changes that were tried and failed.
    pub failed: Vec<FailedFix>,
}

/// A change that was tried, and with which nothing failed.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct TriedFix {
    /// One sentence.
    pub words: String,
    /// The statements as they should be.
    pub sql: Vec<String>,
    /// What it passed.
    pub evidence: FixEvidence,
}

/// What a change has passed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FixEvidence {
    /// So many runs of the command; none failed.
    Runs(usize),
    /// So many interleavings of the recorded transactions; none breaks.
    Explored(u64),
}

impl Default for FixEvidence {
    fn default() -> FixEvidence {
        FixEvidence::Runs(0)
    }
}

/// A change that was tried, and that does not help.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct FailedFix {
    /// One sentence.
    pub words: String,
    /// How it failed.
    pub how: String,
}

/// An edge of a cycle.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SqlEdge {
    /// The earlier transaction.
    pub from: String,
    /// The later one.
    pub to: String,
    /// `rw(stock[1].count)`
    pub label: String,
    /// One sentence.
    pub reason: String,
    /// The statements at its ends, by number, where they are known.
    pub statements: (Option<usize>, Option<usize>),
}

/// What replays a run.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct RunReplay {
    /// The command.
    pub command: Vec<String>,
    /// How the database was set up: the options of the command line, as words.
    pub options: Vec<String>,
    /// Its seed.
    pub seed: u64,
    /// The databases.
    pub databases: Vec<DatabaseReplay>,
    /// What it showed, in a sentence.
    pub shows: String,
}

/// How the clients of one database took turns, and which reads were old.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct DatabaseReplay {
    /// Its name.
    pub name: String,
    /// Whose statement went, in order.
    pub turns: Vec<u32>,
    /// The connections, each with the first statement that tells which one it is.
    pub members: Vec<(u32, String)>,
    /// Session, transaction, read, and how many versions it went back.
    pub stale: Vec<[u32; 4]>,
    /// What waits for what: connection, transaction, statement; connection, transaction of the one that ends first.
    pub forced: Vec<[u32; 5]>,
}
