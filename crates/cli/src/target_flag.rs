//! `--target`: the database whose levels SQL's names mean, in every command that takes levels.

use clap::{Args, ValueEnum};
use skew_model::Target;

/// The database whose levels SQL's names mean.
#[derive(Args, Clone, Copy)]
pub(crate) struct TargetFlag {
    /// The database whose levels SQL's names mean: 'repeatable read' of PostgreSQL is pg-rr, of MariaDB maria-rr. Short ids
    /// mean the same for both
    #[arg(long, value_enum, default_value = "postgres")]
    target: TargetArgument,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum TargetArgument {
    #[value(alias = "postgresql")]
    Postgres,
    #[value(aliases = ["maria", "mysql"])]
    Mariadb,
}

impl TargetFlag {
    pub(crate) fn target(self) -> Target {
        match self.target {
            TargetArgument::Postgres => Target::Postgres,
            TargetArgument::Mariadb => Target::Mariadb,
        }
    }

    #[cfg(feature = "database")]
    /// Where transactions are run: the weak database has PostgreSQL's locks and snapshots.
    pub(crate) fn must_be_executable(self) -> Result<(), String> {
        match self.target() {
            Target::Postgres => Ok(()),
            Target::Mariadb => {
                Err("MariaDB's levels are not executed yet: `skew check`, `skew explain` and `skew robust` \
                                    know them (maria-rc, maria-rr, maria-ser)"
                    .to_owned())
            }
        }
    }
}
