//! Bodies with their variables, and calls: a body is lowered in the place of each call of it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use skew_sql::app::Program as AppProgram;
use skew_sql::catalog::{Oid, ParameterMode, Returns, UserFunction, Volatility};
use skew_sql::plpgsql::bound::Program as Body;
use skew_sql::types::Type;

use super::{Lowering, MAX_ACCESSES, MAX_CALL_DEPTH, Schema};
use crate::ir::{Cause, Label, Origin, Parameter, Program, Step, Value, Variable};

/// A body that is being lowered.
pub(super) struct Routine<'a> {
    pub(super) body: &'a Body,
    /// The variables of the frame, and of the fields of records in it.
    pub(super) places: BTreeMap<(usize, Option<usize>), Variable>,
    /// What RETURN leaves.
    pub(super) end: Label,
    /// What RETURN gives.
    pub(super) result: Variable,
    /// The labels of the blocks and loops around, outermost first, and whether each is a loop.
    pub(super) labels: Vec<(Option<String>, Label, bool)>,
}

/// A whole program.
pub(super) fn program(program: &AppProgram, body: &Body, schema: Schema<'_>) -> Program {
    let origin = Origin { place: body.block.line, text: Arc::from(&program.name[..]), cause: Cause::Written };
    let routine = Routine { body, places: BTreeMap::new(), end: Label(0), result: Variable(0), labels: Vec::new() };
    let mut lowering = Lowering {
        schema,
        variables: vec!["result".to_owned()],
        accesses: Vec::new(),
        labels: 1,
        block: Vec::new(),
        routine,
        calls: vec![program.oid],
        origin,
        within_statement: false,
        deferred: Vec::new(),
        cascading: Vec::new(),
        sought: BTreeSet::new(),
    };
    let parameters: Vec<Parameter> = body
        .parameters
        .iter()
        .map(|place| {
            let variable = lowering.place(*place, None);
            let declared = &body.variables[*place];
            Parameter { name: declared.name.to_string(), ty: declared.typed.ty, variable }
        })
        .collect();
    if schema.catalog.functions.get(&program.oid).is_some_and(|known| !known.settings.is_empty()) {
        lowering.havoc("a procedure with settings of its own, under which names may mean something else");
    }
    let block = lowering.body();
    lowering.emit(Step::Within(Label(0), block));
    lowering.fire_deferred();
    let Lowering { variables, accesses, block, .. } = lowering;
    Program { name: program.name.clone(), level: program.level, parameters, variables, accesses, body: block }
}

impl<'a> Lowering<'a> {
    /// The variable of a place in the frame, or of a field of the record there.
    pub(super) fn place(&mut self, place: usize, field: Option<usize>) -> Variable {
        if let Some(known) = self.routine.places.get(&(place, field)) {
            return *known;
        }
        let name = self.routine.body.variables.get(place).map_or("?", |variable| &variable.name[..]);
        let name = match field {
            Some(field) => format!("{name}.{}", field + 1),
            None => name.to_owned(),
        };
        let variable = self.variable(&name);
        self.routine.places.insert((place, field), variable);
        variable
    }

    /// The steps of the body.
    fn body(&mut self) -> Vec<Step> {
        let body = self.routine.body;
        let found = self.place(body.found, None);
        self.block_of(|lowering| {
            lowering.emit(Step::Let(found, Value::Constant(Arc::from("false"))));
            lowering.plpgsql_block(&body.block);
        })
        .0
    }

    /// A call of a user's function: what it returns. It is made once where that is sure, else any number of times.
    pub(super) fn call(&mut self, function: &UserFunction, args: Vec<Value>, sure: bool) -> Value {
        let returns_one = matches!(function.returns, Returns::One(_));
        let is_sure = sure && !function.strict && function.volatility == Volatility::Volatile;
        let result = match is_sure {
            true => self.enter(function, None, args),
            false => {
                self.perhaps(|lowering| _ = lowering.enter(function, None, args));
                None
            }
        };
        match result.filter(|_| returns_one) {
            Some(result) => Value::Variable(result.0),
            None => Value::opaque(format!("a value of {}", function.name)),
        }
    }

    /// The body of a function in the place of its call; that of a trigger for its table. What it returns, and what its
    /// OUT parameters hold then. `None`: the body is not known, and may do anything.
    pub(super) fn enter(
        &mut self,
        function: &UserFunction,
        table: Option<Oid>,
        args: Vec<Value>,
    ) -> Option<(Variable, Vec<Value>)> {
        let schema = self.schema;
        let body = schema.bodies.get(&(function.oid, table));
        let is_polymorphic = function.parameters.iter().any(|one| skew_sql::types::kind::is_polymorphic(one.typed.ty));
        let why = match body {
            None => Some("its body is not understood"),
            Some(_) if self.calls.contains(&function.oid) => Some("it calls itself"),
            Some(_) if self.calls.len() > MAX_CALL_DEPTH => Some("calls are nested too deeply"),
            Some(_) if self.accesses.len() > MAX_ACCESSES => Some("the program is too large"),
            Some(_) if !function.settings.is_empty() => {
                Some("it has settings under which names may mean something else")
            }
            Some(_) if is_polymorphic => Some("its parameters are of any type"),
            Some(_) => None,
        };
        if let Some(why) = why {
            self.havoc(format!("{}: {why}", function.name));
            return None;
        }
        let body = body.expect("one that is not known has been left");
        let origin = self.because(Cause::Call(function.name.clone()));
        let around_origin = std::mem::replace(&mut self.origin, origin);
        let (result, end) = (self.variable(&function.name), self.label());
        let routine = Routine { body, places: BTreeMap::new(), end, result, labels: Vec::new() };
        let around = std::mem::replace(&mut self.routine, routine);
        // The statements of a VOLATILE function are its own.
        let own = function.volatility == Volatility::Volatile && !matches!(function.returns, Returns::Set(_));
        let within = self.within_statement;
        self.within_statement &= !own;
        self.calls.push(function.oid);
        for (place, value) in body.parameters.iter().zip(args) {
            let variable = self.place(*place, None);
            self.emit(Step::Let(variable, value));
        }
        let block = self.body();
        let outs = body.outs.iter().map(|place| Value::Variable(self.place(*place, None))).collect();
        self.emit(Step::Within(end, block));
        self.calls.pop();
        self.within_statement = within;
        (self.routine, self.origin) = (around, around_origin);
        Some((result, outs))
    }

    /// Which of a procedure's parameters are given back, by their number among all.
    pub(super) fn given_back(procedure: &UserFunction) -> Vec<usize> {
        let parameters = procedure.parameters.iter().enumerate();
        let back = parameters.filter(|(_, one)| matches!(one.mode, ParameterMode::Out | ParameterMode::InOut));
        back.map(|(at, _)| at).collect()
    }

    /// Whether a variable is a record, whose fields are variables of their own.
    pub(super) fn is_record(&self, place: usize) -> bool {
        self.routine.body.variables.get(place).is_some_and(|variable| {
            variable.typed.ty == Type::RECORD
                || self
                    .schema
                    .catalog
                    .user_type(variable.typed.ty)
                    .is_some_and(|user| matches!(user.kind, skew_sql::catalog::UserTypeKind::Composite(_)))
        })
    }
}
