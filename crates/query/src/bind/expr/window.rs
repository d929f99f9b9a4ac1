//! Window functions: the call, its window, its frame.

use std::sync::Arc;

use crate::parse::ast::{self, WindowFrameBound, WindowFrameUnits, WindowSpec, WindowType};

use crate::bind::Binder;
use crate::bind::block::{Clause, WINDOWS};
use crate::bind::coerce::Coercion;
use crate::bind::expr::call::Parsed;
use crate::bind::expr::mismatch;
use crate::bind::names::{fold, name};
use crate::error::{Result, SqlError, SqlState};
use crate::functions::Body;
use crate::functions::resolve::Callee;
use crate::ir::{ColumnRef, Expr, ExprKind, Frame, FrameBound, FrameExclude, FrameMode, SortKey, WindowCall};
use crate::types::Type;

/// A window: what OVER says.
#[derive(Clone, Debug)]
struct Window {
    partition: Vec<Expr>,
    order: Vec<SortKey>,
    frame: Option<Frame>,
}

impl Binder<'_> {
    /// A call with OVER.
    pub(super) fn window(&mut self, call: &Parsed<'_>) -> Result<Expr> {
        self.frame().block.clause.allows_windows()?;
        let args = self.within(Clause::WindowArgument, |binder| binder.exprs(call.args.iter().copied()))?;
        let filter = match call.filter {
            Some(filter) => Some(self.condition(Clause::Filter, filter)?),
            None => None,
        };
        let resolved = self.resolve(call, &args, &[])?;
        let function = match &resolved.callee {
            Callee::Builtin(function) if matches!(function.body, Body::Aggregate(_) | Body::Window(_)) => *function,
            Callee::Builtin(function) if matches!(function.body, Body::OrderedSet { .. }) => {
                let message = format!("OVER is not supported for ordered-set aggregate {}", call.name);
                return Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message));
            }
            _ => {
                let message =
                    format!("OVER specified, but {} is not a window function nor an aggregate function", call.name);
                return Err(SqlError::new(SqlState::WRONG_OBJECT_TYPE, message));
            }
        };
        refuse_clauses(call, matches!(function.body, Body::Window(_)))?;
        let args = self.arguments(&resolved, args)?;
        let over = call.over.expect("the caller saw OVER");
        let window = self.over(over)?;
        let written = match over {
            WindowType::NamedWindow(named) => {
                let named = name(named);
                let windows = &self.frame().block.named_windows;
                // A window that builds on another one is shown as what it comes to.
                let is_plain = windows.iter().any(|(known, spec)| *known == named && spec.window_name.is_none());
                is_plain.then_some(named)
            }
            WindowType::WindowSpec(_) => None,
        };
        let frame = window.frame.unwrap_or(Frame {
            mode: FrameMode::Range,
            start: FrameBound::UnboundedPreceding,
            end: FrameBound::CurrentRow,
            exclude: FrameExclude::NoOthers,
        });
        let typed = resolved.returns.into();
        let (partition, order) = (window.partition, window.order);
        let windows = &mut self.frame().block.windows;
        windows.push(WindowCall { function, args, filter, partition, order, frame, name: written, typed });
        let column = windows.len() - 1;
        Ok(Expr { kind: ExprKind::Column(ColumnRef { up: 0, slot: WINDOWS, column }), typed })
    }

    fn over(&mut self, over: &WindowType) -> Result<Window> {
        match over {
            WindowType::NamedWindow(name) => self.named_window(&fold(name)),
            WindowType::WindowSpec(spec) => self.window_spec(spec),
        }
    }

    fn named_window(&mut self, name: &str) -> Result<Window> {
        let found = self.frame().block.named_windows.iter().find(|(known, _)| &**known == name).cloned();
        match found {
            Some((_, spec)) => self.nested(|binder| binder.window_spec(&spec)),
            None => {
                let message = format!("window \"{name}\" does not exist");
                Err(SqlError::new(SqlState::UNDEFINED_OBJECT, message))
            }
        }
    }

    /// `(base PARTITION BY … ORDER BY … frame)`
    fn window_spec(&mut self, spec: &WindowSpec) -> Result<Window> {
        let base = match &spec.window_name {
            Some(name) => Some((fold(name).into_owned(), self.named_window(&fold(name))?)),
            None => None,
        };
        let partition = self.within(Clause::Partition, |binder| {
            let bound = binder.exprs(&spec.partition_by)?;
            bound.into_iter().map(|expr| binder.settle(expr)).collect::<Result<Vec<_>>>()
        })?;
        let order = self.within(Clause::WindowOrder, |binder| binder.sort_keys(&spec.order_by))?;
        let (partition, order) = match base {
            None => (partition, order),
            Some((name, base)) => {
                let refuse = |what: &str| {
                    let message = format!("cannot override {what} clause of window \"{name}\"");
                    Err(SqlError::new(SqlState::WINDOWING_ERROR, message))
                };
                if !spec.partition_by.is_empty() {
                    return refuse("PARTITION BY");
                }
                if !spec.order_by.is_empty() && !base.order.is_empty() {
                    return refuse("ORDER BY");
                }
                if base.frame.is_some() {
                    let message = format!("cannot copy window \"{name}\" because it has a frame clause");
                    return Err(SqlError::new(SqlState::WINDOWING_ERROR, message));
                }
                (base.partition, if base.order.is_empty() { order } else { base.order })
            }
        };
        let frame = match &spec.window_frame {
            Some(frame) => Some(self.window_frame(frame, &order)?),
            None => None,
        };
        Ok(Window { partition, order, frame })
    }

    fn window_frame(&mut self, frame: &ast::WindowFrame, order: &[SortKey]) -> Result<Frame> {
        let mode = match frame.units {
            WindowFrameUnits::Rows => FrameMode::Rows,
            WindowFrameUnits::Range => FrameMode::Range,
            WindowFrameUnits::Groups => FrameMode::Groups,
        };
        let is_offset = |bound: &WindowFrameBound| {
            matches!(bound, WindowFrameBound::Preceding(Some(_)) | WindowFrameBound::Following(Some(_)))
        };
        let bounds = || std::iter::once(&frame.start_bound).chain(&frame.end_bound);
        if mode == FrameMode::Range && bounds().any(is_offset) && order.len() != 1 {
            let message = "RANGE with offset PRECEDING/FOLLOWING requires exactly one ORDER BY column";
            return Err(SqlError::new(SqlState::WINDOWING_ERROR, message));
        }
        if mode == FrameMode::Groups && order.is_empty() {
            return Err(SqlError::new(SqlState::WINDOWING_ERROR, "GROUPS mode requires an ORDER BY clause"));
        }
        check_bounds(&frame.start_bound, frame.end_bound.as_ref())?;
        let start = self.frame_bound(&frame.start_bound, mode, order)?;
        let end = match &frame.end_bound {
            Some(bound) => self.frame_bound(bound, mode, order)?,
            None => FrameBound::CurrentRow,
        };
        Ok(Frame { mode, start, end, exclude: frame.exclude })
    }

    fn frame_bound(&mut self, bound: &WindowFrameBound, mode: FrameMode, order: &[SortKey]) -> Result<FrameBound> {
        Ok(match bound {
            WindowFrameBound::CurrentRow => FrameBound::CurrentRow,
            WindowFrameBound::Preceding(None) => FrameBound::UnboundedPreceding,
            WindowFrameBound::Following(None) => FrameBound::UnboundedFollowing,
            WindowFrameBound::Preceding(Some(offset)) => FrameBound::Preceding(self.offset(offset, mode, order)?),
            WindowFrameBound::Following(Some(offset)) => FrameBound::Following(self.offset(offset, mode, order)?),
        })
    }

    /// How far a frame reaches: a number of rows, or of the same sort as what is ordered by.
    fn offset(&mut self, offset: &ast::Expr, mode: FrameMode, order: &[SortKey]) -> Result<Expr> {
        let bound = self.expr_in(Clause::WindowFrame, offset)?;
        let label = match mode {
            FrameMode::Rows => "ROWS",
            FrameMode::Range => "RANGE",
            FrameMode::Groups => "GROUPS",
        };
        let mut has_columns = false;
        bound.slots(&mut |_| has_columns = true);
        if has_columns {
            let message = format!("argument of {label} must not contain variables");
            return Err(SqlError::new(SqlState::INVALID_COLUMN_REFERENCE, message));
        }
        let ty = match mode {
            FrameMode::Rows | FrameMode::Groups => Type::INT8,
            FrameMode::Range => match order[0].expr.ty() {
                Type::DATE | Type::TIMESTAMP | Type::TIMESTAMPTZ | Type::TIME | Type::TIMETZ | Type::INTERVAL => {
                    Type::INTERVAL
                }
                ty @ (Type::INT2 | Type::INT4 | Type::INT8 | Type::NUMERIC) => ty,
                Type::FLOAT4 | Type::FLOAT8 => Type::FLOAT8,
                ty => {
                    let message = format!(
                        "RANGE with offset PRECEDING/FOLLOWING is not supported for column type {}",
                        self.type_name(ty)
                    );
                    return Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message));
                }
            },
        };
        let from = bound.ty();
        self.convert(bound, ty, Coercion::Assignment)?.ok_or_else(|| {
            let (wanted, got) = (self.type_name(ty), self.type_name(from));
            mismatch(format!("argument of {label} must be type {wanted}, not type {got}"))
        })
    }

    /// The WINDOW clause of a query, for the calls in it.
    pub(in crate::bind) fn learn_windows(&mut self, windows: &[ast::NamedWindowDefinition]) -> Result<()> {
        for ast::NamedWindowDefinition(ident, window) in windows {
            let name: Arc<str> = name(ident);
            let known = &mut self.frame().block.named_windows;
            if known.iter().any(|(other, _)| *other == name) {
                let message = format!("window \"{name}\" is already defined");
                return Err(SqlError::new(SqlState::WINDOWING_ERROR, message));
            }
            known.push((name, window.clone()));
        }
        Ok(())
    }
}

