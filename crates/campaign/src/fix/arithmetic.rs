//! Arithmetic in the UPDATE: `SET n = n + 5` instead of a value that the client computed from what it had read.
//!
//! In a run of the command the client goes on sending the value. The database remembers in the transaction what was read of
//! each row, and adds the difference to what is there.

use std::collections::BTreeSet;

use skew_server::rewrites::Rewrite;
use skew_sql::parse::ast::{Expr, Query, Select, SelectItem, SetExpr, Statement, Update};

use super::relation::Relation;
use super::scene::{Scene, Step};
use super::{Candidate, Change, Kind};
use crate::number::Number;
use crate::trees;

/// The arithmetic for all relations that are known, in one candidate.
pub(crate) fn candidates(scene: &Scene<'_>, relations: &[Relation], is_split: bool) -> Vec<Candidate> {
    let known: Vec<(&Relation, Number)> =
        relations.iter().filter_map(|relation| Some((relation, relation.added?))).collect();
    let covers = scene.reads.iter().all(|place| known.iter().any(|(relation, _)| relation.read == *place));
    // Something that is taken away has a bound, unless a transaction was seen to go below zero.
    let takes = known.iter().any(|(relation, added)| added.is_negative() && !goes_below_zero(scene, relation));
    if known.is_empty() || takes || (!covers && !is_split) {
        return Vec::new();
    }
    let mut rewrites: Vec<Rewrite> = Vec::new();
    let (mut sql, mut shapes) = (Vec::new(), BTreeSet::new());
    for (relation, added) in &known {
        let (read, write) = (scene.step(relation.read), scene.step(relation.write));
        let Some(change) = in_flight(scene, relation, read, write, is_split) else { return Vec::new() };
        for rewrite in change {
            if !rewrites.iter().any(|known| known.from == rewrite.from) {
                rewrites.push(rewrite);
            }
        }
        if shapes.insert(write.shape.text.clone()) {
            let Some(text) = shown(write, relation, *added) else { return Vec::new() };
            sql.push(text);
        }
    }
    let is_parameter =
        known.iter().any(|(relation, _)| client_parameter(scene.step(relation.write), relation).is_some());
    let mut words = "let the database compute in the UPDATE, which reads the newest value under its lock".to_owned();
    if is_parameter {
        words.push_str(": send the difference, not the new value");
    }
    words.push_str("; a decision by the value read before would still be out of date");
    vec![Candidate {
        kind: Kind::Arithmetic,
        words,
        sql,
        flight: Some(Change::Rewrite(rewrites, Vec::new())),
        explored: None,
    }]
}

/// Whether a transaction wrote a number below zero.
fn goes_below_zero(scene: &Scene<'_>, relation: &Relation) -> bool {
    let steps = scene.programs.iter().flat_map(|program| &program.steps);
    let mut written = steps.filter_map(|step| step.value(true, |cell| *cell == relation.cell));
    written.any(|(_, value)| Number::parse(&value).is_some_and(Number::is_negative))
}

/// The number of the client's parameter that an UPDATE sets the column to.
pub(crate) fn client_parameter(write: &Step, relation: &Relation) -> Option<u32> {
    let assignment = trees::assigned(write.update()?, &relation.column)?;
    trees::placeholder(&assignment.value).filter(|number| *number <= skew_sql::parse::shape::FIRST)
}

/// The UPDATE with arithmetic, as an application would send it.
pub(crate) fn shown(write: &Step, relation: &Relation, added: Number) -> Option<String> {
    let (sign, amount) = if added.is_negative() { ("-", added.negated()) } else { ("+", added) };
    let amount = match client_parameter(write, relation) {
        Some(number) => format!("${number}"),
        None => amount.to_string(),
    };
    let column = trees::ident(&relation.column);
    let update = with_value(write.update()?, &relation.column, trees::expr(&format!("{column} {sign} {amount}"))?);
    Some(write.shown(&update.to_string()))
}

/// The UPDATE with another value for a column.
pub(crate) fn with_value(update: &Update, column: &str, value: Expr) -> Update {
    let mut update = update.clone();
    for assignment in &mut update.assignments {
        if assignment.target.columns().iter().any(|name| name.value == column) {
            assignment.value = value.clone();
        }
    }
    update
}

