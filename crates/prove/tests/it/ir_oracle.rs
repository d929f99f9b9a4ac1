//! Whether a program of the analysis language explains a recorded trace: its definition ([`skew_prove::ir`]) taken
//! literally. All ways through the program are followed at once, as a set of states.

use std::collections::BTreeMap;

use skew_prove::ir::{AccessId, Application, Block, Function, Label, Program, Step, Value};
use skew_sql::catalog::Catalog;
use skew_sql::session::trace::{Did, Event, Recorded};
use skew_sql::types::Type;

use crate::executions::Execution;
use crate::values::{number, order};

/// More states than this are not followed.
const MAX_STATES: usize = 600;
/// More steps than this are not made.
const MAX_STEPS: usize = 40_000;

/// Whether an execution is one of a program's.
pub enum Explained {
    Yes,
    /// How far the explanation came, and what stopped it.
    No(String),
    /// There were too many possibilities.
    Unknown,
}

/// A value in a run of the program.
#[derive(Clone, PartialEq, Debug)]
pub enum Held {
    Known(Recorded),
    /// One value, which is not known yet: its place among the state's symbols.
    Symbol(usize),
    /// Any value, another one each time.
    Any,
}

/// What an access has picked.
#[derive(Clone, PartialEq, Debug)]
pub enum Picked {
    /// One row: what its statement read of it, and its key.
    Row(BTreeMap<usize, Recorded>),
    Nothing,
    Unknown,
}

/// An access that was reached, with what variables held then.
#[derive(Clone, PartialEq, Debug)]
pub struct Instance {
    pub id: AccessId,
    pub variables: Vec<Held>,
    /// It is perhaps not made, or made many times.
    pub optional: bool,
}

/// A statement that is running.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Frame {
    /// Its number in the trace; `None`: it has done nothing that is recorded.
    pub number: Option<u32>,
    pub instances: Vec<Instance>,
    /// The tables to which it may do anything.
    pub havoc: Vec<u32>,
    /// The statements within it.
    pub within: Vec<u32>,
    /// What was recorded as theirs, by statement and place, and is not: it did so after they were done.
    pub carried: Vec<(u32, usize)>,
}

/// How a run goes on.
#[derive(Clone, PartialEq, Debug)]
pub enum Flow {
    Next,
    Leave(Label),
    Again(Label),
    Fail,
}

/// How far a run has come.
#[derive(Clone, PartialEq, Debug)]
pub struct State {
    pub variables: Vec<Held>,
    pub symbols: Vec<Option<Recorded>>,
    pub frames: Vec<Frame>,
    pub picked: BTreeMap<AccessId, Picked>,
    /// How many statements of the trace have begun.
    pub begun: usize,
    /// What it does is undone: it belongs to a part that fails.
    pub undone: bool,
    /// It stands in something that is perhaps done many times by one statement.
    pub optional: bool,
    pub flow: Flow,
}

pub struct Matcher<'a> {
    pub program: &'a Program,
    pub application: &'a Application,
    pub catalog: &'a Catalog,
    pub events: BTreeMap<u32, Vec<&'a Event>>,
    numbers: Vec<u32>,
    steps: usize,
    overflowed: bool,
    /// The furthest that a statement was explained, and why the next one was not.
    pub furthest: usize,
    pub reason: String,
}

/// Whether a program explains an execution.
pub fn explain(program: &Program, execution: &Execution, application: &Application, catalog: &Catalog) -> Explained {
    let mut events: BTreeMap<u32, Vec<&Event>> = BTreeMap::new();
    for event in &execution.trace.events {
        events.entry(event.statement).or_default().push(event);
    }
    let numbers = events.keys().copied().collect();
    let (furthest, reason) = (0, String::new());
    let mut matcher =
        Matcher { program, application, catalog, events, numbers, steps: 0, overflowed: false, furthest, reason };
    let begin = matcher.begin(&execution.arguments);
    let ends = matcher.block(&program.body, vec![begin]);
    if ends.iter().any(|state| state.begun == matcher.numbers.len() && state.flow == Flow::Next) {
        return Explained::Yes;
    }
    match matcher.overflowed {
        true => Explained::Unknown,
        false => {
            Explained::No(format!("{} of {} statements: {}", matcher.furthest, matcher.numbers.len(), matcher.reason))
        }
    }
}

