//! Comparisons that are more than one operator: rows, IN, BETWEEN, IS DISTINCT FROM, ANY and ALL.

use crate::parse::ast::{self, BinaryOperator};

use crate::bind::Binder;
use crate::bind::collation::Needs;
use crate::bind::expr::operator::symbol;
use crate::bind::expr::{mismatch, peel};
use crate::error::{Result, SqlError, SqlState};
use crate::functions::resolve;
use crate::ir::{Expr, ExprKind, Quantified, RowOperator};
use crate::types::{Type, kind};

impl Binder<'_> {
    /// `(a, b) = (c, d)` and the like, if one side is written as a row.
    pub(super) fn row_operator(&mut self, left: &ast::Expr, symbol: &str, right: &ast::Expr) -> Result<Option<Expr>> {
        let (left_row, right_row) = (row_fields(left), row_fields(right));
        if symbol == "OVERLAPS" {
            return self.overlaps(left, right).map(Some);
        }
        if let ast::Expr::Subquery(query) = peel(right) {
            return left_row.map(|fields| self.row_with_subquery(fields, symbol, query)).transpose();
        }
        let (Some(left), Some(right)) = (left_row, right_row) else { return Ok(None) };
        let left = self.exprs(left)?;
        let right = self.exprs(right)?;
        self.compare_rows(symbol, left, right).map(Some)
    }

    /// Expressions of a list.
    pub(in crate::bind) fn exprs<'e>(&mut self, list: impl IntoIterator<Item = &'e ast::Expr>) -> Result<Vec<Expr>> {
        list.into_iter().map(|expr| self.expr(expr)).collect()
    }

    /// Rows are compared field by field.
    pub(super) fn compare_rows(&mut self, symbol: &str, left: Vec<Expr>, right: Vec<Expr>) -> Result<Expr> {
        if left.len() != right.len() {
            return Err(SqlError::syntax("unequal number of entries in row expressions"));
        }
        if left.is_empty() {
            let message = "cannot compare rows of zero length";
            return Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message));
        }
        let Some(operator) = row_operator(symbol) else {
            let message = format!("could not determine interpretation of row comparison operator {symbol}");
            return Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message));
        };
        let (mut lefts, mut rights) = (Vec::with_capacity(left.len()), Vec::with_capacity(right.len()));
        for (left, right) in left.into_iter().zip(right) {
            let (left, right) = self.comparable(symbol, left, right)?;
            lefts.push(left);
            rights.push(right);
        }
        // Conditions on the single fields are what indexes are chosen by.
        if operator == RowOperator::Equal {
            let mut equal = Vec::with_capacity(lefts.len());
            for (left, right) in lefts.into_iter().zip(rights) {
                equal.push(self.operator("=", Some(left), right)?);
            }
            return Ok(match equal.len() {
                1 => equal.pop().expect("there is one"),
                _ => Expr::new(ExprKind::And(equal), Type::BOOL),
            });
        }
        for (left, right) in lefts.iter().zip(&rights) {
            self.must_be_bytes(&[left, right], Needs::Order, "a comparison of rows")?;
        }
        Ok(Expr::new(ExprKind::CompareRows { operator, left: lefts, right: rights }, Type::BOOL))
    }

    /// Two operands as the comparison operator takes them: of one type, since rows are compared by the order of a type.
    fn comparable(&mut self, symbol: &str, left: Expr, right: Expr) -> Result<(Expr, Expr)> {
        let comparison = self.find_operator(symbol, left.ty(), right.ty())?;
        if comparison.returns != Type::BOOL {
            let got = self.type_name(comparison.returns);
            let message = format!("row comparison operator must yield type boolean, not type {got}");
            return Err(mismatch(message));
        }
        let (left_type, right_type) = match (comparison.left, comparison.right) {
            (left, right) if left == right => (left, right),
            (left, right) => {
                let common = resolve::common_type("row comparison", &[left, right], self.catalog)?;
                (common, common)
            }
        };
        Ok((self.implicit(left, left_type)?, self.implicit(right, right_type)?))
    }

    /// Two records whose fields are known, `ROW(…)` or whole rows, compare like rows that are written out.
    pub(super) fn compare_records(&mut self, symbol: &str, left: &Expr, right: &Expr) -> Result<Option<Expr>> {
        let (ExprKind::MakeRow { fields: left, .. }, ExprKind::MakeRow { fields: right, .. }) =
            (&left.kind, &right.kind)
        else {
            return Ok(None);
        };
        if row_operator(symbol).is_none() {
            return Ok(None);
        }
        self.compare_rows(symbol, left.clone(), right.clone()).map(Some)
    }

    fn overlaps(&mut self, left: &ast::Expr, right: &ast::Expr) -> Result<Expr> {
        let (left, right) = (row_fields(left).unwrap_or_default(), row_fields(right).unwrap_or_default());
        for (fields, side) in [(&left, "left"), (&right, "right")] {
            if fields.len() != 2 {
                let message = format!("wrong number of parameters on {side} side of OVERLAPS expression");
                return Err(SqlError::syntax(message));
            }
        }
        let args = self.exprs(left.into_iter().chain(right))?;
        self.call_named("overlaps", args)
    }

    /// `x IS [NOT] DISTINCT FROM y`
    pub(super) fn is_distinct(&mut self, left: &ast::Expr, right: &ast::Expr, negated: bool) -> Result<Expr> {
        let left = self.expr(left)?;
        let right = self.expr(right)?;
        let (left, right) = self.comparable("=", left, right)?;
        self.must_be_bytes(&[&left, &right], Needs::Equality, "IS DISTINCT FROM")?;
        Ok(Expr::new(ExprKind::IsDistinct { args: Box::new([left, right]), negated }, Type::BOOL))
    }

    /// `x BETWEEN a AND b`
    pub(super) fn between(
        &mut self,
        expr: &ast::Expr,
        negated: bool,
        low: &ast::Expr,
        high: &ast::Expr,
    ) -> Result<Expr> {
        let symbols = if negated { ["<", ">"] } else { [">=", "<="] };
        let mut conditions = Vec::with_capacity(2);
        for (symbol, bound) in symbols.into_iter().zip([low, high]) {
            let condition = match self.row_operator(expr, symbol, bound)? {
                Some(rows) => rows,
                None => {
                    let left = self.expr(expr)?;
                    let right = self.expr(bound)?;
                    self.operator(symbol, Some(left), right).map_err(|error| self.at_expr(expr, error))?
                }
            };
            conditions.push(self.boolean(condition, "BETWEEN")?);
        }
        let kind = if negated { ExprKind::Or(conditions) } else { ExprKind::And(conditions) };
        Ok(Expr::new(kind, Type::BOOL))
    }

    /// `x IN (a, b, …)`
    pub(super) fn in_list(&mut self, expr: &ast::Expr, list: &[ast::Expr], negated: bool) -> Result<Expr> {
        if row_fields(expr).is_some() && list.iter().all(|item| row_fields(item).is_some()) {
            return self.rows_in_list(expr, list, negated);
        }
        let left = self.expr(expr)?;
        let items = self.exprs(list)?;
        let located = |binder: &Self, error| binder.at_expr(expr, error);
        // Items without columns become one list of one type; the others are compared one by one, as PostgreSQL does.
        let (list, others): (Vec<Expr>, Vec<Expr>) = items.into_iter().partition(is_free_of_columns);
        let mut conditions = Vec::new();
        let mut single = others;
        if list.len() > 1 {
            let types: Vec<Type> = std::iter::once(left.ty()).chain(list.iter().map(Expr::ty)).collect();
            match resolve::common_type_of(&types, self.catalog) {
                Ok(common) => {
                    let condition = self.member(left.clone(), list, common, negated);
                    conditions.push(condition.map_err(|error| located(self, error))?);
                }
                Err(_) => single.extend(list),
            }
        } else {
            single.extend(list);
        }
        let symbol = if negated { "<>" } else { "=" };
        for item in single {
            let condition = self.operator(symbol, Some(left.clone()), item);
            conditions.push(condition.map_err(|error| located(self, error))?);
        }
        Ok(either(conditions, negated))
    }

    /// `x = ANY` of a list, or `x <> ALL` of it.
    fn member(&mut self, left: Expr, list: Vec<Expr>, common: Type, negated: bool) -> Result<Expr> {
        let among: Vec<&Expr> = std::iter::once(&left).chain(&list).collect();
        self.must_be_bytes(&among, Needs::Equality, "IN")?;
        let comparison = self.find_operator(if negated { "<>" } else { "=" }, left.ty(), common)?;
        let arg = Box::new(self.implicit(left, comparison.left)?);
        let mut items = Vec::with_capacity(list.len());
        for item in list {
            let item = self.unified(item, common, "IN")?;
            items.push(self.implicit(item, comparison.right)?);
        }
        let list = Quantified::List(items);
        let kind = ExprKind::Quantified { arg, operator: comparison.function, list, all: negated };
        Ok(Expr::new(kind, Type::BOOL))
    }

    fn rows_in_list(&mut self, expr: &ast::Expr, list: &[ast::Expr], negated: bool) -> Result<Expr> {
        let fields = row_fields(expr).expect("the caller looked");
        let left = self.exprs(fields)?;
        let mut conditions = Vec::with_capacity(list.len());
        for item in list {
            let right = self.exprs(row_fields(item).expect("the caller looked"))?;
            conditions.push(self.compare_rows(if negated { "<>" } else { "=" }, left.clone(), right)?);
        }
        Ok(either(conditions, negated))
    }

    /// `x op ANY (…)`, `x op ALL (…)`: of an array or a query.
    pub(super) fn quantified(
        &mut self,
        left: &ast::Expr,
        op: &BinaryOperator,
        right: &ast::Expr,
        all: bool,
    ) -> Result<Expr> {
        let symbol = symbol(op);
        if let ast::Expr::Subquery(query) = peel(right) {
            return self.quantified_subquery(left, &symbol, query, all);
        }
        let word = if all { "ALL" } else { "ANY" };
        let left = self.expr(left)?;
        let right = self.expr(right)?;
        let array = match right.ty() {
            // A literal or a parameter is an array of what is on the left.
            Type::UNKNOWN => {
                let element = if left.ty() == Type::UNKNOWN { Type::TEXT } else { left.ty() };
                let element = self.find_operator(&symbol, left.ty(), element)?.right;
                let array = self.array_over(element)?;
                self.implicit(right, array)?
            }
            _ => right,
        };
        let base = kind::base(array.typed, self.catalog).ty;
        let Some(element) = kind::element(base, self.catalog) else {
            return Err(SqlError::new(
                SqlState::WRONG_OBJECT_TYPE,
                "op ANY/ALL (array) requires array on right side".to_owned(),
            ));
        };
        let comparison = self.looking_for(op, |binder| binder.find_operator(&symbol, left.ty(), element))?;
        if comparison.returns != Type::BOOL {
            return Err(SqlError::new(
                SqlState::WRONG_OBJECT_TYPE,
                format!("op {word} (array) requires operator to yield boolean").replace(word, "ANY/ALL"),
            ));
        }
        let needs = if matches!(&*symbol, "=" | "<>") { Needs::Equality } else { Needs::Order };
        self.must_be_bytes(&[&left], needs, "ANY and ALL")?;
        let arg = Box::new(self.implicit(left, comparison.left)?);
        let wanted = if comparison.right == element { base } else { self.array_over(comparison.right)? };
        let array = Box::new(self.implicit(array, wanted)?);
        let kind = ExprKind::Quantified { arg, operator: comparison.function, list: Quantified::Array(array), all };
        Ok(Expr::new(kind, Type::BOOL))
    }
}

