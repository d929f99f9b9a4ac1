//! CREATE TABLE, CREATE TABLE AS, TRUNCATE.

use std::sync::Arc;

use crate::parse::ast::ObjectName;

use crate::catalog::{Catalog, Oid, OnCommit, Relation, RelationKind, Table, Timing, UserType, UserTypeKind};
use crate::change::Event;
use crate::client::Outcome;
use crate::error::{Result, SqlError, SqlState};
use crate::parse::ddl::{
    ColumnConstraintKind, CreateTable, CreateTableAs, LikeOption, OnCommit as Said, Persistence, TableConstraint,
    TableConstraintKind, TableElement, TableSource,
};
use crate::parse::statement::Statement;
use crate::schema::Editor;
use crate::schema::names::{fold, parts};
use crate::storage::locks::TableMode;
use crate::types::{Datum, Type, Typed};

impl Editor<'_, '_> {
    pub(super) fn create_table(&mut self, create: &CreateTable) -> Result<()> {
        if let Some(construct) = create.unsupported {
            return Err(SqlError::unsupported(construct));
        }
        if !create.inherits.is_empty() {
            return Err(SqlError::unsupported("INHERITS"));
        }
        let temporary = create.persistence == Persistence::Temporary;
        let (schema, name) = self.place(&create.name, temporary)?;
        if self.is_taken(schema, &name, create.if_not_exists)? {
            return Ok(());
        }
        let mut relation = self.empty_table(schema, name, on_commit(create.on_commit))?;
        if let RelationKind::Table(table) = &mut relation.kind {
            table.unlogged = create.persistence == Persistence::Unlogged;
        }
        let oid = relation.oid;
        let mut catalog = Catalog::clone(&self.catalog);
        catalog.put_relation(relation);
        self.set_catalog(catalog)?;
        let mut constraints = Vec::new();
        let (mut likes, mut generated) = (Vec::new(), Vec::new());
        for element in &create.elements {
            match element {
                TableElement::Column(column) => {
                    self.add_new_column(oid, column, &mut constraints, &mut generated)?;
                }
                TableElement::Constraint(constraint) => constraints.push(constraint.clone()),
                TableElement::Like { table, options } => {
                    self.like_columns(oid, table, options)?;
                    likes.push((table, options));
                }
            }
        }
        self.bind_generated(oid, generated)?;
        self.place_cells(oid, &primary_columns(&constraints))?;
        // Keys first: others may refer to them, and PostgreSQL names them in this order, too.
        for constraint in ordered(&constraints) {
            self.add_constraint(oid, constraint, true)?;
        }
        for (table, options) in likes {
            self.like_indexes(oid, table, options)?;
        }
        self.make_row_type(oid)
    }

    /// A table without columns; its space is new.
    fn empty_table(&mut self, schema: Oid, name: Arc<str>, on_commit: OnCommit) -> Result<Relation> {
        let (oid, row_type) = (self.db.new_oid(), self.db.new_oid());
        let table = Table {
            columns: Vec::new(),
            indexes: Vec::new(),
            primary_key: None,
            checks: Vec::new(),
            foreign_keys: Vec::new(),
            triggers: Vec::new(),
            unchecked: false,
            space: self.db.store.space(),
            clustered: Vec::new(),
            cells: vec![(0, 0)],
            row_type: Type(row_type),
            on_commit,
            unpopulated: false,
            view: None,
            unlogged: false,
            row_security: (false, false),
        };
        Ok(Relation { oid, schema, name, kind: RelationKind::Table(table) })
    }

