//! WITH: common table expressions.

use std::sync::Arc;

use crate::parse::ast::{self, SetExpr};

use crate::bind::Binder;
use crate::bind::from::{From, slot_column, values_item};
use crate::bind::names::{fold, name};
use crate::bind::query::Unknown;
use crate::bind::scope::ItemColumn;
use crate::error::{Result, SqlError, SqlState};
use crate::ir::{Cte, CteWritten, Output, Plan, Query};
use crate::types::Typed;

/// A common table expression that can be named.
#[derive(Clone, Debug)]
pub(super) struct NamedCte {
    name: Arc<str>,
    number: usize,
    state: State,
    /// How often it is used.
    uses: usize,
}

#[derive(Clone, Debug)]
enum State {
    /// It comes later in the same WITH RECURSIVE: it has to be bound first.
    Later,
    /// It is being bound; a reference to it makes it recursive.
    Pending,
    /// Its recursive term is being bound, which may refer to it once, outside of the parts entered since (the first
    /// `outside` of [`Binder::forbidding`] are around the whole of it).
    Growing { columns: Vec<Output>, outside: usize },
    /// Its columns are known. `dependent`: its rows depend on where the query is in its work, not only on the database.
    Known { columns: Vec<Output>, dependent: bool },
    /// It returns nothing.
    Silent,
}

/// A part of a query in which a recursive reference is not monotone, or is not seen row by row.
#[derive(Clone, Copy, Debug)]
pub(super) enum Forbidding {
    Subquery,
    OuterJoin,
    Intersect,
    Except,
}

/// Why the binding of a common table expression was given up, to be begun again in another way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum GivenUp {
    /// The one of this number refers to itself.
    SelfReference(usize),
    /// The one of this number has to be bound first.
    Later(usize),
}

impl<'a> Binder<'a> {
    /// Binds the expressions of WITH and makes their names visible.
    pub(super) fn with(&mut self, with: &ast::With) -> Result<Vec<Arc<Cte>>> {
        let first = self.ctes.len();
        let bound = self.with_items(with);
        if bound.is_err() {
            self.ctes.truncate(first);
        }
        bound
    }

