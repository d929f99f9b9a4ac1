//! Expressions as text: close to SQL, with every conversion shown.

use super::Printer;
use crate::functions::Function;
use crate::ir::{Expr, ExprKind, Quantified, RowOperator, SubqueryKind, Subscript, SystemColumn};
use crate::types::{Datum, Type};

impl Printer<'_> {
    pub(super) fn text(&mut self, expr: &Expr) -> String {
        match &expr.kind {
            ExprKind::Const(value) => constant(value, expr.ty()),
            ExprKind::Param(number) => format!("${}", number + 1),
            ExprKind::Variable(slot) => format!("variable {slot}"),
            ExprKind::Column(column) => {
                let name = self.slot(column.up, column.slot, |slot| slot.column(column.column));
                name.unwrap_or_else(|| format!("{}{}.{}", "^".repeat(column.up), column.slot, column.column))
            }
            ExprKind::Row { up, slot, .. } => {
                let name = self.slot(*up, *slot, |slot| slot.name.clone());
                format!("row {}", name.unwrap_or_else(|| slot.to_string()))
            }
            ExprKind::System { up, slot, column } => {
                let name = self.slot(*up, *slot, |slot| slot.name.clone()).unwrap_or_else(|| slot.to_string());
                format!("{name}.{}", system_column(*column))
            }
            ExprKind::Call { function, args } => self.call(function, args),
            ExprKind::UserCall { function, args } => format!("{}({})", function.name, self.list(args)),
            ExprKind::Cast { arg, .. } => {
                let arg = self.text(arg);
                format!("{arg}::{}", self.type_name(expr.ty()))
            }
            ExprKind::And(args) => self.chain(args, " and "),
            ExprKind::Or(args) => self.chain(args, " or "),
            ExprKind::Not(arg) => format!("not {}", self.text(arg)),
            ExprKind::IsNull(arg) => format!("({} is null)", self.text(arg)),
            ExprKind::IsNotNull(arg) => format!("({} is not null)", self.text(arg)),
            ExprKind::IsBool { arg, value, negated } => {
                let value = value.map_or("unknown", |value| if value { "true" } else { "false" });
                format!("({} is {}{value})", self.text(arg), if *negated { "not " } else { "" })
            }
            ExprKind::IsDistinct { args, negated } => {
                let not = if *negated { "not " } else { "" };
                format!("({} is {not}distinct from {})", self.text(&args[0]), self.text(&args[1]))
            }
            ExprKind::Case { operand, branches, otherwise } => self.case(operand, branches, otherwise),
            ExprKind::Coalesce(args) => format!("coalesce({})", self.list(args)),
            ExprKind::NullIf { value, equal } => format!("nullif({}, {})", self.text(value), self.text(equal)),
            ExprKind::Operand => "operand".to_owned(),
            ExprKind::Extreme { args, greatest } => {
                format!("{}({})", if *greatest { "greatest" } else { "least" }, self.list(args))
            }
            ExprKind::Quantified { arg, operator, list, all } => {
                let list = match list {
                    Quantified::List(list) => self.list(list),
                    Quantified::Array(array) => format!("array {}", self.text(array)),
                };
                let arg = self.text(arg);
                format!("({arg} {} {}({list}))", operator.name, if *all { "all" } else { "any" })
            }
            ExprKind::MakeRow { fields, .. } => format!("row({})", self.list(fields)),
            ExprKind::CompareRows { operator, left, right } => {
                format!("(row({}) {} row({}))", self.list(left), row_operator(*operator), self.list(right))
            }
            ExprKind::Field { arg, index } => format!("({}).{}", self.text(arg), index + 1),
            ExprKind::MakeArray(items) => format!("array[{}]", self.list(items)),
            ExprKind::Subscript { arg, indices } => format!("{}{}", self.text(arg), self.subscripts(indices)),
            ExprKind::Subquery { kind, query } => self.subquery(kind, query),
            ExprKind::NextValue(sequence) => format!("nextval({})", self.relation_name(*sequence)),
            ExprKind::Default(_) => "default".to_owned(),
            ExprKind::Replace { arg, indices, value } => {
                format!("replace({}{}, {})", self.text(arg), self.subscripts(indices), self.text(value))
            }
            ExprKind::ReplaceField { arg, index, value, .. } => {
                format!("replace(({}).{}, {})", self.text(arg), index + 1, self.text(value))
            }
        }
    }

    fn list(&mut self, exprs: &[Expr]) -> String {
        let texts: Vec<String> = exprs.iter().map(|expr| self.text(expr)).collect();
        texts.join(", ")
    }

    fn chain(&mut self, args: &[Expr], between: &str) -> String {
        let texts: Vec<String> = args.iter().map(|arg| self.text(arg)).collect();
        format!("({})", texts.join(between))
    }

    fn call(&mut self, function: &Function, args: &[Expr]) -> String {
        let is_operator = !function.name.starts_with(|c: char| c.is_alphabetic() || c == '_');
        match args {
            [left, right] if is_operator => format!("({} {} {})", self.text(left), function.name, self.text(right)),
            [arg] if is_operator => format!("({} {})", function.name, self.text(arg)),
            _ => format!("{}({})", function.name, self.list(args)),
        }
    }

    fn case(
        &mut self,
        operand: &Option<Box<Expr>>,
        branches: &[(Expr, Expr)],
        otherwise: &Option<Box<Expr>>,
    ) -> String {
        let mut text = "case".to_owned();
        if let Some(operand) = operand {
            text.push_str(&format!(" {}", self.text(operand)));
        }
        for (condition, value) in branches {
            text.push_str(&format!(" when {} then {}", self.text(condition), self.text(value)));
        }
        if let Some(value) = otherwise {
            text.push_str(&format!(" else {}", self.text(value)));
        }
        text + " end"
    }

    fn subscripts(&mut self, indices: &[Subscript]) -> String {
        let texts = indices.iter().map(|index| match index {
            Subscript::Index(index) => format!("[{}]", self.text(index)),
            Subscript::Slice(from, to) => {
                let from = from.as_ref().map(|from| self.text(from)).unwrap_or_default();
                let to = to.as_ref().map(|to| self.text(to)).unwrap_or_default();
                format!("[{from}:{to}]")
            }
        });
        texts.collect()
    }

    /// A query inside of a line: its lines, joined.
    fn subquery(&mut self, kind: &SubqueryKind, query: &crate::ir::Query) -> String {
        let before = match kind {
            SubqueryKind::Scalar => String::new(),
            SubqueryKind::Exists => "exists ".to_owned(),
            SubqueryKind::Array => "array ".to_owned(),
            SubqueryKind::Quantified { args, operators, row, all, .. } => {
                let operator = match operators.as_slice() {
                    [operator] => operator.name,
                    _ => row_operator(*row),
                };
                format!("{} {operator} {} ", self.list(args), if *all { "all" } else { "any" })
            }
        };
        let around = std::mem::take(&mut self.out);
        self.plan(&query.plan, 0);
        let inner = std::mem::replace(&mut self.out, around);
        let lines: Vec<&str> = inner.lines().map(str::trim).collect();
        format!("{before}{}{{{}}}", if query.correlated { "each " } else { "" }, lines.join(" < "))
    }

    fn slot(&self, up: usize, slot: usize, name: impl Fn(&super::Slot) -> String) -> Option<String> {
        let tuple = self.tuples.len().checked_sub(up + 1).map(|at| &self.tuples[at])?;
        tuple.get(slot).map(|slot| format!("{}{}", "^".repeat(up), name(slot)))
    }

    fn type_name(&self, ty: Type) -> String {
        crate::types::names::display(ty, self.catalog)
    }
}

fn constant(value: &Datum, ty: Type) -> String {
    match value {
        Datum::Null => "null".to_owned(),
        Datum::Bool(value) => value.to_string(),
        Datum::Int(value) => value.to_string(),
        Datum::Float(value) => value.to_string(),
        Datum::Text(text) => format!("'{text}'"),
        _ => format!("<{}>", ty.0),
    }
}

fn row_operator(operator: RowOperator) -> &'static str {
    match operator {
        RowOperator::Equal => "=",
        RowOperator::NotEqual => "<>",
        RowOperator::Less => "<",
        RowOperator::LessOrEqual => "<=",
        RowOperator::Greater => ">",
        RowOperator::GreaterOrEqual => ">=",
    }
}

fn system_column(column: SystemColumn) -> &'static str {
    match column {
        SystemColumn::TableOid => "tableoid",
        SystemColumn::Ctid => "ctid",
        SystemColumn::Xmin => "xmin",
        SystemColumn::Xmax => "xmax",
        SystemColumn::Cmin => "cmin",
        SystemColumn::Cmax => "cmax",
    }
}
