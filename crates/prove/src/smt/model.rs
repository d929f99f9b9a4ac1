//! Values for a cycle: what its calls are given and what they find, such that a run can begin there.
//!
//! Formulas are about numbers of any kind, and let everybody find what somebody may have left there meanwhile. A run begins
//! with rows that are there once, so that is asked for here, too: who reads a cell without having seen the other one who
//! reads it finds the same in it. Nothing is concluded from what has no such values.

use std::collections::BTreeMap;

use skew_sql::types::Type;

use super::axioms::{Meaning, Relation};
use super::encode::{Encoding, Isolation, KINDS, value_name};
use super::formula::Formula;
use super::solver::{Conversation, NoSolver, Said, Solver};
use crate::graph::Graph;
use crate::summary::{Access, AccessKind, Cell, Outcome, Path, Term, TermId, TermKind};
use crate::suspect::Suspect;

/// So often a number is asked to be a whole one.
const MOST_SPLITS: usize = 16;

/// Values that the calls of a suspect have in one run, if the run goes as it is thought of.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Model {
    /// Of each call, by their places in its way.
    values: Vec<Vec<Option<Number>>>,
    /// Text that a number stands for.
    texts: BTreeMap<Number, String>,
}

/// A number: so much over so much.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Number {
    over: i128,
    under: i128,
}

/// What is asked for beyond the cycle.
#[derive(Clone, Copy)]
struct Wish {
    /// Cells hold one value to begin with.
    one_beginning: bool,
    /// What one call looks for by keys is different rows.
    different_rows: bool,
    /// Numbers are this large.
    at_least: Option<i32>,
}

/// The first wish that can be met is.
const WISHES: [Wish; 4] = [
    Wish { one_beginning: true, different_rows: true, at_least: Some(1) },
    Wish { one_beginning: true, different_rows: false, at_least: Some(0) },
    Wish { one_beginning: true, different_rows: false, at_least: None },
    Wish { one_beginning: false, different_rows: false, at_least: None },
];

/// Values for a suspect, if the solver finds some.
pub fn model(
    solver: &Solver,
    graph: &Graph<'_>,
    isolation: &Isolation,
    suspect: &Suspect,
) -> Result<Option<Model>, NoSolver> {
    let node =
        |program: usize, path: usize| graph.nodes.iter().position(|node| (node.program, node.path) == (program, path));
    let taken: Option<Vec<usize>> = suspect.calls.iter().map(|call| node(call.program, call.path)).collect();
    let Some(taken) = taken else { return Ok(None) };
    let mut nodes = taken.clone();
    nodes.sort_unstable();
    nodes.dedup();
    let encoding = Encoding::new(graph, &nodes, isolation, taken.len());
    let asked = Asked { encoding: &encoding, taken: &taken };
    let mut conversation = solver.start()?;
    encoding.tell(&mut conversation);
    asked.cycle(suspect).iter().for_each(|holds| conversation.assert(holds));
    for wish in WISHES {
        conversation.remember();
        asked.wish(wish).iter().for_each(|holds| conversation.assert(holds));
        let values = asked.whole_values(&mut conversation);
        conversation.forget();
        if let Some(values) = values {
            return Ok(Some(Model { values, texts: asked.texts() }));
        }
    }
    Ok(None)
}

/// Transactions that take the ways of a suspect.
struct Asked<'a, 'g, 's> {
    encoding: &'a Encoding<'g, 's>,
    /// The node of each.
    taken: &'a [usize],
}

