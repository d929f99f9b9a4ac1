//! Functions, procedures and triggers.

use std::sync::Arc;

use crate::catalog::{
    Language, Oid, Parameter, ParameterMode, RelationKind, Returns, StoredExpr, Trigger, TriggerTime, UserFunction,
    Volatility,
};
use crate::error::{Result, SqlError, SqlState};
use crate::parse::ddl::{
    CreateFunction, CreateTrigger, FunctionOption, FunctionParameter, FunctionReturns, ObjectKind, ObjectRef,
    ParameterMode as Said, TypeName,
};
use crate::schema::names::{fold, parts};
use crate::storage::World;
use crate::storage::world::as_table;
use crate::types::{Type, Typed};

impl World<'_> {
    pub(super) fn create_function(&mut self, create: &CreateFunction) -> Result<()> {
        let (schema, name) = self.place(&create.name, false)?;
        let mut parameters = Vec::new();
        for parameter in &create.parameters {
            parameters.push(self.parameter(parameter)?);
        }
        let returns = self.returns(create, &mut parameters)?;
        let mut function = UserFunction {
            oid: 0,
            schema,
            name,
            parameters,
            returns,
            language: Language::Sql,
            body: "".into(),
            strict: false,
            volatility: Volatility::Volatile,
            settings: Vec::new(),
            procedure: create.procedure,
        };
        let mut language = None;
        self.apply_options(&mut function, &create.options, &mut language)?;
        let atomic = create.options.iter().any(|option| matches!(option, FunctionOption::SqlBody(_)));
        function.language = match language.as_deref() {
            Some("sql") => Language::Sql,
            None if atomic => Language::Sql,
            Some("plpgsql") => Language::PlPgSql,
            Some(other) => return Err(SqlError::unsupported(format!("the language {other}"))),
            None => {
                let message = "no language specified";
                return Err(SqlError::new(SqlState::INVALID_FUNCTION_DEFINITION, message));
            }
        };
        function.oid = self.place_function(&function, create.or_replace)?;
        crate::plpgsql::check(self, &function)?;
        self.change_catalog(|catalog| {
            catalog.functions.insert(function.oid, Arc::new(function));
            Ok(())
        })
    }

    /// The number of a function that is made: of the one that it replaces, or a new one.
    fn place_function(&mut self, function: &UserFunction, or_replace: bool) -> Result<Oid> {
        let inputs = input_types(function);
        let same = self.catalog.functions.values().find(|known| {
            known.schema == function.schema && known.name == function.name && input_types(known) == inputs
        });
        let Some(same) = same.cloned() else { return Ok(self.db.new_oid()) };
        if !or_replace {
            let message = format!("function \"{}\" already exists with same argument types", function.name);
            return Err(SqlError::new(SqlState::DUPLICATE_FUNCTION, message));
        }
        if same.procedure != function.procedure {
            let message = "cannot change routine kind";
            return Err(SqlError::new(SqlState::WRONG_OBJECT_TYPE, message));
        }
        if same.returns != function.returns {
            let message = "cannot change return type of existing function";
            return Err(SqlError::new(SqlState::INVALID_FUNCTION_DEFINITION, message)
                .hint(format!("Use DROP FUNCTION {} first.", function.name)));
        }
        Ok(same.oid)
    }

    fn parameter(&mut self, parameter: &FunctionParameter) -> Result<Parameter> {
        let typed = self.type_name(&parameter.data_type)?;
        let default = match &parameter.default {
            Some(expr) => {
                let bound = self.bind_assigned(expr, typed, "parameter")?;
                let text = super::deparse::assigned(self, &bound, expr, typed);
                Some(Arc::new(StoredExpr { text, ast: expr.clone(), ty: bound.ty() }))
            }
            None => None,
        };
        let mode = match parameter.mode {
            None | Some(Said::In) => ParameterMode::In,
            Some(Said::Out) => ParameterMode::Out,
            Some(Said::InOut) => ParameterMode::InOut,
            Some(Said::Variadic) => ParameterMode::Variadic,
        };
        Ok(Parameter { name: parameter.name.as_ref().map(fold), mode, typed, default })
    }

    fn returns(&mut self, create: &CreateFunction, parameters: &mut Vec<Parameter>) -> Result<Returns> {
        let outs: Vec<Typed> = parameters
            .iter()
            .filter(|parameter| matches!(parameter.mode, ParameterMode::Out | ParameterMode::InOut))
            .map(|parameter| parameter.typed)
            .collect();
        let of_outs = || match outs.as_slice() {
            [] => None,
            [only] => Some(*only),
            _ => Some(Type::RECORD.into()),
        };
        Ok(match &create.returns {
            Some(FunctionReturns::Table(columns)) => {
                for (name, ty) in columns {
                    let typed = self.type_name(ty)?;
                    parameters.push(Parameter {
                        name: Some(fold(name)),
                        mode: ParameterMode::Table,
                        typed,
                        default: None,
                    });
                }
                Returns::Table
            }
            Some(FunctionReturns::Type(TypeName::SetOf(inner))) => Returns::Set(self.type_name(inner)?),
            Some(FunctionReturns::Type(ty)) => match self.type_name(ty)? {
                typed if typed.ty == Type::TRIGGER => Returns::Trigger,
                typed => Returns::One(typed),
            },
            None if create.procedure => of_outs().map_or(Returns::Nothing, |_| Returns::One(Type::RECORD.into())),
            None => of_outs().map(Returns::One).ok_or_else(|| {
                let message = "function result type must be specified";
                SqlError::new(SqlState::INVALID_FUNCTION_DEFINITION, message)
            })?,
        })
    }

    /// A type as signatures name it.
    pub(crate) fn type_name(&mut self, name: &TypeName) -> Result<Typed> {
        match name {
            TypeName::Plain(ty) => self.bind_type(ty),
            TypeName::SetOf(inner) => self.type_name(inner),
            TypeName::TypeOf(column) => {
                let (last, table) = column.0.split_last().ok_or_else(|| SqlError::syntax("invalid type name"))?;
                let relation = self.resolve_relation(&sqlparser::ast::ObjectName(table.to_vec()))?;
                let sqlparser::ast::ObjectNamePart::Identifier(ident) = last else {
                    return Err(SqlError::syntax("invalid type name"));
                };
                let position = self.position(relation.oid, ident)?;
                Ok(as_table(&relation)?.columns[position].typed)
            }
            TypeName::RowTypeOf(table) => {
                let relation = self.resolve_relation(table)?;
                Ok(as_table(&relation)?.row_type.into())
            }
        }
    }

    fn apply_options(
        &mut self,
        function: &mut UserFunction,
        options: &[FunctionOption],
        language: &mut Option<String>,
    ) -> Result<()> {
        for option in options {
            match option {
                FunctionOption::Language(name) => *language = Some(name.clone()),
                FunctionOption::Body(body) | FunctionOption::SqlBody(body) => function.body = body.as_str().into(),
                FunctionOption::Strict(strict) => function.strict = *strict,
                FunctionOption::Volatility(volatility) => function.volatility = *volatility,
                FunctionOption::Set(name, values) => {
                    function.settings.retain(|(known, _)| known != name);
                    function.settings.push((name.clone(), values.join(", ")));
                }
                FunctionOption::Reset(name) => {
                    function.settings.retain(|(known, _)| name.as_ref().is_some_and(|name| known != name));
                }
                FunctionOption::Ignored => {}
                FunctionOption::Unsupported(construct) => return Err(SqlError::unsupported(construct)),
            }
        }
        Ok(())
    }

    pub(super) fn alter_function(&mut self, _: ObjectKind, name: &ObjectRef, options: &[FunctionOption]) -> Result<()> {
        let oid = self.function_named(name)?;
        let mut function = UserFunction::clone(&self.catalog.functions[&oid]);
        self.apply_options(&mut function, options, &mut None)?;
        self.change_catalog(|catalog| {
            catalog.functions.insert(oid, Arc::new(function));
            Ok(())
        })
    }

    /// The function that a name and, if need be, its arguments mean.
    pub(super) fn function_named(&mut self, name: &ObjectRef) -> Result<Oid> {
        let found = self.functions_named(name)?;
        let (_, short) = parts(&name.name)?;
        match found.as_slice() {
            [only] => Ok(*only),
            [] => {
                let message = match &name.arguments {
                    None => format!("could not find a function named \"{short}\""),
                    Some(_) => format!("function {short} does not exist"),
                };
                Err(SqlError::new(SqlState::UNDEFINED_FUNCTION, message))
            }
            _ => {
                let message = format!("function name \"{short}\" is not unique");
                let hint = "Specify the argument list to select the function unambiguously.";
                Err(SqlError::new(SqlState::AMBIGUOUS_FUNCTION, message).hint(hint))
            }
        }
    }

    fn functions_named(&mut self, name: &ObjectRef) -> Result<Vec<Oid>> {
        let (schema, short) = parts(&name.name)?;
        let schemas = match schema {
            Some(schema) => vec![self.schema_named(&schema)?],
            None => self.path(),
        };
        let wanted = match &name.arguments {
            None => None,
            Some(arguments) => {
                let mut types = Vec::new();
                for argument in arguments.iter().filter(|argument| argument.mode != Some(Said::Out)) {
                    types.push(self.type_name(&argument.data_type)?.ty);
                }
                Some(types)
            }
        };
        let fits = |function: &&Arc<UserFunction>| {
            schemas.contains(&function.schema)
                && function.name == short
                && wanted.as_ref().is_none_or(|wanted| input_types(function) == *wanted)
        };
        Ok(self.catalog.functions.values().filter(fits).map(|function| function.oid).collect())
    }

    pub(super) fn drop_function(
        &mut self,
        object: ObjectKind,
        if_exists: bool,
        name: &ObjectRef,
        cascade: bool,
    ) -> Result<()> {
        if if_exists && self.functions_named(name)?.is_empty() {
            let (_, short) = parts(&name.name)?;
            let word = super::kind_words(object).to_lowercase();
            let message = format!("{word} {short}() does not exist, skipping");
            self.session.notice("NOTICE", SqlState::SUCCESSFUL_COMPLETION, message);
            return Ok(());
        }
        let oid = self.function_named(name)?;
        let function = self.catalog.functions[&oid].clone();
        let mut users = Vec::new();
        for relation in self.catalog.relations.values() {
            if let RelationKind::Table(table) = &relation.kind {
                for trigger in table.triggers.iter().filter(|trigger| trigger.function == oid) {
                    users.push((
                        relation.oid,
                        trigger.oid,
                        format!("trigger {} on table {}", trigger.name, relation.name),
                    ));
                }
            }
        }
        let shown: Vec<String> = users.iter().map(|(_, _, shown)| shown.clone()).collect();
        if !cascade && !users.is_empty() {
            return Err(super::drop::dependents(&format!("function {}()", function.name), &shown));
        }
        self.change_catalog(|catalog| {
            for (table, trigger, _) in users {
                super::drop::change_table(catalog, table, |table| table.triggers.retain(|known| known.oid != trigger));
            }
            catalog.functions.remove(&oid);
            Ok(())
        })
    }

    pub(super) fn create_trigger(&mut self, create: &CreateTrigger) -> Result<()> {
        if create.referencing {
            return Err(SqlError::unsupported("REFERENCING in a trigger"));
        }
        if create.constraint && create.attributes.deferrable {
            return Err(SqlError::unsupported("a DEFERRABLE trigger"));
        }
        if create.time == TriggerTime::InsteadOf {
            return Err(SqlError::unsupported("INSTEAD OF triggers"));
        }
        let relation = self.resolve_relation(&create.table)?;
        let table = as_table(&relation)?;
        let existing = table.triggers.iter().find(|trigger| *trigger.name == *create.name).map(|trigger| trigger.oid);
        if existing.is_some() && !create.or_replace {
            let message = format!("trigger \"{}\" for relation \"{}\" already exists", create.name, relation.name);
            return Err(SqlError::new(SqlState::DUPLICATE_OBJECT, message));
        }
        let reference = ObjectRef { name: create.function.clone(), of: None, arguments: Some(Vec::new()) };
        let function = self.function_named(&reference)?;
        if self.catalog.functions[&function].returns != Returns::Trigger {
            let message = format!("function {} must return type trigger", self.catalog.functions[&function].name);
            return Err(SqlError::new(SqlState::INVALID_OBJECT_DEFINITION, message));
        }
        let update = match &create.update {
            Some(columns) => {
                Some(columns.iter().map(|name| self.position(relation.oid, name)).collect::<Result<Vec<_>>>()?)
            }
            None => None,
        };
        let condition = match &create.condition {
            Some(condition) => {
                self.bind_trigger_condition(condition, &relation)?;
                let text = condition.to_string();
                Some(Arc::new(StoredExpr { text, ast: condition.clone(), ty: Type::BOOL }))
            }
            None => None,
        };
        let oid = existing.unwrap_or_else(|| self.db.new_oid());
        let trigger = Trigger {
            oid,
            name: create.name.as_str().into(),
            when: create.time,
            insert: create.insert,
            update,
            delete: create.delete,
            truncate: create.truncate,
            each_row: create.each_row,
            condition,
            function,
            arguments: create.arguments.iter().map(|argument| argument.as_str().into()).collect(),
        };
        self.change_table(relation.oid, |table| {
            table.triggers.retain(|known| known.oid != oid);
            table.triggers.push(trigger);
            table.triggers.sort_by(|one, two| one.name.cmp(&two.name));
            Ok(())
        })
    }
}

/// The types of the arguments that a call gives.
fn input_types(function: &UserFunction) -> Vec<Type> {
    let input = |parameter: &&Parameter| {
        matches!(parameter.mode, ParameterMode::In | ParameterMode::InOut | ParameterMode::Variadic)
    };
    function.parameters.iter().filter(input).map(|parameter| parameter.typed.ty).collect()
}
