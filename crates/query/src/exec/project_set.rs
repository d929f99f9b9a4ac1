//! Set-returning functions in a select list: in lockstep, as many tuples as the longest has rows.

use std::sync::Arc;

use crate::catalog::{Catalog, ParameterMode, UserTypeKind};
use crate::error::Result;
use crate::exec::eval::{SetRows, set_rows};
use crate::exec::operator::{Node, Operator};
use crate::exec::{Context, Run, Slot, Tuple};
use crate::ir::{Expr, ExprKind};
use crate::types::{Datum, RecordShape, Type};

pub(crate) struct ProjectSet<'p> {
    input: Node<'p>,
    calls: &'p [Expr],
    /// What the rows of each call are records of, if they have several columns; known when the first tuple is there.
    shapes: Option<Vec<Option<Arc<RecordShape>>>>,
    current: Option<(Tuple, Vec<Values>)>,
}

/// The values of one call for one tuple.
type Values = Box<dyn Iterator<Item = Datum>>;

impl<'p> ProjectSet<'p> {
    pub(crate) fn new(calls: &'p [Expr], input: Node<'p>) -> Self {
        ProjectSet { input, calls, shapes: None, current: None }
    }

    fn start(&mut self, tuple: &Tuple, run: &mut Run<'p>, cx: &mut dyn Context) -> Result<Vec<Values>> {
        let calls = self.calls;
        let shapes = self.shapes.get_or_insert_with(|| calls.iter().map(|call| shape(call, cx.catalog())).collect());
        let mut all = Vec::with_capacity(calls.len());
        for (call, shape) in calls.iter().zip(shapes) {
            all.push(match set_rows(call, tuple, run, cx)? {
                SetRows::Value(value) => Box::new(std::iter::once(value)) as Values,
                SetRows::Rows(rows) => {
                    let shape = shape.clone();
                    Box::new(rows.map(move |row| value(row, shape.as_ref())))
                }
            });
        }
        Ok(all)
    }
}

fn value(mut row: Vec<Datum>, shape: Option<&Arc<RecordShape>>) -> Datum {
    match (shape, row.len()) {
        (Some(shape), length) if length != 1 || shape.fields.len() == 1 => Datum::record(shape.clone(), row),
        _ => row.pop().unwrap_or_default(),
    }
}

fn shape(call: &Expr, catalog: &Catalog) -> Option<Arc<RecordShape>> {
    let fields = match &call.kind {
        ExprKind::Call { function, args } => {
            let types: Vec<Type> = args.iter().map(Expr::ty).collect();
            function.columns(&types, catalog)
        }
        ExprKind::UserCall { function, .. } => {
            let out = |mode| matches!(mode, ParameterMode::Table | ParameterMode::Out | ParameterMode::InOut);
            let columns = function.parameters.iter().filter(|parameter| out(parameter.mode));
            let columns = columns.map(|parameter| (parameter.name.clone().unwrap_or_default(), parameter.typed));
            let columns: Vec<_> = columns.collect();
            match catalog.user_type(call.ty()).map(|user| &user.kind) {
                // Also a composite type of one field is a record.
                Some(UserTypeKind::Composite(fields)) if columns.is_empty() => {
                    return Some(Arc::new(RecordShape { ty: call.ty(), fields: fields.clone() }));
                }
                _ => columns,
            }
        }
        _ => return None,
    };
    (fields.len() > 1).then(|| Arc::new(RecordShape { ty: call.ty(), fields }))
}

impl<'p> Operator<'p> for ProjectSet<'p> {
    fn next(&mut self, run: &mut Run<'p>, cx: &mut dyn Context) -> Result<Option<Tuple>> {
        loop {
            run.step(cx)?;
            let Some((tuple, sets)) = &mut self.current else {
                let Some(tuple) = self.input.next(run, cx)? else { return Ok(None) };
                let sets = self.start(&tuple, run, cx)?;
                self.current = Some((tuple, sets));
                continue;
            };
            let values: Vec<Option<Datum>> = sets.iter_mut().map(Iterator::next).collect();
            if values.iter().all(Option::is_none) {
                self.current = None;
                continue;
            }
            let mut tuple = tuple.clone();
            tuple.push(Slot::Values(values.into_iter().map(Option::unwrap_or_default).collect()));
            return Ok(Some(tuple));
        }
    }

    fn rewind(&mut self, run: &mut Run<'p>) {
        self.input.rewind(run);
        self.current = None;
    }
}
