//! Trees as SQL again. What is printed is parsed into an equal tree.

use std::fmt::{Display, Formatter, Result, Write};

use super::*;

/// Items with something between them.
fn joined<T: Display>(f: &mut Formatter<'_>, items: &[T], between: &str) -> Result {
    for (at, item) in items.iter().enumerate() {
        f.write_str(if at == 0 { "" } else { between })?;
        item.fmt(f)?;
    }
    Ok(())
}

/// Items with commas between them, after a word and if there are any.
fn clause<T: Display>(f: &mut Formatter<'_>, word: &str, items: &[T]) -> Result {
    if items.is_empty() {
        return Ok(());
    }
    f.write_str(word)?;
    joined(f, items, ", ")
}

/// Something that may be missing, after a word.
fn optional<T: Display>(f: &mut Formatter<'_>, word: &str, item: Option<&T>) -> Result {
    match item {
        Some(item) => write!(f, "{word}{item}"),
        None => Ok(()),
    }
}

/// A text between quotes, which are doubled inside.
fn quoted(f: &mut Formatter<'_>, text: &str, quote: char) -> Result {
    f.write_char(quote)?;
    for c in text.chars() {
        f.write_str(if c == quote { if quote == '"' { "\"" } else { "'" } } else { "" })?;
        f.write_char(c)?;
    }
    f.write_char(quote)
}

impl Display for Ident {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        if self.quoted { quoted(f, &self.value, '"') } else { f.write_str(&self.value) }
    }
}

impl Display for ObjectName {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        joined(f, &self.0, ".")
    }
}

impl Display for Statement {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Statement::Query(query) => query.fmt(f),
            Statement::Insert(insert) => insert.fmt(f),
            Statement::Update(update) => update.fmt(f),
            Statement::Delete(delete) => delete.fmt(f),
            Statement::Merge(merge) => merge.fmt(f),
        }
    }
}

impl Display for DataType {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        fn sized(f: &mut Formatter<'_>, name: &str, size: Option<u64>) -> Result {
            f.write_str(name)?;
            size.map_or(Ok(()), |size| write!(f, "({size})"))
        }
        fn timed(f: &mut Formatter<'_>, name: &str, precision: Option<u64>, with_zone: bool) -> Result {
            sized(f, name, precision)?;
            f.write_str(if with_zone { " WITH TIME ZONE" } else { "" })
        }
        match self {
            DataType::SmallInt => f.write_str("SMALLINT"),
            DataType::Integer => f.write_str("INTEGER"),
            DataType::BigInt => f.write_str("BIGINT"),
            DataType::Real => f.write_str("REAL"),
            DataType::DoublePrecision => f.write_str("DOUBLE PRECISION"),
            DataType::Float(bits) => sized(f, "FLOAT", *bits),
            DataType::Numeric(None) => f.write_str("NUMERIC"),
            DataType::Numeric(Some((precision, None))) => write!(f, "NUMERIC({precision})"),
            DataType::Numeric(Some((precision, Some(scale)))) => write!(f, "NUMERIC({precision},{scale})"),
            DataType::Boolean => f.write_str("BOOLEAN"),
            DataType::Bit(length) => sized(f, "BIT", *length),
            DataType::BitVarying(length) => sized(f, "BIT VARYING", *length),
            DataType::Character(length) => sized(f, "CHARACTER", *length),
            DataType::Varchar(length) => sized(f, "VARCHAR", *length),
            DataType::Time { precision, with_zone } => timed(f, "TIME", *precision, *with_zone),
            DataType::Timestamp { precision, with_zone } => timed(f, "TIMESTAMP", *precision, *with_zone),
            DataType::Interval { fields: Some(fields), precision } => {
                sized(f, &format!("INTERVAL {}", fields.words()), *precision)
            }
            DataType::Interval { fields: None, precision } => sized(f, "INTERVAL", *precision),
            DataType::Custom(name, modifiers) if modifiers.is_empty() => name.fmt(f),
            DataType::Custom(name, modifiers) => write!(f, "{name}({})", modifiers.join(", ")),
            DataType::Array(of, size) => {
                write!(f, "{of}[")?;
                optional(f, "", size.as_ref())?;
                f.write_str("]")
            }
        }
    }
}

