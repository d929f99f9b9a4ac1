//! Expressions as text.

use std::rc::Rc;

use crate::catalog::{ParameterMode, UserFunction};
use crate::deparse::simple::is_simple;
use crate::deparse::{Deparse, Frame, Part, Slot};
use crate::functions::{Function, collate};
use crate::ir::{
    AggregateCall, ColumnRef, Expr, ExprKind, FrameBound, FrameExclude, FrameMode, Quantified, RowOperator, SortKey,
    SubqueryKind, Subscript, SystemColumn, WindowCall,
};
use crate::types::{Datum, Type, Typed, cast, collation, kind, names, quote, text};

impl<'q> Deparse<'q> {
    /// An expression; a conversion that was not written is shown if `implicit`.
    pub(super) fn expr(&mut self, expr: &'q Expr, implicit: bool) {
        match &expr.kind {
            ExprKind::Const(value) => self.constant(value, expr.typed, expr.ty()),
            ExprKind::Param(number) => self.push(&format!("${}", number + 1)),
            ExprKind::Variable(number) => self.variable(*number),
            ExprKind::Column(column) => self.column(*column),
            ExprKind::Row { up, slot, .. } => self.whole_row(*up, *slot),
            ExprKind::System { up, slot, column } => self.system(*up, *slot, *column),
            ExprKind::Operand => self.push("VALUE"),
            ExprKind::Call { function, args } => self.call(expr, function, args),
            ExprKind::UserCall { function, args } => {
                let name = self.function_name(function);
                self.push(&name);
                self.push("(");
                self.passed(function, args);
                self.push(")");
            }
            ExprKind::Default(_) => self.push("DEFAULT"),
            ExprKind::Cast { arg, explicit } => self.cast(expr, arg, *explicit, implicit),
            ExprKind::And(args) => self.joined(expr, args, " AND "),
            ExprKind::Or(args) => self.joined(expr, args, " OR "),
            ExprKind::Not(arg) => self.enclosed(|text| {
                text.push("NOT ");
                text.operand(arg, expr, false);
            }),
            ExprKind::IsNull(arg) => self.test(expr, arg, " IS NULL"),
            ExprKind::IsNotNull(arg) => self.test(expr, arg, " IS NOT NULL"),
            ExprKind::IsBool { arg, value, negated } => {
                let not = if *negated { "NOT " } else { "" };
                let value = value.map_or("UNKNOWN", |value| if value { "TRUE" } else { "FALSE" });
                self.test(expr, arg, &format!(" IS {not}{value}"));
            }
            ExprKind::IsDistinct { args, negated } => self.distinct(expr, args, *negated),
            ExprKind::Coalesce(args) => self.named_list("COALESCE", args),
            ExprKind::Extreme { args, greatest } => {
                self.named_list(if *greatest { "GREATEST" } else { "LEAST" }, args);
            }
            ExprKind::NullIf { value, equal } => {
                self.push("NULLIF(");
                self.expr(value, true);
                self.push(", ");
                self.compared(equal);
                self.push(")");
            }
            ExprKind::MakeArray(items) => {
                self.push("ARRAY[");
                self.list(items);
                self.push("]");
                if items.is_empty() {
                    let name = self.type_name(expr.typed);
                    self.push(&format!("::{name}"));
                }
            }
            ExprKind::MakeRow { fields, shape } => {
                self.named_list("ROW", fields);
                if shape.ty != Type::RECORD {
                    let name = self.type_name(shape.ty.into());
                    self.push(&format!("::{name}"));
                }
            }
            ExprKind::Quantified { arg, operator, list, all } => self.quantified(expr, arg, operator, list, *all),
            ExprKind::CompareRows { operator, left, right } => self.compare_rows(*operator, left, right),
            ExprKind::Field { arg, index } => {
                self.push("(");
                self.expr(arg, true);
                self.push(")");
                let name = self.field_name(arg, *index);
                self.push(&format!(".{name}"));
            }
            ExprKind::Subscript { arg, indices } => {
                let plain = matches!(arg.kind, ExprKind::Column(_) | ExprKind::Subscript { .. });
                if !plain {
                    self.push("(");
                }
                self.expr(arg, true);
                if !plain {
                    self.push(")");
                }
                self.subscripts(indices);
            }
            ExprKind::Case { operand, branches, otherwise } => {
                self.case(expr, operand.as_deref(), branches, otherwise.as_deref());
            }
            ExprKind::Subquery { kind, query } => self.subquery(kind, query),
            ExprKind::NextValue(sequence) => {
                let value = Datum::Int((*sequence).into());
                self.push("nextval(");
                self.constant(&value, Type::REGCLASS.into(), Type::REGCLASS);
                self.push(")");
            }
            // The target of an assignment is shown by the change that it belongs to.
            ExprKind::Replace { value, .. } | ExprKind::ReplaceField { value, .. } => self.expr(value, implicit),
        }
    }

