//! Whether every run of an application is serializable at a level: the answers as data, which renderers and files share.

/// What is known about an application.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct RobustReport {
    /// The file as the user named it.
    pub file: String,
    /// The programs.
    pub programs: Vec<RobustProgram>,
    /// Whether the order of a session's transactions counts.
    pub sessions: bool,
    /// Transactions conflict about whole rows, not about columns.
    pub rows: bool,
    /// It is an answer that was given before.
    pub cached: bool,
    /// All levels were asked about, not only some of them.
    pub every_level: bool,
    /// What stands for more than it does.
    pub approximations: Vec<Approximated>,
    /// Functions that look at tables or change them, and that nothing else calls: they are not looked at.
    pub uncalled: Vec<String>,
    /// Which programs can depend on which, and at what.
    pub dependencies: Vec<Dependency>,
    /// The answers, weakest level first.
    pub levels: Vec<LevelAnswer>,
    /// Runs that are not serializable; levels refer to them.
    pub runs: Vec<FoundRun>,
    /// The largest sets of programs that are robust together, where they were asked for.
    pub subsets: Vec<RobustSubsets>,
}

/// A program.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct RobustProgram {
    /// Its name.
    pub name: String,
    /// Its parameters' names.
    pub parameters: Vec<String>,
    /// How many ways through it there are.
    pub ways: usize,
    /// The level that its comment asks for.
    pub level: Option<String>,
    /// It was marked as serializable by whoever asked.
    pub is_marked: bool,
}

/// Something that is taken to do more than it does.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Approximated {
    /// The program.
    pub program: String,
    /// Its line in the body.
    pub line: u32,
    /// What it is, and what it was taken for.
    pub what: String,
}

/// A statement of a program.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct StatementAt {
    /// Its line in the body.
    pub line: u32,
    /// The statement, shortened.
    pub text: String,
}

/// How one transaction can depend on another one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum DependencyKind {
    /// They are calls of one session.
    Session,
    /// A constraint of the later one is satisfied because the first one has committed.
    Constraint,
    /// The later one reads what the first one wrote.
    WriteRead,
    /// The later one overwrites what the first one wrote.
    WriteWrite,
    /// The later one overwrites what the first one read.
    ReadWrite,
}

impl DependencyKind {
    /// All of them.
    pub const ALL: [DependencyKind; 5] = [
        DependencyKind::Session,
        DependencyKind::Constraint,
        DependencyKind::WriteRead,
        DependencyKind::WriteWrite,
        DependencyKind::ReadWrite,
    ];

    /// As it is written in a cycle.
    pub fn letters(self) -> &'static str {
        match self {
            DependencyKind::Session => "so",
            DependencyKind::Constraint => "constraint",
            DependencyKind::WriteRead => "wr",
            DependencyKind::WriteWrite => "ww",
            DependencyKind::ReadWrite => "rw",
        }
    }
}

/// Transactions of two programs can depend on each other.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Dependency {
    /// The program that comes first, by its number.
    pub from: usize,
    /// The program that comes later, by its number.
    pub to: usize,
    /// Why.
    pub kind: DependencyKind,
    /// What they meet at: `account.balance`, or a table where rows come and go.
    pub about: String,
    /// The statements that meet.
    pub statements: Vec<Meeting>,
}

/// Two statements that can be about one row.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Meeting {
    /// That of the first program.
    pub from: StatementAt,
    /// That of the later one.
    pub to: StatementAt,
    /// The values, of the first and of the later one, that are equal then: parameters, constants, what was read.
    pub equal: Vec<(String, String)>,
}

/// The answer at one level.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LevelAnswer {
    /// The level.
    pub level: String,
    /// Whether every run is serializable.
    pub verdict: RobustVerdict,
    /// Robust: by which argument.
    pub argument: Option<String>,
    /// Why, in words.
    pub why: String,
    /// Runs that are not serializable, by their numbers: of this level, or of a stronger one.
    pub found: Vec<usize>,
    /// Cycles that no run has shown.
    pub possible: Vec<PossibleCycle>,
    /// How many cycles were not tried, because one was found.
    pub untried: usize,
}

/// Whether every run at a level is serializable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RobustVerdict {
    /// Yes, however many transactions there are.
    Robust,
    /// No, and a run shows it.
    NotRobust,
    /// There may be a run that is not, but none was found.
    Possible,
    /// A limit was hit.
    Unknown,
}

