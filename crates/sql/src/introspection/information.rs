//! `information_schema`: tables, columns, constraints, … as the standard names them.

use std::sync::Arc;

use crate::bind::Binder;
use crate::catalog::{
    Action, CheckOption, Column, Generation, IndexKeyKind, Oid, Relation, RelationKind, Returns, TriggerTime,
    UserTypeKind,
};
use crate::deparse::{self, Style};
use crate::error::Result;
use crate::introspection::fill::{Filler, int, text, yes_no};
use crate::introspection::information_initial::{system_columns, system_relations};
use crate::introspection::relations::all;
use crate::introspection::views::schema_name;
use crate::storage::World;
use crate::types::collation::name;
use crate::types::{Datum, Type, Typed, builtin, kind, names};

/// Where an object is: database, schema.
fn place(world: &World<'_>, schema: Oid) -> (Datum, Datum) {
    (text(&world.session.client.database), text(schema_name(world, schema)))
}

pub(super) fn fill(world: &mut World<'_>, name: &str, filler: &mut Filler) -> Result<()> {
    match name {
        "schemata" => schemata(world, filler),
        "tables" => relations(world, filler),
        "columns" => columns(world, filler),
        "views" => views(world, filler),
        "sequences" => sequences(world, filler),
        "table_constraints"
        | "key_column_usage"
        | "constraint_column_usage"
        | "referential_constraints"
        | "check_constraints"
        | "constraint_table_usage" => constraints(world, name, filler),
        "routines" => routines(world, filler),
        "triggers" => triggers(world, filler),
        "domains" | "domain_constraints" => domains(world, name, filler),
        "information_schema_catalog_name" => {
            filler.row(&[("catalog_name", text(&world.session.client.database))]);
        }
        _ => {}
    }
    Ok(())
}

fn schemata(world: &World<'_>, filler: &mut Filler) {
    for schema in world.catalog.schemas.values() {
        filler.row(&[
            ("catalog_name", text(&world.session.client.database)),
            ("schema_name", text(&schema.name)),
            ("schema_owner", text("postgres")),
        ]);
    }
}

fn relations(world: &World<'_>, filler: &mut Filler) {
    for relation in all(world) {
        let temporary = world.catalog.schemas.get(&relation.schema).is_some_and(|schema| schema.temporary);
        let kind = match &relation.kind {
            RelationKind::Table(_) if temporary => "LOCAL TEMPORARY",
            RelationKind::Table(_) => "BASE TABLE",
            RelationKind::View(view) if view.materialized.is_none() => "VIEW",
            _ => continue,
        };
        let (catalog, schema) = place(world, relation.schema);
        let table = matches!(relation.kind, RelationKind::Table(_));
        filler.row(&[
            ("table_catalog", catalog),
            ("table_schema", schema),
            ("table_name", text(&relation.name)),
            ("table_type", text(kind)),
            ("is_insertable_into", yes_no(table)),
            ("is_typed", yes_no(false)),
        ]);
    }
    for (name, schema, view) in system_relations().values() {
        filler.row(&[
            ("table_catalog", text(&world.session.client.database)),
            ("table_schema", text(schema)),
            ("table_name", text(name)),
            ("table_type", text(if *view { "VIEW" } else { "BASE TABLE" })),
            ("is_insertable_into", yes_no(!view)),
            ("is_typed", yes_no(false)),
        ]);
    }
}

fn columns(world: &World<'_>, filler: &mut Filler) {
    for relation in all(world) {
        match &relation.kind {
            RelationKind::Table(table) => {
                for (at, column) in table.columns.iter().enumerate().filter(|(_, column)| !column.dropped) {
                    let mut row = column_row(world, &relation, at, &column.name, column.typed);
                    row.extend(of_column(world, &relation, column));
                    filler.row(&row);
                }
            }
            RelationKind::View(view) if view.materialized.is_none() => {
                for (at, (name, typed)) in view.columns.iter().enumerate() {
                    let mut row = column_row(world, &relation, at, name, *typed);
                    row.extend([("is_nullable", yes_no(true)), ("is_identity", yes_no(false))]);
                    row.extend([("is_generated", text("NEVER")), ("is_updatable", yes_no(false))]);
                    filler.row(&row);
                }
            }
            _ => {}
        }
    }
    system_columns(world, filler);
}