    /// An operand, in parentheses if it needs them.
    fn operand(&mut self, expr: &'q Expr, parent: &Expr, implicit: bool) {
        let needed = self.pretty && !is_simple(expr, parent);
        if needed {
            self.push("(");
        }
        self.expr(expr, implicit);
        if needed {
            self.push(")");
        }
    }

    /// Something in parentheses, which pretty text leaves out.
    fn enclosed(&mut self, write: impl FnOnce(&mut Self)) {
        if !self.pretty {
            self.push("(");
        }
        write(self);
        if !self.pretty {
            self.push(")");
        }
    }

    pub(super) fn list(&mut self, args: &'q [Expr]) {
        for (at, arg) in args.iter().enumerate() {
            if at > 0 {
                self.push(", ");
            }
            self.expr(arg, true);
        }
    }

    fn named_list(&mut self, name: &str, args: &'q [Expr]) {
        self.push(name);
        self.push("(");
        self.list(args);
        self.push(")");
    }

    fn joined(&mut self, expr: &Expr, args: &'q [Expr], word: &str) {
        self.enclosed(|text| {
            for (at, arg) in args.iter().enumerate() {
                if at > 0 {
                    text.push(word);
                }
                text.operand(arg, expr, false);
            }
        });
    }

    fn test(&mut self, expr: &Expr, arg: &'q Expr, words: &str) {
        self.enclosed(|text| {
            text.operand(arg, expr, true);
            text.push(words);
        });
    }

    fn distinct(&mut self, expr: &Expr, args: &'q [Expr; 2], negated: bool) {
        let plain = |text: &mut Self| {
            text.enclosed(|text| {
                text.operand(&args[0], expr, true);
                text.push(" IS DISTINCT FROM ");
                text.operand(&args[1], expr, true);
            });
        };
        if !negated {
            return plain(self);
        }
        self.enclosed(|text| {
            text.push("NOT ");
            let needed = text.pretty;
            if needed {
                text.push("(");
            }
            plain(text);
            if needed {
                text.push(")");
            }
        });
    }

    /// A parameter of the function whose body this is.
    fn variable(&mut self, number: usize) {
        let Some((function, names)) = &self.function else { return self.push(&format!("${}", number + 1)) };
        let Some(Some(name)) = names.get(number) else { return self.push(&format!("${}", number + 1)) };
        // A column with its name is possibly in sight.
        let shown = match self.frames.iter().chain(&self.beside).any(|frame| !frame.slots.is_empty()) {
            true => format!("{}.{}", quote::identifier(function), quote::identifier(name)),
            false => quote::identifier(name),
        };
        self.push(&shown);
    }