    /// Says how generated columns are made: all columns are there now.
    pub(super) fn bind_generated(&mut self, oid: Oid, generated: Vec<(usize, crate::parse::ast::Expr)>) -> Result<()> {
        let relation = self.relation(oid)?;
        let columns = &crate::storage::world::as_table(&relation)?.columns;
        for (at, how) in generated {
            let column = &columns[at];
            let bound = self.bind_row_value(&how, &relation, column.typed, &column.name)?;
            if bound.is_mutable(&self.catalog) {
                let message = "generation expression is not immutable";
                return Err(SqlError::new(SqlState::INVALID_OBJECT_DEFINITION, message));
            }
            let stored = crate::catalog::StoredExpr::new(bound, &[oid]);
            self.change_table(oid, |table| {
                table.columns[at].default = Some(Arc::new(stored));
                Ok(())
            })?;
        }
        Ok(())
    }

    /// Which columns order the rows and which have cells. Only for a table without rows.
    pub(super) fn place_cells(&mut self, oid: Oid, primary: &[Arc<str>]) -> Result<()> {
        self.change_table(oid, |table| {
            let position =
                |name: &Arc<str>| table.columns.iter().position(|column| !column.dropped && column.name == *name);
            table.clustered = primary.iter().filter_map(position).collect();
            let mut cells = 0;
            for (at, column) in table.columns.iter_mut().enumerate() {
                if !column.dropped && !table.clustered.contains(&at) {
                    column.cell = cells;
                    cells += 1;
                }
            }
            table.cells = vec![(0, cells)];
            Ok(())
        })
    }

    /// Changes a table in the transaction's catalog.
    pub(super) fn change_table<T>(&mut self, oid: Oid, change: impl FnOnce(&mut Table) -> Result<T>) -> Result<T> {
        let mut relation = Relation::clone(&*self.relation(oid)?);
        let RelationKind::Table(table) = &mut relation.kind else {
            let message = format!("\"{}\" is not a table", relation.name);
            return Err(SqlError::new(SqlState::WRONG_OBJECT_TYPE, message));
        };
        let result = change(table)?;
        self.change_catalog(|catalog| {
            catalog.put_relation(relation);
            Ok(result)
        })
    }

    /// The row type of a table, as it is now.
    pub(super) fn make_row_type(&mut self, oid: Oid) -> Result<()> {
        let relation = self.relation(oid)?;
        let table = crate::storage::world::as_table(&relation)?;
        let columns = table.columns.iter().filter(|column| !column.dropped);
        let fields: Vec<(Arc<str>, Typed)> = columns.map(|column| (column.name.clone(), column.typed)).collect();
        let known = self.catalog.types.get(&table.row_type.0).map(|known| known.array);
        if known.is_some() {
            let row_type = table.row_type.0;
            self.set_attributes(row_type, fields.clone())?;
        }
        let array = known.unwrap_or_else(|| Type(self.db.new_oid()));
        let made = UserType {
            ty: table.row_type,
            array,
            schema: relation.schema,
            name: relation.name.clone(),
            kind: UserTypeKind::Composite(fields),
        };
        self.change_catalog(|catalog| {
            catalog.types.insert(made.ty.0, Arc::new(made));
            Ok(())
        })
    }

    fn like_columns(&mut self, oid: Oid, name: &ObjectName, options: &[(LikeOption, bool)]) -> Result<()> {
        let source = self.resolve_relation(name)?;
        let columns: Vec<_> = match &source.kind {
            RelationKind::Table(table) => table.columns.iter().filter(|column| !column.dropped).cloned().collect(),
            _ => return Err(SqlError::unsupported("LIKE of something that is no table")),
        };
        let checks = crate::storage::world::as_table(&source)?.checks.clone();
        let (mut new_checks, includes) = (Vec::new(), |what| includes(options, what));
        if includes(LikeOption::Constraints) {
            for check in checks {
                new_checks.push(crate::catalog::Check { oid: self.db.new_oid(), ..check });
            }
        }
        let live: Vec<usize> = match &source.kind {
            RelationKind::Table(table) => (0..table.columns.len()).filter(|at| !table.columns[*at].dropped).collect(),
            _ => Vec::new(),
        };
        let first = crate::storage::world::as_table(&*self.relation(oid)?)?.columns.len();
        let map = |position: usize| live.iter().position(|at| *at == position).map_or(position, |at| first + at);
        for check in &mut new_checks {
            check.condition = Arc::new(super::stored::moved(&check.condition, oid, &map));
        }
        self.change_table(oid, |table| {
            for mut column in columns {
                column.default = column.default.map(|default| Arc::new(super::stored::moved(&default, oid, &map)));
                let generated = column.generation == crate::catalog::Generation::Stored;
                let kept = if generated { includes(LikeOption::Generated) } else { includes(LikeOption::Defaults) };
                if !kept {
                    column.default = None;
                }
                if generated && !kept || !generated && !includes(LikeOption::Identity) {
                    column.generation = crate::catalog::Generation::Plain;
                }
                column.sequence = None;
                column.missing = Datum::Null;
                table.columns.push(column);
            }
            table.checks.extend(new_checks);
            Ok(())
        })
    }

