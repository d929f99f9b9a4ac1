//! A few transactions of an application, as formulas (Nagar and Jagannathan 2018, section 4 and appendix A).
//!
//! Every transaction takes one of the [ways](crate::summary::Path) through one of the programs, and has numbers for the
//! values of that way; text is numbered, since only whether it is the same matters. Between any two of them there are
//! `vis`, `ar`, `so` and the dependencies `wr`, `ww` and `rw`. A dependency asks for two accesses that can meet at a row;
//! two accesses that surely meet ask for a dependency. Whatever an application can do at a level, its dependencies are a
//! model of these formulas; what has no model cannot happen.

use std::collections::{BTreeMap, BTreeSet};

use skew_model::Level;
use skew_sql::types::{Type, Typed};

use super::axioms::{Axiom, Axioms, Meaning, Relation, orders};
use super::formula::Formula;
use super::meetings::hits_of;
use super::solver::Conversation;
use crate::graph::edges::Dependency;
use crate::graph::{Graph, Writers};
use crate::summary::{Access, Cell, Comparison, Condition, Outcome, Path, Term, TermId, TermKind};
use crate::suspect::EdgeKind;

/// What transactions are isolated from.
#[derive(Clone, Debug)]
pub struct Isolation {
    /// The level of each program, by its number; `None`: only what the axioms say.
    pub levels: Vec<Option<Level>>,
    /// What is asked beyond the levels.
    pub axioms: Axioms,
    /// Session order counts.
    pub sessions: bool,
}

impl Isolation {
    /// Every program at one level.
    pub fn uniform(level: Level, programs: usize, sessions: bool) -> Isolation {
        Isolation { levels: vec![Some(level); programs], axioms: Axioms::default(), sessions }
    }

    /// Whether it keeps those who write a row apart: every program runs at a level that does.
    pub fn writers(&self) -> Writers {
        let keeps_apart = |level: &Option<Level>| level.is_some_and(Level::refuses_conflicts);
        if self.levels.iter().all(keeps_apart) { Writers::Apart } else { Writers::Together }
    }

    /// Two programs are serializable with each other.
    pub fn serialize(&mut self, one: &str, other: &str) {
        for (one, other) in BTreeSet::from([(one, other), (other, one)]) {
            self.axioms.0.push(Axiom::serializes(one, other));
        }
    }
}

/// Formulas about a few transactions.
pub struct Encoding<'g, 's> {
    pub(super) graph: &'g Graph<'s>,
    pub(super) isolation: &'g Isolation,
    /// The ways that are taken.
    pub(super) nodes: Vec<usize>,
    /// How many transactions there are.
    pub(super) count: usize,
    /// Text that stands for a value, by its number.
    texts: BTreeMap<String, usize>,
}

impl<'g, 's> Encoding<'g, 's> {
    /// So many transactions that take some of the ways.
    pub fn new(graph: &'g Graph<'s>, nodes: &[usize], isolation: &'g Isolation, count: usize) -> Encoding<'g, 's> {
        let mut texts = BTreeMap::new();
        for node in 0..graph.nodes.len() {
            for term in &graph.path(node).terms {
                if let TermKind::Constant(text) = &term.kind {
                    let next = texts.len();
                    texts.entry(text.clone()).or_insert(next);
                }
            }
        }
        Encoding { graph, isolation, nodes: nodes.to_vec(), count, texts }
    }

    /// Tells the solver all that is known.
    pub fn tell(&self, solver: &mut Conversation) {
        self.declare(solver);
        for at in 0..self.count {
            self.tell_transaction(solver, at);
        }
        self.tell_orders(solver);
        self.tell_levels(solver);
        for one in 0..self.count {
            for other in 0..self.count {
                if one < other {
                    solver.assert(&Formula::all(self.values_of_rows(one, other)));
                    solver.assert(&Formula::all(self.conflicts(one, other)));
                }
                if one != other {
                    self.tell_dependencies(solver, one, other);
                    solver.assert(&Formula::all(self.sure_dependencies(one, other)));
                    solver.assert(&Formula::all(self.growing(one, other)));
                }
            }
        }
    }

    fn declare(&self, solver: &mut Conversation) {
        self.truths().iter().for_each(|name| solver.declare_truth(name));
        self.numbers().iter().for_each(|name| solver.declare_number(name));
    }

