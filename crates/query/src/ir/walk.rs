//! Walks over bound statements: every expression of a plan, with the number of tuples that lie between.
//!
//! A walk has a *depth*: how many tuples have been put around since it began. A column whose `up` equals the depth
//! belongs to the tuple that the walk began on; one with a larger `up` to what is further out. There are two walks, which
//! only look ([`look`]) or also change ([`edit`]), made from one text.

use std::sync::Arc;

use super::{
    Access, Change, Cte, Expr, ExprKind, FrameBound, Insert, Join, KeyValue, Merge, MergeAction, OnConflict, Plan,
    Quantified, Query, Returning, SortKey, Stored, SubqueryKind, Subscript, WindowCall,
};
use crate::error::Result;

/// Whether the parts of an expression are walked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Descend {
    Yes,
    No,
}

macro_rules! walks {
    ($name:ident, $doc:literal, $of_arc:expr, $($mut:tt)?) => {
        #[doc = $doc]
        pub mod $name {
            use super::*;

            /// Called with each expression, outer ones first, and its depth; says whether its parts are walked too.
            pub type Visit<'v> = &'v mut dyn FnMut(&$($mut)? Expr, usize) -> Result<Descend>;

            type Each<'v, 'a> = &'v mut dyn FnMut(&'a $($mut)? Expr) -> Result<()>;

            /// Calls with each expression that this one is made of directly; not with what subqueries contain.
            pub fn parts<'a>(whole: &'a $($mut)? Expr, visit: Each<'_, 'a>) -> Result<()> {
                match &$($mut)? whole.kind {
                    ExprKind::Const(_)
                    | ExprKind::Param(_)
                    | ExprKind::Variable(_)
                    | ExprKind::Column(_)
                    | ExprKind::Row { .. }
                    | ExprKind::System { .. }
                    | ExprKind::Operand
                    | ExprKind::NextValue(_)
                    | ExprKind::Default(_) => Ok(()),
                    ExprKind::Call { args, .. }
                    | ExprKind::UserCall { args, .. }
                    | ExprKind::And(args)
                    | ExprKind::Or(args)
                    | ExprKind::Coalesce(args)
                    | ExprKind::MakeArray(args)
                    | ExprKind::Extreme { args, .. }
                    | ExprKind::MakeRow { fields: args, .. } => each(args, visit),
                    ExprKind::Cast { arg, .. }
                    | ExprKind::IsBool { arg, .. }
                    | ExprKind::Field { arg, .. }
                    | ExprKind::Not(arg)
                    | ExprKind::IsNull(arg)
                    | ExprKind::IsNotNull(arg) => visit(arg),
                    ExprKind::IsDistinct { args, .. } => each(&$($mut)? args[..], visit),
                    ExprKind::Case { operand, branches, otherwise } => {
                        if let Some(operand) = operand {
                            visit(operand)?;
                        }
                        for (condition, value) in branches {
                            visit(condition)?;
                            visit(value)?;
                        }
                        if let Some(value) = otherwise {
                            visit(value)?;
                        }
                        Ok(())
                    }
                    ExprKind::NullIf { value, equal } => {
                        visit(value)?;
                        visit(equal)
                    }
                    ExprKind::Quantified { arg, list, .. } => {
                        visit(arg)?;
                        match list {
                            Quantified::List(list) => each(list, visit),
                            Quantified::Array(array) => visit(array),
                        }
                    }
                    ExprKind::CompareRows { left, right, .. } => {
                        each(left, visit)?;
                        each(right, visit)
                    }
                    ExprKind::Subscript { arg, indices } => {
                        visit(arg)?;
                        subscripts(indices, visit)
                    }
                    ExprKind::Subquery { kind, .. } => match kind {
                        SubqueryKind::Quantified { args, .. } => each(args, visit),
                        SubqueryKind::Scalar | SubqueryKind::Exists | SubqueryKind::Array => Ok(()),
                    },
                    ExprKind::Replace { arg, indices, value } => {
                        visit(arg)?;
                        subscripts(indices, visit)?;
                        visit(value)
                    }
                    ExprKind::ReplaceField { arg, value, .. } => {
                        visit(arg)?;
                        visit(value)
                    }
                }
            }

            fn each<'a>(list: &'a $($mut)? [Expr], visit: Each<'_, 'a>) -> Result<()> {
                for item in list {
                    visit(item)?;
                }
                Ok(())
            }

            fn subscripts<'a>(indices: &'a $($mut)? [Subscript], visit: Each<'_, 'a>) -> Result<()> {
                for index in indices {
                    match index {
                        Subscript::Index(index) => visit(index)?,
                        Subscript::Slice(from, to) => {
                            if let Some(bound) = from {
                                visit(bound)?;
                            }
                            if let Some(bound) = to {
                                visit(bound)?;
                            }
                        }
                    }
                }
                Ok(())
            }

            /// Walks an expression and everything in it, queries included.
            pub fn expr(whole: &$($mut)? Expr, depth: usize, visit: Visit<'_>) -> Result<()> {
                if visit(whole, depth)? == Descend::No {
                    return Ok(());
                }
                parts(whole, &mut |part| expr(part, depth, visit))?;
                if let ExprKind::Subquery { query: inner, .. } = &$($mut)? whole.kind {
                    query($of_arc(inner), depth + 1, visit)?;
                }
                Ok(())
            }

            /// Walks some expressions.
            pub fn exprs(list: &$($mut)? [Expr], depth: usize, visit: Visit<'_>) -> Result<()> {
                each(list, &mut |item| expr(item, depth, visit))
            }

            fn option(item: &$($mut)? Option<Expr>, depth: usize, visit: Visit<'_>) -> Result<()> {
                if let Some(item) = item {
                    expr(item, depth, visit)?;
                }
                Ok(())
            }

            /// Walks sort keys.
            pub fn sort_keys(keys: &$($mut)? [SortKey], depth: usize, visit: Visit<'_>) -> Result<()> {
                for key in keys {
                    expr(&$($mut)? key.expr, depth, visit)?;
                }
                Ok(())
            }

            /// Walks every expression of a query.
            pub fn query(query: &$($mut)? Query, depth: usize, visit: Visit<'_>) -> Result<()> {
                plan(&$($mut)? query.plan, depth, visit)
            }

            /// Walks every expression of a plan.
            pub fn plan(node: &$($mut)? Plan, depth: usize, visit: Visit<'_>) -> Result<()> {
                match node {
                    Plan::One | Plan::Empty { .. } | Plan::Virtual(_) | Plan::Cte { .. } => Ok(()),
                    Plan::Scan(scan) => {
                        access(&$($mut)? scan.access, depth, visit)?;
                        option(&$($mut)? scan.filter, depth, visit)
                    }
                    Plan::Values(rows) => {
                        for row in rows {
                            exprs(row, depth, visit)?;
                        }
                        Ok(())
                    }
                    Plan::Subquery(inner) => query(inner, depth, visit),
                    Plan::Function(scan) => {
                        for call in &$($mut)? scan.calls {
                            expr(&$($mut)? call.call, depth, visit)?;
                        }
                        Ok(())
                    }
                    Plan::Join(inner) => join(inner, depth, visit),
                    Plan::Filter { input, condition } => {
                        plan(input, depth, visit)?;
                        expr(condition, depth, visit)
                    }
                    Plan::Aggregate(aggregate) => {
                        plan(&$($mut)? aggregate.input, depth, visit)?;
                        exprs(&$($mut)? aggregate.keys, depth, visit)?;
                        for call in &$($mut)? aggregate.calls {
                            exprs(&$($mut)? call.args, depth, visit)?;
                            option(&$($mut)? call.filter, depth, visit)?;
                            sort_keys(&$($mut)? call.order, depth, visit)?;
                        }
                        Ok(())
                    }
                    Plan::Window { input, calls } => {
                        plan(input, depth, visit)?;
                        for call in calls {
                            window_call(call, depth, visit)?;
                        }
                        Ok(())
                    }
                    Plan::ProjectSet { input, calls: list } | Plan::Project { input, columns: list } => {
                        plan(input, depth, visit)?;
                        exprs(list, depth, visit)
                    }
                    Plan::Distinct(input) | Plan::Lock { input, .. } | Plan::Arrange { input, .. } => plan(input, depth, visit),
                    Plan::DistinctOn { input, keys } => {
                        plan(input, depth, visit)?;
                        exprs(keys, depth, visit)
                    }
                    Plan::Sort { input, keys } => {
                        plan(input, depth, visit)?;
                        sort_keys(keys, depth, visit)
                    }
                    Plan::Limit(limit) => {
                        plan(&$($mut)? limit.input, depth, visit)?;
                        option(&$($mut)? limit.limit, depth, visit)?;
                        option(&$($mut)? limit.offset, depth, visit)?;
                        sort_keys(&$($mut)? limit.ties, depth, visit)
                    }
                    Plan::SetOperation { left, right, .. } => {
                        plan(left, depth, visit)?;
                        plan(right, depth, visit)
                    }
                    Plan::With { ctes, input } => {
                        for inner in ctes {
                            cte($of_arc(inner), depth, visit)?;
                        }
                        plan(input, depth, visit)
                    }
                    Plan::Change(inner) => change(inner, depth, visit),
                    Plan::Stored(_) => inputs(node, &mut |input, _| plan(input, depth, visit)),
                }
            }

            /// Calls with each plan directly below this one, and whether it sees one more tuple around; not with those of
            /// subqueries in expressions.
            pub fn inputs<'a>(
                node: &'a $($mut)? Plan,
                visit: &mut dyn FnMut(&'a $($mut)? Plan, bool) -> Result<()>,
            ) -> Result<()> {
                match node {
                    Plan::One
                    | Plan::Empty { .. }
                    | Plan::Scan(_)
                    | Plan::Virtual(_)
                    | Plan::Values(_)
                    | Plan::Function(_)
                    | Plan::Cte { .. } => Ok(()),
                    Plan::Subquery(inner) => visit(&$($mut)? inner.plan, false),
                    Plan::Join(join) => {
                        visit(&$($mut)? join.left, false)?;
                        visit(&$($mut)? join.right, join.lateral)
                    }
                    Plan::Aggregate(aggregate) => visit(&$($mut)? aggregate.input, false),
                    Plan::Limit(limit) => visit(&$($mut)? limit.input, false),
                    Plan::Filter { input, .. }
                    | Plan::Window { input, .. }
                    | Plan::ProjectSet { input, .. }
                    | Plan::Project { input, .. }
                    | Plan::Distinct(input)
                    | Plan::DistinctOn { input, .. }
                    | Plan::Sort { input, .. }
                    | Plan::Arrange { input, .. }
                    | Plan::Lock { input, .. } => visit(input, false),
                    Plan::SetOperation { left, right, .. } => {
                        visit(left, false)?;
                        visit(right, false)
                    }
                    Plan::With { ctes, input } => {
                        for inner in ctes {
                            let inner = $of_arc(inner);
                            visit(&$($mut)? inner.query.plan, false)?;
                            if let Some((recursive, _)) = &$($mut)? inner.recursive {
                                visit(&$($mut)? recursive.plan, false)?;
                            }
                        }
                        visit(input, false)
                    }
                    Plan::Change(change) => match &$($mut)? **change {
                        Change::Insert(insert) => visit(&$($mut)? insert.source, false),
                        Change::Update(update) => visit(&$($mut)? update.input, false),
                        Change::Delete(delete) => visit(&$($mut)? delete.input, false),
                        Change::Merge(merge) => visit(&$($mut)? merge.input, false),
                    },
                    Plan::Stored(stored) => match &$($mut)? **stored {
                        Stored::View(_) => Ok(()),
                        Stored::Item { input, .. } | Stored::Using { input, .. } | Stored::Listed(input) => {
                            visit(input, false)
                        }
                    },
                }
            }

            /// Calls with each expression of this node alone: neither with those of the plans below, nor with parts of
            /// expressions.
            pub fn own<'a>(node: &'a $($mut)? Plan, visit: Each<'_, 'a>) -> Result<()> {
                match node {
                    Plan::One
                    | Plan::Empty { .. }
                    | Plan::Virtual(_)
                    | Plan::Cte { .. }
                    | Plan::Subquery(_)
                    | Plan::Distinct(_)
                    | Plan::Lock { .. }
                    | Plan::Arrange { .. }
                    | Plan::SetOperation { .. }
                    | Plan::With { .. }
                    | Plan::Stored(_) => Ok(()),
                    Plan::Scan(scan) => {
                        if let Some(filter) = &$($mut)? scan.filter {
                            visit(filter)?;
                        }
                        Ok(())
                    }
                    Plan::Values(rows) => {
                        for row in rows {
                            each(row, visit)?;
                        }
                        Ok(())
                    }
                    Plan::Function(scan) => {
                        for call in &$($mut)? scan.calls {
                            visit(&$($mut)? call.call)?;
                        }
                        Ok(())
                    }
                    Plan::Join(join) => {
                        if let Some(on) = &$($mut)? join.on {
                            visit(on)?;
                        }
                        for (left, right) in &$($mut)? join.equal {
                            visit(left)?;
                            visit(right)?;
                        }
                        Ok(())
                    }
                    Plan::Filter { condition, .. } => visit(condition),
                    Plan::Aggregate(aggregate) => {
                        each(&$($mut)? aggregate.keys, visit)?;
                        for call in &$($mut)? aggregate.calls {
                            each(&$($mut)? call.args, visit)?;
                            if let Some(filter) = &$($mut)? call.filter {
                                visit(filter)?;
                            }
                            for key in &$($mut)? call.order {
                                visit(&$($mut)? key.expr)?;
                            }
                        }
                        Ok(())
                    }
                    Plan::Window { calls, .. } => {
                        for call in calls {
                            each(&$($mut)? call.args, visit)?;
                            if let Some(filter) = &$($mut)? call.filter {
                                visit(filter)?;
                            }
                            each(&$($mut)? call.partition, visit)?;
                            for key in &$($mut)? call.order {
                                visit(&$($mut)? key.expr)?;
                            }
                            for bound in [&$($mut)? call.frame.start, &$($mut)? call.frame.end] {
                                if let FrameBound::Preceding(offset) | FrameBound::Following(offset) = bound {
                                    visit(offset)?;
                                }
                            }
                        }
                        Ok(())
                    }
                    Plan::ProjectSet { calls: list, .. } | Plan::Project { columns: list, .. } => each(list, visit),
                    Plan::DistinctOn { keys, .. } => each(keys, visit),
                    Plan::Sort { keys, .. } => {
                        for key in keys {
                            visit(&$($mut)? key.expr)?;
                        }
                        Ok(())
                    }
                    Plan::Limit(limit) => {
                        for count in [&$($mut)? limit.limit, &$($mut)? limit.offset] {
                            if let Some(count) = count {
                                visit(count)?;
                            }
                        }
                        for key in &$($mut)? limit.ties {
                            visit(&$($mut)? key.expr)?;
                        }
                        Ok(())
                    }
                    Plan::Change(change) => own_of_change(change, visit),
                }
            }

            fn own_of_change<'a>(change: &'a $($mut)? Change, visit: Each<'_, 'a>) -> Result<()> {
                let returned = match change {
                    Change::Insert(insert) => {
                        for (_, value) in &$($mut)? insert.defaults {
                            visit(value)?;
                        }
                        if let Some(OnConflict { update: Some((assignments, condition)), .. }) =
                            &$($mut)? insert.on_conflict
                        {
                            for set in assignments {
                                visit(&$($mut)? set.value)?;
                            }
                            if let Some(condition) = condition {
                                visit(condition)?;
                            }
                        }
                        for check in &$($mut)? insert.checks {
                            visit(&$($mut)? check.condition)?;
                        }
                        &$($mut)? insert.returning
                    }
                    Change::Update(update) => {
                        for set in &$($mut)? update.assignments {
                            visit(&$($mut)? set.value)?;
                        }
                        for check in &$($mut)? update.checks {
                            visit(&$($mut)? check.condition)?;
                        }
                        &$($mut)? update.returning
                    }
                    Change::Delete(delete) => &$($mut)? delete.returning,
                    Change::Merge(merge) => {
                        for clause in &$($mut)? merge.clauses {
                            if let Some(condition) = &$($mut)? clause.condition {
                                visit(condition)?;
                            }
                            if let MergeAction::Update(assignments) | MergeAction::Insert(assignments) =
                                &$($mut)? clause.action
                            {
                                for set in assignments {
                                    visit(&$($mut)? set.value)?;
                                }
                            }
                        }
                        return Ok(());
                    }
                };
                match returned {
                    Some(returning) => each(&$($mut)? returning.values, visit),
                    None => Ok(()),
                }
            }

            fn access(access: &$($mut)? Access, depth: usize, visit: Visit<'_>) -> Result<()> {
                let Access::Index { equal, from, to, .. } = access else { return Ok(()) };
                for value in equal {
                    match value {
                        KeyValue::One(value) | KeyValue::Array(value) => expr(value, depth, visit)?,
                        KeyValue::Any(values) => exprs(values, depth, visit)?,
                        KeyValue::Null => {}
                    }
                }
                if let Some((bound, _)) = from {
                    expr(bound, depth, visit)?;
                }
                if let Some((bound, _)) = to {
                    expr(bound, depth, visit)?;
                }
                Ok(())
            }

            fn join(join: &$($mut)? Join, depth: usize, visit: Visit<'_>) -> Result<()> {
                plan(&$($mut)? join.left, depth, visit)?;
                plan(&$($mut)? join.right, depth + usize::from(join.lateral), visit)?;
                option(&$($mut)? join.on, depth, visit)?;
                for (left, right) in &$($mut)? join.equal {
                    expr(left, depth, visit)?;
                    expr(right, depth, visit)?;
                }
                Ok(())
            }

            /// Walks a window function's call.
            pub fn window_call(call: &$($mut)? WindowCall, depth: usize, visit: Visit<'_>) -> Result<()> {
                exprs(&$($mut)? call.args, depth, visit)?;
                option(&$($mut)? call.filter, depth, visit)?;
                exprs(&$($mut)? call.partition, depth, visit)?;
                sort_keys(&$($mut)? call.order, depth, visit)?;
                for bound in [&$($mut)? call.frame.start, &$($mut)? call.frame.end] {
                    if let FrameBound::Preceding(offset) | FrameBound::Following(offset) = bound {
                        expr(offset, depth, visit)?;
                    }
                }
                Ok(())
            }

            fn cte(cte: &$($mut)? Cte, depth: usize, visit: Visit<'_>) -> Result<()> {
                query(&$($mut)? cte.query, depth, visit)?;
                if let Some((recursive, _)) = &$($mut)? cte.recursive {
                    query(recursive, depth, visit)?;
                }
                Ok(())
            }

            /// Walks every expression of a change.
            pub fn change(change: &$($mut)? Change, depth: usize, visit: Visit<'_>) -> Result<()> {
                match change {
                    Change::Insert(inner) => insert(inner, depth, visit),
                    Change::Update(update) => {
                        plan(&$($mut)? update.input, depth, visit)?;
                        for set in &$($mut)? update.assignments {
                            expr(&$($mut)? set.value, depth, visit)?;
                        }
                        returning(&$($mut)? update.returning, depth, visit)
                    }
                    Change::Delete(delete) => {
                        plan(&$($mut)? delete.input, depth, visit)?;
                        returning(&$($mut)? delete.returning, depth, visit)
                    }
                    Change::Merge(inner) => merge(inner, depth, visit),
                }
            }

            fn insert(insert: &$($mut)? Insert, depth: usize, visit: Visit<'_>) -> Result<()> {
                plan(&$($mut)? insert.source, depth, visit)?;
                for (_, value) in &$($mut)? insert.defaults {
                    expr(value, depth, visit)?;
                }
                if let Some(OnConflict { update: Some((assignments, condition)), .. }) = &$($mut)? insert.on_conflict {
                    for set in assignments {
                        expr(&$($mut)? set.value, depth, visit)?;
                    }
                    option(condition, depth, visit)?;
                }
                returning(&$($mut)? insert.returning, depth, visit)
            }

            fn merge(merge: &$($mut)? Merge, depth: usize, visit: Visit<'_>) -> Result<()> {
                plan(&$($mut)? merge.input, depth, visit)?;
                for clause in &$($mut)? merge.clauses {
                    option(&$($mut)? clause.condition, depth, visit)?;
                    if let MergeAction::Update(assignments) | MergeAction::Insert(assignments) = &$($mut)? clause.action {
                        for set in assignments {
                            expr(&$($mut)? set.value, depth, visit)?;
                        }
                    }
                }
                Ok(())
            }

            fn returning(returning: &$($mut)? Option<Returning>, depth: usize, visit: Visit<'_>) -> Result<()> {
                if let Some(returning) = returning {
                    exprs(&$($mut)? returning.values, depth, visit)?;
                }
                Ok(())
            }
        }
    };
}

walks!(look, "A walk that only looks.", Arc::as_ref,);
walks!(edit, "A walk that may change what it sees.", Arc::make_mut, mut);
