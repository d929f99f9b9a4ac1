//! Functions and procedures.

use std::sync::Arc;

use crate::catalog::{FunctionTraits, Language, Oid, Parameter, ParameterMode, Returns, UserFunction, Volatility};
use crate::error::{Result, SqlError, SqlState};
use crate::parse::ddl::{
    CreateFunction, FunctionOption, FunctionParameter, FunctionReturns, ObjectKind, ObjectRef, ParameterMode as Said,
    TypeName,
};
use crate::plpgsql::named_type;
use crate::schema::Editor;
use crate::schema::depends::Object;
use crate::schema::names::{fold, parts};
use crate::types::{Type, Typed};

impl Editor<'_, '_> {
    pub(super) fn create_function(&mut self, create: &CreateFunction) -> Result<()> {
        let (schema, name) = self.place(&create.name, false)?;
        let mut parameters = Vec::new();
        for parameter in &create.parameters {
            parameters.push(self.parameter(parameter)?);
        }
        must_be_parameters(&parameters, create.procedure)?;
        let returns = self.returns(create, &mut parameters)?;
        must_have_different_names(&parameters)?;
        let mut function = UserFunction {
            oid: 0,
            schema,
            name,
            parameters,
            returns,
            language: Language::Sql,
            body: "".into(),
            atomic: None,
            returns_expr: false,
            strict: false,
            volatility: Volatility::Volatile,
            settings: Vec::new(),
            procedure: create.procedure,
            traits: FunctionTraits::default(),
        };
        let mut language = None;
        self.apply_options(&mut function, &create.options, &mut language)?;
        let atomic = create
            .options
            .iter()
            .any(|option| matches!(option, FunctionOption::SqlBody(_) | FunctionOption::Return(_)));
        function.language = match language.as_deref() {
            Some("sql") => Language::Sql,
            None if atomic => Language::Sql,
            Some("plpgsql") => Language::PlPgSql,
            Some(other @ ("c" | "internal")) => {
                return Err(SqlError::unsupported(format!("the language {other}")));
            }
            Some(other) => return Err(crate::plpgsql::no_language(other)),
            None => {
                let message = "no language specified";
                return Err(SqlError::new(SqlState::INVALID_FUNCTION_DEFINITION, message));
            }
        };
        function.oid = self.place_function(&function, create.or_replace)?;
        if atomic {
            crate::plpgsql::check(self, &function)?;
            function.atomic = Some(crate::plpgsql::stored_body(self, &function)?.into());
        }
        let function = Arc::new(function);
        self.change_catalog(|catalog| {
            catalog.functions.insert(function.oid, function.clone());
            Ok(())
        })?;
        // A body that is a string may call the function itself.
        if atomic { Ok(()) } else { crate::plpgsql::check(self, &function) }
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
        let word = if function.procedure { "PROCEDURE" } else { "FUNCTION" };
        let signature = self.signature(&same);
        let refused = |message: String| {
            let hint = format!("Use DROP {word} {signature} first.");
            Err(SqlError::new(SqlState::INVALID_FUNCTION_DEFINITION, message).hint(hint))
        };
        if same.returns != function.returns {
            return refused("cannot change return type of existing function".to_owned());
        }
        for (one, other) in inputs_of(&same).zip(inputs_of(function)) {
            if let Some(name) = &one.name
                && one.name != other.name
            {
                return refused(format!("cannot change name of input parameter \"{name}\""));
            }
            if one.default.is_some() && other.default.is_none() {
                return refused("cannot remove parameter defaults from existing function".to_owned());
            }
        }
        Ok(same.oid)
    }

    /// `f(integer, text)`
    fn signature(&self, function: &UserFunction) -> String {
        let types = input_types(function);
        let types: Vec<String> = types.iter().map(|ty| crate::types::names::display(*ty, &self.catalog)).collect();
        format!("{}({})", function.name, types.join(","))
    }