impl Display for Value {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Value::Number(digits) => f.write_str(digits),
            Value::SingleQuotedString(text) => quoted(f, text, '\''),
            Value::BitString(digits) => write!(f, "B'{digits}'"),
            Value::HexString(digits) => write!(f, "X'{digits}'"),
            Value::Boolean(value) => write!(f, "{value}"),
            Value::Null => f.write_str("NULL"),
            Value::Placeholder(name) => f.write_str(name),
        }
    }
}

impl Display for ValueWithSpan {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        self.value.fmt(f)
    }
}

impl Display for UnaryOperator {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str(match self {
            UnaryOperator::Not => "NOT",
            UnaryOperator::Symbol(symbol) => symbol,
        })
    }
}

impl Display for BinaryOperator {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            BinaryOperator::And => f.write_str("AND"),
            BinaryOperator::Or => f.write_str("OR"),
            BinaryOperator::Overlaps => f.write_str("OVERLAPS"),
            BinaryOperator::Symbol(symbol) => f.write_str(symbol),
            BinaryOperator::Qualified { schema, symbol } => {
                f.write_str("OPERATOR(")?;
                schema.iter().try_for_each(|part| write!(f, "{part}."))?;
                write!(f, "{symbol})")
            }
        }
    }
}

impl Display for AccessExpr {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            AccessExpr::Field(name) => write!(f, ".{name}"),
            AccessExpr::Wildcard => f.write_str(".*"),
            AccessExpr::Subscript(Subscript::Index { index }) => write!(f, "[{index}]"),
            AccessExpr::Subscript(Subscript::Slice { lower_bound, upper_bound }) => {
                optional(f, "[", lower_bound.as_ref())?;
                f.write_str(if lower_bound.is_none() { "[:" } else { ":" })?;
                optional(f, "", upper_bound.as_ref())?;
                f.write_str("]")
            }
        }
    }
}

/// A set of GROUP BY.
struct GroupSet<'a>(&'a [Expr]);

impl Display for GroupSet<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self.0 {
            [one @ (Expr::GroupingSets(_) | Expr::Cube(_) | Expr::Rollup(_))] => one.fmt(f),
            items => {
                f.write_str("(")?;
                joined(f, items, ", ")?;
                f.write_str(")")
            }
        }
    }
}

fn sets(f: &mut Formatter<'_>, word: &str, sets: &[Vec<Expr>]) -> Result {
    write!(f, "{word} (")?;
    joined(f, &sets.iter().map(|set| GroupSet(set)).collect::<Vec<_>>(), ", ")?;
    f.write_str(")")
}

fn not(negated: bool) -> &'static str {
    if negated { " NOT" } else { "" }
}

