//! PL/pgSQL: the syntax tree of a body ([`ast`]), made of text ([`parse`](mod@parse)) and turned into it ([`print`]), and the
//! names of errors ([`conditions`]).

pub mod ast;
pub mod conditions;
pub mod parse;
mod parse_statement;
pub mod print;

#[cfg(test)]
mod tests;