    /// The names of everything that holds or does not.
    fn truths(&self) -> Vec<String> {
        let mut names = Vec::new();
        for at in 0..self.count {
            names.extend(self.nodes.iter().map(|node| takes_name(at, *node)));
            for &node in &self.nodes {
                for access in 0..self.graph.path(node).accesses.len() {
                    if let Formula::Atom(name) = self.hits(at, node, access) {
                        names.push(name);
                    }
                }
            }
            for other in (0..self.count).filter(|other| *other != at) {
                // The opposite of the other direction is not named twice.
                let relations = Relation::ALL.into_iter().filter(|relation| *relation != Relation::Ar || at < other);
                names.extend(relations.map(|relation| format!("{}_{at}_{other}", relation.name())));
                if at < other {
                    names.push(conflict_name(at, other));
                }
            }
        }
        names
    }

    /// The names of all values.
    fn numbers(&self) -> Vec<String> {
        let most = self.nodes.iter().map(|node| self.graph.path(*node).terms.len()).max().unwrap_or(0);
        (0..self.count).flat_map(|at| (0..most).map(move |term| value_name(at, term))).collect()
    }

    /// The names of everything that the solver has in mind.
    pub(super) fn names(&self) -> Vec<String> {
        [self.truths(), self.numbers()].concat()
    }

    /// A transaction takes one way, and its values are as that way says.
    fn tell_transaction(&self, solver: &mut Conversation, at: usize) {
        solver.assert(&Formula::any(self.nodes.iter().map(|node| self.takes(at, *node))));
        for (place, &node) in self.nodes.iter().enumerate() {
            for other in &self.nodes[..place] {
                solver.assert(&Formula::any([!self.takes(at, node), !self.takes(at, *other)]));
            }
            let known = Formula::all(self.values(at, node).into_iter().chain(self.rows_found(at, node)));
            solver.assert(&self.takes(at, node).implies(known));
        }
    }

    /// What is known of the values of a way.
    fn values(&self, at: usize, node: usize) -> Vec<Formula> {
        let path = self.graph.path(node);
        let name = |term: TermId| value_name(at, term);
        let stays = |term: TermId| !path.terms[term].looped;
        let mut known = Vec::new();
        for (term, value) in path.terms.iter().enumerate().filter(|(term, _)| stays(*term)) {
            let whole = |terms: &[TermId]| {
                is_whole(value) && terms.iter().all(|term| stays(*term) && is_whole(&path.terms[*term]))
            };
            let meaning = match &value.kind {
                TermKind::Constant(text) if has_one_text(value) => self.number(text),
                TermKind::Plus(base, by) if whole(&[*base]) => format!("(+ {} {})", name(*base), literal(*by)),
                TermKind::Times(base, by) if whole(&[*base]) => format!("(* {} {})", name(*base), literal(*by)),
                TermKind::Sum(one, other) if whole(&[*one, *other]) => format!("(+ {} {})", name(*one), name(*other)),
                TermKind::Difference(one, other) if whole(&[*one, *other]) => {
                    format!("(- {} {})", name(*one), name(*other))
                }
                _ => continue,
            };
            known.push(Formula::equal(&name(term), &meaning));
        }
        known.extend(path.conditions.iter().filter_map(|condition| condition_of(path, condition, &name)));
        known
    }

    /// Accesses that find what another one to the same row has found.
    fn rows_found(&self, at: usize, node: usize) -> Vec<Formula> {
        let path = self.graph.path(node);
        let mut known = Vec::new();
        for (one, access) in path.accesses.iter().enumerate() {
            for (other, other_access) in path.accesses.iter().enumerate() {
                if one != other && !access.looped && !other_access.looped && path.finds_again(access, other_access) {
                    known.push(self.hits(at, node, one).implies(self.hits(at, node, other)));
                }
            }
        }
        known
    }

    fn tell_orders(&self, solver: &mut Conversation) {
        let related = |relation, one, other| self.related(relation, one, other);
        orders(self.count, self).iter().for_each(|holds| solver.assert(holds));
        for one in 0..self.count {
            for other in (0..self.count).filter(|other| *other != one) {
                solver.assert(&related(Relation::Ww, one, other).implies(related(Relation::Ar, one, other)));
                if !self.isolation.sessions {
                    solver.assert(&!related(Relation::So, one, other));
                }
                for third in (0..self.count).filter(|third| *third != one && *third != other) {
                    let both = Formula::all([related(Relation::So, one, other), related(Relation::So, other, third)]);
                    solver.assert(&both.implies(related(Relation::So, one, third)));
                    // Two that follow or precede a third one are of its session.
                    let after = Formula::all([related(Relation::So, one, other), related(Relation::So, one, third)]);
                    let before = Formula::all([related(Relation::So, other, one), related(Relation::So, third, one)]);
                    let are_ordered =
                        Formula::any([related(Relation::So, other, third), related(Relation::So, third, other)]);
                    solver.assert(&Formula::any([after, before]).implies(are_ordered));
                }
            }
        }
    }