impl Asked<'_, '_, '_> {
    fn path(&self, call: usize) -> &Path {
        self.encoding.graph.path(self.taken[call])
    }

    /// They are the suspect.
    fn cycle(&self, suspect: &Suspect) -> Vec<Formula> {
        let takes = self.taken.iter().enumerate().map(|(at, node)| self.encoding.takes(at, *node));
        let edges = suspect.edges.iter().map(|edge| {
            let relation = KINDS.into_iter().find(|(_, kind)| *kind == edge.kind);
            let relation = relation.map_or(Relation::So, |(relation, _)| relation);
            self.encoding.related(relation, edge.from, edge.to)
        });
        let stays = |call: usize, term: TermId| self.path(call).terms.get(term).is_some_and(|term| !term.looped);
        let equal =
            suspect.equal.iter().filter(|(one, other)| stays(one.call, one.term) && stays(other.call, other.term));
        let equal = equal
            .map(|(one, other)| Formula::equal(&value_name(one.call, one.term), &value_name(other.call, other.term)));
        takes.chain(edges).chain(equal).collect()
    }

    fn wish(&self, wish: Wish) -> Vec<Formula> {
        let mut asked = Vec::new();
        if wish.one_beginning {
            for one in 0..self.taken.len() {
                (one..self.taken.len()).for_each(|other| asked.extend(self.one_beginning(one, other)));
            }
        }
        for call in 0..self.taken.len() {
            let path = self.path(call);
            if wish.different_rows {
                asked.extend(self.different_rows(call));
            }
            let Some(least) = wish.at_least else { continue };
            let given = |term: &Term| matches!(term.kind, TermKind::Parameter(_) | TermKind::Read { .. });
            let numbers = path.terms.iter().enumerate().filter(|(_, term)| given(term) && is_number(term));
            asked.extend(numbers.map(|(term, _)| Formula::atom(format!("(>= {} {least}.0)", value_name(call, term)))));
        }
        asked
    }

    /// Two calls that do not see each other find the same in a row, and both find it or both do not.
    fn one_beginning(&self, one: usize, other: usize) -> Vec<Formula> {
        let (path, other_path) = (self.path(one), self.path(other));
        let runners = ((one, self.taken[one]), (other, self.taken[other]));
        let sees = |from, to| self.encoding.related(Relation::Wr, from, to);
        let are_apart = !Formula::any([sees(one, other), sees(other, one)]);
        let one_row = |access: &Access, other_access: &Access| {
            let table = self.encoding.graph.summary.facts.table(access.table)?;
            let same = self.encoding.is_one_row(table, (runners.0, access), (runners.1, other_access))?;
            (access.table == other_access.table).then(|| Formula::all([are_apart.clone(), same]))
        };
        let mut asked = Vec::new();
        for (term, access, column) in first_reads(path) {
            for (other_term, other_access, other_column) in first_reads(other_path) {
                let is_itself = one == other && access == other_access;
                if column != other_column || is_itself {
                    continue;
                }
                if let Some(same_row) = one_row(&path.accesses[access], &other_path.accesses[other_access]) {
                    let same = Formula::equal(&value_name(one, term), &value_name(other, other_term));
                    asked.push(same_row.implies(same));
                }
            }
        }
        if one == other {
            return asked;
        }
        for access in &path.accesses {
            for other_access in &other_path.accesses {
                let differ = [(access, path, other_access), (other_access, other_path, access)]
                    .iter()
                    .any(|(found, path, missing)| finds(path, found) && is_missing(missing));
                if differ {
                    asked.extend(one_row(access, other_access).map(|same_row| !same_row));
                }
            }
        }
        asked
    }

    /// The keys that a call looks for are different.
    fn different_rows(&self, call: usize) -> Vec<Formula> {
        let path = self.path(call);
        let mut keys: Vec<((skew_sql::catalog::Oid, usize), TermId)> = Vec::new();
        for access in path.accesses.iter().filter(|access| !access.looped) {
            let Some(table) = self.encoding.graph.summary.facts.table(access.table) else { continue };
            if let [column] = table.key[..]
                && let Some(term) = access.value_of(column)
            {
                keys.push(((access.table, column), term));
            }
        }
        keys.sort_unstable();
        keys.dedup();
        let pairs = keys.windows(2).filter(|pair| pair[0].0 == pair[1].0);
        pairs.map(|pair| !Formula::equal(&value_name(call, pair[0].1), &value_name(call, pair[1].1))).collect()
    }

    /// Values, with whole numbers where a type asks for them.
    fn whole_values(&self, conversation: &mut Conversation) -> Option<Vec<Vec<Option<Number>>>> {
        let names = |call: usize| (0..self.path(call).terms.len()).map(move |term| value_name(call, term));
        let all: Vec<String> = (0..self.taken.len()).flat_map(names).collect();
        for _ in 0..MOST_SPLITS {
            if conversation.ask() != Said::Sat {
                return None;
            }
            let said = conversation.values(&all);
            let number = |name: String| said.get(&name).and_then(|text| Number::parse(text));
            let values: Vec<Vec<Option<Number>>> =
                (0..self.taken.len()).map(|call| names(call).map(number).collect()).collect();
            let Some((name, below)) = self.no_whole_number(&values) else { return Some(values) };
            let (below, above) = (literal(below), literal(below + 1));
            let sides = [format!("(<= {name} {below})"), format!("(>= {name} {above})")];
            conversation.assert(&Formula::any(sides.map(Formula::atom)));
        }
        None
    }

    /// A number that should be a whole one, and the largest whole number below it.
    fn no_whole_number(&self, values: &[Vec<Option<Number>>]) -> Option<(String, i128)> {
        for (call, values) in values.iter().enumerate() {
            let terms = self.path(call).terms.iter().zip(values).enumerate();
            for (at, (_, value)) in terms.filter(|(_, (term, _))| is_number(term) && !term.looped) {
                if let Some(number) = value.filter(|number| number.under != 1) {
                    return Some((value_name(call, at), number.over.div_euclid(number.under)));
                }
            }
        }
        None
    }

    /// The texts that numbers stand for.
    fn texts(&self) -> BTreeMap<Number, String> {
        let paths = (0..self.encoding.graph.nodes.len()).map(|node| self.encoding.graph.path(node));
        let constants = paths.flat_map(|path| &path.terms).filter_map(|term| match &term.kind {
            TermKind::Constant(text) if text.starts_with('\'') || text == "true" || text == "false" => Some(text),
            _ => None,
        });
        constants.filter_map(|text| Some((Number::parse(&self.encoding.number(text))?, text.clone()))).collect()
    }
}

