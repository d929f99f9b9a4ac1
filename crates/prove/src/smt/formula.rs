//! Formulas over named truths and numbers, as SMT-LIB writes them.

use std::fmt::{self, Display, Formatter};

/// A formula.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Formula {
    /// A name, or a comparison of numbers, as SMT-LIB writes it.
    Atom(String),
    /// It does not hold.
    Not(Box<Formula>),
    /// All of them; none: true.
    All(Vec<Formula>),
    /// One of them; none: false.
    Any(Vec<Formula>),
}

impl Formula {
    /// What always holds.
    pub const TRUE: Formula = Formula::All(Vec::new());
    /// What never holds.
    pub const FALSE: Formula = Formula::Any(Vec::new());

    /// A name.
    pub fn atom(name: impl Into<String>) -> Formula {
        Formula::Atom(name.into())
    }

    /// Two numbers are the same.
    pub fn equal(one: &str, other: &str) -> Formula {
        if one == other { Formula::TRUE } else { Formula::Atom(format!("(= {one} {other})")) }
    }

    /// All of them; what is known is left out.
    pub fn all(parts: impl IntoIterator<Item = Formula>) -> Formula {
        let mut kept = Vec::new();
        for part in parts {
            match part {
                Formula::All(parts) => kept.extend(parts),
                part if part == Formula::FALSE => return Formula::FALSE,
                part => kept.push(part),
            }
        }
        if kept.len() == 1 { kept.remove(0) } else { Formula::All(kept) }
    }

    /// One of them; what is known is left out.
    pub fn any(parts: impl IntoIterator<Item = Formula>) -> Formula {
        let mut kept = Vec::new();
        for part in parts {
            match part {
                Formula::Any(parts) => kept.extend(parts),
                part if part == Formula::TRUE => return Formula::TRUE,
                part => kept.push(part),
            }
        }
        if kept.len() == 1 { kept.remove(0) } else { Formula::Any(kept) }
    }

    /// One follows from the other.
    pub fn implies(self, other: Formula) -> Formula {
        Formula::any([!self, other])
    }

    /// Both, or neither.
    pub fn same_as(self, other: Formula) -> Formula {
        Formula::all([self.clone().implies(other.clone()), other.implies(self)])
    }
}

impl std::ops::Not for Formula {
    type Output = Formula;

    fn not(self) -> Formula {
        match self {
            Formula::Not(inner) => *inner,
            Formula::All(parts) => Formula::any(parts.into_iter().map(|part| !part)),
            Formula::Any(parts) => Formula::all(parts.into_iter().map(|part| !part)),
            atom => Formula::Not(Box::new(atom)),
        }
    }
}

impl Display for Formula {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let list = |out: &mut Formatter<'_>, word: &str, empty: &str, parts: &[Formula]| {
            if parts.is_empty() {
                return out.write_str(empty);
            }
            write!(out, "({word}")?;
            parts.iter().try_for_each(|part| write!(out, " {part}"))?;
            out.write_str(")")
        };
        match self {
            Formula::Atom(text) => out.write_str(text),
            Formula::Not(inner) => write!(out, "(not {inner})"),
            Formula::All(parts) => list(out, "and", "true", parts),
            Formula::Any(parts) => list(out, "or", "false", parts),
        }
    }
}
