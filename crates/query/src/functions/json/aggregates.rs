//! json_agg, json_object_agg, and those of jsonb.

use crate::error::{Result, SqlError, SqlState};
use crate::functions::args::Args;
use crate::functions::define::aggregate;
use crate::functions::json::convert::{key, to_jsonb, write};
use crate::functions::json::jsonb;
use crate::functions::{Accumulator, Env, Function, Site};
use crate::types::json::{Json, quote};
use crate::types::{Datum, Type as T};

/// The aggregates. They keep NULLs.
pub(in crate::functions) static FUNCTIONS: &[Function] = &[
    aggregate("json_agg", &[T::ANYELEMENT], T::JSON, |site| Box::new(Items { ty: ty(site, 0), text: None }))
        .with_nulls()
        .stable(),
    aggregate("jsonb_agg", &[T::ANYELEMENT], T::JSONB, |site| Box::new(ItemsB { ty: ty(site, 0), items: None }))
        .with_nulls()
        .stable(),
    aggregate("json_object_agg", &[T::ANY, T::ANY], T::JSON, |site| {
        Box::new(Entries { types: [ty(site, 0), ty(site, 1)], text: None })
    })
    .with_nulls()
    .stable(),
    aggregate("jsonb_object_agg", &[T::ANY, T::ANY], T::JSONB, |site| {
        Box::new(EntriesB { types: [ty(site, 0), ty(site, 1)], entries: None })
    })
    .with_nulls(),
];

fn ty(site: &Site<'_>, index: usize) -> T {
    site.args.get(index).map_or(T::UNKNOWN, |typed| typed.ty)
}

struct Items {
    ty: T,
    text: Option<String>,
}

impl Accumulator for Items {
    fn keeps(&self) -> bool {
        true
    }

    fn add(&mut self, env: &mut dyn Env, args: &[Datum]) -> Result<()> {
        let first = self.text.is_none();
        let text = self.text.get_or_insert_with(|| String::from("["));
        if !first {
            // Rows and arrays begin lines of their own.
            let nested = matches!(args.at(0), Datum::Array(_) | Datum::Record(_));
            text.push_str(if nested { ", \n " } else { ", " });
        }
        write(text, args.at(0), self.ty, false, env);
        Ok(())
    }

    fn finish(&self, _: &mut dyn Env) -> Result<Datum> {
        Ok(self.text.as_ref().map_or(Datum::Null, |text| Datum::text(format!("{text}]"))))
    }
}

struct ItemsB {
    ty: T,
    items: Option<Vec<Json>>,
}

impl Accumulator for ItemsB {
    fn keeps(&self) -> bool {
        true
    }

    fn add(&mut self, env: &mut dyn Env, args: &[Datum]) -> Result<()> {
        let item = to_jsonb(args.at(0), self.ty, env)?;
        self.items.get_or_insert_default().push(item);
        Ok(())
    }

    fn finish(&self, _: &mut dyn Env) -> Result<Datum> {
        Ok(self.items.as_ref().map_or(Datum::Null, |items| jsonb(Json::Array(items.clone()))))
    }
}

fn entry_key(datum: &Datum, ty: T, refused: &str, env: &dyn Env) -> Result<String> {
    if datum.is_null() {
        return Err(SqlError::new(SqlState::INVALID_PARAMETER_VALUE, refused));
    }
    key(datum, ty, env)
}

struct Entries {
    types: [T; 2],
    text: Option<String>,
}

impl Accumulator for Entries {
    fn keeps(&self) -> bool {
        true
    }

    fn add(&mut self, env: &mut dyn Env, args: &[Datum]) -> Result<()> {
        let key = entry_key(args.at(0), self.types[0], "field name must not be null", env)?;
        match &mut self.text {
            None => self.text = Some(String::from("{ ")),
            Some(text) => text.push_str(", "),
        }
        let text = self.text.get_or_insert_default();
        quote(text, &key);
        text.push_str(" : ");
        write(text, args.at(1), self.types[1], false, env);
        Ok(())
    }

    fn finish(&self, _: &mut dyn Env) -> Result<Datum> {
        Ok(self.text.as_ref().map_or(Datum::Null, |text| Datum::text(format!("{text} }}"))))
    }
}

struct EntriesB {
    types: [T; 2],
    entries: Option<Vec<(String, Json)>>,
}

impl Accumulator for EntriesB {
    fn keeps(&self) -> bool {
        true
    }

    fn add(&mut self, env: &mut dyn Env, args: &[Datum]) -> Result<()> {
        let key = entry_key(args.at(0), self.types[0], "field name must not be null", env)?;
        let value = to_jsonb(args.at(1), self.types[1], env)?;
        self.entries.get_or_insert_default().push((key, value));
        Ok(())
    }

    fn finish(&self, _: &mut dyn Env) -> Result<Datum> {
        Ok(self.entries.as_ref().map_or(Datum::Null, |entries| jsonb(Json::object(entries.clone()))))
    }
}
