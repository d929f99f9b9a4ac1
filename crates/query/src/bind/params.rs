//! The types of `$1`, `$2`, …: given by the client, or by where they stand.

use crate::catalog::Catalog;
use crate::error::{Result, SqlError, SqlState};
use crate::types::Type;
use crate::types::names;

/// The parameters of a statement.
#[derive(Clone, Debug, Default)]
pub struct Params {
    types: Vec<Type>,
    /// How many places use a parameter whose type was not known there, and still is not.
    open: Vec<usize>,
    /// No other parameters than those given exist.
    fixed: bool,
}

impl Params {
    /// Parameters whose types are given (`UNKNOWN` where not); others may follow.
    pub fn open(types: &[Type]) -> Params {
        Params { types: types.to_vec(), open: vec![0; types.len()], fixed: false }
    }

    /// Exactly these parameters, as in a function's body.
    pub fn fixed(types: &[Type]) -> Params {
        Params { fixed: true, ..Params::open(types) }
    }

    /// The type of a parameter (from zero), which is used now.
    pub(super) fn take(&mut self, number: usize) -> Result<Type> {
        const MOST: usize = 65535;
        if number >= self.types.len() {
            if self.fixed || number >= MOST {
                let message = format!("there is no parameter ${}", number + 1);
                return Err(SqlError::new(SqlState::UNDEFINED_PARAMETER, message));
            }
            self.types.resize(number + 1, Type::UNKNOWN);
            self.open.resize(number + 1, 0);
        }
        let ty = self.types[number];
        if ty == Type::UNKNOWN {
            self.open[number] += 1;
        }
        Ok(ty)
    }

    /// A place that used a parameter of unknown type wants it to be of this type.
    pub(super) fn infer(&mut self, number: usize, ty: Type, catalog: &Catalog) -> Result<()> {
        let known = self.types[number];
        if known == Type::UNKNOWN {
            self.types[number] = ty;
        } else if known != ty {
            let message = format!("inconsistent types deduced for parameter ${}", number + 1);
            let detail = format!("{} versus {}", names::display(known, catalog), names::display(ty, catalog));
            return Err(SqlError::new(SqlState::AMBIGUOUS_PARAMETER, message).detail(detail));
        }
        self.open[number] = self.open[number].saturating_sub(1);
        Ok(())
    }

    /// The types of all parameters.
    pub fn types(&self) -> Result<Vec<Type>> {
        for (number, (ty, open)) in self.types.iter().zip(&self.open).enumerate() {
            let message = format!("could not determine data type of parameter ${}", number + 1);
            if *ty == Type::UNKNOWN {
                return Err(SqlError::new(SqlState::INDETERMINATE_DATATYPE, message));
            }
            if *open > 0 {
                return Err(SqlError::new(SqlState::AMBIGUOUS_PARAMETER, message));
            }
        }
        Ok(self.types.clone())
    }
}