    /// The arguments of a call but for defaults; those after a default have their names.
    fn passed(&mut self, function: &UserFunction, args: &'q [Expr]) {
        let inputs: Vec<_> = function.parameters.iter().filter(|parameter| parameter.mode.is_input()).collect();
        let (mut separator, mut named) = ("", false);
        for (at, arg) in args.iter().enumerate() {
            if matches!(arg.kind, ExprKind::Default(_)) {
                named = true;
                continue;
            }
            self.push(separator);
            separator = ", ";
            if let (true, Some(name)) = (named, inputs.get(at).and_then(|input| input.name.as_ref())) {
                self.push(&format!("{} => ", quote::identifier(name)));
            }
            let gathers = inputs.get(at).is_some_and(|input| input.mode == ParameterMode::Variadic);
            self.push(if gathers { "VARIADIC " } else { "" });
            self.expr(arg, true);
        }
    }

    fn call(&mut self, expr: &Expr, function: &'static Function, args: &'q [Expr]) {
        let name = function.name;
        match (is_symbol(name), args) {
            (true, [left, right]) => self.enclosed(|text| {
                text.operand(left, expr, true);
                let symbol = text.symbol(function);
                text.push(&format!(" {symbol} "));
                text.operand(right, expr, true);
            }),
            (true, [only]) => self.enclosed(|text| {
                let symbol = text.symbol(function);
                text.push(&format!("{symbol} "));
                text.operand(only, expr, true);
            }),
            (_, [value]) if function.is_written() => self.written(expr, name, value),
            (_, [of, number]) if name == collate::MARK => {
                let collation = match &number.kind {
                    ExprKind::Const(Datum::Int(oid)) => u32::try_from(*oid).ok(),
                    _ => None,
                };
                let collation = collation.and_then(|oid| collation::name(oid, self.env.catalog())).unwrap_or_default();
                self.push("(");
                self.operand(of, expr, true);
                self.push(&format!(" COLLATE {})", quote::identifier(&collation)));
            }
            // What texts are compared by in an order is not written.
            (_, [of, ..]) if name == collate::KEY => self.expr(of, true),
            (_, args) => {
                let name = self.builtin_name(function);
                self.named_list(&name, args);
            }
        }
    }

    /// A value in the notation that SQL has for it.
    fn written(&mut self, expr: &Expr, name: &str, value: &'q Expr) {
        let args = match &value.kind {
            ExprKind::Call { args, .. } if !args.is_empty() => args.as_slice(),
            _ => {
                self.push(&name.to_uppercase());
                let is_time = matches!(name, "current_timestamp" | "current_time" | "localtimestamp" | "localtime");
                if is_time && expr.typed.modifier >= 0 {
                    self.push(&format!("({})", expr.typed.modifier));
                }
                return;
            }
        };
        let (second, third) = (args.get(1), args.get(2));
        match (name, args) {
            ("timezone", [zone, of]) => {
                self.push("(");
                self.operand(of, expr, false);
                self.push(" AT TIME ZONE ");
                self.operand(zone, expr, false);
                self.push(")");
            }
            ("extract", [field, of]) => {
                let field = match &field.kind {
                    ExprKind::Const(Datum::Text(field)) => quote::identifier(field),
                    _ => String::new(),
                };
                self.pieces(&[(format!("EXTRACT({field} FROM ").as_str(), Some(of))], ")");
            }
            ("position", [whole, part]) => self.pieces(&[("POSITION((", Some(part)), (") IN (", Some(whole))], "))"),
            ("substring", [of, from, ..]) if from.ty() == Type::INT4 => {
                self.pieces(&[("SUBSTRING(", Some(of)), (" FROM ", second), (" FOR ", third)], ")");
            }
            ("overlay", [of, ..]) => {
                let words = [("OVERLAY(", Some(of)), (" PLACING ", second), (" FROM ", third), (" FOR ", args.get(3))];
                self.pieces(&words, ")");
            }
            ("btrim" | "ltrim" | "rtrim", [of, ..]) => {
                self.push(match name {
                    "btrim" => "TRIM(BOTH",
                    "ltrim" => "TRIM(LEADING",
                    _ => "TRIM(TRAILING",
                });
                if let Some(what) = second {
                    self.push(" ");
                    self.expr(what, false);
                }
                self.push(" FROM ");
                self.expr(of, false);
                self.push(")");
            }
            _ => self.expr(value, true),
        }
    }

