//! Bound expressions and queries of the schema as SQL text, with the names that their objects have now.
//!
//! The text is what PostgreSQL's `pg_get_expr`, `pg_get_viewdef` and their like show (its `ruleutils.c` is the model, line
//! breaks and parentheses included), and it means the same when it is bound again. *Pretty* text leaves out the parentheses
//! that precedence makes superfluous.
//!
//! - `expr`: expressions
//! - `simple`: which operands need parentheses in pretty text
//! - `query`: queries
//! - `from`: the items of FROM
//! - `change`: INSERT, UPDATE, DELETE, MERGE
//! - `definition`: indexes and constraints as statements
//! - `relation`: indexes, constraints and triggers by number; `routine`: functions
//! - `node`: which expression stands in a table of `pg_catalog`

mod change;
pub mod definition;
mod expr;
mod from;
pub mod node;
mod query;
mod relation;
mod routine;
mod simple;

use std::rc::Rc;
use std::sync::Arc;

use crate::catalog::{Oid, Relation, RelationKind, StoredExpr, UserFunction};
use crate::functions::{Definition, Env, Function, collate, extension};
use crate::ir::{AggregateCall, Expr, ExprKind, WindowCall};
use crate::types::{names, quote};

/// Whether parentheses that are not needed are left out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Style {
    Plain,
    Pretty,
}

/// An object as text; none if there is no such object.
pub fn object(env: &dyn Env, what: Definition<'_>, pretty: bool) -> Option<String> {
    match what {
        Definition::Index(oid) => relation::index(env, oid, pretty),
        Definition::IndexColumn(oid, at) => relation::index_column(env, oid, at, pretty),
        Definition::Constraint(oid) => relation::constraint(env, oid, pretty),
        Definition::Trigger(oid) => relation::trigger(env, oid, pretty),
        Definition::View(oid) => view_definition(env, oid, relation::style(pretty)),
        Definition::Node(text) => relation::node(env, text, pretty),
        Definition::Function(oid) => routine::function(env, oid),
        Definition::Arguments { function, defaults } => routine::arguments(env, function, defaults),
        Definition::ArgumentDefault(oid, place) => routine::argument_default(env, oid, place),
        Definition::Result(oid) => routine::result(env, oid),
        Definition::Body(oid) => routine::body(env, oid),
    }
}

/// An expression over a row of a table, or over no row at all.
pub fn expression(env: &dyn Env, stored: &StoredExpr, row: Option<&Relation>, style: Style) -> String {
    let mut text = Deparse::new(env, style);
    if let Some(relation) = row {
        text.frames.push(Rc::new(Frame { slots: vec![Slot::Row { prefix: None, columns: columns_of(relation) }] }));
    }
    text.expr(&stored.expr, false);
    text.out
}

/// The WHEN of a trigger.
pub(crate) fn trigger_condition(env: &dyn Env, stored: &StoredExpr, relation: &Relation, style: Style) -> String {
    let mut text = Deparse::new(env, style);
    let row = |prefix| Slot::Row { prefix: Some(prefix), columns: columns_of(relation) };
    text.frames.push(Rc::new(Frame { slots: vec![row("old"), row("new")] }));
    text.expr(&stored.expr, false);
    text.out
}

/// A view's query.
pub fn view_definition(env: &dyn Env, view: Oid, style: Style) -> Option<String> {
    let RelationKind::View(view) = &env.catalog().relation(view)?.kind else { return None };
    let columns: Vec<Arc<str>> = view.columns.iter().map(|(name, _)| name.clone()).collect();
    let mut text = Deparse::new(env, style);
    text.query(&view.query.query, Some(&columns));
    text.out.push(';');
    Some(text.out)
}

