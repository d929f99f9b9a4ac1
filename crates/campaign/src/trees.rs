//! Small questions to syntax trees, and small changes of them.

use skew_sql::parse::ast::{
    Assignment, AssignmentTarget, BinaryOperator, Expr, Ident, Insert, LockClause, LockStrength, LockWait, ObjectName,
    Query, Select, SelectItem, SetExpr, Statement, TableFactor, Update, Value,
};

/// The SELECT of a query that is nothing else.
pub(crate) fn select(query: &Query) -> Option<&Select> {
    match &*query.body {
        SetExpr::Select(select) if query.with.is_none() => Some(select),
        _ => None,
    }
}

/// The query of a statement.
pub(crate) fn query(tree: Option<&Statement>) -> Option<&Query> {
    match tree {
        Some(Statement::Query(query)) => Some(query),
        _ => None,
    }
}

/// The SELECT that says which rows are looked for: that of `SELECT [NOT] EXISTS (SELECT …)`, or the query's own.
pub(crate) fn looking(query: &Query) -> Option<&Select> {
    let own = select(query)?;
    let [item] = own.projection.as_slice() else { return Some(own) };
    let (SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. }) = item else { return Some(own) };
    let mut expr = expr;
    while let Expr::UnaryOp { expr: inner, .. } | Expr::Nested(inner) = expr {
        expr = inner;
    }
    match expr {
        Expr::Exists { subquery, .. } if own.from.is_empty() => select(subquery),
        _ => Some(own),
    }
}

/// The name of the only table of a SELECT.
pub(crate) fn only_table(select: &Select) -> Option<&str> {
    match select.from.as_slice() {
        [from] if from.joins.is_empty() => match &from.relation {
            TableFactor::Table { name, .. } => Some(&name.last()?.value),
            _ => None,
        },
        _ => None,
    }
}

/// The name of the only table of an UPDATE.
pub(crate) fn updated_table(update: &Update) -> Option<&str> {
    if !update.from.is_empty() {
        return None;
    }
    Some(&update.table.name.last()?.value)
}

/// The column that an expression names.
pub(crate) fn column_of(expr: &Expr) -> Option<&str> {
    match expr {
        Expr::Identifier(name) => Some(&name.value),
        Expr::CompoundIdentifier(parts) => Some(&parts.last()?.value),
        Expr::Nested(inner) => column_of(inner),
        _ => None,
    }
}

/// Whether an expression is a value that the client sent, whatever the row holds.
pub(crate) fn is_value(expr: &Expr) -> bool {
    match expr {
        Expr::Value(_) | Expr::TypedString(_) => true,
        Expr::Cast { expr, .. } | Expr::Nested(expr) | Expr::UnaryOp { expr, .. } => is_value(expr),
        Expr::BinaryOp { left, right, .. } => is_value(left) && is_value(right),
        _ => false,
    }
}

/// The literal number of an expression, by its place among the statement's parameters.
pub(crate) fn placeholder(expr: &Expr) -> Option<u32> {
    match expr {
        Expr::Value(value) => match &value.value {
            Value::Placeholder(name) => name.strip_prefix('$')?.parse().ok(),
            _ => None,
        },
        Expr::Cast { expr, .. } | Expr::Nested(expr) => placeholder(expr),
        _ => None,
    }
}

/// The conditions that all have to hold.
pub(crate) fn conjuncts(expr: &Expr) -> Vec<&Expr> {
    match expr {
        Expr::BinaryOp { left, op: BinaryOperator::And, right } => [conjuncts(left), conjuncts(right)].concat(),
        Expr::Nested(inner) => conjuncts(inner),
        other => vec![other],
    }
}

/// `column = value` of a condition.
pub(crate) fn equality(expr: &Expr) -> Option<(&str, &Expr)> {
    let Expr::BinaryOp { left, op: BinaryOperator::Symbol(symbol), right } = expr else { return None };
    if &**symbol != "=" {
        return None;
    }
    match (column_of(left), column_of(right)) {
        (Some(column), None) if is_value(right) => Some((column, right)),
        (None, Some(column)) if is_value(left) => Some((column, left)),
        _ => None,
    }
}

/// The value that an UPDATE sets a column to.
pub(crate) fn assigned<'a>(update: &'a Update, column: &str) -> Option<&'a Assignment> {
    update.assignments.iter().find(|assignment| match &assignment.target {
        AssignmentTarget::Column { name, part } => part.is_empty() && name.value == column,
        AssignmentTarget::Tuple(_) => false,
    })
}

/// `column + value` or `column - value` in the assignment of the column: the value, and whether it is taken away.
pub(crate) fn step_of<'a>(assignment: &'a Assignment, column: &str) -> Option<(&'a Expr, bool)> {
    let mut value = &assignment.value;
    while let Expr::Nested(inner) = value {
        value = inner;
    }
    let Expr::BinaryOp { left, op: BinaryOperator::Symbol(symbol), right } = value else { return None };
    let is_own = column_of(left) == Some(column) && is_value(right);
    match &**symbol {
        "+" if is_own => Some((right, false)),
        "-" if is_own => Some((right, true)),
        _ => None,
    }
}