fn column_row(
    world: &World<'_>,
    relation: &Relation,
    at: usize,
    name: &str,
    typed: Typed,
) -> Vec<(&'static str, Datum)> {
    let (catalog, schema) = place(world, relation.schema);
    let base = kind::base(typed, &world.catalog);
    let mut row = vec![
        ("table_catalog", catalog.clone()),
        ("table_schema", schema),
        ("table_name", text(&relation.name)),
        ("column_name", text(name)),
        ("ordinal_position", int(at + 1)),
        ("dtd_identifier", text((at + 1).to_string())),
        ("is_self_referencing", yes_no(false)),
        ("identity_cycle", yes_no(false)),
        ("is_updatable", yes_no(true)),
        ("udt_catalog", catalog),
    ];
    row.extend(type_facts(world, base));
    row.extend(udt(world, base.ty));
    if base.ty != typed.ty
        && let Some(domain) = world.catalog.user_type(typed.ty)
    {
        let (catalog, schema) = place(world, domain.schema);
        row.extend([("domain_catalog", catalog), ("domain_schema", schema), ("domain_name", text(&domain.name))]);
    }
    row
}

/// The type's own name and where it is.
pub(super) fn udt(world: &World<'_>, ty: Type) -> Vec<(&'static str, Datum)> {
    match (builtin::by_oid(ty), world.catalog.user_type(ty)) {
        (Some(known), _) => vec![("udt_schema", text("pg_catalog")), ("udt_name", text(known.name))],
        (None, Some(user)) => {
            vec![("udt_schema", text(schema_name(world, user.schema))), ("udt_name", text(&user.name))]
        }
        (None, None) => match kind::element(ty, &world.catalog).and_then(|ty| world.catalog.user_type(ty).cloned()) {
            Some(user) => vec![
                ("udt_schema", text(schema_name(world, user.schema))),
                ("udt_name", text(format!("_{}", user.name))),
            ],
            None => Vec::new(),
        },
    }
}

/// `data_type` and what its modifier says.
pub(super) fn type_facts(world: &World<'_>, typed: Typed) -> Vec<(&'static str, Datum)> {
    let shown = if kind::element(typed.ty, &world.catalog).is_some() {
        "ARRAY".to_owned()
    } else if builtin::by_oid(typed.ty).is_none() {
        "USER-DEFINED".to_owned()
    } else {
        names::format_type(typed.ty, None, world)
    };
    let mut row = vec![("data_type", text(shown))];
    let length = |modifier: i32| if modifier >= 4 { int(modifier - 4) } else { Datum::Null };
    let seconds = |modifier: i32| if modifier >= 0 { int(modifier) } else { int(6) };
    match typed.ty {
        Type::VARCHAR | Type::BPCHAR => {
            row.push(("character_maximum_length", length(typed.modifier)));
            let most = if typed.modifier >= 4 { (typed.modifier - 4) * 4 } else { 1_073_741_824 };
            row.push(("character_octet_length", int(most)));
        }
        Type::TEXT => row.push(("character_octet_length", int(1_073_741_824))),
        Type::INT2 | Type::INT4 | Type::INT8 => {
            let bits = match typed.ty {
                Type::INT2 => 16,
                Type::INT4 => 32,
                _ => 64,
            };
            row.extend([
                ("numeric_precision", int(bits)),
                ("numeric_precision_radix", int(2)),
                ("numeric_scale", int(0)),
            ]);
        }
        Type::FLOAT4 => row.extend([("numeric_precision", int(24)), ("numeric_precision_radix", int(2))]),
        Type::FLOAT8 => row.extend([("numeric_precision", int(53)), ("numeric_precision_radix", int(2))]),
        Type::NUMERIC => {
            row.push(("numeric_precision_radix", int(10)));
            if typed.modifier >= 4 {
                let packed = typed.modifier - 4;
                row.extend([("numeric_precision", int(packed >> 16)), ("numeric_scale", int(packed & 0xffff))]);
            }
        }
        Type::DATE => row.push(("datetime_precision", int(0))),
        Type::TIME | Type::TIMETZ | Type::TIMESTAMP | Type::TIMESTAMPTZ | Type::INTERVAL => {
            row.push(("datetime_precision", seconds(typed.modifier)));
        }
        _ => {}
    }
    row
}