    /// Words with an operand after each; those without one are left out.
    fn pieces(&mut self, pieces: &[(&str, Option<&'q Expr>)], end: &str) {
        for (words, arg) in pieces {
            let Some(arg) = arg else { continue };
            self.push(words);
            self.expr(arg, false);
        }
        self.push(end);
    }

    fn cast(&mut self, expr: &Expr, arg: &'q Expr, explicit: bool, implicit: bool) {
        if !explicit && !implicit {
            return self.expr(arg, false);
        }
        let name = self.type_name(expr.typed);
        // A length is given to the conversion to its type, which is one conversion.
        let arg = match &arg.kind {
            ExprKind::Cast { arg: inner, .. }
                if arg.ty() == expr.ty() && arg.typed.modifier < 0 && expr.typed.modifier >= 0 =>
            {
                inner
            }
            _ => arg,
        };
        match &arg.kind {
            ExprKind::Const(value) if arg.ty() == Type::UNKNOWN && !value.is_null() => {
                self.constant(value, arg.typed, expr.ty());
            }
            // A literal that is cut to a length has the type once.
            ExprKind::Const(value) if !value.is_null() && arg.ty() == expr.ty() && arg.typed.modifier < 0 => {
                self.bare_constant(value, arg.ty());
                self.push(&format!("::{name}"));
            }
            _ => {
                if !self.pretty {
                    self.push("(");
                }
                self.operand(arg, expr, true);
                if !self.pretty {
                    self.push(")");
                }
                self.push(&format!("::{name}"));
            }
        }
    }

    fn quantified(&mut self, expr: &Expr, arg: &'q Expr, operator: &Function, list: &'q Quantified, all: bool) {
        self.enclosed(|text| {
            text.operand(arg, expr, true);
            let operator = text.symbol(operator);
            text.push(&format!(" {operator} {} (", if all { "ALL" } else { "ANY" }));
            match list {
                Quantified::List(items) => text.items(items),
                Quantified::Array(array) => text.operand(array, expr, true),
            }
            text.push(")");
        });
    }

    /// A list as an array: where all items are converted from one type to another, the array is.
    fn items(&mut self, items: &'q [Expr]) {
        let Some((inner, typed)) = converted(items) else {
            self.push("ARRAY[");
            self.list(items);
            return self.push("]");
        };
        self.push(if self.pretty { "ARRAY[" } else { "(ARRAY[" });
        for (at, item) in inner.into_iter().enumerate() {
            if at > 0 {
                self.push(", ");
            }
            self.expr(item, true);
        }
        let name = self.type_name(typed);
        self.push(&format!("]{}::{name}[]", if self.pretty { "" } else { ")" }));
    }

    fn compare_rows(&mut self, operator: RowOperator, left: &'q [Expr], right: &'q [Expr]) {
        let (symbol, word) = match operator {
            RowOperator::Equal => ("=", Some(" AND ")),
            RowOperator::NotEqual => ("<>", Some(" OR ")),
            RowOperator::Less => ("<", None),
            RowOperator::LessOrEqual => ("<=", None),
            RowOperator::Greater => (">", None),
            RowOperator::GreaterOrEqual => (">=", None),
        };
        let Some(word) = word else {
            self.push("(");
            self.named_list("ROW", left);
            self.push(&format!(" {symbol} "));
            self.named_list("ROW", right);
            return self.push(")");
        };
        self.enclosed(|text| {
            for (at, (left, right)) in left.iter().zip(right).enumerate() {
                if at > 0 {
                    text.push(word);
                }
                text.push("(");
                text.expr(left, true);
                text.push(&format!(" {symbol} "));
                text.expr(right, true);
                text.push(")");
            }
        });
    }

    pub(super) fn field_name(&self, arg: &Expr, index: usize) -> String {
        let shape = match &arg.kind {
            ExprKind::MakeRow { shape, .. } | ExprKind::Row { shape, .. } if shape.ty == Type::RECORD => {
                shape.fields.get(index).cloned()
            }
            _ => {
                match self.env.catalog().user_type(kind::base(arg.typed, self.env.catalog()).ty).map(|user| &user.kind)
                {
                    Some(crate::catalog::UserTypeKind::Composite(fields)) => fields.get(index).cloned(),
                    _ => None,
                }
            }
        };
        shape.map_or_else(|| format!("f{}", index + 1), |(name, _)| quote::identifier(&name))
    }

    pub(super) fn subscripts(&mut self, indices: &'q [Subscript]) {
        for index in indices {
            self.push("[");
            match index {
                Subscript::Index(at) => self.expr(at, false),
                Subscript::Slice(from, to) => {
                    if let Some(from) = from {
                        self.expr(from, false);
                    }
                    self.push(":");
                    if let Some(to) = to {
                        self.expr(to, false);
                    }
                }
            }
            self.push("]");
        }
    }

    fn case(
        &mut self,
        expr: &Expr,
        operand: Option<&'q Expr>,
        branches: &'q [(Expr, Expr)],
        otherwise: Option<&'q Expr>,
    ) {
        self.line("CASE", 0, 4, 0);
        if let Some(operand) = operand {
            self.push(" ");
            self.expr(operand, true);
        }
        for (condition, value) in branches {
            self.line("WHEN ", 0, 0, 0);
            match operand {
                Some(_) => self.compared(condition),
                None => self.expr(condition, false),
            }
            self.push(" THEN ");
            self.expr(value, true);
        }
        self.line("ELSE ", 0, 0, 0);
        match otherwise {
            Some(otherwise) => self.expr(otherwise, true),
            None => self.constant(&Datum::Null, expr.typed, expr.ty()),
        }
        self.line("END", -4, 0, 0);
    }

    /// What the operand of CASE or NULLIF is compared with.
    fn compared(&mut self, comparison: &'q Expr) {
        match &comparison.kind {
            ExprKind::Call { args, .. } if args.len() == 2 => self.expr(&args[1], true),
            _ => self.expr(comparison, true),
        }
    }

    fn subquery(&mut self, kind: &'q SubqueryKind, query: &'q crate::ir::Query) {
        match kind {
            SubqueryKind::Scalar => self.push("("),
            SubqueryKind::Array => self.push("ARRAY("),
            SubqueryKind::Exists => self.push("(EXISTS ("),
            SubqueryKind::Quantified { args, operators, row, all, .. } => {
                self.push("(");
                match args.as_slice() {
                    [only] => self.expr(only, true),
                    several => self.named_list("", several),
                }
                let symbol = match (operators.first(), row) {
                    (Some(operator), _) => operator.name,
                    (None, RowOperator::Equal) => "=",
                    (None, RowOperator::NotEqual) => "<>",
                    (None, RowOperator::Less) => "<",
                    (None, RowOperator::LessOrEqual) => "<=",
                    (None, RowOperator::Greater) => ">",
                    (None, RowOperator::GreaterOrEqual) => ">=",
                };
                self.push(&match (symbol, all) {
                    ("=", false) => " IN (".to_owned(),
                    (symbol, false) => format!(" {symbol} ANY ("),
                    (symbol, true) => format!(" {symbol} ALL ("),
                });
            }
        }
        // What is inside sees this query's tuple as the next one further out.
        self.query(query, None);
        self.push(match kind {
            SubqueryKind::Scalar | SubqueryKind::Array => ")",
            SubqueryKind::Exists | SubqueryKind::Quantified { .. } => "))",
        });
    }

    fn constant(&mut self, value: &Datum, typed: Typed, ty: Type) {
        let ty = if ty == Type::UNKNOWN { Type::TEXT } else { ty };
        let modifier = if typed.ty == ty { typed.modifier } else { -1 };
        let name = self.type_name(Typed { ty, modifier });
        if value.is_null() {
            return self.push(&format!("NULL::{name}"));
        }
        let shown = text::output(value, typed.ty, self.env);
        let text = match (ty, value) {
            (Type::BOOL, Datum::Bool(truth)) => truth.to_string(),
            (Type::INT4, Datum::Int(0..)) => shown,
            (Type::NUMERIC, _)
                if shown.starts_with(|c: char| c.is_ascii_digit()) && shown.contains(['.', 'e', 'E']) =>
            {
                shown
            }
            _ => format!("{}::{name}", quote::standard_literal(&shown)),
        };
        self.push(&text);
    }

    fn bare_constant(&mut self, value: &Datum, ty: Type) {
        let shown = text::output(value, ty, self.env);
        self.push(&quote::standard_literal(&shown));
    }

    pub(super) fn type_name(&self, typed: Typed) -> String {
        names::format_type(typed.ty, Some(typed.modifier), self.env)
    }

    fn frame(&self, up: usize) -> Option<(usize, Rc<Frame<'q>>)> {
        let at = self.frames.len().checked_sub(up + 1)?;
        Some((at, self.frames[at].clone()))
    }

    fn column(&mut self, column: ColumnRef) {
        let Some((at, frame)) = self.frame(column.up) else { return self.unknown() };
        match frame.slots.get(column.slot) {
            Some(Slot::Row { prefix, columns }) => {
                let name = columns.get(column.column).map_or_else(String::new, |name| quote::identifier(name));
                self.push(&prefix.map_or_else(|| name.clone(), |prefix| format!("{prefix}.{name}")));
            }
            Some(Slot::Item { name, columns }) => {
                let column = columns.get(column.column).map_or_else(String::new, |name| quote::identifier(name));
                let prefix = quote::identifier(name);
                self.push(&format!("{prefix}.{column}"));
            }
            Some(Slot::Made { parts, below }) => {
                let Some(part) = parts.get(column.column).cloned() else { return self.unknown() };
                let inner = self.frames.split_off(at);
                self.frames.push(below.clone());
                self.part(&part);
                self.frames.truncate(at);
                self.frames.extend(inner);
            }
            None => self.unknown(),
        }
    }

    /// The name of the column that an expression is, as FROM has it.
    pub(super) fn column_name(&self, expr: &Expr) -> Option<std::sync::Arc<str>> {
        let ExprKind::Column(column) = &expr.kind else { return None };
        let (_, frame) = self.frame(column.up)?;
        let mut frame = frame;
        let mut place = *column;
        loop {
            let next = match frame.slots.get(place.slot)? {
                Slot::Row { columns, .. } | Slot::Item { columns, .. } => return columns.get(place.column).cloned(),
                Slot::Made { parts, below } => match parts.get(place.column)? {
                    Part::Expr(Expr { kind: ExprKind::Column(inner), .. }) if inner.up == 0 => {
                        place = *inner;
                        below.clone()
                    }
                    _ => return None,
                },
            };
            frame = next;
        }
    }

    fn part(&mut self, part: &Part<'q>) {
        match part {
            Part::Expr(expr) => self.expr(expr, true),
            Part::Aggregate(call) => self.aggregate(call),
            Part::Window(call) => self.window(call),
            Part::Grouping(keys) => {
                self.push("GROUPING(");
                for (at, key) in keys.iter().enumerate() {
                    if at > 0 {
                        self.push(", ");
                    }
                    self.expr(key, true);
                }
                self.push(")");
            }
        }
    }

    fn whole_row(&mut self, up: usize, slot: usize) {
        let Some((_, frame)) = self.frame(up) else { return self.push("?") };
        match frame.slots.get(slot) {
            Some(Slot::Item { name, .. }) => self.push(&format!("{}.*", quote::identifier(name))),
            Some(Slot::Row { prefix: Some(prefix), .. }) => self.push(&format!("{prefix}.*")),
            _ => self.push("*"),
        }
    }

    fn system(&mut self, up: usize, slot: usize, column: SystemColumn) {
        let name = match column {
            SystemColumn::TableOid => "tableoid",
            SystemColumn::Ctid => "ctid",
            SystemColumn::Xmin => "xmin",
            SystemColumn::Xmax => "xmax",
            SystemColumn::Cmin => "cmin",
            SystemColumn::Cmax => "cmax",
        };
        let Some((_, frame)) = self.frame(up) else { return self.push(name) };
        match frame.slots.get(slot) {
            Some(Slot::Item { name: item, .. }) => self.push(&format!("{}.{name}", quote::identifier(item))),
            _ => self.push(name),
        }
    }

    fn aggregate(&mut self, call: &'q AggregateCall) {
        let ordered = match call.function.body {
            crate::functions::Body::OrderedSet { direct, .. } => Some(direct),
            _ => None,
        };
        self.push(&format!("{}(", quote::identifier(call.function.name)));
        if call.distinct {
            self.push("DISTINCT ");
        }
        match (ordered, call.args.as_slice()) {
            (Some(direct), args) => self.list(&args[..direct.min(args.len())]),
            (None, []) if call.function.name == "count" => self.push("*"),
            (None, args) => self.list(args),
        }
        if ordered.is_some() {
            self.push(") WITHIN GROUP (ORDER BY ");
            self.sort_keys(&call.order);
        } else if !call.order.is_empty() {
            self.push(" ORDER BY ");
            self.sort_keys(&call.order);
        }
        self.push(")");
        self.filter(call.filter.as_ref());
    }

    fn filter(&mut self, filter: Option<&'q Expr>) {
        if let Some(filter) = filter {
            self.push(" FILTER (WHERE ");
            self.expr(filter, false);
            self.push(")");
        }
    }

    fn window(&mut self, call: &'q WindowCall) {
        self.push(&format!("{}(", quote::identifier(call.function.name)));
        match call.args.as_slice() {
            [] if call.function.name == "count" => self.push("*"),
            args => self.list(args),
        }
        self.push(")");
        self.filter(call.filter.as_ref());
        if let Some(name) = &call.name {
            let name = quote::identifier(name);
            return self.push(&format!(" OVER {name}"));
        }
        self.push(" OVER ");
        self.window_definition(call);
    }

    /// What stands in the parentheses after OVER, with them.
    pub(super) fn window_definition(&mut self, call: &'q WindowCall) {
        self.push("(");
        let mut space = "";
        if !call.partition.is_empty() {
            self.push("PARTITION BY ");
            self.list(&call.partition);
            space = " ";
        }
        if !call.order.is_empty() {
            self.push(space);
            self.push("ORDER BY ");
            self.sort_keys(&call.order);
            space = " ";
        }
        self.window_frame(call, space);
        self.push(")");
    }

    fn window_frame(&mut self, call: &'q WindowCall, space: &str) {
        let frame = &call.frame;
        let is_default = frame.mode == FrameMode::Range
            && matches!(frame.start, FrameBound::UnboundedPreceding)
            && matches!(frame.end, FrameBound::CurrentRow)
            && frame.exclude == FrameExclude::NoOthers;
        if is_default {
            return;
        }
        self.push(space);
        self.push(match frame.mode {
            FrameMode::Rows => "ROWS BETWEEN ",
            FrameMode::Range => "RANGE BETWEEN ",
            FrameMode::Groups => "GROUPS BETWEEN ",
        });
        self.bound(&frame.start);
        self.push(" AND ");
        self.bound(&frame.end);
        self.push(match frame.exclude {
            FrameExclude::NoOthers => "",
            FrameExclude::CurrentRow => " EXCLUDE CURRENT ROW",
            FrameExclude::Group => " EXCLUDE GROUP",
            FrameExclude::Ties => " EXCLUDE TIES",
        });
    }

    fn bound(&mut self, bound: &'q FrameBound) {
        match bound {
            FrameBound::UnboundedPreceding => self.push("UNBOUNDED PRECEDING"),
            FrameBound::CurrentRow => self.push("CURRENT ROW"),
            FrameBound::UnboundedFollowing => self.push("UNBOUNDED FOLLOWING"),
            FrameBound::Preceding(offset) | FrameBound::Following(offset) => {
                self.expr(offset, false);
                self.push(if matches!(bound, FrameBound::Preceding(_)) { " PRECEDING" } else { " FOLLOWING" });
            }
        }
    }

    pub(super) fn sort_keys(&mut self, keys: &'q [SortKey]) {
        for (at, key) in keys.iter().enumerate() {
            if at > 0 {
                self.push(", ");
            }
            self.sort_expr(&key.expr);
            self.push(direction(key));
        }
    }

    /// Whether the expression is shown as a call of a function, or as a conversion by one.
    fn is_call_here(&self, expr: &Expr) -> bool {
        match &expr.kind {
            ExprKind::UserCall { .. } => true,
            ExprKind::Call { function, .. } => {
                !is_symbol(function.name) && !matches!(function.name, collate::MARK | collate::KEY)
            }
            ExprKind::Cast { arg, .. } => cast::has_function(arg.ty(), expr.ty(), self.env.catalog()),
            ExprKind::Column(column) => {
                let made = self.frame(column.up).and_then(|(_, frame)| match frame.slots.get(column.slot)? {
                    Slot::Made { parts, .. } => parts.get(column.column).cloned(),
                    _ => None,
                });
                match made {
                    Some(Part::Aggregate(_) | Part::Window(_)) => true,
                    Some(Part::Expr(inner)) => !matches!(inner.kind, ExprKind::Column(_)) && self.is_call_here(inner),
                    _ => false,
                }
            }
            _ => false,
        }
    }

    /// What is sorted by; a constant would be taken for the number of a column.
    pub(super) fn sort_expr(&mut self, expr: &'q Expr) {
        let is_enclosed = match &expr.kind {
            ExprKind::Const(_) | ExprKind::Param(_) | ExprKind::Variable(_) => false,
            _ => self.is_call_here(expr),
        };
        if is_enclosed {
            self.push("(");
        }
        self.expr(expr, true);
        if is_enclosed {
            self.push(")");
        }
        if let ExprKind::Const(Datum::Int(0..)) = &expr.kind
            && expr.ty() == Type::INT4
        {
            self.push("::integer");
        }
    }
}

pub(super) fn direction(key: &SortKey) -> &'static str {
    match (key.descending, key.nulls_first) {
        (false, false) => "",
        (false, true) => " NULLS FIRST",
        (true, true) => " DESC",
        (true, false) => " DESC NULLS LAST",
    }
}

/// What is converted, if all items are, from one type to one other: then the array is.
fn converted(items: &[Expr]) -> Option<(Vec<&Expr>, Typed)> {
    let inner = |item: &'_ Expr| match &item.kind {
        ExprKind::Cast { arg, .. } if arg.ty() != Type::UNKNOWN => Some((arg.ty(), item.ty())),
        _ => None,
    };
    let first = inner(items.first()?)?;
    if items.iter().any(|item| inner(item) != Some(first)) {
        return None;
    }
    let args = items.iter().filter_map(|item| match &item.kind {
        ExprKind::Cast { arg, .. } => Some(&**arg),
        _ => None,
    });
    Some((args.collect(), items[0].typed))
}

/// Whether a function is an operator.
pub(super) fn is_symbol(name: &str) -> bool {
    !name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
}
