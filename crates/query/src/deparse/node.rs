//! What stands in the tables of `pg_catalog` where PostgreSQL has a node tree: which expression of the schema it is.
//!
//! `pg_get_expr` shows the expression with the names and the search path of the moment, in either style.

use crate::catalog::{Check, IndexKeyKind, Oid, RelationKind, StoredExpr, UserTypeKind};
use crate::deparse::{Style, expression};
use crate::functions::Env;

/// An expression of the schema.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Node {
    /// The default of a column, by its table and position, or how the column is generated.
    Default(Oid, usize),
    /// The default of a domain.
    DomainDefault(Oid),
    /// A CHECK of a table, by the table and its own number.
    Check(Oid, Oid),
    /// A CHECK of a domain, by the domain and its own number.
    DomainCheck(Oid, Oid),
    /// The keys of an index that are expressions.
    IndexKeys(Oid),
    /// The WHERE of an index.
    IndexPredicate(Oid),
}

impl Node {
    /// As it stands in a table.
    pub fn text(self) -> String {
        match self {
            Node::Default(table, at) => format!("{{DEFAULT {table} {at}}}"),
            Node::DomainDefault(domain) => format!("{{DOMAINDEFAULT {domain} 0}}"),
            Node::Check(table, check) => format!("{{CHECK {table} {check}}}"),
            Node::DomainCheck(domain, check) => format!("{{DOMAINCHECK {domain} {check}}}"),
            Node::IndexKeys(index) => format!("{{INDEXKEYS {index} 0}}"),
            Node::IndexPredicate(index) => format!("{{INDEXPREDICATE {index} 0}}"),
        }
    }

    /// What stands in a table.
    pub fn read(text: &str) -> Option<Node> {
        let mut words = text.strip_prefix('{')?.strip_suffix('}')?.split(' ');
        let (word, object, part) = (words.next()?, words.next()?.parse().ok()?, words.next()?);
        Some(match word {
            "DEFAULT" => Node::Default(object, part.parse().ok()?),
            "DOMAINDEFAULT" => Node::DomainDefault(object),
            "CHECK" => Node::Check(object, part.parse().ok()?),
            "DOMAINCHECK" => Node::DomainCheck(object, part.parse().ok()?),
            "INDEXKEYS" => Node::IndexKeys(object),
            "INDEXPREDICATE" => Node::IndexPredicate(object),
            _ => return None,
        })
    }

    /// As SQL; none if the object is gone.
    pub fn shown(self, env: &dyn Env, style: Style) -> Option<String> {
        let catalog = env.catalog();
        let over = |table: Oid, stored: &StoredExpr| {
            expression(env, stored, catalog.relation(table).map(|relation| &**relation), style)
        };
        let check = |checks: &[Check], oid: Oid| checks.iter().find(|check| check.oid == oid).cloned();
        let domain = |oid: Oid| catalog.types.get(&oid).map(|user| &user.kind);
        let index = |oid: Oid| match &catalog.relation(oid)?.kind {
            RelationKind::Index(index) => Some(index),
            _ => None,
        };
        match self {
            Node::Default(table, at) => Some(over(table, catalog.table(table)?.columns.get(at)?.default.as_ref()?)),
            Node::DomainDefault(oid) => match domain(oid)? {
                UserTypeKind::Domain { default: Some(default), .. } => Some(expression(env, default, None, style)),
                _ => None,
            },
            Node::Check(table, oid) => Some(over(table, &check(&catalog.table(table)?.checks, oid)?.condition)),
            Node::DomainCheck(of, oid) => match domain(of)? {
                UserTypeKind::Domain { checks, .. } => {
                    Some(expression(env, &check(checks, oid)?.condition, None, style))
                }
                _ => None,
            },
            Node::IndexKeys(oid) => {
                let index = index(oid)?;
                let keys = index.keys.iter().filter_map(|key| match &key.what {
                    IndexKeyKind::Expr(stored) => Some(over(index.table, stored)),
                    IndexKeyKind::Column(_) => None,
                });
                Some(keys.collect::<Vec<_>>().join(", "))
            }
            Node::IndexPredicate(oid) => {
                let index = index(oid)?;
                Some(over(index.table, index.predicate.as_ref()?))
            }
        }
    }
}