fn of_column(world: &World<'_>, relation: &Relation, column: &Column) -> Vec<(&'static str, Datum)> {
    let stored = column.generation == Generation::Stored;
    let identity = match column.generation {
        Generation::IdentityAlways => Some("ALWAYS"),
        Generation::IdentityByDefault => Some("BY DEFAULT"),
        _ => None,
    };
    let shown = column
        .default
        .as_ref()
        .map_or(Datum::Null, |default| text(deparse::expression(world, default, Some(relation), Style::Plain)));
    let mut row = vec![
        ("column_default", if stored { Datum::Null } else { shown.clone() }),
        ("is_nullable", yes_no(!column.not_null)),
        ("is_identity", yes_no(identity.is_some())),
        ("identity_generation", identity.map_or(Datum::Null, text)),
        ("is_generated", text(if stored { "ALWAYS" } else { "NEVER" })),
        ("generation_expression", if stored { shown } else { Datum::Null }),
    ];
    // The default one is not told.
    if let Some(name) = Some(column.collation).filter(|oid| *oid != 100).and_then(|oid| name(oid, &world.catalog)) {
        let catalog = text(&world.session.client.database);
        row.extend([("collation_catalog", catalog), ("collation_schema", text("pg_catalog"))]);
        row.push(("collation_name", text(name)));
    }
    let sequence = column.sequence.and_then(|oid| world.catalog.relation(oid));
    if let (Some(_), Some(RelationKind::Sequence(sequence))) = (identity, sequence.map(|relation| &relation.kind)) {
        row.extend([
            ("identity_start", text(sequence.start.to_string())),
            ("identity_increment", text(sequence.increment.to_string())),
            ("identity_maximum", text(sequence.maximum.to_string())),
            ("identity_minimum", text(sequence.minimum.to_string())),
            ("identity_cycle", yes_no(sequence.cycle)),
        ]);
    }
    row
}

fn views(world: &mut World<'_>, filler: &mut Filler) {
    for relation in all(world) {
        let RelationKind::View(view) = &relation.kind else { continue };
        if view.materialized.is_some() {
            continue;
        }
        let path = world.path();
        let updatable = match world.catalog.relation(relation.oid) {
            Some(relation) => match &relation.kind {
                RelationKind::View(view) => Binder::new(world, &path).is_updatable(relation, view),
                _ => false,
            },
            None => false,
        };
        let check_option = match view.check_option {
            None => "NONE",
            Some(CheckOption::Local) => "LOCAL",
            Some(CheckOption::Cascaded) => "CASCADED",
        };
        let (catalog, schema) = place(world, relation.schema);
        filler.row(&[
            ("table_catalog", catalog),
            ("table_schema", schema),
            ("table_name", text(&relation.name)),
            (
                "view_definition",
                text(
                    crate::deparse::view_definition(world, relation.oid, crate::deparse::Style::Plain)
                        .unwrap_or_default(),
                ),
            ),
            ("check_option", text(check_option)),
            ("is_updatable", yes_no(updatable)),
            ("is_insertable_into", yes_no(updatable)),
            ("is_trigger_updatable", yes_no(false)),
            ("is_trigger_deletable", yes_no(false)),
            ("is_trigger_insertable_into", yes_no(false)),
        ]);
    }
}

fn sequences(world: &World<'_>, filler: &mut Filler) {
    for relation in all(world) {
        let RelationKind::Sequence(sequence) = &relation.kind else { continue };
        if sequence.owner.is_some_and(|owner| owner.identity) {
            continue;
        }
        let (catalog, schema) = place(world, relation.schema);
        let bits = match sequence.ty {
            Type::INT2 => 16,
            Type::INT4 => 32,
            _ => 64,
        };
        filler.row(&[
            ("sequence_catalog", catalog),
            ("sequence_schema", schema),
            ("sequence_name", text(&relation.name)),
            ("data_type", text(names::display(sequence.ty, &world.catalog))),
            ("numeric_precision", int(bits)),
            ("numeric_precision_radix", int(2)),
            ("numeric_scale", int(0)),
            ("start_value", text(sequence.start.to_string())),
            ("minimum_value", text(sequence.minimum.to_string())),
            ("maximum_value", text(sequence.maximum.to_string())),
            ("increment", text(sequence.increment.to_string())),
            ("cycle_option", yes_no(sequence.cycle)),
        ]);
    }
}

/// A constraint as the standard sees it.
struct Constraint {
    name: Arc<str>,
    kind: &'static str,
    columns: Vec<usize>,
    /// The table and columns that it is about: its own, or those referred to.
    about: (Oid, Vec<usize>),
    refers: Option<(Arc<str>, Oid, Action, Action, bool)>,
    clause: Option<String>,
    timing: crate::catalog::Timing,
}

