//! NOT NULL, CHECK and UNIQUE: checked for each row as it is written.

use std::ops::Bound;
use std::sync::Arc;

use skew_model::TxnId;
use skew_store::LooksAt;

use crate::catalog::{IndexKeyKind, RelationKind, Table};
use crate::client::Constraints;
use crate::error::{Result, SqlError, SqlState};
use crate::exec::RowRef;
use crate::ir::RowCheck;
use crate::storage::World;
use crate::storage::look::{Claim, Looked, Stake};
use crate::storage::rows::after;
use crate::storage::table::{BoundIndex, BoundKey, BoundTable};
use crate::types::{Datum, text};

/// Longer values are cut in messages.
const SHOWN: usize = 64;

impl World<'_> {
    /// Fills in generated columns and checks NOT NULL and CHECK.
    pub(crate) fn complete_row(&mut self, bound: &Arc<BoundTable>, values: &mut [Datum]) -> Result<()> {
        for (position, expr) in &bound.generated {
            values[*position] = self.eval_over(expr, values)?;
        }
        let table = bound.table();
        for (position, column) in table.columns.iter().enumerate() {
            if column.not_null && !column.dropped && values[position].is_null() {
                let message = format!(
                    "null value in column \"{}\" of relation \"{}\" violates not-null constraint",
                    column.name, bound.relation.name
                );
                let error = SqlError::new(SqlState::NOT_NULL_VIOLATION, message).column(&*column.name);
                return Err(self.failing_row(error, bound, values));
            }
        }
        for (name, condition) in &bound.checks {
            if matches!(self.eval_over(condition, values)?, Datum::Bool(false)) {
                let message =
                    format!("new row for relation \"{}\" violates check constraint \"{name}\"", bound.relation.name);
                let error = SqlError::new(SqlState::CHECK_VIOLATION, message).constraint(&**name);
                return Err(self.failing_row(error, bound, values));
            }
        }
        Ok(())
    }

    /// WITH CHECK OPTION: a row that was written through a view has to be visible there.
    pub(crate) fn check_view(&mut self, bound: &Arc<BoundTable>, row: RowRef, checks: &[RowCheck]) -> Result<()> {
        if checks.is_empty() {
            return Ok(());
        }
        let values = self.look_row(bound.table(), row.key)?;
        for check in checks {
            if !matches!(self.eval_over(&check.condition, &values)?, Datum::Bool(true)) {
                let message = format!("new row violates check option for view \"{}\"", check.view);
                let error = SqlError::with_code("44000", message);
                let shown = self.failing_row(error, bound, &values);
                return Err(shown);
            }
        }
        Ok(())
    }

    /// The first unique index in which a row with these values would meet another one, and that one. Waits for running
    /// transactions whose end decides it.
    pub(crate) fn find_conflict<'b>(
        &mut self,
        bound: &'b Arc<BoundTable>,
        values: &[Datum],
        own: Option<RowRef>,
        which: impl Fn(&BoundIndex) -> bool,
    ) -> Result<Option<(&'b BoundIndex, RowRef)>> {
        self.conflict_in(bound, values, own, Entering::OneByOne, which)
    }

    /// The same for ON CONFLICT, which enters no index before it has looked at all that it names.
    pub(crate) fn find_arbitrated<'b>(
        &mut self,
        bound: &'b Arc<BoundTable>,
        values: &[Datum],
        which: impl Fn(&BoundIndex) -> bool,
    ) -> Result<Option<(&'b BoundIndex, RowRef)>> {
        self.conflict_in(bound, values, None, Entering::Later, which)
    }

    fn conflict_in<'b>(
        &mut self,
        bound: &'b Arc<BoundTable>,
        values: &[Datum],
        own: Option<RowRef>,
        entering: Entering,
        which: impl Fn(&BoundIndex) -> bool,
    ) -> Result<Option<(&'b BoundIndex, RowRef)>> {
        if self.db.options.constraints == Constraints::Weak {
            return Ok(None);
        }
        let mut passed = Vec::new();
        for index in bound.indexes.iter().filter(|index| index.unique && which(index)) {
            let Some(keys) = self.index_values(bound, index, values)? else { continue };
            if index.is_distinct(&keys) {
                continue;
            }
            if let Some(row) = self.find_unique(bound, index, &keys, own, &passed)? {
                return Ok(Some((index, RowRef::seen(bound.relation.oid, row))));
            }
            if entering == Entering::OneByOne {
                passed.push(Claim { index: index.oid, key: index.encode(&keys) });
            }
        }
        Ok(None)
    }

    /// The row that has these values in a unique index, our own one apart, on the committed state. Waits for those who
    /// are about to put one there or to take one away. Meanwhile others wait for the keys of the indexes before.
    pub(crate) fn find_unique(
        &mut self,
        bound: &Arc<BoundTable>,
        index: &BoundIndex,
        keys: &[Datum],
        own: Option<RowRef>,
        passed: &[Claim],
    ) -> Result<Option<u32>> {
        let owner = self.owner();
        loop {
            let mut open = self.claims_of_others(index, keys);
            let mut candidates = self.candidates(bound, index, keys)?;
            candidates.retain(|row| own.is_none_or(|own| own.key != *row));
            for &row in &candidates {
                match self.row_matches(bound, index, keys, row)? {
                    Matched::Yes => match self.writers_of(bound, row)? {
                        writers if writers.is_empty() => {
                            self.looks_at_row(bound, row, &index.columns, LooksAt::OtherRow)?;
                            return Ok(Some(row));
                        }
                        writers => open.extend(writers),
                    },
                    Matched::No => {}
                    Matched::Open(running) => open.extend(running),
                }
            }
            if open.is_empty() {
                for row in candidates {
                    self.looks_at_row(bound, row, &index.columns, LooksAt::OtherRow)?;
                }
                return Ok(None);
            }
            if !passed.is_empty() {
                self.db.claims.insert(owner, passed.to_vec());
            }
            let waited = self.wait_for_stakes(&open);
            self.db.claims.remove(&owner);
            if waited.is_err() {
                self.db.locks.reconsider(owner);
                self.db.changed();
            }
            waited?;
        }
    }

    /// Those who wait before they can put the same key into the index.
    fn claims_of_others(&mut self, index: &BoundIndex, keys: &[Datum]) -> Vec<Stake> {
        if self.db.claims.is_empty() {
            return Vec::new();
        }
        let (own, claim) = (self.owner(), Claim { index: index.oid, key: index.encode(keys) });
        let claims = self.db.claims.iter().filter(|(owner, claims)| **owner != own && claims.contains(&claim));
        claims.map(|(&owner, _)| Stake::Claim { owner, claim: claim.clone() }).collect()
    }

    /// Where writers lock: who is changing a row, even if they leave its key alone. PostgreSQL waits for them too, because
    /// what they make is another version.
    fn writers_of(&mut self, bound: &Arc<BoundTable>, row: u32) -> Result<Vec<Stake>> {
        let mut writers = Vec::new();
        if self.writers_lock() {
            for key in self.keys_of(RowRef::seen(bound.relation.oid, row))? {
                if let Looked::Open(running) = self.look_settled(key)? {
                    writers.extend(running);
                }
            }
        }
        Ok(writers)
    }

    /// Rows that may have these values in an index.
    pub(crate) fn candidates(
        &mut self,
        bound: &Arc<BoundTable>,
        index: &BoundIndex,
        keys: &[Datum],
    ) -> Result<Vec<u32>> {
        let Some(space) = index.space else {
            let first = self.db.store.find(bound.table().space, &index.encode(keys)).map(|key| key.0);
            let again = first.map_or_else(Vec::new, |first| self.rows_again(first));
            return Ok(first.into_iter().chain(again).collect());
        };
        let bytes = index.entry(keys);
        let to = after(bytes.clone());
        let to = to.as_deref().map_or(Bound::Unbounded, Bound::Excluded);
        let entries = self.db.store.range(space, Bound::Included(&bytes), to);
        Ok(entries.map(|entry| self.row_of_entry(entry)).collect())
    }

    /// Whether a row is there and has these values: as it is, and as those who are changing it will leave it.
    pub(crate) fn row_matches(
        &mut self,
        bound: &Arc<BoundTable>,
        index: &BoundIndex,
        keys: &[Datum],
        row: u32,
    ) -> Result<Matched> {
        let table = bound.table();
        let cells = index.columns.iter().filter(|position| !table.clustered.contains(position));
        let cells: Vec<u32> = cells.map(|&position| self.cell_key(table, row, table.columns[position].cell)).collect();
        let mut open = Vec::new();
        for key in std::iter::once(row).chain(cells) {
            if let Looked::Open(running) = self.look_settled(key)? {
                open.extend(running);
            }
        }
        let mut views: Vec<Option<TxnId>> = vec![None];
        for stake in &open {
            if let Stake::Cell { txn, .. } = stake
                && !views.contains(&Some(*txn))
            {
                views.push(Some(*txn));
            }
        }
        let mut matches = false;
        for ends in views {
            matches = matches || self.matches_after(bound, index, keys, row, ends)?;
        }
        Ok(match (matches, open.is_empty()) {
            (false, _) => Matched::No,
            (true, true) => Matched::Yes,
            (true, false) => Matched::Open(open),
        })
    }

    /// Whether a row is there and has these values once another transaction has committed.
    fn matches_after(
        &mut self,
        bound: &Arc<BoundTable>,
        index: &BoundIndex,
        keys: &[Datum],
        row: u32,
        ends: Option<TxnId>,
    ) -> Result<bool> {
        let Some(values) = self.look_row_after(bound.table(), row, ends)? else { return Ok(false) };
        let found = self.index_values(bound, index, &values)?;
        Ok(found.is_some_and(|found| index.encode(&found) == index.encode(keys)))
    }

    /// The error of a duplicate key.
    pub(crate) fn duplicate(&mut self, bound: &Arc<BoundTable>, index: &BoundIndex, values: &[Datum]) -> SqlError {
        let keys = self.index_values(bound, index, values).ok().flatten().unwrap_or_default();
        let message = format!("duplicate key value violates unique constraint \"{}\"", index.name);
        let error = SqlError::new(SqlState::UNIQUE_VIOLATION, message).constraint(&*index.name);
        let error = match index.key_columns() {
            Some(columns) => {
                let detail = format!("Key {} already exists.", self.show_key(bound.table(), &columns, &keys));
                error.detail(detail)
            }
            None => {
                let detail = format!("Key {} already exists.", self.show_expressions(bound, index, &keys));
                error.detail(detail)
            }
        };
        self.of_table(error, bound)
    }

    /// The same for an index over expressions: `(lower(b))=(w)`
    fn show_expressions(&self, bound: &Arc<BoundTable>, index: &BoundIndex, values: &[Datum]) -> String {
        let table = bound.table();
        let relation = self.catalog.relation(index.oid);
        let keys = match relation.map(|relation| &relation.kind) {
            Some(RelationKind::Index(index)) => &index.keys[..],
            _ => &[],
        };
        let (mut names, mut shown) = (Vec::new(), Vec::new());
        for ((key, stored), value) in index.keys.iter().zip(keys).zip(values) {
            let (name, ty) = match (key, &stored.what) {
                (BoundKey::Column(position), _) => {
                    (table.columns[*position].name.to_string(), table.columns[*position].typed.ty)
                }
                (BoundKey::Expr(expr), IndexKeyKind::Expr(stored)) => {
                    let shown =
                        crate::deparse::expression(self, stored, Some(&bound.relation), crate::deparse::Style::Plain);
                    (shown, expr.ty())
                }
                (BoundKey::Expr(expr), IndexKeyKind::Column(_)) => (String::new(), expr.ty()),
            };
            names.push(name);
            shown.push(if value.is_null() { "null".to_owned() } else { text::output(value, ty, self) });
        }
        format!("({})=({})", names.join(", "), shown.join(", "))
    }

    /// `(a, b)=(1, 2)`
    pub(crate) fn show_key(&self, table: &Table, columns: &[usize], values: &[Datum]) -> String {
        let names: Vec<&str> = columns.iter().map(|&position| &*table.columns[position].name).collect();
        let types = columns.iter().map(|&position| table.columns[position].typed.ty);
        let shown: Vec<String> = values
            .iter()
            .zip(types)
            .map(|(value, ty)| if value.is_null() { "null".to_owned() } else { text::output(value, ty, self) })
            .collect();
        format!("({})=({})", names.join(", "), shown.join(", "))
    }

    /// Names the table in an error.
    pub(crate) fn of_table(&self, error: SqlError, bound: &Arc<BoundTable>) -> SqlError {
        let schema = self.catalog.schemas.get(&bound.relation.schema).map_or("public", |schema| &schema.name);
        error.schema(schema).table(&*bound.relation.name)
    }

    fn failing_row(&self, error: SqlError, bound: &Arc<BoundTable>, values: &[Datum]) -> SqlError {
        let columns = bound.table().columns.iter().zip(values).filter(|(column, _)| !column.dropped);
        let shown: Vec<String> = columns
            .map(|(column, value)| {
                if value.is_null() {
                    return "null".to_owned();
                }
                let full = text::output(value, column.typed.ty, self);
                match full.char_indices().nth(SHOWN) {
                    Some((end, _)) => format!("{}...", &full[..end]),
                    None => full,
                }
            })
            .collect();
        self.of_table(error.detail(format!("Failing row contains ({}).", shown.join(", "))), bound)
    }
}

/// When a new row enters unique indexes: whoever comes later waits for it there.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Entering {
    /// Each as soon as nobody is in the way.
    OneByOne,
    /// None yet.
    Later,
}

/// Whether a row has the values that were asked for.
pub(crate) enum Matched {
    Yes,
    No,
    /// It depends on how these end.
    Open(Vec<Stake>),
}
