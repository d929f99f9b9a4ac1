//! Levels as formulas over transactions.
//!
//! `ar` is the order in which transactions take effect and `vis` says whose effects one has seen. Of every execution, at
//! whatever level: `ar` is a total order, `vis` is within it, and so is session order within `vis`. What a level asks for
//! beyond that is data here, in the language in which users write levels of their own:
//!
//! ```text
//! -- what is seen has seen
//! forall a b c: vis(a, b) and vis(b, c) => vis(a, c)
//! -- pay and refund are serializable with each other
//! forall a b: a is pay and b is refund and ar(a, b) => vis(a, b)
//! ```
//!
//! An axiom speaks of *all* transactions: it then holds of any few of them, and a few are what the solver looks at. That is
//! why there is no `exists`.

use std::fmt::{self, Display, Formatter};

use skew_model::Level;

use super::formula::Formula;

/// A level: what it asks for.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Axioms(pub Vec<Axiom>);

/// `forall a b c: body`
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Axiom {
    variables: Vec<String>,
    body: Expr,
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum Expr {
    Relation(Relation, usize, usize),
    Same(usize, usize),
    Is(usize, String),
    Not(Box<Expr>),
    And(Box<Expr>, Box<Expr>),
    Or(Box<Expr>, Box<Expr>),
    Implies(Box<Expr>, Box<Expr>),
}

/// A relation between transactions.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[allow(missing_docs)]
pub enum Relation {
    Vis,
    Ar,
    So,
    Wr,
    Ww,
    Rw,
    /// A constraint of the later one is satisfied because the first one has committed. Levels in words do not speak of it.
    Constraint,
}

impl Relation {
    /// All of them.
    pub const ALL: [Relation; 7] =
        [Relation::Vis, Relation::Ar, Relation::So, Relation::Wr, Relation::Ww, Relation::Rw, Relation::Constraint];

    /// As it is written.
    pub fn name(self) -> &'static str {
        match self {
            Relation::Vis => "vis",
            Relation::Ar => "ar",
            Relation::So => "so",
            Relation::Wr => "wr",
            Relation::Ww => "ww",
            Relation::Rw => "rw",
            Relation::Constraint => "constraint",
        }
    }
}

/// Why a text is no level.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NoLevel {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong.
    pub message: String,
}

impl Display for NoLevel {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        write!(out, "line {}: {}", self.line, self.message)
    }
}

/// What a level asks of each transaction, which is the last variable; nothing where it allows everything.
const LEVELS: [(Level, &[&str]); 7] = [
    (Level::Ec, &[]),
    (Level::Ra, &[]),
    (Level::Cc, &[CAUSAL]),
    (Level::Pc, &[PREFIX]),
    (Level::Psi, &[CAUSAL, NO_CONFLICT]),
    (Level::Si, &[PREFIX, NO_CONFLICT]),
    (Level::Ser, &["forall a c: ar(a, c) => vis(a, c)"]),
];
const CAUSAL: &str = "forall a b c: vis(a, b) and vis(b, c) => vis(a, c)";
const PREFIX: &str = "forall a b c: ar(a, b) and vis(b, c) => vis(a, c)";
const NO_CONFLICT: &str = "forall a c: ww(a, c) => vis(a, c)";

impl Axioms {
    /// What a level asks of every transaction; `None` if it cannot be said so: transactions that read each statement's
    /// own state have no one `vis`.
    pub fn of(level: Level) -> Option<Axioms> {
        let (_, lines) = LEVELS.iter().find(|(known, _)| *known == level)?;
        Some(Axioms::parse(&lines.join("\n")).expect("the levels above can be read"))
    }

    /// Reads a level.
    pub fn parse(text: &str) -> Result<Axioms, NoLevel> {
        let mut axioms = Vec::new();
        for (at, line) in text.lines().enumerate() {
            let line = line.split("--").next().unwrap_or_default();
            if !line.trim().is_empty() {
                axioms.push(Axiom::parse(line).map_err(|message| NoLevel { line: at + 1, message })?);
            }
        }
        Ok(Axioms(axioms))
    }

    /// It holds of all of so many transactions, where it is asked of the last one that an axiom speaks of.
    pub fn all(&self, count: usize, meaning: &impl Meaning, asked: impl Fn(usize) -> Formula) -> Vec<Formula> {
        let mut holds = Vec::new();
        for axiom in &self.0 {
            let mut transactions = vec![0; axiom.variables.len()];
            loop {
                let last = transactions.last().copied().unwrap_or(0);
                holds.push(asked(last).implies(axiom.body.of(&transactions, meaning)));
                // The next choice of transactions, counting up.
                let Some(place) = transactions.iter().rposition(|transaction| transaction + 1 < count) else { break };
                transactions[place] += 1;
                transactions[place + 1..].fill(0);
            }
        }
        holds
    }

    /// The programs that it speaks of.
    pub fn programs(&self) -> Vec<&str> {
        let mut names = Vec::new();
        self.0.iter().for_each(|axiom| axiom.body.programs(&mut names));
        names
    }
}

