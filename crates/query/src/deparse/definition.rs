//! The definitions of indexes and constraints as statements, as `pg_get_indexdef` and `pg_get_constraintdef` show them.

use crate::catalog::{
    Action, Catalog, ForeignKey, Index, IndexConstraint, IndexKey, IndexKeyKind, Oid, Relation, RelationKind, Table,
    Timing,
};
use crate::deparse::{self, Style};
use crate::functions::{Env, collate};
use crate::ir::{Expr, ExprKind, children};
use crate::types::quote::identifier;
use crate::types::{Datum, collation};

/// `CREATE INDEX …`; `plain` names the table without its schema.
pub fn index(env: &dyn Env, relation: &Relation, plain: bool, style: Style) -> String {
    let catalog = env.catalog();
    let RelationKind::Index(index) = &relation.kind else { return String::new() };
    let Some(rows) = catalog.relation(index.table) else { return String::new() };
    let Some(owner) = catalog.shown(index.table) else { return String::new() };
    let Some(table) = catalog.table(index.table) else { return String::new() };
    let schema = catalog.schemas.get(&owner.schema).map_or("public", |schema| &schema.name);
    let unique = if index.unique { "UNIQUE " } else { "" };
    let keys: Vec<String> = index.keys.iter().map(|key| index_key(env, key, rows, style)).collect();
    let schema = if plain { String::new() } else { format!("{}.", identifier(schema)) };
    let mut text = format!(
        "CREATE {unique}INDEX {} ON {schema}{} USING {} ({})",
        identifier(&relation.name),
        identifier(&owner.name),
        index.method,
        keys.join(", ")
    );
    if !index.include.is_empty() {
        text += &format!(" INCLUDE ({})", columns(table, &index.include));
    }
    if index.nulls_not_distinct {
        text += " NULLS NOT DISTINCT";
    }
    if let Some(predicate) = &index.predicate {
        text += &format!(" WHERE {}", deparse::expression(env, predicate, Some(rows), style));
    }
    text
}

/// One key of an index, without its order.
pub(crate) fn index_column(env: &dyn Env, key: &IndexKey, owner: &Relation, style: Style) -> String {
    match &key.what {
        IndexKeyKind::Column(position) => match &owner.kind {
            RelationKind::Table(table) => identifier(&table.columns[*position].name),
            _ => String::new(),
        },
        IndexKeyKind::Expr(expr) => {
            let shown = deparse::expression(env, expr, Some(owner), style);
            if deparse::is_call(&expr.expr) { shown } else { format!("({shown})") }
        }
    }
}

fn index_key(env: &dyn Env, key: &IndexKey, owner: &Relation, style: Style) -> String {
    let mut text = index_column(env, key, owner, style);
    let own = match &owner.kind {
        RelationKind::Table(table) => own_collation(key, table),
        _ => 0,
    };
    if key.collation != own && key.collation != 0 {
        let name = collation::name(key.collation, env.catalog()).unwrap_or_default();
        text += &format!(" COLLATE {}", identifier(&name));
    }
    if let Some(class) = &key.class {
        text += &format!(" {class}");
    }
    match (key.descending, key.nulls_first) {
        (false, false) => {}
        (false, true) => text += " NULLS FIRST",
        (true, true) => text += " DESC",
        (true, false) => text += " DESC NULLS LAST",
    }
    text
}

/// The collation that a key of an index has if none is said; 0 is the database's.
pub fn own_collation(key: &IndexKey, table: &Table) -> Oid {
    match &key.what {
        IndexKeyKind::Column(at) => table.columns[*at].collation,
        IndexKeyKind::Expr(stored) => collation_within(&stored.expr, table),
    }
}

fn collation_within(expr: &Expr, table: &Table) -> Oid {
    match &expr.kind {
        ExprKind::Column(column) => table.columns.get(column.column).map_or(0, |column| column.collation),
        ExprKind::Call { function, args } if function.name == collate::MARK => match args.get(1).map(|arg| &arg.kind) {
            Some(ExprKind::Const(Datum::Int(oid))) => Oid::try_from(*oid).unwrap_or(0),
            _ => 0,
        },
        _ => {
            let mut found = 0;
            children(expr, &mut |child| {
                if found == 0 {
                    found = collation_within(child, table);
                }
            });
            found
        }
    }
}

fn columns(table: &Table, positions: &[usize]) -> String {
    positions.iter().map(|&at| identifier(&table.columns[at].name)).collect::<Vec<_>>().join(", ")
}

fn deferrable(timing: Timing) -> &'static str {
    match timing {
        Timing::Immediate => "",
        Timing::DeferrableImmediate => " DEFERRABLE",
        Timing::DeferrableDeferred => " DEFERRABLE INITIALLY DEFERRED",
    }
}

/// `PRIMARY KEY (…)`, `UNIQUE (…)`
pub fn unique(index: &Index, made: IndexConstraint, table: &Table) -> String {
    let word = if made.primary { "PRIMARY KEY" } else { "UNIQUE" };
    let nulls = if index.nulls_not_distinct { " NULLS NOT DISTINCT" } else { "" };
    let keys = index.keys.iter().filter_map(|key| match &key.what {
        IndexKeyKind::Column(position) => Some(identifier(&table.columns[*position].name)),
        IndexKeyKind::Expr(_) => None,
    });
    let keys: Vec<String> = keys.collect();
    let include = match index.include.as_slice() {
        [] => String::new(),
        include => format!(" INCLUDE ({})", columns(table, include)),
    };
    format!("{word}{nulls} ({}){include}{}", keys.join(", "), deferrable(made.timing))
}

/// `FOREIGN KEY (…) REFERENCES …`; the other table is shown with its schema unless that is on the path.
pub fn foreign_key(key: &ForeignKey, table: &Table, catalog: &Catalog, visible: impl Fn(&Relation) -> bool) -> String {
    let Some(parent) = catalog.relation(key.parent) else { return String::new() };
    let Some(parent_table) = catalog.table(key.parent) else { return String::new() };
    let schema = catalog.schemas.get(&parent.schema).map_or("public", |schema| &schema.name);
    let name = identifier(&parent.name);
    let name = if visible(parent) { name } else { format!("{}.{name}", identifier(schema)) };
    let mut text = format!(
        "FOREIGN KEY ({}) REFERENCES {name}({})",
        columns(table, &key.columns),
        columns(parent_table, &key.parent_columns)
    );
    if key.match_full {
        text += " MATCH FULL";
    }
    let action = |word: &str, action: Action| match action {
        Action::NoAction => String::new(),
        Action::Restrict => format!(" ON {word} RESTRICT"),
        Action::Cascade => format!(" ON {word} CASCADE"),
        Action::SetNull => format!(" ON {word} SET NULL"),
        Action::SetDefault => format!(" ON {word} SET DEFAULT"),
    };
    text + &action("UPDATE", key.on_update) + &action("DELETE", key.on_delete) + deferrable(key.timing)
}

/// `CHECK (…)`
pub fn check(condition: &str) -> String {
    format!("CHECK ({condition})")
}
