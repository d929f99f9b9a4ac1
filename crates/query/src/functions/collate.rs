//! What the binder calls for collations: the mark that COLLATE leaves, and the keys of texts.

use crate::functions::Function;
use crate::functions::args::Args;
use crate::functions::define::f;
use crate::types::scalar::string::unpadded;
use crate::types::{Datum, Type as T, collation};

/// The call that a COLLATE clause becomes: its first argument, unchanged.
pub(crate) const MARK: &str = "collate";
/// The bytes that compare as a text does in a language.
pub(crate) const KEY: &str = "collation_key";

/// The functions.
pub(super) static FUNCTIONS: &[Function] = &[
    f(MARK, &[T::TEXT, T::OID], T::TEXT, |_, args, _| Ok(args.at(0).clone())),
    f(KEY, &[T::TEXT, T::TEXT, T::BOOL], T::BYTEA, |_, args, site| {
        let text = args.text(0)?;
        let text = if site.args.first().is_some_and(|arg| arg.ty == T::BPCHAR) { unpadded(text) } else { text };
        Ok(Datum::Bytes(collation::key(text, args.text(1)?, args.bool(2)?)?.into()))
    }),
];