impl Display for Expr {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Expr::Identifier(name) => name.fmt(f),
            Expr::CompoundIdentifier(parts) => joined(f, parts, "."),
            Expr::QualifiedWildcard(name) => write!(f, "{name}.*"),
            Expr::CompoundFieldAccess { root, access_chain } => {
                root.fmt(f)?;
                joined(f, access_chain, "")
            }
            Expr::Value(value) => value.fmt(f),
            Expr::TypedString(TypedString { data_type, value }) => match data_type {
                // The fields follow the text of an interval.
                DataType::Interval { fields: Some(fields), precision } => {
                    write!(f, "INTERVAL {value} {}", fields.words())?;
                    precision.map_or(Ok(()), |precision| write!(f, "({precision})"))
                }
                other => write!(f, "{other} {value}"),
            },
            Expr::Nested(inner) => write!(f, "({inner})"),
            Expr::Default(_) => f.write_str("DEFAULT"),
            Expr::CurrentOf(cursor) => write!(f, "CURRENT OF {cursor}"),
            // Signs do not grow together into a comment or another operator.
            Expr::UnaryOp { op: UnaryOperator::Symbol(symbol @ ("-" | "+")), expr }
                if !matches!(**expr, Expr::UnaryOp { .. }) =>
            {
                write!(f, "{symbol}{expr}")
            }
            Expr::UnaryOp { op, expr } => write!(f, "{op} {expr}"),
            Expr::BinaryOp { left, op, right } => write!(f, "{left} {op} {right}"),
            Expr::AnyOp { left, compare_op, right } => quantified(f, left, compare_op, "ANY", right),
            Expr::AllOp { left, compare_op, right } => quantified(f, left, compare_op, "ALL", right),
            Expr::IsNull(expr) => write!(f, "{expr} IS NULL"),
            Expr::IsNotNull(expr) => write!(f, "{expr} IS NOT NULL"),
            Expr::IsTrue(expr) => write!(f, "{expr} IS TRUE"),
            Expr::IsNotTrue(expr) => write!(f, "{expr} IS NOT TRUE"),
            Expr::IsFalse(expr) => write!(f, "{expr} IS FALSE"),
            Expr::IsNotFalse(expr) => write!(f, "{expr} IS NOT FALSE"),
            Expr::IsUnknown(expr) => write!(f, "{expr} IS UNKNOWN"),
            Expr::IsNotUnknown(expr) => write!(f, "{expr} IS NOT UNKNOWN"),
            Expr::IsDistinctFrom(left, right) => write!(f, "{left} IS DISTINCT FROM {right}"),
            Expr::IsNotDistinctFrom(left, right) => write!(f, "{left} IS NOT DISTINCT FROM {right}"),
            Expr::InList { expr, list, negated } => {
                write!(f, "{expr}{} IN (", not(*negated))?;
                joined(f, list, ", ")?;
                f.write_str(")")
            }
            Expr::InSubquery { expr, subquery, negated } => write!(f, "{expr}{} IN ({subquery})", not(*negated)),
            Expr::Between { expr, negated, low, high } => {
                write!(f, "{expr}{} BETWEEN {low} AND {high}", not(*negated))
            }
            Expr::Like { negated, expr, pattern, escape_char } => {
                write!(f, "{expr}{} LIKE {pattern}", not(*negated))?;
                optional(f, " ESCAPE ", escape_char.as_ref())
            }
            Expr::ILike { negated, expr, pattern, escape_char } => {
                write!(f, "{expr}{} ILIKE {pattern}", not(*negated))?;
                optional(f, " ESCAPE ", escape_char.as_ref())
            }
            Expr::SimilarTo { negated, expr, pattern, escape_char } => {
                write!(f, "{expr}{} SIMILAR TO {pattern}", not(*negated))?;
                optional(f, " ESCAPE ", escape_char.as_ref())
            }
            Expr::Cast { expr, data_type } => match **expr {
                Expr::Identifier(_)
                | Expr::CompoundIdentifier(_)
                | Expr::CompoundFieldAccess { .. }
                | Expr::Value(_)
                | Expr::TypedString(_)
                | Expr::Nested(_)
                | Expr::Cast { .. }
                | Expr::Function(_)
                | Expr::Subquery(_)
                | Expr::Array(_) => write!(f, "{expr}::{data_type}"),
                _ => write!(f, "CAST({expr} AS {data_type})"),
            },
            Expr::AtTimeZone { timestamp, time_zone } => write!(f, "{timestamp} AT TIME ZONE {time_zone}"),
            Expr::Collate { expr, collation } => write!(f, "{expr} COLLATE {collation}"),
            Expr::Extract { field, expr } => write!(f, "EXTRACT({field} FROM {expr})"),
            Expr::Position { expr, r#in } => write!(f, "POSITION({expr} IN {in})"),
            Expr::Substring { expr, substring_from, substring_for } => {
                write!(f, "SUBSTRING({expr}")?;
                optional(f, " FROM ", substring_from.as_ref())?;
                optional(f, " FOR ", substring_for.as_ref())?;
                f.write_str(")")
            }
            Expr::Trim { trim_where, trim_what, expr } => {
                f.write_str("TRIM(")?;
                let side = trim_where.map_or("", |side| match side {
                    TrimWhereField::Both => "BOTH ",
                    TrimWhereField::Leading => "LEADING ",
                    TrimWhereField::Trailing => "TRAILING ",
                });
                f.write_str(side)?;
                match trim_what {
                    Some(what) => write!(f, "{what} FROM {expr})"),
                    None if side.is_empty() => write!(f, "{expr})"),
                    None => write!(f, "FROM {expr})"),
                }
            }
            Expr::Overlay { expr, overlay_what, overlay_from, overlay_for } => {
                write!(f, "OVERLAY({expr} PLACING {overlay_what} FROM {overlay_from}")?;
                optional(f, " FOR ", overlay_for.as_ref())?;
                f.write_str(")")
            }
            Expr::Function(function) => function.fmt(f),
            Expr::Case { operand, conditions, else_result, .. } => {
                f.write_str("CASE")?;
                optional(f, " ", operand.as_ref())?;
                for CaseWhen { condition, result } in conditions {
                    write!(f, " WHEN {condition} THEN {result}")?;
                }
                optional(f, " ELSE ", else_result.as_ref())?;
                f.write_str(" END")
            }
            Expr::Exists { subquery, negated } => {
                write!(f, "{}EXISTS ({subquery})", if *negated { "NOT " } else { "" })
            }
            Expr::Subquery(query) => write!(f, "({query})"),
            Expr::Tuple(items) => {
                f.write_str(if items.len() < 2 { "ROW(" } else { "(" })?;
                joined(f, items, ", ")?;
                f.write_str(")")
            }
            Expr::Array(Array { elem, named }) => {
                f.write_str(if *named { "ARRAY[" } else { "[" })?;
                joined(f, elem, ", ")?;
                f.write_str("]")
            }
            Expr::GroupingSets(of) => sets(f, "GROUPING SETS", of),
            Expr::Cube(of) => sets(f, "CUBE", of),
            Expr::Rollup(of) => sets(f, "ROLLUP", of),
        }
    }
}