impl Display for Axioms {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|axiom| {
            write!(out, "forall {}: ", axiom.variables.join(" "))?;
            axiom.body.write(out, &axiom.variables)?;
            out.write_str("\n")
        })
    }
}

/// What a relation between two transactions is, and which program one is of.
pub trait Meaning {
    /// Whether two transactions are so related.
    fn related(&self, relation: Relation, one: usize, other: usize) -> Formula;
    /// Whether a transaction is of a program.
    fn is_of(&self, transaction: usize, program: &str) -> Formula;
}

/// What holds at every level: `ar` is a total order, `vis` is within it, what a session has done it sees, what is read is
/// seen, a reader of what another transaction overwrites does not see that one, and what a constraint rests on comes before.
pub fn orders(count: usize, meaning: &impl Meaning) -> Vec<Formula> {
    let related = |relation, one, other| meaning.related(relation, one, other);
    let mut holds = Vec::new();
    for one in 0..count {
        for other in (0..count).filter(|other| *other != one) {
            holds.push(related(Relation::Vis, one, other).implies(related(Relation::Ar, one, other)));
            holds.push(related(Relation::So, one, other).implies(related(Relation::Vis, one, other)));
            holds.push(related(Relation::Wr, one, other).implies(related(Relation::Vis, one, other)));
            holds.push(related(Relation::Rw, one, other).implies(!related(Relation::Vis, other, one)));
            holds.push(related(Relation::Constraint, one, other).implies(related(Relation::Ar, one, other)));
            for third in (0..count).filter(|third| *third != one && *third != other) {
                let both = Formula::all([related(Relation::Ar, one, other), related(Relation::Ar, other, third)]);
                holds.push(both.implies(related(Relation::Ar, one, third)));
            }
        }
    }
    holds
}

impl Axiom {
    /// `forall a b: a is ONE and b is OTHER and ar(a, b) => vis(a, b)`, whatever the programs are called.
    pub fn serializes(one: &str, other: &str) -> Axiom {
        let (first, later) = (Expr::Is(0, one.to_owned()), Expr::Is(1, other.to_owned()));
        let are_these = Expr::And(Box::new(first), Box::new(later));
        let are_ordered = Expr::And(Box::new(are_these), Box::new(Expr::Relation(Relation::Ar, 0, 1)));
        let body = Expr::Implies(Box::new(are_ordered), Box::new(Expr::Relation(Relation::Vis, 0, 1)));
        Axiom { variables: vec!["a".to_owned(), "b".to_owned()], body }
    }

    fn parse(text: &str) -> Result<Axiom, String> {
        let mut reader = Reader { words: words(text)?, at: 0, variables: Vec::new() };
        if !reader.take("forall") {
            return Err("a level is made of lines that read `forall a b: … => …`".to_owned());
        }
        while !reader.take(":") {
            let name = reader.name("a name of a transaction, or `:`")?;
            if reader.variables.contains(&name) {
                return Err(format!("{name} stands there twice"));
            }
            reader.variables.push(name);
        }
        if !(1..=MOST_VARIABLES).contains(&reader.variables.len()) {
            return Err(format!("one to {MOST_VARIABLES} transactions can be spoken of"));
        }
        let body = reader.implication(0)?;
        match reader.words.get(reader.at) {
            None => Ok(Axiom { variables: reader.variables, body }),
            Some(word) => Err(format!("`{word}` was not expected here")),
        }
    }
}

/// An axiom is written out for all transactions that its variables can be.
const MOST_VARIABLES: usize = 4;
/// Parentheses within parentheses.
const DEEPEST: usize = 100;

impl Expr {
    fn of(&self, transactions: &[usize], meaning: &impl Meaning) -> Formula {
        match self {
            Expr::Relation(relation, one, other) => {
                meaning.related(*relation, transactions[*one], transactions[*other])
            }
            Expr::Same(one, other) if transactions[*one] == transactions[*other] => Formula::TRUE,
            Expr::Same(..) => Formula::FALSE,
            Expr::Is(one, program) => meaning.is_of(transactions[*one], program),
            Expr::Not(inner) => !inner.of(transactions, meaning),
            Expr::And(one, other) => Formula::all([one.of(transactions, meaning), other.of(transactions, meaning)]),
            Expr::Or(one, other) => Formula::any([one.of(transactions, meaning), other.of(transactions, meaning)]),
            Expr::Implies(one, other) => one.of(transactions, meaning).implies(other.of(transactions, meaning)),
        }
    }

