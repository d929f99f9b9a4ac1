//! Arrays: `ARRAY[…]`, subscripts.

use crate::parse::ast;

use crate::bind::Binder;
use crate::bind::coerce::Coercion;
use crate::bind::expr::{mismatch, peel};
use crate::error::{Result, SqlError, SqlState};
use crate::ir::{Expr, ExprKind, Subscript};
use crate::types::{Datum, Type, Typed, kind};

impl Binder<'_> {
    /// `ARRAY[a, b, …]`: items of one type; items that are arrays make one more dimension.
    pub(super) fn array(&mut self, items: &[ast::Expr]) -> Result<Expr> {
        if items.is_empty() {
            let message = "cannot determine type of empty array";
            return Err(SqlError::new(SqlState::INDETERMINATE_DATATYPE, message)
                .hint("Explicitly cast to the desired type, for example ARRAY[]::integer[]."));
        }
        let mut bound = Vec::with_capacity(items.len());
        for item in items {
            bound.push(match peel(item) {
                // Inside of ARRAY[…] the word ARRAY can be left out.
                ast::Expr::Array(inner) => self.array(&inner.elem)?,
                _ => self.expr(item)?,
            });
        }
        let (items, ty) = self.unify(bound, "ARRAY")?;
        let array = if kind::element(ty, self.catalog).is_some() { ty } else { self.array_over(ty)? };
        Ok(Expr::new(ExprKind::MakeArray(items), array))
    }

    /// `ARRAY[…]::type[]`: each item is cast.
    pub(super) fn array_as(&mut self, items: &[ast::Expr], typed: Typed, element: Type) -> Result<Expr> {
        let mut converted = Vec::with_capacity(items.len());
        for item in items {
            if let ast::Expr::Array(inner) = peel(item) {
                converted.push(self.array_as(&inner.elem, typed, element)?);
                continue;
            }
            let bound = self.expr(item)?;
            let is_array = kind::element(bound.ty(), self.catalog).is_some();
            let target = if is_array { typed } else { Typed { ty: element, modifier: typed.modifier } };
            converted.push(self.explicit(bound, target)?);
        }
        Ok(Expr { kind: ExprKind::MakeArray(converted), typed })
    }

    /// `a[1]`, `a[2:3]`, `(r).field`, and chains of them.
    pub(super) fn access(&mut self, root: &ast::Expr, chain: &[ast::AccessExpr]) -> Result<Expr> {
        let mut value = self.expr(root)?;
        let mut chain = chain;
        while let Some(first) = chain.first() {
            match first {
                ast::AccessExpr::Field(field) => {
                    value = self.field(value, field)?;
                    chain = &chain[1..];
                }
                ast::AccessExpr::Wildcard => return Err(SqlError::syntax("syntax error at or near \"*\"")),
                ast::AccessExpr::Subscript(_) => {
                    let length = chain.iter().take_while(|step| matches!(step, ast::AccessExpr::Subscript(_))).count();
                    let (subscripts, rest) = chain.split_at(length);
                    value = self.subscript(value, subscripts)?;
                    chain = rest;
                }
            }
        }
        Ok(value)
    }

    fn subscript(&mut self, value: Expr, steps: &[ast::AccessExpr]) -> Result<Expr> {
        let base = kind::base(value.typed, self.catalog);
        if base.ty == Type::JSONB {
            return self.json_subscript(value, steps);
        }
        if base.ty == Type::NAME {
            return self.letter(value, steps);
        }
        let Some(element) = kind::element(base.ty, self.catalog) else {
            let name = self.type_name(value.ty());
            return Err(mismatch(format!("cannot subscript type {name} because it does not support subscripting")));
        };
        let indices = self.subscripts(steps)?;
        let is_slice = indices.iter().any(|index| matches!(index, Subscript::Slice(..)));
        let ty = if is_slice { base.ty } else { element };
        let typed = Typed { ty, modifier: base.modifier };
        Ok(Expr { kind: ExprKind::Subscript { arg: Box::new(value), indices }, typed })
    }

    /// `name[i]`: a letter, counted from zero.
    fn letter(&mut self, value: Expr, steps: &[ast::AccessExpr]) -> Result<Expr> {
        let mut indices = self.subscripts(steps)?;
        let (Some(Subscript::Index(index)), true) = (indices.pop(), indices.is_empty()) else {
            return Err(SqlError::unsupported("a slice of a name"));
        };
        let one = Expr::constant(Datum::Int(1), Type::INT4);
        let place = self.operator("+", Some(index), one.clone())?;
        let text = self.explicit(value, Type::TEXT.into())?;
        let letter = self.call_named("substr", vec![text, place, one])?;
        self.explicit(letter, Type::CHAR_INTERNAL.into())
    }

    /// The subscripts of an array; `[i]` beside a slice means `[1:i]`.
    pub(in crate::bind) fn subscripts(&mut self, steps: &[ast::AccessExpr]) -> Result<Vec<Subscript>> {
        let mut indices = Vec::with_capacity(steps.len());
        for step in steps {
            let ast::AccessExpr::Subscript(subscript) = step else {
                return Err(SqlError::unsupported("a field of an array"));
            };
            indices.push(match subscript {
                ast::Subscript::Index { index } => Subscript::Index(self.index(index)?),
                ast::Subscript::Slice { lower_bound, upper_bound } => {
                    let from = lower_bound.as_ref().map(|bound| self.index(bound)).transpose()?;
                    let to = upper_bound.as_ref().map(|bound| self.index(bound)).transpose()?;
                    Subscript::Slice(from, to)
                }
            });
        }
        if indices.iter().any(|index| matches!(index, Subscript::Slice(..))) {
            for index in &mut indices {
                if let Subscript::Index(to) = index {
                    let one = Expr::constant(crate::types::Datum::Int(1), Type::INT4);
                    *index = Subscript::Slice(Some(one), Some(to.clone()));
                }
            }
        }
        Ok(indices)
    }

    fn index(&mut self, index: &ast::Expr) -> Result<Expr> {
        let bound = self.expr(index)?;
        self.convert(bound, Type::INT4, Coercion::Assignment)?
            .ok_or_else(|| mismatch("array subscript must have type integer"))
    }

    /// `json['a'][0]` is `json #> ARRAY['a', '0']`: a text can be an index, too.
    fn json_subscript(&mut self, value: Expr, steps: &[ast::AccessExpr]) -> Result<Expr> {
        let mut path = Vec::with_capacity(steps.len());
        for step in steps {
            let ast::AccessExpr::Subscript(ast::Subscript::Index { index }) = step else {
                return Err(mismatch("jsonb subscript does not support slices"));
            };
            let index = self.json_index(index)?;
            path.push(self.explicit(index, Type::TEXT.into())?);
        }
        let path = Expr::new(ExprKind::MakeArray(path), self.array_over(Type::TEXT)?);
        self.operator("#>", Some(value), path)
    }

    /// A subscript of a jsonb: a number or a text.
    pub(in crate::bind) fn json_index(&mut self, index: &ast::Expr) -> Result<Expr> {
        let bound = self.expr(index)?;
        let ty = bound.ty();
        if ty != Type::UNKNOWN
            && let Some(number) = self.convert(bound.clone(), Type::INT4, Coercion::Implicit)?
        {
            return Ok(number);
        }
        self.convert(bound, Type::TEXT, Coercion::Implicit)?.ok_or_else(|| {
            mismatch(format!("subscript type {} is not supported", self.type_name(ty)))
                .hint("jsonb subscript must be coercible to either integer or text.")
        })
    }
}