    fn tell_levels(&self, solver: &mut Conversation) {
        let levels: BTreeSet<Level> = self.nodes.iter().filter_map(|node| self.level(*node)).collect();
        for level in levels {
            let Some(axioms) = Axioms::of(level) else { continue };
            let runs_at = |at: usize| {
                let has = |node: &&usize| self.level(**node) == Some(level);
                if self.nodes.iter().all(|node| has(&node)) {
                    return Formula::TRUE;
                }
                Formula::any(self.nodes.iter().filter(has).map(|node| self.takes(at, *node)))
            };
            // What a level asks for it asks of the last transaction.
            axioms.all(self.count, self, runs_at).iter().for_each(|holds| solver.assert(holds));
        }
        let everywhere = self.isolation.axioms.all(self.count, self, |_| Formula::TRUE);
        everywhere.iter().for_each(|holds| solver.assert(holds));
    }

    /// The level of the transactions that take a way.
    pub(super) fn level(&self, node: usize) -> Option<Level> {
        self.isolation.levels[self.graph.nodes[node].program]
    }

    /// A dependency asks for accesses that meet.
    fn tell_dependencies(&self, solver: &mut Conversation, one: usize, other: usize) {
        for (relation, kind) in KINDS {
            let mut ways = Vec::new();
            for &node in &self.nodes {
                let edges = self.graph.edges[node].iter();
                let edges = edges.filter(|edge| edge.kind == kind && self.nodes.contains(&edge.to));
                ways.extend(edges.map(|edge| self.meets((one, node), (other, edge.to), edge)));
            }
            solver.assert(&self.related(relation, one, other).implies(Formula::any(ways)));
        }
    }

    /// Two transactions meet as a dependency says.
    fn meets(&self, one: (usize, usize), other: (usize, usize), edge: &Dependency) -> Formula {
        let (path, other_path) = (self.graph.path(one.1), self.graph.path(other.1));
        let (from, to) = edge.accesses;
        let mut parts = vec![self.takes(one.0, one.1), self.takes(other.0, other.1)];
        // Who has locked what it read has taken effect before it is overwritten.
        if edge.kind == EdgeKind::ReadWrite && self.keeps_away(one.1, other.1, &path.accesses[from]) {
            parts.push(self.related(Relation::Ar, one.0, other.0));
        }
        for (term, other_term) in &edge.equal {
            // In a loop it is some iteration.
            if !path.terms[*term].looped && !other_path.terms[*other_term].looped {
                if path.always_null.contains(term) || other_path.always_null.contains(other_term) {
                    return Formula::FALSE;
                }
                parts.push(Formula::equal(&value_name(one.0, *term), &value_name(other.0, *other_term)));
            }
        }
        if edge.kind != EdgeKind::Constraint {
            parts.extend(self.within_limits((one.0, path, from), (other.0, other_path, to), edge));
        }
        let (hit, other_hit) = hits_of(edge, &path.accesses[from], &other_path.accesses[to]);
        if hit {
            parts.push(self.hits(one.0, one.1, from));
        }
        if other_hit {
            parts.push(self.hits(other.0, other.1, to));
        }
        if edge.kind != EdgeKind::Constraint && hit && other_hit && self.both_write(path, from, other_path, to) {
            parts.push(Formula::atom(conflict_name(one.0.min(other.0), one.0.max(other.0))));
        }
        if hit && other_hit && edge.kind == EdgeKind::ReadWrite {
            parts.extend(self.after_its_return(one.0, other, to));
        }
        Formula::all(parts)
    }

    /// Whether another one, unseen, has not overwritten what an access reads: it locks, at a level where that makes it fail.
    fn keeps_away(&self, node: usize, other: usize, access: &Access) -> bool {
        let locks = self.level(node).is_some_and(Level::refuses_conflicts) && self.level(other) == self.level(node);
        locks && access.locks && access.outcome == Outcome::Found
    }

