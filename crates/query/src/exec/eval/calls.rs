//! Calls of functions and casts.

use std::sync::Arc;

use crate::budget;
use crate::catalog::{FIRST_USER_OID, Returns, UserFunction, UserTypeKind};
use crate::error::{Result, SqlError, SqlState};
use crate::exec::{Context, Run, Tuple};
use crate::functions::define::call_scalar;
use crate::functions::{Body, Function, Site, fits};
use crate::ir::{Expr, ExprKind};
use crate::types::{Datum, Type, Typed, cast, kind};

impl<'p> Run<'p> {
    pub(super) fn call(
        &mut self,
        cx: &mut dyn Context,
        function: &'static Function,
        args: &'p [Expr],
        returns: Typed,
        tuple: &Tuple,
    ) -> Result<Datum> {
        self.enter()?;
        // Almost all calls have few arguments, and those need no memory.
        match args {
            [] => self.apply(cx, function, &[], &[], returns),
            [one] => self.call_with(cx, function, [one], returns, tuple),
            [one, two] => self.call_with(cx, function, [one, two], returns, tuple),
            [one, two, three] => self.call_with(cx, function, [one, two, three], returns, tuple),
            many => self.call_with_many(cx, function, many, returns, tuple),
        }
    }

    fn call_with_many(
        &mut self,
        cx: &mut dyn Context,
        function: &'static Function,
        args: &'p [Expr],
        returns: Typed,
        tuple: &Tuple,
    ) -> Result<Datum> {
        let values = self.eval_all(cx, args, tuple)?;
        let types: Vec<Typed> = args.iter().map(|arg| arg.typed).collect();
        self.apply(cx, function, &values, &types, returns)
    }

    fn call_with<const N: usize>(
        &mut self,
        cx: &mut dyn Context,
        function: &'static Function,
        args: [&'p Expr; N],
        returns: Typed,
        tuple: &Tuple,
    ) -> Result<Datum> {
        let mut values = [const { Datum::Null }; N];
        for (value, arg) in values.iter_mut().zip(args) {
            *value = self.eval(cx, arg, tuple)?;
        }
        self.apply(cx, function, &values, &args.map(|arg| arg.typed), returns)
    }

    /// Calls a built-in function with values.
    pub(crate) fn apply(
        &mut self,
        cx: &mut dyn Context,
        function: &'static Function,
        values: &[Datum],
        types: &[Typed],
        returns: Typed,
    ) -> Result<Datum> {
        if function.strict && values.iter().any(Datum::is_null) {
            return Ok(Datum::Null);
        }
        match &function.body {
            Body::Scalar(body) => {
                let value = call_scalar(*body, cx, values, &Site { args: types, returns })?;
                // What grows, grows step by step: text that is added to itself stops here.
                match &value {
                    Datum::Text(text) => fits(text.len())?,
                    Datum::Bytes(bytes) => fits(bytes.len())?,
                    _ => {}
                }
                Ok(value)
            }
            Body::Set { .. } => Err(not_a_place_for_sets()),
            Body::Aggregate(_) | Body::OrderedSet { .. } | Body::Window(_) => {
                Err(SqlError::new(SqlState::GROUPING_ERROR, format!("{} is not allowed here", function.name)))
            }
        }
    }

    pub(super) fn user_call(
        &mut self,
        cx: &mut dyn Context,
        function: &Arc<UserFunction>,
        args: &'p [Expr],
        tuple: &Tuple,
    ) -> Result<Datum> {
        let values = self.eval_all(cx, args, tuple)?;
        if function.strict && values.iter().any(Datum::is_null) {
            return Ok(Datum::Null);
        }
        if returns_set(function) {
            return Err(not_a_place_for_sets());
        }
        cx.call(function, values)
    }

    pub(super) fn cast(
        &mut self,
        cx: &mut dyn Context,
        arg: &'p Expr,
        to: Typed,
        explicit: bool,
        tuple: &Tuple,
    ) -> Result<Datum> {
        let value = self.eval(cx, arg, tuple)?;
        self.convert(cx, value, arg.typed, to, explicit)
    }

    /// Converts a value.
    pub(crate) fn convert(
        &mut self,
        cx: &mut dyn Context,
        value: Datum,
        from: Typed,
        to: Typed,
        explicit: bool,
    ) -> Result<Datum> {
        if value.is_large() {
            cx.let_others_go_on();
        }
        let value = cast::cast(value, from.ty, to, explicit, cx);
        cx.go_on();
        let value = value?;
        budget::verdict()?;
        if to.ty.0 >= FIRST_USER_OID {
            check_domains(cx, &value, to.ty)?;
        }
        Ok(value)
    }
}

/// What a call in FROM or of a set-returning function gives.
pub enum SetRows {
    /// Rows: the columns of each.
    Rows(Box<dyn Iterator<Item = Vec<Datum>>>),
    /// One value, of a function that is not set-returning, or of any other expression.
    Value(Datum),
}

/// The rows of a call.
pub fn set_rows<'p>(call: &'p Expr, tuple: &Tuple, run: &mut Run<'p>, cx: &mut dyn Context) -> Result<SetRows> {
    match &call.kind {
        ExprKind::Call { function, args } => {
            let Body::Set { rows, .. } = &function.body else { return run.eval(cx, call, tuple).map(SetRows::Value) };
            let values = run.eval_all(cx, args, tuple)?;
            if function.strict && values.iter().any(Datum::is_null) {
                return Ok(SetRows::Rows(Box::new(std::iter::empty())));
            }
            if let Some(series) = integer_series(function, &values) {
                return Ok(SetRows::Rows(series));
            }
            let types: Vec<Typed> = args.iter().map(|arg| arg.typed).collect();
            let rows = rows(cx, &values, &Site { args: &types, returns: call.typed });
            cx.go_on();
            let rows = rows?;
            budget::verdict()?;
            Ok(SetRows::Rows(Box::new(rows.into_iter())))
        }
        ExprKind::UserCall { function, args } if returns_set(function) => {
            let values = run.eval_all(cx, args, tuple)?;
            if function.strict && values.iter().any(Datum::is_null) {
                return Ok(SetRows::Rows(Box::new(std::iter::empty())));
            }
            Ok(SetRows::Rows(Box::new(cx.call_rows(function, values)?.into_iter())))
        }
        _ => run.eval(cx, call, tuple).map(SetRows::Value),
    }
}

