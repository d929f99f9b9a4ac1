//! Definitions of objects as text, comments, sizes.

use crate::catalog::{Catalog, Oid, Relation, RelationKind, Timing, Trigger, TriggerTime, UserTypeKind};
use crate::deparse::definition;
use crate::deparse::node::Node;
use crate::deparse::{self, Style};
use crate::error::{Result, SqlError};
use crate::functions::args::Args;
use crate::functions::define::{f, table};
use crate::functions::{Env, Function, Site};
use crate::types::{Datum, Type as T, names, quote};

/// The functions.
pub static FUNCTIONS: &[Function] = &[
    f("pg_get_indexdef", &[T::OID], T::TEXT, |env, args, _| indexdef(env, args, false)).stable(),
    f("pg_get_indexdef", &[T::OID, T::INT4, T::BOOL], T::TEXT, indexdef_column).stable(),
    f("pg_get_constraintdef", &[T::OID], T::TEXT, |env, args, _| constraintdef(env, args, false)).stable(),
    f("pg_get_constraintdef", &[T::OID, T::BOOL], T::TEXT, |env, args, _| constraintdef(env, args, args.bool(1)?))
        .stable(),
    f("pg_get_expr", &[T::PG_NODE_TREE, T::OID], T::TEXT, |env, args, _| expr(env, args, false)).stable(),
    f("pg_get_expr", &[T::PG_NODE_TREE, T::OID, T::BOOL], T::TEXT, |env, args, _| expr(env, args, args.bool(2)?))
        .stable(),
    f("pg_get_viewdef", &[T::OID], T::TEXT, |env, args, _| viewdef(env, args, false)).stable(),
    f("pg_get_viewdef", &[T::OID, T::BOOL], T::TEXT, |env, args, _| viewdef(env, args, args.bool(1)?)).stable(),
    f("pg_get_viewdef", &[T::TEXT], T::TEXT, |env, args, _| viewdef_named(env, args, false)).stable(),
    f("pg_get_viewdef", &[T::TEXT, T::BOOL], T::TEXT, |env, args, _| viewdef_named(env, args, args.bool(1)?)).stable(),
    f("pg_get_ruledef", &[T::OID], T::TEXT, nothing).stable(),
    f("pg_get_ruledef", &[T::OID, T::BOOL], T::TEXT, nothing).stable(),
    f("pg_get_triggerdef", &[T::OID], T::TEXT, |env, args, _| triggerdef(env, args, false)).stable(),
    f("pg_get_triggerdef", &[T::OID, T::BOOL], T::TEXT, |env, args, _| triggerdef(env, args, args.bool(1)?)).stable(),
    f("pg_get_statisticsobjdef_columns", &[T::OID], T::TEXT, nothing).stable(),
    f("pg_get_partkeydef", &[T::OID], T::TEXT, nothing).stable(),
    f("pg_get_partition_constraintdef", &[T::OID], T::TEXT, nothing).stable(),
    f("obj_description", &[T::OID, T::NAME], T::TEXT, obj_description).stable(),
    f("obj_description", &[T::OID], T::TEXT, any_description).stable(),
    f("col_description", &[T::OID, T::INT4], T::TEXT, col_description).stable(),
    f("shobj_description", &[T::OID, T::NAME], T::TEXT, nothing).stable(),
    f("to_regclass", &[T::TEXT], T::REGCLASS, to_regclass).stable(),
    f("to_regtype", &[T::TEXT], T::REGTYPE, to_regtype).stable(),
    f("pg_relation_size", &[T::REGCLASS], T::INT8, size).volatile(),
    f("pg_relation_size", &[T::REGCLASS, T::TEXT], T::INT8, size).volatile(),
    f("pg_total_relation_size", &[T::REGCLASS], T::INT8, size).volatile(),
    f("pg_table_size", &[T::REGCLASS], T::INT8, size).volatile(),
    f("pg_indexes_size", &[T::REGCLASS], T::INT8, size).volatile(),
    f("pg_database_size", &[T::OID], T::INT8, size).volatile(),
    f("pg_database_size", &[T::NAME], T::INT8, size).volatile(),
    f("pg_size_pretty", &[T::INT8], T::TEXT, pretty),
    f("pg_size_pretty", &[T::NUMERIC], T::TEXT, pretty_exact),
    f("pg_relation_filenode", &[T::REGCLASS], T::OID, |_, args, _| Ok(args.at(0).clone())).stable(),
    f("pg_index_column_has_property", &[T::REGCLASS, T::INT4, T::TEXT], T::BOOL, |_, _, _| Ok(Datum::Bool(true)))
        .stable(),
    f("pg_column_is_updatable", &[T::REGCLASS, T::INT2, T::BOOL], T::BOOL, |_, _, _| Ok(Datum::Bool(true))).stable(),
    table(
        "pg_options_to_table",
        &[T::TEXT_ARRAY],
        &[("option_name", T::TEXT), ("option_value", T::TEXT)],
        |_, _, _| Ok(Vec::new()),
    )
    .stable(),
    f("pg_describe_object", &[T::OID, T::OID, T::INT4], T::TEXT, nothing).stable(),
    table(
        "pg_partition_tree",
        &[T::REGCLASS],
        &[("relid", T::REGCLASS), ("parentrelid", T::REGCLASS), ("isleaf", T::BOOL), ("level", T::INT4)],
        |_, args, _| Ok(vec![vec![args.at(0).clone(), Datum::Null, Datum::Bool(true), Datum::Int(0)]]),
    )
    .volatile(),
    table("pg_partition_ancestors", &[T::REGCLASS], &[("relid", T::REGCLASS)], |_, args, _| {
        Ok(vec![vec![args.at(0).clone()]])
    })
    .volatile(),
];