    /// Whether two transactions that meet at a row with these accesses both write a cell of it.
    fn both_write(&self, path: &Path, from: usize, other_path: &Path, to: usize) -> bool {
        let Some(table) = self.graph.summary.facts.table(path.accesses[from].table) else { return false };
        let is_one_row = |access: &Access| {
            !table.key.is_empty() && table.key.iter().all(|column| access.value_of(*column).is_some())
        };
        if !is_one_row(&path.accesses[from]) || !is_one_row(&other_path.accesses[to]) {
            return false;
        }
        let written = |path: &Path, at: usize| -> BTreeSet<Cell> {
            let found = &path.accesses[at];
            let here = path
                .accesses
                .iter()
                .enumerate()
                .filter(|(other, access)| *other == at || path.finds_again(found, access));
            here.flat_map(|(_, access)| access.writes.iter().copied()).collect()
        };
        !written(path, from).is_disjoint(&written(other_path, to))
    }

    /// A dependency and the numbers that it asks to be the same hold in what the solver has found.
    pub(super) fn holds(&self, meets: &Formula, values: &BTreeMap<String, String>) -> bool {
        match meets {
            Formula::Atom(text) => {
                let words: Vec<&str> = text.trim_matches(['(', ')']).split(' ').collect();
                let number = |name: &str| values.get(name).and_then(|text| real(text));
                match words[..] {
                    ["=", one, other] => values.get(one) == values.get(other),
                    ["<", one, other] => number(one).zip(number(other)).is_some_and(|(one, other)| one < other),
                    ["<=", one, other] => number(one).zip(number(other)).is_some_and(|(one, other)| one <= other),
                    _ => values.get(text).is_some_and(|value| value == "true"),
                }
            }
            Formula::Not(inner) => !self.holds(inner, values),
            Formula::All(parts) => parts.iter().all(|part| self.holds(part, values)),
            Formula::Any(parts) => parts.iter().any(|part| self.holds(part, values)),
        }
    }

    /// The dependency of a kind that the solver has in mind.
    pub(super) fn dependency(
        &self,
        kind: EdgeKind,
        one: (usize, usize),
        other: (usize, usize),
        values: &BTreeMap<String, String>,
    ) -> Option<&'g Dependency> {
        let edges = self.graph.edges[one.1].iter().filter(|edge| edge.kind == kind && edge.to == other.1);
        edges.into_iter().find(|edge| self.holds(&self.meets(one, other, edge), values))
    }

    /// A transaction takes a way.
    pub(super) fn takes(&self, at: usize, node: usize) -> Formula {
        Formula::atom(takes_name(at, node))
    }

    /// A transaction is of a program.
    pub(super) fn is_program(&self, at: usize, program: usize) -> Formula {
        let nodes = self.nodes.iter().filter(|node| self.graph.nodes[**node].program == program);
        Formula::any(nodes.map(|node| self.takes(at, *node)))
    }

    /// An access finds its row.
    pub(super) fn hits(&self, at: usize, node: usize, access: usize) -> Formula {
        let found = &self.graph.path(node).accesses[access];
        match found.outcome {
            Outcome::Missing => Formula::FALSE,
            Outcome::Found if !found.conditional && !found.looped => Formula::TRUE,
            _ if found.looped => Formula::TRUE,
            _ => Formula::atom(format!("hit_{at}_{node}_{access}")),
        }
    }

    /// One depends on the other.
    pub(super) fn depends(&self, one: usize, other: usize) -> Formula {
        let kinds = [Relation::So, Relation::Wr, Relation::Ww, Relation::Rw, Relation::Constraint];
        Formula::any(kinds.map(|relation| self.related(relation, one, other)))
    }

    /// A constant as a number.
    pub(super) fn number(&self, text: &str) -> String {
        let is_number = text.strip_prefix('-').unwrap_or(text).chars().all(|char| char.is_ascii_digit() || char == '.');
        let digits = text.trim_start_matches('-');
        let looks_right = digits.starts_with(|char: char| char.is_ascii_digit())
            && digits.ends_with(|char: char| char.is_ascii_digit())
            && digits.matches('.').count() <= 1;
        if is_number && looks_right {
            let digits = if digits.contains('.') { digits.to_owned() } else { format!("{digits}.0") };
            return if text.starts_with('-') { format!("(- {digits})") } else { digits };
        }
        format!("{}.0", self.texts.get(text).copied().unwrap_or(self.texts.len()))
    }
}

