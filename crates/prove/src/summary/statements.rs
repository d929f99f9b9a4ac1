//! Statements of SQL in a body: whether the rows are there that they look for by their key.

use skew_sql::ir::{Change, JoinKind, Plan};
use skew_sql::plpgsql::bound::{Into, Rows, Sql};

use super::assign::set;
use super::formula::Known;
use super::paths::{Walk, shortened};
use super::terms::State;
use super::{Access, AccessKind, Cell, Outcome, TermId, TermKind};

impl Walk<'_> {
    /// A query or change as a statement of the path: rows that it looks for by their key are there or not.
    pub(super) fn sql(&mut self, sql: &Sql, into: Option<&Into>, line: u32, mut state: State) -> Vec<State> {
        let first = state.accesses.len();
        let values = self.whole(sql, line, &mut state);
        let strict = into.is_some_and(|into| into.strict);
        let follows = sql.bound().is_some_and(|bound| gives_what_is_found(&bound.query.plan));
        let mut done = Vec::new();
        let scans = sql.bound().and_then(|bound| joined_scans(&bound.query.plan));
        let is_join = scans.is_some_and(|scans| scans > 1 && scans == state.accesses.len() - first);
        let follows = follows || is_join;
        let ways = if is_join { self.joined(first, state) } else { self.outcomes(first, state) };
        for (outcome, mut state) in ways {
            if strict && follows && outcome == Outcome::Missing && !state.conditional && !state.looped {
                continue;
            }
            if let Some(into) = into {
                match outcome {
                    Outcome::Missing if follows => {
                        let null = state.term(TermKind::Null);
                        into.targets.iter().for_each(|target| self.assign(target, null, &mut state));
                    }
                    _ => self.fill(&into.targets, &values, &mut state),
                }
                let is_open = (outcome == Outcome::Open || !follows) && !always_a_row(sql);
                if is_open || (outcome == Outcome::Missing && !follows) {
                    // Whether there was a row is not known, so neither is whether the values are.
                    for target in &into.targets {
                        let value = state.unknown();
                        self.assign(target, value, &mut state);
                    }
                }
            }
            let found = match outcome {
                Outcome::Found if follows => state.truth_term(true),
                Outcome::Missing if follows => state.truth_term(false),
                _ if always_a_row(sql) => state.truth_term(true),
                _ => state.unknown(),
            };
            set(&mut state, self.body.found, found);
            done.push(state);
        }
        done
    }

    /// The ways that a join can go whose accesses begin here, if it is of one row of each table at most: all of them are
    /// there and fit together, or it gives nothing, and which of them are there is open.
    fn joined(&mut self, first: usize, mut state: State) -> Vec<(Outcome, State)> {
        for access in first..state.accesses.len() {
            state.accesses[access].single = self.is_of_one(access, &state);
        }
        let is_told = |asked: &Access| {
            asked.single && !asked.conditional && !asked.looped && asked.writes.is_empty() && asked.extreme.is_none()
        };
        let are_told = self.looks_for_rows && !self.together;
        if !are_told || !state.accesses[first..].iter().all(is_told) {
            return vec![(Outcome::Open, state)];
        }
        let by: Vec<TermId> =
            state.accesses[first..].iter().flat_map(|asked| asked.row.iter().map(|(_, value)| *value)).collect();
        let mut ways = Vec::new();
        // Nothing is found by NULL.
        if !by.iter().any(|value| state.is_null(*value)) {
            let mut found = state.clone();
            found.accesses[first..].iter_mut().for_each(|access| access.outcome = Outcome::Found);
            found.never_null.extend(by);
            for (asked, formula) in std::mem::take(&mut found.asked) {
                if asked >= first {
                    found.assume(&formula, Known::TRUE, self.facts);
                }
            }
            found.decisions.push(format!("line {}: all found", found.accesses[first].line));
            ways.push((Outcome::Found, found));
        }
        state.decisions.push(format!("line {}: not all found", state.accesses[first].line));
        ways.push((Outcome::Missing, state));
        ways
    }

    /// Whether at most one row has the values that an access asks for.
    fn is_of_one(&self, access: usize, state: &State) -> bool {
        let asked = &state.accesses[access];
        let is_given = |column: &usize| asked.value_of(*column).is_some_and(|by| !state.terms[by].looped);
        let has = |columns: &Vec<usize>| columns.iter().all(is_given);
        self.facts.table(asked.table).is_some_and(|table| table.unique.iter().any(has))
    }

    /// The ways that a statement can go whose accesses begin here: if it looks for one row by its key, that is there or
    /// is not.
    pub(super) fn outcomes(&mut self, first: usize, mut state: State) -> Vec<(Outcome, State)> {
        for access in first..state.accesses.len() {
            state.accesses[access].single = self.is_of_one(access, &state);
        }
        let asks = |access: &Access| access.reads.contains(&Cell::Existence);
        // What ends in an error is seen by nobody.
        if (first..state.accesses.len()).any(|access| state.lacks_parent(access, self.facts, self.catalog)) {
            return Vec::new();
        }
        if let Some(inserted) = state.accesses[first..].iter().find(|access| access.kind == AccessKind::Insert) {
            let sure = !inserted.conditional && state.accesses.len() == first + 1;
            return vec![(if sure { Outcome::Found } else { Outcome::Open }, state)];
        }
        let looking: Vec<usize> = (first..state.accesses.len()).filter(|at| asks(&state.accesses[*at])).collect();
        let [access] = looking[..] else { return vec![(Outcome::Open, state)] };
        let asked = &state.accesses[access];
        let is_told = self.looks_for_rows && !self.together;
        if !asked.single || asked.conditional || asked.looped || !is_told || asked.extreme.is_some() {
            return vec![(Outcome::Open, state)];
        }
        // NULL finds nothing; if rows are looked up by it, none is looked at.
        let nulls: Vec<usize> =
            asked.row.iter().filter(|(_, value)| state.is_null(*value)).map(|(column, _)| *column).collect();
        if nulls.iter().any(|column| asked.ranged.contains(column)) {
            state.accesses[access].forget();
            return vec![(Outcome::Missing, state)];
        }
        if !nulls.is_empty() {
            state.accesses[access].writes.clear();
            state.accesses[access].values.clear();
            return vec![(Outcome::Missing, state)];
        }
        let key = self.facts.table(asked.table).map(|table| table.key.clone()).unwrap_or_default();
        let plain =
            asked.plain && asked.filtered.is_empty() && asked.row.iter().all(|(column, _)| key.contains(column));
        let known = state.known_outcome(access, self.facts, self.stable);
        let name = self.facts.table(asked.table).map_or("row", |table| &table.name).to_owned();
        let mut ways = Vec::new();
        if known != Some(Outcome::Missing) {
            let mut found = state.clone();
            found.accesses[access].outcome = Outcome::Found;
            // Nothing is found by NULL.
            let by: Vec<TermId> = found.accesses[access].row.iter().map(|(_, value)| *value).collect();
            found.never_null.extend(by);
            for (asked, formula) in std::mem::take(&mut found.asked) {
                if asked == access {
                    found.assume(&formula, Known::TRUE, self.facts);
                }
            }
            if known.is_none() {
                found.decisions.push(format!("line {}: found in {name}", found.accesses[access].line));
            }
            ways.push((Outcome::Found, found));
        }
        if known != Some(Outcome::Found) || !plain {
            let mut missing = state;
            missing.accesses[access].outcome = if plain { Outcome::Missing } else { Outcome::Open };
            missing.accesses[access].writes.clear();
            missing.accesses[access].values.clear();
            if plain {
                missing.accesses[access].reads = [Cell::Existence].into();
            }
            if known.is_none() {
                missing.decisions.push(format!("line {}: not found in {name}", missing.accesses[access].line));
            }
            ways.push((Outcome::Missing, missing));
        }
        ways
    }

    /// A statement as a whole: what its row has.
    pub(super) fn whole(&mut self, sql: &Sql, line: u32, state: &mut State) -> Vec<TermId> {
        match sql.bound() {
            Some(bound) => self.look(line, &sql.text, state).query(&bound.query, None),
            None => {
                self.everything(unbound(&sql.text, sql.refused()), line, state);
                Vec::new()
            }
        }
    }

    pub(super) fn rows(&mut self, rows: &Rows, line: u32, state: &mut State) -> Vec<TermId> {
        match rows {
            Rows::Query(sql) => {
                // Each row has its own values.
                let first = state.accesses.len();
                let was = std::mem::replace(&mut state.looped, true);
                let values = self.whole(sql, line, state);
                state.looped = was;
                for access in first..state.accesses.len() {
                    state.accesses[access].looped = true;
                }
                values
            }
            Rows::Execute(_) => {
                self.everything("EXECUTE of a command that is made while running".to_owned(), line, state);
                Vec::new()
            }
        }
    }
}