impl Matcher<'_> {
    fn begin(&self, arguments: &[Option<Recorded>]) -> State {
        let mut variables = vec![Held::Known(Recorded::Null); self.program.variables.len()];
        for (at, parameter) in self.program.parameters.iter().enumerate() {
            let is_plain = matches!(
                parameter.ty,
                Type::INT2 | Type::INT4 | Type::INT8 | Type::NUMERIC | Type::TEXT | Type::VARCHAR
            );
            let known = arguments.get(at).cloned().flatten().filter(|_| is_plain);
            variables[parameter.variable.0] = known.map_or(Held::Any, Held::Known);
        }
        State {
            variables,
            symbols: Vec::new(),
            frames: Vec::new(),
            picked: BTreeMap::new(),
            begun: 0,
            undone: false,
            optional: false,
            flow: Flow::Next,
        }
    }

    fn block(&mut self, block: &Block, mut states: Vec<State>) -> Vec<State> {
        for step in block {
            let (running, mut ended): (Vec<State>, Vec<State>) =
                states.into_iter().partition(|state| state.flow == Flow::Next);
            self.steps += running.len();
            if running.len() + ended.len() > MAX_STATES || self.steps > MAX_STEPS {
                self.overflowed = true;
                return Vec::new();
            }
            let failing = running.iter().filter(|state| state.undone && state.frames.is_empty());
            ended.extend(failing.map(|state| State { flow: Flow::Fail, ..state.clone() }));
            for state in running {
                for after in self.step(step, state) {
                    if !ended.contains(&after) {
                        ended.push(after);
                    }
                }
            }
            states = ended;
        }
        states
    }

    fn step(&mut self, step: &Step, mut state: State) -> Vec<State> {
        match step {
            Step::Let(variable, value) => {
                let value = self.value(value, &state, None);
                state.variables[variable.0] = match value {
                    Held::Any if !state.optional => {
                        state.symbols.push(None);
                        Held::Symbol(state.symbols.len() - 1)
                    }
                    value => value,
                };
                vec![state]
            }
            Step::Statement(_, block) => self.statement(block, state),
            Step::Access(id) => {
                let instance = Instance { id: *id, variables: state.variables.clone(), optional: state.optional };
                if let Some(frame) = state.frames.last_mut() {
                    frame.instances.push(instance);
                }
                vec![state]
            }
            Step::If { condition, then, otherwise, .. } => {
                let is_true = self.truth(condition, &state);
                let mut after = Vec::new();
                if is_true != Some(false) {
                    after.extend(self.block(then, vec![state.clone()]));
                }
                if is_true != Some(true) {
                    after.extend(self.block(otherwise, vec![state]));
                }
                after
            }
            Step::Loop(label, block) => self.looped(*label, block, state),
            Step::Within(label, block) => {
                let mut after = self.block(block, vec![state]);
                after
                    .iter_mut()
                    .filter(|state| state.flow == Flow::Leave(*label))
                    .for_each(|state| state.flow = Flow::Next);
                after
            }
            Step::Leave(label) => vec![State { flow: Flow::Leave(*label), ..state }],
            Step::Again(label) => vec![State { flow: Flow::Again(*label), ..state }],
            Step::Try { body, handlers, .. } => {
                let mut after = self.block(body, vec![state.clone()]);
                let undone = state.undone;
                let failing = self.block(body, vec![State { undone: true, ..state }]);
                let failed = failing.into_iter().filter(|state| state.flow == Flow::Fail);
                let failed: Vec<State> = failed.map(|state| State { flow: Flow::Next, undone, ..state }).collect();
                for handler in handlers {
                    after.extend(self.block(&handler.body, failed.clone()));
                }
                after
            }
            Step::Fail(_) if state.undone => vec![State { flow: Flow::Fail, ..state }],
            Step::Fail(_) => Vec::new(),
            Step::Ends(_) => {
                self.overflowed = true;
                Vec::new()
            }
            Step::Outside(..) => vec![state],
            Step::Havoc { tables, .. } => {
                if let Some(frame) = state.frames.last_mut() {
                    frame.havoc.extend(tables.iter().copied());
                }
                let mut after = vec![state.clone()];
                while let Some(number) = self.numbers.get(state.begun)
                    && self.events[number].iter().all(|event| tables.has(&table_of(event)))
                {
                    state.begun += 1;
                    after.push(state.clone());
                }
                after
            }
        }
    }

    /// A statement takes the next number, or none.
    fn statement(&mut self, block: &Block, state: State) -> Vec<State> {
        let mut done = Vec::new();
        for number in [self.numbers.get(state.begun).copied(), None] {
            let mut begun = state.clone();
            if number.is_none() && self.numbers.get(state.begun).is_some() && done.len() > MAX_STATES {
                break;
            }
            begun.begun += usize::from(number.is_some());
            begun.frames.push(Frame { number, ..Frame::default() });
            // A statement of a function that is called many times does all that it does each time.
            begun.optional = false;
            let is_last = self.numbers.get(state.begun).is_none();
            for mut after in self.block(block, vec![begun]) {
                let frame = after.frames.pop().expect("it was pushed");
                after.optional = state.optional;
                let place = self.numbers.partition_point(|other| Some(*other) < number);
                if let Some(around) = after.frames.last_mut() {
                    around.within.extend(number);
                    around.within.extend(&frame.within);
                }
                match self.explain_frame(&frame, after) {
                    Ok(states) => {
                        self.furthest = self.furthest.max(if number.is_some() { place + 1 } else { 0 });
                        done.extend(states);
                    }
                    Err(reason) => {
                        if number.is_some() && place >= self.furthest || is_last {
                            (self.furthest, self.reason) = (self.furthest.max(place), reason);
                        }
                    }
                }
            }
            if is_last {
                break;
            }
        }
        done
    }

    fn looped(&mut self, label: Label, block: &Block, mut state: State) -> Vec<State> {
        let optional = state.optional;
        state.optional |= !state.frames.is_empty();
        let mut ends = vec![state.clone()];
        let mut rounds = vec![state];
        // In one statement a round stands for all of them: its accesses cover any number of rows.
        while !rounds.is_empty() && !self.overflowed {
            let before = rounds.clone();
            let mut next = Vec::new();
            for mut after in self.block(block, std::mem::take(&mut rounds)) {
                match after.flow {
                    Flow::Leave(left) if left == label => {
                        after.flow = Flow::Next;
                        ends.push(after);
                        continue;
                    }
                    Flow::Again(again) if again == label => after.flow = Flow::Next,
                    Flow::Next => {}
                    _ => {
                        ends.push(after);
                        continue;
                    }
                }
                let has_begun = before.iter().all(|state| after.begun > state.begun);
                if !ends.contains(&after) {
                    ends.push(after.clone());
                    if has_begun {
                        next.push(after);
                    }
                }
            }
            rounds = next;
        }
        ends.iter_mut().for_each(|state| state.optional = optional);
        ends
    }

    /// Whether a condition is true, where that is known.
    fn truth(&self, condition: &Value, state: &State) -> Option<bool> {
        match self.value(condition, state, None) {
            Held::Known(Recorded::Null) => Some(false),
            Held::Known(value) => Some(value == truth(true)),
            Held::Symbol(at) => state.symbols[at].as_ref().map(|value| *value == truth(true)),
            Held::Any => None,
        }
    }

    /// The value of an expression; that of columns of one access is taken from a row.
    pub fn value(&self, value: &Value, state: &State, row: Option<(AccessId, &BTreeMap<usize, Recorded>)>) -> Held {
        match value {
            Value::Constant(text) => Held::Known(match &**text {
                "true" => truth(true),
                "false" => truth(false),
                text => Recorded::Value(text.to_owned()),
            }),
            Value::Null => Held::Known(Recorded::Null),
            Value::Variable(variable) => match &state.variables[variable.0] {
                Held::Symbol(at) => state.symbols[*at].clone().map_or(Held::Symbol(*at), Held::Known),
                held => held.clone(),
            },
            Value::Column(id, column) => match (row, state.picked.get(id)) {
                (Some((of, values)), _) if of == *id => values.get(column).cloned().map_or(Held::Any, Held::Known),
                (_, Some(Picked::Row(values))) => values.get(column).cloned().map_or(Held::Any, Held::Known),
                (_, Some(Picked::Nothing)) => Held::Known(Recorded::Null),
                _ => Held::Any,
            },
            Value::Found(id) => match state.picked.get(id) {
                Some(Picked::Row(_)) => Held::Known(truth(true)),
                Some(Picked::Nothing) => Held::Known(truth(false)),
                _ => Held::Any,
            },
            Value::Apply(function, args) => {
                let args = args.iter().map(|arg| match self.value(arg, state, row) {
                    Held::Known(value) => Some(value),
                    Held::Symbol(_) | Held::Any => None,
                });
                apply(*function, &args.collect::<Vec<_>>()).map_or(Held::Any, Held::Known)
            }
            Value::Fresh(_) | Value::Opaque(_) => Held::Any,
        }
    }
}