impl Meaning for Encoding<'_, '_> {
    fn related(&self, relation: Relation, one: usize, other: usize) -> Formula {
        match relation {
            _ if one == other => Formula::FALSE,
            Relation::Ar if one > other => !Formula::atom(format!("ar_{other}_{one}")),
            _ => Formula::atom(format!("{}_{one}_{other}", relation.name())),
        }
    }

    fn is_of(&self, transaction: usize, program: &str) -> Formula {
        let named = self.graph.summary.programs.iter().position(|known| known.name == program);
        named.map_or(Formula::FALSE, |program| self.is_program(transaction, program))
    }
}

/// The dependencies, by both of their names.
pub(super) const KINDS: [(Relation, EdgeKind); 4] = [
    (Relation::Wr, EdgeKind::WriteRead),
    (Relation::Ww, EdgeKind::WriteWrite),
    (Relation::Rw, EdgeKind::ReadWrite),
    (Relation::Constraint, EdgeKind::Constraint),
];

fn takes_name(at: usize, node: usize) -> String {
    format!("takes_{at}_{node}")
}

/// The number of a value.
pub(super) fn value_name(at: usize, term: TermId) -> String {
    format!("value_{at}_{term}")
}

/// Two transactions both write a cell.
pub(super) fn conflict_name(one: usize, other: usize) -> String {
    format!("conflict_{one}_{other}")
}

/// What a decision says about numbers. Where it may also have been taken because something is NULL it says nothing.
pub(super) fn condition_of(path: &Path, condition: &Condition, name: &impl Fn(TermId) -> String) -> Option<Formula> {
    let sides = [condition.left, condition.right];
    if condition.or_null || sides.iter().any(|term| path.terms[*term].looped) {
        return None;
    }
    let (left, right) = (name(condition.left), name(condition.right));
    let is_ordered = is_ordered(sides.map(|term| &path.terms[term]));
    match condition.comparison {
        Comparison::Equal => Some(Formula::equal(&left, &right)),
        Comparison::Different => Some(!Formula::equal(&left, &right)),
        // Between whole numbers there is nothing.
        Comparison::Less if sides.iter().all(|term| is_whole(&path.terms[*term])) => {
            Some(Formula::atom(format!("(<= (+ {left} 1.0) {right})")))
        }
        Comparison::Less if is_ordered => Some(Formula::atom(format!("(< {left} {right})"))),
        Comparison::AtMost if is_ordered => Some(Formula::atom(format!("(<= {left} {right})"))),
        Comparison::Less | Comparison::AtMost => None,
    }
}

/// Whether values are numbers, whose order is that of the solver's. Text is numbered without an order.
pub(super) fn is_ordered(terms: [&Term; 2]) -> bool {
    let is_number = |term: &Term| is_whole(term) || term.typed.is_some_and(|typed| typed.ty == Type::NUMERIC);
    terms.into_iter().all(is_number)
}

/// A number as the solver writes it, roughly: `(- 1.0)`, `(/ 1.0 3.0)`.
fn real(text: &str) -> Option<f64> {
    let inner = text.strip_prefix('(').and_then(|text| text.strip_suffix(')'));
    match inner.map(|inner| inner.split_once(' ')) {
        None => text.parse().ok(),
        Some(Some(("-", number))) => real(number).map(|number| -number),
        Some(Some(("/", parts))) => {
            let (above, below) = parts.rsplit_once(' ')?;
            Some(real(above)? / real(below)?)
        }
        Some(_) => None,
    }
}

/// Whether a value is a whole number: with others, a number may be none, and one more than it the same.
fn is_whole(term: &Term) -> bool {
    term.typed.is_some_and(|typed| matches!(typed.ty, Type::INT2 | Type::INT4 | Type::INT8))
}

/// Whether values of its type are equal only if their texts are, as numbers or as they stand.
fn has_one_text(term: &Term) -> bool {
    let of_text = |typed: Typed| matches!(typed.ty, Type::NUMERIC | Type::TEXT | Type::VARCHAR | Type::BOOL);
    is_whole(term) || term.typed.is_some_and(of_text)
}

/// A whole number as SMT-LIB writes it.
fn literal(number: i64) -> String {
    if number < 0 { format!("(- {}.0)", number.unsigned_abs()) } else { format!("{number}.0") }
}