fn constraints_of(world: &World<'_>, relation: &Relation) -> Vec<Constraint> {
    let RelationKind::Table(table) = &relation.kind else { return Vec::new() };
    let mut found = Vec::new();
    let immediate = crate::catalog::Timing::Immediate;
    for &index in &table.indexes {
        let Some(named) = world.catalog.relation(index) else { continue };
        let RelationKind::Index(made) = &named.kind else { continue };
        let Some(constraint) = made.constraint else { continue };
        let columns: Vec<usize> = made
            .keys
            .iter()
            .filter_map(|key| match key.what {
                IndexKeyKind::Column(position) => Some(position),
                IndexKeyKind::Expr(_) => None,
            })
            .collect();
        found.push(Constraint {
            name: named.name.clone(),
            kind: if constraint.primary { "PRIMARY KEY" } else { "UNIQUE" },
            about: (relation.oid, columns.clone()),
            columns,
            refers: None,
            clause: None,
            timing: constraint.timing,
        });
    }
    for key in &table.foreign_keys {
        let parent = world.catalog.relation(key.parent_index);
        let (unique, schema) = parent.map_or(("".into(), relation.schema), |index| (index.name.clone(), index.schema));
        found.push(Constraint {
            name: key.name.clone(),
            kind: "FOREIGN KEY",
            columns: key.columns.clone(),
            about: (key.parent, key.parent_columns.clone()),
            refers: Some((unique, schema, key.on_update, key.on_delete, key.match_full)),
            clause: None,
            timing: key.timing,
        });
    }
    for check in &table.checks {
        found.push(Constraint {
            name: check.name.clone(),
            kind: "CHECK",
            columns: Vec::new(),
            about: (relation.oid, Vec::new()),
            refers: None,
            clause: Some(deparse::expression(world, &check.condition, Some(relation), Style::Plain)),
            timing: immediate,
        });
    }
    for (at, column) in table.columns.iter().enumerate().filter(|(_, column)| column.not_null && !column.dropped) {
        found.push(Constraint {
            name: format!("{}_{}_{}_not_null", relation.schema, relation.oid, at + 1).into(),
            kind: "CHECK",
            columns: Vec::new(),
            about: (relation.oid, Vec::new()),
            refers: None,
            clause: Some(format!("{} IS NOT NULL", column.name)),
            timing: immediate,
        });
    }
    found
}

fn constraints(world: &World<'_>, view: &str, filler: &mut Filler) {
    for relation in all(world) {
        let (catalog, schema) = place(world, relation.schema);
        for constraint in constraints_of(world, &relation) {
            let mut common = vec![
                ("constraint_catalog", catalog.clone()),
                ("constraint_schema", schema.clone()),
                ("constraint_name", text(&constraint.name)),
            ];
            match view {
                "table_constraints" => {
                    let timing = constraint.timing;
                    let deferrable = timing != crate::catalog::Timing::Immediate;
                    common.extend([
                        ("table_catalog", catalog.clone()),
                        ("table_schema", schema.clone()),
                        ("table_name", text(&relation.name)),
                        ("constraint_type", text(constraint.kind)),
                        ("is_deferrable", yes_no(deferrable)),
                        ("initially_deferred", yes_no(timing == crate::catalog::Timing::DeferrableDeferred)),
                        ("enforced", yes_no(true)),
                    ]);
                    filler.row(&common);
                }
                "key_column_usage" => {
                    let Some(table) = world.catalog.table(relation.oid) else { continue };
                    for (at, position) in constraint.columns.iter().enumerate() {
                        let mut row = common.clone();
                        row.extend([
                            ("table_catalog", catalog.clone()),
                            ("table_schema", schema.clone()),
                            ("table_name", text(&relation.name)),
                            ("column_name", text(&table.columns[*position].name)),
                            ("ordinal_position", int(at + 1)),
                        ]);
                        if constraint.refers.is_some() {
                            row.push(("position_in_unique_constraint", int(at + 1)));
                        }
                        filler.row(&row);
                    }
                }
                "constraint_column_usage" | "constraint_table_usage" => {
                    let (about, columns) = &constraint.about;
                    let Some(named) = world.catalog.relation(*about) else { continue };
                    let Some(table) = world.catalog.table(*about) else { continue };
                    let (table_catalog, table_schema) = place(world, named.schema);
                    common.extend([
                        ("table_catalog", table_catalog),
                        ("table_schema", table_schema),
                        ("table_name", text(&named.name)),
                    ]);
                    if view == "constraint_table_usage" {
                        if constraint.kind != "CHECK" {
                            filler.row(&common);
                        }
                        continue;
                    }
                    for position in columns {
                        let mut row = common.clone();
                        row.push(("column_name", text(&table.columns[*position].name)));
                        filler.row(&row);
                    }
                }
                "referential_constraints" => {
                    let Some((unique, unique_schema, on_update, on_delete, full)) = &constraint.refers else {
                        continue;
                    };
                    let (unique_catalog, unique_schema) = place(world, *unique_schema);
                    common.extend([
                        ("unique_constraint_catalog", unique_catalog),
                        ("unique_constraint_schema", unique_schema),
                        ("unique_constraint_name", text(unique)),
                        ("match_option", text(if *full { "FULL" } else { "NONE" })),
                        ("update_rule", text(rule(*on_update))),
                        ("delete_rule", text(rule(*on_delete))),
                    ]);
                    filler.row(&common);
                }
                _ => {
                    if let Some(clause) = &constraint.clause {
                        common.push(("check_clause", text(clause)));
                        filler.row(&common);
                    }
                }
            }
        }
    }
}

