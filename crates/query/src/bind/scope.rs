//! What names are visible where: the FROM items of this query and of those around it.

use std::borrow::Cow;
use std::sync::Arc;

use crate::bind::block::Block;
use crate::bind::expr::record::Fields;
use crate::catalog::{FIRST_USER_OID, Oid, Table};
use crate::ir::{ColumnRef, Expr, ExprKind, SystemColumn};
use crate::types::{Datum, RecordShape, Type, Typed};

/// A column that FROM offers.
#[derive(Clone, Debug)]
pub(super) struct ItemColumn {
    /// Its name.
    pub name: Arc<str>,
    /// What it is, on the tuple of its FROM.
    pub expr: Expr,
    /// The table and column that it is.
    pub origin: Option<(Oid, i16)>,
    /// The collation that its texts have; 0 is the database's.
    pub collation: Oid,
}

/// The columns of an item of FROM.
#[derive(Clone, Debug)]
pub(super) enum Columns<'a> {
    /// A table's own: nothing is copied for them.
    Table(Oid, &'a Table),
    /// Others.
    List(Vec<ItemColumn>),
}

/// A name in FROM.
#[derive(Clone, Debug)]
pub(super) struct Item<'a> {
    /// The alias, or the relation's name.
    pub name: Arc<str>,
    /// The schema of a relation without alias, for `schema.table.column`.
    pub schema: Option<Oid>,
    /// The slot that has its row; a join with an alias has none.
    pub slot: Option<usize>,
    /// The table whose row is in the slot: it has system columns and can be locked.
    pub table: Option<Oid>,
    /// The type of the whole row.
    pub row_type: Type,
    /// Its columns.
    pub columns: Columns<'a>,
    /// The fields of those of its columns, by position, that are records without a name.
    pub records: Vec<(usize, Fields)>,
    /// Whether its columns can be named without it.
    pub open: bool,
    /// It is a function that returns values, not rows: its name alone is the value.
    pub scalar: bool,
}

/// The tuple that expressions are bound on, and its names.
#[derive(Debug)]
pub(super) struct Frame<'a> {
    /// The names.
    pub items: Vec<Item<'a>>,
    /// The columns that can be named alone and that `*` means, where these are not simply those of the items in turn:
    /// USING and NATURAL merge some.
    pub merged: Option<Vec<ItemColumn>>,
    /// Whether it can be seen now: FROM's left side is seen from LATERAL items only, though it is on the way further up.
    pub visible: bool,
    /// What is collected while a query's expressions are bound.
    pub block: Block,
}

/// What looking for a name gives.
pub(super) enum Lookup {
    None,
    One(Box<ItemColumn>),
    Many,
}

impl Lookup {
    fn and(self, other: Lookup) -> Lookup {
        match (self, other) {
            (Lookup::None, other) => other,
            (one, Lookup::None) => one,
            _ => Lookup::Many,
        }
    }
}

impl<'a> Frame<'a> {
    pub(super) fn new(items: Vec<Item<'a>>, merged: Option<Vec<ItemColumn>>) -> Frame<'a> {
        Frame { items, merged, visible: true, block: Block::default() }
    }

    /// A column that is named alone.
    pub(super) fn column(&self, name: &str) -> Lookup {
        let regular = match &self.merged {
            Some(columns) => in_list(columns, name),
            None => self.open_items().fold(Lookup::None, |found, item| found.and(item.column(name))),
        };
        match (regular, system_column(name)) {
            (Lookup::None, Some(column)) => {
                let systems = self.items.iter().filter_map(|item| item.system(column));
                systems.fold(Lookup::None, |found, column| found.and(Lookup::One(Box::new(column))))
            }
            (regular, _) => regular,
        }
    }

    fn open_items(&self) -> impl Iterator<Item = &Item<'a>> {
        self.items.iter().filter(|item| item.open)
    }

    /// All columns, for `*`.
    pub(super) fn all(&self) -> Vec<ItemColumn> {
        match &self.merged {
            Some(columns) => columns.clone(),
            None => self.open_items().flat_map(Item::all).collect(),
        }
    }
}

impl<'a> Item<'a> {
    /// One of its columns.
    pub(super) fn column(&self, name: &str) -> Lookup {
        match &self.columns {
            Columns::List(columns) => in_list(columns, name),
            Columns::Table(oid, table) => {
                let at = table.columns.iter().position(|column| &*column.name == name && !column.dropped);
                at.map_or(Lookup::None, |at| Lookup::One(Box::new(self.table_column(*oid, table, at))))
            }
        }
    }

    /// One of its columns, system columns included.
    pub(super) fn any_column(&self, name: &str) -> Lookup {
        match (self.column(name), system_column(name)) {
            (Lookup::None, Some(column)) => {
                self.system(column).map_or(Lookup::None, |column| Lookup::One(Box::new(column)))
            }
            (found, _) => found,
        }
    }

