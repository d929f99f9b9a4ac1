//! Indexes, constraints and triggers as the statements that make them.

use crate::catalog::{Catalog, Oid, Relation, RelationKind, Timing, Trigger, TriggerTime, UserTypeKind};
use crate::deparse::node::Node;
use crate::deparse::{self, Style, definition};
use crate::functions::Env;
use crate::types::{names, quote};

/// The conditions of the domains in `information_schema`.
const INITIAL_CHECKS: [(Oid, &str); 2] = [
    (13222, "CHECK ((VALUE >= 0))"),
    (13235, "CHECK (((VALUE)::text = ANY ((ARRAY['YES'::character varying, 'NO'::character varying])::text[])))"),
];

fn visible(env: &dyn Env, relation: &Relation) -> bool {
    let catalog = env.catalog();
    let path = names::search_path(env);
    let first = path.into_iter().find(|schema| catalog.relation_in(*schema, &relation.name).is_some());
    first == Some(relation.schema)
}

/// An index.
pub(super) fn index(env: &dyn Env, oid: Oid, pretty: bool) -> Option<String> {
    let catalog = env.catalog();
    let relation = catalog.relation(oid)?;
    let RelationKind::Index(index) = &relation.kind else { return None };
    let plain = pretty && catalog.relation(index.table).is_some_and(|table| visible(env, table));
    Some(definition::index(env, relation, plain, style(pretty)))
}

/// One column of an index, counted from one; zero is all of it.
pub(super) fn index_column(env: &dyn Env, oid: Oid, at: i64, pretty: bool) -> Option<String> {
    if at == 0 {
        return index(env, oid, pretty);
    }
    let catalog = env.catalog();
    let RelationKind::Index(index) = &catalog.relation(oid)?.kind else { return None };
    let table = catalog.table(index.table)?;
    let at = usize::try_from(at - 1).unwrap_or(usize::MAX);
    let owner = catalog.relation(index.table)?;
    if let Some(key) = index.keys.get(at) {
        return Some(definition::index_column(env, key, owner, style(pretty)));
    }
    let position = index.include.get(at.checked_sub(index.keys.len())?)?;
    Some(quote::identifier(&table.columns[*position].name))
}

/// A constraint.
pub(super) fn constraint(env: &dyn Env, oid: Oid, pretty: bool) -> Option<String> {
    let catalog = env.catalog();
    for relation in catalog.relations.values() {
        match &relation.kind {
            RelationKind::Table(table) => {
                if let Some(check) = table.checks.iter().find(|check| check.oid == oid) {
                    let shown = deparse::expression(env, &check.condition, Some(relation), style(pretty));
                    return Some(definition::check(&shown) + not_valid(check.validated));
                }
                if let Some(key) = table.foreign_keys.iter().find(|key| key.oid == oid) {
                    let text = definition::foreign_key(key, table, catalog, |parent| visible(env, parent));
                    return Some(text + not_valid(key.validated));
                }
            }
            RelationKind::Index(index) => {
                if let (Some(made), Some(table)) = (index.constraint, catalog.table(index.table))
                    && made.oid == oid
                {
                    return Some(definition::unique(index, made, table));
                }
            }
            _ => {}
        }
    }
    if let Some((_, text)) = INITIAL_CHECKS.iter().find(|(known, _)| *known == oid) {
        return Some((*text).to_owned());
    }
    let domain = catalog.types.values().find_map(|user| match &user.kind {
        UserTypeKind::Domain { checks, .. } => checks.iter().find(|check| check.oid == oid),
        _ => None,
    });
    domain.map(|check| definition::check(&deparse::expression(env, &check.condition, None, style(pretty))))
}

/// What stands in the place of a node tree in a table of `pg_catalog`: which expression it is.
pub(super) fn node(env: &dyn Env, text: &str, pretty: bool) -> Option<String> {
    match Node::read(text) {
        Some(node) => node.shown(env, style(pretty)),
        None => Some(text.to_owned()),
    }
}

pub(super) fn style(pretty: bool) -> Style {
    if pretty { Style::Pretty } else { Style::Plain }
}

/// A trigger.
pub(super) fn trigger(env: &dyn Env, oid: Oid, pretty: bool) -> Option<String> {
    env.catalog().relations.values().find_map(|relation| {
        let RelationKind::Table(table) = &relation.kind else { return None };
        let trigger = table.triggers.iter().find(|trigger| trigger.oid == oid)?;
        Some(trigger_text(env, relation, trigger, pretty))
    })
}

fn trigger_text(env: &dyn Env, relation: &Relation, trigger: &Trigger, pretty: bool) -> String {
    let catalog = env.catalog();
    let when = match trigger.when {
        TriggerTime::Before => "BEFORE",
        TriggerTime::After => "AFTER",
        TriggerTime::InsteadOf => "INSTEAD OF",
    };
    let mut events = Vec::new();
    if trigger.insert {
        events.push("INSERT".to_owned());
    }
    if trigger.delete {
        events.push("DELETE".to_owned());
    }
    if let (Some(columns), Some(table)) = (&trigger.update, catalog.table(relation.oid)) {
        let names: Vec<String> = columns.iter().map(|&at| quote::identifier(&table.columns[at].name)).collect();
        events.push(if names.is_empty() { "UPDATE".to_owned() } else { format!("UPDATE OF {}", names.join(", ")) });
    }
    if trigger.truncate {
        events.push("TRUNCATE".to_owned());
    }
    let table = match pretty && visible(env, relation) {
        true => quote::identifier(&relation.name),
        false => in_schema(catalog, relation.schema, &relation.name),
    };
    let function = catalog.functions.get(&trigger.function).map_or_else(String::new, |function| {
        match names::search_path(env).contains(&function.schema) {
            true => quote::identifier(&function.name),
            false => in_schema(catalog, function.schema, &function.name),
        }
    });
    let arguments: Vec<String> = trigger.arguments.iter().map(|argument| quote::literal(argument)).collect();
    let condition = trigger.condition.as_ref().map_or_else(String::new, |it| {
        format!("WHEN ({}) ", deparse::trigger_condition(env, it, relation, style(pretty)))
    });
    let (constraint, timing) = match trigger.timing {
        None => ("", ""),
        Some(Timing::Immediate) => ("CONSTRAINT ", " NOT DEFERRABLE INITIALLY IMMEDIATE"),
        Some(Timing::DeferrableImmediate) => ("CONSTRAINT ", " DEFERRABLE INITIALLY IMMEDIATE"),
        Some(Timing::DeferrableDeferred) => ("CONSTRAINT ", " DEFERRABLE INITIALLY DEFERRED"),
    };
    format!(
        "CREATE {constraint}TRIGGER {} {when} {} ON {table}{timing} FOR EACH {} {condition}EXECUTE FUNCTION {function}({})",
        quote::identifier(&trigger.name),
        events.join(" OR "),
        if trigger.each_row { "ROW" } else { "STATEMENT" },
        arguments.join(", ")
    )
}

pub(super) fn in_schema(catalog: &Catalog, schema: Oid, name: &str) -> String {
    let schema = catalog.schemas.get(&schema).map_or("public", |schema| &schema.name);
    format!("{}.{}", quote::identifier(schema), quote::identifier(name))
}

fn not_valid(validated: bool) -> &'static str {
    if validated { "" } else { " NOT VALID" }
}
