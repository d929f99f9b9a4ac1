//! SELECT, VALUES, TABLE, set operations, WITH, ORDER BY, LIMIT, locks.

use crate::parse::ast::{
    AccessExpr, Cte, CteAsMaterialized, Distinct, Expr, Fetch, Ident, LockClause, LockStrength, LockWait,
    NamedWindowDefinition, ObjectName, OrderByExpr, OrderByOptions, OrderBySort, Query, Select, SelectInto, SelectItem,
    SetExpr, SetOperator, SetQuantifier, TableAlias, TableAliasColumnDef, TableFactor, TableWithJoins, Values, With,
};

use crate::error::{Result, SqlError};
use crate::parse::cursor::Cursor;
use crate::parse::keywords::{Keyword as K, Label};
use crate::parse::token::Kind;

/// Whether a word after a query in parentheses makes both a longer query.
pub(super) fn continues(keyword: K) -> bool {
    matches!(keyword, K::Union | K::Intersect | K::Except | K::Order | K::Limit | K::Offset | K::Fetch | K::For)
}

impl Cursor<'_> {
    /// A query, without parentheses around it.
    pub fn query(&mut self) -> Result<Box<Query>> {
        self.deeper(|cursor| {
            let with = cursor.with()?;
            cursor.query_after(with)
        })
    }

    /// A query whose WITH has been taken.
    pub(crate) fn query_after(&mut self, with: Option<With>) -> Result<Box<Query>> {
        let first = self.query_operand()?;
        let body = self.set_operations(first, 0)?;
        self.tail(with, body)
    }

    /// The rest of a query that begins with a query in parentheses.
    pub(crate) fn rest_of_query(&mut self, first: Box<Query>) -> Result<Box<Query>> {
        let body = self.set_operations(query_body(first), 0)?;
        self.tail(None, body)
    }

    /// Whether what follows a query in parentheses makes it part of a longer query.
    pub(crate) fn continues_query(&self) -> bool {
        continues(self.keyword())
    }

    fn tail(&mut self, with: Option<With>, body: Box<SetExpr>) -> Result<Box<Query>> {
        let mut query = bare_query(body);
        query.with = with;
        if self.keyword() == K::Order {
            query.order_by = self.order_by_list()?;
        }
        loop {
            match self.keyword() {
                K::Limit | K::Offset | K::Fetch => self.limit(&mut query)?,
                K::For => {
                    if self.accept_words(&[K::For, K::Read, K::Only]) {
                        continue;
                    }
                    query.locks.push(self.lock()?);
                }
                _ => break,
            }
        }
        // A query that is nothing but another one in parentheses is that one.
        if query.with.is_none()
            && query.order_by.is_empty()
            && !query.is_limited()
            && query.locks.is_empty()
            && matches!(*query.body, SetExpr::Query(_))
        {
            return Ok(inner_query(query));
        }
        Ok(query)
    }

    fn with(&mut self) -> Result<Option<With>> {
        if self.keyword() != K::With {
            return Ok(None);
        }
        self.take();
        let recursive = self.accept_word(K::Recursive);
        let cte_tables = self.list(Self::cte)?;
        Ok(Some(With { recursive, cte_tables }))
    }

    /// WITH, if a statement begins with it.
    pub(crate) fn statement_with(&mut self) -> Result<Option<With>> {
        self.with()
    }

    fn cte(&mut self) -> Result<Cte> {
        let name = self.ident()?;
        let mut columns = Vec::new();
        if self.kind() == Kind::LeftParen {
            columns =
                self.parenthesized(|cursor| Ok(TableAliasColumnDef { name: cursor.ident()?, data_type: None }))?;
        }
        self.expect_word(K::As)?;
        let materialized = if self.accept_word(K::Materialized) {
            Some(CteAsMaterialized::Materialized)
        } else if self.accept_words(&[K::Not, K::Materialized]) {
            Some(CteAsMaterialized::NotMaterialized)
        } else {
            None
        };
        self.expect(Kind::LeftParen)?;
        let query = self.cte_query()?;
        self.expect(Kind::RightParen)?;
        if matches!(self.keyword(), K::Search | K::Cycle) {
            return Err(SqlError::unsupported(format!("{} in WITH", self.keyword().text().to_uppercase())));
        }
        Ok(Cte { alias: TableAlias { name, columns }, query, materialized })
    }

    /// What is in the parentheses of WITH: a query, or a change of rows.
    fn cte_query(&mut self) -> Result<Box<Query>> {
        self.deeper(|cursor| {
            let with = cursor.with()?;
            if !matches!(cursor.keyword(), K::Insert | K::Update | K::Delete | K::Merge) {
                return cursor.query_after(with);
            }
            let mut query = bare_query(cursor.change_as_body()?);
            query.with = with;
            Ok(query)
        })
    }

    /// One side of a set operation.
    fn query_operand(&mut self) -> Result<Box<SetExpr>> {
        match self.kind() {
            Kind::Word(K::Select) => self.select().map(select_body),
            Kind::Word(K::Values) => self.values().map(values_body),
            Kind::Word(K::Table) => self.table_query(),
            Kind::LeftParen => {
                self.take();
                let query = self.query()?;
                self.expect(Kind::RightParen)?;
                Ok(query_body(query))
            }
            _ => Err(self.unexpected()),
        }
    }

    /// UNION and EXCEPT bind alike, INTERSECT more tightly; all go from the left.
    fn set_operations(&mut self, mut left: Box<SetExpr>, least: u8) -> Result<Box<SetExpr>> {
        loop {
            let (op, binds) = match self.keyword() {
                K::Union => (SetOperator::Union, 1),
                K::Except => (SetOperator::Except, 1),
                K::Intersect => (SetOperator::Intersect, 2),
                _ => return Ok(left),
            };
            if binds <= least {
                return Ok(left);
            }
            self.take();
            let set_quantifier = if self.accept_word(K::All) {
                SetQuantifier::All
            } else if self.accept_word(K::Distinct) {
                SetQuantifier::Distinct
            } else {
                SetQuantifier::None
            };
            let right = self.deeper(|cursor| {
                let right = cursor.query_operand()?;
                cursor.set_operations(right, binds)
            })?;
            left = set_operation(left, op, set_quantifier, right);
        }
    }

    fn values(&mut self) -> Result<Values> {
        self.take();
        let rows = self.list(|cursor| cursor.parenthesized(Self::expr))?;
        Ok(Values { rows })
    }

    /// `TABLE t` is `SELECT * FROM t`.
    fn table_query(&mut self) -> Result<Box<SetExpr>> {
        let token = self.take();
        let relation = *self.relation()?;
        let mut select = bare_select();
        select.span = self.span(token);
        select.projection = vec![SelectItem::Wildcard];
        select.from = vec![TableWithJoins { relation, joins: Vec::new() }];
        Ok(select_body(select))
    }

    fn select(&mut self) -> Result<Box<Select>> {
        let mut select = bare_select();
        let token = self.take();
        select.span = self.span(token);
        if self.accept_word(K::Distinct) {
            select.distinct = Some(if self.accept_word(K::On) {
                Distinct::On(self.parenthesized(Self::expr)?)
            } else {
                Distinct::Distinct
            });
        } else {
            self.accept_word(K::All);
        }
        if self.at_select_item() {
            select.projection = self.list(Self::select_item)?;
        }
        if self.accept_word(K::Into) {
            select.into = Some(self.into()?);
        }
        if self.accept_word(K::From) {
            select.from = self.list(Self::from_item)?;
        }
        if self.accept_word(K::Where) {
            select.selection = Some(self.expr()?);
        }
        if self.accept_words(&[K::Group, K::By]) {
            if self.keyword() == K::Distinct {
                return Err(SqlError::unsupported("GROUP BY DISTINCT"));
            }
            self.accept_word(K::All);
            select.group_by = self.list(Self::group_item)?;
        }
        if self.accept_word(K::Having) {
            select.having = Some(self.expr()?);
        }
        if self.accept_word(K::Window) {
            select.named_window = self.list(|cursor| {
                let name = cursor.ident()?;
                cursor.expect_word(K::As)?;
                Ok(NamedWindowDefinition(name, cursor.window()?))
            })?;
        }
        Ok(select)
    }

    /// A select list may be empty.
    fn at_select_item(&self) -> bool {
        !matches!(
            self.kind(),
            Kind::End
                | Kind::Semicolon
                | Kind::RightParen
                | Kind::Word(
                    K::From
                        | K::Into
                        | K::Where
                        | K::Group
                        | K::Having
                        | K::Window
                        | K::Union
                        | K::Intersect
                        | K::Except
                        | K::Order
                        | K::Limit
                        | K::Offset
                        | K::Fetch
                        | K::For
                )
        )
    }

    /// An item of a select list or of RETURNING.
    pub(crate) fn select_item(&mut self) -> Result<SelectItem> {
        if self.kind() == Kind::Star {
            self.take();
            return Ok(SelectItem::Wildcard);
        }
        let expr = self.boxed_expr()?;
        self.item_of(expr)
    }

    /// An item whose expression is there: its alias, or the columns of a wildcard.
    fn item_of(&mut self, expr: Box<Expr>) -> Result<SelectItem> {
        let expr = match without_parens(expr) {
            Expr::QualifiedWildcard(name) => return Ok(SelectItem::QualifiedWildcard(name)),
            Expr::CompoundFieldAccess { root, access_chain } if access_chain == [AccessExpr::Wildcard] => {
                return Ok(SelectItem::RecordWildcard(*root));
            }
            expr => expr,
        };
        if self.accept_word(K::As) {
            return Ok(SelectItem::ExprWithAlias { expr, alias: self.label()? });
        }
        let bare = match self.kind() {
            Kind::Quoted | Kind::UnicodeQuoted => true,
            Kind::Word(keyword) => keyword.label() == Label::Bare,
            _ => false,
        };
        if bare {
            return Ok(SelectItem::ExprWithAlias { expr, alias: self.take_ident()? });
        }
        Ok(SelectItem::UnnamedExpr(expr))
    }

    fn into(&mut self) -> Result<SelectInto> {
        self.accept_word(K::Local);
        let temporary = self.accept_word(K::Temporary) || self.accept_word(K::Temp);
        let unlogged = self.accept_word(K::Unlogged);
        self.accept_word(K::Table);
        Ok(SelectInto { temporary, unlogged, name: self.object_name()? })
    }

    fn group_item(&mut self) -> Result<Expr> {
        if self.kind() == Kind::LeftParen && self.kind_at(1) == Kind::RightParen {
            self.take();
            self.take();
            return Ok(Expr::Tuple(Vec::new()));
        }
        let called = self.kind_at(1) == Kind::LeftParen;
        match self.keyword() {
            K::Rollup if called => {
                self.take();
                Ok(Expr::Rollup(self.parenthesized(Self::group_set)?))
            }
            K::Cube if called => {
                self.take();
                Ok(Expr::Cube(self.parenthesized(Self::group_set)?))
            }
            K::Grouping if self.keyword_at(1) == K::Sets => {
                self.take();
                self.take();
                Ok(Expr::GroupingSets(self.deeper(|cursor| cursor.parenthesized(Self::group_set))?))
            }
            _ => self.expr(),
        }
    }

    /// What is grouped by together: `(a, b)` or `a`.
    fn group_set(&mut self) -> Result<Vec<Expr>> {
        Ok(match self.group_item()? {
            Expr::Tuple(items) => items,
            Expr::Nested(item) => vec![*item],
            item => vec![item],
        })
    }

    /// ORDER BY and its keys.
    pub(crate) fn order_by_list(&mut self) -> Result<Vec<OrderByExpr>> {
        self.expect_words(&[K::Order, K::By])?;
        self.list(Self::order_by_item)
    }

    fn order_by_item(&mut self) -> Result<OrderByExpr> {
        let expr = self.expr()?;
        let sort = if self.accept_word(K::Asc) {
            Some(OrderBySort::Asc)
        } else if self.accept_word(K::Desc) {
            Some(OrderBySort::Desc)
        } else if self.accept_word(K::Using) {
            match self.take().kind {
                Kind::Less => Some(OrderBySort::Asc),
                Kind::Greater => Some(OrderBySort::Desc),
                _ => return Err(SqlError::unsupported("ORDER BY USING an operator")),
            }
        } else {
            None
        };
        let nulls_first = self.nulls_order()?;
        Ok(OrderByExpr { expr, options: OrderByOptions { sort, nulls_first } })
    }

    /// NULLS FIRST, NULLS LAST
    pub(crate) fn nulls_order(&mut self) -> Result<Option<bool>> {
        if !self.accept_word(K::Nulls) {
            return Ok(None);
        }
        if self.accept_word(K::First) {
            return Ok(Some(true));
        }
        self.expect_word(K::Last)?;
        Ok(Some(false))
    }

    fn limit(&mut self, query: &mut Query) -> Result<()> {
        let token = self.take();
        match token.kind {
            Kind::Word(K::Limit) => {
                let all = self.accept_word(K::All);
                let limit = if all { None } else { Some(self.expr()?) };
                if self.kind() == Kind::Comma {
                    return Err(SqlError::syntax("LIMIT #,# syntax is not supported")
                        .hint("Use separate LIMIT and OFFSET clauses.")
                        .at(token.position as usize));
                }
                if query.limit.is_some() || query.fetch.is_some() {
                    return Err(self.twice(token, "LIMIT"));
                }
                query.limit = limit;
            }
            Kind::Word(K::Offset) => {
                let value = self.expr()?;
                if !self.accept_word(K::Rows) {
                    self.accept_word(K::Row);
                }
                if query.offset.is_some() {
                    return Err(self.twice(token, "OFFSET"));
                }
                query.offset = Some(value);
            }
            _ => {
                if query.fetch.is_some() {
                    return Err(self.twice(token, "LIMIT"));
                }
                query.fetch = Some(self.fetch_first()?);
            }
        }
        Ok(())
    }

    fn twice(&self, token: crate::parse::token::Token, clause: &str) -> SqlError {
        SqlError::syntax(format!("multiple {clause} clauses not allowed")).at(token.position as usize)
    }

    fn fetch_first(&mut self) -> Result<Fetch> {
        if !self.accept_word(K::First) {
            self.expect_word(K::Next)?;
        }
        let quantity = match self.keyword() {
            K::Row | K::Rows => None,
            // Without parentheses, only what cannot swallow ROWS.
            _ => match self.kind() {
                Kind::Plus | Kind::Minus => Some(self.restricted_expr()?),
                _ => Some(self.primary()?),
            },
        };
        if !self.accept_word(K::Row) {
            self.expect_word(K::Rows)?;
        }
        let with_ties = if self.accept_word(K::Only) {
            false
        } else {
            self.expect_words(&[K::With, K::Ties])?;
            true
        };
        Ok(Fetch { with_ties, quantity: quantity.map(|quantity| *quantity) })
    }

    fn lock(&mut self) -> Result<LockClause> {
        self.expect_word(K::For)?;
        let strength = match self.keyword() {
            K::Update => LockStrength::Update,
            K::Share => LockStrength::Share,
            K::No => {
                self.expect_words(&[K::No, K::Key])?;
                LockStrength::NoKeyUpdate
            }
            K::Key => {
                self.take();
                LockStrength::KeyShare
            }
            _ => return Err(self.unexpected()),
        };
        self.expect_word(match strength {
            LockStrength::Update | LockStrength::NoKeyUpdate => K::Update,
            _ => K::Share,
        })?;
        let mut of: Vec<Ident> = Vec::new();
        if self.accept_word(K::Of) {
            of = self.list(|cursor| {
                let name = cursor.object_name()?;
                match name.0.as_slice() {
                    [ident] => Ok(ident.clone()),
                    _ => Err(SqlError::syntax("FOR UPDATE must specify unqualified relation names")),
                }
            })?;
        }
        let wait = if self.accept_word(K::Nowait) {
            LockWait::NoWait
        } else if self.accept_words(&[K::Skip, K::Locked]) {
            LockWait::SkipLocked
        } else {
            LockWait::Block
        };
        Ok(LockClause { strength, of, wait })
    }

    /// A table in FROM, without alias: `t`, `ONLY t`, `t *`.
    pub(crate) fn relation(&mut self) -> Result<Box<TableFactor>> {
        let name = self.relation_name()?;
        Ok(table_factor(name))
    }

    /// The name of a table: there is no inheritance, so ONLY and `*` say nothing.
    pub(crate) fn relation_name(&mut self) -> Result<ObjectName> {
        if self.accept_word(K::Only) {
            if self.accept(Kind::LeftParen) {
                let name = self.object_name()?;
                self.expect(Kind::RightParen)?;
                return Ok(name);
            }
            return self.object_name();
        }
        let name = self.object_name()?;
        self.accept(Kind::Star);
        Ok(name)
    }
}

