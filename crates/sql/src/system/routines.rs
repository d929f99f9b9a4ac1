//! `pg_proc`, `pg_operator`, `pg_language`.

use crate::catalog::{Language, Oid, PG_CATALOG, Parameter, ParameterMode, Returns, Volatility};
use crate::functions::{Body, Function, all_functions, all_operators, function_number, operator_number};
use crate::storage::World;
use crate::system::fill::{Filler, array, int, oid, text, vector, yes};
use crate::types::{Datum, Type};

/// The first number of a built-in function that PostgreSQL does not have.
const FIRST: u32 = 9000;

fn volatility(volatility: Volatility) -> &'static str {
    match volatility {
        Volatility::Immutable => "i",
        Volatility::Stable => "s",
        Volatility::Volatile => "v",
    }
}

/// The built-in functions with their numbers.
pub(crate) fn numbered() -> impl Iterator<Item = (Oid, &'static Function)> {
    (FIRST..).zip(all_functions()).map(|(own, function)| (function_number(function).unwrap_or(own), function))
}

pub(super) fn procs(world: &mut World<'_>, filler: &mut Filler) {
    for (number, function) in numbered() {
        let kind = match function.body {
            Body::Aggregate(_) => "a",
            Body::Window(_) => "w",
            _ => "f",
        };
        filler.row(&[
            ("oid", oid(number)),
            ("proname", text(function.name)),
            ("pronamespace", oid(PG_CATALOG)),
            ("proowner", oid(10)),
            ("prolang", oid(12)),
            ("procost", Datum::Float(1.0)),
            ("prokind", text(kind)),
            ("proisstrict", yes(function.strict)),
            ("proretset", yes(matches!(function.body, Body::Set { .. }))),
            ("provolatile", text(volatility(function.volatility))),
            ("proparallel", text("s")),
            ("pronargs", int(function.args.len())),
            ("prorettype", oid(function.returns.0)),
            ("proargtypes", vector(Type::OID, function.args.iter().map(|ty| oid(ty.0)).collect())),
            ("prosrc", text(function.name)),
        ]);
    }
    for function in world.catalog.functions.values() {
        let input = |parameter: &&Parameter| {
            matches!(parameter.mode, ParameterMode::In | ParameterMode::InOut | ParameterMode::Variadic)
        };
        let inputs: Vec<Datum> = function.parameters.iter().filter(input).map(|it| oid(it.typed.ty.0)).collect();
        let plain = function.parameters.iter().all(|parameter| parameter.mode == ParameterMode::In);
        let all = || function.parameters.iter();
        let mode = |parameter: &Parameter| {
            text(match parameter.mode {
                ParameterMode::In => "i",
                ParameterMode::Out => "o",
                ParameterMode::InOut => "b",
                ParameterMode::Variadic => "v",
                ParameterMode::Table => "t",
            })
        };
        let named = all().any(|parameter| parameter.name.is_some());
        let names = all().map(|parameter| text(parameter.name.as_deref().unwrap_or_default())).collect();
        let returns = match &function.returns {
            Returns::Nothing => Type::VOID,
            Returns::One(typed) | Returns::Set(typed) => typed.ty,
            Returns::Table => Type::RECORD,
            Returns::Trigger => Type::TRIGGER,
        };
        let null_if = |missing: bool, value: Datum| if missing { Datum::Null } else { value };
        filler.row(&[
            ("oid", oid(function.oid)),
            ("proname", text(&function.name)),
            ("pronamespace", oid(function.schema)),
            ("proowner", oid(10)),
            ("prolang", oid(if function.language == Language::Sql { 14 } else { 13577 })),
            ("procost", Datum::Float(100.0)),
            ("prokind", text(if function.procedure { "p" } else { "f" })),
            ("proisstrict", yes(function.strict)),
            ("proretset", yes(matches!(function.returns, Returns::Set(_) | Returns::Table))),
            ("provolatile", text(volatility(function.volatility))),
            ("proparallel", text("u")),
            ("pronargs", int(inputs.len())),
            ("pronargdefaults", int(all().filter(|parameter| parameter.default.is_some()).count())),
            ("prorettype", oid(returns.0)),
            ("proargtypes", vector(Type::OID, inputs)),
            ("proallargtypes", null_if(plain, array(Type::OID, all().map(|it| oid(it.typed.ty.0)).collect()))),
            ("proargmodes", null_if(plain, array(Type::CHAR_INTERNAL, all().map(mode).collect()))),
            ("proargnames", null_if(!named, array(Type::TEXT, names))),
            ("prosrc", text(&function.body)),
        ]);
    }
}

pub(super) fn languages(filler: &mut Filler) {
    for (number, name, trusted) in
        [(12, "internal", false), (13, "c", false), (14, "sql", true), (13577, "plpgsql", true)]
    {
        filler.row(&[
            ("oid", oid(number)),
            ("lanname", text(name)),
            ("lanowner", oid(10)),
            ("lanispl", yes(number > 14)),
            ("lanpltrusted", yes(trusted)),
        ]);
    }
}

pub(super) fn operators(filler: &mut Filler) {
    for (own, operator) in (FIRST..).zip(all_operators()) {
        let number = operator_number(operator).unwrap_or(own);
        let (left, right) = match operator.args {
            [only] => (0, only.0),
            [left, right, ..] => (left.0, right.0),
            [] => (0, 0),
        };
        filler.row(&[
            ("oid", oid(number)),
            ("oprname", text(operator.name)),
            ("oprnamespace", oid(PG_CATALOG)),
            ("oprowner", oid(10)),
            ("oprkind", text(if operator.args.len() == 1 { "l" } else { "b" })),
            ("oprleft", oid(left)),
            ("oprright", oid(right)),
            ("oprresult", oid(operator.returns.0)),
        ]);
    }
}
