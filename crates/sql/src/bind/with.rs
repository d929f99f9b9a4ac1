//! WITH: common table expressions.

use std::sync::Arc;

use crate::parse::ast::{self, SetExpr};

use crate::bind::Binder;
use crate::bind::from::{From, slot_column, values_item};
use crate::bind::names::{fold, name};
use crate::bind::query::Unknown;
use crate::bind::scope::ItemColumn;
use crate::error::{Result, SqlError, SqlState};
use crate::ir::{Cte, Plan, Query};
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
    /// It is being bound; a reference to it makes it recursive.
    Pending,
    /// Its columns are known. `dependent`: its rows depend on where the query is in its work, not only on the database.
    Known { columns: Vec<(Arc<str>, Typed)>, dependent: bool },
    /// It returns nothing.
    Silent,
}

/// What a reference to a CTE within itself gives, until it is bound as a recursive one.
const SELF_REFERENCE: &str = "a common table expression refers to itself";

impl<'a> Binder<'a> {
    /// Binds the expressions of WITH and makes their names visible.
    pub(super) fn with(&mut self, with: &ast::With) -> Result<Vec<Arc<Cte>>> {
        let first = self.ctes.len();
        let mut ctes = Vec::with_capacity(with.cte_tables.len());
        for cte in &with.cte_tables {
            let name = name(&cte.alias.name);
            if self.ctes[first..].iter().any(|other| other.name == name) {
                let message = format!("WITH query name \"{name}\" specified more than once");
                return Err(SqlError::new(SqlState::DUPLICATE_ALIAS, message));
            }
            let bound = self.cte(cte, name, with.recursive);
            match bound {
                Ok(cte) => ctes.push(Arc::new(cte)),
                Err(error) => {
                    self.ctes.truncate(first);
                    return Err(error);
                }
            }
        }
        Ok(ctes)
    }

    fn cte(&mut self, cte: &ast::Cte, name: Arc<str>, recursive: bool) -> Result<Cte> {
        if cte.from.is_some() {
            return Err(SqlError::unsupported("FROM after a WITH query"));
        }
        let number = self.cte_count;
        self.cte_count += 1;
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
        let (params, count, visible) = (self.params.clone(), self.cte_count, self.ctes.len());
        self.ctes.push(NamedCte { name: name.clone(), number, state: State::Pending, uses: 0 });
        let plain = self.settled_query(&cte.query);
        self.ctes.truncate(visible);
        match plain {
            Err(error) if error.is(SqlState::INVALID_RECURSION) && error.fields().message == SELF_REFERENCE => {
                self.params = params;
                self.cte_count = count;
                self.recursive_cte(cte, name, number)
            }
            plain => self.learn_cte(cte, name, number, plain?, None, is_change),
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
        rename(&mut query, &cte.alias, &name)?;
        let dependent = query.plan.looks_outward()
            || recursive.as_ref().is_some_and(|(query, _)| query.plan.looks_outward())
            || (!self.frames.is_empty() && self.lowest_cte < self.ctes.len());
        let state = if is_change && query.columns.is_empty() {
            State::Silent
        } else {
            State::Known { columns: columns_of(&query), dependent }
        };
        self.ctes.push(NamedCte { name: name.clone(), number, state, uses: usize::from(is_change) });
        Ok(Cte { number, name, query, recursive })
    }

    /// `non-recursive UNION [ALL] recursive`
    fn recursive_cte(&mut self, cte: &ast::Cte, name: Arc<str>, number: usize) -> Result<Cte> {
        let shape = || {
            let message = format!(
                "recursive query \"{name}\" does not have the form non-recursive-term UNION [ALL] recursive-term"
            );
            SqlError::new(SqlState::INVALID_RECURSION, message)
        };
        let query = &cte.query;
        let SetExpr::SetOperation { left, op: ast::SetOperator::Union, set_quantifier, right } = &*query.body else {
            return Err(shape());
        };
        if query.with.is_some() {
            return Err(SqlError::unsupported("WITH inside of a recursive query"));
        }
        if query.order_by.is_some() || query.limit_clause.is_some() || query.fetch.is_some() {
            let message = "ORDER BY, LIMIT and OFFSET in a recursive query is not implemented";
            return Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message));
        }
        let visible = self.ctes.len();
        self.ctes.push(NamedCte { name: name.clone(), number, state: State::Pending, uses: 0 });
        let first = self.settled_body(left);
        self.ctes.truncate(visible);
        let mut first = first.map_err(|error| match error.fields().message == SELF_REFERENCE {
            true => {
                let message =
                    format!("recursive reference to query \"{name}\" must not appear within its non-recursive term");
                SqlError::new(SqlState::INVALID_RECURSION, message)
            }
            false => error,
        })?;
        rename(&mut first, &cte.alias, &name)?;
        let state = State::Known { columns: columns_of(&first), dependent: true };
        self.ctes.push(NamedCte { name: name.clone(), number, state, uses: 0 });
        let again = self.set_body(right);
        self.ctes.truncate(visible);
        let again = self.fit_recursive(again?, &first, &name)?;
        let distinct = !matches!(set_quantifier, ast::SetQuantifier::All);
        self.learn_cte(cte, name, number, first, Some((again, distinct)), false)
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
            if common != wanted.typed.ty {
                let (is, overall) = (self.type_name(wanted.typed.ty), self.type_name(common));
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
        let cte = &mut self.ctes[at];
        cte.uses += 1;
        match &cte.state {
            State::Pending => Err(SqlError::new(SqlState::INVALID_RECURSION, SELF_REFERENCE)),
            State::Silent => {
                let message = format!("WITH query \"{name}\" does not have a RETURNING clause");
                Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message))
            }
            State::Known { columns, dependent } => {
                if *dependent {
                    self.lowest_cte = self.lowest_cte.min(at);
                }
                let columns = columns.iter().enumerate().map(|(at, (name, typed))| ItemColumn {
                    name: name.clone(),
                    expr: slot_column(at, *typed),
                    origin: None,
                });
                let item = values_item(cte.name.clone(), columns.collect());
                Ok(Some(From::one(Plan::Cte { cte: cte.number }, item)))
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

fn settled(typed: Typed) -> Typed {
    if typed.ty == crate::types::Type::UNKNOWN { Typed::from(crate::types::Type::TEXT) } else { typed }
}

fn columns_of(query: &Query) -> Vec<(Arc<str>, Typed)> {
    query.columns.iter().map(|column| (column.name.clone(), column.typed)).collect()
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
    matches!(body, SetExpr::Insert(_) | SetExpr::Update(_) | SetExpr::Delete(_) | SetExpr::Merge(_))
}