/// `(t.*)` as `t.*`: in a select list the parentheses do not make a row of it.
fn without_parens(expr: Box<Expr>) -> Expr {
    let mut inner = &*expr;
    while let Expr::Nested(within) = inner {
        inner = within;
    }
    match inner {
        Expr::QualifiedWildcard(_) => inner.clone(),
        _ => *expr,
    }
}

/// A table by name.
#[inline(never)]
pub(crate) fn table_factor(name: ObjectName) -> Box<TableFactor> {
    Box::new(TableFactor::Table { name, alias: None })
}

/// A query of this body and nothing else.
#[inline(never)]
pub(crate) fn bare_query(body: Box<SetExpr>) -> Box<Query> {
    Box::new(Query::bare(body))
}

/// The large types of the tree are made in frames of their own, so that nesting costs little stack.
#[inline(never)]
fn select_body(select: Box<Select>) -> Box<SetExpr> {
    Box::new(SetExpr::Select(select))
}

#[inline(never)]
fn query_body(query: Box<Query>) -> Box<SetExpr> {
    Box::new(SetExpr::Query(query))
}

#[inline(never)]
fn values_body(values: Values) -> Box<SetExpr> {
    Box::new(SetExpr::Values(values))
}

#[inline(never)]
fn set_operation(
    left: Box<SetExpr>,
    op: SetOperator,
    set_quantifier: SetQuantifier,
    right: Box<SetExpr>,
) -> Box<SetExpr> {
    Box::new(SetExpr::SetOperation { left, op, set_quantifier, right })
}

#[inline(never)]
fn inner_query(query: Box<Query>) -> Box<Query> {
    match *query.body {
        SetExpr::Query(inner) => inner,
        _ => query,
    }
}

#[inline(never)]
fn bare_select() -> Box<Select> {
    Box::new(Select::default())
}