/// The query that remembers what it reads of each row, and the UPDATE that adds the difference to it.
fn in_flight(
    scene: &Scene<'_>,
    relation: &Relation,
    read: &Step,
    write: &Step,
    is_split: bool,
) -> Option<[Rewrite; 2]> {
    let table = scene.table(&relation.cell.table)?;
    let keys: Vec<String> =
        table.clustered.iter().filter_map(|&at| Some(trees::ident(&table.columns.get(at)?.name).to_string())).collect();
    if keys.is_empty() {
        return None;
    }
    let query = trees::query(read.tree.as_ref())?;
    let select = trees::select(query)?;
    trees::output_name(select, &relation.column)?;
    let column = trees::ident(&relation.column).to_string();
    let setting = |alias: Option<&str>| {
        let name = |column: &String| match alias {
            Some(alias) => format!("{}.{column}", trees::ident(alias)),
            None => column.clone(),
        };
        let key: Vec<String> = keys.iter().map(|key| format!("{}::text", name(key))).collect();
        format!("'skew.{}_' || {}", plain(&relation.column), key.join(" || '_' || "))
    };
    let alias = alias_of(select, &relation.cell.table)?;
    let cell = format!("{}.{column}", trees::ident(&alias));
    // The setting ends with the transaction, unless the write is in another one.
    let is_local = !is_split;
    let remembers = format!(
        "CASE WHEN set_config({}, coalesce({cell}::text, ''), {is_local}) IS NOT NULL THEN {cell} END",
        setting(Some(&alias))
    );
    let names: Vec<&str> = table.columns.iter().map(|column| &*column.name).collect();
    let select = Select { projection: remembering(select, &relation.column, &remembers, &names)?, ..select.clone() };
    let query = Query { body: Box::new(SetExpr::Select(Box::new(select))), ..query.clone() };
    let update = write.update()?;
    let value = &trees::assigned(update, &relation.column)?.value;
    let was = format!("nullif(current_setting({}, true), '')::{}", setting(None), type_of(scene, relation)?);
    let sum = trees::expr(&format!("coalesce({column} + (({value}) - {was}), {value})"))?;
    let update = with_value(update, &relation.column, sum);
    Some([
        Rewrite::instead(&read.shape, Statement::Query(Box::new(query)).to_string()),
        Rewrite::instead(&write.shape, update.to_string()),
    ])
}

/// The select list in which a column is remembered, with all columns of the table written out for `*`.
fn remembering(select: &Select, column: &str, remembers: &str, columns: &[&str]) -> Option<Vec<SelectItem>> {
    let remembers = trees::expr(remembers)?;
    let mut items = Vec::new();
    let named = |name: &str, expr: Expr| SelectItem::ExprWithAlias { expr, alias: trees::ident(name) };
    for item in &select.projection {
        match item {
            SelectItem::UnnamedExpr(expr) if trees::column_of(expr) == Some(column) => {
                items.push(named(column, remembers.clone()));
            }
            SelectItem::ExprWithAlias { expr, alias } if trees::column_of(expr) == Some(column) => {
                items.push(SelectItem::ExprWithAlias { expr: remembers.clone(), alias: alias.clone() });
            }
            SelectItem::Wildcard if trees::only_table(select).is_some() => {
                for name in columns {
                    let expr = Expr::Identifier(trees::ident(name));
                    items.push(if *name == column { named(name, remembers.clone()) } else { named(name, expr) });
                }
            }
            other => items.push(other.clone()),
        }
    }
    Some(items)
}

/// What a table is called in a SELECT.
fn alias_of(select: &Select, table: &str) -> Option<String> {
    use skew_sql::parse::ast::TableFactor;
    let joined = select.from.iter().flat_map(|from| &from.joins).map(|join| &join.relation);
    select.from.iter().map(|from| &from.relation).chain(joined).find_map(|factor| match factor {
        TableFactor::Table { name, alias } if name.last().is_some_and(|last| last.value == table) => {
            Some(alias.as_ref().map_or_else(|| table.to_owned(), |alias| alias.name.value.clone()))
        }
        _ => None,
    })
}

fn type_of(scene: &Scene<'_>, relation: &Relation) -> Option<&'static str> {
    use skew_sql::types::Type;
    let ty = scene.column(&relation.cell.table, &relation.column)?.typed.ty;
    Some(match ty {
        Type::INT2 | Type::INT4 => "integer",
        Type::INT8 => "bigint",
        Type::NUMERIC => "numeric",
        _ => return None,
    })
}

/// A name as a part of a setting's name.
fn plain(name: &str) -> String {
    name.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '_').collect()
}