/// What a way reads of rows before it has changed any of the table, where it is one value: the value, the access and the
/// column.
fn first_reads(path: &Path) -> Vec<(TermId, usize, usize)> {
    let terms = path.terms.iter().enumerate().filter(|(_, term)| !term.looped);
    let reads = terms.filter_map(|(at, term)| match term.kind {
        TermKind::Read { access, column } => Some((at, access, column)),
        _ => None,
    });
    reads.filter(|(_, access, column)| is_first(path, &path.accesses[*access], Cell::Column(*column))).collect()
}

/// Whether a way has not written such a cell before.
pub(crate) fn is_first(path: &Path, read: &Access, cell: Cell) -> bool {
    let has_written = |access: &Access| {
        access.table == read.table
            && access.number < read.number
            && (access.writes.contains(&cell) || access.kind == AccessKind::Insert)
    };
    !path.accesses.iter().any(has_written)
}

fn finds(path: &Path, access: &Access) -> bool {
    access.kind != AccessKind::Insert
        && access.outcome == Outcome::Found
        && !access.conditional
        && !access.looped
        && is_first(path, access, Cell::Existence)
}

/// Whether a row cannot be there when a call looks for it.
fn is_missing(access: &Access) -> bool {
    match access.kind {
        AccessKind::Insert => access.surely_writes(),
        _ => access.outcome == Outcome::Missing && access.does_something() && !access.looped && !access.conditional,
    }
}

fn is_number(term: &Term) -> bool {
    term.typed.is_some_and(|typed| matches!(typed.ty, Type::INT2 | Type::INT4 | Type::INT8 | Type::NUMERIC))
}

fn literal(number: i128) -> String {
    if number < 0 { format!("(- {}.0)", number.unsigned_abs()) } else { format!("{number}.0") }
}