    fn like_indexes(&mut self, oid: Oid, name: &ObjectName, options: &[(LikeOption, bool)]) -> Result<()> {
        if !includes(options, LikeOption::Indexes) {
            return Ok(());
        }
        let source = self.resolve_relation(name)?;
        for index in crate::storage::world::as_table(&source)?.indexes.clone() {
            self.copy_index(oid, &source, index)?;
        }
        Ok(())
    }

    /// The columns and rows that a table is made of.
    fn source_of(&mut self, create: &CreateTableAs) -> Result<(Vec<(Arc<str>, Typed)>, Vec<Vec<Datum>>)> {
        let named = |columns: &[crate::ir::Output]| -> Vec<(Arc<str>, Typed)> {
            columns.iter().map(|column| (column.name.clone(), column.typed)).collect()
        };
        let query = match &create.source {
            TableSource::Query(query) => query,
            TableSource::Execute { name, arguments } => {
                return match self.execute_named(name, arguments)? {
                    Outcome::Rows { columns, rows, tag } if tag == "SELECT" => {
                        Ok((named(&columns), if create.with_data { rows } else { Vec::new() }))
                    }
                    _ => {
                        let message = "prepared statement is not a SELECT";
                        Err(SqlError::new(SqlState::WRONG_OBJECT_TYPE, message))
                    }
                };
            }
        };
        let statement = Statement::Sql(Box::new(crate::parse::ast::Statement::Query(query.clone())));
        let planned = self.plan(create.text.as_str().into(), Arc::new(statement), &[])?;
        let plan = planned.plan.query.clone().expect("a query has a plan");
        let rows = match create.with_data {
            true => match self.run_query_statement(&planned.sql, &plan)? {
                Outcome::Rows { rows, .. } => rows,
                _ => Vec::new(),
            },
            false => Vec::new(),
        };
        Ok((named(&plan.columns), rows))
    }

    pub(super) fn create_table_as(&mut self, create: &CreateTableAs) -> Result<String> {
        let tag = match (create.materialized, create.select_into) {
            (true, _) => "CREATE MATERIALIZED VIEW",
            (_, true) => "SELECT",
            _ => "CREATE TABLE AS",
        };
        let temporary = create.persistence == Persistence::Temporary;
        let (schema, name) = self.place(&create.name, temporary)?;
        if self.is_taken(schema, &name, create.if_not_exists)? {
            return Ok(tag.to_owned());
        }
        let (mut columns, rows) = self.source_of(create)?;
        if create.columns.len() > columns.len() {
            return Err(SqlError::syntax("too many column names were specified"));
        }
        for (column, name) in columns.iter_mut().zip(&create.columns) {
            column.0 = fold(name);
        }
        for column in &mut columns {
            if column.1.ty == Type::UNKNOWN {
                column.1 = Type::TEXT.into();
            }
        }
        let oid = self.table_of(schema, name.clone(), &columns, on_commit(create.on_commit))?;
        let count = rows.len();
        self.fill(oid, rows)?;
        if create.persistence == Persistence::Unlogged {
            self.change_table(oid, |table| {
                table.unlogged = true;
                Ok(())
            })?;
        }
        if let (true, TableSource::Query(query)) = (create.materialized, &create.source) {
            let stored = self.bind_stored(query)?;
            self.make_materialized(oid, schema, name, columns, stored)?;
            if !create.with_data {
                self.change_table(oid, |table| {
                    table.unpopulated = true;
                    Ok(())
                })?;
                return Ok(tag.to_owned());
            }
        }
        Ok(format!("SELECT {count}"))
    }

