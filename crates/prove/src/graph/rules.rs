//! Which cycles a level allows.
//!
//! A cycle is T1 -rw-> T2 → … → Tm → T1: T1 does not see T2, although T2 comes before it. What differs between levels is
//! which dependency may lead back to T1, and who may have written what T1 writes.
//!
//! Where programs run at different levels, the one of T1 counts: a level says what its own transactions see, and that in a
//! shortest cycle those who surely write one cell are neighbours holds at every level. What is only known of databases
//! where everybody runs at one level is left out then ([`Rules::mixed`]).

use std::collections::BTreeMap;

use skew_model::Level;

use crate::graph::Writers;
use crate::summary::{Access, AccessKind, Outcome};
use crate::suspect::EdgeKind;

/// What a level allows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rules {
    /// The level.
    pub level: Level,
    /// Session order counts as a dependency.
    pub sessions: bool,
    /// Which dependencies may lead back.
    pub back: Back,
    /// Who excludes whom.
    pub exclusion: Exclusion,
    /// What two writers conflict about.
    pub conflicts: Conflicts,
    /// Other programs run at other levels.
    pub mixed: bool,
}

/// Which dependencies may lead back to T1.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Back {
    /// `si`: T1 must overwrite what Tm read.
    ReadWrite,
    /// `pc`: T1 must overwrite what Tm read or wrote.
    Overwrite,
    /// `psi`: there must be a second anti-dependency somewhere.
    SecondReadWrite,
    /// `cc`: something must be overwritten a second time somewhere.
    SecondOverwrite,
    /// `ra`, `ec`: T1 may not both see and not see T2.
    NotDirectly,
    /// `rc`: T1 may see T2 with a later read.
    Later,
    /// `mvrc`: T1 must come to it with a later statement, or overwrite what Tm read.
    LaterStatement,
}

/// Who excludes whom from being concurrent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Exclusion {
    /// Nobody.
    None,
    /// `psi`: who writes the same cells as T1 and is not seen by it.
    Neighbours,
    /// `si`: everybody who writes the same cells as T1: none of the others is seen by it.
    Everybody,
    /// `mvrc`: everybody who writes rows that T1 has written by then.
    Locks,
}

/// What two writers conflict about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Conflicts {
    /// Cells: two transactions that write different columns of a row do not conflict.
    Cells,
    /// Rows that are there: PostgreSQL. A row that is inserted with the key of a deleted one is another row, so only
    /// transactions that change a row which they have found conflict for sure; see [`crate::lemmas`].
    Rows,
}

/// What each level allows. A level without a row here is one that the graph says nothing about: *unknown*.
pub const LEVELS: [(Level, Back, Exclusion, Conflicts); 10] = [
    (Level::Rc, Back::Later, Exclusion::None, Conflicts::Cells),
    (Level::Ec, Back::NotDirectly, Exclusion::None, Conflicts::Cells),
    (Level::Ra, Back::NotDirectly, Exclusion::None, Conflicts::Cells),
    (Level::Cc, Back::SecondOverwrite, Exclusion::None, Conflicts::Cells),
    (Level::Mvrc, Back::LaterStatement, Exclusion::Locks, Conflicts::Cells),
    (Level::Pc, Back::Overwrite, Exclusion::None, Conflicts::Cells),
    (Level::Psi, Back::SecondReadWrite, Exclusion::Neighbours, Conflicts::Cells),
    (Level::Si, Back::ReadWrite, Exclusion::Everybody, Conflicts::Cells),
    (Level::PgRc, Back::LaterStatement, Exclusion::Locks, Conflicts::Cells),
    (Level::PgRr, Back::ReadWrite, Exclusion::Everybody, Conflicts::Rows),
];

impl Rules {
    /// What a level allows; `None` if it is serializable anyway, or a level without a rule.
    pub fn of(level: Level, sessions: bool) -> Option<Rules> {
        let (level, back, exclusion, conflicts) = LEVELS.into_iter().find(|(known, ..)| *known == level)?;
        let sessions = sessions && level.definition().sessions;
        Some(Rules { level, sessions, back, exclusion, conflicts, mixed: false })
    }

    /// What the level of each program allows, by the programs' numbers and the levels that they ask for, where those that
    /// ask for none run at `level`. Otherwise, the program whose level cannot be looked at.
    ///
    /// Serializable transactions are protected from each other; from the others they are as [`beside_serializable`] says.
    /// Databases' own levels are looked at where all programs run at the same one: what one of them excludes rests on what
    /// the others do.
    pub fn of_each(
        level: Level,
        programs: &[(usize, Option<Level>)],
        sessions: bool,
    ) -> Result<BTreeMap<usize, Rules>, usize> {
        let base = beside_serializable(level);
        let mut each = BTreeMap::new();
        for (program, own) in programs {
            let own = own.filter(|own| !own.is_serializable()).unwrap_or(base);
            each.insert(*program, Rules::of(own, sessions).ok_or(*program)?);
        }
        let mixed = each.values().any(|rules| Some(rules.level) != each.values().next().map(|first| first.level));
        // At `ec` sessions count for some and not for others.
        let stands_alone = |level: Level| !level.definition().sessions || level.definition().target.is_some();
        if let (true, Some((program, _))) = (mixed, each.iter().find(|(_, rules)| stands_alone(rules.level))) {
            return Err(*program);
        }
        each.values_mut().for_each(|rules| rules.mixed = mixed);
        Ok(each)
    }

