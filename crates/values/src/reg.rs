//! `regclass`, `regtype` and their like: numbers of objects that are read and shown as names. Types are known here, other
//! objects to the surroundings ([`crate::ObjectNames`]).

use std::fmt::Write;

use crate::error::Result;
use crate::{Env, Oid, Type, names};

/// Whether it is one of them.
pub fn is_reg(ty: Type) -> bool {
    matches!(
        ty,
        Type::REGCLASS
            | Type::REGTYPE
            | Type::REGPROC
            | Type::REGPROCEDURE
            | Type::REGNAMESPACE
            | Type::REGROLE
            | Type::REGOPER
            | Type::REGOPERATOR
            | Type::REGCONFIG
            | Type::REGCOLLATION
            | Type::REGDICTIONARY
    )
}

/// Reads a name, a number, or `-` for none.
pub fn parse(text: &str, ty: Type, env: &dyn Env) -> Result<i64> {
    if text == "-" {
        return Ok(0);
    }
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        return crate::scalar::integer::parse_oid(text);
    }
    match ty {
        Type::REGTYPE => Ok(names::parse(text, env)?.ty.0.into()),
        _ => env.objects().number(text, ty, env),
    }
}

/// Shows the object's name, or its number if there is no such object.
pub fn show(out: &mut String, oid: i64, ty: Type, env: &dyn Env) {
    let name = match (oid as Oid, ty) {
        (0, _) => Some("-".to_owned()),
        (number, Type::REGTYPE) => Some(names::format_type(Type(number), None, env)).filter(|name| name != "???"),
        (number, _) => env.objects().name(number, ty, env),
    };
    match name {
        Some(name) => out.push_str(&name),
        None => {
            let _ = write!(out, "{oid}");
        }
    }
}