/// The name by which a SELECT returns a column.
pub(crate) fn output_name(select: &Select, column: &str) -> Option<String> {
    let mut found = select.projection.iter().filter_map(|item| match item {
        SelectItem::UnnamedExpr(expr) => column_of(expr).filter(|name| *name == column).map(str::to_owned),
        SelectItem::ExprWithAlias { expr, alias } => {
            column_of(expr).filter(|name| *name == column).map(|_| alias.value.clone())
        }
        SelectItem::Wildcard | SelectItem::QualifiedWildcard(_) => Some(column.to_owned()),
        SelectItem::RecordWildcard(_) => None,
    });
    let name = found.next()?;
    found.next().is_none().then_some(name)
}

/// The function that an item of a select list calls, and the column that it is called with.
pub(crate) fn aggregate(item: &SelectItem) -> Option<(&str, Option<&str>)> {
    use skew_sql::parse::ast::{FunctionArg, FunctionArgExpr, FunctionArguments};
    let (SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. }) = item else { return None };
    let mut expr = expr;
    loop {
        match expr {
            Expr::Nested(inner) | Expr::Cast { expr: inner, .. } => expr = inner,
            Expr::BinaryOp { left, .. } if !is_value(left) => expr = left,
            Expr::Function(function) => {
                let name = &function.name.last()?.value;
                let FunctionArguments::List(list) = &function.args else { return None };
                let first = list.args.first();
                let argument = first.and_then(|arg| match arg {
                    FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) => Some(expr),
                    _ => None,
                });
                // `coalesce(max(n), 0)`
                if name == "coalesce"
                    && let Some(inner @ Expr::Function(_)) = argument
                {
                    expr = inner;
                    continue;
                }
                return Some((name, argument.and_then(column_of)));
            }
            _ => return None,
        }
    }
}

/// `left AND right`, or the right one alone.
pub(crate) fn and(left: Option<Expr>, right: Expr) -> Expr {
    let nested = |expr: Expr| match expr {
        Expr::BinaryOp { op: BinaryOperator::Or, .. } => Expr::Nested(Box::new(expr)),
        other => other,
    };
    match left {
        None => right,
        Some(left) => {
            Expr::BinaryOp { left: Box::new(nested(left)), op: BinaryOperator::And, right: Box::new(nested(right)) }
        }
    }
}

/// SQL text as an expression.
pub(crate) fn expr(text: &str) -> Option<Expr> {
    skew_sql::parse::expression(text).ok()
}

/// The query with a lock on the rows that it finds.
pub(crate) fn locked(query: &Query, wait: LockWait) -> Query {
    let lock = LockClause { strength: LockStrength::Update, of: Vec::new(), wait };
    Query { locks: vec![lock], ..query.clone() }
}

/// Whether a query may be followed by FOR UPDATE: it returns rows of tables as they are.
pub(crate) fn can_lock(query: &Query) -> bool {
    let Some(select) = select(query) else { return false };
    let is_plain = select.distinct.is_none()
        && select.group_by.is_empty()
        && select.having.is_none()
        && select.named_window.is_empty()
        && !select.from.is_empty();
    let computes = |item: &SelectItem| aggregate(item).is_some_and(|(name, _)| is_aggregate(name));
    is_plain && query.locks.is_empty() && !select.projection.iter().any(computes)
}

/// PostgreSQL's general aggregates (its manual, 9.21). One that is missing here costs a run: the lock is refused there.
const AGGREGATES: [&str; 18] = [
    "any_value",
    "array_agg",
    "avg",
    "bit_and",
    "bit_or",
    "bool_and",
    "bool_or",
    "count",
    "every",
    "json_agg",
    "json_object_agg",
    "jsonb_agg",
    "jsonb_object_agg",
    "max",
    "min",
    "string_agg",
    "sum",
    "xmlagg",
];

/// Whether a function makes one value of many rows.
pub(crate) fn is_aggregate(name: &str) -> bool {
    AGGREGATES.contains(&name)
}

/// The rows of a query, locked: `SELECT 1 FROM … WHERE … FOR UPDATE`.
pub(crate) fn rows_locked(query: &Query) -> Option<String> {
    let select = select(query)?;
    let bare = Select { from: select.from.clone(), selection: select.selection.clone(), ..Select::default() };
    let one = SelectItem::UnnamedExpr(expr("1")?);
    let bare = Select { projection: vec![one], ..bare };
    (!bare.from.is_empty())
        .then(|| locked(&Query::bare(Box::new(SetExpr::Select(Box::new(bare)))), LockWait::Block).to_string())
}

/// The columns of an INSERT of one row, and what it gives them.
pub(crate) fn inserted(insert: &Insert) -> Option<Vec<(&Ident, &Expr)>> {
    let SetExpr::Values(values) = &*insert.source.as_ref()?.body else { return None };
    let [row] = values.rows.as_slice() else { return None };
    (insert.columns.len() == row.len()).then(|| insert.columns.iter().zip(row).collect())
}

/// A name as the tree's printer writes it, in quotes where SQL needs them.
pub(crate) fn ident(name: &str) -> Ident {
    let quoted = skew_sql::types::quote::identifier(name).starts_with('"');
    Ident { quoted, ..Ident::new(name) }
}

/// The name of a table.
pub(crate) fn object(name: &str) -> ObjectName {
    ObjectName(vec![ident(name)])
}