fn check_bounds(start: &WindowFrameBound, end: Option<&WindowFrameBound>) -> Result<()> {
    use WindowFrameBound as B;
    let end = end.unwrap_or(&B::CurrentRow);
    let message = match (start, end) {
        (B::Following(None), _) => "frame start cannot be UNBOUNDED FOLLOWING",
        (_, B::Preceding(None)) => "frame end cannot be UNBOUNDED PRECEDING",
        (B::CurrentRow, B::Preceding(_)) => "frame starting from current row cannot have preceding rows",
        (B::Following(_), B::Preceding(_) | B::CurrentRow) => {
            "frame starting from following row cannot have preceding rows"
        }
        _ => return Ok(()),
    };
    Err(SqlError::new(SqlState::WINDOWING_ERROR, message))
}

fn refuse_clauses(call: &Parsed<'_>, is_window: bool) -> Result<()> {
    let refuse = |message: &str| Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message.to_owned()));
    if call.distinct {
        return refuse("DISTINCT is not implemented for window functions");
    }
    if !call.order.is_empty() {
        return refuse("aggregate ORDER BY is not implemented for window functions");
    }
    if !call.within_group.is_empty() {
        return refuse("WITHIN GROUP is not implemented for window functions");
    }
    if is_window && call.filter.is_some() {
        return refuse("FILTER is not implemented for non-aggregate window functions");
    }
    if !call.star && call.args.is_empty() && !is_window {
        let message = format!("{}(*) must be used to call a parameterless aggregate function", call.name);
        return Err(SqlError::new(SqlState::WRONG_OBJECT_TYPE, message));
    }
    Ok(())
}
