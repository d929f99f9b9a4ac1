//! Which index leads to the rows of a table.

use crate::catalog::{Index, IndexKeyKind, Oid, RelationKind, Table};
use crate::ir::{Access, Expr, ExprKind, KeyValue, Plan, Quantified, Query, Scan, SubqueryKind};
use crate::plan::Planner;
use crate::plan::conditions::{all_of, bare, comparison, family};
use crate::types::{Type, kind};

/// What a condition says about a column of the table.
struct Probe {
    column: usize,
    /// Which of the conditions it is from.
    source: usize,
    what: What,
}

enum What {
    Equal(KeyValue),
    /// A lower bound, inclusive or not.
    From(Expr, bool),
    /// An upper bound.
    To(Expr, bool),
}

/// How many rows an access path leads to, roughly. Fewer first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Size {
    /// At most one.
    One,
    /// A range of an index.
    Few,
    /// All that are looked at, of which a condition leaves some.
    Some,
    /// All.
    All,
}

/// An access path, and the conditions that are true for all rows that it leads to.
pub(super) struct Choice {
    pub(super) access: Access,
    pub(super) size: Size,
    /// Whether the condition with this number need not be looked at again.
    pub(super) settled: Vec<bool>,
    /// The conditions that it uses.
    pub(super) used: Vec<usize>,
}