    /// As it is read, with all parentheses.
    fn write(&self, out: &mut Formatter<'_>, names: &[String]) -> fmt::Result {
        let both = |out: &mut Formatter<'_>, one: &Expr, word: &str, other: &Expr| {
            out.write_str("(")?;
            one.write(out, names)?;
            write!(out, " {word} ")?;
            other.write(out, names)?;
            out.write_str(")")
        };
        match self {
            Expr::Relation(relation, one, other) => {
                write!(out, "{}({}, {})", relation.name(), names[*one], names[*other])
            }
            Expr::Same(one, other) => write!(out, "{} = {}", names[*one], names[*other]),
            Expr::Is(one, program) => write!(out, "{} is {program}", names[*one]),
            Expr::Not(inner) => {
                out.write_str("not ")?;
                inner.write(out, names)
            }
            Expr::And(one, other) => both(out, one, "and", other),
            Expr::Or(one, other) => both(out, one, "or", other),
            Expr::Implies(one, other) => both(out, one, "=>", other),
        }
    }

    fn programs<'e>(&'e self, names: &mut Vec<&'e str>) {
        match self {
            Expr::Relation(..) | Expr::Same(..) => {}
            Expr::Is(_, program) => names.push(program),
            Expr::Not(inner) => inner.programs(names),
            Expr::And(one, other) | Expr::Or(one, other) | Expr::Implies(one, other) => {
                one.programs(names);
                other.programs(names);
            }
        }
    }
}

fn words(text: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let is_word = |char: char| char.is_alphanumeric() || char == '_';
        let length = if is_word(first) {
            rest.find(|char: char| !is_word(char)).unwrap_or(rest.len())
        } else if rest.starts_with("=>") {
            2
        } else if "(),:=".contains(first) {
            1
        } else {
            return Err(format!("`{first}` was not expected here"));
        };
        words.push(rest[..length].to_owned());
        rest = rest[length..].trim_start();
    }
    Ok(words)
}

struct Reader {
    words: Vec<String>,
    at: usize,
    variables: Vec<String>,
}

impl Reader {
    fn take(&mut self, word: &str) -> bool {
        let is_it = self.words.get(self.at).is_some_and(|next| next == word);
        self.at += usize::from(is_it);
        is_it
    }

    fn expect(&mut self, word: &str) -> Result<(), String> {
        if self.take(word) { Ok(()) } else { Err(format!("{}, where `{word}` was expected", self.next())) }
    }

    fn next(&self) -> String {
        self.words.get(self.at).map_or("the line ends".to_owned(), |word| format!("there is `{word}`"))
    }

    fn name(&mut self, what: &str) -> Result<String, String> {
        let is_name = |word: &&String| word.chars().all(|char| char.is_alphanumeric() || char == '_');
        let name = self.words.get(self.at).filter(is_name).cloned();
        let name = name.ok_or_else(|| format!("{}, where {what} was expected", self.next()))?;
        self.at += 1;
        Ok(name)
    }

    fn variable(&mut self) -> Result<usize, String> {
        let name = self.name("the name of a transaction")?;
        self.variables
            .iter()
            .position(|known| *known == name)
            .ok_or(format!("there is no transaction {name} before `:`"))
    }

    fn implication(&mut self, depth: usize) -> Result<Expr, String> {
        if depth > DEEPEST {
            return Err("this is too deeply nested".to_owned());
        }
        let left = self.disjunction(depth)?;
        if !self.take("=>") {
            return Ok(left);
        }
        Ok(Expr::Implies(Box::new(left), Box::new(self.implication(depth + 1)?)))
    }

    fn disjunction(&mut self, depth: usize) -> Result<Expr, String> {
        let mut left = self.conjunction(depth)?;
        while self.take("or") {
            left = Expr::Or(Box::new(left), Box::new(self.conjunction(depth)?));
        }
        Ok(left)
    }

    fn conjunction(&mut self, depth: usize) -> Result<Expr, String> {
        let mut left = self.simple(depth)?;
        while self.take("and") {
            left = Expr::And(Box::new(left), Box::new(self.simple(depth)?));
        }
        Ok(left)
    }

    fn simple(&mut self, depth: usize) -> Result<Expr, String> {
        if depth > DEEPEST {
            return Err("this is too deeply nested".to_owned());
        }
        if self.take("not") {
            return Ok(Expr::Not(Box::new(self.simple(depth + 1)?)));
        }
        if self.take("(") {
            let inner = self.implication(depth + 1)?;
            self.expect(")")?;
            return Ok(inner);
        }
        let next = self.words.get(self.at).cloned().unwrap_or_default();
        if next == "exists" {
            return Err("there is no `exists`: a level speaks of all transactions".to_owned());
        }
        let is_next = |relation: &Relation| relation.name() == next && *relation != Relation::Constraint;
        if let Some(relation) = Relation::ALL.into_iter().find(is_next) {
            self.at += 1;
            self.expect("(")?;
            let one = self.variable()?;
            self.expect(",")?;
            let other = self.variable()?;
            self.expect(")")?;
            return Ok(Expr::Relation(relation, one, other));
        }
        let one = self.variable()?;
        if self.take("is") {
            return Ok(Expr::Is(one, self.name("the name of a program")?));
        }
        self.expect("=")?;
        Ok(Expr::Same(one, self.variable()?))
    }
}