/// The conditions of the domains in `information_schema`.
const INITIAL_CHECKS: [(Oid, &str); 2] = [
    (13222, "CHECK ((VALUE >= 0))"),
    (13235, "CHECK (((VALUE)::text = ANY ((ARRAY['YES'::character varying, 'NO'::character varying])::text[])))"),
];

/// Those of the schema `information_schema`.
pub static INFORMATION: &[Function] =
    &[table("_pg_expandarray", &[T::ANYARRAY], &[("x", T::ANYELEMENT), ("n", T::INT4)], expand)];

pub(super) fn number(args: &[Datum]) -> Result<Oid> {
    Ok(u32::try_from(args.int(0)?).unwrap_or_default())
}

pub(super) fn some(text: Option<String>) -> Result<Datum> {
    Ok(text.map_or(Datum::Null, Datum::text))
}

fn nothing(_: &mut dyn Env, _: &[Datum], _: &Site<'_>) -> Result<Datum> {
    Ok(Datum::Null)
}

fn visible(env: &dyn Env, relation: &Relation) -> bool {
    let catalog = env.catalog();
    let path = names::search_path(env);
    let first = path.into_iter().find(|schema| catalog.relation_in(*schema, &relation.name).is_some());
    first == Some(relation.schema)
}

fn indexdef(env: &mut dyn Env, args: &[Datum], pretty: bool) -> Result<Datum> {
    let catalog = env.catalog();
    let Some(relation) = catalog.relation(number(args)?) else { return Ok(Datum::Null) };
    let RelationKind::Index(index) = &relation.kind else { return Ok(Datum::Null) };
    let plain = pretty && catalog.relation(index.table).is_some_and(|table| visible(env, table));
    Ok(Datum::text(definition::index(env, relation, plain, style(pretty))))
}

fn indexdef_column(env: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    let at = args.int(1)?;
    if at == 0 {
        return indexdef(env, args, args.bool(2)?);
    }
    let catalog = env.catalog();
    let Some(RelationKind::Index(index)) = catalog.relation(number(args)?).map(|relation| &relation.kind) else {
        return Ok(Datum::Null);
    };
    let Some(table) = catalog.table(index.table) else { return Ok(Datum::Null) };
    let at = usize::try_from(at - 1).unwrap_or(usize::MAX);
    let Some(owner) = catalog.relation(index.table) else { return Ok(Datum::Null) };
    let key = match index.keys.get(at) {
        Some(key) => Some(definition::index_column(env, key, owner, style(args.bool(2)?))),
        None => None,
    };
    let included = || {
        let position = index.include.get(at.checked_sub(index.keys.len())?)?;
        Some(quote::identifier(&table.columns[*position].name))
    };
    some(key.or_else(included))
}

fn constraintdef(env: &mut dyn Env, args: &[Datum], pretty: bool) -> Result<Datum> {
    let oid = number(args)?;
    let catalog = env.catalog();
    for relation in catalog.relations.values() {
        match &relation.kind {
            RelationKind::Table(table) => {
                if let Some(check) = table.checks.iter().find(|check| check.oid == oid) {
                    let shown = deparse::expression(env, &check.condition, Some(relation), style(pretty));
                    return some(Some(definition::check(&shown) + not_valid(check.validated)));
                }
                if let Some(key) = table.foreign_keys.iter().find(|key| key.oid == oid) {
                    let text = definition::foreign_key(key, table, catalog, |parent| visible(env, parent));
                    return some(Some(text + not_valid(key.validated)));
                }
            }
            RelationKind::Index(index) => {
                if let (Some(made), Some(table)) = (index.constraint, catalog.table(index.table))
                    && made.oid == oid
                {
                    return some(Some(definition::unique(index, made, table)));
                }
            }
            _ => {}
        }
    }
    if let Some((_, text)) = INITIAL_CHECKS.iter().find(|(known, _)| *known == oid) {
        return some(Some((*text).to_owned()));
    }
    let domain = catalog.types.values().find_map(|user| match &user.kind {
        UserTypeKind::Domain { checks, .. } => checks.iter().find(|check| check.oid == oid),
        _ => None,
    });
    some(domain.map(|check| definition::check(&deparse::expression(env, &check.condition, None, style(pretty)))))
}

