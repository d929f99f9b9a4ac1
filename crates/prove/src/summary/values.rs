//! The values of expressions.

use skew_sql::catalog::Oid;
use skew_sql::ir::{self, Expr, ExprKind, Plan, Quantified, SubqueryKind, SystemColumn};
use skew_sql::types::{Datum, Type, Typed};

use super::query::{Around, Look, Slot};
use super::statements::{gives_a_row, gives_what_is_found};
use super::{AccessKind, Cell, Learning, Lesson, Outcome, Source, TermId, TermKind};

/// Functions that never give two transactions the same value. (`random` does, after `setseed`.)
const FRESH: [&str; 2] = ["gen_random_uuid", "uuid_generate_v4"];

/// Functions whose answer is neither part of a snapshot nor undone by a rollback. (`currval` and `lastval` tell what their own
/// session was given.)
const NOT_TRANSACTIONAL: [&str; 12] = [
    "last_value",
    "is_called",
    "pg_sequence_last_value",
    "txid_current",
    "txid_current_if_assigned",
    "txid_current_snapshot",
    "txid_status",
    "pg_current_xact_id",
    "pg_current_xact_id_if_assigned",
    "pg_current_snapshot",
    "pg_xact_status",
    "pg_blocking_pids",
];

impl Look<'_> {
    /// The value of an expression; what it looks at counts as read.
    pub(super) fn value(&mut self, expr: &Expr, tuple: &[Slot], around: Option<&Around<'_>>) -> TermId {
        let before = self.state.terms.len();
        let value = self.value_once(expr, tuple, around);
        // What is made anew for each of several rows is another value each time.
        let kind = self.state.kind(value);
        let is_made = value >= before && matches!(kind, TermKind::Unknown | TermKind::Fresh(_) | TermKind::Read { .. });
        if is_made && self.is_made_for_many(expr, tuple, around) {
            self.state.terms[value].looped = true;
        }
        value
    }

    /// Whether an expression is about one of several rows, or is evaluated anew for each of them.
    fn is_made_for_many(&self, expr: &Expr, tuple: &[Slot], around: Option<&Around<'_>>) -> bool {
        let is_any_many = |tuple: &[Slot]| tuple.iter().any(|slot| self.has_many(slot));
        let tuples = std::iter::successors(around, |around| around.next).map(|around| around.tuple);
        let mut many = expr.is_volatile() && (is_any_many(tuple) || tuples.into_iter().any(is_any_many));
        expr.outward(&mut |up, slot| many |= self.is_one_of_many((up, slot), tuple, around));
        many
    }

    /// Whether what is so far up is one of several rows.
    pub(super) fn is_one_of_many(
        &self,
        (up, slot): (usize, usize),
        tuple: &[Slot],
        around: Option<&Around<'_>>,
    ) -> bool {
        let tuple = match up {
            0 => Some(tuple),
            up => around.and_then(|around| around.up(up - 1)),
        };
        tuple.and_then(|tuple| tuple.get(slot)).is_some_and(|slot| self.has_many(slot))
    }

    fn has_many(&self, slot: &Slot) -> bool {
        match slot {
            Slot::Row(access) => !self.is_single(*access) || self.state.accesses[*access].looped,
            Slot::Values(values) => values.is_empty() || values.iter().any(|value| self.state.terms[*value].looped),
        }
    }

    /// The value of an expression for one row.
    fn value_once(&mut self, expr: &Expr, tuple: &[Slot], around: Option<&Around<'_>>) -> TermId {
        match &expr.kind {
            ExprKind::Const(value) if value.is_null() => self.state.term(TermKind::Null),
            ExprKind::Const(value) => match constant_text(value, expr.ty()) {
                Some(text) => self.state.typed(TermKind::Constant(text), expr.typed),
                None => self.unknown(expr),
            },
            ExprKind::Variable(place) => self.variable(*place),
            ExprKind::Param(number) => match self.parameters.get(*number) {
                Some(place) => self.variable(*place),
                None => self.unknown(expr),
            },
            ExprKind::Column(column) => {
                let slot = match column.up {
                    0 => tuple.get(column.slot).cloned(),
                    up => around.and_then(|around| around.up(up - 1)).and_then(|tuple| tuple.get(column.slot).cloned()),
                };
                match slot {
                    Some(Slot::Row(access)) => self.cell(access, column.column),
                    Some(Slot::Values(values)) => match values.get(column.column) {
                        Some(value) => *value,
                        // Of any number of rows.
                        None => self.state.many(),
                    },
                    None => self.unknown(expr),
                }
            }
            ExprKind::Row { up, slot, .. } => {
                self.whole_row(*up, *slot, tuple, around);
                self.state.unknown()
            }
            ExprKind::NextValue(sequence) => self.next_value(Some(*sequence), expr),
            ExprKind::Cast { arg, .. } => {
                let value = self.value(arg, tuple, around);
                let keeps = self.state.is_null(value) || keeps_values_apart(arg, expr);
                if keeps { value } else { self.unknown(expr) }
            }
            ExprKind::Call { function, args } => {
                let look = |look: &mut Self| args.iter().map(|arg| look.value(arg, tuple, around)).collect();
                let values: Vec<TermId> = if may_skip(function.strict, args) { self.perhaps(look) } else { look(self) };
                if function.name == "nextval" {
                    let sequence = args.first().and_then(sequence_of);
                    return self.next_value(sequence, expr);
                }
                if function.name.starts_with("pg_try_advisory") {
                    self.learns.get_or_insert(Lesson { line: self.line, by: Learning::TriedLock });
                }
                if NOT_TRANSACTIONAL.contains(&function.name) {
                    self.learns.get_or_insert(Lesson { line: self.line, by: Learning::SystemFunction(function.name) });
                }
                if function.name == "set_config" && !args.first().is_some_and(is_own_setting) {
                    self.learns.get_or_insert(Lesson { line: self.line, by: Learning::Settings });
                }
                if FRESH.contains(&function.name) {
                    return self.state.typed(TermKind::Fresh(Source::Function(function.name)), expr.typed);
                }
                if function.strict && values.iter().any(|value| self.state.is_null(*value)) {
                    return self.state.term(TermKind::Null);
                }
                let exact = is_integer(expr.ty()) || expr.ty() == Type::NUMERIC;
                let made = match &values[..] {
                    [one, other] if exact => self.arithmetic(function.name, *one, *other),
                    [one] if exact && function.name == "-" => Some(Made::Term(TermKind::Times(*one, -1))),
                    _ => None,
                };
                match made {
                    Some(Made::Term(kind)) => self.state.typed(kind, expr.typed),
                    Some(Made::Same(term)) => term,
                    None => self.unknown(expr),
                }
            }
            ExprKind::UserCall { function, args } => {
                if let Some(answer) = self.state.answers.get(&(std::ptr::from_ref(expr) as usize)) {
                    return *answer;
                }
                args.iter().for_each(|arg| _ = self.value(arg, tuple, around));
                self.called(function);
                self.state.unknown()
            }
            ExprKind::Subquery { kind, query } => {
                if let SubqueryKind::Quantified { args, .. } = kind {
                    args.iter().for_each(|arg| _ = self.value(arg, tuple, around));
                }
                let inner = Around { tuple, next: around };
                // Whether it is worked out depends on what is around it.
                let values = match query.plan.locks() {
                    true => self.perhaps(|look| look.query(query, Some(&inner))),
                    false => self.query(query, Some(&inner)),
                };
                match (kind, &values[..]) {
                    // NULL if there is no row, as what an access reads is that has found none.
                    (SubqueryKind::Scalar, [value]) if self.is_one(*value, &query.plan) => *value,
                    _ => self.unknown(expr),
                }
            }
            ExprKind::Quantified { arg, list, .. } => {
                self.value(arg, tuple, around);
                match list {
                    Quantified::List(list) => {
                        self.perhaps(|look| list.iter().for_each(|item| _ = look.value(item, tuple, around)));
                    }
                    Quantified::Array(array) => _ = self.value(array, tuple, around),
                }
                self.unknown(expr)
            }
            ExprKind::Field { arg, index } => self.field(arg, *index, tuple, around),
            ExprKind::System { up, slot, column, .. } => {
                // The others change with every version of the row.
                if *column != SystemColumn::TableOid {
                    self.learns.get_or_insert(Lesson { line: self.line, by: Learning::SystemColumn });
                    self.whole_row(*up, *slot, tuple, around);
                }
                self.state.unknown()
            }
            // One after the other until the value is known.
            ExprKind::And(_)
            | ExprKind::Or(_)
            | ExprKind::Case { .. }
            | ExprKind::Coalesce(_)
            | ExprKind::NullIf { .. } => {
                // What is known beforehand may make the others superfluous.
                let mut is_first = true;
                ir::children(expr, &mut |part| is_first &= !is_constant(part));
                ir::children(expr, &mut |part| {
                    let look = |look: &mut Self| _ = look.value(part, tuple, around);
                    if std::mem::take(&mut is_first) { look(self) } else { self.perhaps(look) }
                });
                self.unknown(expr)
            }
            _ => {
                ir::children(expr, &mut |part| _ = self.value(part, tuple, around));
                self.unknown(expr)
            }
        }
    }

    /// What may not be worked out because something before it decides.
    pub(super) fn perhaps<T>(&mut self, look: impl FnOnce(&mut Self) -> T) -> T {
        let was = std::mem::replace(&mut self.state.conditional, true);
        let looked = look(self);
        self.state.conditional = was;
        looked
    }

    /// All of a row is read.
    fn whole_row(&mut self, up: usize, slot: usize, tuple: &[Slot], around: Option<&Around<'_>>) {
        let slot = match up {
            0 => tuple.get(slot).cloned(),
            up => around.and_then(|around| around.up(up - 1)).and_then(|tuple| tuple.get(slot).cloned()),
        };
        if let Some(Slot::Row(access)) = slot {
            let columns = self.facts.table(self.state.accesses[access].table).map_or(0, |t| t.columns.len());
            (0..columns).for_each(|column| self.read_column(access, column));
        }
    }

    /// The next value of a sequence: a new one, if the sequence is known and never begins again.
    fn next_value(&mut self, sequence: Option<Oid>, expr: &Expr) -> TermId {
        match sequence.filter(|sequence| self.facts.endless.contains(sequence)) {
            Some(sequence) => self.state.typed(TermKind::Fresh(Source::Sequence(sequence)), expr.typed),
            None => self.unknown(expr),
        }
    }

    fn unknown(&mut self, expr: &Expr) -> TermId {
        self.state.typed(TermKind::Unknown, expr.typed)
    }

    /// Whether the value of a subquery is one that was counted, or read from what may be missing.
    fn is_one(&self, value: TermId, plan: &Plan) -> bool {
        let term = &self.state.terms[value];
        match term.kind {
            TermKind::Read { access, .. } => {
                let row = &self.state.accesses[access];
                // It gives the extreme value itself, or what the row has that was looked for.
                let is_given = row.extreme.is_some_and(|_| gives_a_row(plan)) || row.plain && gives_what_is_found(plan);
                !term.looped && is_given && row.outcome == Outcome::Open
            }
            TermKind::Unknown => self.state.never_null.contains(&value) && gives_a_row(plan),
            _ => false,
        }
    }

    fn arithmetic(&self, operator: &str, one: TermId, other: TermId) -> Option<Made> {
        let constant = |term: TermId| match self.state.kind(term) {
            TermKind::Constant(text) => text.parse::<i32>().ok().map(i64::from),
            _ => None,
        };
        // Constants are added up, so that what is added and taken away again is the same value.
        let plus = |term: TermId, by: i64| {
            let (base, already) = match *self.state.kind(term) {
                TermKind::Plus(base, already) => (base, already),
                _ => (term, 0),
            };
            let by = already.checked_add(by)?;
            Some(if by == 0 { Made::Same(base) } else { Made::Term(TermKind::Plus(base, by)) })
        };
        match (operator, constant(one), constant(other)) {
            ("+", _, Some(by)) => plus(one, by),
            ("+", Some(by), None) => plus(other, by),
            ("-", _, Some(by)) => plus(one, -by),
            ("+", None, None) => Some(Made::Term(TermKind::Sum(one.min(other), one.max(other)))),
            ("-", None, None) => Some(Made::Term(TermKind::Difference(one, other))),
            ("*", None, Some(by)) => Some(Made::Term(TermKind::Times(one, by))),
            ("*", Some(by), None) => Some(Made::Term(TermKind::Times(other, by))),
            _ => None,
        }
    }

    /// A field of a record variable that was filled by a query.
    fn field(&mut self, arg: &Expr, index: usize, tuple: &[Slot], around: Option<&Around<'_>>) -> TermId {
        if let ExprKind::Variable(place) = &arg.kind
            && let Some(term) = self.state.fields.get(&(*place, index))
        {
            return *term;
        }
        self.value(arg, tuple, around);
        self.state.unknown()
    }

    fn variable(&mut self, place: usize) -> TermId {
        match self.state.env.get(&place) {
            Some(term) => *term,
            None => self.state.unknown(),
        }
    }

    fn cell(&mut self, access: usize, column: usize) -> TermId {
        self.read_column(access, column);
        // After a change its row has what it was set to; what is made elsewhere is not known.
        let row = &self.state.accesses[access];
        if self.changed == Some(access) && self.is_made_elsewhere(row.table, column) {
            return self.state.unknown();
        }
        if self.changed == Some(access) && row.kind != AccessKind::Insert && row.writes.contains(&Cell::Column(column))
        {
            return match row.values.iter().find(|(changed, _)| *changed == column) {
                Some((_, value)) => *value,
                None => self.state.unknown(),
            };
        }
        match row.value_of(column) {
            Some(value) => value,
            None => self.read(access, column),
        }
    }

    /// What an access reads of a column.
    pub(super) fn read(&mut self, access: usize, column: usize) -> TermId {
        let table = self.facts.table(self.state.accesses[access].table);
        let typed = table.and_then(|table| table.types.get(column).copied());
        let is_one = self.is_single(access);
        self.state.read(access, column, typed, is_one)
    }

    /// Whether an access is to one row at most, by what is known of it so far.
    pub(super) fn is_single(&self, access: usize) -> bool {
        if self.state.skipping.contains(&access) {
            return false;
        }
        let access = &self.state.accesses[access];
        let is_given = |column: &usize| access.value_of(*column).is_some_and(|by| !self.state.terms[by].looped);
        let has = |columns: &Vec<usize>| columns.iter().all(is_given);
        self.facts.table(access.table).is_some_and(|table| table.unique.iter().any(has))
    }
}

