//! Where a body decides: branches, and what is known on each of them.

use skew_sql::plpgsql::bound::{Expression, Statement};
use skew_sql::types::Type;

use super::conditions::{Comparison, Condition};
use super::formula::{Formula, Known, Truth, asks_existence};
use super::paths::{STATEMENT, Walk, shortened};
use super::statements::gives_what_is_found;
use super::terms::State;
use super::values::is_integer;
use super::{Cell, Outcome, TermId};

impl Walk<'_> {
    pub(super) fn branches(
        &mut self,
        line: u32,
        branches: &[(&Expression, &[Statement])],
        otherwise: Option<&[Statement]>,
        states: Vec<State>,
    ) -> Vec<State> {
        let Some(((condition, body), rest)) = branches.split_first() else { return self.otherwise(otherwise, states) };
        let mut done = Vec::new();
        for state in self.answer(condition, line, states) {
            if self.together {
                let mut state = state;
                self.expression(condition, line, &mut state);
                let was = state.conditional;
                let mut states = self.maybe(body, vec![state]);
                // Who has taken this branch does not ask about the others.
                states.iter_mut().for_each(|state| state.conditional = true);
                done.extend(self.branches(line, rest, otherwise, states).into_iter().map(|mut state| {
                    state.conditional = was || state.leaves;
                    state
                }));
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

    /// What is done where no branch is taken; without it, that is an error.
    fn otherwise(&mut self, otherwise: Option<&[Statement]>, mut states: Vec<State>) -> Vec<State> {
        match otherwise {
            Some(body) if self.together => self.maybe(body, states),
            Some(body) => self.statements(body, states),
            // Some of them have taken a branch.
            None if self.together => states,
            // As with an error that is raised: in a part that may be left out, nobody may come to it.
            None => {
                states.retain(|state| state.conditional || state.looped);
                states
            }
        }
    }

    /// CASE with a value: it is compared with what stands at each branch, one after the other.
    pub(super) fn cases(
        &mut self,
        line: u32,
        operand: &Expression,
        branches: &[(Vec<Expression>, Vec<Statement>)],
        otherwise: Option<&[Statement]>,
        states: Vec<State>,
    ) -> Vec<State> {
        let mut done = Vec::new();
        for mut state in self.answer(operand, line, states) {
            let value = self.expression(operand, line, &mut state);
            if self.together {
                let values = branches.iter().flat_map(|(values, _)| values);
                let was = std::mem::replace(&mut state.conditional, true);
                values.for_each(|value| _ = self.expression(value, line, &mut state));
                state.conditional = was;
                let bodies = branches.iter().map(|(_, body)| &body[..]).chain(otherwise);
                done.extend(bodies.fold(vec![state], |states, body| self.maybe(body, states)));
                continue;
            }
            let mut left = vec![state];
            for (expected, body) in branches.iter().flat_map(|(all, body)| all.iter().map(move |one| (one, body))) {
                for mut state in std::mem::take(&mut left) {
                    let formula = self.equals((operand, value), expected, line, &mut state);
                    let truth = state.truth(&formula, self.facts);
                    let mut taken = state.clone();
                    if truth == Truth::Open {
                        let (operand, expected) = (operand.text.trim(), expected.text.trim());
                        taken.assume(&formula, Known::TRUE, self.facts);
                        taken.decisions.push(format!("{operand} = {expected}"));
                        state.assume(&formula, Known::NOT_TRUE, self.facts);
                        state.decisions.push(format!("not ({operand} = {expected})"));
                    }
                    if matches!(truth, Truth::True | Truth::Open) {
                        done.extend(self.statements(body, vec![taken]));
                    }
                    if truth != Truth::True {
                        left.push(state);
                    }
                }
            }
            done.extend(self.otherwise(otherwise, left));
        }
        done
    }

    /// Whether the value of a CASE is what stands at a branch, where both are whole numbers or texts.
    fn equals(
        &mut self,
        (operand, value): (&Expression, TermId),
        expected: &Expression,
        line: u32,
        state: &mut State,
    ) -> Formula {
        let other = self.expression(expected, line, state);
        let types = [operand, expected].map(|part| part.bound().map(|bound| bound.expr.ty()));
        let are_alike = match types {
            [Some(one), Some(two)] => (is_integer(one) && is_integer(two)) || [one, two] == [Type::TEXT; 2],
            _ => false,
        };
        if !are_alike || state.is_null(value) || state.is_null(other) {
            return Formula::Value(state.unknown());
        }
        Formula::Compare(Condition { left: value, comparison: Comparison::Equal, right: other, or_null: false })
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
        state.statements += STATEMENT;
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