/// Whether a statement gives or changes a row if and only if it finds the one that it looks for.
pub(super) fn gives_what_is_found(plan: &Plan) -> bool {
    match plan {
        Plan::Scan(_) => true,
        Plan::Project { input, .. } | Plan::Filter { input, .. } | Plan::Sort { input, .. } => {
            gives_what_is_found(input)
        }
        Plan::DistinctOn { input, .. } | Plan::Lock { input, .. } | Plan::Arrange { input, .. } => {
            gives_what_is_found(input)
        }
        Plan::Distinct(input) => gives_what_is_found(input),
        Plan::Limit(limit) => gives_what_is_found(&limit.input),
        Plan::Subquery(query) => gives_what_is_found(&query.plan),
        Plan::Change(change) => match &**change {
            Change::Insert(_) => true,
            Change::Update(update) => gives_what_is_found(&update.input),
            Change::Delete(delete) => gives_what_is_found(&delete.input),
            Change::Merge(_) => false,
        },
        _ => false,
    }
}

/// How many tables a query looks at, if it does nothing but join their rows.
fn joined_scans(plan: &Plan) -> Option<usize> {
    match plan {
        Plan::Scan(_) => Some(1),
        Plan::Join(join) if join.kind == JoinKind::Inner => {
            Some(joined_scans(&join.left)? + joined_scans(&join.right)?)
        }
        Plan::Project { input, .. } | Plan::Filter { input, .. } | Plan::Lock { input, .. } => joined_scans(input),
        Plan::Arrange { input, .. } => joined_scans(input),
        _ => None,
    }
}

/// Whether a query gives one row whatever there is.
fn always_a_row(sql: &Sql) -> bool {
    sql.bound().is_some_and(|bound| gives_a_row(&bound.query.plan))
}

/// Whether a plan gives one row whatever there is.
pub(super) fn gives_a_row(plan: &Plan) -> bool {
    match plan {
        Plan::One => true,
        Plan::Project { input, .. } => gives_a_row(input),
        Plan::Aggregate(aggregate) => aggregate.keys.is_empty() && aggregate.sets.len() <= 1,
        _ => false,
    }
}

/// SQL that could not be bound, in words.
pub(super) fn unbound(text: &str, refused: Option<&str>) -> String {
    let text = shortened(text);
    refused.map_or_else(|| format!("`{text}`"), |why| format!("`{text}`, where {why},"))
}