    fn with_items(&mut self, with: &ast::With) -> Result<Vec<Arc<Cte>>> {
        let (first, items) = (self.ctes.len(), &with.cte_tables);
        let names: Vec<Arc<str>> = items.iter().map(|cte| name(&cte.alias.name)).collect();
        if let Some(twice) = (1..names.len()).find(|at| names[..*at].contains(&names[*at])) {
            let message = format!("WITH query name \"{}\" specified more than once", names[twice]);
            return Err(SqlError::new(SqlState::DUPLICATE_ALIAS, message));
        }
        let numbers = self.cte_count;
        self.cte_count += items.len();
        let mut order: Vec<usize> = (0..items.len()).collect();
        let mut needs: Vec<Vec<usize>> = vec![Vec::new(); items.len()];
        let mut ctes = Vec::with_capacity(items.len());
        while ctes.len() < items.len() {
            let at = order[ctes.len()];
            let (params, count, visible) = (self.params.clone(), self.cte_count, first + ctes.len());
            if with.recursive {
                for later in order[ctes.len()..].iter().filter(|later| **later != at) {
                    let (name, number) = (names[*later].clone(), numbers + later);
                    self.ctes.push(NamedCte { name, number, state: State::Later, uses: 0 });
                }
            }
            match self.cte(&items[at], names[at].clone(), numbers + at, with.recursive) {
                Ok(cte) => {
                    self.ctes.drain(visible..self.ctes.len() - 1);
                    ctes.push(Arc::new(cte));
                }
                Err(error) => {
                    self.ctes.truncate(visible);
                    let later = match self.given_up {
                        Some(GivenUp::Later(number)) if (numbers..numbers + items.len()).contains(&number) => {
                            number - numbers
                        }
                        _ => return Err(error),
                    };
                    self.given_up = None;
                    (self.params, self.cte_count) = (params, count);
                    needs[at].push(later);
                    if reaches(&needs, later, at) {
                        let message = "mutual recursion between WITH items is not implemented";
                        return Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message));
                    }
                    order.retain(|other| *other != later);
                    order.insert(ctes.len(), later);
                }
            }
        }
        Ok(ctes)
    }

    fn cte(&mut self, cte: &ast::Cte, name: Arc<str>, number: usize, recursive: bool) -> Result<Cte> {
        let is_change = is_change(&cte.query.body);
        if is_change && !self.frames.is_empty() {
            let message = "WITH clause containing a data-modifying statement must be at the top level";
            return Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message));
        }
        if !recursive {
            let query = self.settled_query(&cte.query)?;
            return self.learn_cte(cte, name, number, query, None, is_change);
        }
        // Whether it refers to itself is found by binding it with a name that must not be used.
        let (params, count) = (self.params.clone(), self.cte_count);
        let plain = self.beside_pending(&name, number, |binder| binder.settled_query(&cte.query));
        match plain {
            Err(_) if self.given_up == Some(GivenUp::SelfReference(number)) => {
                self.given_up = None;
                if is_change {
                    let message = format!("recursive query \"{name}\" must not contain data-modifying statements");
                    return Err(SqlError::new(SqlState::INVALID_RECURSION, message));
                }
                self.params = params;
                self.cte_count = count;
                self.recursive_cte(cte, name, number)
            }
            plain => self.learn_cte(cte, name, number, plain?, None, is_change),
        }
    }

    /// Binds something that must not refer to the common table expression of this name.
    fn beside_pending<T>(
        &mut self,
        name: &Arc<str>,
        number: usize,
        bind: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<T> {
        let visible = self.ctes.len();
        self.ctes.push(NamedCte { name: name.clone(), number, state: State::Pending, uses: 0 });
        let result = bind(self);
        self.ctes.remove(visible);
        result
    }

    /// Binds a part in which the recursive reference of a query around must not stand.
    pub(super) fn forbidding<T>(&mut self, part: Forbidding, bind: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.forbidding.push(part);
        let result = bind(self);
        self.forbidding.pop();
        result
    }

    /// Whether a common table expression is being bound whose recursive term this plan refers to.
    pub(super) fn is_growing(&self, plan: &Plan) -> bool {
        match plan {
            Plan::Cte { cte } => {
                let is_it = |named: &NamedCte| named.number == *cte && matches!(named.state, State::Growing { .. });
                self.ctes.iter().any(is_it)
            }
            Plan::Join(join) => self.is_growing(&join.left) || self.is_growing(&join.right),
            _ => false,
        }
    }

    fn learn_cte(
        &mut self,
        cte: &ast::Cte,
        name: Arc<str>,
        number: usize,
        mut query: Query,
        recursive: Option<(Query, bool)>,
        is_change: bool,
    ) -> Result<Cte> {
        let materialized = cte.materialized;
        let renamed = query.columns.iter().take(cte.alias.columns.len()).map(|column| column.name.clone()).collect();
        rename(&mut query, &cte.alias, &name)?;
        let dependent = query.plan.looks_outward()
            || recursive.as_ref().is_some_and(|(query, _)| query.plan.looks_outward())
            || (!self.frames.is_empty() && self.lowest_cte < self.ctes.len());
        let state = if is_change && query.columns.is_empty() {
            State::Silent
        } else {
            State::Known { columns: query.columns.clone(), dependent }
        };
        self.ctes.push(NamedCte { name: name.clone(), number, state, uses: usize::from(is_change) });
        Ok(Cte { number, name, query, recursive, written: CteWritten { renamed, materialized } })
    }

    /// `[WITH …] non-recursive UNION [ALL] recursive`
    fn recursive_cte(&mut self, cte: &ast::Cte, name: Arc<str>, number: usize) -> Result<Cte> {
        let query = &cte.query;
        let SetExpr::SetOperation { left, op: ast::SetOperator::Union, set_quantifier, right } = &*query.body else {
            let message = format!(
                "recursive query \"{name}\" does not have the form non-recursive-term UNION [ALL] recursive-term"
            );
            return Err(SqlError::new(SqlState::INVALID_RECURSION, message));
        };
        let visible = self.ctes.len();
        let inner = match &query.with {
            Some(with) => {
                let inner = self.beside_pending(&name, number, |binder| binder.with(with));
                self.unless_recursive(inner, number, &name, "a subquery")?
            }
            None => Vec::new(),
        };
        let terms = refuse_tail(query).and_then(|()| self.recursive_terms(cte, left, right, &name, number));
        let inner = self.used_ctes(inner, visible);
        self.ctes.truncate(visible);
        let (mut first, mut again) = terms?;
        if !inner.is_empty() {
            for query in [&mut first, &mut again] {
                let input = Box::new(std::mem::replace(&mut query.plan, Plan::One));
                query.plan = Plan::With { ctes: inner.clone(), input };
            }
        }
        let distinct = !matches!(set_quantifier, ast::SetQuantifier::All);
        self.learn_cte(cte, name, number, first, Some((again, distinct)), false)
    }

    fn recursive_terms(
        &mut self,
        cte: &ast::Cte,
        left: &SetExpr,
        right: &SetExpr,
        name: &Arc<str>,
        number: usize,
    ) -> Result<(Query, Query)> {
        let first = self.beside_pending(name, number, |binder| binder.settled_body(left));
        let mut first = self.unless_recursive(first, number, name, "its non-recursive term")?;
        rename(&mut first, &cte.alias, name)?;
        let state = State::Growing { columns: first.columns.clone(), outside: self.forbidding.len() };
        let visible = self.ctes.len();
        self.ctes.push(NamedCte { name: name.clone(), number, state, uses: 0 });
        let again = self.set_body(right);
        self.ctes.truncate(visible);
        let again = self.fit_recursive(again?, &first, name)?;
        Ok((first, again))
    }

    /// The result, or the error that the query refers to itself in this part.
    fn unless_recursive<T>(&mut self, result: Result<T>, number: usize, name: &str, part: &str) -> Result<T> {
        match result {
            Err(_) if self.given_up == Some(GivenUp::SelfReference(number)) => {
                self.given_up = None;
                Err(misplaced(name, &format!("within {part}")))
            }
            result => result,
        }
    }

    fn settled_body(&mut self, body: &SetExpr) -> Result<Query> {
        let query = self.set_body(body)?;
        let types: Vec<Typed> = query.columns.iter().map(|column| settled(column.typed)).collect();
        self.recast(query, &types)
    }

    /// The recursive part has the columns of the other one.
    fn fit_recursive(&mut self, query: Query, first: &Query, name: &str) -> Result<Query> {
        if query.columns.len() != first.columns.len() {
            return Err(SqlError::syntax("each UNION query must have the same number of columns"));
        }
        for (at, (column, wanted)) in query.columns.iter().zip(&first.columns).enumerate() {
            let types = [wanted.typed.ty, column.typed.ty];
            let common = crate::functions::resolve::common_type("UNION", &types, self.catalog)?;
            let modifier = if wanted.typed == column.typed { wanted.typed.modifier } else { -1 };
            let overall = Typed { ty: common, modifier };
            if overall != wanted.typed {
                let shown = |typed: Typed| crate::types::names::format_type(typed.ty, Some(typed.modifier), self.env);
                let (is, overall) = (shown(wanted.typed), shown(overall));
                let message = format!(
                    "recursive query \"{name}\" column {} has type {is} in non-recursive term but type {overall} overall",
                    at + 1
                );
                return Err(SqlError::new(SqlState::DATATYPE_MISMATCH, message)
                    .hint("Cast the output of the non-recursive term to the correct type."));
            }
        }
        let types: Vec<Typed> = first.columns.iter().map(|column| Typed::from(column.typed.ty)).collect();
        self.recast(query, &types)
    }

    /// The CTE of this name as an item of FROM, if there is one.
    pub(super) fn cte_from(&mut self, name: &str) -> Result<Option<From<'a>>> {
        let Some(at) = self.ctes.iter().rposition(|cte| &*cte.name == name) else { return Ok(None) };
        let forbidding = self.forbidding.as_slice();
        let cte = &mut self.ctes[at];
        cte.uses += 1;
        match &cte.state {
            State::Later => {
                self.given_up = Some(GivenUp::Later(cte.number));
                Err(misplaced(name, "before it"))
            }
            State::Pending => {
                self.given_up = Some(GivenUp::SelfReference(cte.number));
                Err(misplaced(name, "here"))
            }
            State::Growing { columns, outside } => {
                if let Some(part) = forbidding[*outside..].last() {
                    let part = match part {
                        Forbidding::Subquery => "within a subquery",
                        Forbidding::OuterJoin => "within an outer join",
                        Forbidding::Intersect => "within INTERSECT",
                        Forbidding::Except => "within EXCEPT",
                    };
                    return Err(misplaced(name, part));
                }
                if cte.uses > 1 {
                    return Err(misplaced(name, "more than once"));
                }
                self.lowest_cte = self.lowest_cte.min(at);
                Ok(Some(from_cte(cte, columns)))
            }
            State::Silent => {
                let message = format!("WITH query \"{name}\" does not have a RETURNING clause");
                Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message))
            }
            State::Known { columns, dependent } => {
                if *dependent {
                    self.lowest_cte = self.lowest_cte.min(at);
                }
                Ok(Some(from_cte(cte, columns)))
            }
        }
    }

    /// Those that somebody uses: the others are not evaluated, unless they change something.
    pub(super) fn used_ctes(&self, ctes: Vec<Arc<Cte>>, first: usize) -> Vec<Arc<Cte>> {
        let known = &self.ctes[first..];
        ctes.into_iter().zip(known).filter(|(_, named)| named.uses > 0).map(|(cte, _)| cte).collect()
    }

    /// The whole statement as a query of this kind of unknowns, for a change that has WITH of its own.
    pub(super) fn keep_query(&mut self, query: &ast::Query) -> Result<Query> {
        self.query_body(query, Unknown::Keep)
    }
}

