//! What rows the statements return that are neither queries nor changes.

use std::sync::Arc;

use crate::cursor::no_cursor;
use crate::error::Result;
use crate::ir::Output;
use crate::parse::statement::Statement;
use crate::settings;
use crate::storage::World;
use crate::types::Type;

/// The columns of a statement's rows; `None` if it returns none.
pub(crate) fn columns(world: &mut World<'_>, statement: &Statement) -> Result<Option<Arc<[Output]>>> {
    Ok(match statement {
        Statement::Show(Some(name)) => Some(texts(&[&settings::canonical(name)])),
        Statement::Show(None) => Some(texts(&["name", "setting", "description"])),
        Statement::Explain(explain) => Some(plan(&explain.format)),
        Statement::Fetch(fetch) if !fetch.only_move => {
            let cursor = world.session.cursors.get(&fetch.cursor);
            Some(cursor.ok_or_else(|| no_cursor(&fetch.cursor))?.columns.clone())
        }
        Statement::Execute { name, .. } => world.session.statements.get(name).and_then(|kept| kept.columns.clone()),
        Statement::Call(call) => crate::plpgsql::call_columns(world, call)?,
        _ => None,
    })
}

/// Columns of text.
pub(crate) fn texts(names: &[&str]) -> Arc<[Output]> {
    let column = |name: &&str| Output { name: (*name).into(), typed: Type::TEXT.into(), origin: None, collation: 0 };
    names.iter().map(column).collect()
}

/// The column of EXPLAIN.
pub(crate) fn plan(format: &str) -> Arc<[Output]> {
    let ty = match format {
        "json" => Type::JSON,
        "xml" => Type::XML,
        _ => Type::TEXT,
    };
    Arc::new([Output { name: "QUERY PLAN".into(), typed: ty.into(), origin: None, collation: 0 }])
}