/// `BEGIN ATOMIC … END` or `RETURN …`; none for a body that is a string.
pub(crate) fn sql_body(env: &dyn Env, function: &UserFunction) -> Option<String> {
    let statements = function.atomic.as_ref()?;
    let inputs = function.parameters.iter().filter(|parameter| parameter.mode.is_input());
    let named = (function.name.clone(), inputs.map(|parameter| parameter.name.clone()).collect::<Vec<_>>());
    if function.returns_expr
        && let [only] = &**statements
        && let crate::ir::Plan::Project { columns, .. } = &only.query.plan
        && let [value] = columns.as_slice()
    {
        let mut text = Deparse::new(env, Style::Plain);
        text.function = Some(named);
        text.frames.push(Rc::new(Frame { slots: Vec::new() }));
        text.push("RETURN ");
        text.expr(value, false);
        return Some(text.out);
    }
    let mut body = "BEGIN ATOMIC\n".to_owned();
    for statement in statements.iter() {
        let mut text = Deparse::new(env, Style::Plain);
        (text.function, text.indent) = (Some(named.clone()), 1);
        text.query(&statement.query, None);
        if text.incomplete {
            // The names may be old ones, but this is what was written.
            return Some(format!("BEGIN ATOMIC\n{}\nEND", function.body));
        }
        body.push_str(&text.out);
        body.push_str(";\n");
    }
    Some(body + "END")
}

/// The columns of a relation by their positions, dropped ones included.
fn columns_of(relation: &Relation) -> Vec<Arc<str>> {
    match &relation.kind {
        RelationKind::Table(table) => table.columns.iter().map(|column| column.name.clone()).collect(),
        RelationKind::View(view) => view.columns.iter().map(|(name, _)| name.clone()).collect(),
        RelationKind::Index(_) | RelationKind::Sequence(_) => Vec::new(),
    }
}

/// What the slots of a tuple are called.
#[derive(Debug)]
struct Frame<'q> {
    slots: Vec<Slot<'q>>,
}

#[derive(Clone, Debug)]
enum Slot<'q> {
    /// A row outside of a query, whose columns are named alone or after OLD or NEW.
    Row { prefix: Option<&'static str>, columns: Vec<Arc<str>> },
    /// An item of FROM.
    Item { name: Arc<str>, columns: Vec<Arc<str>> },
    /// Values, shown as what makes them of the tuple below.
    Made { parts: Vec<Part<'q>>, below: Rc<Frame<'q>> },
}

