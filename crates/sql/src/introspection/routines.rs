//! `pg_proc`.

use crate::catalog::{Language, Oid, Parameter, ParameterMode, Returns, Volatility};
use crate::introspection::fill::{Filler, array, int, oid, text, vector, yes};
use crate::storage::World;
use crate::types::{Datum, Type};

/// The number of the language.
const PLPGSQL: Oid = 13563;

fn volatility(volatility: Volatility) -> &'static str {
    match volatility {
        Volatility::Immutable => "i",
        Volatility::Stable => "s",
        Volatility::Volatile => "v",
    }
}

pub(super) fn procs(world: &mut World<'_>, filler: &mut Filler) {
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
        let is_set = matches!(function.returns, Returns::Set(_) | Returns::Table);
        let settings = function.settings.iter().map(|(name, value)| text(format!("{name}={value}"))).collect();
        let null_if = |missing: bool, value: Datum| if missing { Datum::Null } else { value };
        filler.row(&[
            ("oid", oid(function.oid)),
            ("proname", text(&function.name)),
            ("pronamespace", oid(function.schema)),
            ("proowner", oid(10)),
            ("prolang", oid(if function.language == Language::Sql { 14 } else { PLPGSQL })),
            ("procost", Datum::Float(function.traits.cost)),
            ("prorows", Datum::Float(if is_set { function.traits.rows } else { 0.0 })),
            ("prosecdef", yes(function.traits.security_definer)),
            ("proleakproof", yes(function.traits.leakproof)),
            ("prokind", text(if function.procedure { "p" } else { "f" })),
            ("proisstrict", yes(function.strict)),
            ("proretset", yes(is_set)),
            ("provolatile", text(volatility(function.volatility))),
            ("proparallel", text(function.traits.parallel.to_string())),
            ("pronargs", int(inputs.len())),
            ("pronargdefaults", int(all().filter(|parameter| parameter.default.is_some()).count())),
            ("prorettype", oid(returns.0)),
            ("proargtypes", vector(Type::OID, inputs)),
            ("proallargtypes", null_if(plain, array(Type::OID, all().map(|it| oid(it.typed.ty.0)).collect()))),
            ("proargmodes", null_if(plain, array(Type::CHAR_INTERNAL, all().map(mode).collect()))),
            ("proargnames", null_if(!named, array(Type::TEXT, names))),
            ("prosrc", text(if function.atomic.is_some() { "" } else { &*function.body })),
            ("prosqlbody", null_if(function.atomic.is_none(), text(format!("{{FUNCTION {}}}", function.oid)))),
            ("proconfig", null_if(function.settings.is_empty(), array(Type::TEXT, settings))),
        ]);
    }
}