    /// Whether two can write one row without seeing each other, if they run as these say.
    pub fn writers<'r>(mut all: impl Iterator<Item = &'r Rules>) -> Writers {
        let can = |rules: &Rules| rules.exclusion == Exclusion::None || rules.conflicts == Conflicts::Rows;
        if all.any(can) { Writers::Together } else { Writers::Apart }
    }

    /// Whether what an access reads can be overwritten by another transaction before its own ends.
    pub fn is_vulnerable(&self, access: &Access, other: &Rules) -> bool {
        // Only a database that locks keeps others away: who changes a row under its lock reads what it overwrites.
        match self.exclusion {
            Exclusion::Neighbours | Exclusion::Everybody => {
                !(access.locks && access.outcome == Outcome::Found && other.level == self.level)
            }
            Exclusion::Locks => {
                let changes = matches!(access.kind, AccessKind::Update | AccessKind::Delete) && access.single;
                !(access.outcome == Outcome::Found && (access.locks || changes))
            }
            Exclusion::None => true,
        }
    }

    /// Whether it matters that there is another anti-dependency on the way, and that something is overwritten there.
    pub fn asks_for(&self) -> (bool, bool) {
        match self.back {
            Back::SecondReadWrite => (true, false),
            Back::SecondOverwrite => (true, true),
            _ => (false, false),
        }
    }

    /// Whether the order of a session may lead back to T1.
    pub fn a_session_leads_back(&self) -> bool {
        !matches!(self.back, Back::ReadWrite | Back::Overwrite | Back::LaterStatement)
    }

    /// Whether a dependency may lead back to T1.
    ///
    /// A constraint of T1 is evaluated on the newest committed state, which no level says that T1 sees: it leads back to T1 at
    /// every level. (At `mvrc`, a later statement of T1 can look from before that state, too; PostgreSQL's cannot.)
    pub fn leads_back(&self, cycle: &Leading<'_>) -> bool {
        if cycle.kind == EdgeKind::Constraint {
            return true;
        }
        let overwrites = matches!(cycle.kind, EdgeKind::ReadWrite | EdgeKind::WriteWrite);
        match self.back {
            Back::ReadWrite => cycle.kind == EdgeKind::ReadWrite,
            Back::Overwrite => overwrites,
            Back::SecondReadWrite => cycle.kind == EdgeKind::ReadWrite || cycle.read_writes,
            Back::SecondOverwrite => overwrites || cycle.read_writes || cycle.overwrites,
            Back::NotDirectly => overwrites || cycle.length > 2,
            Back::Later => {
                overwrites
                    || cycle.length > 2
                    || cycle.kind == EdgeKind::Session
                    || cycle.back.is_none_or(|back| back.number == cycle.out.number || comes_later(back, cycle.out))
            }
            Back::LaterStatement => {
                // A statement that changes or locks a row looks at it again then, after its snapshot.
                let looks_again = |back: &Access| back.again || !back.writes.is_empty();
                let is_later = |back: &Access| {
                    comes_later(back, cycle.out) || (back.number == cycle.out.number && looks_again(back))
                };
                cycle.kind == EdgeKind::ReadWrite || cycle.back.is_some_and(is_later)
            }
        }
    }
}

/// How serializable transactions run beside others, where those that ask for no level run at this one: as they do, or one
/// step below where all are serializable.
pub fn beside_serializable(level: Level) -> Level {
    match level.beside_others() {
        beside if beside.is_serializable() => Level::Si,
        beside => beside,
    }
}

/// Whether a statement can run after another one: what stands in a loop comes again.
fn comes_later(access: &Access, other: &Access) -> bool {
    access.number > other.number || (access.looped && other.looped)
}

/// A chain that is about to be closed.
#[derive(Clone, Copy, Debug)]
pub struct Leading<'a> {
    /// How many transactions it has.
    pub length: usize,
    /// The dependency that leads back.
    pub kind: EdgeKind,
    /// The access with which T1 reads what T2 overwrites.
    pub out: &'a Access,
    /// The access of T1 that the dependency leads back to.
    pub back: Option<&'a Access>,
    /// There is another anti-dependency on the way.
    pub read_writes: bool,
    /// Something is overwritten on the way.
    pub overwrites: bool,
}
