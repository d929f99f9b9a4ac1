//! `pg_proc` and `pg_operator`.

use crate::catalog::{Language, Oid, Parameter, ParameterMode, Returns, Volatility};
use crate::functions::Body;
use crate::functions::extension::{self, Member};
use crate::introspection::fill::{Filler, array, int, oid, text, vector, yes};
use crate::storage::World;
use crate::types::{Datum, Type};

/// The number of the language.
const PLPGSQL: Oid = 13563;

/// The number of the language that extensions are written in.
const C: Oid = 13;

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
    for (schema, member) in members(world).filter(|(_, member)| !member.operator) {
        let function = member.function;
        let inputs = function.args.iter().map(|ty| oid(ty.0)).collect();
        let kind = match function.body {
            Body::Aggregate(_) | Body::OrderedSet { .. } => "a",
            Body::Window(_) => "w",
            _ => "f",
        };
        filler.row(&[
            ("oid", oid(member.oid)),
            ("proname", text(function.name)),
            ("pronamespace", oid(schema)),
            ("proowner", oid(10)),
            ("prolang", oid(C)),
            ("procost", Datum::Float(1.0)),
            ("prokind", text(kind)),
            ("proisstrict", yes(function.strict)),
            ("proretset", yes(matches!(function.body, Body::Set { .. }))),
            ("provolatile", text(volatility(function.volatility))),
            ("proparallel", text("s")),
            ("pronargs", int(function.args.len())),
            ("pronargdefaults", int(function.defaults.len())),
            ("prorettype", oid(function.returns.0)),
            ("proargtypes", vector(Type::OID, inputs)),
            ("prosrc", text(function.name)),
        ]);
    }
}

/// The functions and operators of the extensions that are installed, with their schemas.
fn members(world: &World<'_>) -> impl Iterator<Item = (Oid, &'static Member)> {
    let installed = world.catalog.extensions.values();
    installed.flat_map(|installed| extension::members(&installed.name).map(|member| (installed.schema, member)))
}

/// `pg_operator`
pub(super) fn operators(world: &mut World<'_>, filler: &mut Filler) {
    for (schema, member) in members(world).filter(|(_, member)| member.operator) {
        let (left, right) = match member.function.args {
            [left, right] => (left.0, right.0),
            [right] => (0, right.0),
            _ => continue,
        };
        filler.row(&[
            ("oid", oid(member.oid)),
            ("oprname", text(member.function.name)),
            ("oprnamespace", oid(schema)),
            ("oprowner", oid(10)),
            ("oprkind", text(if left == 0 { "l" } else { "b" })),
            ("oprleft", oid(left)),
            ("oprright", oid(right)),
            ("oprresult", oid(member.function.returns.0)),
        ]);
    }
}