fn quantified(f: &mut Formatter<'_>, left: &Expr, op: &BinaryOperator, word: &str, right: &Expr) -> Result {
    match right {
        Expr::Subquery(query) => write!(f, "{left} {op} {word} ({query})"),
        right => write!(f, "{left} {op} {word} ({right})"),
    }
}

impl Display for Function {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        self.name.fmt(f)?;
        match &self.args {
            FunctionArguments::None => {}
            FunctionArguments::Subquery(query) => write!(f, "({query})")?,
            FunctionArguments::List(list) => {
                f.write_str(match list.duplicate_treatment {
                    Some(DuplicateTreatment::Distinct) => "(DISTINCT ",
                    Some(DuplicateTreatment::All) => "(ALL ",
                    None => "(",
                })?;
                joined(f, &list.args, ", ")?;
                clause(f, " ORDER BY ", &list.order_by)?;
                f.write_str(")")?;
            }
        }
        if !self.within_group.is_empty() {
            clause(f, " WITHIN GROUP (ORDER BY ", &self.within_group)?;
            f.write_str(")")?;
        }
        if let Some(filter) = &self.filter {
            write!(f, " FILTER (WHERE {filter})")?;
        }
        match &self.over {
            None => Ok(()),
            Some(WindowType::NamedWindow(name)) => write!(f, " OVER {name}"),
            Some(WindowType::WindowSpec(window)) => write!(f, " OVER ({window})"),
        }
    }
}

impl Display for FunctionArg {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let given = self.given();
        f.write_str(if matches!(given, FunctionArgExpr::Variadic(_)) { "VARIADIC " } else { "" })?;
        if let FunctionArg::Named { name, .. } = self {
            write!(f, "{name} => ")?;
        }
        match given {
            FunctionArgExpr::Expr(expr) | FunctionArgExpr::Variadic(expr) => expr.fmt(f),
            FunctionArgExpr::QualifiedWildcard(name) => write!(f, "{name}.*"),
            FunctionArgExpr::Wildcard => f.write_str("*"),
        }
    }
}

impl Display for WindowSpec {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let mut space = "";
        if let Some(name) = &self.window_name {
            name.fmt(f)?;
            space = " ";
        }
        if !self.partition_by.is_empty() {
            clause(f, &format!("{space}PARTITION BY "), &self.partition_by)?;
            space = " ";
        }
        if !self.order_by.is_empty() {
            clause(f, &format!("{space}ORDER BY "), &self.order_by)?;
            space = " ";
        }
        optional(f, space, self.window_frame.as_ref())
    }
}