impl Planner<'_> {
    /// A scan with conditions on its row, which is slot 0; other slots are those of the tuple around that `up` means.
    pub(super) fn scan(&self, mut scan: Scan, conditions: Vec<Expr>) -> Plan {
        let mut conditions = conditions;
        if let Some(filter) = scan.filter.take() {
            super::conditions::split(filter, &mut conditions);
        }
        if let Access::All = scan.access
            && let Some(choice) = self.choose(scan.table, 0, &conditions.iter().collect::<Vec<_>>())
        {
            scan.access = choice.access;
            let mut settled = choice.settled.into_iter();
            conditions.retain(|_| !settled.next().expect("one for each condition"));
        }
        scan.filter = all_of(conditions);
        Plan::Scan(scan)
    }

    /// The best access path, where the row is in slot `own` and the conditions may look at other slots too.
    pub(super) fn choose(&self, table: Oid, own: usize, conditions: &[&Expr]) -> Option<Choice> {
        if conditions.is_empty() {
            return None;
        }
        let definition = self.catalog.table(table)?;
        let mut probes = Vec::with_capacity(conditions.len());
        for (source, condition) in conditions.iter().enumerate() {
            self.probe(condition, source, own, definition, &mut probes);
        }
        if probes.is_empty() {
            return None;
        }
        let mut best: Option<(u32, Oid, &Index)> = None;
        for oid in &definition.indexes {
            let Some(RelationKind::Index(index)) = self.catalog.relation(*oid).map(|relation| &relation.kind) else {
                continue;
            };
            let score = score(index, &probes);
            if score > 0 && best.as_ref().is_none_or(|(known, _, _)| score > *known) {
                best = Some((score, *oid, index));
            }
        }
        let (_, oid, index) = best?;
        Some(path(oid, index, probes, conditions.len()))
    }

    /// What a condition says about a column.
    fn probe(&self, condition: &Expr, source: usize, own: usize, table: &Table, probes: &mut Vec<Probe>) {
        let column_of = |expr: &Expr| own_column(expr, own);
        let add = |probes: &mut Vec<Probe>, column, what| probes.push(Probe { column, source, what });
        if let Some((function, left, right)) = comparison(condition) {
            let (column, value, flipped) = match (column_of(left), column_of(right)) {
                (Some(column), None) => (column, right, false),
                (None, Some(column)) => (column, left, true),
                _ => return,
            };
            if !is_value_for(value, table.columns[column].typed.ty, own) {
                return;
            }
            let value = bare(value).clone();
            let what = match (function.name, flipped) {
                ("=", _) => What::Equal(KeyValue::One(value)),
                ("<", false) | (">", true) => What::To(value, false),
                ("<=", false) | (">=", true) => What::To(value, true),
                (">", false) | ("<", true) => What::From(value, false),
                _ => What::From(value, true),
            };
            return add(probes, column, what);
        }
        match &condition.kind {
            ExprKind::Quantified { arg, operator, list, all: false } if operator.name == "=" => {
                let Some(column) = column_of(arg) else { return };
                let ty = table.columns[column].typed.ty;
                let values = match list {
                    Quantified::List(items) if items.iter().all(|item| is_value_for(item, ty, own)) => {
                        KeyValue::Any(items.iter().map(|item| bare(item).clone()).collect())
                    }
                    Quantified::Array(array) if self.is_array_for(array, ty, own) => KeyValue::Array((**array).clone()),
                    _ => return,
                };
                add(probes, column, What::Equal(values));
            }
            ExprKind::Or(parts) => {
                let Some((column, values)) = alternatives(parts, own) else { return };
                if values.iter().all(|value| is_value_for(value, table.columns[column].typed.ty, own)) {
                    add(probes, column, What::Equal(KeyValue::Any(values)));
                }
            }
            ExprKind::IsNull(arg) => {
                if let Some(column) = column_of(arg).filter(|column| !table.columns[*column].not_null) {
                    add(probes, column, What::Equal(KeyValue::Null));
                }
            }
            ExprKind::Subquery { kind, query } if !query.correlated => {
                let SubqueryKind::Quantified { args, operators, casts, all: false, .. } = kind else { return };
                let ([arg], [operator], [None]) = (args.as_slice(), operators.as_slice(), casts.as_slice()) else {
                    return;
                };
                let Some(column) = column_of(arg).filter(|_| operator.name == "=") else { return };
                if family(query.columns[0].typed.ty) != family(table.columns[column].typed.ty) {
                    return;
                }
                if let Some(array) = self.array_of(query) {
                    add(probes, column, What::Equal(KeyValue::Array(array)));
                }
            }
            _ => {}
        }
    }

    /// The values of a query that does not look outside, as an array: `x IN (SELECT …)`.
    fn array_of(&self, query: &std::sync::Arc<Query>) -> Option<Expr> {
        let array = kind::array_of(query.columns[0].typed.ty, self.catalog)?;
        Some(Expr::new(ExprKind::Subquery { kind: SubqueryKind::Array, query: query.clone() }, array))
    }

    fn is_array_for(&self, array: &Expr, ty: Type, own: usize) -> bool {
        let element = kind::element(array.ty(), self.catalog);
        element.is_some_and(|element| family(element) == family(ty)) && is_free_of(array, own)
    }
}

/// The column of the row that an expression is.
fn own_column(expr: &Expr, own: usize) -> Option<usize> {
    match &bare(expr).kind {
        ExprKind::Column(column) if column.up == 0 && column.slot == own => Some(column.column),
        _ => None,
    }
}

/// Whether a value can be compared with a key of this type, and does not depend on the row.
fn is_value_for(value: &Expr, ty: Type, own: usize) -> bool {
    family(value.ty()) == family(ty) && is_free_of(value, own) && !value.is_volatile()
}

fn is_free_of(expr: &Expr, own: usize) -> bool {
    let mut free = true;
    expr.slots(&mut |slot| free &= slot != own);
    free
}