/// A series of integers needs no memory: it is made as it is asked for.
fn integer_series(function: &Function, args: &[Datum]) -> Option<Box<dyn Iterator<Item = Vec<Datum>>>> {
    if function.name != "generate_series" {
        return None;
    }
    let (first, last, step) = match args {
        [Datum::Int(first), Datum::Int(last)] => (*first, *last, 1),
        [Datum::Int(first), Datum::Int(last), Datum::Int(step)] if *step != 0 => (*first, *last, *step),
        _ => return None,
    };
    let inside = move |value: &i64| if step > 0 { *value <= last } else { *value >= last };
    let values = std::iter::successors(Some(first), move |value| value.checked_add(step)).take_while(inside);
    Some(Box::new(values.map(|value| vec![Datum::Int(value)])))
}

fn returns_set(function: &UserFunction) -> bool {
    matches!(function.returns, Returns::Set(_) | Returns::Table)
}

fn not_a_place_for_sets() -> SqlError {
    SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, "set-valued function called in context that cannot accept a set")
}

/// Values of domains, also those in arrays and rows, have to be what the domains demand.
pub fn check_domains(cx: &mut dyn Context, value: &Datum, ty: Type) -> Result<()> {
    if !kind::holds_domain(ty, cx.catalog()) {
        return Ok(());
    }
    let base = kind::base(ty.into(), cx.catalog()).ty;
    match value {
        Datum::Array(array) => {
            if let Some(element) = kind::element(base, cx.catalog()) {
                array.items.iter().try_for_each(|item| check_domains(cx, item, element))?;
            }
        }
        Datum::Record(record) => {
            let fields = match cx.catalog().user_type(base).map(|user| &user.kind) {
                Some(UserTypeKind::Composite(fields)) => fields.clone(),
                _ => Vec::new(),
            };
            for (field, (_, typed)) in record.fields.iter().zip(fields) {
                check_domains(cx, field, typed.ty)?;
            }
        }
        _ => {}
    }
    if base == ty { Ok(()) } else { cx.check_domain(value, ty) }
}