/// What stands in the place of a node tree is which expression it is.
fn expr(env: &mut dyn Env, args: &[Datum], pretty: bool) -> Result<Datum> {
    let node = args.text(0)?;
    Ok(match Node::read(node) {
        Some(node) => node.shown(env, style(pretty)).map_or(Datum::Null, Datum::text),
        None => args.at(0).clone(),
    })
}

fn style(pretty: bool) -> Style {
    if pretty { Style::Pretty } else { Style::Plain }
}

fn viewdef(env: &mut dyn Env, args: &[Datum], pretty: bool) -> Result<Datum> {
    some(deparse::view_definition(env, number(args)?, style(pretty)))
}

fn viewdef_named(env: &mut dyn Env, args: &[Datum], pretty: bool) -> Result<Datum> {
    let view = super::relation(args.text(0)?, env)?;
    some(deparse::view_definition(env, view, style(pretty)))
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

fn triggerdef(env: &mut dyn Env, args: &[Datum], pretty: bool) -> Result<Datum> {
    let oid = number(args)?;
    for relation in env.catalog().relations.values() {
        if let RelationKind::Table(table) = &relation.kind
            && let Some(trigger) = table.triggers.iter().find(|trigger| trigger.oid == oid)
        {
            return some(Some(trigger_text(env, relation, trigger, pretty)));
        }
    }
    Ok(Datum::Null)
}

/// The number of the catalog with this name.
fn class(name: &str) -> Oid {
    match name {
        "pg_class" => 1259,
        "pg_type" => 1247,
        "pg_proc" => 1255,
        "pg_namespace" => 2615,
        "pg_constraint" => 2606,
        "pg_trigger" => 2620,
        "pg_extension" => 3079,
        _ => 0,
    }
}

fn described(env: &dyn Env, class: Oid, object: Oid, column: i32) -> Datum {
    env.catalog().comments.get(&(class, object, column)).map_or(Datum::Null, Datum::text)
}

fn obj_description(env: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    Ok(described(env, class(args.text(1)?), number(args)?, 0))
}

fn any_description(env: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    let object = number(args)?;
    let mut comments = env.catalog().comments.iter();
    Ok(comments
        .find(|((_, of, column), _)| *of == object && *column == 0)
        .map_or(Datum::Null, |(_, it)| Datum::text(it)))
}

fn col_description(env: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    Ok(described(env, 1259, number(args)?, args.int4(1)?))
}

fn to_regclass(env: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    Ok(super::relation(args.text(0)?, env).map_or(Datum::Null, |oid| Datum::Int(oid.into())))
}

fn to_regtype(env: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    Ok(names::parse(args.text(0)?, env).map_or(Datum::Null, |typed| Datum::Int(typed.ty.0.into())))
}

/// Sizes on disk are made up: nothing is on disk.
fn size(_: &mut dyn Env, _: &[Datum], _: &Site<'_>) -> Result<Datum> {
    Ok(Datum::Int(8192))
}

fn pretty(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    let mut size = i128::from(args.int(0)?);
    let mut unit = "bytes";
    for next in ["kB", "MB", "GB", "TB", "PB"] {
        if size.unsigned_abs() < 10 * 1024 {
            break;
        }
        size = (size + 512 * size.signum()) / 1024;
        unit = next;
    }
    Ok(Datum::text(format!("{size} {unit}")))
}

fn pretty_exact(env: &mut dyn Env, args: &[Datum], site: &Site<'_>) -> Result<Datum> {
    let size = args.numeric(0)?.to_string().parse();
    let size = size.map_err(|_| SqlError::unsupported("pg_size_pretty of a number that is not a whole one"))?;
    pretty(env, &[Datum::Int(size)], site)
}

fn expand(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Vec<Vec<Datum>>> {
    let Datum::Array(array) = args.at(0) else { return Ok(Vec::new()) };
    let numbered = (1..).zip(&array.items);
    Ok(numbered.map(|(at, item)| vec![item.clone(), Datum::Int(at)]).collect())
}

fn not_valid(validated: bool) -> &'static str {
    if validated { "" } else { " NOT VALID" }
}