    /// A table with these columns and nothing else.
    pub(super) fn table_of(
        &mut self,
        schema: Oid,
        name: Arc<str>,
        columns: &[(Arc<str>, Typed)],
        on_commit: OnCommit,
    ) -> Result<Oid> {
        let mut relation = self.empty_table(schema, name, on_commit)?;
        if let RelationKind::Table(table) = &mut relation.kind {
            for (name, typed) in columns {
                if table.columns.iter().any(|known| known.name == *name) {
                    let message = format!("column \"{name}\" specified more than once");
                    return Err(SqlError::new(SqlState::DUPLICATE_COLUMN, message));
                }
                table.columns.push(super::column::plain(name.clone(), *typed));
            }
        }
        let oid = relation.oid;
        let mut catalog = Catalog::clone(&self.catalog);
        catalog.put_relation(relation);
        self.set_catalog(catalog)?;
        self.place_cells(oid, &[])?;
        self.make_row_type(oid)?;
        Ok(oid)
    }

    /// Inserts whole rows.
    pub(super) fn fill(&mut self, oid: Oid, rows: Vec<Vec<Datum>>) -> Result<()> {
        let bound = self.bound_table(oid)?;
        let mut checks = Vec::new();
        for row in rows {
            self.check()?;
            self.insert_one(&bound, row, &mut checks)?;
        }
        Ok(())
    }

    pub(super) fn truncate(&mut self, names: &[ObjectName], restart: bool, cascade: bool) -> Result<()> {
        let mut tables = Vec::new();
        for name in names {
            let relation = self.resolve_relation(name)?;
            crate::storage::world::as_table(&relation)?;
            if !tables.contains(&relation.oid) {
                tables.push(relation.oid);
            }
        }
        let mut at = 0;
        while at < tables.len() {
            let bound = self.bound_table(tables[at])?;
            for &(child, _) in &bound.referrers {
                if tables.contains(&child) {
                    continue;
                }
                let name = self.relation(child)?.name.clone();
                if !cascade {
                    let message = "cannot truncate a table referenced in a foreign key constraint";
                    let detail = format!("Table \"{name}\" references \"{}\".", bound.relation.name);
                    let hint = format!("Truncate table \"{name}\" at the same time, or use TRUNCATE ... CASCADE.");
                    return Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message).detail(detail).hint(hint));
                }
                let message = format!("truncate cascades to table \"{name}\"");
                self.session.notice("NOTICE", SqlState::SUCCESSFUL_COMPLETION, message);
                tables.push(child);
            }
            at += 1;
        }
        let mut checks = Vec::new();
        for oid in tables {
            self.lock_table(oid, TableMode::AccessExclusive)?;
            let bound = self.bound_table(oid)?;
            self.fire_before_statement(&bound, Event::Truncate, &[])?;
            self.empty(oid)?;
            if restart {
                for column in &bound.table().columns {
                    if let Some(sequence) = column.sequence {
                        self.db.sequences.remove(&sequence);
                    }
                }
            }
            let bound = self.bound_table(oid)?;
            self.fire_after_statement(&bound, Event::Truncate, &[], &mut checks)?;
        }
        self.run_checks(checks)
    }

    /// A table and its indexes get new, empty spaces.
    pub(super) fn empty(&mut self, oid: Oid) -> Result<()> {
        let space = self.db.store.space();
        self.change_table(oid, |table| {
            table.space = space;
            let cells = table.cells.last().map_or(0, |(_, cells)| *cells);
            table.cells = vec![(0, cells)];
            Ok(())
        })?;
        let relation = self.relation(oid)?;
        for index in crate::storage::world::as_table(&relation)?.indexes.clone() {
            let space = self.db.store.space();
            self.change_index(index, |index| {
                if index.space.is_some() {
                    index.space = Some(space);
                }
            })?;
        }
        Ok(())
    }

    /// ALTER … OWNER TO: the object has to be there.
    pub(super) fn set_owner(
        &mut self,
        object: crate::parse::ddl::ObjectKind,
        if_exists: bool,
        name: &crate::parse::ddl::ObjectRef,
    ) -> Result<()> {
        use crate::parse::ddl::ObjectKind;
        if let ObjectKind::Table | ObjectKind::View | ObjectKind::Sequence | ObjectKind::Index = object {
            self.relation_or_skip(&name.name, if_exists)?;
        }
        if object == ObjectKind::Collation {
            self.collation_named(&name.name)?;
        }
        let _ = parts(&name.name)?;
        Ok(())
    }
}

