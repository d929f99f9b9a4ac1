//! What bodies and the expressions of the schema call, by their bound trees.

use std::collections::{BTreeMap, BTreeSet};

use skew_sql::catalog::{Catalog, IndexKeyKind, Oid, RelationKind, Returns, StoredExpr, UserTypeKind};
use skew_sql::ir::walk::{Descend, look};
use skew_sql::ir::{Expr, ExprKind};
use skew_sql::parse::Statement;
use skew_sql::plpgsql::bound::Program as Body;
use skew_sql::plpgsql::visit::Part;
use skew_sql::session::Connection;

/// What a body calls.
#[derive(Default)]
pub(super) struct Calls {
    /// Users' functions.
    pub(super) functions: BTreeSet<Oid>,
    /// It calls `setval`, runs a statement that may begin a sequence again, or something that is not known before it runs.
    pub(super) may_set_sequences: bool,
}

impl Calls {
    /// What the bodies of all functions call; those of triggers for each table that has the trigger.
    pub(super) fn of_all(catalog: &Catalog, connection: &mut Connection) -> BTreeMap<Oid, Calls> {
        let mut all: BTreeMap<Oid, Calls> = BTreeMap::new();
        for function in catalog.functions.values() {
            let calls = all.entry(function.oid).or_default();
            for default in function.parameters.iter().filter_map(|parameter| parameter.default.as_ref()) {
                calls.expr(&default.expr);
            }
            if matches!(function.returns, Returns::Trigger) {
                continue;
            }
            match connection.program_of(function.oid, None) {
                Ok(body) => calls.body(&body),
                Err(_) => calls.may_set_sequences = true,
            }
        }
        for relation in catalog.relations.values() {
            let RelationKind::Table(table) = &relation.kind else { continue };
            for trigger in &table.triggers {
                let calls = all.entry(trigger.function).or_default();
                match connection.program_of(trigger.function, Some(relation.oid)) {
                    Ok(body) => calls.body(&body),
                    Err(_) => calls.may_set_sequences = true,
                }
            }
        }
        all
    }

    fn body(&mut self, body: &Body) {
        body.parts(&mut |part| match part {
            Part::Value(value) => match value.bound() {
                Some(bound) => self.expr(&bound.expr),
                None => self.may_set_sequences = true,
            },
            Part::Sql(sql) => match sql.bound() {
                Some(bound) => look::query(&bound.query, 0, &mut |expr, _| Ok(self.node(expr))).unwrap_or_default(),
                None => self.may_set_sequences = true,
            },
            Part::Call(call) => match call.get() {
                Some(call) => {
                    self.functions.insert(call.procedure.oid);
                    call.args.iter().for_each(|arg| self.expr(arg));
                }
                None => self.may_set_sequences = true,
            },
            // ALTER SEQUENCE … RESTART, TRUNCATE … RESTART IDENTITY and whatever else changes the schema.
            Part::Utility(statement) => self.may_set_sequences |= matches!(statement, Statement::Schema(_)),
            Part::Dynamic => self.may_set_sequences = true,
        });
    }

    fn expr(&mut self, expr: &Expr) {
        look::expr(expr, 0, &mut |expr, _| Ok(self.node(expr))).unwrap_or_default();
    }

    fn node(&mut self, expr: &Expr) -> Descend {
        match &expr.kind {
            ExprKind::UserCall { function, .. } => drop(self.functions.insert(function.oid)),
            ExprKind::Call { function, .. } => self.may_set_sequences |= function.name == "setval",
            _ => {}
        }
        Descend::Yes
    }
}

/// Whether an expression or a view of the schema sets a sequence.
pub(super) fn schema_sets_sequences(catalog: &Catalog) -> bool {
    let mut calls = Calls::default();
    let mut each = |stored: &StoredExpr| calls.expr(&stored.expr);
    for relation in catalog.relations.values() {
        match &relation.kind {
            RelationKind::Table(table) => {
                table.columns.iter().filter_map(|column| column.default.as_deref()).for_each(&mut each);
                table.triggers.iter().filter_map(|trigger| trigger.condition.as_deref()).for_each(&mut each);
                table.checks.iter().for_each(|check| each(&check.condition));
            }
            RelationKind::Index(index) => {
                for key in &index.keys {
                    if let IndexKeyKind::Expr(expr) = &key.what {
                        each(expr);
                    }
                }
                index.predicate.as_deref().into_iter().for_each(&mut each);
            }
            RelationKind::View(_) | RelationKind::Sequence(_) => {}
        }
    }
    for user in catalog.types.values() {
        if let UserTypeKind::Domain { default, checks, .. } = &user.kind {
            default.as_deref().into_iter().for_each(&mut each);
            checks.iter().for_each(|check| each(&check.condition));
        }
    }
    for relation in catalog.relations.values() {
        if let RelationKind::View(view) = &relation.kind {
            let query = &view.query.query;
            look::query(query, 0, &mut |expr, _| Ok(calls.node(expr))).unwrap_or_default();
        }
    }
    calls.may_set_sequences
}