impl RobustVerdict {
    /// All of them.
    pub const ALL: [RobustVerdict; 4] =
        [RobustVerdict::Robust, RobustVerdict::NotRobust, RobustVerdict::Possible, RobustVerdict::Unknown];

    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            RobustVerdict::Robust => "robust",
            RobustVerdict::NotRobust => "not robust",
            RobustVerdict::Possible => "possible",
            RobustVerdict::Unknown => "unknown",
        }
    }
}

/// A cycle of dependencies.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct RobustCycle {
    /// In one line: `withdraw -rw(account.balance)-> withdraw`.
    pub line: String,
    /// Its dependencies, in their order.
    pub edges: Vec<RobustEdge>,
}

/// A dependency in a cycle.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RobustEdge {
    /// The program that comes first, by its number.
    pub from: usize,
    /// The program that comes later, by its number.
    pub to: usize,
    /// Why.
    pub kind: DependencyKind,
    /// What they meet at; nothing for the order of a session.
    pub about: String,
    /// The statements that meet.
    pub statements: Option<(StatementAt, StatementAt)>,
}

/// A cycle that no run has shown.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PossibleCycle {
    /// The cycle.
    pub cycle: RobustCycle,
    /// Why no run shows it, as far as is known.
    pub reason: String,
}

/// A run that is not serializable.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct FoundRun {
    /// The level that it is a run of.
    pub level: String,
    /// The name of the anomaly.
    pub anomaly: Option<String>,
    /// The programs that take part.
    pub programs: Vec<String>,
    /// The cycle that was looked for; none if fewer calls were enough.
    pub cycle: Option<RobustCycle>,
    /// Statements that come first.
    pub setup: Vec<String>,
    /// The sessions with their calls.
    pub sessions: Vec<(String, Vec<String>)>,
    /// The client in one line, as `skew explore` reads it.
    pub client: String,
    /// The history, as `.hist` text.
    pub history: String,
    /// The part of it that is not serializable, as `.hist` text.
    pub core: String,
    /// The command that shows it again.
    pub replay: String,
    /// The same as sessions of psql, where a real PostgreSQL does it.
    pub psql: Option<String>,
    /// The files that it was saved as: what replays it, and a picture.
    pub saved: Option<(String, String)>,
}

/// The largest sets of programs that are robust together at a level.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct RobustSubsets {
    /// The level.
    pub level: String,
    /// The sets, by the names of the programs.
    pub sets: Vec<Vec<String>>,
    /// The limit that was hit, if one was.
    pub limit: Option<String>,
}

/// What replays a run of an application: everything that is needed is in it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct AppRun {
    /// What the application's file was called.
    pub file: String,
    /// Its text.
    pub app: String,
    /// The level of every transaction that does not ask for one.
    pub level: String,
    /// Programs that run serializably, besides those that ask for it.
    pub serializable: Vec<String>,
    /// Transactions conflict about whole rows.
    pub rows: bool,
    /// Statements that come first.
    pub setup: Vec<String>,
    /// The sessions with their calls.
    pub sessions: Vec<(String, Vec<String>)>,
    /// What transactions did, as `.hist` text.
    pub history: String,
    /// The anomaly's name.
    pub anomaly: Option<String>,
}

impl FoundRun {
    /// Whether sessions read in the end what the calls have left, which is no part of the application: `finally`.
    pub fn reads_what_is_left(&self) -> bool {
        self.sessions.iter().any(|(name, _)| name == "finally")
    }
}

impl RobustReport {
    /// The weakest levels at which every run is serializable, among those that were asked about.
    pub fn weakest(&self) -> Vec<&str> {
        let robust: Vec<&str> = self
            .levels
            .iter()
            .filter(|answer| answer.verdict == RobustVerdict::Robust)
            .map(|answer| answer.level.as_str())
            .collect();
        let implies = |one: &str, other: &str| match (one.parse::<crate::Level>(), other.parse()) {
            (Ok(one), Ok(other)) => one.implies(other),
            _ => false,
        };
        robust
            .iter()
            .copied()
            .filter(|level| !robust.iter().any(|other| other != level && implies(level, other)))
            .collect()
    }
}