/// `a = 1 OR a = 2 OR a IN (…)`: the column and the values.
fn alternatives(parts: &[Expr], own: usize) -> Option<(usize, Vec<Expr>)> {
    let mut found = None;
    let mut values = Vec::with_capacity(parts.len());
    for part in parts {
        let column = match (comparison(part), &part.kind) {
            (Some((function, left, right)), _) if function.name == "=" => {
                let (column, value) = match (own_column(left, own), own_column(right, own)) {
                    (Some(column), None) => (column, right),
                    (None, Some(column)) => (column, left),
                    _ => return None,
                };
                values.push(bare(value).clone());
                column
            }
            (None, ExprKind::Quantified { arg, operator, list: Quantified::List(list), all: false })
                if operator.name == "=" =>
            {
                values.extend(list.iter().map(|value| bare(value).clone()));
                own_column(arg, own)?
            }
            _ => return None,
        };
        if *found.get_or_insert(column) != column {
            return None;
        }
    }
    Some((found?, values))
}

/// The equality for a key: one value rather than several, several rather than NULL.
fn equality_for(column: usize, probes: &[Probe]) -> Option<usize> {
    let rank = |probe: &Probe| match &probe.what {
        What::Equal(KeyValue::One(_)) => Some(0),
        What::Equal(KeyValue::Any(_)) => Some(1),
        What::Equal(KeyValue::Array(_)) => Some(2),
        What::Equal(KeyValue::Null) => Some(3),
        _ => None,
    };
    let fitting = probes.iter().enumerate().filter(|(_, probe)| probe.column == column);
    fitting.filter_map(|(at, probe)| Some((rank(probe)?, at))).min().map(|(_, at)| at)
}

/// How good an index is for these conditions; 0 if it is of no use.
fn score(index: &Index, probes: &[Probe]) -> u32 {
    // An index over a part of the rows, or over expressions, is not known to have what is looked for.
    if index.predicate.is_some() || index.method.as_ref() == "gin" || index.method.as_ref() == "gist" {
        return 0;
    }
    let mut score = 0;
    let mut whole = true;
    for key in &index.keys {
        let IndexKeyKind::Column(column) = key.what else { return score };
        if let Some(at) = equality_for(column, probes) {
            let exact = matches!(probes[at].what, What::Equal(KeyValue::One(_)));
            score += if exact { 40 } else { 20 };
            continue;
        }
        whole = false;
        let bounds = probes.iter().filter(|probe| probe.column == column);
        score += bounds.filter(|probe| matches!(probe.what, What::From(..) | What::To(..))).count().min(2) as u32 * 5;
        break;
    }
    if score == 0 {
        return 0;
    }
    // The primary key leads to rows without a detour.
    let direct = u32::from(index.space.is_none());
    score * 2 + direct + if whole && index.unique { 1000 } else { 0 }
}

fn path(oid: Oid, index: &Index, probes: Vec<Probe>, conditions: usize) -> Choice {
    // Entries of another index than the primary key only say where to look.
    let exact = index.space.is_none();
    let mut settled = vec![false; conditions];
    let mut used = Vec::new();
    let mut equal = Vec::with_capacity(index.keys.len());
    let (mut from, mut to) = (None, None);
    let mut single = true;
    for key in &index.keys {
        let IndexKeyKind::Column(column) = key.what else { break };
        if let Some(at) = equality_for(column, &probes) {
            let Probe { source, what: What::Equal(value), .. } = &probes[at] else { unreachable!("it is an equality") };
            single &= matches!(value, KeyValue::One(_));
            equal.push(value.clone());
            used.push(*source);
            settled[*source] = exact && !matches!(value, KeyValue::Null);
            continue;
        }
        for probe in probes.iter().filter(|probe| probe.column == column) {
            let bound = match &probe.what {
                What::From(value, inclusive) if from.is_none() => (&mut from, (value.clone(), *inclusive)),
                What::To(value, inclusive) if to.is_none() => (&mut to, (value.clone(), *inclusive)),
                _ => continue,
            };
            *bound.0 = Some(bound.1);
            used.push(probe.source);
            settled[probe.source] = exact;
        }
        break;
    }
    let is_one = index.unique && single && equal.len() == index.keys.len();
    let size = if is_one { Size::One } else { Size::Few };
    Choice { access: Access::Index { index: oid, equal, from, to }, size, settled, used }
}