fn rule(action: Action) -> &'static str {
    match action {
        Action::NoAction => "NO ACTION",
        Action::Restrict => "RESTRICT",
        Action::Cascade => "CASCADE",
        Action::SetNull => "SET NULL",
        Action::SetDefault => "SET DEFAULT",
    }
}

fn routines(world: &World<'_>, filler: &mut Filler) {
    for function in world.catalog.functions.values() {
        let (catalog, schema) = place(world, function.schema);
        let returns = match &function.returns {
            Returns::One(typed) | Returns::Set(typed) => names::display(typed.ty, &world.catalog),
            Returns::Table => "record".to_owned(),
            Returns::Trigger => "trigger".to_owned(),
            Returns::Nothing => String::new(),
        };
        let language = if function.language == crate::catalog::Language::Sql { "SQL" } else { "PLPGSQL" };
        filler.row(&[
            ("specific_catalog", catalog.clone()),
            ("specific_schema", schema.clone()),
            ("specific_name", text(format!("{}_{}", function.name, function.oid))),
            ("routine_catalog", catalog),
            ("routine_schema", schema),
            ("routine_name", text(&function.name)),
            ("routine_type", text(if function.procedure { "PROCEDURE" } else { "FUNCTION" })),
            ("data_type", if function.procedure { Datum::Null } else { text(returns) }),
            ("routine_body", text(if language == "SQL" { "SQL" } else { "EXTERNAL" })),
            ("routine_definition", text(&function.body)),
            ("external_language", text(language)),
        ]);
    }
}

fn triggers(world: &World<'_>, filler: &mut Filler) {
    for relation in all(world) {
        let RelationKind::Table(table) = &relation.kind else { continue };
        let (catalog, schema) = place(world, relation.schema);
        for trigger in &table.triggers {
            let events = [("INSERT", trigger.insert), ("DELETE", trigger.delete), ("UPDATE", trigger.update.is_some())];
            for (event, _) in events.into_iter().filter(|(_, on)| *on) {
                let function = world.catalog.functions.get(&trigger.function);
                let name = function.map_or_else(String::new, |function| function.name.to_string());
                filler.row(&[
                    ("trigger_catalog", catalog.clone()),
                    ("trigger_schema", schema.clone()),
                    ("trigger_name", text(&trigger.name)),
                    ("event_manipulation", text(event)),
                    ("event_object_catalog", catalog.clone()),
                    ("event_object_schema", schema.clone()),
                    ("event_object_table", text(&relation.name)),
                    ("action_order", int(1)),
                    ("action_statement", text(format!("EXECUTE FUNCTION {name}()"))),
                    ("action_orientation", text(if trigger.each_row { "ROW" } else { "STATEMENT" })),
                    (
                        "action_timing",
                        text(match trigger.when {
                            TriggerTime::Before => "BEFORE",
                            TriggerTime::After => "AFTER",
                            TriggerTime::InsteadOf => "INSTEAD OF",
                        }),
                    ),
                ]);
            }
        }
    }
}

fn domains(world: &World<'_>, view: &str, filler: &mut Filler) {
    for user in world.catalog.types.values() {
        let UserTypeKind::Domain { base, default, checks, .. } = &user.kind else { continue };
        let (catalog, schema) = place(world, user.schema);
        let named = vec![
            ("domain_catalog", catalog.clone()),
            ("domain_schema", schema.clone()),
            ("domain_name", text(&user.name)),
        ];
        if view == "domains" {
            let mut row = named;
            row.extend(type_facts(world, *base));
            row.extend(udt(world, base.ty));
            row.push((
                "domain_default",
                default
                    .as_ref()
                    .map_or(Datum::Null, |default| text(deparse::expression(world, default, None, Style::Plain))),
            ));
            filler.row(&row);
            continue;
        }
        for check in checks {
            let mut row = named.clone();
            row.extend([
                ("constraint_catalog", catalog.clone()),
                ("constraint_schema", schema.clone()),
                ("constraint_name", text(&check.name)),
                ("is_deferrable", yes_no(false)),
                ("initially_deferred", yes_no(false)),
            ]);
            filler.row(&row);
        }
    }
}
