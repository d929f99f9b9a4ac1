//! FROM: tables, functions, subqueries, joins.

use crate::parse::ast::{
    Expr, Function, FunctionArg, FunctionArguments, Ident, Join, JoinConstraint, JoinOperator, ObjectName, TableAlias,
    TableAliasColumnDef, TableFactor, TableWithJoins, Target,
};

use crate::error::{Result, SqlError};
use crate::parse::cursor::Cursor;
use crate::parse::keywords::{Class, Keyword as K};
use crate::parse::query;
use crate::parse::token::Kind;

impl Cursor<'_> {
    /// An item of FROM: a table and what is joined to it.
    pub(crate) fn from_item(&mut self) -> Result<TableWithJoins> {
        let relation = self.factor()?;
        let mut joins = Vec::new();
        while self.at_join() {
            joins.push(*self.join()?);
        }
        Ok(TableWithJoins { relation: *relation, joins })
    }

    fn at_join(&self) -> bool {
        matches!(self.keyword(), K::Cross | K::Natural | K::Join | K::Inner | K::Left | K::Right | K::Full)
    }

    fn join(&mut self) -> Result<Box<Join>> {
        if self.accept_words(&[K::Cross, K::Join]) {
            let relation = self.factor()?;
            return Ok(joined_by(relation, JoinOperator::Cross, JoinConstraint::None));
        }
        let natural = self.accept_word(K::Natural);
        let kind = match self.keyword() {
            K::Join => JoinOperator::Inner,
            K::Inner => {
                self.take();
                JoinOperator::Inner
            }
            K::Left | K::Right | K::Full => {
                let keyword = self.take().kind.keyword();
                self.accept_word(K::Outer);
                match keyword {
                    K::Left => JoinOperator::LeftOuter,
                    K::Right => JoinOperator::RightOuter,
                    _ => JoinOperator::FullOuter,
                }
            }
            _ => return Err(self.unexpected()),
        };
        self.expect_word(K::Join)?;
        if natural {
            let relation = self.factor()?;
            return Ok(joined_by(relation, kind, JoinConstraint::Natural));
        }
        let relation = self.joined()?;
        let constraint = self.join_constraint()?;
        Ok(joined_by(relation, kind, constraint))
    }

    /// The right side of a join that waits for its ON: `a JOIN b JOIN c ON … ON …` nests.
    fn joined(&mut self) -> Result<Box<TableFactor>> {
        let mut relation = self.factor()?;
        while self.at_join() {
            let join = self.deeper(Self::join)?;
            relation = nested(TableWithJoins { relation: *relation, joins: vec![*join] }, None);
        }
        Ok(relation)
    }

    fn join_constraint(&mut self) -> Result<JoinConstraint> {
        if self.accept_word(K::On) {
            return Ok(JoinConstraint::On(self.expr()?));
        }
        self.expect_word(K::Using)?;
        let columns = self.parenthesized(Self::ident)?;
        if self.keyword() == K::As {
            return Err(SqlError::unsupported("an alias of JOIN USING"));
        }
        Ok(JoinConstraint::Using(columns))
    }

    fn factor(&mut self) -> Result<Box<TableFactor>> {
        let lateral = self.accept_word(K::Lateral);
        if self.kind() == Kind::LeftParen {
            return self.deeper(|cursor| cursor.factor_in_parentheses(lateral));
        }
        if self.accept_words(&[K::Rows, K::From]) {
            let calls = self.parenthesized(|cursor| {
                let call = cursor.primary()?;
                if cursor.keyword() == K::As {
                    return Err(SqlError::unsupported("a column definition list in ROWS FROM"));
                }
                Ok(*call)
            })?;
            return self.rows_from(lateral, calls);
        }
        if self.keyword() == K::Xmltable {
            return Err(SqlError::unsupported("XMLTABLE"));
        }
        if self.at_function() {
            return self.function_in_from(lateral);
        }
        if lateral {
            return Err(self.unexpected());
        }
        let mut relation = self.relation()?;
        let said = self.alias()?;
        if self.keyword() == K::Tablesample {
            return Err(SqlError::unsupported("TABLESAMPLE"));
        }
        if let TableFactor::Table { alias, .. } = &mut *relation {
            *alias = said;
        }
        Ok(relation)
    }

    /// Whether a call follows: a name, and a parenthesis after it.
    fn at_function(&self) -> bool {
        let special = matches!(
            self.keyword(),
            K::CurrentDate
                | K::CurrentTime
                | K::CurrentTimestamp
                | K::CurrentUser
                | K::SessionUser
                | K::User
                | K::Cast
                | K::CurrentCatalog
        );
        if special {
            return true;
        }
        let mut ahead = 0;
        if !self.is_name(0, &[Class::Unreserved, Class::TypeOrFunctionName, Class::ColumnName]) {
            return false;
        }
        while self.kind_at(ahead + 1) == Kind::Dot {
            ahead += 2;
        }
        self.kind_at(ahead + 1) == Kind::LeftParen
    }

    fn function_in_from(&mut self, lateral: bool) -> Result<Box<TableFactor>> {
        match *self.primary()? {
            Expr::Function(Function { name, args, filter: None, over: None, within_group })
                if within_group.is_empty() =>
            {
                match args {
                    FunctionArguments::List(list) if list.order_by.is_empty() => {
                        self.function_factor(lateral, name, list.args)
                    }
                    FunctionArguments::None => self.function_factor(lateral, name, Vec::new()),
                    _ => Err(self.unexpected()),
                }
            }
            Expr::Function(_) => Err(self.unexpected()),
            // CAST, EXTRACT and the like are functions in FROM too: a column of one row.
            expr => self.rows_from(lateral, vec![expr]),
        }
    }

    fn function_factor(&mut self, lateral: bool, name: ObjectName, args: Vec<FunctionArg>) -> Result<Box<TableFactor>> {
        let with_ordinality = self.accept_words(&[K::With, K::Ordinality]);
        let own_name = name.last().map_or_else(String::new, |last| last.value.clone());
        let alias = self.function_alias(own_name)?;
        Ok(Box::new(TableFactor::Function { lateral, name, args, with_ordinality, alias }))
    }

    fn rows_from(&mut self, lateral: bool, calls: Vec<Expr>) -> Result<Box<TableFactor>> {
        let with_ordinality = self.accept_words(&[K::With, K::Ordinality]);
        let alias = self.function_alias(String::new())?;
        Ok(Box::new(TableFactor::RowsFrom { lateral, calls, with_ordinality, alias }))
    }

    /// The alias of a function; `AS (columns)` leaves it its own name.
    fn function_alias(&mut self, own_name: String) -> Result<Option<TableAlias>> {
        if self.keyword() == K::As && self.kind_at(1) == Kind::LeftParen {
            self.take();
            let columns = self.parenthesized(Self::alias_column)?;
            return Ok(Some(TableAlias { name: Ident::new(own_name), columns }));
        }
        self.alias()
    }

    fn factor_in_parentheses(&mut self, lateral: bool) -> Result<Box<TableFactor>> {
        if self.at_subquery() && self.is_query_in_parentheses() {
            return self.derived(lateral);
        }
        if lateral {
            return Err(self.unexpected());
        }
        self.expect(Kind::LeftParen)?;
        let inner = self.from_item()?;
        if inner.joins.is_empty() && !matches!(inner.relation, TableFactor::NestedJoin { .. }) {
            return Err(self.unexpected());
        }
        self.expect(Kind::RightParen)?;
        let alias = self.alias()?;
        Ok(nested(inner, alias))
    }

    /// Whether the parentheses that begin here have a query in them. `((SELECT …) UNION …)` is one; `((SELECT …) a JOIN …)`
    /// begins like a query and is none: what follows the inner parentheses tells.
    fn is_query_in_parentheses(&self) -> bool {
        let mut ahead = 0;
        while self.kind_at(ahead + 1) == Kind::LeftParen {
            let after = self.closing(ahead + 1) + 1;
            match self.kind_at(after) {
                Kind::RightParen => ahead += 1,
                Kind::Word(keyword) => return query::continues(keyword),
                _ => return false,
            }
        }
        true
    }

    fn derived(&mut self, lateral: bool) -> Result<Box<TableFactor>> {
        let start = self.peek();
        let subquery = self.subquery()?;
        let alias = self.alias()?;
        if alias.is_none() {
            let (what, hint) = match *subquery.body {
                crate::parse::ast::SetExpr::Values(_) => ("VALUES", "For example, FROM (VALUES ...) [AS] foo."),
                _ => ("subquery", "For example, FROM (SELECT ...) [AS] foo."),
            };
            return Err(SqlError::syntax(format!("{what} in FROM must have an alias"))
                .hint(hint)
                .at(start.position as usize));
        }
        Ok(Box::new(TableFactor::Derived { lateral, subquery, alias }))
    }

    /// `[AS] name [(columns)]`
    pub(crate) fn alias(&mut self) -> Result<Option<TableAlias>> {
        let explicit = self.accept_word(K::As);
        if !explicit && !self.at_column_name() {
            return Ok(None);
        }
        let name = self.ident()?;
        let columns = if self.kind() == Kind::LeftParen { self.parenthesized(Self::alias_column)? } else { Vec::new() };
        Ok(Some(TableAlias { name, columns }))
    }

    fn alias_column(&mut self) -> Result<TableAliasColumnDef> {
        let name = self.ident()?;
        let data_type = match self.kind() {
            Kind::Comma | Kind::RightParen => None,
            _ => Some(self.data_type()?),
        };
        if self.accept_word(K::Collate) {
            self.any_name()?;
        }
        Ok(TableAliasColumnDef { name, data_type })
    }

    /// A table that a change names, with its alias.
    pub(crate) fn target(&mut self, words_after: &[K]) -> Result<Target> {
        let name = self.relation_name()?;
        let explicit = self.accept_word(K::As);
        let mut alias = None;
        if explicit || (self.at_column_name() && !words_after.contains(&self.keyword())) {
            alias = Some(TableAlias { name: self.ident()?, columns: Vec::new() });
        }
        Ok(Target { name, alias })
    }
}

#[inline(never)]
fn joined_by(relation: Box<TableFactor>, join_operator: JoinOperator, constraint: JoinConstraint) -> Box<Join> {
    Box::new(Join { relation: *relation, join_operator, constraint })
}

#[inline(never)]
fn nested(inner: TableWithJoins, alias: Option<TableAlias>) -> Box<TableFactor> {
    Box::new(TableFactor::NestedJoin { table_with_joins: Box::new(inner), alias })
}