pub fn truth(is: bool) -> Recorded {
    Recorded::Value(if is { "t" } else { "f" }.to_owned())
}

/// The table that an event is about.
pub fn table_of(event: &Event) -> u32 {
    match &event.did {
        Did::Read(cell, _) | Did::OwnRead(cell, _) | Did::Write(cell, _) => cell.row.table,
        Did::Look { table, .. } => *table,
        Did::Lock(row, _) => row.table,
    }
}

/// The value of a function, as far as its arguments say.
fn apply(function: Function, args: &[Option<Recorded>]) -> Option<Recorded> {
    let is = |value: &Option<Recorded>, wanted: bool| {
        value.as_ref().is_some_and(|value| order(value, &truth(wanted)).is_some_and(std::cmp::Ordering::is_eq))
    };
    match function {
        Function::And if args.iter().any(|arg| is(arg, false)) => return Some(truth(false)),
        Function::Or if args.iter().any(|arg| is(arg, true)) => return Some(truth(true)),
        _ => {}
    }
    let known: Vec<&Recorded> = args.iter().map(Option::as_ref).collect::<Option<_>>()?;
    if function == Function::IsNull {
        return Some(truth(*known[0] == Recorded::Null));
    }
    if known.contains(&&Recorded::Null) {
        return Some(Recorded::Null);
    }
    let counted = |made: fn(i128, i128) -> i128| {
        let (one, other) = (number(known[0])??, number(known[1])??);
        Some(Recorded::Value(made(one, other).to_string()))
    };
    let compared = |is: fn(std::cmp::Ordering) -> bool| Some(truth(is(order(known[0], known[1])?)));
    match function {
        Function::Plus => counted(|one, other| one + other),
        Function::Minus => counted(|one, other| one - other),
        Function::Times => counted(|one, other| one * other),
        Function::Equal => compared(std::cmp::Ordering::is_eq),
        Function::Different => compared(std::cmp::Ordering::is_ne),
        Function::Less => compared(std::cmp::Ordering::is_lt),
        Function::AtMost => compared(std::cmp::Ordering::is_le),
        Function::Greater => compared(std::cmp::Ordering::is_gt),
        Function::AtLeast => compared(std::cmp::Ordering::is_ge),
        Function::And => Some(truth(true)),
        Function::Or => Some(truth(false)),
        Function::Not => Some(truth(is(&args[0], false))),
        Function::IsNull => None,
    }
}