impl Display for WindowFrame {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str(match self.units {
            WindowFrameUnits::Rows => "ROWS ",
            WindowFrameUnits::Range => "RANGE ",
            WindowFrameUnits::Groups => "GROUPS ",
        })?;
        match &self.end_bound {
            Some(end) => write!(f, "BETWEEN {} AND {end}", self.start_bound)?,
            None => self.start_bound.fmt(f)?,
        }
        f.write_str(match self.exclude {
            FrameExclude::NoOthers => "",
            FrameExclude::CurrentRow => " EXCLUDE CURRENT ROW",
            FrameExclude::Group => " EXCLUDE GROUP",
            FrameExclude::Ties => " EXCLUDE TIES",
        })
    }
}

impl Display for WindowFrameBound {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            WindowFrameBound::CurrentRow => f.write_str("CURRENT ROW"),
            WindowFrameBound::Preceding(None) => f.write_str("UNBOUNDED PRECEDING"),
            WindowFrameBound::Preceding(Some(rows)) => write!(f, "{rows} PRECEDING"),
            WindowFrameBound::Following(None) => f.write_str("UNBOUNDED FOLLOWING"),
            WindowFrameBound::Following(Some(rows)) => write!(f, "{rows} FOLLOWING"),
        }
    }
}

impl Display for OrderByExpr {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        self.expr.fmt(f)?;
        f.write_str(match self.options.sort {
            None => "",
            Some(OrderBySort::Asc) => " ASC",
            Some(OrderBySort::Desc) => " DESC",
        })?;
        f.write_str(match self.options.nulls_first {
            None => "",
            Some(true) => " NULLS FIRST",
            Some(false) => " NULLS LAST",
        })
    }
}

impl Display for Query {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        if let Some(with) = &self.with {
            f.write_str(if with.recursive { "WITH RECURSIVE " } else { "WITH " })?;
            joined(f, &with.cte_tables, ", ")?;
            f.write_str(" ")?;
        }
        self.body.fmt(f)?;
        clause(f, " ORDER BY ", &self.order_by)?;
        optional(f, " LIMIT ", self.limit.as_ref())?;
        optional(f, " OFFSET ", self.offset.as_ref())?;
        if let Some(fetch) = &self.fetch {
            f.write_str(" FETCH FIRST")?;
            match &fetch.quantity {
                Some(count @ (Expr::Value(_) | Expr::Nested(_) | Expr::Subquery(_))) => write!(f, " {count}")?,
                Some(count) => write!(f, " ({count})")?,
                None => {}
            }
            f.write_str(if fetch.with_ties { " ROWS WITH TIES" } else { " ROWS ONLY" })?;
        }
        self.locks.iter().try_for_each(|lock| lock.fmt(f))
    }
}

impl Display for Cte {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        self.alias.fmt(f)?;
        f.write_str(match self.materialized {
            None => " AS (",
            Some(CteAsMaterialized::Materialized) => " AS MATERIALIZED (",
            Some(CteAsMaterialized::NotMaterialized) => " AS NOT MATERIALIZED (",
        })?;
        write!(f, "{})", self.query)
    }
}

impl Display for SetExpr {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            SetExpr::Select(select) => select.fmt(f),
            SetExpr::Query(query) => write!(f, "({query})"),
            SetExpr::SetOperation { op, set_quantifier, left, right } => {
                // A set operation on the right was in parentheses, or binds more tightly.
                let word = match op {
                    SetOperator::Union => "UNION",
                    SetOperator::Except => "EXCEPT",
                    SetOperator::Intersect => "INTERSECT",
                };
                let all = match set_quantifier {
                    SetQuantifier::All => " ALL",
                    SetQuantifier::Distinct => " DISTINCT",
                    SetQuantifier::None => "",
                };
                write!(f, "{left} {word}{all} {right}")
            }
            SetExpr::Values(values) => {
                f.write_str("VALUES ")?;
                joined(f, &values.rows.iter().map(|row| GroupSet(row)).collect::<Vec<_>>(), ", ")
            }
            SetExpr::Change(change) => change.fmt(f),
        }
    }
}