    fn parameter(&mut self, parameter: &FunctionParameter) -> Result<Parameter> {
        let typed = named_type(self, &parameter.data_type).map_err(unquoted)?;
        let default = match &parameter.default {
            Some(expr) => Some(self.stored(expr, typed, "parameter")?),
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
                    let typed = named_type(self, ty)?;
                    parameters.push(Parameter {
                        name: Some(fold(name)),
                        mode: ParameterMode::Table,
                        typed,
                        default: None,
                    });
                }
                Returns::Table
            }
            Some(FunctionReturns::Type(TypeName::SetOf(inner))) => Returns::Set(named_type(self, inner)?),
            Some(FunctionReturns::Type(ty)) => match named_type(self, ty)? {
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

    fn apply_options(
        &mut self,
        function: &mut UserFunction,
        options: &[FunctionOption],
        language: &mut Option<String>,
    ) -> Result<()> {
        for option in options {
            match option {
                FunctionOption::Language(name) => *language = Some(name.clone()),
                FunctionOption::Body(body) | FunctionOption::SqlBody(body) | FunctionOption::Return(body) => {
                    (function.body, function.atomic) = (body.as_str().into(), None);
                    function.returns_expr = matches!(option, FunctionOption::Return(_));
                }
                FunctionOption::Strict(strict) => function.strict = *strict,
                FunctionOption::Volatility(volatility) => function.volatility = *volatility,
                FunctionOption::Set(name, values) => {
                    function.settings.retain(|(known, _)| known != name);
                    function.settings.push((name.clone(), values.join(", ")));
                }
                FunctionOption::Reset(name) => {
                    function.settings.retain(|(known, _)| name.as_ref().is_some_and(|name| known != name));
                }
                FunctionOption::SecurityDefiner(definer) => function.traits.security_definer = *definer,
                FunctionOption::Leakproof(leakproof) => function.traits.leakproof = *leakproof,
                FunctionOption::Parallel(word) => function.traits.parallel = word.chars().next().unwrap_or('u'),
                FunctionOption::Cost(cost) => function.traits.cost = *cost,
                FunctionOption::Rows(rows) => function.traits.rows = *rows,
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
    pub(crate) fn routine_named(&mut self, name: &crate::parse::ast::ObjectName) -> Result<Oid> {
        self.function_named(&ObjectRef { name: name.clone(), of: None, arguments: None })
    }

    /// The same, with its arguments if they are named.
    pub(super) fn function_named(&mut self, name: &ObjectRef) -> Result<Oid> {
        let found = self.functions_named(name)?;
        let (_, short) = parts(&name.name)?;
        match found.as_slice() {
            [only] => Ok(*only),
            [] => {
                let message = match &name.arguments {
                    None => format!("could not find a function named \"{short}\""),
                    Some(_) => {
                        let types = self.argument_types(name)?.unwrap_or_default();
                        let types: Vec<String> =
                            types.iter().map(|ty| crate::types::names::display(*ty, &self.catalog)).collect();
                        format!("function {}({}) does not exist", shown_name(&name.name), types.join(", "))
                    }
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

    /// The types of the arguments that a reference to a function names.
    fn argument_types(&mut self, name: &ObjectRef) -> Result<Option<Vec<Type>>> {
        let Some(arguments) = &name.arguments else { return Ok(None) };
        let mut types = Vec::new();
        for argument in arguments.iter().filter(|argument| argument.mode != Some(Said::Out)) {
            types.push(named_type(self, &argument.data_type)?.ty);
        }
        Ok(Some(types))
    }

    fn functions_named(&mut self, name: &ObjectRef) -> Result<Vec<Oid>> {
        let (schema, short) = self.parts_here(&name.name)?;
        let schemas = match schema {
            Some(schema) => vec![self.schema_named(&schema)?],
            None => self.path(),
        };
        let wanted = self.argument_types(name)?;
        let fits = |function: &&Arc<UserFunction>| {
            schemas.contains(&function.schema)
                && function.name == short
                && wanted.as_ref().is_none_or(|wanted| input_types(function) == *wanted)
        };
        Ok(self.catalog.functions.values().filter(fits).map(|function| function.oid).collect())
    }

    pub(super) fn function_to_drop(
        &mut self,
        object: ObjectKind,
        if_exists: bool,
        name: &ObjectRef,
    ) -> Result<Option<Object>> {
        if if_exists && self.functions_named(name)?.is_empty() {
            let (_, short) = parts(&name.name)?;
            let word = super::kind_words(object).to_lowercase();
            let types: Vec<String> = match &name.arguments {
                Some(arguments) => arguments.iter().map(|argument| internal_name(&argument.data_type)).collect(),
                None => Vec::new(),
            };
            let message = format!("{word} {short}({}) does not exist, skipping", types.join(","));
            self.session.notice("NOTICE", SqlState::SUCCESSFUL_COMPLETION, message);
            return Ok(None);
        }
        let oid = self.function_named(name)?;
        let function = self.catalog.functions[&oid].clone();
        let wrong = match object {
            ObjectKind::Function if function.procedure => Some("a function"),
            ObjectKind::Procedure if !function.procedure => Some("a procedure"),
            _ => None,
        };
        if let Some(what) = wrong {
            let message = format!("{} is not {what}", self.signature(&function).replace(',', ", "));
            return Err(SqlError::new(SqlState::WRONG_OBJECT_TYPE, message));
        }
        Ok(Some(Object::Function(oid)))
    }
}

/// The parameters that a call gives arguments for.
fn inputs_of(function: &UserFunction) -> impl Iterator<Item = &Parameter> {
    let input = |parameter: &&Parameter| {
        matches!(parameter.mode, ParameterMode::In | ParameterMode::InOut | ParameterMode::Variadic)
    };
    function.parameters.iter().filter(input)
}

/// The types of the arguments that a call gives.
fn input_types(function: &UserFunction) -> Vec<Type> {
    inputs_of(function).map(|parameter| parameter.typed.ty).collect()
}

fn wrong_definition(message: impl Into<String>) -> SqlError {
    SqlError::new(SqlState::INVALID_FUNCTION_DEFINITION, message)
}

/// Defaults are those of the last parameters; VARIADIC is the last one.
fn must_be_parameters(parameters: &[Parameter], procedure: bool) -> Result<()> {
    let (mut has_default, mut variadic) = (false, false);
    for parameter in parameters {
        let input = parameter.mode != ParameterMode::Out;
        if variadic && input {
            return Err(wrong_definition("VARIADIC parameter must be the last input parameter"));
        }
        variadic |= parameter.mode == ParameterMode::Variadic;
        if input && has_default && parameter.default.is_none() {
            let message = "input parameters after one with a default value must also have defaults";
            return Err(wrong_definition(message));
        }
        if !input && has_default && procedure {
            let message = "procedure OUT parameters cannot appear after one with a default value";
            return Err(wrong_definition(message));
        }
        if !input && parameter.default.is_some() {
            return Err(wrong_definition("only input parameters can have default values"));
        }
        has_default |= parameter.default.is_some();
    }
    Ok(())
}

fn must_have_different_names(parameters: &[Parameter]) -> Result<()> {
    let is_input = |mode: ParameterMode| matches!(mode, ParameterMode::In | ParameterMode::Variadic);
    let is_output = |mode: ParameterMode| matches!(mode, ParameterMode::Out | ParameterMode::Table);
    for (n, parameter) in parameters.iter().enumerate() {
        let Some(name) = &parameter.name else { continue };
        let same = |other: &Parameter| other.name.as_ref() == Some(name);
        // The name of an input may be that of an output of a function in SQL; both are visible in other languages.
        let clash = |other: &Parameter| {
            !(is_input(parameter.mode) && is_output(other.mode) || is_output(parameter.mode) && is_input(other.mode))
        };
        if parameters[..n].iter().any(|other| same(other) && clash(other)) {
            return Err(wrong_definition(format!("parameter name \"{name}\" used more than once")));
        }
    }
    Ok(())
}

/// Signatures are read before types are looked up: PostgreSQL then names them as they are written.
fn unquoted(error: SqlError) -> SqlError {
    if !error.is(SqlState::UNDEFINED_OBJECT) {
        return error;
    }
    let message = error.fields().message.replace('"', "");
    SqlError::new(SqlState::UNDEFINED_OBJECT, message)
}

fn shown_name(name: &crate::parse::ast::ObjectName) -> String {
    let parts: Vec<String> = name.0.iter().map(|ident| fold(ident).to_string()).collect();
    parts.join(".")
}

/// A type as PostgreSQL's parser knows it: keywords of SQL are names in `pg_catalog`.
fn internal_name(name: &TypeName) -> String {
    let TypeName::Plain(ty) = name else { return "?".to_owned() };
    let shown = ty.to_string().to_lowercase();
    let known = [
        (&["int", "integer", "int4"][..], "pg_catalog.int4"),
        (&["bigint", "int8"], "pg_catalog.int8"),
        (&["smallint", "int2"], "pg_catalog.int2"),
        (&["boolean", "bool"], "pg_catalog.bool"),
        (&["numeric", "decimal"], "pg_catalog.numeric"),
        (&["varchar", "character varying"], "pg_catalog.varchar"),
        (&["timestamp"], "pg_catalog.timestamp"),
    ];
    known.iter().find(|(words, _)| words.contains(&shown.as_str())).map_or(shown, |(_, name)| (*name).to_owned())
}
