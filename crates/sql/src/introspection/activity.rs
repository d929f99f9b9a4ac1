//! What goes on: settings, connections, locks, cursors.

use rustc_hash::FxHashMap;

use crate::introspection::fill::{Filler, int, oid, text, yes};
use crate::settings as parameters;
use crate::settings::parameters::{Kind, find};
use crate::storage::World;
use crate::storage::locks::{Mode, Owner, Resource, TableMode};
use crate::types::Env;
use crate::types::{Datum, Type};

pub(super) fn settings(world: &mut World<'_>, filler: &mut Filler) {
    let about: Vec<_> = parameters::all(world.settings());
    for (name, _, about) in about {
        let Some(known) = find(name) else { continue };
        let value = world.session.show(name).unwrap_or_default();
        let number = |bound: f64| text(if bound == f64::MAX { "1.79769e+308".to_owned() } else { bound.to_string() });
        let (least, greatest) = match known.kind {
            Kind::Int { min, max } | Kind::Real { min, max } => (number(min), number(max)),
            _ => (Datum::Null, Datum::Null),
        };
        let choices = match known.kind {
            Kind::Choice(choices) => Datum::array(Type::TEXT, choices.split(',').map(Datum::text).collect()),
            _ => Datum::Null,
        };
        let source = if value == known.default { "default" } else { "session" };
        filler.row(&[
            ("name", text(name)),
            ("setting", text(known.in_base_unit(&value))),
            ("unit", if known.unit.is_empty() { Datum::Null } else { text(known.unit) }),
            ("category", text(known.category)),
            ("short_desc", text(about)),
            ("context", text(known.context)),
            ("vartype", text(known.type_name())),
            ("source", text(source)),
            ("min_val", least),
            ("max_val", greatest),
            ("enumvals", choices),
            ("boot_val", text(known.boot)),
            ("reset_val", text(known.boot)),
            ("pending_restart", yes(false)),
        ]);
    }
}

pub(super) fn activity(world: &mut World<'_>, filler: &mut Filler) {
    let connections: Vec<_> = world.db.connections.iter().map(|(owner, other)| (*owner, other.clone())).collect();
    for (owner, other) in connections {
        let waits = world.db.locks.is_waiting(owner);
        filler.row(&[
            ("datname", text(&other.database)),
            ("datid", oid(5)),
            ("pid", int(other.pid)),
            ("usesysid", oid(10)),
            ("usename", text(&other.user)),
            ("application_name", text(&other.application)),
            ("state", text(other.state)),
            ("query", text(&other.query)),
            ("backend_type", text("client backend")),
            ("wait_event_type", if waits { text("Lock") } else { Datum::Null }),
            ("wait_event", if waits { text("transactionid") } else { Datum::Null }),
        ]);
    }
}

pub(super) fn locks(world: &mut World<'_>, filler: &mut Filler) {
    let pids: FxHashMap<Owner, i32> = world.db.connections.iter().map(|(&owner, other)| (owner, other.pid)).collect();
    let locks = world.db.locks.list();
    // There is a lock for every row that a large transaction has changed: other statements go on meanwhile.
    world.db.without(|| {
        for (resource, owner, mode, granted) in locks {
            filler.row(&lock_row(&resource, pids.get(&owner).copied().unwrap_or(0), mode, granted));
        }
    });
}

fn lock_row(resource: &Resource, pid: i32, mode: Mode, granted: bool) -> Vec<(&'static str, Datum)> {
    let mut row = vec![
        ("database", oid(5)),
        ("pid", int(pid)),
        ("mode", text(mode_name(mode))),
        ("granted", yes(granted)),
        ("fastpath", yes(false)),
    ];
    match resource {
        Resource::Table(table) => row.extend([("locktype", text("relation")), ("relation", oid(*table))]),
        Resource::Row(row_key) | Resource::Constraints(row_key) => {
            row.extend([("locktype", text("tuple")), ("tuple", int(row_key & 0xffff))])
        }
        Resource::Advisory(key) => {
            row.push(("locktype", text("advisory")));
            let (class, object, sub) = match *key {
                crate::functions::AdvisoryKey::Big(key) => (key >> 32, key & 0xffff_ffff, 1),
                crate::functions::AdvisoryKey::Pair(one, two) => (one.into(), two.into(), 2),
            };
            row.extend([("classid", Datum::Int(class)), ("objid", Datum::Int(object)), ("objsubid", Datum::Int(sub))]);
        }
    }
    row
}

fn mode_name(mode: Mode) -> &'static str {
    match mode {
        Mode::Table(TableMode::AccessShare) => "AccessShareLock",
        Mode::Table(TableMode::RowShare) => "RowShareLock",
        Mode::Table(TableMode::RowExclusive) => "RowExclusiveLock",
        Mode::Table(TableMode::ShareUpdateExclusive) => "ShareUpdateExclusiveLock",
        Mode::Table(TableMode::Share) | Mode::Shared => "ShareLock",
        Mode::Table(TableMode::ShareRowExclusive) => "ShareRowExclusiveLock",
        Mode::Table(TableMode::AccessExclusive) => "AccessExclusiveLock",
        Mode::Table(TableMode::Exclusive) | Mode::Exclusive | Mode::Row(_) => "ExclusiveLock",
    }
}

pub(super) fn cursors(world: &mut World<'_>, filler: &mut Filler) {
    for (name, cursor) in &world.session.cursors {
        filler.row(&[
            ("name", text(name)),
            ("is_holdable", yes(cursor.holds)),
            ("is_binary", yes(false)),
            ("is_scrollable", yes(!cursor.forward_only)),
        ]);
    }
}

pub(super) fn prepared(world: &mut World<'_>, filler: &mut Filler) {
    let mut statements: Vec<_> = world.session.statements.iter().filter(|(name, _)| !name.is_empty()).collect();
    statements.sort_by_key(|(name, _)| (*name).clone());
    for (name, statement) in statements {
        filler.row(&[("name", text(name)), ("statement", text(&statement.sql)), ("from_sql", yes(true))]);
    }
}

pub(super) fn databases(world: &mut World<'_>, filler: &mut Filler) {
    let name = world.session.client.database.clone();
    filler.row(&[("datid", oid(5)), ("datname", text(name)), ("numbackends", int(world.db.connections.len()))]);
}