impl Display for Select {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str("SELECT")?;
        match &self.distinct {
            None => {}
            Some(Distinct::Distinct) => f.write_str(" DISTINCT")?,
            Some(Distinct::On(keys)) => {
                clause(f, " DISTINCT ON (", keys)?;
                f.write_str(")")?;
            }
        }
        clause(f, " ", &self.projection)?;
        if let Some(into) = &self.into {
            f.write_str(if into.temporary { " INTO TEMPORARY " } else { " INTO " })?;
            write!(f, "{}{}", if into.unlogged { "UNLOGGED " } else { "" }, into.name)?;
        }
        clause(f, " FROM ", &self.from)?;
        optional(f, " WHERE ", self.selection.as_ref())?;
        if !self.group_by.is_empty() {
            f.write_str(" GROUP BY ")?;
            for (at, key) in self.group_by.iter().enumerate() {
                f.write_str(if at == 0 { "" } else { ", " })?;
                match key {
                    Expr::Tuple(items) if items.is_empty() => f.write_str("()")?,
                    key => key.fmt(f)?,
                }
            }
        }
        optional(f, " HAVING ", self.having.as_ref())?;
        clause(f, " WINDOW ", &self.named_window)
    }
}

impl Display for NamedWindowDefinition {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "{} AS ({})", self.0, self.1)
    }
}

impl Display for SelectItem {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            SelectItem::UnnamedExpr(expr) => expr.fmt(f),
            SelectItem::ExprWithAlias { expr, alias } => write!(f, "{expr} AS {alias}"),
            SelectItem::QualifiedWildcard(name) => write!(f, "{name}.*"),
            SelectItem::RecordWildcard(expr) => write!(f, "{expr}.*"),
            SelectItem::Wildcard => f.write_str("*"),
        }
    }
}

impl Display for LockClause {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str(match self.strength {
            LockStrength::KeyShare => " FOR KEY SHARE",
            LockStrength::Share => " FOR SHARE",
            LockStrength::NoKeyUpdate => " FOR NO KEY UPDATE",
            LockStrength::Update => " FOR UPDATE",
        })?;
        clause(f, " OF ", &self.of)?;
        f.write_str(match self.wait {
            LockWait::Block => "",
            LockWait::NoWait => " NOWAIT",
            LockWait::SkipLocked => " SKIP LOCKED",
        })
    }
}

impl Display for TableWithJoins {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        self.relation.fmt(f)?;
        joined(f, &self.joins, "")
    }
}

impl Display for TableFactor {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let word = |lateral: &bool| if *lateral { "LATERAL " } else { "" };
        let ordinality = |with: &bool| if *with { " WITH ORDINALITY" } else { "" };
        let alias = match self {
            TableFactor::Table { name, alias } => {
                name.fmt(f)?;
                alias
            }
            TableFactor::Derived { lateral, subquery, alias } => {
                write!(f, "{}({subquery})", word(lateral))?;
                alias
            }
            TableFactor::Function { lateral, name, args, with_ordinality, alias } => {
                write!(f, "{}{name}(", word(lateral))?;
                joined(f, args, ", ")?;
                write!(f, "){}", ordinality(with_ordinality))?;
                alias
            }
            TableFactor::RowsFrom { lateral, calls, with_ordinality, alias } => {
                write!(f, "{}ROWS FROM (", word(lateral))?;
                joined(f, calls, ", ")?;
                write!(f, "){}", ordinality(with_ordinality))?;
                alias
            }
            TableFactor::NestedJoin { table_with_joins, alias } => {
                write!(f, "({table_with_joins})")?;
                alias
            }
        };
        optional(f, " AS ", alias.as_ref())
    }
}

impl Display for TableAlias {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        self.name.fmt(f)?;
        if self.columns.is_empty() {
            return Ok(());
        }
        clause(f, " (", &self.columns)?;
        f.write_str(")")
    }
}

impl Display for TableAliasColumnDef {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        self.name.fmt(f)?;
        optional(f, " ", self.data_type.as_ref())
    }
}

impl Display for Join {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str(if self.constraint == JoinConstraint::Natural { " NATURAL" } else { "" })?;
        f.write_str(match self.join_operator {
            JoinOperator::Inner => " JOIN ",
            JoinOperator::LeftOuter => " LEFT JOIN ",
            JoinOperator::RightOuter => " RIGHT JOIN ",
            JoinOperator::FullOuter => " FULL JOIN ",
            JoinOperator::Cross => " CROSS JOIN ",
        })?;
        self.relation.fmt(f)?;
        match &self.constraint {
            JoinConstraint::On(condition) => write!(f, " ON {condition}"),
            JoinConstraint::Using(names) => {
                clause(f, " USING (", names)?;
                f.write_str(")")
            }
            JoinConstraint::Natural | JoinConstraint::None => Ok(()),
        }
    }
}

