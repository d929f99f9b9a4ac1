//! `pg_constraint` and `pg_trigger`.

use crate::catalog::{Action, RelationKind, Timing, Trigger, TriggerTime, UserTypeKind};
use crate::deparse::node::Node;
use crate::introspection::fill::{Filler, array, int, oid, text, yes};
use crate::introspection::relations::all;
use crate::storage::World;
use crate::types::{Datum, Type};

fn attnums(columns: &[usize]) -> Datum {
    array(Type::INT2, columns.iter().map(|position| int(position + 1)).collect())
}

fn timing(timing: Timing) -> [(&'static str, Datum); 2] {
    [("condeferrable", yes(timing != Timing::Immediate)), ("condeferred", yes(timing == Timing::DeferrableDeferred))]
}

/// How `pg_constraint` writes an action.
fn letter(action: Action) -> &'static str {
    match action {
        Action::NoAction => "a",
        Action::Restrict => "r",
        Action::Cascade => "c",
        Action::SetNull => "n",
        Action::SetDefault => "d",
    }
}

pub(super) fn constraints(world: &mut World<'_>, filler: &mut Filler) {
    let common = |number, name: &str, schema, kind: &str| {
        vec![
            ("oid", oid(number)),
            ("conname", text(name)),
            ("connamespace", oid(schema)),
            ("contype", text(kind)),
            ("convalidated", yes(true)),
            ("conislocal", yes(true)),
            ("connoinherit", yes(kind != "c")),
            ("confupdtype", text(" ")),
            ("confdeltype", text(" ")),
            ("confmatchtype", text(" ")),
        ]
    };
    for relation in all(world) {
        match &relation.kind {
            RelationKind::Table(table) => {
                for check in &table.checks {
                    let mut row = common(check.oid, &check.name, relation.schema, "c");
                    let columns = check.condition.columns(relation.oid);
                    row.extend([
                        ("convalidated", yes(check.validated)),
                        ("conrelid", oid(relation.oid)),
                        ("conkey", attnums(&columns)),
                        ("conbin", text(Node::Check(relation.oid, check.oid).text())),
                    ]);
                    filler.row(&row);
                }
                for key in &table.foreign_keys {
                    let mut row = common(key.oid, &key.name, relation.schema, "f");
                    row.extend(timing(key.timing));
                    row.extend([
                        ("convalidated", yes(key.validated)),
                        ("conrelid", oid(relation.oid)),
                        ("conindid", oid(key.parent_index)),
                        ("confrelid", oid(key.parent)),
                        ("confupdtype", text(letter(key.on_update))),
                        ("confdeltype", text(letter(key.on_delete))),
                        ("confmatchtype", text(if key.match_full { "f" } else { "s" })),
                        ("conkey", attnums(&key.columns)),
                        ("confkey", attnums(&key.parent_columns)),
                    ]);
                    filler.row(&row);
                }
            }
            RelationKind::Index(index) => {
                let Some(made) = index.constraint else { continue };
                let kind = if made.primary { "p" } else { "u" };
                let mut row = common(made.oid, &relation.name, relation.schema, kind);
                row.extend(timing(made.timing));
                let columns: Vec<usize> = index
                    .keys
                    .iter()
                    .filter_map(|key| match key.what {
                        crate::catalog::IndexKeyKind::Column(position) => Some(position),
                        crate::catalog::IndexKeyKind::Expr(_) => None,
                    })
                    .collect();
                row.extend([
                    ("conrelid", oid(index.table)),
                    ("conindid", oid(relation.oid)),
                    ("conkey", attnums(&columns)),
                ]);
                filler.row(&row);
            }
            _ => {}
        }
    }
    for user in world.catalog.types.values() {
        if let UserTypeKind::Domain { checks, .. } = &user.kind {
            for check in checks {
                let mut row = common(check.oid, &check.name, user.schema, "c");
                row.extend([
                    ("contypid", oid(user.ty.0)),
                    ("conbin", text(Node::DomainCheck(user.ty.0, check.oid).text())),
                    ("connoinherit", yes(false)),
                ]);
                filler.row(&row);
            }
        }
    }
}

/// `tgtype`: bits for row, before, insert, delete, update, truncate, instead.
fn bits(trigger: &Trigger) -> i64 {
    let bit = |set: bool, bit: u32| i64::from(set) << bit;
    bit(trigger.each_row, 0)
        | bit(trigger.when == TriggerTime::Before, 1)
        | bit(trigger.insert, 2)
        | bit(trigger.delete, 3)
        | bit(trigger.update.is_some(), 4)
        | bit(trigger.truncate, 5)
        | bit(trigger.when == TriggerTime::InsteadOf, 6)
}

pub(super) fn triggers(world: &mut World<'_>, filler: &mut Filler) {
    for relation in all(world) {
        let RelationKind::Table(table) = &relation.kind else { continue };
        for trigger in &table.triggers {
            filler.row(&[
                ("oid", oid(trigger.oid)),
                ("tgrelid", oid(relation.oid)),
                ("tgname", text(&trigger.name)),
                ("tgfoid", oid(trigger.function)),
                ("tgtype", Datum::Int(bits(trigger))),
                ("tgenabled", text(if trigger.enabled { "O" } else { "D" })),
                (
                    "tgdeferrable",
                    yes(matches!(trigger.timing, Some(Timing::DeferrableImmediate | Timing::DeferrableDeferred))),
                ),
                ("tginitdeferred", yes(trigger.timing == Some(Timing::DeferrableDeferred))),
                ("tgnargs", int(trigger.arguments.len())),
            ]);
        }
    }
}
