//! Which cycles a level allows, stated once more.

use skew_model::Level;

use super::data::{Access, Does, Kind, Outcome, Reading, Summary, Writers};

/// What the level of each program allows it.
pub(super) struct Levels {
    each: Vec<Rule>,
    /// How those read that ask for no level.
    reading: Reading,
}

/// What a level allows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rule {
    level: Level,
    /// Who is never concurrent.
    pub(super) apart: Apartness,
    /// In words.
    words: &'static str,
    /// Others run at other levels.
    pub(super) mixed: bool,
}

/// Who is never concurrent with T1.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Apartness {
    /// Nobody is excluded.
    Nobody,
    /// The neighbours in a cycle, if they surely write what T1 writes.
    Neighbours,
    /// Everybody in the cycle who surely writes what T1 writes.
    Everybody,
    /// Everybody who surely writes a row that T1 has written or locked by then.
    Locked,
}

/// A way back to T1.
pub(super) struct Allowed<'a> {
    /// None: the order of a session.
    pub(super) kind: Option<Kind>,
    pub(super) out: &'a Access,
    pub(super) back: Option<&'a Access>,
    /// Another anti-dependency, another overwrite.
    pub(super) on_the_way: (bool, bool),
    pub(super) length: usize,
}

const RULES: [(Level, Apartness, &str); 8] = [
    (
        Level::Rc,
        Apartness::Nobody,
        "T1 reads what T2 overwrites, and the way back overwrites something, has another transaction, or ends at the same \
         or a later statement of T1",
    ),
    (
        Level::Ec,
        Apartness::Nobody,
        "T1 reads what T2 overwrites, and the way back overwrites something or has another transaction; session order is \
         none",
    ),
    (
        Level::Ra,
        Apartness::Nobody,
        "T1 reads what T2 overwrites, and the way back overwrites something or has another transaction",
    ),
    (Level::Cc, Apartness::Nobody, "T1 reads what T2 overwrites, and something is overwritten on the way back"),
    (
        Level::Mvrc,
        Apartness::Locked,
        "T1 reads what T2 overwrites, and the way back ends at a later statement of T1, or by T1 overwriting what was read; \
         nobody else surely writes rows that T1 has locked by then",
    ),
    (Level::Pc, Apartness::Nobody, "T1 reads what T2 overwrites, and the way back ends by T1 overwriting something"),
    (
        Level::Psi,
        Apartness::Neighbours,
        "T1 reads what T2 overwrites, and on the way back something else that was read is overwritten; neighbours that do \
         not see each other do not surely write the same",
    ),
    (
        Level::Si,
        Apartness::Everybody,
        "T1 reads what T2 overwrites, and the way back ends by T1 overwriting what was read; nobody else surely writes what \
         T1 writes",
    ),
];

/// What holds at every level.
const CONSTRAINTS: &str = "or the way back ends at a constraint of T1";

impl Levels {
    /// By the levels that programs ask for, and the one of those that ask for none. A serializable program is protected from
    /// those that are, too; apart from that it runs as those that ask for none, or at `si`.
    pub(super) fn of(level: Level, programs: &[Option<Level>]) -> Result<Levels, String> {
        let base = if level.is_serializable() { Level::Si } else { level };
        let own = programs.iter().map(|own| match own {
            Some(own) if !own.is_serializable() => *own,
            _ => base,
        });
        if programs.iter().flatten().chain([&level]).any(|level| level.definition().target.is_some()) {
            return Err("databases' own levels are not what certificates are about".to_owned());
        }
        let each: Option<Vec<Rule>> = own.map(Rule::of).collect();
        let mut each = each.ok_or("not a level that certificates are about")?;
        let mixed = each.iter().any(|rule| rule.level != each[0].level);
        if mixed && each.iter().any(|rule| rule.level == Level::Ec) {
            return Err("programs at ec beside others".to_owned());
        }
        each.iter_mut().for_each(|rule| rule.mixed = mixed);
        let reading = if matches!(base, Level::Rc | Level::Mvrc) { Reading::EachStatement } else { Reading::Once };
        Ok(Levels { each, reading })
    }

    /// What the level of a program allows it.
    pub(super) fn rule(&self, program: usize) -> Rule {
        self.each[program]
    }

