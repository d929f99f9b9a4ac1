//! EXPLAIN: of which statements there is a plan, and in which format it is shown.

use std::sync::Arc;

use crate::error::{Result, SqlError, SqlState};
use crate::ir::print::{formats, tree};
use crate::parse::ast;
use crate::parse::ddl::{Ddl, TableSource};
use crate::parse::statement::{Explain, Statement};
use crate::session::{Outcome, describe};
use crate::storage::World;
use crate::types::Datum;

impl World<'_> {
    pub(crate) fn explain(&mut self, explain: &Explain) -> Result<Outcome> {
        check_options(explain)?;
        let query_of =
            |query: &ast::Query| Arc::new(Statement::Sql(Box::new(ast::Statement::Query(Box::new(query.clone())))));
        let no_plan = || SqlError::unsupported("EXPLAIN of this statement");
        let planned = match &*explain.statement {
            statement @ Statement::Sql(_) => {
                self.plan(explain.text.as_str().into(), Arc::new(statement.clone()), &[])?
            }
            Statement::Execute { name, .. } => self.named_statement(name)?,
            Statement::DeclareCursor(declare) => {
                self.plan(declare.text.as_str().into(), query_of(&declare.query), &[])?
            }
            Statement::Schema(ddl) => match &**ddl {
                Ddl::CreateTableAs(create) => match &create.source {
                    TableSource::Query(query) => self.plan(create.text.as_str().into(), query_of(query), &[])?,
                    TableSource::Execute { name, .. } => self.named_statement(name)?,
                },
                _ => return Err(no_plan()),
            },
            _ => return Err(no_plan()),
        };
        let query = planned.plan.query.clone().ok_or_else(no_plan)?;
        if explain.analyze {
            match &*explain.statement {
                Statement::Execute { name, arguments } => drop(self.execute_named(name, arguments)?),
                Statement::Schema(ddl) => {
                    self.session.transaction(&self.db);
                    crate::schema::run(self, &explain.text.as_str().into(), ddl)?;
                }
                _ => drop(self.run_query_statement(&planned.sql, &query)?),
            }
        }
        let whole = |show: fn(&tree::ShownNode) -> String| show(&tree::shown(&query, &self.catalog));
        let rows = match explain.format.as_str() {
            "json" => vec![vec![Datum::text(whole(formats::json))]],
            "xml" => vec![vec![Datum::text(whole(formats::xml))]],
            "yaml" => vec![vec![Datum::text(whole(formats::yaml))]],
            _ => {
                let text = crate::ir::print::query(&query, &self.catalog);
                text.lines().map(|line| vec![Datum::text(line)]).collect()
            }
        };
        Ok(Outcome::Rows { columns: describe::plan(&explain.format), rows, tag: "EXPLAIN".to_owned() })
    }
}

fn check_options(explain: &Explain) -> Result<()> {
    let invalid = |message: String| Err(SqlError::new(SqlState::INVALID_PARAMETER_VALUE, message));
    for (name, value) in &explain.options {
        let on = match value.as_str() {
            "true" | "on" | "1" => true,
            "false" | "off" | "0" => false,
            _ => return Err(SqlError::syntax(format!("{name} requires a Boolean value"))),
        };
        match name.as_str() {
            "costs" | "settings" | "buffers" | "summary" => {}
            "wal" | "timing" if on && !explain.analyze => {
                return invalid(format!("EXPLAIN option {} requires ANALYZE", name.to_uppercase()));
            }
            "wal" | "timing" => {}
            _ => return Err(SqlError::syntax(format!("unrecognized EXPLAIN option \"{name}\""))),
        }
    }
    match explain.format.as_str() {
        "text" | "json" | "xml" | "yaml" => Ok(()),
        other => invalid(format!("unrecognized value for EXPLAIN option \"format\": \"{other}\"")),
    }
}