    fn table_column(&self, oid: Oid, table: &Table, at: usize) -> ItemColumn {
        let slot = self.slot.expect("a table has a slot");
        let column = &table.columns[at];
        let kind = ExprKind::Column(ColumnRef { up: 0, slot, column: at });
        let attnum = i16::try_from(at + 1).unwrap_or(i16::MAX);
        ItemColumn {
            name: column.name.clone(),
            expr: Expr { kind, typed: column.typed },
            origin: Some((oid, attnum)),
            collation: column.collation,
        }
    }

    fn system(&self, column: SystemColumn) -> Option<ItemColumn> {
        let table = self.table?;
        let slot = self.slot?;
        let (name, ty) = match column {
            SystemColumn::TableOid => ("tableoid", Type::OID),
            SystemColumn::Ctid => ("ctid", Type::TID),
            SystemColumn::Xmin => ("xmin", Type::XID),
            SystemColumn::Xmax => ("xmax", Type::XID),
            SystemColumn::Cmin => ("cmin", Type::CID),
            SystemColumn::Cmax => ("cmax", Type::CID),
        };
        let expr = match (column, &self.columns) {
            // Tables that are made up have no rows of the store, but their first column is never NULL.
            (SystemColumn::TableOid, Columns::List(columns)) if table < FIRST_USER_OID && !columns.is_empty() => {
                let there = Expr::new(ExprKind::IsNotNull(Box::new(columns[0].expr.clone())), Type::BOOL);
                let number = Expr::constant(Datum::Int(table.into()), Type::OID);
                Expr::new(ExprKind::Case { operand: None, branches: vec![(there, number)], otherwise: None }, ty)
            }
            _ => Expr::new(ExprKind::System { up: 0, slot, column }, ty),
        };
        Some(ItemColumn { name: name.into(), expr, origin: None, collation: 0 })
    }

    /// All of its columns.
    pub(super) fn all(&self) -> Vec<ItemColumn> {
        match &self.columns {
            Columns::List(columns) => columns.clone(),
            Columns::Table(oid, table) => (0..table.columns.len())
                .filter(|at| !table.columns[*at].dropped)
                .map(|at| self.table_column(*oid, table, at))
                .collect(),
        }
    }

    /// Names and types of its columns.
    pub(super) fn shape(&self) -> RecordShape {
        let fields = match &self.columns {
            Columns::List(columns) => columns.iter().map(|column| (column.name.clone(), column.expr.typed)).collect(),
            Columns::Table(_, table) => {
                let live = table.columns.iter().filter(|column| !column.dropped);
                live.map(|column| (column.name.clone(), column.typed)).collect()
            }
        };
        RecordShape { ty: self.row_type, fields }
    }

    /// Its row as one value.
    pub(super) fn whole_row(&self) -> Expr {
        if self.scalar
            && let [column] = self.all().as_slice()
        {
            return column.expr.clone();
        }
        let shape = Arc::new(self.shape());
        let kind = match self.slot {
            Some(slot) => ExprKind::Row { up: 0, slot, shape },
            None => ExprKind::MakeRow { fields: self.all().into_iter().map(|column| column.expr).collect(), shape },
        };
        Expr { kind, typed: Typed::from(self.row_type) }
    }

    /// Its slots come `by` later in the tuple.
    pub(super) fn shift(&mut self, by: usize) {
        if by == 0 {
            return;
        }
        if let Some(slot) = &mut self.slot {
            *slot += by;
        }
        if let Columns::List(columns) = &mut self.columns {
            shift_columns(columns, by);
        }
    }

    /// Gives its columns these names; `None` if there are more names than columns.
    pub(super) fn rename(&mut self, names: &[Cow<'_, str>]) -> Option<()> {
        let mut columns = self.all();
        if names.len() > columns.len() {
            return None;
        }
        for (column, name) in columns.iter_mut().zip(names) {
            column.name = name.as_ref().into();
        }
        self.columns = Columns::List(columns);
        Some(())
    }
}

/// The slots of these columns come `by` later in the tuple.
pub(super) fn shift_columns(columns: &mut [ItemColumn], by: usize) {
    for column in columns {
        column.expr.map_slots(&mut |slot| slot + by);
    }
}

fn in_list(columns: &[ItemColumn], name: &str) -> Lookup {
    let mut found = columns.iter().filter(|column| &*column.name == name);
    match (found.next(), found.next()) {
        (None, _) => Lookup::None,
        (Some(column), None) => Lookup::One(Box::new(column.clone())),
        (Some(_), Some(_)) => Lookup::Many,
    }
}

fn system_column(name: &str) -> Option<SystemColumn> {
    Some(match name {
        "tableoid" => SystemColumn::TableOid,
        "ctid" => SystemColumn::Ctid,
        "xmin" => SystemColumn::Xmin,
        "xmax" => SystemColumn::Xmax,
        "cmin" => SystemColumn::Cmin,
        "cmax" => SystemColumn::Cmax,
        _ => return None,
    })
}