fn includes(options: &[(LikeOption, bool)], what: LikeOption) -> bool {
    let said = options.iter().rev().find(|(option, _)| *option == what || *option == LikeOption::All);
    said.is_some_and(|(_, included)| *included)
}

fn on_commit(said: Said) -> OnCommit {
    match said {
        Said::PreserveRows => OnCommit::PreserveRows,
        Said::DeleteRows => OnCommit::DeleteRows,
        Said::Drop => OnCommit::Drop,
    }
}

/// The columns of the primary key, which order the rows; none if the key is DEFERRABLE, because then two rows may have the
/// same one until the end of a transaction.
fn primary_columns(constraints: &[TableConstraint]) -> Vec<Arc<str>> {
    let primary = constraints.iter().find_map(|constraint| match &constraint.kind {
        TableConstraintKind::Unique { primary: true, columns, .. } => {
            (super::constraint::timing(constraint.attributes) == Timing::Immediate).then_some(columns)
        }
        _ => None,
    });
    primary.map(|columns| columns.iter().map(fold).collect()).unwrap_or_default()
}

/// Keys first, then CHECK, then FOREIGN KEY.
fn ordered(constraints: &[TableConstraint]) -> Vec<&TableConstraint> {
    let rank = |constraint: &&TableConstraint| match constraint.kind {
        TableConstraintKind::Unique { primary: true, .. } => 0,
        TableConstraintKind::Unique { .. } | TableConstraintKind::UsingIndex { .. } => 1,
        TableConstraintKind::Check(_) | TableConstraintKind::Exclude => 2,
        TableConstraintKind::ForeignKey { .. } => 3,
    };
    let mut ordered: Vec<&TableConstraint> = constraints.iter().collect();
    ordered.sort_by_key(rank);
    ordered
}

/// A column's constraint as one of the table, if it can be one.
pub(super) fn as_table_constraint(
    column: &crate::parse::ast::Ident,
    constraint: &crate::parse::ddl::ColumnConstraint,
) -> Option<TableConstraint> {
    let columns = vec![column.clone()];
    let kind = match &constraint.kind {
        ColumnConstraintKind::Check(condition) => TableConstraintKind::Check(condition.clone()),
        ColumnConstraintKind::Unique { nulls_not_distinct } => TableConstraintKind::Unique {
            primary: false,
            nulls_not_distinct: *nulls_not_distinct,
            columns,
            include: Vec::new(),
        },
        ColumnConstraintKind::PrimaryKey => {
            TableConstraintKind::Unique { primary: true, nulls_not_distinct: false, columns, include: Vec::new() }
        }
        ColumnConstraintKind::References(references) => {
            TableConstraintKind::ForeignKey { columns, references: references.clone() }
        }
        _ => return None,
    };
    Some(TableConstraint { name: constraint.name.clone(), kind, attributes: constraint.attributes })
}