impl Number {
    /// As solvers write it: `1.0`, `(- 1.0)`, `(/ 1.0 2.0)`, `(- (/ 1 2))`.
    fn parse(text: &str) -> Option<Number> {
        let words: Vec<&str> = text.split(['(', ')', ' ']).filter(|word| !word.is_empty()).collect();
        let is_negative = words.iter().filter(|word| **word == "-").count() % 2 == 1;
        let digits = words.iter().filter(|word| !matches!(**word, "-" | "/"));
        let numbers: Option<Vec<Number>> = digits.map(|word| Number::decimal(word)).collect();
        let number = match numbers?[..] {
            [one] => one,
            [one, other] => Number::reduced(one.over.checked_mul(other.under)?, one.under.checked_mul(other.over)?)?,
            _ => return None,
        };
        Some(if is_negative { Number { over: -number.over, ..number } } else { number })
    }

    fn decimal(text: &str) -> Option<Number> {
        let (whole, part) = text.split_once('.').unwrap_or((text, ""));
        let under = 10_i128.checked_pow(u32::try_from(part.len()).ok()?)?;
        Number::reduced(format!("{whole}{part}").parse().ok()?, under)
    }

    fn reduced(over: i128, under: i128) -> Option<Number> {
        let (mut one, mut other) = (over.unsigned_abs(), under.unsigned_abs());
        while other != 0 {
            (one, other) = (other, one % other);
        }
        let by = i128::try_from(one).ok().filter(|by| *by != 0 && under != 0)?;
        let by = if under < 0 { -by } else { by };
        Some(Number { over: over / by, under: under / by })
    }

    /// As a text that no other number has.
    fn name(self) -> String {
        let sign = if self.over < 0 { "_" } else { "" };
        let part = if self.under == 1 { String::new() } else { format!("_{}", self.under) };
        format!("{sign}{}{part}", self.over.unsigned_abs())
    }

    /// To three digits.
    fn as_decimal(self) -> String {
        if self.under == 1 {
            return self.over.to_string();
        }
        let thousandths = self.over.saturating_mul(1000) / self.under;
        let sign = if thousandths < 0 { "-" } else { "" };
        let (whole, part) = (thousandths.unsigned_abs() / 1000, thousandths.unsigned_abs() % 1000);
        format!("{sign}{whole}.{part:03}").trim_end_matches('0').trim_end_matches('.').to_owned()
    }
}

impl Model {
    /// A value as text, if it has a type of which texts can be made, and is one that can be chosen. A type that is made of
    /// another one counts as that one.
    pub fn text(&self, call: usize, path: &Path, term: TermId, ty: Type) -> Option<String> {
        let known = path.terms.get(term).filter(|term| !term.looped)?;
        match &known.kind {
            TermKind::Constant(text) => return Some(unquoted(text).to_owned()),
            TermKind::Null | TermKind::Fresh(_) | TermKind::Unknown => return None,
            _ => {}
        }
        let number = (*self.values.get(call)?.get(term)?)?;
        let text = self.texts.get(&number);
        Some(match ty {
            Type::INT2 | Type::INT4 | Type::INT8 => number.over.div_euclid(number.under).to_string(),
            Type::NUMERIC | Type::FLOAT4 | Type::FLOAT8 => number.as_decimal(),
            Type::BOOL => (text.map(String::as_str) == Some("true")).to_string(),
            Type::TEXT | Type::VARCHAR | Type::BPCHAR => match text.filter(|text| text.starts_with('\'')) {
                Some(text) => unquoted(text).to_owned(),
                None => format!("v{}", number.name()),
            },
            Type::UUID => format!("00000000-0000-0000-0000-{:012}", number.over.unsigned_abs() % 1_000_000_000_000),
            Type::DATE | Type::TIMESTAMP | Type::TIMESTAMPTZ => {
                format!("2024-01-{:02}", number.over.rem_euclid(28) + 1)
            }
            _ => return None,
        })
    }
}

/// Constants that are texts have quotes around them.
fn unquoted(text: &str) -> &str {
    text.strip_prefix('\'').and_then(|text| text.strip_suffix('\'')).unwrap_or(text)
}