    /// How those read that ask for no level.
    pub(super) fn reading(&self) -> Reading {
        self.reading
    }

    /// Whether two can write one row without seeing each other.
    pub(super) fn writers(&self) -> Writers {
        let some_can = self.each.iter().any(|rule| rule.apart == Apartness::Nobody);
        if some_can { Writers::Together } else { Writers::Apart }
    }

    /// Whether a summary is about transactions that run at these levels.
    pub(super) fn is_about(&self, summary: &Summary) -> bool {
        summary.reading == self.reading && summary.writers == self.writers()
    }

    /// Whether session order counts.
    pub(super) fn has_sessions(&self) -> bool {
        self.each.iter().all(|rule| rule.level != Level::Ec)
    }

    /// In words.
    pub(super) fn words(&self) -> String {
        let mut known: Vec<Rule> = Vec::new();
        for rule in &self.each {
            if !known.iter().any(|one| one.level == rule.level) {
                known.push(*rule);
            }
        }
        match &known[..] {
            [one] => format!("{}; {CONSTRAINTS}", one.words),
            several => {
                let words = several.iter().map(|rule| format!("T1 at {}: {}", rule.level, rule.words));
                let words = words.collect::<Vec<_>>().join(". ");
                format!(
                    "{words}; {CONSTRAINTS}. Levels differ: what T1 has locked keeps away only those that write it at the same level"
                )
            }
        }
    }
}

impl Rule {
    fn of(level: Level) -> Option<Rule> {
        let (level, apart, words) = RULES.into_iter().find(|(known, ..)| *known == level)?;
        Some(Rule { level, apart, words, mixed: false })
    }

    /// Whether another one can overwrite what an access has read before its transaction ends.
    pub(super) fn can_be_overwritten(&self, access: &Access, other: Rule) -> bool {
        let is_found = access.outcome == Outcome::Found;
        let locks = match self.level {
            Level::Psi | Level::Si => access.locks && other.level == self.level,
            Level::Mvrc => access.locks || (access.single && matches!(access.does, Does::Update | Does::Delete)),
            _ => false,
        };
        !(locks && is_found)
    }

    /// Whether anti-dependencies on the way matter, and overwrites.
    pub(super) fn asks_for(&self) -> (bool, bool) {
        match self.level {
            Level::Psi => (true, false),
            Level::Cc => (true, true),
            _ => (false, false),
        }
    }

    /// Whether T1 sees all of T2 or nothing.
    pub(super) fn sees_second_whole(&self) -> bool {
        !matches!(self.level, Level::Rc | Level::Mvrc)
    }

    /// Whether T1 sees nobody of the cycle.
    pub(super) fn sees_nobody_after_second(&self) -> bool {
        matches!(self.level, Level::Pc | Level::Si)
    }

    /// Whether a way back is allowed.
    pub(super) fn allows(&self, way: &Allowed<'_>) -> bool {
        if way.kind == Some(Kind::Constraint) {
            return true;
        }
        let overwrites_read = way.kind == Some(Kind::Rw);
        let overwrites = overwrites_read || way.kind == Some(Kind::Ww);
        let is_longer = way.length > 2;
        match self.level {
            Level::Si => overwrites_read,
            Level::Pc => overwrites,
            Level::Psi => overwrites_read || way.on_the_way.0,
            Level::Cc => overwrites || way.on_the_way.0 || way.on_the_way.1,
            Level::Ra | Level::Ec => overwrites || is_longer,
            Level::Rc => {
                let is_later = |back: &Access| back.number == way.out.number || comes_later(back, way.out);
                overwrites || is_longer || way.back.is_none_or(is_later)
            }
            Level::Mvrc => {
                // A statement that changes or locks a row looks at it again when it does.
                let looks_again = |back: &Access| back.again || !back.writes.is_empty();
                let is_later =
                    |back: &Access| comes_later(back, way.out) || (back.number == way.out.number && looks_again(back));
                overwrites_read || way.back.is_some_and(is_later)
            }
            _ => true,
        }
    }
}

/// Whether a statement can run after another one: what stands in a loop comes again.
fn comes_later(access: &Access, other: &Access) -> bool {
    access.number > other.number || (access.looped && other.looped)
}