fn is_constant(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Const(_))
}

/// The sequence that is named by a constant.
fn sequence_of(expr: &Expr) -> Option<Oid> {
    match &expr.kind {
        ExprKind::Const(Datum::Int(oid)) => Oid::try_from(*oid).ok(),
        ExprKind::Cast { arg, .. } => sequence_of(arg),
        _ => None,
    }
}

/// What arithmetic gives.
enum Made {
    Term(TermKind),
    Same(TermId),
}

/// A constant as text, if different texts are different values.
fn constant_text(value: &Datum, ty: Type) -> Option<String> {
    match value {
        Datum::Int(value) => Some(value.to_string()),
        Datum::Bool(value) => Some(value.to_string()),
        // Spaces at the end are no part of a char(n).
        Datum::Text(value) if ty == Type::BPCHAR => Some(format!("'{}'", value.trim_end_matches(' '))),
        Datum::Text(value) if is_text(ty) || ty == Type::UNKNOWN => Some(format!("'{value}'")),
        Datum::Numeric(value) if value.is_finite() => {
            let text = value.to_string();
            let has_zeros = text.contains('.');
            let text = if has_zeros { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
            Some(if text == "-0" { "0".to_owned() } else { text.to_owned() })
        }
        _ => None,
    }
}

/// Whether a function may not work out all of its arguments: of NULL and something else is NULL, whatever that is.
pub(super) fn may_skip(is_strict: bool, args: &[Expr]) -> bool {
    let may_be_null = |arg: &Expr| !matches!(&arg.kind, ExprKind::Const(value) if !value.is_null());
    is_strict && args.iter().filter(|arg| may_be_null(arg)).count() > 1
}

/// Whether the name of a setting is one of the application's own, which means nothing to the database.
fn is_own_setting(name: &Expr) -> bool {
    let ExprKind::Const(Datum::Text(name)) = &name.kind else { return false };
    name.contains('.') && !name.to_ascii_lowercase().starts_with("plpgsql.")
}

/// A constant that is a small whole number.
pub(super) fn number(text: &str) -> Option<i64> {
    text.parse().ok()
}

/// Whether a conversion keeps values apart and together as they were.
pub(super) fn keeps_values_apart(from: &Expr, to: &Expr) -> bool {
    keeps_values(from.typed, to.typed)
}

/// Whether a value is the same as one of another type.
pub(crate) fn keeps_values(from: Typed, to: Typed) -> bool {
    let whole = is_integer(from.ty) && (is_integer(to.ty) || (to.ty == Type::NUMERIC && has_whole_numbers(to)));
    let same = from.ty == to.ty || (is_text(from.ty) && is_text(to.ty));
    whole || (same && (to.modifier == -1 || to.modifier == from.modifier))
}

/// Whether a numeric's scale is not negative: `numeric(2, -3)` rounds to thousands.
fn has_whole_numbers(typed: Typed) -> bool {
    typed.modifier == -1 || (typed.modifier - 4) & 0x7ff < 0x400
}

pub(crate) fn is_integer(ty: Type) -> bool {
    [Type::INT2, Type::INT4, Type::INT8].contains(&ty)
}

fn is_text(ty: Type) -> bool {
    [Type::TEXT, Type::VARCHAR].contains(&ty)
}

/// Whether values of a type are compared as a whole, and comparing what is not NULL never gives NULL.
pub(crate) fn has_an_order(ty: Type) -> bool {
    let others = [Type::NUMERIC, Type::BOOL, Type::BPCHAR, Type::DATE, Type::TIME, Type::TIMESTAMP, Type::TIMESTAMPTZ];
    is_integer(ty) || is_text(ty) || others.contains(&ty) || [Type::UUID, Type::FLOAT8, Type::FLOAT4].contains(&ty)
}
