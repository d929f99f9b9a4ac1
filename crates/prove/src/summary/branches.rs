//! Where a body decides: branches, and what is known on each of them.

use skew_sql::plpgsql::bound::{Expression, Statement};

use super::formula::{Formula, Known, Truth, asks_existence};
use super::paths::{Walk, shortened};
use super::statements::gives_what_is_found;
use super::terms::State;
use super::{Cell, Outcome};

impl Walk<'_> {
    pub(super) fn branches(
        &mut self,
        line: u32,
        branches: &[(&Expression, &[Statement])],
        otherwise: &[Statement],
        states: Vec<State>,
    ) -> Vec<State> {
        let Some(((condition, body), rest)) = branches.split_first() else {
            return if self.together { self.maybe(otherwise, states) } else { self.statements(otherwise, states) };
        };
        let mut done = Vec::new();
        for state in states {
            if self.together {
                let mut state = state;
                self.expression(condition, line, &mut state);
                let states = self.maybe(body, vec![state]);
                done.extend(self.branches(line, rest, otherwise, states));
                continue;
            }
            for (truth, formula, mut state) in self.decide(condition, line, state) {
                if truth != Truth::True && truth != Truth::Open {
                    done.extend(self.branches(line, rest, otherwise, vec![state]));
                    continue;
                }
                if truth == Truth::Open {
                    let mut other = state.clone();
                    other.assume(&formula, Known::NOT_TRUE, self.facts);
                    other.decisions.push(format!("not ({})", condition.text.trim()));
                    done.extend(self.branches(line, rest, otherwise, vec![other]));
                    state.assume(&formula, Known::TRUE, self.facts);
                    state.decisions.push(condition.text.trim().to_owned());
                }
                done.extend(self.statements(body, vec![state]));
            }
        }
        done
    }

    pub(super) fn cases(
        &mut self,
        branches: &[(Vec<Expression>, Vec<Statement>)],
        otherwise: Option<&[Statement]>,
        states: Vec<State>,
    ) -> Vec<State> {
        let bodies = branches.iter().map(|(_, body)| &body[..]).chain(otherwise);
        if self.together {
            let bodies: Vec<&[Statement]> = bodies.collect();
            return bodies.into_iter().fold(states, |states, body| self.maybe(body, states));
        }
        let bodies: Vec<&[Statement]> = bodies.collect();
        let mut done = Vec::new();
        for state in states {
            for (at, body) in bodies.iter().enumerate() {
                let mut state = state.clone();
                state.decisions.push(format!("branch {} of CASE", at + 1));
                done.extend(self.statements(body, vec![state]));
            }
        }
        done
    }

    /// ASSERT: whose condition is not true is not seen.
    pub(super) fn hold(&mut self, condition: &Expression, line: u32, state: State) -> Vec<State> {
        if state.conditional || state.looped {
            let mut state = state;
            self.expression(condition, line, &mut state);
            return vec![state];
        }
        let mut done = Vec::new();
        for (truth, formula, mut state) in self.decide(condition, line, state) {
            if matches!(truth, Truth::True | Truth::Open) {
                state.assume(&formula, Known::TRUE, self.facts);
                done.push(state);
            }
        }
        done
    }

    /// What a condition comes to, and what it is. Rows that it asks for by their key are there or not.
    pub(super) fn decide(
        &mut self,
        condition: &Expression,
        line: u32,
        mut state: State,
    ) -> Vec<(Truth, Formula, State)> {
        let Some(bound) = condition.bound() else {
            self.everything(format!("`{}`", shortened(&condition.text)), line, &mut state);
            return vec![(Truth::Open, Formula::All(Vec::new()), state)];
        };
        if let Some((query, negated)) = asks_existence(&bound.expr) {
            let first = state.accesses.len();
            self.look(line, &condition.text, &mut state).query(query, None);
            if !gives_what_is_found(&query.plan) {
                let value = state.unknown();
                return vec![(Truth::Open, Formula::Value(value), state)];
            }
            return self
                .outcomes(first, state)
                .into_iter()
                .flat_map(|(outcome, state)| self.some_or_none(outcome, first, state))
                .map(|(outcome, mut state)| {
                    let truth = match (outcome, negated) {
                        (Outcome::Found, false) | (Outcome::Missing, true) => Truth::True,
                        (Outcome::Found, true) | (Outcome::Missing, false) => Truth::False,
                        (Outcome::Open, _) => Truth::Open,
                    };
                    let value = state.unknown();
                    (truth, Formula::Value(value), state)
                })
                .collect();
        }
        let formula = self.look(line, &condition.text, &mut state).formula(&bound.expr, &[], None);
        vec![(state.truth(&formula, self.facts), formula, state)]
    }

    /// Where it is open whether there are rows with certain values: there are, or there are none.
    pub(super) fn some_or_none(&self, outcome: Outcome, first: usize, state: State) -> Vec<(Outcome, State)> {
        let looking = |at: &usize| state.accesses[*at].reads.contains(&Cell::Existence);
        let looking: Vec<usize> = (first..state.accesses.len()).filter(looking).collect();
        let is_plain = |asked: &super::Access| {
            let only_these = asked.row.iter().all(|(column, _)| asked.ranged.contains(column));
            only_these
                && asked.plain
                && asked.filtered.is_empty()
                && asked.extreme.is_none()
                && !asked.conditional
                && !asked.looped
        };
        match looking[..] {
            [access] if outcome == Outcome::Open && !self.together && is_plain(&state.accesses[access]) => {
                let mut none = state.clone();
                none.accesses[access].outcome = Outcome::Missing;
                let line = none.accesses[access].line;
                let table = self.facts.table(none.accesses[access].table);
                let name = table.map_or("row", |table| &table.name);
                none.decisions.push(format!("line {line}: none in {name}"));
                let mut some = state;
                some.decisions.push(format!("line {line}: some in {name}"));
                vec![(Outcome::Found, some), (Outcome::Missing, none)]
            }
            _ => vec![(outcome, state)],
        }
    }
}