/// One of them, or with `all` every one.
fn either(mut conditions: Vec<Expr>, all: bool) -> Expr {
    if conditions.len() == 1 {
        return conditions.pop().expect("there is one");
    }
    let kind = if all { ExprKind::And(conditions) } else { ExprKind::Or(conditions) };
    Expr::new(kind, Type::BOOL)
}

fn is_free_of_columns(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Const(_) | ExprKind::Param(_)) || {
        let mut free = true;
        expr.slots(&mut |_| free = false);
        free
    }
}

/// The fields of an expression that is written as a row: `(a, b)`, `ROW(a)`.
pub(in crate::bind) fn row_fields(expr: &ast::Expr) -> Option<Vec<&ast::Expr>> {
    match peel(expr) {
        ast::Expr::Tuple(fields) => Some(fields.iter().collect()),
        ast::Expr::Function(function) => row_call(function),
        _ => None,
    }
}

fn row_call(function: &ast::Function) -> Option<Vec<&ast::Expr>> {
    let [name] = function.name.0.as_slice() else { return None };
    if name.quoted || !name.value.eq_ignore_ascii_case("row") {
        return None;
    }
    let ast::FunctionArguments::List(list) = &function.args else { return None };
    fn field(arg: &ast::FunctionArg) -> Option<&ast::Expr> {
        match arg {
            ast::FunctionArg::Unnamed(ast::FunctionArgExpr::Expr(expr)) => Some(expr),
            _ => None,
        }
    }
    list.args.iter().map(field).collect()
}

pub(super) fn row_operator(symbol: &str) -> Option<RowOperator> {
    Some(match symbol {
        "=" => RowOperator::Equal,
        "<>" => RowOperator::NotEqual,
        "<" => RowOperator::Less,
        "<=" => RowOperator::LessOrEqual,
        ">" => RowOperator::Greater,
        ">=" => RowOperator::GreaterOrEqual,
        _ => return None,
    })
}