/// What makes a value of a slot.
#[derive(Clone, Debug)]
enum Part<'q> {
    Expr(&'q Expr),
    Aggregate(&'q AggregateCall),
    Window(&'q WindowCall),
    Grouping(Vec<&'q Expr>),
}

/// Text that is being written.
struct Deparse<'q> {
    env: &'q dyn Env,
    pretty: bool,
    out: String,
    indent: usize,
    /// The tuples around, the nearest last.
    frames: Vec<Rc<Frame<'q>>>,
    /// Common table expressions: number, name, columns.
    ctes: Vec<(usize, Arc<str>, Vec<Arc<str>>)>,
    /// The tuples of queries around whose names are taken, though they are not seen.
    beside: Vec<Rc<Frame<'q>>>,
    /// The function whose body this is, with the names of its parameters.
    function: Option<(Arc<str>, Vec<Option<Arc<str>>>)>,
    /// The next select list is what a table is given: conversions to the types of its columns are not shown.
    assigned: bool,
    /// Something has no text.
    incomplete: bool,
    /// Whether an item of FROM is being written that may look at what stands left of it.
    lateral: bool,
}

/// How far a clause is indented, and what is within it.
const STEP: isize = 8;
const VARIABLE: usize = 4;

impl<'q> Deparse<'q> {
    fn new(env: &'q dyn Env, style: Style) -> Deparse<'q> {
        Deparse {
            env,
            pretty: style == Style::Pretty,
            out: String::new(),
            indent: 0,
            frames: Vec::new(),
            ctes: Vec::new(),
            beside: Vec::new(),
            function: None,
            assigned: false,
            incomplete: false,
            lateral: false,
        }
    }

    fn push(&mut self, text: &str) {
        self.out.push_str(text);
    }

    /// A word on a new line.
    fn line(&mut self, text: &str, before: isize, after: isize, plus: usize) {
        self.indent = self.indent.saturating_add_signed(before);
        let end = self.out.trim_end_matches(' ').len();
        self.out.truncate(end);
        self.out.push('\n');
        let amount = if self.indent < 40 { self.indent } else { 40 + (self.indent - 40) / 4 % 40 };
        self.out.extend(std::iter::repeat_n(' ', amount + plus));
        self.push(text);
        self.indent = self.indent.saturating_add_signed(after);
    }

    /// What is written, apart from everything before it.
    fn apart(&mut self, write: impl FnOnce(&mut Self)) -> String {
        let before = std::mem::take(&mut self.out);
        write(self);
        std::mem::replace(&mut self.out, before)
    }

    /// How the name of a relation is written.
    fn relation_name(&self, relation: &Relation) -> String {
        let catalog = self.env.catalog();
        let found = names::search_path(self.env)
            .into_iter()
            .find_map(|schema| catalog.relation_in(schema, &relation.name))
            .is_some_and(|found| found.oid == relation.oid);
        let hidden = self.ctes.iter().any(|(_, name, _)| *name == relation.name);
        self.qualified(relation.schema, &relation.name, found && !hidden)
    }

    fn qualified(&self, schema: Oid, name: &str, plain: bool) -> String {
        match self.env.catalog().schemas.get(&schema) {
            Some(schema) if !plain => format!("{}.{}", quote::identifier(&schema.name), quote::identifier(name)),
            _ => quote::identifier(name),
        }
    }

    /// How a built-in function is called; one of an extension, where the search path does not find it, with its schema.
    fn builtin_name(&self, function: &Function) -> String {
        let name = quote::identifier(function.name);
        let catalog = self.env.catalog();
        let Some(schema) = extension::schema_of(function, catalog) else { return name };
        match names::search_path(self.env).contains(&schema) {
            true => name,
            false => self.qualified(schema, function.name, false),
        }
    }

    /// How an operator is written; one of an extension, where the search path does not find it, with its schema.
    fn symbol(&self, operator: &Function) -> String {
        match extension::schema_of(operator, self.env.catalog()) {
            Some(schema) if !names::search_path(self.env).contains(&schema) => {
                let schema = self.env.catalog().schemas.get(&schema).map_or("", |schema| &*schema.name);
                format!("OPERATOR({}.{})", quote::identifier(schema), operator.name)
            }
            _ => operator.name.to_owned(),
        }
    }

    fn function_name(&self, function: &UserFunction) -> String {
        let catalog = self.env.catalog();
        let function = catalog.functions.get(&function.oid).map_or(function, |now| now);
        let inputs = function.input_types();
        let is_same = |other: &UserFunction| other.name == function.name && other.input_types() == inputs;
        let found = names::search_path(self.env).into_iter().find_map(|schema| {
            catalog.functions.values().find(|other| other.schema == schema && is_same(other)).map(|other| other.oid)
        });
        self.qualified(function.schema, &function.name, found == Some(function.oid))
    }

    /// Something that there is no text for.
    fn unknown(&mut self) {
        self.incomplete = true;
        self.push("?");
    }

    /// The names that items have already, in this query and in those around.
    fn is_taken(&self, name: &str) -> bool {
        let mut slots = self.frames.iter().chain(&self.beside).flat_map(|frame| &frame.slots);
        slots.any(|slot| slot_names(slot, name))
    }
}

fn slot_names(slot: &Slot<'_>, wanted: &str) -> bool {
    match slot {
        Slot::Item { name, .. } => **name == *wanted,
        Slot::Made { below, .. } => below.slots.iter().any(|slot| slot_names(slot, wanted)),
        Slot::Row { .. } => false,
    }
}

/// Whether the expression is a call as SQL writes one, which needs no parentheses as the key of an index.
pub fn is_call(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::UserCall { .. } | ExprKind::Coalesce(_) | ExprKind::Extreme { .. } => true,
        ExprKind::Call { function, .. } => {
            !expr::is_symbol(function.name) && !matches!(function.name, collate::MARK | collate::KEY)
        }
        _ => false,
    }
}