impl Display for Target {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        self.name.fmt(f)?;
        optional(f, " AS ", self.alias.as_ref())
    }
}

fn returning(f: &mut Formatter<'_>, items: Option<&Vec<SelectItem>>) -> Result {
    clause(f, " RETURNING ", items.map_or(&[], |items| items))
}

/// Names in parentheses, if there are any.
fn columns(f: &mut Formatter<'_>, names: &[Ident]) -> Result {
    if names.is_empty() {
        return Ok(());
    }
    clause(f, " (", names)?;
    f.write_str(")")
}

impl Display for Insert {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "INSERT INTO {}", self.table)?;
        optional(f, " AS ", self.table_alias.as_ref())?;
        columns(f, &self.columns)?;
        f.write_str(match self.overriding {
            None => "",
            Some(Overriding::System) => " OVERRIDING SYSTEM VALUE",
            Some(Overriding::User) => " OVERRIDING USER VALUE",
        })?;
        match &self.source {
            Some(source) => write!(f, " {source}")?,
            None => f.write_str(" DEFAULT VALUES")?,
        }
        if let Some(conflict) = &self.on {
            f.write_str(" ON CONFLICT")?;
            match &conflict.conflict_target {
                None => {}
                Some(ConflictTarget::Constraint(name)) => write!(f, " ON CONSTRAINT {name}")?,
                Some(ConflictTarget::Keys { keys, predicate }) => {
                    write!(f, " {}", GroupSet(keys))?;
                    optional(f, " WHERE ", predicate.as_ref())?;
                }
            }
            match &conflict.action {
                OnConflictAction::DoNothing => f.write_str(" DO NOTHING")?,
                OnConflictAction::DoUpdate(update) => {
                    clause(f, " DO UPDATE SET ", &update.assignments)?;
                    optional(f, " WHERE ", update.selection.as_ref())?;
                }
            }
        }
        returning(f, self.returning.as_ref())
    }
}

impl Display for Assignment {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match &self.target {
            AssignmentTarget::Column { name, part } => {
                name.fmt(f)?;
                joined(f, part, "")?;
            }
            AssignmentTarget::Tuple(names) => {
                clause(f, "(", names)?;
                f.write_str(")")?;
            }
        }
        write!(f, " = {}", self.value)
    }
}

impl Display for Update {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "UPDATE {}", self.table)?;
        clause(f, " SET ", &self.assignments)?;
        clause(f, " FROM ", &self.from)?;
        optional(f, " WHERE ", self.selection.as_ref())?;
        returning(f, self.returning.as_ref())
    }
}

impl Display for Delete {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "DELETE FROM {}", self.table)?;
        clause(f, " USING ", &self.using)?;
        optional(f, " WHERE ", self.selection.as_ref())?;
        returning(f, self.returning.as_ref())
    }
}

impl Display for Merge {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "MERGE INTO {} USING {} ON {}", self.table, self.source, self.on)?;
        for MergeClause { matched, predicate, action } in &self.clauses {
            f.write_str(if *matched { " WHEN MATCHED" } else { " WHEN NOT MATCHED" })?;
            optional(f, " AND ", predicate.as_ref())?;
            match action {
                MergeAction::DoNothing => f.write_str(" THEN DO NOTHING")?,
                MergeAction::Delete => f.write_str(" THEN DELETE")?,
                MergeAction::Update(assignments) => clause(f, " THEN UPDATE SET ", assignments)?,
                MergeAction::Insert(insert) => {
                    f.write_str(" THEN INSERT")?;
                    columns(f, &insert.columns)?;
                    match insert.values.as_slice() {
                        [] => f.write_str(" DEFAULT VALUES")?,
                        values => write!(f, " VALUES {}", GroupSet(values))?,
                    }
                }
            }
        }
        Ok(())
    }
}