/// Whether one item needs another, directly or not.
fn reaches(needs: &[Vec<usize>], from: usize, to: usize) -> bool {
    let (mut seen, mut open) = (vec![false; needs.len()], vec![from]);
    while let Some(at) = open.pop() {
        if at == to {
            return true;
        }
        if !std::mem::replace(&mut seen[at], true) {
            open.extend(&needs[at]);
        }
    }
    false
}

fn misplaced(name: &str, part: &str) -> SqlError {
    let message = format!("recursive reference to query \"{name}\" must not appear {part}");
    SqlError::new(SqlState::INVALID_RECURSION, message)
}

/// What cannot follow a recursive query.
fn refuse_tail(query: &ast::Query) -> Result<()> {
    let what = match () {
        () if !query.order_by.is_empty() => "ORDER BY",
        () if query.offset.is_some() => "OFFSET",
        () if query.limit.is_some() || query.fetch.is_some() => "LIMIT",
        () if !query.locks.is_empty() => "FOR UPDATE/SHARE",
        () => return Ok(()),
    };
    let message = format!("{what} in a recursive query is not implemented");
    Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message))
}

fn from_cte<'a>(cte: &NamedCte, columns: &[Output]) -> From<'a> {
    let columns = columns.iter().enumerate().map(|(at, column)| ItemColumn {
        name: column.name.clone(),
        expr: slot_column(at, column.typed),
        origin: None,
        collation: column.collation,
    });
    From::one(Plan::Cte { cte: cte.number }, values_item(cte.name.clone(), columns.collect()))
}

fn settled(typed: Typed) -> Typed {
    if typed.ty == crate::types::Type::UNKNOWN { Typed::from(crate::types::Type::TEXT) } else { typed }
}

fn rename(query: &mut Query, alias: &ast::TableAlias, name: &str) -> Result<()> {
    let (available, given) = (query.columns.len(), alias.columns.len());
    if given > available {
        let message = format!("WITH query \"{name}\" has {available} columns available but {given} columns specified");
        return Err(SqlError::new(SqlState::INVALID_COLUMN_REFERENCE, message));
    }
    for (column, given) in query.columns.iter_mut().zip(&alias.columns) {
        column.name = Arc::from(&*fold(&given.name));
    }
    Ok(())
}

fn is_change(body: &SetExpr) -> bool {
    matches!(body, SetExpr::Change(_))
}
