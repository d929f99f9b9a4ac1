//! Collations of expressions: which order a comparison or a sort goes by.
//!
//! A COLLATE clause stays in the bound expression as a call that gives its first argument back ([`MARK`]); a column has the
//! collation that it was made with. An expression of texts has that of its parts. Where the order of texts matters and it
//! is not that of their bytes, keys are compared in their place ([`KEY`]).

use crate::bind::Binder;
use crate::bind::names::qualified;
use crate::bind::scope::Columns;
use crate::budget;
use crate::catalog::Oid;
use crate::error::{Result, SqlError, SqlState};
use crate::functions::collate::{KEY, MARK};
use crate::functions::internal;
use crate::ir::{ColumnRef, Expr, ExprKind, SubqueryKind, children};
use crate::parse::ast;
use crate::types::collation::{self, Order};
use crate::types::{Datum, Type, kind};

/// Where an expression's collation comes from.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Collated {
    /// Nothing says one.
    Default,
    /// A column.
    Implicit(Oid),
    /// Columns that do not agree.
    Unclear,
    /// COLLATE
    Explicit(Oid),
}

/// What the order of texts is needed for.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Needs {
    /// Whether they are equal.
    Equality,
    /// Which comes first.
    Order,
}

impl Binder<'_> {
    /// COLLATE
    pub(super) fn collate(&mut self, expr: &ast::Expr, name: &ast::ObjectName) -> Result<Expr> {
        let bound = self.expr(expr)?;
        let name = qualified(name, self.database())?;
        let schemas = match &name.schema {
            Some(schema) => vec![self.schema(schema)?.oid],
            None => self.path.to_vec(),
        };
        let number = collation::number(&name.name, &name.display(), &schemas, self.catalog)?;
        let bound = self.settle(bound)?;
        let ty = bound.ty();
        if !self.is_collatable(ty) && kind::element(ty, self.catalog).is_none() {
            let message = format!("collations are not supported by type {}", self.type_name(ty));
            return Err(SqlError::new(SqlState::DATATYPE_MISMATCH, message));
        }
        // Bytes are compared anyway, unless a column says something else; the schema shows what was written.
        if !self.storing
            && collation::order(number, self.catalog).is_none()
            && self.collated(&bound)? == Collated::Default
        {
            return Ok(bound);
        }
        Ok(marked(bound, number))
    }

    /// The collation of a result column; 0 is the database's, or one that is left open.
    pub(super) fn collation_of(&self, expr: &Expr) -> Result<Oid> {
        if !self.is_collatable(expr.ty()) {
            return Ok(0);
        }
        Ok(match self.collated(expr)? {
            Collated::Default | Collated::Unclear => 0,
            Collated::Implicit(oid) | Collated::Explicit(oid) => oid,
        })
    }

    pub(super) fn is_collatable(&self, ty: Type) -> bool {
        kind::category(kind::base(ty.into(), self.catalog).ty, self.catalog) == 'S'
    }

    /// The order that these expressions are compared by; `None` is that of their bytes (or of another type).
    pub(super) fn order_of(&self, exprs: &[&Expr], needs: Needs) -> Result<Option<Order>> {
        if !exprs.iter().all(|expr| self.is_collatable(expr.ty())) {
            return Ok(None);
        }
        let mut all = Collated::Default;
        for expr in exprs {
            all = self.both(all, self.collated(expr)?)?;
        }
        let order = match all {
            Collated::Default => None,
            Collated::Implicit(oid) | Collated::Explicit(oid) => collation::order(oid, self.catalog),
            Collated::Unclear => {
                let message = "could not determine which collation to use for string comparison";
                let hint = "Use the COLLATE clause to set the collation explicitly.";
                return Err(SqlError::new(SqlState::INDETERMINATE_COLLATION, message).hint(hint));
            }
        };
        Ok(order.filter(|order| needs == Needs::Order || !order.deterministic))
    }

    /// Refuses expressions whose order is not that of their bytes, where that is not supported.
    pub(super) fn must_be_bytes(&self, exprs: &[&Expr], needs: Needs, what: &str) -> Result<()> {
        match self.order_of(exprs, needs)? {
            None => Ok(()),
            Some(order) => {
                let name = collation::name(order.oid, self.catalog).unwrap_or_default();
                Err(SqlError::unsupported(format_args!("{what} of texts with the collation \"{name}\"")))
            }
        }
    }

    fn collated(&self, expr: &Expr) -> Result<Collated> {
        // Operators in operators ask again for what is below them.
        budget::step(10)?;
        match &expr.kind {
            ExprKind::Column(column) => Ok(self.column_collation(*column)),
            ExprKind::Call { function, args } if function.name == MARK => match args.get(1).map(|arg| &arg.kind) {
                Some(ExprKind::Const(Datum::Int(oid))) => Ok(Collated::Explicit(u32::try_from(*oid).unwrap_or(0))),
                _ => Ok(Collated::Default),
            },
            _ if !self.is_collatable(expr.ty()) => Ok(Collated::Default),
            ExprKind::Subquery { kind: SubqueryKind::Scalar, query } => {
                Ok(match query.columns.first().map_or(0, |column| column.collation) {
                    0 | collation::DEFAULT => Collated::Default,
                    oid => Collated::Implicit(oid),
                })
            }
            _ => {
                let (mut all, mut failed) = (Collated::Default, None);
                children(expr, &mut |child| {
                    let next = self.collated(child).and_then(|next| self.both(all, next));
                    match next {
                        Ok(next) => all = next,
                        Err(error) => failed = Some(error),
                    }
                });
                failed.map_or(Ok(all), Err)
            }
        }
    }

    fn both(&self, one: Collated, other: Collated) -> Result<Collated> {
        Ok(match (one, other) {
            (Collated::Explicit(one), Collated::Explicit(other)) if one != other => {
                let name = |oid| collation::name(oid, self.catalog).unwrap_or_default();
                let (one, other) = (name(one), name(other));
                let message = format!("collation mismatch between explicit collations \"{one}\" and \"{other}\"");
                return Err(SqlError::new(SqlState::COLLATION_MISMATCH, message));
            }
            (explicit @ Collated::Explicit(_), _) | (_, explicit @ Collated::Explicit(_)) => explicit,
            (Collated::Default, other) => other,
            (one, Collated::Default) => one,
            (one, other) if one == other => one,
            _ => Collated::Unclear,
        })
    }

    /// The collation of a column, through queries in FROM too.
    fn column_collation(&self, column: ColumnRef) -> Collated {
        let found = || {
            let frame = self.frames.iter().rev().nth(column.up)?;
            let item = frame.items.iter().find(|item| item.slot == Some(column.slot))?;
            match &item.columns {
                Columns::Table(_, table) => Some(table.columns.get(column.column)?.collation),
                Columns::List(columns) => Some(columns.get(column.column)?.collation),
            }
        };
        match found() {
            None | Some(0 | collation::DEFAULT) => Collated::Default,
            Some(oid) => Collated::Implicit(oid),
        }
    }

    /// A comparison by the collation of its operands.
    pub(super) fn compared_by_collation(&mut self, symbol: &str, compared: Expr) -> Result<Expr> {
        let ExprKind::Call { args, .. } = &compared.kind else { return Ok(compared) };
        let [left, right] = args.as_slice() else { return Ok(compared) };
        let needs = match symbol {
            "<" | "<=" | ">" | ">=" => Needs::Order,
            "=" | "<>" | "~~" | "!~~" | "~~*" | "!~~*" | "~" | "!~" | "~*" | "!~*" => Needs::Equality,
            _ => {
                // Nothing is compared, but what is written must agree. The left side of a chain of operators is long, and is
                // looked at only where there is something to disagree with.
                if let right @ Collated::Explicit(_) = self.collated(right)? {
                    self.both(self.collated(left)?, right)?;
                }
                return Ok(compared);
            }
        };
        let Some(order) = self.order_of(&[left, right], needs)? else { return Ok(compared) };
        let unsupported = match symbol {
            "~~" | "!~~" => Some("LIKE"),
            "~~*" | "!~~*" => Some("ILIKE"),
            "~" | "!~" | "~*" | "!~*" => Some("regular expressions"),
            _ => None,
        };
        if let Some(what) = unsupported {
            let message = format!("nondeterministic collations are not supported for {what}");
            return Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message));
        }
        let (left, right) = (keyed(left.clone(), &order), keyed(right.clone(), &order));
        self.operator(symbol, Some(left), right)
    }
}

/// What a COLLATE clause leaves in a bound expression.
fn marked(expr: Expr, number: Oid) -> Expr {
    let function = internal(MARK).expect("the mark is a function");
    let typed = expr.typed;
    let args = vec![expr, Expr::constant(Datum::Int(number.into()), Type::OID)];
    Expr { kind: ExprKind::Call { function, args }, typed }
}

/// The bytes that compare as texts do in an order.
pub(super) fn keyed(expr: Expr, order: &Order) -> Expr {
    let function = internal(KEY).expect("the key is a function");
    let locale = Expr::constant(Datum::text(&*order.locale), Type::TEXT);
    let deterministic = Expr::constant(Datum::Bool(order.deterministic), Type::BOOL);
    Expr::new(ExprKind::Call { function, args: vec![expr, locale, deterministic] }, Type::BYTEA)
}

/// The text whose key an expression is; any other expression itself.
pub(super) fn unkeyed(expr: &Expr) -> &Expr {
    match &expr.kind {
        ExprKind::Call { function, args } if function.name == KEY => &args[0],
        _ => expr,
    }
}
