//! The syntax tree of queries and changes of rows. Every room takes its nodes from here.

pub use sqlparser::ast::helpers::attached_token::AttachedToken;
pub use sqlparser::ast::*;
pub use sqlparser::tokenizer::{Location, Span, Token, TokenWithSpan};
